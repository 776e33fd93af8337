"""The contrasts of each pair of many systems, made when they are looked up, and the p-values of all pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from .compared_system import ComparedSystem
from .contrasts import Contrast, adjusted_pvalues, contrasts_of, pvalues_of
from .correlations import rate_correlations
from .difference_tests import DifferenceTest, difference_tests
from .result import Evaluation

Floats = NDArray[np.float64]
Pair = tuple[str, str]
Contrasts = tuple[Contrast, ...]


def pairs_of(systems: Sequence[str], baseline: str | None) -> list[Pair]:
    """Return the pairs that are compared: each system with the baseline, or with those after it."""
    if baseline is not None:
        return [(system, baseline) for system in systems if system != baseline]
    return [(one, other) for k, one in enumerate(systems) for other in systems[k + 1 :]]


def places_of(systems: Sequence[str], pairs: Sequence[Pair]) -> list[tuple[int, int]]:
    """Return the positions of the systems of each pair."""
    place = {name: k for k, name in enumerate(systems)}
    return [(place[one], place[other]) for one, other in pairs]


class PairContrasts(Mapping[Pair, Contrasts]):
    """The contrasts of pairs of systems; intervals are computed when a pair is looked up for the first time.

    Parameters
    ----------
    systems : dict of ComparedSystem
        The systems by their names.
    tests : dict of sequence of DifferenceTest
        The tests of each pair.
    level : float
        Confidence level of the intervals; verdicts need adjusted p-values of at most one minus it.
    method : str
        Method of the intervals.
    evaluations : dict of Evaluation, optional
        The evaluations with such intervals; by default those of the systems.

    Attributes
    ----------
    pvalues_adjusted : (pairs, quantities) ndarray
        The p-values of all pairs, adjusted together.
    """

    def __init__(
        self,
        systems: Mapping[str, ComparedSystem],
        tests: Mapping[Pair, Sequence[DifferenceTest]],
        level: float,
        method: str,
        evaluations: Mapping[str, Evaluation] | None = None,
    ) -> None:
        self._systems, self._tests, self._asked = systems, tests, (level, method)
        self._evaluations = evaluations or {name: system.evaluation for name, system in systems.items()}
        self._made: dict[Pair, Contrasts] = {}
        given, of_pairs = list(self._evaluations.values()), list(tests.values())
        pvalues = pvalues_of(given, places_of(list(systems), list(tests)), of_pairs)
        self.pvalues_adjusted = adjusted_pvalues(given[0].quantities, pvalues, of_pairs, 1 - level)
        self._row = {pair: k for k, pair in enumerate(tests)}

    @classmethod
    def of_systems(
        cls, systems: Mapping[str, ComparedSystem], pairs: Sequence[Pair], level: float, method: str
    ) -> PairContrasts:
        """Test the difference between the systems of each pair."""
        found = difference_tests(list(systems.values()), places_of(list(systems), pairs))
        return cls(systems, dict(zip(pairs, found, strict=True)), level, method)

    def with_intervals(self, evaluations: Mapping[str, Evaluation], level: float, method: str) -> PairContrasts:
        """Return the contrasts of the same tests with other intervals, of evaluations that have them."""
        return PairContrasts(self._systems, self._tests, level, method, evaluations)

    def __getitem__(self, pair: Pair) -> Contrasts:
        if pair not in self._made:
            first, second = (self._systems[name] for name in pair)
            correlations, adjusted = rate_correlations(first, second), self.pvalues_adjusted[self._row[pair]]
            self._made[pair] = contrasts_of(self._of(pair), self._tests[pair], correlations, *self._asked, adjusted)
        return self._made[pair]

    def _of(self, pair: Pair) -> tuple[Evaluation, Evaluation]:
        return self._evaluations[pair[0]], self._evaluations[pair[1]]

    def __iter__(self) -> Iterator[Pair]:
        return iter(self._tests)

    def __len__(self) -> int:
        return len(self._tests)
