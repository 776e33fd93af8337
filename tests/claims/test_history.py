"""`history`: the rows of checks one after another, their names and order, and what is drawn."""

from __future__ import annotations

import json

import numpy as np
import pytest
from helpers.command_line import run
from helpers.data_sets import population
from helpers.refusals import refused

import fastfair as ff
from fastfair.claims import Check

TEXTS = ["fnmr[*] <= 12 %", "fnmr <= 9 %"]
FEW = {"n_resamples": 30, "rng": 0}


def check_of(n: int, **more) -> Check:
    rng = np.random.default_rng(0)
    failures = rng.binomial(4, 0.06, n)
    counts = ff.FailureCounts(failures, np.full(n, 4), np.array(list("ab"))[np.arange(n) % 2])
    return ff.check(counts, TEXTS, **more, **FEW)


@pytest.fixture(scope="module")
def checks() -> list[Check]:
    return [check_of(100 * k, looks=(k, 4)) for k in (1, 2, 4)]


def test_rows_are_those_of_the_checks(checks):
    found = ff.history(checks)
    assert found.names == found.looks == ("look 1 of 4", "look 2 of 4", "look 4 of 4")
    for row, (of, other) in zip(
        found.rows, ((str(one.look), row) for one in checks for row in one.rows), strict=True
    ):
        assert row.of == of
        for name in (
            "title",
            "estimate",
            "low",
            "limit",
            "opposite_limit",
            "verdict",
            "decided_at",
        ):
            assert getattr(row, name) == getattr(other, name)
    said = found.summary()
    assert said.startswith("3 checks, from look 1 of 4 to look 4 of 4.")
    assert "fnmr <= 9 %: undecided (look 1 of 4)" in said
    assert "met (look 4 of 4)" in said
    assert "no planned looks" not in said
    alone = ff.history([check_of(100), check_of(200)]).summary()
    assert "errs more often than one alone" in alone


def test_files_are_named_after_their_folders(checks, tmp_path):
    paths = []
    for name, one in zip(("may", "june", "july"), checks, strict=True):
        (tmp_path / name).mkdir()
        paths.append(tmp_path / name / "check.json")
        one.to_json(paths[-1])
    found = ff.history(paths)
    assert found.names == ("may", "june", "july")
    again = ff.history([paths[0], checks[1], str(paths[2])])
    assert again.rows[0] == found.rows[0]
    place = tmp_path / "history.json"
    found.to_json(place)
    (read,) = ff.read_results(place)
    assert read.summary() == found.summary()
    assert json.loads(read.to_json()) == json.loads(found.to_json())
    page = tmp_path / "page.html"
    printed = run(
        "history", *paths, "--report", page, "--output", tmp_path / "out", "--plots", "svg"
    )
    assert found.summary() in printed.output
    assert page.stat().st_size > 10_000
    assert (tmp_path / "out" / "history.svg").exists()
    assert "--output" in run("history", "--help").output
    assert "give the JSON of each check" in run("history").output


def test_bands_are_the_limits_over_what_is_required(checks):
    ax = ff.history(checks).plot()
    assert len(ax.get_lines()) == 3 + 1
    for line, band, k in zip(ax.get_lines(), ax.collections, range(3), strict=False):
        rows = [one.rows[k] for one in checks]
        assert line.get_ydata().tolist() == [row.estimate / row.bound for row in rows]
        ends = band.get_paths()[0].vertices[:, 1]
        assert ends.max() == pytest.approx(max(row.limit / row.bound for row in rows))
        assert ends.min() == pytest.approx(min(row.opposite_limit / row.bound for row in rows))


def test_thresholds_that_data_give_are_drawn():
    c = population()
    one = ff.check(c, ["fnmr@fmr=0.01 <= 20 %", "eer <= 9 %", "fnmr@threshold=-1 <= 90 %"], **FEW)
    found = ff.history([one, one])
    assert found.names == ("check 1", "check 2")
    (line,) = found._figures()["thresholds"].get_lines()
    threshold = ff.evaluate(c, ff.at_fmr(0.01), [], n_resamples=0).rates[0].threshold
    assert line.get_ydata().tolist() == [threshold] * 2
    assert line.get_label() == "FMR=0.01"


def test_checks_of_profiles_are_read(tmp_path):
    counts = ff.FailureCounts(5, 174, rate="frr")
    check = ff.check(counts, profile="common-criteria", rng=0)
    check.to_json(tmp_path / "check.json")
    read, made = ff.history([tmp_path / "check.json"]), ff.history([check])
    assert [(row.title, row.verdict) for row in read.rows] == [
        (row.title, row.verdict) for row in made.rows
    ]
    assert read.rows[0].requirement == "frr <= 5 %"


def test_other_orders_and_files_are_refused(checks, tmp_path):
    refused(
        "^results: place 1 .* is look 1 of 4 and comes after look 2 of 4", ff.history, checks[1::-1]
    )
    refused("results is empty", ff.history, [])
    refused("results", ff.history, [3])
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(ff.errors.FileFormatError, match=r"^results: .*not the JSON of a check"):
        ff.history([tmp_path / "other.json"])
    refused("^results: .*none.json cannot be read", ff.history, [tmp_path / "none.json"])
