"""How often `compare` tells equal systems apart among several, and how often all ranks hold the true ones.

`python -m studies ranking_study`, run in `tests/`, prints the table of the documentation.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence

import numpy as np

import fastfair as ff

from . import tables
from .populations import BY_NAME, SMALL_TO_LARGE, Population
from .processes import added, of_data_sets, study_parser

RESAMPLES = 300
EQUAL = (0.0, 0.0, 0.0, 0.0)
UNEQUAL = (0.0, -0.1, -0.3, -0.9)  # added to mated scores: the more, the fewer false non-matches
POPULATIONS = (
    BY_NAME["Student t scores"],
    Population("8-bit scores, groups of 15 to 400", SMALL_TO_LARGE, step=1 / 16, pairs=30),
    BY_NAME["skewed subjects"],
)
LEVEL = 1e-2  # FMR at the threshold
FEW = 1e-3  # at which a group has few false matches


# What became of the systems' differences and ranks in one quantity, by what is counted:
#
# data_sets, named: data sets, and those in which systems that are equal are called different, or in the wrong order;
# inside: data sets in which the ranks of all systems, in all groups, hold the true ones;
# pairs, found: pairs of systems that truly differ, and those called different;
# width, systems: numbers of ranks that are possible, summed over systems, and systems.
Count = Counter[str]


@functools.cache
def quantities_of(population: Population) -> dict[str, tuple[str, bool, ff.OperatingPoint | None]]:
    """Return what is looked at: its name, whether of groups, and the operating point."""
    at, few = (ff.at_threshold(population.threshold(level)) for level in (LEVEL, FEW))
    return {
        "FNMR": ("fnmr", False, at),
        "FNMR of groups": ("fnmr", True, at),
        "FNMR at FMR 0.01": ("fnmr", False, ff.at_fmr(LEVEL)),
        "FMR of groups, few errors": ("fmr", True, few),
        "EER": ("eer", False, None),
    }


def true_ranks(gaps: Sequence[float], name: str) -> list[tuple[int, int]]:
    """Return the ranks that each system has, all those that equal systems share; gaps do not change an FMR."""
    values = [0.0 if name == "fmr" else -gap for gap in gaps]
    return [(1 + sum(v < value for v in values), sum(v <= value for v in values)) for value in values]


def _count(found: ff.SystemComparison, name: str, groups: Sequence[str | None], at, gaps: Sequence[float]) -> Count:
    truth = dict(zip(found.systems, true_ranks(gaps, name), strict=True))
    inside, wrong, count = True, False, Counter(data_sets=1)
    for group in groups:
        for one in found.ranking(name, group, at):
            least, most = truth[one.system]
            inside &= one.best_rank <= least and most <= one.worst_rank
            count["width"] += one.worst_rank - one.best_rank + 1
            count["systems"] += 1
        for first, second in found.contrasts:
            verdict = found.contrast(first, second, name, group, at).verdict
            true = np.sign(truth[first][0] - truth[second][0])
            count["pairs"] += true != 0
            count["found"] += true != 0 and verdict == ("first" if true < 0 else "second")
            wrong |= verdict in ("first", "second") and verdict != {-1: "first", 1: "second"}.get(true)
    return count + Counter(inside=int(inside), named=int(wrong))


def _look(population: Population, gaps: Sequence[float], seed: int) -> dict[str, Count]:
    asked = quantities_of(population)
    groups = [str(k) for k in range(len(population.sizes))]
    points = list(dict.fromkeys(at for _, _, at in asked.values() if at is not None))
    systems = population.draw_systems(np.random.default_rng([seed, sum(map(ord, population.name))]), gaps)
    found = ff.compare(systems, None, points, [], metrics=["eer"], n_resamples=RESAMPLES, rng=seed, n_threads=1)
    return {
        kind: _count(found, name, groups if of_groups else [None], at, gaps)
        for kind, (name, of_groups, at) in asked.items()
    }


def study(
    population: Population, n_data_sets: int, gaps: Sequence[float], processes: int | None = None
) -> dict[str, Count]:
    """Rank the systems of many data sets; data set r has seed r."""
    return added(of_data_sets(functools.partial(_look, population, gaps), n_data_sets, processes))


def table(equal: dict[str, dict[str, Count]], unequal: dict[str, dict[str, Count]]) -> str:
    """Lay out what the populations gave."""
    names = (
        "Population", "Ranked by", "Equal systems called different", "Wrong order", "All ranks hold the true ones",
        "Differing pairs found", "Possible ranks of a system",
    )  # fmt: skip
    rows = []
    for population, counts in unequal.items():
        for kind, count in counts.items():
            shares = [of[part] / of["data_sets"] for of, part in
                      ((equal[population][kind], "named"), (count, "named"), (count, "inside"))]  # fmt: skip
            found = f"{100 * count['found'] / count['pairs']:.0f}" if count["pairs"] else "–"
            cells = [*(f"{100 * share:.0f}" for share in shares), found, f"{count['width'] / count['systems']:.1f}"]
            rows.append([population, kind, *cells])
    return tables.table(names, rows, 2)


def main() -> None:
    """Print the table."""
    asked = study_parser(main.__doc__, 200, named=False).parse_args()
    equal, unequal = (
        {one.name: study(one, asked.data_sets, gaps, asked.processes) for one in POPULATIONS}
        for gaps in (EQUAL, UNEQUAL)
    )
    print(table(equal, unequal))
