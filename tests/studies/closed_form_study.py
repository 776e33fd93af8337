"""How wide intervals in closed form are beside those of replicates, and how often those of differences hold the truth.

`python -m studies.closed_form_study`, run in `tests/`, prints the table of the documentation. The populations and the
operating points are those of `paired_study`; coverage of the rates themselves is `interval_study --closed-form`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable

import numpy as np

import fastfair as ff

from .paired_study import data_set, points_of, truths
from .populations import FAIR, Population
from .processes import chosen, collected, study_parser
from .tables import by_population

LEVELS = (1e-2,)
EVERY = 10  # data sets, of which one is compared with replicates, too
RESAMPLES = 2000
Found = dict[str, list[float]]  # a number for each interval
Ends = tuple[float | None, float | None]
COLUMNS = (
    "width of FMR", "width of FNMR", "width of differences", "FMR", "FMR of groups", "FNMR", "FNMR of groups",
)  # fmt: skip


def _width(kind: str, closed: Ends, drawn: Ends) -> Iterable[tuple[str, float]]:
    ends = np.array([*closed, *drawn], np.float64)
    if np.isfinite(ends).all() and ends[3] > ends[2]:
        yield f"width of {kind}", float((ends[1] - ends[0]) / (ends[3] - ends[2]))


def widths(closed: ff.PairedEvaluation, drawn: ff.PairedEvaluation) -> Iterable[tuple[str, float]]:
    """Yield the widths of intervals in closed form divided by those of replicates."""
    for quantity, twin in zip(closed.first.quantities, drawn.first.quantities, strict=True):
        if quantity.method == "closed form" and twin.method == "logit":
            kind = "FNMR" if quantity.name == "fnmr" else "FMR"
            yield from _width(kind, (quantity.low, quantity.high), (twin.low, twin.high))
    for contrast, twin in zip(closed.contrasts, drawn.contrasts, strict=True):
        if min(contrast.first, contrast.second) > 0:
            yield from _width("differences", (contrast.low, contrast.high), (twin.low, twin.high))


def _look(population: Population, seed: int) -> Iterable[tuple[str, float]]:
    points = points_of(population, LEVELS)
    names = {str(point): name for name, point in points.items()}
    systems = data_set(population, seed)
    compare = functools.partial(ff.compare, *systems, list(points.values()), measures=(), metrics=(), n_threads=1)
    closed = compare(n_resamples=0)
    if seed % EVERY == 0:
        yield from widths(closed, compare(n_resamples=RESAMPLES, rng=seed))
    for contrast in closed.contrasts:
        key = contrast.name, None if contrast.group is None else int(contrast.group)
        true = truths(population, names[contrast.operating_point or ""])
        if contrast.probe_group is None and np.isfinite(contrast.low) and key in true:
            first, second = true[key]
            kind = contrast.name.upper() + ("" if contrast.group is None else " of groups")
            yield kind, contrast.low - 1e-12 <= first - second <= contrast.high + 1e-12


def study(population: Population, n_data_sets: int, processes: int | None = 1) -> Found:
    """Compare the two systems of many data sets without replicates, and of some with; data set r has seed r."""
    return collected(functools.partial(_look, population), n_data_sets, processes)


def _cell(found: Found, column: str) -> str:
    mean = float(np.mean(found[column])) if found.get(column) else float("nan")
    return f"{mean:.3f}" if column.startswith("width") else f"{100 * mean:.1f}"


def main() -> None:
    """Print the table: mean ratios of widths, and coverage of differences in per cent."""
    asked = study_parser(main.__doc__, 1000).parse_args()
    studies = {p.name: study(p, asked.data_sets, asked.processes) for p in chosen(FAIR, asked.only)}
    print(by_population(studies, [(column, column) for column in COLUMNS], _cell))


if __name__ == "__main__":
    main()
