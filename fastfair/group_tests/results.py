"""Results of tests of equal error rates: the statistic, its p-value, and the groups that differ from the others."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.arguments import checked
from fastfair._lib.results import Tabular
from fastfair._lib.tables import records
from fastfair._lib.text import per_cent
from fastfair.errors import visible
from fastfair.pages.parts import Chapter
from fastfair.pages.report import chapter_of_table

from .failure_counts import FailureCounts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
_NAMES = {"deviance": "deviance", "f": "F", "max-difference": "largest difference", "max-ratio": "largest ratio"}


@dataclass(frozen=True, eq=False, repr=False)
class GroupTest(Tabular):
    """The result of a test of equal error rates.

    Attributes
    ----------
    statistic : float
        The statistic in the data; larger where groups differ more.
    pvalue : float
        Share of the replicates, drawn as if all groups had the same rate, with a statistic at least as large.
    statistic_name : str
        "deviance", "f", "max-difference" or "max-ratio".
    groups : tuple of str
        The groups, sorted.
    rate : float
        Errors divided by trials of all groups together.
    group_rate : (g,) ndarray
        Error rate of each group.
    n_subjects, n_trials, n_errors : (g,) ndarray of int64
        Numbers of subjects, trials and errors of each group.
    standard_error : (g,) ndarray
        Standard error of each group's rate.
    low, high : (g,) ndarray
        Interval of each group's rate, computed from its standard error.
    simultaneous_low, simultaneous_high : (g,) ndarray
        The same at the level confidence_level ** (1 / g), at which all intervals hold together (Šidák).
    bootstrap_low, bootstrap_high : (g,) ndarray
        Interval of each group's rate from quantiles of the replicates; NaN where these do not vary.
    difference : (g,) ndarray
        Each group's rate minus that of all other groups together.
    group_pvalue : (g,) ndarray
        p-value of each group on its own; NaN where groups were not tested.
    group_pvalue_adjusted : (g,) ndarray
        The same p-values adjusted for being several by tests of several groups at once, which limits the probability of
        any false finding.
    replicates : (r,) ndarray
        The statistic in every replicate.
    confidence_level : float
        Confidence level of the intervals; a group differs detectably if `group_pvalue_adjusted` is below `level`.
    settings : dict
        The arguments of the call, and the seed.
    """

    statistic: float
    pvalue: float
    statistic_name: str
    groups: tuple[str, ...]
    rate: float
    group_rate: Floats
    n_subjects: NDArray[np.int64]
    n_trials: NDArray[np.int64]
    n_errors: NDArray[np.int64]
    standard_error: Floats
    low: Floats
    high: Floats
    simultaneous_low: Floats
    simultaneous_high: Floats
    bootstrap_low: Floats
    bootstrap_high: Floats
    difference: Floats
    group_pvalue: Floats
    group_pvalue_adjusted: Floats
    replicates: Floats = field(repr=False)
    confidence_level: float
    settings: dict[str, Any]

    trials: ClassVar[str]

    @property
    @abstractmethod
    def error(self) -> str:
        """Name of the error rate, as in tables: "fnmr", "fmr", "fta" or "fte"."""

    @property
    def level(self) -> float:
        """The significance level, 1 - confidence_level."""
        return significance_level(self.confidence_level)

    @cached_property
    def different(self) -> tuple[str, ...]:
        """Groups whose rate differs detectably from that of the others.

        Of FNMRs, each group is compared with all others, and one that differs much changes the rate of all others: if
        there are few groups, these may be named as well, so look at the largest differences first. Of FMRs, a group is
        named if it cannot be one of the groups, more than half of all, that do not differ detectably among themselves.
        """
        found = self.group_pvalue_adjusted < self.level
        return tuple(group for group, is_different in zip(self.groups, found, strict=True) if is_different)

    def _content(self) -> dict[str, Any]:
        return {
            "settings": self.settings, "rate": self.error, "statistic": self.statistic, "pvalue": self.pvalue,
            self.error: self.rate, "different": list(self.different), "groups": records(self._columns()),
        }  # fmt: skip

    def _columns(self) -> dict[str, list[Any]]:
        names = (
            "n_subjects", "n_trials", "n_errors", "group_rate", "low", "high", "simultaneous_low", "simultaneous_high",
            "bootstrap_low", "bootstrap_high", "standard_error", "difference", "group_pvalue", "group_pvalue_adjusted",
        )  # fmt: skip
        called = {"n_trials": f"n_{self.trials}", "group_rate": self.error}
        columns = {called.get(name, name): getattr(self, name).tolist() for name in names}
        return {"group": list(self.groups), **columns}

    def summary(self) -> str:
        """Describe the result in sentences.

        Returns
        -------
        str
        """
        rate, n = self.error.upper(), len(self.groups)
        if np.isnan(self.pvalue):
            return f"Whether the {rate}s of {n} groups differ cannot be told: see the warnings."
        alpha = self.level
        level = f"{100 * alpha:g} %"
        text = [
            f"The overall {rate} is {per_cent(self.rate)} and ranges from {per_cent(self.group_rate.min())} "
            f"({self.groups[int(self.group_rate.argmin())]}) to {per_cent(self.group_rate.max())} "
            f"({self.groups[int(self.group_rate.argmax())]}) over {n} groups.",
            f"If all groups had the same {rate}, differences as large as these would come about in "
            f"{_how_often(self.pvalue)} of studies like this one (p = {self.pvalue:.2g}, "
            f"{_NAMES[self.statistic_name]} = {self.statistic:.3g}, {self.replicates.size:,} replicates).",
        ]
        if self.pvalue < alpha:
            text.append(f"So the groups differ detectably, at the level of {level}.")
        else:
            text.append(
                f"So chance alone explains them, at the level of {level}; that does not show that the groups are alike."
            )
        n_tested = int((~np.isnan(self.group_pvalue)).sum())
        for sign, word in ((1, "higher"), (-1, "lower")):
            found = [
                f"{group} ({per_cent(value)})"
                for group, value, d in zip(self.groups, self.group_rate, self._from_others(), strict=True)
                if group in self.different and sign * d > 0
            ]
            if found:
                text.append(f"Detectably {word} than in the other groups, of {n_tested} tested: {', '.join(found)}.")
        if self.pvalue < alpha and n_tested and not self.different:
            text.append("The test cannot say which groups differ.")
        return "\n".join(map(visible, text + self._remarks()))

    def _from_others(self) -> Floats:
        """Return each group's rate minus that of the groups that do not differ detectably."""
        alike = ~np.isin(self.groups, self.different)
        if not alike.any():
            return self.difference
        return np.asarray(self.group_rate - self.n_errors[alike].sum() / self.n_trials[alike].sum())

    def _remarks(self) -> list[str]:
        if len(self.groups) == 2 or not self.different:
            return []
        if len(self.different) == len(self.groups):
            return ["No more than half of the groups are alike."]
        return [
            "Named are groups that have to be set aside, with as few others as possible, for the rest not to differ "
            "detectably."
        ]

    @checked
    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw each group's rate with its intervals, and the overall rate; groups that differ detectably stand out.

        Thick lines are each group's own interval, thin ones those that hold in all groups together.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
        """
        from .plots import draw_test

        ends = (self.low, self.high), (self.simultaneous_low, self.simultaneous_high)
        return draw_test(self.groups, self.group_rate, self.rate, ends, self.different, self.error, ax)


@dataclass(frozen=True, eq=False, repr=False)
class FnmrTest(GroupTest):
    """The result of `fnmr_test`. It has the attributes of `GroupTest`, and:

    Attributes
    ----------
    counts : FailureCounts
        The failure counts that were tested.
    fnmr, group_fnmr : float, (g,) ndarray
        `rate` and `group_rate`, where these are FNMRs; results on failures to acquire or to enrol have no such
        attributes.
    icc, design_effect : (g,) ndarray
        As in `FailureCounts`.
    """

    counts: FailureCounts = field(kw_only=True)
    trials: ClassVar[str] = "attempts"

    @property
    def error(self) -> str:
        """Name of the error rate, as in tables: "fnmr", "fta" or "fte"."""
        return self.counts.rate_name

    @property
    def fnmr(self) -> float:
        """All failures divided by all attempts, where these are mated comparisons."""
        return self.counts.called.if_fnmr(self.rate)

    @property
    def group_fnmr(self) -> Floats:
        """(g,) FNMR of each group."""
        return self.counts.called.if_fnmr(self.group_rate)

    @property
    def icc(self) -> Floats:
        """(g,) intra-class correlation of a subject's attempts; 0 where it is not defined."""
        return self.counts.icc

    @property
    def design_effect(self) -> Floats:
        """(g,) variance of the FNMR divided by that of as many independent attempts."""
        return self.counts.design_effect

    def _columns(self) -> dict[str, list[Any]]:
        return super()._columns() | {"icc": self.icc.tolist(), "design_effect": self.design_effect.tolist()}

    def _chapter(self) -> Chapter:
        title = f"Do {self.counts.called.title.lower()}s differ between groups?"
        return chapter_of_table(self, "FnmrTest", title)

    def _remarks(self) -> list[str]:
        return super()._remarks() + self.counts.remarks()


@dataclass(frozen=True, eq=False, repr=False)
class FmrTest(GroupTest):
    """The result of `fmr_test`. It has the attributes of `GroupTest`, and:

    Attributes
    ----------
    threshold : float
        The threshold at which the rates were computed.
    fmr : float
        False matches divided by non-mated comparisons within groups.
    group_fmr : (g,) ndarray
        FMR of each group.
    """

    threshold: float = field(kw_only=True)
    trials: ClassVar[str] = "comparisons"

    @property
    def error(self) -> str:
        """Name of the error rate, as in tables: "fmr"."""
        return "fmr"

    @property
    def fmr(self) -> float:
        """False matches divided by non-mated comparisons within groups."""
        return self.rate

    @property
    def group_fmr(self) -> Floats:
        """(g,) FMR of each group."""
        return self.group_rate


def significance_level(confidence_level: float) -> float:
    """Return 1 - confidence_level, so that 1 - 0.95 is 0.05."""
    return round(1 - confidence_level, 12)


def _how_often(pvalue: float) -> str:
    """Express a p-value as a frequency in words."""
    return f"1 in {round(1 / pvalue):,}" if pvalue < 0.1 else f"{100 * pvalue:.0f} %"
