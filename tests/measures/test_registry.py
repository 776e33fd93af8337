"""Measures and quantities by any of the names that people give them."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.command_line import run
from helpers.each import each
from helpers.refusals import refused

import fastfair as ff
from fastfair.measures import MEASURES
from fastfair.measures._registry import measure_name, printed_name, quantity_name


@each("name", MEASURES)
def test_every_name_of_a_measure_means_it(name):
    for called in MEASURES[name].names:
        for typed in (
            called,
            called.upper(),
            called.lower(),
            called.replace("-", " "),
            called.replace("_", "-"),
        ):
            assert measure_name(typed) == name


@pytest.mark.parametrize(
    ("typed", "nearest"),
    [("grabe", "garbe"), ("FRD", "fdr"), ("inequality rate", "inequity"), ("max_mim", "max_min")],
)
def test_typing_errors_are_answered_with_the_nearest(typed, nearest):
    refused(rf"measure must be one of .*\(did you mean .*'{nearest}", measure_name, typed)


@pytest.fixture(scope="module")
def evaluation():
    c = ff.Comparisons(
        np.tile([0.9, 0.7, 0.4, 0.2, 0.6, 0.1], 4),
        np.tile([1, 1, 1, 0, 0, 0], 4),
        reference_group=np.repeat(list("fm"), 12),
    )
    return ff.evaluate(c, ff.at_threshold(0.5), n_resamples=0)


def test_each_quantity_is_found_by_its_code_name_and_its_printed_name(evaluation):
    for quantity in evaluation.quantities:
        for name in (
            quantity.name,
            printed_name(quantity.name),
            printed_name(quantity.name).lower(),
        ):
            assert quantity_name(name) == quantity.name
    assert (
        evaluation.value("NRB of EER")
        == evaluation.value("nrb(eer)")
        == evaluation.value("NRB(EER)")
    )
    assert evaluation.value("Inequity Rate") == evaluation.value("inequity_rate")
    assert evaluation.value("minDCF") == evaluation.value("min_dcf")
    refused(r"no quantity 'garb' \(did you mean 'garbe'", evaluation.value, "garb")


def test_measures_are_asked_for_by_any_name(evaluation, tmp_path):
    c = evaluation.comparisons
    found = ff.evaluate(c, ff.at_threshold(0.5), ["FDR", "Inequity Rate", "fdr"], n_resamples=0)
    assert found.settings["measures"] == ["fdr", "inequity_rate"]
    ff.write_comparisons(c, tmp_path / "s.csv")
    words = [
        "evaluate",
        tmp_path / "s.csv",
        "--group",
        "group",
        "--n-resamples",
        0,
        "--at",
        "threshold=0.5",
    ]
    done = run(*words, "--measure", "FDR", "--measure", "max-min ratio")
    assert done.exit_code == 0, done.output
    lines = [line.split("  ")[0] for line in done.output.splitlines()]
    assert lines[-3:] == ["FDR", "max-min ratio of FMR", "max-min ratio of FNMR"]
    assert "did you mean 'garbe'" in " ".join(
        run(*words, "--measure", "grabe").output.replace("│", " ").split()
    )
    e = ff.von_mises_fisher_embeddings(12, 3, 4, concentration=20, rng=0)
    e = ff.Embeddings(e.vectors, e.subject, group=e.subject % 2)
    options = {"fmr": [0.1], "n_resamples": 20, "rng": 0, "settings": ff.BandSettings("normal")}
    with pytest.warns(ff.errors.FastfairWarning):
        bands = [ff.fairness_band(e, name, **options) for name in ("gini", "Gini index")]
    assert np.array_equal(bands[0].value, bands[1].value)
    assert bands[1].measure == "gini"
    refused("by this name or another", ff.fairness_band, e, "sed", **options)
