"""The table of other tools: what is made of a row's seconds, how it is shown and how it is kept."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2]))  # benchmarks are not installed

rows, targets, table, record, tasks, main, many_pairs_growth, dask_workers = (
    import_module(f"benchmarks.versus.{name}")
    for name in (
        "rows",
        "targets",
        "table",
        "record",
        "tasks",
        "__main__",
        "many_pairs_growth",
        "dask_workers",
    )
)


def row(name, target, ours, theirs=(), **options):
    against = options.pop("against", rows.Against.TOOL)
    shortfall = options.pop("shortfall", "")
    found = rows.Measurement(
        [*ours], [*theirs], "all", {"fastfair": "1", "peer tool": "2"}, **options
    )
    return rows.Row(name, f"task of {name}", "a tool", against, target, lambda: found, shortfall)


def refusing(name, error):
    def measure():
        raise error

    return rows.Row(name, "task", "a tool", rows.Against.TOOL, targets.AtMost(1), measure)


def measured(*args, **options):
    return rows.measure(row(*args, **options))


def test_the_ratio_of_medians_and_the_spread_are_of_all_rounds():
    found = measured("a", targets.AtMost(2), [1, 2, 4], [1, 1, 1.5])
    assert found.ratio_of_medians == 2
    assert (found.spread_ours, found.spread_theirs) == (3, 0.5)


def test_a_target_is_wider_where_the_peer_is_quick():
    target = targets.AtMostOrQuick(1.0, quick=0.5, wider=1.5)
    outcomes = [
        measured("a", target, [ours], [theirs]).met
        for ours, theirs in ((0.6, 0.4), (0.6, 0.5), (0.7, 0.4))
    ]
    assert outcomes == [True, False, False]
    assert str(target) == "ours / theirs <= 1, or 1.5 where theirs takes under 500 ms"


def test_other_targets_count_where_there_is_a_peer():
    assert measured("a", targets.AtMost(2), [1], [1], also_met=False).met is False


def test_a_cause_is_given_only_where_the_target_is_missed():
    missed, met = (
        measured("a", targets.AtMost(bound), [2], [1], shortfall="a cause") for bound in (1, 3)
    )
    assert (missed.shortfall, met.shortfall) == ("a cause", "")


def test_what_cannot_be_measured_and_what_differs_are_told_apart():
    absent = rows.measure(refusing("a", rows.NotMeasuredError("no network")))
    differs = rows.measure(refusing("b", rows.DisagreementError("EER")))
    assert (absent.ours, absent.met, absent.agree) == (None, None, None)
    assert absent.remarks == "not measured: no network"
    assert (differs.ours, differs.met, differs.agree) == (None, None, False)
    assert differs.remarks == "the answers differ: EER"


@pytest.fixture
def run(monkeypatch):
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["versus", *map(str, arguments)])
        return main.main()

    asked = [
        row("one", targets.AtMost(1), [2], [1]),
        refusing("two", rows.DisagreementError("EER")),
    ]
    monkeypatch.setattr(main, "ROWS", asked)
    return run


def test_the_command_writes_what_it_is_told_to(run, tmp_path, capsys):
    assert (
        run("--only", "one", "--output", tmp_path / "out", "--record", tmp_path / "record.json")
        == 0
    )
    printed = capsys.readouterr()
    assert (tmp_path / "out" / "versus.md").read_text() in printed.out
    assert "one: task of one against a tool" in printed.err
    for path in (tmp_path / "out" / "versus.json", tmp_path / "record.json"):
        assert [one["name"] for one in json.loads(path.read_text())["rows"]] == ["one"]


def test_the_command_fails_where_answers_differ(run, capsys):
    assert run() == 1
    assert "the answers differ" in capsys.readouterr().out


def test_rows_have_names_of_their_own_and_name_their_peers():
    names = [one.name for one in tasks.ROWS]
    assert len(set(names)) == len(names)
    assert all(bool(one.peer) is (one.against is not rows.Against.NOTHING) for one in tasks.ROWS)


@pytest.mark.slow  # the other rows take minutes, or install other tools
@pytest.mark.parametrize("name", ["sweep", "draws"])
def test_rows_of_single_kernels_run_and_agree(name, voxceleb):
    (one,) = (row for row in tasks.ROWS if row.name == name)
    assert rows.measure(one).agree
