"""Rates at the thresholds that hold given FMRs, in the data and in every replicate, of comparisons or embeddings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair import intervals
from fastfair._lib import seeds, validation
from fastfair._lib.progress import reporting
from fastfair.data.comparisons import Comparisons
from fastfair.data.embeddings import Embeddings
from fastfair.error_rates.operating_points import ENOUGH_ERRORS, at_fmr, threshold_key
from fastfair.error_rates.rates import rates_at_key
from fastfair.errors import InputError
from fastfair.resampling.blocks import Replicates
from fastfair.resampling.comparison_replicates import NO_METRICS, SCHEMES, Resampler
from fastfair.resampling.pair_lists import VECTOR_UNITS, WEIGHTINGS
from fastfair.resampling.pair_replicates import PairResampler
from fastfair.resampling.units import UNITS, require_units

Floats = NDArray[np.float64]
METHODS_OF_EMBEDDINGS = ("recentered", "percentile", "basic", "normal", "gaussian")
# The default of each argument, and what it may be.
_OF_EMBEDDINGS = {
    "unit": ("sample", VECTOR_UNITS),
    "method": ("recentered", METHODS_OF_EMBEDDINGS),
    "weighting": ("identity", WEIGHTINGS),
    "scheme": ("product", ("product",)),
}
_OF_COMPARISONS = {
    "unit": ("subject", UNITS),
    "method": ("percentile", intervals.METHODS_FOR_ANYTHING),
    "weighting": ("comparison", ("comparison",)),
    "scheme": ("dyadic", SCHEMES),
}
_LEVELS = 50  # by default: more than a plot shows
_HIGHEST = 0.5, 0.1  # default level, of comparisons and of embeddings, whose pairs below are never kept


class BandOptions(TypedDict, total=False):
    """The arguments that all bands have, as `roc_band` describes them."""

    weighting: str | None
    unit: str | None
    n_resamples: int | None
    confidence_level: float
    method: str | None
    scheme: str | None
    rng: seeds.Seed
    n_threads: int | None
    progress: bool | Callable[[int, int], None]


@dataclass(frozen=True)
class BandSettings:
    """The checked arguments of a band, with the defaults for comparisons or for embeddings filled in."""

    unit: str
    method: str
    weighting: str
    scheme: str
    n_resamples: int
    confidence_level: float
    key: NDArray[np.uint32]
    n_threads: int | None
    progress: bool | Callable[[int, int], None]

    @classmethod
    def check(
        cls,
        data: Comparisons | Embeddings,
        options: BandOptions,
    ) -> BandSettings:
        """Check the arguments, some of which only comparisons or only embeddings allow."""
        if isinstance(data, Embeddings):
            choices, usual = _OF_EMBEDDINGS, 1000
        else:
            choices, usual = _OF_COMPARISONS, 2000
        chosen = {}
        for name, (default, allowed) in choices.items():
            given = options.get(name)
            chosen[name] = validation.choice(name, default if given is None else given, allowed)
        n_resamples = options.get("n_resamples")
        n_resamples = validation.count("n_resamples", usual if n_resamples is None else n_resamples)
        if n_resamples < 2:
            raise InputError("a band needs replicates: n_resamples must be at least 2")
        if isinstance(data, Comparisons):
            require_units(data, chosen["unit"])
        return cls(
            **chosen,
            n_resamples=n_resamples,
            confidence_level=intervals.level(options.get("confidence_level", 0.95)),
            key=seeds.stream(options.get("rng"))[0],
            n_threads=options.get("n_threads"),
            progress=options.get("progress", False),
        )


@dataclass(frozen=True, eq=False)
class RatesOverLevels:
    """Rates at every level, with their replicates.

    Attributes
    ----------
    levels : (levels,) ndarray
        False match rates held, ascending.
    estimate, replicates : Replicates
        Rates in the data, and in every replicate, with replicates on the last axis.
    expected : Replicates
        V-statistics, around which the replicates vary. They differ from the estimates where a replicate can pair a
        sample with itself.
    n_mated, n_nonmated : (groups,) ndarray of int
        Number of comparisons of each group.
    all_mated : int
        Number of all mated comparisons.
    jackknife : callable
        Computes the rates with one unit left out at a time, centred on their stratum's mean.
    """

    levels: Floats
    estimate: Replicates
    expected: Replicates
    replicates: Replicates
    n_mated: NDArray[np.int64]
    n_nonmated: NDArray[np.int64]
    all_mated: int
    jackknife: Callable[[], Replicates]


def rates_over_levels(
    data: Comparisons | Embeddings,
    fmr: ArrayLike | None,
    settings: BandSettings,
    *,
    with_groups: bool,
    with_overall_fmr: bool = False,
) -> RatesOverLevels:
    """Compute rates at the thresholds that hold each FMR, in the data and in replicates.

    Parameters
    ----------
    data : Comparisons or Embeddings
        The comparisons or the vectors.
    fmr : array_like or None
        Levels as the caller gave them.
    settings : BandSettings
        Settings for this kind of data.
    with_groups, with_overall_fmr : bool
        Whether to compute rates of groups, and the FMR of all comparisons.
    """
    if isinstance(data, Embeddings):
        return _of_embeddings(data, _levels(fmr, data.n_nonmated, _HIGHEST[1]), settings, with_groups, with_overall_fmr)
    return _of_comparisons(data, _levels(fmr, len(data.nonmated), _HIGHEST[0]), settings, with_groups)


def _of_embeddings(
    data: Embeddings, levels: Floats, settings: BandSettings, with_groups: bool, with_overall_fmr: bool
) -> RatesOverLevels:
    if levels[0] == 0:
        raise InputError("fmr must be above 0 for embeddings, of which only the most similar non-mated pairs are kept")
    with reporting(settings.progress, "similarities") as report:
        resampler = PairResampler(
            data, levels, weighting=settings.weighting, unit=settings.unit, with_groups=with_groups,
            with_overall_fmr=with_overall_fmr, n_threads=settings.n_threads, progress=report,
        )  # fmt: skip
    estimate, expected_fnmr = resampler.estimate()
    with reporting(settings.progress, f"{settings.n_resamples:,} replicates") as report:
        replicates = resampler.replicate(settings.n_resamples, settings.key, report)
    groups = data.subject_group == np.arange(len(data.groups) if with_groups else 0)[:, None]
    n = groups @ data.n_samples
    n_mated = groups @ (data.n_samples * (data.n_samples - 1) // 2)
    expected = replace(estimate, fnmr=expected_fnmr)
    return RatesOverLevels(
        levels, estimate, expected, replicates, n_mated, n * (n - 1) // 2 - n_mated, data.n_mated, _no_jackknife
    )


def _no_jackknife() -> Replicates:
    raise InputError('method="bca" is not available for embeddings: use method="recentered"')


def _of_comparisons(data: Comparisons, levels: Floats, settings: BandSettings, with_groups: bool) -> RatesOverLevels:
    points = [at_fmr(rate) for rate in levels.tolist()]
    found = [rates_at_key(data, point, threshold_key(data, point)) for point in points]
    n_groups = len(data.groups) if with_groups else 0
    estimate = Replicates(
        threshold=np.array([rates.threshold for rates in found]),
        fmr=np.array([[rates.fmr, *rates.group_fmr[:n_groups]] for rates in found]),
        fnmr=np.array([[rates.fnmr, *rates.group_fnmr[:n_groups]] for rates in found]),
    )
    resampler = Resampler(
        data, points, unit=settings.unit, scheme=settings.scheme, metrics=NO_METRICS, with_groups=with_groups
    )

    def kept(drawn: Any) -> Replicates:
        return Replicates(drawn.threshold, drawn.fmr[:, : 1 + n_groups], drawn.fnmr)

    def jackknife() -> Replicates:
        left_out = kept(resampler.jackknife(settings.n_threads))
        return Replicates(
            resampler.influences(left_out.threshold), resampler.influences(left_out.fmr),
            resampler.influences(left_out.fnmr),
        )  # fmt: skip

    with reporting(settings.progress, f"{settings.n_resamples:,} replicates") as report:
        drawn = resampler.replicate(settings.n_resamples, settings.key, n_threads=settings.n_threads, progress=report)
    counts = found[0].counts
    return RatesOverLevels(
        levels, estimate, estimate, kept(drawn), counts.group_mated, counts.group_nonmated, counts.mated, jackknife
    )


def limits(
    replicates: Floats,
    estimate: Floats,
    expected: Floats,
    settings: BandSettings,
    jackknife: Callable[[], Floats],
    banded: NDArray[np.bool_] | None = None,
) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
    """Compute pointwise intervals and the simultaneous band of a curve.

    Parameters
    ----------
    replicates : (..., r) ndarray
        The curve in every replicate.
    estimate, expected : (...) ndarray
        The curve, and the values around which its replicates vary.
    settings : BandSettings
        The settings, which hold the method and the confidence level.
    jackknife : callable
        Computes the curve with one unit left out at a time.
    banded : (levels,) ndarray of bool, optional
        The levels that the band covers; it is NaN elsewhere. All by default.

    Returns
    -------
    pointwise, band : tuple of (...) ndarray
        Low and high.
    """
    level, method = settings.confidence_level, settings.method
    pointwise = interval(replicates, estimate, expected, level, method, jackknife() if method == "bca" else None)
    shifted = _recentered(replicates, estimate, expected) if method in ("recentered", "gaussian") else replicates
    return pointwise, _band(shifted if banded is None else np.where(banded[:, None], shifted, np.nan), level)


def interval(
    replicates: Floats, estimate: Floats, expected: Floats, level: float, method: str, jackknife: Floats | None = None
) -> tuple[Floats, Floats]:
    """Compute pointwise intervals only, by any of the methods of a band."""
    if method != "gaussian":
        return intervals.confidence_interval(
            replicates, estimate, level, method, v_statistic=expected, jackknife=jackknife
        )
    shifted = _recentered(replicates, estimate, expected)
    finite = np.isfinite(shifted)
    with np.errstate(invalid="ignore"):
        center = np.where(finite, shifted, 0).sum(axis=-1) / finite.sum(axis=-1)
    return intervals.confidence_interval(shifted, center, level, "normal")


def _recentered(replicates: Floats, estimate: Floats, expected: Floats) -> Floats:
    with np.errstate(invalid="ignore"):  # ratios to groups without errors are infinite
        return replicates + (estimate - expected)[..., None]


def _band(replicates: Floats, level: float) -> tuple[Floats, Floats]:
    """Compute the simultaneous band of the values that are computable in most replicates.

    It uses the replicates in which all these values are computable.
    """
    known = ~np.isnan(replicates)
    often = known.mean(axis=-1) > 0.5
    low, high = np.full((2, *often.shape), np.nan)
    curves = replicates[often]
    complete = known[often].all(axis=0)
    if often.any() and complete.sum() > 1:
        low[often], high[often] = intervals.simultaneous_band(curves[:, complete], level)
    return low, high


def _levels(fmr: ArrayLike | None, n_nonmated: int, highest: float) -> Floats:
    if fmr is None:
        return np.unique(np.geomspace(min(highest, ENOUGH_ERRORS / n_nonmated), highest, _LEVELS))
    return checked_levels(fmr)


def checked_levels(fmr: ArrayLike) -> Floats:
    """Check the false match rates to hold, and sort them."""
    levels = np.atleast_1d(validation.numbers_of("fmr", fmr))
    if levels.ndim != 1:
        raise InputError(f"fmr must be a list of rates, but its shape is {levels.shape}")
    return np.unique([validation.rate("fmr", level) for level in levels.tolist()]) + 0.0  # not -0.0
