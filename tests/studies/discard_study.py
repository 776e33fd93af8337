"""How often the intervals of `discard_curve` hold the truth, in populations whose rates are known.

`python -m studies discard_study`, run in `tests/`, prints the table of the documentation.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

import fastfair as ff

from .populations import Floats
from .processes import coverage, study_parser
from .tables import percents, print_table

FRACTIONS = (0.0, 0.2, 0.5)
COLUMNS = (
    "rate, 0 %",
    "rate, 20 %",
    "rate, 50 %",
    "area",
    "of groups, 50 %",
    "area of groups",
    "share of groups",
)
_DRAWS = 2_000_000  # that stand for a population


@dataclass(frozen=True)
class Kind:
    """Subjects with samples whose quality, and scores, depend on the subject.

    A sample's quality is 0.7 u_k + 0.7 noise, and a comparison's the lower one of two. Mated scores
    are 3 - 0.5 b_k + 0.8 noise + 0.6 quality, non-mated ones of k and l 0.35 (a_k + a_l) + 0.85
    noise - 0.3 quality. Groups are alike.

    Attributes
    ----------
    sizes : tuple of int
        Numbers of subjects of the groups.
    threshold : float
        Where errors are counted; the quantile of mated scores that the FNMR is, for `errors`
        errors, where these are given.
    errors : float
        The expected number of errors before anything is discarded; 0 for the threshold named.
    attempts : int
        Mated comparisons of each subject.
    step : float
        Distance between possible values of quality; 0 without ties.
    skewed : bool
        Whether few subjects cause most errors.
    """

    sizes: tuple[int, ...] = (60, 60, 60)
    threshold: float = 1.5
    errors: float = 0
    attempts: int = 4
    step: float = 0.0
    skewed: bool = False

    def subjects(self, rng: np.random.Generator, n: int) -> tuple[Floats, Floats, Floats]:
        """Draw what subjects add to quality, to non-mated and to mated scores."""
        u, a, b = rng.normal(size=(3, n))
        return (
            (u, rng.exponential(size=n) - 1, rng.exponential(size=n) - 1)
            if self.skewed
            else (u, a, b)
        )

    def scored(
        self, rng: np.random.Generator, drawn: Sequence[Floats], k: Floats, i: Floats
    ) -> tuple[Floats, Floats]:
        """Return scores and quality: mated ones where k and i are the same, and non-mated ones
        elsewhere."""
        u, a, b = drawn
        quality = np.minimum(
            0.7 * u[k] + 0.7 * rng.normal(size=k.size), 0.7 * u[i] + 0.7 * rng.normal(size=k.size)
        )
        if self.step:
            quality = np.floor(quality / self.step) * self.step
        noise = rng.normal(size=k.size)
        mated = 3 - 0.5 * b[k] + 0.8 * noise + 0.6 * quality
        return np.where(k == i, mated, 0.35 * (a[k] + a[i]) + 0.85 * noise - 0.3 * quality), quality

    def draw(self, seed: int) -> tuple[ff.Comparisons, Floats]:
        """Draw comparisons: mated attempts, and all pairs of subjects of a group; and their
        quality."""
        rng = np.random.default_rng([seed, 5])
        group = np.repeat(np.arange(len(self.sizes)), self.sizes)
        first, second = np.triu_indices(group.size, 1)
        inside = group[first] == group[second]
        own = np.repeat(np.arange(group.size), self.attempts)
        k, i = np.concatenate((own, first[inside])), np.concatenate((own, second[inside]))
        scores, quality = self.scored(rng, self.subjects(rng, group.size), k, i)
        return ff.Comparisons(scores, k == i, k, i, group[k], group[i]), quality


@functools.cache
def _population(kind: Kind, mated: bool) -> tuple[Floats, Floats]:
    """Return scores and quality of very many comparisons that share no subjects."""
    rng = np.random.default_rng(1)
    k = np.arange(_DRAWS)
    return kind.scored(rng, kind.subjects(rng, 2 * _DRAWS), k, k if mated else k + _DRAWS)


@functools.cache
def threshold(kind: Kind, rate: str) -> float:
    """Return the threshold at which errors are counted."""
    if not kind.errors:
        return kind.threshold
    scores = _population(kind, rate == "fnmr")[0]
    n = sum(size * (kind.attempts if rate == "fnmr" else (size - 1) / 2) for size in kind.sizes)
    share = kind.errors / n
    return float(np.quantile(scores, share if rate == "fnmr" else 1 - share))


@functools.cache
def _ordered(kind: Kind, rate: str) -> tuple[Floats, Floats]:
    """Return the quality of a population, ascending, and the number of errors of at least each."""
    scores, quality = _population(kind, rate == "fnmr")
    order = np.argsort(quality)
    wrong = (scores < threshold(kind, rate)) == (rate == "fnmr")
    return quality[order], np.append(np.cumsum(wrong[order][::-1])[::-1], 0)


def truth(kind: Kind, rate: str, cut: float) -> tuple[float, float]:
    """Return the rate of comparisons of at least a quality, and the share of the others."""
    quality, errors = _ordered(kind, rate)
    below = int(np.searchsorted(quality, cut))
    return errors[below] / (quality.size - below), below / quality.size


@functools.cache
def true_area(kind: Kind, rate: str) -> float:
    """Return the area under the population's curve."""
    quality, errors = _ordered(kind, rate)
    below = np.searchsorted(quality, quality[: int(FRACTIONS[-1] * quality.size)])  # whole ties
    return float((errors[below] / (quality.size - below)).sum() / quality.size)


def _look(kind: Kind, rate: str, seed: int) -> Iterable[tuple[str, bool]]:
    """Yield for each interval what it is of, and whether it holds the truth."""
    c, quality = kind.draw(seed)
    curve = ff.discard_curve(
        c, ff.at_threshold(threshold(kind, rate)), quality, rate=rate, fractions=FRACTIONS
    )
    for row in curve.rates:
        expected, below = truth(kind, rate, row.cut)
        name = "rate, " if row.group is None else "of groups, "
        yield f"{name}{100 * row.fraction:g} %", row.low <= expected <= row.high
        if row.group is not None and row.fraction:
            yield "share of groups", row.discarded_low <= below <= row.discarded_high
    for area in curve.areas:
        yield (
            "area" if area.group is None else "area of groups",
            area.low <= true_area(kind, rate) <= area.high,
        )


KINDS = {
    "three groups of 60": Kind(),
    "6 errors in all": Kind(errors=6),
    "quality from 1 to 5": Kind(step=0.7),
    "groups of 20 to 150": Kind((20, 50, 150)),
    "skewed subjects": Kind((100, 100, 100), skewed=True),
}


def study(name: str, rate: str, n_data_sets: int, processes: int | None = 1) -> dict[str, float]:
    """Return the coverage of each of `COLUMNS`; data set r has seed r."""
    return coverage(functools.partial(_look, KINDS[name], rate), n_data_sets, processes, COLUMNS)


def main() -> None:
    """Print the table."""
    asked = study_parser(main.__doc__, 1000, named=False).parse_args()
    rows = (
        [
            name,
            rate.upper(),
            *percents(study(name, rate, asked.data_sets, asked.processes).values()),
        ]
        for name in KINDS
        for rate in ("fnmr", "fmr")
    )
    print_table(["Population", "Rate", *COLUMNS], rows, 2)
