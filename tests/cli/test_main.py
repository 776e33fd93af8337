"""The command line: options, output, errors in a line."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from helpers.command_line import COMMAND, PLOTS, refused, run, run_program, succeeded
from helpers.data_sets import columns
from helpers.each import each
from helpers.quiet import quietly

import fastfair as ff
from fastfair.errors import DroppedWarning, FileFormatError

OVER_ROWS = ["--unit", "comparison", "--seed", 3, "--n-resamples", 200]
ESTIMATES = ["--n-resamples", 0]


@pytest.fixture(scope="module")
def scores(tmp_path_factory) -> Path:
    rng = np.random.default_rng(0)
    mated = rng.random(4000) < 0.5
    frame = {
        "sc": (rng.normal(size=4000) + 2 * mated).round(4),
        "same": mated.astype(int),
        "sex": rng.choice(["f", "m"], 4000),
        "land": rng.choice(["UK", "US"], 4000),
    }
    path = tmp_path_factory.mktemp("cli") / "scores.csv"
    pl.DataFrame(frame).write_csv(path)
    return path


def options(scores: Path) -> list[object]:
    return [
        "evaluate",
        scores,
        "--score",
        "sc",
        "--mated",
        "same",
        "--group",
        "sex",
        "--group",
        "land",
    ]


def test_output_folder(scores, tmp_path):
    succeeded(*options(scores), *ESTIMATES, "--output", tmp_path / "out", *PLOTS)
    assert {p.name for p in (tmp_path / "out").iterdir()} == {
        "config.toml",
        "evaluation.json",
        "evaluation.csv",
        *(
            f"{name}.{kind}"
            for kind in ("png", "svg")
            for name in (
                "scores",
                *(
                    f"{attribute}_{figure}"
                    for attribute in ("sex", "land")
                    for figure in ("det", "fmr_at_fmr_0_001", "fnmr_at_fmr_0_001")
                ),
            )
        ),
    }
    assert pl.read_csv(tmp_path / "out" / "evaluation.csv").columns[:2] == ["grouping", "name"]
    assert "--plots needs --output" in run(*options(scores), *ESTIMATES, *PLOTS).output


@each(
    ("arguments", "message"),
    [
        (["--at", "fmr=5"], "for 5 % write 0.05"),
        (["--at", "far=0.1"], "is not an operating point"),
        (["--at", "fmr=x"], "has no number after the =, but 'x'"),
        (["--at", "fmr=0,001"], "has a decimal comma: write fmr=0.001"),
        (["--at", "fmr=x%"], "no number before the %"),
        (["--zero-policy", "nothing"], "is no number, nor one of keep"),
        (["--measure", "giny"], "did you mean 'gini'"),
    ],
)
def test_bad_options_say_what_would_do(scores, arguments, message):
    assert message in refused(*options(scores), *ESTIMATES, *arguments)


@pytest.mark.jit
def test_every_estimate_has_its_interval(scores):
    output = run(
        *options(scores),
        *OVER_ROWS,
        "--at",
        "fmr=0.01",
        "--confidence-level",
        0.9,
        "--method",
        "basic",
    ).output
    assert "in brackets are 90 % intervals, from 200 replicates over comparisons." in output
    for line in output.splitlines():
        if line.startswith(("EER", "all", "f & UK", "m & US", "FDR", "GARBE", "NRB", "STD")):
            assert line.count("[") >= 1
            assert line.count("[") == line.count(", ") + line.count("[-]") or line.startswith("EER")


@pytest.fixture(scope="module")
def two_systems(tmp_path_factory) -> tuple[Path, Path]:
    given = columns(4, 40, 3000)
    noisy = given["scores"] + np.random.default_rng(4).normal(0, 2, 3000)
    names = {"scores": "a", "reference_group": "reference_sex", "probe_group": "probe_sex"}
    frame = pl.DataFrame(given).drop("mated").rename(names).with_columns(b=noisy)
    folder = tmp_path_factory.mktemp("two")
    frame.write_csv(folder / "one.csv")
    frame.sample(fraction=1, shuffle=True, seed=0).write_csv(folder / "two.csv")
    return folder / "one.csv", folder / "two.csv"


@pytest.mark.jit
def test_compare_prints_and_writes(two_systems, tmp_path):
    arguments = [
        "compare",
        *two_systems,
        "--score",
        "a",
        "--second-score",
        "b",
        "--group",
        "sex",
        "--seed",
        1,
    ]
    done = succeeded(
        *arguments, "--n-resamples", 300, "--at", "fmr=0.05", "--output", tmp_path / "out"
    )
    eer = done.output.partition("\nEER: one minus two\n")[2].splitlines()[1].split()
    assert eer[0] == "all"
    assert eer[-1] == "one"
    assert "at FMR=0.05" in done.output
    written = json.loads((tmp_path / "out" / "comparison.json").read_text())
    given = {"groups": ["sex"], "score": "a"}
    systems = {
        path.stem: ff.read_comparisons(path, **given | {"score": name})
        for path, name in zip(two_systems, "ab", strict=True)
    }
    expected = ff.compare(systems, None, ff.at_fmr(0.05), n_resamples=300, rng=1)
    assert written == json.loads(expected.to_json()) | {"inputs": list(map(str, two_systems))}
    assert run(*arguments, "--n-resamples", 300, "--json").output.startswith("{")


@pytest.mark.jit
def test_compare_ranks_more_than_two_files(two_systems, tmp_path):
    third = tmp_path / "three.csv"
    pl.read_csv(two_systems[0]).with_columns(pl.col("b") * 2).write_csv(third)
    files = [*two_systems, third]
    arguments = [
        "compare",
        *files,
        "--score",
        "b",
        "--group",
        "sex",
        "--seed",
        1,
        "--n-resamples",
        400,
    ]
    arguments += ["--measure", "garbe", "--at", "fmr=0.05"]
    done = succeeded(*arguments, "--output", tmp_path / "out", "--report", tmp_path / "page.html")
    assert "rank 1 to 3" in done.output
    assert "FNMR at FMR=0.05 of each group, and the ranks that are possible in it" in done.output
    systems = {path.stem: ff.read_comparisons(path, groups=["sex"], score="b") for path in files}
    expected = ff.compare(systems, None, ff.at_fmr(0.05), "garbe", n_resamples=400, rng=1)
    written = json.loads((tmp_path / "out" / "comparison.json").read_text())
    assert written == json.loads(expected.to_json()) | {"inputs": list(map(str, files))}
    (back,) = ff.read_results(tmp_path / "page.html")
    assert back.systems == ("one", "two", "three")
    again = run("compare", "--config", tmp_path / "out" / "config.toml", "--json")
    assert json.loads(again.stdout) == written
    shown = run(*arguments, "--baseline", "two")
    assert "three minus two" in shown.output
    for wrong, told in (
        (["--baseline", "four"], "the systems are 'one', 'two', 'three'"),
        (["--second-score", "a"], "go with two files"),
    ):
        assert told in run(*arguments, *wrong).output


def test_scores_without_subjects_are_told_what_would_do(write):
    path = write("s.csv", "score,mated\n0.9,1\n0.1,0\n")
    done = run_program("evaluate", path)
    assert done.returncode == 2
    assert "--unit comparison" in done.stderr
    assert "--n-resamples 0" in done.stderr


def test_zero_policy_and_incomplete_groups_reach_evaluate(write):
    path = write(
        "s.csv", "score,mated,g\n0.9,1,a\n0.1,0,a\n0.2,0,a\n0.8,1,b\n0.3,0,b\n0.7,0,b\n0.9,1,c\n"
    )
    arguments = ["evaluate", path, "--group", "g", "--at", "threshold=0.5", "--n-resamples", "0"]
    done = run_program(*arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("Error: 1 of 3 groups lacks comparisons")
    assert "Traceback" not in done.stderr
    done = run_program(*arguments, "--incomplete-groups", "drop", "--zero-policy", "0.01")
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("Warning: left out of the measures: 'c'")
    assert "Left out of the measures, as they lack mated or non-mated comparisons: c" in done.stdout
    ratios = [
        line.split()[4] for line in done.stdout.splitlines() if line.startswith("max-min ratio")
    ]
    assert ratios == ["50", "1"]


def test_cross_group_comparisons_print_a_matrix(write):
    rows = ["0.9,1,f,f", "0.1,0,f,m", "0.7,0,m,f", "0.8,1,m,m", "0.2,0,f,f", "0.6,0,m,m"]
    path = write("s.csv", "score,mated,reference_sex,probe_sex\n" + "\n".join(rows))
    lines = run(
        "evaluate", path, "--group", "sex", "--at", "threshold=0.5", "--n-resamples", 0
    ).output.splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("FMR between groups"))
    assert [line.split() for line in lines[start + 1 : start + 4]] == [
        ["Reference", "A", "B"],
        ["A", "f", "0*", "0*"],
        ["B", "m", "100*", "100*"],
    ]


def test_errors_speak_of_options(write):
    path, who = (
        write("s.csv", "score,reference,probe\n0.9,a,a\n0.1,a,b\n"),
        write("who.csv", "id,sex\na,f\n"),
    )
    found = {
        "--missing-labels drop": ["--metadata", who, "--metadata-id", "id", "--group", "sex"],
        "with --group": ["--metadata", who, "--metadata-id", "id"],
    }
    for message, arguments in found.items():
        done = run_program("evaluate", path, *arguments)
        assert done.returncode == 2
        assert message in done.stderr


@pytest.mark.slow
def test_labels_are_text_and_tables_are_never_cut(write):
    rows = [
        "0.9,1,[young]",
        "0.1,0,[young]",
        "0.8,1,[/bold] old :smile:",
        "0.2,0,[/bold] old :smile:",
    ]
    path = write("s.csv", "\n".join(["score,mated,g", *rows]))
    done = subprocess.run(
        [COMMAND, "evaluate", path, "--group", "g", "--unit", "comparison"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"COLUMNS": "40", "PYTHONIOENCODING": "ascii"},
    )
    assert done.returncode == 0, done.stderr
    assert "[young]" in done.stdout
    assert "[/bold] old :smile:" in done.stdout
    assert "…" not in done.stdout


def test_an_output_folder_that_cannot_be_is_a_line(scores, tmp_path):
    (tmp_path / "file").touch()
    done = run_program(*options(scores), "--output", tmp_path / "file" / "x")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_few_errors_never_look_like_none(tmp_path):
    path = tmp_path / "s.csv"
    pl.DataFrame({"score": [1.0, *range(100, 100_100)], "mated": [1, *[0] * 100_000]}).write_csv(
        path
    )
    done = run_program("evaluate", path, "--at", "fmr=1e-5", "--n-resamples", "0")
    assert "0.001 (held)*" in done.stdout
    assert "--score-kind distance" in done.stderr


def test_points_as_they_are_printed(scores):
    for point in ("MEAN-GROUP-EER", "FMR=0.01"):
        succeeded(*options(scores), *ESTIMATES, "--at", point)


def test_help_and_version():
    assert ff.__version__ in run("--version").output
    assert "demo" in run("-h").output


def test_groups_without_labels_print(scores):
    done = succeeded("evaluate", scores, "--score", "sc", "--mated", "same", *ESTIMATES)
    assert "Fairness" not in done.output


@pytest.mark.slow
@pytest.mark.jit
def test_demo_prints_the_known_figures_and_writes_a_page(voxceleb, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for system, eer, min_dcf in (("resnetse34v2", 2.40, 0.00775), ("resnetse34l", 4.37, 0.0142)):
        done = run("demo", "--system", system, "--seed", 0)
        found = ff.read_results("report.html")[0]
        assert [100 * found.value("eer"), found.value("min_dcf")] == pytest.approx(
            [eer, min_dcf], rel=0.006
        )
        assert "2,000 replicates over subjects" in done.output
        assert "New Zealand" in done.output
        assert "Written: report.html" in done.output
        page = Path("report.html").read_text("utf-8")
        for title in ("By Gender", "By Nationality", "By Nationality"):
            assert re.search(rf"<h2 id=\"c\d\">{title}", page)
        assert "Test of equal FMRs" in page
        assert len(page) < 1.5e6


def test_requirements_stand_on_the_page_of_an_evaluation(scores, tmp_path):
    """They are judged by the replicates of the evaluation, at operating points that it then has,
    too."""
    page, title = tmp_path / "page.html", "A system"
    required = ["fnmr@fmr=0.3 <= 90 %", "fmr[*]@fmr=0.3 <= 90 %"]
    asked = [
        "--n-resamples",
        50,
        "--seed",
        0,
        "--unit",
        "comparison",
        "--incomplete-groups",
        "nan",
        "--title",
        title,
    ]
    with quietly():
        done = succeeded(
            *options(scores),
            *asked,
            *(f"--require={one}" for one in required),
            "--report",
            page,
            "--output",
            tmp_path,
        )
    assert "2 requirements:" in done.output
    told = page.read_text("utf-8")
    assert f"<h1>{title}</h1>" in told
    assert told.count('<div class="card ') == 2
    assert "At FMR=0.3" in told
    found = json.loads((tmp_path / "check.json").read_text("utf-8"))
    assert found["requirements"] == required
    assert "--require needs replicates" in refused(
        *options(scores), "--quick", "--require", "eer <= 0.1"
    )


def test_a_page_is_written_with_each_attribute_and_the_files(scores, tmp_path):
    page = tmp_path / "new" / "page.html"
    succeeded(*options(scores), *ESTIMATES, "--report", page)
    text = page.read_text("utf-8")
    titles = re.findall('<h2 id="c[0-9]+">(.*?)</h2>', text)
    assert titles == ["By sex", "By land"]
    succeeded(*options(scores), *ESTIMATES, "--intersections", "--report", page)
    assert ">By sex &amp; land</h2>" in page.read_text("utf-8")
    assert hashlib.sha256(scores.read_bytes()).hexdigest() in text
    assert "By land" in text
    assert "is a folder: name a file in it" in refused(
        *options(scores), *ESTIMATES, "--report", tmp_path
    )


def test_the_tables_of_the_page_go_into_one_file(scores, tmp_path):
    words = [*options(scores), *OVER_ROWS, "--require", "fnmr[sex=*] <= 95 %"]
    succeeded(*words, "--tables", tmp_path / "tables.md")
    text = (tmp_path / "tables.md").read_text("utf-8")
    assert "| **by sex** |" in text
    assert "Fairness measures at FMR=0.001" in text
    assert "| FNMR of sex=f at FMR=0.001 |" in text
    assert "xlsx, docx, tex, html, md or csv" in refused(*words, "--tables", tmp_path / "t.pdf")


def test_cllr_is_printed_of_log_likelihood_ratios(scores):
    words = [*options(scores), *ESTIMATES]
    assert "Cllr " in run(*words, "--score-kind", "log-likelihood-ratio").output.replace(
        "min Cllr", ""
    )
    assert "Cllr " not in run(*words).output
    assert "min Cllr" not in run(*words).output
    assert "min Cllr" in run(*words, "--metrics", "all").output


@pytest.mark.jit
def test_quick_is_without_replicates(two_systems, tmp_path):
    asked = ["--score", "a", "--group", "sex", "--at", "threshold=1", "--quick"]
    done = run("evaluate", two_systems[0], *asked, "--output", tmp_path / "out")
    assert "in brackets are 95 % intervals, in closed form over subjects." in done.output
    written = json.loads((tmp_path / "out" / "evaluation.json").read_text())
    c = ff.read_comparisons(two_systems[0], score="a", groups=["sex"])
    expected = json.loads(ff.evaluate(c, ff.at_threshold(1), n_resamples=0).to_json())
    assert written == expected | {"inputs": [str(two_systems[0])]}
    compared = run("compare", *two_systems, "--second-score", "b", *asked)
    assert "in closed form" in compared.output
    assert "no p-value and no verdict without replicates" in compared.output


def test_a_summary_is_what_the_terminal_prints(scores):
    """Each row of its tables stands in those of `fastfair evaluate`, too."""
    at = ["--at", "fmr=0.1", "--at", "threshold=0.5"]
    full = run(*options(scores), *OVER_ROWS, *at).stdout
    c = ff.read_comparisons(scores, score="sc", mated="same", groups=["sex", "land"])
    ev = ff.evaluate_attributes(
        c, at=[ff.at_fmr(0.1), ff.at_threshold(0.5)], unit="comparison", n_resamples=200, rng=3
    )
    said = ev.summary().splitlines()
    groups = [group for one in ev.evaluations for group in one.groups]
    rows = [line for line in said if line.startswith(("all ", *(f"{group} " for group in groups)))]
    assert len(rows) == 2 * (1 + len(groups))
    assert {" ".join(row.split()) for row in rows} <= {
        " ".join(line.split()) for line in full.splitlines()
    }


def test_what_was_left_out_is_said_once_beside_requirements(write):
    rows = [f"{0.1 * (k % 7) + 0.3 * (k % 3 == 0):.1f},{int(k % 3 == 0)}" for k in range(60)]
    path = write("scores.csv", "\n".join(["score,mated", *rows, "-1,1", "-1,0"]) + "\n")
    asked = [
        "evaluate",
        path,
        "--at",
        "threshold=0.4",
        "--unit",
        "comparison",
        "--n-resamples",
        20,
        "--seed",
        0,
    ]
    with pytest.warns(DroppedWarning, match="2 of 62"):
        printed = run(
            *asked, "--failure-score", -1, "--failures", "exclude", "--require", "fnmr <= 0.9"
        ).stdout
    assert printed.count("2 of 62") == 1
    assert printed.index("1 requirement: ") < printed.index("2 of 62")


def test_failed_comparisons_are_left_out_or_counted(write):
    path = write("scores.csv", "score,mated\n0.9,1\n-1,1\n0.3,0\n,0\n0.1,0\n0.5,1\n")
    asked = ["evaluate", path, "--at", "threshold=0.4", "--unit", "comparison", "--quick", "--json"]
    asked += ["--failure-score", -1]
    for policy, fnmr in (("exclude", 0), ("non-match", 1 / 3)):
        with pytest.warns(DroppedWarning, match="2 of 6") if policy == "exclude" else nullcontext():
            found = json.loads(run(*asked, "--failures", policy).stdout)
        estimates = {one["name"]: one["estimate"] for one in found["quantities"]}
        assert estimates["fnmr"] == pytest.approx(fnmr)
    with pytest.raises(
        FileFormatError, match=r'failures="exclude"\) leaves failed comparisons out'
    ):
        run(*asked)
