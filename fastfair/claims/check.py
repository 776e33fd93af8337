"""`check`: do the data show that requirements on error rates, costs and fairness measures are met?"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence

from fastfair import intervals
from fastfair._lib import argument_kinds, seeds, validation
from fastfair._lib.arguments import checked
from fastfair.data.comparisons import Comparisons
from fastfair.data.scanned_comparisons import ScannedComparisons
from fastfair.error_rates.operating_points import OperatingPoint, at_fmr
from fastfair.errors import InputError, NarrowIntervalsWarning
from fastfair.evaluation.evaluate import evaluate
from fastfair.evaluation.result import Evaluation
from fastfair.measures._registry import measure_of
from fastfair.resampling.preparation import METRICS
from fastfair.uncertainty.interval_maker import two_sided_level
from fastfair.uncertainty.quantities import BELOW_RESOLUTION, Quantity, has_flag

from .check_results import MET, NOT_MET, Check, CheckedQuantity, written_value
from .evidence import Evidence
from .judging import UNDECIDED, doubts_about, met_by_holm
from .requirements import Requirement, read_requirement

_DEPENDENT = "comparisons of the same subjects were taken for independent, so the limit is too narrow"


@checked(
    comparisons=argument_kinds.one_of("Comparisons", "ScannedComparisons"),
    requirements=argument_kinds.texts,
    at=argument_kinds.point,
)
def check(
    comparisons: Comparisons | ScannedComparisons,
    requirements: str | Sequence[str],
    at: OperatingPoint = at_fmr(1e-3),  # noqa: B008 - frozen
    *,
    n_resamples: int = 2000,
    confidence_level: float = 0.95,
    unit: str = "subject",
    rng: seeds.Seed = None,
    n_threads: int | None = None,
    progress: bool | Callable[[int, int], None] = False,
    alpha: float = 0.5,
    eer_method: str = "nearest",
    p_target: float = 0.05,
    c_miss: float = 1,
    c_fa: float = 1,
    normalize: bool = False,
    zero_policy: str | float = "keep",
    allow_undecided: bool = False,
) -> Check:
    """Judge requirements by confidence limits instead of estimates, as a gate before a system goes on.

    Parameters
    ----------
    comparisons : Comparisons or ScannedComparisons
        The comparisons that the judgement rests on.
    requirements : str or sequence of str
        Each a quantity, a relation and a number, such as "fnmr[f]@fmr=0.001 <= 5 %"; see Notes.
    at : OperatingPoint
        The operating point of rates, and of measures of rates, whose requirement names none.
    n_resamples : int, default 2000
        Number of replicates, at least 2.
    confidence_level : float, default 0.95
        The level of the limits, to one side, in (0.5, 1).
    unit, rng, n_threads, progress, alpha, eer_method
        As in `evaluate`.
    p_target, c_miss, c_fa, normalize, zero_policy
        As in `evaluate`.
    allow_undecided : bool, default False
        Whether the check passes where the data do not decide.

    Returns
    -------
    Check

    Raises
    ------
    InputError
        For a requirement that cannot be read, or that no data or all data would meet; for unknown groups, a rate that
        its operating point holds, and as `evaluate` does.

    Warns
    -----
    EmptyGroupWarning
        Names groups that lack comparisons.

    Notes
    -----
    A requirement is ``quantity[group]@point relation number``:

    - quantity: "fmr", "fnmr", "eer", "min_dcf", "cllr", "min_cllr", or a fairness measure with the rate or cost that it
      is of, such as "max_geomean_ratio(fnmr)" and "nrb(eer)"; by any name that it has.
    - group, optional: the label of a group, or "*" for every group on its own.
    - point, optional: "fmr=0.001", "fnmr=5 %", "threshold=0.4", "eer" or "mean-group-eer".
    - relation: "<=", "<", ">=" or ">".
    - number: a fraction, or a percentage such as "5 %".

    It is *met* where the one-sided confidence limit satisfies it: the upper limit for "<=". It is *not met* where the
    opposite limit is beyond the bound, and else *undecided*. It is undecided as well where there is no limit, and where
    the limit satisfies it, but is in doubt: its flags say that the interval is too narrow, or that the operating point
    is below the resolution of the data, or a measure rests on fewer than 30 false matches. An FMR with fewer than 30
    false matches is met where the bound is four times the limit, as it is not known then whether few subjects cause
    most of them. All requirements, and all groups of "*", have to be met, so that a system which
    violates one of them passes with a probability of at most 1 minus the level, without an adjustment (an
    intersection-union test [1]_). Where not all groups of "*" are met, each is judged by Holm's procedure. The opposite
    limits have a level adjusted for their number by Bonferroni's inequality: with at most this probability is any
    requirement called not met although it is.

    References
    ----------
    .. [1] R. L. Berger, "Multiparameter hypothesis testing and acceptance sampling", Technometrics 24(4), 1982.

    Examples
    --------
    >>> import fastfair as ff
    >>> c = ff.datasets.voxceleb1_h("resnetse34v2", groups="Gender")
    >>> found = ff.check(c, ["fnmr@fmr=0.001 <= 20 %", "fnmr[*] <= 12 %"], rng=0)
    >>> found.passed, found.verdicts
    (False, {'fnmr@fmr=0.001 <= 20 %': 'met', 'fnmr[*] <= 12 %': 'not met'})
    """
    wanted = requirements_of(requirements, at)
    expanded = [one for requirement in wanted for one in requirement.of_groups(comparisons.groups)]
    level = two_sided_level(intervals.level(confidence_level))
    if validation.count("n_resamples", n_resamples) < 2:
        raise InputError("a check needs replicates: n_resamples must be at least 2")
    points = list(dict.fromkeys(one.at for one in expanded if one.at is not None))
    names = [one.name.partition("(") for one in expanded]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NarrowIntervalsWarning)  # reasons say so of each quantity that it concerns
        evaluation = evaluate(
            comparisons, points or [at], [measure.name for one in expanded if (measure := measure_of(one.name))],
            metrics=[name for name in METRICS if any(name in (first, last[:-1]) for first, _, last in names)],
            unit=unit, n_resamples=n_resamples, confidence_level=level, rng=rng, n_threads=n_threads,
            progress=progress, alpha=alpha, eer_method=eer_method, p_target=p_target, c_miss=c_miss, c_fa=c_fa,
            normalize=normalize, zero_policy=zero_policy, incomplete_groups="nan",
        )  # fmt: skip
    dependent = unit == "comparison" and _repeats_subjects(comparisons)
    return _judged_all(evaluation, wanted, confidence_level, is_dependent=dependent, allow_undecided=allow_undecided)


def requirements_of(requirements: str | Sequence[str], at: OperatingPoint) -> list[Requirement]:
    """Read requirements; at: the operating point of those that name none."""
    listed = [requirements] if isinstance(requirements, str) else list(requirements)
    if not listed:
        raise InputError('requirements is empty: give at least one, such as "fnmr@fmr=0.001 <= 0.05"')
    return [read_requirement(text, at) for text in dict.fromkeys(listed)]


def check_evaluation(evaluation: Evaluation, wanted: Sequence[Requirement]) -> Check:
    """Judge requirements by the replicates of an evaluation that has all that they are about."""
    known = {quantity.key[::3] for quantity in evaluation.quantities}
    for one in wanted:
        if (one.name, one.at) not in known:
            raise InputError(
                f"the evaluation has no {one.name}{'' if one.at is None else f' at {one.at}'}: {one.text!r}"
            )
    dependent = evaluation.settings["unit"] == "comparison" and evaluation.n_subjects is not None
    level = evaluation.settings["confidence_level"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NarrowIntervalsWarning)  # reasons say so of each quantity that it concerns
        limits = evaluation.with_intervals(two_sided_level(level), "auto", "two-sided", simultaneous=False)
        return _judged_all(limits, wanted, level, is_dependent=dependent, allow_undecided=False)


def _judged_all(
    evaluation: Evaluation,
    wanted: Sequence[Requirement],
    confidence_level: float,
    *,
    is_dependent: bool,
    allow_undecided: bool,
) -> Check:
    """Judge requirements by an evaluation whose two-sided intervals end at one-sided limits of the level."""
    of_each = [requirement.of_groups(evaluation.groups) for requirement in wanted]
    n_rows = sum(map(len, of_each))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NarrowIntervalsWarning)
        opposite = evaluation.with_intervals(two_sided_level(1 - (1 - confidence_level) / n_rows))
        rows: list[CheckedQuantity] = []
        for together in of_each:
            doubt = _DEPENDENT if is_dependent else ""
            rows += _judged(together, evaluation, opposite, two_sided_level(confidence_level), doubt)
    texts = [one.text for one in wanted]
    settings = evaluation.settings | {"requirements": texts, "confidence_level": confidence_level}
    return Check(tuple(texts), tuple(rows), confidence_level, settings, allow_undecided)


def _judged(
    rows: Sequence[Requirement], evaluation: Evaluation, opposite: Evaluation, level: float, dependent: str
) -> list[CheckedQuantity]:
    """Judge the rows of one requirement; level: of the evaluation's two-sided intervals."""
    one_sided = (1 + level) / 2
    found = [_found(one, evaluation) for one in rows]
    limits = [_end(quantity, one.is_upper) for one, quantity in zip(rows, found, strict=True)]
    doubts = [_doubt(one, quantity, limit, dependent) for one, quantity, limit in zip(rows, found, limits, strict=True)]

    def met_at(probability: float, which: Sequence[int]) -> list[int]:
        wider = evaluation
        if probability < 1 - one_sided:
            wider = evaluation.with_intervals(two_sided_level(1 - probability))
        ends = {k: _end(_found(rows[k], wider), rows[k].is_upper) for k in which}
        return [k for k, end in ends.items() if rows[k].allows(end) and not doubts[k]]

    met = met_by_holm(len(rows), met_at, 1 - one_sided)
    judged = []
    for k, (one, quantity, limit, doubt) in enumerate(zip(rows, found, limits, doubts, strict=True)):
        beyond = _end(_found(one, opposite), not one.is_upper)
        verdict, reason = _verdict(one, quantity, (limit, beyond), 100 * one_sided, doubt, is_met=k in met)
        if verdict == UNDECIDED and one.name in ("fmr", "fnmr") and one.is_upper and not math.isnan(limit):
            reason += _needed(evaluation, quantity, one.bound, one_sided)
        judged.append(CheckedQuantity(
            one.text, one.name, one.group, one.at, one.relation, one.bound, quantity.estimate, limit, beyond, verdict,
            reason, quantity.n_comparisons, quantity.n_errors, quantity.n_subjects, quantity.flags,
        ))  # fmt: skip
    return judged


def _doubt(one: Requirement, quantity: Quantity, limit: float, dependent: str) -> str:
    """Say what puts a limit in doubt."""
    doubt = doubts_about(quantity, lambda room: one.allows(limit * room if one.is_upper else limit / room))
    return "; ".join(filter(None, (dependent, doubt)))


def _needed(evaluation: Evaluation, quantity: Quantity, bound: float, level: float) -> str:
    """Say how many subjects, or comparisons, would show that a rate is within the bound if it stays as it is."""
    evidence = Evidence.of(evaluation, quantity)
    is_below = has_flag(quantity, BELOW_RESOLUTION)  # whose note says how many comparisons would do
    times = math.inf if evidence is None or is_below else evidence.times_needed(bound, level)
    there, what = (quantity.n_subjects, "subjects") if quantity.n_subjects else (quantity.n_comparisons, "comparisons")
    if not there or not 1 < times < math.inf:
        return ""
    return f"; about {math.ceil(times * there):,} {what} with this rate would be enough"


def _verdict(
    one: Requirement, found: Quantity, limits: tuple[float, float], level: float, doubt: str, *, is_met: bool
) -> tuple[str, str]:
    limit, opposite = limits
    estimate, bound, shown, beyond = (written_value(one.name, x) for x in (found.estimate, one.bound, limit, opposite))
    side, least = ("upper", "at least") if one.is_upper else ("lower", "at most")
    if math.isnan(limit):
        return UNDECIDED, f"{estimate}, without a limit: {found.note or 'it is not computable'}"
    told = f"{estimate}; the {side} limit is {shown} at {level:g} % confidence"
    if is_met:
        return MET, told
    if not one.allows(limit) and not one.allows(opposite):
        return NOT_MET, f"{estimate}, and {least} {beyond}, which is not {one.relation} {bound}"
    if not one.allows(limit):
        few = f" ({found.note})" if found.note else ""
        return UNDECIDED, f"{told}, which is not {one.relation} {bound}: too few data to decide{few}"
    if doubt:
        return UNDECIDED, f"{told}, but this limit is in doubt: {doubt}"
    return UNDECIDED, f"{told}, but not at the confidence that is needed for one of several groups"


def _found(one: Requirement, evaluation: Evaluation) -> Quantity:
    key = one.name, one.group, None, one.at
    missing = Quantity(*key[:2], one.at, math.nan, math.nan, math.nan, note="groups lack comparisons")
    return next((quantity for quantity in evaluation.quantities if quantity.key == key), missing)


def _end(quantity: Quantity, upper: bool) -> float:
    end = quantity.high if upper else quantity.low
    return math.nan if end is None else end


def _repeats_subjects(comparisons: Comparisons | ScannedComparisons) -> bool:
    if isinstance(comparisons, ScannedComparisons) or comparisons.subjects is None:
        return False
    return comparisons.subjects.size < len(comparisons.mated) + len(comparisons.nonmated)
