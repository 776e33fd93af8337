"""What a page shows of the comparison of two systems, or of many: how they differ, and how they rank."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fastfair._lib.tables import columns_of
from fastfair._lib.text import cell, number_with_interval, p_value, per_cent, value_and_interval
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.errors import visible
from fastfair.measures._registry import measure_of, printed_name
from fastfair.pages.drawings import Scale, det_panel, difference, interval
from fastfair.pages.parts import Cell, Chapter, Column, FirstScreen, Panels, Row, Section, Table
from fastfair.results.result import Printed, printed
from fastfair.uncertainty.quantities import IN_PER_CENT, find, in_words

from .chapter import det_curve, det_limits, left_out_of
from .contrasts import WITHHELD, Contrast
from .difference_tests import REASONS
from .evaluated import Evaluated, has_curves
from .ranks import RankedSystem, possible_ranks, quantity_in_words, table_of_groups
from .summary import Said, brackets_of, facts_of, limits, size_of

MOST_CURVES = 8  # more cannot be told apart
_LINES = (
    "blue", "orange, dashed", "purple, dotted", "green, dash-dotted", "grey", "brown, dashed", "red, dotted",
    "black, dash-dotted",
)  # fmt: skip
_SIDE = 380  # of a large panel, in pixels
_MOST_SAID = 10  # systems of a ranking that a sentence names
_MOST_PAIRS = 100  # with more, the differences are in the JSON alone
_SAID = ("fnmr", "fmr", "eer")


@dataclass(frozen=True, eq=False)
class ManySystems:
    """What a page says of many systems is made of.

    Attributes
    ----------
    evaluations : dict of Evaluated
        The evaluations by the names of the systems.
    contrasts : mapping of pair of str to sequence of Contrast
        The contrasts of each pair.
    rankings : sequence of sequences of RankedSystem
        The rankings in each quantity; none with a baseline.
    settings : mapping
        The arguments of the call.
    """

    evaluations: Mapping[str, Evaluated]
    contrasts: Mapping[tuple[str, str], Sequence[Contrast]]
    rankings: Sequence[Sequence[RankedSystem]]
    settings: Mapping[str, Any]


def chapter_of_systems(
    first: Evaluated, second: Evaluated, contrasts: Sequence[Contrast], settings: Mapping[str, Any], numbers: str
) -> Chapter:
    """Make a chapter of two systems and how they differ."""
    systems = {"first system": first, "second system": second}
    sections = [Section("", _left_out(systems)), *_det_curves(systems)]
    shown = [
        one for one in contrasts if one.name != "fmr_matrix" and (one.group is None or measure_of(one.name) is None)
    ]
    for point in dict.fromkeys(one.at for one in shown):
        here = [one for one in shown if one.at == point]
        title = "Without a threshold" if point is None else f"At {point}"
        for name in dict.fromkeys(one.name for one in here if measure_of(one.name) is None):
            rows = [("all" if one.group is None else one.group, one) for one in here if one.name == name]
            table = differences(f"{printed_name(name)}: first minus second system", "Group", rows, settings, _NAMES)
            sections.append(Section(title, (), (), [table]))
            title = ""
        rows = [(printed_name(one.name), one) for one in here if measure_of(one.name) is not None]
        if rows:
            caption = "Fairness measures: first minus second system; each bar has its own scale"
            sections.append(Section(title, (), (), [differences(caption, "Measure", rows, settings, _NAMES)]))
    said = summary_of_systems(first, contrasts, settings)
    fnmr = [one for one in shown if one.name == "fnmr" and one.at == next(iter(settings_points(first)), None)]
    picture = None
    if len(fnmr) > 1:
        rows = [("all" if one.group is None else one.group, one) for one in fnmr]
        picture = differences(f"FNMR at {fnmr[0].at}: first minus second system", "Group", rows, settings, _NAMES)
    screen = FirstScreen(_facts(systems), (), _numbered(said[1:-1]), limits(first), picture, len(first.groups))
    return Chapter("Two systems", said, sections, settings, numbers, first=screen)


_NAMES = ("First", "Second")


def settings_points(evaluation: Evaluated) -> list[OperatingPoint]:
    """Return the operating points of an evaluation."""
    return [rates.at for rates in evaluation.rates]


def _facts(systems: Mapping[str, Evaluated]) -> Said:
    named = ", ".join(map(visible, list(systems)[:MOST_CURVES])) + (
        ", and others" if len(systems) > MOST_CURVES else ""
    )
    about = [fact for fact in facts_of(next(iter(systems.values()))) if fact[0] in ("People", "Groups", "Comparisons")]
    points = [str(at) for at in settings_points(next(iter(systems.values())))]
    return [
        ("Systems", f"{len(systems)}: {named}"),
        *about,
        *([("Operating points", ", ".join(points))] if points else []),
    ]


def _numbered(sentences: Sequence[str]) -> Said:
    return [("", sentence) for sentence in sentences]


def _left_out(systems: Mapping[str, Evaluated]) -> list[str]:
    return list(dict.fromkeys(said for one in systems.values() for said in left_out_of(one)))


def _det_curves(systems: Mapping[str, Evaluated]) -> list[Section]:
    """Draw the DET curve of each system; of many, those with the lowest FNMR at the first point."""
    if not all(map(has_curves, systems.values())):
        return []
    chosen = list(systems)
    if len(chosen) > MOST_CURVES and all(one.rates for one in systems.values()):
        chosen.sort(key=lambda name: systems[name].rates[0].fnmr)
    chosen = chosen[:MOST_CURVES]
    curves = [(f"k{k}", *det_curve(systems[name], None, 2 * _SIDE)) for k, name in enumerate(chosen)]
    points = []
    for k, name in enumerate(chosen):
        for rates in systems[name].rates:
            one = find(systems[name].quantities, "fnmr", None, rates.at)
            points.append((f"k{k}", rates.fmr, rates.fnmr, one.low or 0.0, one.high or 0.0))
    panel = det_panel(curves, points, det_limits([curve[1:] for curve in curves]), _SIDE)
    legend = "; ".join(f"{_LINES[k]}: {visible(name)}" for k, name in enumerate(chosen))
    alt = "DET curves of the systems; the tables have the numbers."
    caption = (
        f"FNMR over FMR, %, at all thresholds: {legend}. Circles: operating points, with the interval of the FNMR."
    )
    return [Section("Trade-off of the two errors", panels=Panels([("", panel, alt)], caption))]


def differences(
    caption: str,
    heading: str,
    rows: Sequence[tuple[str, Contrast]],
    settings: Mapping[str, Any],
    systems: Sequence[str],
) -> Table:
    """Write and draw differences of one quantity in groups, or of several quantities, between two systems."""
    is_rate = all(one.name in IN_PER_CENT for _, one in rows)
    farthest = [x for _, one in rows for x in map(abs, (one.difference, one.low, one.high)) if math.isfinite(x)]
    written: list[Row] = []
    for name, one in rows:
        own = [x for x in map(abs, (one.difference, one.low, one.high)) if math.isfinite(x)]
        largest = max(farthest if is_rate else own, default=1.0)
        differs = one.verdict in ("first", "second")
        text, ends = value_and_interval(one.difference, one.low, one.high, is_rate=is_rate)
        better = {"first": systems[0], "second": systems[1]}.get(one.verdict, one.verdict or "–")
        values = (
            per_cent(x).removesuffix(" %") if is_rate else number_with_interval(x) for x in (one.first, one.second)
        )
        drawing = difference(one.difference, one.low, one.high, largest, look="" if differs else "few")
        notes = tuple(filter(None, one.note.split("; ")))
        written.append([
            visible(name), *values, Cell(drawing=drawing), Cell(text, ends, notes), p_value(one.pvalue_adjusted),
            visible(better),
        ])  # fmt: skip
    level = f"{100 * settings['confidence_level']:g} %"
    unit = ", %" if is_rate else ""
    columns: list[str | Column] = [
        heading,
        *(f"{visible(name)}{unit}" for name in systems),
        Column("0 in the middle", "drawing"),
    ]
    columns += [
        f"Difference{', points' if is_rate else ''} [{level}]",
        "Adjusted p",
        Column("Better or fairer", "text"),
    ]
    return Table(caption, columns, written, look="measures")


def summary_of_systems(first: Evaluated, contrasts: Sequence[Contrast], settings: Mapping[str, Any]) -> list[str]:
    """Say how two systems differ, in sentences; `first` is one of them, and both scored the same comparisons."""
    said = [f"Both systems scored {size_of(first)}."] if first.rates else []
    for one in contrasts:
        if one.group is None and one.name in ("fnmr", "fmr", "eer"):
            at = f" at {one.at}" if one.at else ""
            told = {
                "first": "the first system is better", "second": "the second system is better",
                "undecided": "which system is better is undecided",
            }.get(one.verdict, "no test is made")  # fmt: skip
            text, ends = value_and_interval(one.difference, one.low, one.high, is_rate=True)
            said.append(
                f"{one.name.upper()}{at}: {per_cent(one.first)} and {per_cent(one.second)}, a difference of "
                f"{f'{text} {ends}'.rstrip()} percentage points; {told}."
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


def chapter_of_many(found: ManySystems, numbers: str) -> Chapter:
    """Make a chapter of many systems, whose evaluations are those that the page draws."""
    sections = [Section("", _left_out(found.evaluations)), *_det_curves(found.evaluations)]
    rankings, names = found.rankings, list(found.evaluations)
    for point in dict.fromkeys(one.at for contrasts in found.contrasts.values() for one in contrasts):
        here = [ranking for ranking in rankings if ranking[0].at == point]
        tables = [_ranking_table(ranking) for ranking in here if ranking[0].group is None]
        tables += _group_tables([ranking for ranking in here if ranking[0].group is not None], names)
        title = "Without a threshold" if point is None else f"At {point}"
        sections.append(Section(title, (), (), tables))
        pairs = _pairs_table(found, point)
        if 0 < len(pairs.rows) <= _MOST_PAIRS:
            sections.append(
                Section(f"Differences between systems: {title[:1].lower()}{title[1:]}", (), (), [pairs], is_folded=True)
            )
    said = summary_of_many(found)
    first = next(iter(found.evaluations.values()))
    picture = next((_ranking_table(one) for one in rankings if one[0].name in _SAID and one[0].group is None), None)
    screen = FirstScreen(
        _facts(found.evaluations), (), _numbered(said[1:-1]), limits(first), picture, len(first.groups)
    )
    return Chapter("Several systems", said, sections, found.settings, numbers, first=screen)


def summary_of_many(found: ManySystems) -> list[str]:
    """Say how systems rank overall, or which differ from the baseline."""
    first = next(iter(found.evaluations.values()))
    said = [f"{len(found.evaluations)} systems scored {size_of(first)}."] if first.rates else []
    for ranking in found.rankings:
        if ranking[0].name in _SAID and ranking[0].group is None:
            said += _about(ranking)
    baseline = found.settings["baseline"]
    if baseline is not None:
        said += _about_baseline(found, baseline)
    said.append(brackets_of(found.settings))
    return said


def _about(ranking: Sequence[RankedSystem]) -> list[str]:
    places = [f"{visible(one.system)} {in_words(one)} (rank {possible_ranks(one)})" for one in ranking[:_MOST_SAID]]
    more = f", and {len(ranking) - _MOST_SAID} more" if len(ranking) > _MOST_SAID else ""
    best = [visible(one.system) for one in ranking if one.best_rank == 1]
    of = quantity_in_words(ranking[0])
    told = (
        f"{best[0]} has the lowest {of}." if len(best) == 1
        else f"Which of {len(best)} systems has the lowest {of} is undecided: {', '.join(best[:_MOST_SAID])}"
        + (", and others." if len(best) > _MOST_SAID else ".")
    )  # fmt: skip
    return [f"{of}, from the lowest: {'; '.join(places)}{more}.", told]


def _about_baseline(found: ManySystems, baseline: str) -> list[str]:
    said = []
    contrasts = [one for each in found.contrasts.values() for one in each if one.group is None and one.name in _SAID]
    for name, at in dict.fromkeys((one.name, one.at) for one in contrasts):
        of_each = {pair[0]: find(each, name, None, at) for pair, each in found.contrasts.items()}
        told = []
        for verdict, word in (("first", "lower than"), ("second", "higher than")):
            systems = [visible(system) for system, one in of_each.items() if one.verdict == verdict]
            if systems:
                told.append(f"{word} that of {visible(baseline)} in {', '.join(systems)}")
        of = printed_name(name) + ("" if at is None else f" at {at}")
        others = sum(one.verdict not in ("first", "second") for one in of_each.values())
        told += [f"undecided in {others} of {len(of_each)} systems"] if others else []
        said.append(f"The {of} is {'; '.join(told)}.")
    return said


def _ranking_table(ranking: Sequence[RankedSystem]) -> Table:
    scale = Scale(0.0, float(len(ranking)))
    rows: list[Row] = [
        [
            visible(one.system), in_words(one), cell(one.rank), possible_ranks(one),
            Cell(drawing=interval(scale, one.rank, one.best_rank, one.worst_rank, look="plain")),
        ]
        for one in ranking
    ]  # fmt: skip
    columns: list[str | Column] = [
        "System",
        "Value",
        "Rank",
        "Possible ranks",
        Column("From 1, at the left", "drawing"),
    ]
    return Table(f"Ranks by {quantity_in_words(ranking[0])}", columns, rows, look="measures")


def _group_tables(rankings: Sequence[Sequence[RankedSystem]], systems: Sequence[str]) -> list[Table]:
    tables = []
    for name in dict.fromkeys(ranking[0].name for ranking in rankings):
        headings, rows = table_of_groups([ranking for ranking in rankings if ranking[0].name == name], systems)
        caption = f"{printed_name(name)} of each group, and the ranks that are possible in it"
        turned = [list(map(visible, column)) for column in zip(*rows, strict=True)]
        cells: list[Row] = [[visible(group), *column] for group, column in zip(headings[1:], turned[1:], strict=True)]
        tables.append(Table(caption, ["Group", *turned[0]], cells, look="dense" if len(systems) > 4 else ""))
    return tables


def _pairs_table(found: ManySystems, point: OperatingPoint | None) -> Table:
    rows: list[Row] = [
        [
            visible(pair[0]), visible(pair[1]), printed_name(one.name),
            Cell(number_with_interval(one.difference, one.low, one.high), notes=[*filter(None, one.note.split("; "))]),
            p_value(one.pvalue_adjusted),
            visible({"first": pair[0], "second": pair[1]}.get(one.verdict, one.verdict or "–")),
        ]
        for pair, contrasts in found.contrasts.items()
        for one in contrasts
        if one.at == point and one.group is None
    ]  # fmt: skip
    level = found.settings["confidence_level"]
    columns: list[str | Column] = ["First", "Second", "Quantity", "First minus second", "Adjusted p-value"]
    columns.append(Column("Better or fairer", "text"))
    return Table(f"Differences, with {100 * level:g} % intervals in brackets", columns, rows)


_OF_CONTRASTS = [
    "name",
    "group",
    "operating_point",
    "first",
    "second",
    "difference",
    "ratio",
    "pvalue_adjusted",
    "verdict",
]


def printed_contrasts(contrasts: Sequence[Contrast], points: Sequence[OperatingPoint]) -> list[Printed]:
    """Return the tables of differences between two systems that the terminal prints, one for each operating point."""
    shown = [
        one for one in contrasts if one.name != "fmr_matrix" and (one.group is None or measure_of(one.name) is None)
    ]
    tables = []
    for point in (None, *points):
        here = [one for one in shown if one.at == point]
        if here:
            _, headings, rows = printed(columns_of(here), _OF_CONTRASTS, of="difference")
            tables.append(("Without a threshold" if point is None else f"At {point}", headings, rows))
    withheld = [[reason] for reason in REASONS if any(reason in one.note for one in shown)]
    if withheld:
        tables.append((f"{WITHHELD}: no test that would not too often tell equal systems apart", ["why"], withheld))
    return tables


def printed_rankings(found: ManySystems) -> list[Printed]:
    """Return the tables that the terminal prints: rankings of all and of groups, or the differences to a baseline."""
    if found.settings["baseline"] is not None:
        tables = []
        for (system, baseline), contrasts in found.contrasts.items():
            titled = printed_contrasts(contrasts, list(dict.fromkeys(one.at for one in contrasts if one.at)))
            tables += [(f"{system} minus {baseline}. {title}", headings, rows) for title, headings, rows in titled]
        return tables
    tables = [
        (
            f"Ranks by {quantity_in_words(ranking[0])}",
            ["system", "value", "rank", "possible ranks"],
            [[one.system, in_words(one), str(one.rank), possible_ranks(one)] for one in ranking],
        )
        for ranking in found.rankings
        if ranking[0].group is None
    ]
    for name, at in dict.fromkeys((ranking[0].name, ranking[0].at) for ranking in found.rankings):
        rankings = [
            each for each in found.rankings if each[0].group is not None and (each[0].name, each[0].at) == (name, at)
        ]
        if rankings and name in IN_PER_CENT:
            of = printed_name(name) + ("" if at is None else f" at {at}")
            title = f"{of} of each group, and the ranks that are possible in it"
            tables.append((title, *table_of_groups(rankings, list(found.evaluations))))
    return tables
