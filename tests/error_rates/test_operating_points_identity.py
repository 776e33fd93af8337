"""What a number is of, operating point and groups, is told by these themselves and never by their
text."""

import copy
import json
import math
import pickle

import numpy as np
import pytest
from helpers.each import each
from helpers.refusals import refused

import fastfair as ff
from fastfair.cli.terminal import print_result
from fastfair.error_rates.operating_points import OperatingPoint

pytestmark = pytest.mark.filterwarnings("ignore::fastfair.errors.FastfairWarning")

RNG = np.random.default_rng(0)


@pytest.fixture(scope="module")
def near():
    """Scores whose thresholds of interest have one text under %g, and groups."""
    mated = np.arange(400) % 2 == 0
    scores = 1_000_000 + RNG.integers(0, 9, 400) + 2 * mated
    return ff.Comparisons(scores, mated, reference_group=np.where(np.arange(400) % 4 < 2, "f", "m"))


NEAR = [ff.at_threshold(1_000_003), ff.at_threshold(1_000_005)]


def test_thresholds_that_print_alike_keep_their_own_rates(near):
    alone = [ff.rates(near, point) for point in NEAR]
    assert alone[0].fmr != alone[1].fmr
    evaluation = ff.evaluate(near, NEAR, n_resamples=50, unit="comparison", rng=0)
    for point, rates in zip(NEAR, alone, strict=True):
        assert evaluation.value("fmr", at=point) == rates.fmr
        assert evaluation.value("fnmr", "f", point) == rates.group_fnmr[0]
        assert evaluation.value("fdr", at=point) == ff.evaluate(near, point, n_resamples=0).value(
            "fdr"
        )
        assert evaluation.replicates("fmr", at=point).mean() == pytest.approx(rates.fmr, abs=0.05)
        assert evaluation.interval("fdr", at=point) == evaluation.interval(
            "fdr", at=OperatingPoint("threshold", point.value)
        )
    rows = json.loads(evaluation.to_json())["quantities"]
    keys = [(row["name"], row["group"], row["probe_group"], row["operating_point"]) for row in rows]
    assert (
        len(set(keys))
        == len(keys)
        == evaluation.to_frame("polars")
        .select("name", "group", "probe_group", "operating_point")
        .n_unique()
    )


def test_the_terminal_shows_each_threshold_its_own_rates(near, capsys):
    print_result(ff.evaluate(near, NEAR, n_resamples=0))
    shown = capsys.readouterr().out
    for point in NEAR:
        table = shown.partition(f"\nError rates at {point}\n")[2].splitlines()
        row = next(line for line in table if line.startswith("all"))
        assert f" {100 * ff.rates(near, point).fmr:.3g} " in row


def test_bands_keep_near_levels_apart():
    levels = [0.1000001, 0.1000004, 0.2]
    e = ff.von_mises_fisher_embeddings(30, 4, 8, 5.0, rng=0)
    band = ff.roc_band(e, [*levels, 0.1000001], n_resamples=20, rng=0)
    assert band.fmr.tolist() == levels


@each(
    ("point", "text"),
    [
        (ff.at_threshold(1_000_003), "threshold=1000003"),
        (ff.at_threshold(1_000_000), "threshold=1e+06"),
        (ff.at_threshold(-0.0), "threshold=0"),
        (ff.at_threshold(0.1 + 0.2), "threshold=0.30000000000000004"),
        (ff.at_threshold(np.float32(0.5)), "threshold=0.5"),
        (ff.at_fmr(1e-3), "FMR=0.001"),
        (ff.at_fmr(0.0010000001), "FMR=0.0010000001"),
        (ff.at_fnmr(0), "FNMR=0"),
        (ff.at_eer(), "EER"),
        (ff.at_mean_group_eer(), "mean group EER"),
    ],
)
def test_the_text_of_an_operating_point_tells_it_apart(point, text):
    assert str(point) == text
    for other in (
        copy.deepcopy(point),
        pickle.loads(pickle.dumps(point)),
        OperatingPoint(point.kind, point.value),
    ):
        assert (other, hash(other), str(other)) == (point, hash(point), text)
    if not math.isnan(point.value) and point.value:
        assert float(text.partition("=")[2]) == point.value
        assert OperatingPoint(point.kind, float(np.nextafter(point.value, 0))) != point
    assert point != text


def test_levels_are_compared_as_floats():
    assert ff.at_fmr(1e-3) == ff.at_fmr(0.001) == OperatingPoint("fmr", np.float64(0.001))
    assert ff.at_fmr(-0.0) == ff.at_fmr(0)
    assert OperatingPoint("eer") == OperatingPoint("eer", float("nan"))
    assert (
        len({ff.at_eer(), OperatingPoint("eer", float("nan")), ff.at_fnmr(0.1), ff.at_fmr(0.1)})
        == 3
    )


@each(
    ("arguments", "message"),
    [
        (("fnmr", -1), r"fnmr must be a fraction in \[0, 1\)"),
        (("fmr", 5.0), r"for 5 % write 0.05"),
        (("fmr", 1), "fmr must be a fraction"),
        (("fmr",), "fmr must be a finite number"),
        (("fnmr", math.nan), "fnmr must be a finite number"),
        (("threshold",), "threshold must be a finite number"),
        (("threshold", math.inf), "threshold must be a finite number"),
        (("threshold", "0.5"), "value must be a finite number"),
        (("threshold", True), "value must be a finite number"),
        (("eer", 0.1), "'eer' takes no value"),
        (("mean group eer", 0), "takes no value"),
        (("eer", None), "value must be a finite number"),
        (("err",), "did you mean 'eer'"),
        ((1,), "kind must be text"),
    ],
)
def test_operating_points_that_cannot_be_are_refused(arguments, message):
    refused(message, OperatingPoint, *arguments)


def test_what_is_asked_twice_counts_once(near):
    once = ff.evaluate(
        near, ff.at_fmr(0.1), ["gini"], metrics=["eer"], n_resamples=20, unit="comparison", rng=0
    )
    twice = ff.evaluate(
        near,
        [ff.at_fmr(0.1), ff.at_fmr(1e-1)],
        ["gini", "gini"],
        metrics=["eer", "eer"],
        n_resamples=20,
        unit="comparison",
        rng=0,
    )
    assert twice.quantities == once.quantities
    assert ff.roc_band(
        near, [0.1, 0.1, 1e-1], unit="comparison", n_resamples=20, rng=0
    ).fmr.tolist() == [0.1]


@pytest.fixture(scope="module")
def slashed():
    """Groups whose names joined with " / " are one: "a" with "a / a", and "a / a" with "a"."""
    rng = np.random.default_rng(2)
    one, other = (np.array(["a", "a / a", "b"])[rng.integers(0, 3, 3000)] for _ in range(2))
    mated = rng.random(3000) < 0.2
    score = rng.normal(size=3000) + mated + 0.7 * (one == "a") + 0.3 * (other == "b")
    return ff.Comparisons(score, mated, reference_group=one, probe_group=other)


def test_the_terminal_shows_every_cell_its_own_rate(slashed, capsys):
    at = ff.at_threshold(1.0)
    print_result(ff.evaluate(slashed, at, n_resamples=0))
    table = capsys.readouterr().out.partition("FMR between groups")[2].splitlines()[2:5]
    for line, row in zip(table, ff.rates(slashed, at).fmr_matrix, strict=True):
        assert [float(part) for part in line.replace("*", "").split()[-3:]] == [
            float(f"{100 * rate:.2g}") for rate in row
        ]


def test_intersections_are_told_apart_or_refused():
    labels = {"x": ["a & b", "a", "a", "a & b"], "y": ["c", "b & c", "d", "d"]}
    c = [0.9, 0.1, 0.8, 0.2], [1, 0, 1, 0]
    refused(
        "two intersections of x and y are both called 'a & b & c'",
        ff.Comparisons,
        *c,
        reference_group=labels,
    )
    assert (
        len(ff.Comparisons(*c, reference_group={name: labels[name] for name in "yx"}).groups) == 4
    )
