"""`FmrPlan`: how many subjects support a claimed FMR."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastfair._lib.arguments import checked
from fastfair._lib.results import Tabular
from fastfair._lib.tables import columns_of, records
from fastfair._lib.text import per_cent

from .fmr_studies import FmrStudy

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class FmrPlan(Tabular):
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

    def _columns(self) -> dict[str, list[Any]]:
        return columns_of(self.studies)

    def _content(self) -> dict[str, Any]:
        names = ("claimed", "fmr", "covariance", "again", "wanted_assurance", "n_subjects", "n_independent",
                 "confidence_level", "rule_of_3", "rule_of_30")  # fmt: skip
        content = {name: getattr(self, name) for name in names}
        return {"settings": self.settings, **content, "studies": records(self._columns())}

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
        from .plots import draw_fmr_plan

        levels = {"claimed": self.claimed, "expected FMR": self.fmr}
        return draw_fmr_plan(self.studies, levels, self.wanted_assurance, self.n_subjects, ax)
