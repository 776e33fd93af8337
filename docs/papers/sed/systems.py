"""The 44 systems of paper 1, made many times over, and their measures."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair import Comparisons, OperatingPoint, at_fmr, eer
from fastfair.errors import TargetMissedWarning
from fastfair.synthesis.hill_climbing import BiasedSystem, Synthesis
from papers.quantities import measure_of
from papers.settings import Settings

from .printed import COLUMNS
from .scenarios import make_systems

Floats = NDArray[np.float64]
AT = at_fmr(1e-3)
OTHER_POINTS = (at_fmr(1e-4), at_fmr(1e-2))
SEEDS_ELSEWHERE = 20  # at most: other operating points are a side view
AT_A_POINT = ("inequity_rate", "garbe", "fdr")  # the others bring their own threshold

# The measure, named as in an evaluation, the kind of the system's bias, and its ratios.
Scores = Mapping[tuple[str, str, str], float]


@dataclass(frozen=True, eq=False)
class Runs:
    """What every set of systems gave.

    Attributes
    ----------
    systems : tuple of (table, kind, ratios)
        In the order of the tables.
    values : dict of str to (n_seeds, n_systems) ndarray
        By measure, at `AT` where they need a threshold; infinite where not computable.
    elsewhere : dict of OperatingPoint to dict of str to (n_seeds, n_systems) ndarray
        The same at other operating points, of measures that need one and of the first seeds.
    sets : dict of (kind, factor) to tuple of Synthesis
        The data sets, one a seed.
    overall : Comparisons
        For the overall performance, of the first seed.
    """

    systems: tuple[tuple[str, str, str], ...]
    values: dict[str, Floats]
    elsewhere: dict[OperatingPoint, dict[str, Floats]]
    sets: dict[tuple[str, int], tuple[Synthesis, ...]]
    overall: Comparisons

    @property
    def n_seeds(self) -> int:
        """How many times the systems were made."""
        return len(self.values["fdr"])

    def of_seed(self, number: int) -> Scores:
        """Return the measures of one set of systems."""
        return {
            (name, kind, ratios): float(value)
            for name, found in self.values.items()
            for (_, kind, ratios), value in zip(self.systems, found[number], strict=True)
        }


def run(settings: Settings, **sizes: Any) -> Runs:
    """Make all systems once a seed and measure them; `sizes` are passed to `make_systems`."""
    seeds = np.random.SeedSequence(settings.seed).spawn(settings.n_seeds)
    found: dict[OperatingPoint, dict[str, list[list[float]]]] = {
        AT: {name: [] for name in COLUMNS},
        **{point: {name: [] for name in AT_A_POINT} for point in OTHER_POINTS},
    }
    sets: dict[tuple[str, int], list[Synthesis]] = {}
    first: list[tuple[str, BiasedSystem]] = []
    for number, seed in enumerate(seeds):
        if number % max(1, len(seeds) // 4) == 0:
            settings.tell(f"paper 1: systems {number + 1:,} to {len(seeds):,}")
        with warnings.catch_warnings():
            # The page shows how many sets reach their rate.
            warnings.simplefilter("ignore", TargetMissedWarning)
            made = make_systems(seed, **sizes)
        first = first or made
        systems = [system for _, system in made]
        for point, values in found.items():
            if point == AT or number < SEEDS_ELSEWHERE:
                _measure(systems, point, values)
        for kind, factor, one in _sets_of(systems):
            sets.setdefault((kind, factor), []).append(one)
    arrays = {
        point: {name: np.array(rows) for name, rows in values.items()}
        for point, values in found.items()
    }
    return Runs(
        tuple((table, system.kind, system.ratios) for table, system in first),
        arrays.pop(AT),
        arrays,
        {key: tuple(made) for key, made in sorted(sets.items())},
        first[0][1].overall,
    )


def _measure(
    systems: list[BiasedSystem], point: OperatingPoint, values: dict[str, list[list[float]]]
) -> None:
    """Add a row to the values of each measure."""
    functions = dict.fromkeys(
        measure.name for measure in map(measure_of, values) if measure is not None
    )
    measured = [one for system in systems for one in system.measures(point, list(functions))]
    for name, rows in values.items():
        found = np.array([one.estimate for one in measured if one.name == name])
        # What is not computable counts as the most bias there can be: the spread of infinite SEDs
        # is NaN.
        rows.append(np.where(np.isnan(found), np.inf, found).tolist())


def _sets_of(systems: list[BiasedSystem]) -> list[tuple[str, int, Synthesis]]:
    found = {}
    for system in systems:
        for factor, made in zip(system.ratios.split(":"), system.sets, strict=True):
            found[system.kind, int(factor)] = made
    return [(kind, factor, made) for (kind, factor), made in found.items()]


def equal_error_rates(sets: tuple[Synthesis, ...]) -> Floats:
    """Return the EER of each set."""
    return np.array([eer(made.comparisons()).value for made in sets])
