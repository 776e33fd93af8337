"""Curves over FMR, of rates or of measures computed from rates, with pointwise intervals and simultaneous bands.

Rates at the thresholds that hold given FMRs come first, in the data and in every replicate, of comparisons or
embeddings; then what is made of them at each level, and how a curve shows itself.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any, Literal, TypedDict, TypeVar, cast, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair import intervals
from fastfair._lib import seeds, validation
from fastfair._lib.arguments import checked
from fastfair._lib.plots import USUAL, new_axes, rate_ticks
from fastfair._lib.text import cell, interval_of_rate, number_with_interval, per_cent, rate_with_interval
from fastfair._lib.workers import Workers
from fastfair.data.comparisons import Comparisons
from fastfair.data.embeddings import Embeddings
from fastfair.data.scans import ScannedComparisons
from fastfair.error_rates.operating_points import (
    ENOUGH_ERRORS,
    FEWEST_ERRORS,
    OperatingPoint,
    at_fmr,
    threshold_key,
    with_enough_pairs,
)
from fastfair.error_rates.rates import ERROR_RATES, Rates, concentration, counts_behind, rates_at_key
from fastfair.errors import InputError, visible
from fastfair.intervals import Method
from fastfair.pages.drawings import drawing, svg_of
from fastfair.pages.parts import Chapter, Picture, Section, Table
from fastfair.resampling.dependence import CountModel
from fastfair.resampling.engine import NO_METRICS, Replicates, Resampler, Scheme
from fastfair.resampling.units import UNITS, VECTOR_UNITS, require_units
from fastfair.resampling.vector_replicates import WEIGHTINGS, Draws, PairResampler
from fastfair.results.result import Printed, Result, printed
from fastfair.results.written import UNWRITTEN, nothing
from fastfair.uncertainty.few_errors import (
    MOST_PER_ERROR,
    OF_FEW_SUBJECTS,
    FewHeldErrors,
    SampleSizes,
    hangs_on_threshold,
    is_held_by_few_subjects,
    raised_rate,
)
from fastfair.uncertainty.interval_maker import IntervalMaker, level_of_curve
from fastfair.uncertainty.quantities import NARROW, Entry, Quantity, estimates, noted

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
_Result = TypeVar("_Result")
MethodOfEmbeddings = Literal["recentered", "percentile", "basic", "normal", "gaussian"]
METHODS_OF_EMBEDDINGS: tuple[MethodOfEmbeddings, ...] = get_args(MethodOfEmbeddings)
BAND_METHODS_OF_EMBEDDINGS = ("auto", *METHODS_OF_EMBEDDINGS)
BandZeroPolicy = Literal["keep", "clopper-pearson"]  # which replicates would often do
_LEVELS = 50  # by default: more than a plot shows
_HIGHEST = 0.5, 0.1  # default level, of comparisons and of embeddings, whose pairs below are never kept


@checked
@dataclass(frozen=True)
class BandSettings:
    """What a band is rarely asked to do in another way: how intervals are made, and measures defined.

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
    scheme : {"dyadic", "product"}
        As in `EvaluationSettings`.
    weighting : {"identity", "comparison"}, optional
        "identity", the default for embeddings, gives every subject, and every pair of subjects, the same weight;
        "comparison", the only one for comparisons, gives every comparison the same weight.
    alpha : float, default 0.5
        Weight of false matches in measures of both rates, in [0, 1].
    zero_policy : {"keep", "clopper-pearson"} or float
        What replaces a group's rate of 0 in measures that divide by it; see `measures.replace_zeros`.

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

    method: str = "auto"
    scheme: Scheme = "dyadic"
    weighting: str | None = None
    alpha: float = 0.5
    zero_policy: BandZeroPolicy | float = "keep"


class BandOptions(TypedDict, total=False):
    """The arguments that all bands have besides their settings, as `roc_band` describes them."""

    unit: str
    n_resamples: int | None
    confidence_level: float
    rng: seeds.Seed
    n_threads: int | None
    progress: bool | Callable[[int, int], None]
    executor: Any


@dataclass(frozen=True, kw_only=True)
class BandRequest(BandSettings):
    """The arguments of a band, checked, with the defaults for comparisons or for embeddings filled in."""

    weighting: str
    unit: str
    n_resamples: int
    confidence_level: float
    rng: int | np.random.SeedSequence
    workers: Workers

    @classmethod
    def checked(cls, data: Comparisons | Embeddings, settings: BandSettings, options: BandOptions) -> BandRequest:
        """Check the arguments, some of which only comparisons or only embeddings allow."""
        usual, units, weightings, methods = (
            (1000, VECTOR_UNITS, WEIGHTINGS, BAND_METHODS_OF_EMBEDDINGS)
            if isinstance(data, Embeddings)
            else (2000, UNITS, WEIGHTINGS[1:], ("auto", *intervals.METHODS_FOR_ANYTHING))
        )
        unit = validation.choice("unit", options.get("unit", "subject"), units)
        validation.choice("method", settings.method, methods)
        weighting = validation.choice("weighting", settings.weighting or weightings[0], weightings)
        n_resamples = options.get("n_resamples")
        n_resamples = validation.count("n_resamples", usual if n_resamples is None else n_resamples)
        if n_resamples < 2:
            raise InputError("a band needs replicates: n_resamples must be at least 2")
        if isinstance(data, Comparisons):
            require_units(data, unit)
        rng = options.get("rng")
        workers = Workers(options.get("n_threads"), options.get("progress", False), options.get("executor"))
        return cls(
            method=settings.method, scheme=settings.scheme if unit == "subject" else "product", weighting=weighting,
            alpha=settings.alpha, zero_policy=settings.zero_policy, unit=unit, n_resamples=n_resamples,
            confidence_level=intervals.level(options.get("confidence_level", 0.95)), workers=workers.checked(rng),
            rng=seeds.fixed(rng),
        )  # fmt: skip

    @property
    def key(self) -> NDArray[np.uint32]:
        """(2,) key of the random stream."""
        return seeds.stream(self.rng)[0]


@dataclass(frozen=True, eq=False)
class RatesOverLevels:
    """Rates at every level, with their replicates and the data behind them: of all comparisons, then of each group.

    Attributes
    ----------
    levels : (levels,) ndarray
        False match rates held, in the order asked.
    settings : BandRequest
        The arguments of the band.
    estimate, replicates : Replicates
        Rates in the data, and in every replicate, with replicates on the last axis.
    expected : Replicates
        V-statistics, around which the replicates vary. They differ from the estimates where a replicate can pair a
        sample with itself.
    comparisons, subjects : dict of (1 + groups,) ndarray of int
        Numbers of comparisons behind "fmr" and "fnmr", and of subjects who have such; None where these are not known.
    errors : dict of (levels, 1 + groups) ndarray of int
        Numbers of errors; where subjects count alike instead of pairs, as many as would make the rate.
    sizes : callable
        Tells of "fmr" or "fnmr", and a row of the rates, how much data are behind these at all levels.
    concentration : callable or None
        Computes, for the position of a level, the share of the false matches that involve one of few subjects: 5 % of
        them, but no more than a third of the errors. None for embeddings, and without subjects.
    jackknife : callable or None
        Computes the rates with one unit left out at a time, centred on their stratum's mean; None for embeddings.
    count_models : callable
        Estimates how the numbers of errors of groups vary at each level; empty where they cannot be drawn.
    """

    levels: Floats
    settings: BandRequest
    estimate: Replicates
    expected: Replicates
    replicates: Replicates
    comparisons: dict[str, Counts]
    subjects: Mapping[str, Counts | None]
    errors: dict[str, Counts]
    sizes: Callable[[str, int], SampleSizes]
    concentration: Callable[[int], float] | None = None
    jackknife: Callable[[], Replicates] | None = None
    count_models: Callable[[], list[dict[str, CountModel]]] = list

    @property
    def points(self) -> list[OperatingPoint]:
        """The levels as operating points."""
        return _points(self.levels)

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
    if isinstance(data, Embeddings):
        levels = _levels(fmr, data.n_nonmated, _HIGHEST[1])
        return _of_embeddings(data, levels, settings, make, with_groups, with_overall_fmr)
    return make(_of_comparisons(data, _levels(fmr, len(data.nonmated), _HIGHEST[0]), settings, with_groups))


def _of_comparisons(data: Comparisons, levels: Floats, settings: BandRequest, with_groups: bool) -> RatesOverLevels:
    cells = [None, *((k, k) for k in range(len(data.groups) if with_groups else 0))]
    resampler = Resampler(
        data, _points(levels), unit=settings.unit, scheme=settings.scheme, metrics=NO_METRICS,
        with_groups=with_groups, workers=settings.workers,
    )  # fmt: skip
    rates = _rates(resampler)

    def within_groups(found: Replicates) -> Replicates:
        return Replicates(found.threshold, found.fmr[:, : len(cells)], found.fnmr[:, : len(cells)])

    def jackknife() -> Replicates:
        found, influences = within_groups(resampler.jackknife(settings.workers.n_threads)), resampler.influences
        return Replicates(influences(found.threshold), influences(found.fmr), influences(found.fnmr))

    def sizes(name: str, row: int) -> SampleSizes:
        return SampleSizes.of(_entries(name, row, rates), resampler)

    def concentrated(level: int) -> float:
        return concentration(data, rates[level], mated=False, most_per_error=MOST_PER_ERROR)[0]

    behind = {
        name: [[counts_behind(of_level.counts, name == "fnmr", cell) for cell in cells] for of_level in rates]
        for name in ERROR_RATES
    }  # of each level and row: numbers of comparisons, of errors and of subjects
    known, estimate = data.subjects is not None, within_groups(estimates(rates, {}, ()))
    return RatesOverLevels(
        levels, settings, estimate, estimate,
        within_groups(resampler.replicate(settings.n_resamples, settings.key, settings.workers)),
        comparisons={name: np.array([n for n, _, _ in found[0]]) for name, found in behind.items()},
        subjects={name: np.array([n for _, _, n in found[0]]) if known else None for name, found in behind.items()},
        errors={name: np.array([[n for _, n, _ in row] for row in found]) for name, found in behind.items()},
        sizes=cache(sizes),
        concentration=concentrated if known else None,
        jackknife=jackknife,
        count_models=resampler.count_models,
    )  # fmt: skip


def _of_embeddings(
    data: Embeddings,
    levels: Floats,
    settings: BandRequest,
    make: Callable[[RatesOverLevels], _Result],
    with_groups: bool,
    with_overall_fmr: bool,
) -> _Result:
    ascending, places = np.unique(levels, return_inverse=True)
    if ascending[0] == 0:
        raise InputError("fmr must be above 0 for embeddings, of which only the most similar non-mated pairs are kept")
    resampler = PairResampler(
        data, ascending, Draws(settings.weighting, settings.unit, settings.scheme), with_groups=with_groups,
        with_overall_fmr=with_overall_fmr, workers=settings.workers,
    )  # fmt: skip

    def as_asked(rates: Replicates) -> Replicates:
        return Replicates(rates.threshold[places], rates.fmr[places], rates.fnmr[places])

    estimate, expected_fnmr = resampler.estimate()
    replicates = as_asked(resampler.replicate(settings.n_resamples, settings.key, settings.workers))
    estimate = replace(estimate, threshold=resampler.typed(estimate.threshold))
    estimate, expected = map(as_asked, (estimate, replace(estimate, fnmr=expected_fnmr)))
    of_mated, inside = data.pairs[0].of_subjects(), np.ones((1, data.subjects.size), bool)
    if with_groups:
        inside = np.concatenate((inside, data.subject_group == np.arange(len(data.groups))[:, None]))
    n_nonmated = np.array([data.pairs[1].of_subjects(some).sum() // 2 for some in inside])
    comparisons = {"fmr": n_nonmated, "fnmr": inside @ of_mated}
    have_some = {"fmr": data.n_samples > 0, "fnmr": of_mated > 0}
    subjects = {name: np.count_nonzero(inside & some, axis=1) for name, some in have_some.items()}
    draws_subjects = settings.unit != "sample"
    few = np.flatnonzero(levels * data.n_nonmated < ENOUGH_ERRORS)

    def sizes(counted: Resampler | None, at_few: list[Rates], name: str, row: int) -> SampleSizes:
        """Tell how much data are behind rates.

        counted, at_few: the pairs near the errors, all of which count alike, and their rates at levels of few errors.
        """
        rates, mated, n = getattr(estimate, name)[:, row], name == "fnmr", int(comparisons[name][row])
        n_strata = np.unique(data.subject_group[inside[row]]).size
        freedom = max(subjects[name][row] - n_strata, 1.0) if draws_subjects else np.inf
        # An FNMR has at most the degrees of freedom of the FMR of all pairs, which holds its threshold.
        freedom = np.maximum(np.minimum(freedom, resampler.shrinkage.freedom[0 if mated else row, places]), 1)
        effective = np.where((rates > 0) & (rates < 1), np.nan, n)
        raised, few_held, numbers = np.full(levels.size, np.nan), None, np.full(levels.size, -1)
        if n and mated and draws_subjects:
            of_subjects = of_mated[inside[row]].astype(np.float64)
            attempts = float((of_subjects**2).sum()) / n
            raised = np.array([raised_rate(x, n, attempts) for x in rates.tolist()])
        if n and counted is not None and (rates == 0).any():
            effective[rates == 0] = counted.effective_sample_size(mated, (row - 1, row - 1) if row else None)
        if counted is not None and few.size:
            few_held = FewHeldErrors(_entries(name, row, at_few), counted)
            numbers[few] = np.arange(few.size)
        return SampleSizes(freedom, effective, raised, few_held, numbers.tolist(), settings.unit)

    found = RatesOverLevels(
        levels, settings, estimate, expected, replicates, comparisons, subjects,
        errors={name: _errors_behind(getattr(estimate, name), n) for name, n in comparisons.items()},
        sizes=partial(sizes, None, []),
    )  # fmt: skip
    without_errors = any(
        ((rates == 0) & (n > 0)).any() for rates, n in ((getattr(estimate, name), n) for name, n in comparisons.items())
    )
    if not draws_subjects or not (few.size or without_errors):
        return make(found)
    workers = Workers(settings.workers.n_threads)
    # Without operating points of few errors, one with five tells the effective sample size of rates without any.
    points = _points(levels[few] if few.size else np.array([min(0.5, FEWEST_ERRORS / data.n_nonmated)]))

    def of_scan(scans: list[ScannedComparisons]) -> _Result:
        counted = Resampler(scans[0].kept, points, metrics=NO_METRICS, with_groups=with_groups, workers=workers)
        return make(replace(found, sizes=cache(partial(sizes, counted, _rates(counted)))))

    return with_enough_pairs([data], points, False, of_scan, workers)


def _points(levels: Floats) -> list[OperatingPoint]:
    return [at_fmr(level) for level in levels.tolist()]


def _rates(resampler: Resampler) -> list[Rates]:
    """Compute the rates at the thresholds of a resampler's operating points."""
    comparisons = resampler.comparisons
    return [rates_at_key(comparisons, point, threshold_key(comparisons, point)) for point in resampler.points]


def _entries(name: str, row: int, rates: Sequence[Rates]) -> list[Entry]:
    """List the rate of a row at each operating point."""
    if row == 0:
        return [Entry(name, None, k, getattr(of_point, name)) for k, of_point in enumerate(rates)]
    cell = row - 1, row - 1
    return [
        Entry(name, of_point.groups[row - 1], k, getattr(of_point, f"group_{name}")[row - 1], cell)
        for k, of_point in enumerate(rates)
    ]


def _errors_behind(rates: Floats, n: Counts) -> Counts:
    """Return as many errors of n comparisons as would make rates; at least one, and not all, of one between 0 and 1."""
    errors = np.rint(np.nan_to_num(rates) * n).astype(np.int64)
    return np.where((rates > 0) & (rates < 1), np.clip(errors, 1, np.maximum(n - 1, 1)), errors)


def _levels(fmr: ArrayLike | None, n_nonmated: int, highest: float) -> Floats:
    if fmr is None:
        return np.unique(np.geomspace(min(highest, ENOUGH_ERRORS / n_nonmated), highest, _LEVELS))
    return checked_levels(fmr)


def checked_levels(fmr: ArrayLike) -> Floats:
    """Check the false match rates to hold; those asked twice count once."""
    levels = np.atleast_1d(validation.numbers_of("fmr", fmr))
    if levels.ndim != 1:
        raise InputError(f"fmr must be a list of rates, but its shape is {levels.shape}")
    checked = [validation.fraction("fmr", level) + 0.0 for level in levels.tolist()]  # not -0.0
    return np.array(list(dict.fromkeys(checked)))


Range = tuple[Floats, Floats]  # the lower and the upper end
_ABOUT_V_STATISTIC = ("recentered", "gaussian")  # methods that evaluations do not have
_MOST_SHOWN = 8  # FMRs in a notebook's table
_MOST_ON_PAGES = 12  # FMRs in a page's table
_ENDS = ("low", "high", "band_low", "band_high")
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

    @abstractmethod
    def _values(self) -> tuple[str, Floats, Sequence[str]]:
        """Return the name of the quantity, its values and, where there is one for each group, the groups."""

    def _sentences(self) -> list[str]:
        return [
            f"{self._values()[0]} at {self.fmr.size} FMRs from {self.fmr.min():.3g} to {self.fmr.max():.3g}, with "
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
        for label, array in ((name.lower(), values), *((end, getattr(self, end)) for end in _ENDS)):
            of_each = {label: array} if array.ndim == 1 else {f"{label} of {group}": array[:, k] for k, group in
                                                             enumerate(groups)}  # fmt: skip
            columns |= {one: part.tolist() for one, part in of_each.items()}
        return columns

    def _places(self, most: int) -> NDArray[np.intp]:
        """Choose FMRs from the whole range."""
        return np.unique(np.linspace(0, self.fmr.size - 1, min(most, self.fmr.size)).round().astype(np.intp))

    @drawing()
    def _chapter(self) -> Chapter:
        settings = {"confidence_level": self.confidence_level, "replicates": self.n_resamples}
        title = f"{self._question()} over FMR"
        return Chapter(title, self._shown()[0], [self._section(None)], settings, self.to_json())

    def _section(self, levels: Sequence[float] | None) -> Section:
        """Write the part of a page about this curve, with a table of the levels given or of some of all."""
        name, values, groups = self._values()
        title = self._question()
        size = _SIZE if values.ndim == 1 else (_SIZE[0], _SIZE[1] + _LEGEND_LINE * min(len(groups), _MOST_SHOWN))
        ax = self.plot(new_axes(size), **({"color": USUAL} if values.ndim == 1 else {}))
        for axis in (ax.xaxis, ax.yaxis) if name == "FNMR" else (ax.xaxis,):
            rate_ticks(axis)
        alt = f"{title} over FMR, with intervals and a band. The table below has the numbers."
        caption = "Darker: the interval at each FMR on its own; lighter: the band that holds the whole curve."
        picture = Picture(svg_of(ax.figure), alt, caption)
        places = self._places(_MOST_ON_PAGES) if levels is None else np.flatnonzero(np.isin(self.fmr, levels))
        heads = [title, "Band of the whole curve"] if values.ndim == 1 else list(map(visible, groups))
        rows = [[per_cent(self.fmr[k]), cell(float(self.threshold[k])), *self._cells(name, k)] for k in places]
        caption = f"{title} at FMRs, with {100 * self.confidence_level:g} % intervals in brackets"
        table = Table(caption, ["FMR", "Threshold", *heads], rows)
        return Section(title, [visible(self.note)] if self.note else [], [picture], [table])

    def _cells(self, name: str, k: int) -> list[str]:
        """Write the value at a level with its interval, and the band; or the value of each group."""
        values = self._values()[1]
        if values.ndim > 1:
            each = zip(values[k].tolist(), self.low[k].tolist(), self.high[k].tolist(), strict=True)
            return [number_with_interval(*one) for one in each]
        value, low, high, *band = (
            float(array[k]) for array in (values, self.low, self.high, self.band_low, self.band_high)
        )
        if name == "FNMR":
            return [rate_with_interval(value, low, high), interval_of_rate(*band)]
        return [number_with_interval(value, low, high), number_with_interval(value, *band).partition(" ")[2] or "–"]


@dataclass(frozen=True)
class BandQuantity(Quantity):
    """A quantity at one FMR, with its simultaneous band.

    Attributes
    ----------
    uncertainty : float
        Standard deviation of the replicates divided by the estimate.
    v_statistic : float
        The value around which the replicates vary.
    band_low, band_high : float
        Simultaneous band, which holds the quantity at all FMRs of the call together.
    """

    uncertainty: float = float("nan")
    v_statistic: float = float("nan")
    band_low: float = float("nan")
    band_high: float = float("nan")


# The quantity at each level, and of each group if it has one value for each; its values; and the fields of a `Curve`.
Banded = tuple[list[BandQuantity], Floats, dict[str, Any]]


def rate_curve(found: RatesOverLevels, name: str, row: int = 0, group: str | None = None) -> Banded:
    """Compute an error rate at every level, with its intervals, as `evaluate` does, and its simultaneous band.

    The band is made of the intervals of a higher confidence level, that at which replicates of the whole curve stay
    within so many standard errors [1]_. An FNMR cannot rise with the FMR that is held, so
    the upper end of the band is at least that of all higher FMRs, and the lower end at most that of all lower ones. A
    group's FMR cannot fall: its band is widened the other way round.

    Parameters
    ----------
    found : RatesOverLevels
        The rates.
    name : {"fmr", "fnmr"}
        The rate.
    row, group : int, str or None
        The place of the group whose rate it is in `found`, and its name; 0 and None for all comparisons.

    Returns
    -------
    Banded

    References
    ----------
    .. [1] Montiel Olea and Plagborg-Moeller, "Simultaneous confidence bands: theory, implementation, and an
       application to SVARs", Journal of Applied Econometrics 34 (2019).
    """

    def rate(rates: Replicates) -> Floats:
        return np.asarray(getattr(rates, name)[:, row])

    settings, jackknife = found.settings, found.jackknife
    level, method = settings.confidence_level, settings.method
    value, expected, drawn = map(rate, (found.estimate, found.expected, found.replicates))
    centred = recentered(drawn, value, expected)
    n, subjects = int(found.comparisons[name][row]), found.subjects[name]
    rates = [
        Quantity(
            name, group, point, x, n_comparisons=n, n_errors=n_errors,
            n_subjects=None if subjects is None else int(subjects[row]), note="" if n else "no comparisons",
        )
        for point, x, n_errors in zip(found.points, value.tolist(), found.errors[name][:, row].tolist(), strict=True)
    ]  # fmt: skip
    quantities = noted_narrow(found, rates, hangs_on_threshold(centred, found.replicates.threshold))
    maker = partial(
        IntervalMaker, tuple(quantities), sizes=found.sizes(name, row),
        jackknife=None if jackknife is None else lambda: rate(jackknife()), n_threads=settings.workers.n_threads,
    )  # fmt: skip
    about_estimate = maker(centred)
    of_curve = level_of_curve(centred, value, level)
    band = _one_way(found.levels, *ends_of(about_estimate.with_intervals(of_curve, "auto")), rising=name == "fmr")
    if method in ("auto", *_ABOUT_V_STATISTIC):
        pointwise = about_estimate.with_intervals(level, "auto")
    else:
        pointwise = maker(drawn).with_intervals(level, method)
    low, high = ends_of(pointwise)
    if method in _ABOUT_V_STATISTIC:
        inside = (value > 0) & (value < 1)
        ends = np.clip(interval(drawn, value, expected, level, method), 0, 1)
        low, high = np.where(inside, ends, (low, high))
        pointwise = tuple(replace(q, method=method) if at else q for q, at in zip(pointwise, inside, strict=True))
    return banded(found, pointwise, (value, expected, drawn), (low, high), band)


def curve_by_quantiles(
    found: RatesOverLevels,
    quantities: Sequence[Quantity],
    quantity: Callable[[Replicates], Floats],
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> Banded:
    """Compute thresholds, or a measure from rates, at every level, with intervals by any method that has no test.

    Parameters
    ----------
    found : RatesOverLevels
        The rates.
    quantities : sequence of Quantity
        The quantity at each level, and of each group if it has one value for each, without intervals.
    quantity : callable
        Computes (levels, ...) values from rates, with replicates on the last axis where the rates have them.
    bounds : tuple of float
        Least and largest possible value.

    Returns
    -------
    Banded
    """
    value, expected, drawn = map(quantity, (found.estimate, found.expected, found.replicates))
    level, method, jackknife = found.settings.confidence_level, found.settings.method, found.jackknife
    method = "percentile" if method == "auto" else method
    left_out = quantity(jackknife()) if jackknife and method == "bca" else None
    pointwise = interval(drawn, value, expected, level, method, left_out)
    curves = recentered(drawn, value, expected) if method in _ABOUT_V_STATISTIC else drawn
    low, high = simultaneous_band(curves, level)
    ends = [np.clip(end, *bounds) for end in (*pointwise, low, high)]
    return banded(found, quantities, (value, expected, drawn), (ends[0], ends[1]), (ends[2], ends[3]))


def whole_curves(replicates: Floats) -> tuple[NDArray[np.bool_], Floats]:
    """Return which values are computable in most replicates, and these in the replicates in which all of them are."""
    known = ~np.isnan(replicates)
    often = known.mean(axis=-1) > 0.5
    return often, replicates[often][:, known[often].all(axis=0)]


def simultaneous_band(replicates: Floats, level: float) -> Range:
    """Compute the simultaneous band of the values that are computable in most replicates."""
    often, curves = whole_curves(replicates)
    low, high = np.full((2, *often.shape), np.nan)
    if curves.size and curves.shape[1] > 1:
        low[often], high[often] = intervals.simultaneous_band(curves, level)
    return low, high


def banded(
    found: RatesOverLevels,
    quantities: Sequence[Quantity],
    values: tuple[Floats, Floats, Floats],
    pointwise: Range,
    band: Range,
) -> Banded:
    """Put together what was computed of a quantity: `values` in the data, the V-statistics and the replicates."""
    value, expected, drawn = values
    error = intervals.standard_error(drawn)
    with np.errstate(invalid="ignore", divide="ignore"):
        uncertainty = error / value
    numbers = dict(zip(_ENDS, (*pointwise, *band), strict=True))
    numbers |= {"uncertainty": uncertainty, "v_statistic": expected}
    of_rows = {**numbers, "standard_error": error, "not_computable": 1 - np.isfinite(drawn).mean(axis=-1)}
    rows = [
        BandQuantity(**{**vars(quantity), **dict(zip(of_rows, row, strict=True))})
        for quantity, *row in zip(quantities, *(array.ravel().tolist() for array in of_rows.values()), strict=True)
    ]
    return rows, value, {
        "fmr": found.levels,
        "threshold": found.estimate.threshold,
        **numbers,
        "replicates": np.moveaxis(drawn, -1, 0),
        "n_resamples": drawn.shape[-1],
        "confidence_level": found.settings.confidence_level,
        "note": _note_of(quantities),
    }  # fmt: skip


def _note_of(quantities: Sequence[Quantity]) -> str:
    """Put together what the quantities' notes say, and at which levels if not at all."""
    said: dict[str, set[float]] = {}
    levels = {quantity.at.value for quantity in quantities if quantity.at is not None}
    for quantity in quantities:
        if quantity.note and quantity.at is not None:
            said.setdefault(quantity.note, set()).add(quantity.at.value)

    def where(at: set[float]) -> str:
        if at == levels:
            return ""
        return f"FMR {min(at):.3g}" + (f" to {max(at):.3g}" if len(at) > 1 else "") + ": "

    return "; ".join(where(at) + note for note, at in said.items())


def noted_narrow(
    found: RatesOverLevels, quantities: Sequence[Quantity], asked: NDArray[np.bool_]
) -> Sequence[Quantity]:
    """Note at which of the levels asked few subjects cause most of the false matches that hold the threshold."""
    if found.concentration is None:
        return quantities
    sizes, concentration = found.sizes("fmr", 0), found.concentration
    narrow = [
        bool(level)
        and not (sizes.few_held and sizes.few_held.holds(k))
        and is_held_by_few_subjects(sizes.degrees_of_freedom[k], concentration(k))
        for k, level in enumerate(asked)
    ]
    n_each = len(quantities) // found.levels.size
    return [noted(q, OF_FEW_SUBJECTS, NARROW) if narrow[k // n_each] else q for k, q in enumerate(quantities)]


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
