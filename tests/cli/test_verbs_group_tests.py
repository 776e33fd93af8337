"""`fastfair group-test` and `fastfair plan`: the numbers of the library, in tables, files and
plots."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from helpers.command_line import PLOTS, refused, run, run_program, succeeded

import fastfair as ff
from fastfair.errors import (
    DroppedWarning,
    FileFormatError,
    InputError,
    OutOfReachWarning,
)

# Few replicates are enough to see what is printed and written.
pytestmark = [
    pytest.mark.filterwarnings("ignore::fastfair.errors.FewResamplesWarning"),
    pytest.mark.filterwarnings(
        "ignore:fewer than 10 false matches:fastfair.errors.NotComputableWarning"
    ),
]
FEW_REPLICATES = ["--n-resamples", 99, "--seed", 3]
STUDY = ["--groups", "3,10", "--attempts", 2, "--fnmr", 0.05, "--correlation", 0.25]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """One study as scores, as counts and as decisions: 40 subjects with three mated and two
    non-mated comparisons."""
    folder = tmp_path_factory.mktemp("groups")
    rng = np.random.default_rng(0)
    who = np.arange(40)
    sex, land = np.where(who % 2, "f", "m"), np.where(who < 20, "UK", "US")
    mated = {"reference": np.repeat(who, 3), "probe": np.repeat(who, 3)}
    other = {
        "reference": np.repeat(who, 2),
        "probe": (np.repeat(who, 2) + np.tile([2, 4], 40)) % 40,
    }
    sides = {name: np.concatenate((mated[name], other[name])) for name in mated}
    score = np.concatenate(
        (rng.normal(0.8, 0.5, 120) + 0.4 * np.repeat(sex == "f", 3), rng.normal(0, 0.5, 80))
    )
    frame = pl.DataFrame({"score": score.round(4), **sides, "sex": sex[sides["reference"]]})
    frame.write_csv(folder / "scores.csv")
    failures = (frame["score"].to_numpy()[:120] < 0.5).reshape(40, 3).sum(axis=1)
    table = {
        "failures": failures,
        "attempts": np.full(40, 3),
        "group": sex,
        "land": land,
        "none": np.zeros(40, int),
    }
    pl.DataFrame(table).write_parquet(folder / "counts.parquet")
    pl.DataFrame(table).write_csv(folder / "counts.tsv", separator="\t")
    decisions = frame.head(120).select(failed=pl.col("score") < 0.5, subject="probe", group="sex")
    decisions.write_csv(folder / "decisions.csv")
    return folder


def found_in(output: Path, name: str) -> dict:
    return json.loads((output / f"{name}.json").read_text(), parse_constant=pytest.fail)


@pytest.mark.jit
@pytest.mark.parametrize(("rate", "attempts"), [("fta", "acquisitions"), ("fte", "enrolments")])
def test_failures_to_acquire_and_to_enrol(folder, tmp_path, rate, attempts):
    samples = pl.read_csv(folder / "decisions.csv").with_columns(
        pl.col("failed") | (pl.col("subject") % 7 == 0)
    )
    samples = samples.with_columns(
        status=pl.when("failed").then(pl.lit("no face")).otherwise(pl.lit("ok"))
    )
    samples.write_csv(tmp_path / "samples.csv")
    words = [
        "group-test",
        tmp_path / "samples.csv",
        "--input",
        "decisions",
        "--rate",
        rate,
        *FEW_REPLICATES,
    ]
    done = succeeded(
        *words,
        "--failed",
        "status",
        "--failed-value",
        "no face",
        "--output",
        tmp_path / "found",
        *PLOTS,
    )
    counts = ff.FailureCounts.from_decisions(
        samples["failed"], samples["subject"], samples["group"], rate=rate
    )
    test = ff.fnmr_test(counts, n_resamples=99, rng=3)
    assert found_in(tmp_path / "found", f"{rate}_test") == json.loads(test.to_json()) | {
        "inputs": [str(tmp_path / "samples.csv")]
    }
    said = done.stdout.splitlines()
    assert {*test.summary().splitlines(), f"Do {rate.upper()}s differ?", repr(counts)} <= set(said)
    assert attempts in done.stdout
    assert "FNMR" not in done.stdout
    assert set(json.loads(run(*words, "--json").stdout)) == {
        "fastfair",
        f"{rate}_test",
        "margin",
        "inputs",
    }
    wrong = run("group-test", folder / "scores.csv", "--group", "sex", "--rate", rate)
    assert f"--rate {rate} needs {attempts} that failed, but --input is scores" in wrong.output


def test_one_rate_alone(folder, tmp_path):
    words = [
        folder / "scores.csv",
        "--group",
        "sex",
        "--at",
        "threshold=0.5",
        *FEW_REPLICATES,
        "--json",
    ]
    both = json.loads(run("group-test", *words).stdout)
    assert list(both) == ["fastfair", "fnmr_test", "margin", "fmr_test", "inputs"]
    alone = json.loads(run("group-test", *words, "--rate", "fmr").stdout)
    assert alone == both["fmr_test"] | {"inputs": both["inputs"]}
    assert (
        "Do FMRs differ at"
        in run("group-test", *words[:-1], "--rate", "fmr", "--output", tmp_path).output
    )
    assert {path.name for path in tmp_path.iterdir()} == {
        "config.toml",
        "fmr_test.json",
        "fmr_test.csv",
    }
    counts = [folder / "counts.tsv", "--input", "counts", *FEW_REPLICATES]
    assert "they have failures only" in run("group-test", *counts, "--rate", "both").output


@pytest.mark.parametrize(
    ("table", "named", "message"),
    [
        (
            {"failures": ["1", "one"], "attempts": [2, 2]},
            {},
            "(row 1|line 3).*'failures' must be a number, not 'one'",
        ),
        ({"failures": ["1", ""], "attempts": [2, 2]}, {}, "(row 1|line 3).*'failures' is empty"),
        (
            {"failures": [1, 3], "attempts": [2, 2]},
            {},
            "failures must not exceed attempts, but row 1",
        ),
        (
            {"failures": [1, 1], "tries": [2, 2]},
            {},
            "no column 'attempts': name one with attempts=",
        ),
        ({"fails": [1, 1], "attempts": [2, 2]}, {"failures": "fail"}, "did you mean 'fails'"),
        (
            {"failed": [1, 2], "subject": ["a", "b"]},
            {"failed": "failed"},
            "failed must be 0 or 1, but row 1",
        ),
        (
            {"failed": [1, 0], "subject": ["a", "a"]},
            {"failed": "failed"},
            "a subject has one group",
        ),
        ({"failed": [1, 0]}, {"failed": "failed", "attempts": "m"}, "name those of one table"),
    ],
)
def test_tables_that_do_not_fit_are_refused(table, named, message, tmp_path):
    frame = pl.DataFrame(table | {"group": ["f", "m"]})
    frame.write_csv(tmp_path / "t.csv")
    for source in (frame, tmp_path / "t.csv"):
        with pytest.raises(InputError, match=message):
            ff.read_failure_counts(source, **named)


def test_the_place_of_what_is_wrong_is_named(folder, tmp_path):
    with pytest.raises(
        InputError, match=r"counts\.tsv has no column 'lend' \(did you mean 'land'\?\)"
    ):
        ff.read_failure_counts(folder / "counts.tsv", groups="lend")
    with pytest.raises(InputError, match="path must be the name of a file or a data frame"):
        ff.read_failure_counts(3)
    (tmp_path / "none.csv").touch()
    with pytest.raises(FileFormatError, match="is empty"):
        ff.read_failure_counts(tmp_path / "none.csv")


def test_false_match_rates_need_subjects(tmp_path):
    rows = {"score": [0.1, 0.9] * 4, "mated": [0, 1] * 4, "reference_group": list("ffffmmmm")}
    pl.DataFrame(rows | {"probe_group": rows["reference_group"]}).write_csv(tmp_path / "s.csv")
    with pytest.raises(InputError, match="subject"):
        run("group-test", tmp_path / "s.csv", "--rate", "fmr", "--at", "threshold=0.5")


def plan(*arguments: object):
    return run("plan", *STUDY, *arguments)


def rows_of(table: str) -> list[list[str]]:
    return [
        line.replace(" %", "%").split() for line in table.splitlines() if line[:8].strip().isdigit()
    ]


@pytest.mark.slow
@pytest.mark.jit
def test_subjects_and_power(tmp_path):
    settings = {
        "n_groups": [3, 10],
        "n_attempts": 2,
        "fnmr": 0.05,
        "correlation": 0.25,
        "n_simulations": 100,
        "rng": 3,
    }
    drawn = ["--n-simulations", 100, "--seed", 3]
    done = plan("--difference", 0.05, "--power", 0.9, *drawn, "--output", tmp_path, *PLOTS)
    expected = ff.plan_subjects(difference=0.05, power=0.9, **settings)
    assert (
        pl.read_csv(tmp_path / "plan.csv")["n_subjects"].to_list() == expected.n_subjects.tolist()
    )
    assert [row[1] for row in rows_of(done.stdout)] == [f"{n:g}" for n in expected.n_subjects]
    of_margin = plan(
        "--margin", "0.03,0.04", "--assurance", 0.7, *drawn, "--output", tmp_path, *PLOTS
    )
    expected = ff.plan_subjects(margin=0.03, assurance=0.7, **settings)
    assert [row[1] for row in rows_of(of_margin.stdout)][::2] == [
        f"{n:g}" for n in expected.n_subjects
    ]
    power = plan("--subjects", 200, "--difference", 0.05, *drawn)
    expected = ff.plan_power(n_subjects=200, difference=0.05, **settings)
    assert [row[-1] for row in rows_of(power.stdout)] == [
        f"{100 * value:.3g}%" for value in expected.power
    ]
    with pytest.warns(OutOfReachWarning, match="not enough"):
        done = plan("--margin", 0.01, "--max-subjects", 50, *drawn, "--json")
    assert np.ravel(json.loads(done.stdout)["n_subjects"]).tolist() == [None, None]
    with pytest.warns(OutOfReachWarning, match="not enough"):
        done = plan("--margin", 0.01, "--max-subjects", 50, *drawn)
    assert [row[1] for row in rows_of(done.stdout)] == ["–", "–"]


@pytest.mark.slow
@pytest.mark.jit
@pytest.mark.parametrize(
    ("asked", "sizes", "named"),
    [
        ({"n_subjects": 100}, [25, 50, 100, 200, 400], ["100 subjects"]),
        ({"margin": 0.03}, None, ["wanted: 3 %"]),
        ({"difference": 0.05}, None, ["wanted: 80 %"]),
    ],
)
def test_a_plan_of_one_setting_is_drawn_over_subjects(asked, sizes, named):
    settings = {
        "n_groups": 10,
        "n_attempts": 2,
        "fnmr": 0.05,
        "correlation": 0.25,
        "rng": 3,
        **asked,
    }
    if "n_subjects" in asked:
        planned = ff.plan_margin(**settings, method="exact")
    else:
        planned = ff.plan_subjects(**settings, n_simulations=100)
    ax = planned._figures()[""]
    line, *lines = ax.get_lines()
    if sizes is None:
        n = int(planned.n_subjects.item())
        sizes, named = (
            [round(n * times) for times in (0.25, 0.5, 1, 2, 4)],
            [f"{n:,} subjects", *named],
        )
    assert line.get_xdata().tolist() == sizes
    assert [one.get_label() for one in lines] == named
    value = planned.power if "difference" in asked else planned.margin
    assert line.get_ydata()[2] == pytest.approx(
        value.item(), abs=0.15 if "power" in ax.get_ylabel().lower() else 0.01
    )


@pytest.mark.jit
def test_attempts_of_a_pilot(tmp_path):
    """The attempts are those of its subjects, in place of `--attempts`."""
    attempts = [1, 1, 2, 8]
    counts = {"failures": [0, 1, 0, 2], "attempts": attempts, "group": list("aabb")}
    pl.DataFrame(counts).write_csv(tmp_path / "p.csv")
    others = [
        "--groups",
        "3",
        "--fnmr",
        0.05,
        "--correlation",
        0.25,
        "--pilot",
        tmp_path / "p.csv",
        "--seed",
        3,
    ]
    settings = {
        "n_groups": [3],
        "fnmr": 0.05,
        "correlation": 0.25,
        "n_attempts": ff.FailureCounts(**counts),
        "rng": 3,
    }
    done = run("plan", *others, "--subjects", 100, "--assurance", 0.9)
    expected = ff.plan_margin(**settings, n_subjects=100, assurance=0.9)
    assert [row[2::3] for row in rows_of(done.stdout)] == [
        ["3", f"{100 * expected.margin[0]:.3g}%"]
    ]
    content = json.loads(run("plan", *others, "--subjects", 100, "--json").stdout)
    assert content["margin"][0] == ff.plan_margin(**settings, n_subjects=100).margin[0]
    assert content["attempts"] == [[1, 0.5], [2, 0.25], [8, 0.25]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*STUDY], "nothing says what to plan. Give --subjects"),
        ([*STUDY[2:], "--subjects", 100], "a plan also needs --groups"),
        (["--margin", 0.03], "a plan also needs --attempts, --groups, --fnmr, --correlation"),
        (
            [*STUDY, "--subjects", 100, "--margin", 0.03],
            "--margin cannot go with --subjects without --difference",
        ),
        ([*STUDY, "--difference", 0.1, "--margin", 0.03], "--margin cannot go with --difference"),
        (
            [*STUDY, "--subjects", 100, "--difference", 0.1, "--power", 0.9],
            "--power cannot go with --subjects and",
        ),
        ([*STUDY, "--margin", 0.03, "--power", 0.9], "--power cannot go with --margin"),
        ([*STUDY, "--margin", 0.03, "--method", "exact"], "--method cannot go with --margin"),
        (
            [*STUDY, "--pilot", "counts.csv", "--margin", 0.03],
            "--attempts cannot go with --margin and --pilot",
        ),
        (
            [*STUDY, "--difference", 0.1, "--assurance", 0.9],
            "--assurance cannot go with --difference",
        ),
        (
            [*STUDY, "--subjects", 9, "--assurance", "0.8,0.9"],
            "--assurance takes one number with --subjects",
        ),
        (
            [*STUDY, "--subjects", 100, "--n-simulations", 10],
            "--n-simulations goes with --method simulation",
        ),
        (
            [*STUDY, "--subjects", 100, "--max-subjects", 10],
            "--max-subjects cannot go with --subjects",
        ),
        (["--groups", 3, "--subjects", 9, *PLOTS], "--plots needs --output"),
        (["--fnmr", "5%"], "a percentage: write it as a fraction, 0.05"),
        (["--groups", "3;4"], "is no number"),
        (["--method", "guess"], "'guess' is not one of"),
    ],
)
def test_bad_options_of_a_plan_say_what_would_do(arguments, message):
    assert message in refused("plan", *arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["plan", *STUDY, "--groups", "1", "--subjects", "9"], "Error: --groups must be whole numbers"),
        (["group-test", "decisions.csv", "--input", "counts"], "'failed'?): name one with --failures"),
        (["group-test", "counts.tsv", "--input", "counts", "--group", "x"], "name one with --group;"),
        (["group-test", "scores.csv", "--group", "reference"], "there is none with enough subjects, at least 2"),
    ],
)  # fmt: skip
def test_errors_are_one_line_and_speak_of_options(folder, arguments, message):
    done = run_program(*arguments, cwd=folder)
    errors = [line for line in done.stderr.splitlines() if not line.startswith("Warning: ")]
    assert (done.returncode, done.stdout, len(errors)) == (2, "", 1)
    assert message in errors[0]


def test_failed_comparisons_of_scores_are_counted_as_failures(write):
    rows = ["score,reference,probe,sex"]
    for who, sex in (("a", "f"), ("b", "f"), ("c", "f"), ("d", "m"), ("e", "m"), ("g", "m")):
        rows += [f"{score},{who},{who},{sex}" for score in (0.9, 0.8 if who in "ad" else "", 0.7)]
        rows += [f"0.1,{who},other {sex},{sex}"]
    path = write("scores.csv", "\n".join(rows))
    asked = [
        "group-test",
        path,
        "--at",
        "threshold=0.5",
        "--group",
        "sex",
        "--rate",
        "fnmr",
        *FEW_REPLICATES,
        "--json",
    ]
    found = json.loads(run(*asked, "--failures", "non-match").stdout)
    assert found["fnmr_test"]["rate"] == pytest.approx(4 / 18)
    said = run("group-test", path, "--input", "decisions", "--failures", "exclude").output
    assert "--failures goes with --input" in said


@pytest.mark.jit
def test_a_plan_for_fmr():
    asked = {"claimed": 0.01, "fmr": 0.004, "covariance": 1, "n_simulations": 20}
    done = run(
        "plan",
        "fmr",
        *[word for name, value in asked.items() for word in (f"--{name.replace('_', '-')}", value)],
        "--seed",
        3,
    )
    assert ff.plan_fmr(**asked, rng=3).summary() in done.stdout


@pytest.mark.jit
def test_a_group_of_one_subject_is_named_and_the_others_are_tested(folder, write):
    rows = (
        (folder / "scores.csv")
        .read_text()
        .replace(",0,0,m\n", ",0,0,lone\n")
        .replace(",0,2,m\n", ",0,2,lone\n")
    )
    path = write("lone.csv", rows.replace(",0,4,m\n", ",0,4,lone\n"))
    words = [
        "group-test",
        path,
        "--group",
        "sex",
        "--at",
        "fmr=0.1",
        *FEW_REPLICATES,
        "--rate",
        "fnmr",
    ]
    with pytest.warns(DroppedWarning):
        said = run(*words).output
    assert "Do FNMRs differ at FMR=0.1, with the threshold held fixed?" in said
    assert "Not tested, as they have fewer than 2 subjects: lone." in said
    assert "not tested: fewer than 2 subjects" in said
    assert said.count("Whether groups differ is for the test, fnmr_test, to say") == 1


def test_other_rates_are_planned():
    study = ["--groups", 3, "--subjects", 400, "--attempts", 1, "--correlation", 0]
    for rate in ("frr", "fta", "apcer"):
        content = json.loads(run("plan", *study, f"--{rate}", 0.1, "--json").stdout)
        assert content["rate"] == rate
        assert np.ravel(content["fnmr"]).tolist() == [0.1]
    done = run("plan", *study, "--fnmr", 0.05, "--fta", 0.02)
    assert "FRR 6.9 %" in done.stdout
