"""`fastfair check`: exit codes, tables, files, annotations, and the comparisons behind errors."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest
from helpers.command_line import PLOTS, run
from helpers.each import each

import fastfair as ff
from fastfair.claims import Check
from fastfair.errors import InputError

SCORES = "scores.csv"
ASKED = ["--at", "threshold=0.5", "--group", "group", "--seed", 1, "--n-resamples", 99]
MET, NOT_MET, UNDECIDED = "fnmr <= 99 %", "fnmr <= 0.1 %", "fnmr <= 20.5 %"


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    rng = np.random.default_rng(0)
    who, (first, second) = np.repeat(np.arange(40), 4), np.triu_indices(40, 1)
    mated = np.arange(who.size + first.size) < who.size
    reference, probe = np.append(who, first), np.append(who, second)
    scores = rng.normal(size=mated.size) / 2 + mated
    sides = [np.array(["f", "m"])[side % 2] for side in (reference, probe)]
    path = tmp_path_factory.mktemp("check")
    ff.write_comparisons(ff.Comparisons(scores, mated, reference, probe, *sides), path / SCORES)
    return path


@pytest.fixture(autouse=True)
def _in_its_folder(made, monkeypatch):
    monkeypatch.chdir(made)


def checked(*texts: str, **more) -> Check:
    comparisons = ff.read_comparisons(SCORES, groups=["group"])
    return ff.check(comparisons, texts, ff.at_threshold(0.5), rng=1, n_resamples=99, **more)


def asked(*texts: str) -> list[object]:
    return [word for text in texts for word in ("--require", text)] + ASKED


def test_the_verdicts_of_these_samples_are_what_the_tests_below_need():
    assert [checked(text).verdict for text in (MET, NOT_MET, UNDECIDED)] == [
        "met",
        "not met",
        "undecided",
    ]


@each(
    ("texts", "more", "code"),
    [
        ([MET], [], 0), ([NOT_MET], [], 1), ([UNDECIDED], [], 3), ([UNDECIDED], ["--allow-undecided"], 0),
        ([MET, UNDECIDED], [], 3),
        ([MET, UNDECIDED, NOT_MET], [], 1), ([MET, UNDECIDED, NOT_MET], ["--allow-undecided"], 1),
    ],
)  # fmt: skip
def test_the_exit_code_tells_the_verdict(texts, more, code):
    for form in ([], ["--json"]):
        assert run("check", SCORES, *asked(*texts), *more, *form).exit_code == code


def test_sentences_and_a_row_for_each_quantity_are_printed():
    found = checked("fnmr[*] <= 99 %", NOT_MET)
    printed = run("check", SCORES, *asked("fnmr[*] <= 99 %", NOT_MET)).output
    assert found.summary() in printed
    for row in found.rows:
        assert any(
            line.startswith(row.title) and line.rstrip().endswith(row.verdict)
            for line in printed.splitlines()
        )


def test_a_page_has_the_verdicts_and_is_drawn_again(tmp_path):
    page = tmp_path / "page.html"
    run("check", SCORES, *asked("fnmr[*] <= 99 %", NOT_MET), "--report", page)
    (read,) = ff.read_results(page)
    found = checked("fnmr[*] <= 99 %", NOT_MET)
    assert read.summary() == found.summary()
    lines = [
        [line.get_xydata().tolist() for line in one.plot().get_lines()] for one in (read, found)
    ]
    assert lines[0] == lines[1]


def test_json_is_that_of_the_library_with_the_worst_comparisons():
    printed = json.loads(run("check", SCORES, *asked(MET, NOT_MET), "--json").output)
    assert printed == json.loads(checked(MET, NOT_MET).to_json()) | {"inputs": [SCORES]}
    printed = json.loads(run("check", SCORES, *asked(MET, NOT_MET), "--json", "--worst", 2).output)
    comparisons = ff.read_comparisons(SCORES, groups=["group"])
    worst = ff.worst_comparisons(comparisons, ff.at_threshold(0.5), n=2, rate="fnmr")
    assert printed["worst"] == json.loads(worst.to_json())
    assert printed["check"] == json.loads(checked(MET, NOT_MET).to_json())


def test_the_worst_comparisons_of_what_is_not_met_are_printed():
    printed = run("check", SCORES, *asked("fnmr[*] <= 0.1 %", MET), "--worst", 1).output
    comparisons = ff.read_comparisons(SCORES, groups=["group"])
    for group in ("f", "m"):
        worst = ff.worst_comparisons(comparisons, ff.at_threshold(0.5), group, 1, rate="fnmr")
        assert f"The worst comparisons behind the FNMR of {group} at threshold=0.5" in printed
        assert worst.summary() in printed
        assert str(worst.labels["reference"][0]) in printed
    assert "The worst comparisons" not in run("check", SCORES, *asked(MET), "--worst", 1).output
    of_matches = run("check", SCORES, *asked("tar >= 99.9 %"), "--worst", 1).output
    assert "The worst comparisons behind the TMR at threshold=0.5" in of_matches


def test_files_are_written(tmp_path):
    places = ["--output", tmp_path, "--junit", tmp_path / "junit.xml", *PLOTS]
    run("check", SCORES, *asked(NOT_MET, MET), "--worst", 3, *places)
    assert {path.name for path in tmp_path.iterdir()} == {
        "config.toml",
        "check.json",
        "check.csv",
        "worst.json",
        "worst.csv",
        "junit.xml",
        "check.png",
        "check.svg",
    }
    assert pl.read_csv(tmp_path / "check.csv")["verdict"].to_list() == ["not met", "met"]
    assert pl.read_csv(tmp_path / "worst.csv")["error"].unique().to_list() == ["false non-match"]
    assert ElementTree.parse(tmp_path / "junit.xml").getroot().get("failures") == "1"


def test_looks_go_on_from_the_result_before_on_the_command_line_and_in_a_file(tmp_path):
    first = run("check", SCORES, *asked(MET), "--looks", "1/2", "--output", tmp_path / "first")
    assert checked(MET, looks=(1, 2)).summary() in first.output
    earlier = ["--previous", tmp_path / "first" / "check.json"]
    second = ["check", SCORES, *asked(MET), "--looks", "2/2", *earlier]
    assert run(*second, "--output", tmp_path / "second").exit_code == 0
    written = json.loads((tmp_path / "second" / "check.json").read_text())
    assert written["look"]["number"] == written["look"]["planned"] == 2
    again = run("check", SCORES, "--config", tmp_path / "second" / "config.toml", "--json")
    assert json.loads(again.output)["look"] == written["look"]
    with pytest.raises(InputError, match="another requirement"):
        run("check", SCORES, *asked("fnmr <= 98 %"), "--looks", "2/2", *earlier)


def test_what_cannot_be_judged_is_refused():
    assert "give --require or --profile" in run("check", SCORES).output
    with pytest.raises(InputError, match="no quantity 'nonsense'"):
        run("check", SCORES, *asked("nonsense <= 1"))
    assert "--junit . is a folder" in run("check", SCORES, *asked(MET), "--junit", ".").output


def test_profiles_have_verdicts_files_and_a_signature(made):
    done = run(
        "check", SCORES, *ASKED, "--profile", "nist-800-63a", "--output", "out", "--report", "p.html",
        "--junit", "p.xml",
    )  # fmt: skip
    assert done.exit_code == 1
    assert "5 requirements" in done.output
    assert "not met" in done.output
    content = json.loads(Path("out/check.json").read_text("utf-8"))
    assert content["kind"] == "ProfileCheck"
    assert [*content["hashes"]] == [SCORES]
    digest = content["hashes"][SCORES]
    assert digest in Path("p.html").read_text("utf-8")
    assert digest in Path("p.xml").read_text("utf-8")
    lines = [row["requirement"] for row in content["clauses"] if row["kind"] == "requirement"][:4]
    again = checked(*lines)
    assert [again.verdicts[line] for line in lines] == [
        row["verdict"] for row in content["clauses"][:4]
    ]
    assert run("check", SCORES, "--config", "out/config.toml", "--output", "again").exit_code == 1
    for name in ("check.json", "check.csv"):
        assert Path("out", name).read_bytes() == Path("again", name).read_bytes()


def test_what_counts_do_not_answer_is_said_in_options():
    said = run("check", "5 of 174", "--profile", "nist-800-63a").output
    assert "or give counts with --rate iapar" in said
    assert 'rate="' not in said


def test_a_profile_of_ones_own_whose_line_is_wrong_is_named():
    Path("wrong.toml").write_text('name = "w"\ntitel = "x"\n')
    with pytest.raises(InputError, match="line 2, 'titel'"):
        run("check", SCORES, *ASKED, "--profile", "wrong.toml")
    with pytest.raises(InputError, match="not both"):
        run("check", SCORES, *asked(MET), "--profile", "iso-19795")


def test_ages_are_in_the_bands_of_the_profile(made):
    c = ff.read_comparisons(SCORES, groups=["group"])
    people = pl.DataFrame({"id": c.subjects, "age": 10 + np.arange(c.subjects.size) * 2})
    people.write_csv("people.csv")
    words = ["--metadata", "people.csv", "--metadata-id", "id", "--group", "age", "--seed", 1]
    more = ["--at", "threshold=0.5", "--n-resamples", 99, "--profile", "common-criteria", "--json"]
    content = json.loads(run("check", SCORES, *words, *more).output)
    row = next(row for row in content["clauses"] if row["clause"] == "Report, age bands")
    assert row["verdict"] == "enough"
    assert "of 20-34" in row["result"]
