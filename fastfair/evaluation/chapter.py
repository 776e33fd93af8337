"""What a page says of an evaluation."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from fastfair._lib.axes import new_axes
from fastfair._lib.plot_style import USUAL, row_size
from fastfair._lib.text import cell, interval_of_rate, number_with_interval, per_cent, rate_with_interval
from fastfair.error_rates.curve_results import Rates
from fastfair.error_rates.operating_points import ENOUGH_ERRORS
from fastfair.errors import visible
from fastfair.measures._compute import measure_of
from fastfair.measures._names import printed_name
from fastfair.pages.parts import Chapter, Picture, Section, Table
from fastfair.pages.vector import svg_of
from fastfair.pages.words import QUESTIONS
from fastfair.uncertainty.quantities import HELD, Quantity, find

from .det_bands import add_band, band_of, curve_table, has_bands
from .evaluated import Evaluated, has_curves, interval_name
from .failure_section import section_on_failures
from .failure_words import has_failures
from .plots import draw_det, draw_panels, draw_scores
from .rate_plots import (
    RATE_NAMES,
    draw_fmr_matrix,
    draw_measures,
    draw_rates,
    has_cross_group_comparisons,
    measures_at,
)
from .summary import summary_of
from .tracing import SHARES, distributions_of, edges_of

_WIDTH = 4.9  # inches of a plot that a phone shows in its own size
_MOST_LISTED = 6  # groups that a remark names; tables mark them all
_OF_SOME_FMRS = re.compile(r"(?:(FMR \S+(?: to \S+)?): )?(.*)", re.DOTALL)  # how the note of a band begins
_READING = "Darker: the interval at each FMR on its own; lighter: the band that holds the whole curve."
_FAIRER = {"lower": "lower is fairer", "higher": "higher is fairer", "nearer": "nearer is fairer"}


def chapter_of(evaluation: Evaluated, together: Evaluated, numbers: str) -> Chapter:
    """Make a chapter of an evaluation; `together` is the same one with intervals that hold in all groups together."""
    sections = [data_of(evaluation), _trade_off(evaluation)]
    sections += [_rates(evaluation, together, rates) for rates in evaluation.rates]
    if has_failures(evaluation):
        sections.append(section_on_failures(evaluation, _WIDTH))
    if has_curves(evaluation):
        sections.append(_scores(evaluation))
    sections += [_measures(evaluation, rates) for rates in evaluation.rates if measures_at(evaluation, rates)]
    return Chapter(
        title_of(evaluation), summary_of(evaluation, together), sections, evaluation.settings, numbers,
        remarks_of(evaluation.quantities) | (_remarks_on_curves(evaluation) if has_curves(evaluation) else {}),
    )  # fmt: skip


def _about(about: str, groups: list[str]) -> str:
    if groups == ["all"]:
        return about
    return f"{about}: {_named(groups)}"


def _named(groups: Sequence[str]) -> str:
    return ", ".join(map(visible, groups)) if len(groups) <= _MOST_LISTED else f"{len(groups)} groups"


def title_of(evaluation: Evaluated) -> str:
    """Name an evaluation by its grouping."""
    grouping = evaluation.settings["grouping"]
    return f"By {visible(' & '.join(grouping))}" if grouping else "All comparisons"


def remarks_of(quantities: Sequence[Quantity]) -> dict[str, list[str]]:
    """Gather the notes of quantities, each with the numbers that it stands at."""
    found: dict[str, dict[str, list[str]]] = {}
    for one in quantities:
        for note in filter(None, one.note.split("; ")):
            about = printed_name(one.name) + (f" at {one.at}" if one.at else "")
            where = one.group if one.probe_group is None else f"{one.group} with {one.probe_group}"
            found.setdefault(note, {}).setdefault(about, []).append(where or "all")
    return {
        note: [_about(about, groups) for about, groups in numbers.items()]
        for note, numbers in found.items()
        if note != HELD
    }


def _remarks_on_curves(evaluation: Evaluated) -> dict[str, list[str]]:
    """Gather what is to be known about the bands of DET curves, each with the curves and the FMRs that it is about."""
    found: dict[str, list[str]] = {}
    for group in (None, *evaluation.groups):
        band = band_of(evaluation, group)
        for note in filter(None, band.note.split("; ") if band is not None else ()):
            where, remark = _OF_SOME_FMRS.fullmatch(note).groups()  # type: ignore[union-attr]
            found.setdefault(f"DET curves: {remark}", []).append(
                f"{group or 'all'} at {where}" if where else group or "all"
            )
    return found


def left_out_of(evaluation: Evaluated) -> list[str]:
    """Say what was left out of the data, and of the measures."""
    said = [f"Left out: {text}." for text in evaluation.left_out]
    dropped = [group for group in evaluation.groups if group not in evaluation.measured_groups]
    if dropped:
        said.append(f"Left out of the measures, as they lack mated or non-mated comparisons: {', '.join(dropped)}.")
    return list(map(visible, said))


def data_of(evaluation: Evaluated) -> Section:
    """Say what was left out, and how many comparisons and subjects each group has."""
    sentences = left_out_of(evaluation)
    if evaluation.settings.get("unit") == "comparison":
        sentences.append(
            "Comparisons were drawn as if they were independent; where subjects repeat, intervals are too narrow."
        )
    elif evaluation.n_subjects is not None:
        sentences.append(
            "Intervals allow for comparisons that share people. Errors of the same day or device are more alike than "
            "others, which no interval here knows: with few sessions of each person, FNMRs vary more than they say."
        )
    if not evaluation.groups or not evaluation.rates:
        return Section("Data", sentences)
    counts = evaluation.rates[0].counts
    rows = [["all", *map(cell, (counts.mated, counts.nonmated, counts.mated_subjects, counts.nonmated_subjects))]]
    per_group = (
        counts.group_mated, counts.group_nonmated, counts.group_mated_subjects, counts.group_nonmated_subjects,
    )  # fmt: skip
    for k, group in enumerate(evaluation.groups):
        rows.append([visible(group), *(cell(None if column is None else int(column[k])) for column in per_group)])
    columns = ["Group", "Mated", "Non-mated", "Subjects of mated", "Subjects of non-mated"]
    caption = "Comparisons within each group, and their subjects; all includes comparisons between groups"
    return Section("Data", sentences, (), [Table(caption, columns, rows)])


def _trade_off(evaluation: Evaluated) -> Section:
    pictures, curves = _curves(evaluation) if has_curves(evaluation) else ([], [])
    names = [name for name in ("eer", "min_dcf", "min_cllr") if name in evaluation.settings["metrics"]]
    rows = []
    for group in (None, *evaluation.groups):
        found = [find(evaluation.quantities, name, group, None) for name in names]
        write = [rate_with_interval if one.name == "eer" else number_with_interval for one in found]
        cells = [form(one.estimate, one.low, one.high) for form, one in zip(write, found, strict=True)]
        rows.append([visible(group or "all"), *cells])
    normalized = "normalised" if evaluation.settings.get("normalize") else "not normalised"
    caption = "Summaries of the curves" + (f"; minDCF is {normalized}" if "min_dcf" in names else "")
    tables = [Table(caption, ["Group", *map(printed_name, names)], rows)] if names else []
    return Section("Trade-off of the two errors", (), pictures, [*tables, *curves])


def _curves(evaluation: Evaluated) -> tuple[list[Picture], list[Table]]:
    """Draw the DET curves with their bands, which a table has, too."""
    bands = {group: band_of(evaluation, group) for group in (None, *evaluation.groups)}
    ax = draw_det(evaluation, None, None)
    add_band(ax, bands[None], "black")
    points = " and ".join(str(rates.at) for rates in evaluation.rates)
    alt = "DET curves: FNMR over FMR of all comparisons and of groups. Tables below have EER and minDCF, and the band."
    said = ["The two errors over all thresholds."]
    if points:
        said.append(f"Circles: {points}, with the interval of the FNMR.")
    if bands[None] is not None:
        said.append(_READING)
    pictures = [Picture(svg_of(ax.figure), alt, " ".join(said))]  # type: ignore[arg-type]
    if len(evaluation.groups) > 1:
        panels = draw_panels(evaluation, "det", columns=3)
        for panel, name in zip(panels.axes, evaluation.groups, strict=False):
            add_band(panel, bands[name], USUAL)
        alt = "A small DET plot for each group, with the curve of all comparisons in grey. Tables below have the bands."
        caption = "Each group (blue) before all comparisons (grey), over the FMR of its own comparisons."
        without = [one for one in evaluation.groups if bands[one] is None]
        if has_bands(evaluation) and without:
            caption += f" Too few comparisons for a band: {_named(without)}."
        pictures.append(Picture(svg_of(panels), alt, caption))
    return pictures, [curve_table(bands)] if any(band is not None for band in bands.values()) else []


def _rates(evaluation: Evaluated, together: Evaluated, rates: Rates) -> Section:
    pictures = []
    for name in ("fnmr", "fmr") if evaluation.groups else ():
        ax = draw_rates(together, name, rates, new_axes(row_size(["all", *evaluation.groups], _WIDTH)))
        alt = f"{RATE_NAMES[name]} of each group at {rates.at}, with intervals. The table below has the numbers."
        pictures.append(Picture(svg_of(ax.figure), alt, f"{RATE_NAMES[name]} at {rates.at}."))  # type: ignore[arg-type]
    columns = ["Group", "FNMR", "FMR", "False non-matches", "False matches"]
    with_all = evaluation.groups and together.settings.get("simultaneous", False)
    if with_all:
        columns[3:3] = ["FNMR, all groups together", "FMR, all groups together"]
    rows = []
    for group in (None, *evaluation.groups):
        found = [find(evaluation.quantities, name, group, rates.at) for name in ("fnmr", "fmr")]
        row = [visible(group or "all"), *(rate_with_interval(one.estimate, one.low, one.high) for one in found)]
        if with_all:
            others = [find(together.quantities, one.name, group, rates.at) for one in found]
            row += [interval_of_rate(one.low, one.high) for one in others]
        rows.append([*row, *(_errors(one) for one in found)])
    caption = f"Rates at {rates.at}"
    if name := interval_name(evaluation.settings):
        caption += f", with the {name} in brackets"
    tables = [Table(f"{caption}; * fewer than {ENOUGH_ERRORS} errors", columns, rows)]
    sentences = []
    if evaluation.groups and has_cross_group_comparisons(rates):
        ax = draw_fmr_matrix(evaluation, rates, None)
        alt = f"Heat map of the FMR at {rates.at} by group of reference and of probe. The table below has the numbers."
        wide = len(evaluation.groups) > 8
        pictures.append(Picture(svg_of(ax.figure), alt, "FMR between groups, on a logarithmic scale.", wide))  # type: ignore[arg-type]
        tables.append(_matrix(evaluation, rates))
    elif evaluation.groups:
        sentences.append("All non-mated comparisons are within groups, so there is no FMR between groups.")
    return Section(f"Rates at {rates.at}", sentences, pictures, tables)


def _errors(one: Quantity) -> str:
    return "–" if one.n_errors is None else f"{one.n_errors:,}" + ("*" if one.n_errors < ENOUGH_ERRORS else "")


def _matrix(evaluation: Evaluated, rates: Rates) -> Table:
    cells = {
        (one.group, one.probe_group): one for one in evaluation.quantities
        if one.name == "fmr_matrix" and one.at == rates.at
    }  # fmt: skip
    rows = []
    for group in evaluation.groups:
        found = [cells.get((group, other)) for other in evaluation.groups]
        written = ["–" if one is None else rate_with_interval(one.estimate, one.low, one.high) for one in found]
        rows.append([visible(group), *written])
    caption = f"FMR at {rates.at} by group of the reference (rows) and of the probe (columns)"
    return Table(caption, ["Reference", *map(visible, evaluation.groups)], rows)


def _scores(evaluation: Evaluated) -> Section:
    ax = draw_scores(evaluation, None, new_axes((_WIDTH, 3.4)))
    alt = "Distributions of mated and of non-mated scores, with thresholds. The table below has quantiles."
    pictures = [Picture(svg_of(ax.figure), alt, "Scores of all comparisons.")]  # type: ignore[arg-type]
    if len(evaluation.groups) > 1:
        alt = "Distributions of mated and of non-mated scores of each group, with thresholds."
        caption = "Scores of each group: mated (solid) and non-mated (dashed)."
        pictures.append(Picture(svg_of(draw_panels(evaluation, "scores", columns=3)), alt, caption))
    rows, edges = [], edges_of(evaluation)
    for group in (None, *evaluation.groups):
        row = [visible(group or "all")]
        for quantiles in distributions_of(evaluation, group, edges).quantiles:
            row += [f"{score:.4g}" for score in quantiles] or ["–"] * len(SHARES)
        rows.append(row)
    columns = [f"{kind}, {per_cent(share)}" for kind in ("Mated", "Non-mated") for share in SHARES]
    return Section("Scores", (), pictures, [Table("Quantiles of scores", ["Group", *columns], rows)])


def _measures(evaluation: Evaluated, rates: Rates) -> Section:
    found = measures_at(evaluation, rates)
    ax = draw_measures(evaluation, rates, new_axes((_WIDTH + 1.2, 1.4 + 0.24 * len(found))))
    alt = f"How far each measure at {rates.at} is from its fair value, with intervals. The table below has the numbers."
    caption = "Distance from the value of a fair system (dashed); each row has its own scale."
    rows: dict[tuple[str, str], list[str]] = {}
    for one in found:
        measure = measure_of(one.name)
        assert measure is not None
        value = number_with_interval(one.estimate, one.low, one.high)
        same = rows.get((measure.name, value))
        if same is not None and math.isfinite(one.estimate):
            same[0] += f", the same as {printed_name(one.name)}"
            continue
        fair = f"{measure.fairest:g}, {_FAIRER[measure.fairer]}"
        key = (measure.name, value) if math.isfinite(one.estimate) else (one.name, value)
        rows[key] = [printed_name(one.name), value, fair, one.note or "–", QUESTIONS.get(measure.name, "–")]
    columns = ["Measure", "Value", "Fair value", "Remark", "What it asks"]
    table = Table(
        f"Fairness measures over {len(evaluation.measured_groups)} groups", columns, list(rows.values()), (2, 3, 4)
    )
    return Section(f"Fairness at {rates.at}", (), [Picture(svg_of(ax.figure), alt, caption)], [table])  # type: ignore[arg-type]
