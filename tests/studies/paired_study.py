"""How often `compare` tells equal systems apart, and unequal ones, on populations whose truth is known.

`python -m studies.paired_study`, run in `tests/`, prints the tables of the documentation.
"""

from __future__ import annotations

import argparse
import functools
import warnings
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import fastfair as ff
from fastfair.errors import FastfairWarning
from fastfair.measures._compute import measure_of

from .populations import FAIR, Population
from .processes import over_data_sets

RESAMPLES = 1000
LEVEL = 0.05


@dataclass
class Count:
    """How often a kind of difference was tested, found, and held inside its interval.

    Attributes
    ----------
    data_sets, tested, found : int
        Data sets, those with a verdict other than "withheld", and those that name a system in any contrast of the kind.
    contrasts, small : int
        Contrasts with a verdict other than "withheld", and those with a p-value, not adjusted, of at most 5 %.
    inside, given : int
        Intervals of differences that hold the truth, and intervals.
    ratio_inside, ratio_given : int
        The same of ratios, where both rates are above 0.
    withheld, total : int
        Contrasts without a verdict, and contrasts.
    """

    data_sets: int = 0
    tested: int = 0
    found: int = 0
    contrasts: int = 0
    small: int = 0
    inside: int = 0
    given: int = 0
    ratio_inside: int = 0
    ratio_given: int = 0
    withheld: int = 0
    total: int = 0

    def __add__(self, other: Count) -> Count:
        return Count(*(a + b for a, b in zip(vars(self).values(), vars(other).values(), strict=True)))


def kind_of(contrast: ff.Contrast) -> str:
    """Name the kind of a difference."""
    measure = measure_of(contrast.name)
    if measure is not None:
        what = contrast.name.partition("(")[2].rstrip(")") or "both rates"
        return f"measures of {what}"
    return f"{contrast.name}{'' if contrast.group is None else ' of groups'}"


def points_of(population: Population, levels: Sequence[float]) -> dict[str, ff.OperatingPoint]:
    """Return the operating points to look at: thresholds of the population, and the FMRs themselves."""
    points = {f"threshold of FMR {level:g}": ff.at_threshold(population.threshold(level)) for level in levels}
    if not population.step:
        points |= {f"FMR {level:g}": ff.at_fmr(level) for level in levels}
    return points


def truths(population: Population, level: float) -> dict[tuple[str, int | None], tuple[float, float]]:
    """Return the rates of both systems, overall and of groups, at a threshold of the population."""
    threshold = population.threshold(level)
    fmr = population.fmr(threshold)
    weights = population.weights()
    found = {("fmr", None): (float(fmr @ weights),) * 2}
    of_mated = np.array(population.sizes) / sum(population.sizes)
    pair = population.fnmr(threshold), population.fnmr(threshold, second=True)
    found["fnmr", None] = float(pair[0] @ of_mated), float(pair[1] @ of_mated)
    for k in range(len(population.sizes)):
        found["fmr", k] = (float(fmr[k]),) * 2
        found["fnmr", k] = float(pair[0][k]), float(pair[1][k])
    return found


def _some(population: Population, seeds: range, levels: Sequence[float]) -> dict[tuple[str, str], Count]:
    points = points_of(population, levels)
    names = {str(point): name for name, point in points.items()}
    true = {name: truths(population, float(name.rpartition(" ")[2])) for name in points}
    found: dict[tuple[str, str], Count] = defaultdict(Count)
    for seed in seeds:
        systems = population.draw_two(np.random.default_rng([seed, sum(map(ord, population.name))]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FastfairWarning)
            paired = ff.compare(*systems, list(points.values()), n_resamples=RESAMPLES, rng=seed, n_threads=1)
        named, tested = set(), set()
        for contrast in paired.contrasts:
            at = names.get(contrast.operating_point or "", "")
            count = found[kind_of(contrast), at]
            count.total += 1
            count.withheld += contrast.verdict == "withheld"
            if contrast.verdict not in ("withheld", ""):
                tested.add((kind_of(contrast), at))
                count.contrasts += 1
                count.small += contrast.pvalue <= LEVEL
            if contrast.verdict in ("first", "second"):
                named.add((kind_of(contrast), at))
            key = contrast.name, None if contrast.group is None else int(contrast.group)
            if at and key in true[at]:
                one, other = true[at][key]
                if np.isfinite(contrast.low):
                    count.given += 1
                    count.inside += contrast.low - 1e-12 <= one - other <= contrast.high + 1e-12
                if np.isfinite(contrast.ratio_low) and other > 0:
                    count.ratio_given += 1
                    count.ratio_inside += contrast.ratio_low - 1e-9 <= one / other <= contrast.ratio_high + 1e-9
        for key in {(kind_of(c), names.get(c.operating_point or "", "")) for c in paired.contrasts}:
            found[key].data_sets += 1
            found[key].tested += key in tested
            found[key].found += key in named
    return dict(found)


def study(
    population: Population, n_data_sets: int, levels: Sequence[float], processes: int | None = None
) -> dict[tuple[str, str], Count]:
    """Compare the two systems of many data sets; data set r has seed r."""
    whole: dict[tuple[str, str], Count] = {}
    (parts,) = over_data_sets([functools.partial(_some, population, levels=levels)], n_data_sets, processes)
    for part in parts:
        for key, count in part.items():
            whole[key] = whole.get(key, Count()) + count
    return whole


def table(found: dict[tuple[str, str], Count]) -> str:
    """Lay out what a population gave."""
    lines = [
        "| Difference | At | Names a system | p at most 5 % | Interval of difference | of ratio | Withheld |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]

    def percent(part: int, whole: int) -> str:
        return f"{100 * part / whole:.1f}" if whole else "–"

    for (kind, at), count in sorted(found.items(), key=lambda one: (one[0][1], one[0][0])):
        cells = [
            kind, at, percent(count.found, count.tested), percent(count.small, count.contrasts),
            percent(count.inside, count.given), percent(count.ratio_inside, count.ratio_given),
            percent(count.withheld, count.total),
        ]  # fmt: skip
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--data-sets", type=int, default=1000)
    parser.add_argument("--populations", nargs="*", help="names; by default all")
    parser.add_argument("--levels", nargs="*", type=float, default=[1e-2, 1e-3])
    parser.add_argument("--processes", type=int)
    asked = parser.parse_args()
    for population in FAIR:
        if not asked.populations or population.name in asked.populations:
            found = study(population, asked.data_sets, asked.levels, asked.processes)
            print(f"### {population.name}\n\n{table(found)}\n", flush=True)


if __name__ == "__main__":
    main()
