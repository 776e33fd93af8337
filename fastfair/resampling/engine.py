"""The engine: replicates of thresholds, rates and metrics, in blocks of 64, from weights of units.

No resampled copy of the scores is made. They are sorted once, and a replicate is one weighted pass over as many of
them as its operating points need. A block depends on the key of the random stream and its number alone: threads of
this process, or workers of an executor, compute any of them, and those that need more than was sent along are
finished here.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import memory
from fastfair._lib.threads import run_blocks
from fastfair._lib.workers import Arrays, Report, Workers, do_job
from fastfair.data import score_keys
from fastfair.data.comparisons import Comparisons
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.error_rates.score_metrics import ratio_cost
from fastfair.errors import InputError

from .dependence import CountModel, count_models, effective_sample_size
from .pair_source import TooFewKeptError, Totals
from .preparation import ALL_METRICS, Metrics, Preparation
from .units import BLOCK

if TYPE_CHECKING:
    from fastfair.kernels.sweep import Side, Summed

Floats = NDArray[np.float64]
_UNFINISHED = "unfinished"  # the name of a further array: which replicates need more than was at hand
_EER_METHODS = {"nearest": 0, "nearest-max": 1, "interpolated": 2, "convex-hull": 0}  # whose hull is another kernel's
Scheme = Literal["dyadic", "product"]
SCHEMES: tuple[Scheme, ...] = get_args(Scheme)
_MOST_LEFT_OUT = 20_000  # beyond it the jackknife takes longer than all replicates


@dataclass(frozen=True, eq=False)
class Replicates:
    """Thresholds, rates and metrics of every replicate, with replicates on the last axis; or, without it, of the data.

    Attributes
    ----------
    threshold : (points, r) ndarray
        Thresholds on the scale of the scores; NaN where there is none.
    fmr : (points, 1 + groups + cells, r) ndarray
        False match rates: overall, of each group, of each pair of groups in `cells`; NaN where not computed.
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


def _padded(n: int) -> int:
    return -(-n // BLOCK) * BLOCK


class BlockSweep:
    """Computes blocks, one after another, in the working memory of one thread.

    Parameters
    ----------
    prepared : Preparation or PreparedVectors
        The comparisons.

    Attributes
    ----------
    weights : (rows, 64) ndarray of uint8
        The weights of units, to be written before each block.
    """

    def __init__(self, prepared: Any) -> None:
        self._prepared = prepared
        x, y = prepared.x, prepared.y
        n_points, n_metrics = len(prepared.points), 1 + prepared.n_groups
        self.weights = prepared.units.new_weights()
        self._take_lists()
        self._eer = np.full((n_metrics, BLOCK), np.nan)
        self._eer_keys = np.empty((n_metrics, BLOCK), np.int64)
        self._costs = np.empty((n_metrics, BLOCK))
        self._of_hull = np.empty((n_metrics, BLOCK))
        self._rates = np.empty((n_points, y.end.size, BLOCK)), np.empty((n_points, x.end.size, BLOCK))
        self._first_lists = 0, prepared.first_fmr

    def _take_lists(self) -> None:
        """Take the lists as they are now."""
        prepared = self._prepared
        self._lists = y, x = prepared.y, prepared.x
        self._x, self._y = (
            lists.side(self.weights, np.zeros((lists.end.size, BLOCK), lists.sizes.dtype), shrinkage)
            for lists, shrinkage in ((x, prepared.shrinkage.nonmated), (y, prepared.shrinkage.mated))
        )
        chunks = int(np.diff(x.end, prepend=0).max()) // BLOCK + 1 if prepared.need_eer else 0
        self._x_sums = np.empty((chunks, BLOCK), np.int64)
        self._y_sums = np.empty((chunks, BLOCK), np.int64)

    def compute(self, out: dict[str, Floats], totals: tuple[Totals, Totals], number: int = 0) -> None:
        """Compute a block from the weights.

        Parameters
        ----------
        out : dict of (..., 64) ndarray
            The arrays of `Resampler.shapes` by name, to be filled.
        totals : tuple of Totals
            What weighs all mated, and all non-mated, comparisons.
        number : int
            The number of the block by which these know it.
        """
        while not self._sweep(out, totals, number):
            self._prepared.keep_more(self._lists)
            self._take_lists()

    def _sweep(self, out: dict[str, Floats], totals: tuple[Totals, Totals], number: int) -> bool:
        """Compute a block of 64 replicates from their weights, and tell whether lists reach far enough."""
        from fastfair.kernels import replicated_cost, replicated_eer, sweep

        weights = self.weights
        largest = sweep.largest_weight(weights)
        x, y = self._x, self._y = tuple(side._replace(largest=largest) for side in (self._x, self._y))
        for of_class, side in zip(totals, (y, x), strict=True):
            of_class.weigh(number, weights, largest, side.totals)
        self._summed = tuple(
            sweep.NONE_SUMMED if lists.ranges is None else lists.ranges.in_replicates(weights, largest)
            for lists in self._lists
        )
        if self._prepared.need_eer:
            if not replicated_eer.equal_error_rates(
                *self._shrunk("eer"), self._prepared.guesses, _EER_METHODS[self._prepared.eer_method],
                self._x_sums, self._y_sums, self._eer, self._eer_keys,
            ):  # fmt: skip
                return False
            if "eer" in out:
                out["eer"][:] = self._eer
        if self._prepared.hull_eer:
            self._read_hull("eer", out["eer"])
        if "min_cllr" in out:
            self._read_hull("min_cllr", out["min_cllr"])
        if "min_dcf" in out:
            sides = self._shrunk("min_dcf")
            costs = self._prepared.costs
            if not replicated_cost.least_costs(
                *sides, costs.miss, costs.false_match, self._prepared.least_costs * costs.unit, self._costs
            ):
                return False
            out["min_dcf"][:] = self._costs / self._prepared.costs.unit
        if "cllr" in out:
            out["cllr"][:] = self._cllr(totals, number)
        if not self._prepared.points:
            return True
        thresholds = self._find_thresholds()
        if thresholds is None:
            return False
        missing = thresholds == sweep.NO_LIMIT
        found = score_keys.decode(np.where(missing, 0, thresholds).astype(x.keys.dtype)).astype(np.float64)
        sign = -1 if self._prepared.score_kind == "distance" else 1
        out["threshold"][:] = np.where(missing, np.nan, 0.0 + sign * found)
        of_classes = zip(
            self._lists, (y, x), self._summed, self._first_lists, self._rates, ("fnmr", "fmr"), strict=True
        )
        for lists, side, summed, first, shares, name in of_classes:
            limits = np.where(missing, thresholds, lists.limits(thresholds))
            if not lists.reach(limits):
                return False
            if first == lists.end.size:
                continue
            order = np.argsort(limits, axis=None, kind="stable")
            if first > 0:
                side, summed, shares = _without_first(side, summed, shares)
            sweep.shares_at(side, summed, limits, order, shares)
            out[name][:, first:] = shares
        return True

    def _shrunk(self, name: str) -> tuple[Side, Side]:
        """Return the non-mated and the mated side with weights shrunk for a metric."""
        mated, nonmated = self._prepared.shrinkage.metrics[name]
        return self._x._replace(shrinkage=nonmated), self._y._replace(shrinkage=mated)

    def _find_thresholds(self) -> NDArray[np.int64] | None:
        """Find the (points, 64) threshold keys of a block; None where lists do not reach far enough."""
        from fastfair.kernels import sweep

        points, lowest = self._prepared.points, self._prepared.lowest_key
        thresholds = np.empty((len(points), BLOCK), np.int64)
        for rule in dict.fromkeys(point.rule for point in points):
            places = np.array([k for k, point in enumerate(points) if point.rule is rule])
            found = rule.keys_in_block(self, places)
            if found is None:
                return None
            thresholds[places] = found
        if lowest is not None:  # no threshold accepts comparisons that failed
            given = np.array([point.is_given for point in points])[:, None]
            return np.where((thresholds == sweep.NO_LIMIT) | given, thresholds, np.maximum(thresholds, lowest))
        return thresholds

    def given(self, places: NDArray[np.intp]) -> NDArray[np.int64]:
        """As in `operating_points.Block`."""
        return self._prepared.thresholds[places, None]

    def at_equal_error(self) -> NDArray[np.int64]:
        """As in `operating_points.Block`."""
        return self._eer_keys[0]

    def at_mean_group_equal_error(self) -> NDArray[np.int64]:
        """As in `operating_points.Block`."""
        from fastfair.kernels import sweep

        keys, of_lists = self._eer_keys[1 + self._prepared.measured], self._prepared.x.keys
        missing = (keys <= score_keys.failed_key(of_lists)).any(axis=0)  # or there are no comparisons
        similarities = score_keys.decode(np.where(missing, 0, keys).astype(of_lists.dtype)).astype(np.float64)
        means = score_keys.first_keys_at_least(similarities.mean(axis=0), of_lists).astype(np.int64)
        return np.where(missing, sweep.NO_LIMIT, means)

    def at_rates(self, mated: bool, places: NDArray[np.intp]) -> NDArray[np.int64] | None:
        """As in `operating_points.Block`."""
        from fastfair.kernels import sweep

        k, rates = 0 if mated else 1, self._prepared.rates[places]
        side, lists, summed = (self._y, self._x)[k], self._lists[k], self._summed[k]
        ascending = np.argsort(rates, kind="stable")
        errors = side.first(places[ascending])
        positions = np.empty((places.size, BLOCK), np.int64)
        sweep.first_beyond(errors, summed, rates[ascending], positions)
        too_short = not lists.complete and (positions == errors.keys.size).any()
        if too_short or (positions == sweep.INSIDE_RANGE).any():
            return None
        at = np.minimum(positions, errors.keys.size - 1)  # at the end where shares round
        keys = errors.keys[at].astype(np.int64)
        found = np.empty_like(keys)
        # The non-mated score there is the first that must be rejected: the threshold is the next float above it.
        found[ascending] = np.where(positions < 0, sweep.NO_LIMIT, keys if mated else -keys)
        return found

    def _read_hull(self, name: str, values: Floats) -> None:
        from fastfair.kernels import replicated_hull

        what = replicated_hull.EQUAL_ERROR if name == "eer" else replicated_hull.MIN_CLLR
        replicated_hull.hull_figures(*self._shrunk(name), *self._prepared.blocks, what, self._of_hull)
        values[:] = self._of_hull

    def _cllr(self, totals: tuple[Totals, Totals], number: int) -> Floats:
        prepared, means = self._prepared, []
        shrinkages = prepared.shrinkage.metrics["cllr"]
        for of_class, side, mean, shrinkage in zip(
            totals, (self._y, self._x), prepared.mean_costs, shrinkages, strict=True
        ):
            of_lists = of_class.cost(number, self.weights, shrinkage.size)
            with np.errstate(invalid="ignore"):
                weighted = of_lists / side.totals[: shrinkage.size]
            means.append(((1 - shrinkage) * mean)[:, None] + shrinkage[:, None] * weighted)
        return np.asarray(ratio_cost(prepared.p_target, *means))


def _without_first(side: Side, summed: Summed, shares: Floats) -> tuple[Side, Summed, Floats]:
    """Return all lists but the first, and room for their shares."""
    start = side.end[0]
    keys, a, b = side.keys[start:], side.a[start:], side.b[start:]
    side = side._replace(
        keys=keys, a=a, b=b, end=side.end[1:] - start, sizes=side.sizes[1:], totals=side.totals[1:],
        shrinkage=side.shrinkage[1:],
    )  # fmt: skip
    if summed.key.size:
        summed = summed._replace(counts=summed.counts[1:], weights=summed.weights[1:])
    return side, summed, np.empty((shares.shape[0], shares.shape[1] - 1, BLOCK))


class Replicating:
    """Draws replicates of what is prepared."""

    prepared: Any

    @property
    def units(self) -> Any:
        """The units drawn with replacement."""
        return self.prepared.units

    def replicate(
        self,
        n_resamples: int,
        key: NDArray[np.uint32],
        workers: Workers = Workers(),  # noqa: B008 - frozen
        *,
        first: int = 0,
    ) -> Replicates:
        """Draw `n_resamples` replicates from number `first` on; each depends only on the key and on its number.

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

    def _totals(self, replicates: range, key: NDArray[np.uint32], workers: Workers) -> tuple[Totals, Totals]:
        """Return what weighs all mated, and all non-mated, comparisons in blocks of some replicates."""
        prepared = self.prepared
        y, x = prepared.y.source, prepared.x.source
        starts = range(replicates.start, replicates.stop, BLOCK)
        n_costs = 1 + prepared.n_groups if "cllr" in prepared.metrics else 0
        done, n = 0, int(y.sizes[0] + x.sizes[0])
        with workers.reporting("total weights") if y.in_passes else nullcontext() as report:

            def told(n_more: int) -> None:
                nonlocal done
                done += n_more
                if report is not None:
                    report(done, n)

            of_mated, of_nonmated = (side.totals(prepared.units, starts, key, n_costs, told) for side in (y, x))
        return of_mated, of_nonmated

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Names of the arrays in which replicates are computed, with the shape that each has in one replicate."""
        n_points, n_metrics = len(self.prepared.points), 1 + self.prepared.n_groups
        return {
            "threshold": (n_points,),
            "fmr": (n_points, self.prepared.x.end.size),
            "fnmr": (n_points, self.prepared.y.end.size),
        } | dict.fromkeys(self.prepared.metrics, (n_metrics,))

    def _run(self, n: int, job: _Blocks, workers: Workers) -> Replicates:
        """Compute n replicates block by block, with several blocks at a time."""
        size = 8 * _padded(n) * sum(int(np.prod(shape)) for shape in self.shapes.values())
        would_do = "use fewer resamples, operating points or groups (pairs of groups count, too)"
        memory.require(2 * size, f"{n:,} replicates of all rates", would_do)  # what is made of them is as large
        found: dict[str, Floats] = {}
        unfinished: list[int] = []

        def take(steps: range, arrays: Arrays) -> None:
            unfinished.extend(steps[k] for k in np.flatnonzero(arrays.pop(_UNFINISHED)[::BLOCK]) * BLOCK)
            for name, array in arrays.items():
                if len(steps) == n:
                    found[name] = array
                    continue
                if name not in found:
                    found[name] = np.empty((*self.shapes[name], n))
                found[name][..., steps.start : steps.stop] = array

        do_job(job, n, BLOCK, workers, f"{n:,} replicates", take)

        def finish(start: int) -> None:
            steps = range(start, min(start + BLOCK, n))
            arrays = job.run(steps, 1, None)
            if arrays.pop(_UNFINISHED).any():
                raise TooFewKeptError
            for name, array in arrays.items():
                found[name][..., steps.start : steps.stop] = array

        run_blocks(finish, unfinished, n, BLOCK, workers.n_threads, None)  # here, where all data are
        metrics = {name: found[name] for name in self.prepared.metrics}
        return Replicates(found["threshold"], found["fmr"], found["fnmr"], metrics, self.prepared.cells)


class Resampler(Replicating):
    """Draws replicates of comparisons.

    Parameters
    ----------
    comparisons : Comparisons
        The comparisons to resample.
    points : sequence of OperatingPoint
        Operating points to compute rates at. All thresholds but given ones are found again in every replicate.
    unit : {"comparison", "subject", "sample", "subject+sample"}
        The units drawn with replacement: comparisons, separately for mated and non-mated; subjects within each group;
        samples within each subject; or subjects, and then samples of these.
    scheme : {"dyadic", "product"}
        How a comparison of two subjects is weighted: "product" multiplies the subjects' weights; "dyadic" shrinks this
        product until replicates have the dyadic-robust variance. All units but "subject" use plain products.
    metrics : Metrics
        What to compute besides the rates at the operating points.
    measured : sequence of int
        Groups whose mean EER threshold `at_mean_group_eer` uses.
    with_groups : bool
        Whether to compute the rates of groups and of pairs of groups.
    workers : Workers
        Who prepares the comparisons: threads of this process, and of scans the workers of an executor.

    Attributes
    ----------
    prepared : Preparation
        The comparisons as they are resampled.

    Raises
    ------
    InputError
        Where the comparisons lack the subjects or samples to draw.
    """

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
        self.prepared = Preparation(comparisons, points, unit, scheme, metrics, measured, with_groups, workers)

    def effective_sample_size(
        self, mated: bool, cell: tuple[int, int] | None = None, nothing_but_errors: bool = False
    ) -> float:
        """Compute the effective sample size of a rate with no error, or with fewer than five.

        Parameters
        ----------
        mated : bool
            Whether the rate is an FNMR.
        cell : tuple of int, optional
            The groups of its references and probes; by default all comparisons.
        nothing_but_errors : bool
            Whether the rate is 1 instead of 0.

        Returns
        -------
        float
            The number of comparisons where the units drawn are not subjects; else see `dependence`.
        """
        if self.units.unit != "subject":
            return float(self.n_comparisons(mated, cell))
        return effective_sample_size(self.prepared, mated, self.prepared.position(cell), nothing_but_errors)

    def n_comparisons(self, mated: bool, cell: tuple[int, int] | None = None) -> int:
        """Return the number of mated or non-mated comparisons, of all or of a cell of groups."""
        return int((self.prepared.y if mated else self.prepared.x).sizes[self.prepared.position(cell)])

    @property
    def points(self) -> tuple[OperatingPoint, ...]:
        """The operating points."""
        return self.prepared.points

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
        return float(self.prepared.shrinkage.freedom[self.prepared.position(cell), point])

    def count_models(self) -> list[dict[str, CountModel]]:
        """Estimate how the numbers of errors of groups vary at each operating point.

        Returns
        -------
        list of dict of CountModel
            Of "fmr" and "fnmr" at each point; empty where the units drawn are samples.
        """
        if "sample" in self.units.unit:
            return []
        of_points = [
            count_models(lists, self.prepared.thresholds, self.prepared.n_groups)
            for lists in (self.prepared.x, self.prepared.y)
        ]
        return [{"fmr": fmr, "fnmr": fnmr} for fmr, fnmr in zip(*of_points, strict=True)]

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
        self.prepared.comparisons._require("units left out")
        if self.units.n_units > _MOST_LEFT_OUT:
            raise InputError(
                f'method="bca" leaves out {self.units.n_units:,} units one at a time, but at most {_MOST_LEFT_OUT:,} '
                "are possible: use another method or another unit"
            )
        sides = self.prepared.y.source, self.prepared.x.source
        return self._run(self.units.n_units, _Blocks(self, sides), Workers(n_threads))

    def influences(self, left_out: Floats) -> Floats:
        """Center jackknife values on the mean of their stratum, as units are drawn within strata.

        Parameters
        ----------
        left_out : (..., units) ndarray
            Values that `jackknife` computed.

        Returns
        -------
        (..., units) ndarray
        """
        stratum = self.units.stratum[: self.units.n_units]
        centered = np.full(left_out.shape, np.nan)
        for s in np.unique(stratum):
            inside = stratum == s
            values = np.where(np.isfinite(left_out[..., inside]), left_out[..., inside], np.nan)
            n = np.isfinite(values).sum(axis=-1, keepdims=True)
            with np.errstate(invalid="ignore"):
                mean = np.where(np.isfinite(values), values, 0).sum(axis=-1, keepdims=True) / n
                centered[..., inside] = (values - mean) * ((n - 1) / np.maximum(n, 1))
        return centered


@dataclass(frozen=True, eq=False)
class _Blocks:
    """Everything computed again with other weights of units, as a job whose steps are replicates in blocks of 64.

    It is pickled with all that replicates need, but for working memory.

    Attributes
    ----------
    resampler : Replicating
        What to compute.
    totals : tuple of Totals
        What weighs all mated, and all non-mated, comparisons.
    key : (2,) ndarray of uint32, or None
        Key of the random stream that draws units; None to leave each unit out in its turn.
    first : int
        Number of the first replicate drawn.
    """

    resampler: Replicating
    totals: tuple[Totals, Totals]
    key: NDArray[np.uint32] | None = None
    first: int = 0
    _free: list[BlockSweep] = field(default_factory=list)  # working memory, which the next thread or part uses again

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        return _Blocks, (self.resampler, self.totals, self.key, self.first)

    def run(self, steps: range, n_threads: int | None, told: Report | None) -> Arrays:
        """Compute replicates from a block on, and mark those that need comparisons that were not sent along."""
        n = len(steps)
        out = {name: np.full((*shape, _padded(n)), np.nan) for name, shape in self.resampler.shapes.items()}
        unfinished = np.zeros(n, np.bool_)

        def block(start: int) -> None:
            try:
                sweep = self._free.pop()
            except IndexError:
                sweep = BlockSweep(self.resampler.prepared)
            parts = {name: array[..., start : start + BLOCK] for name, array in out.items()}
            first, units = steps.start + start, self.resampler.units
            if self.key is None:
                units.leave_one_out(first, sweep.weights)
            else:
                units.draw(self.first + first, self.key, sweep.weights)
            try:
                sweep.compute(parts, self.totals, first // BLOCK)
            except TooFewKeptError:
                unfinished[start : start + BLOCK] = True
            self._free.append(sweep)

        run_blocks(block, range(0, n, BLOCK), n, BLOCK, n_threads, told)
        return {name: array[..., :n] for name, array in out.items()} | {_UNFINISHED: unfinished}
