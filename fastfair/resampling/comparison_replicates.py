"""Bootstrap replicates of comparisons: thresholds, rates and metrics computed again with resampled weights.

No resampled copy of the scores is made. They are sorted once, and a replicate is one weighted pass over as many of
them as its operating points need.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.workers import Workers
from fastfair.data import score_keys
from fastfair.data.comparisons import Comparisons
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.errors import InputError

from .blocks import Drawing, Replicates, compute_blocks
from .count_models import CountModel, count_models
from .design_effects import independent_comparisons
from .partners import Partners
from .preparation import ALL_METRICS, Metrics, Preparation
from .scanned_partners import Totals
from .units import BLOCK, ComparisonUnits

if TYPE_CHECKING:
    from fastfair.kernels.sweep import Side

SCHEMES = ("dyadic", "product")
_EER_METHODS = {"nearest": 0, "nearest-max": 1, "interpolated": 2, "convex-hull": 0}  # whose hull is another kernel's
_MOST_LEFT_OUT = 20_000  # beyond it the jackknife takes longer than all replicates
Floats = NDArray[np.float64]


class Resampler:
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
    n_threads : int, optional
        Number of threads that prepare the comparisons; all processors by default.

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
        n_threads: int | None = None,
    ) -> None:
        self.prepared = Preparation(comparisons, points, unit, scheme, metrics, measured, with_groups, n_threads)
        self._sign = -1 if comparisons.score_kind == "distance" else 1

    @property
    def units(self) -> ComparisonUnits:
        """The units drawn with replacement."""
        return self.prepared.units

    def independent_comparisons(
        self, mated: bool, cell: tuple[int, int] | None = None, nothing_but_errors: bool = False
    ) -> float:
        """Count the independent comparisons that would tell as much of a rate without errors.

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
            The number of comparisons where the units drawn are not subjects; else see `design_effects`.
        """
        k = self.prepared.position(cell)
        if self.units.unit != "subject":
            return float((self.prepared.y if mated else self.prepared.x).sizes[k])
        return independent_comparisons(self.prepared, mated, k, nothing_but_errors)

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
            As in `independent_comparisons`.

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
        totals = self.prepared.totals(range(first, first + n_resamples), key, workers)
        return self._run(n_resamples, _Drawn(self, key, first, totals), workers)

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
            Where there are too many units to leave out one at a time.
        """
        if self.units.n_units > _MOST_LEFT_OUT:
            raise InputError(
                f'method="bca" leaves out {self.units.n_units:,} units one at a time, but at most {_MOST_LEFT_OUT:,} '
                "are possible: use another method or another unit"
            )
        return self._run(self.units.n_units, _LeftOut(self), Workers(n_threads))

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

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Names of the arrays in which replicates are computed, with the shape that each has in one replicate."""
        n_points, n_metrics = len(self.prepared.points), 1 + self.prepared.n_groups
        return {
            "threshold": (n_points,),
            "fmr": (n_points, self.prepared.x.end.size),
            "fnmr": (n_points, self.prepared.y.end.size),
        } | dict.fromkeys(self.prepared.metrics, (n_metrics,))

    def _run(self, n: int, drawing: Drawing, workers: Workers) -> Replicates:
        would_do = "use fewer resamples, operating points or groups (pairs of groups count, too)"
        found = compute_blocks(n, drawing, would_do, workers)
        metrics = {name: found[name] for name in self.prepared.metrics}
        return Replicates(found["threshold"], found["fmr"], found["fnmr"], metrics, self.prepared.cells)

    def _compute(self, scratch: _Scratch, out: dict[str, Floats], totals: Totals | None = None) -> None:
        """Compute a block of 64 replicates from their weights, and from their total weights, (lists, 64), if known."""
        while not self._sweep(scratch, out, totals):
            self.prepared.keep_more(scratch.lists)
            scratch.take_lists(self.prepared)

    def _sweep(self, scratch: _Scratch, out: dict[str, Floats], totals: Totals | None) -> bool:
        """Compute a block of 64 replicates from their weights, and tell whether lists reach far enough."""
        from fastfair.kernels import replicated_cost, replicated_eer, sweep

        weights = scratch.weights
        largest = sweep.largest_weight(weights)
        x, y = scratch.x, scratch.y = tuple(side._replace(largest=largest) for side in (scratch.x, scratch.y))
        for k, (lists, side) in enumerate(zip(scratch.lists, (y, x), strict=True)):
            if totals is not None:
                side.totals[:] = totals[k]
            elif isinstance(lists.partners, Partners):
                lists.partners.total_weights(weights, largest, side.totals)
        if self.prepared.need_eer:
            if not replicated_eer.equal_error_rates(
                *self._shrunk("eer", scratch), self.prepared.guesses, _EER_METHODS[self.prepared.eer_method],
                scratch.x_sums, scratch.y_sums, scratch.eer, scratch.eer_keys,
            ):  # fmt: skip
                return False
            if "eer" in out:
                out["eer"][:] = scratch.eer
        if self.prepared.hull_eer:
            self._read_hull("eer", scratch, out["eer"])
        if "min_cllr" in out:
            self._read_hull("min_cllr", scratch, out["min_cllr"])
        if "min_dcf" in out:
            sides = self._shrunk("min_dcf", scratch)
            costs = self.prepared.costs
            if not replicated_cost.least_costs(
                *sides, costs.miss, costs.false_match, self.prepared.least_costs * costs.unit, scratch.costs
            ):
                return False
            out["min_dcf"][:] = scratch.costs / self.prepared.costs.unit
        if "cllr" in out:
            out["cllr"][:] = self._cllr(scratch)
        if not self.prepared.points:
            return True
        thresholds = self._find_thresholds(scratch)
        if thresholds is None:
            return False
        missing = thresholds == sweep.NO_LIMIT
        found = score_keys.decode(np.where(missing, 0, thresholds).astype(x.keys.dtype)).astype(np.float64)
        out["threshold"][:] = np.where(missing, np.nan, 0.0 + self._sign * found)
        for lists, side, shares in zip(scratch.lists, (y, x), (scratch.fnmr, scratch.fmr), strict=True):
            limits = np.where(missing, thresholds, lists.limits(thresholds))
            if not lists.reach(limits):
                return False
            order = np.argsort(limits, axis=None, kind="stable")
            sweep.shares_at(side, limits, order, shares)
        out["fmr"][:], out["fnmr"][:] = scratch.fmr, scratch.fnmr
        return True

    def _shrunk(self, name: str, scratch: _Scratch) -> tuple[Side, Side]:
        """Return the non-mated and the mated side with weights shrunk for a metric."""
        mated, nonmated = self.prepared.shrinkage.metrics[name]
        return scratch.x._replace(shrinkage=nonmated), scratch.y._replace(shrinkage=mated)

    def _find_thresholds(self, scratch: _Scratch) -> NDArray[np.int64] | None:
        """Find the (points, 64) threshold keys of a block; None where lists do not reach far enough."""
        from fastfair.kernels import sweep

        thresholds = np.empty((len(self.prepared.points), BLOCK), np.int64)
        kinds = np.array([point.kind for point in self.prepared.points])
        thresholds[kinds == "threshold"] = self.prepared.thresholds[kinds == "threshold", None]
        thresholds[kinds == "eer"] = scratch.eer_keys[0]
        if "mean group eer" in kinds:
            keys = scratch.eer_keys[1 + self.prepared.measured]
            missing = (keys == sweep.NO_LIMIT).any(axis=0)
            kind_of_keys = self.prepared.x.keys.dtype
            similarities = score_keys.decode(np.where(missing, 0, keys).astype(kind_of_keys)).astype(np.float64)
            means = score_keys.first_keys_at_least(similarities.mean(axis=0), self.prepared.x.keys).astype(np.int64)
            thresholds[kinds == "mean group eer"] = np.where(missing, sweep.NO_LIMIT, means)
        for mated, kind, side in ((False, "fmr", scratch.x), (True, "fnmr", scratch.y)):
            found = np.flatnonzero(kinds == kind)
            if found.size == 0:
                continue
            found = found[np.argsort(self.prepared.rates[found], kind="stable")]
            errors = side.first(found)
            positions = np.empty((found.size, BLOCK), np.int64)
            sweep.first_beyond(errors, self.prepared.rates[found], positions)
            if errors.keys.size < errors.size and (positions == errors.keys.size).any():
                return None
            at = np.minimum(positions, errors.keys.size - 1)  # at the end where shares round
            keys = errors.keys[at].astype(np.int64)
            # The non-mated score there is the first that must be rejected: the threshold is the next float above it.
            thresholds[found] = np.where(positions < 0, sweep.NO_LIMIT, keys if mated else -keys)
        return thresholds

    def _read_hull(self, name: str, scratch: _Scratch, values: Floats) -> None:
        from fastfair.kernels import replicated_hull

        what = replicated_hull.EQUAL_ERROR if name == "eer" else replicated_hull.MIN_CLLR
        replicated_hull.hull_figures(*self._shrunk(name, scratch), *self.prepared.blocks, what, scratch.of_hull)
        values[:] = scratch.of_hull

    def _cllr(self, scratch: _Scratch) -> Floats:
        from fastfair.kernels import sweep

        means = []
        of_lists = (self.prepared.y, scratch.y.totals), (self.prepared.x, scratch.x.totals)
        found = zip(
            of_lists,
            self.prepared.shrinkage.metrics["cllr"],
            self.prepared.pair_costs,
            self.prepared.mean_costs,
            strict=True,
        )
        for (lists, totals), shrinkage, costs, mean in found:
            pairs = lists.pairs
            sums = np.empty((lists.end.size, BLOCK))
            sweep.total_costs(pairs.first, pairs.second, costs, pairs.end, scratch.weights, sums)
            with np.errstate(invalid="ignore"):
                weighted = sums[: shrinkage.size] / totals[: shrinkage.size]
            means.append(((1 - shrinkage) * mean)[:, None] + shrinkage[:, None] * weighted)
        return (means[0] + means[1]) / (2 * float(np.log(2)))  # nats to bits


@dataclass(frozen=True, eq=False)
class _Weighted:
    """Everything computed again with other weights of units."""

    resampler: Resampler

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        return self.resampler.shapes

    def new_scratch(self) -> _Scratch:
        return _Scratch(self.resampler.prepared)


@dataclass(frozen=True, eq=False)
class _Drawn(_Weighted):
    """Replicates of drawn units, from number `first` on."""

    key: NDArray[np.uint32]
    first: int
    totals: Totals | None  # (blocks, lists, 64) each; None where blocks sum them

    def compute(self, scratch: _Scratch, first: int, out: dict[str, Floats]) -> None:
        self.resampler.units.draw(self.first + first, self.key, scratch.weights)
        totals = None if self.totals is None else (self.totals[0][first // BLOCK], self.totals[1][first // BLOCK])
        self.resampler._compute(scratch, out, totals)


@dataclass(frozen=True, eq=False)
class _LeftOut(_Weighted):
    """All units but one, each in its turn."""

    def compute(self, scratch: _Scratch, first: int, out: dict[str, Floats]) -> None:
        self.resampler.units.leave_one_out(first, scratch.weights)
        self.resampler._compute(scratch, out)


class _Scratch:
    """Working memory of one thread."""

    def __init__(self, prepared: Preparation) -> None:
        x, y = prepared.x, prepared.y
        n_points, n_metrics = len(prepared.points), 1 + prepared.n_groups
        self.weights = prepared.units.new_weights()
        self.take_lists(prepared)
        self.eer = np.full((n_metrics, BLOCK), np.nan)
        self.eer_keys = np.empty((n_metrics, BLOCK), np.int64)
        self.costs = np.empty((n_metrics, BLOCK))
        self.of_hull = np.empty((n_metrics, BLOCK))
        self.fmr = np.empty((n_points, x.end.size, BLOCK))
        self.fnmr = np.empty((n_points, y.end.size, BLOCK))

    def take_lists(self, prepared: Preparation) -> None:
        """Take the lists as they are now."""
        self.lists = y, x = prepared.y, prepared.x
        self.x, self.y = (
            lists.side(self.weights, np.zeros((lists.end.size, BLOCK), np.int64), shrinkage)
            for lists, shrinkage in ((x, prepared.shrinkage.nonmated), (y, prepared.shrinkage.mated))
        )
        chunks = int(np.diff(x.end, prepend=0).max()) // BLOCK + 1 if prepared.need_eer else 0
        self.x_sums = np.empty((chunks, BLOCK), np.int64)
        self.y_sums = np.empty((chunks, BLOCK), np.int64)
