"""Pointwise intervals and simultaneous bands of curves over FMR."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from fastfair import intervals
from fastfair.error_rates.operating_points import at_fmr
from fastfair.intervals._replicates import Method
from fastfair.uncertainty.few_errors import OF_FEW_SUBJECTS, hangs_on_threshold, is_held_by_few_subjects
from fastfair.uncertainty.interval_maker import IntervalMaker, level_of_curve
from fastfair.uncertainty.interval_rules import INVERSION, NO_SUCH_ERRORS
from fastfair.uncertainty.inversion import MeasureInversion
from fastfair.uncertainty.quantities import NARROW, Quantity, noted

from .rates_at_levels import BandSettings, RatesOverLevels

Floats = NDArray[np.float64]
Range = tuple[Floats, Floats]  # the lower and the upper end
_ABOUT_V_STATISTIC = ("recentered", "gaussian")  # methods that evaluations do not have
NOTHING_TO_INVERT = "no interval: a group has no errors"
NOTHING_TO_DRAW = f"{NOTHING_TO_INVERT}, and their numbers are drawn only for score files whose units are not samples"


def of_rate(
    name: str, group: str | None, row: int, found: RatesOverLevels, settings: BandSettings
) -> tuple[tuple[Quantity, ...], Range]:
    """Compute the intervals of a rate at each level, as `evaluate` does, and the simultaneous band.

    The band is made of the intervals of a higher confidence level, that at which replicates of the whole curve stay
    within so many standard errors [1]_. An FNMR cannot rise with the FMR that is held, so
    the upper end of the band is at least that of all higher FMRs, and the lower end at most that of all lower ones. A
    group's FMR cannot fall: its band is widened the other way round.

    Parameters
    ----------
    name : {"fmr", "fnmr"}
        The rate.
    group, row : str or None, int
        The group whose rate it is, and its place in `found`; None and 0 for all comparisons.
    found : RatesOverLevels
        The rates.
    settings : BandSettings
        The settings, which hold the method and the confidence level.

    Returns
    -------
    quantities : tuple of Quantity
        The rate at each level with its interval and notes.
    band : tuple of (levels,) ndarray
        Low and high; NaN where there is no interval either.

    References
    ----------
    .. [1] Montiel Olea and Plagborg-Moeller, "Simultaneous confidence bands: theory, implementation, and an
       application to SVARs", Journal of Applied Econometrics 34 (2019).
    """
    estimate, expected, replicates = (
        np.asarray(getattr(rates, name)[:, row]) for rates in (found.estimate, found.expected, found.replicates)
    )
    behind = found.behind[name]
    quantities = tuple(
        Quantity(
            name, group, at_fmr(level), value, n_comparisons=int(behind.comparisons[row]), n_errors=errors,
            n_subjects=None if behind.subjects is None else int(behind.subjects[row]),
            note="" if behind.comparisons[row] else "no comparisons",
        )
        for level, value, errors in zip(
            found.levels.tolist(), estimate.tolist(), behind.errors[:, row].tolist(), strict=True
        )
    )  # fmt: skip

    def maker(quantities: tuple[Quantity, ...], of: Floats) -> IntervalMaker:
        return IntervalMaker(
            quantities, of, sizes=behind.of_row(row),
            jackknife=found.jackknife_of(lambda left_out: np.asarray(getattr(left_out, name)[:, row])),
            n_threads=settings.workers.n_threads,
        )  # fmt: skip

    confidence_level, method = settings.confidence_level, settings.method
    centred = recentered(replicates, estimate, expected)
    narrow = few_subjects_hold(found, hangs_on_threshold(centred, found.replicates.threshold)).tolist()
    quantities = tuple(noted(q, OF_FEW_SUBJECTS, NARROW) if at else q for q, at in zip(quantities, narrow, strict=True))
    right = maker(quantities, centred)
    of_curve = level_of_curve(centred, estimate, confidence_level)
    band = _one_way(found.levels, *ends_of(right.with_intervals(of_curve, "auto")), rising=name == "fmr")
    if method not in ("auto", *_ABOUT_V_STATISTIC):
        return maker(quantities, replicates).with_intervals(confidence_level, method), band
    pointwise = right.with_intervals(confidence_level, "auto")
    if method == "auto":
        return pointwise, band
    ends = np.clip(interval(replicates, estimate, expected, confidence_level, method), 0, 1)
    return tuple(
        replace(q, low=low, high=high, method=method) if 0 < q.estimate < 1 else q
        for q, low, high in zip(pointwise, *ends.tolist(), strict=True)
    ), band


def of_measure(
    quantities: Sequence[Quantity], replicates: Floats, inversion: MeasureInversion, settings: BandSettings
) -> tuple[tuple[Quantity, ...], Range]:
    """Compute the intervals of a fairness measure by test inversion, as `evaluate` does, and the simultaneous band.

    The band is made of the intervals of a higher confidence level, that at which percentile intervals hold the whole
    curves of as many replicates as asked.

    Parameters
    ----------
    quantities : sequence of Quantity
        The measure at each level, or of each group at each level.
    replicates : (quantities, r) ndarray
        The measure in every replicate.
    inversion : MeasureInversion
        Its test inversion.
    settings : BandSettings
        The settings, which hold the confidence level.

    Returns
    -------
    quantities : tuple of Quantity
        With intervals; NaN with a note where a group has no errors and numbers of errors cannot be drawn.
    band : tuple of (quantities,) ndarray
        Low and high.
    """
    n_threads = settings.workers.n_threads
    maker = IntervalMaker(tuple(quantities), replicates, inversion=inversion, n_threads=n_threads)
    pointwise = maker.with_intervals(settings.confidence_level, "auto")
    inverted = np.array([quantity.method == INVERSION for quantity in pointwise])
    of_curve = level_of_curves(replicates[inverted], settings.confidence_level)
    ends = ends_of(maker.with_intervals(of_curve, "auto"))
    low, high = (np.where(inverted, end, np.nan) for end in ends)
    return tuple(
        q if known else replace(q, low=np.nan, high=np.nan, note=_why_none(q))
        for q, known in zip(pointwise, inverted.tolist(), strict=True)
    ), (low, high)


def _why_none(quantity: Quantity) -> str:
    if not np.isfinite(quantity.estimate):
        return NOTHING_TO_INVERT
    return quantity.note if NO_SUCH_ERRORS in quantity.note else NOTHING_TO_DRAW


def level_of_curves(replicates: Floats, confidence_level: float) -> float:
    """Find the confidence level at which percentile intervals hold whole curves of replicates at another.

    Parameters
    ----------
    replicates : (points, r) ndarray
        A curve in each of r replicates. Those with NaN in them are left out.
    confidence_level : float
        The share of curves to hold whole.

    Returns
    -------
    float
    """
    often = np.isnan(replicates).mean(axis=-1) < 0.5
    curves = replicates[often][:, ~np.isnan(replicates[often]).any(axis=0)]
    if curves.size == 0:
        return confidence_level
    n = curves.shape[1]
    depth = intervals.depths(curves).min(axis=0)
    least = np.sort(depth)[::-1][int(np.ceil(confidence_level * n - 1e-9)) - 1]
    return max(confidence_level, float(1 - 2 * (least - 0.5) / n))


def ends_of(quantities: Sequence[Quantity]) -> Range:
    """Return the lower and the upper ends of intervals."""
    low, high = np.array([(q.low, q.high) for q in quantities], np.float64).T
    return low, high


def _one_way(levels: Floats, low: Floats, high: Floats, *, rising: bool) -> Range:
    """Widen a band so that neither end rises with the levels, or so that neither falls."""
    order = np.argsort(-levels if rising else levels)
    known = ~np.isnan(low)
    low[order] = np.fmin.accumulate(low[order])
    high[order[::-1]] = np.fmax.accumulate(high[order[::-1]])
    return np.where(known, low, np.nan), np.where(known, high, np.nan)


def few_subjects_hold(found: RatesOverLevels, asked: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return at which of the levels asked few subjects cause most of the false matches that hold the threshold."""
    behind = found.behind["fmr"]
    if behind.concentration is None:
        return np.zeros(found.levels.size, bool)
    sizes = behind.of_row(0)
    return np.array(
        [
            bool(level)
            and not (sizes.few_held and sizes.few_held.holds(k))
            and is_held_by_few_subjects(sizes.degrees_of_freedom[k], behind.concentration(k))
            for k, level in enumerate(asked)
        ]
    )


def below_resolution(found: RatesOverLevels, confidence_level: float) -> list[str]:
    """Say at each level why nothing can be told of rates there; nothing where they can be judged."""
    parts = found.behind["fnmr"].of_row(0)
    of_levels = [parts.few_held.limits(place, confidence_level) if parts.few_held else None for place in parts.places]
    return [one.missing if one else "" for one in of_levels] or [""] * found.levels.size


def of_quantity(
    replicates: Floats,
    estimate: Floats,
    expected: Floats,
    settings: BandSettings,
    jackknife: Callable[[], Floats] | None,
) -> tuple[Range, Range]:
    """Compute pointwise intervals and the simultaneous band of a curve of thresholds or of a measure.

    Parameters
    ----------
    replicates : (..., r) ndarray
        The curve in every replicate.
    estimate, expected : (...) ndarray
        The curve, and the values around which its replicates vary.
    settings : BandSettings
        The settings, which hold the method and the confidence level.
    jackknife : callable, optional
        Computes the curve with one unit left out at a time, for "bca".

    Returns
    -------
    pointwise, band : tuple of (...) ndarray
        Low and high.
    """
    level, method = settings.confidence_level, "percentile" if settings.method == "auto" else settings.method
    left_out = jackknife() if jackknife and method == "bca" else None
    pointwise = interval(replicates, estimate, expected, level, method, left_out)
    shifted = recentered(replicates, estimate, expected) if method in _ABOUT_V_STATISTIC else replicates
    return pointwise, _band(shifted, level)


def interval(
    replicates: Floats, estimate: Floats, expected: Floats, level: float, method: str, jackknife: Floats | None = None
) -> Range:
    """Compute pointwise intervals only, by any of the methods of a band."""
    if method != "gaussian":
        return intervals.confidence_interval(
            replicates, estimate, level, cast("Method", method), v_statistic=expected, jackknife=jackknife
        )
    shifted = recentered(replicates, estimate, expected)
    return intervals.confidence_interval(shifted, intervals.finite_mean(shifted), level, "normal")


def recentered(replicates: Floats, estimate: Floats, expected: Floats) -> Floats:
    """Move replicates, which vary around one value, so that they vary around the estimate."""
    with np.errstate(invalid="ignore"):  # ratios to groups without errors are infinite
        return replicates + (estimate - expected)[..., None]


def _band(replicates: Floats, level: float) -> Range:
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
