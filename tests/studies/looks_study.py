"""How often a gate that is looked at again is wrong at any look, and what it still decides.

`python -m studies looks_study`, run in `tests/`, prints the tables of the documentation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np

import fastfair as ff
from fastfair.claims.any_look import _People
from fastfair.claims.looks import level_at_look
from fastfair.claims.requirements import read_requirement
from fastfair.uncertainty.rate_limits import RateEvidence
from fastfair.uncertainty.sequences import _capital, sequence_limits

from .processes import chosen, coverage, study_parser
from .tables import percents, print_table

LEVEL = 0.95
WAYS = ("each alone", "planned", "any")
# A bound is the truth, where either verdict is wrong, or so many times the truth, where met is right.
EDGE, ROOM = 1.0, 1.3
WRONG = tuple(f"{verdict}, {way}" for verdict in ("met", "not met") for way in WAYS)
POWER = ("one last look", *(f"power, {way}" for way in WAYS[1:]))
WIDTH = (
    "width"  # of the sequence's limit over that of one look, from the estimate on, at the last look
)


@dataclass(frozen=True)
class Setting:
    """People who come in so many equal parts.

    Attributes
    ----------
    name : str
        What the table calls it.
    n_looks, n_people : int
        How many looks there are, and people at the last.
    goats : float
        The share of people who fail six times as often as the rate, of whom others make up.
    most : int
        Attempts of each, drawn from 1 on.
    """

    name: str
    n_looks: int
    n_people: int = 1200
    goats: float = 0.0
    most: int = 4
    rate: float = 0.05

    @property
    def sizes(self) -> list[int]:
        """The number of people at each look."""
        return [self.n_people * k // self.n_looks for k in range(1, self.n_looks + 1)]

    def looks(self, seed: int) -> Iterator[tuple[RateEvidence, tuple[np.ndarray, np.ndarray, int]]]:
        """Yield what a look knows, and the units of a sequence with the most that each has."""
        rng = np.random.default_rng([72, seed])
        bad = rng.random(self.n_people) < self.goats
        others = self.rate * (1 - 6 * self.goats) / (1 - self.goats)
        attempts = rng.integers(1, self.most + 1, self.n_people)
        failures = rng.binomial(attempts, np.where(bad, 6 * self.rate, others))
        for n in self.sizes:
            e, m = failures[:n], attempts[:n]
            yield ff.FailureCounts(e, m, np.zeros(n, int)).evidence[0], (e, m, self.most)


@dataclass(frozen=True)
class PairsOfPeople(Setting):
    """All pairs of people, some of whom resemble many: false matches."""

    n_people: int = 240
    rate: float = 0.02
    effect: float = 0.5  # how much of a score's standard deviation is that of people

    def looks(self, seed: int) -> Iterator[tuple[RateEvidence, tuple[np.ndarray, np.ndarray, int]]]:
        """Yield the same of false matches."""
        from scipy.special import ndtri

        rng = np.random.default_rng([73, seed])
        of_people = rng.normal(size=self.n_people)
        pairs = np.array([(a, b) for b, a in combinations(range(self.n_people), 2)])
        pairs = pairs[np.argsort(pairs.max(axis=1), kind="stable")]
        scores = of_people[pairs].sum(axis=1) * self.effect / np.sqrt(2)
        scores += rng.normal(size=len(pairs)) * np.sqrt(1 - self.effect**2)
        at = ff.at_threshold(float(-ndtri(self.rate)))
        rule = read_requirement("fmr <= 0.5", at)
        for n in self.sizes:
            kept = pairs.max(axis=1) < n
            c = ff.Comparisons(scores[kept], np.zeros(kept.sum(), bool), *pairs[kept].T)
            evaluation = ff.evaluate(c, at, [], metrics=[], n_resamples=0)
            row = evaluation.quantities.index(evaluation.quantity("fmr"))
            units, _ = _People.of(c).judged(rule, None, None)
            yield evaluation.maker.evidence[row], (units.errors, units.comparisons, 1)


SETTINGS = (
    Setting("alike, 12 looks", 12),
    Setting("alike, 52 looks", 52),
    Setting("goats, 12 looks", 12, goats=0.1),
    Setting("goats, 52 looks", 52, goats=0.1),
    PairsOfPeople("FMR, 12 looks", 12),
    PairsOfPeople("FMR, 52 looks", 52, n_people=260),
)


def look(setting: Setting, seed: int) -> Iterator[tuple[str, float]]:
    """Yield whether verdicts of a data set are ever wrong, whether it is met with room, and how wide
    the sequence is.
    """
    edge, room = EDGE * setting.rate, ROOM * setting.rate
    wrong = dict.fromkeys(WRONG, False)
    power = dict.fromkeys(POWER, False)
    for k, (evidence, units) in enumerate(setting.looks(seed), 1):
        planned = 1 - level_at_look(LEVEL, k, setting.n_looks)
        above, below = (float(evidence.pvalue(edge, side)) for side in ("upper", "lower"))
        with_room = float(evidence.pvalue(room, "upper"))
        for way, error in zip(WAYS, (1 - LEVEL, planned), strict=False):
            wrong[f"met, {way}"] |= above <= error
            wrong[f"not met, {way}"] |= below <= error
        wrong["met, any"] |= _excludes(units, edge, above=False)
        wrong["not met, any"] |= _excludes(units, edge, above=True)
        power["power, planned"] |= with_room <= planned
        power["power, any"] |= _excludes(units, room, above=False)
        power["one last look"] = with_room <= 1 - LEVEL
    high = sequence_limits(*units, 1 - LEVEL)[1]
    estimate = float(evidence.estimate)
    yield from (wrong | power).items()
    yield WIDTH, (high - estimate) / (float(evidence.interval(2 * LEVEL - 1)[1]) - estimate)


def _excludes(units: tuple[np.ndarray, np.ndarray, int], rate: float, *, above: bool) -> bool:
    """Return whether a rate lies beyond a limit, without the limit."""
    errors, comparisons, most = units
    kinds, n = np.unique(np.stack((errors, comparisons)), axis=1, return_counts=True)
    return _capital(kinds / most, n, rate, above=above) >= -np.log(1 - LEVEL)


def study(setting: Setting, n_data_sets: int, processes: int | None = 1) -> dict[str, float]:
    """Return the shares of data sets, and the mean width."""
    columns = (*WRONG, *POWER, WIDTH)
    return coverage(partial(look, setting), n_data_sets, processes, columns)


def main() -> None:
    """Print how often verdicts are wrong at any look, and what is decided."""
    asked = study_parser(main.__doc__, 300).parse_args()
    rows = []
    for setting in chosen(SETTINGS, asked.only):
        found = study(setting, asked.data_sets, asked.processes)
        width = found.pop(WIDTH)
        rows.append([setting.name, *percents(found.values()), f"{width:.2f}"])
    print_table(["People", *WRONG, *POWER, WIDTH], rows)
