"""The thresholds that operating points hold, and the slopes of error rates over what is held."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fastfair.data import score_keys
from fastfair.data.class_keys import keys_of, not_kept
from fastfair.data.comparisons import Comparisons
from fastfair.data.sorted_scores import GroupedSide

from .operating_points import ENOUGH_ERRORS, OperatingPoint, threshold_key

Integers = NDArray[np.int64]
Cell = tuple[int, int] | None  # groups of reference and probe, or all comparisons
_LEAST_SHARE = 1 / 3  # of a rate held, below which its slope is not looked for


class HeldThreshold:
    """The threshold that an operating point fixes, and how error rates change with what it holds.

    Parameters
    ----------
    comparisons : Comparisons
        The comparisons in which the threshold is found.
    point : OperatingPoint
        An operating point whose rule has signs. Where its threshold is given there are no slopes.

    Attributes
    ----------
    at : OperatingPoint
        As given.
    key : int
        The threshold's key.
    sizes : tuple of int
        Numbers of mated and non-mated comparisons.
    """

    def __init__(self, comparisons: Comparisons, point: OperatingPoint) -> None:
        self.comparisons, self.at = comparisons, point
        self.sizes = len(comparisons.mated), len(comparisons.nonmated)
        self.key = int(threshold_key(comparisons, point))
        self._keys = keys_of(comparisons)
        self._not_kept = self.sizes[1] - self._keys.nonmated.size  # whose scores are the lowest

    def errors_below(self, key: int) -> tuple[int, int]:
        """Return the number of false non-matches, and of correct non-matches, of a threshold."""
        mated, nonmated = self._keys.mated, self._keys.nonmated
        return score_keys.count_below(mated, key), self._not_kept + score_keys.count_below(nonmated, key)

    def error_rows(self) -> tuple[slice, slice]:
        """Return where the false non-matches, and the false matches, are among the comparisons that are kept."""
        false_nonmatches, correct_nonmatches = self.errors_below(self.key)
        return slice(0, false_nonmatches), slice(correct_nonmatches - self._not_kept, None)

    def held(self, key: int) -> float:
        """Return what the operating point holds, at another threshold: a rate, or FMR minus FNMR."""
        fnmr, fmr = self._rates(key)
        return self.signs[0] * fnmr + self.signs[1] * fmr

    def _rates(self, key: int) -> tuple[float, float]:
        below = self.errors_below(key)
        return below[0] / self.sizes[0], (self.sizes[1] - below[1]) / self.sizes[1]

    def errors_held(self) -> int:
        """Return how many errors are behind the rate that the operating point holds, the fewer where it holds two."""
        false_nonmatches, correct_nonmatches = self.errors_below(self.key)
        behind = false_nonmatches, self.sizes[1] - correct_nonmatches
        return min(number for number, sign in zip(behind, self.signs, strict=True) if sign)

    @property
    def signs(self) -> tuple[float, float]:
        """How the FNMR and the FMR enter what is held."""
        assert self.at.rule.signs is not None
        return self.at.rule.signs

    def rates_at(self) -> tuple[float, float]:
        """Return the FNMR and the FMR at the threshold."""
        return self._rates(self.key)

    def near(self, spread: float) -> tuple[int, int]:
        """Return the thresholds at which what is held lies a standard error to either side."""
        at = self.held(self.key)
        least = at - spread if self.at.rate is None else max(at - spread, at * _LEAST_SHARE)
        return self._first_key(least), self._first_key(at + spread)

    def _first_key(self, aim: float) -> int:
        """Return the lowest threshold at which a falling rate is at most `aim`, or the FNMR, which grows, at least."""
        reached: Callable[[float], bool] = (
            (lambda rate: rate >= aim) if self.at.rule.grows < 0 else (lambda rate: rate <= aim)
        )
        sides, limits = (self._keys.mated, self._keys.nonmated), self._keys.limits
        low, high = int(min(keys[0] for keys in sides)), int(max(keys[-1] for keys in sides)) + 1
        if limits is not None:
            low, high = max(low, limits[0]), min(high, limits[1])
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if reached(self.held(middle)) else (middle + 1, high)
        if limits is not None and (low == limits[0] or (low == limits[1] and not reached(self.held(low)))):
            raise not_kept(f"how rates change near the threshold of {self.at}", self._keys)
        return low

    def slopes(self, spread: float) -> Callable[[bool, Cell], tuple[float, float]]:
        """Return the slope of a rate over what is held, and by what share of it counts of errors let it vary.

        It is that between thresholds a standard error to either side; 0 without one.
        """
        if spread == 0:
            return lambda mated, cell: (0.0, 2.0)
        keys = self.near(spread)
        ends = [self.held(key) for key in keys]
        run = ends[1] - ends[0]
        if self.at.rate is not None and min(ends) > 0 and self.errors_held() >= ENOUGH_ERRORS:
            # Rates grow with the logarithm of others, rather than with these; with few errors that is too flat.
            run = self.held(self.key) * float(np.log(ends[1] / ends[0]))
        below = [self.errors_below(key) for key in keys]
        behind = sum(abs(below[1][side] - below[0][side]) for side in (0, 1) if self.signs[side])
        comparisons = self.comparisons
        n_groups = len(comparisons.groups)

        def slope(mated: bool, cell: Cell) -> tuple[float, float]:
            start, stop = (counts[0 if mated else 1] for counts in below)
            rise = stop - start
            n = self.sizes[0 if mated else 1]
            if cell is not None:
                by_group = comparisons.mated_by_group if mated else comparisons.nonmated_by_group
                first = 0 if mated else self._not_kept
                rows = slice(min(start, stop) - first, max(start, stop) - first)
                cells = cells_of(by_group, rows, n_groups)
                assert cells is not None
                rise = int(np.sign(rise)) * int(np.count_nonzero(cells == cell[0] * n_groups + cell[1]))
                n = int(by_group.cells[cell])
            found = (rise if mated else -rise) / n / run if run else 0.0
            return found, 1 / max(1, abs(rise)) + 1 / max(1, behind)

        return slope


def cells_of(by_group: GroupedSide | None, rows: slice, n_groups: int) -> Integers | None:
    """Return the cell of the group-by-group matrix of each comparison in some rows; None without groups."""
    if by_group is None:
        return None
    return np.asarray(by_group.reference_group[rows].astype(np.int64) * n_groups + by_group.probe_group[rows])
