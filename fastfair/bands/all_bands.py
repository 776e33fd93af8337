"""`roc_band`, `fairness_band`, and all of them in one pass: rates and measures over FMR with their uncertainty."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair import intervals
from fastfair._lib import seeds, validation
from fastfair._lib.arguments import Resamples, checked
from fastfair._lib.plots import (
    USUAL,
    axes_or_new,
    draw_lines,
    draw_ranges,
    legend_below,
    probit_axes,
    rate_ticks,
    roc_axes,
)
from fastfair._lib.text import drawn, per_cent, rate_with_interval, shortened
from fastfair._lib.warnings import require, warn
from fastfair._lib.workers import Checkpoint, Executor
from fastfair.data.comparisons import Comparisons
from fastfair.data.embeddings import Embeddings
from fastfair.error_rates.operating_points import ENOUGH_ERRORS, at_fmr
from fastfair.error_rates.rates import ERROR_RATES, ErrorRate
from fastfair.errors import FairValueOutsideWarning, InputError, visible
from fastfair.measures import MEASURES
from fastfair.measures._fairness import BaseMetric, value_of
from fastfair.measures._registry import METRICS, Measure, at_any_threshold, measure_name, measure_of, printed_name
from fastfair.pages.drawings import drawing, svg_of
from fastfair.pages.parts import Chapter, Picture, Section, Table
from fastfair.resampling.engine import Replicates
from fastfair.resampling.units import Unit
from fastfair.results.result import Printed, Result, measures_table, printed
from fastfair.uncertainty.few_errors import SampleSizes
from fastfair.uncertainty.interval_maker import NO_SUCH_ERRORS, IntervalMaker
from fastfair.uncertainty.inversion import INVERSION, CountedSystems, MeasureInversion, MovedSystems
from fastfair.uncertainty.quantities import BELOW_RESOLUTION, RATIOS, EntryKey, Quantity, Selection, noted, table_of

from .curve import (
    Banded,
    BandOptions,
    BandQuantity,
    BandRequest,
    BandSettings,
    Curve,
    RatesOverLevels,
    banded,
    curve_by_quantiles,
    ends_of,
    noted_narrow,
    over_levels,
    rate_curve,
    simultaneous_band,
    whole_curves,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RocBand(Curve):
    """FNMR over FMR, with its uncertainty.

    Attributes
    ----------
    fmr : (levels,) ndarray
        False match rates that the thresholds hold, in the order asked.
    fnmr : (levels,) ndarray
        False non-match rate at each FMR.
    low, high : (levels,) ndarray
        Pointwise interval, which holds for each FMR on its own, as that of `evaluate`. NaN where `note` says why.
    band_low, band_high : (levels,) ndarray
        Simultaneous band, which holds for the whole curve.
    uncertainty : (levels,) ndarray
        Standard deviation of the replicates divided by the FNMR.
    v_statistic : (levels,) ndarray
        The value around which the replicates vary; it is below `fnmr` where a replicate can pair a vector with itself.
    threshold : (levels,) ndarray
        On the scale of the scores.
    replicates : (r, levels) ndarray
        The FNMR in every replicate; none in what `read_results` read.
    n_resamples : int
        Number of replicates behind the intervals.
    confidence_level : float
        Confidence level of the interval and the band.
    note : str
        What to know about the intervals at which FMRs, such as that no errors are left there; may be empty.
    """

    fnmr: Floats

    def _values(self) -> tuple[str, Floats, Sequence[str]]:
        return "FNMR", self.fnmr, ()

    @checked
    def plot(self, ax: Axes | None = None, *, det: bool = False, **kwargs: Any) -> Axes:
        """Draw the curve with its pointwise interval (darker) and its simultaneous band (lighter).

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        det : bool, default False
            Whether to use probit axes, as in a DET plot.
        **kwargs
            Passed to `Axes.plot`.

        Returns
        -------
        matplotlib Axes
        """
        ax, place = axes_or_new(ax), _deviates if det else np.asarray
        (line,) = ax.plot(place(self.fmr), place(self.fnmr), **kwargs)
        limits = [place(end) for end in (self.low, self.high, self.band_low, self.band_high)]
        draw_ranges(ax, place(self.fmr), limits, line.get_color())
        return probit_axes(ax) if det else roc_axes(ax)


@checked
def roc_band(
    data: Comparisons | Embeddings,
    fmr: ArrayLike | None = None,
    *,
    group: str | None = None,
    unit: Unit = "subject",
    n_resamples: Resamples | None = None,
    confidence_level: float = 0.95,
    settings: BandSettings = BandSettings(),  # noqa: B008 - frozen
    rng: seeds.Seed = None,
    n_threads: int | None = None,
    progress: bool | Callable[[int, int], None] = False,
    executor: Executor | Checkpoint = None,
) -> RocBand:
    """Compute FNMR at many FMRs with pointwise intervals and a simultaneous band.

    Parameters
    ----------
    data : Comparisons or Embeddings
        Comparisons, which need subjects unless `unit="comparison"`, or vectors whose pairs are the comparisons. Where
        there are groups, subjects are drawn within their group.
    fmr : (levels,) array_like, optional
        False match rates to hold, each in [0, 1), and above 0 for embeddings. By default 50 rates, from that of 30
        false matches up to 0.5, for embeddings up to 0.1.
    group : str, optional
        The group whose FNMR to compute, at the thresholds that hold the FMR of all comparisons.
    unit : {"subject", "comparison", "sample", "subject+sample"}, optional
        What is drawn with replacement: "subject": what would other people give? "sample" draws the samples
        of each subject: what would other images of these very people give? The others are those of `evaluate`;
        embeddings have no "comparison".
    n_resamples : int, optional
        Number of replicates; by default 1000 for embeddings and 2000 for comparisons.
    confidence_level : float, default 0.95
        Confidence level of the intervals, in (0, 1).
    settings : BandSettings
        How intervals are made, and what counts alike.
    rng, n_threads, progress, executor
        As in `evaluate`. Similarities of vectors are computed by tasks of the executor, too.

    Returns
    -------
    RocBand

    Raises
    ------
    InputError
        For FMRs outside [0, 1), for embeddings also below the FMR of one false match, and as `evaluate` does.

    Notes
    -----
    The threshold of each FMR is found again in every replicate, so the intervals include its uncertainty. Where the
    standard error is more than half of the FNMR, it may hang on the threshold more than on chance: intervals then reach
    at least as far as the quantiles of the replicates. Where no false non-match is left the interval is Clopper and
    Pearson's, unless those of replicates reach farther. `note` says where few subjects cause most of the false matches
    that hold the threshold, so that intervals are likely too narrow.

    The band consists of logit intervals of a higher confidence level: that of normal intervals that reach as many
    standard errors as `confidence_level` of the replicates' curves stay within [1]_, at all FMRs with errors. As FNMR
    cannot rise with FMR, its upper end is made at least that of all higher FMRs, its lower end at most that of all
    lower ones.

    A replicate of samples may draw a vector twice and so compare it with itself, a mated pair that never fails. The
    FNMR of replicates therefore lies below the curve; the V-statistic is the value that they vary around. "auto" and
    "recentered" move the replicates back by the difference.

    References
    ----------
    .. [1] Montiel Olea and Plagborg-Moeller, "Simultaneous confidence bands: theory, implementation, and an
       application to SVARs", Journal of Applied Econometrics 34 (2019).

    Examples
    --------
    >>> import fastfair as ff
    >>> who = list("aabbccaabbcc"), list("aabbccbbccaa")
    >>> c = ff.Comparisons([9, 8, 2, 9, 8, 1, 1, 2, 3, 1, 2, 3], [1] * 6 + [0] * 6, *who)
    >>> band = ff.roc_band(c, [0.1, 0.5], rng=0)
    >>> band.fnmr
    array([0.33333333, 0.33333333])
    >>> e = ff.von_mises_fisher_embeddings(50, 4, 16, concentration=(20, 60), rng=0)
    >>> band = ff.roc_band(e, [0.001, 0.01], rng=0)
    >>> bool(((band.low < band.fnmr) & (band.fnmr < band.high)).all())
    True
    >>> of_these_people = ff.roc_band(e, [0.001, 0.01], unit="sample", rng=0)
    >>> bool((of_these_people.v_statistic < band.fnmr).all())
    True
    """
    options = BandOptions(
        unit=unit, n_resamples=n_resamples, confidence_level=confidence_level, rng=rng, n_threads=n_threads,
        progress=progress, executor=executor,
    )  # fmt: skip
    request = BandRequest.checked(data, settings, options)
    row = 0
    if group is not None:
        validation.choice("group", group, data.groups)
        row = 1 + data.groups.index(group)

    def made(found: RatesOverLevels) -> RocBand:
        _, fnmr, curve = rate_curve(found, "fnmr", row, group)
        return RocBand(fnmr=fnmr, **curve)

    return over_levels(data, fmr, request, made, with_groups=group is not None)


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
        parts = self.value, self.low, self.high, self.band_low, self.band_high
        if self.value.ndim > 1:
            curves = {visible(group): [part[:, k] for part in parts] for k, group in enumerate(self.groups)}
            ax, lines = draw_lines(self.fmr, curves, ax, **kwargs)
        else:
            ax, lines = draw_lines(self.fmr, {"": parts}, axes_or_new(ax), **{"label": None, "color": None} | kwargs)
        if np.isfinite(self.value).any():
            ax.set_xscale("log")
            rate_ticks(ax.xaxis)
        else:
            ax.text(0.5, 0.5, "not computable: a group has no errors", transform=ax.transAxes, ha="center")
        ax.grid(alpha=0.3)
        ax.set(xlabel=METRICS["fmr"].long_title, ylabel=self._question())
        if self.value.ndim > 1:
            legend_below(ax, lines)
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
    found: RatesOverLevels, quantities: Sequence[Quantity], values: _Values, selection: Selection, names: Sequence[str]
) -> Banded:
    """Compute the intervals of a measure by test inversion, as `evaluate` does, and the simultaneous band.

    The band is made of the intervals of a higher confidence level, that at which percentile intervals hold the whole
    curves of as many replicates as asked. There is none where a group has no errors and numbers of errors cannot be
    drawn. `names`: the rates that the measure is of.
    """
    settings, centred, confidence_level = found.settings, found.centred(), found.settings.confidence_level
    value, expected, drawn = map(values, (found.estimate, found.expected, found.replicates))
    n_each, shape = len(quantities) // found.levels.size, value.shape
    quantities = noted_narrow(found, quantities, np.full(found.levels.size, "fmr" in names))
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


DEFAULT_MEASURES = ("max_geomean_ratio", "max_min_ratio", "log_geomean_sum", "gini")
FEW = f"fewer than {ENOUGH_ERRORS} errors"
_SETTINGS = ("alpha", "zero_policy", "weighting", "unit", "scheme", "n_resamples", "confidence_level", "method", "rng")


@dataclass(frozen=True, eq=False, repr=False)
class Bands(Result):
    """The result of `bands_of`: rates and fairness measures at many FMRs.

    Attributes
    ----------
    quantities : tuple of BandQuantity
        All numbers, FMR by FMR.
    roc : RocBand
        FNMR of all pairs.
    group_roc : dict of str to RocBand
        FNMR of each group, at the same thresholds.
    fairness : tuple of FairnessBand
        Fairness measures, one band for each measure and rate.
    groups : tuple of str
        All groups.
    settings : dict
        The arguments of the call.
    description : str
        A short description of the embeddings.
    left_out : tuple of str
        What was left out of the data, and why.
    asked : tuple of float
        The FMRs that pages show in tables; empty for all.
    """

    quantities: tuple[BandQuantity, ...]
    roc: RocBand
    group_roc: dict[str, RocBand]
    fairness: tuple[FairnessBand, ...]
    groups: tuple[str, ...]
    settings: dict[str, Any]
    description: str
    left_out: tuple[str, ...] = ()
    asked: tuple[float, ...] = ()

    _page_title = "Error rates and fairness of vectors"
    _rows = "quantities"

    def _columns(self) -> dict[str, list[Any]]:
        return table_of(self.quantities)

    def _tables(self) -> list[Printed]:
        points = [at_fmr(level) for level in self._levels()]
        shown = [q for q in self.quantities if q.at in points and measure_of(q.name) is None]
        star = [replace(q, group=f"{q.group or 'all'}{'*' * (FEW in q.note)}") for q in shown]
        tables = []
        for name, title in (("threshold", "Thresholds"), ("fnmr", "FNMR"), ("fmr", "FMR inside groups")):
            rows = [q for q in star if q.name == name]
            if rows:
                names = "group operating_point estimate uncertainty n_comparisons n_errors n_subjects"
                tables.append((title, *printed(table_of(rows), names.split())[1:]))
        if any(FEW in q.note for q in shown):
            tables.append((f"* {FEW} behind the number (Doddington's rule of {ENOUGH_ERRORS})", [], []))
        if self.fairness:
            headings, rows_of_measures = measures_table(self.quantities, points)
            tables.append((f"Fairness over {len(self.groups)} groups", headings, rows_of_measures))
        return tables

    def _figures(self) -> Mapping[str, Axes | Figure]:
        figures: dict[str, Axes | Figure] = {"roc": self.roc.plot()}
        if self.groups:
            figures["roc_by_group"] = draw_roc_panels(self.roc, self.group_roc)
        computable = [band for band in self.fairness if np.isfinite(band.value).any()]
        return figures | {"fairness": _fairness_figure(computable)} if computable else figures

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Axes:
        """Draw the FNMR of all pairs over the FMR, as `RocBand.plot` does."""
        return self.roc.plot(ax, **kwargs)

    def _levels(self) -> list[float]:
        """Return the FMRs that pages show in tables."""
        return [level for level in self.roc.fmr.tolist() if level in (self.asked or self.roc.fmr)]

    def summary(self) -> str:
        """Describe the rates at the FMRs asked in sentences."""
        said = [self.description]
        for level in self._levels():
            rows = [q for q in self.quantities if q.name == "fnmr" and q.at == at_fmr(level)]
            known = [q for q in rows if q.group is not None and (q.n_errors or 0) >= ENOUGH_ERRORS]
            told = f"At FMR {per_cent(level)} the FNMR is {_rate(rows[0])}"
            if len(known) > 1:
                least, most = (end(known, key=lambda q: q.estimate) for end in (min, max))
                told += f"; of groups with {ENOUGH_ERRORS} errors or more it is lowest in {visible(str(least.group))}, "
                told += f"{_rate(least)}, and highest in {visible(str(most.group))}, {_rate(most)}"
            said.append(f"{told}.")
        return "\n".join(said)

    @drawing()
    def _chapter(self) -> Chapter:
        """Return what a page says of all curves, with tables of the FMRs asked."""
        levels = self._levels()
        left_out = [visible(f"Left out: {text}.") for text in self.left_out]
        sections = [Section("Data", left_out)] if left_out else []
        sections += [replace(self.roc._section(levels), title="Trade-off of the two errors")]
        if self.groups:
            sections.append(self._of_groups(levels))
        sections += [band._section(levels) for band in self.fairness if np.isfinite(band.value).any()]
        nothing = [band._section(levels).title for band in self.fairness if not np.isfinite(band.value).any()]
        if nothing:
            sections.append(Section("Not computable", [f"{title}: a group has no errors." for title in nothing]))
        remarks: dict[str, list[str]] = {}
        for q in self.quantities:
            for note in filter(None, q.note.split("; ")):
                remarks.setdefault(note, []).append(f"{q.name} at {q.at}: {visible(q.group or 'all')}")
        return Chapter("Vectors", self.summary().splitlines(), sections, self.settings, self.to_json(), remarks)

    def _of_groups(self, levels: Sequence[float]) -> Section:
        figure = draw_roc_panels(self.roc, self.group_roc)
        alt = "A small plot of each group's FNMR over the FMR of all pairs, with its band. The table below has numbers."
        caption = "Each group (blue) with its interval and band, before all pairs (grey)."
        rows = []
        for group in (None, *self.groups):
            found = [
                next(q for q in self.quantities if (q.name, q.group, q.at) == (name, group, at_fmr(level)))
                for name in ("fnmr", "fmr") if group is not None or name == "fnmr"
                for level in levels
            ]  # fmt: skip
            cells = [_rate(q) + ("*" if FEW in q.note else "") for q in found]
            cells += ["–"] * (len(levels) if group is None else 0)
            rows.append([visible(group or "all"), f"{found[0].n_comparisons or 0:,}", *cells])
        columns = ["Group", "Mated pairs"]
        columns += [f"{name} at FMR {per_cent(level)} of all" for name in ("FNMR", "FMR inside") for level in levels]
        level = f"{100 * self.roc.confidence_level:g} %"
        table = Table(f"Rates of groups at the same thresholds, with {level} intervals; * {FEW}", columns, rows)
        return Section("Rates of groups", (), [Picture(svg_of(figure), alt, caption)], [table])


def bands_of(
    embeddings: Embeddings,
    fmr: ArrayLike,
    measures: Sequence[str] = (),
    *,
    settings: BandSettings = BandSettings(),  # noqa: B008 - frozen
    **options: Unpack[BandOptions],
) -> Bands:
    """Compute `roc_band` of all pairs and of every group, and `fairness_band` of several measures, in one pass.

    Parameters
    ----------
    embeddings : Embeddings
        The vectors.
    fmr : (levels,) array_like
        False match rates to hold.
    measures : sequence of str
        Fairness measures; those of one rate are computed for FMR and for FNMR. By default `DEFAULT_MEASURES` if there
        are groups to compare.
    settings : BandSettings
        As in `fairness_band`.
    **options
        Those that all bands have, as in `roc_band`.

    Returns
    -------
    Bands

    Warns
    -----
    FairValueOutsideWarning
        As `fairness_band` does, once.
    """
    groups = embeddings.groups
    if measures and len(groups) < 2:
        raise InputError(f"fairness measures compare groups, but the embeddings have {len(groups)}: give groups=")
    named = measures or (DEFAULT_MEASURES if len(groups) > 1 else ())
    names = [measure_name(name, at_any_threshold()) for name in named]
    asked = [(name, rate) for name in names for rate in _rates_of(name)]
    needs_average = [check_measure(name, rate) for name, rate in asked]
    request = BandRequest.checked(embeddings, settings, options)

    def made(found: RatesOverLevels) -> Bands:
        n = embeddings.n_nonmated
        thresholds = [
            Quantity(
                "threshold", None, point, x, method=request.method, n_comparisons=n, note=_few(int(point.value * n))
            )
            for point, x in zip(found.points, found.estimate.threshold.tolist(), strict=True)
        ]
        columns = [curve_by_quantiles(found, thresholds, lambda rates: rates.threshold)[0]]
        of_groups = [(1 + k, group) for k, group in enumerate(groups)]
        rocs: dict[str | None, RocBand] = {}
        for rate, rows in (("fnmr", [(0, None), *of_groups]), ("fmr", of_groups)):
            for row, group in rows:
                quantities, value, curve = rate_curve(found, rate, row, group)
                if rate == "fnmr":
                    rocs[group] = RocBand(fnmr=value, **curve)
                columns.append([_with_few(q) for q in quantities])
        fairness = []
        for name, rate in asked:
            quantities, band = measure_curve(found, groups, name, rate)
            fairness.append(band)
            n_each = len(quantities) // found.levels.size
            columns += [quantities[k::n_each] for k in range(n_each)]
        return Bands(
            quantities=tuple(quantity for at_level in zip(*columns, strict=True) for quantity in at_level),
            roc=rocs[None],
            group_roc={group: rocs[group] for group in groups},
            fairness=tuple(fairness),
            groups=groups,
            settings={
                "fmr": found.levels.tolist(),
                "measures": list(names),
                **{name: getattr(request, name) for name in _SETTINGS},
            },
            description=repr(embeddings),
            left_out=embeddings.left_out,
        )

    bands = over_levels(embeddings, fmr, request, made, with_groups=True, with_overall_fmr=any(needs_average))
    if any(FAIR_OUTSIDE in band.note for band in bands.fairness):
        warn(f"fairness measures: {FAIR_OUTSIDE}", FairValueOutsideWarning)
    return bands


def _rate(quantity: Quantity) -> str:
    return rate_with_interval(quantity.estimate, quantity.low, quantity.high)


def _with_few(quantity: BandQuantity) -> BandQuantity:
    """Note that few errors are behind a rate."""
    few = _few(quantity.n_errors) if quantity.n_comparisons and quantity.n_errors is not None else ""
    return replace(quantity, note="; ".join(filter(None, (few, quantity.note))))


def _few(n_errors: int) -> str:
    return FEW if n_errors < ENOUGH_ERRORS else ""


def _rates_of(measure: str) -> tuple[str, ...]:
    """Return the rates that a measure of one rate is computed for; a single entry for a measure of both."""
    facts = MEASURES[measure]
    return tuple(rate for rate in ERROR_RATES if rate in facts.of) or ERROR_RATES[:1]


_EDGE = 1e-6
_PANEL, _COLUMNS = 1.75, 3  # inches of a small plot, and how many stand side by side
_LONGEST_TITLE = 24  # characters of a group's name above a small plot


def _deviates(rates: Floats) -> Floats:
    """Return the places of rates on probit axes; 0 and 1, at infinity, go to the edge of what can be told apart."""
    from scipy.special import ndtri

    return np.asarray(ndtri(np.clip(rates, _EDGE, 1 - _EDGE)))


def draw_roc_panels(of_all: RocBand, of_groups: Mapping[str, RocBand]) -> Figure:
    """Draw a small plot of each group's band, before the curve of all, all on the same scales."""
    figures = require("matplotlib.figure", "cli", "drawing")
    columns = min(_COLUMNS, len(of_groups))
    rows = -(-len(of_groups) // columns)
    figure: Figure = figures.Figure(figsize=(_PANEL * columns + 0.7, _PANEL * rows + 0.6), layout="constrained")
    axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
    for ax, (group, band) in zip(axes, of_groups.items(), strict=False):
        ax.plot(of_all.fmr, of_all.fnmr, color="0.6", linewidth=1)
        band.plot(ax, color=USUAL)
        ax.set_title(drawn(shortened(visible(group), _LONGEST_TITLE)), fontsize="small", loc="left")
        ax.set(xlabel="", ylabel="")
        ax.tick_params(labelsize="x-small")
    axes[0].set_ylim(bottom=0)
    rate_ticks(axes[0].xaxis)
    rate_ticks(axes[0].yaxis)
    for ax in axes[len(of_groups) :]:
        ax.set_visible(False)
    for ax in axes[max(0, len(of_groups) - columns) : len(of_groups)]:  # the last of each column has the numbers
        ax.tick_params(labelbottom=True)
    figure.supxlabel(f"{METRICS['fmr'].long_title} of all pairs", fontsize="small")
    figure.supylabel(METRICS["fnmr"].long_title, fontsize="small")
    return figure


def _fairness_figure(bands: Sequence[FairnessBand]) -> Figure:
    """Draw each fairness measure in its own axes."""
    from matplotlib.figure import Figure

    columns = min(2, len(bands))
    rows = -(-len(bands) // columns)
    figure = Figure(figsize=(5.5 * columns, 3.2 * rows), layout="constrained")
    for k, band in enumerate(bands):
        color = {} if band.value.ndim > 1 else {"color": "black"}
        band.plot(figure.add_subplot(rows, columns, k + 1), **color)
    return figure
