"""Results of tests of equal error rates: the statistic, its p-value, and the groups that differ from the others."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.arguments import checked
from fastfair._lib.plot_style import STANDS_OUT, USUAL
from fastfair._lib.text import per_cent
from fastfair.errors import visible
from fastfair.measures._registry import METRICS
from fastfair.results.charts import Bar, Line, draw_rows
from fastfair.results.result import Result
from fastfair.results.written import UNWRITTEN, nothing

from .failure_counts import FailureCounts
from .failure_rates import failure_rate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
_NAMES = {"deviance": "deviance", "f": "F", "max-difference": "largest difference", "max-ratio": "largest ratio"}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class GroupTest(Result):
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
    confidence_level: float
    settings: dict[str, Any]
    replicates: Floats = field(default_factory=nothing, repr=False, metadata=UNWRITTEN)

    trials: ClassVar[str]
    _derived = ("error", "different")

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
            f"{_NAMES[self.statistic_name]} = {self.statistic:.3g}, {self.settings['n_resamples']:,} replicates).",
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
        colors = [STANDS_OUT if group in self.different else USUAL for group in self.groups]
        ends = (self.low, self.high, 2.6), (self.simultaneous_low, self.simultaneous_high, 0.9)
        bars = [
            Bar(row, rate, low[row], high[row], color=colors[row], marker="", width=width)
            for low, high, width in ends
            for row, rate in enumerate(self.group_rate)
        ]
        bars += rate_marks(self.groups, self.group_rate, self.different, "differs from the others")
        return draw_rows(ax, self.groups, bars, [Line(self.rate, color="0.3")], xlabel=rate_title(self.error))


def rate_title(error: str) -> str:
    """Name a rate of errors in full."""
    return METRICS["fmr"].long_title if error == "fmr" else failure_rate(error).title


def rate_marks(groups: Sequence[str], rates: Floats, apart: Sequence[str], label: str) -> list[Bar]:
    """Return marks at the rates of groups; those set apart stand out."""
    return [
        Bar(y, rate, color=STANDS_OUT, marker="D", label=label) if group in apart else Bar(y, rate)
        for y, (group, rate) in enumerate(zip(groups, rates.tolist(), strict=True))
    ]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FnmrTest(GroupTest):
    """The result of `fnmr_test`. It has the attributes of `GroupTest`, and:

    Attributes
    ----------
    rate_name : {"fnmr", "fta", "fte"}
        What rate it is.
    remarks : tuple of str
        What there is to know about the failure counts.
    counts : FailureCounts or None
        The failure counts that were tested; None in what was read from a file.
    fnmr, group_fnmr : float, (g,) ndarray
        `rate` and `group_rate`, where these are FNMRs; results on failures to acquire or to enrol have no such
        attributes.
    icc, design_effect : (g,) ndarray
        As in `FailureCounts`.
    """

    rate_name: str
    icc: Floats
    design_effect: Floats
    remarks: tuple[str, ...] = ()
    counts: FailureCounts | None = field(default=None, repr=False, metadata=UNWRITTEN)
    trials: ClassVar[str] = "attempts"

    @property
    def error(self) -> str:
        """Name of the error rate, as in tables: "fnmr", "fta" or "fte"."""
        return self.rate_name

    @property
    def fnmr(self) -> float:
        """All failures divided by all attempts, where these are mated comparisons."""
        return failure_rate(self.rate_name).if_fnmr(self.rate)

    @property
    def group_fnmr(self) -> Floats:
        """(g,) FNMR of each group."""
        return failure_rate(self.rate_name).if_fnmr(self.group_rate)

    def _columns(self) -> dict[str, list[Any]]:
        return super()._columns() | {"icc": self.icc.tolist(), "design_effect": self.design_effect.tolist()}

    def _question(self) -> str:
        return f"Do {failure_rate(self.rate_name).title.lower()}s differ between groups?"

    def _remarks(self) -> list[str]:
        return [*super()._remarks(), *self.remarks]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
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

    threshold: float
    trials: ClassVar[str] = "comparisons"
    _title = "Do false match rates differ between groups?"

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
