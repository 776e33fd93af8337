"""Results of planning: the settings of studies as arrays, and their margins, numbers of subjects or power; plots."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import validation
from fastfair._lib.arguments import checked
from fastfair._lib.plots import USUAL, axes_or_new, tick_per_cent
from fastfair._lib.tables import records
from fastfair._lib.text import per_cent
from fastfair.errors import InputError
from fastfair.results.result import Printed, Result
from fastfair.results.written import UNWRITTEN

from .studies import SETTINGS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
_MOST_PRINTED = 200  # settings in a table of the terminal
_MOST_SENTENCES = 10  # settings that a summary describes one by one
Columns = Mapping[str, NDArray[Any]]
# The number of subjects of a plan of a single setting, and what plans the same for other numbers, which plots draw.
Around = tuple[int, Callable[..., Any]]
# How settings and planned values are written on axes, and in legends.
_NAMES = {
    "n_groups": ("Groups", "G"), "n_subjects": ("Subjects in each group", "n"),
    "n_attempts": ("Attempts of each subject", "m"), "fnmr": ("FNMR", "π"),
    "correlation": ("Correlation of attempts", "ρ"), "difference": ("Difference in FNMR", "δ"),
    "wanted_margin": ("Margin of error", "M"), "wanted_assurance": ("Share of studies within the margin", "assurance"),
    "wanted_power": ("Power", "power"), "margin": ("Margin of error", "M"), "power": ("Power", "power"),
}  # fmt: skip
_PER_CENT = {"fnmr", "difference", "margin", "power", "wanted_margin", "wanted_assurance", "wanted_power"}


def draw_plan(columns: Columns, over: str, given: Sequence[str], value: str, ax: Axes | None, **kwargs: Any) -> Axes:
    """Draw a value over one of the settings given, a line for each combination of those others that change."""
    ax = axes_or_new(ax)
    others = [name for name in given if name != over and np.ptp(columns[name])]
    combinations = np.unique(np.stack([columns[name] for name in others]), axis=1).T if others else np.empty((1, 0))
    for color, combination in zip(_colors(len(combinations)), combinations, strict=True):
        wanted = dict(zip(others, combination, strict=True))
        x, y = _line(columns, wanted, over, value)
        style = {"color": color, "marker": ".", "label": _written_all(wanted)}
        ax.plot(x, y, **(style | kwargs))
    ax.set(xlabel=_NAMES[over][0], ylabel=_NAMES[value][0])
    for name, axis in ((over, ax.xaxis), (value, ax.yaxis)):
        if name in _PER_CENT:
            axis.set_major_formatter(tick_per_cent)
    ax.grid(alpha=0.3)
    if others:
        ax.legend()
    return ax


def draw_around(around: Around, wanted: float | None, ax: Axes | None, **kwargs: Any) -> Axes:
    """Draw what studies with a quarter to four times as many subjects would give, and what was wanted."""
    n, plan = around
    sizes = sorted({max(2, round(n * times)) for times in (0.25, 0.5, 1, 2, 4)})
    ax = plan(n_subjects=sizes).plot(ax, over="n_subjects", **({"color": USUAL} | kwargs))
    ax.set_xscale("log")
    ax.set_xticks(sizes, [f"{size:,}" for size in sizes])
    ax.set_xticks([], minor=True)
    ax.axvline(n, color="0.5", linewidth=1, zorder=0, label=f"{n:,} subjects")
    if wanted is not None:
        label = f"wanted: {per_cent(wanted)}"
        ax.axhline(wanted, color="black", linestyle="--", linewidth=1, zorder=0, label=label)
    ax.legend(fontsize="small")
    return ax


def _line(columns: Columns, wanted: Mapping[str, Any], over: str, value: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Take the entries at some settings, in the order of another."""
    at = np.ones(columns[value].size, bool)
    for name, number in wanted.items():
        at &= np.isclose(columns[name], number, rtol=1e-9, atol=0)
        if not at.any():
            known = ", ".join(f"{number:g}" for number in np.unique(columns[name]))
            raise InputError(f"the plan has nothing at {_written_all(wanted)}; its values of {name} are {known}")
    order = np.argsort(columns[over][at], kind="stable")
    return columns[over][at][order], columns[value][at][order]


def _colors(n: int) -> list[Any]:
    """Take n colours in an order that everyone sees, none too light for paper."""
    colormaps = validation.require("matplotlib", "cli", "drawing").colormaps
    return list(colormaps["viridis"](np.linspace(0, 0.75, n)))


def _written_all(values: Mapping[str, float]) -> str:
    return ", ".join(
        f"{_NAMES[name][1]} = {tick_per_cent(value) if name in _PER_CENT else f'{value:g}'}"
        for name, value in values.items()
    )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class _Plan(Result):
    """What plans have in common: arrays of one shape, as a table and as sentences, and how they were planned.

    Attributes
    ----------
    n_groups, n_attempts, fnmr, correlation : ndarray
        The settings, broadcast to one shape.
    margin : ndarray
        The margin of error of each setting.
    confidence_level : float
        Probability that no group of a fair system is found to differ.
    quantile : str
        "family-wise" or "paper", as in `plan_margin`.
    attempts : dict of int to float, or None
        Share of subjects with each number of attempts, where it varies; `n_attempts` is then its mean.
    goats : float or None
        Share of subjects who fail often, all others being alike; None where failures are beta-binomial.
    n_simulations : int or None
        Number of studies drawn for each setting; None where the margin is exact.
    seed : int or str or None
        The seed that was used; as `rng`, it gives the same result again.
    """

    _given: ClassVar[tuple[str, ...]] = SETTINGS
    _value: ClassVar[str]
    _over: ClassVar[str] = "n_groups"

    n_groups: Counts
    n_attempts: Counts | Floats
    fnmr: Floats
    correlation: Floats
    margin: Floats
    confidence_level: float
    quantile: str
    attempts: dict[int, float] | None = None
    goats: float | None = None
    n_simulations: int | None = None
    seed: Any = None
    _around: Around | None = field(default=None, repr=False, metadata=UNWRITTEN)

    @abstractmethod
    def _sentence(self, row: Mapping[str, Any]) -> str:
        """Say what is planned for one setting, a row of the table."""

    @abstractmethod
    def _range(self, least: float, most: float) -> str:
        """Say between which planned values many settings lie."""

    def _sentences(self) -> list[str]:
        """Describe each setting, or the range of more than ten."""
        rows = records(self._columns())
        if len(rows) <= _MOST_SENTENCES:
            return [f"{_setting(row)}: {self._sentence(row)}" for row in rows]
        values = getattr(self, self._value)
        known = values[np.isfinite(values)]
        text = f"{len(rows):,} settings" + (f": {self._range(known.min(), known.max())}" if known.size else ".")
        missing = len(rows) - known.size
        return [text + (f" In {missing:,} of them max_subjects are too few." if missing else "")]

    def _wanted(self) -> float | None:
        """Return what was asked of a single setting, where a number of subjects was looked for."""
        return None

    def _arrays(self) -> dict[str, NDArray[Any]]:
        names = dict.fromkeys((*self._given, *vars(self)))
        found = {name: getattr(self, name, None) for name in names}
        return {name: array.ravel() for name, array in found.items() if isinstance(array, np.ndarray)}

    def _columns(self) -> dict[str, list[Any]]:
        return {name: array.tolist() for name, array in self._arrays().items()}

    def _tables(self) -> list[Printed]:
        return super()._tables() if getattr(self, self._value).size <= _MOST_PRINTED else []

    def _figures(self) -> Mapping[str, Axes | Figure]:
        """Return a plot over the setting with the most values."""
        n_values = {name: np.unique(array).size for name, array in self._arrays().items() if name in self._given}
        most = max(n_values, key=lambda name: n_values[name])
        return {"": self.plot(over=most if n_values[most] > 1 else None)}

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
        if over is None and self._around is not None:
            return draw_around(self._around, self._wanted(), ax, **kwargs)
        columns = self._arrays()
        given = [name for name in self._given if name in columns]
        return draw_plan(
            columns, validation.choice("over", over or self._over, given), given, self._value, ax, **kwargs
        )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MarginPlan(_Plan):
    """Margins of error that studies would have.

    Attributes
    ----------
    n_groups, n_subjects, n_attempts, fnmr, correlation : ndarray
        The settings, broadcast to one shape.
    margin : ndarray
        The margin of each setting: groups whose rate differs by more from the overall rate are found to differ.
    method : str
        "simulation" or "exact".
    assurance : float or None
        Share of studies whose own margin is at most `margin`; None for the margin at a known FNMR and correlation.
    """

    _value = "margin"

    n_subjects: Counts
    method: str
    assurance: float | None = None

    def _sentence(self, row: Mapping[str, Any]) -> str:
        if self.assurance is not None:
            return f"{per_cent(self.assurance)} of studies have a margin of at most {_points(row['margin'])}."
        return (
            f"groups with equal FNMRs all lie within {_points(row['margin'])} of the overall FNMR with a probability "
            f"of {per_cent(self.confidence_level)}."
        )

    def _range(self, least: float, most: float) -> str:
        return f"margins from {_points(least)} to {_points(most)}."


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
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
    """

    _given = (*SETTINGS, "difference")
    _value = "power"
    _over = "n_subjects"

    n_subjects: Counts
    difference: Floats
    power: Floats

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
    """

    _given = (
        "n_groups", "n_attempts", "fnmr", "correlation",
        "wanted_margin", "wanted_assurance", "difference", "wanted_power",
    )  # fmt: skip
    _value = "n_subjects"

    wanted_margin: Floats | None = None
    wanted_assurance: Floats | None = None
    difference: Floats | None = None
    wanted_power: Floats | None = None
    n_subjects: Floats
    assurance: Floats | None = None
    power: Floats | None = None

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
