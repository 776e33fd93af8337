"""`read_results`: the numbers that were written, and the same pages made from them."""

from __future__ import annotations

import contextlib
import json
import random
from pathlib import Path

import numpy as np
import pytest
from helpers.command_line import run
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st
from pages.test_report import AT, HOSTILE, Page, comparisons, evaluation

import fastfair as ff
from fastfair.errors import FileFormatError, InputError


def test_numbers_come_back(tmp_path):
    ev = evaluation("sex", "age")
    ev.to_json(tmp_path / "evaluation.json")
    (back,) = ff.read_results(tmp_path / "evaluation.json")
    assert json.loads(back.to_json()) == json.loads(ev.to_json())
    (rates,), (of_file,) = ev.rates, back.rates
    for name in ("threshold", "fmr", "fnmr", "groups", "below_resolution", "at"):
        assert getattr(of_file, name) == getattr(rates, name)
    for name in ("group_fmr", "group_fnmr", "fmr_matrix"):
        np.testing.assert_array_equal(getattr(of_file, name), getattr(rates, name))
    for name, value in vars(rates.counts).items():
        if name != "matrix_subjects":
            np.testing.assert_array_equal(getattr(of_file.counts, name), value)
    with pytest.raises(InputError, match="no comparisons"):
        back.plot_det()  # only pages have curves
    refused("no replicates", back.with_intervals, 0.5)
    refused("no replicates", back.replicates, "eer")


# What a page has of an evaluation besides its JSON.
DRAWN = {"traces": None}


def numbers(result) -> dict:
    """Return what JSON has of a result, without what pages add."""
    content = json.loads(result.to_json())
    for one in (
        content,
        *(content[name] for name in ("first", "second") if name in content),
        *content.get("evaluations", ()),
    ):
        one |= {name: empty for name, empty in DRAWN.items() if name in one}
    return content


def made_again(results, folder) -> tuple[list, str, str]:
    ff.report(results, folder / "first.html", title="A study")
    back = ff.read_results(folder / "first.html")
    ff.report(back, folder / "again.html", title="A study")
    return back, *((folder / f"{name}.html").read_text("utf-8") for name in ("first", "again"))


@pytest.mark.slow
@pytest.mark.parametrize("replicates", [0, 100])
def test_a_page_is_made_again_from_its_numbers(replicates, tmp_path):
    points = [*AT, ff.at_threshold(1.0), ff.at_eer()]
    found = [
        ff.evaluate(
            comparisons(HOSTILE).by(*by),
            points,
            n_resamples=replicates,
            rng=0,
            settings=ff.EvaluationSettings(incomplete_groups="nan"),
        )
        for by in (("sex",), ("sex", "age"))[: 1 if replicates == 0 else 2]
    ]
    back, first, again = made_again(found, tmp_path)
    assert again == first
    page = Page(again)
    infinite = any(cell.startswith("infinite") for row in page.rows for cell in row)
    assert infinite == (replicates > 0)  # groups of two attributes are small
    assert {"Scores", "Trade-off of the two errors"} <= set("".join(page.text).splitlines())
    refused("no replicates", back[0].with_intervals, 0.5)


@pytest.mark.slow
def test_evaluations_of_pages_are_drawn_as_before(tmp_path):
    ev = evaluation("sex")
    (back,), *_ = made_again([ev], tmp_path)
    for name in ("plot_det", "plot_scores"):
        one, other = (getattr(each, name)() for each in (ev, back))
        for line, again in zip(one.lines, other.lines, strict=True):
            np.testing.assert_array_equal(line.get_xydata(), again.get_xydata())
        assert [text.get_text() for text in one.texts] == [text.get_text() for text in other.texts]
    assert len(back.plot_scores("f").lines) == 1


def other_results() -> list:
    c = comparisons()
    few = {"n_resamples": 50, "rng": 0}
    three = ff.evaluate(comparisons(("a", "b", "c")).by("sex"), AT, **few)
    return [
        ff.claim(c.by("sex"), "fnmr <= 0.5", *AT, **few),
        ff.claim(c, "fnmr <= 0.0001", *AT, **few),
        ff.fnmr_test(c.by("sex", "age"), *AT, n_resamples=200, rng=0),
        ff.fmr_test(c, *AT, n_resamples=200, rng=0),
        ff.check(
            c.by("sex"),
            ["fnmr[*] <= 0.5", "max_geomean_ratio(fnmr) <= 2", "eer <= 0.001"],
            *AT,
            **few,
        ),
        ff.margin_of_error(c, *AT, **few),
        ff.shrunken_rates(three),
        ff.error_model(c, ["sex", "age"], *AT),
        ff.stratified_rates(c, "sex", "age", *AT),
        ff.plan_fmr(claimed=0.05, fmr=0.01, covariance=1, n_simulations=20, rng=0),
    ]


@pytest.mark.slow
@pytest.mark.filterwarnings(
    "ignore::fastfair.errors.FastfairWarning"
)  # of few errors in small data
def test_other_chapters_are_made_again(tmp_path):
    results = other_results()
    back, first, again = made_again(results, tmp_path)
    assert again == first
    for result, one in zip(results, back, strict=True):
        assert type(one) is type(result)
        assert one.summary() == result.summary()
        assert json.loads(one.to_json()) == json.loads(result.to_json())
        assert one.to_frame("polars").columns == result.to_frame("polars").columns
    assert back[1].rows[0].n_subjects_needed == np.inf
    assert any("contradicted" in cell for row in Page(again).rows for cell in row)


@pytest.mark.filterwarnings(
    "ignore::fastfair.errors.FastfairWarning"
)  # of few errors in small data
@pytest.mark.parametrize("replicates", [0, pytest.param(100, marks=pytest.mark.slow)])
def test_chapters_of_two_systems_are_made_again(replicates, tmp_path):
    points = [ff.at_fmr(0.002), ff.at_threshold(1.0), ff.at_eer()]
    systems = [
        comparisons(HOSTILE, system=k).by("sex", *["age"] * (replicates > 0)) for k in (1, 2)
    ]
    two = ff.compare(
        *systems,
        points,
        n_resamples=replicates,
        rng=0,
        settings=ff.EvaluationSettings(incomplete_groups="nan"),
    )
    (back,), first, again = made_again([two], tmp_path)
    assert again == first
    assert numbers(back) == numbers(two)
    assert {
        name for one in two.contrasts for name, value in vars(one).items() if value == np.inf
    } >= {"ratio"}
    for one, other in zip(back.contrasts, two.contrasts, strict=True):
        assert repr(one) == repr(other)  # NaN included
    assert back.summary() == two.summary()
    assert back.plot_differences(at=points[1]).lines


@pytest.mark.filterwarnings(
    "ignore::fastfair.errors.FastfairWarning"
)  # of few errors in small data
@pytest.mark.parametrize(
    ("replicates", "baseline"),
    [
        (0, None),
        *(pytest.param(100, baseline, marks=pytest.mark.slow) for baseline in (None, HOSTILE[0])),
    ],
)
def test_chapters_of_many_systems_are_made_again(replicates, baseline, tmp_path):
    points = [ff.at_fmr(0.002), ff.at_threshold(1.0), ff.at_eer()]
    systems = {
        name: comparisons(HOSTILE[:3], system=k).by("sex") for k, name in enumerate(HOSTILE[:4])
    }
    asked = {
        "n_resamples": replicates,
        "rng": 0,
        "settings": ff.EvaluationSettings(incomplete_groups="nan"),
    }
    many = ff.compare(systems, None, points, baseline=baseline, **asked)
    (back,), first, again = made_again([many], tmp_path)
    assert again == first
    assert numbers(back) == numbers(many)
    assert (back.systems, back.summary()) == (many.systems, many.summary())
    assert repr(back.contrasts) == repr(many.contrasts)  # NaN included
    if baseline is None:
        assert repr(back.ranking("fnmr", at=points[1])) == repr(many.ranking("fnmr", at=points[1]))
        assert back.plot(at=points[1]).lines


@pytest.mark.slow
def test_systems_of_a_page_are_evaluations(tmp_path):
    two = ff.compare(*(comparisons(system=k).by("sex") for k in (1, 2)), AT, n_resamples=0)
    (back,), *_ = made_again([two], tmp_path)
    for one, other in zip(back.evaluations, two.evaluations, strict=True):
        assert numbers(one) == numbers(other)
    _, text, _ = made_again([back.evaluations[0]], tmp_path)
    assert "Scores" in text


@pytest.mark.filterwarnings(
    "ignore::fastfair.errors.FastfairWarning"
)  # of few errors in small data
@pytest.mark.parametrize("groups", [pytest.param(["--group", "sex"], marks=pytest.mark.slow), []])
def test_the_page_of_vectors_is_made_again(groups, tmp_path):
    made = ff.von_mises_fisher_embeddings(40, 4, 16, concentration=(20, 60), rng=0)
    sex = np.array(HOSTILE[:3])[made.subject % 3]
    np.savez(tmp_path / "v.npz", vectors=made.vectors, subject=made.subject, sex=sex)
    done = run(
        "embeddings",
        tmp_path / "v.npz",
        *groups,
        "--fmr",
        "0.01,0.1",
        "--seed",
        0,
        "--n-resamples",
        50,
        "--report",
        tmp_path / "first.html",
        "--json",
    )
    assert done.exit_code == 0, done.output
    back = ff.read_results(tmp_path / "first.html")
    ff.report(back, tmp_path / "again.html", inputs=tmp_path / "v.npz")
    assert (tmp_path / "again.html").read_text("utf-8") == (tmp_path / "first.html").read_text(
        "utf-8"
    )
    written = json.loads(done.stdout)
    del written["inputs"], written["fastfair"]
    of_each = list(written.values()) if groups else [written]
    assert [json.loads(one.to_json()) | {"fastfair": None} for one in back] == [
        one | {"fastfair": None} for one in of_each
    ]
    assert back[0].asked == (0.01, 0.1)  # by the command; the page shows these FMRs of many


@pytest.fixture(scope="module")
def page_of_many(tmp_path_factory) -> tuple[Path, dict]:
    """A file to write pages to, and the numbers of a page with results of every kind of chapter."""
    c, few = comparisons().by("sex"), {"n_resamples": 20, "rng": 0}
    results = [
        ff.evaluate(c, AT, **few),
        ff.roc_band(c, [0.1, 0.3], **few),
        ff.fairness_band(c, "gini", "fnmr", [0.3], **few),
        ff.compare(c, comparisons(system=2).by("sex"), AT, **few),
        ff.claim(c, "fnmr <= 0.5", *AT, **few),
        ff.compare([c] * 3, None, AT, [], metrics=[], **few),
    ]
    path = tmp_path_factory.mktemp("pages") / "page.html"
    ff.report(results, path)
    text = path.read_text("utf-8")
    return path, json.loads(text[text.index('id="numbers">') + 13 : text.index("</script>")])


@pytest.mark.slow
@pytest.mark.filterwarnings(
    "ignore::fastfair.errors.FastfairWarning"
)  # of few errors in small data
@given(st.randoms(use_true_random=False))
def test_damaged_pages_are_read_or_refused(page_of_many, rng: random.Random):
    path, numbers = page_of_many
    damaged = json.loads(json.dumps(numbers))
    inside = rng.choice(damaged["results"])
    while True:  # go down to a place of any depth
        at = rng.choice([*inside] if isinstance(inside, dict) else range(len(inside)))
        if not isinstance(inside[at], dict | list) or not inside[at] or rng.random() < 0.3:
            break
        inside = inside[at]
    if rng.random() < 0.2:
        del inside[at]
    else:
        inside[at] = rng.choice([None, "x", -1, 10**400, 1.5, [], {}, [[1]], 99999, True])
    path.write_text(f'<script type="application/json" id="numbers">{json.dumps(damaged)}</script>')
    with contextlib.suppress(FileFormatError):
        assert len(ff.read_results(path)) == len(numbers["results"])


def test_other_files_are_refused(tmp_path):
    for text in (
        "",
        "{}",
        "[1]",
        '{"measured_groups": []}',
        "<html></html>",
        '{"results": [{"name": 1}]}',
    ):
        (tmp_path / "file").write_text(text)
        with pytest.raises(FileFormatError):
            ff.read_results(tmp_path / "file")


def test_json_in_place_of_its_file_is_said_to_be_that():
    text = ff.evaluate(
        ff.Comparisons([0.9, 0.2], [1, 0]), ff.at_threshold(0.5), n_resamples=0
    ).to_json()
    refused("^path is JSON, and not the name of a file", ff.read_results, text)
