"""How often `fmr_test` and `fnmr_test` find differences among groups that are alike, and where there is one.

`python -m studies fair_groups_study`, run in `tests/`, prints the tables of the documentation;
`test_fair_groups_study.py` checks what they say.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

import fastfair as ff

from . import tables
from .populations import Population
from .processes import over_data_sets, study_parser

Shares = NDArray[np.float64]

ALPHA = 0.05
RESAMPLES = 500  # so that 25 of 501 are just below ALPHA
TIMES = 2  # as many false matches have the groups that differ
FNMR = 0.1
DECISIONS = (
    "deviance", "named", "others named", "deviating named", "F", "F of FNMR", "named by FNMR",
    "outside the margin of FNMR",
)  # fmt: skip
_EIGHT = (15, 20, 30, 50, 80, 300, 800, 150)
_ELEVEN = (20, 20, 20, 30, 30, 40, 40, 60, 60, 80, 80)


@dataclass(frozen=True)
class Setting:
    """A population and the FMR at which it is tested."""

    population: Population
    fmr: float

    @property
    def deviating(self) -> int:
        """How many groups differ where some do."""
        return 2 if len(self.population.sizes) > 3 else 1

    @cached_property
    def threshold(self) -> float:
        """The threshold at which groups that are alike have the FMR."""
        return self.population.threshold(self.fmr)

    @cached_property
    def unfair(self) -> Population:
        """The population whose last groups differ."""
        return self.population.unfair(TIMES, self.threshold, self.deviating)

    def decide(self, alike: bool, seed: int) -> list[bool]:
        """Draw a data set and say what is found in it, by `DECISIONS`."""
        population = self.population if alike else self.unfair
        rng = np.random.default_rng([seed, zlib.crc32(repr(population).encode())])
        c, at = population.draw(rng), ff.at_threshold(self.threshold)
        shared = {"n_resamples": RESAMPLES, "rng": seed, "n_threads": 1}
        test, old = (ff.fmr_test(c, at, statistic=name, **shared) for name in ("deviance", "f"))
        fair = set(test.groups if alike else test.groups[: -self.deviating])
        named = set(test.different)
        found = [test.pvalue < ALPHA, bool(named), bool(named & fair), bool(named - fair), old.pvalue < ALPHA]
        if alike:
            of_fnmr = ff.fnmr_test(c, ff.at_fnmr(FNMR), **shared)
            margin = ff.margin_of_error(c, ff.at_fnmr(FNMR), **shared)
            found += [of_fnmr.pvalue < ALPHA, bool(of_fnmr.different), bool(margin.outside)]
        return found


SETTINGS = (
    Setting(Population("3 groups of 60"), 0.01),
    Setting(Population("8 groups of 40, 4 false matches each", (40,) * 8), 0.005),
    Setting(Population("11 groups of 20 to 80, from 1 false match", _ELEVEN), 0.005),
    Setting(Population("8-bit scores", (60,) * 8, step=1 / 16), 0.01),
    Setting(Population("8 groups of 15 to 800, 1 to 100 comparisons each", _EIGHT, pairs=(1, 100)), 0.002),
    Setting(Population("random pairs, twice", (150,) * 3, pairs=20, repeats=2, likeness=0.5), 0.005),
    Setting(Population("random pairs, 8 times", (60,) * 8, pairs=(1, 20), repeats=8, likeness=0.6), 0.003),
    Setting(Population("pairs of 5 to 40 subjects, 30 times", (5, 10, 20, 40), repeats=30, likeness=0.6), 0.002),
    Setting(Population("strong subjects", (60,) * 3, effect=0.7), 0.01),
    Setting(Population("skewed subjects", (100,) * 3, effect=0.6, skewed=True), 0.005),
    Setting(Population("heavy-tailed subjects, 11 groups", (50,) * 11, effect=0.6, heavy=True), 0.005),
)


def study(settings: Sequence[Setting], n_data_sets: int, *, alike: bool, processes: int | None = None) -> list[Shares]:
    """Draw data sets of each setting and find the share of them in which each of `DECISIONS` finds something.

    Parameters
    ----------
    settings : sequence of Setting
        What is simulated.
    n_data_sets : int
        How many of each; data set r has seed r.
    alike : bool
        Whether all groups are alike; else the last ones have more false matches, and FNMRs are not tested.
    processes : int, optional
        All processors by default.

    Returns
    -------
    list of (decisions,) ndarray
        Of each setting.
    """
    looks = [partial(setting.decide, alike) for setting in settings]
    return list(np.mean(over_data_sets(looks, n_data_sets, processes), axis=1))


def table(settings: Sequence[Setting], null: Sequence[Shares], power: Sequence[Shares]) -> str:
    """Lay out shares in per cent: of fair systems, and of those with groups that differ."""
    heads = ["Population", "FMR", *DECISIONS[:2], *DECISIONS[4:]]
    heads += ["power: deviance", "F", "deviating named", "others named"]
    rows = []
    for setting, fair, unfair in zip(settings, null, power, strict=True):
        shares = [*fair[:2], *fair[4:], unfair[0], unfair[4], unfair[3], unfair[2]]
        rows.append([setting.population.name, f"{setting.fmr:g}", *tables.percents(shares)])
    return tables.table(heads, rows)


def main() -> None:
    """Print the table."""
    asked = study_parser(main.__doc__, 1000, named=False).parse_args()
    for setting in SETTINGS:
        found = [study([setting], asked.data_sets, alike=alike, processes=asked.processes) for alike in (True, False)]
        print(table([setting], *found).splitlines()[-1], flush=True)
