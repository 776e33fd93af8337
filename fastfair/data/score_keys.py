"""Turn scores into integer keys that sort alike, and back; `fastfair.kernels.sorting` defines the keys."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.text import shown
from fastfair.errors import InputError

Floats = NDArray[np.floating[Any]]
Keys = NDArray[np.signedinteger[Any]]


def _key(name: str, value: Any) -> Any:
    if type(value) in (np.int32, np.int64):
        return value
    raise InputError(f"{name} must be a key: an int32 or int64 of NumPy, not {shown(value)}")


Key = Annotated[np.signedinteger[Any], _key]


def magnitude(keys: Keys) -> np.signedinteger[Any]:
    """Return all bits but the sign, of the keys' type."""
    return keys.dtype.type(np.iinfo(keys.dtype).max)


def integer_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the integer type as wide as a float type, or as an integer type itself."""
    return np.dtype(f"i{dtype.itemsize}")


def float_type(keys: Keys) -> np.dtype[Any]:
    """Return the type of the scores behind keys."""
    return np.dtype(f"f{keys.dtype.itemsize}")


def encode(scores: Floats) -> Keys:
    """Turn finite floats into keys."""
    bits = (scores + scores.dtype.type(0)).view(integer_type(scores.dtype))  # -0.0 + 0.0 is 0.0
    return np.asarray(bits ^ ((bits >> (8 * bits.itemsize - 1)) & magnitude(bits)))


def decode(keys: Keys) -> Floats:
    """Turn keys into the floats they stand for."""
    return np.asarray(keys ^ ((keys >> (8 * keys.itemsize - 1)) & magnitude(keys))).view(float_type(keys))


def failed_key(keys: Keys) -> np.signedinteger[Any]:
    """Return the key of comparisons that failed, which lies below those of all scores, in the type of `keys`."""
    return encode(np.array([-np.inf], float_type(keys)))[0]


def count_failed(keys: Keys) -> int:
    """Count the comparisons that failed among ascending keys."""
    return count_below(keys, int(failed_key(keys)) + 1)


def first_key_at_least(threshold: float, keys: Keys) -> np.signedinteger[Any]:
    """Return the lowest key of scores >= threshold, in the type of `keys`."""
    return first_keys_at_least(np.array([threshold]), keys)[0]


def first_keys_at_least(thresholds: NDArray[np.float64], keys: Keys) -> Keys:
    """Return the lowest key of scores >= each of several thresholds."""
    kind = float_type(keys).type
    with np.errstate(over="ignore"):
        rounded = thresholds.astype(kind)
    return encode(np.where(rounded < thresholds, np.nextafter(rounded, kind(np.inf)), rounded))


def count_below(keys: Keys, key: int) -> int:
    """Count the ascending keys below another one."""
    limits = np.iinfo(keys.dtype)
    if key > limits.max:
        return keys.size
    # In another type than theirs NumPy would copy all keys to it.
    return int(np.searchsorted(keys, keys.dtype.type(max(key, limits.min))))
