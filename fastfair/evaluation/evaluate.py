"""`evaluate`: error rates, fairness measures and their intervals from comparisons, in one call."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal, TypeVar, overload

import numpy as np

from fastfair import intervals
from fastfair._lib import seeds, validation
from fastfair._lib.arguments import Resamples, Share, checked
from fastfair._lib.arrays import Floats, Integers, RandomKey
from fastfair._lib.text import per_cent
from fastfair._lib.threads import meanwhile
from fastfair._lib.warnings import hold_warnings, warn
from fastfair._lib.workers import Checkpoint, Executor, Workers
from fastfair.data.checks import LOG_LIKELIHOOD_RATIO
from fastfair.data.comparisons import Comparisons, keys_of
from fastfair.data.embeddings import Embeddings
from fastfair.data.scans import ScannedComparisons
from fastfair.data.sorted_scores import ClassKeys, require_scores
from fastfair.error_rates import score_metrics
from fastfair.error_rates.operating_points import (
    ENOUGH_ERRORS,
    OperatingPoint,
    at_fmr,
    at_mean_group_eer,
    at_threshold,
    threshold_key,
)
from fastfair.error_rates.rates import (
    ERROR_RATES,
    Rates,
    concentration,
    concentration_in_cells,
    counts_behind,
    rates_at_key,
)
from fastfair.error_rates.scans_of_vectors import with_enough_pairs
from fastfair.error_rates.score_metrics import (
    NO_CLLR,
    Costs,
    EerMethod,
    ratio_costs_of_groups,
    require_eer,
)
from fastfair.errors import (
    DroppedWarning,
    EmptyGroupWarning,
    InputError,
    NarrowIntervalsWarning,
    ReversedScoresWarning,
)
from fastfair.intervals import MethodOfEvaluations
from fastfair.measures._fairness import KINDS, ZeroPolicy
from fastfair.measures._registry import (
    ACCURACY,
    AT_POINTS,
    MEASURES,
    TRUE_MATCHES,
    Measure,
    measure_name,
    measure_of,
    printed_name,
    quantity_name,
)
from fastfair.resampling.engine import (
    METRICS,
    NO_METRICS,
    Metric,
    Metrics,
    Replicates,
    Resampler,
    Scheme,
    different_groups,
)
from fastfair.resampling.linearized_rates import LinearizedRates
from fastfair.resampling.units import Unit, require_units
from fastfair.uncertainty.few_errors import (
    MOST_PER_ERROR,
    SampleSizes,
    hangs_on_threshold,
    is_held_by_few_subjects,
)
from fastfair.uncertainty.interval_maker import IntervalMaker, require_method, two_sided_level
from fastfair.uncertainty.inversion import (
    AlikeGroups,
    CountedSystems,
    MeasureInversion,
    MovedSystems,
)
from fastfair.uncertainty.notes import ENOUGH_EFFECTIVE_ERRORS, Code, Note
from fastfair.uncertainty.quantities import (
    RATES,
    Entry,
    Quantity,
    Selection,
    entries,
    estimates,
    noted,
    numbers,
    sizes_of_groups,
    warn_of_narrow,
    with_successes,
)
from fastfair.uncertainty.sessions import noted_effects, without_pvalues

from .counted_rates import (
    AT,
    CountedRates,
    counted_rates,
    require_groups_of_counts,
    require_no_point,
    unit_of_counts,
)
from .failure_counts import FailureCounts
from .failures import Failures
from .result import Alternative, Evaluation

IncompleteGroups = Literal["raise", "drop", "nan"]
_Metrics = Literal["auto", "all", Metric, "accuracy", "tmr"]
_Found = TypeVar("_Found")
METRICS_OF_SCANS = ("eer", "min_dcf", "cllr")  # Cllr only where the scan keeps all scores
# Where failed comparisons, which have no score, count as non-matches.
METRICS_WITH_FAILURES = ("eer", "min_dcf")
_WITH_FAILURES = (*METRICS_WITH_FAILURES, *AT_POINTS)
BY_NAME_ALONE = ("auc", "d_prime")  # which "auto" leaves out: they say nothing of a threshold
USUAL_METRICS = METRICS_OF_SCANS[:-1]  # of any scores, and of vectors without a list of all pairs


# Names of the settings that a result lists always, and of those that it lists with intervals.
_REPORTED_ALWAYS = (
    "alpha",
    "eer_method",
    "p_target",
    "c_miss",
    "c_fa",
    "normalize",
    "zero_policy",
    "incomplete_groups",
    "n_resamples",
)
_REPORTED_WITH_INTERVALS = ("unit", "confidence_level", "method", "alternative", "simultaneous")


def as_names(names: str | Sequence[str]) -> Sequence[str]:
    """Return one name, or several, as a list."""
    return [names] if isinstance(names, str) else list(names or ())


def _measure_names(measures: str | Sequence[str], groups: Sequence[str]) -> Sequence[str]:
    if isinstance(measures, str) and measures == "all":
        return list(MEASURES) if groups else []
    names = [measure_name(name) for name in as_names(measures)]
    if names and not groups:
        raise InputError(
            f"{names[0]} is a measure over groups, but the comparisons have none: give"
            " ⟦reference_group⟧"
        )
    return names


def _measures_of_class(
    names: Sequence[str], asked: Sequence[str], comparisons: Comparisons
) -> tuple[str, ...]:
    """Return the measures that comparisons have where all are of one class, else all; refuse others
    that were asked for.
    """
    lacking = [
        name
        for name in names
        if comparisons.lacks_rate and comparisons.rates.isdisjoint(MEASURES[name].of)
    ]
    if lacking and "all" not in asked:
        comparisons._require_rates(f"the measure {lacking[0]}")
    return tuple(name for name in names if name not in lacking)


def _complete_groups(comparisons: Comparisons, policy: str) -> list[int]:
    """Return the positions of the groups that the fairness measures compare."""
    if not comparisons.groups:
        return []
    sizes = [
        np.diagonal(side.cells).tolist()
        for side in (comparisons.mated_by_group, comparisons.nonmated_by_group)
    ]
    enough = any if comparisons.lacks_rate else all
    lacking = {
        group: numbers
        for group, *numbers in zip(comparisons.groups, *sizes, strict=True)
        if not enough(numbers)
    }
    everything = list(range(len(comparisons.groups)))
    if not lacking:
        return everything
    numbers_in_words = "; ".join(
        f"{group!r} has {numbers[0]} mated and {numbers[1]} non-mated"
        for group, numbers in lacking.items()
    )
    if policy == "raise":
        raise InputError(
            f"{len(lacking)} of {len(everything)} groups"
            f" {'lacks' if len(lacking) == 1 else 'lack'} comparisons within the group, and so an"
            " FMR, FNMR or "
            f'EER: {numbers_in_words}. Merge groups, or pass ⟦incomplete_groups="drop"⟧ (leave them out of the'
            ' measures) or "nan"'
        )
    if policy == "nan":
        warn(f"measures are NaN, as groups lack comparisons: {numbers_in_words}", EmptyGroupWarning)
        return everything
    kept = [k for k in everything if comparisons.groups[k] not in lacking]
    if not kept:
        raise InputError(
            f"no group has both mated and non-mated comparisons of its own: {numbers_in_words}"
        )
    warn(f"left out of the measures: {numbers_in_words}", DroppedWarning)
    return kept


@checked
@dataclass(frozen=True)
class EvaluationSettings:
    """Settings of `evaluate` that are rarely changed: how intervals are made, and quantities
    defined.

    Attributes
    ----------
    method : {"auto", "percentile", "basic", "normal", "bca", "dyadic"}
        How intervals are computed from replicates. "auto" uses the method that simulations found
        right for each kind of quantity: "logit" for rates and EERs, test inversion for fairness
        measures, "log" for minDCF, min Cllr and groups' ratios to the average, and "percentile" for
        all others. "dyadic" is a method for false match rates; with it, all other quantities get
        "percentile".

        The methods are those of `intervals.confidence_interval`.
    scheme : {"dyadic", "product"}
        How a comparison of two subjects is weighted. "product" multiplies the subjects' weights,
        which overstates the spread of false match rates; "dyadic" shrinks this product until
        replicates have the dyadic-robust variance. Samples always use plain products.
    simultaneous : bool, default False
        Whether the intervals of a quantity at an operating point hold in all groups together, at
        the confidence level. They are wider then, and meant for looking at groups side by side.
        Those of all comparisons stay as they are.
    alpha : float, default 0.5
        Weight of false matches in measures that take both rates, in [0, 1].
    eer_method
        As in `eer`.
    zero_policy : {"keep", "raise", "clopper-pearson"} or float
        What ratio measures do with groups' FMRs and FNMRs of zero. A group's EER, minDCF or Cllr of
        zero is kept. "raise" refuses zeros in the data, and keeps them in replicates.

        As in `measures.replace_zeros`.
    incomplete_groups : {"raise", "drop", "nan"}
        What to do with groups that have no mated, or no non-mated, comparisons of their own: raise
        an error; leave them out of the fairness measures, with a warning; or make the measures NaN,
        with a warning.

    Examples
    --------
    >>> import fastfair as ff
    >>> ff.EvaluationSettings(alpha=0.25, incomplete_groups="drop").alpha
    0.25
    """

    method: MethodOfEvaluations = "auto"
    scheme: Scheme = "dyadic"
    simultaneous: bool = False
    alpha: Share = 0.5
    eer_method: EerMethod = "nearest"
    zero_policy: ZeroPolicy | float = "keep"
    incomplete_groups: IncompleteGroups = "raise"


@checked
@dataclass(frozen=True)
class MeasureSettings:
    """Settings of `check` that are rarely changed: how quantities are defined.

    Attributes
    ----------
    alpha, eer_method, zero_policy
        As in `EvaluationSettings`.
    costs : Costs
        As in `min_dcf`.

    Examples
    --------
    >>> import fastfair as ff
    >>> ff.MeasureSettings(alpha=0.25).zero_policy
    'keep'
    """

    alpha: Share = 0.5
    eer_method: EerMethod = "nearest"
    zero_policy: ZeroPolicy | float = "keep"
    costs: Costs = Costs()  # noqa: RUF009 - frozen


@dataclass(frozen=True, kw_only=True)
class Request(EvaluationSettings):
    """The arguments of `evaluate`, as described there; the method `checked` validates them.

    Attributes
    ----------
    among : tuple of str or None
        Groups of which the fairness measures compare those that are there; all by default.
    measured : tuple of int
        Positions of the groups that the fairness measures compare; set by `checked`.
    """

    at: OperatingPoint | Sequence[OperatingPoint]
    measures: str | Sequence[str]
    metrics: str | Sequence[str]
    costs: Costs
    unit: str
    n_resamples: int
    confidence_level: float
    alternative: str = "two-sided"
    among: tuple[str, ...] | None = None
    measured: tuple[int, ...] = ()

    @property
    def points(self) -> tuple[OperatingPoint, ...]:
        """The operating points, without repetitions."""
        return tuple(dict.fromkeys([self.at] if isinstance(self.at, OperatingPoint) else self.at))

    @property
    def score_metrics(self) -> tuple[str, ...]:
        """The metrics that need no operating point."""
        return tuple(name for name in as_names(self.metrics) if name not in AT_POINTS)

    @property
    def needs_all_pairs(self) -> bool:
        """Whether what is asked of vectors needs a list of all their pairs.

        "all" metrics do not, as they are the others where Cllr and min Cllr would need one.
        """
        listed = (
            bool({"cllr", "min_cllr", *BY_NAME_ALONE} & set(as_names(self.metrics)))
            or self.eer_method == "convex-hull"
        )
        return listed or self.unit != "subject" or not self.n_resamples

    @property
    def with_metrics(self) -> bool:
        """Whether thresholds of EERs or minimum costs are looked for."""
        with_own_threshold = {
            "all",
            *(name for name, measure in MEASURES.items() if measure.own_threshold),
        }
        return bool(as_names(self.metrics)) or not with_own_threshold.isdisjoint(
            map(quantity_name, as_names(self.measures))
        )

    def checked(self, comparisons: Comparisons) -> Request:
        """Return the arguments checked, with defaults filled in and each name listed once."""
        everything: tuple[str, ...] = METRICS
        if "all scores" in comparisons.lacks:
            everything = USUAL_METRICS if "costs" in comparisons.lacks else METRICS_OF_SCANS
        elif comparisons.failed is not None and comparisons.failed.policy == "non-match":
            everything = METRICS_WITH_FAILURES
        if comparisons.lacks_rate:
            everything = ()
        request = self.resolved(comparisons.groups, everything, comparisons.score_kind)
        measures = _measures_of_class(request.measures, as_names(self.measures), comparisons)
        request = replace(request, measures=measures)
        for name in request.metrics:
            rates = ("fnmr",) if name == TRUE_MATCHES else ERROR_RATES
            comparisons._require_rates(f"⟦metrics={name}⟧", rates)
            if name not in _WITH_FAILURES:
                require_scores(comparisons.failed, name, NO_CLLR)
        if "eer" in request.metrics:
            require_eer(comparisons, self.eer_method)
        request._check_resampling(comparisons)
        complete = _complete_groups(comparisons, self.incomplete_groups)
        measured = [
            k for k in complete if self.among is None or comparisons.groups[k] in self.among
        ]
        return replace(request, measured=tuple(measured))

    def resolved(
        self, groups: Sequence[str], everything: Sequence[str], score_kind: str = "similarity"
    ) -> Request:
        """Check the arguments as far as that needs no comparisons, only the names of groups, and
        replace "all" and "auto" by names.

        Parameters
        ----------
        groups : sequence of str
            The groups.
        everything : sequence of str
            The metrics that "all" stands for.
        score_kind : str
            That of the comparisons. "auto" stands for "all" where scores are log-likelihood ratios,
            else for the EER and minDCF.
        """
        names = _measure_names(self.measures, groups)
        meant = {
            "all": everything,
            "auto": [
                name
                for name in everything
                if name not in BY_NAME_ALONE
                and (score_kind == LOG_LIKELIHOOD_RATIO or name in USUAL_METRICS)
            ],
        }
        wanted = [name for asked in as_names(self.metrics) for name in meant.get(asked, (asked,))]
        if not self.points and not wanted:
            raise InputError(
                "at is empty: give at least one operating point such as at_fmr(1e-3), or metrics"
            )
        if not isinstance(self.zero_policy, str):
            validation.fraction("⟦zero_policy⟧", self.zero_policy, "(0, 1)")
        if self.n_resamples == 1:
            raise InputError("⟦n_resamples⟧ must be 0, or at least 2: one replicate has no spread")
        if self.alternative != "two-sided":
            two_sided_level(self.confidence_level)
        return replace(
            self,
            at=self.points,
            measures=tuple(dict.fromkeys(names)),
            metrics=tuple(dict.fromkeys(wanted)),
            confidence_level=intervals.level(self.confidence_level),
        )

    def _check_resampling(self, comparisons: Comparisons) -> None:
        needs = {
            "other units": self.unit != "subject",
            "units left out": self.method == "bca",
            "all scores": self.eer_method == "convex-hull",
        }
        comparisons._require(*(need for need, is_needed in needs.items() if is_needed))
        if not self.n_resamples and self.method != "auto":
            raise InputError(f'⟦method="{self.method}"⟧ needs replicates, and ⟦n_resamples⟧ is 0')
        if self.n_resamples:
            require_units(comparisons, self.unit)
            require_method(self.method, self.unit, self.scheme)

    def is_in_closed_form(self, comparisons: Comparisons) -> bool:
        """Return whether rates have intervals without replicates: at a point, of units that are
        known.
        """
        if self.n_resamples or not self.points or "closed forms" in comparisons.lacks:
            return False
        return self.unit == "comparison" or (
            self.unit == "subject" and comparisons.subjects is not None
        )

    def settings(
        self, comparisons: Comparisons, thresholds: Sequence[float], seed: Any
    ) -> dict[str, Any]:
        """List the settings that an evaluation's result reports."""
        values = vars(self) | vars(self.costs)
        settings: dict[str, Any] = {
            "score_kind": comparisons.score_kind,
            "grouping": list(comparisons.grouping),
            "at": [str(point) for point in self.points],
            "thresholds": list(thresholds),
            "measures": list(self.measures),
            "metrics": list(self.metrics),
            **{name: values[name] for name in _REPORTED_ALWAYS},
        }
        if comparisons.failed is not None:
            settings["failures"] = comparisons.failed.policy
        if comparisons.sessions is not None:
            settings["sessions"] = comparisons.sessions.size
        if comparisons.transactions is not None:
            settings["transactions"] = comparisons.transactions.allowed
        if self.n_resamples:
            settings |= {
                "scheme": self.scheme if self.unit == "subject" else "product",
                "rng": seed,
            }
        if self.n_resamples or self.is_in_closed_form(comparisons):
            settings |= {name: values[name] for name in _REPORTED_WITH_INTERVALS}
        return settings


USUAL_POINTS = (at_fmr(1e-3),)


@overload
def evaluate(
    comparisons: FailureCounts,
    at: OperatingPoint | Sequence[OperatingPoint] = ...,
    measures: Measure | Sequence[Measure] = ...,
    *,
    metrics: _Metrics | Sequence[_Metrics] = ...,
    unit: Unit = ...,
    n_resamples: int = ...,
    confidence_level: float = ...,
    alternative: Alternative = ...,
    costs: Costs = ...,
    settings: EvaluationSettings = ...,
    rng: seeds.Seed = ...,
    n_threads: int | None = ...,
    progress: bool | Callable[[int, int], None] = ...,
    executor: Executor | Checkpoint = ...,
) -> CountedRates: ...


@overload
def evaluate(
    comparisons: Comparisons | ScannedComparisons | Embeddings,
    at: OperatingPoint | Sequence[OperatingPoint] = ...,
    measures: Measure | Sequence[Measure] = ...,
    *,
    metrics: _Metrics | Sequence[_Metrics] = ...,
    unit: Unit = ...,
    n_resamples: int = ...,
    confidence_level: float = ...,
    alternative: Alternative = ...,
    costs: Costs = ...,
    settings: EvaluationSettings = ...,
    rng: seeds.Seed = ...,
    n_threads: int | None = ...,
    progress: bool | Callable[[int, int], None] = ...,
    executor: Executor | Checkpoint = ...,
) -> Evaluation: ...


@checked
def evaluate(
    comparisons: Comparisons | ScannedComparisons | Embeddings | FailureCounts,
    at: OperatingPoint | Sequence[OperatingPoint] = USUAL_POINTS,
    measures: Measure | Sequence[Measure] = "all",
    *,
    metrics: _Metrics | Sequence[_Metrics] = "auto",
    unit: Unit = "subject",
    n_resamples: Resamples = 2000,
    confidence_level: float = 0.95,
    alternative: Alternative = "two-sided",
    costs: Costs = Costs(),  # noqa: B008 - frozen
    settings: EvaluationSettings = EvaluationSettings(),
    rng: seeds.Seed = None,
    n_threads: int | None = None,
    progress: bool | Callable[[int, int], None] = False,
    executor: Executor | Checkpoint = None,
) -> Evaluation | CountedRates:
    """Compute error rates, EER, minDCF, Cllr and fairness measures, overall and per group, with
    bootstrap intervals.

    Parameters
    ----------
    comparisons : Comparisons, ScannedComparisons, Embeddings or FailureCounts
        The comparisons to evaluate, or vectors all of whose pairs are. Without groups there are no
        fairness measures. See Notes for scans and vectors, and for counts.
    at : OperatingPoint or sequence of OperatingPoint
        Operating points at which rates, and fairness measures of these, are computed. The threshold
        of each is found from all comparisons, and again in every replicate. Repeated operating
        points count once.

        With `at_threshold` it is given, and is the same in all replicates.
    measures : "all" or sequence of str or function
        Fairness measures, by names or as functions: those of `fastfair.measures`, and your own
        (`measures.measure`).
    metrics : {"auto", "all", "eer", "min_dcf", "cllr", "min_cllr", "auc", "d_prime", "accuracy", "tmr"} or several
        Metrics to compute that need no operating point. "auto" computes the EER and minDCF, and of
        log-likelihood ratios the first four. "all" leaves out what each operating point has:
        "accuracy", the share of right decisions in the mix of comparisons that there is, and "tmr",
        1 - FNMR (TAR, GAR), with its limits.
    unit : {"subject", "comparison", "sample", "subject+sample"}
        The units drawn with replacement: subjects within each group; comparisons, separately for
        mated and non-mated, which makes intervals too narrow where subjects repeat; samples within
        each subject, and of vectors references apart from probes; or subjects, and then samples of
        these.
    n_resamples : int, default 2000
        Number of replicates. With 0, only rates have intervals, in closed form.

        See Notes.
    confidence_level : float, default 0.95
        Confidence level of the intervals, in (0, 1).
    alternative : {"two-sided", "less", "greater"}
        The hypothesis that intervals belong to. "less" gives upper limits: what is claimed to be
        below the limit is so at the confidence level, and the lower end is the least possible
        value. "greater" gives lower limits.

        The words are those of `scipy.stats`.
    costs : Costs
        As in `min_dcf`.
    settings : EvaluationSettings
        How intervals are made and quantities defined, where not in the usual way.
    rng : None, int, SeedSequence or Generator
        Seed of the random numbers. A replicate depends only on the seed and on its own number.
    n_threads : int, optional
        Number of threads; all processors by default. Results are the same to the last bit.

        With an executor, those of each task, 1 by default.
    progress : bool or callable, default False
        Whether to show a progress bar; or a function to call with the numbers of replicates done
        and in all.
    executor : object with a method `submit`, or Checkpoint, optional
        What computes the replicates, as tasks of about a 128th of them: an executor of
        `concurrent.futures`, the Client of Dask, or another one whose `submit` returns such
        futures. Results are the same to the last bit. A `Checkpoint` keeps those that are finished.

    Returns
    -------
    Evaluation
        With its replicates, so that `Evaluation.with_intervals` need not draw them again. Of counts
        `CountedRates`.

    Raises
    ------
    InputError
        For unknown names, percentages in place of rates, measures requested without groups,
        incomplete groups or rates of zero that "raise" refuses, comparisons that lack the units to
        resample, and a checkpoint without `rng`.
    FileFormatError
        For a file of the checkpoint that is damaged or of something else.
    OutputError
        Where the folder of the checkpoint cannot be written to.
    WorkerError
        Where workers of the executor die.

    Warns
    -----
    DroppedWarning
        Names the groups left out.
    EmptyGroupWarning
        Names the groups that make measures NaN: those without comparisons, and of the Sum of Group
        Error Differences those all of whose comparisons failed.
    NarrowIntervalsWarning
        Where intervals are likely to be too narrow, and why.
    ReversedScoresWarning
        For an EER above 50 %, which occurs when distances are taken for similarities.

    Notes
    -----
    In a replicate the weight of a unit is the number of times that it was drawn, and the weight of
    a comparison is the product of its units' weights [1]_. The page "Intervals" of the user guide
    has the formulas, and says when to use which unit, scheme and method.

    Where people share sessions (`Comparisons`), both are drawn, and a comparison is weighted by the
    product, shrunk to the two-way variance of people and sessions [2]_. With fewer than ten
    sessions intervals are flagged, with fewer than four there are none. A note says how much larger
    the standard error is than that of people alone, with the design effects of both.

    Without replicates (``n_resamples=0``), and with subjects or comparisons as units, the intervals
    of FMRs and FNMRs are computed from their standard errors in closed form: of sums over subjects
    for FNMRs, dyadic-robust for FMRs, and with what a threshold that holds a rate adds to either.
    Their method is named "closed form". They are about as wide as those of replicates. EERs, costs,
    thresholds and fairness measures have none, and neither have rates at `at_mean_group_eer`.
    "simultaneous" ones take groups for independent.

    Numbers and intervals of a scan are those of the same comparisons in memory, to the last bit,
    but for limits of rates without errors that rest on scores it has not kept: these are wider. It
    has Cllr only where it was told to keep all scores (``Storage(cllr=True)``), no min Cllr ("all"
    metrics are then the others), no convex hull, no units but subjects, no jackknife of score files
    (``method="bca"``), and no intervals without replicates.

    Of vectors the pairs near the errors are kept, as many as are needed (`Embeddings.scanned`), and
    numbers are those of `Embeddings.comparisons`, to the last bit, but for limits of rates without
    errors of groups so small that a tenth of all pairs has none of theirs in error: these may be
    wider. Quantities that a scan lacks are computed from all pairs, if memory permits; "all"
    metrics are the EER and minDCF. Executors and checkpoints serve similarities, too.

    Counts have no operating point and no metrics: their rate, and measures of it, have the intervals
    of the same decisions with scores, to the last bit. Attempts of people who are not known are
    taken for independent, with Clopper and Pearson's limits.

    References
    ----------
    .. [1] "Assessing Uncertainty in Similarity Scoring: Performance & Fairness in Face Recognition", for embeddings.
    .. [2] Cameron, Gelbach and Miller, "Robust inference with multiway clustering", Journal of Business & Economic
       Statistics 29 (2011).

    Examples
    --------
    >>> import fastfair as ff
    >>> scores = [0.9, 0.3, 0.4, 0.1, 0.8, 0.7, 0.6, 0.2]
    >>> c = ff.Comparisons(scores, [1, 1, 0, 0] * 2, list("abacdede"), list("abbadeed"), list("ffffmmmm"))
    >>> ev = ff.evaluate(c, at=[ff.at_threshold(0.5)], rng=0)
    >>> ev.value("fdr"), ev.value("fnmr", group="f")
    (0.5, 0.5)
    """
    counts = comparisons if isinstance(comparisons, FailureCounts) else None
    names: str | Sequence[str] = metrics
    if counts is not None:
        names = metrics_of_counts(counts, at, metrics, measures)
        at, unit = AT, unit_of_counts(counts, unit)
        if counts.totals and not counts.groups:
            n_resamples = 0  # limits of totals are exact, and there are no measures
    request = Request(
        at=at,
        measures=measures,
        metrics=names,
        costs=costs,
        unit=unit,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        alternative=alternative,
        **vars(settings),
    )
    workers = Workers(n_threads, progress, executor).checked(rng)
    # The same seed with more pairs kept.
    seed = seeds.fix_seed(rng) if isinstance(comparisons, Embeddings) else rng
    if not isinstance(comparisons, FailureCounts):
        return compute_on_comparisons(
            [comparisons],
            request,
            workers,
            lambda given: evaluate_request(given[0], request, workers, seed),
        )
    with hold_warnings():  # which name the rate of the decisions
        evaluation = evaluate_request(comparisons.decisions, request, workers, seed)
    rates = counted_rates(comparisons, evaluation.quantities, evaluation.settings)
    warn_of_narrow(rates.rows)
    return rates


def metrics_of_counts(
    counts: FailureCounts, at: Any, metrics: Any, measures: Any
) -> tuple[str, ...]:
    """Refuse operating points and metrics of counts, which have no scores, and measures of counts
    without groups; return no metrics.
    """
    if not isinstance(measures, str) or measures != "all":
        require_groups_of_counts(counts, as_names(measures))
    if at is not USUAL_POINTS:
        (first, *_) = [at] if isinstance(at, OperatingPoint) else [*at, None]
        require_no_point(first)
    if metrics not in ("auto", "all") and as_names(metrics):
        raise InputError(
            f"⟦metrics={metrics!r}⟧ are of scores, but counts of the {counts.rate_name.upper()} hold"
            " decisions: leave it out"
        )
    return ()


def compute_on_comparisons(
    given: Sequence[Comparisons | ScannedComparisons | Embeddings],
    request: Request,
    workers: Workers,
    compute: Callable[[Sequence[Comparisons | ScannedComparisons]], _Found],
) -> _Found:
    """Compute on comparisons; on those of vectors near the errors, as many as needed, or else on
    all their pairs.
    """
    vectors = [data for data in given if isinstance(data, Embeddings)]
    if len(vectors) == len(given):
        request.resolved(vectors[0].groups, USUAL_METRICS)
        if not request.needs_all_pairs:
            return with_enough_pairs(
                vectors, request.points, request.with_metrics, compute, workers
            )
    listed = [
        (
            data.comparisons(n_threads=workers.n_threads, progress=workers.progress)
            if isinstance(data, Embeddings)
            else data
        )
        for data in given
    ]
    return compute(listed)


@dataclass(frozen=True, eq=False)
class _Estimates:
    """What is estimated of comparisons: every number that is reported, before it has an interval.

    Attributes
    ----------
    comparisons, request
        Those of the evaluation, checked.
    rates : list of Rates
        At each operating point that is asked for.
    at_mean : list of Rates
        At the mean of the groups' EER thresholds, where a measure needs it; else empty.
    selection : Selection
        Which entries there are.
    base : Replicates
        The estimates, without an axis of replicates.
    """

    comparisons: Comparisons
    request: Request
    rates: list[Rates]
    at_mean: list[Rates]
    selection: Selection
    base: Replicates

    @classmethod
    def of(cls, comparisons: Comparisons, request: Request) -> _Estimates:
        """Compute the estimates."""
        rates = [_rates_at(comparisons, point, request.measured) for point in request.points]
        metrics = _metrics(comparisons, request)
        at_mean = []
        with_own_threshold = any(MEASURES[name].own_threshold for name in request.measures)
        if with_own_threshold and _have_eer_thresholds(comparisons, request.measured):
            at_mean = [_rates_at(comparisons, at_mean_group_eer(), request.measured)]
        cells = different_groups(comparisons) if comparisons.groups else ()
        selection = _selection(
            comparisons, request, with_mean_group_eer=bool(at_mean), with_matrix=bool(cells)
        )
        return cls(
            comparisons,
            request,
            rates,
            at_mean,
            selection,
            estimates([*rates, *at_mean], metrics, cells),
        )

    @cached_property
    def entries(self) -> list[Entry]:
        """All numbers in the order in which they are reported."""
        return list(entries(self.base, self.selection))

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """The same, with what is known of each."""
        shares = concentrations(self.comparisons, self.rates)
        described_quantities = (
            quantity_of_entry(entry, self.rates, shares) for entry in self.entries
        )
        return tuple(noted(q, *self._whom) if q.name in RATES else q for q in described_quantities)

    @property
    def _whom(self) -> list[Note]:
        """Notes on whom intervals of rates are about, where it is not other people, or nobody knows
        who they are.
        """
        of_samples = self.request.unit == "sample" and self.request.n_resamples > 0
        codes = [Code.OF_THESE_PEOPLE] * of_samples
        codes += [Code.OF_THIS_COHORT] * self.comparisons.is_normalized
        codes += [Code.OF_PEOPLE_ALONE] * self.comparisons.ignores_sessions
        codes += [Code.TAKEN_FOR_INDEPENDENT] * self.comparisons.is_independent
        return [Note(code) for code in codes]

    @cached_property
    def failures(self) -> Failures | None:
        """Rates of failure and those with failures, where they are reported."""
        failed = self.comparisons.failed
        return Failures(self.comparisons, self.rates) if failed and failed.reported else None

    @property
    def all_quantities(self) -> tuple[Quantity, ...]:
        """The quantities, and those of failures."""
        return (
            self.quantities
            if self.failures is None
            else (*self.quantities, *self.failures.quantities)
        )

    def interval_maker(self, key: RandomKey | None, workers: Workers) -> IntervalMaker | None:
        """Return what makes intervals, of replicates from a random stream or in closed form; None
        without either.
        """
        if key is not None:
            return self._make_from_replicates(key, workers)
        return (
            self._make_in_closed_form(workers)
            if self.request.is_in_closed_form(self.comparisons)
            else None
        )

    def _sizes_behind(self, resampler: Resampler) -> SampleSizes:
        """Compute what intervals need besides replicates."""
        sizes = SampleSizes.of(self.entries, resampler)
        asked = self.request
        if sizes.few_held is not None and asked.method == "auto":
            level = asked.confidence_level
            if asked.alternative != "two-sided":
                level = two_sided_level(level)
            sizes.few_held.limits(range(len(self.quantities)), level)  # which it keeps
        return sizes

    def _make_in_closed_form(self, workers: Workers) -> IntervalMaker:
        request = self.request
        resampler = Resampler(
            self.comparisons,
            request.points,
            unit=request.unit,
            scheme="dyadic",
            metrics=NO_METRICS,
            measured=request.measured,
            workers=workers,
        )
        quantities = noted_effects(self.quantities, self.entries, resampler)
        errors = _standard_errors(self.entries, resampler)
        sizes = SampleSizes.of(self.entries, resampler)
        if self.failures is not None:
            self.failures.prepare(request.unit, request.scheme, workers)
            quantities, sizes, errors = self.failures.with_closed_form(
                quantities, self.entries, sizes, errors
            )
        return IntervalMaker(quantities, standard_errors=errors, sizes=sizes)

    def _make_from_replicates(self, key: RandomKey, workers: Workers) -> IntervalMaker:
        request = self.request
        failures = self.failures
        n_threads = workers.n_threads
        resampler = Resampler(
            self.comparisons,
            [*request.points, *(rates.at for rates in self.at_mean)],
            unit=request.unit,
            scheme=request.scheme,
            metrics=Metrics(request.score_metrics, request.eer_method, request.costs),
            measured=request.measured,
            workers=workers,
        )
        with meanwhile(partial(self._sizes_behind, resampler), n_threads) as made:
            # What a scan lacks is missed before replicates are drawn.
            sizes = made() if self.comparisons.may_keep_more else None
            drawn = resampler.replicate(request.n_resamples, key, workers)
            sizes = sizes or made()
        if failures is not None:
            failures.prepare(request.unit, request.scheme, workers)
        # Zeros are refused in the data, and kept in replicates.
        zero_policy = "keep" if request.zero_policy == "raise" else request.zero_policy
        selection = replace(self.selection, zero_policy=zero_policy)
        replicates = numbers(drawn, selection, n_threads)
        quantities = noted_effects(self.quantities, self.entries, resampler)
        quantities = note_few_subjects(quantities, self.rates, replicates, resampler, sizes)
        if failures is not None:
            of_failures = failures.replicates(request.n_resamples, key, workers, drawn)
            quantities = (*quantities, *failures.quantities)
            replicates = np.concatenate([replicates, of_failures])
            sizes = failures.with_sizes(self.entries, sizes)
        alike = None
        if selection.measures:
            of_fnmr = partial(resampler.count_models, ["fnmr"])
            alike = AlikeGroups(self.base, drawn, selection, of_fnmr, n_threads)
        inversion = MeasureInversion(
            {entry.key: row for row, entry in enumerate(self.entries)},
            partial(MovedSystems, self.base, drawn, selection, n_threads),
            partial(
                CountedSystems.where_needed,
                self.base,
                selection,
                resampler.count_models,
                [point.rate or "" for point in request.points],
                request.n_resamples,
                key,
                n_threads,
            ),
            dict if alike is None else alike.pvalues,
        )
        if alike is not None and request.method == "auto":
            quantities = _with_pvalues(quantities, inversion, alike)
            if any(
                (_fewer_errors(at)[list(request.measured)] < ENOUGH_EFFECTIVE_ERRORS).any()
                for at in self.at_mean
            ):
                quantities = tuple(map(_note_few_at_eer, quantities))
            quantities = without_pvalues(quantities, sizes.sessions)
        return IntervalMaker(
            quantities,
            replicates,
            sizes=sizes,
            costs=request.costs,
            n_threads=n_threads,
            jackknife=partial(_jackknife, resampler, selection, n_threads, failures),
            inversion=inversion if selection.measures else None,
        )


def _with_pvalues(
    quantities: Sequence[Quantity], inversion: MeasureInversion, alike: AlikeGroups
) -> tuple[Quantity, ...]:
    """Give measures that are computable the p-values of their fair values, and note where groups
    are small for them.
    """
    pvalues = inversion.pvalues(np.array([quantity.estimate for quantity in quantities]))
    computable = {
        row: pvalue
        for row, pvalue in pvalues.items()
        if not math.isnan(pvalue + quantities[row].estimate)
    }
    with_pvalues = [
        replace(quantity, pvalue=computable[row]) if row in computable else quantity
        for row, quantity in enumerate(quantities)
    ]
    for row in {
        inversion.rows[key] for key in inversion.rows.keys() & alike.resting_on_small_groups
    }:
        if math.isfinite(with_pvalues[row].estimate):
            with_pvalues[row] = noted(with_pvalues[row], Note(Code.SMALL_GROUPS))
    return tuple(with_pvalues)


def _fewer_errors(rates: Rates) -> Integers:
    """Return the (g,) numbers of false matches, or of false non-matches where these are fewer."""
    return np.minimum(rates.counts.group_false_matches, rates.counts.group_false_nonmatches)


def _note_few_at_eer(quantity: Quantity) -> Quantity:
    """Note at measures with their own threshold that a group has few errors there."""
    measure = measure_of(quantity.name)
    has_own = measure is not None and measure.own_threshold and math.isfinite(quantity.estimate)
    return noted(quantity, Note(Code.FEW_AT_EER)) if has_own else quantity


def _selection(
    comparisons: Comparisons, request: Request, *, with_mean_group_eer: bool, with_matrix: bool
) -> Selection:
    """Say which entries there are, and what is needed to compute them."""
    mated, nonmated = sizes_of_groups(comparisons)
    pairs = np.argwhere(comparisons.nonmated_by_group.cells).tolist() if with_matrix else ()
    return Selection(
        groups=comparisons.groups,
        measured=request.measured,
        group_mated=mated,
        group_nonmated=nonmated,
        n_points=len(request.points),
        with_mean_group_eer=with_mean_group_eer,
        metrics=request.score_metrics,
        measures=tuple(request.measures),
        alpha=request.alpha,
        zero_policy=request.zero_policy,
        matrix=tuple((reference, probe) for reference, probe in pairs),
        kinds=KINDS & comparisons.rates if comparisons.lacks_rate else KINDS,
        rates=tuple(name for name in ERROR_RATES if name in comparisons.rates),
        sizes=tuple(map(len, comparisons.pairs)) if ACCURACY in request.metrics else (),
    )


def evaluate_request(
    whole: Comparisons | ScannedComparisons, request: Request, workers: Workers, rng: seeds.Seed
) -> Evaluation:
    """Evaluate comparisons, or those that a scan has kept."""
    comparisons = whole.kept if isinstance(whole, ScannedComparisons) else whole
    request = request.checked(comparisons)
    made = _Estimates.of(comparisons, request)
    key, seed = seeds.stream(rng) if request.n_resamples else (None, None)
    maker = made.interval_maker(key, workers)
    quantities = made.all_quantities
    measured = tuple(comparisons.groups[k] for k in request.measured)
    metrics = as_names(request.metrics)
    if maker is None:
        quantities = with_successes(quantities, metrics)
    else:
        _warn_of_repeated_subjects(comparisons, request.unit)

        def intervals_of(alternative: str) -> tuple[Quantity, ...]:
            return maker.with_intervals(
                request.confidence_level, request.method, alternative, request.simultaneous
            )

        quantities = intervals_of(request.alternative)
        # Other methods than "auto" take the quantiles of replicates for measures, too.
        by_quantiles = bool(request.measures) and request.method != "auto"
        warn_of_narrow_intervals(quantities, made.rates, measured if by_quantiles else ())
        quantities = with_successes(quantities, metrics, request.alternative, intervals_of)
    return Evaluation(
        quantities,
        tuple(made.rates),
        comparisons.groups,
        measured,
        request.settings(comparisons, [rates.threshold for rates in made.rates], seed),
        repr(whole),
        maker,
        None if isinstance(whole, ScannedComparisons) else comparisons,
        None if comparisons.subjects is None else comparisons.subjects.size,
        left_out=comparisons.left_out,
    )


def _warn_of_repeated_subjects(comparisons: Comparisons, unit: str) -> None:
    """Warn where comparisons are drawn as if each had subjects of its own, although subjects
    repeat.
    """
    if comparisons.subjects is None or not repeats_subjects(comparisons, unit):
        return
    n = len(comparisons.mated) + len(comparisons.nonmated)
    treated = f"{n} comparisons of {comparisons.subjects.size} subjects as independent"
    proposed = f'⟦unit="comparison"⟧ treats {treated}; use ⟦unit="subject"⟧'
    warn(f"intervals are too narrow: {proposed}", NarrowIntervalsWarning)


def _rates_at(comparisons: Comparisons, point: OperatingPoint, measured: Sequence[int]) -> Rates:
    return rates_at_key(comparisons, point, threshold_key(comparisons, point, measured))


def _metrics(comparisons: Comparisons, request: Request) -> dict[str, Floats]:
    """Compute the metrics that need no operating point, of all comparisons and of each group."""
    compute: dict[str, Callable[[ClassKeys], float]] = {
        "eer": lambda keys: score_metrics.equal_error(keys, request.eer_method)[0],
        "min_dcf": lambda keys: score_metrics.least_cost(request.costs, keys)[0],
        "min_cllr": score_metrics.least_log_likelihood_ratio_cost,
        "auc": score_metrics.area_under_curve,
        "d_prime": score_metrics.decidability_index,
    }
    lists = [keys_of(comparisons, k) for k in (None, *range(len(comparisons.groups)))]
    metrics = {
        name: (
            ratio_costs_of_groups(comparisons)
            if name == "cllr"
            else np.array(
                [compute[name](keys) if all(keys.sizes) else math.nan for keys in lists], np.float64
            )
        )
        for name in request.score_metrics
    }
    if "eer" in metrics and metrics["eer"][0] > 0.5:
        warn(
            f"the EER is {100 * metrics['eer'][0]:.3g} %, as mated comparisons score lower than"
            ' non-mated ones: if the scores are distances pass ⟦score_kind="distance"⟧, else'
            " look which value of mated means mated",
            ReversedScoresWarning,
        )
    return metrics


def _have_eer_thresholds(comparisons: Comparisons, groups: Sequence[int]) -> bool:
    """Return whether each group has comparisons of both kinds, some with a score; warn of those
    without.
    """
    of_groups = {comparisons.groups[k]: keys_of(comparisons, k) for k in groups}
    failed = [group for group, keys in of_groups.items() if keys.all_failed]
    if failed:
        what = "SED is NaN, as all comparisons of a group failed, so that it has no EER threshold"
        warn(f"{what}: {', '.join(map(repr, failed))}", EmptyGroupWarning)
    return not failed and all(all(keys.sizes) for keys in of_groups.values())


def _jackknife(
    resampler: Resampler, selection: Selection, n_threads: int | None, failures: Failures | None
) -> Floats:
    """Compute every quantity with one unit left out at a time, centred on the mean of the unit's
    stratum.
    """
    without = resampler.jackknife(n_threads)
    left_out = numbers(without, selection, n_threads)
    if failures is not None:
        left_out = np.concatenate([left_out, failures.left_out(without, n_threads)])
    return resampler.influences(left_out)


def evaluate_at_thresholds(
    comparisons: Comparisons | ScannedComparisons,
    thresholds: Sequence[float],
    level: float = 0.95,
    n_resamples: int = 0,
    **how: Any,
) -> Evaluation:
    """Compute rates at given thresholds with intervals, by default in closed form; notes tell what
    warnings would.

    Where subjects are not known, comparisons are treated as independent. how: further arguments
    of `evaluate`.
    """
    with hold_warnings():
        return evaluate(
            comparisons,
            [at_threshold(threshold) for threshold in thresholds],
            [],
            metrics=[],
            n_resamples=n_resamples,
            confidence_level=level,
            settings=EvaluationSettings(incomplete_groups="nan"),
            unit="comparison" if comparisons.subjects is None else "subject",
            **how,
        )


def _standard_errors(listed: Sequence[Entry], resampler: Resampler) -> Floats:
    """Compute the standard errors of rates in closed form; NaN for all else."""
    rates = LinearizedRates(resampler)
    return np.array(
        [
            (
                rates.standard_error(entry.name == "fnmr", entry.point, entry.cell)
                if entry.name in RATES and entry.point is not None
                else math.nan
            )
            for entry in listed
        ]
    )


def concentrations(
    comparisons: Comparisons, at_points: Sequence[Rates]
) -> list[dict[bool, tuple[float, Floats]]]:
    """Compute how concentrated the errors of both kinds are at each operating point; empty without
    subjects.
    """
    if comparisons.subjects is None:
        return []
    return [
        {
            mated: (
                concentration(comparisons, rates, mated),
                concentration_in_cells(comparisons, rates, mated),
            )
            for mated in (False, True)
        }
        for rates in at_points
    ]


def quantity_of_entry(
    entry: Entry, at_points: Sequence[Rates], shares: Sequence[dict[bool, tuple[float, Floats]]]
) -> Quantity:
    """Make a quantity of an entry by adding the counts behind it and its notes."""
    value = float(entry.value)
    if entry.point is None:
        return Quantity(entry.name, entry.group, None, value, notes=_not_computable(value))
    result = at_points[entry.point]
    point = result.at
    if entry.name == "threshold":
        low = (Note(Code.FEW_EXPECTED),) if result.below_resolution else ()
        return Quantity(entry.name, None, point, value, notes=low)
    if measure_of(entry.name) is not None:
        return Quantity(entry.name, entry.group, point, value, notes=_not_computable(value))
    if entry.name == ACCURACY:
        return _accuracy_of_entry(entry, result)
    size, errors, subjects = counts_behind(result.counts, entry.name == "fnmr", entry.cell)
    concentrated = None
    if shares and errors:
        overall, of_cells = shares[entry.point][entry.name == "fnmr"]
        concentrated = overall if entry.cell is None else float(of_cells[entry.cell])
    codes = [Code.FEW_ERRORS] if errors < ENOUGH_ERRORS else []
    if entry.cell is None and entry.name == result.at.rate:
        codes.append(Code.HELD)
    notes = tuple(map(Note, codes if size else [Code.NO_COMPARISONS]))
    return Quantity(
        entry.name,
        entry.group,
        point,
        value,
        n_comparisons=size,
        n_errors=errors,
        n_subjects=subjects,
        notes=notes,
        probe_group=entry.probe_group,
        concentration=concentrated,
    )


def _accuracy_of_entry(entry: Entry, rates: Rates) -> Quantity:
    """Make a quantity of the share of right decisions; its errors are wrong ones."""
    of_mated, of_nonmated = (
        counts_behind(rates.counts, mated, entry.cell)[:2] for mated in (True, False)
    )
    size = of_mated[0] + of_nonmated[0]
    errors = of_mated[1] + of_nonmated[1]
    notes = [Note(Code.FEW_ERRORS)] if errors < ENOUGH_ERRORS else []
    notes.append(Note.of(Code.MIX_OF_COMPARISONS, share=per_cent(of_mated[0] / max(size, 1))))
    return Quantity(
        entry.name,
        entry.group,
        rates.at,
        float(entry.value),
        n_comparisons=size,
        n_errors=errors,
        notes=tuple(notes) if size else (Note(Code.NO_COMPARISONS),),
    )


def _not_computable(value: float) -> tuple[Note, ...]:
    if math.isfinite(value):
        return ()
    return (Note(Code.NOT_COMPUTABLE if math.isnan(value) else Code.INFINITE),)


def note_few_subjects(
    quantities: Sequence[Quantity],
    at_points: Sequence[Rates],
    replicates: Floats,
    resampler: Resampler,
    sizes: SampleSizes,
) -> tuple[Quantity, ...]:
    """Note at which FNMRs few subjects cause most of the false matches that hold the threshold.

    Parameters
    ----------
    quantities : sequence of Quantity
        All quantities.
    at_points : sequence of Rates
        The rates at each operating point.
    replicates : (quantities, r) ndarray
        Each quantity in every replicate.
    resampler : Resampler
        What drew the replicates.
    sizes : SampleSizes
        Of the quantities, with the limits at points that few errors hold, which need no such note.

    Returns
    -------
    tuple of Quantity
    """
    noted_quantities = list(quantities)
    comparisons = resampler.comparisons
    if comparisons.subjects is None:
        return tuple(noted_quantities)
    threshold = {
        quantity.at: row for row, quantity in enumerate(quantities) if quantity.name == "threshold"
    }
    for point, rates in enumerate(at_points):
        if rates.at.rate != "fmr" or (sizes.few_held and sizes.few_held.holds(point)):
            continue
        rows = [
            k
            for k, quantity in enumerate(quantities)
            if quantity.name == "fnmr" and quantity.at == rates.at
        ]
        of_threshold = np.broadcast_to(replicates[threshold[rates.at]], replicates[rows].shape)
        hanging = hangs_on_threshold(replicates[rows], of_threshold)
        share = concentration(comparisons, rates, False, MOST_PER_ERROR) if hanging.any() else 0.0
        if is_held_by_few_subjects(resampler.freedom(point), share):
            for k in np.array(rows)[hanging]:
                noted_quantities[k] = noted(noted_quantities[k], Note(Code.HELD_BY_FEW_SUBJECTS))
    return tuple(noted_quantities)


# of each kind in every group: with fewer, intervals of measures miss the truth more often
_FEWEST_ERRORS_FOR_MEASURES = 5
_MOST_NAMED = 4  # in a warning; notes are at every quantity


def warn_of_narrow_intervals(
    quantities: Sequence[Quantity], at_points: Sequence[Rates], measured: Sequence[str]
) -> None:
    """Warn of intervals that, in simulations, contain the true value less often than their
    confidence level says.

    Parameters
    ----------
    quantities : sequence of Quantity
        All quantities, with their intervals.
    at_points : sequence of Rates
        The rates at each operating point.
    measured : sequence of str
        The groups that fairness measures compare; empty where intervals of measures are not looked
        at.
    """
    names_by_reason: dict[str, list[str]] = {}
    for quantity in quantities:
        for note in quantity.notes:
            if note.warns:
                reason = (
                    Note.of(note.code, share="most").reason
                    if note.code is Code.CONCENTRATED
                    else note.reason
                )
                of = " / ".join(filter(None, (quantity.group, quantity.probe_group))) or "all"
                names_by_reason.setdefault(reason, []).append(
                    f"{printed_name(quantity.name)} of {of}"
                )
    for result in at_points if measured else ():
        few = _fewer_errors(result) < _FEWEST_ERRORS_FOR_MEASURES
        of_groups = [
            name
            for name, too_few in zip(result.groups, few, strict=True)
            if too_few and name in measured
        ]
        reason = (
            f"measures over groups with fewer than {_FEWEST_ERRORS_FOR_MEASURES} false matches or false"
            " non-matches"
        )
        names_by_reason[reason] = [*names_by_reason.get(reason, ()), *of_groups]
    for reason, names in names_by_reason.items():
        if named := list(dict.fromkeys(names)):
            more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
            sentence = f"{reason}: {', '.join(named[:_MOST_NAMED])}{more}"
            warn(f"intervals are likely too narrow: {sentence}", NarrowIntervalsWarning)


def repeats_subjects(comparisons: Comparisons, unit: str) -> bool:
    """Return whether comparisons are drawn as if each had subjects of its own, although subjects
    repeat.
    """
    n = len(comparisons.mated) + len(comparisons.nonmated)
    return (
        unit == "comparison" and comparisons.subjects is not None and comparisons.subjects.size < n
    )
