"""What a page shows of comparisons that failed."""

from __future__ import annotations

import math

from fastfair._lib.axes import new_axes
from fastfair._lib.plot_style import ForestRow, draw_forest, rate_ticks, row_size
from fastfair._lib.text import rate_with_interval
from fastfair.error_rates.operating_points import ENOUGH_ERRORS
from fastfair.errors import visible
from fastfair.measures._names import printed_name
from fastfair.pages.parts import Picture, Section, Table
from fastfair.pages.vector import svg_of
from fastfair.uncertainty.quantities import FAILURE_RATES, WITH_FAILURES, find

from .evaluated import Evaluated
from .failure_words import CLASSES, failure_rates_of, has_rates_with_failures, sentences_on_failures


def section_on_failures(evaluation: Evaluated, width: float) -> Section:
    """Make the section of a page about comparisons that failed; width: of pictures, in inches."""
    pictures = []
    for name, kind in zip(FAILURE_RATES, CLASSES, strict=True) if evaluation.groups else ():
        rows = []
        for group in (None, *evaluation.groups):
            one = find(evaluation.quantities, name, group, None)
            low, high = (math.nan if end is None else end for end in (one.low, one.high))
            few = (one.n_errors or 0) < ENOUGH_ERRORS
            rows.append(ForestRow(group or "all", one.estimate, low, high, few, instead="no comparisons"))
        ax = draw_forest(rows, new_axes(row_size(["all", *evaluation.groups], width)), logarithmic=False)
        ax.axvline(rows[0].value, color="black", linestyle="--", linewidth=1, zorder=0)
        rate_ticks(ax.xaxis)
        ax.set_xlabel(f"Share of {kind} comparisons that failed")
        alt = f"Share of {kind} comparisons that failed in each group, with intervals. The table below has the numbers."
        caption = f"{kind.capitalize()} comparisons that failed; lighter: fewer than {ENOUGH_ERRORS}."
        pictures.append(Picture(svg_of(ax.figure), alt, caption))  # type: ignore[arg-type]
    points = [rates.at for rates in evaluation.rates] if has_rates_with_failures(evaluation) else []
    columns = ["Group", "Mated, failed", "Non-mated, failed", "Failed mated", "Failed non-mated"]
    columns += [f"{printed_name(name)} at {at}" for at in points for name in WITH_FAILURES]
    rows_of_table = []
    for group in (None, *evaluation.groups):
        found = failure_rates_of(evaluation, group)
        found += [find(evaluation.quantities, name, group, at) for at in points for name in WITH_FAILURES]
        cells = [rate_with_interval(one.estimate, one.low, one.high) for one in found]
        counts = [f"{one.n_errors:,}" for one in found[: len(FAILURE_RATES)]]
        rows_of_table.append([visible(group or "all"), *cells[: len(counts)], *counts, *cells[len(counts) :]])
    caption = "Shares of comparisons that failed, and rates in which they count"
    return Section("Failures", sentences_on_failures(evaluation), pictures, [Table(caption, columns, rows_of_table)])
