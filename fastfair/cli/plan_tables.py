"""Print plans and made scores as tables on the terminal."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fastfair._lib.text import per_cent
from fastfair.planning.plans import MarginPlan, PowerPlan, SubjectsPlan
from fastfair.synthesis.systems import SystemMeasure
from fastfair.uncertainty.quantities import Quantity

from .tables import measures_table, print_titled
from .terminal import Table, Terminal

_MOST_SETTINGS = 200  # a plan with more settings is not printed as a table


def print_plan(plan: MarginPlan | PowerPlan | SubjectsPlan) -> None:
    """Print one row for each setting, or only the range of margins if there are many settings."""
    console = Terminal()
    console.print(_PLANS[type(plan)], style="bold")
    how = "exact"
    if plan.n_simulations is not None:
        how = f"{plan.n_simulations:,} simulated studies of each setting, seed {plan.seed}"
    console.print(f"confidence level {100 * plan.confidence_level:g} %, {plan.quantile} quantile, {how}")
    if isinstance(plan, MarginPlan) and plan.assurance is not None:
        console.print(f"{per_cent(plan.assurance)} of studies stay within their margin")
    columns = plan.to_frame("polars").to_dict(as_series=False)
    if plan.margin.size > _MOST_SETTINGS:
        console.print(
            f"\n{plan.margin.size:,} settings with margins from {per_cent(plan.margin.min())} to "
            f"{per_cent(plan.margin.max())}; --output DIR and --json have all."
        )
        return
    table = Table(pad_edge=False, box=None)
    for name in columns:
        table.add_column(_PLANNED[name][0], justify="right")
    for row in zip(*columns.values(), strict=True):
        table.add_row(*(_PLANNED[name][1](value) for name, value in zip(columns, row, strict=True)))
    console.print()
    console.print(table)


def print_synthesis(sets: Sequence[Mapping[str, Any]], measures: Sequence[SystemMeasure]) -> None:
    """Print the rate reached in each set, and the measures of one system; of many systems, only their number."""
    console = Terminal()
    console.print("Reached", style="bold")
    table = Table(pad_edge=False, box=None)
    for name in sets[0]:
        table.add_column(name.replace("_", " "), justify="left" if name in ("group", "rate") else "right")
    for row in sets:
        table.add_row(*(_MADE.get(name, str)(value) for name, value in row.items()))
    console.print(table)
    systems = {(row.table, row.ratios) for row in measures}
    if len(systems) > 1:
        console.print(
            f"\n{len(systems)} systems with {len(measures):,} values of measures; --output DIR and --json have all."
        )
    elif systems:
        points = list(dict.fromkeys(row.at for row in measures if row.at is not None))
        quantities = [Quantity(row.measure, row.group, row.at, row.value) for row in measures]
        print_titled(console, f"Fairness of {measures[0].ratios}", measures_table(quantities, points))


def _whole(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:,.0f}"


_PLANS: dict[type, str] = {
    MarginPlan: "Margin of error: how far from the overall FNMR groups with equal FNMRs may lie by chance",
    PowerPlan: "Power: how often a test finds the one group whose FNMR differs from that of the others",
    SubjectsPlan: "Subjects that a study needs in each group",
}
_PLANNED: dict[str, tuple[str, Callable[[float], str]]] = {
    "n_groups": ("groups", _whole),
    "n_subjects": ("subjects", _whole),
    "n_attempts": ("attempts", lambda value: f"{value:,.1f}".removesuffix(".0")),
    "fnmr": ("FNMR", per_cent),
    "correlation": ("correlation", "{:g}".format),
    "difference": ("difference", per_cent),
    "wanted_margin": ("margin wanted", per_cent),
    "wanted_assurance": ("assurance wanted", per_cent),
    "wanted_power": ("power wanted", per_cent),
    "margin": ("margin", per_cent),
    "assurance": ("assurance", per_cent),
    "power": ("power", per_cent),
}
_MADE: dict[str, Callable[[Any], str]] = {
    "target": per_cent,
    "reached": per_cent,
    "threshold": "{:.6f}".format,
}
