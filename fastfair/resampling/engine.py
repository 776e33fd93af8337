"""The engine: replicates of thresholds, rates and metrics, in blocks of 64, from weights of units.

No resampled copy of the scores is made. They are sorted once, and a replicate is one weighted pass
over as many of them as its operating points need. A block depends on the key of the random stream
and its number alone: threads of this process, or workers of an executor, compute any of them, and
those that need more than was sent along are finished here.
"""

from __future__ import annotations

import math
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import numpy as np

from fastfair._lib import memory
from fastfair._lib.arrays import AnyIntegers, Flags, Floats, Indices, Integers, RandomKey
from fastfair._lib.rounding import round_up
from fastfair._lib.threads import run_blocks
from fastfair._lib.workers import Arrays, Report, Workers, do_job, reporting
from fastfair.data import score_keys
from fastfair.data.comparisons import Comparisons, keys_of
from fastfair.data.sorted_scores import not_kept, read_only
from fastfair.error_rates import score_metrics
from fastfair.error_rates.operating_points import OperatingPoint, threshold_key
from fastfair.error_rates.rates import ERROR_RATES
from fastfair.error_rates.score_metrics import (
    centred_scores,
    decidability,
    exact_costs,
    nonmated_beyond,
    ratio_cost,
)
from fastfair.errors import InputError

from . import scanned_pairs, vector_sides  # noqa: F401 - register their kinds of source
from .dependence import ENOUGH_PAIRS, CountModel, count_models, effective_size, one_more_session
from .error_lists import ErrorLists, Shrinkage, find_shrinkage, make_lists, shrinkage_of
from .pair_source import Classes, SortedComparisons, TooFewKeptError, Totals, side_of
from .session_sides import OF_PEOPLE, OF_SESSIONS, SessionSide
from .units import BLOCK, SessionUnits, Units

if TYPE_CHECKING:
    from fastfair.kernels.sweep import Side

_NO_SESSION_LEFT_OUT = (
    '⟦method="bca"⟧ leaves out units one at a time, and comparisons with sessions have two kinds of'
    ' them: use another method, such as ⟦method="auto"⟧'
)
# the name of a further array: which replicates need more than was at hand
_UNFINISHED = "unfinished"
# Numbers of `kernels.replicated_eer`. The EER of the hull is another kernel's: here it only needs the
# threshold, which is that of "nearest".
_EER_METHODS = {"nearest": 0, "nearest-max": 1, "interpolated": 2, "convex-hull": 0}
Scheme = Literal["dyadic", "product"]
_lock = threading.Lock()  # not the object's, which travels to other processes
_MOST_LEFT_OUT = 20_000  # beyond it the jackknife takes longer than all replicates


@dataclass(frozen=True, eq=False)
class Replicates:
    """Thresholds, rates and metrics of every replicate, with replicates on the last axis; or,
    without it, of the data.

    Attributes
    ----------
    threshold : (points, r) ndarray
        Thresholds on the scale of the scores; NaN where there is none.
    fmr : (points, 1 + groups + cells, r) ndarray
        False match rates: overall, of each group, of each pair of groups in `cells`; NaN where not
        computed.
    fnmr : (points, 1 + groups, r) ndarray
        False non-match rates: overall and of each group.
    metrics : dict of (1 + groups, r) ndarray
        EER, minDCF, Cllr and min Cllr, overall and of each group.
    cells : tuple of tuple of int
        Pairs of different groups: that of the reference and that of the probe.
    """

    threshold: Floats
    fmr: Floats
    fnmr: Floats
    metrics: dict[str, Floats] = field(default_factory=dict)
    cells: tuple[tuple[int, int], ...] = ()

    def part(self, some: slice) -> Replicates:
        """Return some of the replicates."""
        threshold, fmr, fnmr = (of[..., some] for of in (self.threshold, self.fmr, self.fnmr))
        metrics = {name: values[..., some] for name, values in self.metrics.items()}
        return Replicates(threshold, fmr, fnmr, metrics, self.cells)


class BlockSweep:
    """Computes blocks, one after another, in the working memory of one thread.

    Parameters
    ----------
    engine : Engine
        What replicates are drawn of.

    Attributes
    ----------
    weights : (rows, 64) ndarray of uint8
        The weights of units, to be written before each block.
    """

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self.weights = engine.units.new_weights()
        n_metrics = 1 + engine.n_groups
        self._eer, self._eer_keys = (
            np.full((n_metrics, BLOCK), np.nan),
            np.empty((n_metrics, BLOCK), np.int64),
        )
        self._take_lists()

    def _take_lists(self) -> None:
        """Take the lists as they are now."""
        engine = self._engine
        self._lists: Classes[ErrorLists] = engine.error_lists
        shrinkage = engine.shrinkage.mated, engine.shrinkage.nonmated
        self._sides = Classes(*map(self._side_of, self._lists, shrinkage))
        chunks = (
            int(np.diff(self._lists.nonmated.end, prepend=0).max()) // BLOCK + 1
            if engine.need_eer
            else 0
        )
        self._sums = np.empty((2, chunks, BLOCK), np.int64)

    def _side_of(self, lists: ErrorLists, shrinkage: Floats) -> Side:
        totals = np.zeros((lists.end.size, BLOCK), lists.source.total_type)
        return lists.side(self.weights, totals, shrinkage)

    def compute(self, out: dict[str, Floats], totals: Classes[Totals], number: int = 0) -> None:
        """Compute a block from the weights.

        Parameters
        ----------
        out : dict of (..., 64) ndarray
            The arrays of `Engine.shapes` by name, to be filled.
        totals : Classes of Totals
            What weighs all comparisons.
        number : int
            The number of the block by which these know it.
        """
        while not self._sweep(out, totals, number):
            self._engine.keep_more(self._lists)
            self._take_lists()

    def _sweep(self, out: dict[str, Floats], totals: Classes[Totals], number: int) -> bool:
        """Compute a block of 64 replicates from their weights, and return whether lists reach far
        enough.
        """
        largest = int(self.weights.max(initial=1))
        self._sides = Classes(*(side._replace(largest=largest) for side in self._sides))
        for of_class, side in zip(totals, self._sides, strict=True):
            of_class.weigh(number, self.weights, largest, side.totals)
        self._summed = Classes(*(lists.summed(self.weights, largest) for lists in self._lists))
        self._has_equal_errors = False
        return self._find_rates(out) and self._find_metrics(out, totals, number)

    def _find_equal_errors(self) -> bool:
        """Find the EERs of the block and their keys, once; return whether lists reach far
        enough.
        """
        from fastfair.kernels import replicated_eer

        engine = self._engine
        self._has_equal_errors = self._has_equal_errors or bool(
            replicated_eer.equal_error_rates(
                *self._shrunk("eer"),
                engine.guesses,
                _EER_METHODS[engine.metrics.eer_method],
                self._sums,
                np.empty((3, BLOCK), np.int64),
                self._eer,
                self._eer_keys,
            )
        )
        return self._has_equal_errors

    def _find_metrics(self, out: dict[str, Floats], totals: Classes[Totals], number: int) -> bool:
        """Compute what has no operating point, and return whether lists reach far enough."""
        from fastfair.kernels import replicated_cost, replicated_scores

        engine, costs = self._engine, self._engine.metrics.costs
        if engine.need_eer and not self._find_equal_errors():
            return False
        if "eer" in out:
            out["eer"][:] = self._read_hull("eer") if engine.hull_eer else self._eer
        if "min_cllr" in out:
            out["min_cllr"][:] = self._read_hull("min_cllr")
        if "auc" in out:
            replicated_scores.areas(*self._shrunk("auc"), *engine.runs, out["auc"])
        if "d_prime" in out:
            out["d_prime"][:] = self._d_prime()
        if "cllr" in out:
            out["cllr"][:] = self._cllr(totals, number)
        if "min_dcf" in out:
            least = np.empty_like(self._eer)
            of_data = engine.least_costs * costs.unit
            scratch = np.empty((3, 2, BLOCK), np.int64), np.empty((2, BLOCK))
            if not replicated_cost.least_costs(
                *self._shrunk("min_dcf"), costs.miss, costs.false_match, of_data, *scratch, least
            ):
                return False
            out["min_dcf"][:] = least / costs.unit
        return True

    def _find_rates(self, out: dict[str, Floats]) -> bool:
        """Compute thresholds, and rates at them, and return whether lists reach far enough."""
        from fastfair.kernels import sweep

        engine = self._engine
        if not engine.points:
            return True
        thresholds = self._find_thresholds()
        if thresholds is None:
            return False
        missing = thresholds == sweep.NO_LIMIT
        scores = self._decode(thresholds, missing)
        out["threshold"][:] = np.where(
            missing, np.nan, 0.0 + (-scores if engine.score_kind == "distance" else scores)
        )
        of_classes = zip(
            self._lists,
            self._sides,
            self._summed,
            (0, engine.first_fmr),
            ("fnmr", "fmr"),
            strict=True,
        )
        for lists, side, summed, first_list, name in of_classes:
            limits = np.where(missing, thresholds, lists.limits(thresholds))
            if not lists.reach(limits):
                return False
            if first_list < lists.end.size:
                sums = sweep.new_sums(side)
                shares = np.empty((limits.shape[0], lists.end.size - first_list, BLOCK))
                sweep.shares_at(
                    side, summed, limits, np.argsort(limits, axis=None, kind="stable"), sums, shares
                )
                out[name][:, first_list:] = shares
        return True

    def _decode(self, keys: Integers, missing: Flags) -> Floats:
        """Return the scores of keys, and anything for those that are missing."""
        of_scores = np.where(missing, 0, keys).astype(self._lists.nonmated.keys.dtype)
        return score_keys.decode(of_scores).astype(np.float64)

    def _shrunk(self, name: str) -> tuple[Side, Side]:
        """Return the non-mated and the mated side, as kernels take them, with weights shrunk for a
        metric.
        """
        of_classes = zip(self._sides, self._engine.shrinkage.metrics[name], strict=True)
        mated, nonmated = (side._replace(shrinkage=shrinkage) for side, shrinkage in of_classes)
        return nonmated, mated

    def _find_thresholds(self) -> Integers | None:
        """Find the (points, 64) threshold keys of a block; None where lists do not reach far
        enough.
        """
        from fastfair.kernels import sweep

        points, lowest = self._engine.points, self._engine.lowest_key
        thresholds = np.empty((len(points), BLOCK), np.int64)
        for rule in dict.fromkeys(point.rule for point in points):
            of_rule = np.array([k for k, point in enumerate(points) if point.rule is rule])
            keys = rule.keys_in_block(self, of_rule)
            if keys is None:
                return None
            thresholds[of_rule] = keys
        if lowest is not None:  # no threshold accepts comparisons that failed
            given = np.array([point.is_given for point in points])[:, None]
            return np.where(
                (thresholds == sweep.NO_LIMIT) | given, thresholds, np.maximum(thresholds, lowest)
            )
        return thresholds

    def given(self, points: Indices) -> Integers:
        """Return the (points, 1) keys of thresholds in the data."""
        return self._engine.thresholds[points, None]

    def at_equal_error(self) -> Integers | None:
        """Return the (64,) keys of the EER; None where lists do not reach far enough."""
        return self._eer_keys[0] if self._find_equal_errors() else None

    def at_mean_group_equal_error(self) -> Integers | None:
        """Return the (64,) keys of the means of groups' EER thresholds; None where lists do not
        reach far enough.
        """
        from fastfair.kernels import sweep

        if not self._find_equal_errors():
            return None
        keys = self._eer_keys[1 + self._engine.measured]
        of_lists = self._lists.nonmated.keys
        # or there are no comparisons
        missing = (keys <= score_keys.failed_key(of_lists)).any(axis=0)
        means = score_keys.first_keys_at_least(
            self._decode(keys, missing).mean(axis=0), of_lists
        ).astype(np.int64)
        return np.where(missing, sweep.NO_LIMIT, means)

    def at_rates(self, mated: bool, points: Indices) -> Integers | None:
        """Find the (points, 64) keys at which FNMRs, or FMRs, are held; None where lists do not
        reach far enough.
        """
        from fastfair.kernels import sweep

        rates = self._engine.rates[points]
        lists = self._lists.of(mated)
        ascending = np.argsort(rates, kind="stable")
        errors = self._sides.of(mated).first(points[ascending])
        sums = sweep.new_sums(errors)
        positions = np.empty((points.size, BLOCK), np.int64)
        sweep.first_beyond(errors, self._summed.of(mated), rates[ascending], sums, positions)
        too_short = not lists.complete and (positions == errors.keys.size).any()
        if too_short or (positions == sweep.INSIDE_RANGE).any():
            return None
        # At the end where shares round. The non-mated score there is the first that must be
        # rejected: the threshold is the next float above it.
        keys = errors.keys[np.minimum(positions, errors.keys.size - 1)].astype(np.int64)
        thresholds = np.empty_like(keys)
        thresholds[ascending] = np.where(positions < 0, sweep.NO_LIMIT, keys if mated else -keys)
        return thresholds

    def _read_hull(self, name: str) -> Floats:
        from fastfair.kernels import replicated_hull

        what = replicated_hull.EQUAL_ERROR if name == "eer" else replicated_hull.MIN_CLLR
        values = np.empty_like(self._eer)
        replicated_hull.hull_figures(*self._shrunk(name), *self._engine.blocks, what, values)
        return values

    def _d_prime(self) -> Floats:
        from fastfair.kernels import replicated_scores

        means = []
        for side, scores in zip(self._shrunk("d_prime"), self._engine.scores, strict=True):
            means.append(np.empty((2, 1 + self._engine.n_groups, BLOCK)))
            replicated_scores.moments(side, scores, means[-1])
        nonmated, mated = means
        return np.asarray(decidability(tuple(mated), tuple(nonmated)))

    def _cllr(self, totals: Classes[Totals], number: int) -> Floats:
        engine = self._engine
        means = []
        of_classes = zip(
            totals, self._sides, engine.mean_costs, engine.shrinkage.metrics["cllr"], strict=True
        )
        for of_class, side, mean, shrinkage in of_classes:
            costs = of_class.cost(number, self.weights, shrinkage.size)
            with np.errstate(invalid="ignore"):
                weighted = costs / side.totals[: shrinkage.size]
            means.append(((1 - shrinkage) * mean)[:, None] + shrinkage[:, None] * weighted)
        return ratio_cost(engine.metrics.p_target, *means)


class Engine(ABC):
    """Draws replicates of comparisons whose lists, thresholds and shrinkage a subclass has found.

    A subclass also sets what `BlockSweep` reads and `Resampler` documents: `score_kind`,
    `lowest_key`, `rates`, `first_fmr`, `shrinkage`, and `need_eer` and `hull_eer`, which may be
    False. Only with metrics or EER thresholds are `thresholds`, `measured`, `guesses`, `blocks`,
    `least_costs` and `mean_costs` read.

    Attributes
    ----------
    units : Units
        The units that are drawn.
    error_lists : Classes of ErrorLists
        The mated and the non-mated comparisons near the errors.
    points : sequence of OperatingPoint
        The operating points.
    metrics : Metrics
        What to compute besides the rates at the operating points.
    cells : tuple of tuple of int
        Pairs of different groups whose FMRs are computed.
    n_groups : int
        The number of groups.
    """

    units: Units
    error_lists: Classes[ErrorLists]
    points: Sequence[OperatingPoint]
    metrics: Metrics
    cells: tuple[tuple[int, int], ...]
    n_groups: int
    # attributes that others need only where lists are too short
    _not_sent: ClassVar[tuple[str, ...]]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in self._not_sent}

    @abstractmethod
    def _keep_more(self) -> None:
        """Make lists of more comparisons than these."""

    def lists(self, mated: bool) -> ErrorLists:
        """Return the mated, or the non-mated, lists."""
        return self.error_lists.of(mated)

    def keep_more(self, lists: Classes[ErrorLists]) -> None:
        """Keep more comparisons than these lists do, which a replicate found too short.

        Raises
        ------
        TooFewKeptError
            In workers that were given the lists alone.
        """
        if self._not_sent[0] not in vars(self):  # a copy of a worker, without all comparisons
            raise TooFewKeptError
        with _lock:
            if self.error_lists is lists:
                self._keep_more()

    def replicate(
        self,
        n_resamples: int,
        key: RandomKey,
        workers: Workers = Workers(),  # noqa: B008 - frozen
        *,
        first: int = 0,
    ) -> Replicates:
        """Draw `n_resamples` replicates from number `first` on; each depends only on the key and on
        its number.

        Parameters
        ----------
        n_resamples : int
            Number of replicates.
        key : (2,) ndarray of uint32
            Key of the random stream.
        workers : Workers
            Who computes them; results do not depend on it.
        first : int
            Number of the first replicate.

        Returns
        -------
        Replicates
        """
        totals = self._totals(range(first, first + n_resamples), key, workers)
        return self._run(n_resamples, _Blocks(self, totals, key, first), workers)

    def _totals(self, replicates: range, key: RandomKey, workers: Workers) -> Classes[Totals]:
        """Return what weighs all comparisons in blocks of some replicates."""
        sides = [lists.source for lists in self.error_lists]
        starts = range(replicates.start, replicates.stop, BLOCK)
        n_costs = 1 + self.n_groups if "cllr" in self.metrics.names else 0
        done = 0
        n = int(sum(side.sizes[0] for side in sides))
        with (
            reporting(workers.progress, "total weights") if sides[0].in_passes else nullcontext()
        ) as report:

            def report_more(n_more: int) -> None:
                nonlocal done
                done += n_more
                if report is not None:
                    report(done, n)

            return Classes(
                *(side.totals(self.units, starts, key, n_costs, report_more) for side in sides)
            )

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Names of the arrays in which replicates are computed, with the shape that each has in one
        replicate.
        """
        n_points = len(self.points)
        (mated, nonmated) = self.error_lists
        rates = {
            "threshold": (n_points,),
            "fmr": (n_points, nonmated.end.size),
            "fnmr": (n_points, mated.end.size),
        }
        return rates | dict.fromkeys(self.metrics.names, (1 + self.n_groups,))

    def _run(self, n: int, job: _Blocks, workers: Workers) -> Replicates:
        """Compute n replicates block by block, with several blocks at a time."""
        size = 8 * round_up(n, BLOCK) * sum(int(np.prod(shape)) for shape in self.shapes.values())
        would_do = "use fewer resamples, operating points or groups (pairs of groups count, too)"
        # what is made of them is as large
        memory.require(2 * size, f"{n:,} replicates of all rates", would_do)
        replicates = {name: np.empty((*shape, n)) for name, shape in self.shapes.items()}
        unfinished: list[int] = []

        def take(steps: range, arrays: Arrays) -> None:
            unfinished.extend(
                steps[k] for k in np.flatnonzero(arrays.pop(_UNFINISHED)[::BLOCK]) * BLOCK
            )
            for name, array in arrays.items():
                replicates[name][..., steps.start : steps.stop] = array

        def finish(start: int) -> None:
            steps = range(start, min(start + BLOCK, n))
            take(steps, job.run(steps, 1, None))

        do_job(job, n, BLOCK, workers, f"{n:,} replicates", take)
        # here, where all data are
        run_blocks(finish, tuple(unfinished), n, BLOCK, workers.n_threads, None)
        threshold, fmr, fnmr = (replicates.pop(name) for name in ("threshold", "fmr", "fnmr"))
        return Replicates(threshold, fmr, fnmr, replicates, self.cells)


@dataclass(frozen=True, eq=False)
class _Blocks:
    """Everything computed again with other weights of units, as a job whose steps are replicates in
    blocks of 64.

    It is pickled with all that replicates need, but for working memory.

    Attributes
    ----------
    engine : Engine
        What to compute.
    totals : Classes of Totals
        What weighs all comparisons.
    key : (2,) ndarray of uint32, or None
        Key of the random stream that draws units; None to leave each unit out in its turn.
    first : int
        Number of the first replicate drawn.
    """

    engine: Engine
    totals: Classes[Totals]
    key: RandomKey | None = None
    first: int = 0
    # working memory, which the next thread or part uses again
    _free: list[BlockSweep] = field(default_factory=list)

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        return _Blocks, (self.engine, self.totals, self.key, self.first)

    def run(self, steps: range, n_threads: int | None, report: Report | None) -> Arrays:
        """Compute replicates from a block on, and mark those that need comparisons that were not
        sent along.
        """
        n = len(steps)
        out = {
            name: np.full((*shape, round_up(n, BLOCK)), np.nan)
            for name, shape in self.engine.shapes.items()
        }
        unfinished = np.zeros(n, np.bool_)

        def block(start: int) -> None:
            try:
                sweep = self._free.pop()
            except IndexError:
                sweep = BlockSweep(self.engine)
            parts = {name: array[..., start : start + BLOCK] for name, array in out.items()}
            first = steps.start + start
            units = self.engine.units
            if self.key is None:
                units.leave_one_out(first, sweep.weights)
            else:
                units.draw(self.first + first, self.key, sweep.weights)
            try:
                sweep.compute(parts, self.totals, first // BLOCK)
            except TooFewKeptError:
                unfinished[start : start + BLOCK] = True
            self._free.append(sweep)

        run_blocks(block, range(0, n, BLOCK), n, BLOCK, n_threads, report)
        return {name: array[..., :n] for name, array in out.items()} | {_UNFINISHED: unfinished}


# Bytes of memory, at the peak:
_BYTES = 8  # for a comparison,
_BYTES_OF_A_RUN = 16  # for a run of those of one unit in one list,
_BYTES_KEPT = 12  # for a comparison that a list keeps,
_BYTES_OF_A_COST = 8  # for its cost in Cllr,
_BYTES_OF_COSTS = 48  # and for that in min Cllr
# Keep 1.5 times the need of the estimates, plus 8 standard deviations, at least 8,192.
_SPARE = 1.5
_SPARE_DEVIATIONS = 8
_LEAST_KEPT = 2**13
Metric = Literal["eer", "min_dcf", "cllr", "min_cllr", "auc", "d_prime"]
METRICS: tuple[Metric, ...] = get_args(Metric)


@dataclass(frozen=True)
class Metrics:
    """Which metrics that have no operating point to compute, and how.

    Attributes
    ----------
    names : tuple of str
        Some of "eer", "min_dcf", "cllr", "min_cllr", "auc" and "d_prime".
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


ALL_METRICS = Metrics()
NO_METRICS = Metrics(())
_OF_ALL = {"min_cllr", "auc", "d_prime"}  # metrics that need lists of all comparisons


class Resampler(Engine):
    """Draws replicates of comparisons.

    Parameters
    ----------
    comparisons : Comparisons
        The comparisons to resample.
    points : sequence of OperatingPoint
        Operating points to compute rates at. All thresholds but given ones are found again in every
        replicate.
    unit : {"comparison", "subject", "sample", "subject+sample"}
        The units drawn with replacement: comparisons, separately for mated and non-mated; subjects
        within each group; samples within each subject; or subjects, and then samples of these.
    scheme : {"dyadic", "product"}
        How a comparison of two subjects is weighted: "product" multiplies the subjects' weights;
        "dyadic" shrinks this product until replicates have the dyadic-robust variance. All units
        but "subject" use plain products.
    metrics : Metrics
        What to compute besides the rates at the operating points.
    measured : sequence of int
        Groups whose mean EER threshold `at_mean_group_eer` uses.
    with_groups : bool
        Whether to compute the rates of groups and of pairs of groups.
    workers : Workers
        Who prepares the comparisons: threads of this process, and of scans the workers of an
        executor.

    Attributes
    ----------
    units : Units
        The units that are drawn.
    cells : tuple of tuple of int
        Pairs of different groups that have non-mated comparisons.
    error_lists : Classes of ErrorLists
        Mated and non-mated comparisons: of all, of each group, and the non-mated ones of each of
        `cells`.
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

    Raises
    ------
    InputError
        Where the comparisons lack the subjects or samples to draw.
    """

    first_fmr = 0
    _not_sent = "comparisons", "_kept", "_sides", "_complete"

    def __init__(
        self,
        comparisons: Comparisons,
        points: Sequence[OperatingPoint],
        *,
        unit: str = "subject",
        scheme: str = "dyadic",
        metrics: Metrics = ALL_METRICS,
        measured: Sequence[int] = (),
        with_groups: bool = True,
        workers: Workers = Workers(),  # noqa: B008 - frozen
    ) -> None:
        self.comparisons, self.score_kind = comparisons, comparisons.score_kind
        # Kept, as other processes get what was drawn without the comparisons.
        self.no_unit_left_out = comparisons.lacks.get("units left out", "")
        self.points = tuple(points)
        self.metrics = metrics
        self.measured = np.asarray(measured, np.intp)
        self.rates = np.array([point.value for point in points], np.float64)
        self.n_groups = len(comparisons.groups) if with_groups else 0
        self.units = Units.of_comparisons(comparisons, unit)
        if isinstance(self.units, SessionUnits):
            self.no_unit_left_out = _NO_SESSION_LEFT_OUT
        self.cells = different_groups(comparisons) if self.n_groups else ()
        self._kept = Classes(self._sorted(True), self._sorted(False))
        of_eers = {point.rule.eers for point in points} | {
            "groups" if "eer" in metrics.names else ""
        }
        self.need_eer = of_eers != {""}
        self.eer_lists = 1 + self.n_groups if "groups" in of_eers else 1
        self.hull_eer = "eer" in metrics.names and metrics.eer_method == "convex-hull"
        self.thresholds = np.array(
            [threshold_key(comparisons, point, measured) for point in points], np.int64
        )
        self.lowest_key = keys_of(comparisons).lowest
        with_eer = self._find_estimates()
        self._make_sides(with_eer, workers)
        self.guesses = self.error_lists.nonmated.count_errors(self.eer_keys[: self.eer_lists])
        if self.hull_eer or "min_cllr" in metrics.names:
            self._find_blocks()
        if "auc" in metrics.names:
            self._find_runs()
        if "d_prime" in metrics.names:
            of_lists = self.error_lists.mated.keys, ~self.error_lists.nonmated.keys
            mated, nonmated = centred_scores(keys_of(comparisons), *of_lists)[2:]
            self.scores = nonmated, mated
        if "cllr" in metrics.names:
            self.mean_costs = [side.mean_costs(1 + self.n_groups) for side in self._sides]
        self.shrinkage = self._find_shrinkage(scheme)

    @property
    def _needs_all(self) -> bool:
        """Whether metrics need all comparisons, and not only those near the errors."""
        return self.hull_eer or not _OF_ALL.isdisjoint(self.metrics.names)

    def _make_sides(self, with_eer: list[int], workers: Workers) -> None:
        """Group the comparisons of each class by unit, and list those near the errors."""
        of_all = keys_of(self.comparisons)
        names = self.metrics.names
        if self._needs_all:
            of_all.require_all(" and ".join(names))
        exact: Any = (None, None)
        if "cllr" in names:
            self.comparisons._require("costs")
            exact = exact_costs(of_all, score_metrics.prior_log_odds(self.metrics.p_target))
        n_kept = (
            (of_all.mated.size, of_all.nonmated.size)
            if self._needs_all
            else self._numbers_to_keep(with_eer)
        )
        self._require_memory(sum(n_kept))
        of_classes = zip(self.comparisons.pairs, self._kept, exact, strict=True)
        sides = (
            SessionSide(kept, workers, costs)
            if isinstance(self.units, SessionUnits)
            else side_of(pairs, kept, workers, costs)
            for pairs, kept, costs in of_classes
        )
        self._sides: Classes[Any] = Classes(*sides)
        self._complete: dict[bool, ErrorLists] = {}
        self.error_lists = self._make_lists(*n_kept)

    def _sorted(self, mated: bool) -> SortedComparisons:
        """Return the comparisons of a class with the list of each."""
        comparisons, n_groups = self.comparisons, self.n_groups
        if not n_groups:
            return SortedComparisons(comparisons, mated, self.units, None)
        lists = np.diag(np.arange(1, n_groups + 1, dtype=np.int32))
        for k, cell in enumerate(() if mated else self.cells, 1 + n_groups):
            lists[cell] = k
        return SortedComparisons(comparisons, mated, self.units, lists)

    def _require_memory(self, n_kept: int) -> None:
        """Refuse more comparisons than can be grouped by unit, and divided into lists, in the
        memory there is.
        """
        costs = sorted({"cllr", *_OF_ALL} & set(self.metrics.names))
        would_do = "use fewer comparisons" + (
            " or no groups, which take up to half of it" if self.n_groups else ""
        )
        if costs:
            would_do += f", or leave out {' and '.join(costs)}"
        each = _BYTES + _BYTES_OF_A_COST * ("cllr" in costs)
        n_bytes = sum(  # a scan has more than it keeps, and looks after that memory itself
            each * len(of_class)
            + _BYTES_OF_A_RUN * min(len(of_class), self.units.n_rows * of_class.sizes.size)
            for of_class in self._kept
        )
        kept = (
            _BYTES_KEPT
            + self.comparisons.nonmated.keys.itemsize
            - 4
            + _BYTES_OF_COSTS * (not _OF_ALL.isdisjoint(costs))
        )
        # Lists of groups hold each comparison once more.
        n_bytes += kept * n_kept * (2 if self.n_groups else 1)
        memory.require(n_bytes, "comparisons prepared for resampling", would_do)

    def _make_lists(self, *n_kept: int) -> Classes[ErrorLists]:
        """List so many comparisons of each class."""
        of_classes = zip(self._kept, self._sides, (True, False), n_kept, strict=True)
        return Classes(
            *(make_lists(kept.listed, side, mated, n) for kept, side, mated, n in of_classes)
        )

    def _numbers_to_keep(self, with_eer: list[int]) -> tuple[int, int]:
        """Return how many mated and non-mated comparisons replicates are expected to need, from the
        first error on.
        """
        of_all = keys_of(self.comparisons)
        mated, nonmated = of_all.mated, of_all.nonmated
        keys = np.append(self.thresholds, self.eer_keys[with_eer])
        errors = np.stack(
            (np.searchsorted(mated, keys), nonmated.size - np.searchsorted(nonmated, keys)), axis=1
        )
        at_costs = [
            self._needed_for_cost(k) for k in np.flatnonzero(np.isfinite(self.least_costs)).tolist()
        ]
        most = (
            np.concatenate((errors, np.reshape(at_costs, (-1, 2))))
            .max(axis=0, initial=0)
            .astype(np.int64)
            .tolist()
        )
        return _with_spare(most[0], mated.size), _with_spare(most[1], nonmated.size)

    def _needed_for_cost(self, k: int) -> tuple[int, int]:
        """Return up to which mated and non-mated comparisons of all a list's minimum cost is looked
        for.

        These are errors at the thresholds where errors of their class alone cost as much.
        """
        of_all = keys_of(self.comparisons)
        keys = keys_of(self.comparisons, k - 1 if k else None)
        costs = self.metrics.costs
        cost = float(self.least_costs[k]) * costs.unit
        of_classes = zip(
            (keys.mated, keys.nonmated), (costs.miss, costs.false_match), keys.sizes, strict=True
        )
        of_mated, of_nonmated = (
            min(kept.size - 1, int(cost / of_error * n)) for kept, of_error, n in of_classes
        )
        last_mated = keys.mated[of_mated]
        last_nonmated = keys.nonmated[keys.nonmated.size - 1 - of_nonmated]
        return (
            int(np.searchsorted(of_all.mated, last_mated, side="right")),
            of_all.nonmated.size - int(np.searchsorted(of_all.nonmated, last_nonmated)),
        )

    def _keep_more(self) -> None:
        """Keep about twice as many comparisons."""
        n_kept = [int(lists.end[0]) for lists in self.error_lists]
        self.error_lists = self._make_lists(*(2 * n + 1 for n in n_kept))
        if n_kept == [lists.end[0] for lists in self.error_lists]:
            raise not_kept("a replicate", keys_of(self.comparisons))

    def complete(self, mated: bool) -> ErrorLists:
        """Return the lists of a class with all of its comparisons, or with all that a scan has
        kept.
        """
        lists = self.lists(mated)
        if lists.complete:
            return lists
        if mated not in self._complete:
            self._complete[mated] = make_lists(
                self._kept.of(mated).listed, self._sides.of(mated), mated
            )
        return self._complete[mated]

    def _find_estimates(self) -> list[int]:
        """Find the EER and the minimum cost of each list, and their thresholds, in the data; return
        who has an EER.
        """
        of_lists = [
            keys_of(self.comparisons),
            *(keys_of(self.comparisons, k) for k in range(self.n_groups)),
        ]
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
            if "min_dcf" in self.metrics.names:
                self.least_costs[k], self.cost_keys[k] = score_metrics.least_cost(
                    self.metrics.costs, keys
                )
        return with_eer

    def _find_blocks(self) -> None:
        """Find the blocks of comparisons from which the ROC convex hulls of all replicates are
        made.
        """
        from fastfair.kernels import replicated_hull

        (mated, nonmated) = self.error_lists
        lists = range(1 + self.n_groups)
        of_lists = [
            replicated_hull.find_blocks(mated.keys_of(k), nonmated.keys_of(k)) for k in lists
        ]
        first, above = map(np.concatenate, zip(*of_lists, strict=True))
        self.blocks = first, above, np.cumsum([first.size for first, _ in of_lists])

    def _find_shrinkage(self, scheme: str) -> Shrinkage:
        names, both = self.metrics.names, self.error_lists
        dyadic = scheme == "dyadic" and self.units.unit == "subject"
        n_lists = 1 + self.n_groups
        keys = {"eer": self.eer_keys} if self.need_eer else {}
        keys |= {"min_dcf": self.cost_keys} if "min_dcf" in names else {}
        shrinkage = find_shrinkage(both, self.thresholds, keys, dyadic=dyadic)
        for name in {"cllr", *_OF_ALL} & set(names):
            shrinkage.metrics[name] = Classes(np.ones(n_lists), np.ones(n_lists))
        if dyadic and "cllr" in names:
            for side, means, factors in zip(
                self._sides, self.mean_costs, shrinkage.metrics["cllr"], strict=True
            ):
                if side.two_way:
                    factors[:] = shrinkage_of(side.variances_of_mean_costs(means))
        costs_of = {
            "min_cllr": self._calibrated_costs,
            "auc": self._parts_of_areas,
            "d_prime": self._parts_of_d_primes,
        }
        for name in costs_of if dyadic else ():
            if name in names:
                for lists, costs, factors in zip(
                    both, costs_of[name](), shrinkage.metrics[name], strict=True
                ):
                    factors[:] = lists.shrinkage_of_costs(costs, n_lists)
        # Below 1 where mated pairs of a sample with itself take the rest.
        mean = both.mated.source.mean_weight
        shrinkage.mated[:] *= mean[:, None]
        for mated, _ in shrinkage.metrics.values():
            mated *= mean[: mated.size]
        return shrinkage

    def _calibrated_costs(self) -> Classes[Floats]:
        """Compute what each comparison listed costs after the best calibration of the data.

        Replicates have other calibrations, which change the mean cost only in the second order.
        """

        def parts(k: int) -> tuple[Floats, Floats]:
            mated, nonmated = (lists.keys_of(k) for lists in self.error_lists)
            each = score_metrics.calibrated_costs(read_only(mated), read_only(~nonmated[::-1]))
            return np.repeat(*each[0]), np.repeat(*each[1])[::-1]

        return self._of_each_list(parts)

    def _find_runs(self) -> None:
        """Find the runs of mated comparisons from which the areas of all replicates are made."""
        (mated, nonmated), runs = self.error_lists, []
        for k in range(1 + self.n_groups):
            places = np.array(nonmated_beyond(mated.keys_of(k), ~nonmated.keys_of(k)[::-1]))
            is_first = np.ones(places.shape[1], np.bool_)
            is_first[1:] = (places[:, 1:] != places[:, :-1]).any(axis=0)
            start = np.flatnonzero(is_first)[::-1]
            runs.append(np.array([start, *places[:, start]], np.int64))
        start, above, at_least = np.concatenate(runs, axis=1)
        self.runs = start, above, at_least, np.cumsum([part.shape[1] for part in runs])

    def _parts_of_areas(self) -> Classes[Floats]:
        """Compute what share of the comparisons of the other class of its list each comparison
        listed is on the wrong side of.

        Weights change the area as they change the means of these shares, in the first order.
        """
        both = self.error_lists

        def share(beyond: tuple[Integers, Integers], n: int) -> Floats:
            return np.add(*beyond) / (2 * n)

        def parts(k: int) -> tuple[Floats, Floats]:
            mated, inverted = both.mated.keys_of(k), both.nonmated.keys_of(k)
            above = nonmated_beyond(mated, ~inverted[::-1])
            below = nonmated_beyond(inverted, ~mated[::-1])
            return share(above, inverted.size), share(below, mated.size)

        return self._of_each_list(parts)

    def _parts_of_d_primes(self) -> Classes[Floats]:
        """Compute by how much each comparison listed moves the d' of its list, in the first
        order.
        """
        nonmated, mated = self.scores

        def parts(k: int) -> tuple[Floats, Floats]:
            both = self.error_lists
            x = mated[both.mated.start[k] : both.mated.end[k]]
            y = nonmated[both.nonmated.start[k] : both.nonmated.end[k]]
            variance = float(x.var() + y.var()) / 2 or 1.0
            d = float(x.mean() - y.mean()) / variance**0.5

            def moved(scores: Floats, sign: int) -> Floats:
                away = (scores - scores.mean()) / variance**0.5
                return np.asarray(sign * away - d / 4 * away**2)

            return moved(x, 1), moved(y, -1)

        return self._of_each_list(parts)

    def _of_each_list(self, parts: Callable[[int], tuple[Floats, Floats]]) -> Classes[Floats]:
        """Compute something of each comparison listed: that of mated and of non-mated ones of each
        list that has both.
        """
        of_both = Classes(*(np.zeros(lists.keys.size) for lists in self.error_lists))
        for k in range(1 + self.n_groups):
            rows = [slice(lists.start[k], lists.end[k]) for lists in self.error_lists]
            if all(part.stop > part.start for part in rows):
                for of_class, part, values in zip(of_both, rows, parts(k), strict=True):
                    of_class[part] = values
        return of_both

    def position(self, cell: tuple[int, int] | None) -> int:
        """Return the list of a pair of groups, or of all comparisons."""
        if cell is None:
            return 0
        return 1 + cell[0] if cell[0] == cell[1] else 1 + self.n_groups + self.cells.index(cell)

    def effective_sample_size(
        self, mated: bool, cell: tuple[int, int] | None = None, nothing_but_errors: bool = False
    ) -> float:
        """Compute the effective sample size of a rate with few errors: comparisons over their
        design effect.

        A rate without errors has no variance to compute the design effect from. It is that of the
        rate at the nearest laxer threshold at which comparisons of five pairs of subjects, or mated
        comparisons of five subjects, are errors.

        Parameters
        ----------
        mated : bool
            Whether the rate is an FNMR.
        cell : tuple of int, optional
            The groups of its references and probes, which have comparisons; by default all
            comparisons.
        nothing_but_errors : bool
            Whether the rate is 1 instead of 0, so that the nearest stricter threshold is meant at
            which those of five pairs, or subjects, are not errors.

        Returns
        -------
        float
            At least 1, and at most the number of comparisons, which it is where the units drawn are
            not subjects. Where no threshold has five pairs in error and others that are not: the
            number of subjects, or of pairs of subjects without anybody in common. Where a scan has
            not kept the comparisons of five pairs: 1, so that limits are never narrower than those
            of all comparisons.
        """
        from fastfair.kernels import dyadic as kernels

        n = self.n_comparisons(mated, cell)
        k = self.position(cell)
        if self.units.unit != "subject":
            return float(n)
        for find_lists in (self.complete,) if nothing_but_errors else (self.lists, self.complete):
            lists = find_lists(mated)
            keys, *rows = _of_list(lists, k, backwards=nothing_but_errors)
            units = lists.source.rows_of_kinds(*rows)[0]
            n_errors = kernels.errors_of_pairs(keys, *units, ENOUGH_PAIRS)
            if n_errors < keys.size or keys.size == n:
                break  # else more comparisons are needed than are kept
        if keys.size < n and (n_errors == keys.size or nothing_but_errors):
            if self.comparisons.may_keep_more:
                raise not_kept("the limit of a rate without errors", keys_of(self.comparisons))
            return 1.0
        if n_errors == keys.size:
            varying = np.unique(np.concatenate(units))
            n_subjects = int(lists.source.kinds[0].varies[varying].sum())
            most = min(n, self.n_sessions(mated, cell))
            return float(min(most, max(1, n_subjects if mated else n_subjects // 2)))
        variance = float(
            lists.variance(k, n_errors, from_the_end=nothing_but_errors)[0][kernels.ROBUST]
        )
        return effective_size(n, n_errors, variance)

    def n_comparisons(self, mated: bool, cell: tuple[int, int] | None = None) -> int:
        """Return the number of mated or non-mated comparisons, of all or of a cell of groups."""
        return int(self.lists(mated).sizes[self.position(cell)])

    def n_sessions(self, mated: bool, cell: tuple[int, int] | None = None) -> float:
        """Return the number of sessions that some comparisons are of; infinite where these are not
        known.
        """
        source = self.lists(mated).source
        if not isinstance(source, SessionSide):
            return math.inf
        return float(source.n_sessions[self.position(cell)])

    def design_effects(self, mated: bool, point: int) -> tuple[float, float, float] | None:
        """Return the design effects of people, of sessions, and of both on a rate of all
        comparisons; None where sessions are not known, and where the rate does not vary.
        """
        from fastfair.kernels import dyadic as kernels

        lists = self.lists(mated)
        if not isinstance(lists.source, SessionSide):
            return None
        errors = int(lists.errors_at(self.thresholds)[point, 0])
        n = int(lists.sizes[0])
        binomial = errors * (n - errors) / max(n, 1)
        if not lists.reach(lists.limits(self.thresholds[point : point + 1])) or not binomial:
            return None
        variances, _ = lists.variance(0, errors, from_the_end=False)
        people, sessions, both = (
            float(variances[column]) / binomial
            for column in (OF_PEOPLE, OF_SESSIONS, kernels.ROBUST)
        )
        return (people, sessions, both) if people > 0 else None

    def raised_by_session(self, lists: ErrorLists, k: int, errors: int) -> float:
        """Return by how much one more session raises a rate with so many errors of list k; 0 where
        sessions are not known, or add nothing.
        """
        from fastfair.kernels import dyadic as kernels

        side = lists.source
        if not isinstance(side, SessionSide):
            return 0.0
        variances, _ = lists.variance(k, errors, from_the_end=False)
        n_sessions = float(side.n_sessions[k])
        added = variances[kernels.ROBUST] - variances[OF_PEOPLE]
        return float(one_more_session(added, lists.sizes[k], n_sessions, lists.mated))

    def freedom(self, point: int, cell: tuple[int, int] | None = None) -> float:
        """Return the degrees of freedom of the dyadic-robust variance of an FMR.

        Parameters
        ----------
        point : int
            Position of the operating point.
        cell : tuple of int, optional
            As in `effective_sample_size`.

        Returns
        -------
        float
            See `kernels.dyadic`; infinite where the scheme or the units are others.
        """
        return float(self.shrinkage.freedom[self.position(cell), point])

    def count_models(self, names: Sequence[str] = ERROR_RATES) -> list[dict[str, CountModel]]:
        """Estimate how the numbers of errors of groups vary at each operating point.

        Parameters
        ----------
        names : sequence of str
            The rates: "fmr", "fnmr" or both.

        Returns
        -------
        list of dict of CountModel
            Of these rates at each point; empty where the units drawn are samples.
        """
        if "sample" in self.units.unit:
            return []
        lists = [self.error_lists.of(name == "fnmr") for name in names]
        of_each = [count_models(lists_of, self.thresholds, self.n_groups) for lists_of in lists]
        return [dict(zip(names, of_point, strict=True)) for of_point in zip(*of_each, strict=True)]

    def jackknife(self, n_threads: int | None = None) -> Replicates:
        """Compute everything with one unit left out at a time.

        Parameters
        ----------
        n_threads : int, optional
            All processors by default.

        Returns
        -------
        Replicates
            In place of replicates, one result for each unit left out.

        Raises
        ------
        InputError
            Where there are too many units to leave out one at a time, and for a scan.
        """
        if self.no_unit_left_out:
            raise InputError(self.no_unit_left_out)
        if self.units.n_units > _MOST_LEFT_OUT:
            raise InputError(
                f'⟦method="bca"⟧ leaves out {self.units.n_units:,} units one at a time, but at most'
                f" {_MOST_LEFT_OUT:,} are possible: use another method or another unit"
            )
        sides = Classes(*(lists.source for lists in self.error_lists))
        return self._run(self.units.n_units, _Blocks(self, sides), Workers(n_threads))

    def influences(self, left_out: Floats) -> Floats:
        """Turn jackknife values into influences: their distance from the mean of the unit's
        stratum, times (n - 1) / n with n units in it, as units are drawn within strata.

        Parameters
        ----------
        left_out : (..., units) ndarray
            Values that `jackknife` computed.

        Returns
        -------
        (..., units) ndarray
            NaN for values that are NaN or infinite.
        """
        stratum = self.units.stratum[: self.units.n_units]
        values = np.where(np.isfinite(left_out), left_out, np.nan)
        for inside in (stratum == s for s in np.unique(stratum)):
            of_stratum = values[..., inside]
            n = np.isfinite(of_stratum).sum(axis=-1, keepdims=True)
            with np.errstate(invalid="ignore"):
                mean = np.nansum(of_stratum, axis=-1, keepdims=True) / n
                values[..., inside] = (of_stratum - mean) * ((n - 1) / np.maximum(n, 1))
        return values


def _of_list(lists: ErrorLists, k: int, *, backwards: bool) -> list[AnyIntegers]:
    """Return the keys and the rows of both units of the comparisons of a list."""
    columns = (column[lists.start[k] : lists.end[k]] for column in (lists.keys, lists.a, lists.b))
    return [column[::-1].copy() if backwards else column for column in columns]


def _with_spare(most: int, n: int) -> int:
    """Return how many of n comparisons to keep where thresholds need so many."""
    kept = int(_SPARE * most + _SPARE_DEVIATIONS * most**0.5) + _LEAST_KEPT
    return kept if 2 * kept < n else n


def different_groups(comparisons: Comparisons) -> tuple[tuple[int, int], ...]:
    """List the pairs of different groups that have non-mated comparisons."""
    counts = comparisons.nonmated_by_group.cells.copy()
    np.fill_diagonal(counts, 0)
    return tuple((first, second) for first, second in np.argwhere(counts).tolist())
