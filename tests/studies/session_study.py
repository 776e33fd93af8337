"""Whether intervals hold where attempts share sessions: a person's own ones, or days that people
share.

`python -m studies session_study`, run in `tests/`, prints the table of the documentation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import ndtr

import fastfair as ff

from .processes import chosen, coverage, study_parser
from .tables import percents, print_table

THRESHOLD = 2.3
N_PEOPLE, N_ATTEMPTS = 200, 6
N_NONMATED = 5 * N_PEOPLE
OF_PEOPLE, OF_SESSIONS = 0.4, 0.5  # standard deviations of what scores share, of 1
MEANS = {True: 3.5, False: 0.0}  # of mated and non-mated scores
QUANTITIES = ("FNMR", "FMR")


@dataclass(frozen=True)
class Design:
    """How sessions are shared: each person has so many of its own, or all people share so many
    days.

    Attributes
    ----------
    name : str
        What the table calls it.
    n_own, n_shared : int
        Sessions of each person, days of all; one of them is 0, and both are without sessions.
    """

    name: str
    n_own: int = 0
    n_shared: int = 0

    def sessions(self, rng: np.random.Generator, people: np.ndarray) -> np.ndarray:
        """Return the session of each attempt: (n,) numbers from 0."""
        if self.n_shared:
            return rng.integers(0, self.n_shared, people.size)
        return people * max(self.n_own, 1) + rng.integers(0, max(self.n_own, 1), people.size)

    def draw(self, seed: int) -> ff.Comparisons:
        """Draw a data set of other people and other sessions."""
        rng = np.random.default_rng([71, seed])
        mated = np.repeat(np.arange(N_PEOPLE), N_ATTEMPTS)
        first, second = rng.integers(0, N_PEOPLE, (2, N_NONMATED))
        second = np.where(first == second, (second + 1) % N_PEOPLE, second)
        reference, probe = np.append(mated, first), np.append(mated, second)
        is_mated = reference == probe
        session = self.sessions(rng, probe)
        effects = rng.normal(size=max(int(session.max()) + 1, 1)) * (
            OF_SESSIONS if self.n_own or self.n_shared else 0
        )
        parts = rng.normal(size=N_PEOPLE) * OF_PEOPLE
        of_people = np.where(is_mated, parts[probe], (parts[reference] + parts[probe]) / np.sqrt(2))
        with_sessions = self.n_own or self.n_shared
        noise = np.sqrt(1 - OF_PEOPLE**2 - (OF_SESSIONS**2 if with_sessions else 0)) * rng.normal(
            size=probe.size
        )
        scores = (
            np.where(is_mated, MEANS[True], MEANS[False]) + of_people + effects[session] + noise
        )
        return ff.Comparisons(scores, is_mated, reference, probe)


DESIGNS = (
    Design("no sessions"),
    Design("2 sessions of each person", n_own=2),
    Design("5 sessions of each person", n_own=5),
    Design("100 days that people share", n_shared=100),
    Design("20 days that people share", n_shared=20),
    Design("5 days that people share", n_shared=5),
)
# A score is normal with variance 1 whatever is shared.
TRUTH = {"FNMR": float(ndtr(THRESHOLD - MEANS[True])), "FMR": float(ndtr(MEANS[False] - THRESHOLD))}


def look(design: Design, seed: int) -> Iterator[tuple[str, bool]]:
    """Yield whether the intervals of a data set hold the rates of the population."""
    evaluation = ff.evaluate(
        design.draw(seed), ff.at_threshold(THRESHOLD), [], metrics=[], n_resamples=0
    )
    for name in QUANTITIES:
        low, high = evaluation.interval(name.lower())
        yield name, bool(low <= TRUTH[name] <= high)


def main() -> None:
    """Print how often intervals hold the truth."""
    asked = study_parser(main.__doc__, 1000).parse_args()
    rows = (
        [
            design.name,
            *percents(
                coverage(
                    partial(look, design), asked.data_sets, asked.processes, QUANTITIES
                ).values()
            ),
        ]
        for design in chosen(DESIGNS, asked.only)
    )
    print_table(["Sessions", *QUANTITIES], rows)


if __name__ == "__main__":
    main()
