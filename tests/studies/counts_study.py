"""How often intervals of counted rates hold the truth, and claims that are just wrong are supported.

`python -m studies counts_study`, run in `tests/`, prints the table. The populations were chosen
before anything was tried on them: goats who fail half of their attempts, people as different as a
logit-normal law makes them, people who try until they succeed, pairs of people some of whom
resemble many, and totals of independent attempts.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

import fastfair as ff

from .processes import study_parser
from .tables import percents, print_table

RESAMPLES = 200
COLUMNS = ("holds", "wrongly supported", "supported at twice the truth")


@dataclass(frozen=True)
class Counted:
    """A population whose failures are counted.

    Attributes
    ----------
    name : str
        What it is called.
    rate : str
        The rate that is counted.
    draw : callable
        Draws the counts of a study.
    truth : float
        The rate of the population.
    """

    name: str
    rate: str
    draw: Callable[[np.random.Generator], ff.FailureCounts]
    truth: float


def _goats(n: int) -> Counted:
    """5 % of people fail half of their attempts, the others 3 %; one to eight attempts."""

    def draw(rng: np.random.Generator) -> ff.FailureCounts:
        chance = np.where(rng.random(n) < 0.05, 0.5, 0.03)
        attempts = rng.integers(1, 9, n)
        return ff.FailureCounts(rng.binomial(attempts, chance), attempts, rate="frr")

    return Counted(f"goats, {n} people", "frr", draw, 0.05 * 0.5 + 0.95 * 0.03)


def _unlike(n: int) -> Counted:
    """Log odds of failing vary with a standard deviation of 1.2; six attempts."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    truth = float(weights @ expit(-2.6 + 1.2 * nodes) / weights.sum())

    def draw(rng: np.random.Generator) -> ff.FailureCounts:
        chance = expit(-2.6 + 1.2 * rng.normal(size=n))
        return ff.FailureCounts(rng.binomial(6, chance), np.full(n, 6), rate="bpcer")

    return Counted(f"unlike people, {n}", "bpcer", draw, truth)


def _until(n: int) -> Counted:
    """People try until they succeed, at most five times: who fails more tries more often."""
    low, high = 0.05, 0.4  # of 85 and 15 % of people
    tries = np.arange(5)
    per_person = {p: (p ** (1 + tries)).sum() / (p**tries).sum() for p in (low, high)}
    attempts_of = {p: (p**tries).sum() for p in (low, high)}
    share = np.array([0.85, 0.15]) * [attempts_of[low], attempts_of[high]]
    truth = float(share @ [per_person[low], per_person[high]] / share.sum())

    def draw(rng: np.random.Generator) -> ff.FailureCounts:
        chance = np.where(rng.random(n) < 0.15, high, low)
        failed = rng.random((n, 5)) < chance[:, None]
        failures = np.cumprod(failed, axis=1).sum(axis=1)
        return ff.FailureCounts(failures, np.minimum(failures + 1, 5), rate="fta")

    return Counted(f"until they succeed, {n} people", "fta", draw, truth)


def _wolves(n: int, spread: float = 0.5) -> Counted:
    """Each person is compared with 12 others, three times; chances are products of both sides."""
    base = 0.02

    def draw(rng: np.random.Generator) -> ff.FailureCounts:
        effect = np.exp(spread * rng.normal(size=n))
        first = np.repeat(np.arange(n), 12)
        second = (first + rng.integers(1, n, first.size)) % n
        chance = np.minimum(base * effect[first] * effect[second], 1)
        attempts = np.full(first.size, 3)
        return ff.FailureCounts(
            rng.binomial(attempts, chance),
            attempts,
            rate="fmr",
            subject=first,
            other_subject=second,
        )

    return Counted(f"pairs, {n} people", "fmr", draw, base * np.exp(spread**2))


def _totals(n: int) -> Counted:
    """Independent attempts, of which 3 % fail."""
    return Counted(
        f"totals of {n}", "iapar",
        lambda rng: ff.FailureCounts(int(rng.binomial(n, 0.03)), n, rate="iapar"), 0.03,
    )  # fmt: skip


POPULATIONS = [
    _goats(40), _goats(150), _unlike(25), _unlike(100), _until(60), _wolves(40), _wolves(120), _totals(174),
]  # fmt: skip
BY_NAME = {population.name: population for population in POPULATIONS}


def study(population: Counted, n: int, first: int = 0) -> np.ndarray:
    """Return the shares of so many studies whose interval holds the truth, and that support a claim
    just below the truth, and one of twice the truth.
    """
    seen = np.zeros((n, len(COLUMNS)))
    for k in range(n):
        counts = population.draw(np.random.default_rng([first + k, 20]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            edge, room = (
                ff.claim(
                    counts,
                    f"{population.rate} <= {float(population.truth * factor)!r}",
                    n_resamples=RESAMPLES,
                    rng=k,
                    n_threads=1,
                ).overall
                for factor in (1 - 1e-9, 2.0)
            )
        verdicts = [row.verdict == "supported" for row in (edge, room)]
        seen[k] = edge.low <= population.truth <= edge.high, *verdicts
    return seen.mean(axis=0)


def main() -> None:
    """Print the table."""
    arguments = study_parser(__doc__, 200).parse_args()
    rows = [
        [population.name, *percents(study(population, arguments.data_sets))]
        for population in POPULATIONS
    ]
    print_table(["population", *COLUMNS], rows)


if __name__ == "__main__":
    main()
