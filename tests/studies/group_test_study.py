"""How often tests across groups find differences where there are none, and where there is one.

`python -m studies group_test_study`, run in `tests/`, prints the tables of the documentation, and
with `--fmr` the one of how often `fmr_test` and `fnmr_test` find differences in score files of
groups that are alike, or are not; `test_group_test_study.py` checks what they say.
"""

from __future__ import annotations

import bisect
import functools
import itertools
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

import fastfair as ff
from fastfair._lib import seeds
from fastfair.group_tests.equal_rates import (
    GroupRates,
    draw_equal_failures,
    of_counts,
    of_sums,
    replicate,
    roots_of_failures,
    share_inside,
)
from fastfair.group_tests.frailty import pvalue

from .populations import Floats, Population
from .processes import over_data_sets, study_parser
from .tables import percents, table

Bools = NDArray[np.bool_]
Shares = dict[str, float]

ALPHA = 0.05
RESAMPLES = 500  # so that 25 of 501 are just below ALPHA
FOLLOW_UP_RESAMPLES = 1600
FAILING = 0.75
STATISTICS, QUANTILES, CENTERS = (
    ("f", "max-difference", "max-ratio"),
    ("family-wise", "paper"),
    ("data", "replicate"),
)
MARGINS = tuple(f"{quantile}, {center}" for center in CENTERS for quantile in QUANTILES)
BOOTSTRAP = "f, bootstrap"
TESTS = (*STATISTICS, BOOTSTRAP)
NAMING = (*MARGINS, "follow-up")  # what names groups
DECISIONS = (*TESTS, *NAMING)


@dataclass(frozen=True)
class Group:
    """Subjects whose failures are beta-binomial; attempts as many for all, or between two numbers
    by chance.

    A share of the subjects are goats, who fail three attempts of four; the others fail the less
    often.
    """

    subjects: int
    attempts: int | tuple[int, int]
    fnmr: float
    correlation: float
    goats: float = 0.0

    def draw(self, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Draw failures and attempts of each subject."""
        attempts = rng.integers(*self._between, self.subjects, endpoint=True)
        odds = 1 / self.correlation - 1
        fnmr = (self.fnmr - self.goats * FAILING) / (1 - self.goats)
        chance = rng.beta(fnmr * odds, (1 - fnmr) * odds, self.subjects)
        if self.goats:
            chance[rng.random(self.subjects) < self.goats] = FAILING
        return rng.binomial(attempts, chance), attempts

    @property
    def _between(self) -> tuple[int, int]:
        return (self.attempts, self.attempts) if isinstance(self.attempts, int) else self.attempts

    @property
    def effective_failures(self) -> float:
        """How many failures are expected, over the design effect."""
        least, most = self._between
        m = np.arange(least, most + 1)
        design_effect = 1 + ((m @ m) / m.sum() - 1) * self.correlation
        return float(self.subjects * m.mean() * self.fnmr / design_effect)


@dataclass(frozen=True)
class Scenario:
    """A study: its groups, of which the first may differ from all others, who are alike."""

    name: str
    first: Group
    other: Group
    n_groups: int

    def draw(self, seed: int) -> ff.FailureCounts:
        """Draw a data set."""
        rng = np.random.default_rng([seed, zlib.crc32(repr(self).encode())])
        groups = [self.first] + [self.other] * (self.n_groups - 1)
        failures, attempts = (
            np.concatenate(parts) for parts in zip(*(g.draw(rng) for g in groups), strict=True)
        )
        code = np.repeat(np.arange(self.n_groups), [g.subjects for g in groups])
        return ff.FailureCounts._of(
            failures, attempts, code, tuple(f"{k:02}" for k in range(self.n_groups)), ("g",)
        )


def alike(n_groups: int, subjects: int, attempts: int, fnmr: float, correlation: float) -> Scenario:
    """Make a scenario of groups that do not differ."""
    group = Group(subjects, attempts, fnmr, correlation)
    return Scenario("", group, group, n_groups)


def with_difference(scenario: Scenario, difference: float) -> Scenario:
    """Add to the FNMR of the first group."""
    return replace(scenario, first=replace(scenario.first, fnmr=scenario.first.fnmr + difference))


def unlike(name: str, first: int, other: Group, n_groups: int = 2) -> Scenario:
    """Make a scenario of groups that do not differ but in size: the first has so many subjects."""
    return Scenario(name, replace(other, subjects=first), other, n_groups)


def _special() -> Iterable[Scenario]:
    for n_groups, fnmr in itertools.product((3, 10), (0.025, 0.1)):
        group = Group(200, 4, fnmr, 0.05)
        few, varying = replace(group, subjects=20), replace(group, attempts=(1, 10))
        yield Scenario("one of 20 subjects", few, group, n_groups)
        yield Scenario("all of 20 subjects", few, few, n_groups)
        yield Scenario("one of 1,000 subjects", replace(group, subjects=1000), group, n_groups)
        yield Scenario("1 to 10 attempts", varying, varying, n_groups)
        yield Scenario("one of correlation 0.6", replace(group, correlation=0.6), group, n_groups)


EQUAL = tuple(
    alike(n_groups, subjects, attempts, fnmr, correlation)
    for fnmr, n_groups, subjects, attempts, correlation in itertools.product(
        (0.025, 0.1), (3, 10, 20), (100, 400), (2, 10), (0.05, 0.25)
    )
)
SPECIAL = tuple(_special())
FOR_POWER = tuple(alike(*at, 0.1, 0.05) for at in ((3, 200, 2), (10, 200, 2), (10, 200, 10)))
HARD = {  # and by how many times the first group's FNMR is larger where it differs
    unlike("20 beside 200", 20, Group(200, 2, 0.03, 0.1)): 8,
    unlike("50 beside 1,000", 50, Group(1000, 2, 0.02, 0.1)): 4,
    unlike("2 beside 40", 2, Group(40, 2, 0.05, 0.1)): 10,
    unlike("12 beside three of 200", 12, Group(200, 4, 0.05, 0.1), 4): 4,
    unlike("four of 12, 10 attempts", 12, Group(12, 10, 0.1, 0.1), 4): 3,
    unlike("four of 100, goats", 100, Group(100, 4, 0.08, 0.05, goats=0.05), 4): 2,
    unlike(
        "20 beside three of 200, goats, 1 to 20 attempts",
        20,
        Group(200, (1, 20), 0.08, 0.05, goats=0.05),
        4,
    ): 4,
    unlike("four of 100, 1 to 20 attempts", 100, Group(100, (1, 20), 0.05, 0.1), 4): 2,
    unlike("ten of 40", 40, Group(40, 3, 0.05, 0.15), 10): 3,
    unlike("twenty of 100", 100, Group(100, 2, 0.025, 0.05), 20): 3,
}
FEW_AND_MANY = (10, 50)  # effective failures
DIFFERENCES = (-0.08, -0.06, -0.04, -0.03, -0.02, -0.01, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08)


def decide(counts: ff.FailureCounts, seed: int) -> tuple[list[bool], list[Bools]]:
    """Say which statistics are significant, and which groups each entry of `NAMING` names."""
    n_groups = len(counts.groups)
    if not 0 < counts.rate < 1:
        return [False] * len(TESTS), [np.zeros(n_groups, np.bool_)] * len(NAMING)
    key, _ = seeds.stream(seed)
    observed = of_counts(counts)
    drawn = draw_equal_failures(counts, FOLLOW_UP_RESAMPLES, key, 1)
    shifted = replicate(counts, RESAMPLES, key, 1).shifted(observed)

    def is_significant(name: str, replicated: GroupRates) -> bool:
        size = observed.size
        return bool(
            pvalue(observed.statistic(name, size), replicated.statistic(name, size)) < ALPHA
        )

    significant = [is_significant(name, of_sums(drawn[:, :RESAMPLES])) for name in STATISTICS]
    significant.append(is_significant("f", shifted))
    distance = np.abs(observed.rate - observed.overall)
    named = []
    for middle in (observed.overall, shifted.overall[:, None]):  # in the order of CENTERS
        largest = np.abs(shifted.rate - middle).max(axis=1)
        margins = np.quantile(
            largest, [share_inside(1 - ALPHA, quantile) for quantile in QUANTILES]
        )
        named += [distance > margin * (1 + 1e-9) for margin in margins]
    roots = roots_of_failures(counts, drawn)
    named.append((roots.adjusted_pvalues(ALPHA) < ALPHA) & significant[STATISTICS.index("f")])
    return significant, named


def _look(scenario: Scenario, seed: int) -> list[bool]:
    significant, named = decide(scenario.draw(seed), seed)
    of_naming = ((groups.any(), groups[0], groups[1:].any()) for groups in named)
    return [*significant, *itertools.chain.from_iterable(of_naming)]


def study(
    scenarios: Sequence[Scenario], n_data_sets: int = 2000, processes: int | None = None
) -> list[Shares]:
    """Draw data sets of each scenario and decide on each.

    Parameters
    ----------
    scenarios : sequence of Scenario
        What is simulated.
    n_data_sets : int, default 2000
        How many of each; data set r has seed r.
    processes : int, optional
        All processors by default.

    Returns
    -------
    list of dict of float
        Of each scenario the shares of data sets with a finding of any kind, by `DECISIONS`; for
        each entry of `NAMING` those in which the first group was named, and in which any other was,
        as "...: first" and "...: others"; and "n", the number of data sets.
    """
    looks = [functools.partial(_look, scenario) for scenario in scenarios]
    names = [*TESTS, *(f"{name}{of}" for name in NAMING for of in ("", ": first", ": others"))]
    found = np.mean(over_data_sets(looks, n_data_sets, processes), axis=1)
    return [
        {"n": n_data_sets, **dict(zip(names, shares, strict=True))} for shares in found.tolist()
    ]


def planned_power(scenario: Scenario) -> float:
    """Return what `plan_power` promises of the family-wise margin."""
    other = scenario.other
    return float(
        ff.plan_power(
            n_groups=scenario.n_groups,
            n_subjects=other.subjects,
            n_attempts=other.attempts,
            fnmr=other.fnmr,
            correlation=other.correlation,
            difference=scenario.first.fnmr - other.fnmr,
            confidence_level=1 - ALPHA,
            rng=0,
        ).power
    )


def null_table(scenarios: Sequence[Scenario], found: Sequence[Shares]) -> str:
    """Lay out how often there was a finding, in per cent."""
    named = bool(scenarios[0].name)
    settings = ["Groups are"] if named else ["Subjects", "Attempts", "Correlation"]
    rows = []
    for scenario, decisions in zip(scenarios, found, strict=True):
        group = scenario.other
        cells = (
            [scenario.name]
            if named
            else [str(n) for n in (group.subjects, group.attempts, group.correlation)]
        )
        cells += [
            str(group.fnmr),
            str(scenario.n_groups),
            f"{scenario.first.effective_failures:.0f}",
        ]
        rows.append(cells + percents(decisions[name] for name in DECISIONS))
    return table([*settings, "FNMR", "Groups", "Effective failures", *DECISIONS], rows, 0)


def hard_table(found: Sequence[Shares], unfair: Sequence[Shares]) -> str:
    """Lay out what both null models find in groups that are alike, and where the first one differs,
    in per cent."""
    heads = [
        "Groups",
        "FNMR",
        "alike: f",
        "named",
        "f, bootstrap",
        "FNMR times",
        "found by f",
        "by the bootstrap",
    ]
    rows = []
    for (scenario, times), alike_, differ in zip(HARD.items(), found, unfair, strict=True):
        shares = percents(alike_[name] for name in ("f", "follow-up", BOOTSTRAP))
        of_power = percents(differ[name] for name in ("f", BOOTSTRAP))
        rows.append([scenario.name, f"{scenario.other.fnmr:g}", *shares, str(times), *of_power])
    return table(heads, rows)


def summary_table(scenarios: Sequence[Scenario], found: Sequence[Shares]) -> str:
    """Lay out the range of what `null_table` has, by effective failures and number of groups."""
    together: dict[tuple[int, int], list[tuple[Scenario, Shares]]] = {}
    for scenario, decisions in zip(scenarios, found, strict=True):
        size = bisect.bisect(FEW_AND_MANY, scenario.first.effective_failures)
        together.setdefault((size, scenario.n_groups), []).append((scenario, decisions))
    rows = []
    for (_, n_groups), some in sorted(together.items(), key=lambda item: item[0]):
        failures = [scenario.first.effective_failures for scenario, _ in some]
        cells = [f"{min(failures):.0f} to {max(failures):.0f}", str(n_groups)]
        for name in DECISIONS:
            shares = [decisions[name] for _, decisions in some]
            cells.append(" to ".join(percents([min(shares), max(shares)])))
        rows.append(cells)
    return table(["Effective failures", "Groups", *DECISIONS], rows, 0)


def power_table(scenarios: Sequence[Scenario], found: Sequence[Shares]) -> str:
    """Lay out how often a difference was found, the first group named, and others named, in per
    cent."""
    naming = [f"family-wise, {center}" for center in CENTERS] + ["follow-up"]
    heads = ["Difference", *STATISTICS, *naming, "planned", *(f"{name}: others" for name in naming)]
    rows = []
    for scenario, decisions in zip(scenarios, found, strict=True):
        shares = [decisions[name] for name in (*STATISTICS, *(f"{name}: first" for name in naming))]
        shares += [planned_power(scenario), *(decisions[f"{name}: others"] for name in naming)]
        rows.append(
            [f"{100 * (scenario.first.fnmr - scenario.other.fnmr):+.0f}", *percents(shares)]
        )
    return table(heads, rows, 0)


TIMES = 2  # as many false matches have the groups that differ
FNMR = 0.1
FINDINGS = (
    "deviance", "named", "others named", "deviating named", "F", "F of FNMR", "named by FNMR",
    "outside the margin of FNMR",
)  # fmt: skip
_EIGHT = (15, 20, 30, 50, 80, 300, 800, 150)
_ELEVEN = (20, 20, 20, 30, 30, 40, 40, 60, 60, 80, 80)


@dataclass(frozen=True)
class Setting:
    """A population and the FMR at which it is tested."""

    population: Population
    fmr: float

    @property
    def deviating(self) -> int:
        """How many groups differ where some do."""
        return 2 if len(self.population.sizes) > 3 else 1

    @functools.cached_property
    def threshold(self) -> float:
        """The threshold at which groups that are alike have the FMR."""
        return self.population.threshold(self.fmr)

    @functools.cached_property
    def unfair(self) -> Population:
        """The population whose last groups differ."""
        return self.population.unfair(TIMES, self.threshold, self.deviating)

    def decide(self, alike: bool, seed: int) -> list[bool]:
        """Draw a data set and say what is found in it, by `FINDINGS`."""
        population = self.population if alike else self.unfair
        rng = np.random.default_rng([seed, zlib.crc32(repr(population).encode())])
        c, at = population.draw(rng), ff.at_threshold(self.threshold)
        shared = {"n_resamples": RESAMPLES, "rng": seed, "n_threads": 1}
        test, old = (ff.fmr_test(c, at, statistic=name, **shared) for name in ("deviance", "f"))
        fair = set(test.groups if alike else test.groups[: -self.deviating])
        named = set(test.different)
        found = [
            test.pvalue < ALPHA,
            bool(named),
            bool(named & fair),
            bool(named - fair),
            old.pvalue < ALPHA,
        ]
        if alike:
            of_fnmr = ff.fnmr_test(c, ff.at_fnmr(FNMR), **shared)
            margin = ff.margin_of_error(c, ff.at_fnmr(FNMR), **shared)
            found += [of_fnmr.pvalue < ALPHA, bool(of_fnmr.different), bool(margin.outside)]
        return found


SETTINGS = (
    Setting(Population("3 groups of 60"), 0.01),
    Setting(Population("8 groups of 40, 4 false matches each", (40,) * 8), 0.005),
    Setting(Population("11 groups of 20 to 80, from 1 false match", _ELEVEN), 0.005),
    Setting(Population("8-bit scores", (60,) * 8, step=1 / 16), 0.01),
    Setting(
        Population("8 groups of 15 to 800, 1 to 100 comparisons each", _EIGHT, pairs=(1, 100)),
        0.002,
    ),
    Setting(
        Population("random pairs, twice", (150,) * 3, pairs=20, repeats=2, likeness=0.5), 0.005
    ),
    Setting(
        Population("random pairs, 8 times", (60,) * 8, pairs=(1, 20), repeats=8, likeness=0.6),
        0.003,
    ),
    Setting(
        Population(
            "pairs of 5 to 40 subjects, 30 times", (5, 10, 20, 40), repeats=30, likeness=0.6
        ),
        0.002,
    ),
    Setting(Population("strong subjects", (60,) * 3, effect=0.7), 0.01),
    Setting(Population("skewed subjects", (100,) * 3, effect=0.6, skewed=True), 0.005),
    Setting(
        Population("heavy-tailed subjects, 11 groups", (50,) * 11, effect=0.6, heavy=True), 0.005
    ),
)


def study_of_fmr_tests(
    settings: Sequence[Setting], n_data_sets: int, *, alike: bool, processes: int | None = None
) -> list[Floats]:
    """Draw data sets of each setting and find the share of them in which each of `FINDINGS` finds
    something.

    Parameters
    ----------
    settings : sequence of Setting
        What is simulated.
    n_data_sets : int
        How many of each; data set r has seed r.
    alike : bool
        Whether all groups are alike; else the last ones have more false matches, and FNMRs are not
        tested.
    processes : int, optional
        All processors by default.

    Returns
    -------
    list of (decisions,) ndarray
        Of each setting.
    """
    looks = [functools.partial(setting.decide, alike) for setting in settings]
    return list(np.mean(over_data_sets(looks, n_data_sets, processes), axis=1))


def fmr_table(settings: Sequence[Setting], null: Sequence[Floats], power: Sequence[Floats]) -> str:
    """Lay out shares in per cent: of fair systems, and of those with groups that differ."""
    heads = ["Population", "FMR", *FINDINGS[:2], *FINDINGS[4:]]
    heads += ["power: deviance", "F", "deviating named", "others named"]
    rows = []
    for setting, fair, unfair in zip(settings, null, power, strict=True):
        shares = [*fair[:2], *fair[4:], unfair[0], unfair[4], unfair[3], unfair[2]]
        rows.append([setting.population.name, f"{setting.fmr:g}", *percents(shares)])
    return table(heads, rows)


def main() -> None:
    """Print the tables."""
    parser = study_parser(main.__doc__, 2000, named=False)
    parser.add_argument(
        "--fmr", action="store_true", help="`fmr_test` and `fnmr_test` of score files"
    )
    asked = parser.parse_args()
    how = asked.data_sets, asked.processes
    if asked.fmr:
        for setting in SETTINGS:
            found = [
                study_of_fmr_tests([setting], how[0], alike=alike, processes=how[1])
                for alike in (True, False)
            ]
            print(fmr_table([setting], *found).splitlines()[-1], flush=True)
        return
    equal = study(EQUAL, *how)
    print(
        f"### Equal groups\n\n{summary_table(EQUAL, equal)}\n\n{null_table(EQUAL, equal)}\n",
        flush=True,
    )
    unfair = [with_difference(one, (times - 1) * one.other.fnmr) for one, times in HARD.items()]
    print(
        "### Small groups and"
        f" goats\n\n{hard_table(study(list(HARD), *how), study(unfair, *how))}\n",
        flush=True,
    )
    print(f"### Other groups\n\n{null_table(SPECIAL, study(SPECIAL, *how))}\n", flush=True)
    for base in FOR_POWER:
        group = base.other
        scenarios = [with_difference(base, difference) for difference in DIFFERENCES]
        title = (
            f"{base.n_groups} groups of {group.subjects} subjects with {group.attempts} attempts"
        )
        print(f"### {title}\n\n{power_table(scenarios, study(scenarios, *how))}\n", flush=True)
