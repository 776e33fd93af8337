"""How intervals and verdicts at default arguments depend on the number of subjects, where all
groups are alike.

`python -m studies size_study`, run in `tests/`, prints the numbers of the documentation's pictures.
"""

from __future__ import annotations

import functools
import json

import numpy as np

import fastfair as ff

from .band_study import people, true_fnmr_of_people
from .populations import Population
from .processes import over_data_sets, study_parser

SIZES = (10, 20, 40, 80, 160)  # subjects of each group
EXPECTED, OF_VERDICTS = 2, 5  # false matches of each group
LEVELS = (0.01, 0.1)  # FMRs, of embeddings
TIMES, DEVIATING, N_GROUPS = (
    3,
    2,
    8,
)  # how many times as many false matches two of the groups tested have
LOOKS = (
    "FMR of a group",
    "GARBE",
    "alike: found",
    "alike: named",
    "two differ: found",
    "FNMR of new people",
)
_LEVEL = 0.05


def _at_few(population: Population, size: int, expected: int) -> tuple[float, ff.OperatingPoint]:
    """Return the FMR, and the threshold, at which each group of so many subjects expects few false
    matches."""
    rate = expected / (size * (size - 1) / 2 * population.repeats)
    return rate, ff.at_threshold(population.threshold(rate))


def _intervals(size: int, rng: np.random.Generator, seed: int) -> list[float]:
    """Say whether intervals hold an FMR and the GARBE of a fair system."""
    population = Population("each pair 4 times", (size,) * 3, effect=0.6, repeats=4, likeness=0.5)
    rate, at = _at_few(population, size, EXPECTED)
    found = ff.evaluate(population.draw(rng), at, ["garbe"], metrics=[], rng=seed, n_threads=1)
    of_group, garbe = found.interval("fmr", "0"), found.interval("garbe")
    return [of_group[0] <= rate <= of_group[1], np.nan if np.isnan(garbe[0]) else garbe[0] <= 1e-9]


def _verdicts(size: int, rng: np.random.Generator, seed: int) -> list[float]:
    """Say what `fmr_test` finds where groups are alike, and where two differ."""
    population = Population("8 groups", (size,) * N_GROUPS)
    _, at = _at_few(population, size, OF_VERDICTS)
    unfair = population.unfair(TIMES, at.value, DEVIATING)
    alike, two = (
        ff.fmr_test(drawn.draw(rng), at, rng=seed, n_threads=1) for drawn in (population, unfair)
    )
    return [alike.pvalue <= _LEVEL, bool(len(alike.different)), two.pvalue <= _LEVEL]


def _new_people(size: int, rng: np.random.Generator, seed: int) -> list[float]:
    """Return the share of FMRs at which the interval of FNMR holds the truth."""
    band, true = (
        ff.roc_band(people(3 * size, rng), LEVELS, rng=seed, n_threads=1),
        true_fnmr_of_people(LEVELS),
    )
    return [float(np.mean((band.low <= true) & (true <= band.high)))]


def _look(size: int, seed: int) -> list[float]:
    rng = np.random.default_rng([seed, size])
    return [
        share for look in (_intervals, _verdicts, _new_people) for share in look(size, rng, seed)
    ]


def study(n_data_sets: int, processes: int | None = None) -> dict[str, list[float]]:
    """Return in what share of data sets intervals hold the truth, and `fmr_test` accuses, for each
    of `SIZES`."""
    found = over_data_sets(
        [functools.partial(_look, size) for size in SIZES], n_data_sets, processes
    )
    shares = np.nanmean(np.array(found, np.float64), axis=1)
    return {
        name: (100 * column).round(1).tolist() for name, column in zip(LOOKS, shares.T, strict=True)
    }


def main() -> None:
    """Print the shares in per cent."""
    asked = study_parser(main.__doc__, 400, named=False).parse_args()
    print(json.dumps(study(asked.data_sets, asked.processes), indent=1))
