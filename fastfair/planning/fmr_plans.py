"""`FmrPlan`: how many subjects support a claimed FMR."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastfair._lib.arguments import checked
from fastfair._lib.axes import axes_or_new, tick_per_cent
from fastfair._lib.text import per_cent
from fastfair.results.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class FmrStudy:
    """What studies with so many subjects find.

    Attributes
    ----------
    n_subjects, n_pairs, n_comparisons : int
        Numbers of subjects, of pairs of subjects who are compared, and of comparisons.
    expected_errors : float
        Number of false matches to be expected.
    limit : float
        The upper limit of the FMR, the median over simulated studies.
    limit_assured : float
        The limit that the wanted share of studies stays within.
    assurance : float
        The share of studies that support the claim.
    independent_limit : float
        Clopper and Pearson's limit for the expected number of false matches, rounded, if comparisons were independent.
    """

    n_subjects: int
    n_pairs: int
    n_comparisons: int
    expected_errors: float
    limit: float
    limit_assured: float
    assurance: float
    independent_limit: float


@dataclass(frozen=True, eq=False, repr=False)
class FmrPlan(Result):
    """The result of `plan_fmr`.

    Attributes
    ----------
    claimed : float
        What the FMR is claimed not to exceed.
    fmr : float
        The true FMR to be expected.
    covariance : float
        Relative covariance of false matches that share one subject.
    again : float
        Chance that another comparison of two subjects is a false match where one is.
    wanted_assurance : float
        The share of studies that are to support the claim.
    n_subjects : int or None
        The number of subjects with which they do; None where `max_subjects` are too few.
    needed : FmrStudy
        What studies of so many subjects find, or of `max_subjects` where these are too few.
    studies : tuple of FmrStudy
        What studies of fewer and of more subjects find, by their number; `needed` is among them.
    n_independent : int
        The number of subjects that would do if all comparisons were independent.
    confidence_level : float
        The level of the limits, to one side.
    settings : dict
        The arguments of the call, and the seed.
    """

    claimed: float
    fmr: float
    covariance: float
    again: float
    wanted_assurance: float
    n_subjects: int | None
    needed: FmrStudy
    studies: tuple[FmrStudy, ...]
    n_independent: int
    confidence_level: float
    settings: dict[str, Any]

    _title = "How many subjects the claim needs"
    _rows = "studies"
    _derived = ("rule_of_3", "rule_of_30")

    @property
    def rule_of_3(self) -> int:
        """How many independent comparisons without a false match would support the claim, by the rule of 3."""
        return math.ceil(3 / self.claimed)

    @property
    def rule_of_30(self) -> float:
        """How many comparisons have 30 false matches on average, for the rule of 30; infinite at an FMR of 0."""
        return math.ceil(30 / self.fmr) if self.fmr else math.inf

    @checked
    def summary(self) -> str:
        """Describe the plan in sentences.

        Returns
        -------
        str
        """
        one, level = self.needed, f"{100 * self.confidence_level:g} %"
        partners, samples = self.settings["n_partners"], self.settings["n_samples"]
        with_whom = "all others" if partners is None else f"{partners:,} others drawn at random"
        of_each = "" if samples == 1 else f", {samples:,} samples of each"
        text = [
            f"The claim: FMR at most {per_cent(self.claimed)}; expected is {per_cent(self.fmr)}, and a relative "
            f"covariance of {self.covariance:.3g} between false matches that share a subject.",
            f"{one.n_subjects:,} subjects{of_each}, each compared with {with_whom}, make {one.n_comparisons:,} "
            f"comparisons of {one.n_pairs:,} pairs; {one.expected_errors:.3g} false matches are expected.",
            f"{per_cent(one.assurance)} of such studies support the claim, with an upper limit ({level}) of at most "
            f"{per_cent(self.claimed)}; half of them have a limit of at most {per_cent(one.limit)}.",
        ]
        if self.n_subjects is None:
            text.append(f"That is too few for {per_cent(self.wanted_assurance)} of studies: plan for more subjects.")
        text.append(
            f"If all comparisons were independent, {self.n_independent:,} subjects would do. The rule of 3 asks for "
            f"{self.rule_of_3:,} comparisons without a false match"
            + (f", that of 30 for {self.rule_of_30:,} comparisons." if self.fmr else ".")
        )
        return "\n".join(text)

    @checked
    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the limits of studies over their numbers of subjects, and the number that is needed.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
        """
        from matplotlib.ticker import LogLocator, NullLocator

        levels = {"claimed": self.claimed, "expected FMR": self.fmr}
        ax = axes_or_new(ax)
        n = [one.n_subjects for one in self.studies]
        kept = f"limit that {100 * self.wanted_assurance:g} % of studies keep"
        ax.plot(n, [one.limit_assured for one in self.studies], "o-", color="#0072B2", label=kept)
        ax.plot(n, [one.limit for one in self.studies], ".-", color="#56B4E9", label="median limit")
        independent = [one.independent_limit for one in self.studies]
        ax.plot(n, independent, ":", color="0.45", label="limit if comparisons were independent")
        for (name, rate), color, style in zip(levels.items(), ("k", "0.7"), ("--", "-"), strict=True):
            if rate:
                ax.axhline(rate, color=color, linestyle=style, linewidth=1.2, zorder=0, label=name)
        if self.n_subjects is not None:
            ax.axvline(self.n_subjects, color="0.8", linewidth=1, zorder=0)
            ax.annotate(
                f"{self.n_subjects:,}", (self.n_subjects, levels["claimed"]), (4, 4), textcoords="offset points"
            )
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set(xlabel="Subjects", ylabel="Upper limit of the FMR")
        ax.set_xticks(n, [f"{k:,}" for k in n])
        ax.set_xticks([], minor=True)
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ax.yaxis.set_major_formatter(tick_per_cent)
        ax.yaxis.set_minor_locator(NullLocator())
        ax.grid(alpha=0.3)
        ax.legend(fontsize="small")
        return ax
