"""How often the intervals of `apply_threshold` hold the truth, in populations whose rates are known.

`python -m studies.applied_threshold_study`, run in `tests/`, prints the table of the documentation.
"""

from __future__ import annotations

import functools
import warnings
from collections import defaultdict
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq

import fastfair as ff
from fastfair.data.comparisons import Comparisons
from fastfair.data.subsets import subset
from fastfair.errors import FastfairWarning

from .populations import FAIR, Population
from .processes import over_data_sets, study_parser

Found = dict[str, list[bool]]
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
            even = [side.rows[row] % 2 == 0 for side, row in zip((both.mated, both.nonmated), rows, strict=True)]
            halves = [[row[half == kept] for row, half in zip(rows, even, strict=True)] for kept in (True, False)]
            return subset(both, *halves[0]), subset(both, *halves[1])
        return population.draw(rng), _renamed(population.draw(rng))

    def point(self, name: str) -> tuple[ff.OperatingPoint, float]:
        """Return an operating point, and the population's threshold there."""
        population = self.population
        if name == "FNMR 0.05":
            weights = np.array(population.sizes) / sum(population.sizes)
            return ff.at_fnmr(0.05), float(brentq(lambda s: population.fnmr(s) @ weights - 0.05, -3, 30))
        if name == "EER":
            weights = np.array(population.sizes) / sum(population.sizes)
            difference = lambda s: population.fnmr(s) @ weights - population.fmr(s) @ population.weights()  # noqa: E731
            return ff.at_eer(), float(brentq(difference, -1, 10))
        n = sum(size * (size - 1) / 2 if population.pairs is None else 20 * size for size in population.sizes)
        fmr = 0.01 if name == "FMR 0.01" else _FEW / (n * population.repeats)
        return ff.at_fmr(fmr), population.threshold(fmr)


def _renamed(comparisons: ff.Comparisons) -> ff.Comparisons:
    """Return the same comparisons of other people."""
    sides = comparisons.mated, comparisons.nonmated
    columns = {name: 10**6 + np.concatenate([getattr(side, name) for side in sides]) for name in ("reference", "probe")}
    grouped = comparisons.mated_by_group, comparisons.nonmated_by_group
    groups = [np.concatenate([getattr(one, name) for one in grouped]) for name in ("reference_group", "probe_group")]
    scores = np.concatenate([side.similarities for side in sides])
    return Comparisons(scores, np.arange(scores.size) < len(sides[0]), *columns.values(), *groups)


def _some(setting: Setting, name: str, seeds: range) -> Found:
    found: Found = defaultdict(list)
    at, threshold = setting.point(name)
    population = setting.population
    weights = {"fmr": population.weights(), "fnmr": np.array(population.sizes) / sum(population.sizes)}
    for seed in seeds:
        evaluation, development = setting.draw(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FastfairWarning)
            applied = ff.apply_threshold(evaluation, at, development)
        of_procedure, given = (
            {"fmr": population.fmr(one), "fnmr": population.fnmr(one)} for one in (threshold, applied.threshold)
        )
        for row in applied.rates:
            group = None if row.group is None else int(row.group)
            true, of_given = (
                one[row.name] @ weights[row.name] if group is None else one[row.name][group]
                for one in (of_procedure, given)
            )
            kind = row.name.upper() + ("" if group is None else " of groups")
            found[kind].append(row.low <= true <= row.high)
            if group is None:
                found[f"given: {kind}"].append(row.given_low <= of_given <= row.given_high)
    return dict(found)


def _named(name: str) -> Population:
    return next(one for one in FAIR if one.name == name)


SETTINGS = {
    "Student t scores": Setting(_named("Student t scores")),
    "groups of 15 to 400": Setting(_named("groups of 15 to 400")),
    "random trials": Setting(_named("random trials")),
    "8 groups": Setting(_named("8 groups")),
    "strong subjects": Setting(_named("strong subjects")),
    "the same subjects": Setting(Population("the same subjects"), shared=True),
    "the same strong subjects": Setting(_named("strong subjects"), shared=True),
}


def _expected(setting: Setting, seeds: range) -> Found:
    """Judge half total error rates at thresholds that cost least on development data, as they are."""
    found: Found = defaultdict(list)
    population = setting.population
    weights = {"fmr": population.weights(), "fnmr": np.array(population.sizes) / sum(population.sizes)}
    for seed in seeds:
        evaluation, development = setting.draw(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FastfairWarning)
            curve = ff.expected_performance_curve(evaluation, development, HALF_TOTAL)
        for row in curve.errors:
            rates = population.fmr(row.threshold), population.fnmr(row.threshold)
            if row.group is None:
                true = (rates[0] @ weights["fmr"] + rates[1] @ weights["fnmr"]) / 2
                found[f"{row.weight:g}"].append(row.low <= true <= row.high)
            else:
                true = (rates[0][int(row.group)] + rates[1][int(row.group)]) / 2
                found[f"{row.weight:g}, groups"].append(row.low <= true <= row.high)
    return dict(found)


def study_of_expected(setting: str, n_data_sets: int, processes: int | None = 1) -> dict[str, float]:
    """Return the coverage of half total error rates at each weight; data set r has seed r."""
    (parts,) = over_data_sets([functools.partial(_expected, SETTINGS[setting])], n_data_sets, processes)
    return {kind: float(np.mean([one for part in parts for one in part[kind]])) for kind in parts[0]}


def _own(setting: Setting, seeds: range) -> Found:
    """Judge rates of groups at own thresholds, found on development data and on the evaluation data themselves."""
    found: Found = defaultdict(list)
    population = setting.population
    for seed in seeds:
        evaluation, development = setting.draw(seed)
        for name, data in (("development", development), ("same", evaluation)):
            thresholds = ff.own_thresholds(data, OWN)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FastfairWarning)
                own = ff.with_own_thresholds(evaluation, thresholds)
                rates = ff.evaluate(own, ff.at_threshold(0), [], metrics=[], n_resamples=0)
            for k, group in enumerate(evaluation.groups):
                # Of these thresholds, or of those that the population has at the FMR held.
                at = thresholds[group] if name == "development" else population.threshold(OWN.value)
                for rate, true in (("fmr", population.fmr(at)[k]), ("fnmr", population.fnmr(at)[k])):
                    low, high = rates.interval(rate, group)
                    found[f"{name}: {rate.upper()}"].append(low <= true <= high)
    return dict(found)


def study_of_own(setting: str, n_data_sets: int, processes: int | None = 1) -> dict[str, float]:
    """Return the coverage of rates of groups at own thresholds; data set r has seed r."""
    (parts,) = over_data_sets([functools.partial(_own, SETTINGS[setting])], n_data_sets, processes)
    return {kind: float(np.mean([one for part in parts for one in part[kind]])) for kind in parts[0]}


def study(setting: str, name: str, n_data_sets: int, processes: int | None = 1) -> dict[str, float]:
    """Return the coverage of each of `COLUMNS` at an operating point of `POINTS`; data set r has seed r."""
    (parts,) = over_data_sets([functools.partial(_some, SETTINGS[setting], name)], n_data_sets, processes)
    return {column: float(np.mean([one for part in parts for one in part[column]])) for column in COLUMNS}


def main() -> None:
    """Print the table."""
    asked = study_parser(main.__doc__, 1000).parse_args()
    print("| Population | At | " + " | ".join(COLUMNS) + " |\n|---|---|" + "--:|" * len(COLUMNS))
    for setting in asked.only or SETTINGS:
        for name in POINTS:
            shares = study(setting, name, asked.data_sets, asked.processes)
            cells = [f"{100 * share:.1f}" for share in shares.values()]
            print(f"| {setting} | {name} | " + " | ".join(cells) + " |", flush=True)
    for setting in asked.only or SETTINGS:
        shares = study_of_expected(setting, asked.data_sets, asked.processes)
        shares |= study_of_own(setting, asked.data_sets, asked.processes)
        print(f"| {setting} | " + " | ".join(f"{kind}: {100 * one:.1f}" for kind, one in shares.items()) + " |")


if __name__ == "__main__":
    main()
