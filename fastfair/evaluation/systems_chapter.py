"""How two systems, or many, differ and rank: in sentences and tables, which terminal and page share, and on a page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from fastfair._lib.text import cell, number_with_interval, p_value, per_cent, value_and_interval
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.errors import visible
from fastfair.measures._registry import measure_of, printed_name
from fastfair.pages.drawings import Scale, det_panel, difference, interval
from fastfair.pages.parts import Cell, Chapter, Column, FirstScreen, Panels, Row, Section, Table
from fastfair.results.result import Printed
from fastfair.uncertainty.quantities import IN_PER_CENT, find, in_words

from .chapter import OWN_SCALES, det_curve, det_limits, left_out_of, printed_of
from .contrasts import REASONS, WITHHELD, Contrast, Pair, RankedSystem, possible_ranks, quantity_in_words
from .evaluated import Evaluated
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

Systems = Mapping[str, Evaluated]
Pairs = Mapping[Pair, Sequence[Contrast]]
Rankings = Sequence[Sequence[RankedSystem]]


def chapter_of_systems(
    systems: Systems, pairs: Pairs, rankings: Rankings, settings: Mapping[str, Any], numbers: str
) -> Chapter:
    """Make a chapter of the evaluations of systems, the contrasts of pairs, and rankings, of which two have none."""
    left_out = list(dict.fromkeys(said for one in systems.values() for said in left_out_of(one)))
    sections = [Section("", left_out), *_det_curves(systems)]
    is_pair, first = _is_pair(settings), next(iter(systems.values()))
    for point in dict.fromkeys(one.at for contrasts in pairs.values() for one in contrasts):
        tables = _tables_at(point, systems, pairs, rankings, settings)
        title = "Without a threshold" if point is None else f"At {point}"
        sections.append(Section(title, (), (), tables if is_pair or settings["baseline"] is None else ()))
        differences = _pairs_table(pairs, point, settings)
        if not is_pair and 0 < len(differences.rows) <= _MOST_PAIRS:
            title = f"Differences between systems: {title[:1].lower()}{title[1:]}"
            sections.append(Section(title, (), (), [differences], is_folded=True))
    picture = next((_ranking_table(one) for one in rankings if one[0].name in _SAID and one[0].group is None), None)
    if is_pair and first.rates:
        ((pair, contrasts),) = pairs.items()
        fnmr = [one for one in contrasts if one.name == "fnmr" and one.at == first.rates[0].at]
        picture = _differences(pair, fnmr, settings) if len(fnmr) > 1 else None
    said = summary_of_systems(systems, pairs, rankings, settings)
    answer = [("", sentence) for sentence in said[1:-1]]
    screen = FirstScreen(_facts(systems), (), answer, limits(first), picture, len(first.groups))
    title = "Two systems" if is_pair else "Several systems"
    return Chapter(title, said, sections, settings, numbers, first=screen)


def printed_systems(systems: Systems, pairs: Pairs, rankings: Rankings, settings: Mapping[str, Any]) -> list[Printed]:
    """Return the tables that the terminal prints: rankings of all and of groups, or the differences of pairs."""
    points = dict.fromkeys(one.at for contrasts in pairs.values() for one in contrasts)
    tables = [printed_of(table) for point in points for table in _tables_at(point, systems, pairs, rankings, settings)]
    if not rankings:
        notes = "; ".join(one.note for contrasts in pairs.values() for one in contrasts if _is_shown(one))
        withheld = [[reason] for reason in REASONS if reason in notes]
        if withheld:
            tables.append((f"{WITHHELD}: no test that would not too often tell equal systems apart", ["why"], withheld))
    return tables


def _is_pair(settings: Mapping[str, Any]) -> bool:
    """Return whether two systems were compared, without names and ranks."""
    return "baseline" not in settings


def _tables_at(
    point: OperatingPoint | None, systems: Systems, pairs: Pairs, rankings: Rankings, settings: Mapping[str, Any]
) -> list[Table]:
    """Make the tables of an operating point: ranks of all and of groups, or the differences of each pair."""
    here = [ranking for ranking in rankings if ranking[0].at == point]
    tables = [_ranking_table(ranking) for ranking in here if ranking[0].group is None]
    of_groups = [ranking for ranking in here if ranking[0].group is not None]
    for name in dict.fromkeys(ranking[0].name for ranking in of_groups):
        each = [{one.system: one for one in ranking} for ranking in of_groups if ranking[0].name == name]
        cells: list[Row] = [
            [visible(next(iter(of.values())).group or ""),
             *(Cell(in_words(of[s]), f"rank {possible_ranks(of[s])}") for s in systems)]
            for of in each
        ]  # fmt: skip
        caption = f"{_at_point(name, point)} of each group, and the ranks that are possible in it"
        tables.append(Table(caption, ["Group", *map(visible, systems)], cells))
    for pair, contrasts in pairs.items() if not rankings else ():
        alike: dict[str, list[Contrast]] = {}  # of one rate or metric, and last the measures
        shown = [one for one in contrasts if one.at == point and _is_shown(one)]
        for one in sorted(shown, key=lambda one: measure_of(one.name) is not None):
            alike.setdefault("" if measure_of(one.name) is not None else one.name, []).append(one)
        tables += [_differences(pair, together, settings) for together in alike.values()]
    return tables


def _at_point(name: str, point: OperatingPoint | None) -> str:
    return printed_name(name) + ("" if point is None else f" at {point}")


def _is_shown(one: Contrast) -> bool:
    return one.name != "fmr_matrix" and (one.group is None or measure_of(one.name) is None)


def _differences(pair: Pair, contrasts: Sequence[Contrast], settings: Mapping[str, Any]) -> Table:
    """Write and draw differences between two systems: of one quantity in groups, or of measures on own scales."""
    is_rate = all(one.name in IN_PER_CENT for one in contrasts)
    of_measures = measure_of(contrasts[0].name) is not None
    sizes = [[x for x in map(abs, (one.difference, one.low, one.high)) if math.isfinite(x)] for one in contrasts]
    farthest = max((x for own in sizes for x in own), default=1.0)
    rows: list[Row] = []
    for one, own in zip(contrasts, sizes, strict=True):
        text, ends = value_and_interval(one.difference, one.low, one.high, is_rate=is_rate)
        values = (
            per_cent(x).removesuffix(" %") if is_rate else number_with_interval(x) for x in (one.first, one.second)
        )
        look = "" if one.verdict in ("first", "second") else "few"
        largest = farthest if is_rate else max(own, default=1.0)
        rows.append([
            printed_name(one.name) if of_measures else visible(one.group or "all"), *values,
            Cell(drawing=difference(one.difference, one.low, one.high, largest, look=look)),
            Cell(text, ends, tuple(filter(None, one.note.split("; ")))), p_value(one.pvalue_adjusted),
            _better(pair, one),
        ])  # fmt: skip
    unit, points = (", %", ", points") if is_rate else ("", "")
    columns: list[str | Column] = [
        "Measure" if of_measures else "Group", *(f"{visible(name)}{unit}" for name in pair),
        Column("0 in the middle", "drawing"),
        f"Difference{points} [{100 * settings['confidence_level']:g} %]", "Adjusted p",
        Column("Better or fairer", "text"),
    ]  # fmt: skip
    of = _at_point("Fairness measures" if of_measures else contrasts[0].name, contrasts[0].at)
    caption, explanation = f"{of}: {visible(pair[0])} minus {visible(pair[1])}", OWN_SCALES if of_measures else ""
    return Table(caption, columns, rows, look="measures", explanation=explanation)


def _better(pair: Pair, one: Contrast) -> str:
    return visible({"first": pair[0], "second": pair[1]}.get(one.verdict, one.verdict or "–"))


def _pairs_table(pairs: Pairs, point: OperatingPoint | None, settings: Mapping[str, Any]) -> Table:
    rows: list[Row] = [
        [
            visible(pair[0]), visible(pair[1]), printed_name(one.name),
            Cell(number_with_interval(one.difference, one.low, one.high), notes=[*filter(None, one.note.split("; "))]),
            p_value(one.pvalue_adjusted), _better(pair, one),
        ]
        for pair, contrasts in pairs.items()
        for one in contrasts
        if one.at == point and one.group is None
    ]  # fmt: skip
    columns: list[str | Column] = ["First", "Second", "Quantity", "First minus second", "Adjusted p-value"]
    columns.append(Column("Better or fairer", "text"))
    return Table(f"Differences, with {100 * settings['confidence_level']:g} % intervals in brackets", columns, rows)


def _ranking_table(ranking: Sequence[RankedSystem]) -> Table:
    scale = Scale(0.0, float(len(ranking)))
    rows: list[Row] = [
        [
            visible(one.system), in_words(one), cell(one.rank), possible_ranks(one),
            Cell(drawing=interval(scale, one.rank, one.best_rank, one.worst_rank, look="plain")),
        ]
        for one in ranking
    ]  # fmt: skip
    columns: list[str | Column] = ["System", "Value", "Rank", "Possible ranks"]
    columns.append(Column("From 1, at the left", "drawing"))
    return Table(f"Ranks by {quantity_in_words(ranking[0])}", columns, rows, look="measures")


def _facts(systems: Systems) -> Said:
    named = ", ".join(map(visible, list(systems)[:MOST_CURVES]))
    named += ", and others" if len(systems) > MOST_CURVES else ""
    first = next(iter(systems.values()))
    about = [fact for fact in facts_of(first) if fact[0] in ("People", "Groups", "Comparisons")]
    points = ", ".join(str(rates.at) for rates in first.rates)
    return [("Systems", f"{len(systems)}: {named}"), *about, *([("Operating points", points)] if points else [])]


def curves_shown(systems: Systems) -> list[str]:
    """Choose the systems whose DET curves are drawn: of many, those with the lowest FNMR at the first point."""
    chosen = list(systems)
    if len(chosen) > MOST_CURVES and all(one.rates for one in systems.values()):
        chosen.sort(key=lambda name: systems[name].rates[0].fnmr)
    return chosen[:MOST_CURVES]


def _det_curves(systems: Systems) -> list[Section]:
    """Draw the DET curve of each system."""
    if not all(one.has_curves for one in systems.values()):
        return []
    chosen = curves_shown(systems)
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


def summary_of_systems(systems: Systems, pairs: Pairs, rankings: Rankings, settings: Mapping[str, Any]) -> list[str]:
    """Say how two systems differ, how many rank, or which of them differ from the baseline."""
    first, is_pair = next(iter(systems.values())), _is_pair(settings)
    said = [f"{'Both' if is_pair else len(systems)} systems scored {size_of(first)}."] if first.rates else []
    for ranking in rankings:
        if ranking[0].name in _SAID and ranking[0].group is None:
            said += _on_ranking(ranking)
    if is_pair:
        said += _on_differences(*pairs.values())
    elif settings["baseline"] is not None:
        said += _on_baseline(pairs, settings["baseline"])
    return [*said, brackets_of(settings)]


def _on_differences(contrasts: Sequence[Contrast]) -> list[str]:
    said = []
    of_groups: dict[tuple[Any, str], list[str]] = {}
    for one in contrasts:
        if one.group is None and one.name in _SAID:
            told = {
                "first": "the first system is better", "second": "the second system is better",
                "undecided": "which system is better is undecided",
            }.get(one.verdict, "no test is made")  # fmt: skip
            text, ends = value_and_interval(one.difference, one.low, one.high, is_rate=True)
            said.append(
                f"{quantity_in_words(one)}: {per_cent(one.first)} and {per_cent(one.second)}, a difference of "
                f"{f'{text} {ends}'.rstrip()} percentage points; {told}."
            )
        elif one.name == "fnmr" and one.group and one.verdict in ("first", "second"):
            of_groups.setdefault((one.at, one.verdict), []).append(visible(one.group))
    for (point, verdict), groups in of_groups.items():
        n = f"{len(groups)} group" + ("s" if len(groups) > 1 else "")
        said.append(f"At {point} the {verdict} system has the lower FNMR in {n}: {', '.join(groups)}.")
    return said


def _on_ranking(ranking: Sequence[RankedSystem]) -> list[str]:
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


def _on_baseline(pairs: Pairs, baseline: str) -> list[str]:
    said = []
    contrasts = [one for each in pairs.values() for one in each if one.group is None and one.name in _SAID]
    for name, at in dict.fromkeys((one.name, one.at) for one in contrasts):
        of_each = {pair[0]: find(each, name, None, at) for pair, each in pairs.items()}
        told = []
        for verdict, word in (("first", "lower than"), ("second", "higher than")):
            systems = [visible(system) for system, one in of_each.items() if one.verdict == verdict]
            if systems:
                told.append(f"{word} that of {visible(baseline)} in {', '.join(systems)}")
        others = sum(one.verdict not in ("first", "second") for one in of_each.values())
        told += [f"undecided in {others} of {len(of_each)} systems"] if others else []
        said.append(f"The {quantity_in_words(next(iter(of_each.values())))} is {'; '.join(told)}.")
    return said
