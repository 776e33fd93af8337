"""Results of planning: the settings of studies, as arrays, and their margins, numbers of subjects or power."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import validation
from fastfair._lib.arguments import checked
from fastfair._lib.tables import records
from fastfair._lib.text import per_cent
from fastfair.results.result import Result
from fastfair.results.written import UNWRITTEN

from .around import Around
from .settings import SETTINGS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
_MOST_SENTENCES = 10  # settings that a summary describes one by one


class _Plan(Result):
    """What plans have in common: arrays of one shape, as a table and as sentences."""

    _given: ClassVar[tuple[str, ...]] = SETTINGS
    _value: ClassVar[str]
    _over: ClassVar[str] = "n_groups"
    _around: Around | None = None

    @abstractmethod
    def _sentence(self, row: Mapping[str, Any]) -> str:
        """Say what is planned for one setting, a row of the table."""

    @abstractmethod
    def _range(self, least: float, most: float) -> str:
        """Say between which planned values many settings lie."""

    @checked
    def summary(self) -> str:
        """Describe the plan in sentences: each setting, or the range of more than ten.

        Returns
        -------
        str
        """
        rows = records(self._columns())
        if len(rows) <= _MOST_SENTENCES:
            return "\n".join(f"{_setting(row)}: {self._sentence(row)}" for row in rows)
        values = getattr(self, self._value)
        known = values[np.isfinite(values)]
        text = f"{len(rows):,} settings" + (f": {self._range(known.min(), known.max())}" if known.size else ".")
        missing = len(rows) - known.size
        return text + (f" In {missing:,} of them max_subjects are too few." if missing else "")

    def _wanted(self) -> float | None:
        """Return what was asked of a single setting, where a number of subjects was looked for."""
        return None

    def _arrays(self) -> dict[str, NDArray[Any]]:
        return {name: array.ravel() for name, array in vars(self).items() if isinstance(array, np.ndarray)}

    def _columns(self) -> dict[str, list[Any]]:
        return {name: array.tolist() for name, array in self._arrays().items()}

    @checked
    def plot(self, ax: Axes | None = None, *, over: str | None = None, **kwargs: Any) -> Axes:
        """Draw the planned value over one setting, with a line for each combination of the others.

        A plan of a single setting is drawn with what studies of a quarter to four times as many subjects would give:
        margins or, where a group is to be found, the power. What was wanted is marked.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        over : str, optional
            The setting on the horizontal axis, by the attribute's name; by default the number of groups, or for the
            power and for a single setting the number of subjects.
        **kwargs
            Passed to `Axes.plot`.

        Returns
        -------
        matplotlib Axes
        """
        from .plots import draw_around, draw_plan

        if over is None and self._around is not None:
            return draw_around(self._around, self._wanted(), ax, **kwargs)
        columns = self._arrays()
        given = [name for name in self._given if name in columns]
        return draw_plan(
            columns, validation.choice("over", over or self._over, given), given, self._value, ax, **kwargs
        )


@dataclass(frozen=True, eq=False, repr=False)
class MarginPlan(_Plan):
    """Margins of error that studies would have.

    Attributes
    ----------
    n_groups, n_subjects, n_attempts, fnmr, correlation : ndarray
        The settings, broadcast to one shape.
    margin : ndarray
        The margin of each setting: groups whose rate differs by more from the overall rate are found to differ.
    confidence_level : float
        Probability that no group of a fair system is found to differ.
    quantile : str
        "family-wise" or "paper", as in `plan_margin`.
    method : str
        "simulation" or "exact".
    assurance : float or None
        Share of studies whose own margin is at most `margin`; None for the margin at a known FNMR and correlation.
    attempts : dict of int to float, or None
        Share of subjects with each number of attempts, where it varies; `n_attempts` is then its mean.
    goats : float or None
        Share of subjects who fail often, all others being alike; None where failures are beta-binomial.
    n_simulations : int or None
        Number of studies drawn for each setting; None where the margin is exact.
    seed : int or str or None
        The seed that was used; as `rng`, it gives the same result again.
    """

    _value = "margin"

    n_groups: Counts
    n_subjects: Counts
    n_attempts: Counts | Floats
    fnmr: Floats
    correlation: Floats
    margin: Floats
    confidence_level: float
    quantile: str
    method: str
    assurance: float | None = None
    attempts: dict[int, float] | None = None
    goats: float | None = None
    n_simulations: int | None = None
    seed: Any = None
    _around: Around | None = field(default=None, repr=False, metadata=UNWRITTEN)

    def _sentence(self, row: Mapping[str, Any]) -> str:
        if self.assurance is not None:
            return f"{per_cent(self.assurance)} of studies have a margin of at most {_points(row['margin'])}."
        return (
            f"groups with equal FNMRs all lie within {_points(row['margin'])} of the overall FNMR with a probability "
            f"of {per_cent(self.confidence_level)}."
        )

    def _range(self, least: float, most: float) -> str:
        return f"margins from {_points(least)} to {_points(most)}."

    @property
    def axes(self) -> tuple[str, ...]:
        """The settings that change along each axis of `margin`."""
        arrays = {name: getattr(self, name) for name in SETTINGS}
        return tuple(
            " & ".join(name for name, array in arrays.items() if (array != array.take([0], axis)).any())
            for axis in range(self.margin.ndim)
        )

    @checked
    def plot_overview(self, correlation: float = 0.05) -> Figure:
        """Draw the margin over the groups, a panel for each number of subjects and attempts, a colour for each FNMR.

        Parameters
        ----------
        correlation : float, default 0.05
            The correlation to show.

        Returns
        -------
        matplotlib Figure
            Figure 2 of the paper. All panels have the same axes, both logarithmic.
        """
        from .plots import draw_overview

        return draw_overview(self._arrays(), correlation)

    @checked
    def plot_one_at_a_time(
        self, *, n_subjects: int = 400, n_attempts: int = 2, fnmr: float = 0.1, correlation: float = 0.05
    ) -> Figure:
        """Draw the margin over the groups in four panels, each of which changes one setting and holds the others.

        Parameters
        ----------
        n_subjects, n_attempts, fnmr, correlation
            The settings that stay the same while another changes.

        Returns
        -------
        matplotlib Figure
            Figure 3 of the paper. All panels have the same axes, both logarithmic: lines as far apart differ by the
            same factor.
        """
        from .plots import draw_one_at_a_time

        held = {"n_subjects": n_subjects, "n_attempts": n_attempts, "correlation": correlation, "fnmr": fnmr}
        return draw_one_at_a_time(self._arrays(), held)


@dataclass(frozen=True, eq=False, repr=False)
class PowerPlan(_Plan):
    """The probability that studies find a group that differs.

    Attributes
    ----------
    n_groups, n_subjects, n_attempts, fnmr, correlation, difference : ndarray
        The settings, broadcast to one shape.
    margin : ndarray
        The median of the margins that studies estimate.
    power : ndarray
        The share of studies in which the group that differs is found.
    confidence_level : float
        Probability that no group of a fair system is found to differ.
    quantile : str
        "family-wise" or "paper", as in `plan_margin`.
    attempts : dict of int to float, or None
        Share of subjects with each number of attempts, where it varies; `n_attempts` is then its mean.
    goats : float or None
        Share of subjects who fail often, all others being alike; None where failures are beta-binomial.
    n_simulations : int
        Number of studies drawn for each setting.
    seed : int or str
        The seed that was used; as `rng`, it gives the same result again.
    """

    _given = (*SETTINGS, "difference")
    _value = "power"
    _over = "n_subjects"

    n_groups: Counts
    n_subjects: Counts
    n_attempts: Counts | Floats
    fnmr: Floats
    correlation: Floats
    difference: Floats
    margin: Floats
    power: Floats
    confidence_level: float
    quantile: str
    attempts: dict[int, float] | None
    goats: float | None
    n_simulations: int
    seed: Any
    _around: Around | None = field(default=None, repr=False, metadata=UNWRITTEN)

    def _sentence(self, row: Mapping[str, Any]) -> str:
        return (
            f"a group whose FNMR is {_points(abs(row['difference']))} {'higher' if row['difference'] > 0 else 'lower'} "
            f"is found in {per_cent(row['power'])} of studies."
        )

    def _range(self, least: float, most: float) -> str:
        return f"the group that differs is found in {per_cent(least)} to {per_cent(most)} of studies."


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SubjectsPlan(_Plan):
    """The number of subjects that studies need.

    Attributes
    ----------
    n_groups, n_attempts, fnmr, correlation : ndarray
        The settings, broadcast to one shape.
    wanted_margin : ndarray or None
        The largest margin allowed; None if `difference` was given instead.
    wanted_assurance : ndarray or None
        The share of studies that are to stay within it; None if `difference` was given instead.
    difference, wanted_power : ndarray or None
        The difference of the group to find, and the power to find it with; None if `margin` was given instead.
    n_subjects : ndarray
        Subjects needed in each group: whole numbers, or NaN where `max_subjects` are not enough.
    margin : ndarray
        The median of the margins that studies with that many subjects estimate, or with `max_subjects` where these are
        not enough.
    assurance : ndarray or None
        The share of these studies whose margin is at most the one wanted; None if `difference` was given.
    power : ndarray or None
        The share of these studies in which the group that differs is found; None if `margin` was given.
    confidence_level : float
        Probability that no group of a fair system is found to differ.
    quantile : str
        "family-wise" or "paper", as in `plan_margin`.
    attempts : dict of int to float, or None
        Share of subjects with each number of attempts, where it varies; `n_attempts` is then its mean.
    goats : float or None
        Share of subjects who fail often, all others being alike; None where failures are beta-binomial.
    n_simulations : int
        Number of studies drawn for each setting.
    seed : int or str
        The seed that was used; as `rng`, it gives the same result again.
    """

    _given = (
        "n_groups", "n_attempts", "fnmr", "correlation",
        "wanted_margin", "wanted_assurance", "difference", "wanted_power",
    )  # fmt: skip
    _value = "n_subjects"

    n_groups: Counts
    n_attempts: Counts | Floats
    fnmr: Floats
    correlation: Floats
    wanted_margin: Floats | None = None
    wanted_assurance: Floats | None = None
    difference: Floats | None = None
    wanted_power: Floats | None = None
    n_subjects: Floats
    margin: Floats
    assurance: Floats | None = None
    power: Floats | None = None
    confidence_level: float
    quantile: str
    attempts: dict[int, float] | None
    goats: float | None
    n_simulations: int
    seed: Any
    _around: Around | None = field(default=None, repr=False, metadata=UNWRITTEN)

    def _wanted(self) -> float | None:
        wanted = self.wanted_power if self.wanted_margin is None else self.wanted_margin
        return None if wanted is None else float(wanted.ravel()[0])

    def _sentence(self, row: Mapping[str, Any]) -> str:
        if self.difference is None:
            aim = f"have a margin of at most {_points(row['wanted_margin'])}"
            share = row["assurance"]
        else:
            side = "higher" if row["difference"] > 0 else "lower"
            aim = f"find a group whose FNMR is {_points(abs(row['difference']))} {side}"
            share = row["power"]
        if math.isnan(row["n_subjects"]):
            return f"max_subjects are too few; with so many, {per_cent(share)} of studies {aim}."
        return f"with {row['n_subjects']:,.0f} subjects in each group {per_cent(share)} of studies {aim}."

    def _range(self, least: float, most: float) -> str:
        return f"from {least:,.0f} to {most:,.0f} subjects in each group."


def _setting(row: Mapping[str, Any]) -> str:
    of_each = f" of {row['n_subjects']:,} subjects" if isinstance(row.get("n_subjects"), int) else ""
    attempts = f"{row['n_attempts']:,.3g} attempt{'s' * (row['n_attempts'] != 1)} of each subject"
    return (
        f"{row['n_groups']:,} groups{of_each}, {attempts}, FNMR {per_cent(row['fnmr'])}, "
        f"correlation {row['correlation']:g}"
    )


def _points(difference: float) -> str:
    return f"{100 * difference:.3g} percentage points"
