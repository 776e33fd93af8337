"""What a page says of the calibration of log-likelihood ratios."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

from fastfair._lib.axes import new_axes
from fastfair._lib.plot_style import row_size
from fastfair._lib.tables import write_json
from fastfair.errors import visible
from fastfair.pages.parts import Chapter, Picture, Section, Table, cell, number_cell
from fastfair.pages.vector import svg_of

from .cost_rows import DIFFERENT, ApplicationCost

if TYPE_CHECKING:
    from .applications import Application
    from .shown import ShownCalibration

TITLE = "Calibration"
_SIZE = (4.9, 3.4)  # inches
_MOST_DIFFERENCES = 15  # pairs of groups that a table lists; of more, only those that differ


def chapter_of(result: ShownCalibration) -> Chapter:
    """Make a chapter of costs, errors over priors and shares of likelihood ratios."""
    sections = [_of_application(result, one) for one in result.applications]
    sections += [_over_priors(result), _of_ratios(result)]
    remarks: dict[str, list[str]] = {}
    for row in result.costs:
        for note in filter(None, row.note.split("; ")):
            remarks.setdefault(note, []).append(f"{row.application}: {visible(row.group or 'all')}")
    for one in result.measures:
        for note in filter(None, one.note.split("; ")):
            remarks.setdefault(note, []).append(f"{one.title} at {one.application}: {visible(one.group or 'all')}")
    sentences = [line for line in result.summary().splitlines() if line]
    infinite = [
        [k, name, str(value)]
        for k, one in enumerate(result.measures)
        for name in ("estimate", "low", "high")
        if math.isinf(value := getattr(one, name))
    ]
    numbers = json.loads(result.to_json()) | {
        "kind": type(result).__name__, "title": TITLE, "summary": sentences, "infinite": infinite
    }  # fmt: skip
    return Chapter(TITLE, sentences, sections, result.settings, write_json(numbers, None), remarks)


def _of_application(result: ShownCalibration, application: Application) -> Section:
    rows = [row for row in result.costs if row.application == application]
    level = f"{100 * result.confidence_level:g} %"
    size = row_size([row.group or "all" for row in rows], _SIZE[0])
    ax = result.plot(new_axes(size), application)
    picture = Picture(
        svg_of(ax.figure),  # type: ignore[arg-type]
        "Actual and minimum detection cost of all comparisons and of each group, with intervals. See the table.",
        "What decisions at the Bayes threshold cost, and below it in grey what they would at the best threshold.",
    )
    columns = (
        "Group", "Actual DCF", "Minimum DCF", "Miscalibration", "Adjusted p-value", "Verdict", "FNMR", "FMR",
        "False non-matches", "False matches",
    )  # fmt: skip
    tables = [Table(f"Detection costs with {level} intervals in brackets", columns, list(map(_cells, rows)), (5,))]
    pairs = [one for one in result.differences if one.application == application]
    known = [one for one in pairs if len(pairs) <= 2 * _MOST_DIFFERENCES or one.verdict == DIFFERENT]
    if known:
        named = {"act_dcf": "actual DCF", "miscalibration": "miscalibration"}
        cells = [
            [
                f"{named[one.quantity]}: {visible(one.first)} minus {visible(one.second)}",
                number_cell(one.difference, one.simultaneous_low, one.simultaneous_high),
                one.verdict or "–",
            ]
            for one in known
        ]
        caption = f"Differences between groups; {level} intervals that hold for all pairs together"
        tables.append(Table(caption, ("Difference", "Value", "Verdict"), cells, (2,)))
    measures = [one for one in result.measures if one.application == application and one.group is None]
    if measures:
        cells = [[one.title, number_cell(one.estimate, one.low, one.high), one.note or "–"] for one in measures]
        tables.append(Table(f"Fairness measures with {level} intervals", ("Measure", "Value", "Remark"), cells, (2,)))
    title = f"Decisions at {application}"
    return Section(title, (f"The Bayes threshold is {application.threshold:.4g}.",), [picture], tables)


def _cells(row: ApplicationCost) -> list[str]:
    return [
        visible(row.group or "all"),
        number_cell(row.actual, row.actual_low, row.actual_high),
        number_cell(row.minimum, row.minimum_low, row.minimum_high),
        number_cell(row.miscalibration, row.miscalibration_low, row.miscalibration_high),
        cell(row.pvalue_adjusted),
        row.verdict or "–",
        *(cell(value) for value in (row.fnmr, row.fmr, row.n_false_nonmatches, row.n_false_matches)),
    ]


def _over_priors(result: ShownCalibration) -> Section:
    pictures = []
    for normalize, caption in (
        (False, "The applied probability of error (APE) over the prior; upright lines are the applications."),
        (True, "The same as a share of the error without scores: above 1, decisions would be better without them."),
    ):
        ax = result.plot_bayes_error(new_axes(_SIZE), normalize)
        pictures.append(Picture(svg_of(ax.figure), "Actual and minimum error over the prior log odds.", caption))  # type: ignore[arg-type]
    return Section("Errors over priors", (), pictures)


def _of_ratios(result: ShownCalibration) -> Section:
    ax = result.plot_tippett(new_axes(_SIZE))
    picture = Picture(
        svg_of(ax.figure),  # type: ignore[arg-type]
        "Tippett plot: shares of mated and of non-mated comparisons over likelihood ratios.",
        "The share of comparisons whose likelihood ratio is at least so large.",
    )
    cells = [
        [
            visible(one.group or "all"),
            number_cell(one.cllr, one.cllr_low, one.cllr_high),
            number_cell(one.minimum, one.minimum_low, one.minimum_high),
            cell(one.loss),
            cell(one.loss_high),
        ]
        for one in result.ratio_costs
    ]
    columns = ("Group", "Cllr", "min Cllr", "Calibration loss", "At most")
    level = f"{100 * result.confidence_level:g} %"
    return Section("Likelihood ratios", (), [picture], [Table(f"Cllr in bits, with {level} intervals", columns, cells)])
