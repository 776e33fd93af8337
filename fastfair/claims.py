"""`claim` and `check`: do the data show that error rates, costs and fairness measures are as they should be?

All rows of a claim or requirement are met together where every limit, unadjusted, is on the right side of the bound: a
system that violates one row passes no more often than that row alone would (an intersection-union test). Otherwise rows
are judged by Holm's procedure, so that with the probability of the level no row is called met although it is not.
"""

from __future__ import annotations

import math
import operator
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from scipy.special import betainc, betaincinv

from fastfair import intervals
from fastfair._lib import seeds, validation, whole_files
from fastfair._lib.arguments import Resamples, checked
from fastfair._lib.bisection import least_multiple
from fastfair._lib.plots import GREY, STANDS_OUT, USUAL, Bar, Line, draw_rows
from fastfair._lib.text import did_you_mean, joined_by_or, number_with_interval, per_cent
from fastfair.data.comparisons import Comparisons
from fastfair.data.embeddings import Embeddings
from fastfair.data.exclusions import sentences_on_exclusions
from fastfair.data.scans import ScannedComparisons
from fastfair.error_rates.operating_points import ENOUGH_ERRORS, OperatingPoint, at_fmr, read_point
from fastfair.error_rates.rates import ERROR_RATES
from fastfair.error_rates.score_metrics import Costs, EerMethod
from fastfair.errors import InputError, NarrowIntervalsWarning, visible
from fastfair.evaluation.evaluate import EvaluationSettings, evaluate, repeats_subjects
from fastfair.evaluation.result import Evaluation
from fastfair.measures import MEASURES
from fastfair.measures._fairness import ZeroPolicy
from fastfair.measures._registry import METRICS, SUMMARIES, measure_of, quantity_name, range_of
from fastfair.resampling.engine import METRICS as SCORE_METRICS
from fastfair.resampling.units import Unit
from fastfair.results.result import Result
from fastfair.uncertainty.interval_maker import ROOM, room_for, two_sided_level
from fastfair.uncertainty.notes import Code, Flag, Note, has_flag
from fastfair.uncertainty.quantities import (
    IN_PER_CENT,
    Estimate,
    Quantity,
    ends_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

UNDECIDED = "undecided"
RELATION = re.compile("<=|>=|[<>\u2264\u2265]")
RELATIONS = {"<=": "<=", "\u2264": "<=", "<": "<", ">=": ">=", "\u2265": ">=", ">": ">"}
_NUMBER = re.compile(r"\s*(?P<number>[^\s%]+)\s*(?P<percent>%?)\s*")


def number_of(text: str) -> float:
    """Return the number that is written, such as "1e-4" or "2 %"; a ValueError where the text is no finite number."""
    found = _NUMBER.fullmatch(text)
    value = float(found["number"]) / (100 if found["percent"] else 1) if found else math.nan
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def doubts_about(row: Any, within: Callable[[float], bool]) -> str:
    """Say why a limit that is on the right side of its bound does not settle a verdict; empty where it does.

    row: a `Quantity`, or another estimate with flags. within tells whether the bound leaves room for so many times the
    limit.
    """
    blocking = (Flag.NARROW, Flag.BELOW_RESOLUTION, *(() if row.name == "fmr" else (Flag.UNKNOWN_CONCENTRATION,)))
    reasons = [row.note] if has_flag(row, *blocking) else []
    why = "elsewhere few people may cause most errors" if has_flag(row, Flag.LEAVES_ROOM) else ""
    if room_for(row) > 1:
        why = f"with fewer than {ENOUGH_ERRORS} false matches it is not known whether few subjects cause most of them"
    if why and not within(ROOM):
        reasons.append(f"{why}, so the bound has to leave room for {ROOM:g} times the limit")
    return "; ".join(reasons)


def met_by_holm(n_rows: int, met_at: Callable[[float, Sequence[int]], Sequence[int]], significance: float) -> set[int]:
    """Return which rows are met, of those that belong together.

    met_at returns which of some rows are met by limits of an error probability; significance is 1 minus the level.
    """
    rows = range(n_rows)
    alone = set(met_at(significance, rows))
    if len(alone) == n_rows:
        return alone
    met: set[int] = set()
    while True:
        left = [row for row in rows if row in alone and row not in met]
        more = met_at(significance / (n_rows - len(met)), left) if left else ()
        if not more:
            return met
        met.update(more)


_LEAST_FREEDOM = 1.0
_MOST_TIMES = 1e12  # as many subjects as there are; beyond it no number is named


@dataclass(frozen=True)
class Evidence:
    """What the limits of a rate are computed from.

    Attributes
    ----------
    estimate : float
        The rate in the data.
    standard_error, degrees_of_freedom : float
        As in `intervals.logit_interval`.
    independent : float
        The effective sample size where the rate is 0 or 1, or has one to four errors; else NaN.
    strata : float
        The number of subjects minus the degrees of freedom.
    raised : float
        By how much one more subject raises a rate of failure; NaN for other rates. See `few_errors`.
    room : callable
        How many times the limit may be too low, given how many times as many subjects there are.
    """

    estimate: float
    standard_error: float
    degrees_of_freedom: float
    independent: float
    strata: float = 1.0
    raised: float = math.nan
    room: Callable[[float], float] = lambda _: 1.0

    @classmethod
    def of(cls, evaluation: Evaluation, quantity: Quantity) -> Evidence | None:
        """Return the evidence of a rate of an evaluation with replicates; None where it has no limit."""
        sizes, row = evaluation.maker.sizes, evaluation.quantities.index(quantity)
        if quantity.high is None or math.isnan(quantity.high):
            return None
        subjects, freedom = quantity.n_subjects or 0, float(sizes.degrees_of_freedom[row])
        error = math.nan if quantity.standard_error is None else quantity.standard_error
        return cls(
            quantity.estimate, error, freedom, float(sizes.effective[row]), max(1.0, subjects - freedom),
            float(sizes.raised[row]), lambda times: room_for(quantity, times),
        )  # fmt: skip

    def pvalue(self, claimed: float) -> float:
        """Return the p-value of the hypothesis that the rate is above what is claimed.

        It is at most 1 minus a level exactly where the one-sided upper limit of that level is at most what is claimed.
        """
        if self.estimate == 0:
            return float((1 - claimed) ** self.independent)
        if self.estimate == 1 or math.isnan(self.standard_error):
            return 1.0 if self.estimate == 1 else math.nan
        own = self._pvalues(claimed)[0]
        if math.isnan(self.raised):
            return own
        error = math.hypot(self.standard_error, self.raised)
        raised, freedom = self.estimate + self.raised, self.degrees_of_freedom + 1
        return max(own, intervals.logit_pvalues(raised, error, freedom, claimed)[0])

    def pvalue_above(self, claimed: float) -> float:
        """Return the p-value of the hypothesis that the rate is at most what is claimed."""
        if self.estimate == 0:
            return 1.0
        if self.estimate == 1:
            return float(claimed**self.independent)
        if math.isnan(self.standard_error):
            return math.nan
        above = self._pvalues(claimed)[1]
        if math.isnan(self.independent):
            return above
        errors = self.estimate * self.independent
        return max(above, float(betainc(errors, self.independent - errors + 1, claimed)))

    def _pvalues(self, claimed: float) -> tuple[float, float]:
        return intervals.logit_pvalues(self.estimate, self.standard_error, self.degrees_of_freedom, claimed)

    def times(self, share: float) -> Evidence:
        """Return the evidence of the same rate in data of so many times as many subjects."""
        freedom = share * (self.degrees_of_freedom + self.strata) - self.strata
        return replace(
            self,
            standard_error=self.standard_error / math.sqrt(share),
            degrees_of_freedom=max(_LEAST_FREEDOM, freedom),
            independent=self.independent * share,
            raised=self.raised / share,
        )

    def times_needed(self, claimed: float, level: float) -> float:
        """Return how many times as many subjects would support the claim with the same rate; infinite if none would."""

        def supports(times: float) -> bool:
            return self.times(times).pvalue(claimed / self.room(times)) <= 1 - level

        if self.estimate >= claimed or math.isnan(self.pvalue(claimed)):
            return 1.0 if supports(1.0) else math.inf
        return least_multiple(supports, _MOST_TIMES, 1 + 1e-9)


def independent_limit(errors: int, comparisons: int, level: float) -> float:
    """Return Clopper and Pearson's one-sided upper limit, which takes comparisons for independent."""
    return 1.0 if errors >= comparisons else float(betaincinv(errors + 1, comparisons - errors, level))


SUPPORTED, CONTRADICTED = "supported", "contradicted"
MET, NOT_MET = "met", "not met"
_COLORS = {SUPPORTED: USUAL, MET: USUAL, UNDECIDED: GREY, CONTRADICTED: STANDS_OUT, NOT_MET: STANDS_OUT}


def _verdict_bars(verdicts: Sequence[str], estimates: Sequence[float], limits: Sequence[float]) -> list[Bar]:
    """Return bars from estimates to the limits that decide, in the colours of their verdicts."""
    rows = enumerate(zip(verdicts, estimates, limits, strict=True))
    return [
        Bar(y, estimate, color=_COLORS[verdict], label=verdict, limit=limit, width=1.4)
        for y, (verdict, estimate, limit) in rows
        if math.isfinite(limit)
    ]


_ADJUSTED = "p-values adjusted for their number"


def verdict_of(pvalue: float, above: float, significance: float, doubt: str) -> str:
    """Return the verdict of two p-values, of the rate being above what is claimed and of it not being so."""
    if pvalue <= significance and not doubt:
        return SUPPORTED
    return CONTRADICTED if above <= significance else UNDECIDED


@dataclass(frozen=True, kw_only=True)
class ClaimedRate(Estimate):
    """What the data say of one rate, of all people or of a group: an `Estimate`, and what follows for the claim.

    Attributes
    ----------
    limit : float
        Its upper limit `high`, to one side, at the level of the claim; NaN where there is none, and `note` says why.
    pvalue, pvalue_above : float
        p-values of the hypotheses that the rate is above what is claimed, and that it is not.
    pvalue_adjusted : float
        For a group, `pvalue` after Holm's adjustment for the number of groups; else the same.
    verdict : {"supported", "contradicted", "undecided"}
        Whether the data show, at the level, that the rate is at most what is claimed, that it is above, or neither. Of
        groups the adjusted p-values decide, unless all groups are supported without an adjustment.
    doubt : str
        Why the claim is undecided although the limit is at most what is claimed; empty where nothing puts the limit in
        doubt.
    independent_limit : float
        Clopper and Pearson's upper limit, for comparisons that were all independent.
    n_subjects_needed : float
        About how many subjects (comparisons, where subjects are not known) would support the claim if the rate were
        the same and each subject had as many comparisons; infinite where no number would.
    """

    pvalue: float
    pvalue_adjusted: float
    pvalue_above: float
    verdict: str
    doubt: str
    independent_limit: float
    n_subjects_needed: float

    @property
    def limit(self) -> float:
        """The upper limit, to one side."""
        return self.high

    @property
    def rule_of_3(self) -> float:
        """The limit of the rule of 3, three divided by the number of comparisons; NaN where there are errors."""
        return math.nan if self.n_errors or not self.n_comparisons else min(1.0, 3 / self.n_comparisons)

    @property
    def meets_rule_of_30(self) -> bool:
        """Whether there are 30 errors, which would hold the rate to within 30 % at 90 % if they were independent."""
        return (self.n_errors or 0) >= ENOUGH_ERRORS


def adjusted(rates: Sequence[ClaimedRate], significance: float) -> tuple[ClaimedRate, ...]:
    """Return the rates of groups with p-values adjusted for their number, and verdicts by these.

    All are supported where all are by unadjusted p-values; see the module.
    """
    if rates and all(rate.verdict == SUPPORTED for rate in rates):
        return tuple(replace(rate, pvalue_adjusted=max(one.pvalue for one in rates)) for rate in rates)
    below, above = (
        intervals.holm([getattr(rate, name) for rate in rates]).tolist() for name in ("pvalue", "pvalue_above")
    )
    return tuple(
        replace(rate, pvalue_adjusted=p, verdict=verdict_of(p, opposite, significance, rate.doubt))
        for rate, p, opposite in zip(rates, below, above, strict=True)
    )


@dataclass(frozen=True, eq=False, repr=False)
class Claim(Result):
    """The result of `claim`.

    Attributes
    ----------
    rate : {"fmr", "fnmr"}
        The rate of errors that the claim is about.
    claimed : float
        What the rate is claimed not to exceed.
    at : OperatingPoint
        The operating point.
    threshold : float
        The threshold there.
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
    at: OperatingPoint
    threshold: float
    confidence_level: float
    overall: ClaimedRate
    groups: tuple[ClaimedRate, ...]
    settings: dict[str, Any]

    _title = "Do the data support the claim?"
    _printed = "group n_comparisons n_errors n_subjects estimate limit independent_limit pvalue pvalue_adjusted verdict"
    _properties = "limit rule_of_3 meets_rule_of_30"

    def _sentences(self) -> list[str]:
        """Return the sentences of the summary."""
        rate, level = self.rate.upper(), f"{100 * self.confidence_level:g} %"
        text = [f"The claim: {rate} at most {per_cent(self.claimed)} at {self.at}."]
        one = self.overall
        text.append(
            f"{one.n_errors:,} of {one.n_comparisons:,} comparisons are errors, {per_cent(one.estimate)}; the upper "
            f"limit of the {rate} is {per_cent(one.limit)} at {level} confidence."
            if one.has_interval
            else f"There is no limit: {one.note}."
        )
        text.append({
            SUPPORTED: "The data support the claim.",
            CONTRADICTED: f"The data contradict the claim: the {rate} is above {per_cent(self.claimed)}.",
            UNDECIDED: f"The data neither support nor contradict the claim. {self._missing(one)}",
        }[one.verdict])  # fmt: skip
        if one.limit > one.independent_limit:
            text.append(f"If all comparisons were independent, the limit would be {per_cent(one.independent_limit)}.")
        for verdict in (SUPPORTED, CONTRADICTED, UNDECIDED):
            found = [f"{one.group} ({_limit_of(one)})" for one in self.groups if one.verdict == verdict]
            if found:
                how_many = f"{len(found)} of {len(self.groups)} groups"
                text.append(f"{verdict.capitalize()} for {how_many}, with {_ADJUSTED}: {', '.join(found)}.")
        return text

    def _missing(self, one: ClaimedRate) -> str:
        doubt = f"The limit is in doubt: {one.doubt}. " if one.doubt and one.limit <= self.claimed else ""
        if math.isinf(one.n_subjects_needed) and one.doubt and one.estimate < self.claimed:
            return f"There is no limit to judge by: {one.doubt}."
        if math.isinf(one.n_subjects_needed):
            return f"{doubt}More data would not help: the rate itself is not below the claim."
        what = "comparisons" if one.n_subjects is None else "subjects"
        there = one.n_comparisons if one.n_subjects is None else one.n_subjects
        return f"{doubt}At this rate about {one.n_subjects_needed:,.0f} {what} would be enough; there are {there:,}."

    @property
    def rows(self) -> tuple[ClaimedRate, ...]:
        """That of all comparisons, and those of groups."""
        return self.overall, *self.groups

    @checked
    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw each rate with its upper limit, and that for independent comparisons, against what is claimed.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
        """
        rows, logarithmic = self.rows, self.rate == "fmr"  # FMRs, and their limits, are often powers of ten apart
        verdicts, estimates, limits = zip(*((row.verdict, row.estimate, row.limit) for row in rows), strict=True)
        bars = _verdict_bars(verdicts, estimates, limits)
        bars += [
            Bar(y, row.independent_limit, color="0.2", marker="x", label="limit if comparisons were independent")
            for y, row in enumerate(rows)
            if row.has_interval
        ]
        return draw_rows(
            ax, [row.group or "all" for row in rows], bars, [Line(self.claimed, "claimed")],
            xlabel=f"{METRICS[self.rate].long_title} with upper limit", logarithmic=logarithmic,
        )  # fmt: skip


def _limit_of(rate: ClaimedRate) -> str:
    return f"limit {per_cent(rate.limit)}" if rate.has_interval else "no limit"


@checked
def claim(
    comparisons: Comparisons | ScannedComparisons | Embeddings,
    statement: str,
    at: OperatingPoint,
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
    fewer than 30 false matches, unless four times the limit is within the claim: few subjects may cause most of them,
    but not where nobody is in two comparisons. All groups are supported where all unadjusted limits allow it, as each
    of them has to pass; otherwise p-values of groups are adjusted for being several by Holm's procedure. `check` judges
    by the same rule.

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
    if at.rate == rate:
        raise InputError(
            f"⟦at={at}⟧ holds the {rate.upper()} that is claimed, so the data say nothing of it: name the threshold, "
            "as in at_threshold(0.5)"
        )
    evaluation = evaluate(
        comparisons, at, [], metrics=[], unit=unit, n_resamples=n_resamples, confidence_level=level,
        alternative="less", rng=rng, n_threads=n_threads, progress=progress,
        settings=EvaluationSettings(incomplete_groups="nan"),
    )  # fmt: skip
    if not n_resamples:
        raise InputError("a claim needs replicates: ⟦n_resamples⟧ must be at least 2")
    overall = _claimed_rate(evaluation, evaluation.quantity(rate), claimed, level)
    groups = [
        _claimed_rate(evaluation, evaluation.quantity(rate, group), claimed, level) for group in evaluation.groups
    ]
    settings = evaluation.settings | {"statement": statement.strip()}
    return Claim(
        rate, claimed, at, evaluation.rates[0].threshold, level, overall, adjusted(groups, 1 - level), settings,
        left_out=evaluation.left_out,
    )  # fmt: skip


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
    return rate, validation.fraction("the rate claimed", limit, "(0, 1)")


def _claimed_rate(evaluation: Evaluation, quantity: Quantity, claimed: float, level: float) -> ClaimedRate:
    n, errors, subjects = quantity.n_comparisons or 0, quantity.n_errors or 0, quantity.n_subjects or 0
    limit, row = ends_of(quantity)[1], evaluation.quantities.index(quantity)
    pvalue = above = needed = math.nan
    doubt = ""
    if not math.isnan(limit):
        evidence = evaluation.maker.evidence[row]
        pvalue, above = (float(evidence.pvalue(claimed, side)) for side in ("upper", "lower"))
        if not evaluation.rates[0].at.is_given:  # the limits are those of the threshold, too
            of_limit = evaluation.maker.pvalue_of_limit
            pvalue = max(pvalue, of_limit(row, claimed, upper=True)) if pvalue < 0.5 else pvalue
            above = max(above, of_limit(row, claimed, upper=False)) if above < 0.5 else above
        doubt = doubts_about(quantity, lambda room: limit * room <= claimed)
        if not has_flag(quantity, Flag.BELOW_RESOLUTION):
            needed = evidence.times_needed(claimed, level, partial(room_for, quantity)) * (subjects or n)
    return ClaimedRate._of(
        quantity, n_comparisons=n, n_errors=errors, pvalue=pvalue, pvalue_adjusted=pvalue, pvalue_above=above,
        verdict=verdict_of(pvalue, above, 1 - level, doubt), doubt=doubt,
        independent_limit=independent_limit(errors, n, level) if n else math.nan,
        n_subjects_needed=math.ceil(needed - 1e-6) if math.isfinite(needed) else math.inf,
    )  # fmt: skip


EVERY_GROUP = "*"
_OF_COMPARISONS = (*ERROR_RATES, *SCORE_METRICS)
_HOLDS = {"<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt}
_NAME = re.compile(r"[A-Za-z][\w\s()-]*")
# A group's label may hold anything, and nothing after it has a bracket.
_REQUIREMENT = re.compile(
    r"(?P<called>[^[@<>\u2264\u2265]+)(?:\[\s*(?P<group>\S.*)\]\s*)?(?:@(?P<point>[^[<>\u2264\u2265]*))?"
    rf"(?P<relation>{RELATION.pattern})(?P<number>.*)",
    re.DOTALL,
)


@dataclass(frozen=True)
class Requirement:
    """What is required of one quantity.

    Attributes
    ----------
    text : str
        As it was written.
    name : str
        The quantity, as in `Quantity`.
    group : str or None
        Its group; "*" for every group on its own, and None for all comparisons and measures over all groups.
    at : OperatingPoint or None
        Its operating point; None where it needs none.
    relation : {"<=", "<", ">=", ">"}
        How the quantity must lie to the bound.
    bound : float
        What it is compared with.
    """

    text: str
    name: str
    group: str | None
    at: OperatingPoint | None
    relation: str
    bound: float

    @property
    def is_upper(self) -> bool:
        """Whether the bound is above what is allowed."""
        return self.relation.startswith("<")

    def allows(self, value: float) -> bool:
        """Return whether a value meets the requirement; NaN does not."""
        return bool(_HOLDS[self.relation](value, self.bound))

    def of_groups(self, groups: Sequence[str]) -> list[Requirement]:
        """Return the requirement for each group that it is about, and check that there is one.

        Raises
        ------
        InputError
            For a group that the comparisons do not have, and where they have none.
        """
        if self.group is None:
            return [self]
        if not groups:
            raise _refused(self.text, "the comparisons have no groups: name an attribute that makes them")
        if self.group == EVERY_GROUP:
            return [replace(self, group=group) for group in groups]
        if self.group not in groups:
            near = did_you_mean(self.group, groups)
            would_do = f"write one of {', '.join(groups)}, or * for each of them"
            raise _refused(self.text, f"there is no group {self.group!r}{near}: {would_do}")
        return [self]


_COMPLEMENTS = {"tpir": "fnir"}  # rates that are 1 minus another


def read_requirement(text: str, default: OperatingPoint, names: Sequence[str] = ()) -> Requirement:
    """Read a requirement such as "fnmr[f]@fmr=0.001 <= 5 %".

    default is the operating point of rates, and of measures of rates, that name none; names: what it may be about where
    the data are no comparisons, all of it at an operating point. An InputError says what cannot be read, and what would
    do; what no data or all data would meet is refused as well.
    """
    parts = _REQUIREMENT.fullmatch(text)
    if parts is None:
        raise _refused(
            text, "write a quantity, perhaps a group in brackets and an operating point, a relation and a number, as "
            "in fnmr[f]@fmr=0.001 <= 0.05; data can show that it is <=, <, >= or > a number, not that it equals one"
        )  # fmt: skip
    group = parts["group"] and parts["group"].strip()
    try:
        name = _name_of(parts["called"].strip(), names)
        at = _point_of(name, parts["point"], default, names)
        _check_group(name, group)
        bound = _bound_of(name, parts["number"])
    except ValueError as error:  # InputError is one
        raise _refused(text, str(error)) from None
    if group is None and at is not None and at.rate == _COMPLEMENTS.get(name, name):
        raise _refused(
            text, f"{at} holds the {name.upper()} of all comparisons, so data say nothing of it: name another "
            "operating point, or a group"
        )  # fmt: skip
    return Requirement(text.strip(), name, group, at, RELATIONS[parts["relation"]], bound)


def _refused(text: str, why: str) -> InputError:
    return InputError(f"requirement {text.strip()!r}: {why}")


def _name_of(called: str, names: Sequence[str]) -> str:
    name = quantity_name(called)
    measure = measure_of(name)
    is_name = _NAME.fullmatch(called) is not None  # they are compared without their marks
    if is_name and name in names if names else is_name and (name in _OF_COMPARISONS or _is_summary(name)):
        return name
    code, _, metric = name.partition("(")
    if names or not is_name or measure is None or code != measure.name:
        known = names or (*_OF_COMPARISONS, *MEASURES)
        near = did_you_mean(called.partition("(")[0], known)
        raise InputError(f"there is no quantity {called!r}{near}: name one of {joined_by_or(known)}")
    metric = metric.removesuffix(")")
    if not measure.of:
        if metric:
            raise InputError(f"{measure.title} takes no ({metric}): write {measure.name}")
        return name
    computed = [one for one in measure.of if one != "act_dcf"]
    if not metric and len(computed) == 1:
        return f"{code}({computed[0]})"
    if metric not in computed:
        if metric in measure.of:
            raise InputError("actual DCFs are not checked: evaluate_calibration has their intervals")
        would_do = joined_by_or(f"{code}({one})" for one in computed)
        raise InputError(f"{measure.title} is of a rate or cost: write {would_do}")
    return name


def _is_summary(name: str) -> bool:
    """Return whether it is the mean or standard deviation of a measure that has a value for each group."""
    measure = measure_of(name)
    return measure is not None and measure.own_threshold and name != measure.name


def _point_of(name: str, written: str | None, default: OperatingPoint, names: Sequence[str]) -> OperatingPoint | None:
    measure = measure_of(name)
    needs = bool(names) or name in ERROR_RATES
    if measure is not None and not names:
        metric = name.partition("(")[2].removesuffix(")") if measure.of else None
        needs = measure.needs_policy_threshold(metric)
    if written is None:
        return default if needs else None
    if not needs:
        raise InputError(f"{name} needs no operating point: leave it out")
    return read_point(written.strip())


def _check_group(name: str, group: str | None) -> None:
    measure = measure_of(name)
    if measure is None:
        return
    of_each = measure.per_group and not _is_summary(name)
    if of_each and group is None:
        would_do = [f"{name}[*]", *(f"{name}_{word}" for word in SUMMARIES if measure.own_threshold)]
        raise InputError(f"{name} has a value for each group: write {joined_by_or(would_do)}, or a group in place of *")
    if not of_each and group is not None:
        raise InputError(f"{name} is over all groups: leave the brackets out")


def _bound_of(name: str, written: str) -> float:
    try:
        bound = number_of(written)
    except ValueError:
        raise InputError("a requirement ends with a number, such as 0.05 or 5 %") from None
    least, most = range_of(name)
    if least < bound < most:
        return bound
    hint = f"; for {bound:g} % write {bound:g} % or {bound / 100:g}" if most == 1 and 1 < bound < 100 else ""
    raise InputError(
        f"the bound must lie between {least:g} and {most:g}, the least and the greatest possible value, as no "
        f"data could show what is beyond{hint}"
    )


_LEAST = 0.01  # of what is required; what is lower is drawn there


def written_value(name: str, value: float) -> str:
    """Write a value of a quantity: rates in per cent, all else as a number."""
    return per_cent(value) if name in IN_PER_CENT else number_with_interval(value)


@dataclass(frozen=True, kw_only=True)
class CheckedQuantity(Estimate):
    """One quantity that a requirement is about: an `Estimate` with one-sided limits, and the verdict.

    Attributes
    ----------
    requirement : str
        The requirement, as it was written.
    name : str
        The quantity, as in `Quantity`.
    at : OperatingPoint or None
        Its operating point; None where it needs none.
    relation : {"<=", "<", ">=", ">"}
        How it must lie to the bound.
    bound : float
        What it is compared with.
    limit : float
        The one-sided limit that has to meet the requirement: `high` for "<=" and "<", else `low`; NaN where there is
        none.
    opposite_limit : float
        The one-sided limit on the other side, at a level adjusted for the number of quantities; beyond the bound, it
        shows that the requirement is not met.
    verdict : {"met", "not met", "undecided"}
        Whether the data show, at the level, that the requirement is met, that it is not, or neither.
    reason : str
        Why.
    """

    requirement: str
    name: str
    at: OperatingPoint | None
    relation: str
    bound: float
    verdict: str
    reason: str

    @property
    def is_upper(self) -> bool:
        """Whether the bound is above what is allowed."""
        return self.relation.startswith("<")

    @property
    def limit(self) -> float:
        """The limit that has to meet the requirement."""
        return self.high if self.is_upper else self.low

    @property
    def opposite_limit(self) -> float:
        """The limit on the other side."""
        return self.low if self.is_upper else self.high


@dataclass(frozen=True, eq=False, repr=False)
class Check(Result):
    """The result of `check`.

    Attributes
    ----------
    requirements : tuple of str
        The requirements, as they were written.
    rows : tuple of CheckedQuantity
        The quantities that they are about; one for each group where a requirement is about every group.
    confidence_level : float
        The level of the limits, to one side.
    settings : dict
        The arguments of the call, and the seed.
    allow_undecided : bool
        Whether undecided requirements pass, too.
    """

    requirements: tuple[str, ...]
    rows: tuple[CheckedQuantity, ...]
    confidence_level: float
    settings: dict[str, Any]
    allow_undecided: bool = False

    _title = "Are the requirements met?"
    _printed = "title relation bound estimate limit n_comparisons n_errors n_subjects verdict"
    _derived = ("passed", "verdict", "verdicts")
    _properties = "limit opposite_limit title"

    @property
    def passed(self) -> bool:
        """Whether every requirement is met, or undecided where that is allowed."""
        return all(row.verdict == MET or (self.allow_undecided and row.verdict == UNDECIDED) for row in self.rows)

    @property
    def verdict(self) -> str:
        """The verdict on all requirements together: "met", "not met" as soon as one is not, else "undecided"."""
        return _worst([row.verdict for row in self.rows])

    @property
    def verdicts(self) -> dict[str, str]:
        """The verdict on each requirement."""
        return {
            text: _worst([row.verdict for row in self.rows if row.requirement == text]) for text in self.requirements
        }

    def _sentences(self) -> list[str]:
        """Return the sentences of the summary."""
        n, verdicts = len(self.requirements), list(self.verdicts.values())
        told = ", ".join(f"{verdicts.count(one)} {one}" for one in (MET, NOT_MET, UNDECIDED) if one in verdicts)
        text = [f"{n} requirement{'s' if n > 1 else ''}: {told}, with {100 * self.confidence_level:g} % confidence."]
        for requirement, verdict in self.verdicts.items():
            rows = [row for row in self.rows if row.requirement == requirement]
            deciding = [row for row in rows if row.verdict == verdict]
            known = [row for row in deciding if not math.isnan(row.limit)] or deciding
            farthest = max(known, key=lambda row: row.limit if row.is_upper else -row.limit)
            groups = "" if len(rows) == 1 else f" ({len(deciding)} of {len(rows)} groups): {farthest.group}"
            text.append(f"{verdict.capitalize()}: {requirement}{groups}: {farthest.reason}")
        return text

    @checked
    def to_junit(self, path: str | Path | None = None) -> str:
        """Write the result as JUnit XML, which build servers show: a test case for each quantity.

        Parameters
        ----------
        path : path, optional
            File to which the XML is written as well.

        Returns
        -------
        str
            What is not met is a failure of this type; and so is what is undecided, unless it is allowed: then it is
            skipped.

        Examples
        --------
        >>> import fastfair as ff
        >>> c = ff.Comparisons([0.9, 0.3, 0.7, 0.4, 0.1, 0.6], [1, 1, 1, 0, 0, 0])
        >>> found = ff.check(c, "eer <= 0.999", unit="comparison", rng=0)
        >>> "<testsuite" in found.to_junit()
        True
        """
        return _as_junit(self, path)

    @checked
    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw each quantity with the limit that decides, as multiples of what is required.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
        """
        rows = self.rows
        multiples = [(row.estimate / row.bound, row.limit / row.bound) if row.bound > 0 else (math.nan,) * 2
                     for row in rows]  # fmt: skip
        drawn = [one if all(map(math.isfinite, one)) else (math.nan,) * 2 for one in multiples]
        estimates, limits = zip(*drawn, strict=True)
        bars = _verdict_bars([row.verdict for row in rows], estimates, limits)
        labels = [f"{row.title} {row.relation} {written_value(row.name, row.bound)}" for row in rows]
        ax = draw_rows(
            ax, labels, bars, [Line(1, "required")], xlabel="Estimate and limit, as multiples of what is required",
            logarithmic=True, per_cent=False, least=_LEAST,
        )  # fmt: skip
        for y, (row, limit) in enumerate(zip(rows, limits, strict=True)):
            if math.isnan(limit):
                told = "no limit" if math.isnan(row.limit) else "its limit cannot be drawn"
                color = _COLORS[row.verdict]
                ax.text(1, y, f"  {row.verdict}: {told}", va="center", color=color, fontsize="small")
        return ax


def _worst(verdicts: list[str]) -> str:
    return next((one for one in (NOT_MET, UNDECIDED) if one in verdicts), MET)


def _as_junit(check: Check, path: str | Path | None) -> str:
    """Write a suite with a test case for each quantity: not met is a failure, undecided too unless it is allowed.

    What was left out of the data is a property of the suite.
    """
    rows, allow_undecided = check.rows, check.allow_undecided
    skipped = [row for row in rows if allow_undecided and row.verdict == UNDECIDED]
    n_failed = sum(row.verdict != MET for row in rows) - len(skipped)
    numbers = {"tests": str(len(rows)), "failures": str(n_failed), "errors": "0", "skipped": str(len(skipped))}
    root = ElementTree.Element("testsuites", numbers)
    suite = ElementTree.SubElement(root, "testsuite", {"name": "fastfair check", **numbers})
    excluded = sentences_on_exclusions(check.left_out)
    if excluded:
        properties = ElementTree.SubElement(suite, "properties")
        for said in excluded:
            ElementTree.SubElement(properties, "property", {"name": "left out", "value": visible(said)})
    for row in rows:
        case = ElementTree.SubElement(
            suite, "testcase", {"classname": visible(row.requirement), "name": visible(row.title), "time": "0"}
        )
        if row in skipped:
            ElementTree.SubElement(case, "skipped", {"message": f"{row.verdict}: {visible(row.reason)}"})
        elif row.verdict != MET:
            failure = {"type": row.verdict, "message": visible(row.reason)}
            ElementTree.SubElement(case, "failure", failure).text = f"{visible(row.title)}: {visible(row.reason)}"
        else:
            ElementTree.SubElement(case, "system-out").text = visible(row.reason)
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    if path is not None:
        with whole_files.written(Path(path)) as file:
            file.write(f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'.encode())
    return text


_DEPENDENT = "comparisons of the same subjects were taken for independent, so the limit is too narrow"


@checked
def check(
    comparisons: Comparisons | ScannedComparisons,
    requirements: str | Sequence[str],
    at: OperatingPoint = at_fmr(1e-3),  # noqa: B008 - frozen
    *,
    n_resamples: Resamples = 2000,
    confidence_level: float = 0.95,
    unit: Unit = "subject",
    rng: seeds.Seed = None,
    n_threads: int | None = None,
    progress: bool | Callable[[int, int], None] = False,
    alpha: float = 0.5,
    eer_method: EerMethod = "nearest",
    zero_policy: ZeroPolicy | float = "keep",
    costs: Costs = Costs(),  # noqa: B008 - frozen
    allow_undecided: bool = False,
) -> Check:
    """Judge requirements by confidence limits instead of estimates, as a gate before a system goes on.

    Parameters
    ----------
    comparisons : Comparisons or ScannedComparisons
        The comparisons that the judgement rests on.
    requirements : str or sequence of str
        What must hold: a quantity, a relation and a number each, such as "fnmr[f]@fmr=0.001 <= 5 %".

        See Notes.
    at : OperatingPoint
        The operating point of rates, and of measures of rates, whose requirement names none.
    n_resamples : int, default 2000
        Number of replicates, at least 2.
    confidence_level : float, default 0.95
        The level of the limits, to one side, in (0.5, 1).
    unit, rng, n_threads, progress
        As in `evaluate`.
    alpha, eer_method, zero_policy
        As in `EvaluationSettings`.
    costs : Costs
        As in `min_dcf`.
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
    most of them; or where nobody is in two comparisons. All requirements, and all groups of "*", have to be met, so
    that a system which violates one of them passes with a probability of at most 1 minus the level, without an
    adjustment (an intersection-union test [1]_). Where not all groups of "*" are met, each is judged by Holm's
    procedure. The opposite limits have a level adjusted for their number by Bonferroni's inequality: with at most this
    probability is any requirement called not met although it is.

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
    if n_resamples < 2:
        raise InputError("a check needs replicates: ⟦n_resamples⟧ must be at least 2")
    points = list(dict.fromkeys(one.at for one in expanded if one.at is not None))
    names = [one.name.partition("(") for one in expanded]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NarrowIntervalsWarning)  # reasons say so of each quantity that it concerns
        evaluation = evaluate(
            comparisons, points or [at], [measure.name for one in expanded if (measure := measure_of(one.name))],
            metrics=[name for name in SCORE_METRICS if any(name in (first, last[:-1]) for first, _, last in names)],
            unit=unit, n_resamples=n_resamples, confidence_level=level, rng=rng, n_threads=n_threads,
            progress=progress, costs=costs, settings=EvaluationSettings(
                alpha=alpha, eer_method=eer_method, zero_policy=zero_policy, incomplete_groups="nan"
            ),
        )  # fmt: skip
    return _judged_evaluation(evaluation, wanted, confidence_level, allow_undecided)


def requirements_of(
    requirements: str | Sequence[str], at: OperatingPoint, names: Sequence[str] = ()
) -> list[Requirement]:
    """Read requirements; at: the operating point of those that name none; names: as in `read_requirement`."""
    listed = [requirements] if isinstance(requirements, str) else list(requirements)
    if not listed:
        raise InputError('requirements is empty: give at least one, such as "fnmr@fmr=0.001 <= 0.05"')
    return [read_requirement(text, at, names) for text in dict.fromkeys(listed)]


def check_evaluation(evaluation: Evaluation, wanted: Sequence[Requirement]) -> Check:
    """Judge requirements by the replicates of an evaluation that has all that they are about."""
    known = {quantity.key[::3] for quantity in evaluation.quantities}
    for one in wanted:
        if (one.name, one.at) not in known:
            raise InputError(
                f"the evaluation has no {one.name}{'' if one.at is None else f' at {one.at}'}: {one.text!r}"
            )
    level = evaluation.settings["confidence_level"]
    limits = evaluation.with_intervals(two_sided_level(level), "auto", "two-sided", simultaneous=False)
    return _judged_evaluation(limits, wanted, level, allow_undecided=False)


def _judged_evaluation(
    evaluation: Evaluation, wanted: Sequence[Requirement], confidence_level: float, allow_undecided: bool
) -> Check:
    """Judge requirements by an evaluation whose two-sided intervals end at one-sided limits of the level."""
    comparisons, unit = evaluation.comparisons, evaluation.settings["unit"]
    own_level = two_sided_level(confidence_level)

    def rows_at(level: float) -> Callable[[Requirement], Quantity]:
        limits = evaluation if level == own_level else evaluation.with_intervals(level)
        return lambda one: _quantity_of(one, limits)

    def needed(one: Requirement, quantity: Quantity) -> str:
        return _needed(evaluation, quantity, one.bound, confidence_level) if one.name in ERROR_RATES else ""

    dependent = _DEPENDENT if comparisons is not None and repeats_subjects(comparisons, unit) else ""
    rows = judged(wanted, evaluation.groups, rows_at, confidence_level, dependent=dependent, needed=needed)
    texts = [one.text for one in wanted]
    settings = evaluation.settings | {"requirements": texts, "confidence_level": confidence_level}
    left_out = evaluation.left_out
    return Check(tuple(texts), tuple(rows), confidence_level, settings, allow_undecided, left_out=left_out)


def judged(
    wanted: Sequence[Requirement],
    groups: Sequence[str],
    rows_at: Callable[[float], Callable[[Requirement], Any]],
    confidence_level: float,
    *,
    dependent: str = "",
    needed: Callable[[Requirement, Any], str] = lambda *_: "",
) -> list[CheckedQuantity]:
    """Judge requirements.

    Parameters
    ----------
    wanted : sequence of Requirement
        The requirements.
    groups : sequence of str
        All groups.
    rows_at : callable
        Given the level of two-sided intervals, what returns the estimate that a requirement of one group is about: a
        `Quantity`, or another estimate with flags.
    confidence_level : float
        The level of limits to one side.
    dependent : str
        Why all limits are in doubt; empty where nothing puts all in doubt.
    needed : callable
        Says how many subjects would do where an upper limit of a rate is too high.
    """
    of_each = [requirement.of_groups(groups) for requirement in wanted]
    own = rows_at(two_sided_level(confidence_level))
    opposite = rows_at(two_sided_level(1 - (1 - confidence_level) / sum(map(len, of_each))))
    checked: list[CheckedQuantity] = []
    for rows in of_each:
        limits = [ends_of(own(one))[one.is_upper] for one in rows]
        doubts = [_doubt(one, own(one), limit, dependent) for one, limit in zip(rows, limits, strict=True)]

        def met_at(
            probability: float, which: Sequence[int], rows: list[Requirement] = rows, doubts: list[str] = doubts
        ) -> list[int]:
            wider = rows_at(two_sided_level(1 - probability)) if probability < 1 - confidence_level else own
            ends = {k: ends_of(wider(rows[k]))[rows[k].is_upper] for k in which}
            return [k for k, end in ends.items() if rows[k].allows(end) and not doubts[k]]

        met = met_by_holm(len(rows), met_at, 1 - confidence_level)
        for k, (one, limit, doubt) in enumerate(zip(rows, limits, doubts, strict=True)):
            row, beyond = own(one), ends_of(opposite(one))[not one.is_upper]
            verdict, reason = _verdict(one, row, (limit, beyond), 100 * confidence_level, doubt, is_met=k in met)
            if verdict == UNDECIDED and one.is_upper and not math.isnan(limit):
                reason += needed(one, row)
            low, high = (beyond, limit) if one.is_upper else (limit, beyond)
            checked.append(CheckedQuantity._of(
                row, requirement=one.text, name=one.name, at=one.at, relation=one.relation, bound=one.bound, low=low,
                high=high, verdict=verdict, reason=reason,
            ))  # fmt: skip
    return checked


def _doubt(one: Requirement, row: Any, limit: float, dependent: str) -> str:
    """Say what puts a limit in doubt."""
    doubt = doubts_about(row, lambda room: one.allows(limit * room if one.is_upper else limit / room))
    return "; ".join(filter(None, (dependent, doubt)))


def _needed(evaluation: Evaluation, quantity: Quantity, bound: float, level: float) -> str:
    """Say how many subjects, or comparisons, would show that a rate is within the bound if it stays as it is."""
    if math.isnan(ends_of(quantity)[1]) or has_flag(quantity, Flag.BELOW_RESOLUTION):  # its note says how many would do
        return ""
    evidence = evaluation.maker.evidence[evaluation.quantities.index(quantity)]
    times = evidence.times_needed(bound, level, partial(room_for, quantity))
    there, what = (quantity.n_subjects, "subjects") if quantity.n_subjects else (quantity.n_comparisons, "comparisons")
    if not there or not 1 < times < math.inf:
        return ""
    return f"; about {math.ceil(times * there):,} {what} with this rate would be enough"


def _verdict(
    one: Requirement, found: Any, limits: tuple[float, float], level: float, doubt: str, *, is_met: bool
) -> tuple[str, str]:
    limit, opposite = limits
    estimate, bound, shown, beyond = (written_value(one.name, x) for x in (found.estimate, one.bound, limit, opposite))
    side, other, exceeds = ("upper", "lower", "exceeds") if one.is_upper else ("lower", "upper", "is below")
    if math.isnan(limit):
        return UNDECIDED, f"{estimate}, without a limit: {found.note or 'it is not computable'}"
    told = f"{estimate}; {side} limit {shown} at {level:g} % confidence"
    if is_met:
        return MET, told
    # Where errors are few, intervals of measures may lie beyond the value of a fair system.
    is_known = measure_of(one.name) is None or not has_flag(found, Flag.NARROW)
    if is_known and not one.allows(limit) and not one.allows(opposite):
        return NOT_MET, f"{estimate}; {other} limit {beyond} {exceeds} {bound}"
    if not one.allows(limit):
        few = f" ({found.note})" if found.note else ""
        return UNDECIDED, f"{estimate}; {side} limit {shown} {exceeds} {bound}: too few data to decide{few}"
    if doubt:
        return UNDECIDED, f"{told}, but this limit is in doubt: {doubt}"
    return UNDECIDED, f"{told}, but not at the confidence that several groups need together"


def _quantity_of(one: Requirement, evaluation: Evaluation) -> Quantity:
    key = one.name, one.group, None, one.at
    missing = Quantity(*key[:2], one.at, math.nan, math.nan, math.nan, notes=(Note(Code.GROUPS_LACK_COMPARISONS),))
    return next((quantity for quantity in evaluation.quantities if quantity.key == key), missing)
