"""The rules by which claims of paper 4 are decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from papers.verdict_rules import Outcome

Floats = NDArray[np.float64]
FEW_STEPS = 0.01  # of all, that may go against a trend which still holds in part
_ROUNDING = 1e-9


def steps(values: Floats, axis: int) -> tuple[int, int, int]:
    """Count the steps along an axis that go up, that stay, and that go down."""
    with np.errstate(divide="ignore", invalid="ignore"):
        change = np.diff(values, axis=axis) / np.delete(values, -1, axis=axis)
    up, down = (int((sign * change > _ROUNDING).sum()) for sign in (1, -1))
    return up, change.size - up - down, down


def trend_outcome(with_it: int, against: int) -> Outcome:
    """Decide whether values follow a trend, by the steps with it and against it."""
    if with_it == 0 or against > with_it:
        return "fails"
    if against == 0:
        return "holds"
    return "in part" if against <= FEW_STEPS * (with_it + against) else "open"


def slower_beyond(values: Floats, x: Sequence[float], at: float) -> float:
    """Return the share of settings whose values grow less for each unit of x above a point than
    below it.

    Parameters
    ----------
    values : (..., x) ndarray
        Settings by points.
    x : sequence of float
        The points, ascending.
    at : float
        One of them.
    """
    k = list(x).index(at)
    below = (values[..., k] - values[..., 0]) / (x[k] - x[0])
    above = (values[..., -1] - values[..., k]) / (x[-1] - x[k])
    return float((above < below).mean())


def order_outcome(factors: Mapping[str, float], said: Sequence[str]) -> Outcome:
    """Decide whether effects, as factors, come in the order said; a factor and its inverse are as
    large.
    """
    found = sorted(said, key=lambda name: -abs(np.log(factors[name])))
    if found == list(said):
        return "holds"
    return "in part" if found[0] == said[0] else "fails"


def larger_outcome(
    factors: Mapping[str, float], large: Sequence[str], small: Sequence[str]
) -> Outcome:
    """Decide whether some effects are all larger than some others."""
    sizes = {name: abs(np.log(factor)) for name, factor in factors.items()}
    if min(sizes[name] for name in large) > max(sizes[name] for name in small):
        return "holds"
    above = max(sizes[name] for name in large) > max(sizes[name] for name in small)
    return "in part" if above else "fails"


def only_outcome(found: Sequence[str], said: Sequence[str]) -> Outcome:
    """Decide whether what was found is just what was said."""
    if set(found) == set(said):
        return "holds"
    return "in part" if set(found) & set(said) else "fails"


def bend(values: Floats, x: Sequence[float]) -> Floats:
    """Return how far values lie above the straight line between their ends, at the middle point, as
    a share of it.
    """
    middle = len(x) // 2
    weight = (x[middle] - x[0]) / (x[-1] - x[0])
    straight = (1 - weight) * values[..., 0] + weight * values[..., -1]
    return np.asarray(values[..., middle] / straight - 1)


def level_outcome(low: float, high: float, wanted: float) -> Outcome:
    """Decide whether a test keeps its level, by the interval of how often it finds something in
    fair systems.

    An interval that reaches to half the level, or to twice the level, is too wide to tell.
    """
    if low <= wanted <= high:
        return "holds" if wanted / 2 < low and high < 2 * wanted else "open"
    return "in part" if high < wanted else "fails"
