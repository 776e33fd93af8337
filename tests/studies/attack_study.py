"""Whether intervals and verdicts on IAPAR and RIAPAR hold: 13 species that imitate the same people,
some of whom are easily imitated, unequal numbers of attacks, and the largest of all species.

`python -m studies attack_study`, run in `tests/`, prints the table of the documentation. The
designs `HELD_OUT` were written down before anything was tried on them, and nothing was tuned on
them since.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from scipy.stats import norm, t

import fastfair as ff
from fastfair.evaluation.attacks import AttackRate

from .processes import chosen, coverage, study_parser
from .tables import percents, print_table

THRESHOLD = 2.0
N_SPECIES = 13
RESAMPLES = 200
COLUMNS = ("all", "species", "largest", "RIAPAR", "wrong met [*]", "wrong met", "met at twice")
_AT = ff.at_threshold(THRESHOLD)
_LAMBS = 1.5  # how much higher attacks on the easily imitated score
_STEPS = 20_000  # of the law of people, over which true rates are averaged


@dataclass(frozen=True)
class Design:
    """How people, species and attacks differ.

    Attributes
    ----------
    name : str
        What the table calls it.
    rates : tuple of float
        The lowest and the highest IAPAR of species of people of no kind; the others lie between.
    n_people : int
        How many are imitated.
    lambs : float
        The share of people who are easily imitated, by all species.
    spread : float
        The standard deviation of how easily others are.
    unequal : bool
        Whether people are imitated 1 to 11 times by a species, and by two thirds of the species, in
        place of 6 times by each.
    apart : float
        The standard deviation of how well a species imitates a person, beside what all do.
    tail : float
        Degrees of freedom of Student's t, in place of a normal law of how easily others are.
    alone : bool
        Whether all species but the last have the lowest rate.
    """

    name: str
    rates: tuple[float, float] = (0.02, 0.2)
    n_people: int = 60
    lambs: float = 0.05
    spread: float = 0.4
    unequal: bool = False
    apart: float = 0.0
    tail: float = np.inf
    alone: bool = False

    @property
    def means(self) -> np.ndarray:
        """(13,) mean scores of attacks of each species."""
        low, high = self.rates
        rates = np.linspace(low, low if self.alone else high, N_SPECIES)
        rates[-1] = high
        return THRESHOLD - norm.isf(rates)

    def draw(self, seed: int) -> ff.Comparisons:
        """Draw attacks on other people by the same species."""
        rng = np.random.default_rng([97, seed])
        n = self.n_people
        of_others = rng.normal(size=n) if np.isinf(self.tail) else rng.standard_t(self.tail, n)
        easy = self.spread * of_others + _LAMBS * (rng.random(n) < self.lambs)
        times = np.full((n, N_SPECIES), 6)
        if self.unequal:
            times = rng.integers(1, 12, (n, N_SPECIES)) * (rng.random((n, N_SPECIES)) < 2 / 3)
        person, species = (
            np.repeat(side.ravel(), times.ravel()) for side in np.indices(times.shape)
        )
        scores = self.means[species] + easy[person] + rng.normal(size=person.size)
        if self.apart:
            scores += self.apart * rng.normal(size=times.shape)[person, species]
        mated = np.repeat(np.arange(n), 6)
        of_mated = 3.4 + 0.5 * rng.normal(size=n)[mated] + rng.normal(size=mated.size)
        others = (mated + 1 + np.tile(np.arange(6), n)) % n
        c = ff.Comparisons(
            np.append(of_mated, rng.normal(size=mated.size)),
            np.repeat([True, False], mated.size),
            np.append(mated, mated),
            np.append(mated, others),
        )
        return ff.add_attacks(c, scores, [f"A{k:02}" for k in species], person)

    @cache  # noqa: B019 - of constants
    def truth(self) -> np.ndarray:
        """Return the (13,) IAPARs."""
        at = (np.arange(_STEPS) + 0.5) / _STEPS
        of_others = self.spread * t.ppf(at, self.tail)
        wide = np.hypot(1, self.apart)
        passed = [
            norm.sf((THRESHOLD - self.means[:, None] - of_others - more) / wide).mean(axis=1)
            for more in (0, _LAMBS)
        ]
        return np.asarray((1 - self.lambs) * passed[0] + self.lambs * passed[1])


DESIGNS = (
    Design("equal people", lambs=0, spread=0),
    Design("5 % lambs"),
    Design("5 % lambs, unequal", unequal=True),
    Design("5 % lambs, alike species", rates=(0.1, 0.1), unequal=True),
    Design("5 % lambs, rare", rates=(0.002, 0.02), n_people=100),
    Design("30 people", n_people=30, rates=(0.05, 0.3), unequal=True),
)
HELD_OUT = (
    Design("10 % lambs, Student's t", (0.03, 0.25), 40, lambs=0.1, spread=0.5, tail=4),
    Design("people by species", n_people=80, unequal=True, apart=0.7),
    Design("one high species", n_people=50, alone=True),
    Design("20 people", (0.1, 0.4), 20, lambs=0.1, unequal=True),
    Design("alike and rare species", (0.01, 0.01), 120, unequal=True),
    Design("15 % lambs, one high", (0.01, 0.15), 70, lambs=0.15, spread=0.2, apart=0.3, alone=True),
)
_FNMR = float(norm.cdf((THRESHOLD - 3.4) / np.hypot(1, 0.5)))


def look(design: Design, seed: int) -> Iterator[tuple[str, bool]]:
    """Yield whether intervals of a data set hold the truth, and verdicts are wrong."""
    c = design.draw(seed)
    truth = design.truth()
    rates = ff.evaluate_attacks(c, _AT, n_resamples=RESAMPLES, rng=seed)

    def holds(row: AttackRate, value: float) -> bool:
        return bool(row.low <= value <= row.high)

    yield "all", holds(rates.of("iapar"), float(truth.mean()))
    for name, value in zip(rates.species, truth.tolist(), strict=True):
        yield "species", holds(rates.of("iapar", name), value)
    yield "largest", holds(rates.largest, float(truth.max()))
    last = rates.species[-1]
    yield "RIAPAR", holds(rates.of("riapar", last), truth[-1] + _FNMR)
    lines = [
        f"iapar[*] <= {0.999 * truth[-1]}",
        f"iapar[{last}] <= {0.9989 * truth[-1]}",
        f"iapar[{last}] <= {2 * truth[-1]}",
    ]
    verdicts = ff.check(c, lines, _AT, n_resamples=RESAMPLES, rng=seed).verdicts
    for column, line in zip(COLUMNS[4:], lines, strict=True):
        yield column, verdicts[line] == "met"


def main() -> None:
    """Print how often intervals hold the truth, and verdicts are wrong."""
    asked = study_parser(main.__doc__, 500).parse_args()
    rows = (
        [
            design.name,
            *percents(
                coverage(partial(look, design), asked.data_sets, asked.processes, COLUMNS).values()
            ),
        ]
        for design in chosen((*DESIGNS, *HELD_OUT), asked.only)
    )
    print_table(["Attacks", *COLUMNS], rows)


if __name__ == "__main__":
    main()
