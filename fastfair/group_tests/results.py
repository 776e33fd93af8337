"""What tests of equal error rates find: a statistic, its p-value, and which groups stand out."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import frames
from fastfair._lib.arguments import checked
from fastfair._lib.tables import records, write_json
from fastfair._lib.text import per_cent
from fastfair.error_rates.operating_points import FEWEST_ERRORS
from fastfair.errors import visible

from .failure_counts import FailureCounts

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
_NAMES = {"f": "F", "max-difference": "largest difference", "max-ratio": "largest ratio"}


@dataclass(frozen=True, eq=False)
class GroupTest:
    """What a test of equal error rates found.

    Attributes
    ----------
    statistic : float
        What was observed; larger where groups differ more.
    pvalue : float
        Share of replicates, drawn as if all groups were alike, with a statistic at least as large.
    statistic_name : str
        "f", "max-difference" or "max-ratio".
    groups : tuple of str
        The groups, sorted.
    rate : float
        Errors over trials of all groups together.
    group_rate : (g,) ndarray
        Of each group.
    n_subjects, n_trials, n_errors : (g,) ndarray of int64
        What is behind each.
    standard_error : (g,) ndarray
        Of each group's rate.
    low, high : (g,) ndarray
        Interval of each group's rate, out of its standard error.
    bootstrap_low, bootstrap_high : (g,) ndarray
        Interval of quantiles of the replicates; NaN where these do not vary.
    difference : (g,) ndarray
        Each group's rate minus that of all other groups together.
    group_pvalue : (g,) ndarray
        Of the difference, for each group alone; NaN where there is none.
    group_pvalue_holm : (g,) ndarray
        Adjusted by Holm's procedure, so that the chance of any false finding is held.
    replicates : (r,) ndarray
        The statistic in every replicate.
    confidence_level : float
        Of the intervals; groups differ detectably where `group_pvalue_holm` is below `level`.
    settings : dict
        What was asked, and the seed.
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
    bootstrap_low: Floats
    bootstrap_high: Floats
    difference: Floats
    group_pvalue: Floats
    group_pvalue_holm: Floats
    replicates: Floats = field(repr=False)
    confidence_level: float
    settings: dict[str, Any]

    error: ClassVar[str]
    trials: ClassVar[str]

    @property
    def level(self) -> float:
        """The significance level, 1 - confidence_level."""
        return round(1 - self.confidence_level, 12)  # so that 1 - 0.95 is 0.05

    @cached_property
    def different(self) -> tuple[str, ...]:
        """Groups whose rate differs detectably from that of all others.

        One that differs much changes what the others are compared with, so that where groups are few these may be named
        as well: the largest differences are the ones to look into.
        """
        found = self.group_pvalue_holm < self.level
        return tuple(group for group, is_different in zip(self.groups, found, strict=True) if is_different)

    @checked
    def to_frame(self, backend: str | None = None) -> Any:
        """Return one row for each group, as a data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            By default the first of these that is installed.

        Returns
        -------
        data frame
        """
        return frames.build(self._columns(), backend)

    @checked
    def to_json(self, path: str | Path | None = None) -> str:
        """Write everything but the replicates as strict JSON; what is not computable is null.

        Parameters
        ----------
        path : path, optional
            A file to write to as well.

        Returns
        -------
        str
        """
        content = {
            "settings": self.settings, "statistic": self.statistic, "pvalue": self.pvalue, self.error: self.rate,
            "different": list(self.different), "groups": records(self._columns()),
        }  # fmt: skip
        return write_json(content, path)

    def _columns(self) -> dict[str, list[Any]]:
        names = (
            "n_subjects", "n_trials", "n_errors", "group_rate", "low", "high", "bootstrap_low", "bootstrap_high",
            "standard_error", "difference", "group_pvalue", "group_pvalue_holm",
        )  # fmt: skip
        called = {"n_trials": f"n_{self.trials}", "group_rate": self.error}
        columns = {called.get(name, name): getattr(self, name).tolist() for name in names}
        return {"group": list(self.groups), **columns}

    def summary(self) -> str:
        """Say in sentences what was found.

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
                for group, value, d in zip(self.groups, self.group_rate, self.difference, strict=True)
                if group in self.different and sign * d > 0
            ]
            if found:
                text.append(f"Detectably {word} than in the other groups, of {n_tested} tested: {', '.join(found)}.")
        return "\n".join(map(visible, text + self._remarks()))

    def _remarks(self) -> list[str]:
        return []

    @checked
    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw each group's rate in its interval, and the overall rate; groups that differ detectably stand out.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
        """
        from .plots import draw_test

        ax = draw_test(self.groups, self.group_rate, self.rate, (self.low, self.high), self.different, ax)
        ax.set_xlabel(f"False {'match' if self.error == 'fmr' else 'non-match'} rate")
        return ax


@dataclass(frozen=True, eq=False)
class FnmrTest(GroupTest):
    """What `fnmr_test` found; besides what every `GroupTest` has:

    Attributes
    ----------
    counts : FailureCounts
        What was tested.
    fnmr : float
        All failures over all attempts.
    group_fnmr, icc, design_effect : (g,) ndarray
        As in `FailureCounts`.
    """

    counts: FailureCounts = field(kw_only=True)
    error: ClassVar[str] = "fnmr"
    trials: ClassVar[str] = "attempts"

    @property
    def fnmr(self) -> float:
        """All failures over all attempts."""
        return self.rate

    @property
    def group_fnmr(self) -> Floats:
        """(g,) FNMR of each group."""
        return self.group_rate

    @property
    def icc(self) -> Floats:
        """(g,) intra-class correlation of a subject's attempts; 0 where it is not defined."""
        return self.counts.icc

    @property
    def design_effect(self) -> Floats:
        """(g,) variance of the FNMR over that of as many independent attempts."""
        return self.counts.design_effect

    def _columns(self) -> dict[str, list[Any]]:
        return super()._columns() | {"icc": self.icc.tolist(), "design_effect": self.design_effect.tolist()}

    def _remarks(self) -> list[str]:
        return self.counts.remarks()


@dataclass(frozen=True, eq=False)
class FmrTest(GroupTest):
    """What `fmr_test` found; besides what every `GroupTest` has:

    Attributes
    ----------
    threshold : float
        Where the rates were taken.
    fmr : float
        False matches over non-mated comparisons within groups.
    group_fmr : (g,) ndarray
        Of each group.
    not_tested : tuple of str
        Groups that were not compared with the others, as either side has fewer than 10 false matches.
    """

    threshold: float = field(kw_only=True)
    error: ClassVar[str] = "fmr"
    trials: ClassVar[str] = "comparisons"

    @property
    def fmr(self) -> float:
        """False matches over non-mated comparisons within groups."""
        return self.rate

    @property
    def group_fmr(self) -> Floats:
        """(g,) FMR of each group."""
        return self.group_rate

    @property
    def not_tested(self) -> tuple[str, ...]:
        """Groups that were not compared with the others, as either side has fewer than 10 false matches."""
        return tuple(group for group, p in zip(self.groups, self.group_pvalue, strict=True) if np.isnan(p))

    def _remarks(self) -> list[str]:
        if not self.not_tested:
            return []
        return [
            f"Not compared with the others, as fewer than {FEWEST_ERRORS} false matches are on either side: "
            f"{', '.join(self.not_tested)}."
        ]


def _how_often(pvalue: float) -> str:
    """Say a p-value as a frequency."""
    return f"1 in {round(1 / pvalue):,}" if pvalue < 0.1 else f"{100 * pvalue:.0f} %"
