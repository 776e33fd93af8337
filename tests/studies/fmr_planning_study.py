"""How often studies of the size that `plan_fmr` returns support the claim that they were planned for.

`python -m studies.fmr_planning_study`, run in `tests/`, prints the table of the documentation.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from oracles.planned_studies import compared

import fastfair as ff
from fastfair.claims.claimed_rates import SUPPORTED

from .processes import chosen, shares, study_parser
from .tables import percents, print_table

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


def _look(setting: Setting, n: int, seed: int) -> list[bool]:
    rng = np.random.default_rng([seed, len(setting.name)])
    matches = setting.fmr or _NEVER, setting.covariance, setting.again
    comparisons = compared(n, setting.n_partners, setting.n_samples, matches, rng, setting.hubs)
    claim = ff.claim(comparisons, f"fmr <= {setting.claimed!r}", ff.at_threshold(0.0), rng=seed, n_threads=1)
    return [claim.overall.limit <= setting.claimed, claim.overall.verdict == SUPPORTED]


def study(setting: Setting, n_data_sets: int, processes: int | None = 1) -> tuple[ff.FmrPlan, dict[str, float]]:
    """Return the plan, and the shares of studies in which each of `LOOKS` is found."""
    plan = setting.plan()
    look = functools.partial(_look, setting, plan.needed.n_subjects)
    return plan, shares(LOOKS, look, n_data_sets, processes)


def _row(setting: Setting, plan: ff.FmrPlan, found: dict[str, float]) -> list[str]:
    planned = [f"{n:,}" for n in (plan.n_subjects, plan.n_independent, plan.needed.n_comparisons)]
    shares_found = percents([plan.needed.assurance, *found.values()])
    return [setting.name, f"{setting.claimed:g}", f"{setting.fmr:g}", *planned, *shares_found]


def main() -> None:
    """Print the table."""
    asked = study_parser(main.__doc__, 1000).parse_args()
    heads = ("Setting", "Claimed", "Expected", "Subjects", "If independent", "Comparisons", "Promised", *LOOKS)
    settings = chosen(SETTINGS, asked.only)
    print_table(heads, (_row(setting, *study(setting, asked.data_sets, asked.processes)) for setting in settings))


if __name__ == "__main__":
    main()
