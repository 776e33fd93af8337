"""`plan_requirement`: how many people would a study need, so that its data meet a requirement?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from fastfair import intervals
from fastfair._lib import seeds, validation
from fastfair._lib.arguments import ManyResamples, Natural, Probability, Share, checked
from fastfair._lib.arrays import Floats, Integers
from fastfair._lib.plots import USUAL, axes_or_new, tick_per_cent
from fastfair._lib.proportions import clopper_pearson_line
from fastfair._lib.text import per_cent, rate_with_interval
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

    _title = "How many people does a requirement need?"
    _derived = ("n_needed",)
    _estimate = "met"

    @property
    def n_needed(self) -> int | None:
        """The smallest of the sizes from which on all have the assurance; None where none has."""
        needed = None
        for row in reversed(self.rows):
            if row.met < self.assurance:
                break
            needed = row.n_subjects
        return needed

    def _sentences(self) -> list[str]:
        name = rate_named(self.requirement) or ""
        low, high = per_cent(min(self.rates)), per_cent(max(self.rates))
        groups = f"{len(self.rates)} groups" if len(self.rates) > 1 else "One group"
        said = [
            f"The requirement: {self.requirement}.",
            f"{groups} with an {name.upper()} of {low if low == high else f'{low} to {high}'},"
            f" {self.mean_attempts:.3g} {ATTEMPTS[name]}s of each subject, correlation"
            f" {self.correlation:g}.",
        ]
        said += [
            f"With {row.n_subjects:,} subjects in each group {rate_with_interval(row.met, row.low, row.high)}"
            f" of studies meet it, and {per_cent(row.not_met)} refute it."
            for row in self.rows
        ]
        aim = f"{per_cent(self.assurance)} of studies meet it"
        if self.n_needed is None:
            said.append(f"None of these sizes is enough that {aim}.")
        else:
            said.append(f"{self.n_needed:,} subjects in each group are enough that {aim}.")
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
        sizes = [row.n_subjects for row in self.rows]
        met = np.array([row.met for row in self.rows])
        reach = [met - [row.low for row in self.rows], [row.high for row in self.rows] - met]
        ax.errorbar(sizes, met, np.abs(reach), color=USUAL, marker="o", capsize=3)
        ax.axhline(self.assurance, color="black", linestyle="--", linewidth=1, label="wanted")
        ax.set(xlabel="Subjects in each group", ylabel=f"Studies that meet {self.requirement}")
        ax.set_ylim(-0.02, 1.02)
        ax.yaxis.set_major_formatter(tick_per_cent)
        ax.legend(fontsize="small")
        ax.grid(alpha=0.3)
        return ax


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
        The true rate, in (0, 1): of every group, or one for each.
    n_groups : int, optional
        Number of groups; by default as many as there are rates.
    correlation : float, default 0
        Intra-class correlation of the decisions on one subject, in [0, 1].
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
    The failures of a subject are beta-binomial, as in `plan_margin`. Each study that is drawn is
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
    with reporting(progress, "Studies") as report, hold_warnings():
        for k, n in enumerate(sizes.tolist()):
            verdicts = []
            for study in range(n_simulations):
                stream = seeds.child(seed, n * n_simulations + study)
                counts = _drawn(n, pilot, rates, correlation, groups, name, stream)
                judged = check(
                    counts,
                    requirement,
                    n_resamples=n_resamples,
                    confidence_level=level,
                    rng=study,
                    n_threads=1,
                )
                verdicts.append(judged.verdict)
                if report is not None:
                    report(k * n_simulations + study + 1, sizes.size * n_simulations)
            rows.append(_row(n, rates.size, verdicts))
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
        left_out=exclusions_of(n_attempts),
    )


def _drawn(
    n: int,
    pilot: Integers,
    rates: Floats,
    correlation: float,
    groups: list[str],
    name: Any,
    seed: np.random.SeedSequence,
) -> FailureCounts:
    """Draw the counts of a study."""
    rng = np.random.default_rng(seed)
    attempts = rng.choice(pilot, n * rates.size)
    failures = [
        _failures(of_group, rate, correlation, rng)
        for of_group, rate in zip(np.split(attempts, rates.size), rates.tolist(), strict=True)
    ]
    return FailureCounts(np.concatenate(failures), attempts, np.repeat(groups, n), rate=name)


def _row(n: int, n_groups: int, verdicts: list[str]) -> PlannedStudy:
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
        n_subjects=n,
        people=n * n_groups,
        met=shares[MET],
        low=low,
        high=high,
        not_met=shares[NOT_MET],
        undecided=shares[UNDECIDED],
    )
