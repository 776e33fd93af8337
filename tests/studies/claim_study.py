"""How often `claim` supports what is just not true, and what is, on populations whose rates are known.

`python -m studies.claim_study`, run in `tests/`, prints the table of the documentation.
"""

from __future__ import annotations

import functools
import warnings

import numpy as np

import fastfair as ff
from fastfair.claims.claimed_rates import CONTRADICTED, SUPPORTED
from fastfair.errors import FastfairWarning

from .interval_study import thresholds
from .populations import FAIR, Population
from .processes import over_data_sets, study_parser

RESAMPLES = 500
TIMES = 2  # as large as the true rate is what is claimed where the claim is true
POINTS = ("threshold", "few false matches", "few false non-matches")
LOOKS = ("overall", "any group", "every group", "contradicted", "true: overall", "true: every group")


def _some(population: Population, name: str, seeds: range) -> list[list[bool]]:
    """Judge claims that the rate is what it is, all of which are at the edge, and that it is at most twice that."""
    point, threshold = thresholds(population)[name]
    rate = "fnmr" if "non-matches" in name else "fmr"
    true = float((population.fnmr if rate == "fnmr" else population.fmr)(threshold)[0])
    found = []
    for seed in seeds:
        comparisons = population.draw(np.random.default_rng([seed, len(population.name)]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FastfairWarning)
            edge, safe = (
                ff.claim(comparisons, f"{rate} <= {claimed!r}", point, n_resamples=RESAMPLES, rng=seed, n_threads=1)
                for claimed in (true, TIMES * true)
            )
        verdicts = [group.verdict for group in edge.groups]
        found.append(
            [
                edge.overall.verdict == SUPPORTED, SUPPORTED in verdicts, edge.holds_in_every_group,
                edge.overall.verdict == CONTRADICTED, safe.overall.verdict == SUPPORTED, safe.holds_in_every_group,
            ]
        )  # fmt: skip
    return found


def study(population: Population, name: str, n_data_sets: int, processes: int | None = 1) -> dict[str, float]:
    """Return the share of data sets in which each of `LOOKS` is found, at an operating point of `POINTS`."""
    (parts,) = over_data_sets([functools.partial(_some, population, name)], n_data_sets, processes)
    return dict(zip(LOOKS, np.concatenate(parts).mean(axis=0).tolist(), strict=True))


def main() -> None:
    """Print the table."""
    asked = study_parser(main.__doc__, 1000).parse_args()
    print("| Population | At | " + " | ".join(LOOKS) + " |\n|---|---|" + "--:|" * len(LOOKS))
    for population in FAIR:
        if asked.only and population.name not in asked.only:
            continue
        for name in POINTS:
            shares = study(population, name, asked.data_sets, asked.processes)
            cells = [f"{100 * share:.1f}" for share in shares.values()]
            print(f"| {population.name} | {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
