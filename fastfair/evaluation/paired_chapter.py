"""What a page says of the comparison of two systems."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fastfair._lib.axes import new_axes
from fastfair._lib.plot_style import row_size
from fastfair._lib.text import cell, number_with_interval
from fastfair.errors import visible
from fastfair.measures._compute import measure_of
from fastfair.measures._names import printed_name
from fastfair.pages.parts import Chapter, Picture, Section, Table
from fastfair.pages.vector import svg_of

from .chapter import data_of, left_out_of, remarks_of
from .contrast_plots import draw_both_det, draw_differences
from .contrasts import Contrast
from .evaluated import Evaluated, has_curves
from .summary import brackets_of, size_of

_WIDTH = 4.9  # inches
_COLUMNS = ("Quantity", "First", "Second", "First minus second", "Adjusted p-value", "Better or fairer", "Remark")


def chapter_of_systems(
    first: Evaluated, second: Evaluated, contrasts: Sequence[Contrast], settings: Mapping[str, Any], numbers: str
) -> Chapter:
    """Make a chapter of two systems and how they differ."""
    level = settings["confidence_level"]
    data = data_of(first)
    left_out = list(dict.fromkeys([*data.sentences, *left_out_of(second)]))
    sections = [replace(data, sentences=left_out)] if left_out or data.tables else []
    if has_curves(first) and has_curves(second):
        ax = draw_both_det((first, second), None)
        alt = "DET curves of both systems: FNMR over FMR. The tables below have the differences."
        pictures = [Picture(svg_of(ax.figure), alt, "The two errors of both systems, over all thresholds.")]  # type: ignore[arg-type]
        sections.append(Section("Trade-off of the two errors", (), pictures))
    for point in dict.fromkeys(one.at for one in contrasts):
        found = [one for one in contrasts if one.at == point and one.name != "fmr_matrix"]
        found = [one for one in found if one.group is None or measure_of(one.name) is None]
        drawn = []
        for name in ("fnmr", "fmr"):
            rows = [one for one in found if one.name == name]
            if rows:
                ax = draw_differences(rows, level, new_axes(row_size([one.group or "all" for one in rows], _WIDTH)))
                alt = (
                    f"Difference in {name.upper()} of all comparisons and of each group, with intervals; see the table."
                )
                caption = f"{name.upper()} of the first system minus that of the second."
                drawn.append(Picture(svg_of(ax.figure), alt, caption))  # type: ignore[arg-type]
        table = Table(
            f"Differences, with {100 * level:g} % intervals in brackets", _COLUMNS, [_row(one) for one in found], (5, 6)
        )
        title = "Without a threshold" if point is None else f"At {point}"
        sections.append(Section(title, (), drawn, [table]))
    remarks = remarks_of([*first.quantities, *second.quantities])
    return Chapter("Two systems", summary_of_systems(first, contrasts, settings), sections, settings, numbers, remarks)


def _row(one: Contrast) -> list[str]:
    return [
        f"{printed_name(one.name)}, {visible(one.group or 'all')}",
        *(cell(value) for value in (one.first, one.second)),
        number_with_interval(one.difference, one.low, one.high),
        cell(one.pvalue_adjusted),
        one.verdict or "–",
        one.note or "–",
    ]


def summary_of_systems(first: Evaluated, contrasts: Sequence[Contrast], settings: Mapping[str, Any]) -> list[str]:
    """Say how two systems differ, in sentences; `first` is one of them, and both scored the same comparisons."""
    said = [f"Both systems scored {size_of(first)}."] if first.rates else []
    for one in contrasts:
        if one.group is None and one.name in ("fnmr", "fmr", "eer"):
            at = f" at {one.at}" if one.at else ""
            told = {
                "first": "the first system has the lower one", "second": "the second system has the lower one",
                "undecided": "the data do not tell which system has the lower one",
            }.get(one.verdict, "no test is made")  # fmt: skip
            limits = "" if math.isnan(one.low) else f" [{100 * one.low:.3g}, {100 * one.high:.3g}]"
            said.append(
                f"{one.name.upper()}{at}: {100 * one.first:.3g} % and {100 * one.second:.3g} %, a difference of "
                f"{100 * one.difference:.3g}{limits} percentage points; {told}."
            )
    of_groups: dict[tuple[Any, str], list[str]] = {}
    for one in contrasts:
        if one.name == "fnmr" and one.group and one.verdict in ("first", "second"):
            of_groups.setdefault((one.at, one.verdict), []).append(visible(one.group))
    for (point, verdict), groups in of_groups.items():
        n = f"{len(groups)} group" + ("s" if len(groups) > 1 else "")
        said.append(f"At {point} the {verdict} system has the lower FNMR in {n}: {', '.join(groups)}.")
    said.append(brackets_of(settings))
    return said
