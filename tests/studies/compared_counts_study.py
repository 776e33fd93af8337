"""How often `compare` tells failure counts of equal data sets apart, and how often it finds that one
has half as many failures; and what the gate says of either.

`python -m studies compared_counts_study`, run in `tests/`, prints the table. The populations are
those of `counts_study`, in two groups of people.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

import fastfair as ff
from fastfair.evaluation.system_comparison import SystemComparison

from .counts_study import POPULATIONS, Counted
from .processes import chosen, shares, study_parser
from .tables import percents, print_table

COLUMNS = (
    "differ", "a group differs", "interval holds", "wrong met", "wrong met [*]",
    "half found", "half met",
)  # fmt: skip


def _grouped(counts: ff.FailureCounts) -> ff.FailureCounts:
    """Put people into two groups; totals have none."""
    if counts.totals:
        return counts
    about = {"rate": counts.rate_name}
    if counts.people is None:
        return ff.FailureCounts(
            counts.failures, counts.attempts, np.arange(counts.failures.size) % 2, **about
        )
    first, second = counts.people
    people = {"subject": first, "other_subject": second, "other_group": second % 2}
    return ff.FailureCounts(counts.failures, counts.attempts, first % 2, **people, **about)


def _thinned(counts: ff.FailureCounts, rng: np.random.Generator) -> ff.FailureCounts:
    """Leave half of the failures."""
    failures = rng.binomial(counts.failures, 0.5)
    if counts.totals:
        n = int(failures.sum()), int(counts.attempts.sum())
        return ff.FailureCounts(*n, rate=counts.rate_name)
    people = {}
    if counts.people is not None:
        people = dict(zip(("subject", "other_subject"), counts.people, strict=True))
    return ff.FailureCounts(failures, counts.attempts, rate=counts.rate_name, **people)


def look(population: Counted, n_resamples: int, seed: int) -> list[float]:
    """Return what is said of two data sets of a population, and of one with half the failures."""
    rng = np.random.default_rng([seed, 31])
    draws = [population.draw(rng) for _ in range(2)]
    rate = population.rate

    def compared(first: ff.FailureCounts, second: ff.FailureCounts) -> SystemComparison:
        return ff.compare(
            first, second, measures=(), paired=False, n_resamples=n_resamples, rng=seed, n_threads=1
        )

    equal = compared(*map(_grouped, draws))
    row = equal.contrast(rate)
    of_groups = [equal.contrast(rate, group).verdict for group in equal.groups]
    lines = [f"difference({rate}) <= -1e-9", f"difference({rate})[*] <= -1e-9"]
    wrong = ff.check(equal, lines if of_groups else lines[:1])
    half = compared(_thinned(draws[0], rng), draws[1])
    met = ff.check(half, f"difference({rate}) <= 0").passed
    verdicts = [verdict == "met" for verdict in wrong.verdicts.values()]
    return [
        row.verdict in ("first", "second"),
        any(verdict in ("first", "second") for verdict in of_groups) if of_groups else math.nan,
        row.low <= 0 <= row.high,
        *(verdicts if of_groups else [*verdicts, math.nan]),
        half.contrast(rate).verdict == "first",
        met,
    ]


def study(
    population: Counted, n: int, n_resamples: int = 0, processes: int | None = 1
) -> dict[str, float]:
    """Return the shares of so many pairs of data sets, by the names of columns."""
    return shares(COLUMNS, partial(look, population, n_resamples), n, processes)


def main() -> None:
    """Print the table."""
    parser = study_parser(main.__doc__, 300)
    parser.add_argument("--replicates", type=int, default=0)
    asked = parser.parse_args()
    rows = (
        [
            population.name,
            *percents(study(population, asked.data_sets, asked.replicates).values()),
        ]
        for population in chosen(POPULATIONS, asked.only)
    )
    print_table(["Population", *COLUMNS], rows)


if __name__ == "__main__":
    main()
