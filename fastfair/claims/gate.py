"""`check`: are requirements met?"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from fastfair._lib import seeds
from fastfair._lib.arguments import Resamples, checked
from fastfair.data.attacks import SPECIES
from fastfair.data.comparisons import Comparisons
from fastfair.data.scans import ScannedComparisons
from fastfair.error_rates.operating_points import OperatingPoint, at_fmr
from fastfair.errors import InputError, NarrowIntervalsWarning
from fastfair.evaluation.attributes import evaluate_attributes
from fastfair.evaluation.counted_rates import AT, require_no_point
from fastfair.evaluation.evaluate import EvaluationSettings, MeasureSettings, evaluate
from fastfair.evaluation.failure_counts import FailureCounts
from fastfair.evaluation.result import Evaluation
from fastfair.evaluation.system_comparison import SystemComparison
from fastfair.measures._registry import ACCURACY
from fastfair.resampling.engine import METRICS as SCORE_METRICS
from fastfair.resampling.units import Unit

from .any_look import judge_any
from .attacks import JudgedAttacks, names_of_attacks, require_rates_of_attacks
from .counts import (
    names_in_requirements,
    requirements_on,
    requirements_on_rate,
)
from .differences import (
    estimates_of_differences,
    exclusions_of_groups,
    labels_of,
    require_common_groups,
)
from .families import Attributes, estimates_of_each
from .looks import at_look, look_at, read_earlier, read_looks, require_later
from .profile import read_profile
from .profile_check import check_profile
from .requirements import Requirement, measures_in, points_in, requirements_of
from .result import Check, CheckedQuantity
from .transactions import measures_of_rates, names_of_rates_and_measures, of_transactions
from .verdicts import Estimates, compared_in_words, judged, level_of_limits

_USUAL_LEVEL = 0.95
_USUAL_FMR = 1e-3


@checked
def check(
    comparisons: Comparisons | ScannedComparisons | FailureCounts | SystemComparison,
    requirements: str | Sequence[str] | None = None,
    at: OperatingPoint | None = None,
    *,
    profile: str | Path | None = None,
    n_resamples: Resamples = 2000,
    confidence_level: float = _USUAL_LEVEL,
    unit: Unit = "subject",
    rng: seeds.Seed = None,
    n_threads: int | None = None,
    progress: bool | Callable[[int, int], None] = False,
    settings: MeasureSettings = MeasureSettings(),  # noqa: B008 - frozen
    allow_undecided: bool = False,
    looks: str | tuple[int, int] | None = None,
    previous: str | Path | None = None,
) -> Check:
    """Judge requirements by confidence limits instead of estimates, as a gate before a system goes
    on.

    Parameters
    ----------
    comparisons : Comparisons, ScannedComparisons, FailureCounts or SystemComparison
        The comparisons that the judgement rests on, or failures and attempts of people, whose
        requirements name the rate that was counted and no operating point.

        Or what `compare` returns, whose requirements are on differences, such as "fnmr(new) -
        fnmr(old) <= 1 %", or "difference(fnmr) <= 1 %" of two systems, in percentage points;
        limits are those of its replicates. By default they are at its first operating point.
    requirements : str or sequence of str
        What must hold: a quantity, a relation and a number each, such as "fnmr[f]@fmr=0.001 <= 5
        %".

        See Notes.
    at : OperatingPoint, optional
        The operating point of rates, and of measures of rates, whose requirement names none. By
        default an FMR of 0.001, or that of the profile.
    profile : str or path, optional
        Requirements of a standard or policy, by name or as a TOML file. With fastfair come
        "common-criteria", "eu-ees-face", "eu-ees-finger", "iso-19795" and "nist-800-63a".
    n_resamples : int, default 2000
        Number of replicates, at least 2.
    confidence_level : float, default 0.95
        The level of the limits, to one side, in (0.5, 1).
    unit, rng, n_threads, progress
        As in `evaluate`.
    settings : MeasureSettings
        How measures, the EER and costs are defined. Groups that lack comparisons are never left
        out: their measures are NaN.
    allow_undecided : bool, default False
        Whether the check passes where the data do not decide.
    looks : str or pair of int, optional
        Which look at growing data this is, and how many are planned, as in 3/12, or "any" for any
        number: without it every look may err in 5 %, and some of 12 in up to 17 %.

        The pair (3, 12) is the same as 3/12. About as many people are to be new at each look.
    previous : path, optional
        The JSON of the look before: another requirement, level or order of looks is refused.

    Returns
    -------
    Check
        With a profile a `ProfileCheck`, which has its clauses beside the rows of the check.

    Raises
    ------
    InputError
        For a requirement that cannot be read, or that no data or all data would meet; for unknown
        groups, a rate that its operating point holds, and as `evaluate` does.

    Warns
    -----
    EmptyGroupWarning
        Names groups that lack comparisons.

    Notes
    -----
    A requirement is ``quantity[group]@point relation number``:

    - quantity: "fmr", "fnmr", "eer", "min_dcf", "cllr", "min_cllr", "auc", "d_prime", "accuracy", or a fairness
      measure with the rate or cost that it is of, such as "max_geomean_ratio(fnmr)" and "nrb(eer)"; by any name that
      it has. FAR and FPR are read as FMR, FRR and FNR as FNMR, and TAR, GAR and TPR as the TMR,
      1 - FNMR, whose verdict and limits are those of the FNMR mirrored.
    - group, optional: the label of a group; a label of an attribute, as in "sex=f", or "*" for each
      of its labels, as in "sex=*"; of intersections, as in "age=*, sex=f"; or "*" alone for every
      group of every attribute, of which each is judged on its own.
    - point, optional: "fmr=0.001", "fnmr=5 %", "threshold=0.4", "eer" or "mean-group-eer".
    - relation: "<=", "<", ">=" or ">".
    - number: a fraction, or a percentage such as "5 %".

    It is *met* where the one-sided confidence limit satisfies it: the upper limit for "<=". It is
    *not met* where the opposite limit is beyond the bound, and else *undecided*. It is undecided as
    well where there is no limit, and where the limit satisfies it, but is in doubt: its flags say
    that the interval is too narrow, or that the operating point is below the resolution of the
    data, or a measure rests on fewer than 30 false matches. An FMR with fewer than 30 false matches
    is met where four times the limit satisfies it, as it is not known then whether few subjects
    cause most of them; or where nobody is in two comparisons. All requirements, and all groups of
    "*", have to be met, so that a system which violates one of them passes with a probability of at
    most 1 minus the level, without an adjustment (an intersection-union test [1]_). Where not all
    groups of "*" are met, each is judged by Holm's procedure: its limit then has a level of its
    own, `limit_level`. So are all opposite limits: with at most this probability is any requirement
    called not met although it is.

    The lines of a profile are judged together, as requirements are: a clause is what its line is.
    The first of several lines is judged that the data can answer, and a clause that they cannot
    answer is *not judged*; so all is not passed unless all were judged. The standard's own rule
    stands beside the limit, and decides nothing.

    All this holds of one look. Who checks all data so far again and again, until the verdict suits,
    errs more often: of 12 looks in up to 17 % where 5 % was meant. With `looks` all of them together
    err in 5 %: limits have O'Brien and Fleming's levels [2]_, high at first and at the last look
    nearly that of a single one. With "any" limits are confidence sequences [3]_ on people, or for FMRs
    on pairs of people of whom nobody is in two. They are for rates of failure and FMRs alone, and
    need `previous` from the second look on. People come in the order of the data's first
    comparisons, and a look adds people to the end: who has been judged keeps his comparisons. A
    threshold found on the data is fixed by the first look, and judges people who come later.

    References
    ----------
    .. [1] R. L. Berger, "Multiparameter hypothesis testing and acceptance sampling", Technometrics 24(4), 1982.
    .. [2] P. C. O'Brien and T. R. Fleming, "A multiple testing procedure for clinical trials", Biometrics 35(3), 1979.
    .. [3] I. Waudby-Smith and A. Ramdas, "Estimating means of bounded random variables by betting", Journal of the
       Royal Statistical Society B 86(1), 2024.

    Examples
    --------
    >>> import fastfair as ff
    >>> c = ff.datasets.voxceleb1_h("resnetse34v2", groups="Gender")
    >>> check = ff.check(c, ["fnmr@fmr=0.001 <= 20 %", "fnmr[*] <= 12 %"], rng=0)
    >>> check.passed, check.verdicts
    (False, {'fnmr@fmr=0.001 <= 20 %': 'met', 'fnmr[*] <= 12 %': 'not met'})
    """
    if profile is not None:
        if requirements is not None:
            raise InputError("give ⟦requirements⟧ or ⟦profile⟧, not both: a profile has its own")
        if isinstance(comparisons, SystemComparison):
            raise InputError(
                "a ⟦profile⟧ judges the data of one system, not a comparison of several"
            )
        if looks is not None:
            raise InputError("a ⟦profile⟧ is judged at a single look: leave ⟦looks⟧ out")
        asked = read_profile(profile)
        if confidence_level not in (_USUAL_LEVEL, asked.level):
            raise InputError(
                f"⟦confidence_level={confidence_level}⟧ is not that of the profile, {asked.level}:"
                " leave it out, or change the profile"
            )
        seed = seeds.fix_seed(rng)
        judge = partial(
            check,
            comparisons,
            # counts have none
            at=at or (None if isinstance(comparisons, FailureCounts) else asked.point),
            confidence_level=asked.level,
            unit=unit,
            rng=seed,
            n_threads=n_threads,
            settings=settings,
            allow_undecided=allow_undecided,
        )
        full = partial(judge, n_resamples=n_resamples, progress=progress)
        return check_profile(comparisons, asked, judge, full, seed)
    if requirements is None:
        raise InputError('give ⟦requirements⟧, such as "fnmr <= 0.05", or a ⟦profile⟧')
    if looks is None and previous is not None:
        raise InputError("⟦previous⟧ goes with ⟦looks⟧, which says which look this is, as in 3/12")
    if isinstance(comparisons, SystemComparison):
        if looks is not None:
            raise InputError(
                "comparisons of systems are judged at a single look: leave ⟦looks⟧ out"
            )
        made = _check_differences(comparisons, requirements, at, confidence_level)
        return replace(made, allow_undecided=allow_undecided)
    counts = None
    if isinstance(comparisons, FailureCounts):
        counts = comparisons
        require_no_point(at)
        wanted = requirements_on(counts, requirements)
        unit = "comparison" if counts.totals else unit
        called = names_in_requirements(counts.rate_name)
        comparisons = counts.decisions
        at = AT
    else:
        at = at or at_fmr(_USUAL_FMR)
        also = (*names_of_attacks(comparisons), *measures_of_rates(comparisons))
        wanted = requirements_of(requirements, at, also=also)
        called = names_of_rates_and_measures(comparisons)
    rates_of_attacks = names_of_attacks(comparisons)
    of_attacks = [rule for rule in wanted if rule.name in rates_of_attacks]
    if isinstance(comparisons, Comparisons):  # scans have both classes
        wanted = of_transactions(comparisons, wanted) if comparisons.transactions else wanted
        for requirement in wanted:
            comparisons._require_rates(f"the requirement {requirement.text!r}", requirement.rates)
        require_rates_of_attacks(comparisons, of_attacks)
    level = level_of_limits(confidence_level)
    if n_resamples < 2:
        raise InputError("a check needs replicates: ⟦n_resamples⟧ must be at least 2")
    drawn = {
        "unit": unit,
        "n_resamples": n_resamples,
        "confidence_level": level,
        "rng": seeds.fix_seed(rng) if of_attacks else rng,
        "n_threads": n_threads,
        "progress": progress,
    }
    attacks = None
    if of_attacks and isinstance(comparisons, Comparisons):
        if looks is not None:
            raise InputError("rates of attacks are judged at a single look: leave ⟦looks⟧ out")
        attacks = JudgedAttacks(comparisons, drawn)
    about = Attributes(comparisons)
    families = [
        attacks.family(rule) if attacks and rule in of_attacks else about.family(rule)
        for rule in wanted
    ]
    expanded = [rule for family in families for rule in family if rule.name not in rates_of_attacks]
    look = at_this_look = earlier = None
    if looks is not None:
        planned = read_looks(looks)
        if previous is not None:
            asked_for = [
                _with_point(rule.text, rule.at if counts is None else None) for rule in wanted
            ]
            earlier = _earlier(previous, planned, asked_for, level)
        if planned is None:
            before = None if earlier is None else earlier.look
            look, at_this_look = judge_any(comparisons, expanded, level, before)
        else:
            look = look_at(*planned, level)
            at_this_look = partial(at_look, look=look, n_resamples=n_resamples)
    points = points_in(expanded)
    names = [required.name.partition("(") for required in expanded]
    how: dict[str, Any] = {
        "at": points or [at],
        "measures": measures_in(expanded),
        "metrics": [
            name
            for name in (*SCORE_METRICS, ACCURACY)
            if any(name in (first, last[:-1]) for first, _, last in names)
        ],
        **drawn,
        "costs": settings.costs,
        "settings": EvaluationSettings(
            alpha=settings.alpha,
            eer_method=settings.eer_method,
            zero_policy=settings.zero_policy,
            incomplete_groups="nan",
        ),
    }
    if counts is not None and counts.totals and not how["measures"]:
        how["n_resamples"] = 0  # limits of totals are exact
    groupings = list(dict.fromkeys(required.grouping for required in expanded))
    evaluations: Sequence[Evaluation] = []
    with warnings.catch_warnings():
        # reasons say so of each quantity that it concerns
        warnings.simplefilter("ignore", NarrowIntervalsWarning)
        if groupings == [tuple(comparisons.grouping)]:
            evaluations = [evaluate(comparisons, **how)]
        elif groupings:
            evaluations = evaluate_attributes(comparisons, groupings, **how).evaluations
    if attacks is None:
        made = check_evaluations(evaluations, wanted, families, at_this_look)
    else:
        made = _check_with_attacks(evaluations, wanted, families, attacks, drawn)
    rows = tuple(replace(row, name=called.get(row.name, row.name)) for row in made.rows)
    result = replace(made, rows=rows, allow_undecided=allow_undecided, look=look)
    if counts is not None:
        rows = tuple(replace(row, at=None) for row in rows)
        result = replace(result, rows=rows, left_out=counts.left_out, thresholds={})
    if earlier is not None:
        _require_as_many(result, earlier)
    return result


def _require_as_many(result: Check, earlier: Check) -> None:
    """Refuse data that are fewer than those of the look before."""
    before = {(row.requirement, row.group): row for row in earlier.rows}
    for row in result.rows:
        other = before.get((row.requirement, row.group), row)
        if (row.n_comparisons or 0) < (other.n_comparisons or 0):
            raise InputError(
                f"⟦previous⟧ has {other.n_comparisons:,} {compared_in_words(row.name, row.at)} behind the {row.title},"
                f" and there are {row.n_comparisons or 0:,} now: a look is at all data so far"
            )


def _earlier(
    previous: str | Path, planned: tuple[int, int] | None, asked: list[str], level: float
) -> Check:
    """Read the result of the look before, and refuse one of something else."""
    earlier: Check = read_earlier(previous)
    before = dict.fromkeys(_with_point(row.requirement, row.at) for row in earlier.rows)
    about = (("requirement", list(before), asked), ("level", earlier.confidence_level, level))
    require_later(planned, earlier.look, about)
    return earlier


def _with_point(text: str, at: OperatingPoint | None) -> str:
    return text if at is None or "@" in text else f"{text} at {at}"


def _check_differences(
    comparison: SystemComparison,
    requirements: str | Sequence[str],
    at: OperatingPoint | None,
    confidence_level: float,
) -> Check:
    """Judge requirements on differences of systems."""
    level = level_of_limits(confidence_level)
    rates = comparison.evaluations[0].rates
    usual = at or (rates[0].at if rates else at_fmr(_USUAL_FMR))
    pairs = list(comparison._pairs())
    if comparison.counted is None:
        wanted = requirements_of(requirements, usual, pairs=pairs)
    else:
        require_no_point(at)
        read = requirements_on_rate(comparison.counted, requirements, pairs)
        wanted = [replace(rule, at=None) for rule in read]
    require_common_groups(comparison, wanted)
    about = Attributes(labels_of(comparison))
    families = [about.family(rule) for rule in wanted]
    settings = {**comparison.settings, "confidence_level": level}
    made = judged_check(wanted, families, estimates_of_differences(comparison), settings)
    groups = exclusions_of_groups(comparison) if any(rule.group for rule in wanted) else ()
    return replace(made, left_out=(*comparison.left_out, *groups))


def _check_with_attacks(
    evaluations: Sequence[Evaluation],
    wanted: Sequence[Requirement],
    families: Sequence[Sequence[Requirement]],
    attacks: JudgedAttacks,
    drawn: Mapping[str, Any],
) -> Check:
    """Judge requirements on attacks together with those on evaluations, if there are any."""
    names = names_of_attacks(attacks.comparisons)
    by_grouping = {tuple(evaluation.settings["grouping"]): evaluation for evaluation in evaluations}
    others = estimates_of_each(by_grouping, wanted) if by_grouping else None
    on_attacks = [rule for family in families for rule in family if rule.name in names]
    settings = {name: drawn[name] for name in ("unit", "n_resamples", "confidence_level", "rng")}
    settings = evaluations[0].settings if evaluations else settings
    made = judged_check(wanted, families, attacks.estimates(on_attacks, others), settings)
    return replace(made, left_out=attacks.comparisons.left_out)


def check_evaluations(
    evaluations: Sequence[Evaluation],
    wanted: Sequence[Requirement],
    families: Sequence[Sequence[Requirement]],
    at_this_look: Callable[[Estimates], Estimates] | None = None,
) -> Check:
    """Judge requirements by the replicates of evaluations that have all that they are about, whose
    own intervals stand beside the limits that are judged.

    at_this_look: gives estimates the limits of one of several looks.
    """
    first = evaluations[0]
    computed = {quantity.key[::3] for quantity in first.quantities}
    for required in wanted:
        if (required.name, required.at) not in computed:
            raise InputError(
                f"the evaluation has no {required.name}{'' if required.at is None else f' at {required.at}'}:"
                f" {required.text!r}"
            )
    by_grouping = {tuple(evaluation.settings["grouping"]): evaluation for evaluation in evaluations}
    estimates = estimates_of_each(by_grouping, wanted)
    if at_this_look is not None:
        estimates = at_this_look(estimates)
    made = judged_check(wanted, families, estimates, first.settings)
    thresholds = {
        str(rates.at): rates.threshold for evaluation in evaluations for rates in evaluation.rates
    }
    return replace(made, left_out=first.left_out, thresholds=thresholds)


def judged_check(
    wanted: Sequence[Requirement],
    families: Sequence[Sequence[Requirement]],
    estimates: Estimates,
    settings: Mapping[str, Any],
) -> Check:
    """Judge requirements, each as those of the groups that it is about; settings: those of the
    check, with the confidence level.
    """
    texts = [rule.text for rule in wanted]
    level = settings["confidence_level"]
    rows = [
        CheckedQuantity._of(
            row,
            requirement=rule.text,
            name=rule.name,
            at=rule.at,
            relation=rule.relation,
            bound=rule.bound,
            **(limits if rule.written is None else limits | {"group": rule.written}),
        )
        for rule, row, limits in judged(families, estimates, level)
    ]
    about = {**settings, "requirements": texts}
    of_species = [rule.text for family in families for rule in family if rule.group_term == SPECIES]
    if of_species:
        about["of_species"] = list(dict.fromkeys(of_species))
    return Check(tuple(texts), tuple(rows), level, about)
