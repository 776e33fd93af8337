"""`read_evaluations`: the numbers that were written, and pages made from them with the same sentences and tables."""

from __future__ import annotations

import json

import numpy as np
import pytest
from pages.test_report import AT, HOSTILE, Page, comparisons, evaluation

import fastfair as ff
from fastfair.errors import FileFormatError, InputError


def test_numbers_come_back(tmp_path):
    ev = evaluation("sex", "age")
    ev.to_json(tmp_path / "evaluation.json")
    (back,) = ff.read_evaluations(tmp_path / "evaluation.json")
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
        back.plot_det()
    with pytest.raises(InputError, match="no intervals"):
        back.with_intervals(0.5)
    with pytest.raises(InputError, match="no replicates"):
        back.replicates("eer")


@pytest.mark.parametrize("replicates", [0, 100])
def test_a_page_is_made_again_from_its_numbers(replicates, tmp_path):
    points = [*AT, ff.at_threshold(1.0), ff.at_eer()]
    found = [
        ff.evaluate(comparisons(HOSTILE).by(*by), points, n_resamples=replicates, rng=0, incomplete_groups="nan")
        for by in (("sex",), ("sex", "age"))
    ]
    ff.report(found, tmp_path / "first.html")
    back = ff.read_evaluations(tmp_path / "first.html")
    ff.report(back, tmp_path / "again.html")
    first, again = (Page((tmp_path / f"{name}.html").read_text("utf-8")) for name in ("first", "again"))
    lost = [row for row in first.rows if row not in again.rows]
    assert [row for row in again.rows if row not in first.rows] == []
    assert all(len(row) == 4 or len(row) == 7 for row in lost)  # bands of curves, and quantiles of scores
    assert any("infinite" in row for row in again.rows)
    titles = "".join(first.text)
    assert "Scores" in titles
    assert [line for line in "".join(again.text).splitlines() if line not in titles.splitlines()] == []
    with pytest.raises(InputError, match="intervals of its file only"):
        back[0].with_intervals(0.5)


def test_other_files_are_refused(tmp_path):
    for text in ("", "{}", "[1]", '{"measured_groups": []}', "<html></html>", '{"results": [{"name": 1}]}'):
        (tmp_path / "file").write_text(text)
        with pytest.raises(FileFormatError):
            ff.read_evaluations(tmp_path / "file")
    ff.report(ff.claim(comparisons(), "fnmr <= 0.5", *AT, rng=0, n_resamples=20), tmp_path / "page.html")
    with pytest.raises(FileFormatError, match="holds no evaluation"):
        ff.read_evaluations(tmp_path / "page.html")
