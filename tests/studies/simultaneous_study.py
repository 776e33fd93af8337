"""How often the intervals of all groups hold the truth together, one at a time and simultaneous.

`python -m studies.simultaneous_study`, run in `tests/`, prints the table of the documentation.
"""

from __future__ import annotations

import functools
import warnings

import numpy as np
from numpy.typing import NDArray

import fastfair as ff
from fastfair.errors import FastfairWarning

from .interval_study import thresholds, truth
from .populations import FAIR, Population
from .processes import over_data_sets, study_parser

RESAMPLES = 500
# Rate, operating point
LOOKS = (
    ("fmr", "threshold"), ("fmr", "few false matches"), ("fnmr", "threshold"), ("fnmr", "few false non-matches"),
    ("fnmr", "held FMR"), ("eer", ""),
)  # fmt: skip


def _some(population: Population, seeds: range) -> list[NDArray[np.bool_]]:
    """Look whether the intervals of all groups hold the truth: one at a time, simultaneous."""
    points, true = thresholds(population), truth(population)
    found = []
    for seed in seeds:
        comparisons = population.draw(np.random.default_rng([seed, len(population.name)]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FastfairWarning)
            single = ff.evaluate(
                comparisons, [point for point, _ in points.values()], [], metrics=["eer"], n_resamples=RESAMPLES,
                rng=seed, n_threads=1,
            )  # fmt: skip
            together = single.with_intervals(simultaneous=True)
        held = np.ones((2, len(LOOKS)), bool)
        for row, evaluation in enumerate((single, together)):
            for column, (name, place) in enumerate(LOOKS):
                if place and place not in points:
                    continue
                at = points[place][0] if place else None
                for group in evaluation.groups:
                    q = evaluation.quantity(name, group, at)
                    held[row, column] &= q.low is not None and bool(
                        q.low <= true[q.name, q.group, q.operating_point] <= q.high
                    )
        found.append(held)
    return found


def study(population: Population, n_data_sets: int, processes: int | None = 1) -> NDArray[np.float64]:
    """Return the share of data sets in which all groups' intervals hold, (2, looks): one at a time, simultaneous."""
    (parts,) = over_data_sets([functools.partial(_some, population)], n_data_sets, processes)
    return np.asarray(np.concatenate(parts).mean(axis=0))


def main() -> None:
    """Print the table."""
    asked = study_parser(main.__doc__, 1000).parse_args()
    heads = [f"{name.upper()}{', ' if at else ''}{at}" for name, at in LOOKS]
    print("| Population | " + " | ".join(heads) + " |\n|---|" + "--:|" * len(heads))
    for population in FAIR:
        if asked.only and population.name not in asked.only:
            continue
        single, together = 100 * study(population, asked.data_sets, asked.processes)
        cells = [f"{one:.1f} → {all_of_them:.1f}" for one, all_of_them in zip(single, together, strict=True)]
        if population.step:
            cells[4] = "–"
        print(f"| {population.name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
