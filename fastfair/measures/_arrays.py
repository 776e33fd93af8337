"""Check what measures are given, and the arithmetic they share."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair._lib import arrays, validation
from fastfair.errors import InputError

Floats = NDArray[np.float64]


def metric_array(name: str, values: ArrayLike) -> Floats:
    """Make an array of numbers that are not negative."""
    array = arrays.floats(name, values)
    if array.size and array.min() >= 0 and array.max() <= validation.LARGEST_SCORE:
        return array
    if (array < 0).any():
        raise InputError(f"{name} must not be negative, but holds {float(array[array < 0].flat[0]):g}")
    beyond = (array > validation.LARGEST_SCORE) & np.isfinite(array)
    if beyond.any():
        raise InputError(
            f"{name} must not be above 1e150, as its squares overflow, but holds {array[beyond].flat[0]:g}"
        )
    return array


def rate_array(name: str, values: ArrayLike) -> Floats:
    """Make an array of fractions, refusing percentages."""
    array = metric_array(name, values)
    if (array > 1).any():
        worst = float(array[array > 1].flat[0])
        hint = "; divide percentages by 100" if worst <= 100 else ""
        raise InputError(f"{name} must hold rates, fractions in [0, 1], but holds {worst:g}{hint}")
    return array


def group_array(name: str, values: ArrayLike) -> Floats:
    """Make an array of a metric with groups on the last axis."""
    return _with_groups(name, metric_array(name, values))


def _with_groups(name: str, array: Floats) -> Floats:
    if array.ndim == 0 or array.shape[-1] == 0:
        raise InputError(f"{name} needs groups on its last axis, but its shape is {array.shape}")
    return array


def group_rates(**rates: ArrayLike) -> list[Floats]:
    """Make arrays of rates of the same groups."""
    given = [_with_groups(name, rate_array(name, values)) for name, values in rates.items()]
    if len({array.shape[-1] for array in given}) > 1:
        found = ", ".join(f"{name} has {array.shape[-1]}" for name, array in zip(rates, given, strict=True))
        raise InputError(f"rates must be of the same groups, but {found}")
    _require_one_shape(dict(zip(rates, (array.shape for array in given), strict=True)))
    return given


def average_of(name: str, values: ArrayLike, groups: Floats, *, a_rate: bool = False) -> Floats:
    """Make an array of averages, one for every set of groups, with a last axis of 1 in place of the groups."""
    array = rate_array(name, values) if a_rate else metric_array(name, values)
    if array.ndim > groups.ndim - 1:
        raise InputError(f"{name} has one value for all groups, but its shape is {array.shape} against {groups.shape}")
    found = array[..., np.newaxis]
    _require_one_shape({name: found.shape, "of groups": groups.shape})
    return found


def _require_one_shape(shapes: dict[str, tuple[int, ...]]) -> None:
    try:
        np.broadcast_shapes(*shapes.values())
    except ValueError:
        found = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise InputError(f"axes before that of groups must fit together, but the shapes are: {found}") from None


def divide(x: Floats, y: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.divide(x, y)


def max_over_min(x: Floats) -> Floats:
    return divide(x.max(axis=-1), x.min(axis=-1))


def geomean(x: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.exp(np.log(x).mean(axis=-1))
