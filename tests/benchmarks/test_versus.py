"""The table of other tools: what is made of a row's seconds, how it is shown and how it is kept."""

from __future__ import annotations

import contextlib
import json
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).resolve().parents[2]))  # benchmarks are not installed

rows, targets, table, record, tasks, main, many_pairs_growth, dask_workers = (
    import_module(f"benchmarks.versus.{name}")
    for name in ("rows", "targets", "table", "record", "tasks", "__main__", "many_pairs_growth", "dask_workers")
)
MACHINE = {"system": "Linux", "processor": "a processor", "cpus": 2, "python": "3.11"}
REQUIRED = {"task", "peer", "ours", "theirs", "ratio", "target", "met"}


def row(name, target, ours, theirs=(), **options):
    against = options.pop("against", rows.Against.TOOL)
    shortfall = options.pop("shortfall", "")
    found = rows.Measurement([*ours], [*theirs], "all", {"fastfair": "1", "peer tool": "2"}, **options)
    return rows.Row(name, f"task of {name}", "a tool", against, target, lambda: found, shortfall)


def refusing(name, error):
    def measure():
        raise error

    return rows.Row(name, "task", "a tool", rows.Against.TOOL, targets.AtMost(1), measure)


def measured(*args, **options):
    return rows.measure(row(*args, **options))


@pytest.mark.parametrize(
    ("target", "ours", "theirs", "ratio", "met"),
    [
        (targets.AtMost(2), [4, 2], [1, 3], 2, True),
        (targets.AtMost(1.9), [4, 2], [1, 3], 2, False),
        (targets.AtLeast(10), [1], [10], 10, True),
        (targets.AtLeast(10.1), [1], [10], 10, False),
        (targets.AtMostSeconds(3), [3], [1], 3, True),
        (targets.AtMostSeconds(3), [3.1], [9], 3.1 / 9, False),
        (targets.AtMostMore(20), [22], [2], 11, True),
        (targets.AtMostMore(20), [22.1], [2], 11.05, False),
        (targets.NoTarget(), [1], [4], 4, None),
        (targets.NoTarget(faster=False), [1], [4], 0.25, None),
    ],
)
def test_the_least_seconds_are_judged_by_the_target(target, ours, theirs, ratio, met):
    found = measured("a", target, ours, theirs)
    assert (found.ours, found.theirs) == (min(ours), min(theirs))
    assert found.ratio == pytest.approx(ratio)
    assert found.met is met
    assert found.agree is True


def test_the_ratio_of_medians_and_the_spread_are_of_all_rounds():
    found = measured("a", targets.AtMost(2), [1, 2, 4], [1, 1, 1.5])
    assert found.ratio_of_medians == 2
    assert (found.spread_ours, found.spread_theirs) == (3, 0.5)


@pytest.mark.parametrize(
    ("target", "also_met", "met"),
    [
        (targets.AtMostSeconds(3), True, True),
        (targets.AtMostSeconds(1), True, False),
        (targets.AtMostSeconds(3), False, False),
        (targets.Stated("memory"), True, True),
        (targets.Stated("memory"), False, False),
        (targets.NoTarget(), True, None),
    ],
)
def test_a_row_without_a_peer_is_judged_all_the_same(target, also_met, met):
    found = measured("a", target, [2], also_met=also_met)
    assert found.met is met
    assert found.theirs is found.ratio is found.ratio_of_medians is found.spread_theirs is None


def test_other_targets_count_where_there_is_a_peer():
    assert measured("a", targets.AtMost(2), [1], [1], also_met=False).met is False


def test_a_cause_is_given_only_where_the_target_is_missed():
    missed, met = (measured("a", targets.AtMost(bound), [2], [1], shortfall="a cause") for bound in (1, 3))
    assert (missed.shortfall, met.shortfall) == ("a cause", "")


def test_what_cannot_be_measured_and_what_differs_are_told_apart():
    absent = rows.measure(refusing("a", rows.NotMeasuredError("no network")))
    differs = rows.measure(refusing("b", rows.DisagreementError("EER")))
    assert (absent.ours, absent.met, absent.agree) == (None, None, None)
    assert absent.remarks == "not measured: no network"
    assert (differs.ours, differs.met, differs.agree) == (None, None, False)
    assert differs.remarks == "the answers differ: EER"


def results():
    return [
        measured("met", targets.AtLeast(10), [0.002], [0.04], remarks="a remark"),
        measured("missed", targets.AtMost(1), [2], [1], shortfall="a cause", table=(("size", "time"), ("5", "1 s"))),
        measured("limit", targets.NoTarget(faster=False), [3e-9, 6e-9], [1e-9], against=rows.Against.LIMIT),
        measured("alone", targets.AtMostSeconds(3), [2]),
        rows.measure(refusing("absent", rows.NotMeasuredError("no network"))),
        rows.measure(refusing("differs", rows.DisagreementError("EER"))),
    ]


def test_the_table_has_a_line_a_row():
    text = table.to_markdown(results(), MACHINE)
    assert text.startswith("a processor, 2 CPUs, Linux, Python 3.11; 2")
    assert " UTC; commit " in text.splitlines()[0]
    cells = {
        line.split(" | ")[0][2:]: line.strip("| ").split(" | ")[3:] for line in text.splitlines() if "task" in line
    }
    assert cells["met"] == ["2 ms", "40 ms", "theirs / ours: 20 (medians 20)", "theirs / ours >= 10", "yes", "0% / 0%"]
    assert cells["missed"][4] == "**no**"
    assert cells["limit"] == ["3 ns", "1 ns", "ours / theirs: 3 (medians 4.5)", "none", "", "100% / 0%"]
    assert cells["alone"] == ["2 s", "", "", "ours <= 3 s", "yes", "0%"]
    assert cells["absent"][4] == "not measured"
    assert cells["differs"][4] == "the answers differ"


def test_below_the_table_stands_who_is_faster_and_what_is_missed():
    lines = table.to_markdown(results(), MACHINE).splitlines()
    assert "Rows in which another tool or NumPy takes less time: missed." in lines
    assert "Targets missed: missed (a cause)." in lines
    assert "- **met**: answers: all; a remark; theirs: tool 2." in lines
    assert "- **absent**: not measured: no network." in lines
    assert lines[lines.index("| size | time |") + 2] == "| 5 | 1 s |"
    none_missed = table.to_markdown(results()[:1], MACHINE)
    assert "takes less time: none." in none_missed
    assert "Targets missed: none." in none_missed


def test_json_has_every_round():
    written = json.loads(record.to_json(results()))["rows"]
    assert all(set(one) >= REQUIRED for one in written)
    assert written[2]["rounds"] == {"ours": [3e-9, 6e-9], "theirs": [1e-9]}
    assert (written[3]["theirs"], written[3]["ratio"], written[3]["met"]) == (None, None, True)


NAMES = ["met", "missed", "limit", "alone", "absent", "differs"]


def test_the_record_leaves_rounds_out_and_rounds_figures(tmp_path):
    path = tmp_path / "docs" / "record.json"
    third = measured("met", targets.AtMost(2), [1 / 3], [1], details={"seconds": [2 / 3], "sizes": (5, 6)})
    record.update_record(path, [third], NAMES)
    (one,) = json.loads(path.read_text())["rows"]
    assert set(one) >= REQUIRED
    assert "rounds" not in one
    assert (one["ours"], one["details"]) == (0.33333, {"seconds": [0.66667], "sizes": [5, 6]})


def test_the_record_keeps_rows_that_were_not_run_and_their_dates(tmp_path):
    path = tmp_path / "record.json"
    record.update_record(path, results()[::-1], [*NAMES, "gone"])
    before = json.loads(path.read_text())
    assert [one["name"] for one in before["rows"]] == NAMES
    for one in before["rows"]:
        one["date"] = "2000-01-01 00:00 UTC"
    before["rows"].append(before["rows"][0] | {"name": "gone"})
    path.write_text(json.dumps(before))
    record.update_record(path, [measured("missed", targets.AtMost(9), [2], [1])], NAMES)
    after = json.loads(path.read_text())
    assert [one["name"] for one in after["rows"]] == NAMES
    assert [one["name"] for one in after["rows"] if one["date"] > "2000-01-01 00:00 UTC"] == ["missed"]
    assert after["rows"][1]["met"] is True


def test_each_row_of_the_record_has_the_machine_it_was_measured_on(tmp_path, monkeypatch):
    path = tmp_path / "record.json"
    old, new = MACHINE, MACHINE | {"processor": "another", "cpus": 4, "system": "Other"}
    monkeypatch.setattr(record, "machine", lambda: old)
    record.update_record(path, results(), NAMES)
    before = json.loads(path.read_text())["rows"]
    monkeypatch.setattr(record, "machine", lambda: new)
    record.update_record(path, results()[1:2], NAMES)
    after = json.loads(path.read_text())["rows"]
    assert [one["machine"]["processor"] for one in after] == ["a processor", "another", *["a processor"] * 4]
    assert after[1]["machine"] == {"processor": "another", "cpus": 4, "system": "Other"}
    assert after[:1] + after[2:] == before[:1] + before[2:]


@pytest.fixture
def run(monkeypatch):
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["versus", *map(str, arguments)])
        return main.main()

    asked = [row("one", targets.AtMost(1), [2], [1]), refusing("two", rows.DisagreementError("EER"))]
    monkeypatch.setattr(main, "ROWS", asked)
    return run


def test_the_command_writes_what_it_is_told_to(run, tmp_path, capsys):
    assert run("--only", "one", "--output", tmp_path / "out", "--record", tmp_path / "record.json") == 0
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


def test_a_run_broken_off_leaves_the_rows_it_has(run, tmp_path, monkeypatch):
    monkeypatch.setattr(main, "ROWS", [row("one", targets.AtMost(1), [2], [1]), refusing("two", KeyboardInterrupt())])
    with pytest.raises(KeyboardInterrupt):
        run("--output", tmp_path)
    (left,) = json.loads((tmp_path / "versus.json").read_text())["rows"]
    assert left["name"] == "one"


@pytest.mark.parametrize(
    ("last", "met"),
    [
        ((10, 20, 10, 2.9e9), True),
        ((10, 31, 10, 2.9e9), False),  # more than three times the passes
        ((60, 20, 10, 2.9e9), False),  # time grows faster than comparisons
        ((10, 20, 10, 3.1e9), False),  # more than 30 bytes a comparison
    ],
)
def test_growth_with_distinct_pairs_is_judged_by_time_slope_and_memory(last, met, monkeypatch):
    found = {1_000_000: (0.1, 0.3, 0.05, 3.4e7), 10_000_000: (1, 3, 0.5, 3e8), 100_000_000: last}
    monkeypatch.setattr(many_pairs_growth, "_in_a_process", found.__getitem__)
    (growth,) = many_pairs_growth.ROWS
    result = rows.measure(growth)
    assert result.met is met
    assert [line[:2] for line in result.table[1:]] == [
        ("1,000,000", "10,000"), ("10,000,000", "31,623"), ("100,000,000", "100,000")
    ]  # fmt: skip


@pytest.mark.parametrize(("two", "one", "met"), [(5.5, 10.2, True), (5.8, 10.2, False), (5.5, 10.4, False)])
def test_dask_workers_are_judged_by_every_work_and_by_their_cost(two, one, met, monkeypatch):
    seconds, taken = {None: 10, "one": one, "two": two}, []

    def work(executor=None, **_):
        taken.append(seconds[executor])
        return np.arange(3.0)

    monkeypatch.setattr(dask_workers, "_WORKS", {"a": (lambda *_: work, (1, 1), (1, 1))})
    monkeypatch.setattr(dask_workers.scans, "write", lambda *_: None)
    monkeypatch.setattr(dask_workers.scans, "evaluate", lambda _, executor: work(executor))
    monkeypatch.setattr(dask_workers, "_scan", lambda _: work)
    monkeypatch.setattr(dask_workers, "_workers", lambda n: contextlib.nullcontext({1: "one", 2: "two"}[n]))
    monkeypatch.setattr(dask_workers, "clocked", lambda run: lambda: run() or taken[-1])
    (workers,) = dask_workers.ROWS
    result = rows.measure(workers)
    assert result.met is met
    assert (result.ours, result.theirs) == (2 * two, 2 * one)
    assert len(result.table) == 3


@pytest.mark.slow  # the other rows take minutes, or install other tools
@pytest.mark.parametrize("name", ["sweep", "draws"])
def test_rows_of_single_kernels_run_and_agree(name, voxceleb):
    (one,) = (row for row in tasks.ROWS if row.name == name)
    assert rows.measure(one).agree
