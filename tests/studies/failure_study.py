"""How often intervals of failure rates, FRRs and FARs hold the truth, and tests find FTAs to
differ.

`python -m studies failure_study`, run in `tests/`, prints the tables of the documentation.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta, norm

import fastfair as ff

from .populations import Floats, chances_of_subjects
from .processes import coverage, study_parser
from .tables import percents, print_table

Found = Iterable[
    tuple[str, bool]
]  # a column, and whether an interval holds the truth, or a test finds a difference

RESAMPLES = 300
AT = ff.at_threshold(1.2)
NAMES = {
    "failure_rate_mated": "mated failed",
    "failure_rate_nonmated": "non-mated failed",
    "frr": "FRR",
    "far": "FAR",
}
COLUMNS = tuple(f"{name}{of}" for name in NAMES.values() for of in ("", ", groups"))
COLUMNS_OF_SAMPLES = ("rate of group", "all groups", "test", "named", "margin")
_SPREAD = {"mated": np.hypot(1, 0.5), "nonmated": np.hypot(0.85, 0.35 * np.sqrt(2))}
_PROBES, _REFERENCES = 4, 8  # samples of a subject, and subjects that each is compared with


@dataclass(frozen=True)
class Kind:
    """Subjects whose samples fail, some subjects more often than others.

    A subject's chance to fail is beta-distributed. Mated scores are 2 + 0.5 b_k - d z_k + noise,
    where z_k is the normal quantile of the rank of the subject's chance; non-mated ones 0.35 (a_k +
    a_l) + 0.85 noise.

    Attributes
    ----------
    sizes : tuple of int
        Numbers of subjects of the groups.
    failing : tuple of float
        The chance of each group's samples to fail.
    correlation : float
        That of the failures of a subject's samples.
    drop : float
        d: how much lower the scores are of those who fail more often.
    """

    sizes: tuple[int, ...] = (50, 50, 50)
    failing: tuple[float, ...] = (0.1, 0.1, 0.1)
    correlation: float = 0.15
    drop: float = 0.0

    def chances(self, ranks: Floats, group: NDArray[np.int64]) -> Floats:
        """Return the chance to fail at each rank, in (0, 1), among a group's subjects."""
        odds = 1 / self.correlation - 1
        mean = np.array(self.failing)[group]
        return np.asarray(beta.ppf(ranks, mean * odds, (1 - mean) * odds))

    def draw(self, seed: int) -> ff.Comparisons:
        """Draw comparisons of which those of failed probes have no score, left out."""
        rng = np.random.default_rng([seed, 7])
        group = np.repeat(np.arange(len(self.sizes)), self.sizes)
        ranks = rng.random(group.size)
        a, b = rng.normal(size=(2, group.size))
        probe = np.repeat(np.arange(group.size), _PROBES)
        failed = rng.random(probe.size) < self.chances(ranks, group)[probe]
        first, size = (
            np.append(0, np.cumsum(self.sizes))[group[probe]],
            np.array(self.sizes)[group[probe]],
        )
        steps = 1 + np.array([rng.choice(n - 1, _REFERENCES, replace=False) for n in size])
        others = first[:, None] + (probe[:, None] - first[:, None] + steps) % size[:, None]
        reference = np.concatenate((probe, others.ravel()))
        probes = np.concatenate((probe, np.repeat(probe, _REFERENCES)))
        lost = np.concatenate((failed, np.repeat(failed, _REFERENCES)))
        noise = rng.normal(size=probes.size)
        mated = 2 + 0.5 * b[probes] - self.drop * norm.ppf(ranks[probes]) + noise
        scores = np.where(
            probes == reference, mated, 0.35 * (a[probes] + a[reference]) + 0.85 * noise
        )
        scores[lost] = np.nan
        groups = (np.array([f"group {k}" for k in group])[side] for side in (reference, probes))
        return ff.Comparisons(
            scores,
            probes == reference,
            reference,
            probes,
            *groups,
            policies=ff.Policies(failures="exclude"),
        )

    def truth(self, name: str, group: str | None) -> float:
        """Return the rate of a group, or of all comparisons."""
        if group is None:
            of_groups = [self.truth(name, f"group {k}") for k in range(len(self.sizes))]
            return float(np.average(of_groups, weights=self.sizes))
        ranks = (np.arange(100_000) + 0.5) / 100_000
        failing = self.chances(ranks, np.full(ranks.size, int(group.split()[1])))
        rejected = norm.cdf((AT.value - 2 + self.drop * norm.ppf(ranks)) / _SPREAD["mated"])
        accepted = norm.sf(AT.value / _SPREAD["nonmated"])
        rates = {"frr": failing + (1 - failing) * rejected, "far": (1 - failing) * accepted}
        return float(rates.get(name, failing).mean())


KINDS = {
    "three groups of 50": Kind(),
    "few failures": Kind(failing=(0.01, 0.01, 0.01)),
    "groups of 20 to 100": Kind((20, 40, 100), (0.1, 0.05, 0.05)),
    "a camera that fails": Kind(failing=(0.05, 0.05, 0.5)),
    "who fails scores lower": Kind(failing=(0.05, 0.1, 0.2), correlation=0.3, drop=0.5),
}


@functools.cache
def _true_rates(kind: Kind) -> dict[tuple[str, str | None], float]:
    groups = (None, *(f"group {k}" for k in range(len(kind.sizes))))
    return {(name, group): kind.truth(name, group) for name in NAMES for group in groups}


def _look(kind: Kind, seed: int) -> Found:
    ev = ff.evaluate(kind.draw(seed), AT, measures=(), metrics=(), n_resamples=RESAMPLES, rng=seed)
    for (name, group), expected in _true_rates(kind).items():
        low, high = ev.interval(name, group)
        yield NAMES[name] + ("" if group is None else ", groups"), low <= expected <= high


@dataclass(frozen=True)
class Samples:
    """Attempts of subjects whose failures are beta-binomial; the last group may fail more often
    than the others."""

    rate: str = "fta"
    sizes: tuple[int, ...] = (60, 60, 60)
    failing: float = 0.05
    correlation: float = 0.2
    attempts: int = 5
    factor: float = 1.0

    @property
    def of_groups(self) -> Floats:
        """The true rate of each group."""
        return self.failing * np.append(np.ones(len(self.sizes) - 1), self.factor)

    def draw(self, seed: int) -> ff.FailureCounts:
        """Draw a table with a row for each attempt, and count it."""
        rng = np.random.default_rng([seed, 11])
        group = np.repeat(np.arange(len(self.sizes)), self.sizes)
        chance = chances_of_subjects(rng, self.of_groups[group], self.correlation)
        who = np.repeat(np.arange(group.size), self.attempts)
        return ff.FailureCounts.from_decisions(
            rng.random(who.size) < chance[who], who, group[who], rate=self.rate
        )


SAMPLES = {
    "three groups of 60": Samples(),
    "few failures": Samples(failing=0.01),
    "groups of 20 to 200": Samples(sizes=(20, 60, 200)),
    "eight groups of 30": Samples(sizes=(30,) * 8),
    "the same people fail": Samples(correlation=0.6),
    "enrolment, 200 each": Samples("fte", (200, 200, 200), attempts=1),
    "enrolment, few failures": Samples("fte", (100, 200, 400), 0.01, attempts=1),
}


def _look_at_samples(samples: Samples, seed: int) -> Found:
    counts, true = samples.draw(seed), samples.of_groups
    test, margin = ff.fnmr_test(counts, rng=seed), ff.margin_of_error(counts, rng=seed)
    for inside in (test.low <= true) & (true <= test.high):
        yield "rate of group", inside
    yield "all groups", ((test.simultaneous_low <= true) & (true <= test.simultaneous_high)).all()
    yield "test", test.pvalue < test.level
    yield "named", bool(test.different)
    yield "margin", bool(margin.outside)


def study(name: str, n_data_sets: int, processes: int | None = 1) -> dict[str, float]:
    """Return the coverage of each of `COLUMNS`; data set r has seed r."""
    return coverage(functools.partial(_look, KINDS[name]), n_data_sets, processes, COLUMNS)


def study_of_samples(
    name: str, factor: float, n_data_sets: int, processes: int | None = 1
) -> dict[str, float]:
    """Return each of `COLUMNS_OF_SAMPLES`, where one group fails `factor` times as often as the
    others."""
    samples = replace(SAMPLES[name], factor=factor)
    return coverage(
        functools.partial(_look_at_samples, samples), n_data_sets, processes, COLUMNS_OF_SAMPLES
    )


def main() -> None:
    """Print the tables."""
    parser = study_parser(main.__doc__, 150, named=False)
    parser.add_argument("--of-samples", type=int, default=1000)
    asked = parser.parse_args()
    rows = (
        [name, *percents(study(name, asked.data_sets, asked.processes).values())] for name in KINDS
    )
    print_table(["Population", *COLUMNS], rows)
    print()
    of_samples = (
        [
            name,
            f"{factor:g}",
            *percents(study_of_samples(name, factor, asked.of_samples, asked.processes).values()),
        ]
        for name in SAMPLES
        for factor in (1.0, 3.0)
    )
    print_table(["Population", "times", *COLUMNS_OF_SAMPLES], of_samples)
