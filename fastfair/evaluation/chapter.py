"""What a page shows of an evaluation: the first screen, and a section with the rates, curves and measures of groups."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from fastfair._lib.text import NONE, in_lines, p_value, per_cent, typed, value_and_interval
from fastfair.data.checks import LOG_LIKELIHOOD_RATIO
from fastfair.error_rates.operating_points import ENOUGH_ERRORS, OperatingPoint
from fastfair.error_rates.rates import Rates
from fastfair.errors import visible
from fastfair.measures._registry import measure_of, printed_name
from fastfair.pages.drawings import Scale, axis, det_panel, distance, interval, scores_panel
from fastfair.pages.parts import Beside, Cell, Chapter, Column, FirstScreen, Panels, Row, Section, Table
from fastfair.pages.report import letter
from fastfair.results.result import Printed, on_page, printed
from fastfair.uncertainty.quantities import FAILURE_RATES, HELD, IN_PER_CENT, NARROW, WITH_FAILURES, Quantity, find

from .evaluated import Evaluated, outline
from .summary import (
    CLASSES,
    distances_from_fair,
    facts_of,
    grouping_of,
    has_comparisons_between_groups,
    has_failures,
    has_rates_with_failures,
    interval_name,
    left_out_of_measures,
    limits,
    measures_at,
    of_groups,
    overall,
    sentences_on_failures,
    summary_of,
)

Floats = NDArray[np.float64]
ColumnOf = tuple[str | Column, Callable[[Any], str | Cell]]  # a column, and what writes its cell in a row
OWN_SCALES = "Each bar has its own scale."
FEW_ERRORS = f"* fewer than {ENOUGH_ERRORS} errors behind the rate (Doddington's rule of {ENOUGH_ERRORS})"
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
    answer = of_groups(evaluation, together, tests)
    sections = [Section("", [*left_out_of(evaluation), *(said for _, said in answer)])]
    for rates in evaluation.rates:
        sections += _rates_sections(evaluation, rates, beside, tests)
    for test in tests:
        symbol = test.rate_name.upper()
        caption = f"{symbol} of each group within its own comparisons; test of all groups: p = {p_value(test.pvalue)}"
        _, headings, rows = printed(
            test._columns(), ("group", test.rate_name, "group_pvalue_adjusted"), of=test.rate_name
        )
        sections.append(Section(f"Test of equal {symbol}s", (), (), [on_page(caption, headings, rows)], is_folded=True))
    if has_failures(evaluation):
        sections.append(Section("Failures", sentences_on_failures(evaluation), (), [_failures(evaluation)]))
    metrics = _metrics(evaluation)
    if metrics and evaluation.groups:
        sections.append(Section("Summaries of all thresholds", (), (), metrics, is_folded=True))
    if evaluation.has_curves:
        sections += _curves(evaluation)
    picture = None
    if evaluation.groups and evaluation.rates:
        picture = rates_of_groups(evaluation, evaluation.rates[0], beside, tests, is_short=True)
    first = FirstScreen(
        facts_of(evaluation), overall(evaluation), answer, limits(evaluation), picture,
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
    return [*(visible(f"Left out: {text}.") for text in evaluation.left_out), *left_out_of_measures(evaluation)]


def quantity_cell(one: Quantity) -> Cell:
    """Write a number with its interval and notes; rates in per cent, without the sign."""
    is_rate = one.name in IN_PER_CENT
    look = "few" if one.n_errors is not None and one.n_errors < ENOUGH_ERRORS else ""
    if HELD in one.note:
        return Cell(per_cent(one.estimate).removesuffix(" %"), "(held)", look=look)
    text, ends = value_and_interval(one.estimate, one.low, one.high, is_rate=is_rate)
    return Cell(text, ends, tuple(filter(None, one.note.split("; "))), look)


def _errors_of(one: Quantity) -> str:
    return f"{one.n_errors or 0:,} of {one.n_comparisons or 0:,}"


def _table(caption: str, rows: Sequence[Any], columns: Sequence[ColumnOf], **more: Any) -> Table:
    """Make a table of columns, each with the function that writes its cell in a row."""
    cells = [[write(row) for _, write in columns] for row in rows]
    return Table(caption, [column for column, _ in columns], cells, **more)


_GROUP: ColumnOf = (Column("Group", "text"), lambda group: visible(group or "all"))


def rates_of_groups(
    evaluation: Evaluated, rates: Rates, beside: Beside, tests: Sequence[Any], *, is_short: bool = False
) -> Table:
    """Write and draw both rates of all comparisons and of each group; the short form has no counts and no verdicts."""
    order = np.argsort(np.where(np.isnan(rates.group_fnmr), -1, rates.group_fnmr), kind="stable")[::-1]
    groups = [None, *(evaluation.groups[k] for k in order.tolist())]
    shown = groups if is_short or tuple(beside.groups) == evaluation.groups else groups[1:]

    def people(group: str | None) -> str:
        each = [find(evaluation.quantities, name, group, rates.at).n_subjects for name in _RATES]
        known = [n for n in (evaluation.n_subjects if group is None else None, *each) if n is not None]
        return f"{known[0]:,}" if known else ""

    columns: list[ColumnOf] = [_GROUP, (Column("People"), people)]
    foot, has_limits = [Cell(), Cell()], False
    for side, name in enumerate(_RATES, start=1):
        required = [row for row in beside.required(name, str(rates.at)) if row.group in shown]
        has_limits = has_limits or any(math.isfinite(row.bound) for row in required)
        different = {group for test in tests if test.rate_name == name for group in test.different}
        of_rate, scale = _columns_of_rate(evaluation, name, side, rates, groups, required, different, is_short=is_short)
        columns += of_rate
        foot += [Cell(drawing=axis(scale)), *[Cell()] * (len(of_rate) - 1)]
    has_verdicts = any(isinstance(one, Column) and one.title.endswith("?") for one, _ in columns)
    ends = interval_name(evaluation.settings)
    reading = [
        f"Dots: measured rates{f'; lines: {ends}s' if ends else ''}. Solid line: all people"
        f"{'; dashed: limit' if has_limits else ''}.",
        f"Hollow, light and in italics: fewer than {ENOUGH_ERRORS} errors.",
        *(["Diamond: a test names this group as different."] if any(test.different for test in tests) else []),
        "Sorted by FNMR.",
    ]
    return _table(
        "" if is_short else f"Error rates at {rates.at}", shown, columns, foot=foot,
        look="rates wide" if has_verdicts else "rates", explanation=" ".join(reading) if is_short else "",
    )  # fmt: skip


def _columns_of_rate(
    evaluation: Evaluated, name: str, side: int, rates: Rates, groups: Sequence[str | None], required: Sequence[Any],
    different: set[str], *, is_short: bool,
) -> tuple[list[ColumnOf], Scale]:  # fmt: skip
    """Make the columns of one rate: drawn, written, and unless short with its errors and the verdicts on it."""
    each = {group: find(evaluation.quantities, name, group, rates.at) for group in groups}
    lines = [("all", each[None].estimate), *(("limit", x) for x in dict.fromkeys(row.bound for row in required))]
    ends = [x for one in each.values() for x in (one.estimate, one.high)]
    scale = Scale.of(ends, is_logarithmic=name == "fmr", lines=lines)

    def drawn(group: str | None) -> Cell:
        one, mark = each[group], "diamond" if group in different else "dot"
        return Cell(drawing=interval(scale, one.estimate, one.low, one.high, look=quantity_cell(one).look, mark=mark))

    def written(group: str | None) -> Cell:
        return replace(quantity_cell(each[group]), notes=()) if is_short else quantity_cell(each[group])

    level = interval_name(evaluation.settings).partition(" %")[0]
    heading = f"{name.upper()}, %" + (f" [{level} %]" if level and not is_short else "")
    columns: list[ColumnOf] = [(Column("", "drawing", side), drawn), (Column(heading, "number", side), written)]
    if is_short:
        return columns, scale
    columns.append((Column("Errors", "number", side), lambda group: _errors_of(each[group])))
    verdicts: dict[str, dict[str | None, Cell]] = {}
    for row in required:
        of_text = verdicts.setdefault(f"{row.relation} {per_cent(row.bound)}?", {})
        of_text[row.group] = Cell(row.verdict.capitalize(), look=row.verdict)
    for text, cells in verdicts.items():
        columns.append((Column(text, "text", side), partial(_verdict, cells)))
    return columns, scale


def _verdict(verdicts: Mapping[str | None, Cell], group: str | None) -> str | Cell:
    return verdicts.get(group, NONE)


def _rates_sections(evaluation: Evaluated, rates: Rates, beside: Beside, tests: Sequence[Any]) -> list[Section]:
    measures = measures_at(evaluation, rates)
    open_measures = _measures(evaluation, rates, measures[:_OPEN_MEASURES])
    tables = [rates_of_groups(evaluation, rates, beside, tests), *open_measures]
    sections = [Section(f"At {rates.at}" if len(evaluation.rates) > 1 else "", (), (), tables)]
    more = _measures(evaluation, rates, measures[_OPEN_MEASURES:])
    if more:
        sections.append(Section(f"More measures at {rates.at}", (), (), more, is_folded=True))
    between = _between_groups(evaluation, rates)
    if between:
        sections.append(Section(f"False matches between groups at {rates.at}", (), (), between))
    return sections


def _measures(evaluation: Evaluated, rates: Rates, measures: Sequence[Quantity]) -> list[Table]:
    """Write measures with their distance from the fair value, each on a scale of its own."""
    rows: list[Row] = []
    for one in measures:
        away = distances_from_fair(one)
        is_known = math.isfinite(one.estimate)
        differs = NONE
        if is_known and one.has_interval:
            # Of fair systems with few errors, a measure whose interval is likely too narrow seems unfair too often.
            differs = "may be chance" if not away[1] else "not known" if NARROW in one.flags else "yes"
        drawing = distance(*away) if is_known else ""
        fair = f"{measure_of(one.name).fair_value:g}"  # type: ignore[union-attr]
        rows.append([printed_name(one.name), quantity_cell(one), fair, Cell(drawing=drawing), differs])
    columns: list[str | Column] = ["Measure", "Value", "Fair value", Column("Distance from fair", "drawing")]
    columns.append(Column("Differs from fair?", "text"))
    caption = f"Fairness measures over {len(evaluation.measured_groups)} groups at {rates.at}"
    return [Table(caption, columns, rows, look="measures", explanation=OWN_SCALES)] if rows else []


def _between_groups(evaluation: Evaluated, rates: Rates) -> list[Table]:
    """Show the FMR of each pair of groups as a matrix of shades, and the highest cells with their intervals."""
    if not (evaluation.groups and has_comparisons_between_groups(rates)):
        return []
    cells = {
        (one.group, one.probe_group): one for one in evaluation.quantities
        if one.name == "fmr_matrix" and one.at == rates.at and one.n_comparisons
    }  # fmt: skip
    groups = evaluation.groups
    letters = {group: letter(k).upper() for k, group in enumerate(groups)}
    enough = [one for one in cells.values() if (one.n_errors or 0) >= ENOUGH_ERRORS]
    known = [math.log(one.estimate) for one in enough if one.estimate > 0]
    low, high = (min(known), max(known)) if known else (0.0, 0.0)

    def shaded(other: str, group: str) -> str | Cell:
        one = cells.get((group, other))
        if one is None:
            return NONE
        look = "few" if (one.n_errors or 0) < ENOUGH_ERRORS or one.estimate <= 0 else "h3"
        if look == "h3" and high > low:
            look = f"h{1 + min(4, int(5 * (math.log(one.estimate) - low) / (high - low)))}"
        text = per_cent(one.estimate, 2).removesuffix(" %") if len(groups) <= _MOST_LETTERS else ""
        return Cell(text, look=look + (" own" if group == other else ""))

    columns: list[ColumnOf] = [("Reference", lambda group: f"{letters[group]}  {visible(group)}")]
    columns += [(letters[other], partial(shaded, other)) for other in groups]
    matrix = _table(
        f"FMR between groups at {rates.at}, %: group of the reference (rows) and of the probe (columns)",
        groups, columns, look="matrix",
        explanation=f"Darker: higher FMR; no shade: fewer than {ENOUGH_ERRORS} false matches; –: no comparisons; "
        "framed: within a group.",
    )  # fmt: skip
    highest: list[ColumnOf] = [
        ("Reference with probe", lambda one: f"{visible(str(one.group))} with {visible(str(one.probe_group))}"),
        ("FMR, %", quantity_cell),
        ("False matches", _errors_of),
    ]
    enough = sorted(enough, key=lambda one: -one.estimate)[:_HIGHEST]
    caption = f"The highest FMRs with at least {ENOUGH_ERRORS} false matches"
    return [matrix, *([_table(caption, enough, highest)] if enough else [])]


def _column(
    evaluation: Evaluated, heading: str, name: str, at: OperatingPoint | None,
    write: Callable[[Quantity], str | Cell] = quantity_cell,
) -> ColumnOf:  # fmt: skip
    """Make the column of a quantity of all comparisons and of groups."""
    return heading, lambda group: write(find(evaluation.quantities, name, group, at))


def _failures(evaluation: Evaluated) -> Table:
    """Write the shares of comparisons that failed, and the rates in which they count, of all and of each group."""
    points = [rates.at for rates in evaluation.rates] if has_rates_with_failures(evaluation) else []
    kinds = list(zip(FAILURE_RATES, CLASSES, strict=True))
    columns = [
        _GROUP,
        *(_column(evaluation, f"{kind.capitalize()} that failed, %", name, None) for name, kind in kinds),
        *(_column(evaluation, f"Failed {kind}", name, None, _errors_of) for name, kind in kinds),
        *(_column(evaluation, f"{printed_name(name)} at {at}, %", name, at) for at in points for name in WITH_FAILURES),
    ]
    caption = "Shares of comparisons that failed, and rates in which they count"
    return _table(caption, (None, *evaluation.groups), columns)


def _metrics(evaluation: Evaluated) -> list[Table]:
    """Write EERs, costs and Cllr of log-likelihood ratios, of all comparisons and of each group."""
    asked = evaluation.settings
    # Of scores that are no log-likelihood ratios Cllr tells their scale.
    shown = ("eer", "min_dcf", "min_cllr", "cllr" if asked["score_kind"] == LOG_LIKELIHOOD_RATIO else "")
    names = [name for name in shown if name in asked["metrics"]]
    if not names:
        return []
    headings = {name: printed_name(name) + (", %" if name in IN_PER_CENT else "") for name in names}
    columns = [_GROUP, *(_column(evaluation, heading, name, None) for name, heading in headings.items())]
    costs = f"; minDCF: p_target {asked.get('p_target', 0):g}, {'' if asked.get('normalize') else 'not '}normalised"
    caption = "Summaries of all thresholds" + (costs if "min_dcf" in names else "")
    return [_table(caption, (None, *evaluation.groups), columns)]


def lines_of_tables(evaluation: Evaluated) -> list[str]:
    """Return the tables that a summary ends with: rates at each operating point, and failures."""
    tables = [rates_of_groups(evaluation, rates, Beside(groups=evaluation.groups), ()) for rates in evaluation.rates]
    tables += [_failures(evaluation)] if has_failures(evaluation) else []
    lines = []
    for caption, headings, rows in map(printed_of, tables):
        lines += ["", caption, *in_lines(headings, rows)]
    return [*lines, "", FEW_ERRORS] if any("*" in line for line in lines) else lines


def printed_tables(evaluation: Evaluated) -> list[Printed]:
    """Return the tables of the terminal below the summary: metrics, measures, and FMRs between groups."""
    tables = _metrics(evaluation)
    for rates in evaluation.rates:
        tables += _measures(evaluation, rates, measures_at(evaluation, rates))
        tables += _between_groups(evaluation, rates)
    return list(map(printed_of, tables))


def printed_of(table: Table) -> Printed:
    """Turn a table of a page into one of the terminal, without drawings; stars mark rates of few errors."""
    kept = [k for k, one in enumerate(table.columns) if not (isinstance(one, Column) and one.kind == "drawing")]
    headings = [one.title if isinstance(one, Column) else one for one in (table.columns[k] for k in kept)]
    return table.caption, headings, [[_as_text(row[k]) for k in kept] for row in table.rows]


def _as_text(cell: str | Cell) -> str:
    if isinstance(cell, str):
        return cell
    star = "*" if cell.look.startswith("few") and cell.text != NONE else ""
    return " ".join(filter(None, (cell.text, cell.interval))) + star


def det_limits(curves: Sequence[tuple[Floats, Floats]]) -> tuple[float, float]:
    """Return the rates at the ends of the axes on which all curves, as normal deviates, are seen."""
    known = [float(edge(values)) for curve in curves for values in curve if values.size for edge in (np.min, np.max)]
    low, high = (float(ndtr(edge(known))) for edge in (min, max)) if known else (0.01, 0.5)
    return max(_LEAST_RATE, min(0.8 * low, 0.1)), min(max(1.1 * high, 0.3), _GREATEST_RATE)


def det_curve(evaluation: Evaluated, group: str | None, side: int) -> tuple[Floats, Floats]:
    """Return the normal deviates of a DET curve at as many points as a panel of this side shows."""
    x, y = evaluation._curve(group).deviates
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
        bins = evaluation._distributions(group)
        thresholds = [rates.threshold for rates in evaluation.rates]
        scores.append((name, scores_panel(bins, edges, thresholds), f"Distributions of scores of {name}."))
    at = " and ".join(str(rates.at) for rates in evaluation.rates)
    caption = "FNMR over FMR, %, at all thresholds. Blue: the group; grey: all comparisons"
    caption += f"; circle: {at}, with the interval of the FNMR. " if at else ". "
    caption += f"Thin: fewer than {ENOUGH_ERRORS} errors. Lower is better."
    explained = "Blue: mated; orange: non-mated scores; dashed: threshold" + (
        f" {', '.join(typed(rates.threshold) for rates in evaluation.rates)}." if evaluation.rates else "."
    )
    return [
        Section("Trade-off of the two errors", panels=Panels(det, caption)),
        Section("Scores", panels=Panels(scores, explained), is_folded=True),
    ]
