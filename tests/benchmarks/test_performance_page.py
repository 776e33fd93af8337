"""What the documentation shows of the record of benchmarks."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2]))  # benchmarks are not installed
tables = pytest.importorskip("performance_tables", reason="the extra docs is not installed")
pages = pytest.importorskip("performance_record", reason="the extra docs is not installed")

OURS, OTHER = (
    {"processor": "EPYC", "cpus": 2, "system": "Linux 1"},
    {"processor": "Xeon", "cpus": 4, "system": "Linux 2"},
)


def row(name, machine=OURS, **facts):
    return {
        "name": name,
        "task": f"task of {name}",
        "peer": "NumPy",
        "against": "NumPy code",
        "ratio_of": "theirs / ours",
        "ours": 2.0,
        "theirs": 6.0,
        "ratio": 3.0,
        "remarks": "a remark",
        "table": [],
        "date": "2026-01-01 10:00 UTC",
        "versions": {"numpy": "2.4", "peer numpy": "1.0", "peer tool": "7"},
        "machine": machine,
    } | facts


@pytest.fixture
def noted():
    """Return the files that a page is made anew for, as directives name them."""
    return []


@pytest.fixture
def show(monkeypatch, noted):
    """Return a function that gives the Markdown of a directive, of a record of these rows."""

    def show(directive, argument, *rows):
        monkeypatch.setattr(tables, "RECORD", pages.Record(rows))
        shown = []

        class Shown(directive):
            env = SimpleNamespace(note_dependency=noted.append)

            def __init__(self):
                self.arguments = [argument]

            def parse_text_to_nodes(self, text):
                shown.append(text)
                return []

        Shown().run()
        return "\n".join(shown)

    return show


def cells(text):
    """Return the lines of a list-table, each a list of its cells."""
    lines = text.removeprefix("```{list-table}\n:header-rows: 1\n\n").removesuffix("\n```")
    return [line.split("\n  - ") for line in lines.removeprefix("* - ").split("\n* - ")]


def test_machines_have_letters_by_their_number_of_rows():
    rows = [row("a", OTHER), row("b"), row("c"), row("d", OURS | {"cpus": 8}), row("e", OURS | {"system": "newer"})]
    record = pages.Record(rows)
    assert [record.letter(one) for one in rows] == ["B", "A", "A", "C", "A"]
    assert [record.elsewhere(name) for name in "abcde"] == ["machine B", "", "", "machine C", ""]
    assert {letter: [one["name"] for one in found] for letter, found in record.by_letter().items()} == {
        "A": ["b", "c", "e"],
        "B": ["a"],
        "C": ["d"],
    }


def test_tables_of_rows_of_the_most_frequent_machine_name_none(show):
    rows = row("a"), row("b"), row("c", OTHER, against="nothing", theirs=None, ratio=None)
    header, *body = cells(show(tables.Against, "NumPy code", *rows))
    assert header == ["What is done", "Compared with", "fastfair", "The other", "Ratio"]
    assert body[0] == ["task of a", "NumPy", "2\N{NO-BREAK SPACE}s", "6\N{NO-BREAK SPACE}s", "3 × as fast"]
    assert cells(show(tables.Times, "b a", *rows))[0] == ["What is done", "Time"]


@pytest.mark.parametrize(
    ("directive", "argument", "width"),
    [(tables.Against, "NumPy code", 5), (tables.Times, "a b c", 2), (tables.Named, "a b c", 4)],
)
def test_tables_of_rows_of_several_machines_name_that_of_each(directive, argument, width, show):
    found = cells(show(directive, argument, row("a"), row("b", OTHER), row("c")))
    assert [line[width:] for line in found] == [["Machine"], ["A"], ["B"], ["A"]]


def test_rows_without_a_peer_name_their_machine_beside_the_time(show):
    alone = {"against": "nothing", "theirs": None, "ratio": None}
    rows = row("a", **alone), row("b", OTHER, **alone), row("c")
    assert cells(show(tables.Against, "nothing", *rows)) == [
        ["What is done", "fastfair", "Machine"],
        ["task of a", "2\N{NO-BREAK SPACE}s", "A"],
        ["task of b", "2\N{NO-BREAK SPACE}s", "B"],
    ]


def test_a_rows_own_table_has_another_machine_above_it(show):
    own = [["work"], ["all of it"]]
    rows = row("sort", table=own), row("threads", OTHER, table=own), row("bob")
    assert "machine" not in show(tables.OwnTable, "sort", *rows)
    shown = show(tables.OwnTable, "threads", *rows)
    assert shown.startswith("Measured on machine B:\n")
    assert "* - all of it" in shown.splitlines()


def test_a_table_not_yet_recorded_says_how_to_measure_it(show):
    assert "not been recorded yet" in show(tables.OwnTable, "sort", row("threads"))
    with pytest.raises(Exception, match="no row 'threds'"):
        show(tables.OwnTable, "threds", row("threads"))


def test_figures_of_one_machine_are_said_to_be_from_it(show, noted):
    text = show(tables.Provenance, None, row("a"), row("b", date="2025-12-31 10:00 UTC"))
    assert text.splitlines() == [
        "The times are from one machine: EPYC, 2 processors, Linux 1; 2025-12-31 to 2026-01-01.",
        "",
        "fastfair with numpy 2.4; the others in environments of their own: tool 7.",
    ]
    assert [Path(path).name for path in noted] == ["performance.json"]


def test_figures_of_several_machines_are_listed_with_their_dates_and_versions(show):
    newer = row("c", OURS | {"system": "Linux 9"}, versions={"numpy": "2.5", "peer tool": "7"})
    lines = show(tables.Provenance, None, row("a"), row("b", OTHER), newer).splitlines()
    assert lines[0].startswith("The times are from 2 machines. Tables and plots that name none are from machine A. ")
    assert lines[2:] == [
        "- Machine A: EPYC, 2 processors, Linux 1 and Linux 9; 2026-01-01",
        "- Machine B: Xeon, 4 processors, Linux 2; 2026-01-01",
        "",
        "fastfair with numpy 2.4 and 2.5; the others in environments of their own: tool 7.",
    ]


@pytest.mark.parametrize(("machine", "title"), [(OURS, ""), (OTHER, "machine B")])
def test_plots_name_another_machine_above_them(machine, title, monkeypatch):
    plots = pytest.importorskip("performance_plots", reason="the extra docs is not installed")
    growth = {
        "comparisons": [10, 100],
        "replicates": [1, 2],
        "seconds": [[1, 2], [3, 4]],
        "grown_bytes": [[1, 2], [3, 4]],
        "sorted_input_bytes": [1, 2],
    }
    found = pages.Record([row("a"), row("b"), row("bootstrap-growth", machine, details=growth)])
    monkeypatch.setattr(plots, "RECORD", found)
    plots.comparisons()
    figure = plots.plt.gcf()
    assert figure.get_suptitle() == title
    plots.plt.close(figure)


def test_aims_that_are_missed_are_listed_with_what_was_found_and_why(show):
    facts = {"met": False, "shortfall": "the reason"}
    rows = [
        row("met", met=True, target="ours <= 9 s", shortfall=""),
        row("ratio", target="theirs / ours >= 8", **facts),
        row("time", target="ours <= 0.5 s", **facts),
        row("more", target="ours - theirs <= 1 s", ours=1.0, theirs=3.5, **facts),
    ]
    _, *lines = cells(show(tables.Missed, None, *rows))
    assert [line[1:] for line in lines] == [
        ["the other / fastfair ≥ 8", "3", "the reason"],
        ["fastfair ≤ 0.5 s", tables.seconds(rows[2]["ours"]), "the reason"],
        ["fastfair - the other ≤ 1 s", tables.seconds(-2.5), "the reason"],
    ]
