"""How often `error_model` finds effects of ages that have none, as people share them, and those
that are there.

`python -m studies covariate_study`, run in `tests/`, prints the tables of the documentation.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace

import numpy as np

import fastfair as ff

from .processes import chosen, shares, study_parser
from .tables import percents, print_table

ALPHA = 0.05
LOOKS = ("mean", "difference", "mean curve", "difference curve", "band", "naive", "interval")
NUMBERS = ("mean", "difference")


@dataclass(frozen=True)
class Ages:
    """Subjects with an age, whose errors follow a logit with an effect of each subject.

    A score is the log odds of an error plus logistic noise, and an error is a score above 0 (of
    mated comparisons, below 0).

    Attributes
    ----------
    name : str
        What is peculiar about them.
    n_subjects : int
        How many there are.
    effect : float
        Standard deviation of the subjects' log odds.
    goats : float
        Share of the subjects whose log odds are 2.5 higher.
    is_skewed : bool
        Whether most are young, and few are old.
    comparisons : tuple of int
        The least and the most non-mated comparisons, and attempts, that a subject begins; between
        them they are uniform on a logarithmic scale.
    years : int
        How many years a subject's age varies by from comparison to comparison.
    slope : float
        What a year of difference adds to log odds, and a year of the mean.
    """

    name: str
    n_subjects: int = 200
    effect: float = 0.9
    goats: float = 0.0
    is_skewed: bool = False
    comparisons: tuple[int, int] = (40, 40)
    years: int = 10
    slope: float = 0.0

    def draw(self, rng: np.random.Generator, rate: str, share: float) -> ff.Comparisons:
        """Draw subjects and scores; a share of the comparisons are errors at the threshold 0."""
        n = self.n_subjects
        quantile = rng.random(n)
        born = 18 + 52 * (quantile**4 if self.is_skewed else quantile)
        of_subject = self.effect * rng.normal(size=n) + 2.5 * (rng.random(n) < self.goats)
        low, high = np.log(self.comparisons[0]), np.log(self.comparisons[1] + 0.999)
        begun = np.exp(rng.uniform(low, high, n)).astype(int)
        i = np.repeat(np.arange(n), begun)
        j = (i + rng.integers(1, n, i.size)) % n
        k = np.repeat(np.arange(n), np.maximum(begun // 4, 1))
        first, second = np.append(k, i), np.append(k, j)
        ages = [
            np.floor(born[side]).astype(int) + rng.integers(0, self.years + 1, side.size)
            for side in (first, second)
        ]
        gap = np.abs(ages[0] - ages[1])
        odds = self.slope * (gap + (ages[0] + ages[1]) / 2) + of_subject[first]
        is_mated = np.arange(first.size) < k.size
        odds = odds + np.where(is_mated, 0.0, of_subject[second]) + rng.logistic(size=first.size)
        asked = is_mated if rate == "fnmr" else ~is_mated
        odds -= np.quantile(odds[asked], 1 - share)
        scores = np.where(is_mated, -odds, odds)
        return ff.Comparisons(scores, is_mated, first, second, *({"age": side} for side in ages))


PLACEBO = (
    Ages("as many of each"),
    Ages("independent comparisons", effect=0.0),
    Ages("3 % goats", goats=0.03),
    Ages("1 to 150 comparisons", comparisons=(1, 150)),
    Ages("few are old", is_skewed=True),
    Ages("goats, few old, 1 to 150", goats=0.03, is_skewed=True, comparisons=(1, 150)),
    Ages("ages of people, 60 subjects", n_subjects=60, years=0, comparisons=(60, 60)),
)
POINTS = {"FMR 0.01": ("fmr", 0.01), "FNMR 0.05": ("fnmr", 0.05)}


def _look(ages: Ages, name: str, seed: int) -> list[float]:
    rate, share = POINTS[name]
    c = ages.draw(np.random.default_rng([seed, len(ages.name)]), rate, share)
    at = ff.at_threshold(0.0)
    measures = NUMBERS if rate == "fmr" or ages.years else NUMBERS[:1]
    asked = {"age": ",".join(measures)}
    straight, naive = (
        ff.error_model(c, [], at, rate=rate, linear=asked, unit=unit)
        for unit in ("subject", "comparison")
    )
    curved = ff.error_model(c, [], at, rate=rate, spline=asked)
    of_lines, of_curves = (
        {test.covariate: test.pvalue for test in model.tests} for model in (straight, curved)
    )
    bands = [
        any(low > 1 or high < 1 for low, high in zip(curve.low, curve.high, strict=True))
        for curve in curved.curves
        if curve.covariate == measures[-1]
    ]
    effect = straight.effects[-1]
    true = math.exp(ages.slope)
    return [
        *(_found(of_lines.get(measure, math.nan)) for measure in NUMBERS),
        *(_found(of_curves.get(measure, math.nan)) for measure in NUMBERS),
        float(any(bands)),
        float(naive.effects[0].pvalue <= ALPHA),
        math.nan if math.isnan(effect.low) else float(effect.low <= true <= effect.high),
    ]


def _found(pvalue: float) -> float:
    return math.nan if math.isnan(pvalue) else float(pvalue <= ALPHA)


def study(ages: Ages, name: str, n_data_sets: int, processes: int | None = 1) -> dict[str, float]:
    """Return the share of data sets in which each of `LOOKS` is found.

    "mean" and "difference" are effects of straight lines, "curve" tests of splines, and "band" a
    band of the last that leaves out 1. "naive" is the mean where all comparisons are taken for
    independent. "interval" are those that hold the true odds ratio of the last number.
    """
    return shares(LOOKS, functools.partial(_look, ages, name), n_data_sets, processes)


def main() -> None:
    """Print the tables."""
    parser = study_parser(main.__doc__, 400)
    parser.add_argument("--slopes", nargs="*", type=float, default=(0.0, 0.02))
    asked = parser.parse_args()
    for slope in asked.slopes:
        print(f"\nA year adds {slope:g} to log odds\n")
        rows = (
            [ages.name, name, *percents(found.values())]
            for ages in chosen(PLACEBO, asked.only)
            for name in POINTS
            for found in [study(replace(ages, slope=slope), name, asked.data_sets, asked.processes)]
        )
        print_table(["Population", "At", *LOOKS], rows, 2)
