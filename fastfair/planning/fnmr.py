"""`plan_margin`, `plan_power`, `plan_subjects`: what studies of groups' FNMRs find, and how many subjects they need."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastfair._lib import seeds, validation
from fastfair._lib.arguments import checked
from fastfair._lib.plots import USUAL, axes_or_new, tick_per_cent
from fastfair._lib.tables import records
from fastfair._lib.text import per_cent
from fastfair._lib.threads import run_blocks
from fastfair._lib.warnings import warn
from fastfair._lib.workers import Report, reporting
from fastfair.errors import InputError, OutOfReachWarning
from fastfair.group_tests.margins import Quantile, share_inside
from fastfair.results.result import Printed, Result
from fastfair.results.written import UNWRITTEN

from .studies import SETTINGS, Attempts, Study, Subjects, broadcast, checked_difference, checked_goats, checked_settings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
_MOST_PRINTED = 200  # settings in a table of the terminal
_MOST_SENTENCES = 10  # settings that a summary describes one by one
Columns = Mapping[str, NDArray[Any]]
# The number of subjects of a plan of a single setting, and what plans the same for other numbers, which plots draw.
_Around = tuple[int, Callable[..., Any]]
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
    colormap = validation.require("matplotlib", "cli", "drawing").colormaps["viridis"]
    others = [name for name in given if name != over and np.ptp(columns[name])]
    combinations: NDArray[Any] = np.zeros((0, 1))
    line: NDArray[Any] = np.zeros(columns[value].size)
    if others:
        combinations, line = np.unique(np.stack([columns[name] for name in others]), axis=1, return_inverse=True)
    colors = colormap(np.linspace(0, 0.75, combinations.shape[1]))  # in an order that all see, none too light for paper
    for k, (color, combination) in enumerate(zip(colors, combinations.T, strict=True)):
        at = np.flatnonzero(line.ravel() == k)
        at = at[np.argsort(columns[over][at], kind="stable")]
        label = ", ".join(
            f"{_NAMES[name][1]} = {tick_per_cent(number) if name in _PER_CENT else f'{number:g}'}"
            for name, number in zip(others, combination, strict=True)
        )
        ax.plot(columns[over][at], columns[value][at], **({"color": color, "marker": ".", "label": label} | kwargs))
    ax.set(xlabel=_NAMES[over][0], ylabel=_NAMES[value][0])
    for name, axis in ((over, ax.xaxis), (value, ax.yaxis)):
        if name in _PER_CENT:
            axis.set_major_formatter(tick_per_cent)
    ax.grid(alpha=0.3)
    if others:
        ax.legend()
    return ax


def draw_around(around: _Around, wanted: float | None, ax: Axes | None, **kwargs: Any) -> Axes:
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
    _around: _Around | None = field(default=None, repr=False, metadata=UNWRITTEN)

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


_Method = Literal["simulation", "exact"]


@checked
def plan_margin(
    *,
    n_groups: ArrayLike,
    n_subjects: ArrayLike,
    n_attempts: ArrayLike | None = None,
    attempts: ArrayLike | None = None,
    fnmr: ArrayLike,
    correlation: ArrayLike,
    goats: float | None = None,
    assurance: float | None = None,
    n_simulations: int = 1000,
    confidence_level: float = 0.95,
    quantile: Quantile = "family-wise",
    method: _Method = "simulation",
    rng: seeds.Seed = None,
    n_threads: int | None = None,
    progress: bool | Report = False,
) -> MarginPlan:
    """Compute the margin of error that a study of groups with equal FNMRs would have.

    Parameters
    ----------
    n_groups : array_like of int
        Number of groups compared, at least 2.
    n_subjects : array_like of int
        Number of subjects in each group.
    n_attempts : array_like of int, optional
        Number of mated comparisons of each subject, if it is the same for all.
    attempts : array_like of int, optional
        In place of `n_attempts`: the number of mated comparisons of each subject of a pilot, as in
        `FailureCounts.attempts`. Subjects of the study are taken to have so many or so few, too.
    fnmr : array_like of float
        True FNMR of every group, in (0, 1).
    correlation : array_like of float
        Intra-class correlation of the decisions on one subject, in [0, 1].
    goats : float, optional
        Share of subjects, in (0, 1), who fail often while all others are alike, which makes the correlation. By default
        failures are beta-binomial: the subjects' own rates vary without a gap.
    assurance : float, optional
        Share of studies whose own margin is to be at most the one returned, in (0, 1). By default the margin is that
        for a known FNMR and correlation, as in the paper; the margin that a study estimates is larger in about half of
        studies.
    n_simulations : int, default 1000
        Number of studies drawn for each setting.
    confidence_level : float, default 0.95
        Probability that no group of a fair system is found to differ.
    quantile : {"family-wise", "paper"}
        Which quantile of the largest difference the margin is: "family-wise" is that at the confidence level 1 - alpha;
        "paper" that at 1 - alpha/2, as in the paper's step 5.
    method : {"simulation", "exact"}
        "simulation" draws studies, as the paper does. "exact" computes the distribution that they are drawn from,
        which is faster and has no simulation noise; with neither `attempts` nor `assurance`.
    rng : None, int, SeedSequence or Generator
        Seed of the random numbers. A setting's margin depends only on the setting, the seed and `n_simulations`, not on
        the other settings of the call.
    n_threads : int, optional
        Number of threads; all processors by default. Results do not depend on it.
    progress : bool or callable, default False
        Whether to show a progress bar; or a function to call with the numbers of settings done and in all, where
        settings that differ only in the number of groups count as one.

    Returns
    -------
    MarginPlan
        With arrays of the shape that the settings broadcast to.

    Raises
    ------
    InputError
        For settings out of range, for settings whose shapes do not broadcast, where not exactly one of `n_attempts` and
        `attempts` is given, and where the exact method is asked for what it does not compute.

    See Also
    --------
    plan_subjects : how many subjects a margin needs.

    Notes
    -----
    The failures of a subject are beta-binomial: each decision fails with probability `fnmr`, and two decisions on one
    subject have the correlation [1]_. The margin is the smallest value that the largest difference between a group's
    estimate and `fnmr` exceeds in at most the share of studies that the quantile leaves. Rates are multiples of
    1 / (n_subjects * n_attempts), so margins come in steps.

    The exact margin follows from groups being independent and alike: the probability that no group differs by more than
    x is that of a single group to the power of the number of groups. A group's failures are the sum over independent,
    alike subjects, whose distribution is a convolution power, computed by one Fourier transform.

    With `assurance`, each study drawn estimates its own margin as `margin_of_error` does, and the margin returned is
    the smallest that so many of them stay within. See `plan_subjects`.

    References
    ----------
    .. [1] "Statistical Methods for Assessing Differences in False Non-Match Rates Across Demographic Groups",
       section IV-B.

    Examples
    --------
    >>> import fastfair as ff
    >>> plan = ff.plan_margin(
    ...     n_groups=[3, 10, 30], n_subjects=400, n_attempts=2, fnmr=0.1, correlation=0.05, method="exact"
    ... )
    >>> plan.margin.round(4)
    array([0.0262, 0.03  , 0.0338])
    """
    arguments = locals() | {"progress": False}
    settings, pilot = checked_settings(
        n_attempts, attempts, n_groups=n_groups, n_subjects=n_subjects, fnmr=fnmr, correlation=correlation
    )
    probability = share_inside(confidence_level, quantile)
    simulated = method == "simulation"
    few = checked_goats(goats, settings)
    share = None if assurance is None else validation.open_fraction("assurance", assurance)
    for name, given in (("attempts", pilot), ("assurance", share)):
        if given is not None and not simulated:
            raise InputError(f'method="exact" computes no margin with {name}: use method="simulation"')
    n_simulations = validation.count("n_simulations", n_simulations, 1)
    key, seed = seeds.stream(rng)
    groups, *others = (array.ravel() for array in settings.values())
    laws, law_of = np.unique(np.stack(others), axis=1, return_inverse=True)
    law_of = law_of.ravel()  # NumPy 2.0.0 gives it two dimensions
    of_law = np.split(np.argsort(law_of, kind="stable"), np.cumsum(np.bincount(law_of))[:-1])
    margin = np.empty(groups.size)

    def work(k: int) -> None:
        n, m, pi, rho = laws[:, k].tolist()
        subjects, at = Subjects(pilot or Attempts.of(m), pi, rho, few), of_law[k]
        if not simulated:
            margin[at] = subjects.margins(int(n), groups[at], probability)
            return
        study = Study(int(groups[at].max()), subjects, subjects, probability, n_simulations, key)
        if share is None:
            margin[at] = study.margins_of_known_rate(int(n), groups[at])
        else:
            for one in at:
                margin[one] = replace(study, n_groups=int(groups[one])).simulate(int(n)).margin_kept(share)

    with reporting(progress, f"{len(of_law):,} settings") as report:
        run_blocks(work, range(len(of_law)), len(of_law), 1, n_threads, report)
    return MarginPlan(
        **settings, margin=margin.reshape(settings["n_groups"].shape), confidence_level=confidence_level,
        quantile=quantile, method=method, assurance=share, attempts=None if pilot is None else pilot.as_dict(),
        goats=few or None, n_simulations=n_simulations if simulated else None, seed=seed if simulated else None,
        _around=_around_of(settings["n_subjects"], plan_margin, arguments, seed),
    )  # fmt: skip


@checked
def plan_power(
    *,
    n_groups: ArrayLike,
    n_subjects: ArrayLike,
    n_attempts: ArrayLike | None = None,
    attempts: ArrayLike | None = None,
    fnmr: ArrayLike,
    correlation: ArrayLike,
    goats: float | None = None,
    difference: ArrayLike,
    n_simulations: int = 2000,
    confidence_level: float = 0.95,
    quantile: Quantile = "family-wise",
    rng: seeds.Seed = None,
) -> PowerPlan:
    """Compute how often a study would find a group whose FNMR differs from that of the others.

    Parameters
    ----------
    n_groups, n_subjects, n_attempts, attempts, fnmr, correlation, goats
        As in `plan_margin`; `fnmr` is the FNMR of all groups but one.
    difference : array_like of float
        FNMR of the remaining group minus `fnmr`; above or below 0.
    n_simulations : int, default 2000
        Number of studies drawn for each setting. With 2,000 a power of 80 % is known to within about 2 points.
    confidence_level, quantile
        As in `plan_margin`.
    rng
        Seed of the random numbers.

    Returns
    -------
    PowerPlan
        With arrays of the shape that the settings broadcast to.

    Raises
    ------
    InputError
        For settings out of range, for settings whose shapes do not broadcast, and where not exactly one of `n_attempts`
        and `attempts` is given.

    Notes
    -----
    The group is found if its estimate differs from that of all groups together by more than the margin that the study
    estimates, as `margin_of_error` does by default. As the group is one of these G groups, it moves their estimate by
    1 / G of the difference. Margins of simulated studies are those of normal laws with the variances estimated in each
    study, times a factor by which margins by replicates differ from them in 200 studies.

    Examples
    --------
    >>> import fastfair as ff
    >>> settings = {"n_groups": 10, "n_attempts": 2, "fnmr": 0.1, "correlation": 0.05}
    >>> ff.plan_power(n_subjects=[200, 400], difference=0.05, rng=0, **settings).power.round(2)
    array([0.5 , 0.89])
    """
    arguments = locals()
    settings, pilot = checked_settings(
        n_attempts, attempts, n_groups=n_groups, n_subjects=n_subjects, fnmr=fnmr, correlation=correlation
    )
    settings = broadcast(settings | {"difference": checked_difference(difference, settings["fnmr"])})
    few = checked_goats(goats, settings)
    probability = share_inside(confidence_level, quantile)
    n_simulations = validation.count("n_simulations", n_simulations, 1)
    key, seed = seeds.stream(rng)
    shape = settings["n_groups"].shape
    margin, power = np.empty(shape), np.empty(shape)
    for at in np.ndindex(shape):
        studies = _study(settings, at, (pilot, few), probability, n_simulations, key).simulate(
            int(settings["n_subjects"][at])
        )
        margin[at], power[at] = studies.margin_kept(0.5), studies.find()
    return PowerPlan(
        **settings, margin=margin, power=power, confidence_level=confidence_level, quantile=quantile,
        attempts=None if pilot is None else pilot.as_dict(), goats=few or None, n_simulations=n_simulations, seed=seed,
        _around=_around_of(settings["n_subjects"], plan_power, arguments, seed),
    )  # fmt: skip


@checked
def plan_subjects(
    *,
    n_groups: ArrayLike,
    n_attempts: ArrayLike | None = None,
    attempts: ArrayLike | None = None,
    fnmr: ArrayLike,
    correlation: ArrayLike,
    goats: float | None = None,
    margin: ArrayLike | None = None,
    assurance: ArrayLike = 0.8,
    difference: ArrayLike | None = None,
    power: ArrayLike = 0.8,
    n_simulations: int = 2000,
    confidence_level: float = 0.95,
    quantile: Quantile = "family-wise",
    max_subjects: int = 100_000,
    rng: seeds.Seed = None,
) -> SubjectsPlan:
    """Find how many subjects a study needs in each group, for a margin of error or to find a group that differs.

    Parameters
    ----------
    n_groups, n_attempts, attempts, fnmr, correlation, goats
        As in `plan_margin`.
    margin : array_like of float, optional
        The largest margin allowed; either this or `difference`.
    assurance : array_like of float, default 0.8
        Share of studies whose own margin, as `margin_of_error` estimates it, is to be at most `margin`; ignored with
        `difference`.
    difference : array_like of float, optional
        FNMR of the group to find, as in `plan_power`, minus `fnmr`.
    power : array_like of float, default 0.8
        Probability with which that group is to be found; ignored with `margin`.
    n_simulations : int, default 2000
        Number of studies drawn for each number of subjects that is looked at.
    confidence_level, quantile
        As in `plan_margin`.
    max_subjects : int, default 100,000
        The largest number of subjects to consider, at least 2.
    rng
        Seed of the random numbers.

    Returns
    -------
    SubjectsPlan
        With arrays of the shape that the settings broadcast to. `SubjectsPlan.n_subjects` is NaN where `max_subjects`
        are too few.

    Raises
    ------
    InputError
        For settings out of range, for settings whose shapes do not broadcast, where not exactly one of `n_attempts` and
        `attempts` is given, and where not exactly one of `margin` and `difference` is.

    Warns
    -----
    OutOfReachWarning
        Where `max_subjects` are too few; what studies find is then that of `max_subjects`.

    Notes
    -----
    A study is simulated as in `plan_power`. What is simulated for one number of subjects tells of near ones, as errors
    fall with the root of the number, so few numbers are simulated; the last is within 3 % of the one returned.

    Where all subjects make as many attempts m, margins are multiples of 1 / (n_subjects * m), so one number of subjects
    can be enough and the next not. The result is the smallest number from which on all numbers are enough, and more
    studies than asked for may then stay within the margin. The search continues past the last number that is not enough
    until the multiples have shifted by several steps.

    Examples
    --------
    >>> import fastfair as ff
    >>> settings = {"n_groups": 10, "n_attempts": 2, "fnmr": 0.1, "correlation": 0.05}
    >>> plan = ff.plan_subjects(difference=0.05, rng=0, **settings)
    >>> float(plan.n_subjects), float(plan.power.round(2)), float(plan.margin.round(4))
    (335.0, 0.8, 0.0343)
    """
    arguments = locals()
    settings, pilot = checked_settings(n_attempts, attempts, n_groups=n_groups, fnmr=fnmr, correlation=correlation)
    if (margin is None) == (difference is None):
        raise InputError("give margin or difference, and not both: it determines how many subjects are needed")
    if margin is not None:
        asked = {
            "wanted_margin": validation.fractions("margin", margin, ends=False),
            "wanted_assurance": validation.fractions("assurance", assurance, ends=False),
        }
    else:
        asked = {
            "difference": checked_difference(difference, settings["fnmr"]),
            "wanted_power": validation.fractions("power", power, ends=False),
        }
    settings = broadcast(settings | asked)
    few = checked_goats(goats, settings)
    probability = share_inside(confidence_level, quantile)
    n_simulations = validation.count("n_simulations", n_simulations, 1)
    max_subjects = validation.count("max_subjects", max_subjects, 2)
    key, seed = seeds.stream(rng)
    shape = settings["n_groups"].shape
    needed, margins, shares = np.empty(shape), np.empty(shape), np.empty(shape)
    for at in np.ndindex(shape):
        study = _study(settings, at, (pilot, few), probability, n_simulations, key)
        if margin is not None:
            wanted = float(settings["wanted_margin"][at])
            found, studies = study.subjects_for_margin(wanted, float(settings["wanted_assurance"][at]), max_subjects)
            shares[at] = studies.keep(wanted)
        else:
            found, studies = study.subjects_for_power(float(settings["wanted_power"][at]), max_subjects)
            shares[at] = studies.find()
        needed[at], margins[at] = np.nan if found is None else found, studies.margin_kept(0.5)
    _warn_out_of_reach(settings, np.isnan(needed), max_subjects)
    left_out = {"margin", "assurance", "difference", "power", "max_subjects"}
    again: dict[str, Any] = {name: value for name, value in arguments.items() if name not in left_out}
    function: Callable[..., Any] = plan_margin
    if margin is None:
        function, again["difference"] = plan_power, difference
    else:
        again["assurance"] = float(settings["wanted_assurance"].flat[0])
    around = _around_of(np.nan_to_num(needed, nan=max_subjects), function, again, seed)
    return SubjectsPlan(
        **settings, n_subjects=needed, margin=margins,
        assurance=None if margin is None else shares, power=shares if margin is None else None,
        confidence_level=confidence_level, quantile=quantile,
        attempts=None if pilot is None else pilot.as_dict(), goats=few or None, n_simulations=n_simulations, seed=seed,
        _around=around,
    )  # fmt: skip


def _around_of(
    n_subjects: NDArray[Any], plan: Callable[..., Any], arguments: dict[str, Any], seed: Any
) -> _Around | None:
    """Return, of a single setting, its number of subjects and what plans with others, by the arguments of a call."""
    if n_subjects.size != 1:
        return None
    return int(n_subjects.flat[0]), partial(plan, **(arguments | {"rng": seed}))


def _study(
    settings: dict[str, NDArray[Any]], at: tuple[int, ...], subjects: tuple[Attempts | None, float], probability: float,
    n_simulations: int, key: NDArray[np.uint32],
) -> Study:  # fmt: skip
    """Make the study of one entry of arrays of settings; of subjects with the attempts of a pilot and some goats."""
    pilot, goats = subjects
    m, pi, rho = (settings[name][at].item() for name in ("n_attempts", "fnmr", "correlation"))
    attempts = pilot or Attempts.of(m)
    difference = float(settings["difference"][at]) if "difference" in settings else 0.0
    alike = Subjects(attempts, pi, rho, goats)
    differing = Subjects(attempts, pi + difference, rho, goats) if difference else alike
    return Study(int(settings["n_groups"][at]), differing, alike, probability, n_simulations, key)


def _warn_out_of_reach(settings: dict[str, NDArray[Any]], missing: NDArray[np.bool_], most: int) -> None:
    if missing.any():
        first = ", ".join(f"{name} {array[missing][0]:g}" for name, array in settings.items())
        warn(
            f"{most:,} subjects in each group are not enough for {missing.sum()} of {missing.size} settings, the first "
            f"{first}: n_subjects is NaN there; raise max_subjects, or ask for less",
            OutOfReachWarning,
        )
