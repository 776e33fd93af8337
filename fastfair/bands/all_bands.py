"""`roc_band`, `fairness_band`, and all of them in one pass: rates and measures over FMR with their uncertainty."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair._lib import plots, seeds, text, validation
from fastfair._lib.arguments import Resamples, checked
from fastfair._lib.warnings import warn
from fastfair._lib.workers import Checkpoint, Executor, Workers
from fastfair.data.comparisons import Comparisons
from fastfair.data.embeddings import Embeddings
from fastfair.error_rates.rates import ERROR_RATES, ErrorRate
from fastfair.errors import FairValueOutsideWarning, InputError, visible
from fastfair.measures import MEASURES
from fastfair.measures._registry import METRICS, Measure, at_any_threshold, measure_name, printed_name
from fastfair.pages.drawings import drawing, svg_of
from fastfair.pages.parts import Chapter, Picture, Section, Table
from fastfair.resampling.units import Unit
from fastfair.results.result import Printed, Result, printed
from fastfair.results.written import UNWRITTEN, nothing

from .curve import (
    ENDS,
    FAIR_OUTSIDE,
    BandRequest,
    BandSettings,
    CurveMaker,
    RatesOverLevels,
    over_levels,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]


_MOST_SHOWN = 8  # FMRs in a notebook's table
_MOST_ON_PAGES = 12  # FMRs in a page's table
_LEGEND_LINE = 0.18  # inches
_SIZE = 4.9, 3.6  # inches of a plot that a phone shows in its own size


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Curve(Result):
    """What all curves over FMR have in common; the quantity itself has another name in each kind of curve.

    Attributes
    ----------
    fmr : (levels,) ndarray
        False match rates held, in the order asked.
    threshold : (levels,) ndarray
        On the scale of the scores.
    low, high, band_low, band_high : (levels, ...) ndarray
        Pointwise interval and simultaneous band.
    uncertainty : (levels, ...) ndarray
        Standard deviation of the replicates divided by the value.
    v_statistic : (levels, ...) ndarray
        The value around which the replicates vary.
    replicates : (r, levels, ...) ndarray
        The quantity in every replicate; none in what was read from a page.
    n_resamples : int
        Number of replicates behind the intervals.
    confidence_level : float
        Confidence level of the interval and the band.
    note : str
        Warnings for the reader; may be empty.
    asked : tuple of float
        The FMRs that tables show; empty for some of all.
    """

    fmr: Floats
    threshold: Floats
    low: Floats
    high: Floats
    band_low: Floats
    band_high: Floats
    uncertainty: Floats
    v_statistic: Floats
    replicates: Floats = field(default_factory=nothing, repr=False, metadata=UNWRITTEN)
    n_resamples: int
    confidence_level: float = 0.95
    note: str = ""
    asked: tuple[float, ...] = ()

    @abstractmethod
    def _values(self) -> tuple[str, Floats, Sequence[str]]:
        """Return the name of the quantity, its values and, where there is one for each group, the groups."""

    def _sentences(self) -> list[str]:
        return [
            f"{self._question()} at {self.fmr.size} FMRs from {self.fmr.min():.3g} to {self.fmr.max():.3g}, with "
            f"{100 * self.confidence_level:g} % intervals and a band that holds for all",
            *([self.note] if self.note else []),
        ]

    def _tables(self) -> list[Printed]:
        name, values, groups = self._values()
        places = self._places(_MOST_SHOWN)
        columns = {"fmr": self.fmr[places].tolist(), "threshold": self.threshold[places].tolist()}
        if values.ndim > 1:
            columns |= {group: values[places, k].tolist() for k, group in enumerate(groups)}
            return [printed(columns, columns)]
        columns |= {name: values[places].tolist(), "low": self.low[places].tolist(), "high": self.high[places].tolist()}
        return [printed(columns, ("fmr", "threshold", name), of=name)]

    def _question(self) -> str:
        """Name the quantity for readers."""
        return self._values()[0]

    def _columns(self) -> dict[str, list[Any]]:
        name, values, groups = self._values()
        columns = {"fmr": self.fmr.tolist(), "threshold": self.threshold.tolist()}
        for label, array in ((name.lower(), values), *((end, getattr(self, end)) for end in ENDS)):
            of_each = {label: array} if array.ndim == 1 else {f"{label} of {group}": array[:, k] for k, group in
                                                             enumerate(groups)}  # fmt: skip
            columns |= {one: part.tolist() for one, part in of_each.items()}
        return columns

    def _places(self, most: int) -> NDArray[np.intp]:
        """Choose the FMRs asked, or some from the whole range."""
        if self.asked:
            return np.flatnonzero(np.isin(self.fmr, self.asked))
        return np.unique(np.linspace(0, self.fmr.size - 1, min(most, self.fmr.size)).round().astype(np.intp))

    @drawing()
    def _chapter(self) -> Chapter:
        name, values, groups = self._values()
        title = self._question()
        size = _SIZE if values.ndim == 1 else (_SIZE[0], _SIZE[1] + _LEGEND_LINE * min(len(groups), _MOST_SHOWN))
        ax = self.plot(plots.new_axes(size), **({"color": plots.USUAL} if values.ndim == 1 else {}))
        for axis in (ax.xaxis, ax.yaxis) if name == "FNMR" else (ax.xaxis,):
            plots.rate_ticks(axis)
        alt = f"{title} over FMR, with intervals and a band. The table below has the numbers."
        caption = "Darker: the interval at each FMR on its own; lighter: the band that holds the whole curve."
        picture = Picture(svg_of(ax.figure), alt, caption)
        heads = [title, "Band of the whole curve"] if values.ndim == 1 else list(map(visible, groups))
        rows = [
            [text.per_cent(self.fmr[k]), text.cell(float(self.threshold[k])), *self._cells(name, k)]
            for k in self._places(_MOST_ON_PAGES)
        ]
        caption = f"{title} at FMRs, with {100 * self.confidence_level:g} % intervals in brackets"
        table = Table(caption, ["FMR", "Threshold", *heads], rows)
        section = Section(title, [visible(self.note)] if self.note else [], [picture], [table])
        settings = {"confidence_level": self.confidence_level, "replicates": self.n_resamples}
        return Chapter(f"{title} over FMR", self._shown()[0], [section], settings, self.to_json())

    def _cells(self, name: str, k: int) -> list[str]:
        """Write the value at a level with its interval, and the band; or the value of each group."""
        values = self._values()[1]
        if values.ndim > 1:
            each = zip(values[k].tolist(), self.low[k].tolist(), self.high[k].tolist(), strict=True)
            return [text.number_with_interval(*one) for one in each]
        value, low, high, *band = (
            float(array[k]) for array in (values, self.low, self.high, self.band_low, self.band_high)
        )
        if name == "FNMR":
            return [text.rate_with_interval(value, low, high), text.interval_of_rate(*band)]
        return [
            text.number_with_interval(value, low, high),
            text.number_with_interval(value, *band).partition(" ")[2] or "–",
        ]


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
        ax, place = plots.axes_or_new(ax), _deviates if det else np.asarray
        (line,) = ax.plot(place(self.fmr), place(self.fnmr), **kwargs)
        limits = [place(end) for end in (self.low, self.high, self.band_low, self.band_high)]
        plots.draw_ranges(ax, place(self.fmr), limits, line.get_color())
        return plots.probit_axes(ax) if det else plots.roc_axes(ax)


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
    request = BandRequest.checked(
        data, settings, Workers(n_threads, progress, executor), unit=unit, n_resamples=n_resamples,
        confidence_level=confidence_level, rng=rng,
    )  # fmt: skip
    if group is not None:
        validation.choice("group", group, data.groups)

    def made(found: RatesOverLevels) -> RocBand:
        fnmr, curve = CurveMaker(found).fnmr(group)
        return RocBand(fnmr=fnmr, **curve)

    return over_levels(data, fmr, request, made, with_groups=group is not None)


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
            ax, lines = plots.draw_lines(self.fmr, curves, ax, **kwargs)
        else:
            ax, lines = plots.draw_lines(
                self.fmr, {"": parts}, plots.axes_or_new(ax), **{"label": None, "color": None} | kwargs
            )
        if np.isfinite(self.value).any():
            ax.set_xscale("log")
            plots.rate_ticks(ax.xaxis)
        else:
            ax.text(0.5, 0.5, "not computable: a group has no errors", transform=ax.transAxes, ha="center")
        ax.grid(alpha=0.3)
        ax.set(xlabel=METRICS["fmr"].long_title, ylabel=self._question())
        if self.value.ndim > 1:
            plots.legend_below(ax, lines)
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
    request = BandRequest.checked(
        data, settings, Workers(n_threads, progress, executor), unit=unit, n_resamples=n_resamples,
        confidence_level=confidence_level, rng=rng,
    )  # fmt: skip
    if len(data.groups) < 2:
        raise InputError(f"a fairness measure compares groups, but the data have {len(data.groups)}: give at least 2")
    kinds = frozenset([rate] if MEASURES[measure].of else ["both rates"])
    band = over_levels(
        data, fmr, request, lambda found: measure_curve(CurveMaker(found, [measure], kinds), measure, rate),
        with_groups=True, with_overall_fmr=needs_average,
    )  # fmt: skip
    if FAIR_OUTSIDE in band.note:
        warn(f"{measure}: {FAIR_OUTSIDE}", FairValueOutsideWarning)
    return band


def check_measure(measure: str, rate: str) -> bool:
    """Check that a measure can be computed from a rate, and return whether it needs the FMR of all comparisons."""
    facts = MEASURES[measure]
    if facts.of and rate not in facts.of:
        raise InputError(f"measure {measure!r} cannot be computed from rate={rate!r}; it takes {', '.join(facts.of)}")
    return bool(facts.of) and facts.global_reference and rate == "fmr"


def measure_curve(curves: CurveMaker, measure: str, rate: str) -> FairnessBand:
    """Compute a measure at each level, with its intervals, and its band."""
    value, curve = curves.measure(measure, rate)
    of = rate if MEASURES[measure].of else None
    return FairnessBand(measure=measure, rate=of, value=value, groups=curves.found.groups, **curve)


DEFAULT_MEASURES = ("max_geomean_ratio", "max_min_ratio", "log_geomean_sum", "gini")


def bands_of(
    embeddings: Embeddings,
    fmr: ArrayLike,
    measures: Sequence[str] = (),
    *,
    settings: BandSettings = BandSettings(),  # noqa: B008 - frozen
    n_threads: int | None = None,
    progress: bool | Callable[[int, int], None] = False,
    executor: Executor | Checkpoint = None,
    **options: Any,
) -> dict[str, Curve]:
    """Compute `roc_band` of all pairs and `fairness_band` of several measures, in one pass.

    Parameters
    ----------
    embeddings : Embeddings
        The vectors.
    fmr : (levels,) array_like
        False match rates to hold.
    measures : sequence of str
        Fairness measures; those of one rate are computed for FMR and for FNMR. By default `DEFAULT_MEASURES` if there
        are groups to compare.
    settings, n_threads, progress, executor, **options
        As in `roc_band`.

    Returns
    -------
    dict of str to RocBand or FairnessBand
        By names of files: "roc", and such as "fairness_gini_fnmr".

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
    request = BandRequest.checked(embeddings, settings, Workers(n_threads, progress, executor), **options)

    def made(found: RatesOverLevels) -> dict[str, Curve]:
        curves = CurveMaker(found, names)
        fnmr, curve = curves.fnmr()
        bands: dict[str, Curve] = {"roc": RocBand(fnmr=fnmr, **curve)}
        for name, rate in asked:
            band = measure_curve(curves, name, rate)
            bands["_".join(filter(None, ("fairness", name, band.rate)))] = band
        return bands

    bands = over_levels(embeddings, fmr, request, made, with_groups=bool(names), with_overall_fmr=any(needs_average))
    if any(FAIR_OUTSIDE in band.note for band in bands.values()):
        warn(f"fairness measures: {FAIR_OUTSIDE}", FairValueOutsideWarning)
    return bands


def _rates_of(measure: str) -> tuple[str, ...]:
    """Return the rates that a measure of one rate is computed for; a single entry for a measure of both."""
    facts = MEASURES[measure]
    return tuple(rate for rate in ERROR_RATES if rate in facts.of) or ERROR_RATES[:1]


_EDGE = 1e-6


def _deviates(rates: Floats) -> Floats:
    """Return the places of rates on probit axes; 0 and 1, at infinity, go to the edge of what can be told apart."""
    from scipy.special import ndtri

    return np.asarray(ndtri(np.clip(rates, _EDGE, 1 - _EDGE)))
