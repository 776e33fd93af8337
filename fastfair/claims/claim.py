"""`claim`: do the data support that an error rate is at most so large, of all people and of each group?

All rows of a claim or requirement are met together where every limit, unadjusted, is on the right side of the bound: a
system that violates one row passes no more often than that row alone would (an intersection-union test). Otherwise rows
are judged by Holm's procedure, so that with the probability of the level no row is called met although it is not.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fastfair import intervals
from fastfair._lib import seeds, validation
from fastfair._lib.arguments import Resamples, checked
from fastfair._lib.bisection import least_multiple
from fastfair._lib.plots import GREY, STANDS_OUT, USUAL, Bar, Line, draw_rows, verdict_bars
from fastfair._lib.text import per_cent
from fastfair.data.comparisons import Comparisons
from fastfair.data.embeddings import Embeddings
from fastfair.data.scans import ScannedComparisons
from fastfair.error_rates.operating_points import ENOUGH_ERRORS, OperatingPoint
from fastfair.error_rates.rates import ERROR_RATES
from fastfair.errors import InputError
from fastfair.evaluation.evaluate import EvaluationSettings, evaluate
from fastfair.evaluation.result import Evaluation
from fastfair.measures._registry import METRICS
from fastfair.resampling.units import Unit
from fastfair.results.result import Result
from fastfair.uncertainty.interval_maker import room_for
from fastfair.uncertainty.quantities import (
    BELOW_RESOLUTION,
    NARROW,
    UNKNOWN_CONCENTRATION,
    Estimate,
    Quantity,
    ends_of,
    has_flag,
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


def doubts_about(quantity: Quantity, within: Callable[[float], bool]) -> str:
    """Say why a limit that is on the right side of its bound does not settle a verdict; empty where it does.

    within tells whether the bound leaves room for so many times the limit.
    """
    blocking = (NARROW, BELOW_RESOLUTION, *(() if quantity.name == "fmr" else (UNKNOWN_CONCENTRATION,)))
    reasons = [quantity.note] if has_flag(quantity, *blocking) else []
    room = room_for(quantity.name, quantity.n_errors or 0)
    if room > 1 and not within(room):
        reasons.append(
            f"with fewer than {ENOUGH_ERRORS} false matches it is not known whether few subjects cause most of them, "
            f"so the bound has to leave room for {room:g} times the limit"
        )
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
            float(sizes.raised[row]), lambda times: room_for(quantity.name, (quantity.n_errors or 0) * times),
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
        from scipy.special import betainc

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
    from scipy.special import betaincinv

    return 1.0 if errors >= comparisons else float(betaincinv(errors + 1, comparisons - errors, level))


SUPPORTED, CONTRADICTED = "supported", "contradicted"
_COLORS = {SUPPORTED: USUAL, UNDECIDED: GREY, CONTRADICTED: STANDS_OUT}
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
    _derived = ("holds_in_every_group",)

    @property
    def holds_in_every_group(self) -> bool:
        """Whether the data support the claim in each group on its own, and so in all of them at once."""
        alone = 1 - self.confidence_level
        return bool(self.groups) and all(one.pvalue <= alone and not one.doubt for one in self.groups)

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
        if self.holds_in_every_group:
            text.append(f"Each group's limit is at most {per_cent(self.claimed)}, so the claim holds in all of them.")
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

    def _columns(self) -> dict[str, list[Any]]:
        more = ("limit", "rule_of_3", "meets_rule_of_30")
        return super()._columns() | {name: [getattr(row, name) for row in self.rows] for name in more}

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
        bars = verdict_bars(verdicts, estimates, limits, _COLORS)
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
    if at.rate == rate:
        raise InputError(
            f"at={at} holds the {rate.upper()} that is claimed, so the data say nothing of it: name the threshold, as "
            "in at_threshold(0.5)"
        )
    evaluation = evaluate(
        comparisons, at, [], metrics=[], unit=unit, n_resamples=n_resamples, confidence_level=level,
        alternative="less", rng=rng, n_threads=n_threads, progress=progress,
        settings=EvaluationSettings(incomplete_groups="nan"),
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
    return rate, validation.positive("the rate claimed", validation.fraction("the rate claimed", limit))


def _judged(evaluation: Evaluation, quantity: Quantity, claimed: float, level: float) -> ClaimedRate:
    n, errors, subjects = quantity.n_comparisons or 0, quantity.n_errors or 0, quantity.n_subjects or 0
    limit = ends_of(quantity)[1]
    evidence = Evidence.of(evaluation, quantity)
    pvalue = above = needed = math.nan
    doubt = ""
    if evidence is not None:
        pvalue, above = evidence.pvalue(claimed), evidence.pvalue_above(claimed)
        if not evaluation.rates[0].at.is_given:  # the limits are those of the threshold, too
            of_limit, row = evaluation.maker.pvalue_of_limit, evaluation.quantities.index(quantity)
            pvalue = max(pvalue, of_limit(row, claimed, upper=True)) if pvalue < 0.5 else pvalue
            above = max(above, of_limit(row, claimed, upper=False)) if above < 0.5 else above
        doubt = doubts_about(quantity, lambda room: limit * room <= claimed)
        if not has_flag(quantity, BELOW_RESOLUTION):
            needed = evidence.times_needed(claimed, level) * (subjects or n)
    return ClaimedRate._of(
        quantity, n_comparisons=n, n_errors=errors, pvalue=pvalue, pvalue_adjusted=pvalue, pvalue_above=above,
        verdict=verdict_of(pvalue, above, 1 - level, doubt), doubt=doubt,
        independent_limit=independent_limit(errors, n, level) if n else math.nan,
        n_subjects_needed=math.ceil(needed - 1e-6) if math.isfinite(needed) else math.inf,
    )  # fmt: skip
