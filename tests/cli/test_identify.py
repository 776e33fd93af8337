"""`fastfair identify`: the numbers of the library, in sentences, tables, files and plots."""

from __future__ import annotations

import json

import numpy as np
import pytest
from helpers.command_line import run, succeeded
from helpers.refusals import refused

import fastfair as ff


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
