"""`Claim`: what the data say of a claimed error rate, overall and in each group."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fastfair import intervals
from fastfair._lib.arguments import checked
from fastfair._lib.plot_style import GREY, STANDS_OUT, USUAL
from fastfair._lib.text import per_cent
from fastfair.error_rates.operating_points import ENOUGH_ERRORS, OperatingPoint
from fastfair.errors import visible
from fastfair.measures._registry import METRICS
from fastfair.results.charts import Bar, Line, draw_rows, verdict_bars
from fastfair.results.result import Result

from .judging import UNDECIDED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SUPPORTED, CONTRADICTED = "supported", "contradicted"
_COLORS = {SUPPORTED: USUAL, UNDECIDED: GREY, CONTRADICTED: STANDS_OUT}
_ADJUSTED = "p-values adjusted for their number"


def verdict_of(pvalue: float, above: float, significance: float, doubt: str) -> str:
    """Return the verdict of two p-values, of the rate being above what is claimed and of it not being so."""
    if pvalue <= significance and not doubt:
        return SUPPORTED
    return CONTRADICTED if above <= significance else UNDECIDED


@dataclass(frozen=True)
class ClaimedRate:
    """What the data say of one rate, of all people or of a group.

    Attributes
    ----------
    group : str or None
        The group; None for all comparisons.
    estimate : float
        The rate in the data.
    limit : float
        Its upper limit, to one side, at the level of the claim; NaN where there is none, and `note` says why.
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
    n_comparisons, n_errors : int
        Numbers of comparisons and of errors.
    n_subjects : int or None
        Number of subjects.
    independent_limit : float
        Clopper and Pearson's upper limit, for comparisons that were all independent.
    n_subjects_needed : float
        About how many subjects (comparisons, where subjects are not known) would support the claim if the rate were
        the same and each subject had as many comparisons; infinite where no number would.
    note : str
        Warnings for the reader.
    """

    group: str | None
    estimate: float
    limit: float
    pvalue: float
    pvalue_adjusted: float
    pvalue_above: float
    verdict: str
    doubt: str
    n_comparisons: int
    n_errors: int
    n_subjects: int | None
    independent_limit: float
    n_subjects_needed: float
    note: str = ""

    @property
    def rule_of_3(self) -> float:
        """The limit of the rule of 3, three divided by the number of comparisons; NaN where there are errors."""
        return math.nan if self.n_errors or not self.n_comparisons else min(1.0, 3 / self.n_comparisons)

    @property
    def meets_rule_of_30(self) -> bool:
        """Whether there are 30 errors, which would hold the rate to within 30 % at 90 % if they were independent."""
        return self.n_errors >= ENOUGH_ERRORS


def adjusted(rates: Sequence[ClaimedRate], significance: float) -> tuple[ClaimedRate, ...]:
    """Return the rates of groups with p-values adjusted for their number, and verdicts by these.

    All are supported where all are by unadjusted p-values; see `judging`.
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
    _derived = ("holds_in_every_group",)

    @property
    def holds_in_every_group(self) -> bool:
        """Whether the data support the claim in each group on its own, and so in all of them at once."""
        alone = 1 - self.confidence_level
        return bool(self.groups) and all(one.pvalue <= alone and not one.doubt for one in self.groups)

    @checked
    def summary(self) -> str:
        """Describe the result in sentences.

        Returns
        -------
        str
        """
        rate, level = self.rate.upper(), f"{100 * self.confidence_level:g} %"
        text = [f"The claim: {rate} at most {per_cent(self.claimed)} at {self.at}."]
        one = self.overall
        text.append(
            f"{one.n_errors:,} of {one.n_comparisons:,} comparisons are errors, {per_cent(one.estimate)}; with {level} "
            f"confidence the {rate} is at most {per_cent(one.limit)}."
            if not math.isnan(one.limit)
            else f"There is no limit: {one.note}."
        )
        text.append({
            SUPPORTED: "The data support the claim.",
            CONTRADICTED: f"The data contradict the claim: the {rate} is above {per_cent(self.claimed)}.",
            UNDECIDED: f"The data do not support the claim, and do not contradict it. {self._missing(one)}",
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
        return "\n".join(map(visible, text))

    def _missing(self, one: ClaimedRate) -> str:
        doubt = f"The limit is in doubt: {one.doubt}. " if one.doubt and one.limit <= self.claimed else ""
        if math.isinf(one.n_subjects_needed) and one.doubt and one.estimate < self.claimed:
            return f"There is no limit to judge by: {one.doubt}."
        if math.isinf(one.n_subjects_needed):
            return f"{doubt}More of such data would not support it, as the rate itself is not below."
        what = "comparisons" if one.n_subjects is None else "subjects"
        there = one.n_comparisons if one.n_subjects is None else one.n_subjects
        return f"{doubt}At this rate about {one.n_subjects_needed:,.0f} {what} would, in place of {there:,}."

    @property
    def rows(self) -> tuple[ClaimedRate, ...]:
        """That of all comparisons, and those of groups."""
        return self.overall, *self.groups

    def _columns(self) -> dict[str, list[Any]]:
        columns = super()._columns()
        note = columns.pop("note")
        rules = {name: [getattr(row, name) for row in self.rows] for name in ("rule_of_3", "meets_rule_of_30")}
        return columns | rules | {"note": note}

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
            if not math.isnan(row.limit)
        ]
        return draw_rows(
            ax, [row.group or "all" for row in rows], bars, [Line(self.claimed, "claimed")],
            xlabel=f"{METRICS[self.rate].long_title} with upper limit", logarithmic=logarithmic,
        )  # fmt: skip


def _limit_of(rate: ClaimedRate) -> str:
    return "no limit" if math.isnan(rate.limit) else f"limit {per_cent(rate.limit)}"
