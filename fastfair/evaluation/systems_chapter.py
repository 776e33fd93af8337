"""What a page says of the comparison of many systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fastfair._lib.axes import new_axes
from fastfair._lib.plot_style import row_size
from fastfair._lib.text import cell, number_with_interval
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.errors import visible
from fastfair.measures._names import printed_name
from fastfair.pages.parts import Chapter, Picture, Section, Table
from fastfair.pages.vector import svg_of
from fastfair.uncertainty.quantities import find, in_words

from .chapter import data_of, left_out_of, remarks_of
from .contrast_plots import draw_det_of
from .contrasts import Contrast
from .evaluated import Evaluated, has_curves
from .ranking_plots import draw_ranks
from .ranks import RankedSystem, possible_ranks, quantity_in_words, table_of_groups
from .summary import brackets_of, size_of

_WIDTH = 4.9  # inches
_MOST_SAID = 10  # systems of a ranking that a sentence names
_MOST_PAIRS = 100  # with more, the differences are in the JSON alone
_SAID = ("fnmr", "fmr", "eer")
_OF_PAIRS = ("First", "Second", "Quantity", "First minus second", "Adjusted p-value", "Better or fairer", "Remark")


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


def chapter_of_many(found: ManySystems, numbers: str) -> Chapter:
    """Make a chapter of many systems, whose evaluations are those that the page draws."""
    drawn = list(found.evaluations.values())
    data = data_of(drawn[0])
    left_out = list(dict.fromkeys([*data.sentences, *(said for one in drawn[1:] for said in left_out_of(one))]))
    sections = [replace(data, sentences=left_out)] if left_out or data.tables else []
    if all(map(has_curves, drawn)):
        ax = draw_det_of(found.evaluations, None)
        alt = "DET curves of the systems: FNMR over FMR. The tables below have the numbers."
        pictures = [Picture(svg_of(ax.figure), alt, "The two errors of each system, over all thresholds.")]  # type: ignore[arg-type]
        sections.append(Section("Trade-off of the two errors", (), pictures))
    rankings = found.rankings
    for point in dict.fromkeys(one.at for contrasts in found.contrasts.values() for one in contrasts):
        here = [ranking for ranking in rankings if ranking[0].at == point]
        pictures = [_picture(ranking, found) for ranking in here if ranking[0].name in _SAID and not ranking[0].group]
        tables = [_ranking_table(ranking) for ranking in here if ranking[0].group is None]
        tables += _group_tables([ranking for ranking in here if ranking[0].group is not None], list(found.evaluations))
        pairs = _pairs_table(found, point)
        if len(pairs.rows) <= _MOST_PAIRS:
            tables.append(pairs)
        title = "Without a threshold" if point is None else f"At {point}"
        sections.append(Section(title, (), pictures, tables))
    remarks = remarks_of([quantity for one in drawn for quantity in one.quantities])
    return Chapter("Several systems", summary_of_many(found), sections, found.settings, numbers, remarks)


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
    places = [
        f"{visible(one.system)} {in_words(one)} (rank {possible_ranks(one)})" for one in ranking[:_MOST_SAID]
    ]  # fmt: skip
    more = f", and {len(ranking) - _MOST_SAID} more" if len(ranking) > _MOST_SAID else ""
    best = [visible(one.system) for one in ranking if one.best_rank == 1]
    of = quantity_in_words(ranking[0])
    told = (
        f"{best[0]} has the lowest {of}." if len(best) == 1
        else f"The data leave open which of {len(best)} systems has the lowest {of}: {', '.join(best[:_MOST_SAID])}"
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
        told += (
            [f"not told apart from that of {visible(baseline)} in {others} of {len(of_each)} systems"] if others else []
        )
        said.append(f"The {of} is {'; '.join(told)}.")
    return said


def _picture(ranking: Sequence[RankedSystem], found: ManySystems) -> Picture:
    labels = [one.system for one in ranking]
    ax = draw_ranks(ranking, found.settings["confidence_level"], new_axes(row_size(labels, _WIDTH)))
    of = visible(quantity_in_words(ranking[0]))
    alt = f"Ranks of the systems by {of}, with the ranks that are possible. A table below has the numbers."
    return Picture(svg_of(ax.figure), alt, f"Ranks by {of}.")  # type: ignore[arg-type]


def _ranking_table(ranking: Sequence[RankedSystem]) -> Table:
    rows = [[visible(one.system), in_words(one), cell(one.rank), possible_ranks(one)] for one in ranking]
    return Table(f"Ranks by {quantity_in_words(ranking[0])}", ["System", "Value", "Rank", "Possible ranks"], rows)


def _group_tables(rankings: Sequence[Sequence[RankedSystem]], systems: Sequence[str]) -> list[Table]:
    tables = []
    for name in dict.fromkeys(ranking[0].name for ranking in rankings):
        headings, rows = table_of_groups([ranking for ranking in rankings if ranking[0].name == name], systems)
        caption = f"{printed_name(name)} of each group, and the ranks that are possible in it"
        tables.append(Table(caption, ["System", *map(visible, headings[1:])], [[*map(visible, row)] for row in rows]))
    return tables


def _pairs_table(found: ManySystems, point: OperatingPoint | None) -> Table:
    rows = [
        _row(pair, one)
        for pair, contrasts in found.contrasts.items()
        for one in contrasts
        if one.at == point and one.group is None
    ]
    level = found.settings["confidence_level"]
    return Table(f"Differences, with {100 * level:g} % intervals in brackets", _OF_PAIRS, rows, (6,))


def _row(pair: tuple[str, str], one: Contrast) -> list[str]:
    better = {"first": pair[0], "second": pair[1]}.get(one.verdict, one.verdict or "–")
    return [
        visible(pair[0]),
        visible(pair[1]),
        printed_name(one.name),
        number_with_interval(one.difference, one.low, one.high),
        cell(one.pvalue_adjusted),
        visible(better),
        one.note or "–",
    ]
