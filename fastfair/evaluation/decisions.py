"""The decisions of systems that scored the same comparisons: who errs in which comparison, at each operating point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair.data.comparisons import Comparisons
from fastfair.data.scanned_comparisons import KeptComparisons
from fastfair.data.sorted_scores import GroupedSide, SortedSide
from fastfair.data.vector_pairs import PairsOfVectors
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.error_rates.threshold_slopes import Cell, HeldThreshold, cells_of

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
UNITS_TESTED = ("subject", "comparison")


class Decisions:
    """The decisions of one system, for score tests against any other.

    Parameters
    ----------
    comparisons : Comparisons
        The comparisons as the system scored them.
    points : sequence of OperatingPoint
        The operating points.
    unit : str
        What is independent: "subject" or "comparison"; with others nothing is tested.
    like : Decisions, optional
        Those of a system that scored the same comparisons, numbered alike by `matching.match`, whose counts of
        comparisons are used.
    """

    def __init__(
        self, comparisons: Comparisons, points: Sequence[OperatingPoint], unit: str, like: Decisions | None = None
    ) -> None:
        self.unit, self.groups = unit, comparisons.groups
        self.trials: Trials = Trials(comparisons, unit) if like is None else like.trials
        self._comparisons = comparisons
        self._points = [point for point in points if point.rule.signs is not None and unit in UNITS_TESTED]

    @cached_property
    def at(self) -> dict[OperatingPoint, DecidedSystem]:
        """The decisions at each operating point that fixes a threshold in a way that is known here."""
        return {point: DecidedSystem(self._comparisons, point, self.trials) for point in self._points}


class Trials:
    """The non-mated comparisons, whichever system scores them: how often each pair of units occurs."""

    def __init__(self, comparisons: Comparisons, unit: str) -> None:
        self.comparisons = comparisons
        self.n_units = len(comparisons.subjects) if unit == "subject" and comparisons.subjects is not None else 0
        self.unit = unit
        kept = comparisons.pairs if isinstance(comparisons, KeptComparisons) else ()
        of_vectors = [pairs for pairs in kept if isinstance(pairs, PairsOfVectors)]
        self._of_vectors = (of_vectors[0], of_vectors[1]) if of_vectors else None

    @cached_property
    def occurrences(self) -> tuple[Floats, Floats]:
        """Return the (units,) numbers of mated, and of non-mated, comparisons of each."""
        if self._of_vectors is not None:
            of_mated, of_nonmated = (pairs.of_subjects().astype(np.float64) for pairs in self._of_vectors)
            return of_mated, of_nonmated
        mated, nonmated = (self._occurrences(side) for side in (self.comparisons.mated, self.comparisons.nonmated))
        return mated, nonmated

    def _occurrences(self, side: SortedSide) -> Floats:
        """Count the comparisons of each unit; one of a unit with itself counts once."""
        assert side.reference is not None
        assert side.probe is not None
        found = np.bincount(side.reference, minlength=self.n_units)
        found += np.bincount(side.probe[side.reference != side.probe], minlength=self.n_units)
        return found.astype(np.float64)

    def repeats(self, codes: Integers) -> Floats:
        """Return how often pairs of units occur, by their codes."""
        if self._of_vectors is not None:
            return self._of_vectors[1].of_two(codes // self.n_units, codes % self.n_units).astype(np.float64)
        known, repeats = self._listed
        return np.asarray(repeats[np.searchsorted(known, codes)])

    @cached_property
    def repeats_squared(self) -> float:
        """Sum the squares of how often each pair of units occurs."""
        if self._of_vectors is not None:
            return float(self._of_vectors[1].squares().sum() // 2)
        _, repeats = self._listed
        return float(repeats @ repeats)

    @cached_property
    def _listed(self) -> tuple[Integers, Floats]:
        """The pairs of units of non-mated comparisons, sorted, and how often each occurs."""
        side = self.comparisons.nonmated
        codes, counts = np.unique(_codes(side, slice(None), self.unit, self.n_units), return_counts=True)
        return codes, counts.astype(np.float64)


def _codes(side: SortedSide, rows: Any, unit: str, n_units: int) -> Integers:
    """Return one number for each pair of units that was compared; those of two systems agree."""
    if unit == "comparison":
        assert side.rows is not None
        return side.rows[rows].astype(np.int64)
    assert side.reference is not None
    assert side.probe is not None
    reference, probe = side.reference[rows].astype(np.int64), side.probe[rows].astype(np.int64)
    return np.asarray(np.minimum(reference, probe) * n_units + np.maximum(reference, probe))


@dataclass(frozen=True)
class Errors:
    """The errors of one system among the mated, or the non-mated, comparisons.

    Attributes
    ----------
    codes : (errors,) ndarray of int64
        The pair of units of each.
    cells : (errors,) ndarray of int64, or None
        The cell of the group-by-group matrix; None without groups.
    """

    codes: Integers
    cells: Integers | None


class DecidedSystem(HeldThreshold):
    """One system's decisions at its threshold, and near it."""

    def __init__(self, comparisons: Comparisons, point: OperatingPoint, trials: Trials) -> None:
        super().__init__(comparisons, point)
        self.trials = trials
        self._aim = point.value if point.rule.takes_value else 0.0

    @cached_property
    def errors(self) -> tuple[Errors, Errors]:
        """The false non-matches and the false matches."""
        rows, comparisons = self.error_rows(), self.comparisons
        grouped: tuple[GroupedSide | None, GroupedSide | None] = (None, None)
        if comparisons.groups:
            grouped = comparisons.mated_by_group, comparisons.nonmated_by_group
        return tuple(  # type: ignore[return-value]
            Errors(
                _codes(side, row, self.trials.unit, self.trials.n_units),
                cells_of(by_group, row, len(comparisons.groups)),
            )
            for side, row, by_group in zip((comparisons.mated, comparisons.nonmated), rows, grouped, strict=True)
        )

    @cached_property
    def missed(self) -> float:
        """By how much the rate held misses what the operating point asks for."""
        return self.held(self.key) - self._aim

    def slope_with(self, spread: float) -> Callable[[bool, Cell], tuple[float, float]]:
        """Return the slope of each rate over what is held, as `slopes` does, computed once for each."""
        return cache(self.slopes(spread))
