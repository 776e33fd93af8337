"""How often `evaluate_calibration` holds the truth and finds what is not there, in populations
whose costs are known.

`python -m studies calibration_study`, run in `tests/`, prints the table of the documentation.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_ndtr, ndtr

import fastfair as ff
from fastfair.calibration.evaluate_calibration import DIFFERENT, MISCALIBRATED
from fastfair.data import score_keys
from fastfair.data.derived import with_ratios
from fastfair.error_rates.score_metrics import mean_cost

from .populations import SMALL_TO_LARGE, Floats, Population
from .processes import chosen, shares, study_parser
from .tables import percents, print_table

RESAMPLES = 500
# Scores of these are normal whatever the subjects, so that their log-likelihood ratios are known.
NORMAL = (
    Population("groups of 60"),
    Population("groups of 15 to 400", SMALL_TO_LARGE),
    Population("8 groups of 40", (40,) * 8),
    Population("random trials", (150, 150, 150), pairs=20, repeats=2),
    Population("strong subjects", effect=0.7),
    Population("rounded scores", step=1 / 4),
)
APPLICATIONS = (ff.Costs(0.001), ff.Costs(0.01), ff.Costs(0.5))
ADDED = (0.0, 2.0)  # to log-likelihood ratios: none where they are calibrated
LOOKS = (
    "actual DCF, all", "actual DCF, groups", "miscalibration, all", "miscalibration, groups", "called, all",
    "called, any group", "costs differ", "miscalibration differs", "NRB",
)  # fmt: skip


def ratios_of(
    population: Population, comparisons: ff.Comparisons, added: Sequence[float]
) -> ff.Comparisons:
    """Give comparisons their true log-likelihood ratios, plus a number for each group."""
    sides = []
    for side, by_group in (
        (comparisons.mated, comparisons.mated_by_group),
        (comparisons.nonmated, comparisons.nonmated_by_group),
    ):
        group = np.array([int(name) for name in comparisons.groups])[by_group.reference_group]
        sides.append(ratio(population, score_keys.decode(side.keys)) + np.asarray(added)[group])
    return with_ratios(comparisons, *sides)


def ratio(population: Population, scores: Floats) -> Floats:
    """Return the log-likelihood ratio of normal scores, which may be rounded down."""
    mean, step = population.mean, population.step
    if not step:
        return mean * scores - mean**2 / 2

    def log_share(low: Floats) -> Floats:
        """Of the scores between two others, counted from the side where numbers are small."""
        low, high = np.where(low > 0, -low - step, low), np.where(low > 0, -low, low + step)
        return log_ndtr(high) + np.log1p(-np.exp(log_ndtr(low) - log_ndtr(high)))

    return log_share(scores - mean) - log_share(scores)


@functools.cache
def true_costs(population: Population, application: ff.Costs, added: float) -> tuple[float, float]:
    """Compute the normalised actual and minimum cost where a number is added to calibrated
    ratios."""
    costs = replace(application, normalize=True)

    def cost(score: float) -> float:
        return float(mean_cost(costs, ndtr(score - population.mean), ndtr(-score)))

    mean, step = population.mean, population.step
    threshold = application.threshold - added
    if not step:
        actual = cost((threshold + mean**2 / 2) / mean)
        least = minimize_scalar(cost, bounds=(-2, 9), method="bounded", options={"xatol": 1e-9}).fun
        return actual, min(float(least), actual)
    grid = np.arange(-8, 12, step)
    first = grid[np.searchsorted(ratio(population, grid), threshold)]
    return cost(float(first)), min(map(cost, grid.tolist()))


def _look(population: Population, application: ff.Costs, added: float, seed: int) -> list[float]:
    actual, minimum = true_costs(population, application, added)
    lost = actual - minimum
    drawn = population.draw(np.random.default_rng([seed, len(population.name)]))
    ratios = ratios_of(population, drawn, [added] * len(population.sizes))
    result = ff.evaluate_calibration(
        ratios, application, n_resamples=RESAMPLES, rng=seed, n_threads=1
    )
    rows, nrb = result.costs, result.measure("nrb(act_dcf)")
    holds = [row.actual_low <= actual <= row.actual_high for row in rows]
    loses = [
        row.miscalibration_low <= lost + 1e-12 <= row.miscalibration_high + 1e-12 for row in rows
    ]
    called = [row.verdict == MISCALIBRATED for row in rows]
    differ = (
        any(row.verdict == DIFFERENT for row in result.differences if row.quantity == name)
        for name in ("act_dcf", "miscalibration")
    )
    return [
        holds[0],
        np.mean(holds[1:]),
        loses[0],
        np.mean(loses[1:]),
        called[0],
        any(called[1:]),
        *differ,
        math.nan if math.isnan(nrb.low) else nrb.low <= 1e-9,
    ]


def study(
    population: Population,
    application: ff.Costs,
    added: float,
    n_data_sets: int,
    processes: int | None = 1,
) -> dict[str, float]:
    """Return the shares of data sets in which intervals hold, and verdicts are found: `LOOKS`."""
    return shares(
        LOOKS, functools.partial(_look, population, application, added), n_data_sets, processes
    )


def main() -> None:
    """Print the table."""
    asked = study_parser(main.__doc__, 1000).parse_args()
    rows = (
        [population.name, f"{application.p_target:g}", f"{added:g}", *percents(found.values())]
        for population in chosen(NORMAL, asked.only)
        for application in APPLICATIONS
        for added in ADDED
        for found in [study(population, application, added, asked.data_sets, asked.processes)]
    )
    print_table(["Population", "Prior", "Added", *LOOKS], rows)
