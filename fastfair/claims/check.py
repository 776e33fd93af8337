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
from fastfair.error_rates.operating_points import ENOUGH_ERRORS, OperatingPoint, at_fmr
from fastfair.errors import InputError, NarrowIntervalsWarning
from fastfair.evaluation.evaluate import evaluate
from fastfair.evaluation.result import Evaluation
from fastfair.measures._compute import measure_of
from fastfair.resampling.preparation import METRICS
from fastfair.uncertainty.interval_maker import two_sided_level
from fastfair.uncertainty.interval_notes import NOT_KNOWN_WHOSE
from fastfair.uncertainty.quantities import Quantity

from .check_results import Check
from .checked_quantity import MET, NOT_MET, OPEN, CheckedQuantity, written_value
from .requirements import Requirement, read_requirement

_NARROW = "too narrow"  # in notes of intervals that may not keep their promise
# With few false matches it is not known whether few subjects cause most. In simulations where they do, up to 30 % of
# FMRs that were just too high had a limit below the bound, and at most 5 % had one below a fourth of it.
ROOM = 4
_OF_FEW = (
    f"with fewer than {ENOUGH_ERRORS} false matches it is not known whether few subjects cause most of them, so the "
    f"bound has to leave room for {ROOM} times the limit"
)
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
    zero_policy: str | float = "keep",
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
    unit, rng, n_threads, progress, alpha, eer_method, p_target, c_miss, c_fa, zero_policy
        As in `evaluate`.

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
    opposite limit is beyond the bound, and else *open*. It is open as well where there is no limit, and where the limit
    satisfies it, but a note says that the interval is too narrow, or a measure rests on fewer than 30 false matches. An
    FMR with fewer than 30 false matches is met where the bound is four times the limit, as it is not known then
    whether few subjects cause most of them. All requirements, and all groups of "*", have to be met, so that a system
    which violates one of them passes with a probability of at most 1 minus the level, without an adjustment (an
    intersection-union test [1]_). The opposite limits have a level adjusted for their number by Bonferroni's
    inequality: with at most this probability is any requirement called not met although it is.

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
    listed = [requirements] if isinstance(requirements, str) else list(requirements)
    if not listed:
        raise InputError('requirements is empty: give at least one, such as "fnmr@fmr=0.001 <= 0.05"')
    wanted = [read_requirement(text, at) for text in dict.fromkeys(listed)]
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
            zero_policy=zero_policy, incomplete_groups="nan",
        )  # fmt: skip
        wide = evaluation.with_intervals(two_sided_level(1 - (1 - confidence_level) / len(expanded)))
    doubt = _DEPENDENT if unit == "comparison" and _repeats_subjects(comparisons) else ""
    rows = [_judged(one, evaluation, wide, 100 * confidence_level, doubt) for one in expanded]
    texts = [one.text for one in wanted]
    settings = evaluation.settings | {"requirements": texts, "confidence_level": confidence_level}
    return Check(tuple(texts), tuple(rows), confidence_level, settings)


def _judged(one: Requirement, evaluation: Evaluation, wide: Evaluation, level: float, doubt: str) -> CheckedQuantity:
    found, opposite = (_found(one, among) for among in (evaluation, wide))
    limit = _end(found, one.is_upper)
    beyond = _end(opposite, not one.is_upper)
    doubts = [doubt, *(note for note in found.note.split("; ") if _NARROW in note and note != NOT_KNOWN_WHOSE)]
    if one.name == "fmr" and (found.n_errors or 0) < ENOUGH_ERRORS:
        doubts.append("" if one.allows(limit * ROOM if one.is_upper else limit / ROOM) else _OF_FEW)
    verdict, reason = _verdict(one, found, (limit, beyond), level, "; ".join(filter(None, doubts)))
    return CheckedQuantity(
        one.text, one.name, one.group, one.at, one.relation, one.bound, found.estimate, limit, beyond, verdict, reason,
        found.n_comparisons, found.n_errors, found.n_subjects,
    )  # fmt: skip


def _verdict(
    one: Requirement, found: Quantity, limits: tuple[float, float], level: float, doubt: str
) -> tuple[str, str]:
    limit, opposite = limits
    estimate, bound, shown, beyond = (written_value(one.name, x) for x in (found.estimate, one.bound, limit, opposite))
    most, least = ("at most", "at least") if one.is_upper else ("at least", "at most")
    if math.isnan(limit):
        return OPEN, f"it is {estimate}, without a limit: {found.note or 'it is not computable'}"
    if one.allows(limit):
        told = f"it is {estimate}, and {most} {shown} with {level:g} % confidence"
        return (OPEN, f"{told}, but this limit is in doubt: {doubt}") if doubt else (MET, told)
    if not one.allows(opposite):
        return NOT_MET, f"it is {estimate}, and {least} {beyond}, which is not {one.relation} {bound}"
    few = f" ({found.note})" if found.note else ""
    return OPEN, (
        f"it is {estimate}, but {most} {shown} with {level:g} % confidence, which is not {one.relation} {bound}: too "
        f"few data to decide{few}"
    )


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
