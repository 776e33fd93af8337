"""Bootstrap replicates of comparisons: thresholds, rates and metrics computed again with resampled weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.workers import Workers
from fastfair.data.comparisons import Comparisons
from fastfair.data.scanned_comparisons import KeptComparisons
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.errors import InputError

from .block_sweeps import BlockSweep
from .blocks import Drawing, Replicates, compute_blocks
from .count_models import CountModel, count_models
from .counted_partners import Totals
from .design_effects import independent_comparisons
from .preparation import ALL_METRICS, Metrics, Preparation
from .units import BLOCK, ComparisonUnits

SCHEMES = ("dyadic", "product")
NO_BCA_OF_SCANS = 'method="bca" leaves out subjects one at a time, which a scan cannot: use another one'
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
        self._is_of_scan = isinstance(comparisons, KeptComparisons)
        self.prepared = Preparation(comparisons, points, unit, scheme, metrics, measured, with_groups, workers)

    @property
    def units(self) -> ComparisonUnits:
        """The units drawn with replacement."""
        return self.prepared.units

    def independent_comparisons(
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
            The number of comparisons where the units drawn are not subjects; else see `design_effects`.
        """
        if self.units.unit != "subject":
            return float(self.n_comparisons(mated, cell))
        return independent_comparisons(self.prepared, mated, self.prepared.position(cell), nothing_but_errors)

    def n_comparisons(self, mated: bool, cell: tuple[int, int] | None = None) -> int:
        """Return the number of mated or non-mated comparisons, of all or of a cell of groups."""
        return int((self.prepared.y if mated else self.prepared.x).sizes[self.prepared.position(cell)])

    def typical_attempts(self, errors: NDArray[np.int64]) -> Floats:
        """Return the typical number of mated comparisons of a subject, and of one who fails if that is larger.

        Parameters
        ----------
        errors : (n, mated lists) ndarray of int64
            How many of the comparisons with the lowest scores of each list are failures, in several cases.

        Returns
        -------
        (n, mated lists) ndarray
            The sum of m^2 over the sum of m, or of e m over the sum of e, of subjects with e failures of m comparisons.
            NaN without mated comparisons.
        """
        from fastfair.kernels import pair_walk

        lists = self.prepared.y
        _, sums = lists.variances(errors)
        with np.errstate(invalid="ignore", divide="ignore"):
            of_all = sums[..., pair_walk.REPEATS_SQUARED] / np.where(lists.sizes, lists.sizes, np.nan)
            return np.asarray(np.fmax(of_all, sums[..., pair_walk.S_TIMES_M] / errors))

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
            Where there are too many units to leave out one at a time, and for a scan.
        """
        if self._is_of_scan:
            raise InputError(NO_BCA_OF_SCANS)
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


@dataclass(frozen=True, eq=False)
class _Weighted:
    """Everything computed again with other weights of units."""

    resampler: Resampler

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        return self.resampler.shapes

    def new_scratch(self) -> BlockSweep:
        return BlockSweep(self.resampler.prepared)


@dataclass(frozen=True, eq=False)
class _Drawn(_Weighted):
    """Replicates of drawn units, from number `first` on."""

    key: NDArray[np.uint32]
    first: int
    totals: Totals | None  # None where blocks sum them

    def compute(self, scratch: BlockSweep, first: int, out: dict[str, Floats]) -> None:
        self.resampler.units.draw(self.first + first, self.key, scratch.weights)
        totals = None if self.totals is None else self.totals.of_block(first // BLOCK)
        scratch.compute(out, totals)


@dataclass(frozen=True, eq=False)
class _LeftOut(_Weighted):
    """All units but one, each in its turn."""

    def compute(self, scratch: BlockSweep, first: int, out: dict[str, Floats]) -> None:
        self.resampler.units.leave_one_out(first, scratch.weights)
        scratch.compute(out)
