"""`compare` of independent data sets, such as those of two months."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from helpers.data_sets import columns
from helpers.refusals import refused
from oracles import intervals as oracles

import fastfair as ff
from fastfair._lib import seeds
from fastfair.errors import SharedSubjectsWarning
from fastfair.evaluation.contrasts import ComparedPair
from fastfair.measures._registry import measure_of
from fastfair.uncertainty.notes import Code, has_code

pytestmark = pytest.mark.jit
POINTS = [ff.at_fmr(0.05), ff.at_threshold(1.0)]


def of_other_people(made: dict, worse: float = 0.0, kept: str = "fmx") -> ff.Comparisons:
    """Make comparisons of people with other names, the mated ones of f with lower scores."""
    groups = made["reference_group"]
    inside = np.isin(groups, list(kept)) & np.isin(made["probe_group"], list(kept))
    shifted = made["scores"] - worse * (made["mated"] & (groups == "f"))
    named = {side: np.char.add("o", made[side].astype(str)) for side in ("reference", "probe")}
    given = made | named | {"scores": shifted}
    if not kept:  # no groups
        return ff.Comparisons(**given | {"reference_group": None, "probe_group": None})
    return ff.Comparisons(
        **{name: value[inside] if np.ndim(value) else value for name, value in given.items()}
    )


@pytest.fixture(scope="module")
def sets():
    return ff.Comparisons(**columns()), of_other_people(columns(seed=7), 0.8)


@pytest.fixture(scope="module")
def found(sets):
    return ff.compare(*sets, POINTS, metrics="all", paired=False, n_resamples=200, rng=5)


def test_limits_are_those_of_zou_and_donner_of_two_evaluations(sets, found):
    evaluations = [
        ff.evaluate(c, POINTS, metrics="all", n_resamples=200, rng=seeds.child(5, k))
        for k, c in enumerate(sets)
    ]
    kinds = set()
    for contrast in found.contrasts:
        group = contrast.group
        if contrast.probe_group is not None:
            group = (contrast.group, contrast.probe_group)
        first, second = (e.quantity(contrast.name, group, contrast.at) for e in evaluations)
        assert (contrast.first, contrast.second) == (first.estimate, second.estimate)
        if math.isfinite(contrast.low):
            ends = [(q.estimate, q.low, q.high) for q in (first, second)]
            expected = oracles.mover_difference(*ends, 0.0)
            assert (contrast.low, contrast.high) == pytest.approx(expected, abs=1e-12)
            kinds.add(contrast.name)
    assert {"fmr", "fnmr", "eer", "min_dcf", "auc", "garbe", "gini(fnmr)"} <= kinds


def test_a_pvalue_is_that_of_the_interval_that_ends_at_zero(found):
    (pair,) = found._compared
    level = found.settings["confidence_level"]
    decided = 0
    for k, contrast in zip(pair.rows, found.contrasts, strict=True):
        if measure_of(contrast.name) is not None or math.isnan(contrast.low + contrast.pvalue):
            continue
        assert (contrast.pvalue <= 1 - level) == (not contrast.low <= 0 <= contrast.high)
        decided += contrast.pvalue <= 1 - level
        assert contrast.pvalue >= (0 if contrast.name in ("fmr", "fnmr", "fmr_matrix") else 2 / 201)
        is_smooth = contrast.name in ("fmr", "fnmr", "fmr_matrix", "eer", "auc")
        if is_smooth and 2 / 200 < contrast.pvalue < 0.9:
            for factor, holds in ((0.97, True), (1.03, False)):
                tail = min(contrast.pvalue * factor, 1 - 1e-9)
                low, high = pair.limits(1 - tail)[:2, pair.rows.index(k)]
                assert (low <= 0 <= high) == holds
    assert decided


def test_the_larger_area_is_better():
    made = columns()
    worse = made | {"scores": made["scores"] - 0.8 * made["mated"]}
    systems = (ff.Comparisons(**given) for given in (made, worse))
    asked = {"metrics": ["auc"], "measures": [], "n_resamples": 200, "rng": 5}
    row = ff.compare(*systems, POINTS, **asked).contrast("auc")
    assert row.difference > 0
    assert row.verdict == "first"


def test_areas_and_costs_of_scores_of_other_people_have_no_verdict(found):
    for name in ("auc", "d_prime", "cllr", "min_cllr"):
        row = found.contrast(name)
        assert row.verdict == "withheld"
        assert has_code(row, Code.LIMITS_TOO_NARROW)
        assert math.isfinite(row.low)


def test_exchanged_sets_have_the_opposite_difference(sets):
    asked = {"paired": False, "n_resamples": 0, "measures": [], "metrics": []}
    rows = zip(
        ff.compare(*sets, POINTS, **asked).contrasts,
        ff.compare(*sets[::-1], POINTS, **asked).contrasts,
        strict=True,
    )
    for row, other in rows:
        opposite = -other.difference, -other.high, -other.low, other.pvalue
        assert (row.difference, row.low, row.high, row.pvalue) == pytest.approx(
            opposite, abs=1e-12, nan_ok=True
        )
    assert {row.verdict for row in ff.compare(*sets, POINTS, **asked).contrasts} <= {
        "first",
        "second",
        "undecided",
    }


def test_groups_of_one_set_alone_are_named_and_left_out(sets, tmp_path):
    two = of_other_people(columns(seed=7), kept="fx")
    names = ["max_min_ratio", "garbe"]
    found = ff.compare({"all": sets[0], "two": two}, None, POINTS[1], names, paired=False, rng=1)
    assert {row.group for row in found.contrasts} == {None, "f", "x"}
    assert found.groups == ("f", "x")
    assert "Groups that not all data sets have are left out: m of all." in found.summary()
    found.report(tmp_path / "page.html")
    assert "left out: m of all" in (tmp_path / "page.html").read_text().split("<details")[0]
    rates = [found.evaluations[0].value("fnmr", group, POINTS[1]) for group in "fx"]
    ratio = found.contrast("max_min_ratio(fnmr)").first
    assert ratio == pytest.approx(max(rates) / min(rates))
    f = of_other_people(columns(seed=7), kept="f")
    alone = ff.compare(sets[0], f, POINTS[1], paired=False, n_resamples=50, rng=1)
    assert {row.group for row in alone.contrasts} == {None, "f"}
    assert {row.name for row in alone.contrasts} == {"fmr", "fnmr", "eer", "min_dcf"}


def test_several_sets_are_ranked_and_compared_with_a_baseline(sets):
    given = {"a": sets[0], "b": sets[1], "c": of_other_people(columns(seed=9))}
    asked = {"at": POINTS[1], "measures": [], "paired": False, "n_resamples": 600, "rng": 1}
    with pytest.warns(SharedSubjectsWarning, match="b and c are"):
        found = ff.compare(given, **asked)
    assert {row.system for row in found.ranking("fnmr")} == {"a", "b", "c"}
    with pytest.warns(SharedSubjectsWarning):
        found = ff.compare(given, baseline="a", **asked)
    assert [pair.names for pair in found._compared] == [("b", "a"), ("c", "a")]


def test_what_is_not_the_same_attribute_is_refused_and_pairs_are_proposed(sets):
    first, second = sets
    other = of_other_people(columns(), kept="")
    refused("give both the same attributes", ff.compare, first, other, paired=False, rng=0)
    refused(r"paired=False", ff.compare, first, second, rng=0)


def test_scans_of_score_files_and_vectors_are_compared(sets, tmp_path):
    files = []
    for k, data in enumerate(sets):
        ff.write_comparisons(data, tmp_path / f"{k}.csv")
        files.append(
            ff.scan_comparisons(tmp_path / f"{k}.csv", reference="reference", probe="probe")
        )
    asked = {"at": ff.at_threshold(2.0), "paired": False, "n_resamples": 50, "rng": 1}
    found = ff.compare(*files, measures=[], metrics=[], **asked)
    ungrouped = [ff.read_comparisons(tmp_path / f"{k}.csv", groups=[]) for k in range(2)]
    plain = ff.compare(*ungrouped, measures=[], metrics=[], **asked)
    assert found.contrast("fmr").pvalue == plain.contrast("fmr").pvalue
    rng, who = np.random.default_rng(0), np.repeat(np.arange(20), 3)
    people = rng.normal(size=(20, 8))[who]
    vectors = [
        ff.Embeddings(people + rng.normal(size=people.shape), who + 100 * k) for k in range(2)
    ]
    found = ff.compare(*vectors, at=ff.at_fmr(0.1), paired=False, n_resamples=50, rng=1)
    assert math.isfinite(found.contrast("fnmr").pvalue)


def test_a_rate_without_an_interval_has_no_verdict():
    who = [f"a{k}" for k in range(12)]
    scores, mated = [*[0.0] * 12, 1.0, 0.0], [0] * 12 + [1, 1]
    first = ff.Comparisons(scores, mated, [*who, "z", "z"], [*who[1:], "y", "z", "z"])
    second = of_other_people(columns(), kept="")
    found = ff.compare(first, second, ff.at_threshold(0.5), [], paired=False, n_resamples=0)
    row = found.contrast("fnmr")
    assert row.verdict == "withheld"
    assert has_code(row, Code.RATE_OF_ONE_SUBJECT, Code.RATE_WITHOUT_INTERVAL)


def test_results_of_independent_sets_are_written_and_read(found, tmp_path):
    found.to_json(tmp_path / "c.json")
    (again,) = ff.read_results(tmp_path / "c.json")
    assert not again.is_paired
    assert again._compared == ()
    assert again.summary() == found.summary()
    assert again.contrasts[0].pvalue == found.contrasts[0].pvalue
    titles = dict(found._chapter().first.facts)
    assert {"Data sets", "People of first", "Comparisons of second"} <= titles.keys()
    found.report(tmp_path / "c.html")
    assert "Two data sets" in (tmp_path / "c.html").read_text()


def test_pairs_of_equal_systems_are_alike_only_if_paired(sets):
    (pair,) = ff.compare(sets[0], sets[0], POINTS[1], [], metrics=[], n_resamples=0)._compared
    assert pair.are_alike.all()
    apart = replace(pair, is_paired=False)
    assert isinstance(apart, ComparedPair)
    assert not apart.are_alike.any()
    assert (apart.correlations == 0).all()


def test_data_sets_without_a_rate_in_common_are_refused():
    scores = np.arange(20.0)
    mated = ff.Comparisons(scores, np.ones(20))
    impostors = ff.Comparisons(scores, np.zeros(20))
    says = "'{}' has mated comparisons alone and '{}' non-mated ones"
    for systems in (mated, impostors), (impostors, mated):
        names = ("first", "second") if systems[0] is mated else ("second", "first")
        refused(
            says.format(*names),
            ff.compare,
            *systems,
            at=ff.at_threshold(5),
            paired=False,
            unit="comparison",
        )
