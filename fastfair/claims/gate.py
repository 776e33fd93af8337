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
from fastfair.data.comparisons import Comparisons
from fastfair.data.scans import ScannedComparisons
from fastfair.error_rates.operating_points import OperatingPoint, at_fmr
from fastfair.error_rates.score_metrics import Costs
from fastfair.errors import InputError, NarrowIntervalsWarning
from fastfair.evaluation.attributes import evaluate_attributes
from fastfair.evaluation.evaluate import EvaluationSettings, evaluate
from fastfair.evaluation.failure_counts import FailureCounts
from fastfair.evaluation.result import Evaluation
from fastfair.measures._registry import measure_of
from fastfair.resampling.engine import METRICS as SCORE_METRICS
from fastfair.resampling.units import Unit

from .counts import AT, in_other_words, requirements_on, unit_of_counts
from .families import Attributes, estimates_of_each
from .profile import Profile, read_profile
from .profile_check import check_profile
from .requirements import Requirement, requirements_of
from .result import Check, CheckedQuantity
from .verdicts import Estimates, judged, level_of_limits

_USUAL_LEVEL = 0.95
_USUAL_FMR = 1e-3


@checked
def check(
    comparisons: Comparisons | ScannedComparisons | FailureCounts,
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
    costs: Costs = Costs(),  # noqa: B008 - frozen
    settings: EvaluationSettings = EvaluationSettings(),  # noqa: B008 - frozen
    allow_undecided: bool = False,
) -> Check:
    """Judge requirements by confidence limits instead of estimates, as a gate before a system goes
    on.

    Parameters
    ----------
    comparisons : Comparisons, ScannedComparisons or FailureCounts
        The comparisons that the judgement rests on, or failures and attempts of people, whose
        requirements name the rate that was counted and no operating point.
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
    costs : Costs
        As in `min_dcf`.
    settings : EvaluationSettings
        How intervals are made, and quantities defined. Groups that lack comparisons are never left
        out: their measures are NaN.
    allow_undecided : bool, default False
        Whether the check passes where the data do not decide.

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

    - quantity: "fmr", "fnmr", "eer", "min_dcf", "cllr", "min_cllr", "auc", "d_prime", or a fairness
      measure with the rate or cost that it is of, such as "max_geomean_ratio(fnmr)" and "nrb(eer)"; by any name that
      it has. FAR and FPR are read as FMR, FRR and FNR as FNMR, and TAR, GAR and TPR as 1 - FNMR.
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

    References
    ----------
    .. [1] R. L. Berger, "Multiparameter hypothesis testing and acceptance sampling", Technometrics 24(4), 1982.

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
            at=_point_of(comparisons, at, asked),
            confidence_level=asked.level,
            unit=unit,
            rng=seed,
            n_threads=n_threads,
            costs=costs,
            settings=settings,
            allow_undecided=allow_undecided,
        )
        full = partial(judge, n_resamples=n_resamples, progress=progress)
        return check_profile(comparisons, asked, judge, full, seed)
    if requirements is None:
        raise InputError('give ⟦requirements⟧, such as "fnmr <= 0.05", or a ⟦profile⟧')
    at = at or at_fmr(_USUAL_FMR)
    counts = comparisons if isinstance(comparisons, FailureCounts) else None
    if isinstance(comparisons, FailureCounts):
        wanted = requirements_on(comparisons, requirements)
        unit = unit_of_counts(comparisons, unit)
        comparisons = comparisons.decisions
        at = AT
    else:
        wanted = requirements_of(requirements, at)
    if isinstance(comparisons, Comparisons):  # scans have both classes
        for requirement in wanted:
            comparisons._require_rates(f"the requirement {requirement.text!r}", requirement.rates)
    about = Attributes(comparisons)
    families = [about.family(rule) for rule in wanted]
    expanded = [rule for family in families for rule in family]
    level = level_of_limits(confidence_level)
    if n_resamples < 2:
        raise InputError("a check needs replicates: ⟦n_resamples⟧ must be at least 2")
    points = list(dict.fromkeys(required.at for required in expanded if required.at is not None))
    names = [required.name.partition("(") for required in expanded]
    how: dict[str, Any] = {
        "at": points or [at],
        "measures": [
            measure.name for required in expanded if (measure := measure_of(required.name))
        ],
        "metrics": [
            name
            for name in SCORE_METRICS
            if any(name in (first, last[:-1]) for first, _, last in names)
        ],
        "unit": unit,
        "n_resamples": n_resamples,
        "confidence_level": level,
        "rng": rng,
        "n_threads": n_threads,
        "progress": progress,
        "costs": costs,
        "settings": replace(settings, incomplete_groups="nan"),
    }
    if counts is not None and counts.totals and not how["measures"]:
        how["n_resamples"] = 0  # limits of totals are exact
    groupings = list(dict.fromkeys(required.grouping for required in expanded))
    with warnings.catch_warnings():
        # reasons say so of each quantity that it concerns
        warnings.simplefilter("ignore", NarrowIntervalsWarning)
        if groupings == [tuple(comparisons.grouping)]:
            evaluations: Sequence[Evaluation] = [evaluate(comparisons, **how)]
        else:
            evaluations = evaluate_attributes(comparisons, groupings, **how).evaluations
    made = check_evaluations(evaluations, wanted, families)
    result = replace(made, allow_undecided=allow_undecided)
    if counts is None:
        return result
    rows = tuple(
        replace(row, name=in_other_words(counts, row.name), at=None) for row in result.rows
    )
    return replace(result, rows=rows, left_out=counts.left_out)


def _point_of(data: object, at: OperatingPoint | None, profile: Profile) -> OperatingPoint | None:
    """Return the operating point of the lines of a profile; counts have none."""
    return at if at is not None or isinstance(data, FailureCounts) else profile.point


def check_evaluations(
    evaluations: Sequence[Evaluation],
    wanted: Sequence[Requirement],
    families: Sequence[Sequence[Requirement]],
) -> Check:
    """Judge requirements by the replicates of evaluations that have all that they are about, whose
    own intervals stand beside the limits that are judged.
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
    made = judged_check(wanted, families, estimates_of_each(by_grouping, wanted), first.settings)
    return replace(made, left_out=first.left_out)


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
    return Check(tuple(texts), tuple(rows), level, {**settings, "requirements": texts})
