"""How often `compare` tells equal systems apart, and unequal ones, on populations whose truth is
known.

`python -m studies paired_study`, run in `tests/`, prints the tables of the documentation. With
`--closed-form` it prints how wide intervals in closed form are beside those of replicates, and how
often those of differences hold the truth; coverage of the rates themselves is `interval_study
--closed-form`. With `--ranking` it prints how often equal systems are told apart among several, and
how often all ranks hold the true ones.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

import fastfair as ff
from fastfair import intervals
from fastfair.error_rates.operating_points import FEWEST_ERRORS
from fastfair.evaluation.contrasts import Contrast
from fastfair.evaluation.system_comparison import SystemComparison
from fastfair.measures._registry import measure_of

from . import tables
from .populations import BY_NAME, FAIR, SMALL_TO_LARGE, Population
from .processes import added, chosen, collected, of_data_sets, study_parser

RESAMPLES = 1000
LEVEL = 0.05


# How often a kind of difference was tested, found, and held inside its interval, by what is
# counted:
#  data_sets, tested, found: data sets, those with a verdict other than "withheld", and those that
# name a system in any contrast of the kind; contrasts, small: contrasts with a verdict other than
# "withheld", and those with a p-value, not adjusted, of at most 5 %; resampled, resampled_small,
# both_small: of these contrasts, those in which both systems have as many errors as bootstrap
# p-values need; and of those, how many have a bootstrap p-value of at most 5 %, and how many a
# p-value of the test itself; inside, given: intervals of differences that hold the truth, and
# intervals; ratio_inside, ratio_given: the same of ratios, where both rates are above 0; withheld,
# total: contrasts without a verdict, and contrasts.
Count = Counter[str]


def kind_of(contrast: Contrast) -> str:
    """Name the kind of a difference."""
    measure = measure_of(contrast.name)
    if measure is not None:
        what = contrast.name.partition("(")[2].rstrip(")") or "both rates"
        return f"measures of {what}"
    return f"{contrast.name}{'' if contrast.group is None else ' of groups'}"


@functools.cache
def points_of(population: Population, levels: tuple[float, ...]) -> dict[str, ff.OperatingPoint]:
    """Return the operating points to look at: thresholds of the population, and the FMRs
    themselves."""
    points = {
        f"threshold of FMR {level:g}": ff.at_threshold(population.threshold(level))
        for level in levels
    }
    if not population.step:
        points |= {f"FMR {level:g}": ff.at_fmr(level) for level in levels}
    return points


@functools.cache
def truths(population: Population, point: str) -> dict[tuple[str, int | None], tuple[float, float]]:
    """Return the rates of both systems, overall and of groups, at an operating point of
    `points_of`."""
    level, held = float(point.rpartition(" ")[2]), point.startswith("FMR")
    thresholds = [population.threshold(level, second=held and second) for second in (False, True)]
    systems = list(zip(thresholds, (False, True), strict=True))
    found = {}
    for name, of_groups in (("fmr", population.fmr), ("fnmr", population.fnmr)):
        first, second = (of_groups(*system) for system in systems)
        found[name, None] = tuple(population.overall(name, *system) for system in systems)
        found |= {
            (name, k): (float(first[k]), float(second[k])) for k in range(len(population.sizes))
        }
    return found


def truth_of(
    contrast: Contrast, known: dict[tuple[str, int | None], tuple[float, float]], alike: bool
) -> tuple[float, float]:
    """Return what is true of either system, NaN where it is not known.

    Rates are known; systems that are alike differ in nothing. Measures are then given as 0, so that
    they have no ratio.
    """
    key = contrast.name, None if contrast.group is None else int(contrast.group)
    if contrast.probe_group is None and key in known:
        return known[key]
    if not alike:
        return np.nan, np.nan
    return (0.0, 0.0) if measure_of(contrast.name) is not None else (1.0, 1.0)


def bootstrap_pvalues(paired: SystemComparison) -> list[float]:
    """Return the p-value that replicates of each difference give; NaN without any, and where a rate
    has too few errors for one."""
    both = paired.evaluations
    if not paired.settings["n_resamples"]:
        return [np.nan] * len(paired.contrasts)
    rows = {(q.name, q.group, q.at, q.probe_group): k for k, q in enumerate(both[0].quantities)}
    found = []
    for contrast in paired.contrasts:
        k = rows[contrast.name, contrast.group, contrast.at, contrast.probe_group]
        errors = [evaluation.quantities[k].n_errors for evaluation in both]
        if any(number is not None and number < FEWEST_ERRORS for number in errors):
            found.append(np.nan)
            continue
        with np.errstate(invalid="ignore"):
            drawn = np.subtract(*(evaluation.uncertainty.replicates[k] for evaluation in both))
        found.append(float(intervals.bootstrap_pvalue(drawn[None])[0]))
    return found


def data_set(population: Population, seed: int) -> tuple[ff.Comparisons, ff.Comparisons]:
    """Draw what two systems give to a data set."""
    return population.draw_two(np.random.default_rng([seed, sum(map(ord, population.name))]))


def _look(
    population: Population, levels: tuple[float, ...], seed: int
) -> dict[tuple[str, str], Count]:
    points = points_of(population, levels)
    systems = data_set(population, seed)
    paired = ff.compare(
        *systems, list(points.values()), metrics="all", n_resamples=RESAMPLES, rng=seed, n_threads=1
    )
    return counted(population, points, paired)


def counted(
    population: Population, points: dict[str, ff.OperatingPoint], compared: SystemComparison
) -> dict[tuple[str, str], Count]:
    """Count what became of each kind of difference, at points of `points_of` and perhaps others."""
    names = {str(point): name for name, point in points.items()}
    known_points = ("threshold", "FMR")  # where rates are known
    alike = not (population.second_shifts or population.second_gaps)
    found: dict[tuple[str, str], Count] = defaultdict(lambda: Counter(data_sets=1))
    for contrast, resampled in zip(compared.contrasts, bootstrap_pvalues(compared), strict=True):
        at = names.get(contrast.operating_point or "", "")
        count = found[kind_of(contrast), at]
        count["total"] += 1
        count["withheld"] += contrast.verdict == "withheld"
        if contrast.verdict not in ("withheld", ""):
            count["tested"] = 1
            count["contrasts"] += 1
            count["small"] += contrast.pvalue <= LEVEL
            if not np.isnan(resampled):
                count["resampled"] += 1
                count["resampled_small"] += resampled <= LEVEL
                count["both_small"] += contrast.pvalue <= LEVEL
        if contrast.verdict in ("first", "second"):
            count["found"] = 1
        rates = truths(population, at) if at.startswith(known_points) else {}
        first, second = truth_of(contrast, rates, alike)
        if np.isfinite([contrast.low, first - second]).all():
            count["given"] += 1
            count["inside"] += contrast.low - 1e-12 <= first - second <= contrast.high + 1e-12
        if np.isfinite(contrast.ratio_low) and second > 0:
            count["ratio_given"] += 1
            count["ratio_inside"] += (
                contrast.ratio_low - 1e-9 <= first / second <= contrast.ratio_high + 1e-9
            )
    return dict(found)


def study(
    population: Population, n_data_sets: int, levels: Sequence[float], processes: int | None = None
) -> dict[tuple[str, str], Count]:
    """Compare the two systems of many data sets; data set r has seed r."""
    return added(
        of_data_sets(functools.partial(_look, population, tuple(levels)), n_data_sets, processes)
    )


def table(found: dict[tuple[str, str], Count]) -> str:
    """Lay out what a population gave."""
    names = (
        "Difference",
        "At",
        "Names a system",
        "p at most 5 %",
        "bootstrap p at most 5 %",
        "Interval of difference",
        "of ratio",
        "Withheld",
    )
    rows = []
    for (kind, at), count in sorted(found.items(), key=lambda item: (item[0][1], item[0][0])):
        rows.append(
            [kind, at, *(tables.percent_of(count[part], count[whole]) for part, whole in SHARES)]
        )
    return tables.table(names, rows, 2)


# Counts of a row of the table, each with that which it is a share of.
SHARES = (
    ("found", "tested"), ("small", "contrasts"), ("resampled_small", "resampled"), ("inside", "given"),
    ("ratio_inside", "ratio_given"), ("withheld", "total"),
)  # fmt: skip
# Kinds of differences, and where they are taken, in the order of the columns of summaries.
SUMMARY = (
    ("FMR of groups, few errors", "fmr of groups", "threshold of FMR 0.001"),
    ("FMR of groups", "fmr of groups", "threshold of FMR 0.01"),
    ("FMR of groups at FMR 0.01", "fmr of groups", "FMR 0.01"),
    ("FNMR of groups", "fnmr of groups", "threshold of FMR 0.01"),
    ("FNMR", "fnmr", "threshold of FMR 0.01"),
    ("FNMR at FMR 0.001", "fnmr", "FMR 0.001"),
    ("FNMR at FMR 0.01", "fnmr", "FMR 0.01"),
    ("FNMR of groups at FMR 0.01", "fnmr of groups", "FMR 0.01"),
    ("EER", "eer", ""),
    ("EER of groups", "eer of groups", ""),
    ("minDCF", "min_dcf", ""),
    ("Cllr", "cllr", ""),
    ("min Cllr", "min_cllr", ""),
    ("measures of FMR", "measures of fmr", "threshold of FMR 0.01"),
    ("of FNMR", "measures of fnmr", "threshold of FMR 0.01"),
    ("of both", "measures of both rates", "threshold of FMR 0.01"),
)


def summary(
    studies: dict[str, dict[tuple[str, str], Count]], part: str, whole: str, other: str = ""
) -> str:
    """Lay out over populations the share that an attribute of `Count` is of another, and a second
    in parentheses."""

    def cell(found: dict[tuple[str, str], Count], kind: str, at: str) -> str:
        count = found.get((kind, at), Counter())
        share = tables.percent_of(count[part], count[whole])
        return (
            f"{share} ({tables.percent_of(count[other], count[whole])})"
            if other and count[whole]
            else share
        )

    return tables.by_population(studies, SUMMARY, cell)


def worse(population: Population) -> Population:
    """Make the second system less accurate, in the last group more than in others."""
    others = (0.0,) * (len(population.sizes) - 1)
    shifts, gaps = (0.2,) * len(others) + (0.5,), (-0.2,) * len(others) + (-0.6,)
    return replace(
        population, name=f"{population.name}, second worse", second_shifts=shifts, second_gaps=gaps
    )


CLOSED_LEVELS = (1e-2,)
EVERY = 10  # data sets, of which one is compared with replicates, too
CLOSED_RESAMPLES = 2000
Ends = tuple[float | None, float | None]
CLOSED_COLUMNS = (
    "width of FMR", "width of FNMR", "width of differences", "FMR", "FMR of groups", "FNMR", "FNMR of groups",
)  # fmt: skip


def _width(kind: str, closed: Ends, drawn: Ends) -> Iterable[tuple[str, float]]:
    ends = np.array([*closed, *drawn], np.float64)
    if np.isfinite(ends).all() and ends[3] > ends[2]:
        yield f"width of {kind}", float((ends[1] - ends[0]) / (ends[3] - ends[2]))


def widths(closed: SystemComparison, drawn: SystemComparison) -> Iterable[tuple[str, float]]:
    """Yield the widths of intervals in closed form divided by those of replicates."""
    for quantity, twin in zip(
        closed.evaluations[0].quantities, drawn.evaluations[0].quantities, strict=True
    ):
        if quantity.method == "closed form" and twin.method == "logit":
            kind = "FNMR" if quantity.name == "fnmr" else "FMR"
            yield from _width(kind, (quantity.low, quantity.high), (twin.low, twin.high))
    for contrast, twin in zip(closed.contrasts, drawn.contrasts, strict=True):
        if min(contrast.first, contrast.second) > 0:
            yield from _width("differences", (contrast.low, contrast.high), (twin.low, twin.high))


def _look_at_closed_forms(population: Population, seed: int) -> Iterable[tuple[str, float]]:
    points = points_of(population, CLOSED_LEVELS)
    names = {str(point): name for name, point in points.items()}
    systems = data_set(population, seed)
    compare = functools.partial(
        ff.compare, *systems, list(points.values()), measures=(), metrics=(), n_threads=1
    )
    closed = compare(n_resamples=0)
    if seed % EVERY == 0:
        yield from widths(closed, compare(n_resamples=CLOSED_RESAMPLES, rng=seed))
    for contrast in closed.contrasts:
        key = contrast.name, None if contrast.group is None else int(contrast.group)
        true = truths(population, names[contrast.operating_point or ""])
        if contrast.probe_group is None and np.isfinite(contrast.low) and key in true:
            first, second = true[key]
            kind = contrast.name.upper() + ("" if contrast.group is None else " of groups")
            yield kind, contrast.low - 1e-12 <= first - second <= contrast.high + 1e-12


def study_of_closed_forms(
    population: Population, n_data_sets: int, processes: int | None = 1
) -> dict[str, list[float]]:
    """Return ratios of widths in some of many data sets, and whether intervals of differences hold
    the truth."""
    return collected(functools.partial(_look_at_closed_forms, population), n_data_sets, processes)


def _closed_cell(found: dict[str, list[float]], column: str) -> str:
    mean = float(np.mean(found[column])) if found.get(column) else float("nan")
    return f"{mean:.3f}" if column.startswith("width") else f"{100 * mean:.1f}"


# What became of the systems' differences and ranks in one quantity, where many are ranked, is
# counted by:
#  data_sets, named: data sets, and those in which systems that are equal are called different, or
# in the wrong order; inside: data sets in which the ranks of all systems, in all groups, hold the
# true ones; pairs, found: pairs of systems that truly differ, and those called different; width,
# systems: numbers of ranks that are possible, summed over systems, and systems.
RANKING_RESAMPLES = 300
EQUAL_GAPS = (0.0, 0.0, 0.0, 0.0)
UNEQUAL_GAPS = (
    0.0,
    -0.1,
    -0.3,
    -0.9,
)  # added to mated scores: the more, the fewer false non-matches
RANKED = (
    BY_NAME["Student t scores"],
    Population("8-bit scores, groups of 15 to 400", SMALL_TO_LARGE, step=1 / 16, pairs=30),
    BY_NAME["skewed subjects"],
)
RANKED_FMR = 1e-2  # FMR at the threshold
RANKED_FEW = 1e-3  # at which a group has few false matches


@functools.cache
def quantities_of(population: Population) -> dict[str, tuple[str, bool, ff.OperatingPoint | None]]:
    """Return what is looked at: its name, whether of groups, and the operating point."""
    at, few = (ff.at_threshold(population.threshold(level)) for level in (RANKED_FMR, RANKED_FEW))
    return {
        "FNMR": ("fnmr", False, at),
        "FNMR of groups": ("fnmr", True, at),
        "FNMR at FMR 0.01": ("fnmr", False, ff.at_fmr(RANKED_FMR)),
        "FMR of groups, few errors": ("fmr", True, few),
        "EER": ("eer", False, None),
    }


def true_ranks(gaps: Sequence[float], name: str) -> list[tuple[int, int]]:
    """Return the ranks that each system has, all those that equal systems share; gaps do not change
    an FMR."""
    values = [0.0 if name == "fmr" else -gap for gap in gaps]
    return [
        (1 + sum(v < value for v in values), sum(v <= value for v in values)) for value in values
    ]


def _count(
    found: SystemComparison, name: str, groups: Sequence[str | None], at, gaps: Sequence[float]
) -> Count:
    truth = dict(zip(found.systems, true_ranks(gaps, name), strict=True))
    inside, wrong, count = True, False, Counter(data_sets=1)
    for group in groups:
        for one in found.ranking(name, group, at):
            least, most = truth[one.system]
            inside &= one.best_rank <= least and most <= one.worst_rank
            count["width"] += one.worst_rank - one.best_rank + 1
            count["systems"] += 1
        for first, second in itertools.combinations(found.systems, 2):
            verdict = found.contrast(name, group, at, systems=(first, second)).verdict
            true = np.sign(truth[first][0] - truth[second][0])
            count["pairs"] += true != 0
            count["found"] += true != 0 and verdict == ("first" if true < 0 else "second")
            wrong |= verdict in ("first", "second") and verdict != {-1: "first", 1: "second"}.get(
                true
            )
    return count + Counter(inside=int(inside), named=int(wrong))


def _look_at_ranks(population: Population, gaps: Sequence[float], seed: int) -> dict[str, Count]:
    asked = quantities_of(population)
    groups = [str(k) for k in range(len(population.sizes))]
    points = list(dict.fromkeys(at for _, _, at in asked.values() if at is not None))
    systems = population.draw_systems(
        np.random.default_rng([seed, sum(map(ord, population.name))]), gaps
    )
    found = ff.compare(
        systems,
        None,
        points,
        [],
        metrics=["eer"],
        n_resamples=RANKING_RESAMPLES,
        rng=seed,
        n_threads=1,
    )
    return {
        kind: _count(found, name, groups if of_groups else [None], at, gaps)
        for kind, (name, of_groups, at) in asked.items()
    }


def study_of_ranks(
    population: Population, n_data_sets: int, gaps: Sequence[float], processes: int | None = None
) -> dict[str, Count]:
    """Rank the systems of many data sets; data set r has seed r."""
    return added(
        of_data_sets(functools.partial(_look_at_ranks, population, gaps), n_data_sets, processes)
    )


def ranking_table(equal: dict[str, dict[str, Count]], unequal: dict[str, dict[str, Count]]) -> str:
    """Lay out what the populations gave."""
    names = (
        "Population",
        "Ranked by",
        "Equal systems called different",
        "Wrong order",
        "All ranks hold the true ones",
        "Differing pairs found",
        "Possible ranks of a system",
    )
    rows = []
    for population, counts in unequal.items():
        for kind, count in counts.items():
            shares = [
                of[part] / of["data_sets"]
                for of, part in (
                    (equal[population][kind], "named"),
                    (count, "named"),
                    (count, "inside"),
                )
            ]
            found = f"{100 * count['found'] / count['pairs']:.0f}" if count["pairs"] else "–"
            cells = [
                *(f"{100 * share:.0f}" for share in shares),
                found,
                f"{count['width'] / count['systems']:.1f}",
            ]
            rows.append([population, kind, *cells])
    return tables.table(names, rows, 2)


def main() -> None:
    """Print the tables."""
    parser = study_parser(main.__doc__, 1000)
    parser.add_argument("--levels", nargs="*", type=float, default=[1e-2, 1e-3])
    parser.add_argument(
        "--worse", action="store_true", help="the second system is less accurate, and less fair"
    )
    parser.add_argument("--closed-form", action="store_true", help="intervals without replicates")
    parser.add_argument(
        "--ranking", action="store_true", help="ranks of four systems, of 200 data sets"
    )
    asked = parser.parse_args()
    if asked.ranking:
        equal, unequal = (
            {
                p.name: study_of_ranks(p, asked.data_sets, gaps, asked.processes)
                for p in chosen(RANKED, asked.only)
            }
            for gaps in (EQUAL_GAPS, UNEQUAL_GAPS)
        )
        print(ranking_table(equal, unequal))
        return
    if asked.closed_form:
        of = {
            p.name: study_of_closed_forms(p, asked.data_sets, asked.processes)
            for p in chosen(FAIR, asked.only)
        }
        print(
            tables.by_population(of, [(column, column) for column in CLOSED_COLUMNS], _closed_cell)
        )
        return
    studies = {}
    for population in chosen(FAIR, asked.only):
        compared = worse(population) if asked.worse else population
        studies[population.name] = study(compared, asked.data_sets, asked.levels, asked.processes)
        print(f"### {compared.name}\n\n{table(studies[population.name])}\n", flush=True)
    print(f"### p at most 5 %\n\n{summary(studies, 'small', 'contrasts')}\n")
    both = summary(studies, "both_small", "resampled", "resampled_small")
    print(f"### p at most 5 % (bootstrap), where both have one\n\n{both}\n")
    print(f"### Names a system\n\n{summary(studies, 'found', 'tested')}\n")
    print(f"### Intervals of differences\n\n{summary(studies, 'inside', 'given')}\n")
    print(f"### Intervals of ratios\n\n{summary(studies, 'ratio_inside', 'ratio_given')}")
