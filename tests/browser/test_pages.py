"""Reports in a browser: nothing is cut or wider than the page, and labels make no elements."""

from __future__ import annotations

import json
import shutil
import subprocess

import numpy as np
import pytest
from browser.headless import AXE, CHROMIUM, COLORS, VALIDATOR, ask, run
from helpers.command_line import succeeded
from helpers.quiet import quietly

import fastfair as ff

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    # A browser is no Python package, so setting up the tests cannot install it.
    pytest.mark.skipif(
        CHROMIUM is None, reason="there is no Chromium here: apt-get install chromium"
    ),
]
TITLE = "Error rates and fairness"
LABELS = [
    "<img src=x onerror=alert(1)>",
    "m",
    "a group whose label is long, as those of five attributes are",
] + [f"group {k}" for k in range(17)]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A report of 20 groups with comparisons between them, their two tests, and two systems."""
    rng = np.random.default_rng(0)
    n, each = 20_000, 10
    reference = rng.integers(0, each * len(LABELS), n)
    mated = rng.random(n) < 0.5
    probe = np.where(
        mated,
        reference,
        (reference + rng.integers(1, each * len(LABELS), n)) % (each * len(LABELS)),
    )
    group = np.array(LABELS, dtype=object)
    who = mated, reference, probe, group[reference // each], group[probe // each]
    one, other = (ff.Comparisons(rng.normal(size=n) + 2.5 * mated, *who) for _ in range(2))
    at = ff.at_fmr(0.01)
    with quietly():  # of few replicates
        results = [
            ff.evaluate(one, at, n_resamples=100, rng=0),
            ff.fnmr_test(one, at, n_resamples=200, rng=0),
        ]
        results.append(ff.check(one, ["fnmr[*] <= 60 %", "eer <= 5 %"], at, n_resamples=100, rng=0))
        results.append(ff.compare(one, other, at, n_resamples=100, rng=0))
    path = tmp_path_factory.mktemp("pages") / "report.html"
    ff.report(results, path, title="A study of <b>20</b> groups")
    return path


@pytest.fixture(scope="module")
def page_of_embeddings(tmp_path_factory):
    """The page that `fastfair embeddings` writes of vectors in three groups, one of which has a
    hostile label."""
    folder = tmp_path_factory.mktemp("embeddings")
    made = ff.von_mises_fisher_embeddings(60, 4, 16, concentration=(20, 60), rng=0)
    groups = np.array(LABELS[:3], dtype=object)[made.subject % 3]
    np.savez(folder / "v.npz", vectors=made.vectors, subject=made.subject, group=groups.astype(str))
    with quietly():
        succeeded(
            "embeddings",
            folder / "v.npz",
            "--subject",
            "subject",
            "--group",
            "group",
            "--fmr",
            "0.01,0.1",
            "--seed",
            0,
            "--n-resamples",
            50,
            "--report",
            folder / "embeddings.html",
        )
    return folder / "embeddings.html"


@pytest.mark.parametrize("color", COLORS)
@pytest.mark.parametrize("width", [1280, 768, 400])
@pytest.mark.parametrize(
    ("name", "title"), [("page", "A study of <b>20</b> groups"), ("page_of_embeddings", TITLE)]
)
def test_reports_fit_and_are_silent(name, title, width, color, tmp_path, request):
    found = ask(request.getfixturevalue(name), tmp_path, width, color)
    assert found["title"] == title
    assert found["width"] == found["scrollWidth"] == width
    assert found["beyond"] == found["clipped"] == []
    # What systems differ in has seven columns, which scroll on small screens behind a frozen first
    # one.
    assert found["sideways"] == [] or width < 1280 or name != "page"
    assert found["console"] == found["errors"] == []
    assert found["images"] == 0  # no label became an element
    assert found["paper"] == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 24, 29)"}[color]
    if AXE.exists():
        assert found["violations"] == []


@pytest.mark.parametrize("n_systems", [2, 5])
def test_tables_of_compared_systems_fit(n_systems, tmp_path):
    rng = np.random.default_rng(0)
    reference, mated = rng.integers(0, 60, 4000), rng.random(4000) < 0.5
    probe = np.where(mated, reference, (reference + rng.integers(1, 60, 4000)) % 60)
    who = mated, reference, probe, reference % 3, probe % 3
    systems = {
        f"system {k}": ff.Comparisons(rng.normal(size=4000) + 2 * mated, *who)
        for k in range(n_systems)
    }
    with quietly():
        ff.compare(systems, at=ff.at_fmr(0.01), n_resamples=100, rng=0).report(
            tmp_path / "systems.html"
        )
    found = ask(tmp_path / "systems.html", tmp_path, 1280)
    assert found["beyond"] == found["clipped"] == found["sideways"] == []


def test_a_report_of_20_groups_and_two_systems_is_small(page):
    assert page.stat().st_size < 1_250_000


def test_the_questions_find_faults(page, tmp_path):
    broken = tmp_path / "broken.html"
    faults = (
        "<img src='data:,'><div"
        " style='width:2000px'>wide</div><script>console.error('spoken')</script></main>"
    )
    broken.write_text(page.read_text("utf-8").replace("</main>", faults), "utf-8")
    found = ask(broken, tmp_path, 400)
    assert found["images"] == 1
    assert found["scrollWidth"] > 1900
    assert found["beyond"]
    assert any("spoken" in line for line in found["console"])
    assert not AXE.exists() or any(one.startswith("image-alt") for one in found["violations"])


def sheets(page, folder) -> list[str]:
    """Print a page on A4, and return the text of each sheet."""
    run(
        f"--print-to-pdf={folder / 'report.pdf'}",
        "--no-pdf-header-footer",
        page.as_uri(),
        folder=folder,
    )
    content = (folder / "report.pdf").read_bytes()
    assert content.startswith(b"%PDF")
    n = content.count(b"/Type /Page\n") + content.count(b"/Type /Page ")
    if shutil.which("pdftotext") is None:
        return [""] * n
    text = subprocess.run(
        ["pdftotext", "-layout", folder / "report.pdf", "-"],
        capture_output=True,
        check=True,
        text=True,
    )
    found = text.stdout.split("\f")[:-1]
    assert len(found) == n
    return found


def test_a_report_of_20_groups_prints_on_few_sheets(page, tmp_path):
    found = sheets(page, tmp_path)
    assert 3 < len(found) <= 16  # with all sections that are folded on screens


def test_the_page_of_the_demo_is_short(tmp_path):
    with quietly():
        asked = [
            "--require",
            "fnmr[*] <= 20 %",
            "--require",
            "fnmr <= 20 %",
            "--require",
            "eer <= 2 %",
        ]
        succeeded(
            "demo", "--seed", 0, "--n-resamples", 200, *asked, "--report", tmp_path / "demo.html"
        )
    first, *others = sheets(tmp_path / "demo.html", tmp_path)
    assert len(others) <= 11
    # The first sheet is complete in itself.
    first = " ".join(first.split())
    assert not first or all(
        one in first for one in ("Requirements", "The answer", "India", "Sorted by FNMR")
    )
    for width in (1280, 400):
        found = ask(tmp_path / "demo.html", tmp_path, width)
        assert found["beyond"] == found["clipped"] == found["sideways"] == []
        assert found["words"] <= 8000


def test_the_page_of_a_profile_prints_on_six_sheets(tmp_path):
    with quietly():
        scores = ff.datasets.voxceleb1_h("resnetse34v2", groups=["Gender", "Nationality"])
        result = ff.check(
            scores, at=ff.at_threshold(-0.95), profile="nist-800-63a", n_resamples=100, rng=0
        )
        result.report(tmp_path / "profile.html")
    first, *others = sheets(tmp_path / "profile.html", tmp_path)
    assert len(others) <= 5
    assert not first or all(one in first for one in ("By its own rule", "The answer"))
    for width in (1280, 400):
        found = ask(tmp_path / "profile.html", tmp_path, width)
        assert found["beyond"] == found["clipped"] == found["sideways"] == []


# npm has it, which only `make browser` asks for.
@pytest.mark.skipif(
    not VALIDATOR.exists(), reason="html-validate is not here: make browser installs it"
)
def test_a_report_is_valid_html(page, tmp_path):
    rules = {
        "extends": ["html-validate:standard"],
        "rules": {"no-inline-style": "off", "no-trailing-whitespace": "off"},
    }
    (tmp_path / "rules.json").write_text(json.dumps(rules))
    done = subprocess.run(
        [VALIDATOR, "--config", tmp_path / "rules.json", "--formatter", "text", page],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[:3000]
