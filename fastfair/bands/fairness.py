"""`fairness_band`: a fairness measure at many FMRs, with its uncertainty."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair._lib import seeds
from fastfair._lib.arguments import Measure, Resamples, checked
from fastfair._lib.warnings import warn
from fastfair._lib.workers import Executor
from fastfair.data.comparisons import Comparisons
from fastfair.data.embeddings import Embeddings
from fastfair.error_rates.curve_results import ERROR_RATES, ErrorRate
from fastfair.error_rates.operating_points import at_fmr
from fastfair.errors import FairValueOutsideWarning, InputError
from fastfair.measures import MEASURES, Estimand
from fastfair.measures._compute import BaseMetric, value_of
from fastfair.measures._registry import at_any_threshold, measure_name, printed_name
from fastfair.resampling.dependence import ENOUGH_PAIRS
from fastfair.resampling.engine import Replicates
from fastfair.uncertainty.entries import Selection
from fastfair.uncertainty.few_errors import OF_FEW_SUBJECTS
from fastfair.uncertainty.interval_maker import interval_of_ratio
from fastfair.uncertainty.inversion import CountedSystems, MeasureInversion, MovedSystems, points_without_errors
from fastfair.uncertainty.quantities import BELOW_RESOLUTION, NARROW, RATIOS, Quantity, noted

from . import limits
from .curve import ShownCurve, curve_of, fields, note_of
from .rates_at_levels import BandOptions, BandSettings, RatesOverLevels, rates_over_levels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
BandZeroPolicy = Literal["keep", "clopper-pearson"]  # which replicates would often do
BAND_ZERO_POLICIES: tuple[BandZeroPolicy, ...] = get_args(BandZeroPolicy)

FAIR_OUTSIDE = "these intervals leave out the value of a fair system, so they do not show that groups differ"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FairnessBand(ShownCurve):
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

        interval, band = (self.low, self.high), (self.band_low, self.band_high)
        ax = draw_measure(self.fmr, self.value, interval, band, self.groups, ax, **kwargs)
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
    alpha: float = 0.5,
    zero_policy: BandZeroPolicy | float = "keep",
    weighting: str | None = None,
    unit: str | None = None,
    n_resamples: Resamples | None = None,
    confidence_level: float = 0.95,
    method: str | None = None,
    scheme: str | None = None,
    rng: seeds.Seed = None,
    n_threads: int | None = None,
    progress: bool | Callable[[int, int], None] = False,
    executor: Executor = None,
    checkpoint: str | Path | None = None,
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
    alpha : float, default 0.5
        Weight of false matches in measures of both rates.
    zero_policy : {"keep", "clopper-pearson"} or float
        What replaces a group's rate of 0 in measures that divide by it; see `measures.replace_zeros`.
    weighting, unit, n_resamples, confidence_level
        As in `roc_band`.
    method : str, optional
        "auto", the default, makes intervals as `evaluate` does: by test inversion, or on a logarithmic scale those of
        group-to-average ratios, which chance can move in either direction. Other methods are those of `roc_band`.
    scheme, rng, n_threads, progress, executor, checkpoint
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
    needs_average = check_measure(measure, rate, zero_policy)
    options = BandOptions(
        weighting=weighting, unit=unit, n_resamples=n_resamples, confidence_level=confidence_level, method=method,
        scheme=scheme, rng=rng, n_threads=n_threads, progress=progress,
        executor=executor, checkpoint=checkpoint,
    )  # fmt: skip
    settings = BandSettings.check(data, options)
    if len(data.groups) < 2:
        raise InputError(f"a fairness measure compares groups, but the data have {len(data.groups)}: give at least 2")
    found = rates_over_levels(data, fmr, settings, with_groups=True, with_overall_fmr=needs_average)
    band, _ = fairness_of_rates(found, settings, data.groups, measure, rate, alpha, zero_policy)
    if FAIR_OUTSIDE in band.note:
        warn(f"{measure}: {FAIR_OUTSIDE}", FairValueOutsideWarning)
    return band


def check_measure(measure: str, rate: str, zero_policy: str | float) -> bool:
    """Check a measure's name and arguments, and return whether it needs the FMR of all comparisons.

    Parameters
    ----------
    measure, rate, zero_policy
        As in `fairness_band`.

    Returns
    -------
    bool
    """
    facts = MEASURES[measure]
    if facts.of and rate not in facts.of:
        raise InputError(f"measure {measure!r} cannot be computed from rate={rate!r}; it takes {', '.join(facts.of)}")
    return bool(facts.of) and facts.global_reference and rate == "fmr"


def fairness_of_rates(
    found: RatesOverLevels,
    settings: BandSettings,
    groups: tuple[str, ...],
    measure: str,
    rate: str,
    alpha: float = 0.5,
    zero_policy: str | float = "keep",
) -> tuple[FairnessBand, Sequence[Quantity]]:
    """Compute the band of a measure from rates at many levels, and the measure at each, with its interval.

    Parameters
    ----------
    found : RatesOverLevels
        The rates, including those of groups.
    settings : BandSettings
        The settings, which hold the method and the confidence level.
    groups : tuple of str
        The groups whose rates they are.
    measure, rate, alpha, zero_policy
        As in `fairness_band`.

    Returns
    -------
    FairnessBand
    """
    facts = MEASURES[measure]

    def values(rates: Replicates) -> Floats:
        return _measured(facts, rate, rates, found, alpha, zero_policy)

    name = measure if not facts.of else f"{measure}({rate})"
    of_each: Sequence[str | None] = groups if facts.per_group else (None,)
    value = values(found.estimate)
    points = [at_fmr(level) for level in found.levels.tolist()]
    places = [(point, group) for point in points for group in of_each]
    quantities: Sequence[Quantity] = [
        Quantity(name, group, point, x, method=settings.method)
        for (point, group), x in zip(places, value.ravel().tolist(), strict=True)
    ]
    if settings.method == "auto" and facts.fairer != "nearer":
        replicates, centred = values(found.replicates), found.centred()
        about_estimate = replicates if centred is found.replicates else values(centred)
        n_mated, n_nonmated = (found.behind[kind].comparisons[1:] for kind in ("fnmr", "fmr"))
        selection = Selection(
            groups, tuple(range(len(groups))), n_mated, n_nonmated, found.levels.size,
            measures=(measure,), alpha=alpha, zero_policy=zero_policy,
        )  # fmt: skip
        of_fmr = not facts.of or rate == "fmr"
        narrow = limits.few_subjects_hold(found, np.full(len(points), of_fmr)).repeat(len(of_each)).tolist()
        quantities = [noted(q, OF_FEW_SUBJECTS, NARROW) if at else q for q, at in zip(quantities, narrow, strict=True)]
        keys = ((name, group, None, k) for k in range(len(points)) for group in of_each)
        inversion = MeasureInversion(
            {key: k for k, key in enumerate(keys)},
            lambda: _moved_systems(facts, rate, found, centred, selection, settings),
            lambda: _counted_systems(facts, rate, found, selection, settings),
        )
        drawn = about_estimate.reshape(len(quantities), -1)
        quantities, band = limits.of_measure(quantities, drawn, inversion, settings)
        unknown = np.repeat(limits.below_resolution(found, settings.confidence_level), len(of_each)).tolist()
        quantities = [noted(q, why, BELOW_RESOLUTION) if why else q for q, why in zip(quantities, unknown, strict=True)]
        ends = [end.reshape(value.shape) for end in (*limits.ends_of(quantities), *band)]
        curve = fields(found, settings, value, values(found.expected), replicates, ends)
    else:
        _, curve = curve_of(values, found, settings, facts.range)
        if settings.method == "auto" and measure in RATIOS:
            _widen_ratios(curve, measure, rate, value, found, settings.confidence_level)
        note = FAIR_OUTSIDE if facts.fairer != "nearer" else ""
        quantities = [replace(quantity, note=note) for quantity in quantities]
    return FairnessBand(
        measure=measure,
        rate=None if not facts.of else rate,
        value=value,
        groups=groups,
        note=note_of(quantities),
        **curve,
    ), quantities


def _widen_ratios(
    curve: dict[str, Any], measure: str, rate: str, value: Floats, found: RatesOverLevels, confidence_level: float
) -> None:
    """Widen the intervals of groups' ratios to the average as `evaluate` does, and the band where it is narrower."""
    low, high = curve["low"], curve["high"]
    for group in range(value.shape[1]):
        freedom = found.behind[rate].of_row(1 + group).degrees_of_freedom
        for level in range(len(value)):
            at = level, group
            if found.behind[rate].errors[level, 1 + group] < ENOUGH_PAIRS:
                low[at] = high[at] = curve["band_low"][at] = curve["band_high"][at] = np.nan
                continue
            low[at], high[at] = interval_of_ratio(
                measure, float(value[at]), (float(low[at]), float(high[at])), curve["replicates"][:, level, group],
                float(freedom[level]), confidence_level,
            )  # fmt: skip
    few = np.isnan(low)
    np.fmin(curve["band_low"], low, out=curve["band_low"], where=~few)
    np.fmax(curve["band_high"], high, out=curve["band_high"], where=~few)


def _moved_systems(
    measure: Estimand,
    rate: str,
    found: RatesOverLevels,
    drawn: Replicates,
    selection: Selection,
    settings: BandSettings,
) -> MovedSystems:
    if measure.of:  # one replicate of the other rate, which is not asked for, saves time
        other = ERROR_RATES[1 - ERROR_RATES.index(rate)]
        drawn = replace(drawn, **{other: getattr(drawn, other)[..., :1]})
    return MovedSystems(found.estimate, drawn, selection, settings.workers.n_threads)


def _counted_systems(
    measure: Estimand, rate: str, found: RatesOverLevels, selection: Selection, settings: BandSettings
) -> CountedSystems | None:
    asked = (rate,) if measure.of else ERROR_RATES
    models = [{name: of_point[name] for name in asked} for of_point in found.count_models()]
    if not points_without_errors(models, selection.measured):
        return None
    held = ["fmr"] * len(models)
    drawing = settings.n_resamples, settings.key, settings.workers.n_threads
    return CountedSystems(found.estimate, selection, models, held, *drawing)


def _measured(
    measure: Estimand,
    rate: str,
    rates: Replicates,
    found: RatesOverLevels,
    alpha: float,
    zero_policy: str | float,
) -> Floats:
    """Return (levels, ...) values, or (levels, groups, ...) for measures with a value for each group."""

    def metric(name: str) -> BaseMetric:
        values: Floats = getattr(rates, name)
        of_groups = np.ascontiguousarray(np.moveaxis(values[:, 1:], 1, -1))
        return BaseMetric(values[:, 0], of_groups, found.behind[name].comparisons[1:])

    value = value_of(measure, [metric(name) for name in ((rate,) if measure.of else ERROR_RATES)], alpha, zero_policy)
    return np.moveaxis(value, -1, 1) if measure.per_group else value
