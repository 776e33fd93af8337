"""How often the intervals of `apply_threshold` hold the truth, in populations whose rates are
known.

`python -m studies applied_threshold_study`, run in `tests/`, prints the table of the documentation.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from helpers.quiet import quietly
from scipy.optimize import brentq

import fastfair as ff
from fastfair.data.derived import subset

from .populations import BY_NAME, Population, of_other_people
from .processes import coverage, study_parser
from .tables import percents, print_table

Held = Iterable[tuple[str, bool]]  # what interval, and whether it holds the truth
COLUMNS = ("FMR", "FNMR", "FMR of groups", "FNMR of groups", "given: FMR", "given: FNMR")
POINTS = ("FMR 0.01", "few false matches", "FNMR 0.05", "EER")
OWN = ff.at_fmr(0.01)  # held in each group
HALF_TOTAL = (0.05, 0.5, 0.95)  # weights of false matches
_FEW = 6  # false matches that the development data have


@dataclass(frozen=True)
class Setting:
    """Development and evaluation data of one population.

    Attributes
    ----------
    population : Population
        That of both sets.
    shared : bool
        Whether the same subjects are in both, with other comparisons.
    """

    population: Population
    shared: bool = False

    def draw(self, seed: int) -> tuple[ff.Comparisons, ff.Comparisons]:
        """Draw evaluation and development data."""
        rng, population = np.random.default_rng([seed, 11]), self.population
        if self.shared:
            repeats, attempts = 2 * population.repeats, tuple(2 * n for n in population.attempts)
            both = replace(population, repeats=repeats, attempts=attempts).draw(rng)
            rows = [np.arange(len(side)) for side in (both.mated, both.nonmated)]
            even = [
                side.rows[row] % 2 == 0
                for side, row in zip((both.mated, both.nonmated), rows, strict=True)
            ]
            halves = [
                [row[half == kept] for row, half in zip(rows, even, strict=True)]
                for kept in (True, False)
            ]
            return subset(both, *halves[0]), subset(both, *halves[1])
        return population.draw(rng), of_other_people(population.draw(rng))

    def point(self, name: str) -> tuple[ff.OperatingPoint, float]:
        """Return an operating point, and the population's threshold there."""
        population = self.population
        if name == "FNMR 0.05":
            return ff.at_fnmr(0.05), float(
                brentq(lambda s: population.overall("fnmr", s) - 0.05, -3, 30)
            )
        if name == "EER":
            overall = population.overall
            return ff.at_eer(), float(
                brentq(lambda s: overall("fnmr", s) - overall("fmr", s), -1, 10)
            )
        n = sum(
            size * (size - 1) / 2 if population.pairs is None else 20 * size
            for size in population.sizes
        )
        fmr = 0.01 if name == "FMR 0.01" else _FEW / (n * population.repeats)
        return ff.at_fmr(fmr), population.threshold(fmr)


def _look(setting: Setting, name: str, seed: int) -> Held:
    at, threshold = setting.point(name)
    population = setting.population
    evaluation, development = setting.draw(seed)
    applied = ff.apply_threshold(evaluation, at, development)
    for row in applied.rates:
        of_procedure, of_given = (
            population.overall(row.name, one)
            if row.group is None
            else getattr(population, row.name)(one)[int(row.group)]
            for one in (threshold, applied.threshold)
        )
        kind = row.name.upper() + ("" if row.group is None else " of groups")
        yield kind, row.low <= of_procedure <= row.high
        if row.group is None:
            yield f"given: {kind}", row.given_low <= of_given <= row.given_high


SETTINGS = {
    **{
        name: Setting(BY_NAME[name])
        for name in (
            "Student t scores",
            "groups of 15 to 400",
            "random trials",
            "8 groups",
            "strong subjects",
        )
    },
    "the same subjects": Setting(Population("the same subjects"), shared=True),
    "the same strong subjects": Setting(BY_NAME["strong subjects"], shared=True),
}


def _expected(setting: Setting, seed: int) -> Held:
    """Judge half total error rates at thresholds that cost least on development data, as they
    are."""
    population = setting.population
    for row in quietly()(ff.thresholds.expected_performance_curve)(
        *setting.draw(seed), HALF_TOTAL
    ).errors:
        if row.group is None:
            rates = [population.overall(rate, row.threshold) for rate in ("fmr", "fnmr")]
        else:
            rates = [
                of_groups(row.threshold)[int(row.group)]
                for of_groups in (population.fmr, population.fnmr)
            ]
        yield (
            f"{row.weight:g}{'' if row.group is None else ', groups'}",
            row.low <= sum(rates) / 2 <= row.high,
        )


def study_of_expected(
    setting: str, n_data_sets: int, processes: int | None = 1
) -> dict[str, float]:
    """Return the coverage of half total error rates at each weight; data set r has seed r."""
    return coverage(functools.partial(_expected, SETTINGS[setting]), n_data_sets, processes)


def _own(setting: Setting, seed: int) -> Held:
    """Judge rates of groups at own thresholds, found on development data and on the evaluation data
    themselves."""
    population = setting.population
    evaluation, development = setting.draw(seed)
    for name, data in (("development", development), ("same", evaluation)):
        thresholds = ff.thresholds.own_thresholds(data, OWN)
        own = ff.thresholds.with_own_thresholds(evaluation, thresholds)
        rates = ff.evaluate(own, ff.at_threshold(0), [], metrics=[], n_resamples=0)
        for k, group in enumerate(evaluation.groups):
            # Of these thresholds, or of those that the population has at the FMR held.
            at = thresholds[group] if name == "development" else population.threshold(OWN.value)
            for rate, true in (("fmr", population.fmr(at)[k]), ("fnmr", population.fnmr(at)[k])):
                low, high = rates.interval(rate, group)
                yield f"{name}: {rate.upper()}", low <= true <= high


def study_of_own(setting: str, n_data_sets: int, processes: int | None = 1) -> dict[str, float]:
    """Return the coverage of rates of groups at own thresholds; data set r has seed r."""
    return coverage(functools.partial(_own, SETTINGS[setting]), n_data_sets, processes)


def study(setting: str, name: str, n_data_sets: int, processes: int | None = 1) -> dict[str, float]:
    """Return the coverage of each of `COLUMNS` at an operating point of `POINTS`; data set r has
    seed r."""
    return coverage(
        functools.partial(_look, SETTINGS[setting], name), n_data_sets, processes, COLUMNS
    )


def main() -> None:
    """Print the table."""
    asked = study_parser(main.__doc__, 1000).parse_args()
    settings, how = asked.only or SETTINGS, (asked.data_sets, asked.processes)
    rows = (
        [setting, name, *percents(study(setting, name, *how).values())]
        for setting in settings
        for name in POINTS
    )
    print_table(["Population", "At", *COLUMNS], rows, 2)
    for setting in settings:
        found = study_of_expected(setting, *how) | study_of_own(setting, *how)
        print(
            f"| {setting} | "
            + " | ".join(f"{kind}: {100 * share:.1f}" for kind, share in found.items())
            + " |"
        )
