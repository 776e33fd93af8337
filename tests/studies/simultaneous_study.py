"""How often the intervals of all groups hold the truth together, one at a time and simultaneous.

`python -m studies.simultaneous_study`, run in `tests/`, prints the table of the documentation.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

import fastfair as ff

from .interval_study import thresholds, truth
from .populations import FAIR, Population
from .processes import chosen, of_data_sets, study_parser
from .tables import print_table

RESAMPLES = 500
# Rate, operating point
LOOKS = (
    ("fmr", "threshold"), ("fmr", "few false matches"), ("fnmr", "threshold"), ("fnmr", "few false non-matches"),
    ("fnmr", "held FMR"), ("eer", ""),
)  # fmt: skip


def _look(population: Population, seed: int) -> NDArray[np.bool_]:
    """Look whether the intervals of all groups hold the truth: one at a time, simultaneous."""
    points, true = thresholds(population), truth(population)
    comparisons = population.draw(np.random.default_rng([seed, len(population.name)]))
    single = ff.evaluate(
        comparisons, [point for point, _ in points.values()], [], metrics=["eer"], n_resamples=RESAMPLES, rng=seed,
        n_threads=1,
    )  # fmt: skip
    held = np.ones((2, len(LOOKS)), bool)
    for row, evaluation in enumerate((single, single.with_intervals(simultaneous=True))):
        for column, (name, place) in enumerate(LOOKS):
            if place and place not in points:
                continue
            for group in evaluation.groups:
                q = evaluation.quantity(name, group, points[place][0] if place else None)
                held[row, column] &= q.low is not None and q.low <= true[q.name, q.group, q.operating_point] <= q.high
    return held


def study(population: Population, n_data_sets: int, processes: int | None = 1) -> NDArray[np.float64]:
    """Return the share of data sets in which all groups' intervals hold, (2, looks): one at a time, simultaneous."""
    return np.mean(of_data_sets(functools.partial(_look, population), n_data_sets, processes), axis=0)


def _row(population: Population, found: NDArray[np.float64]) -> list[str]:
    cells = [f"{single:.1f} → {together:.1f}" for single, together in 100 * found.T]
    if population.step:
        cells[4] = "–"
    return [population.name, *cells]


def main() -> None:
    """Print the table."""
    asked = study_parser(main.__doc__, 1000).parse_args()
    heads = ["Population", *(f"{name.upper()}{', ' if at else ''}{at}" for name, at in LOOKS)]
    populations = chosen(FAIR, asked.only)
    print_table(heads, (_row(one, study(one, asked.data_sets, asked.processes)) for one in populations))


if __name__ == "__main__":
    main()
