"""How often `compare` tells data sets of other people apart whose systems are equal, and how often
it finds one that is worse, beside paired data of as many people.

`python -m studies unpaired_study`, run in `tests/`, prints the tables of the documentation.
"""

from __future__ import annotations

import functools
import warnings
from dataclasses import replace

import numpy as np

import fastfair as ff
from fastfair.errors import FastfairWarning

from . import tables
from .paired_study import Count, counted, points_of, worse
from .populations import BY_NAME, Population
from .processes import added, chosen, of_data_sets, study_parser

LEVELS = (1e-2, 1e-3)
RESAMPLES = 300
MEASURES = ("gini", "max_geomean_ratio", "fdr")
METRICS = ("eer", "min_dcf", "cllr", "auc")
SMALLER = "another site with a third of the people"
EQUAL = (
    *(
        BY_NAME[name]
        for name in (
            "Student t scores",
            "lognormal scores",
            "1 to 100 attempts",
            "groups of 15 to 400",
            "8-bit scores",
            "skewed subjects",
            "strong subjects",
        )
    ),
    Population(SMALLER, (90, 90, 90)),
)
# Kinds of differences, and where they are taken, in the order of the columns of the table.
COLUMNS = (
    ("FMR, few errors", "fmr", "threshold of FMR 0.001"),
    ("FMR of groups, few errors", "fmr of groups", "threshold of FMR 0.001"),
    ("FMR of groups", "fmr of groups", "threshold of FMR 0.01"),
    ("FNMR", "fnmr", "threshold of FMR 0.01"),
    ("FNMR of groups", "fnmr of groups", "threshold of FMR 0.01"),
    ("FNMR at FMR 0.01", "fnmr", "FMR 0.01"),
    ("of groups", "fnmr of groups", "FMR 0.01"),
    ("FMR at FNMR 0.05", "fmr", "FNMR 0.05"),
    ("FNMR of groups at the EER", "fnmr of groups", "EER"),
    ("EER", "eer", ""),
    ("minDCF", "min_dcf", ""),
    ("Cllr", "cllr", ""),
    ("AUC", "auc", ""),
    ("measures of FMR", "measures of fmr", "threshold of FMR 0.01"),
    ("of FNMR", "measures of fnmr", "threshold of FMR 0.01"),
)


def points(population: Population, held: bool = True) -> dict[str, ff.OperatingPoint]:
    """Return the operating points: thresholds, and an FMR, an FNMR and the EER that are held."""
    of_thresholds = {
        name: point
        for name, point in points_of(population, LEVELS).items()
        if name.startswith("threshold")
    }
    if not held:
        return of_thresholds
    of_fmr = {} if population.step else {"FMR 0.01": ff.at_fmr(1e-2)}
    return of_thresholds | of_fmr | {"FNMR 0.05": ff.at_fnmr(0.05), "EER": ff.at_eer()}


def data_sets(population: Population, seed: int) -> tuple[ff.Comparisons, ff.Comparisons]:
    """Draw two data sets of other people, the second by the second system."""
    other = population
    if population.name.startswith(SMALLER):
        other = replace(population, sizes=tuple(size // 3 for size in population.sizes))
    number = sum(map(ord, population.name))
    first = population.draw_two(np.random.default_rng([seed, number]))[0]
    return first, other.draw_two(np.random.default_rng([seed, number, 1]))[1]


def _look(
    population: Population, paired: bool, held: bool, n_resamples: int, seed: int
) -> dict[tuple[str, str], Count]:
    at = points(population, held)
    systems = data_sets(population, seed)
    if paired:
        number = sum(map(ord, population.name))
        systems = population.draw_two(np.random.default_rng([seed, number]))
    asked = {"measures": MEASURES, "metrics": METRICS} if n_resamples else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FastfairWarning)  # names of people are those of both
        compared = ff.compare(
            *systems,
            list(at.values()),
            **{"measures": (), "metrics": ()} | asked,
            paired=paired,
            n_resamples=n_resamples,
            rng=seed,
            n_threads=1,
        )
    return counted(population, at, compared)


def study(
    population: Population,
    n_data_sets: int,
    *,
    paired: bool = False,
    held: bool = True,
    n_resamples: int = RESAMPLES,
    processes: int | None = None,
) -> dict[tuple[str, str], Count]:
    """Compare two data sets many times; data set r has seed r.

    held: whether also at rates that are held, which takes most of the time without replicates.
    """
    look = functools.partial(_look, population, paired, held, n_resamples)
    return added(of_data_sets(look, n_data_sets, processes))


def table(studies: dict[str, dict[tuple[str, str], Count]], part: str, whole: str) -> str:
    """Lay out over populations the share that an attribute of `Count` is of another."""

    def cell(found: dict[tuple[str, str], Count], kind: str, at: str) -> str:
        count = found.get((kind, at), {})
        return tables.percent_of(count[part], count[whole]) if count.get(whole) else "–"

    return tables.by_population(studies, COLUMNS, cell)


def main() -> None:
    """Print the tables."""
    parser = study_parser(main.__doc__, 200)
    parser.add_argument("--worse", action="store_true", help="the second system is less accurate")
    parser.add_argument("--paired", action="store_true", help="paired data, for power beside it")
    parser.add_argument("--quick", action="store_true", help="rates in closed form alone")
    parser.add_argument("--given", action="store_true", help="at given thresholds alone")
    asked = parser.parse_args()
    studies = {}
    for population in chosen(EQUAL, asked.only):
        compared = worse(population) if asked.worse else population
        studies[compared.name] = study(
            compared,
            asked.data_sets,
            paired=asked.paired,
            held=not asked.given,
            n_resamples=0 if asked.quick else RESAMPLES,
            processes=asked.processes,
        )
        print(table({compared.name: studies[compared.name]}, "found", "tested"), flush=True)
    print(f"### Names a system\n\n{table(studies, 'found', 'tested')}\n")
    print(f"### p at most 5 %\n\n{table(studies, 'small', 'contrasts')}\n")
    print(f"### Intervals of differences\n\n{table(studies, 'inside', 'given')}")
