"""`compare` of many systems: pairs, adjustment, ranks."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from helpers.data_sets import columns
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st
from oracles import ranks as slow

import fastfair as ff
from fastfair.errors import FewResamplesWarning
from fastfair.evaluation import compare as module
from fastfair.evaluation.contrasts import ranks_of
from fastfair.evaluation.system_comparison import SystemComparison

AT = [ff.at_fmr(0.05), ff.at_threshold(1.0)]
NAMES = ("old", "new", "small", "noisy")
ASKED = {"measures": ["garbe", "max_min_ratio"], "n_resamples": 1000, "rng": 5}


@pytest.fixture(scope="module")
def systems() -> dict[str, ff.Comparisons]:
    rng, one = np.random.default_rng(1), columns()
    noise = {"old": 0.0, "new": 0.1, "small": 0.4, "noisy": 1.5}
    return {
        name: ff.Comparisons(
            **one | {"scores": one["scores"] + rng.normal(0, noise[name], one["scores"].size)}
        )
        for name in NAMES
    }


@pytest.fixture(scope="module")
def found(systems) -> SystemComparison:
    return ff.compare(systems, at=AT, **ASKED)


def key_of(contrast) -> tuple:
    return contrast.name, contrast.group, contrast.probe_group, contrast.at


@pytest.mark.jit
def test_each_pair_is_compared_as_two_systems_are(systems, found):
    assert [*found._pairs()] == list(combinations(NAMES, 2))
    for first, second in (("old", "new"), ("new", "noisy")):
        alone = ff.compare(systems[first], systems[second], AT, **ASKED)
        for one, other in zip(found._pairs()[first, second], alone.contrasts, strict=True):
            mine, theirs = vars(one).copy(), vars(other).copy()
            for values in (mine, theirs):
                for name in ("first_system", "second_system", "pvalue_adjusted", "verdict"):
                    del values[name]
            assert repr(mine) == repr(theirs)  # NaN included
        assert json.loads(found.evaluation(first).to_json()) == json.loads(
            alone.evaluations[0].to_json()
        )


@pytest.mark.jit
def test_all_pairs_are_adjusted_together(found):
    families: dict[tuple, dict] = {}
    for one in found.contrasts:
        pair = one.first_system, one.second_system
        families.setdefault((one.name, one.at, one.group is None), {})[pair, key_of(one)] = one
    for family in families.values():
        expected = slow.adjusted({key: one.pvalue for key, one in family.items()})
        for key, one in family.items():
            assert one.pvalue_adjusted == pytest.approx(expected[key], nan_ok=True)
            if one.verdict in ("first", "second", "undecided"):
                assert (one.verdict == "undecided") == (one.pvalue_adjusted > 0.05)
    assert len(families["fnmr", AT[0], False]) == 6 * 3
    assert len(families["fnmr", AT[0], True]) == 6


@pytest.mark.jit
@pytest.mark.parametrize(("name", "group", "at"), [
    ("fnmr", None, AT[0]), ("fnmr", "f", AT[1]), ("eer", None, None), ("garbe", None, AT[0]), ("fmr_matrix", "f", AT[0])
])  # fmt: skip
def test_ranks_are_those_that_no_difference_contradicts(found, name, group, at):
    group = ("f", "m") if name == "fmr_matrix" else group
    estimates = [found.evaluation(system).value(name, group, at) for system in NAMES]
    pvalues = {
        (i, j): found.contrast(name, group, at, systems=(NAMES[i], NAMES[j])).pvalue_adjusted
        for i, j in combinations(range(len(NAMES)), 2)
    }
    expected = dict(zip(NAMES, slow.ranks(estimates, pvalues, 0.05), strict=True))
    ranking = found.ranking(name, group, at)
    assert {one.system: (one.rank, one.best_rank, one.worst_rank) for one in ranking} == expected
    assert [one.estimate for one in ranking] == sorted(estimates)
    for one in ranking:
        quantity = found.evaluation(one.system).quantity(name, group, at)
        assert (one.estimate, one.low, one.high) == (quantity.estimate, quantity.low, quantity.high)


@pytest.mark.jit
def test_a_clear_order_is_found_and_likeness_is_not(found):
    ranks = {one.system: (one.best_rank, one.worst_rank) for one in found.ranking("fnmr", at=AT[0])}
    assert ranks["noisy"] == (4, 4)
    assert ranks["old"][0] == ranks["new"][0] == 1
    assert "noisy" in found.summary().split("of which")[0]


@st.composite
def cases(draw):
    n = draw(st.integers(2, 5))
    estimates = draw(st.lists(st.sampled_from([0.1, 0.2, 0.2, 0.3, 0.5]), min_size=n, max_size=n))
    pvalues = st.sampled_from([0.0, 0.01, 0.05, 0.06, 1.0, float("nan")])
    return estimates, {pair: draw(pvalues) for pair in combinations(range(n), 2)}


@given(cases())
def test_ranks_against_all_orders(case):
    estimates, pvalues = case
    n = len(estimates)
    matrix = np.full((n, n), np.nan)
    for (i, j), p in pvalues.items():
        matrix[i, j] = matrix[j, i] = p
    found = ranks_of(estimates, matrix, 0.05, higher_is_better=False)
    assert found == slow.ranks(estimates, pvalues, 0.05)
    assert found == ranks_of([1 - one for one in estimates], matrix, 0.05, higher_is_better=True)
    for order in slow.orders(estimates, pvalues, 0.05):
        for place, system in enumerate(order):
            assert found[system][1] <= place + 1 <= found[system][2]


def test_what_is_not_computable_comes_last_and_is_not_told_apart():
    matrix = np.zeros((3, 3))
    matrix[1] = matrix[:, 1] = np.nan
    found = ranks_of([0.2, float("nan"), 0.1], matrix, 0.05, higher_is_better=False)
    assert found == [(2, 2, 3), (3, 1, 3), (1, 1, 2)]


@pytest.mark.jit
def test_a_baseline_is_the_second_of_each_pair(systems):
    found = ff.compare(systems, at=AT[0], baseline="small", **ASKED)
    assert [*found._pairs()] == [("old", "small"), ("new", "small"), ("noisy", "small")]
    of_all = {pair: found.contrast("fnmr", systems=pair) for pair in found._pairs()}
    adjusted = slow.adjusted({pair: one.pvalue for pair, one in of_all.items()})
    assert adjusted == {pair: one.pvalue_adjusted for pair, one in of_all.items()}
    assert "higher than that of small in noisy" in found.summary()
    refused("needs all pairs", found.ranking)
    refused(
        "'small' is not compared with 'old', but 'old' with 'small'",
        found.contrast,
        "fnmr",
        systems=("small", "old"),
    )
    refused(
        "'old' is not compared with 'new', but others",
        found.contrast,
        "fnmr",
        systems=("old", "new"),
    )


@pytest.mark.jit
def test_each_system_is_evaluated_once(systems, monkeypatch):
    calls = []
    evaluate_request = module.evaluate_request

    def counted(*args):
        calls.append(1)
        return evaluate_request(*args)

    monkeypatch.setattr(module, "evaluate_request", counted)
    found = ff.compare(list(systems.values()), at=AT[0], measures=[], metrics=[], n_resamples=0)
    assert len(calls) == len(found.systems) == 4
    assert found.systems == ("1", "2", "3", "4")


@pytest.mark.jit
def test_what_does_not_rank_is_refused(found, systems):
    for name, told in (
        ("fmr", "which holds it"),
        ("threshold", "which holds it"),
        ("nothing", "no quantity"),
    ):
        refused(told, found.ranking, name, at=AT[0])
    refused("choose one with at=", found.ranking)
    odd = ff.compare(
        systems, at=AT[0], measures="group_to_average_ratio", metrics=[], n_resamples=50, rng=0
    )
    refused("lies between", odd.ranking, "group_to_average_ratio(fnmr)", "f")


def test_wrong_systems_are_told(systems):
    one, other = systems["old"], systems["new"]
    for given_, told in (
        ({"first": [one]}, "a dict or a list of at least two"),
        ({"first": one}, "second is missing"),
        ({"first": [one, other], "second": one}, "put it among these"),
        ({"first": [one, other], "baseline": "3"}, "baseline must be one of '1', '2'"),
        ({"first": one, "second": other, "baseline": "1"}, "not for two"),
        ({"first": [one, 0.5]}, r"first\[1\] must be Comparisons"),
        ({"first": {"a": one, "b": None}}, r"first\['b'\] must be Comparisons"),
        ({"first": {1: one, "b": other}}, "a name in first must be text"),
        (
            {"first": [one, other, ff.Comparisons([1, 2], [1, 0], list("ab"), list("ac"))]},
            r"of '1' \(first\) and '3'",
        ),
    ):
        refused(told, ff.compare, **given_)


@pytest.mark.jit
def test_too_few_replicates_for_many_pairs_are_told(systems):
    with pytest.warns(FewResamplesWarning, match="eer .* pairs of systems many"):
        ff.compare(systems, at=AT[0], measures=[], metrics=["eer"], n_resamples=100, rng=0)


@pytest.mark.jit
def test_plots_show_systems_from_the_best_to_the_worst(found, systems):
    ranking = found.ranking("fnmr", at=AT[0])
    ax = found.plot(at=AT[0], show="ranks")
    assert [label.get_text() for label in ax.get_yticklabels()] == [one.system for one in ranking]
    right = found.plot(group="f", at=AT[0], show="ranks")
    assert found.plot(group="f", at=AT[0]).get_xlabel() == "FNMR of f at FMR=0.05 (%)"
    assert right.get_xlabel() == "rank by FNMR of f at FMR=0.05"
    marks = [line.get_xdata()[0] for line in right.lines if len(line.get_xdata()) == 1]
    assert marks == [one.rank for one in found.ranking("fnmr", "f", AT[0])]
    legend = found.plot_det().get_legend()
    assert [text.get_text() for text in legend.get_texts()] == list(NAMES)
    many = ff.compare([*systems.values()] * 3, at=AT[0], measures=[], metrics=[], n_resamples=0)
    assert len(many.plot_det().get_legend().get_texts()) == 8


@pytest.mark.slow
@pytest.mark.jit
def test_of_two_speaker_systems_and_their_mean_the_better_one_ranks_first(tmp_path):
    """VoxCeleb1-H: the mean of both scores has more false non-matches than the better system has
    alone."""
    trials = []
    for name in ff.datasets.VOXCELEB1_H_SYSTEMS:
        ff.write_comparisons(
            ff.datasets.voxceleb1_h(name, groups="Gender"), tmp_path / f"{name}.parquet"
        )
        trials.append(pl.read_parquet(tmp_path / f"{name}.parquet"))
    for side in ("reference_sample", "probe_sample"):
        assert (trials[0][side] == trials[1][side]).all()
    first, second = (one["score"] for one in trials)
    who = {side: side for side in ("reference", "probe")}
    systems = {
        name: ff.Comparisons.from_frame(trials[0].with_columns(score=score), **who)
        for name, score in (("first", first), ("second", second), ("mean", (first + second) / 2))
    }
    found = ff.compare(systems, at=ff.at_fmr(0.001), measures=[], metrics=[], n_resamples=0)
    assert [(one.system, one.best_rank, one.worst_rank) for one in found.ranking()] == [
        ("first", 1, 1),
        ("mean", 2, 2),
        ("second", 3, 3),
    ]


@pytest.mark.jit
def test_a_verdict_beside_an_interval_that_holds_0_is_explained(systems):
    pair = {name: systems[name] for name in ("old", "noisy")}
    compared = ff.compare(pair, at=AT[:1], measures=[], n_resamples=0)
    decided = next(row for row in compared.contrasts if row.verdict in ("first", "second"))
    said = "interval that holds 0"
    for low, high, verdict in (
        (-1.0, 1.0, decided.verdict),
        (-1.0, 1.0, "undecided"),
        (0.1, 1, "first"),
    ):
        row = replace(decided, low=low, high=high, verdict=verdict)
        words = " ".join(replace(compared, contrasts=(row,))._sentences())
        assert (said in words) == (low < 0 and verdict != "undecided")
