"""How often `error_model` finds effects that are not there, and those that are, on data whose odds
ratios are known.

`python -m studies error_model_study`, run in `tests/`, prints the tables of the documentation.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq

import fastfair as ff

from .populations import compared
from .processes import chosen, shares, study_parser
from .tables import percents, print_table

ALPHA = 0.05
LOOKS = ("value", "different", "attribute", "naive", "contradiction", "unknown", "interval")
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(61)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


@dataclass(frozen=True)
class Faces:
    """Subjects of two genders and three regions, whose errors follow a logit with an effect of each
    subject.

    A score is the log odds of an error plus logistic noise, and an error is a score above 0 (of
    mated comparisons, below 0), so that odds ratios are what they are set to; subjects change them
    little where errors are rare.

    Attributes
    ----------
    name : str
        What is peculiar about them.
    n_subjects : int
        How many there are.
    shares : tuple of float
        The share of women in each region; regions are equally large.
    effect : float
        Standard deviation of the subjects' log odds. Errors that share a subject then have the
        relative covariance exp(effect ** 2) - 1, which is 0.7 to 1.8 in VoxCeleb1-H.
    regions : tuple of float
        Odds ratios of two of each region over two of the first.
    within : bool
        Whether only subjects of the same gender and region are compared.
    pairs : int or None
        Number of non-mated comparisons for each subject, of random pairs, each made twice; None for
        all pairs, once.
    attempts : int
        Mated comparisons of each subject.
    odds_ratio : float
        Of two women over two men, and of a woman over a man in mated comparisons.
    """

    name: str
    n_subjects: int = 300
    shares: tuple[float, ...] = (0.5, 0.5, 0.5)
    effect: float = 0.9
    regions: tuple[float, ...] = (1.0, 1.5, 2.0)
    within: bool = False
    pairs: int | None = None
    attempts: int = 10
    odds_ratio: float = 1.0

    def draw(self, rng: np.random.Generator, fmr: float, fnmr: float) -> ff.Comparisons:
        """Draw subjects and scores; at a threshold of 0 rates are about those asked for."""
        n = self.n_subjects
        region = np.arange(n) % len(self.shares)
        woman = (
            np.arange(n) // len(self.shares) / (n / len(self.shares))
            < np.array(self.shares)[region]
        )
        fixed = woman * math.log(self.odds_ratio) + np.log(self.regions)[region]
        i, j = self._pairs(rng)
        if self.within:
            kept = (woman[i] == woman[j]) & (region[i] == region[j])
            i, j = i[kept], j[kept]
        k = np.repeat(np.arange(n), self.attempts)
        a, b = self.effect * rng.normal(size=(2, n))
        nonmated = (fixed[i] + fixed[j]) / 2
        nonmated += _base(nonmated, math.sqrt(2) * self.effect, fmr) + a[i] + a[j]
        mated = fixed[k]
        mated = mated + _base(mated, self.effect, fnmr) + b[k]
        labels = {"gender": woman.astype(int), "region": region}  # numbers, as text takes longer
        return compared(
            -mated - rng.logistic(size=k.size),
            nonmated + rng.logistic(size=i.size),
            k,
            i,
            j,
            labels,
        )

    def _pairs(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        if self.pairs is None:
            return np.triu_indices(self.n_subjects, 1)
        i = np.repeat(np.arange(self.n_subjects), self.pairs)
        j = (i + rng.integers(1, self.n_subjects, i.size)) % self.n_subjects
        return np.tile(i, 2), np.tile(j, 2)


def _base(fixed: np.ndarray, spread: float, rate: float) -> float:
    """Return what log odds must have in common for the mean chance of an error to be a rate."""
    values, counts = np.unique(fixed, return_counts=True)
    log_odds = np.add.outer(values, spread * _NODES)

    def mean(base: float) -> float:
        return float(counts @ (1 / (1 + np.exp(-base - log_odds))) @ _WEIGHTS / counts.sum())

    return float(brentq(lambda base: mean(base) - rate, -40, 10))


PLACEBO = (
    Faces("as many of each, all pairs"),
    Faces("independent comparisons", effect=0.0),
    Faces("strong subjects", effect=1.3),
    Faces("a tenth are women", shares=(0.1, 0.1, 0.1)),
    Faces("gender and region go together", shares=(0.8, 0.5, 0.2), regions=(1.0, 2.0, 4.0)),
    Faces("compared inside groups", within=True, n_subjects=600),
    Faces("random trials, made twice", pairs=30, n_subjects=600),
    Faces("80 subjects", n_subjects=80),
)
POINTS = {
    "FMR 0.01": ("fmr", 0.01, ff.at_fmr(0.01)),
    "FMR 0.001": ("fmr", 0.001, ff.at_fmr(0.001)),
    "FNMR 0.05": ("fnmr", 0.05, ff.at_threshold(0.0)),
}
RATIOS = (1.5, 2.0)


def _look(faces: Faces, name: str, seed: int) -> list[float]:
    """Look at gender in a model of gender and region; see `study`."""
    rate, value, at = POINTS[name]
    rates = {"fmr": 0.01, "fnmr": 0.05} | {rate: value}
    c = faces.draw(np.random.default_rng([seed, len(faces.name)]), **rates)
    model, naive = (
        ff.error_model(c, ["gender", "region"], at, rate=rate, baseline={"gender": "0"}, unit=unit)
        for unit in ("subject", "comparison")
    )
    of_value, *others = (effect for effect in model.effects if effect.attribute == "gender")
    return [
        of_value.pvalue <= ALPHA,
        others[0].pvalue <= ALPHA if others else math.nan,
        model.tests[0].pvalue <= ALPHA,
        naive.effects[0].pvalue <= ALPHA,
        bool(model.contradictions),
        math.isnan(of_value.odds_ratio),
        math.nan if math.isnan(of_value.low) else of_value.low <= faces.odds_ratio <= of_value.high,
    ]


def study(faces: Faces, name: str, n_data_sets: int, processes: int | None = 1) -> dict[str, float]:
    """Return the share of data sets in which each of `LOOKS` is found.

    "value", "different" and "attribute" are those in which the effects of gender are found, and
    "naive" is the first of these where all comparisons are taken for independent. Then: those with
    a contradiction between margin and strata, those in which the effect is not known, and of the
    others those in which the interval holds the true odds ratio.
    """
    return shares(LOOKS, functools.partial(_look, faces, name), n_data_sets, processes)


def main() -> None:
    """Print the tables."""
    parser = study_parser(main.__doc__, 1000)
    parser.add_argument("--ratios", nargs="*", type=float, default=(1.0, *RATIOS))
    asked = parser.parse_args()
    for ratio in asked.ratios:
        print(f"\nOdds ratio {ratio:g}\n")
        rows = (
            [faces.name, name, *percents(found.values())]
            for faces in chosen(PLACEBO, asked.only)
            for name in POINTS
            for found in [
                study(replace(faces, odds_ratio=ratio), name, asked.data_sets, asked.processes)
            ]
        )
        print_table(["Population", "At", *LOOKS], rows, 2)
