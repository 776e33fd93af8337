"""`Claim`: what the data say of a claimed error rate, overall and in each group."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastfair._lib.arguments import checked
from fastfair._lib.results import Tabular
from fastfair._lib.tables import columns_of, records
from fastfair._lib.text import per_cent
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.errors import visible

from .claimed_rates import CONTRADICTED, SUPPORTED, ClaimedRate
from .judging import UNDECIDED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ADJUSTED = "p-values adjusted for their number"


@dataclass(frozen=True, eq=False, repr=False)
class Claim(Tabular):
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

    def _content(self) -> dict[str, Any]:
        return {
            "settings": self.settings, "rate": self.rate, "claimed": self.claimed, "operating_point": str(self.at),
            "threshold": self.threshold, "holds_in_every_group": self.holds_in_every_group,
            "rows": records(self._columns()),
        }  # fmt: skip

    def _columns(self) -> dict[str, list[Any]]:
        rows = (self.overall, *self.groups)
        columns = columns_of(rows)
        note = columns.pop("note")
        rules = {name: [getattr(row, name) for row in rows] for name in ("rule_of_3", "meets_rule_of_30")}
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
        from .plots import draw_claim

        return draw_claim((self.overall, *self.groups), self.rate, self.claimed, ax)


def _limit_of(rate: ClaimedRate) -> str:
    return "no limit" if math.isnan(rate.limit) else f"limit {per_cent(rate.limit)}"
