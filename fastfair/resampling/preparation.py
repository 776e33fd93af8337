"""What is found in comparisons before replicates are drawn: lists, thresholds, guesses, costs and shrinkage."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import memory
from fastfair._lib.workers import Workers
from fastfair.data import score_keys
from fastfair.data.class_keys import keys_of, not_kept
from fastfair.data.comparisons import Comparisons
from fastfair.data.sorted_scores import read_only
from fastfair.error_rates import score_metrics
from fastfair.error_rates.operating_points import OperatingPoint, threshold_key
from fastfair.error_rates.score_metrics import exact_costs

from . import listed_pairs, scanned_pairs, vector_pairs  # noqa: F401 - each registers its kind of source
from .error_lists import ErrorLists, OfBoth, Shrinkage, find_shrinkage, make_lists, shrinkage_of
from .pair_source import RatioCosts, SortedComparisons, TooFewKeptError, side_of
from .units import ComparisonUnits

# Of memory, at the peak: for a comparison, for a run of those of one unit in one list, for a comparison that a list
# keeps, for its cost in Cllr, and for that in min Cllr.
_BYTES, _BYTES_OF_A_RUN, _BYTES_KEPT, _BYTES_OF_A_COST, _BYTES_OF_COSTS = 8, 16, 12, 8, 48
# Times as many comparisons are kept as the estimates need, as many standard deviations more, and as many at least.
_SPARE, _SPARE_DEVIATIONS, _LEAST_KEPT = 1.5, 8, 2**13
_lock = threading.Lock()  # not the object's, which travels to other processes
Metric = Literal["eer", "min_dcf", "cllr", "min_cllr"]
METRICS: tuple[Metric, ...] = get_args(Metric)
Floats = NDArray[np.float64]
_OF_THE_SOURCES = ("comparisons", "_sources", "_sides", "_complete")


@dataclass(frozen=True)
class Metrics:
    """Which metrics that have no operating point to compute, and how.

    Attributes
    ----------
    names : tuple of str
        Some of "eer", "min_dcf", "cllr" and "min_cllr".
    eer_method : str
        As in `eer`; thresholds are those of "nearest".
    costs : Costs
        The costs of minDCF.
    p_target : float
        The prior of Cllr.
    """

    names: tuple[str, ...] = METRICS
    eer_method: str = "nearest"
    costs: score_metrics.Costs = field(default_factory=score_metrics.Costs)
    p_target: float = 0.5


ALL_METRICS, NO_METRICS = Metrics(), Metrics(())


class Preparation:
    """Comparisons made ready to be resampled.

    Parameters
    ----------
    comparisons, points, unit, scheme, metrics, measured, with_groups, workers
        As `Resampler` takes them.

    Attributes
    ----------
    units : ComparisonUnits
        The units that are drawn.
    cells : tuple of tuple of int
        Pairs of different groups that have non-mated comparisons.
    y, x : ErrorLists
        Mated and non-mated comparisons: of all, of each group, and the non-mated ones of each of `cells`.
    thresholds : (points,) ndarray of int64
        Threshold key of each operating point in the data.
    lowest_key : int or None
        The lowest key of a threshold where comparisons failed and count as non-matches.
    guesses : (lists,) ndarray of int64
        Numbers of errors at the EERs of the data, near which those of replicates are looked for.
    shrinkage : Shrinkage
        What weights are shrunk by.
    first_fmr : int
        The first list whose FMR is computed.
    """

    first_fmr = 0

    def __init__(
        self,
        comparisons: Comparisons,
        points: Sequence[OperatingPoint],
        unit: str,
        scheme: str,
        metrics: Metrics,
        measured: Sequence[int],
        with_groups: bool,
        workers: Workers,
    ) -> None:
        self.comparisons = comparisons
        self.points = tuple(points)
        self.rates = np.array([point.value for point in points], np.float64)
        self.metrics, self.eer_method, self.costs = metrics.names, metrics.eer_method, metrics.costs
        self.p_target = metrics.p_target
        self.measured = np.asarray(measured, np.intp)
        n_groups = len(comparisons.groups) if with_groups else 0
        self.score_kind = comparisons.score_kind
        self.units = ComparisonUnits(comparisons, unit)
        self.n_groups = n_groups
        self.cells = different_groups(comparisons) if n_groups else ()
        self._sources = self._sorted(True), self._sorted(False)
        whose = {point.rule.eers for point in points} | {"groups" if "eer" in metrics.names else ""}
        self.need_eer = whose != {""}
        self.eer_lists = 1 + n_groups if "groups" in whose else 1
        self.thresholds = np.array([threshold_key(comparisons, point, measured) for point in points], np.int64)
        self.lowest_key = keys_of(comparisons).lowest
        self.hull_eer = "eer" in metrics.names and metrics.eer_method == "convex-hull"
        with_eer = self._find_estimates()
        all_kept = self.hull_eer or "min_cllr" in metrics.names
        of_all = keys_of(comparisons)
        if all_kept:
            of_all.require_all(" and ".join(metrics.names))
        if "cllr" in metrics.names:
            comparisons._require("costs")
        exact = (
            exact_costs(of_all, score_metrics.prior_log_odds(self.p_target))
            if "cllr" in metrics.names
            else (None, None)
        )
        n_kept = (of_all.mated.size, of_all.nonmated.size) if all_kept else self._numbers_to_keep(with_eer)
        self._require_memory(sum(n_kept))
        of_classes = zip(comparisons.pairs, self._sources, exact, strict=True)
        self._sides = [side_of(pairs, kept, workers, costs) for pairs, kept, costs in of_classes]
        self._complete: dict[bool, ErrorLists] = {}
        self.y, self.x = self._lists(*n_kept)
        self.guesses = self.x.count_errors(self.eer_keys[: self.eer_lists])
        if self.hull_eer or "min_cllr" in metrics.names:
            self._find_blocks()
        if "cllr" in metrics.names:
            self._find_costs()
        self.shrinkage = self._find_shrinkage(scheme)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what others do not need to draw replicates, unless lists are too short for one."""
        return {name: value for name, value in vars(self).items() if name not in _OF_THE_SOURCES}

    def _sorted(self, mated: bool) -> SortedComparisons:
        """Return the comparisons of a class with the list of each."""
        comparisons, n_groups = self.comparisons, self.n_groups
        if not n_groups:
            return SortedComparisons(comparisons, mated, self.units, None)
        lists = np.zeros((n_groups, n_groups), np.int32)
        np.fill_diagonal(lists, np.arange(1, n_groups + 1))
        if not mated:
            for position, cell in enumerate(self.cells):
                lists[cell] = 1 + n_groups + position
        return SortedComparisons(comparisons, mated, self.units, lists)

    def _require_memory(self, n_kept: int) -> None:
        """Refuse more comparisons than can be grouped by unit, and divided into lists, in the memory there is."""
        costs = sorted({"cllr", "min_cllr"} & set(self.metrics))
        would_do = "use fewer comparisons" + (" or no groups, which take up to half of it" if self.n_groups else "")
        if costs:
            would_do += f", or leave out {' and '.join(costs)}"
        n_bytes = 0
        for source in self._sources:  # a scan has more than it keeps, and looks after that memory itself
            n_runs = min(len(source), self.units.n_rows * source.sizes.size)
            n_bytes += (_BYTES + (_BYTES_OF_A_COST if "cllr" in costs else 0)) * len(source) + _BYTES_OF_A_RUN * n_runs
        kept = (
            _BYTES_KEPT + self.comparisons.nonmated.keys.itemsize - 4 + (_BYTES_OF_COSTS if "min_cllr" in costs else 0)
        )
        # Lists of groups hold each comparison once more.
        n_bytes += kept * n_kept * (2 if self.n_groups else 1)
        memory.require(n_bytes, "comparisons prepared for resampling", would_do)

    def _lists(self, *n_kept: int) -> tuple[ErrorLists, ErrorLists]:
        """Make the mated and the non-mated lists with so many comparisons kept of each class."""
        of_classes = zip(self._sources, self._sides, (True, False), n_kept, strict=True)
        y, x = (make_lists(*of_class) for of_class in of_classes)
        return y, x

    def _numbers_to_keep(self, with_eer: list[int]) -> tuple[int, int]:
        """Return how many mated and non-mated comparisons replicates are expected to need, from the first error on."""
        of_all = keys_of(self.comparisons)
        mated, nonmated = of_all.mated, of_all.nonmated
        keys = np.append(self.thresholds, self.eer_keys[with_eer])
        needed = np.searchsorted(mated, keys), nonmated.size - np.searchsorted(nonmated, keys)
        at_costs = [self._needed_for_cost(k) for k in np.flatnonzero(np.isfinite(self.least_costs)).tolist()]
        most = [max(int(of_keys.max(initial=0)), *more, 0) for of_keys, *more in zip(needed, *at_costs, strict=True)]
        return _with_spare(most[0], mated.size), _with_spare(most[1], nonmated.size)

    def _needed_for_cost(self, k: int) -> tuple[int, int]:
        """Return up to which mated and non-mated comparisons of all a list's minimum cost is looked for.

        These are errors at the thresholds where errors of their class alone cost as much.
        """
        of_all, keys = keys_of(self.comparisons), keys_of(self.comparisons, k - 1 if k else None)
        cost = float(self.least_costs[k]) * self.costs.unit
        of_mated, of_nonmated = (
            min(of_class.size - 1, int(cost / of_error * n))
            for of_class, of_error, n in zip(
                (keys.mated, keys.nonmated), (self.costs.miss, self.costs.false_match), keys.sizes, strict=True
            )
        )
        last_mated, last_nonmated = keys.mated[of_mated], keys.nonmated[keys.nonmated.size - 1 - of_nonmated]
        return (
            int(np.searchsorted(of_all.mated, last_mated, side="right")),
            of_all.nonmated.size - int(np.searchsorted(of_all.nonmated, last_nonmated)),
        )

    def keep_more(self, lists: tuple[ErrorLists, ErrorLists]) -> None:
        """Keep more comparisons than these lists do, which a replicate found too short.

        Raises
        ------
        TooFewKeptError
            In workers that were given the lists alone.
        """
        if "_sources" not in vars(self):
            raise TooFewKeptError
        with _lock:
            if self.y is lists[0] and self.x is lists[1]:
                self.y, self.x = self._lists(*(2 * int(of_class.end[0]) + 1 for of_class in lists))
                if all(old.end[0] == new.end[0] for old, new in zip(lists, (self.y, self.x), strict=True)):
                    raise not_kept("a replicate", keys_of(self.comparisons))

    def complete(self, mated: bool) -> ErrorLists:
        """Return the lists of a class with all of its comparisons, or with all that a scan has kept."""
        lists, k = self.y if mated else self.x, 0 if mated else 1
        if lists.complete:
            return lists
        if mated not in self._complete:
            self._complete[mated] = make_lists(self._sources[k], self._sides[k], mated)
        return self._complete[mated]

    def _find_estimates(self) -> list[int]:
        """Find the EER and the minimum cost of each list, and their thresholds, in the data; return who has an EER."""
        of_lists = [keys_of(self.comparisons), *(keys_of(self.comparisons, k) for k in range(self.n_groups))]
        self.eer_keys = np.zeros(len(of_lists), np.int64)
        self.cost_keys = np.zeros(len(of_lists), np.int64)
        self.least_costs = np.full(len(of_lists), np.nan)
        with_eer: list[int] = []
        for k, keys in enumerate(of_lists):
            if not all(keys.sizes):
                continue
            if self.need_eer and k < self.eer_lists:
                self.eer_keys[k] = score_metrics.nearest_equal_error(keys).key
                with_eer.append(k)
            if "min_dcf" in self.metrics:
                self.least_costs[k], self.cost_keys[k] = score_metrics.least_cost(self.costs, keys)
        return with_eer

    def _find_blocks(self) -> None:
        """Find the blocks of comparisons from which the ROC convex hulls of all replicates are made."""
        from fastfair.kernels import replicated_hull

        lists = range(1 + self.n_groups)
        found = [replicated_hull.find_blocks(self._list(self.y, k), self._list(self.x, k)) for k in lists]
        first, above = map(np.concatenate, zip(*found, strict=True))
        self.blocks = first, above, np.cumsum([first.size for first, _ in found])

    @staticmethod
    def _list(lists: ErrorLists, k: int) -> score_keys.Keys:
        return lists.keys[lists.start[k] : lists.end[k]]

    def _find_shrinkage(self, scheme: str) -> Shrinkage:
        dyadic = scheme == "dyadic" and self.units.unit == "subject"
        keys = {"eer": self.eer_keys} if self.need_eer else {}
        keys |= {"min_dcf": self.cost_keys} if "min_dcf" in self.metrics else {}
        ones = np.ones(1 + self.n_groups)
        costs: dict[str, OfBoth] = {name: (ones, ones) for name in self.metrics if name in ("cllr", "min_cllr")}
        if dyadic and "cllr" in costs:
            mated, nonmated = (
                shrinkage_of(of_class.variances(lists.source)) if lists.two_way else ones
                for of_class, lists in zip(self.ratio_costs, (self.y, self.x), strict=True)
            )
            costs["cllr"] = mated, nonmated
        if dyadic and "min_cllr" in costs:
            of_pairs = zip((self.y, self.x), self._calibrated_pair_costs(), strict=True)
            mated, nonmated = (lists.shrinkage_of_sums(sums)[: 1 + self.n_groups] for lists, sums in of_pairs)
            costs["min_cllr"] = mated, nonmated
        return find_shrinkage(self.y, self.x, self.thresholds, keys, costs, 1 + self.n_groups, dyadic=dyadic)

    def _find_costs(self) -> None:
        """Find what comparisons cost in Cllr, and its means over lists."""
        y, x = (RatioCosts(side, 1 + self.n_groups) for side in self._sides)
        self.ratio_costs, self.mean_costs = (y, x), (y.means, x.means)

    def _calibrated_pair_costs(self) -> tuple[Floats, Floats]:
        """Sum the costs after the best calibration of the data over each distinct pair.

        Replicates have other calibrations, which change the mean cost only in the second order.
        """
        y_costs, x_costs = np.zeros(self.y.keys.size), np.zeros(self.x.keys.size)
        for k in range(1 + self.n_groups):
            mated, nonmated = self._list(self.y, k), self._list(self.x, k)
            if mated.size and nonmated.size:
                of_mated, of_nonmated = score_metrics.calibrated_costs(read_only(mated), read_only(~nonmated[::-1]))
                y_costs[self.y.start[k] : self.y.end[k]] = np.repeat(*of_mated)
                x_costs[self.x.start[k] : self.x.end[k]] = np.repeat(*of_nonmated)[::-1]
        return self.y.sum_pairs(y_costs), self.x.sum_pairs(x_costs)

    def position(self, cell: tuple[int, int] | None) -> int:
        """Return the list of a pair of groups, or of all comparisons."""
        if cell is None:
            return 0
        return 1 + cell[0] if cell[0] == cell[1] else 1 + self.n_groups + self.cells.index(cell)


def _with_spare(most: int, n: int) -> int:
    """Return how many of n comparisons to keep where thresholds need so many."""
    kept = int(_SPARE * most + _SPARE_DEVIATIONS * most**0.5) + _LEAST_KEPT
    return kept if 2 * kept < n else n


def different_groups(comparisons: Comparisons) -> tuple[tuple[int, int], ...]:
    """List the pairs of different groups that have non-mated comparisons."""
    counts = comparisons.nonmated_by_group.cells.copy()
    np.fill_diagonal(counts, 0)
    return tuple(zip(*(axis.tolist() for axis in np.nonzero(counts)), strict=True))
