"""What a page shows of an evaluation: the first screen, and a section with the rates, curves and measures of groups."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from fastfair._lib.text import p_value, per_cent, typed, value_and_interval
from fastfair.error_rates.operating_points import ENOUGH_ERRORS
from fastfair.error_rates.rates import Rates
from fastfair.errors import visible
from fastfair.measures._registry import measure_of, printed_name
from fastfair.pages.drawings import Scale, axis, det_panel, distance, interval, scores_panel
from fastfair.pages.parts import Beside, Cell, Chapter, Column, FirstScreen, Panels, Row, Section, Table
from fastfair.uncertainty.quantities import FAILURE_RATES, HELD, IN_PER_CENT, WITH_FAILURES, Quantity, find

from .evaluated import SHARES, Evaluated, outline
from .summary import (
    CLASSES,
    facts_of,
    grouping_of,
    has_comparisons_between_groups,
    has_failures,
    has_rates_with_failures,
    interval_name,
    limits,
    measures_at,
    of_groups,
    overall,
    sentences_on_failures,
    summary_of,
)

Floats = NDArray[np.float64]
_RATES = ("fnmr", "fmr")
_OPEN_MEASURES = 6
_MOST_LETTERS = 20  # with more groups the cells of a matrix have no numbers
_HIGHEST = 8  # cells of a matrix that are listed with intervals
_INVISIBLE = 4.5  # divided by a panel's side: normal deviates between a curve and its lines
_FEW_GROUPS, _LARGE, _SMALL = 4, 230, 150  # groups whose panels are larger, and sides of panels in pixels
_LEAST_RATE, _GREATEST_RATE = 1e-5, 0.6  # ends of the axes of curves


def chapter_of(evaluation: Evaluated, together: Evaluated, numbers: str, beside: Beside) -> Chapter:
    """Make a chapter; `together` is the same evaluation with intervals that hold in all groups together."""
    tests = beside.tests_of(evaluation.groups) if evaluation.groups else []
    sections = [_first_section(evaluation, together, tests)]
    for rates in evaluation.rates:
        sections += _rates_sections(evaluation, rates, beside, tests)
    sections += [_test_section(test) for test in tests]
    if has_failures(evaluation):
        sections.append(_failures(evaluation))
    sections += _metrics(evaluation)
    if evaluation.has_curves:
        sections += _curves(evaluation)
    picture = None
    if evaluation.groups and evaluation.rates:
        picture = rates_of_groups(evaluation, evaluation.rates[0], beside, tests, is_short=True)
    first = FirstScreen(
        facts_of(evaluation), overall(evaluation), of_groups(evaluation, together, tests), limits(evaluation), picture,
        len(evaluation.groups),
    )  # fmt: skip
    return Chapter(
        title_of(evaluation), summary_of(evaluation, together), sections, evaluation.settings, numbers, first=first
    )


def title_of(evaluation: Evaluated) -> str:
    """Name an evaluation by its grouping."""
    return f"By {grouping_of(evaluation)}" if evaluation.settings["grouping"] else "All comparisons"


def left_out_of(evaluation: Evaluated) -> list[str]:
    """Say what was left out of the data, and of the measures."""
    said = [f"Left out: {text}." for text in evaluation.left_out]
    dropped = [group for group in evaluation.groups if group not in evaluation.measured_groups]
    if dropped:
        said.append(f"Left out of the measures, as they lack mated or non-mated comparisons: {', '.join(dropped)}.")
    return list(map(visible, said))


def _first_section(evaluation: Evaluated, together: Evaluated, tests: Sequence[Any]) -> Section:
    return Section("", [*left_out_of(evaluation), *(said for _, said in of_groups(evaluation, together, tests))])


def quantity_cell(one: Quantity) -> Cell:
    """Write a number with its interval and notes; rates in per cent, without the sign."""
    is_rate = one.name in IN_PER_CENT
    if HELD in one.note:
        return Cell(per_cent(one.estimate).removesuffix(" %"), "(held)")
    text, ends = value_and_interval(one.estimate, one.low, one.high, is_rate=is_rate)
    few = one.n_errors is not None and one.n_errors < ENOUGH_ERRORS
    return Cell(text, ends, tuple(filter(None, one.note.split("; "))), "few" if few else "")


def rates_of_groups(
    evaluation: Evaluated, rates: Rates, beside: Beside, tests: Sequence[Any], *, is_short: bool
) -> Table:
    """Write and draw both rates of all comparisons and of each group; the short form has no counts and no verdicts."""
    at = str(rates.at)
    order = np.argsort(np.where(np.isnan(rates.group_fnmr), -1, rates.group_fnmr), kind="stable")[::-1]
    groups = [None, *(evaluation.groups[k] for k in order.tolist())]
    shown = groups if is_short or tuple(beside.groups) == evaluation.groups else groups[1:]
    scales: dict[str, Scale] = {}
    required: dict[str, dict[str, dict[str | None, str]]] = {}
    named: dict[str, set[str]] = {}
    for name in _RATES:
        each = [find(evaluation.quantities, name, group, rates.at) for group in groups]
        rows = [row for row in beside.required(name, at) if row.group in groups]
        bounds = dict.fromkeys(row.bound for row in rows)
        lines = [("all", each[0].estimate), *(("limit", bound) for bound in bounds)]
        ends = [x for quantity in each for x in (quantity.estimate, quantity.high)]
        scales[name] = Scale.of(ends, is_logarithmic=name == "fmr", lines=lines)
        required[name] = {}
        for one in () if is_short else (one for one in rows if one.group in shown):
            text = f"{one.relation} {per_cent(one.bound)}?"
            required[name].setdefault(text, {})[one.group] = one.verdict
        named[name] = {group for test in tests if test.error == name for group in test.different}
    columns, name_of_ends = [Column("Group", "text"), Column("People")], interval_name(evaluation.settings)
    level = f"{name_of_ends.partition(' %')[0]} %"
    for side, name in enumerate(_RATES, start=1):
        rate = name.upper()
        columns += [Column("", "drawing", side)]
        columns += [
            Column(
                rate + (", %" if is_short or not name_of_ends else f", % [{level}]"),
                "number",
                side,
            )
        ]
        if not is_short:
            columns += [Column("Errors", "number", side)]
            columns += [Column(text, "text", side) for text in required[name]]
    rows_of_table: list[Row] = []
    for group in shown:
        pair = {name: find(evaluation.quantities, name, group, rates.at) for name in _RATES}
        people = pair["fnmr"].n_subjects if pair["fnmr"].n_subjects is not None else pair["fmr"].n_subjects
        if group is None and evaluation.n_subjects is not None:
            people = evaluation.n_subjects
        row: Row = [visible(group or "all"), "" if people is None else f"{people:,}"]
        for name, quantity in pair.items():
            written = quantity_cell(quantity)
            mark = "diamond" if group in named[name] else "dot"
            row.append(
                Cell(
                    drawing=interval(
                        scales[name], quantity.estimate, quantity.low, quantity.high, look=written.look, mark=mark
                    )
                )
            )
            row.append(Cell(written.text, written.interval, (), written.look) if is_short else written)
            if not is_short:
                row.append(f"{quantity.n_errors or 0:,} of {quantity.n_comparisons or 0:,}")
                for verdicts in required[name].values():
                    verdict = verdicts.get(group)
                    row.append("–" if verdict is None else Cell(verdict.capitalize(), look=verdict))
        rows_of_table.append(row)
    foot: Row = []
    for column in columns:
        name = _RATES[column.side - 1]
        foot.append(Cell(drawing=axis(scales[name])) if column.kind == "drawing" else Cell())
    reading = [
        f"Dots: measured rates{f'; lines: {name_of_ends}s' if name_of_ends else ''}. Solid line: all people"
        f"{'; dashed: limit' if any(len(one.lines) > 1 for one in scales.values()) else ''}.",
        f"Hollow, light and in italics: fewer than {ENOUGH_ERRORS} errors.",
        *(["Diamond: a test names this group as different."] if any(named.values()) else []),
        "Sorted by FNMR.",
    ]
    has_verdicts = any(required.values())
    return Table(
        "" if is_short else f"Error rates at {at}", columns, rows_of_table, foot=foot,
        look="rates wide" if has_verdicts else "rates", explanation=" ".join(reading) if is_short else "",
    )  # fmt: skip


def _rates_sections(evaluation: Evaluated, rates: Rates, beside: Beside, tests: Sequence[Any]) -> list[Section]:
    tables = [rates_of_groups(evaluation, rates, beside, tests, is_short=False)]
    measures = measures_at(evaluation, rates)
    folded = []
    if measures:
        tables.append(_measures(evaluation, rates, measures[:_OPEN_MEASURES]))
        if measures[_OPEN_MEASURES:]:
            more = _measures(evaluation, rates, measures[_OPEN_MEASURES:])
            folded.append(Section(f"More measures at {rates.at}", (), (), [more], is_folded=True))
    sections = [Section(f"At {rates.at}" if len(evaluation.rates) > 1 else "", (), (), tables), *folded]
    if evaluation.groups and has_comparisons_between_groups(rates):
        sections.append(_between_groups(evaluation, rates))
    return sections


def _measures(evaluation: Evaluated, rates: Rates, measures: Sequence[Quantity]) -> Table:
    """Write measures with their distance from the fair value, each on a scale of its own."""
    rows: list[Row] = []
    for one in measures:
        measure = measure_of(one.name)
        assert measure is not None
        fair, drawing, differs = measure.fair_value, "", "–"
        ends = [math.nan if end is None else end for end in (one.low, one.high)]
        if math.isfinite(one.estimate):
            away = [abs(x - fair) for x in (one.estimate, *ends)]
            largest = max(x for x in away if math.isfinite(x))
            is_inside = ends[0] <= fair <= ends[1]
            known = all(map(math.isfinite, away[1:]))
            near, far = (0.0 if is_inside else min(away[1:]), max(away[1:])) if known else (0.0, 0.0)
            drawing = distance(away[0], near, far, largest)
            differs = "–" if math.isnan(ends[0]) else "may be chance" if is_inside else "yes"
        rows.append([printed_name(one.name), quantity_cell(one), f"{fair:g}", Cell(drawing=drawing), differs])
    columns: list[str | Column] = [
        "Measure",
        "Value",
        "Fair value",
        Column("Distance from fair", "drawing"),
        Column("Differs from fair?", "text"),
    ]
    caption = (
        f"Fairness measures over {len(evaluation.measured_groups)} groups at {rates.at}; each bar has its own scale"
    )
    return Table(caption, columns, rows, look="measures")


def _between_groups(evaluation: Evaluated, rates: Rates) -> Section:
    """Show the FMR of each pair of groups as a matrix of shades, and the highest cells with their intervals."""
    cells = {
        (one.group, one.probe_group): one for one in evaluation.quantities
        if one.name == "fmr_matrix" and one.at == rates.at
    }  # fmt: skip
    groups = evaluation.groups
    letters = [_letters(k) for k in range(len(groups))]
    known = [one.estimate for one in cells.values() if (one.n_errors or 0) >= ENOUGH_ERRORS and one.estimate > 0]
    low, high = (math.log(min(known)), math.log(max(known))) if known else (0.0, 0.0)

    def shade(one: Quantity) -> str:
        if (one.n_errors or 0) < ENOUGH_ERRORS or one.estimate <= 0:
            return "few"
        return f"h{1 + min(4, int(5 * (math.log(one.estimate) - low) / (high - low)))}" if high > low else "h3"

    rows: list[Row] = []
    for letter, group in zip(letters, groups, strict=True):
        row: Row = [f"{letter}  {visible(group)}"]
        for other in groups:
            one = cells.get((group, other))
            if one is None or not one.n_comparisons:
                row.append("–")
                continue
            text = per_cent(one.estimate, 2).removesuffix(" %") if len(groups) <= _MOST_LETTERS else ""
            row.append(Cell(text, look=shade(one) + (" own" if group == other else "")))
        rows.append(row)
    matrix = Table(
        f"FMR between groups at {rates.at}, %: group of the reference (rows) and of the probe (columns)",
        ["Reference", *letters], rows, look="matrix",
        explanation=f"Darker: higher FMR; no shade: fewer than {ENOUGH_ERRORS} false matches; –: no comparisons; "
        "framed: within a group.",
    )  # fmt: skip
    enough = [one for one in cells.values() if (one.n_errors or 0) >= ENOUGH_ERRORS]
    enough.sort(key=lambda one: -one.estimate)
    listed: list[Row] = [
        [
            f"{visible(str(one.group))} with {visible(str(one.probe_group))}",
            quantity_cell(one),
            f"{one.n_errors:,} of {one.n_comparisons:,}",
        ]
        for one in enough[:_HIGHEST]
    ]
    tables = [matrix]
    if listed:
        columns = ["Reference with probe", "FMR, %", "False matches"]
        tables.append(Table(f"The highest FMRs with at least {ENOUGH_ERRORS} false matches", columns, listed))
    return Section(f"False matches between groups at {rates.at}", (), (), tables)


def _letters(k: int) -> str:
    return chr(ord("A") + k) if k < 26 else f"{chr(ord('A') + k // 26 - 1)}{chr(ord('A') + k % 26)}"


def _test_section(test: Any) -> Section:
    """Show what a test says of each group, folded; its sentences stand above."""
    rows: list[Row] = []
    numbers = (test.group_rate, test.low, test.high, test.group_pvalue_adjusted)
    for group, rate, low, high, adjusted in zip(test.groups, *(array.tolist() for array in numbers), strict=True):
        text, ends = value_and_interval(rate, low, high, is_rate=True)
        differs = "yes" if group in test.different else "–" if math.isnan(adjusted) else "not shown"
        rows.append([visible(group), Cell(text, ends), p_value(adjusted), differs])
    symbol = test.error.upper()
    columns = ["Group", f"{symbol}, %", "Adjusted p-value", "Differs from the others?"]
    caption = f"{symbol} of each group within its own comparisons; test of all groups: p = {p_value(test.pvalue)}"
    return Section(f"Test of equal {symbol}s", (), (), [Table(caption, columns, rows, (3,))], is_folded=True)


def _failures(evaluation: Evaluated) -> Section:
    points = [rates.at for rates in evaluation.rates] if has_rates_with_failures(evaluation) else []
    wanted = [(name, None) for name in FAILURE_RATES] + [(name, at) for at in points for name in WITH_FAILURES]
    columns = [
        "Group",
        *(f"{kind.capitalize()} that failed, %" for kind in CLASSES),
        *(f"Failed {kind}" for kind in CLASSES),
    ]
    columns += [f"{printed_name(name)} at {at}, %" for name, at in wanted[len(FAILURE_RATES) :]]
    rows: list[Row] = []
    for group in (None, *evaluation.groups):
        found = [find(evaluation.quantities, name, group, at) for name, at in wanted]
        cells = list(map(quantity_cell, found))
        counts = [f"{one.n_errors:,} of {one.n_comparisons:,}" for one in found[: len(FAILURE_RATES)]]
        rows.append([visible(group or "all"), *cells[: len(counts)], *counts, *cells[len(counts) :]])
    caption = "Shares of comparisons that failed, and rates in which they count"
    return Section("Failures", sentences_on_failures(evaluation), (), [Table(caption, columns, rows)])


def _metrics(evaluation: Evaluated) -> list[Section]:
    names = [name for name in ("eer", "min_dcf", "min_cllr") if name in evaluation.settings["metrics"]]
    if not names or not evaluation.groups:
        return []
    rows: list[Row] = [
        [visible(group or "all"), *(quantity_cell(find(evaluation.quantities, name, group, None)) for name in names)]
        for group in (None, *evaluation.groups)
    ]
    columns = ["Group", *(printed_name(name) + (", %" if name in IN_PER_CENT else "") for name in names)]
    normalized = "normalised" if evaluation.settings.get("normalize") else "not normalised"
    caption = "Summaries of all thresholds" + (f"; minDCF is {normalized}" if "min_dcf" in names else "")
    title = f"{', '.join(printed_name(name) for name in names)} of groups"
    return [Section(title, (), (), [Table(caption, columns, rows)], is_folded=True)]


def det_limits(curves: Sequence[tuple[Floats, Floats]]) -> tuple[float, float]:
    """Return the rates at the ends of the axes on which all curves, as normal deviates, are seen."""
    known = [float(edge(values)) for curve in curves for values in curve if values.size for edge in (np.min, np.max)]
    low, high = (float(ndtr(edge(known))) for edge in (min, max)) if known else (0.01, 0.5)
    return max(_LEAST_RATE, min(0.8 * low, 0.1)), min(max(1.1 * high, 0.3), _GREATEST_RATE)


def det_curve(evaluation: Evaluated, group: str | None, side: int) -> tuple[Floats, Floats]:
    """Return the normal deviates of a DET curve at as many points as a panel of this side shows."""
    x, y = evaluation.curve(group).deviates
    kept = outline(x, y, _INVISIBLE / side)
    return x[kept], y[kept]


def _curves(evaluation: Evaluated) -> list[Section]:
    """Draw the DET curve and the scores of all comparisons, or of each group before them."""
    groups: Sequence[str | None] = evaluation.groups if len(evaluation.groups) > 1 else (None,)
    side = _LARGE if len(groups) <= _FEW_GROUPS else _SMALL
    curves = {group: det_curve(evaluation, group, side) for group in (None, *groups)}
    ends, edges = det_limits(list(curves.values())), evaluation.edges
    det, scores = [], []
    for group in groups:
        name = visible(group or "All comparisons")
        points, few = [], False
        for rates in evaluation.rates:
            fnmr, fmr = (find(evaluation.quantities, rate, group, rates.at) for rate in _RATES)
            few = few or min(fnmr.n_errors or 0, fmr.n_errors or 0) < ENOUGH_ERRORS
            low, high = (0.0, 0.0) if few or fnmr.low is None or fnmr.high is None else (fnmr.low, fnmr.high)
            points.append(("few" if few else "", fmr.estimate, fnmr.estimate, low, high))
        drawn = [("few" if few else "", *curves[group])]
        if group is not None:
            drawn.insert(0, ("back", *curves[None]))
        det.append((name, det_panel(drawn, points, ends, side), f"DET curve of {name}; tables have the rates."))
        bins = evaluation.distributions(group).bins
        thresholds = [rates.threshold for rates in evaluation.rates]
        scores.append((name, scores_panel(bins, edges, thresholds), f"Distributions of scores of {name}."))
    at = " and ".join(str(rates.at) for rates in evaluation.rates)
    caption = "FNMR over FMR, %, at all thresholds. Blue: the group; grey: all comparisons"
    caption += f"; circle: {at}, with the interval of the FNMR. " if at else ". "
    caption += f"Thin: fewer than {ENOUGH_ERRORS} errors. Lower is better."
    rows: list[Row] = []
    for group in (None, *evaluation.groups):
        of_kinds = evaluation.distributions(group).quantiles
        written = [", ".join(f"{score:.4g}" for score in quantiles) or "–" for quantiles in of_kinds]
        rows.append([visible(group or "all"), *written])
    shares = ", ".join(per_cent(share) for share in SHARES)
    table = Table(f"Quantiles of scores: {shares}", ["Group", "Mated", "Non-mated"], rows)
    explained = "Blue: mated; orange: non-mated scores; dashed: threshold" + (
        f" {', '.join(typed(rates.threshold) for rates in evaluation.rates)}." if evaluation.rates else "."
    )
    return [
        Section("Trade-off of the two errors", panels=Panels(det, caption)),
        Section("Scores", (), (), [table], Panels(scores, explained), is_folded=True),
    ]
