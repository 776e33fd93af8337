"""How often studies of the size that `plan_fmr` returns support the claim that they were planned for.

`python -m studies.fmr_planning_study`, run in `tests/`, prints the table of the documentation.
"""

from __future__ import annotations

import functools
import warnings
from dataclasses import dataclass

import numpy as np
from oracles.planned_studies import compared

import fastfair as ff
from fastfair.claims.claimed_rates import SUPPORTED
from fastfair.errors import FastfairWarning

from .processes import over_data_sets, study_parser

LOOKS = ("limit at most what is claimed", "claim supported")
_NEVER = 1e-12  # the FMR of studies in which no false match is expected


@dataclass(frozen=True)
class Setting:
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
        The share of subjects who cause the covariance, all others being alike; 0 for lognormal subjects.
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

    def plan(self) -> ff.FmrPlan:
        """Plan the study."""
        return ff.plan_fmr(
            claimed=self.claimed, fmr=self.fmr, covariance=self.covariance, again=self.again, assurance=self.assurance,
            n_partners=self.n_partners, n_samples=self.n_samples, rng=0,
        )  # fmt: skip


SETTINGS = (
    Setting("kappa 0, all pairs", 1e-3, 5e-4, 0.0),
    Setting("kappa 0.7, all pairs", 1e-3, 5e-4, 0.7),
    Setting("kappa 1.2, all pairs", 1e-3, 7e-4, 1.2),
    Setting("kappa 1.8, all pairs", 2e-3, 1e-3, 1.8),
    Setting("kappa 1.8, all pairs, 95 %", 2e-3, 1e-3, 1.8, assurance=0.95),
    Setting("kappa 1.2, 20 others each", 2e-3, 1e-3, 1.2, n_partners=20),
    Setting("kappa 1.2, 2 samples each", 1e-3, 5e-4, 1.2, again=0.3, n_samples=2),
    Setting("kappa 1.2, no false match expected", 1e-3, 0.0, 1.2),
    Setting("kappa 1.2 by 5 % of subjects", 1e-3, 7e-4, 1.2, hubs=0.05),
)


def _some(setting: Setting, n: int, seeds: range) -> list[list[bool]]:
    found, matches = [], (setting.fmr or _NEVER, setting.covariance, setting.again)
    for seed in seeds:
        rng = np.random.default_rng([seed, len(setting.name)])
        comparisons = compared(n, setting.n_partners, setting.n_samples, matches, rng, setting.hubs)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FastfairWarning)
            claim = ff.claim(comparisons, f"fmr <= {setting.claimed!r}", ff.at_threshold(0.0), rng=seed, n_threads=1)
        found.append([claim.overall.limit <= setting.claimed, claim.overall.verdict == SUPPORTED])
    return found


def study(setting: Setting, n_data_sets: int, processes: int | None = 1) -> tuple[ff.FmrPlan, dict[str, float]]:
    """Return the plan, and the shares of studies in which each of `LOOKS` is found."""
    plan = setting.plan()
    (parts,) = over_data_sets([functools.partial(_some, setting, plan.needed.n_subjects)], n_data_sets, processes)
    return plan, dict(zip(LOOKS, np.concatenate(parts).mean(axis=0).tolist(), strict=True))


def main() -> None:
    """Print the table."""
    asked = study_parser(main.__doc__, 1000).parse_args()
    heads = ("Setting", "Claimed", "Expected", "Subjects", "If independent", "Comparisons", "Promised", *LOOKS)
    print("| " + " | ".join(heads) + " |\n|---|" + "--:|" * (len(heads) - 1))
    for setting in SETTINGS:
        if asked.only and setting.name not in asked.only:
            continue
        plan, shares = study(setting, asked.data_sets, asked.processes)
        cells = [f"{setting.claimed:g}", f"{setting.fmr:g}", f"{plan.n_subjects:,}", f"{plan.n_independent:,}",
                 f"{plan.needed.n_comparisons:,}", f"{100 * plan.needed.assurance:.1f}",
                 *(f"{100 * share:.1f}" for share in shares.values())]  # fmt: skip
        print(f"| {setting.name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
