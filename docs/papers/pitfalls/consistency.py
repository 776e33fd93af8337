"""Paper 3's printed numbers held against each other, within their rounding."""

from __future__ import annotations

import math
from typing import Literal

from papers.page_parts import Verdict
from papers.verdict_rules import by_count

from .printed import FPR_AVERAGES, OVERALL, TABLE_2, TABLE_3, TABLE_4, Group

HALF = 5e-4  # a unit of the third decimal, which is the last of every number
_METRIC = {"eer": 0, "min_dcf": 1}


def table_3_range(measure: str, metric: str, group: Group) -> tuple[float, float]:
    """Return the least and the largest value that a cell of table 3 can have by table 2, before it
    is rounded.
    """
    base = {g: x for g, x in TABLE_2[metric].items() if (g[1] == "All") == (group[1] == "All")}
    x, average = base[group], OVERALL["VoxCeleb1-I"][_METRIC[metric]]
    if measure == "group_to_min_difference":
        apart, slack = x - min(base.values()), 0.0 if x == min(base.values()) else 2 * HALF
        return apart - slack, apart + slack
    low, high = (x - HALF) / (average + HALF), (x + HALF) / (average - HALF)
    return (low, high) if measure == "group_to_average_ratio" else (-math.log(high), -math.log(low))


def table_3_misses() -> list[tuple[str, str, Group]]:
    """List the cells of table 3 that do not follow from table 2."""
    misses = []
    for (measure, metric), cells in TABLE_3.items():
        for group, printed in cells.items():
            low, high = table_3_range(measure, metric, group)
            if not low - HALF <= printed <= high + HALF:
                misses.append((measure, metric, group))
    return misses


def table_4_agreeing(sign: Literal[-1, 1]) -> list[Group]:
    """List the groups of table 4 whose log ratio is the logarithm of FPR over average, with a
    sign.
    """
    agreeing = []
    for group, printed in TABLE_4["group_to_average_log_ratio"].items():
        rate = TABLE_4["fmr"][group]
        ends = [sign * _log(max(0.0, rate + half) / FPR_AVERAGES[0]) for half in (-HALF, HALF)]
        if min(ends) - HALF <= printed <= max(ends) + HALF:
            agreeing.append(group)
    return agreeing


def _log(x: float) -> float:
    return math.log(x) if x > 0 else -math.inf


def nrb_of_table_4() -> float:
    """Compute the NRB over the groups that table 4 prints."""
    ratios = TABLE_4["group_to_average_log_ratio"].values()
    return sum(map(abs, ratios)) / len(ratios)


def _counted(claim: str, source: str, rule: str, agreeing: int, total: int, what: str) -> Verdict:
    rule += ": all: holds; some: in part; none: does not"
    return Verdict(claim, source, rule, f"{agreeing} of {total} {what}", by_count(agreeing, total))


def _stated_ratios() -> list[bool]:
    """Tell which of the text's factors follow from the printed table, as far as its digits go."""
    stated = (
        (2.7, "eer", ("male", "NO"), ("male", "US")),
        (3.8, "eer", ("female", "DE"), ("female", "AUS")),
        (1.7, "min_dcf", ("female", "DE"), ("female", "AUS")),
    )
    found = []
    for factor, metric, group, other in stated:
        x, y = TABLE_2[metric][group], TABLE_2[metric][other]
        found.append((x - HALF) / (y + HALF) - 0.05 <= factor <= (x + HALF) / (y - HALF) + 0.05)
    return found


def audit() -> list[Verdict]:
    """Hold the printed numbers against each other."""
    n_cells, n_groups, stated = (
        sum(map(len, TABLE_3.values())),
        len(TABLE_4["fmr"]),
        _stated_ratios(),
    )
    return [
        _counted(
            "Table 3 follows from table 2 and the averages of section 4",
            "Table 3",
            "each cell computed anew, within the rounding of what goes in and out",
            n_cells - len(table_3_misses()),
            n_cells,
            "cells",
        ),
        _counted(
            "The factors in the text (2.7, 3.8, 1.7) follow from table 2",
            "section 4",
            "each within the rounding of the table",
            sum(stated),
            len(stated),
            "factors",
        ),
        _counted(
            "The log ratio of table 4 is -ln(FPR / average), as table 1 defines it and table 3 has it",
            "Table 4",
            "each group, within the rounding of its FPR",
            len(table_4_agreeing(-1)),
            n_groups,
            "groups",
        ),
        _counted(
            "The log ratio of table 4 is +ln(FPR / average), with the sign turned",
            "Table 4",
            "each group, within the rounding of its FPR",
            len(table_4_agreeing(1)),
            n_groups,
            "groups",
        ),
    ]
