"""`fastfair identify`: the numbers of the library, in sentences, tables, files and plots."""

from __future__ import annotations

import json
import shlex

import numpy as np
import polars as pl
import pytest
from helpers.command_line import printed, run, succeeded
from helpers.command_line import refused as refused_by_command
from helpers.refusals import refused

import fastfair as ff
from fastfair.claims.profile import read_profile
from fastfair.error_rates.operating_points import read_point


@pytest.fixture(scope="module")
def faces(tmp_path_factory):
    """Three images of each of forty people; the first one of thirty is enrolled."""
    rng = np.random.default_rng(0)
    subject = np.repeat(np.arange(40), 3)
    role = np.tile(["reference", "probe", "probe"], 40)
    role[(subject >= 30) & (role == "reference")] = "probe"
    vectors = rng.normal(size=(40, 16))[subject] + 0.6 * rng.normal(size=(120, 16))
    path = tmp_path_factory.mktemp("faces") / "faces.npz"
    np.savez(
        path, vectors=vectors, subject=subject, role=role, sex=np.array(["f", "m"])[subject % 2]
    )
    return path


def test_the_numbers_are_those_of_the_library(faces, tmp_path):
    asked = ["--role", "role", "--at", "rank=1", "--at", "threshold=0.6", "--group", "sex"]
    s = ff.Searches.from_embeddings(ff.read_embeddings(faces, groups=["sex"], role="role"))
    found = ff.identify(s, [ff.at_rank(1), ff.at_threshold(0.6)])
    done = succeeded(
        "identify", faces, *asked, "--output", tmp_path, "--report", tmp_path / "page.html"
    )
    assert found.summary() in done.output
    written = json.loads((tmp_path / "identification.json").read_text())
    assert written == json.loads(found.to_json()) | {"inputs": [str(faces)]}
    assert "How often are searches of a gallery wrong?" in (tmp_path / "page.html").read_text(
        "utf-8"
    )
    smaller = run(
        "identify",
        faces,
        "--role",
        "role",
        "--at",
        "rank=1",
        "--sizes",
        10,
        "--sizes",
        30,
        "--json",
    )
    assert {row["gallery_size"] for row in json.loads(smaller.output)["rows"]} == {10, 30}


def test_vectors_without_roles_and_points_of_comparisons_are_refused(faces):
    inner = ["--role", "role", "--at", "rank=1", "--similarity", "inner_product", "--json"]
    e = ff.read_embeddings(faces, role="role", similarity="inner_product")
    expected = ff.identify(ff.Searches.from_embeddings(e), ff.at_rank(1)).of("fnir").estimate
    assert json.loads(run("identify", faces, *inner).output)["rows"][0]["estimate"] == expected
    asked = succeeded("identify", "--help-all").output
    assert "negative_euclidean" not in asked
    refused("role= says which are", run, "identify", faces, "--at", "rank=1")
    refused(
        "FMR=0.1 is an operating point of comparisons",
        run,
        "identify",
        faces,
        "--role",
        "role",
        "--at",
        "fmr=0.1",
    )


def test_requirements_end_with_the_exit_codes_of_check(faces, tmp_path):
    asked = [
        "identify",
        faces,
        "--role",
        "role",
        "--at",
        "threshold=0.95",
        "--group",
        "sex",
        "--for-gallery",
        "fixed",
    ]
    done = run(
        *asked,
        "--require",
        "fpir[*] <= 70 %",
        "--output",
        tmp_path,
        "--measure",
        "std",
        "--returned",
    )
    assert (done.exit_code, done.output.count("Met: fpir")) == (0, 1)
    written = json.loads((tmp_path / "check.json").read_text())
    assert written["verdict"] == "met"
    names = {
        row["name"] for row in json.loads((tmp_path / "identification.json").read_text())["rows"]
    }
    assert {"std(fnir)", "fpir_matrix"} <= names
    assert run(*asked, "--require", "fnir[*] <= 1 %").exit_code == 1
    assert run(*asked, "--require", "fpir[*] <= 1 %").exit_code == 3
    refused("name an attribute with --group", run, *asked[:6], "--returned")


@pytest.fixture(scope="module")
def months(tmp_path_factory):
    """Write the logs of two months; in June people of one group are returned more often."""
    folder, rng = tmp_path_factory.mktemp("months"), np.random.default_rng(1)
    people = np.array([f"p{k:03}" for k in range(400)])
    pl.DataFrame({"person": people[:80]}).write_csv(folder / "gallery.csv")
    for name, worse in (("may", 0.0), ("june", 0.1)):
        who = rng.integers(0, 400, 900)
        scores = rng.normal(0.3, 0.07, (900, 80)) + worse * (who % 2 == 0)[:, None]
        scores[who < 80, who[who < 80]] += 0.4
        scores = np.round(scores, 3)
        row, column = np.nonzero(scores >= 0.4)
        columns = {
            "search": [f"{name}{k}" for k in row],
            "candidate": people[column],
            "score": scores[row, column],
        }
        pl.DataFrame(columns).write_csv(folder / f"{name}.csv")
        about = {"search": [f"{name}{k}" for k in range(900)], "probe": people[who]}
        about |= {"sex": np.where(who % 2, "f", "m")}
        pl.DataFrame(about).write_csv(folder / f"{name}_searches.csv")
    return folder


def test_logs_of_two_months_are_measured_judged_and_compared(months, tmp_path, monkeypatch):
    monkeypatch.chdir(months)
    tables = ["--gallery", "gallery.csv", "--group", "sex", "--for-gallery", "fixed"]
    may = ["identify", "may.csv", "--searches", "may_searches.csv", *tables]
    june = ["identify", "june.csv", "--searches", "june_searches.csv", *tables]
    found = printed(*may, "--at", "fpir=0.05", "--json")
    threshold = found["rows"][0]["threshold"]
    said = f"FPIR=0.05 is held at the threshold {threshold!r}."
    assert said in succeeded(*may, "--at", "fpir=0.05").output

    log, searches = pl.read_csv("may.csv"), pl.read_csv("may_searches.csv")
    hits = log.filter(pl.col("score") >= threshold)["search"].unique()
    strangers = searches.filter(pl.col("probe") >= "p080")["search"]
    n_errors = strangers.is_in(hits.to_list()).sum()
    assert n_errors == found["rows"][0]["n_errors"] <= 0.05 * len(strangers)
    typed = printed(*may, "--at", f"threshold={threshold!r}", "--json")
    assert typed["rows"][0]["n_errors"] == n_errors

    gate = ["--at", f"threshold={threshold!r}", "--require", "fpir[*] <= 12 %"]
    files = [
        "--junit",
        tmp_path / "junit.xml",
        "--output",
        tmp_path,
        "--report",
        tmp_path / "page.html",
    ]
    assert run(*may, *gate, *files).exit_code == 0
    assert "<testsuite" in (tmp_path / "junit.xml").read_text()
    assert "held at the threshold" not in (tmp_path / "page.html").read_text("utf-8")
    assert run(*june, *gate).exit_code == 1
    repeated = run("identify", "--config", tmp_path / "config.toml")
    assert repeated.exit_code == 0, repeated.output

    own = printed(*may, "--at", "fpir=0.05", "--own-thresholds", "--json")["own_thresholds"]["rows"]
    held = [row for row in own if row["name"] == "fpir"]
    assert [row["group"] for row in held] == ["f", "m"]
    assert all(row["estimate"] <= 0.05 for row in held)

    against = ["--against", "may.csv", "--against-searches", "may_searches.csv"]
    done = run(*june, *gate[:2], *against, "--unpaired", "--require", "difference(fpir)[*] <= 3 %")
    assert (done.exit_code, "compared as independent ones" in done.output) == (1, True)
    assert "Not met: difference(fpir)[*] <= 3 % (1 of 2 groups): m: " in done.output
    pairs = printed(*may, *gate[:2], *against, "--json")
    assert {row["estimate"] for row in pairs["comparison"]["rows"]} == {0.0}


def test_options_that_need_others_are_refused(months, faces, monkeypatch):
    monkeypatch.chdir(months)
    asked = ["identify", "may.csv", "--searches", "may_searches.csv", "--gallery", "gallery.csv"]
    asked += ["--at", "threshold=0.6"]
    assert "go with --require" in refused_by_command(*asked, "--allow-undecided")
    assert "go with --against" in refused_by_command(*asked, "--unpaired")
    assert "give --gallery, whose table has the columns of --group, too" in refused_by_command(
        *asked, "--returned"
    )
    assert "--role goes with --input vectors" in refused_by_command(
        *asked, "--role", "role", "--input", "searches"
    )


def test_who_is_returned_wrongly_of_a_log_is_counted_by_the_groups_of_the_gallery(
    months, monkeypatch
):
    monkeypatch.chdir(months)
    people = pl.read_csv("gallery.csv")["person"].to_list()
    old = [int(name[1:]) % 3 == 0 for name in people]
    sex = ["f" if int(name[1:]) % 2 else "m" for name in people]
    about = {"person": people, "sex": sex, "old": old}
    pl.DataFrame(about).write_csv("groups.csv")
    searches = pl.read_csv("may_searches.csv")
    asked = ["identify", "may.csv", "--searches", "may_searches.csv", "--gallery", "groups.csv"]
    asked += ["--group", "sex", "--at", "threshold=0.45", "--returned", "--json"]
    rows = printed(*asked)["rows"]
    log = pl.read_csv("may.csv").filter(pl.col("score") >= 0.45)
    first = log.sort("score", descending=True, maintain_order=True).unique("search", keep="first")
    strangers = searches.filter(~pl.col("probe").is_in(people))
    hits = first.join(strangers, on="search")
    group_of = dict(zip(people, sex, strict=True))
    for row in rows:
        if row["name"] == "fpir_matrix":
            of_group = row["probe_group"]
            chosen = hits if of_group is None else hits.filter(pl.col("sex") == of_group)
            n = sum(group_of[who] == row["group"] for who in chosen["candidate"])
            assert row["n_errors"] == n
    assert sum(row["name"] == "fpir_matrix" for row in rows) == 6
    pl.DataFrame(about | {"template": people, "person": [people[0], *people[:-1]]}).write_csv(
        "templates.csv"
    )
    asked[asked.index("groups.csv")] = "templates.csv"
    asked += ["--gallery-id", "template", "--gallery-subject", "person", "--templates", "best"]
    refused("'p000' is of the groups .* an enrolled person is of one", run, *asked)


@pytest.mark.parametrize("name", ["eu-ees-face", "eu-ees-finger"])
def test_what_profiles_ask_of_searches_is_judged_by_the_command_that_they_name(faces, name):
    (clause,) = (of for of in read_profile(name).clauses if of.require[0].startswith("fnir"))
    program, *words = shlex.split(clause.needs.partition(": ")[2])
    assert (program, words[0], words[-1]) == ("fastfair", "identify", clause.require[0])
    words[1] = str(faces)  # in place of log.csv
    done = run(*words, "--role", "role", "--json")
    searches = ff.Searches.from_embeddings(ff.read_embeddings(faces, role="role"))
    judged = ff.identify(searches, read_point("fpir=0.1%")).check(clause.require[0])
    assert json.loads(done.output)["check"]["rows"][0]["verdict"] == judged.rows[0].verdict
    assert done.exit_code == {"met": 0, "not met": 1, "undecided": 3}[judged.verdict]
