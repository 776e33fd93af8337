"""`claim`: do the data support that an error rate is at most so large, of all people and of each group?"""

from __future__ import annotations

import math
from collections.abc import Callable

from fastfair import intervals
from fastfair._lib import argument_kinds, seeds, validation
from fastfair._lib.arguments import checked
from fastfair.data.comparisons import Comparisons
from fastfair.data.embeddings import Embeddings
from fastfair.data.scanned_comparisons import ScannedComparisons
from fastfair.error_rates.curve_results import ERROR_RATES
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.errors import InputError
from fastfair.evaluation.evaluate import evaluate
from fastfair.evaluation.result import Evaluation, maker_of
from fastfair.uncertainty.quantities import BELOW_RESOLUTION, Quantity, has_flag

from .evidence import Evidence, independent_limit
from .judging import doubts_about
from .results import Claim, ClaimedRate, adjusted, verdict_of
from .statements import RELATION, RELATIONS, number_of


@checked(comparisons=argument_kinds.one_of("Comparisons", "ScannedComparisons", "Embeddings"), at=argument_kinds.point)
def claim(
    comparisons: Comparisons | ScannedComparisons | Embeddings,
    statement: str,
    at: OperatingPoint,
    *,
    n_resamples: int = 2000,
    confidence_level: float = 0.95,
    unit: str = "subject",
    rng: seeds.Seed = None,
    n_threads: int | None = None,
    progress: bool | Callable[[int, int], None] = False,
) -> Claim:
    """Judge the claim that a rate of errors is at most so large, overall and in each group.

    Parameters
    ----------
    comparisons : Comparisons, ScannedComparisons or Embeddings
        The comparisons that the judgement rests on, or vectors all of whose pairs it does.
    statement : str
        What is claimed: "fmr" or "fnmr", "<=", and a rate in (0, 1), as in "fmr <= 1e-4" or "fnmr <= 2 %".
    at : OperatingPoint
        The operating point that the claim is made for. It may not hold the rate that is claimed.
    n_resamples : int, default 2000
        Number of replicates, at least 2.
    confidence_level : float, default 0.95
        The level of the limits, to one side, in (0.5, 1).
    unit, rng, n_threads, progress
        As in `evaluate`.

    Returns
    -------
    Claim

    Raises
    ------
    InputError
        For a statement that cannot be read, an operating point that holds the rate claimed, and as `evaluate` does.

    Notes
    -----
    The limits are the one-sided ones of `evaluate`, by the dyadic-robust variance of comparisons that share subjects,
    and Clopper and Pearson's for the effective sample size where there are no errors. A claim is supported where the
    upper limit is at most what is claimed and nothing puts it in doubt, and contradicted where the lower limit is above
    it. In doubt are limits that are likely too narrow, FNMRs at an FMR below the resolution of the data, and FMRs with
    fewer than 30 false matches, unless four times the limit is within the claim: few subjects may cause most of them.
    All groups are supported where all unadjusted limits allow it, as each of them has to pass; otherwise p-values of
    groups are adjusted for being several by Holm's procedure. `check` judges by the same rule.

    References
    ----------
    ISO/IEC 19795-1:2021, "Biometric performance testing and reporting", on the rules of 3 and of 30, which take
    comparisons for independent.

    Examples
    --------
    >>> import fastfair as ff
    >>> c = ff.datasets.voxceleb1_h("resnetse34v2", groups="Gender")
    >>> found = ff.claim(c, "fmr <= 0.1 %", ff.at_threshold(-0.95), rng=0)
    >>> found.overall.verdict, round(found.overall.limit, 5), round(found.overall.independent_limit, 5)
    ('supported', 0.00021, 0.00018)
    """
    rate, claimed = read_statement(statement)
    level = intervals.level(confidence_level)
    if at.kind == rate:
        raise InputError(
            f"at={at} holds the {rate.upper()} that is claimed, so the data say nothing of it: name the threshold, as "
            "in at_threshold(0.5)"
        )
    evaluation = evaluate(
        comparisons, at, [], metrics=[], unit=unit, n_resamples=n_resamples, confidence_level=level,
        alternative="less", rng=rng, n_threads=n_threads, progress=progress, incomplete_groups="nan",
    )  # fmt: skip
    if not n_resamples:
        raise InputError("a claim needs replicates: n_resamples must be at least 2")
    overall = _judged(evaluation, evaluation.quantity(rate), claimed, level)
    groups = [_judged(evaluation, evaluation.quantity(rate, group), claimed, level) for group in evaluation.groups]
    settings = evaluation.settings | {"statement": statement.strip()}
    return Claim(
        rate, claimed, at, evaluation.rates[0].threshold, level, overall, adjusted(groups, 1 - level), settings
    )


def read_statement(statement: str) -> tuple[str, float]:
    """Return the rate that a statement is about, and what it is claimed not to exceed."""
    found = RELATION.search(statement)
    rate = statement[: found.start()].strip().lower() if found else ""
    if found is None or rate not in ERROR_RATES or RELATIONS[found.group()] != "<=":
        raise InputError(f'statement must be "fmr" or "fnmr", "<=" and a rate, as in "fmr <= 1e-4", not {statement!r}')
    written = statement[found.end() :].strip()
    try:
        limit = number_of(written)
    except ValueError:
        raise InputError(f'statement must end with a number, as in "fmr <= 1e-4", not {written!r}') from None
    return rate, validation.positive("the rate claimed", validation.rate("the rate claimed", limit))


def _judged(evaluation: Evaluation, quantity: Quantity, claimed: float, level: float) -> ClaimedRate:
    n, errors, subjects = quantity.n_comparisons or 0, quantity.n_errors or 0, quantity.n_subjects or 0
    limit = math.nan if quantity.high is None else quantity.high
    evidence = Evidence.of(evaluation, quantity)
    pvalue = above = needed = math.nan
    doubt = ""
    if evidence is not None:
        pvalue, above = evidence.pvalue(claimed), evidence.pvalue_above(claimed)
        if evaluation.rates[0].at.kind != "threshold":  # the limits are those of the threshold, too
            of_limit, row = maker_of(evaluation).pvalue_of_limit, evaluation.quantities.index(quantity)
            pvalue = max(pvalue, of_limit(row, claimed, upper=True)) if pvalue < 0.5 else pvalue
            above = max(above, of_limit(row, claimed, upper=False)) if above < 0.5 else above
        doubt = doubts_about(quantity, lambda room: limit * room <= claimed)
        if not has_flag(quantity, BELOW_RESOLUTION):
            needed = evidence.times_needed(claimed, level) * (subjects or n)
    return ClaimedRate(
        group=quantity.group,
        estimate=quantity.estimate,
        limit=limit,
        pvalue=pvalue,
        pvalue_adjusted=pvalue,
        pvalue_above=above,
        verdict=verdict_of(pvalue, above, 1 - level, doubt),
        doubt=doubt,
        n_comparisons=n,
        n_errors=errors,
        n_subjects=quantity.n_subjects,
        independent_limit=independent_limit(errors, n, level) if n else math.nan,
        n_subjects_needed=math.ceil(needed - 1e-6) if math.isfinite(needed) else math.inf,
        note=quantity.note,
    )
