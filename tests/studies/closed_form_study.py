"""How wide intervals in closed form are beside those of replicates, and how often those of differences hold the truth.

`python -m studies.closed_form_study`, run in `tests/`, prints the table of the documentation. The populations and the
operating points are those of `paired_study`; coverage of the rates themselves is `interval_study --closed-form`.
"""

from __future__ import annotations

import functools
import warnings
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

import fastfair as ff
from fastfair.errors import FastfairWarning

from .paired_study import points_of, truths
from .populations import FAIR, Population
from .processes import over_data_sets, study_parser

LEVELS = (1e-2,)
EVERY = 10  # data sets, of which one is compared with replicates, too
RESAMPLES = 2000
Found = dict[str, list[float]]  # a number for each interval
COLUMNS = (
    "width of FMR", "width of FNMR", "width of differences", "FMR", "FMR of groups", "FNMR", "FNMR of groups",
)  # fmt: skip


def widths(closed: ff.PairedEvaluation, drawn: ff.PairedEvaluation) -> Found:
    """Return the widths of intervals in closed form divided by those of replicates."""
    found: Found = defaultdict(list)

    def add(kind: str, one: tuple[float | None, float | None], other: tuple[float | None, float | None]) -> None:
        ends = np.array([*one, *other], np.float64)
        if np.isfinite(ends).all() and ends[3] > ends[2]:
            found[kind].append(float((ends[1] - ends[0]) / (ends[3] - ends[2])))

    for quantity, other in zip(closed.first.quantities, drawn.first.quantities, strict=True):
        if quantity.method == "closed form" and other.method == "logit":
            kind = "FNMR" if quantity.name == "fnmr" else "FMR"
            add(f"width of {kind}", (quantity.low, quantity.high), (other.low, other.high))
    for contrast, twin in zip(closed.contrasts, drawn.contrasts, strict=True):
        if min(contrast.first, contrast.second) > 0:
            add("width of differences", (contrast.low, contrast.high), (twin.low, twin.high))
    return found


def _some(population: Population, seeds: range) -> Found:
    points = points_of(population, LEVELS)
    names = {str(point): name for name, point in points.items()}
    true = {name: truths(population, name) for name in points}
    found: Found = defaultdict(list)
    compare = functools.partial(ff.compare, at=list(points.values()), measures=(), metrics=(), n_threads=1)
    for seed in seeds:
        systems = population.draw_two(np.random.default_rng([seed, sum(map(ord, population.name))]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FastfairWarning)
            closed = compare(*systems, n_resamples=0)
            if seed % EVERY == 0:
                for kind, ratios in widths(closed, compare(*systems, n_resamples=RESAMPLES, rng=seed)).items():
                    found[kind] += ratios
        for contrast in closed.contrasts:
            key = contrast.name, None if contrast.group is None else int(contrast.group)
            at = names[contrast.operating_point or ""]
            if contrast.probe_group is None and np.isfinite(contrast.low) and key in true[at]:
                one, other = true[at][key]
                kind = contrast.name.upper() + ("" if contrast.group is None else " of groups")
                found[kind].append(contrast.low - 1e-12 <= one - other <= contrast.high + 1e-12)
    return dict(found)


def study(population: Population, n_data_sets: int, processes: int | None = 1) -> Found:
    """Compare the two systems of many data sets without replicates, and of some with; data set r has seed r."""
    (parts,) = over_data_sets([functools.partial(_some, population)], n_data_sets, processes)
    whole: Found = defaultdict(list)
    for part in parts:
        for kind, numbers in part.items():
            whole[kind] += numbers
    return whole


def table(studies: dict[str, Found]) -> str:
    """Lay out mean ratios of widths, and coverage of differences in per cent."""
    lines = ["| Population | " + " | ".join(COLUMNS) + " |", "|---|" + "--:|" * len(COLUMNS)]
    for name, found in studies.items():
        cells = []
        for column in COLUMNS:
            mean = float(np.mean(found[column])) if found.get(column) else float("nan")
            cells.append(f"{mean:.3f}" if column.startswith("width") else f"{100 * mean:.1f}")
        lines.append("| " + " | ".join((name, *cells)) + " |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    asked = study_parser(main.__doc__, 1000).parse_args(arguments)
    wanted = [p for p in FAIR if not asked.only or p.name in asked.only]
    print(table({p.name: study(p, asked.data_sets, asked.processes) for p in wanted}))


if __name__ == "__main__":
    main()
