"""Names of types of arrays, as annotations have them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

AnyArray = NDArray[Any]
Floats = NDArray[np.float64]
AnyFloats = NDArray[np.floating[Any]]
Integers = NDArray[np.int64]  # counts, positions, keys of scores
AnyIntegers = NDArray[np.integer[Any]]
Codes = NDArray[np.int32]  # numbers of subjects, samples, rows of weights
Groups = NDArray[np.uint16]
Indices = NDArray[np.intp]
Flags = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
RandomKey = NDArray[np.uint32]  # (2,) of a stream of random numbers
Words = NDArray[np.uint32]  # of whole numbers of more than 64 bits
