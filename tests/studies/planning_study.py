"""How often studies of the planned size meet the margin, name the group that differs, or support a
claim.

`python -m studies planning_study`, run in `tests/`, prints the tables of the documentation.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from helpers.quiet import quietly
from numpy.typing import NDArray
from oracles.planned_studies import compared
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

import fastfair as ff
from fastfair.claims import SUPPORTED
from fastfair.planning.fmr import FmrPlan
from fastfair.planning.fnmr import GroupsPlan

from .processes import chosen, shares, study_parser
from .tables import percents, print_table

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
LOOKS = (
    "assurance promised",
    "margin met",
    "power promised",
    "group named",
    "fnmr_test finds a difference",
)
_VARYING = tuple(
    int(m)
    for m in np.ceil(
        np.quantile(np.random.default_rng(0).lognormal(1.2, 0.8, 10**5), (np.arange(40) + 0.5) / 40)
    )
)


@dataclass(frozen=True)
class Setting:
    """What a study is planned for, and what its subjects are really like.

    Attributes
    ----------
    name : str
        Its row of the table.
    n_groups : int
        Number of groups.
    attempts : tuple of int
        The attempts of subjects, each as probable as the others; one if all make as many.
    fnmr, correlation : float
        Those of all groups but the first where one differs.
    margin, difference : float
        What is asked for: a margin of error, and a group whose FNMR differs by so much that is to
        be found.
    goats : float
        The share of subjects who cause the correlation by failing often, all others being alike; 0
        for beta-binomial failures.
    """

    name: str
    n_groups: int
    attempts: tuple[int, ...]
    fnmr: float
    correlation: float
    margin: float
    difference: float
    goats: float = 0.0

    def plan(self, differs: bool) -> GroupsPlan:
        """Plan a study for the difference, or for the margin, at default arguments."""
        asked = {"difference": self.difference} if differs else {"margin": self.margin}
        n = len(self.attempts)
        pilot = ff.FailureCounts([0] * n, self.attempts, ["all"] * n)
        return ff.plan_subjects(
            n_groups=self.n_groups,
            n_attempts=self.attempts[0] if n == 1 else pilot,
            fnmr=self.fnmr,
            correlation=self.correlation,
            **asked,
            rng=0,
        )

    def draw(self, n: int, differs: bool, rng: np.random.Generator) -> ff.FailureCounts:
        """Draw a study with n subjects in each group."""
        shape = (self.n_groups, n)
        attempts = rng.choice(self.attempts, shape)
        rate = np.full((self.n_groups, 1), self.fnmr)
        rate[0] += self.difference if differs else 0.0
        failures = rng.binomial(attempts, self._rates(np.broadcast_to(rate, shape), rng))
        return ff.FailureCounts(
            failures.ravel(), attempts.ravel(), group=np.repeat(np.arange(self.n_groups), n)
        )

    def _rates(self, rate: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
        """Draw each subject's own rate, of mean `rate` and variance correlation x rate x (1 -
        rate)."""
        rho = self.correlation
        if not self.goats:
            return rng.beta(rate * (1 - rho) / rho, (1 - rate) * (1 - rho) / rho)
        spread = np.sqrt(rho * rate * (1 - rate))
        high = rate + spread * np.sqrt((1 - self.goats) / self.goats)
        low = rate - spread * np.sqrt(self.goats / (1 - self.goats))
        assert 0 <= low.min() <= high.max() <= 1
        return np.where(rng.random(rate.shape) < self.goats, high, low)


SETTINGS = (
    Setting("3 groups, 2 attempts", 3, (2,), 0.05, 0.25, 0.03, 0.06),
    Setting("10 groups, 2 attempts", 10, (2,), 0.1, 0.05, 0.03, 0.05),
    Setting("10 groups, 10 attempts", 10, (10,), 0.05, 0.25, 0.025, 0.04),
    Setting("3 groups, 1 to 20 attempts", 3, _VARYING, 0.05, 0.25, 0.03, 0.06),
    Setting("5 groups, 1 to 20 attempts", 5, _VARYING, 0.02, 0.15, 0.015, 0.03),
    Setting("10 groups, 1 to 20 attempts", 10, _VARYING, 0.05, 0.25, 0.03, 0.05),
    Setting("10 groups, 1 to 20 attempts, -6 points", 10, _VARYING, 0.1, 0.2, 0.03, -0.06),
    Setting("3 groups, 4 attempts, goats", 3, (4,), 0.05, 0.2, 0.03, 0.05, 0.1),
    Setting("10 groups, 1 to 20 attempts, goats", 10, _VARYING, 0.05, 0.2, 0.025, 0.05, 0.1),
)


def _look(setting: Setting, n_margin: int, n_power: int, seed: int) -> list[bool]:
    rng = np.random.default_rng([seed, len(setting.name)])
    alike, differing = setting.draw(n_margin, False, rng), setting.draw(n_power, True, rng)
    margin = ff.margin_of_error(alike, rng=seed, n_threads=1).margin
    named = ff.margin_of_error(differing, rng=seed, n_threads=1).outside
    test = ff.fnmr_test(differing, rng=seed, n_threads=1, follow_up=False)
    return [margin <= setting.margin * (1 + 1e-9), "0" in named, test.pvalue <= 0.05]


def study(
    setting: Setting, n_data_sets: int, processes: int | None = 1
) -> tuple[int, int, dict[str, float]]:
    """Return the planned numbers of subjects, for the margin and for the difference, and the shares
    of `LOOKS`."""
    of_margin, of_power = setting.plan(False), setting.plan(True)
    n = int(of_margin.n_subjects), int(of_power.n_subjects)
    assert of_margin.assurance is not None
    assert of_power.power is not None
    promised = {
        "assurance promised": float(of_margin.assurance),
        "power promised": float(of_power.power),
    }
    delivered = (name for name in LOOKS if name not in promised)
    found = promised | shares(
        delivered, functools.partial(_look, setting, *n), n_data_sets, processes
    )
    return *n, {name: found[name] for name in LOOKS}


def _row(setting: Setting, of_margin: int, of_power: int, found: dict[str, float]) -> list[str]:
    margin, difference, cells = (
        f"{100 * setting.margin:g}",
        f"{100 * setting.difference:+g}",
        percents(found.values()),
    )
    return [
        setting.name,
        margin,
        f"{of_margin:,}",
        *cells[:2],
        difference,
        f"{of_power:,}",
        *cells[2:],
    ]


FMR_LOOKS = ("limit at most what is claimed", "claim supported")
_NEVER = 1e-12  # the FMR of studies in which no false match is expected


@dataclass(frozen=True)
class FmrSetting:
    """What is planned for, and what subjects are really like.

    Attributes
    ----------
    name : str
        Its row of the table.
    claimed, fmr, covariance, again : float
        As in `plan_fmr`.
    n_partners, n_samples : int
        As in `plan_fmr`.
    assurance : float
        Wanted.
    hubs : float
        The share of subjects who cause the covariance, all others being alike; 0 for lognormal
        subjects.
    """

    name: str
    claimed: float
    fmr: float
    covariance: float
    again: float = 0.0
    n_partners: int | None = None
    n_samples: int = 1
    assurance: float = 0.8
    hubs: float = 0.0

    def plan(self) -> FmrPlan:
        """Plan the study."""
        return ff.plan_fmr(
            claimed=self.claimed,
            fmr=self.fmr,
            covariance=self.covariance,
            again=self.again,
            assurance=self.assurance,
            n_partners=self.n_partners,
            n_samples=self.n_samples,
            rng=0,
        )


FMR_SETTINGS = (
    FmrSetting("kappa 0, all pairs", 1e-3, 5e-4, 0.0),
    FmrSetting("kappa 0.7, all pairs", 1e-3, 5e-4, 0.7),
    FmrSetting("kappa 1.2, all pairs", 1e-3, 7e-4, 1.2),
    FmrSetting("kappa 1.8, all pairs", 2e-3, 1e-3, 1.8),
    FmrSetting("kappa 1.8, all pairs, 95 %", 2e-3, 1e-3, 1.8, assurance=0.95),
    FmrSetting("kappa 1.2, 20 others each", 2e-3, 1e-3, 1.2, n_partners=20),
    FmrSetting("kappa 1.2, 2 samples each", 1e-3, 5e-4, 1.2, again=0.3, n_samples=2),
    FmrSetting("kappa 1.2, no false match expected", 1e-3, 0.0, 1.2),
    FmrSetting("kappa 1.2 by 5 % of subjects", 1e-3, 7e-4, 1.2, hubs=0.05),
)


def _look_at_claims(setting: FmrSetting, n: int, seed: int) -> list[bool]:
    rng = np.random.default_rng([seed, len(setting.name)])
    matches = setting.fmr or _NEVER, setting.covariance, setting.again
    comparisons = compared(n, setting.n_partners, setting.n_samples, matches, rng, setting.hubs)
    claim = ff.claim(
        comparisons, f"fmr <= {setting.claimed!r}", ff.at_threshold(0.0), rng=seed, n_threads=1
    )
    return [claim.overall.limit <= setting.claimed, claim.overall.verdict == SUPPORTED]


def study_of_claims(
    setting: FmrSetting, n_data_sets: int, processes: int | None = 1
) -> tuple[FmrPlan, dict[str, float]]:
    """Return the plan, and the shares of studies in which each of `FMR_LOOKS` is found."""
    plan = setting.plan()
    look = functools.partial(_look_at_claims, setting, plan.needed.n_subjects)
    return plan, shares(FMR_LOOKS, look, n_data_sets, processes)


def _row_of_claims(setting: FmrSetting, plan: FmrPlan, found: dict[str, float]) -> list[str]:
    planned = [f"{n:,}" for n in (plan.n_subjects, plan.n_independent, plan.needed.n_comparisons)]
    shares_found = percents([plan.needed.assurance, *found.values()])
    return [setting.name, f"{setting.claimed:g}", f"{setting.fmr:g}", *planned, *shares_found]


_MATED = 100.0  # score of a comparison with oneself
_N_PILOT = 1500
_PARTS = (np.arange(400) + 0.5) / 400  # quantiles that stand for a law of parts
_PER_PILOT = 30  # studies that one pilot plans


@dataclass(frozen=True)
class PilotSetting:
    """A population whose scores are sums of two subjects' parts and a normal noise; a pilot of it
    plans the study.

    Attributes
    ----------
    name : str
        Its row of the table.
    claimed, fmr : float
        As in `plan_fmr`.
    parts : callable
        Returns the parts of subjects by uniform numbers: those of normal subjects, of subjects
        whose scores drift while they are enrolled, or of a few wolves.
    """

    name: str
    claimed: float
    fmr: float
    parts: Callable[[Floats], Floats]

    @functools.cached_property
    def at(self) -> ff.OperatingPoint:
        """The threshold with the FMR."""
        sums = np.add.outer(self.parts(_PARTS), self.parts(_PARTS))
        return ff.at_threshold(
            brentq(lambda threshold: float(ndtr(sums - threshold).mean()) - self.fmr, -5, 15)
        )

    def draw(self, n: int, rng: np.random.Generator) -> ff.Comparisons:
        """Draw people, all of whom are compared with each other."""
        part, everyone = self.parts(rng.random(n)), np.arange(n)
        i, j = np.triu_indices(n, 1)
        scores = np.concatenate((np.full(n, _MATED), part[i] + part[j] + rng.normal(size=i.size)))
        reference, probe = np.concatenate((everyone, i)), np.concatenate((everyone, j))
        return ff.Comparisons(scores, np.arange(scores.size) < n, reference, probe)

    def plan(self, pilot: ff.Comparisons) -> FmrPlan:
        """Plan a study by a pilot."""
        with quietly():
            return ff.plan_fmr(
                claimed=self.claimed,
                fmr=self.fmr,
                pilot=pilot,
                at=self.at,
                n_simulations=400,
                rng=0,
            )


def _wolves(share: float, part: float) -> Callable[[Floats], Floats]:
    return lambda u: np.where(u < share, part, 0.0)


PILOT_SETTINGS = (
    PilotSetting("normal subjects", 4e-3, 2e-3, lambda u: 0.25 * ndtri(u)),
    PilotSetting("scores drift", 4e-3, 2e-3, lambda u: u - 0.5),
    PilotSetting("3 % wolves", 4e-3, 2e-3, _wolves(0.03, 1.0)),
    PilotSetting("3 % strong wolves", 4e-3, 2e-3, _wolves(0.03, 1.5)),
)


def _look_at_pilot(setting: PilotSetting, n: int, first: int, seed: int) -> list[bool]:
    comparisons = setting.draw(n, np.random.default_rng([first + seed, len(setting.name), 1]))
    claim = ff.claim(
        comparisons,
        f"fmr <= {setting.claimed!r}",
        setting.at,
        n_resamples=500,
        rng=seed,
        n_threads=1,
    )
    return [claim.overall.limit <= setting.claimed, claim.overall.verdict == SUPPORTED]


def study_of_pilots(
    setting: PilotSetting, n_data_sets: int, processes: int | None = 1
) -> tuple[list[FmrPlan], dict[str, float]]:
    """Return the plan of each pilot, and the shares of studies with each of `FMR_LOOKS`, where a
    plan names a size."""
    plans, found = [], []
    for first in range(0, n_data_sets, _PER_PILOT):
        plan = setting.plan(
            setting.draw(_N_PILOT, np.random.default_rng([first, len(setting.name), 0]))
        )
        plans.append(plan)
        if plan.n_subjects is not None:
            look = functools.partial(_look_at_pilot, setting, plan.n_subjects, first)
            found.append(
                list(
                    shares(
                        FMR_LOOKS, look, min(_PER_PILOT, n_data_sets - first), processes
                    ).values()
                )
            )
    return plans, (
        dict(zip(FMR_LOOKS, np.mean(found, axis=0).tolist(), strict=True)) if found else {}
    )


def _row_of_pilots(
    setting: PilotSetting, plans: list[FmrPlan], found: dict[str, float]
) -> list[str]:
    sizes = [plan.n_subjects for plan in plans if plan.n_subjects is not None]
    of_limits = np.median([plan.n_by_limit for plan in plans])
    named = [
        f"{np.median(sizes):,.0f}" if sizes else "none",
        f"{of_limits:,.0f}",
        f"{len(plans) - len(sizes)} of {len(plans)}",
    ]
    return [
        setting.name,
        f"{setting.claimed:g}",
        f"{setting.fmr:g}",
        *named,
        *(percents(found.values()) or ["", ""]),
    ]


def main() -> None:
    """Print the tables."""
    asked = study_parser(main.__doc__, 1000).parse_args()
    heads = ("Setting", "Margin", "Subjects", *LOOKS[:2], "Difference", "Subjects", *LOOKS[2:])
    settings, how = chosen(SETTINGS, asked.only), (asked.data_sets, asked.processes)
    print_table(heads, (_row(setting, *study(setting, *how)) for setting in settings))
    print()
    heads = (
        "Setting",
        "Claimed",
        "Expected",
        "Subjects",
        "If independent",
        "Comparisons",
        "Promised",
        *FMR_LOOKS,
    )
    claims = chosen(FMR_SETTINGS, asked.only)
    print_table(
        heads, (_row_of_claims(setting, *study_of_claims(setting, *how)) for setting in claims)
    )
    print()
    heads = (
        "Pilot of 1,500 people",
        "Claimed",
        "FMR",
        "Subjects",
        "By limits alone",
        "No size would do",
        *FMR_LOOKS,
    )
    pilots = chosen(PILOT_SETTINGS, asked.only)
    print_table(
        heads, (_row_of_pilots(setting, *study_of_pilots(setting, *how)) for setting in pilots)
    )
