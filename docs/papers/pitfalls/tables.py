"""The tables of paper 3, printed values of VoxCeleb1-I beside ours of VoxCeleb1-H."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fastfair.evaluation.result import Evaluation
from papers.page_parts import Cell, Range, Table

from .printed import (
    ATTEMPTS_PER_HOUR,
    HOURS_AT_DESIGN,
    METRICS,
    OVERALL,
    TABLE_2,
    TABLE_3,
    TABLE_4,
    Group,
    label,
)
from .runs import POINTS, GroupSet, Runs, ranged

_UNIT = {"eer": 100, "min_dcf": 1}
_MEASURES = {
    "group_to_min_difference": "G2min difference",
    "group_to_average_ratio": "G2avg ratio",
    "group_to_average_log_ratio": "G2avg log ratio",
}


def shown(found: Range) -> Cell:
    """Show a number without an interval where it has none."""
    return found.value if math.isnan(found.low) else found


def overall(runs: Runs) -> Table:
    """Lay out EER and minDCF of all trials."""
    eer, cost = (ranged(runs.whole, metric, unit=_UNIT[metric]) for metric in METRICS)
    rows: list[Sequence[Cell]] = [
        (name, *printed, *((eer, cost) if name == "VoxCeleb1-H" else (None, None)))
        for name, printed in OVERALL.items()
    ]
    kept = [ranged(runs.printed.evaluation, metric, unit=_UNIT[metric]) for metric in METRICS]
    rows.append((f"VoxCeleb1-H, {runs.printed.name}", None, None, *kept))
    return Table(
        "overall",
        "**Performance on all trials**, with 95 % intervals over speakers.",
        ("Trials", "EER printed (%)", "minCDet printed", "EER ours (%)", "minDCF ours"),
        rows,
        {
            "EER printed (%)": ".3f",
            "minCDet printed": ".3f",
            "EER ours (%)": ".3f",
            "minDCF ours": ".4f",
        },
    )


def table_2(runs: Runs) -> Table:
    """Lay out base metrics of all groups."""
    printed = {label(group): group for group in TABLE_2["eer"]}
    names = [
        *runs.gender.groups,
        *runs.whole.groups,
        *(name for name in printed if not _has(runs, name)),
    ]
    rows = []
    for name in names:
        evaluation = _holding(runs, name)
        row: list[Cell] = [name, None if evaluation is None else _speakers(evaluation, name)]
        for metric in METRICS:
            row.append(TABLE_2[metric][printed[name]] if name in printed else None)
            row.append(
                None if evaluation is None else ranged(evaluation, metric, name, unit=_UNIT[metric])
            )
        rows.append(row)
    return Table(
        "table_2",
        "**Table 2: base metrics of groups**, printed on VoxCeleb1-I, ours on VoxCeleb1-H.",
        (
            "Group",
            "Speakers (H)",
            "EER printed (%)",
            "EER ours (%)",
            "minCDet printed",
            "minDCF ours",
        ),
        rows,
        {
            "EER printed (%)": ".3f",
            "EER ours (%)": ".3f",
            "minCDet printed": ".3f",
            "minDCF ours": ".4f",
        },
    )


def _has(runs: Runs, name: str) -> bool:
    return _holding(runs, name) is not None


def _holding(runs: Runs, name: str) -> Evaluation | None:
    return next((ev for ev in (runs.gender.evaluation, runs.whole) if name in ev.groups), None)


def _speakers(evaluation: Evaluation, name: str) -> int | None:
    return evaluation.quantity("fnmr", name, POINTS[0]).n_subjects


def table_3(runs: Runs, metric: str) -> Table:
    """Lay out measures of groups for one base metric."""
    title = {"eer": "EER", "min_dcf": "minDCF"}[metric]
    headings = ["Group"]
    formats: dict[str, str] = {}
    for measure, called in _MEASURES.items():
        points = " (points)" if (measure, metric) == ("group_to_min_difference", "eer") else ""
        headings += [f"{called}{points} printed", f"{called}{points} ours"]
        formats |= {
            headings[-2]: ".3f",
            headings[-1]: ".4f" if "difference" in called and metric != "eer" else ".3f",
        }
    rows = []
    for group in TABLE_3["group_to_min_difference", metric]:
        found = runs.gender if group[1] == "All" else runs.printed
        row: list[Cell] = [label(group)]
        for measure in _MEASURES:
            unit = _UNIT[metric] if measure == "group_to_min_difference" else 1
            row += [
                TABLE_3[measure, metric][group],
                _of_group(found, f"{measure}({metric})", group, unit),
            ]
        rows.append(row)
    return Table(
        f"table_3_{metric}",
        f"**Table 3: measures of groups from the {title}**, printed on VoxCeleb1-I, ours on"
        " VoxCeleb1-H.",
        headings,
        rows,
        formats,
    )


def _of_group(
    found: GroupSet, name: str, group: Group, unit: float, *, at_first: bool = False
) -> Cell:
    if label(group) not in found.groups:
        return "no trials"
    return shown(
        ranged(found.evaluation, name, label(group), POINTS[0] if at_first else None, unit)
    )


def table_4(runs: Runs) -> Table:
    """Lay out FPRs of groups at an average of 0.001, and the measures made of them."""
    rows = []
    for group, rate in TABLE_4["fmr"].items():
        row: list[Cell] = [
            label(group),
            100 * rate,
            _of_group(runs.printed, "fmr", group, 100, at_first=True),
        ]
        row.append(100 * TABLE_4["group_to_min_difference"][group])
        row.append(
            _of_group(runs.printed, "group_to_min_difference(fmr)", group, 100, at_first=True)
        )
        log_ratio = TABLE_4["group_to_average_log_ratio"][group]
        row += [log_ratio, 0.0 - log_ratio]
        row.append(
            _of_group(runs.printed, "group_to_average_log_ratio(fmr)", group, 1, at_first=True)
        )
        rows.append(row)
    headings = (
        "Group",
        "FPR printed (%)",
        "FPR ours (%)",
        "G2min difference printed (points)",
        "G2min difference ours (points)",
        "G2avg log ratio printed",
        "printed, sign turned",
        "G2avg log ratio ours",
    )
    formats = dict(
        zip(headings[1:], (".1f", ".3f", ".1f", ".3f", ".3f", ".3f", ".3f"), strict=True)
    )
    return Table(
        "table_4",
        "**Table 4: FPRs at an average FPR of 0.001**, printed on VoxCeleb1-I, ours on"
        " VoxCeleb1-H.",
        headings,
        rows,
        formats,
    )


def contradiction(runs: Runs) -> Table:
    """Lay out what FDR and NRB say of the FPR at the lowest and the highest operating point."""
    first, last = POINTS[0], POINTS[-1]
    headings = (
        "Groups",
        "FDR at 0.001",
        "FDR at 0.1",
        "NRB(FPR) at 0.001",
        "NRB(FPR) at 0.1",
        "p of equal FPRs at 0.001",
    )
    rows = [
        (
            found.name,
            *(found.fdr_range(1.0, point) for point in (first, last)),
            *(shown(found.nrb_range("fmr", point)) for point in (first, last)),
            found.test.pvalue,
        )
        for found in (*runs.intersections, runs.gender)
    ]
    return Table(
        "contradiction",
        "**FDR against NRB of the FPR**, on VoxCeleb1-H: the FDR at α = 1, where only false"
        " positives count, and whether the FPRs of groups differ by more than chance (`fmr_test`).",
        headings,
        rows,
        dict(zip(headings[1:], (".3f", ".3f", ".2f", ".2f", ".2g"), strict=True)),
    )


def hours_until_success(rate: float) -> float:
    """Return how long an attacker tries before one success is to be expected."""
    return math.inf if rate == 0 else 1 / (rate * ATTEMPTS_PER_HOUR)


def success_within(hours: float, rate: float) -> float:
    """Return the chance of one success or more, attempts being independent."""
    return 1 - (1 - rate) ** (hours * ATTEMPTS_PER_HOUR)


def attacks(runs: Runs) -> Table:
    """Lay out what the FPRs of groups mean to an attacker."""
    rows: list[Sequence[Cell]] = []
    for name in sorted(
        runs.printed.groups, key=lambda name: -runs.printed.evaluation.value("fmr", name, POINTS[0])
    ):
        rate = ranged(runs.printed.evaluation, "fmr", name, POINTS[0])
        ends = rate.value, rate.low, rate.high
        value, most, least = map(hours_until_success, ends)
        chances = [100 * success_within(HOURS_AT_DESIGN, end) for end in ends]
        rows.append(
            (
                name,
                Range(*(100 * end for end in ends)),
                Range(value, least, most),
                Range(chances[0], *chances[1:]),
            )
        )
    headings = (
        "Group",
        "FPR (%)",
        "Hours until success is expected",
        f"Success within {HOURS_AT_DESIGN:g} hours (%)",
    )
    formats = dict(zip(headings[1:], (".3f", ".1f", ".0f"), strict=True))
    return Table(
        "attacks",
        f"**Attacks** on VoxCeleb1-H's speakers, {ATTEMPTS_PER_HOUR} attempts an hour at an average"
        " FPR of 0.001.",
        headings,
        rows,
        formats,
    )
