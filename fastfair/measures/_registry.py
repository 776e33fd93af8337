"""The registry of estimands: one record for each rate, cost and fairness measure, which all else
reads.

Rates and costs have theirs here, in `METRICS`. A fairness measure has its record beside its
function: the decorator `measure` checks the function and puts the record into `MEASURES`. Below
stand the names by which people call them.
"""

from __future__ import annotations

import inspect
import keyword
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, wraps
from typing import Annotated, Any, Literal, TypeVar

import numpy as np

from fastfair._lib import validation
from fastfair._lib.arguments import AnyNumber, Kind, checked
from fastfair._lib.arrays import Floats
from fastfair._lib.text import did_you_mean, shown
from fastfair.errors import InputError

_Function = TypeVar("_Function", bound=Callable[..., Any])
_INF = float("inf")
BOTH_RATES = "both rates"
NONMATED = "non-mated"
MATED = "mated"
SUMMARIES = ("mean", "std")  # over groups, of a measure with its own threshold


@dataclass(frozen=True, kw_only=True)
class Estimand:
    """What is known of a rate, a cost or a fairness measure.

    Attributes
    ----------
    name, title : str
        Name in code, and short name for print.
    long_title : str
        Name in full, as axes of plots and the glossary have it.
    aliases : tuple of str
        What else it is called.
    question : str
        What it answers.
    range : tuple of float
        Least and largest value that it can have.
    source : str
        Where a fairness measure was published: paper and equation.
    kind : str
        "threshold", "rate", "rate with failures", "failure rate", "metric" (that needs no
        threshold) or "measure".
    sides : tuple of str
        The comparisons that a rate or metric is computed from: "non-mated" and "mated".
    error : str
        What a rate counts.
    methods : tuple of str
        Methods of intervals that are for some quantities only and serve it; the first is what
        "auto" takes.
    in_per_cent : bool
        Whether people read a proportion in per cent.
    fitted : bool
        Whether it is a cost at a threshold, or of a calibration, that is fitted to the same
        comparisons.
    better_above : bool
        Whether larger values of a rate or metric are better.
    greatest : callable or None
        Returns the largest value of a cost, given the costs of errors.
    of : tuple of str
        Base metrics that a fairness measure is reported for; empty where it takes FMR and FNMR
        together.
    fair_value : float
        The value of a perfectly fair system; NaN for rates and costs.
    families : tuple of str
        Classes of paper 1: some of "standard deviation", "maximum disparity" and "aggregation".
    function : callable or None
        The function of the groups' rates that computes a fairness measure.
    global_reference, takes_alpha : bool
        Whether the function also takes the rates of all comparisons pooled, and the weight of false
        matches.
    own_threshold : bool
        Whether it defines its own threshold, so that it needs no operating point.
    per_group : bool
        Whether it has one value for each group.
    ratio : bool
        Whether it divides by a group's rate or takes its logarithm, and so cannot be computed, or
        is infinite, for a group without errors.
    """

    name: str
    title: str
    long_title: str = ""
    aliases: tuple[str, ...] = ()
    question: str = ""
    range: tuple[float, float] = (0.0, 1.0)
    source: str = ""
    kind: str = "measure"
    sides: tuple[str, ...] = ()
    error: str = ""
    methods: tuple[str, ...] = ()
    in_per_cent: bool = True
    fitted: bool = False
    better_above: bool = False
    greatest: Callable[[Any], float] | None = None
    of: tuple[str, ...] = ()
    fair_value: float = float("nan")
    families: tuple[str, ...] = ()
    function: Any = None
    global_reference: bool = False
    takes_alpha: bool = False
    own_threshold: bool = False
    per_group: bool = False
    ratio: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """All that it is called."""
        return tuple(filter(None, (self.name, self.title, self.long_title, *self.aliases)))

    @property
    def errors(self) -> str:
        """What a rate counts, in the plural."""
        return self.error + ("es" if self.error.endswith("ch") else "s")

    @property
    def bounded(self) -> bool:
        """Whether both ends of its range are finite."""
        return bool(np.isfinite(self.range).all())

    @property
    def fairer(self) -> str:
        """Whether "lower" values, "higher" values or values "nearer" to the fair one are fairer."""
        return {self.range[0]: "lower", self.range[1]: "higher"}.get(self.fair_value, "nearer")

    @property
    def formula(self) -> str:
        """The first literal of what its function's docstring says it returns; may be empty."""
        returns = (inspect.getdoc(self.function) or "").partition("Returns\n")[2]
        literal = re.search(r"``(.+?)``", returns, re.DOTALL)
        return " ".join(literal[1].split()) if literal else ""

    @checked
    def error_types(self, metric: str | None = None) -> tuple[str, ...]:
        """Return the error types that the measure depends on when computed from a base metric, or
        from both rates.
        """
        sides = (NONMATED, MATED) if metric is None else METRICS[self._known(metric)].sides
        return tuple({NONMATED: "FMR", MATED: "FNMR"}[side] for side in sides)

    @checked
    def needs_policy_threshold(self, metric: str | None = None) -> bool:
        """Return whether a threshold must be chosen before it is computed from a base metric, or
        from both rates.
        """
        return not self.own_threshold and (
            metric is None or METRICS[self._known(metric)].kind == "rate"
        )

    def _known(self, metric: str) -> str:
        return validation.choice(f"metric of {self.name}", metric, self.of)


def _is_measure(value: object) -> bool:
    return isinstance(getattr(value, "estimand", value), str | Estimand)


def _name_of_measure(_: str, value: Any) -> str:
    """Return the name of a fairness measure, of its record, or of its function, which has the
    record.
    """
    record = getattr(value, "estimand", value)
    return record.name if isinstance(record, Estimand) else str.__str__(value)


Measure = Annotated[
    Any,
    Kind(
        "the name of a measure or its function",
        "names or functions of measures",
        _is_measure,
        _name_of_measure,
    ),
]


def _rate(name: str, title: str, side: str, error: str, question: str, **more: Any) -> Estimand:
    facts = {"kind": "rate", "methods": ("logit",)} | more
    return Estimand(name=name, title=title, sides=(side,), error=error, question=question, **facts)


def _metric(name: str, title: str, long_title: str, question: str, **more: Any) -> Estimand:
    facts = {"kind": "metric", "sides": (NONMATED, MATED)} | more
    return Estimand(name=name, title=title, long_title=long_title, question=question, **facts)


METRICS: dict[str, Estimand] = {
    metric.name: metric
    for metric in (
        Estimand(
            name="threshold", title="threshold", kind="threshold", range=(-_INF, _INF),
            question="What is the lowest score that is accepted?",
        ),
        _rate(
            "fmr", "FMR", NONMATED, "false match", "Which share of non-mated comparisons is wrongly accepted?",
            long_title="False match rate", methods=("logit", "dyadic"),
        ),
        _rate(
            "fnmr", "FNMR", MATED, "false non-match", "Which share of mated comparisons is wrongly rejected?",
            long_title="False non-match rate",
        ),
        _rate(
            "tmr", "TMR", MATED, "false non-match", "Which share of mated comparisons is accepted?",
            long_title="True match rate", better_above=True, aliases=("TPR", "true positive rate"),
        ),
        _rate(
            "tar", "TAR", MATED, "false rejection", "Which share of mated comparisons or transactions is accepted?",
            long_title="True acceptance rate", better_above=True, kind="rate of success",
            aliases=("GAR", "genuine acceptance rate"),
        ),
        _rate(
            "fmr_matrix", "FMR matrix", NONMATED, "false match",
            "Which share of comparisons of two groups' people is accepted?", methods=("logit", "dyadic"),
        ),
        _metric(
            "eer", "EER", "Equal error rate", "What are FMR and FNMR at the threshold where they are equal?",
            methods=("logit",),
        ),
        _metric(
            "act_dcf", "actDCF", "Actual detection cost", "What do decisions at the Bayes threshold cost?",
            range=(0.0, _INF), greatest=lambda costs: costs.greatest, aliases=("actual DCF",),
        ),
        _metric(
            "min_dcf", "minDCF", "Minimum detection cost",
            "What is the least weighted sum of FMR and FNMR that any threshold gives?", range=(0.0, _INF), fitted=True,
            greatest=lambda costs: costs.greatest_least,
        ),
        _metric(
            "cllr", "Cllr", "Cost of log-likelihood ratios",
            "What do scores cost that are read as log-likelihood ratios? It says nothing of other scores.",
            range=(0.0, _INF),
        ),
        _metric(
            "min_cllr", "min Cllr", "Minimum cost of log-likelihood ratios",
            "What would be the Cllr of scores that were perfectly calibrated?", fitted=True,
        ),
        _metric(
            "auc", "AUC", "Area under the ROC curve",
            "How often is a mated comparison more similar than a non-mated one, ties counted half?",
            methods=("logit",), aliases=("ROC AUC",), in_per_cent=False, better_above=True,
        ),
        _metric(
            "d_prime", "d'", "Decidability index",
            "How many standard deviations, averaged in square, lie between the means of mated and non-mated scores?",
            range=(-_INF, _INF), aliases=("decidability", "d-prime"), better_above=True,
        ),
        _metric(
            "accuracy", "accuracy", "Accuracy",
            "Which share of all decisions at the threshold is right, in this mix of mated and non-mated comparisons?",
            kind="share of decisions", methods=("logit",), better_above=True,
        ),
        _rate(
            "frr", "FRR", MATED, "false rejection",
            "What is the FNMR where comparisons without a score count as rejected?",
            long_title="False rejection rate", kind="rate with failures",
        ),
        _rate(
            "far", "FAR", NONMATED, "false acceptance",
            "What is the FMR where comparisons without a score count as rejected?",
            long_title="False acceptance rate", kind="rate with failures",
        ),
        _rate(
            "failure_rate_mated", "failure rate (mated)", MATED, "failed mated comparison",
            "Which share of mated comparisons has no score?", kind="failure rate",
        ),
        _rate(
            "failure_rate_nonmated", "failure rate (non-mated)", NONMATED, "failed non-mated comparison",
            "Which share of non-mated comparisons has no score?", kind="failure rate",
        ),
        _rate(
            "fpir", "FPIR", NONMATED, "false positive identification",
            "Which share of searches of people who are not enrolled returns someone?", kind="identification rate",
            long_title="False positive identification rate",
        ),
        _rate(
            "fpir_matrix", "FPIR matrix", NONMATED, "false positive identification",
            "Which share of searches of people who are not enrolled returns someone of a group first?",
            kind="identification rate", long_title="False positive identification rate by who is returned",
        ),
        _rate(
            "fnir", "FNIR", MATED, "false negative identification",
            "Which share of searches of enrolled people does not return them?", kind="identification rate",
            long_title="False negative identification rate",
        ),
        _rate(
            "tpir", "TPIR", MATED, "false negative identification",
            "Which share of searches of enrolled people returns them?", kind="identification rate",
            long_title="True positive identification rate", better_above=True,
        ),
        _rate(
            "fta", "FTA", MATED, "failure to acquire", "Which share of acquisitions yields no sample?",
            long_title="Failure-to-acquire rate", kind="rate of counts",
        ),
        _rate(
            "fte", "FTE", MATED, "failure to enrol", "Which share of people cannot be enrolled?",
            long_title="Failure-to-enrol rate", kind="rate of counts",
        ),
        _rate(
            "apcer", "APCER", MATED, "attack presentation classification error",
            "Which share of attack presentations is taken for bona fide?",
            long_title="Attack presentation classification error rate", kind="rate of counts",
        ),
        _rate(
            "bpcer", "BPCER", MATED, "bona fide presentation classification error",
            "Which share of bona fide presentations is taken for attacks?",
            long_title="Bona fide presentation classification error rate", kind="rate of counts",
        ),
        _rate(
            "iapar", "IAPAR", MATED, "impostor attack presentation accept",
            "Which share of impostor attack presentations matches the person imitated?",
            long_title="Impostor attack presentation accept rate", kind="rate of counts",
        ),
        _rate(
            "riapar", "RIAPAR", MATED, "impostor attack presentation accept or false rejection",
            "What are the shares of attack presentations that match and of mated comparisons that do not, together?",
            long_title="Relative impostor attack presentation accept rate", kind="rate of attacks", range=(0.0, 2.0),
        ),
        Estimand(
            name="selectivity", title="selectivity", range=(0.0, _INF), kind="identification rate",
            question="How many people does a search return on average whose own person is not enrolled?",
        ),
    )
}  # fmt: skip
MEASURES: dict[str, Estimand] = {}


def names_of(kind: str) -> tuple[str, ...]:
    """Return the names of all metrics of a kind, as `Estimand` describes it."""
    return tuple(name for name, metric in METRICS.items() if metric.kind == kind)


ACCURACY = "accuracy"  # the share of right decisions
TRUE_MATCHES = "tmr"
AT_POINTS = (ACCURACY, TRUE_MATCHES)  # the metrics that need an operating point
COMPLEMENTS = {"tmr": "fnmr", "tar": "frr", "tpir": "fnir"}  # rates that are 1 minus another
SUCCESSES = {error: success for success, error in COMPLEMENTS.items()}
OF_ANY_SCORES: tuple[Literal["eer", "min_dcf", "cllr"], ...] = ("eer", "min_dcf", "cllr")
THRESHOLD_FREE = (*OF_ANY_SCORES, "act_dcf")  # the last of log-likelihood ratios only
_BASE_METRICS = ("fmr", "fnmr", "tmr", *THRESHOLD_FREE)  # that measures may be of


def at_any_threshold() -> tuple[str, ...]:
    """Return the names of the measures that do not define their own threshold."""
    return tuple(name for name, measure in MEASURES.items() if not measure.own_threshold)


def measure_of(name: str) -> Estimand | None:
    """Return the measure in a quantity's name such as "nrb(eer)" or "sed_mean"; None where it names
    no measure.
    """
    code = name.partition("(")[0]
    record = MEASURES.get(code)
    if record is None:
        start, _, summary = code.rpartition("_")
        record = MEASURES.get(start) if summary in SUMMARIES else None
        return record if record is not None and record.own_threshold else None
    return record


def measures_called(rate: str, of_decisions: str) -> dict[str, str]:
    """Return the names of measures of a rate, by those of the same measures of what comparisons
    call this rate, their FMR or FNMR.

    Examples
    --------
    >>> from fastfair.measures._registry import measures_called
    >>> measures_called("frr", "fnmr")["max_min_ratio(frr)"]
    'max_min_ratio(fnmr)'
    """
    names = [name for name, measure in MEASURES.items() if of_decisions in measure.of]
    return {f"{name}({rate})": f"{name}({of_decisions})" for name in names}


def is_better_above(name: str) -> bool:
    """Return whether larger values are better, or fairer: not so for rates of errors and costs."""
    measure = measure_of(name)
    if measure is None:
        return name in METRICS and METRICS[name].better_above
    return measure.fairer == "higher"


_DIFFERENCE = "difference({})"  # of a quantity of two systems


def name_of_difference(name: str) -> str:
    """Return what requirements and rows call the difference of two systems in a quantity."""
    return _DIFFERENCE.format(name)


def difference_of(name: str) -> str:
    """Return the quantity that a name is of the difference in; "" for all others."""
    before, after = _DIFFERENCE.split("{}")
    is_difference = name.startswith(before) and name.endswith(after)
    return name[len(before) : -len(after)] if is_difference else ""


def range_of(name: str, costs: Any = None) -> tuple[float, float]:
    """Return the least and the greatest value that a quantity of this name can have; costs: those
    of DCFs, if any.
    """
    compared = difference_of(name)
    if compared:
        least, most = range_of(compared, costs)
        return least - most, most - least
    record = METRICS.get(name) or measure_of(name)
    if record is None:
        return -_INF, _INF
    return (
        record.range
        if costs is None or record.greatest is None
        else (record.range[0], record.greatest(costs))
    )


def methods_of(name: str) -> tuple[str, ...]:
    """Return the methods of intervals that serve a rate or metric, besides those that serve all
    quantities.
    """
    return METRICS[name].methods if name in METRICS else ()


def compute(
    measure: Estimand, rates: Sequence[Any], averages: Sequence[Any] = (), alpha: float = 0.5
) -> Floats:
    """Compute a measure of the groups' metric, or FMRs and FNMRs, (..., g); averages (...): of all
    comparisons.

    rates: arrays, or for a measure of `_fairness.py` what its function makes of them, which need no
    check.
    """
    weight = {"alpha": alpha} if measure.takes_alpha else {}
    function = (
        measure.function if isinstance(rates[0], np.ndarray) else inspect.unwrap(measure.function)
    )
    with np.errstate(all="ignore"):  # x / 0 is infinite, and 0 / 0 is NaN
        value = function(*rates, *(averages if measure.global_reference else ()), **weight)
    return np.asarray(value, np.float64)[()]


# Own measures.


@checked
def measure(
    name: str | None = None,
    *,
    of: str | Sequence[str],
    range: tuple[AnyNumber, AnyNumber],
    fair_value: float,
    title: str | None = None,
    long_title: str = "",
    question: str = "",
    aliases: str | Sequence[str] = (),
    families: str | Sequence[str] = (),
    source: str = "",
    own_threshold: bool = False,
) -> Callable[[_Function], _Function]:
    """Register a fairness measure of your own: decorate the function that computes it.

    From then on it is a measure like any other: in `evaluate` with intervals by test inversion, in
    `compare`, `check`, `fairness_band` and `measures.table`, on pages and the command line, by its
    name or as the function itself. ``del ff.measures.MEASURES[name]`` removes it.

    Parameters
    ----------
    name : str, optional
        Its name in code; by default that of the function.
    of : str or sequence of str
        What it is computed from: some of "fmr", "fnmr", "tmr", "eer", "act_dcf", "min_dcf" and
        "cllr", each of which it is then reported for, or "both rates", FMR and FNMR together.
    range : tuple of float
        Least and largest value that it can have; may be infinite.
    fair_value : float
        Its value where all groups are alike. At an end of the range, values nearer to it are fairer
        and chance makes the measure less fair, which test inversion takes into account; between the
        ends, intervals are percentiles.
    title, long_title : str, optional
        Names for print: a short one, by default `name`, and one in full.
    question : str
        What it answers; pages show it.
    aliases : sequence of str
        What else it is called.
    families : sequence of str
        As in `Estimand`.
    source : str
        Where it was published.
    own_threshold : bool, default False
        Whether it is computed at the mean of the groups' EER thresholds; for measures of both rates
        with averages.

    Returns
    -------
    callable
        The decorator, which returns the function itself.

    Raises
    ------
    InputError
        For a name that is taken or no identifier, and for a function that breaks a rule (see
        Notes).

    Notes
    -----
    The function takes an array of the metric with groups on the last axis, or two such arrays, FMRs
    and FNMRs; if it takes as many again, these are of all comparisons pooled, without the axis of
    groups; if it takes `alpha`, this is the weight of false matches. These rules are checked on
    samples when it is registered:

    - Leading axes, such as replicates, are carried through: it returns a value for each set of
      groups, or one for each group.
    - Equal rates give the fair value.
    - Where a group's rate is NaN, the measure is NaN.
    - Values stay in the range, or are NaN.
    - More unequal rates are not nearer to the fair value, and the most unequal ones are away from
      it.

    It is given copies, so it may work in place.

    In a notebook, a cell that runs again replaces its measure.

    Examples
    --------
    >>> import fastfair as ff
    >>> @ff.measures.measure(of=("fmr", "fnmr"), range=(0, 1), fair_value=0, title="worst gap")
    ... def worst_gap(x):
    ...     return x.max(axis=-1) - x.min(axis=-1)
    >>> c = ff.Comparisons([0.9, 0.4, 0.7, 0.8, 0.1, 0.6], [1, 1, 1, 1, 0, 0], reference_group=list("ffmmfm"))
    >>> ff.evaluate(c, ff.at_threshold(0.5), [worst_gap], n_resamples=0).value("worst gap of FNMR")
    0.5
    >>> del ff.measures.MEASURES["worst_gap"]
    """

    def registered(function: _Function) -> _Function:
        called = getattr(function, "__name__", "") if name is None else name
        of_both = of in (BOTH_RATES, [BOTH_RATES])
        record = Estimand(
            name=called,
            title=called if title is None else title,
            long_title=long_title,
            question=question,
            aliases=_several(aliases),
            of=() if of_both else _several(of),
            range=tuple(range),  # type: ignore[arg-type]
            fair_value=fair_value,
            families=_several(families),
            source=source,
            own_threshold=own_threshold,
            function=_on_copies(called, function),
        )
        _require_free_names(record)
        _require_possible(record, of_both)
        record = _on_samples(_with_arguments(record))
        try:
            function.estimand = record  # type: ignore[attr-defined]
        except AttributeError:
            raise InputError(
                f"measure {called!r} must be a function of Python, not {type(function).__name__}"
            ) from None
        MEASURES[called] = record
        return function

    return registered


def _on_copies(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that cannot change what it is given, nor later what it returned, and whose
    errors are ours.

    Rates of replicates are shared by all measures: one that works in place would change the others.
    """

    @wraps(function)
    def on_copies(*rates: Any, **more: Any) -> Floats:
        given = [values.copy() if isinstance(values, np.ndarray) else values for values in rates]
        try:
            value = np.array(function(*given, **more), np.float64)
        except InputError:
            raise
        except Exception as error:
            raise InputError(
                f"measure {name!r} raises {type(error).__name__} on rates of shape"
                f" {np.shape(rates[0])} ({error}); see fastfair.measures.measure"
            ) from error
        return value[()]

    return on_copies


def _several(texts: str | Sequence[str]) -> tuple[str, ...]:
    return (texts,) if isinstance(texts, str) else tuple(texts)


def _require_free_names(record: Estimand) -> None:
    """Refuse what is no identifier, and names that mean something else."""
    name = record.name
    if not name.isidentifier() or keyword.iskeyword(name):
        raise InputError(f"name must be an identifier such as 'worst_gap', not {shown(name)}")
    if not _plain(record.title):
        raise InputError(f"title of measure {name!r} must have letters, not {shown(record.title)}")
    here = getattr(record.function, "__module__", None)
    others = [*METRICS.values(), *MEASURES.values()]
    summaries = [
        f"{other_record.name}_{word}"
        for other_record in MEASURES.values()
        if other_record.own_threshold
        for word in SUMMARIES
    ]
    taken = {_plain(word): word for word in ("all", BOTH_RATES, *summaries)}
    for other_record in others:
        if other_record.name == name and here == "__main__" == getattr(
            other_record.function, "__module__", None
        ):
            continue  # a cell of a notebook runs again
        taken |= {
            _plain(other): f"{other_record.name} ({other_record.title})"
            for other in other_record.names
        }
    for called in record.names:
        if _plain(called) in taken:
            raise InputError(
                f"the name {called!r} is taken by {taken[_plain(called)]}: choose another"
            )


def _require_possible(record: Estimand, of_both: bool) -> None:
    for metric in record.of:
        validation.choice(
            f"of, what measure {record.name!r} is computed from,",
            metric,
            (*_BASE_METRICS, BOTH_RATES),
        )
    if (
        not (record.of or of_both)
        or BOTH_RATES in record.of
        or len(set(record.of)) < len(record.of)
    ):
        raise InputError(
            f'of must name base metrics, each once, or be "{BOTH_RATES}", not {record.of}'
        )
    low, high = record.range
    if not low < high:
        raise InputError(f"range must be a least and a greatest value, not {record.range}")
    if not low <= record.fair_value <= high:
        raise InputError(
            f"fair_value must lie in the range, {low:g} to {high:g}, not {record.fair_value:g}"
        )


def _with_arguments(record: Estimand) -> Estimand:
    """Note what the function takes, from its signature."""
    n_rates = 1 if record.of else 2
    try:
        parameters = inspect.signature(record.function).parameters
    except (TypeError, ValueError):
        raise InputError(
            f"measure {record.name!r} must be a function whose signature Python knows"
        ) from None
    needed = [
        p
        for p in parameters.values()
        if p.default is p.empty and p.name != "alpha" and p.kind < p.VAR_POSITIONAL
    ]
    if len(needed) not in (n_rates, 2 * n_rates) or (
        record.own_threshold and (record.of or len(needed) != 4)
    ):
        what = "the groups' values of a metric" if record.of else "the groups' FMRs and FNMRs"
        raise InputError(
            f"measure {record.name!r} must be a function of {what}, and perhaps of as many"
            f" averages; it takes {', '.join(p.name for p in needed) or 'nothing'}"
        )
    return replace(
        record, global_reference=len(needed) > n_rates, takes_alpha="alpha" in parameters
    )


# logarithms of four groups' ratios to their geometric mean
_SPREAD = np.array([-0.8, 1.0, 0.1, -0.3])
_LEVELS = np.array([0.001, 0.02, 0.25])
_POWERS = np.array([0.0, 0.4, 0.8, 1.2])
# (levels, powers, groups), from fair to unfair
_SAMPLES = _LEVELS[:, None, None] * np.exp(_POWERS[:, None] * _SPREAD)
_EXTREMES = np.array(
    [
        [0, 0.1, 0.2, 0.3],
        [0, 0, 0, 0],
        [1, 1, 1, 1],
        [0, 0, 0, 1],
        [0, 1, 1, 1],
        [1e-9, 0.5, 0.5, 1],
    ]
)
_CLOSE = 1e-9  # by which rounding may change a measure


def _on_samples(record: Estimand) -> Estimand:
    """Hold a measure to the rules, and note whether it has a value for each group and fails without
    errors.
    """
    n_rates = 1 if record.of else 2

    def broken(rule: str) -> InputError:
        return InputError(
            f"measure {record.name!r} breaks a rule: {rule}; see fastfair.measures.measure"
        )

    def values(*rates: Floats) -> Floats:
        given = [np.array(rates[min(k, len(rates) - 1)]) for k in (0, 1)[:n_rates]]
        return np.asarray(compute(record, given, [x.mean(axis=-1) for x in given]))

    of_samples = values(_SAMPLES)
    per_group = of_samples.shape == _SAMPLES.shape
    if of_samples.shape not in (_SAMPLES.shape, _SAMPLES.shape[:-1]):
        raise broken(
            f"of rates of shape {_SAMPLES.shape} it returns {of_samples.shape}, and not a value for"
            f" each {_SET}"
        )
    alone = np.array([values(groups) for groups in _SAMPLES[-1]])
    if alone.shape != of_samples[-1].shape or not np.allclose(
        alone, of_samples[-1], _CLOSE, _CLOSE, equal_nan=True
    ):
        raise broken(
            "several sets of groups at once give other values than each alone: work on the last"
            " axis"
        )
    away = np.abs(of_samples - record.fair_value)
    if not (away[:, 0] < _CLOSE).all():
        farthest = int(np.argmax(np.nan_to_num(away[:, 0], nan=_INF)))
        worst = of_samples[:, 0].flat[farthest]
        raise broken(f"equal rates give {worst:g}, not the fair value {record.fair_value:g}")
    extreme = values(_EXTREMES)
    for value in (of_samples, extreme):
        outside = (value < record.range[0] - _CLOSE) | (value > record.range[1] + _CLOSE)
        if outside.any():
            raise broken(f"it gives {value[outside][0]:g}, outside its range {record.range}")
    for k in (0, 1)[:n_rates]:
        rates = [_SAMPLES[0, 1].copy() for _ in (0, 1)[:n_rates]]
        rates[k][1] = np.nan
        missing = values(*rates)
        if not np.isnan(missing[1] if per_group else missing):
            raise broken("where a group's rate is NaN it gives a number")
    distance = away.mean(axis=-1) if per_group else away
    if not (np.diff(distance, axis=1) >= -_CLOSE).all():
        raise broken("more unequal rates are nearer to the fair value")
    if not (distance[:, -1] > _CLOSE).all():
        raise broken("the most unequal rates give the fair value, too")
    return replace(record, per_group=per_group, ratio=not np.isfinite(extreme[0]).all())


_SET = "set of groups on the last axis, or for each group"


# Names: people type titles, other names and names in code.


@lru_cache(maxsize=1024)
def _plain(name: str) -> str:
    """Return a name without capitals, blanks and marks, in which names are compared."""
    return re.sub(r"[\W_]+", "", name.casefold())


def _code_of(called: str, records: Mapping[str, Estimand]) -> str | None:
    """Return the name in code of the record that is called so, if there is one."""
    if called in records:
        return called
    plain = _plain(called)
    return next(
        (name for name, record in records.items() if plain in map(_plain, record.names)), None
    )


def measure_name(name: str, codes: Iterable[str] = MEASURES, argument: str = "measure") -> str:
    """Return the name in code of a measure that is named in any of its ways.

    Parameters
    ----------
    name : str
        A name in code ("inequity_rate"), a title ("IR") or another name ("inequity rate");
        capitals, blanks and marks do not count.
    codes : iterable of str
        The measures to choose among.
    argument : str
        Name of the argument in messages.

    Raises
    ------
    InputError
        For any other name; the message suggests the nearest ones.

    Examples
    --------
    >>> from fastfair.measures._registry import measure_name
    >>> measure_name("Inequity Rate"), measure_name("FDR")
    ('inequity_rate', 'fdr')
    """
    records = {code: MEASURES[code] for code in codes}
    code_of_name = _code_of(name, records)
    if code_of_name is not None:
        return code_of_name
    others = [other for code in records.values() for other in code.names[1:]]
    near = did_you_mean(name, [*others, *records])  # of equal names, that in code
    raise InputError(
        f"{argument} must be one of {', '.join(map(repr, records))}, by this name or another that"
        f" it has, not {shown(name)}{near}"
    )


def quantity_name(name: str) -> str:
    """Return the name that a quantity has in results: "NRB of EER" and "NRB(EER)" are "nrb(eer)";
    others stay.

    Examples
    --------
    >>> from fastfair.measures._registry import quantity_name
    >>> quantity_name("NRB of EER"), quantity_name("mean SED"), quantity_name("minDCF"), quantity_name("unknown")
    ('nrb(eer)', 'sed_mean', 'min_dcf', 'unknown')
    """
    code_of_name = _code_of(name, METRICS)
    split = re.fullmatch(r"(.+?)(?:\s+of\s+(\S+)|\s*\((\S+)\))?", name.strip())
    if code_of_name is not None or split is None:
        return code_of_name or name
    called = split[1]
    metric = split[2] or split[3]
    suffix = ""
    with_own_threshold = {code: record for code, record in MEASURES.items() if record.own_threshold}
    for word in SUMMARIES:
        for pattern in (rf"{word}[\s_-]+(.+)", rf"(.+)_{word}"):
            part = re.fullmatch(pattern, called, re.IGNORECASE)
            if part and _code_of(part[1], with_own_threshold):
                called = part[1]
                suffix = f"_{word}"
    code = _code_of(called, MEASURES)
    of = metric and _code_of(metric, METRICS)
    if code is None or (metric and of is None):
        return name
    return f"{code}{suffix}" + (f"({of})" if metric else "")


def printed_name(name: str) -> str:
    """Return the name for print of a quantity: "NRB of EER" for "nrb(eer)", "minDCF" for "min_dcf".

    Examples
    --------
    >>> from fastfair.measures._registry import printed_name
    >>> printed_name("nrb(eer)"), printed_name("sed_mean"), printed_name("min_dcf")
    ('NRB of EER', 'mean SED', 'minDCF')
    """
    compared = difference_of(name)
    if compared:
        return f"difference in {printed_name(compared)}"
    code, _, metric = name.partition("(")
    record = measure_of(name)
    if record is None:
        return METRICS[name].title if name in METRICS else name
    summary = code.removeprefix(record.name).strip("_")
    return " ".join(filter(None, (summary, record.title))) + (
        f" of {METRICS[metric[:-1]].title}" if metric else ""
    )
