"""Whether intervals and verdicts on FRR and FAR of transactions hold: people who fail often,
attempts of a transaction that are alike, and unequal numbers of transactions and attempts.

`python -m studies transaction_study`, run in `tests/`, prints the table of the documentation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.stats import norm

import fastfair as ff

from .processes import chosen, coverage, study_parser
from .tables import percents, print_table

THRESHOLD = 2.3
ALLOWED = 3
N_PARTNERS = 8  # other people whose reference each person tries
RESAMPLES = 400
COLUMNS = ("FRR", "FRR of groups", "FAR", "wrong met FRR", "wrong met FAR", "FRR met at twice")
MEAN, SPREAD, LOWER = 3.1, 0.4, 2.0  # of mated levels of people, and how much lower goats' are
EASY = 0.3  # standard deviation of what a person adds to non-mated scores
_AT = ff.at_threshold(THRESHOLD)


@dataclass(frozen=True)
class Design:
    """How people and transactions differ.

    Attributes
    ----------
    name : str
        What the table calls it.
    n_people : int
        How many there are, in two groups.
    goats : float
        The share of people whose scores are lower by 2.
    alike : float
        The standard deviation of what the attempts of a transaction share.
    unequal : bool
        Whether people have one to nine transactions of one to three attempts, in place of four of
        three.
    """

    name: str
    n_people: int = 100
    goats: float = 0.0
    alike: float = 0.0
    unequal: bool = False

    def people(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """Return the level of the mated scores of each of n people."""
        return MEAN + SPREAD * rng.normal(size=n) - LOWER * (rng.random(n) < self.goats)

    def attempts(self, rng: np.random.Generator, level: np.ndarray) -> np.ndarray:
        """Return (t, 3) scores of transactions, NaN for attempts that were not made."""
        noise = rng.normal(size=(level.size, ALLOWED))
        shared = self.alike * rng.normal(size=(level.size, 1))
        scores = level[:, None] + shared + noise
        if self.unequal:
            n_made = rng.integers(1, ALLOWED + 1, level.size)
            scores[np.arange(ALLOWED) >= n_made[:, None]] = np.nan
        return scores

    def draw(self, seed: int) -> ff.Comparisons:
        """Draw the transactions of other people."""
        rng = np.random.default_rng([83, seed])
        n = self.n_people
        mated_level = self.people(rng, n)
        easy = EASY * rng.normal(size=n)
        each = rng.integers(1, 10, n) if self.unequal else np.full(n, 4)
        mated = np.repeat(np.arange(n), each)
        reference = np.repeat(np.arange(n), N_PARTNERS)
        others = (reference + np.tile(np.arange(1, N_PARTNERS + 1) * 2, n)) % n
        level = np.append(mated_level[mated], easy[reference] + easy[others])
        scores = self.attempts(rng, level)
        made = ~np.isnan(scores)
        number = np.repeat(np.arange(level.size), made.sum(axis=1))
        sides = np.append(mated, reference)[number], np.append(mated, others)[number]
        groups = (np.array(["f", "m"])[side % 2] for side in sides)
        c = ff.Comparisons(scores[made], number < mated.size, *sides, *groups)
        return ff.transactions(c, ALLOWED, transaction=number)

    def truth(self) -> tuple[float, float]:
        """Return FRR and FAR: what one attempt is beyond, to the power of attempts, over levels."""
        numbers = range(1, ALLOWED + 1) if self.unequal else (ALLOWED,)
        places = norm.ppf((np.arange(20_000) + 0.5) / 20_000)

        def rejected(mean: float, spread: float) -> float:
            below = norm.cdf(THRESHOLD - mean - np.hypot(spread, self.alike) * places)
            return float(np.mean([np.mean(below**number) for number in numbers]))

        kinds = (1 - self.goats, 0.0), (self.goats, LOWER)
        frr = sum(share * rejected(MEAN - lower, SPREAD) for share, lower in kinds)
        return frr, 1 - rejected(0.0, EASY * np.sqrt(2))


DESIGNS = (
    Design("equal people"),
    Design("5 % goats", goats=0.05),
    Design("5 % goats, alike attempts", goats=0.05, alike=0.7),
    Design("5 % goats, unequal", goats=0.05, alike=0.5, unequal=True),
    Design("30 people, unequal", n_people=30, goats=0.05, unequal=True),
)


def look(design: Design, seed: int) -> Iterator[tuple[str, bool]]:
    """Yield whether intervals of a data set hold the truth, and verdicts are wrong."""
    t = design.draw(seed)
    frr, far = design.truth()
    rates = ff.evaluate_transactions(t, _AT)
    for name, truth, groups in (("frr", frr, (None, "f", "m")), ("far", far, (None,))):
        for group in groups:
            row = rates.of(name, group)[-1]
            column = name.upper() + (" of groups" if group else "")
            yield column, bool(row.low <= truth <= row.high)
    lines = [f"frr <= {0.999 * frr}", f"far <= {0.999 * far}", f"frr <= {2 * frr}"]
    verdicts = ff.check(t, lines, _AT, n_resamples=RESAMPLES, rng=seed).verdicts
    for column, line in zip(COLUMNS[3:], lines, strict=True):
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
        for design in chosen(DESIGNS, asked.only)
    )
    print_table(["Transactions", *COLUMNS], rows)


if __name__ == "__main__":
    main()
