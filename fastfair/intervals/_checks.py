"""Check confidence levels and arrays of replicates."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair._lib import arrays, validation
from fastfair.errors import InputError

Floats = NDArray[np.float64]


def level(confidence_level: object) -> float:
    """Check a confidence level.

    Parameters
    ----------
    confidence_level : object
        The level that the caller gave.

    Returns
    -------
    float
        The same; anything but a number in (0, 1) is refused.
    """
    number = validation.real("confidence_level", confidence_level)
    if 0 < number < 1:
        return number
    hint = f"; for {number:g} % write {number / 100:g}" if 1 < number < 100 else ""
    raise InputError(f"confidence_level must lie in (0, 1), not {number:g}{hint}")


def replicates_of(name: str, values: ArrayLike) -> Floats:
    """Make an array with replicates on its last axis."""
    array = arrays.floats(name, values)
    if array.ndim == 0 or array.shape[-1] == 0:
        raise InputError(f"{name} needs replicates on its last axis, but its shape is {array.shape}")
    return array


def one_for_each(name: str, values: ArrayLike, replicates: Floats) -> Floats:
    """Make an array of one value for each row of replicates, or one for all."""
    array = arrays.floats(name, values)
    if array.shape and array.shape != replicates.shape[:-1]:
        raise InputError(
            f"{name} needs one value for each quantity, but its shape is {array.shape} and the replicates' "
            f"{replicates.shape}"
        )
    return array


def require_rates(name: str, array: Floats) -> None:
    wrong = (array < 0) | (array > 1)
    if wrong.any():
        raise InputError(f"{name} must be fractions in [0, 1], not {array[wrong][0]:g}")
