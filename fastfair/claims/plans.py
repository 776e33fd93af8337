"""`plan_requirement`: how many people would a study need, so that its data meet a requirement?"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv

from fastfair import intervals
from fastfair._lib import seeds, validation
from fastfair._lib.arguments import ManyResamples, Natural, Probability, Share, checked
from fastfair._lib.arrays import Floats, Integers
from fastfair._lib.plots import USUAL, axes_or_new, tick_per_cent
from fastfair._lib.proportions import clopper_pearson_line
from fastfair._lib.text import per_cent, rate_with_interval, with_article
from fastfair._lib.warnings import hold_warnings
from fastfair._lib.workers import Report, reporting
from fastfair.data.exclusions import exclusions_of
from fastfair.errors import InputError
from fastfair.evaluation.failure_counts import (
    ATTEMPTS,
    OF_TWO_PEOPLE,
    FailureCounts,
    beta_binomial_pmf,
)
from fastfair.results.result import Result
from fastfair.uncertainty.notes import ENOUGH_SESSIONS, FEWEST_SESSIONS

from .counts import rate_named, requirements_on
from .gate import check
from .verdicts import MET, NOT_MET, UNDECIDED, level_of_limits

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, kw_only=True)
class PlannedStudy:
    """What studies of a size find.

    Attributes
    ----------
    n_subjects : int
        The number of subjects in each group.
    people : int
        That of all groups.
    n_sessions : int or None
        The number of days, or of what else people share; None where they share nothing.
    met, not_met, undecided : float
        The shares of studies with each verdict.
    low, high : float
        Limits of the share that are met, as far as the number of simulated studies tells it (95 %).
    """

    n_subjects: int
    people: int
    met: float
    low: float
    high: float
    not_met: float
    undecided: float
    n_sessions: int | None = None


@dataclass(frozen=True, eq=False, repr=False)
class RequirementPlan(Result):
    """The result of `plan_requirement`.

    Attributes
    ----------
    requirement : str
        What is required.
    rates : tuple of float
        The true rate of each group.
    correlation : float
        The intra-class correlation of the attempts of a subject.
    mean_attempts : float
        Attempts of each subject, on average.
    session_correlation : float or None
        The correlation of the attempts of different people in a session.
    rows : tuple of PlannedStudy
        What studies of each size find.
    assurance : float
        The share of studies that are to meet the requirement.
    confidence_level : float
        The level of the limits, to one side.
    settings : dict
        The other arguments of the call, and the seed.
    """

    requirement: str
    rates: tuple[float, ...]
    correlation: float
    mean_attempts: float
    rows: tuple[PlannedStudy, ...]
    assurance: float
    confidence_level: float
    settings: dict[str, Any]
    session_correlation: float | None = None

    _title = "How many people does a requirement need?"
    _derived = ("n_needed",)
    _estimate = "met"

    @property
    def n_needed(self) -> int | None:
        """The smallest of the sizes from which on all have the assurance, with the most sessions
        where several numbers of these are planned; None where none has.
        """
        return self._needed(self.rows[-1].n_sessions)

    def _needed(self, n_sessions: int | None) -> int | None:
        needed = None
        for row in reversed(self.rows):
            if row.n_sessions != n_sessions:
                continue
            if row.met < self.assurance:
                break
            needed = row.n_subjects
        return needed

    def _sentences(self) -> list[str]:
        name = rate_named(self.requirement) or ""
        low, high = per_cent(min(self.rates)), per_cent(max(self.rates))
        groups = f"{len(self.rates)} groups" if len(self.rates) > 1 else "One group"
        in_each = " in each group" if len(self.rates) > 1 else ""
        attempt = ATTEMPTS[name]
        attempts = attempt if self.mean_attempts == 1 else f"{attempt}s"
        said = [
            f"The requirement: {self.requirement}.",
            f"{groups} with {with_article(name)} of {low if low == high else f'{low} to {high}'},"
            f" {self.mean_attempts:.3g} {attempts} of each subject, correlation"
            f" {self.correlation:g}.",
        ]
        if self.session_correlation is not None:
            said[-1] = f"{said[-1][:-1]}, of people in a session {self.session_correlation:.2g}."
        said += [
            f"With {row.n_subjects:,} subjects{in_each}{_in_sessions(row.n_sessions)}"
            f" {rate_with_interval(row.met, row.low, row.high)}"
            f" of studies meet it, and {per_cent(row.not_met)} refute it."
            for row in self.rows
        ]
        aim = f"{per_cent(self.assurance)} of studies meet it"
        for n_sessions in dict.fromkeys(row.n_sessions for row in self.rows):
            needed, where = self._needed(n_sessions), _in_sessions(n_sessions)
            if needed is None:
                said.append(f"None of these sizes is enough{where} that {aim}.")
            else:
                said.append(f"{needed:,} subjects{in_each} are enough{where} that {aim}.")
        if any((row.n_sessions or ENOUGH_SESSIONS) < ENOUGH_SESSIONS for row in self.rows):
            said.append(
                f"In fewer than {ENOUGH_SESSIONS} sessions no study meets it, whatever its size, as"
                " it is hardly known how errors vary between sessions: limits that would do are in"
                f" doubt, and the verdict undecided. Plan {ENOUGH_SESSIONS} sessions or more."
            )
        return said

    @checked
    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the share of studies that meet the requirement over the number of subjects.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
        """
        ax = axes_or_new(ax)
        several = dict.fromkeys(row.n_sessions for row in self.rows)
        for k, n_sessions in enumerate(several):
            rows = [row for row in self.rows if row.n_sessions == n_sessions]
            met = np.array([row.met for row in rows])
            reach = [met - [row.low for row in rows], [row.high for row in rows] - met]
            sizes = [row.n_subjects for row in rows]
            color = USUAL if len(several) == 1 else f"C{k}"
            label = None if n_sessions is None else f"{n_sessions} sessions"
            ax.errorbar(sizes, met, np.abs(reach), label=label, color=color, marker="o", capsize=3)
        ax.axhline(self.assurance, color="black", linestyle="--", linewidth=1, label="wanted")
        ax.set(xlabel="Subjects in each group", ylabel=f"Studies that meet {self.requirement}")
        ax.set_ylim(-0.02, 1.02)
        ax.yaxis.set_major_formatter(tick_per_cent)
        ax.legend(fontsize="small")
        ax.grid(alpha=0.3)
        return ax


def _in_sessions(n_sessions: int | None) -> str:
    return "" if n_sessions is None else f" in {n_sessions} sessions"


def _failures(
    attempts: Integers, rate: float, correlation: float, rng: np.random.Generator
) -> Integers:
    """Draw the failures of subjects from beta-binomial laws."""
    failures = np.zeros(attempts.size, np.int64)
    for m in np.unique(attempts).tolist():
        law = beta_binomial_pmf(m, rate, correlation)
        alike = attempts == m
        failures[alike] = rng.choice(m + 1, np.count_nonzero(alike), p=law)
    return failures


@checked
def plan_requirement(
    requirement: str,
    *,
    n_subjects: ArrayLike,
    n_attempts: Natural | FailureCounts,
    rate: ArrayLike,
    n_groups: Natural | None = None,
    correlation: Share = 0.0,
    n_sessions: ArrayLike | None = None,
    session_correlation: Share | None = None,
    assurance: Probability = 0.8,
    n_simulations: Natural = 200,
    n_resamples: ManyResamples = 400,
    confidence_level: float = 0.95,
    rng: seeds.Seed = None,
    progress: bool | Report = False,
) -> RequirementPlan:
    """Tell how often studies would meet a requirement on a rate of one person's attempts, by the
    number of people.

    Parameters
    ----------
    requirement : str
        What must hold, as in `check` of counts: "frr[*] <= 8 %", "apcer[*] <= 7 %" where groups are
        species of attacks, or "group_to_average_ratio(fnmr)[*] <= 1.25".
    n_subjects : array_like of int
        Numbers of subjects in each group to try, at least 2.
    n_attempts : int or FailureCounts
        Number of attempts of each subject; or the failure counts of a pilot, whose subjects'
        numbers of attempts those of the study are taken to have, too.
    rate : array_like of float
        The true rate of errors, in (0, 1), for a TAR the FRR: of every group, or one for each.
    n_groups : int, optional
        Number of groups; by default as many as there are rates.
    correlation : float, default 0
        Intra-class correlation of the decisions on one subject, in [0, 1].
    n_sessions : array_like of int, optional
        Numbers of sessions to try, such as days, at least 4: each attempt is in any of them, and
        all groups share them. By default people share nothing.
    session_correlation : float, optional
        With `n_sessions`: the correlation of decisions on different people in a session, in [0, 1];
        by default that of the pilot, whose counts then have sessions.
    assurance : float, default 0.8
        Share of studies that are to meet the requirement, in (0, 1).
    n_simulations : int, default 200
        Number of studies drawn for each size.
    n_resamples : int, default 400
        Number of replicates in each of them.
    confidence_level : float, default 0.95
        The level of the limits, to one side, in (0.5, 1).
    rng : None, int, SeedSequence or Generator
        Seed of the random numbers.
    progress : bool or callable, default False
        Whether to show a progress bar; or a function to call with the numbers of studies done and
        in all.

    Returns
    -------
    RequirementPlan

    Raises
    ------
    InputError
        For a requirement that cannot be read, or on a rate of comparisons of two people (see
        `plan_fmr`), and settings out of range.

    Notes
    -----
    The failures of a subject are beta-binomial, as in `plan_margin`; in a session, the chance of
    each is that of the subject times a factor of the session, which varies as a beta law does. With
    n attempts in S sessions of correlation s, and r within subjects of m attempts each, the variance
    of a rate is 1 + (m - 1) r + (n / S - 1) s times that of independent attempts: more people on
    the same days help until s / S is most of it. Each study that is drawn is
    judged by `check`, so that a plan knows all its rules.

    Examples
    --------
    >>> import fastfair as ff
    >>> study = {"n_attempts": 5, "rate": 0.05, "n_groups": 2, "correlation": 0.1}
    >>> plan = ff.plan_requirement("frr[*] <= 8 %", n_subjects=[50, 300], **study, n_simulations=20, rng=0)
    >>> [row.met for row in plan.rows], plan.n_needed
    ([0.0, 0.95], 300)
    """
    name = rate_named(requirement)
    if name in OF_TWO_PEOPLE or name is None:
        raise InputError(
            f"requirement {requirement.strip()!r} must name the rate of one person's attempts that is"
            " planned for, as in frr[*] <= 5 %; claims of an FMR are planned by plan_fmr"
        )
    sizes = np.unique(validation.counts("⟦n_subjects⟧", n_subjects, 2))
    rates = np.atleast_1d(validation.fractions("⟦rate⟧", rate, "(0, 1)")).ravel()
    if n_groups is not None and rates.size not in (1, n_groups):
        raise InputError(
            f"⟦rate⟧ has {rates.size} values, but ⟦n_groups⟧ is {n_groups}: give one for all groups,"
            " or one for each"
        )
    rates = np.broadcast_to(rates, n_groups or rates.size).copy()
    level = level_of_limits(intervals.level(confidence_level))
    numbers = n_attempts.attempts if isinstance(n_attempts, FailureCounts) else [n_attempts]
    pilot = np.asarray(numbers, np.int64)
    groups = [f"group {k + 1}" for k in range(rates.size)]
    about = FailureCounts([0] * rates.size, [1] * rates.size, groups, rate=name)
    for rule in requirements_on(about, requirement):
        rule.of_groups(about.groups)
    seed = seeds.fix_seed(rng)
    rows = []
    several: list[int | None] = [None]
    shared = _session_correlation(n_sessions, session_correlation, n_attempts)
    if n_sessions is not None:
        several = np.unique(validation.counts("⟦n_sessions⟧", n_sessions, FEWEST_SESSIONS)).tolist()
    n_studies = len(several) * sizes.size * n_simulations
    with reporting(progress, "Studies") as report, hold_warnings():
        for k, (days, n) in enumerate(itertools.product(several, sizes.tolist())):
            design = _Design(n, pilot, rates, correlation, groups, name, days, shared or 0.0)
            verdicts = []
            for study in range(n_simulations):
                stream = seeds.child(seed, n * n_simulations + study)
                judged = check(
                    design.draw(stream),
                    requirement,
                    n_resamples=n_resamples,
                    confidence_level=level,
                    rng=study,
                    n_threads=1,
                )
                verdicts.append(judged.verdict)
                if report is not None:
                    report(k * n_simulations + study + 1, n_studies)
            rows.append(_row(design, verdicts))
    settings = {
        "n_simulations": n_simulations,
        "n_resamples": n_resamples,
        "rng": seeds.stream(seed)[1],
    }
    return RequirementPlan(
        requirement.strip(),
        tuple(rates.tolist()),
        correlation,
        float(pilot.mean()),
        tuple(rows),
        assurance,
        level,
        settings,
        shared,
        left_out=exclusions_of(n_attempts),
    )


def _session_correlation(
    n_sessions: ArrayLike | None, given: float | None, pilot: int | FailureCounts
) -> float | None:
    """Return the correlation of people in a session: as given, or that of a pilot's; None without
    sessions.
    """
    if n_sessions is None:
        if given is not None:
            raise InputError(
                "⟦session_correlation⟧ is given without ⟦n_sessions⟧: say how many to plan"
            )
        return None
    if given is not None:
        return given
    if not isinstance(pilot, FailureCounts) or pilot.sessions is None:
        raise InputError(
            "⟦n_sessions⟧ needs ⟦session_correlation=⟧, or a pilot whose counts have sessions"
        )
    return pilot.session_correlation


@dataclass(frozen=True)
class _Design:
    """What studies of a size draw: the arguments of `plan_requirement`, checked."""

    n: int
    pilot: Integers
    rates: Floats
    correlation: float
    groups: list[str]
    name: Any
    n_sessions: int | None
    session_correlation: float

    def draw(self, seed: np.random.SeedSequence) -> FailureCounts:
        """Draw the counts of a study."""
        rng = np.random.default_rng(seed)
        attempts = rng.choice(self.pilot, self.n * self.rates.size)
        of_groups = zip(np.split(attempts, self.rates.size), self.rates.tolist(), strict=True)
        group = np.repeat(self.groups, self.n)
        if self.n_sessions is None:
            failures = [_failures(m, rate, self.correlation, rng) for m, rate in of_groups]
            return FailureCounts(np.concatenate(failures), attempts, group, rate=self.name)
        subject = np.repeat(np.arange(attempts.size), attempts)
        session = rng.integers(0, self.n_sessions, subject.size)
        rate = np.repeat(self.rates, self.n)
        chance = _beta(rate, self.correlation, rng)[subject]
        quantiles = rng.random(self.n_sessions)
        for k, of_group in enumerate(self.rates.tolist()):
            factors = _beta_quantiles(of_group, self.session_correlation, quantiles) / of_group
            inside = subject // self.n == k
            chance[inside] *= factors[session[inside]]
        failed = (rng.random(subject.size) < chance).astype(np.int64)
        return FailureCounts.from_decisions(
            failed, subject, group[subject], rate=self.name, session=session
        )


def _beta(mean: Floats, correlation: float, rng: np.random.Generator) -> Floats:
    """Draw chances with some means, whose decisions have an intra-class correlation."""
    quantiles = rng.random(mean.size)
    chances = np.empty(mean.size)
    for one_mean in np.unique(mean).tolist():
        alike = mean == one_mean
        chances[alike] = _beta_quantiles(one_mean, correlation, quantiles[alike])
    return chances


def _beta_quantiles(mean: float, correlation: float, quantiles: Floats) -> Floats:
    """Return quantiles of the law of chances whose decisions have an intra-class correlation."""
    if correlation == 0:
        return np.full(quantiles.size, mean)
    if correlation == 1:
        return (quantiles > 1 - mean).astype(np.float64)
    scale = 1 / correlation - 1
    return np.asarray(betaincinv(mean * scale, (1 - mean) * scale, quantiles))


def _row(design: _Design, verdicts: list[str]) -> PlannedStudy:
    """Sum up the verdicts of studies of a size."""
    shares = {name: verdicts.count(name) / len(verdicts) for name in (MET, NOT_MET, UNDECIDED)}
    errors = verdicts.count(MET)
    low, high = (
        float(clopper_pearson_line(sign, errors, len(verdicts)).limit(0.025))
        if errors != end
        else shares[MET]
        for sign, end in ((-1, 0), (1, len(verdicts)))
    )
    return PlannedStudy(
        n_subjects=design.n,
        people=design.n * design.rates.size,
        n_sessions=design.n_sessions,
        met=shares[MET],
        low=low,
        high=high,
        not_met=shares[NOT_MET],
        undecided=shares[UNDECIDED],
    )
