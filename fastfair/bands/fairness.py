"""`fairness_band`: a fairness measure at many FMRs, with its uncertainty."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair import intervals
from fastfair._lib import seeds
from fastfair._lib.arguments import Resamples, checked
from fastfair._lib.warnings import warn
from fastfair._lib.workers import Checkpoint, Executor
from fastfair.data.comparisons import Comparisons
from fastfair.data.embeddings import Embeddings
from fastfair.error_rates.rates import ERROR_RATES, ErrorRate
from fastfair.errors import FairValueOutsideWarning, InputError
from fastfair.measures import MEASURES
from fastfair.measures._fairness import BaseMetric, value_of
from fastfair.measures._registry import Measure, at_any_threshold, measure_name, printed_name
from fastfair.resampling.engine import Replicates
from fastfair.resampling.units import Unit
from fastfair.uncertainty.few_errors import SampleSizes
from fastfair.uncertainty.interval_maker import NO_SUCH_ERRORS, IntervalMaker
from fastfair.uncertainty.inversion import (
    INVERSION,
    CountedSystems,
    MeasureInversion,
    MovedSystems,
)
from fastfair.uncertainty.quantities import BELOW_RESOLUTION, RATIOS, EntryKey, Quantity, Selection, noted

from .curve import (
    Banded,
    BandQuantity,
    Curve,
    banded,
    curve_by_quantiles,
    ends_of,
    few_subjects_hold,
    noted_narrow,
    simultaneous_band,
    whole_curves,
)
from .rates_at_levels import BandOptions, BandRequest, BandSettings, RatesOverLevels, over_levels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
_Values = Callable[[Replicates], Floats]  # the measure, of rates with or without replicates on the last axis

NOTHING_TO_INVERT = "no interval: a group has no errors"
NOTHING_TO_DRAW = f"{NOTHING_TO_INVERT}, and their numbers are drawn only for score files whose units are not samples"
FAIR_OUTSIDE = "these intervals leave out the value of a fair system, so they do not show that groups differ"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FairnessBand(Curve):
    """A fairness measure at many FMRs, with its uncertainty.

    Attributes
    ----------
    measure : str
        Name in `measures.MEASURES`.
    rate : str or None
        The rate that it compares, "fmr" or "fnmr"; None for measures of both.
    fmr : (levels,) ndarray
        False match rates of all comparisons that the thresholds hold, in the order asked.
    value : (levels,) ndarray, or (levels, groups) for measures with a value for each group
        The measure at each FMR.
    low, high : as `value`
        Pointwise interval; NaN where `note` says why.
    band_low, band_high : as `value`
        Simultaneous band; NaN where there is no interval.
    uncertainty : as `value`
        Standard deviation of the replicates divided by the value.
    v_statistic : as `value`
        The value around which the replicates vary.
    threshold : (levels,) ndarray
        On the scale of the scores.
    groups : tuple of str
        The groups whose rates are compared.
    replicates : (r, levels) or (r, levels, groups) ndarray
        The measure in every replicate; none in what `read_results` read.
    n_resamples : int
        Number of replicates behind the intervals.
    confidence_level : float
        Confidence level of the interval and the band.
    note : str
        What to know about the intervals at which FMRs, such as that no group has errors there; may be empty.
    """

    measure: str
    rate: str | None
    value: Floats
    groups: tuple[str, ...]

    def _values(self) -> tuple[str, Floats, Sequence[str]]:
        return self.measure, self.value, self.groups

    def _question(self) -> str:
        return printed_name(f"{self.measure}({self.rate})" if self.rate else self.measure)

    @checked
    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Axes:
        """Draw the measure over FMR with its pointwise interval (darker) and its simultaneous band (lighter).

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **kwargs
            Passed to `Axes.plot`.

        Returns
        -------
        matplotlib Axes
        """
        from .plots import draw_measure

        ax = draw_measure(self, ax, **kwargs)
        ax.set_ylabel(self._question())
        if FAIR_OUTSIDE in self.note:
            ax.set_title("No test of fairness: fair systems lie outside, too", fontsize="small")
        return ax


@checked
def fairness_band(
    data: Comparisons | Embeddings,
    measure: Measure = "max_geomean_ratio",
    rate: ErrorRate = "fnmr",
    fmr: ArrayLike | None = None,
    *,
    unit: Unit = "subject",
    n_resamples: Resamples | None = None,
    confidence_level: float = 0.95,
    settings: BandSettings = BandSettings(),  # noqa: B008 - frozen
    rng: seeds.Seed = None,
    n_threads: int | None = None,
    progress: bool | Callable[[int, int], None] = False,
    executor: Executor | Checkpoint = None,
) -> FairnessBand:
    """Compute a fairness measure at thresholds that hold many FMRs, with intervals and a simultaneous band.

    Parameters
    ----------
    data : Comparisons or Embeddings
        Comparisons, or vectors whose pairs are the comparisons, with at least two groups.
    measure : str or function, default "max_geomean_ratio"
        Name in `measures.MEASURES`, its title or its function, except "sed", which defines its own threshold.
    rate : {"fnmr", "fmr"}
        The rate of the groups that the measure compares; ignored for measures of both.
    fmr : (levels,) array_like, optional
        False match rates of all comparisons to hold; each threshold is the same for all groups.
    unit, n_resamples, confidence_level
        As in `roc_band`.
    settings : BandSettings
        How intervals are made, what counts alike, and how measures are defined.
    rng, n_threads, progress, executor
        As in `roc_band`.

    Returns
    -------
    FairnessBand

    Raises
    ------
    InputError
        For fewer than two groups, and as `roc_band` does.

    Warns
    -----
    FairValueOutsideWarning
        For all methods but "auto", except for group-to-average ratios.

    Notes
    -----
    Error rates of groups differ by chance, and differ more in replicates than in the data, so no replicate looks as
    fair as a fair system. Test inversion asks instead which fairer or less fair systems would yield such an estimate:
    the interval holds the fair value where a fair system would. The band consists of such intervals of a higher
    confidence level, that at which percentile intervals of the replicates hold whole curves. Where a group has no
    errors, numbers of errors are drawn for the inversion, as in `evaluate`; there is neither interval nor band where no
    group has any, over embeddings, and where samples are the units.

    By other methods, intervals and bands show how much a measure varies, but they exclude the value of a fair system
    even where the groups' true rates are equal.

    A group's FMR and FNMR are those of comparisons within the group. Before inversion, FNMRs of replicates in which a
    sample may meet itself are raised by what that lowers them on average. "recentered" subtracts the measure of the
    groups' V-statistics from the replicates, as paper [1]_ does.

    References
    ----------
    .. [1] "Assessing Uncertainty in Similarity Scoring: Performance & Fairness in Face Recognition", section 4.

    Examples
    --------
    >>> import fastfair as ff
    >>> e = ff.von_mises_fisher_embeddings(60, 4, 16, concentration=(20, 60), rng=0)
    >>> e = ff.Embeddings(e.vectors, e.subject, group=e.subject % 2)
    >>> band = ff.fairness_band(e, "max_geomean_ratio", "fnmr", [0.001, 0.01], rng=0)
    >>> bool(((band.low == 1) & (band.value < band.high)).all())  # the groups may well be equal
    True
    """
    measure = measure_name(measure, at_any_threshold())
    needs_average = check_measure(measure, rate)
    options = BandOptions(
        unit=unit, n_resamples=n_resamples, confidence_level=confidence_level, rng=rng, n_threads=n_threads,
        progress=progress, executor=executor,
    )  # fmt: skip
    request = BandRequest.checked(data, settings, options)
    if len(data.groups) < 2:
        raise InputError(f"a fairness measure compares groups, but the data have {len(data.groups)}: give at least 2")
    _, band = over_levels(
        data, fmr, request, lambda found: measure_curve(found, data.groups, measure, rate),
        with_groups=True, with_overall_fmr=needs_average,
    )  # fmt: skip
    if FAIR_OUTSIDE in band.note:
        warn(f"{measure}: {FAIR_OUTSIDE}", FairValueOutsideWarning)
    return band


def check_measure(measure: str, rate: str) -> bool:
    """Check a measure's name and arguments, and return whether it needs the FMR of all comparisons.

    Parameters
    ----------
    measure, rate
        As in `fairness_band`.

    Returns
    -------
    bool
    """
    facts = MEASURES[measure]
    if facts.of and rate not in facts.of:
        raise InputError(f"measure {measure!r} cannot be computed from rate={rate!r}; it takes {', '.join(facts.of)}")
    return bool(facts.of) and facts.global_reference and rate == "fmr"


def measure_curve(
    found: RatesOverLevels, groups: tuple[str, ...], measure: str, rate: str
) -> tuple[list[BandQuantity], FairnessBand]:
    """Compute a measure at each level, with its intervals, and its band.

    Parameters
    ----------
    found : RatesOverLevels
        The rates, including those of groups.
    groups : tuple of str
        The groups whose rates they are.
    measure, rate
        As in `fairness_band`.
    """
    facts, settings = MEASURES[measure], found.settings
    name, names = (measure, ERROR_RATES) if not facts.of else (f"{measure}({rate})", (rate,))
    of_each: Sequence[str | None] = groups if facts.per_group else (None,)

    def values(rates: Replicates) -> Floats:
        """Return (levels, ...) values, or (levels, groups, ...) for measures with a value for each group."""
        metrics = []
        for one in names:
            of_rate: Floats = getattr(rates, one)
            of_groups = np.ascontiguousarray(np.moveaxis(of_rate[:, 1:], 1, -1))
            metrics.append(BaseMetric(of_rate[:, 0], of_groups, found.comparisons[one][1:]))
        value = value_of(facts, metrics, settings.alpha, settings.zero_policy)
        return np.moveaxis(value, -1, 1) if facts.per_group else value

    value = values(found.estimate)
    places = [(point, group) for point in found.points for group in of_each]
    quantities = [
        Quantity(name, group, point, x, method=settings.method)
        for (point, group), x in zip(places, value.ravel().tolist(), strict=True)
    ]
    if settings.method != "auto":
        if facts.fairer != "nearer":
            quantities = [replace(quantity, note=FAIR_OUTSIDE) for quantity in quantities]
        rows, value, curve = curve_by_quantiles(found, quantities, values, facts.range)
    elif measure in RATIOS:
        rows, value, curve = _of_ratios(found, quantities, values, rate)
    else:
        n_mated, n_nonmated = found.comparisons["fnmr"][1:], found.comparisons["fmr"][1:]
        selection = Selection(
            groups, tuple(range(len(groups))), n_mated, n_nonmated, found.levels.size,
            measures=(measure,), alpha=settings.alpha, zero_policy=settings.zero_policy,
        )  # fmt: skip
        rows, value, curve = _inverted(found, quantities, values, selection, names)
    rate_of_band = rate if facts.of else None
    return rows, FairnessBand(measure=measure, rate=rate_of_band, value=value, groups=groups, **curve)


def _of_ratios(found: RatesOverLevels, ratios: Sequence[Quantity], values: _Values, rate: str) -> Banded:
    """Compute intervals of groups' ratios to the average as `evaluate` does, and a band that is nowhere narrower."""
    settings, shape = found.settings, (found.levels.size, -1)
    value, expected, drawn = map(values, (found.estimate, found.expected, found.replicates))
    n_groups = value.shape[1]
    freedom = np.transpose([found.sizes(rate, 1 + k).degrees_of_freedom for k in range(n_groups)]).ravel()
    n_errors = found.errors[rate][:, 1:].ravel().tolist()
    rates = [replace(ratio, name=rate, n_errors=n) for ratio, n in zip(ratios, n_errors, strict=True)]
    maker = IntervalMaker(
        (*ratios, *rates), np.tile(drawn.reshape(len(ratios), -1), (2, 1)),  # of these the numbers of errors alone
        sizes=replace(SampleSizes.unknown(2 * len(ratios)), degrees_of_freedom=np.tile(freedom, 2)),
        n_threads=settings.workers.n_threads,
    )  # fmt: skip
    pointwise = maker.with_intervals(settings.confidence_level, "auto")[: len(ratios)]
    low, high = (end.reshape(shape) for end in ends_of(pointwise))
    band_low, band_high = simultaneous_band(drawn, settings.confidence_level)
    few = np.isnan(low)
    band = np.where(few, low, np.fmin(band_low, low)), np.where(few, high, np.fmax(band_high, high))
    return banded(found, pointwise, (value, expected, drawn), (low, high), band)


def _inverted(
    found: RatesOverLevels,
    quantities: Sequence[Quantity],
    values: _Values,
    selection: Selection,
    names: Sequence[str],
) -> Banded:
    """Compute the intervals of a measure by test inversion, as `evaluate` does, and the simultaneous band.

    The band is made of the intervals of a higher confidence level, that at which percentile intervals hold the whole
    curves of as many replicates as asked. There is none where a group has no errors and numbers of errors cannot be
    drawn. `names`: the rates that the measure is of.
    """
    settings, centred, confidence_level = found.settings, found.centred(), found.settings.confidence_level
    value, expected, drawn = map(values, (found.estimate, found.expected, found.replicates))
    n_each, shape = len(quantities) // found.levels.size, value.shape
    narrow = few_subjects_hold(found, np.full(found.levels.size, "fmr" in names))
    quantities = noted_narrow(quantities, np.repeat(narrow, n_each).tolist())
    about_estimate = (drawn if centred is found.replicates else values(centred)).reshape(len(quantities), -1)

    def moved_systems() -> MovedSystems:
        # One replicate of a rate that is not asked for saves time.
        needless = {name: getattr(centred, name)[..., :1] for name in ERROR_RATES if name not in names}
        return MovedSystems(found.estimate, replace(centred, **needless), selection, settings.workers.n_threads)

    counted_systems = partial(
        CountedSystems.where_needed, found.estimate, selection,
        lambda: [{name: of_point[name] for name in names} for of_point in found.count_models()],
        ["fmr"] * found.levels.size, settings.n_resamples, settings.key, settings.workers.n_threads,
    )  # fmt: skip
    places: dict[EntryKey, int] = {(q.name, q.group, None, k // n_each): k for k, q in enumerate(quantities)}
    maker = IntervalMaker(
        tuple(quantities), about_estimate, inversion=MeasureInversion(places, moved_systems, counted_systems),
        n_threads=settings.workers.n_threads,
    )  # fmt: skip
    pointwise = list(maker.with_intervals(confidence_level, "auto"))
    inverted = np.array([quantity.method == INVERSION for quantity in pointwise])
    of_curve = level_of_curves(about_estimate[inverted], confidence_level)
    band = [np.where(inverted, end, np.nan).reshape(shape) for end in ends_of(maker.with_intervals(of_curve, "auto"))]
    sizes = found.sizes("fnmr", 0)
    for k, quantity in enumerate(pointwise):
        if not inverted[k]:
            pointwise[k] = quantity = replace(quantity, low=np.nan, high=np.nan, note=_why_none(quantity))
        place = sizes.places[k // n_each] if sizes.few_held else -1
        limits = sizes.few_held.limits(place, confidence_level) if sizes.few_held else None
        if limits and limits.missing:
            pointwise[k] = noted(quantity, limits.missing, BELOW_RESOLUTION)
    low, high = (end.reshape(shape) for end in ends_of(pointwise))
    return banded(found, pointwise, (value, expected, drawn), (low, high), (band[0], band[1]))


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
    _, curves = whole_curves(replicates)
    if curves.size == 0:
        return confidence_level
    least = intervals.least_depth(intervals.depths(curves), confidence_level)
    return max(confidence_level, float(1 - 2 * (least - 0.5) / curves.shape[1]))
