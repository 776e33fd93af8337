"""How often `evaluate`'s 95 % intervals hold the truth where errors are few, groups unequal and
subjects skewed.

`python -m studies interval_study`, run in `tests/`, prints the table of the documentation, and with
`--simultaneous` that of how often the intervals of all groups hold the truth together, one at a
time and simultaneous; `test_interval_study.py` checks what they say. The populations are those of
`populations`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

import fastfair as ff
from fastfair.evaluation.result import Evaluation
from fastfair.resampling.engine import Replicates
from fastfair.uncertainty.quantities import Selection, entries

from . import evaluated, tables
from .evaluated import Floats, Key, Study
from .populations import _LAWS, FAIR, SMALL_TO_LARGE, Population
from .processes import chosen, of_data_sets, study_parser

RESAMPLES = 500
MEASURES = tuple(ff.measures.MEASURES)
_STEPS = 1200  # scores that stand for a law of scores
UNFAIR = (
    Population(
        "unfair, t scores", law="t", mean=5.5, shifts=(0.0, 0.0, 0.6), gaps=(0.0, -0.5, 0.0)
    ),
    Population("unfair, 15 to 400", SMALL_TO_LARGE, shifts=(0.4, 0.0, 0.2, 0.0, 0.0, 0.1)),
    Population(
        "unfair, skewed", (100, 100, 100), skewed=True, effect=0.6, mean=4.0, shifts=(0.0, 0.2, 0.4)
    ),
)
POPULATIONS = (*FAIR, *UNFAIR)


@functools.cache
def thresholds(population: Population) -> dict[str, tuple[ff.OperatingPoint, float]]:
    """Return what operating points are called, and the population's threshold at each.

    Two are at FMR 0.01, as a threshold and held. At the other two the smallest group expects two
    false matches, or two false non-matches.
    """

    def on_grid(threshold: float) -> float:
        return (
            math.ceil(threshold / population.step) * population.step
            if population.step
            else threshold
        )

    least = min(population.sizes)
    n_pairs = (
        least * (least - 1) / 2 if population.pairs is None else least * population.pairs
    ) * population.repeats
    low, high = population.attempts
    n_mated = least * (low if low == high else (high - low) / math.log((high + 1) / low))
    few_mated = brentq(lambda t: population.overall("fnmr", t) - 2 / n_mated, -1.9, 60)
    at = {
        "threshold": population.threshold(0.01),
        "few false matches": population.threshold(2 / n_pairs),
        "few false non-matches": on_grid(few_mated),
    }
    points = {name: (ff.at_threshold(t), t) for name, t in at.items()}
    if not population.step:  # a held FMR lies between two possible scores there
        points["held FMR"] = ff.at_fmr(0.01), at["threshold"]
    return points


def _costs(scores: Floats, fmr: Floats, fnmr: Floats) -> tuple[float, ...]:
    """Compute EER, minDCF, Cllr, min Cllr, AUC and d' from rates at ascending thresholds, and the scores
    from each to the next.

    scores: one below the first threshold, and one from each threshold on.
    """
    k = int(np.argmax(fnmr >= fmr))
    a, b = fmr[k - 1] - fnmr[k - 1], fnmr[k] - fmr[k]
    eer = float(fmr[k - 1] + (fmr[k] - fmr[k - 1]) * a / (a + b))
    min_dcf = float((0.05 * fnmr + 0.95 * fmr).min())
    mated, nonmated = np.diff(fnmr, prepend=0, append=1), -np.diff(fmr, prepend=1, append=0)
    cllr = float(mated @ np.logaddexp(0, -scores) + nonmated @ np.logaddexp(0, scores)) / (
        2 * math.log(2)
    )
    # The best calibration merges scores until ratios ascend: pool adjacent violators.
    blocks: list[list[float]] = []
    for m, n in zip(mated.tolist(), nonmated.tolist(), strict=True):
        blocks.append([m, n])
        while len(blocks) > 1 and blocks[-1][0] * blocks[-2][1] <= blocks[-2][0] * blocks[-1][1]:
            m, n = blocks.pop()
            blocks[-1][0] += m
            blocks[-1][1] += n
    cost = sum(m * math.log2(1 + n / m) if m > 0 else 0.0 for m, n in blocks)
    cost += sum(n * math.log2(1 + m / n) if n > 0 else 0.0 for m, n in blocks)
    auc = float(mated @ (np.cumsum(nonmated) - nonmated / 2))
    means = mated @ scores, nonmated @ scores
    variances = mated @ (scores - means[0]) ** 2, nonmated @ (scores - means[1]) ** 2
    d_prime = (means[0] - means[1]) / math.sqrt(sum(variances) / 2)
    return eer, min_dcf, cllr, cost / 2, auc, d_prime


@functools.cache
def truth(population: Population) -> dict[Key, float]:
    """Compute what every interval should hold."""
    points, weights = thresholds(population), (population.mated_weights(), population.weights())

    def rates(threshold: float) -> tuple[list[float], list[float]]:
        of_groups = population.fnmr(threshold), population.fmr(threshold)
        return tuple(
            [float(rate @ share), *rate] for rate, share in zip(of_groups, weights, strict=True)
        )

    if population.step:
        grid = population.step * np.arange(
            int(-8 / population.step), int((population.mean + 8) / population.step)
        )
        scores = np.append(grid[0] - population.step, grid)
    else:
        law = _LAWS[population.law][0]
        of_nonmated = law(np.linspace(-6, 6, _STEPS))
        grid = np.sort(np.concatenate((of_nonmated, population.mean + of_nonmated)))
        # Scores between two thresholds share their middle.
        scores = np.concatenate((grid[:1], (grid[1:] + grid[:-1]) / 2, grid[-1:]))
    fair = not (population.shifts or population.gaps)
    one = replace(population, sizes=population.sizes[:1]) if fair else population
    # Rates of skewed subjects take long, and their normal deviates run straight from each tenth
    # score to the next.
    few = grid[:: 10 if population.skewed else 1]
    fnmr, fmr = (
        np.array(
            [
                ndtr(np.interp(grid, few, ndtri(rate)))
                for rate in np.array([of_groups(t) for t in few]).T
            ]
        )
        for of_groups in (one.fnmr, one.fmr)
    )
    if fair:
        fnmr, fmr = (np.repeat(rate, len(population.sizes), axis=0) for rate in (fnmr, fmr))
    curves = zip(
        np.vstack((weights[1] @ fmr, fmr)), np.vstack((weights[0] @ fnmr, fnmr)), strict=True
    )
    costs = np.array([_costs(scores, *rates) for rates in curves]).T
    at = [rates(threshold) for _, threshold in points.values()]
    labels = tuple(str(k) for k in range(len(population.sizes)))
    order = sorted(range(len(labels)), key=lambda k: labels[k])
    rows = [0, *(1 + k for k in order)]
    base = Replicates(
        np.array([t for _, t in points.values()]),
        np.array([fmr for _, fmr in at])[:, rows],
        np.array([fnmr for fnmr, _ in at])[:, rows],
        dict(
            zip(
                ("eer", "min_dcf", "cllr", "min_cllr", "auc", "d_prime"),
                costs[:, rows],
                strict=True,
            )
        ),
    )
    nothing = np.zeros(len(labels), np.int64)
    groups = tuple(labels[k] for k in order)
    selection = Selection(
        groups,
        tuple(range(len(labels))),
        nothing,
        nothing,
        len(points),
        metrics=tuple(base.metrics),
        measures=MEASURES,
    )
    names = [str(point) for point, _ in points.values()]
    found = {
        (e.name, e.group, None if e.point is None else names[e.point]): float(e.value)
        for e in entries(base, selection)
    }
    return found | _sums_of_error_differences(population)


def _sums_of_error_differences(population: Population) -> dict[Key, float]:
    """Compute SED at the mean of the thresholds at which the groups' two rates are equal."""
    size = len(population.sizes)
    of_groups = np.zeros(size)
    if population.shifts or population.gaps:
        thresholds = [
            brentq(lambda t, k=k: population.fmr(t)[k] - population.fnmr(t)[k], -1.9, 60)
            for k in range(size)
        ]
        at = float(np.mean(thresholds))
        overall = population.overall("fmr", at), population.overall("fnmr", at)
        of_groups = ff.measures.sed(population.fmr(at), population.fnmr(at), *overall)
    found: dict[Key, float] = {
        ("sed", str(k), None): float(value) for k, value in enumerate(of_groups)
    }
    return found | {
        ("sed_mean", None, None): float(of_groups.mean()),
        ("sed_std", None, None): float(of_groups.std()),
    }


def _evaluation(
    population: Population, measures: Sequence[str], metrics: object, n_resamples: int, seed: int
) -> Iterable[tuple[str, Evaluation]]:
    comparisons = population.draw(np.random.default_rng([seed, len(population.name)]))
    points = [point for point, _ in thresholds(population).values()]
    given = {"metrics": metrics, "n_resamples": n_resamples, "rng": seed, "n_threads": 1}
    yield "default", ff.evaluate(comparisons, points, measures, **given)


def study(
    population: Population,
    n_data_sets: int = 200,
    *,
    measures: Sequence[str] = MEASURES,
    metrics: object = "all",
    n_resamples: int = RESAMPLES,
    processes: int | None = 1,
) -> Study:
    """Simulate data sets, evaluate each, and collect estimates, intervals and notes; data set r has
    seed r."""
    evaluations = functools.partial(_evaluation, population, measures, metrics, n_resamples)
    return evaluated.study(population, truth(population), evaluations, n_data_sets, processes)


def places(found: Study) -> dict[tuple[str, str], list[int]]:
    """Return where quantities stand, those of all groups taken together, without those that are
    held."""
    labels = {str(point): label for label, (point, _) in thresholds(found.population).items()}
    taken: dict[tuple[str, str], list[int]] = {}
    for position, (name, group, point) in enumerate(found.keys):
        label = "" if point is None else labels[point]
        held = (name == "threshold" and label != "held FMR") or (
            name == "fmr" and group is None and "held" in label
        )
        if not held:
            taken.setdefault((name if group is None else f"{name} of a group", label), []).append(
                position
            )
    return taken


@dataclass(frozen=True)
class Coverage:
    """How the intervals of one quantity did, the groups' own values taken together.

    Attributes
    ----------
    share, without_errors : float
        Intervals that hold the truth, of those there are, and of those of rates without errors.
    width : float
        Median width, of the finite ones.
    noted, noted_of_misses : float
        Shares of all intervals, and of those that fail, whose note says that they are likely too
        narrow.
    warned_of_misses : float
        Share of those that fail whose note says that, or that they are too narrow if few subjects
        cause most errors.
    given : float
        Share of data sets with an interval.
    """

    share: float
    without_errors: float
    width: float
    noted: float
    noted_of_misses: float
    warned_of_misses: float
    given: float

    @property
    def failed_without_a_note(self) -> float:
        """Share of intervals that fail and say nothing of being too narrow."""
        return (1 - self.share) * (1 - self.warned_of_misses) if self.share < 1 else 0.0


def coverage(found: Study, name: str, at: str = "") -> Coverage:
    """Count how often the intervals of a quantity hold the truth."""
    where = places(found)[name, at]
    low, high, errors, note = (
        found.first[name][:, where] for name in ("low", "high", "n_errors", "note")
    )
    true = found.truth[where]
    slack = 1e-9 * (1 + np.abs(true))
    given = ~np.isnan(low)
    held = (low <= true + slack) & (high >= true - slack)
    noted, warned = (
        np.array([[words in text for text in row] for row in note])
        for words in ("likely too narrow", "too narrow")
    )
    width = (high - low)[given & np.isfinite(high - low)]

    def share(of: NDArray[np.bool_], among: NDArray[np.bool_]) -> float:
        return float(of[among].mean()) if among.any() else math.nan

    return Coverage(
        share(held, given),
        share(held, given & (errors == 0)),
        float(np.median(width)) if width.size else math.nan,
        share(noted, given),
        share(noted, given & ~held),
        share(warned, given & ~held),
        float(given.mean()),
    )


COLUMNS = (
    ("FMR", "fmr of a group", "threshold"),
    ("FMR, few errors", "fmr of a group", "few false matches"),
    ("FNMR, few errors", "fnmr of a group", "few false non-matches"),
    ("EER", "eer of a group", ""),
    ("minDCF", "min_dcf", ""),
    ("minDCF of a group", "min_dcf of a group", ""),
    ("Cllr of a group", "cllr of a group", ""),
    ("min Cllr", "min_cllr", ""),
    ("min Cllr of a group", "min_cllr of a group", ""),
    ("GARBE, few FM", "garbe", "few false matches"),
    ("Gini of FMR, few FM", "gini(fmr)", "few false matches"),
    ("std of FNMR, few FNM", "std(fnmr)", "few false non-matches"),
    ("FDR, few FM", "fdr", "few false matches"),
)


def table(studies: Sequence[Study]) -> str:
    """Lay out coverage over populations in per cent, with median widths, and the share noted where
    some are."""

    def cell(found: Study, name: str, at: str) -> str:
        if (name, at) not in places(found):
            return "–"
        result = coverage(found, name, at)
        text = f"{100 * result.share:.1f} ({result.width:.2g})" if result.given else "–"
        return text + (f", noted {100 * result.noted:.0f}" if result.noted > 0 else "")

    return tables.by_population({found.population.name: found for found in studies}, COLUMNS, cell)


def ranges(studies: Sequence[Study]) -> str:
    """Lay out, for every quantity, the least and greatest coverage, and how often notes come at the
    least."""
    heads = (
        "Quantity",
        "Least",
        "in",
        "at",
        "Noted there",
        "Noted where it fails",
        "or of few false matches",
        "Fails without a note",
        "Most",
    )
    rows = []
    together: dict[str, list[tuple[Coverage, str, str]]] = {}
    for found in studies:
        for name, at in places(found):
            result = coverage(found, name, at)
            if result.given > 0:
                together.setdefault(name, []).append((result, found.population.name, at))
    for name, results in sorted(together.items()):
        least, population, at = min(results, key=lambda one: one[0].share)
        shares = least.noted, least.noted_of_misses, least.warned_of_misses
        cells = [f"{100 * least.share:.1f}", population, at]
        cells += ["–" if math.isnan(share) else f"{100 * share:.0f}" for share in shares]
        cells.append(f"{100 * least.failed_without_a_note:.1f}")
        most = max(result.share for result, _, _ in results)
        rows.append([name, *cells, f"{100 * most:.1f}"])
    return tables.table(heads, rows)


# Rate, operating point
TOGETHER = (
    ("fmr", "threshold"), ("fmr", "few false matches"), ("fnmr", "threshold"), ("fnmr", "few false non-matches"),
    ("fnmr", "held FMR"), ("eer", ""),
)  # fmt: skip


def _look_at_groups_together(population: Population, seed: int) -> NDArray[np.bool_]:
    """Look whether the intervals of all groups hold the truth: one at a time, simultaneous."""
    points, true = thresholds(population), truth(population)
    comparisons = population.draw(np.random.default_rng([seed, len(population.name)]))
    single = ff.evaluate(
        comparisons,
        [point for point, _ in points.values()],
        [],
        metrics=["eer"],
        n_resamples=RESAMPLES,
        rng=seed,
        n_threads=1,
    )
    held = np.ones((2, len(TOGETHER)), bool)
    for row, evaluation in enumerate((single, single.with_intervals(simultaneous=True))):
        for column, (name, place) in enumerate(TOGETHER):
            if place and place not in points:
                continue
            for group in evaluation.groups:
                q = evaluation.quantity(name, group, points[place][0] if place else None)
                held[row, column] &= (
                    q.low is not None
                    and q.low <= true[q.name, q.group, q.operating_point] <= q.high
                )
    return held


def study_of_groups_together(
    population: Population, n_data_sets: int, processes: int | None = 1
) -> Floats:
    """Return the share of data sets in which all groups' intervals hold, (2, looks): one at a time,
    simultaneous."""
    look = functools.partial(_look_at_groups_together, population)
    return np.mean(of_data_sets(look, n_data_sets, processes), axis=0)


def _row_of_groups_together(population: Population, found: Floats) -> list[str]:
    cells = [f"{single:.1f} → {together:.1f}" for single, together in 100 * found.T]
    if population.step:
        cells[4] = "–"
    return [population.name, *cells]


def main() -> None:
    """Print the tables."""
    parser = study_parser(main.__doc__, 1000)
    parser.add_argument(
        "--closed-form", action="store_true", help="rates alone, without replicates"
    )
    parser.add_argument(
        "--simultaneous", action="store_true", help="how often all groups' intervals hold together"
    )
    asked = parser.parse_args()
    if asked.simultaneous:
        heads = [
            "Population",
            *(f"{name.upper()}{', ' if at else ''}{at}" for name, at in TOGETHER),
        ]
        studies = (
            (p, study_of_groups_together(p, asked.data_sets, asked.processes))
            for p in chosen(FAIR, asked.only)
        )
        tables.print_table(heads, (_row_of_groups_together(*found) for found in studies))
        return
    what: dict[str, Any] = (
        {"measures": (), "metrics": (), "n_resamples": 0} if asked.closed_form else {}
    )
    wanted = chosen(POPULATIONS, asked.only)
    studies = [
        study(population, asked.data_sets, processes=asked.processes, **what)
        for population in wanted
    ]
    print(f"{table(studies)}\n\n{ranges(studies)}")
