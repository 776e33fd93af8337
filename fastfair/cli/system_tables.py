"""Tables of many systems for the terminal."""

from __future__ import annotations

from fastfair._lib.text import number_with_interval, p_value
from fastfair.evaluation.ranks import possible_ranks, quantity_in_words, table_of_groups
from fastfair.evaluation.system_comparison import SystemComparison
from fastfair.measures._registry import measure_of, printed_name
from fastfair.uncertainty.quantities import IN_PER_CENT, in_words

from .tables import print_titled, text_table
from .terminal import Table, Terminal, say


def print_systems(found: SystemComparison) -> None:
    """Print a summary, and rankings of all comparisons and of groups, or the differences to the baseline."""
    console = Terminal()
    for line in found.summary().splitlines():
        say(line)
    if found.settings["baseline"] is not None:
        _print_differences(console, found)
        return
    rankings = found._by_quantity()
    for ranking in rankings:
        if ranking[0].group is None:
            rows = [[one.system, in_words(one), str(one.rank), possible_ranks(one)] for one in ranking]
            headings = ("system", "value", "rank", "possible ranks")
            print_titled(console, f"Ranks by {quantity_in_words(ranking[0])}", text_table(headings, rows))
    for name, at in dict.fromkeys((ranking[0].name, ranking[0].at) for ranking in rankings):
        of_groups = [one for one in rankings if one[0].group is not None and (one[0].name, one[0].at) == (name, at)]
        if of_groups and name in IN_PER_CENT:
            of = printed_name(name) + ("" if at is None else f" at {at}")
            title = f"{of} of each group, and the ranks that are possible in it"
            print_titled(console, title, text_table(*table_of_groups(of_groups, found.systems)))


def _print_differences(console: Terminal, found: SystemComparison) -> None:
    for (system, baseline), contrasts in found.contrasts.items():
        table = Table(pad_edge=False, box=None)
        for heading in ("quantity", "group", "at"):
            table.add_column(heading)
        for heading in (system, baseline, "difference", "p"):
            table.add_column(heading, justify="right")
        table.add_column("better or fairer")
        for one in contrasts:
            if one.name == "fmr_matrix" or (one.group is not None and measure_of(one.name) is not None):
                continue
            better = {"first": system, "second": baseline}.get(one.verdict, one.verdict)
            estimates = (number_with_interval(value) for value in (one.first, one.second))
            table.add_row(
                printed_name(one.name), one.group or "all", one.operating_point or "-", *estimates,
                number_with_interval(one.difference, one.low, one.high), p_value(one.pvalue_adjusted), better,
            )  # fmt: skip
        print_titled(console, f"{system} minus {baseline}", table)
