"""How often measures of fair systems seem unfair where few people fail most attempts, and those of
unfair ones do.

A few people, 5 % of each group, fail three of four attempts; all others fail one in twenty. People
have 1, 2 or 20 attempts. In unfair systems the last group has several times these shares.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

import fastfair as ff
from fastfair.evaluation.chapter import judged_measures
from fastfair.measures._registry import measure_of
from fastfair.uncertainty.notes import Flag, has_flag
from fastfair.uncertainty.quantities import Quantity

from .populations import compared
from .processes import shares, study_parser
from .tables import percents, print_table

AT = ff.at_threshold(1.65)
ATTEMPTS = (1, 2, 20)
MEASURED = ("std(fnmr)", "std(eer)", "fdr", "gini(fnmr)", "garbe", "max_geomean_ratio(fnmr)")
ANY = "called different"  # by a page, of any measure
COLUMNS = (*MEASURED, *(f"{name}, not flagged" for name in MEASURED), ANY)


@dataclass(frozen=True)
class Setting:
    """Sizes of groups, and by how much the last one fails more often than all others."""

    name: str
    sizes: tuple[int, ...]
    times: float = 1.0

    def draw(self, rng: np.random.Generator) -> ff.Comparisons:
        """Draw people and the scores of their comparisons."""
        sizes = np.array(self.sizes)
        group = np.repeat(np.arange(sizes.size), sizes)
        times = np.where(group == sizes.size - 1, self.times, 1.0)
        share = np.where(rng.random(group.size) < 0.05 * times, 0.75, np.minimum(0.05 * times, 0.9))
        k = np.repeat(
            np.arange(group.size), rng.choice(ATTEMPTS, p=[0.4, 0.4, 0.2], size=group.size)
        )
        first = np.cumsum(sizes) - sizes
        of_group = np.repeat(np.arange(sizes.size), 200)
        i = rng.integers(0, sizes[of_group])
        j = first[of_group] + (i + rng.integers(1, sizes[of_group])) % sizes[of_group]
        mated = AT.value - ndtri(share[k]) + rng.normal(size=k.size)
        return compared(mated, rng.normal(size=i.size), k, first[of_group] + i, j, group)


FAIR = (
    Setting("18 groups of 12 to 120", (12,) * 6 + (20,) * 6 + (40,) * 3 + (60, 120, 120)),
    Setting("4 groups of 15", (15,) * 4),
    Setting("400, 40, 20 and 12", (400, 40, 20, 12)),
    Setting("3 groups of 60", (60,) * 3),
    Setting("8 groups of 40", (40,) * 8),
)
UNFAIR = (
    Setting("400, 40, 20 and 12, the last fails 4 times as often", (400, 40, 20, 12), 4),
    Setting("12, 20, 40 and 400, the last fails 3 times as often", (12, 20, 40, 400), 3),
    Setting("8 groups of 40, one fails 4 times as often", (40,) * 8, 4),
)


def _outside(setting: Setting, n_resamples: int, seed: int) -> list[float]:
    """Tell which intervals leave the fair value out, which of them without a flag, and whether a
    page says so."""
    found = ff.evaluate(
        setting.draw(np.random.default_rng([seed, 11])), AT, n_resamples=n_resamples, rng=seed
    )
    outside = [_is_outside(found.quantity(name)) for name in MEASURED]
    flagged = [has_flag(found.quantity(name), Flag.NARROW) for name in MEASURED]
    unflagged = [leaves and not flag for leaves, flag in zip(outside, flagged, strict=True)]
    return [*outside, *unflagged, any(one.differs == "yes" for one in judged_measures(found))]


def _is_outside(one: Quantity) -> bool:
    measure = measure_of(one.name)
    if measure is None or one.low is None or one.high is None or math.isnan(one.low):
        return False
    return not one.low - 1e-9 <= measure.fair_value <= one.high + 1e-9


def study(
    setting: Setting, n_data_sets: int, n_resamples: int = 400, processes: int | None = None
) -> dict[str, float]:
    """Return the shares of data sets in which a measure leaves the fair value out, and a page calls
    any different."""
    return shares(
        COLUMNS, functools.partial(_outside, setting, n_resamples), n_data_sets, processes
    )


def main() -> None:
    """Print the table."""
    asked = study_parser(main.__doc__, 150, named=False).parse_args()
    rows = (
        [
            setting.name,
            *percents(study(setting, asked.data_sets, processes=asked.processes).values()),
        ]
        for setting in (*FAIR, *UNFAIR)
    )
    print_table(["Groups", *COLUMNS], rows)


if __name__ == "__main__":
    main()
