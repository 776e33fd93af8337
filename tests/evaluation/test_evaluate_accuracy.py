"""The share of right decisions at a threshold, an estimand that must be asked for."""

from __future__ import annotations

import pytest
from helpers.data_sets import columns

import fastfair as ff
from fastfair.uncertainty.notes import Code, has_code

pytestmark = pytest.mark.jit
AT = [ff.at_threshold(1.0), ff.at_fmr(0.05)]


@pytest.fixture(scope="module")
def made():
    return columns()


@pytest.fixture(scope="module")
def found(made):
    return ff.evaluate(ff.Comparisons(**made), AT, metrics=["eer", "accuracy"], rng=1)


def test_accuracy_is_the_share_of_right_decisions(made, found):
    for at in AT:
        threshold = found.value("threshold", None, at)
        right = (made["scores"] >= threshold) == made["mated"]
        overall = found.quantity("accuracy", None, at)
        assert overall.estimate == pytest.approx(right.mean(), abs=1e-12)
        assert (overall.n_comparisons, overall.n_errors) == (right.size, (~right).sum())
        for group in "fmx":
            inside = (made["reference_group"] == group) & (made["probe_group"] == group)
            value = found.value("accuracy", group, at)
            assert value == pytest.approx(right[inside].mean(), abs=1e-12)


def test_its_interval_is_of_replicates_and_its_note_names_the_mix(made, found):
    overall = found.quantity("accuracy", None, AT[0])
    assert overall.low < overall.estimate < overall.high
    assert overall.method == "logit"
    share = made["mated"].mean()
    fnmr, fmr = (found.replicates(name, None, AT[0]) for name in ("fnmr", "fmr"))
    drawn = 1 - share * fnmr - (1 - share) * fmr
    assert found.replicates("accuracy", None, AT[0]) == pytest.approx(drawn)
    assert overall.standard_error == pytest.approx(drawn.std(ddof=1), rel=1e-6)
    assert has_code(overall, Code.MIX_OF_COMPARISONS)
    assert "40.1 % of these comparisons are mated" in overall.note


def test_it_is_compared_required_and_shown(made, found, tmp_path):
    data = ff.Comparisons(**made)
    everything = ff.evaluate(data, AT, [], metrics="all", rng=1, n_resamples=20)
    assert "accuracy" not in {quantity.name for quantity in everything.quantities}
    better = ff.Comparisons(**made | {"scores": made["scores"] + 0.5 * made["mated"]})
    compared = ff.compare(better, data, AT[0], [], metrics="accuracy", n_resamples=200, rng=1)
    contrast = compared.contrast("accuracy")
    assert (contrast.verdict, contrast.difference > 0) == ("first", True)
    asked = ["accuracy@threshold=1 >= 80 %", "accuracy[*]@threshold=1 >= 99 %"]
    made_check = ff.check(data, asked, rng=1, n_resamples=200)
    assert list(made_check.verdicts.values()) == ["met", "not met"]
    assert ff.check(compared, "difference(accuracy) >= 0 %").verdict == "met"
    found.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "the share of right decisions" in page
    assert "depends on the share of mated comparisons" in page
