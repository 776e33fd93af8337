"""How often `check` passes what is just not met, and what is met with room to spare, on populations
of known truth.

`python -m studies check_study`, run in `tests/`, prints the tables of the documentation.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

import fastfair as ff
from fastfair.claims import MET, NOT_MET
from fastfair.error_rates.operating_points import ENOUGH_ERRORS
from fastfair.measures import MEASURES
from fastfair.uncertainty.interval_maker import ROOM

from . import tables
from .interval_study import POPULATIONS, thresholds, truth
from .populations import Population
from .processes import chosen, of_data_sets, over_data_sets, study_parser

TIMES = (1, 2, ROOM)
# In which few subjects cause most false matches.
UNEQUAL = (
    Population("skewed subjects", (100,) * 3, skewed=True, effect=0.6, mean=4.0),
    Population("very skewed subjects", (100,) * 3, skewed=True, effect=0.8, mean=4.0),
    Population("heavy-tailed subjects", (50,) * 6, heavy=True, effect=0.6),
)
Shares = NDArray[np.float64]
RESAMPLES = 500
# times as far from what is best as the truth, where a requirement is met with room to spare
FAR = 2.0
# What is required: its name, whether of each group, and the operating point of `thresholds`.
_ALL, _EACH = False, True
RATES = {
    "FMR": ("fmr", _ALL, "threshold"),
    "FMR, few errors": ("fmr", _ALL, "few false matches"),
    "FNMR": ("fnmr", _ALL, "threshold"),
    "FNMR, few errors": ("fnmr", _ALL, "few false non-matches"),
    "FNMR at FMR": ("fnmr", _ALL, "held FMR"),
    "FMR of a group": ("fmr", _EACH, "threshold"),
    "few errors of a group: FMR": ("fmr", _EACH, "few false matches"),
    "FNMR of a group": ("fnmr", _EACH, "threshold"),
    "few errors of a group: FNMR": ("fnmr", _EACH, "few false non-matches"),
    "EER": ("eer", _ALL, None),
    "EER of a group": ("eer", _EACH, None),
    "minDCF": ("min_dcf", _ALL, None),
}
OF_MEASURES = {
    "max-geomean ratio of FNMR": ("max_geomean_ratio(fnmr)", _ALL, "threshold"),
    "max-geomean ratio of FMR": ("max_geomean_ratio(fmr)", _ALL, "threshold"),
    "Gini of FNMR": ("gini(fnmr)", _ALL, "threshold"),
    "GARBE": ("garbe", _ALL, "threshold"),
    "FDR": ("fdr", _ALL, "threshold"),
    "NRB of EER": ("nrb(eer)", _ALL, None),
    "few false matches: max-geomean ratio of FMR": (
        "max_geomean_ratio(fmr)",
        _ALL,
        "few false matches",
    ),
    "few false matches: GARBE": ("garbe", _ALL, "few false matches"),
    "few false non-matches: max-geomean ratio of FNMR": (
        "max_geomean_ratio(fnmr)",
        _ALL,
        "few false non-matches",
    ),
}
QUANTITIES = RATES | OF_MEASURES
LOOKS = ("passes wrongly", "fails wrongly", "passes with room")


@functools.cache
def requirements(population: Population) -> dict[str, list[tuple[str, str]]]:
    """Return the requirements at the truth itself, and with room to spare, by what they are
    about."""
    true, points = truth(population), thresholds(population)
    found: dict[str, list[tuple[str, str]]] = {}
    for label, (name, each, place) in QUANTITIES.items():
        if place is not None and place not in points:
            continue
        at = None if place is None else points[place][0]
        measure = MEASURES.get(name.partition("(")[0])
        fairest = measure.fair_value if measure else 0.0
        relation = ">=" if measure and measure.fairer == "higher" else "<="
        for group in [str(k) for k in range(len(population.sizes))] if each else [None]:
            value = true[name, group, None if at is None else str(at)]
            room = fairest + FAR * (value - fairest)
            if abs(value - fairest) < 1e-9:  # a fair system is at the end of what a measure can be
                continue
            written = f"{name}{f'[{group}]' if each else ''}{f'@{at}' if at else ''}"
            found.setdefault(label, []).append(
                (f"{written} {relation} {value!r}", f"{written} {relation} {room!r}")
            )
    return found


def _look(population: Population, seed: int) -> list[list[float]]:
    """Judge a data set: the shares of `LOOKS` by what requirements are about, and last of any of
    them."""
    wanted = requirements(population)
    texts = [text for pairs in wanted.values() for pair in pairs for text in pair]
    comparisons = population.draw(np.random.default_rng([seed, len(population.name)]))
    verdicts = ff.check(comparisons, texts, n_resamples=RESAMPLES, rng=seed, n_threads=1).verdicts
    shares = []
    for pairs in wanted.values():
        edge, room = ([verdicts[pair[k]] for pair in pairs] for k in (0, 1))
        shares.append(
            [
                edge.count(MET) / len(pairs),
                edge.count(NOT_MET) / len(pairs),
                room.count(MET) / len(pairs),
            ]
        )
    failed = any(verdicts[edge] == NOT_MET for pairs in wanted.values() for edge, _ in pairs)
    return [*shares, [np.nan, float(failed), np.nan]]


def study(
    population: Population, n_data_sets: int, processes: int | None = 1
) -> tuple[tuple[str, ...], Shares]:
    """Draw data sets and judge them.

    Parameters
    ----------
    population : Population
    n_data_sets : int
        Data set r has seed r.
    processes : int, optional
        All processors by default.

    Returns
    -------
    labels : tuple of str
        What requirements are about, and "any".
    shares : (labels, looks) ndarray
        The shares of data sets in which `LOOKS` are found; of groups, their means.
    """
    found = of_data_sets(functools.partial(_look, population), n_data_sets, processes)
    return (*requirements(population), "any"), np.mean(found, axis=0)


def few_false_matches(n_data_sets: int, processes: int | None = 1) -> dict[str, Shares]:
    """Return how often FMRs that rest on fewer than 30 false matches are below what they truly are,
    though above.

    Parameters
    ----------
    n_data_sets : int
        For each of 3, 6, 12 and 25 expected false matches.
    processes : int, optional
        All processors by default.

    Returns
    -------
    dict of (times,) ndarray
        By the name of a population whose few subjects cause most false matches: of the numbers of
        expected false matches the largest share of data sets in which so many times the limit,
        `TIMES`, is at most the truth.
    """
    found = {}
    for population in UNEQUAL:
        looks = [functools.partial(_few, population, expected) for expected in (3, 6, 12, 25)]
        found[population.name] = np.mean(over_data_sets(looks, n_data_sets, processes), axis=1).max(
            axis=0
        )
    return found


def _few(population: Population, expected: int, seed: int) -> NDArray[np.bool_]:
    n = sum(size * (size - 1) // 2 for size in population.sizes)
    threshold = population.threshold(expected / n)
    fmr = ff.evaluate(
        population.draw(np.random.default_rng([seed, 7])),
        ff.at_threshold(threshold),
        [],
        metrics=[],
        n_resamples=200,
        rng=seed,
        n_threads=1,
        alternative="less",
    ).quantity("fmr")
    is_below = np.array(TIMES) * fmr.high <= population.overall("fmr", threshold)
    return (fmr.n_errors < ENOUGH_ERRORS) & is_below


def table(
    populations: Sequence[Population], found: Sequence[tuple[tuple[str, ...], Shares]], look: int
) -> str:
    """Lay out one of `LOOKS` in per cent, a row for each population."""
    labels = list(dict.fromkeys(label for names, _ in found for label in names))
    rows = []
    for population, (names, shares) in zip(populations, found, strict=True):
        cells = dict(zip(names, shares[:, look].tolist(), strict=True))
        rows.append(
            [population.name, *tables.percents(cells.get(label, np.nan) for label in labels)]
        )
    return tables.table(["Population", *labels], rows)


def main() -> None:
    """Print the tables."""
    asked = study_parser(main.__doc__, 400).parse_args()
    for population in chosen(POPULATIONS, asked.only):
        found = study(population, asked.data_sets, asked.processes)
        for look, name in enumerate(LOOKS):
            print(f"\n{name}\n{table([population], [found], look)}", flush=True)
    for name, shares in few_false_matches(asked.data_sets, asked.processes).items():
        print(f"few false matches, {name}: {np.round(100 * shares, 1)} at {TIMES} times the limit")
