"""`claim`: do the data support that a rate of errors is at most so large?"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fastfair import intervals
from fastfair._lib import seeds
from fastfair._lib.arguments import Resamples, checked
from fastfair._lib.plots import Bar, Line, draw_rows
from fastfair._lib.proportions import clopper_pearson_line
from fastfair._lib.text import per_cent
from fastfair.data.attacks import SPECIES
from fastfair.data.comparisons import Comparisons
from fastfair.data.embeddings import Embeddings
from fastfair.data.scans import ScannedComparisons
from fastfair.error_rates.operating_points import ENOUGH_ERRORS, OperatingPoint
from fastfair.error_rates.rates import ERROR_RATES
from fastfair.error_rates.scans_of_vectors import in_memory
from fastfair.errors import InputError
from fastfair.evaluation.counted_rates import AT, sentence_on_people
from fastfair.evaluation.evaluate import EvaluationSettings, evaluate
from fastfair.evaluation.failure_counts import FailureCounts
from fastfair.evaluation.result import Evaluation
from fastfair.evaluation.transactions import point_of
from fastfair.measures._registry import COMPLEMENTS, METRICS, SUCCESSES
from fastfair.resampling.units import Unit
from fastfair.results.result import Printed, Result
from fastfair.uncertainty.notes import Code, has_code
from fastfair.uncertainty.quantities import Quantity
from fastfair.uncertainty.sessions import sentences_on_ignored

from .attacks import ALL_OF_ATTACKS, ON_ATTACKS, decisions_of_claim, names_of_attacks
from .counts import claimed_rate
from .families import Attributes
from .requirements import Requirement, Statement, read_statement
from .transactions import names_of_rates
from .verdicts import (
    CONTRADICTED,
    MET,
    NOT_MET,
    SUPPORTED,
    UNDECIDED,
    JudgedEstimate,
    compared_in_words,
    estimates_of,
    headed_by,
    judged,
    level_of_limits,
    room_of,
    units_needed,
    verdict_bars,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def independent_limit(errors: int, comparisons: int, level: float) -> float:
    """Return Clopper and Pearson's one-sided upper limit, which takes comparisons for
    independent.
    """
    return (
        1.0
        if errors >= comparisons
        else float(clopper_pearson_line(1, errors, comparisons).limit(1 - level))
    )


_VERDICTS = {MET: SUPPORTED, NOT_MET: CONTRADICTED, UNDECIDED: UNDECIDED}
_SAID = {
    SUPPORTED: "support",
    CONTRADICTED: "contradict",
    UNDECIDED: "neither support nor contradict",
}


@dataclass(frozen=True, kw_only=True)
class ClaimedRate(JudgedEstimate):
    """What the data say of one rate, of all people or of a group: a `JudgedEstimate`, and what else
    they show. Of a rate of success, such as the TAR, "above" is below, and upper limits are lower.

    Attributes
    ----------
    verdict : {"supported", "contradicted", "undecided"}
        Whether the data show, at the level, that the rate is at most what is claimed, that it is
        above, or neither.
    pvalue : float
        p-value of the hypothesis that the rate is above what is claimed: at most 1 minus a level
        exactly where the upper limit of that level, with the room that it needs, is within the
        claim.
    pvalue_above : float
        p-value of the opposite hypothesis: at most 1 minus a level exactly where the lower limit is
        above the claim.
    pvalue_adjusted : float
        For a group, `pvalue` after Holm's adjustment for the number of groups, in which a rate in
        doubt counts as 1; the largest of all groups where all are supported without it. For all
        people the same as `pvalue`.
    independent_limit : float
        Clopper and Pearson's upper limit of the level asked for, for comparisons that were all
        independent.
    n_subjects_needed : float
        About how many subjects (comparisons, where subjects are not known) would support the claim
        if the rate were the same and each subject had as many comparisons; infinite where no number
        would.
    """

    pvalue: float
    pvalue_adjusted: float
    pvalue_above: float
    independent_limit: float
    n_subjects_needed: float

    @property
    def rule_of_3(self) -> float:
        """The limit of the rule of 3, three divided by the number of comparisons; NaN where there
        are errors.
        """
        return (
            math.nan
            if self.n_errors or not self.n_comparisons
            else min(1.0, 3 / self.n_comparisons)
        )

    @property
    def meets_rule_of_30(self) -> bool:
        """Whether there are 30 errors, which would hold the rate to within 30 % at 90 % if they
        were independent.
        """
        return (self.n_errors or 0) >= ENOUGH_ERRORS


def _adjusted(groups: Sequence[ClaimedRate]) -> list[ClaimedRate]:
    """Return the rates of groups with p-values adjusted for their number."""
    pvalues = np.array([group.pvalue for group in groups])
    if all(group.verdict == SUPPORTED for group in groups):
        after = np.full(pvalues.size, pvalues.max(initial=0.0))
    else:
        is_open = np.isnan(pvalues) | np.array([bool(group.doubt) for group in groups])
        after = np.where(np.isnan(pvalues), np.nan, intervals.holm(np.where(is_open, 1.0, pvalues)))
    return [
        replace(group, pvalue_adjusted=p) for group, p in zip(groups, after.tolist(), strict=True)
    ]


@dataclass(frozen=True, eq=False, repr=False)
class Claim(Result):
    """The result of `claim`.

    Attributes
    ----------
    rate : str
        The rate that the claim is about: "fmr", "fnmr", or one that was counted; "tmr", or "tar" of
        transactions, where it was written as 1 minus one of errors.
    claimed : float
        What the rate is claimed not to exceed; of a rate of success, not to fall below.
    at : OperatingPoint or None
        The operating point; None for counts.
    threshold : float
        The threshold there; NaN for counts.
    confidence_level : float
        The level of the limits, to one side.
    overall : ClaimedRate
        Of all comparisons.
    groups : tuple of ClaimedRate
        Of each group; empty without groups.
    settings : dict
        The arguments of the call, and the seed.
    """

    rate: str
    claimed: float
    at: OperatingPoint | None
    threshold: float
    confidence_level: float
    overall: ClaimedRate
    groups: tuple[ClaimedRate, ...]
    settings: dict[str, Any]

    _title = "Do the data support the claim?"
    _printed = (
        "group n_comparisons n_errors n_subjects estimate decided_by decided_at extra_room"
        " independent_limit pvalue pvalue_adjusted verdict doubt"
    )
    _properties = "decided_by decided_at extra_room rule_of_3 meets_rule_of_30"

    def _sentences(self) -> list[str]:
        """Return the sentences of the summary."""
        overall = self.overall
        compared = compared_in_words(self.rate, self.at)
        least_or_most, is_farther = "most", overall.limit > overall.independent_limit
        if self._is_of_success:
            least_or_most, is_farther = "least", overall.limit < overall.independent_limit
        text = [
            f"The claim: {self.rate.upper()} at {least_or_most} {per_cent(self.claimed)}"
            f"{'' if self.at is None else f' at {self.at}'}.",
            f"{overall.n_errors:,} of {overall.n_comparisons:,} {compared} are errors.",
            f"The data {_SAID[overall.verdict]} the claim: {overall.reason}.",
        ]
        if has_code(overall, Code.TAKEN_FOR_INDEPENDENT):
            text.append(sentence_on_people(self.rate))
        elif is_farther:
            text.append(
                f"If all {compared} were independent, the limit would be"
                f" {per_cent(overall.independent_limit)}."
            )
        of_species = tuple(self.settings.get("grouping") or ()) == (SPECIES,)
        counted_in = "species" if of_species else "groups"
        for verdict in (SUPPORTED, CONTRADICTED, UNDECIDED):
            groups = [rate for rate in self.groups if rate.verdict == verdict]
            limits = ", ".join(
                f"{rate.group} ({_limit_of(rate, self.confidence_level)})" for rate in groups
            )
            if groups:
                text.append(
                    f"{verdict.capitalize()} for {len(groups)} of {len(self.groups)} {counted_in}:"
                    f" {limits}."
                )
        return text + sentences_on_ignored([overall])

    @property
    def _is_of_success(self) -> bool:
        """Whether the rate is 1 minus one of errors, and claimed to be at least so large."""
        return self.rate in COMPLEMENTS

    def _tables(self) -> list[Printed]:
        return headed_by({compared_in_words(self.rate, self.at)}, super()._tables())

    @property
    def rows(self) -> tuple[ClaimedRate, ...]:
        """That of all comparisons, and those of groups."""
        return self.overall, *self.groups

    @checked
    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw each rate with its upper limit, and that for independent comparisons, against what
        is claimed.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
        """
        side = "lower" if self._is_of_success else "upper"
        # FMRs, and their limits, are often powers of ten apart
        rows = self.rows
        logarithmic = self.rate in ("fmr", "far")
        bars = verdict_bars(rows)
        bars += [
            Bar(
                y,
                row.independent_limit,
                color="0.2",
                marker="x",
                label="limit if comparisons were independent",
            )
            for y, row in enumerate(rows)
            if row.has_interval
        ]
        return draw_rows(
            ax,
            [row.group or "all" for row in rows],
            bars,
            [Line(self.claimed, "claimed")],
            xlabel=f"{METRICS[self.rate].long_title} with {side} limit",
            logarithmic=logarithmic,
        )


def _limit_of(rate: ClaimedRate, level: float) -> str:
    if not rate.has_interval:
        return "no limit"
    at = f" at {100 * rate.decided_at:.4g} %" if rate.decided_at != level else ""
    if rate.is_refuted:
        return f"lower limit {per_cent(rate.decided_by)}{at}"
    room = f", times {rate.room:g} = {per_cent(rate.compared)}" if rate.room != 1 else ""
    return f"limit {per_cent(rate.limit)}{at}{room}"


@checked
def claim(
    comparisons: Comparisons | ScannedComparisons | Embeddings | FailureCounts,
    statement: str,
    at: OperatingPoint | None = None,
    *,
    n_resamples: Resamples = 2000,
    confidence_level: float = 0.95,
    unit: Unit = "subject",
    rng: seeds.Seed = None,
    n_threads: int | None = None,
    progress: bool | Callable[[int, int], None] = False,
) -> Claim:
    """Judge the claim that a rate of errors is at most so large, overall and in each group.

    Parameters
    ----------
    comparisons : Comparisons, ScannedComparisons, Embeddings or FailureCounts
        The comparisons that the judgement rests on, vectors all of whose pairs it does, or failures
        and attempts of people.
    statement : str
        What is claimed: "fmr" or "fnmr", or the rate that was counted, "<=", and a rate in (0, 1),
        as in "fmr <= 1e-4" or "fnmr <= 2 %". "tar >= 98 %" is judged by the errors, 2 % or less,
        and answered as it is asked.
    at : OperatingPoint, optional
        The operating point that the claim is made for. It may not hold the rate that is claimed.
        Counts have none.
    n_resamples : int, default 2000
        Number of replicates, at least 2. Totals need none.
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
        For a statement that cannot be read, an operating point that holds the rate claimed, and as
        `evaluate` does.

    Notes
    -----
    The limits are the one-sided ones of `evaluate`, by the dyadic-robust variance of comparisons
    that share subjects, and Clopper and Pearson's for the effective sample size where there are no
    errors. A claim is judged as `check` judges the requirement on all people and that on each
    group: it is supported where the upper limit is at most what is claimed and nothing puts it in
    doubt, and contradicted where the lower limit is above it. In doubt are limits that are likely
    too narrow, and FNMRs at an FMR below the resolution of the data. With fewer than 30 false
    matches four times the limit of an FMR has to be within the claim: few subjects may cause most
    of them, but not where nobody is in two comparisons. All groups are supported where all
    unadjusted limits allow it, as each of them has to pass; otherwise their limits have the levels
    of Holm's procedure, and so have lower limits, of groups and all people.

    References
    ----------
    ISO/IEC 19795-1:2021, "Biometric performance testing and reporting", on the rules of 3 and of
    30, which take comparisons for independent.

    Examples
    --------
    >>> import fastfair as ff
    >>> c = ff.datasets.voxceleb1_h("resnetse34v2", groups="Gender")
    >>> claim = ff.claim(c, "fmr <= 0.1 %", ff.at_threshold(-0.95), rng=0)
    >>> claim.overall.verdict, round(claim.overall.limit, 5), round(claim.overall.independent_limit, 5)
    ('supported', 0.00021, 0.00018)
    """
    counts = None
    called: Mapping[str, str] = {}
    point: OperatingPoint | None = None  # of the decisions on attacks
    level = level_of_limits(intervals.level(confidence_level))
    if isinstance(comparisons, FailureCounts):
        counts = comparisons
        rate, claimed, of_success = claimed_rate(counts, statement, at)
        unit = "comparison" if counts.totals else unit
        comparisons = counts.decisions
        at = AT
    else:
        called = names_of_rates(comparisons)
        names = list(called.values()) or ERROR_RATES
        on_attacks = ON_ATTACKS if names_of_attacks(comparisons) else ()
        rate, claimed, of_success = _claimed_of_comparisons(statement, [*names, *on_attacks])
        counts_failures = statement.strip().lower().startswith(("tar", "gar"))
        asked = Requirement(statement, rate, None, at, "<=", claimed, counts_failures)
        Attributes(comparisons).require_failures(asked)
        rate = next((name for name, of in called.items() if of == rate), rate)
        if at is None:
            raise InputError(
                "⟦at⟧ is missing: name the operating point of the claim, as in at_threshold(0.5)"
            )
        if isinstance(comparisons, Comparisons) and called:
            at = point_of(comparisons, at)
        if isinstance(comparisons, Comparisons) and rate in on_attacks:
            called = {"fnmr": rate}
            comparisons, point = decisions_of_claim(comparisons, rate, at)
            rate = "fnmr"
            at = AT
    if at.rate == rate:
        raise InputError(
            f"⟦at={at}⟧ holds the {rate.upper()} that is claimed, so the data say nothing of it:"
            " name the threshold, as in at_threshold(0.5)"
        )
    comparisons = in_memory(comparisons, n_threads, progress)
    if isinstance(comparisons, Embeddings) and comparisons.lacks:
        comparisons = comparisons.comparisons(n_threads=n_threads, progress=progress)
    if isinstance(comparisons, Comparisons):  # scans have both classes
        comparisons._require_rates(f"the claim {statement!r}", [rate])
    evaluation = evaluate(
        comparisons,
        at,
        [],
        metrics=[],
        unit=unit,
        n_resamples=0 if counts is not None and counts.totals else n_resamples,
        confidence_level=level,
        rng=rng,
        n_threads=n_threads,
        progress=progress,
        settings=EvaluationSettings(incomplete_groups="nan"),
    )
    if not n_resamples:
        raise InputError("a claim needs replicates: ⟦n_resamples⟧ must be at least 2")
    text = statement.strip()
    families = [
        [
            Requirement(text, rate, group, at, "<=", claimed, of_success=of_success)
            for group in groups
        ]
        for groups in ((None,), evaluation.groups)
    ]
    estimates = estimates_of(evaluation, families[0])
    rules = [rule for family in families for rule in family]
    overall, *groups = (
        _claimed_rate(evaluation, level, rule, estimates.row(rule, None), (shown, limits))
        for rule, (_, shown, limits) in zip(rules, judged(families, estimates, level), strict=True)
    )
    name = called.get(rate, rate) if counts is None else counts.rate_name
    made = Claim(
        SUCCESSES[name] if of_success else name,
        rules[0].as_written.bound,
        point or at,
        evaluation.rates[0].threshold if point is None else point.value,
        level,
        overall,
        tuple(_adjusted(groups)),
        evaluation.settings | {"statement": text},
        left_out=evaluation.left_out,
    )
    if counts is None:
        return made
    return replace(made, at=None, threshold=math.nan, left_out=counts.left_out)


def _claimed_of_comparisons(statement: str, names: Sequence[str]) -> Statement:
    """Read what is claimed; refuse rates that requirements may be on, and claims not."""
    rate = statement.partition("<")[0].partition("[")[0].strip().lower()
    if ON_ATTACKS[0] in names and rate in set(ALL_OF_ATTACKS) - set(ON_ATTACKS):
        raise InputError(
            f"claims are on the FMR, FNMR, IAPAR or APCER: judge the {rate.upper()} with check, as"
            f" in check(comparisons, {statement.strip()!r})"
        )
    return read_statement(statement, names)


def _claimed_rate(
    evaluation: Evaluation,
    level: float,
    rule: Requirement,
    quantity: Quantity,
    judged_by: tuple[Quantity, Mapping[str, Any]],
) -> ClaimedRate:
    """Return what the data say of a rate; judged_by: the rate, or 1 minus it, and its limits."""
    shown, limits = judged_by
    n = quantity.n_comparisons or 0
    errors = quantity.n_errors or 0
    claimed = rule.bound
    within = above = math.nan
    if quantity.has_interval:
        row = evaluation.quantities.index(quantity)
        kept = claimed / room_of(quantity)[0]
        evidence = evaluation.maker.evidence[row]
        within = float(evidence.pvalue(kept, "upper"))
        above = float(evidence.pvalue(claimed, "lower"))
        if not evaluation.rates[0].at.is_given:  # the limits are those of the threshold, too
            of_limit = evaluation.maker.pvalue_of_limit
            within = max(within, of_limit(row, kept, upper=True)) if within < 0.5 else within
            above = max(above, of_limit(row, claimed, upper=False)) if above < 0.5 else above
    verdict = _VERDICTS[limits["verdict"]]
    independent = independent_limit(errors, n, level) if n else math.nan
    limit_level = limits["limit_level"]
    return ClaimedRate._of(
        shown,
        n_comparisons=n,
        n_errors=errors,
        **{**limits, "verdict": verdict},
        pvalue=within,
        pvalue_adjusted=within,
        pvalue_above=above,
        independent_limit=rule.mirror(independent) if rule.of_success else independent,
        n_subjects_needed=units_needed(evaluation, quantity, claimed, limit_level),
    )
