"""How often 95 % intervals hold the truth, and how wide they are, on simulated populations whose
truth is known.

`python -m studies coverage_study`, run in `tests/`, prints the tables of the documentation;
`test_coverage_study.py` checks what they say.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr

import fastfair as ff
from fastfair.evaluation.result import Evaluation

from . import evaluated
from .evaluated import Key, Study
from .populations import compared
from .processes import chosen, study_parser
from .tables import by_population, table

Quantity = tuple[str, str]  # its label, and its operating point, by the FMR of the population there
LEVELS = (1e-1, 1e-2, 1e-3)
MEASURES = ("fdr", "garbe", "max_geomean_ratio")
VARIANTS = {
    "default": {},
    "product": {"settings": ff.EvaluationSettings(scheme="product")},
    "comparison": {"unit": "comparison"},
}
METHODS = ("percentile", "basic", "normal", "bca", "dyadic")
RESAMPLES = 500
LEAST_ERRORS = 10  # behind the overall FMR for an operating point to be looked at


@dataclass(frozen=True)
class Population:
    """Groups of subjects whose scores are normal with variance 1, so that every rate is known in
    closed form.

    A non-mated score of subjects k and l is shift + effect * (a_k + a_l) / sqrt(2) + noise, a mated
    one of subject k mean + effect * b_k + noise; a_k and b_k are standard normal with correlation
    1/2.
    """

    name: str
    subjects: int  # in each group
    effect: float
    partners: int | None = None  # subjects that each is compared with; None for all of the group
    repeats: int = 1  # comparisons of each pair
    pair_effect: float = 0.0  # share of the variance that the comparisons of a pair have in common
    across: bool = False  # whether pairs of different groups are compared, too
    shifts: tuple[float, ...] = (-0.15, 0.0, 0.15)
    means: tuple[float, ...] = (3.3, 3.1, 3.5)
    attempts: int = 4  # mated comparisons of a subject

    @property
    def groups(self) -> int:
        return len(self.shifts)


WEAK, STRONG = 0.2, 0.6
FAIR = {"shifts": (0.0,) * 3, "means": (3.3,) * 3}
POPULATIONS = (
    Population("20, weak", 20, WEAK),
    Population("20, strong", 20, STRONG),
    Population("60, weak", 60, WEAK),
    Population("60, strong", 60, STRONG),
    Population("60, strong, fair", 60, STRONG, **FAIR),
    Population("60, strong, 3 a pair", 60, STRONG, repeats=3, pair_effect=0.3),
    Population("60, strong, across groups", 60, STRONG, across=True),
    Population("200, weak", 200, WEAK),
    Population("200, strong", 200, STRONG),
    Population("500, weak, 40 partners", 500, WEAK, partners=40),
    Population("500, strong, 40 partners", 500, STRONG, partners=40),
)


@functools.lru_cache(maxsize=1)
def pairs(population: Population) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """List who is compared with whom."""
    n, groups = population.subjects, population.groups
    if population.across:
        first, second = np.triu_indices(n * groups, 1)
        # Which of the two is the reference alternates, so that every cell of the group-by-group
        # matrix has comparisons.
        turned = (first + second) % 2 == 1
        first, second = np.where(turned, second, first), np.where(turned, first, second)
    else:
        if population.partners is None:
            first, second = np.triu_indices(n, 1)
        else:
            steps = population.partners // 2
            first = np.repeat(np.arange(n), steps)
            second = (first + np.tile(np.arange(1, steps + 1), n)) % n
        start = n * np.arange(groups)[:, None]
        first, second = (start + first).ravel(), (start + second).ravel()
    return np.repeat(first, population.repeats), np.repeat(second, population.repeats)


def draw(population: Population, rng: np.random.Generator) -> ff.Comparisons:
    """Draw subjects and the scores of their comparisons."""
    n, effect = population.subjects * population.groups, population.effect
    group = np.arange(n) // population.subjects
    shift, mean = np.array(population.shifts)[group], np.array(population.means)[group]
    a = rng.normal(size=n)
    b = 0.5 * a + math.sqrt(0.75) * rng.normal(size=n)
    i, j = pairs(population)
    noise = math.sqrt(1 - effect**2 - population.pair_effect) * rng.normal(size=i.size)
    if population.pair_effect:
        of_pair = rng.normal(size=i.size // population.repeats)
        noise += math.sqrt(population.pair_effect) * np.repeat(of_pair, population.repeats)
    nonmated = (shift[i] + shift[j]) / 2 + effect * (a[i] + a[j]) / math.sqrt(2) + noise
    k = np.repeat(np.arange(n), population.attempts)
    mated = mean[k] + effect * b[k] + math.sqrt(1 - effect**2) * rng.normal(size=k.size)
    return compared(mated, nonmated, k, i, j, group)


def overall_fmr(population: Population, threshold: float) -> float:
    """Compute the FMR over all non-mated comparisons."""
    shift = np.array(population.shifts)
    if not population.across:
        return float(ndtr(shift - threshold).mean())
    n = population.subjects
    sizes = np.full((shift.size, shift.size), n * n / 2)
    np.fill_diagonal(sizes, n * (n - 1) / 2)
    return float(np.average(ndtr((shift[:, None] + shift) / 2 - threshold), weights=sizes))


@functools.cache
def thresholds(population: Population) -> dict[ff.OperatingPoint, float]:
    """Return the operating points to look at, held thresholds and held FMRs, and the population's
    threshold at each."""
    found = {}
    levels = [level for level in LEVELS if level * pairs(population)[0].size >= LEAST_ERRORS]
    at_level = {
        level: brentq(lambda t, a=level: overall_fmr(population, t) - a, -9, 9) for level in levels
    }
    found |= {ff.at_threshold(t): t for t in at_level.values()}
    found |= {ff.at_fmr(level): t for level, t in at_level.items()}
    return found


@functools.cache
def truth(population: Population) -> dict[Key, float]:
    """Compute what every interval should hold."""
    shift, mean = np.array(population.shifts), np.array(population.means)
    found: dict[Key, float] = {}
    for point, t in thresholds(population).items():
        at = str(point)
        fmr, fnmr = ndtr(shift - t), ndtr(t - mean)
        found["threshold", None, at] = t
        found["fmr", None, at], found["fnmr", None, at] = (
            overall_fmr(population, t),
            float(fnmr.mean()),
        )
        for k in range(population.groups):
            found["fmr", str(k), at], found["fnmr", str(k), at] = float(fmr[k]), float(fnmr[k])
            for q in range(population.groups):
                found["fmr_matrix", f"{k} / {q}", at] = float(ndtr((shift[k] + shift[q]) / 2 - t))
        found["fdr", None, at] = float(ff.measures.fdr(fmr, fnmr))
        found["garbe", None, at] = float(ff.measures.garbe(fmr, fnmr))
        for name, rates in (("fmr", fmr), ("fnmr", fnmr)):
            found[f"max_geomean_ratio({name})", None, at] = float(
                ff.measures.max_geomean_ratio(rates)
            )
    equal = brentq(lambda t: overall_fmr(population, t) - ndtr(t - mean).mean(), -9, 9)
    found["eer", None, None] = overall_fmr(population, equal)
    found |= {
        ("eer", str(k), None): float(ndtr((shift[k] - mean[k]) / 2))
        for k in range(population.groups)
    }
    return found


def _evaluations(
    population: Population, variants: Sequence[str], methods: Sequence[str], seed: int
) -> Iterable[tuple[str | tuple[str, str], Evaluation]]:
    comparisons = draw(population, np.random.default_rng([seed, population.subjects]))
    given = {"metrics": ["eer"], "n_resamples": RESAMPLES, "rng": seed, "n_threads": 1}
    for variant in variants:
        found = ff.evaluate(
            comparisons, list(thresholds(population)), MEASURES, **given, **VARIANTS[variant]
        )
        yield variant, found
        for method in methods if variant == "default" else ():
            yield ("default", method), found.with_intervals(method=method)


def study(
    population: Population,
    n_data_sets: int = 1000,
    *,
    variants: Sequence[str] = tuple(VARIANTS),
    methods: Sequence[str] = (),
    processes: int | None = None,
) -> Study:
    """Simulate data sets, evaluate each, and collect estimates and intervals.

    Parameters
    ----------
    population : Population
        What is simulated.
    n_data_sets : int, default 1000
        How many; data set r has seed r.
    variants : sequence of str
        Keys of `VARIANTS`.
    methods : sequence of str
        Interval methods to try on the default's replicates.
    processes : int, optional
        All processors by default.

    Returns
    -------
    Study
    """
    evaluations = functools.partial(_evaluations, population, variants, methods)
    return evaluated.study(population, truth(population), evaluations, n_data_sets, processes)


@dataclass(frozen=True)
class Coverage:
    """How one kind of interval did for one quantity, the groups' own values taken together.

    Attributes
    ----------
    share : float
        Intervals that hold the truth, of those there are.
    error : float
        Binomial standard error of the share, as if a data set's groups were one.
    below, above : float
        Shares of intervals that lie below and above the truth.
    width : float
        Mean width, of the finite ones.
    given : float
        Share of data sets with an interval.
    """

    share: float
    error: float
    below: float
    above: float
    width: float
    given: float


def quantities(found: Study) -> dict[Quantity, list[int]]:
    """Return where quantities stand in a study, group rates as one, without those that are held."""
    at_threshold = {str(ff.at_threshold(t)): t for t in thresholds(found.population).values()}
    names = {
        "eer": "EER",
        "fmr": "FMR",
        "fnmr": "FNMR",
        "fmr_matrix": "FMR",
        "fdr": "FDR",
        "garbe": "GARBE",
    }
    places: dict[Quantity, list[int]] = {}
    for position, (name, group, point) in enumerate(found.keys):
        held_threshold = point in at_threshold
        if (name == "threshold" and held_threshold) or (
            name == "fmr" and group is None and not held_threshold
        ):
            continue
        label = names.get(name, name)
        if name.startswith("max_geomean_ratio"):
            label = f"max-geomean ratio of {name[-5:-1].lstrip('(').upper()}"
        if name == "fmr_matrix":
            reference, probe = str(group).split(" / ")
            if reference == probe:
                continue
            label += " across groups"
        elif group is not None:
            label += " of a group"
        if held_threshold:
            at = f"threshold of FMR {overall_fmr(found.population, at_threshold[str(point)]):.3g}"
        else:
            at = "" if point is None else str(point).replace("FMR=", "FMR ")
        places.setdefault((label, at), []).append(position)
    return places


def coverage(found: Study, quantity: Quantity, kind: str | tuple[str, str] = "default") -> Coverage:
    """Compare intervals of one kind with the truth."""
    where = quantities(found)[quantity]
    low, high = (found.intervals[kind][end][:, where] for end in ("low", "high"))
    true = found.truth[where]
    given = ~np.isnan(low) & ~np.isnan(high)
    # Measures of a fair population are 0 or 1 but for rounding.
    below, above = (high < true - 1e-9) & given, (low > true + 1e-9) & given
    n = int(given.sum())
    if n == 0:
        return Coverage(*[math.nan] * 5, 0.0)
    share = 1 - (below.sum() + above.sum()) / n
    data_sets = max(1, int(given.any(axis=1).sum()))
    width = (high - low)[given & np.isfinite(high) & np.isfinite(low)]
    return Coverage(
        float(share),
        math.sqrt(max(share * (1 - share), 0.25 / data_sets) / data_sets),
        float(below.sum() / n),
        float(above.sum() / n),
        float(width.mean()) if width.size else math.inf,
        float(given.mean()),
    )


def error_ratio(found: Study, quantity: Quantity, variant: str = "default") -> float:
    """Divide the mean bootstrap standard error by the standard deviation of the estimates over data
    sets."""
    where = quantities(found)[quantity]
    mean = found.intervals[variant]["standard_error"][:, where].mean(axis=0)
    return float((mean / found.first["estimate"][:, where].std(axis=0)).mean())


def mean_errors(found: Study, quantity: Quantity) -> float:
    """Return how many errors are behind a rate, on average."""
    return float(found.first["n_errors"][:, quantities(found)[quantity]].mean())


def pick(found: Study, label: str, at: str = "") -> Quantity | None:
    """Return a quantity by its label and operating point, which may hold the FMR of `held_level`;
    None without it."""
    quantity = label, at.format(held_level(found.population))
    return quantity if quantity in quantities(found) else None


def _percent(result: Coverage) -> str:
    if result.given == 0:
        return "–"
    return f"{100 * result.share:.1f} ± {100 * result.error:.1f}" + (
        "" if result.given > 0.995 else "*"
    )


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.2g}" if math.isfinite(value) else "∞"


def held_level(population: Population) -> str:
    """Return the FMR at which the tables show other rates and measures: 0.1 with too few
    comparisons for 0.01."""
    return "0.01" if ff.at_fmr(0.01) in thresholds(population) else "0.1"


def full_table(found: Study) -> str:
    """Lay out everything about one population."""
    heads = ["Quantity", "At", "Truth", "Errors"]
    heads += [head for variant in found.variants for head in (variant.capitalize(), "Width")]
    rows = []
    for quantity, where in quantities(found).items():
        errors = mean_errors(found, quantity)
        cells = [*quantity, _number(float(found.truth[where].mean()))]
        cells.append(
            "" if math.isnan(errors) else f"{errors:,.0f}" if errors >= 10 else f"{errors:.1f}"
        )
        for variant in found.variants:
            result = coverage(found, quantity, variant)
            cells += [_percent(result), _number(result.width)]
        rows.append(cells)
    return table(heads, rows, 2)


_FMRS = tuple(
    (f"FMR {level:g}", "FMR of a group", f"threshold of FMR {level:g}") for level in LEVELS
)


def main_table(studies: Sequence[Study], variant: str) -> str:
    """Lay out the coverage of one variant over populations, mean widths in parentheses."""
    columns = (
        *_FMRS,
        ("FNMR", "FNMR of a group", "threshold of FMR {}"),
        ("FNMR at FMR", "FNMR of a group", "FMR {}"),
        ("EER", "EER of a group", ""),
        ("max-geomean ratio", "max-geomean ratio of FMR", "FMR {}"),
        ("GARBE", "GARBE", "FMR {}"),
        ("FDR", "FDR", "FMR {}"),
    )

    def cell(found: Study, label: str, at: str) -> str:
        quantity = pick(found, label, at)
        result = None if quantity is None else coverage(found, quantity, variant)
        return "–" if result is None else f"{_percent(result)} ({_number(result.width)})"

    return by_population({found.population.name: found for found in studies}, columns, cell)


def error_table(studies: Sequence[Study]) -> str:
    """Lay out bootstrap over true standard error, of each variant."""
    columns = (
        *_FMRS,
        ("threshold at FMR", "threshold", "FMR {}"),
        ("FNMR at FMR", "FNMR", "FMR {}"),
    )

    def cell(found: Study, label: str, at: str) -> str:
        quantity = pick(found, label, at)
        ratios = (
            []
            if quantity is None
            else [error_ratio(found, quantity, variant) for variant in found.variants]
        )
        return " / ".join(f"{ratio:.2f}" for ratio in ratios) or "–"

    return by_population({found.population.name: found for found in studies}, columns, cell)


def method_table(studies: Sequence[Study], methods: Sequence[str] = METHODS) -> str:
    """Lay out the range of coverage over populations by quantity and method; rates with ten errors
    or more."""
    ranges: dict[str, dict[str, list[float]]] = {}
    for found in studies:
        for quantity in quantities(found):
            if mean_errors(found, quantity) < LEAST_ERRORS:
                continue
            of_label = ranges.setdefault(quantity[0], {})
            for method in ("default", *methods):
                kind = method if method == "default" else ("default", method)
                result = coverage(found, quantity, kind)
                if result.given > 0.9:
                    of_label.setdefault(method, []).append(100 * result.share)
    rows = []
    for label, of_label in ranges.items():
        shares = [of_label.get(method) for method in ("default", *methods)]
        cells = [f"{min(found):.0f} to {max(found):.0f}" if found else "–" for found in shares]
        rows.append([label, *cells])
    return table(["Quantity", "default", *methods], rows)


def main() -> None:
    """Print the tables."""
    parser = study_parser(main.__doc__, 1000)
    parser.add_argument(
        "--full", action="store_true", help="every quantity of every population, too"
    )
    parser.add_argument("--variants", nargs="*", choices=VARIANTS, default=list(VARIANTS))
    parser.add_argument("--methods", nargs="*", choices=METHODS, default=METHODS)
    asked = parser.parse_args()
    studies = [
        study(
            p,
            asked.data_sets,
            variants=asked.variants,
            methods=asked.methods,
            processes=asked.processes,
        )
        for p in chosen(POPULATIONS, asked.only)
    ]
    for found in studies if asked.full else ():
        print(f"### {found.population.name}\n\n{full_table(found)}\n")
    for variant in asked.variants:
        print(f"### {variant}\n\n{main_table(studies, variant)}\n")
    print(
        f"### Methods\n\n{method_table(studies, asked.methods)}\n\n### Standard"
        f" errors\n\n{error_table(studies)}"
    )
