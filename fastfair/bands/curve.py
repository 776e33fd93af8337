"""`roc_band`, `fairness_band`, and all of them in one pass: rates and measures over FMR with their uncertainty.

Rates at the thresholds that hold given FMRs come first, in the data and in every replicate, of comparisons or
embeddings; then what is made of them at each level: pointwise intervals and simultaneous bands.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair import intervals
from fastfair._lib import plots, seeds, text, validation
from fastfair._lib.arguments import ManyResamples, Share, checked
from fastfair._lib.warnings import warn
from fastfair._lib.workers import Checkpoint, Executor, Workers
from fastfair.data.comparisons import Comparisons
from fastfair.data.embeddings import Embeddings
from fastfair.data.exclusions import Exclusions
from fastfair.data.scans import ScannedComparisons
from fastfair.error_rates.operating_points import (
    ENOUGH_ERRORS,
    FEWEST_ERRORS,
    OperatingPoint,
    at_fmr,
    threshold_key,
    with_enough_pairs,
)
from fastfair.error_rates.rates import ERROR_RATES, ErrorRate, concentration, rates_at_key
from fastfair.errors import FairValueOutsideWarning, InputError, visible
from fastfair.measures import MEASURES
from fastfair.measures._fairness import KINDS
from fastfair.measures._registry import METRICS, Measure, at_any_threshold, measure_name, printed_name, range_of
from fastfair.resampling.dependence import CountModel
from fastfair.resampling.engine import NO_METRICS, Replicates, Resampler, Scheme
from fastfair.resampling.units import UNITS, VECTOR_UNITS, Unit, require_units
from fastfair.resampling.vector_replicates import WEIGHTINGS, Draws, PairResampler, Weighting
from fastfair.results.result import Printed, Result, printed
from fastfair.results.written import UNWRITTEN, nothing
from fastfair.uncertainty.few_errors import (
    MOST_PER_ERROR,
    FewHeldErrors,
    SampleSizes,
    hangs_on_threshold,
    is_held_by_few_subjects,
)
from fastfair.uncertainty.interval_maker import IntervalMaker, level_of_curve
from fastfair.uncertainty.inversion import INVERSION, AlikeGroups, CountedSystems, MeasureInversion, MovedSystems
from fastfair.uncertainty.notes import Code, Note, Noted, has_code
from fastfair.uncertainty.quantities import (
    Entry,
    EntryKey,
    Quantity,
    Selection,
    base_metric_of_ratio,
    entries,
    estimates,
    noted,
)
from fastfair.uncertainty.rate_limits import raised_rate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
_Result = TypeVar("_Result")
_ABOUT_V_STATISTIC = ("recentered", "gaussian")  # methods that evaluations do not have
BandZeroPolicy = Literal["keep", "clopper-pearson"]  # which replicates would often do
_LEVELS = 50  # by default: more than a plot shows
_HIGHEST = 0.5, 0.1  # default level, of comparisons and of embeddings, whose pairs below are never kept


def methods_of_embeddings() -> tuple[str, ...]:
    """Return the methods of intervals that need no vectors left out."""
    return (*_ABOUT_V_STATISTIC, *(name for name in intervals.METHODS_FOR_ANYTHING if name != "bca"))


MethodOfEmbeddings = Annotated[str, intervals.names_of_methods(methods_of_embeddings)]
_MethodOfBands = Annotated[
    str, intervals.names_of_methods(lambda: ("auto", *_ABOUT_V_STATISTIC, *intervals.METHODS_FOR_ANYTHING))
]


@checked
@dataclass(frozen=True)
class BandSettings:
    """Settings of bands that are rarely changed: how intervals are made, and measures defined.

    Attributes
    ----------
    method : {"auto", "recentered", "gaussian", "percentile", "basic", "normal", "bca"}
        Method of the pointwise interval. "auto": that of `evaluate`, which is "logit" about the curve of a rate, with
        no more degrees of freedom than the FMR has that is held, and with few errors at least the quantiles; test
        inversion for a measure, and a logarithmic scale for group-to-average ratios, which chance can move in either
        direction. For embeddings also "recentered" (quantiles of replicate minus V-statistic, added to the curve [1]_),
        "gaussian" (normal quantiles with the mean and standard deviation of these), "percentile" (the naive bootstrap,
        whose intervals lie too low where samples are drawn), "basic" and "normal". For comparisons also "percentile",
        "basic", "normal" and "bca". The band of a rate is always made of "logit" intervals.
    scheme
        As in `EvaluationSettings`.
    weighting : {"identity", "comparison"}, optional
        "identity", the default for embeddings, gives every subject, and every pair of subjects, the same weight;
        "comparison", the only one for comparisons, gives every comparison the same weight.
    alpha : float, default 0.5
        Weight of false matches in measures of both rates, in [0, 1].
    zero_policy : {"keep", "clopper-pearson"} or float
        What replaces a group's rate of 0 in measures that divide by it.

        As in `measures.replace_zeros`.

    References
    ----------
    .. [1] "Assessing Uncertainty in Similarity Scoring: Performance & Fairness in Face Recognition", algorithm 2.

    Examples
    --------
    >>> import fastfair as ff
    >>> e = ff.von_mises_fisher_embeddings(50, 4, 16, concentration=(20, 60), rng=0)
    >>> band = ff.roc_band(e, [0.01], settings=ff.BandSettings("percentile", weighting="comparison"), rng=0)
    >>> bool(band.low[0] < band.fnmr[0] < band.high[0])
    True
    """

    method: _MethodOfBands = "auto"
    scheme: Scheme = "dyadic"
    weighting: Weighting | None = None
    alpha: Share = 0.5
    zero_policy: BandZeroPolicy | float = "keep"


@dataclass(frozen=True, kw_only=True)
class BandRequest(BandSettings):
    """The arguments of a band, checked, with the defaults for comparisons or for embeddings filled in."""

    weighting: Weighting
    unit: str
    n_resamples: int
    confidence_level: float
    key: NDArray[np.uint32]  # of the random stream
    workers: Workers

    @classmethod
    def checked(
        cls, data: Comparisons | Embeddings, settings: BandSettings, workers: Workers, *, unit: str = "subject",
        n_resamples: int | None = None, confidence_level: float = 0.95, rng: seeds.Seed = None,
    ) -> BandRequest:  # fmt: skip
        """Check the arguments of `roc_band`, some of which only comparisons or only embeddings allow."""
        usual, units, weightings, methods = (
            (1000, VECTOR_UNITS, WEIGHTINGS, ("auto", *methods_of_embeddings()))
            if isinstance(data, Embeddings)
            else (2000, UNITS, WEIGHTINGS[1:], ("auto", *intervals.METHODS_FOR_ANYTHING))
        )
        validation.choice("⟦unit⟧", unit, units)
        validation.choice("⟦method⟧", settings.method, methods)
        n_resamples = validation.count("⟦n_resamples⟧", usual if n_resamples is None else n_resamples, 2)
        if isinstance(data, Comparisons):
            require_units(data, unit)
        given = vars(settings) | {
            "scheme": settings.scheme if unit == "subject" else "product",
            "weighting": validation.choice("⟦weighting⟧", settings.weighting or weightings[0], weightings),
        }
        return cls(
            **given, unit=unit, n_resamples=n_resamples, confidence_level=intervals.level(confidence_level),
            key=seeds.stream(seeds.fixed(rng))[0], workers=workers.checked(rng),
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class RatesOverLevels:
    """Rates at every level, with their replicates and the data behind them: of all comparisons, then of each group.

    Attributes
    ----------
    levels : (levels,) ndarray
        False match rates held, in the order asked.
    settings : BandRequest
        The arguments of the band.
    groups : tuple of str
        The groups whose rates are computed.
    estimate, replicates : Replicates
        Rates in the data, and in every replicate, with replicates on the last axis.
    expected : Replicates
        V-statistics, around which the replicates vary. They differ from the estimates where a replicate can pair a
        sample with itself.
    comparisons, subjects : dict of (1 + groups,) ndarray of int
        Numbers of comparisons behind "fmr" and "fnmr", and of subjects who have such; None where these are not known.
    sizes : callable
        Tells how much data are behind entries.
    freedom : (levels,) ndarray
        Degrees of freedom of the FMR of all comparisons, which holds the threshold.
    concentration : callable or None
        Computes, for the position of a level, the share of the false matches that involve one of few subjects: 5 % of
        them, but no more than a third of the errors. None for embeddings, and without subjects.
    resampler : Resampler or None
        What drew the replicates of comparisons; None for embeddings.
    left_out : tuple of Exclusion
        What was left out of the data.
    """

    levels: Floats
    settings: BandRequest
    groups: tuple[str, ...]
    estimate: Replicates
    expected: Replicates
    replicates: Replicates
    comparisons: dict[str, Counts]
    subjects: Mapping[str, Counts | None]
    sizes: Callable[[Sequence[Entry]], SampleSizes]
    freedom: Floats
    concentration: Callable[[int], float] | None = None
    resampler: Resampler | None = None
    left_out: Exclusions = ()

    def centred(self) -> Replicates:
        """Return the replicates moved so that they vary around the estimate."""
        if self.expected is self.estimate:
            return self.replicates
        added = (self.estimate.fnmr - self.expected.fnmr)[..., None]
        return replace(self.replicates, fnmr=np.clip(self.replicates.fnmr + added, 0, 1))


def over_levels(
    data: Comparisons | Embeddings,
    fmr: ArrayLike | None,
    settings: BandRequest,
    make: Callable[[RatesOverLevels], _Result],
    *,
    with_groups: bool,
    with_overall_fmr: bool = False,
) -> _Result:
    """Compute rates at the thresholds that hold each FMR, in the data and in replicates, and make something of them.

    Parameters
    ----------
    data : Comparisons or Embeddings
        The comparisons or the vectors.
    fmr : array_like or None
        Levels as the caller gave them.
    settings : BandRequest
        Settings for this kind of data.
    make : callable
        Makes it of the rates; called again where too few pairs of vectors were kept for it.
    with_groups, with_overall_fmr : bool
        Whether to compute rates of groups, and the FMR of all comparisons.

    Returns
    -------
    Any
        What `make` returns.
    """
    groups = data.groups if with_groups else ()
    if isinstance(data, Embeddings):
        levels = _levels(fmr, data.n_nonmated, _HIGHEST[1])
        return _of_embeddings(data, levels, settings, make, groups, with_overall_fmr)
    return make(_of_comparisons(data, _levels(fmr, len(data.nonmated), _HIGHEST[0]), settings, groups))


def _of_comparisons(
    data: Comparisons, levels: Floats, settings: BandRequest, groups: tuple[str, ...]
) -> RatesOverLevels:
    resampler = Resampler(
        data, _points(levels), unit=settings.unit, scheme=settings.scheme, metrics=NO_METRICS,
        with_groups=bool(groups), workers=settings.workers,
    )  # fmt: skip
    rates = [rates_at_key(data, point, threshold_key(data, point)) for point in resampler.points]
    counts, sides = rates[0].counts, {"fmr": "nonmated", "fnmr": "mated"}

    def of_rows(name: str) -> Counts:
        return np.array([getattr(counts, name), *(getattr(counts, f"group_{name}") if groups else ())])

    known, estimate = data.subjects is not None, estimates(rates, {}, ())
    drawn = resampler.replicate(settings.n_resamples, settings.key, settings.workers)
    return RatesOverLevels(
        levels, settings, groups, estimate, estimate, drawn,
        comparisons={name: of_rows(side) for name, side in sides.items()},
        subjects={name: of_rows(f"{side}_subjects") if known else None for name, side in sides.items()},
        sizes=lambda listed: SampleSizes.of(listed, resampler),
        freedom=resampler.shrinkage.freedom[0],
        concentration=(lambda k: concentration(data, rates[k], False, MOST_PER_ERROR)[0]) if known else None,
        resampler=resampler,
        left_out=data.left_out,
    )  # fmt: skip


def _of_embeddings(
    data: Embeddings,
    levels: Floats,
    settings: BandRequest,
    make: Callable[[RatesOverLevels], _Result],
    groups: tuple[str, ...],
    with_overall_fmr: bool,
) -> _Result:
    ascending, places = np.unique(levels, return_inverse=True)
    if ascending[0] == 0:
        raise InputError("fmr must be above 0 for embeddings, of which only the most similar non-mated pairs are kept")
    resampler = PairResampler(
        data, ascending, Draws(settings.weighting, settings.unit, settings.scheme), with_groups=bool(groups),
        with_overall_fmr=with_overall_fmr, workers=settings.workers,
    )  # fmt: skip

    def as_asked(rates: Replicates) -> Replicates:
        return Replicates(rates.threshold[places], rates.fmr[places], rates.fnmr[places])

    estimate, expected_fnmr = resampler.estimate()
    replicates = as_asked(resampler.replicate(settings.n_resamples, settings.key, settings.workers))
    estimate = replace(estimate, threshold=resampler.typed(estimate.threshold))
    estimate, expected = map(as_asked, (estimate, replace(estimate, fnmr=expected_fnmr)))
    of_mated, inside = data.pairs[0].of_subjects(), np.ones((1, data.subjects.size), bool)
    if groups:
        inside = np.concatenate((inside, data.subject_group == np.arange(len(groups))[:, None]))
    n_nonmated = np.array([data.pairs[1].of_subjects(some).sum() // 2 for some in inside])
    comparisons = {"fmr": n_nonmated, "fnmr": inside @ of_mated}
    have_some = {"fmr": data.n_samples > 0, "fnmr": of_mated > 0}
    subjects = {name: np.count_nonzero(inside & some, axis=1) for name, some in have_some.items()}
    draws_subjects = settings.unit != "sample"
    few = np.flatnonzero(levels * data.n_nonmated < ENOUGH_ERRORS)
    freedom = resampler.shrinkage.freedom[:, places]

    def sizes(counted: Resampler | None, listed: Sequence[Entry]) -> SampleSizes:
        """Tell how much data are behind entries; counted: the pairs near the errors, all of which count alike."""
        found = SampleSizes.unknown(len(listed), settings.unit)
        for k, entry in enumerate(listed):
            name = base_metric_of_ratio(entry.name) or entry.name
            if name not in ERROR_RATES or entry.point is None:
                continue
            row, mated, rate = 1 + entry.cell[0] if entry.cell else 0, name == "fnmr", float(entry.value)
            n, own = int(comparisons[name][row]), math.inf
            if draws_subjects:
                own = subjects[name][row] - np.unique(data.subject_group[inside[row]]).size
            # An FNMR has at most the degrees of freedom of the FMR of all pairs, which holds its threshold.
            found.degrees_of_freedom[k] = max(1, min(own, freedom[0 if mated else row, entry.point]))
            if name != entry.name or not n:
                continue
            if rate in (0, 1):
                found.effective[k] = n
            if rate == 0 and counted is not None:
                found.effective[k] = counted.effective_sample_size(mated, entry.cell)
            if mated and draws_subjects:
                found.raised[k] = raised_rate(rate, n, float((of_mated[inside[row]].astype(np.float64) ** 2).sum()) / n)
        if counted is None or not few.size:
            return found
        position = {int(point): k for k, point in enumerate(few)}
        at_few = [k for k, entry in enumerate(listed) if entry.point in position]
        of_few = [replace(listed[k], point=position[listed[k].point or 0]) for k in at_few]
        numbers = np.full(len(listed), -1)
        numbers[at_few] = np.arange(len(at_few))
        return replace(found, few_held=FewHeldErrors(of_few, counted), places=numbers.tolist())

    found = RatesOverLevels(
        levels, settings, groups, estimate, expected, replicates, comparisons, subjects, partial(sizes, None),
        freedom[0], left_out=data.left_out,
    )  # fmt: skip
    without_errors = any(((getattr(estimate, name) == 0) & (n > 0)).any() for name, n in comparisons.items())
    if not draws_subjects or not (few.size or without_errors):
        return make(found)
    workers = Workers(settings.workers.n_threads)
    # Without operating points of few errors, one with five tells the effective sample size of rates without any.
    points = _points(levels[few] if few.size else np.array([min(0.5, FEWEST_ERRORS / data.n_nonmated)]))

    def of_scan(scans: list[ScannedComparisons]) -> _Result:
        counted = Resampler(scans[0].kept, points, metrics=NO_METRICS, with_groups=bool(groups), workers=workers)
        return make(replace(found, sizes=partial(sizes, counted)))

    return with_enough_pairs([data], points, False, of_scan, workers)


def _points(levels: Floats) -> list[OperatingPoint]:
    return [at_fmr(level) for level in levels.tolist()]


def _levels(fmr: ArrayLike | None, n_nonmated: int, highest: float) -> Floats:
    if fmr is None:
        return np.unique(np.geomspace(min(highest, ENOUGH_ERRORS / n_nonmated), highest, _LEVELS))
    return checked_levels(fmr)


def checked_levels(fmr: ArrayLike) -> Floats:
    """Check the false match rates to hold; those asked twice count once."""
    levels = np.atleast_1d(validation.numbers_of("⟦fmr⟧", fmr))
    if levels.ndim != 1:
        raise InputError(f"fmr must be a list of rates, but its shape is {levels.shape}")
    checked = [validation.fraction("⟦fmr⟧", level) + 0.0 for level in levels.tolist()]  # not -0.0
    return np.array(list(dict.fromkeys(checked)))


Range = tuple[Floats, Floats]  # the lower and the upper end
ENDS = ("low", "high", "band_low", "band_high")


_MOST_SHOWN = 8  # FMRs in a table


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Curve(Result, Noted):
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
    notes : tuple of Note
        Warnings for the reader; `note` is their text, which may be empty.
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
    notes: tuple[Note, ...] = ()
    asked: tuple[float, ...] = ()

    @abstractmethod
    def _values(self) -> tuple[str, Floats, Sequence[str]]:
        """Return the name of the quantity, its values and, where there is one for each group, the groups."""

    def _sentences(self) -> list[str]:
        name, values, _ = self._values()
        write = text.rate_with_interval if name == "fnmr" else text.number_with_interval
        said = (
            f"{self._called()} at {self.fmr.size} FMRs from {self.fmr.min():.3g} to {self.fmr.max():.3g}, with "
            f"{100 * self.confidence_level:g} % intervals and a band that holds for all"
        )
        each = [
            f"{write(*(float(one[k]) for one in (values, self.low, self.high)))} at FMR {text.per_cent(self.fmr[k])}"
            for k in (self._places(2) if values.ndim == 1 else ())
        ]
        return [f"{said}: {', '.join(each)}." if each else f"{said}.", *([self.note] if self.note else [])]

    def _places(self, most: int) -> NDArray[np.intp]:
        """Choose the FMRs asked, or some from the whole range."""
        if self.asked:
            return np.flatnonzero(np.isin(self.fmr, self.asked))
        return np.unique(np.linspace(0, self.fmr.size - 1, min(most, self.fmr.size)).round().astype(np.intp))

    def _tables(self) -> list[Printed]:
        name, values, groups = self._values()
        places = self._places(_MOST_SHOWN)
        columns = {"fmr": self.fmr[places].tolist(), "threshold": self.threshold[places].tolist()}
        if values.ndim > 1:
            columns |= {group: values[places, k].tolist() for k, group in enumerate(groups)}
            return [printed(columns, columns)]
        columns |= {name: values[places].tolist(), "low": self.low[places].tolist(), "high": self.high[places].tolist()}
        return [printed(columns, ("fmr", "threshold", name), of=name)]

    def _called(self) -> str:
        """Name the quantity for readers."""
        return printed_name(self._values()[0])

    def _question(self) -> str:
        return f"{self._called()} over FMR"

    def _columns(self) -> dict[str, list[Any]]:
        name, values, groups = self._values()
        columns = {"fmr": self.fmr.tolist(), "threshold": self.threshold.tolist()}
        for label, array in ((name, values), *((end, getattr(self, end)) for end in ENDS)):
            of_each = {label: array} if array.ndim == 1 else {f"{label} of {group}": array[:, k] for k, group in
                                                             enumerate(groups)}  # fmt: skip
            columns |= {one: part.tolist() for one, part in of_each.items()}
        return columns


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
    notes : tuple of Note
        What to know about the intervals at which FMRs, such as that no errors are left there; `note` is their text.
    """

    fnmr: Floats

    def _values(self) -> tuple[str, Floats, Sequence[str]]:
        return "fnmr", self.fnmr, ()

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
    notes : tuple of Note
        What to know about the intervals at which FMRs, such as that no group has errors there; `note` is their text.
    """

    measure: str
    rate: str | None
    value: Floats
    groups: tuple[str, ...]

    def _values(self) -> tuple[str, Floats, Sequence[str]]:
        return self.measure, self.value, self.groups

    def _called(self) -> str:
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
        labels = METRICS["fmr"].long_title, self._called()
        if self.value.ndim > 1:
            curves = {visible(group): [part[:, k] for part in parts] for k, group in enumerate(self.groups)}
            ax = plots.draw_lines(self.fmr, curves, ax, labels, **kwargs)
        else:
            style = {"label": None, "color": None} | kwargs
            ax = plots.draw_lines(self.fmr, {"": parts}, plots.axes_or_new(ax), labels, **style)
        if np.isfinite(self.value).any():
            ax.set_xscale("log")
            plots.rate_ticks(ax.xaxis)
        else:
            ax.text(0.5, 0.5, "not computable: a group has no errors", transform=ax.transAxes, ha="center")
        if has_code(self, Code.FAIR_OUTSIDE):
            ax.set_title("No test of fairness: fair systems lie outside, too", fontsize="small")
        return ax


_EDGE = 1e-6


def _deviates(rates: Floats) -> Floats:
    """Return the places of rates on probit axes; 0 and 1, at infinity, go to the edge of what can be told apart."""
    from scipy.special import ndtri

    return ndtri(np.clip(rates, _EDGE, 1 - _EDGE))


class CurveMaker:
    """Makes curves of rates and measures over the levels: pointwise intervals as `evaluate` has them, and bands.

    Parameters
    ----------
    found : RatesOverLevels
        The rates.
    measures : sequence of str
        The measures that curves are made of.
    kinds : set of str
        The rates that measures are of: "fmr", "fnmr" and "both rates".
    """

    def __init__(self, found: RatesOverLevels, measures: Sequence[str] = (), kinds: frozenset[str] = KINDS) -> None:
        self.found, settings, groups = found, found.settings, found.groups
        selection = Selection(
            groups, tuple(range(len(groups))), found.comparisons["fnmr"][1:], found.comparisons["fmr"][1:],
            found.levels.size, measures=tuple(measures), alpha=settings.alpha, zero_policy=settings.zero_policy,
            kinds=kinds,
        )  # fmt: skip
        listed = list(entries(found.estimate, selection))
        # Replicates of embeddings may lack the FMR of all pairs.
        held = ("threshold", None), ("fmr", None)
        self._chosen = [k for k, entry in enumerate(listed) if (entry.name, entry.group) not in held]
        self.entries = [listed[k] for k in self._chosen]
        self._points = _points(found.levels)
        self._names = ERROR_RATES if "both rates" in kinds else tuple(kinds)

        def values(rates: Replicates) -> Floats:
            every = list(entries(rates, selection))
            return np.array([every[k].value for k in self._chosen])

        def left_out() -> Floats:
            assert found.resampler is not None
            return found.resampler.influences(values(found.resampler.jackknife(settings.workers.n_threads)))

        def count_models(names: Sequence[str] = self._names) -> list[dict[str, CountModel]]:
            return [] if found.resampler is None else found.resampler.count_models(names)

        def least_pvalues() -> dict[EntryKey, float]:
            models = partial(count_models, [name for name in self._names if name == "fnmr"])
            return AlikeGroups(found.estimate, centred, selection, models, n_threads).pvalues()

        n_threads, centred = settings.workers.n_threads, found.centred()
        self.values, self._drawn = np.array([entry.value for entry in self.entries]), values(found.replicates)
        self._expected = self.values if found.expected is found.estimate else values(found.expected)
        self._centred = self._drawn if centred is found.replicates else values(centred)
        inversion = MeasureInversion(
            {entry.key: k for k, entry in enumerate(self.entries)},
            partial(MovedSystems, found.estimate, centred, selection, n_threads),
            partial(
                CountedSystems.where_needed, found.estimate, selection, count_models, ["fmr"] * found.levels.size,
                settings.n_resamples, settings.key, n_threads,
            ),
            least_pvalues,
        )  # fmt: skip
        self.sizes = found.sizes(self.entries)
        self._narrow: dict[int, bool] = {}
        self._quantities = tuple(self._described(k, entry) for k, entry in enumerate(self.entries))
        make = partial(
            IntervalMaker, self._quantities, sizes=self.sizes, jackknife=left_out,
            inversion=inversion if measures else None, n_threads=n_threads,
        )  # fmt: skip
        self._about_estimate = make(self._centred)
        self._as_drawn = self._about_estimate if self._drawn is self._centred else make(self._drawn)

    def fnmr(self, group: str | None = None) -> RocBand:
        """Compute the FNMR at every level, with its intervals and its simultaneous band.

        The band is made of the intervals of a higher confidence level, that at which replicates of the whole curve stay
        within so many standard errors [1]_. An FNMR cannot rise with the FMR that is held, so
        the upper end of the band is at least that of all higher FMRs, and the lower end at most that of all lower ones.

        References
        ----------
        .. [1] Montiel Olea and Plagborg-Moeller, "Simultaneous confidence bands: theory, implementation, and an
           application to SVARs", Journal of Applied Econometrics 34 (2019).
        """
        rows = [k for k, entry in enumerate(self.entries) if (entry.name, entry.group) == ("fnmr", group)]
        of_curve = level_of_curve(self._centred[rows], self.values[rows], self.found.settings.confidence_level)
        ends = ends_of(self._about_estimate.quantities_at(rows, of_curve, "auto"))
        value, curve = self._banded(rows, self._pointwise(rows), _falling(self.found.levels, *ends))
        return RocBand(fnmr=value, **curve)

    def measure(self, measure: str, rate: str) -> FairnessBand:
        """Compute a measure at every level, with its intervals, and its band.

        The band is made of the intervals of a higher confidence level, that at which percentile intervals hold the
        whole curves of as many replicates as asked. There is none where a group has no errors and numbers of errors
        cannot be drawn.
        """
        facts, settings = MEASURES[measure], self.found.settings
        name = f"{measure}({rate})" if facts.of else measure
        rows = [k for k, entry in enumerate(self.entries) if entry.name == name]
        pointwise = self._pointwise(rows)
        if settings.method != "auto":
            if facts.fairer != "nearer":
                pointwise = [noted(quantity, Note(Code.FAIR_OUTSIDE)) for quantity in pointwise]
            band = self._band_of_quantiles(rows)
        else:
            known = np.array([quantity.method in (INVERSION, "log") for quantity in pointwise])
            of_curve = level_of_curves(self._centred[rows][known], settings.confidence_level)
            wider = ends_of(self._about_estimate.quantities_at(rows, of_curve, "auto"))
            pointwise = [q if is_known else _withheld(q) for q, is_known in zip(pointwise, known, strict=True)]
            band = np.where(known, wider[0], np.nan), np.where(known, wider[1], np.nan)
        value, curve = self._banded(rows, pointwise, band, facts.per_group)
        of = rate if facts.of else None
        return FairnessBand(measure=measure, rate=of, value=value, groups=self.found.groups, **curve)

    def _described(self, k: int, entry: Entry) -> Quantity:
        """Make a quantity of an entry, with the numbers behind it and its notes."""
        found, value, point = self.found, float(entry.value), entry.point or 0
        quantity = Quantity(entry.name, entry.group, self._points[point], value)
        if entry.name not in ERROR_RATES:
            rests = entry.name.endswith("(fmr)") or (not entry.name.endswith(")") and "fmr" in self._names)
            return noted(quantity, Note(Code.HELD_BY_FEW_SUBJECTS)) if rests and self._is_narrow(point) else quantity
        row, subjects = 1 + entry.cell[0] if entry.cell else 0, found.subjects[entry.name]
        n = int(found.comparisons[entry.name][row])
        n_errors = _errors_behind(value, n)
        codes = [] if n and n_errors >= ENOUGH_ERRORS else [Code.FEW_ERRORS if n else Code.NO_COMPARISONS]
        quantity = replace(
            quantity, n_comparisons=n, n_errors=n_errors, n_subjects=None if subjects is None else int(subjects[row]),
            notes=tuple(map(Note, codes)),
        )  # fmt: skip
        hangs = hangs_on_threshold(self._centred[[k]], found.replicates.threshold[[point]])[0]
        return noted(quantity, Note(Code.HELD_BY_FEW_SUBJECTS)) if hangs and self._is_narrow(point) else quantity

    def _is_narrow(self, point: int) -> bool:
        """Return whether few subjects cause most of the false matches that hold the threshold of a level."""
        found, sizes = self.found, self.sizes
        if found.concentration is None or (sizes.few_held and sizes.few_held.holds(point)):
            return False
        if point not in self._narrow:
            share = found.concentration(point)
            self._narrow[point] = is_held_by_few_subjects(float(found.freedom[point]), share)
        return self._narrow[point]

    def _pointwise(self, rows: list[int]) -> list[Quantity]:
        """Return some quantities, all of one name, with pointwise intervals."""
        method, level = self.found.settings.method, self.found.settings.confidence_level
        name = self.entries[rows[0]].name
        if method not in _ABOUT_V_STATISTIC:
            return (self._about_estimate if method == "auto" else self._as_drawn).quantities_at(rows, level, method)
        value, quantities = self.values[rows], [self._quantities[k] for k in rows]
        inside = np.ones(value.size, np.bool_)
        if name in ERROR_RATES:  # those without errors vary by no method
            quantities = self._about_estimate.quantities_at(rows, level, "auto")
            inside = (value > 0) & (value < 1)
        ends = interval(self._drawn[rows], value, self._expected[rows], level, method)
        low, high = (np.clip(end, *range_of(name)).tolist() for end in ends)
        return [
            replace(q, low=low[k], high=high[k], method=method) if inside[k] else q for k, q in enumerate(quantities)
        ]

    def _band_of_quantiles(self, rows: list[int]) -> Range:
        """Compute the simultaneous band of the values that are computable in most replicates."""
        settings, (least, most) = self.found.settings, range_of(self.entries[rows[0]].name)
        drawn = self._drawn[rows]
        if settings.method in _ABOUT_V_STATISTIC:
            drawn = recentered(drawn, self.values[rows], self._expected[rows])
        often, curves = _whole_curves(drawn)
        low, high = np.full((2, len(rows)), np.nan)
        if curves.size and curves.shape[1] > 1:
            low[often], high[often] = intervals.simultaneous_band(curves, settings.confidence_level)
        return np.clip(low, least, most), np.clip(high, least, most)

    def _banded(
        self, rows: list[int], pointwise: Sequence[Quantity], band: Range, per_group: bool = False
    ) -> tuple[Floats, dict[str, Any]]:
        """Return the values of some quantities, and the fields of their curve."""
        found, drawn, value = self.found, self._drawn[rows], self.values[rows]
        numbers = dict(zip(ENDS, (*ends_of(pointwise), *band), strict=True)) | {"v_statistic": self._expected[rows]}
        with np.errstate(invalid="ignore", divide="ignore"):
            numbers["uncertainty"] = intervals.standard_error(drawn) / value
        shape = (found.levels.size, -1) if per_group else (found.levels.size,)
        return value.reshape(shape), {
            "fmr": found.levels,
            "threshold": found.estimate.threshold,
            **{name: array.reshape(shape) for name, array in numbers.items()},
            "replicates": drawn.T.reshape(-1, *value.reshape(shape).shape),
            "n_resamples": drawn.shape[-1],
            "confidence_level": found.settings.confidence_level,
            "notes": _notes_of(pointwise),
            "left_out": found.left_out,
        }  # fmt: skip


def _withheld(quantity: Quantity) -> Quantity:
    """Return a measure without an interval, and say why it has none."""
    is_finite = np.isfinite(quantity.estimate)
    if is_finite and has_code(quantity, Code.NO_SUCH_ERRORS, Code.FEW_GROUP_ERRORS):
        return quantity
    reason = Note(Code.NO_ERRORS_TO_DRAW if is_finite else Code.NO_ERRORS_TO_MOVE)
    missing = [note for note in quantity.notes if note.code is Code.BELOW_RESOLUTION]
    return replace(quantity, low=np.nan, high=np.nan, notes=(reason, *missing))


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
    _, curves = _whole_curves(replicates)
    if curves.size == 0:
        return confidence_level
    least = intervals.least_depth(intervals.depths(curves), confidence_level)
    return max(confidence_level, float(1 - 2 * (least - 0.5) / curves.shape[1]))


def _whole_curves(replicates: Floats) -> tuple[NDArray[np.bool_], Floats]:
    """Return which values are computable in most replicates, and these in the replicates in which all of them are."""
    known = ~np.isnan(replicates)
    often = known.mean(axis=-1) > 0.5
    return often, replicates[often][:, known[often].all(axis=0)]


def _errors_behind(rate: float, n: int) -> int:
    """Return as many errors of n comparisons as would make a rate; at least one, and not all, of one inside (0, 1)."""
    errors = 0 if math.isnan(rate) else round(rate * n)
    return min(max(errors, 1), max(n - 1, 1)) if 0 < rate < 1 else errors


def _notes_of(quantities: Sequence[Quantity]) -> tuple[Note, ...]:
    """Put together what the quantities' notes say, and at which levels if not at all."""
    levels_of: dict[Note, set[float]] = {}
    levels = {quantity.at.value for quantity in quantities if quantity.at is not None}
    for quantity in quantities:
        for note in quantity.notes:
            levels_of.setdefault(note, set()).add(quantity.at.value if quantity.at else 0.0)

    def where(at: set[float]) -> str:
        if at == levels:
            return ""
        return f"FMR {min(at):.3g}" + (f" to {max(at):.3g}" if len(at) > 1 else "")

    return tuple(replace(note, about=where(at)) for note, at in levels_of.items())


def ends_of(quantities: Sequence[Quantity]) -> Range:
    """Return the lower and the upper ends of intervals."""
    low, high = np.array([(q.low, q.high) for q in quantities], np.float64).T
    return low, high


def _falling(levels: Floats, low: Floats, high: Floats) -> Range:
    """Widen a band so that neither end rises with the levels."""
    order, known = np.argsort(levels), ~np.isnan(low)
    low[order] = np.fmin.accumulate(low[order])
    high[order[::-1]] = np.fmax.accumulate(high[order[::-1]])
    return np.where(known, low, np.nan), np.where(known, high, np.nan)


def interval(
    replicates: Floats, estimate: Floats, expected: Floats, level: float, method: str, jackknife: Floats | None = None
) -> Range:
    """Compute pointwise intervals only, by any of the methods of a band."""
    if method != "gaussian":
        return intervals.confidence_interval(
            replicates, estimate, level, method, v_statistic=expected, jackknife=jackknife
        )
    shifted = recentered(replicates, estimate, expected)
    return intervals.confidence_interval(shifted, intervals.finite_mean(shifted), level, "normal")


def recentered(replicates: Floats, estimate: Floats, expected: Floats) -> Floats:
    """Move replicates, which vary around one value, so that they vary around the estimate."""
    with np.errstate(invalid="ignore"):  # ratios to groups without errors are infinite
        return replicates + (estimate - expected)[..., None]


@checked
def roc_band(
    data: Comparisons | Embeddings,
    fmr: ArrayLike | None = None,
    *,
    group: str | None = None,
    unit: Unit = "subject",
    n_resamples: ManyResamples | None = None,
    confidence_level: float = 0.95,
    settings: BandSettings = BandSettings(),
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

    return over_levels(data, fmr, request, lambda found: CurveMaker(found).fnmr(group), with_groups=group is not None)


@checked
def fairness_band(
    data: Comparisons | Embeddings,
    measure: Measure = "max_geomean_ratio",
    rate: ErrorRate = "fnmr",
    fmr: ArrayLike | None = None,
    *,
    unit: Unit = "subject",
    n_resamples: ManyResamples | None = None,
    confidence_level: float = 0.95,
    settings: BandSettings = BandSettings(),
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
        data, fmr, request, lambda found: CurveMaker(found, [measure], kinds).measure(measure, rate),
        with_groups=True, with_overall_fmr=needs_average,
    )  # fmt: skip
    if has_code(band, Code.FAIR_OUTSIDE):
        warn(f"{measure}: {Note(Code.FAIR_OUTSIDE)}", FairValueOutsideWarning)
    return band


def check_measure(measure: str, rate: str) -> bool:
    """Check that a measure can be computed from a rate, and return whether it needs the FMR of all comparisons."""
    facts = MEASURES[measure]
    if facts.of and rate not in facts.of:
        raise InputError(f"measure {measure!r} cannot be computed from ⟦rate={rate!r}⟧; it takes {', '.join(facts.of)}")
    return bool(facts.of) and facts.global_reference and rate == "fmr"


DEFAULT_MEASURES = ("max_geomean_ratio", "max_min_ratio", "log_geomean_sum", "gini")


def bands_of(
    embeddings: Embeddings,
    fmr: ArrayLike,
    measures: Sequence[str] = (),
    *,
    settings: BandSettings = BandSettings(),
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
        raise InputError(f"fairness measures compare groups, but the embeddings have {len(groups)}: give ⟦groups=⟧")
    named = measures or (DEFAULT_MEASURES if len(groups) > 1 else ())
    names = [measure_name(name, at_any_threshold()) for name in named]
    asked = [(name, rate) for name in names for rate in _rates_of(name)]
    needs_average = [check_measure(name, rate) for name, rate in asked]
    request = BandRequest.checked(embeddings, settings, Workers(n_threads, progress, executor), **options)

    def made(found: RatesOverLevels) -> dict[str, Curve]:
        curves = CurveMaker(found, names)
        bands: dict[str, Curve] = {"roc": curves.fnmr()}
        for name, rate in asked:
            band = curves.measure(name, rate)
            bands["_".join(filter(None, ("fairness", name, band.rate)))] = band
        return bands

    bands = over_levels(embeddings, fmr, request, made, with_groups=bool(names), with_overall_fmr=any(needs_average))
    if any(has_code(band, Code.FAIR_OUTSIDE) for band in bands.values()):
        warn(f"fairness measures: {Note(Code.FAIR_OUTSIDE)}", FairValueOutsideWarning)
    return bands


def _rates_of(measure: str) -> tuple[str, ...]:
    """Return the rates that a measure of one rate is computed for; a single entry for a measure of both."""
    facts = MEASURES[measure]
    return tuple(rate for rate in ERROR_RATES if rate in facts.of) or ERROR_RATES[:1]
