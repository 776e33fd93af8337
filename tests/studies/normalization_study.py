"""What normalisation by groups makes of a fair system, with a cohort of other people and with the
groups' own scores.

`python -m studies normalization_study`, run in `tests/`, prints the figures of the documentation.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray

import fastfair as ff

from .populations import Population, of_other_people

FMR = 0.02
EIGHT = Population("8 groups of 20", (20,) * 8)


def _gini(comparisons: ff.Comparisons) -> float:
    return float(ff.measures.gini(ff.rates(comparisons, ff.at_fmr(FMR)).group_fmr))


def study(population: Population, n_data_sets: int) -> NDArray[np.float64]:
    """Return mean Gini coefficients of FMR: before, after with a cohort of as many others, and with
    the own scores."""
    found = []
    for seed in range(n_data_sets):
        before, others = (population.draw(np.random.default_rng([seed, k])) for k in (1, 2))
        cohorts = [of_other_people(one) for one in (others, before)]
        found.append(
            [
                _gini(before),
                *(_gini(ff.normalize_scores(before, one, "z", by="group")) for one in cohorts),
            ]
        )
    return np.mean(found, axis=0)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--data-sets", type=int, default=150)
    print(*(f"{value:.3f}" for value in study(EIGHT, parser.parse_args().data_sets)))
