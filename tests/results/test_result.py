"""What was left out of the data is part of every result: its summary, its JSON, what is read of it,
and its page."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from helpers.quiet import quietly
from helpers.refusals import refused

import fastfair as ff
from fastfair.data.exclusions import (
    Exclusion,
    exclusions_of,
    exclusions_of_systems,
    gathering,
    leave_out,
    merge_exclusions,
    sentences_on_exclusions,
)
from fastfair.results.result import Result
from fastfair.written_results import _load_classes

pytestmark = pytest.mark.filterwarnings("ignore::fastfair.errors.FastfairWarning")

AT, FAILED = ff.at_threshold(1.5), ff.Policies(failures="exclude")
N = 1500


def draw_comparisons(
    seed: int = 0, policies: ff.Policies = FAILED, first: int = 0
) -> ff.Comparisons:
    """Draw comparisons of 40 people, of which every fifth failed."""
    rng = np.random.default_rng(seed)
    reference = rng.integers(0, 40, N)
    probe = np.where(rng.random(N) < 0.5, reference, (reference + 4 * rng.integers(1, 10, N)) % 40)
    mated = reference == probe
    scores = 3 * mated + rng.normal(size=N)
    quality = rng.random(N)
    scores[::5] = np.nan
    sex, eyes = np.array(["f", "m"])[reference % 2], np.array(["blue", "brown"])[reference // 2 % 2]
    names = [np.char.add("p", (first + side).astype(str)) for side in (reference, probe)]
    made = ff.Comparisons(
        scores,
        mated,
        *names,
        {"sex": sex, "eyes": eyes},
        score_kind="log-likelihood-ratio",
        policies=policies,
    )
    made.quality = quality
    return made


def draw_embeddings(has_roles: bool = False) -> ff.Embeddings:
    rng = np.random.default_rng(1)
    subject = np.repeat(np.arange(30), 2)
    vectors = np.repeat(3 * rng.normal(size=(30, 8)), 2, axis=0) + rng.normal(size=(60, 8))
    vectors[[21, 24]] = np.nan
    role = np.where(np.arange(60) % 2, "probe", "reference")
    role[:20] = "probe"  # these people are not enrolled
    groups = np.array(["f", "m"])[subject % 2]
    return ff.Embeddings(
        vectors, subject, groups, role=role if has_roles else None, failures="exclude"
    )


with quietly():
    C = draw_comparisons()
    E, GALLERY = draw_embeddings(), draw_embeddings(has_roles=True)
    COUNTS = ff.FailureCounts.from_comparisons(C.by("sex"), AT)
QUICK = {"n_resamples": 60, "rng": 0}


def with_attacks() -> Any:
    people = [*C.subjects[:4]] * 5
    rng = np.random.default_rng(0)
    return ff.add_attacks(C.by("sex"), rng.normal(size=20), ["print", "mask"] * 10, people)


PLAN = {"n_groups": 3, "fnmr": 0.1, "correlation": 0.1, "rng": 0}


def evaluation() -> Any:
    return ff.evaluate(C.by("sex", "eyes"), AT, **QUICK)


# By class of results: what makes some, of data of which something was left out.
TWICE = {"n_simulations": 2, "n_resamples": 20, "rng": 0}
MADE: dict[str, list[Callable[[], Any]]] = {
    "Evaluation": [evaluation, lambda: ff.evaluate(E, **QUICK), lambda: ff.evaluate(E.scanned(0.2), **QUICK)],
    "CountedRates": [lambda: ff.evaluate(COUNTS, **QUICK)],
    "AttributeEvaluations": [
        lambda: ff.evaluate_attributes(C, ["sex", ("sex", "eyes")], at=AT, **QUICK)
    ],
    "SystemComparison": [lambda: ff.compare({"a": C, "b": draw_comparisons()}, None, at=AT, **QUICK)],
    "WorstComparisons": [lambda: ff.worst_comparisons(C, AT)],
    "ShrunkenRates": [lambda: ff.shrunken_rates(evaluation())],
    "Claim": [lambda: ff.claim(C, "fmr <= 0.5", AT, **QUICK)],
    "Check": [lambda: ff.check(C, "fnmr <= 0.9", AT, **QUICK)],
    "History": [],  # of results, whose data it has not
    "ProfileCheck": [lambda: ff.check(C, profile="nist-800-63a", at=AT, **QUICK)],
    "AppliedThreshold": [lambda: ff.apply_threshold(C, ff.at_fmr(0.05), draw_comparisons(3, first=100))],
    "ExpectedPerformance": [
        lambda: ff.thresholds.expected_performance_curve(C, draw_comparisons(3, first=100), [0.5])
    ],
    "RocBand": [lambda: ff.roc_band(C, [0.05, 0.1], **QUICK), lambda: ff.roc_band(E, [0.05, 0.1], **QUICK)],
    "FairnessBand": [lambda: ff.fairness_band(C.by("sex"), fmr=[0.05, 0.1], **QUICK)],
    "StratifiedRates": [lambda: ff.stratified_rates(C, "sex", "eyes", AT)],
    "ErrorModel": [lambda: ff.error_model(C, ["sex", "eyes"], AT)],
    "AttackRates": [lambda: ff.evaluate_attacks(with_attacks(), AT, **QUICK)],
    "TransactionRates": [lambda: ff.evaluate_transactions(ff.transactions(C, 1), AT)],
    "DiscardCurve": [lambda: ff.discard_curve(C, AT)],
    "CalibratedScores": [lambda: ff.calibrate(C, rng=0)],
    "Calibration": [lambda: ff.evaluate_calibration(C, **QUICK)],
    "GroupTest": [
        lambda: ff.fnmr_test(C.by("sex"), AT, **QUICK),
        lambda: ff.fmr_test(C.by("sex"), AT, **QUICK),
        lambda: ff.fmr_test(E, ff.at_fmr(0.1), **QUICK),
        lambda: ff.fnmr_test(COUNTS.without([]), **QUICK),
    ],
    "MarginOfError": [lambda: ff.margin_of_error(COUNTS, **QUICK)],
    "GroupsPlan": [lambda: ff.plan_margin(n_subjects=60, n_attempts=COUNTS, n_simulations=20, **PLAN)],
    "FmrPlan": [lambda: ff.plan_fmr(claimed=0.1, at=ff.at_threshold(2), pilot=C, n_simulations=20, rng=0)],
    "RequirementPlan": [
        lambda: ff.plan_requirement("frr[*] <= 30 %", n_subjects=[9, 20], n_attempts=COUNTS, rate=[0.1, 0.2], **TWICE)
    ],
    "Identification": [lambda: ff.identify(ff.Searches.from_embeddings(GALLERY), ff.at_rank(1))],
    "OwnThresholds": [
        lambda: ff.identify(ff.Searches.from_embeddings(GALLERY), ff.at_fnir(0.5)).own_thresholds()
    ],
    "SearchComparison": [lambda: ff.compare_searches(*2 * [ff.Searches.from_embeddings(GALLERY)], ff.at_rank(1))],
}  # fmt: skip
# Not results of their own: the classes that several share.
ABSTRACT = {"Curve", "ResultOfEstimates"}


def test_every_class_of_results_is_here():
    _load_classes()
    assert {
        name for name in Result.kinds if Result.kinds[name].__module__.startswith("fastfair.")
    } - ABSTRACT == {*MADE}


@pytest.mark.slow
def test_a_new_process_finds_every_class_of_results():
    code = (
        "from fastfair.results.result import Result\n"
        "from fastfair.written_results import _load_classes\n"
        "_load_classes()\n"
        "print(*Result.kinds)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {*done.stdout.split()} - ABSTRACT == {*MADE}


@pytest.mark.parametrize("kind", [kind for kind, made in MADE.items() if made])
def test_results_say_what_was_left_out(kind, tmp_path, monkeypatch):
    for make in MADE[kind]:
        result = make()
        monkeypatch.setattr(type(result), "_figures", lambda _: {})  # which takes the most time
        assert type(result).__name__ == kind
        sentences = sentences_on_exclusions(result.left_out)
        assert any("left out, as they failed" in one for one in sentences), kind
        assert all(one in result.summary() for one in sentences)
        content = json.loads(result.to_json(tmp_path / "r.json"))
        assert [row["sentence"] for row in content["left_out"]] == [
            one.sentence for one in result.left_out
        ]
        (back,) = ff.read_results(tmp_path / "r.json")
        assert back.left_out == result.left_out
        result.report(tmp_path / "r.html")
        page = (tmp_path / "r.html").read_text("utf-8")
        before_numbers = page[: page.index('id="numbers"')]
        assert all(one in before_numbers for one in sentences), kind
        assert all(one.left_out == result.left_out for one in ff.read_results(tmp_path / "r.html"))


def test_the_counts_are_right():
    failed = np.arange(N) % 5 == 0
    rng = np.random.default_rng(0)
    rng.integers(0, 40, N)
    mated = rng.random(N) < 0.5
    (one,) = C.left_out
    expected = Exclusion(
        int(failed.sum()),
        N,
        "comparisons",
        "failed",
        "as they failed",
        'failures="exclude"',
        int((failed & mated).sum()),
        int((failed & ~mated).sum()),
    )
    assert one == expected
    assert exclusions_of(COUNTS) == exclusions_of(ff.fnmr_test(COUNTS, **QUICK)) == (one,)
    (of_vectors,) = E.left_out
    assert (of_vectors.n, of_vectors.n_before, of_vectors.entries) == (2, 60, "vectors")


def test_junit_has_it_as_a_property_of_the_suite():
    check = ff.check(C, "fnmr <= 0.9", AT, **QUICK)
    assert f'<property name="left out" value="{C.left_out[0].sentence}." />' in check.to_junit()
    assert (
        "<properties>"
        not in ff.check(
            draw_comparisons(0, ff.Policies(failures="non-match")), "fnmr <= 0.9", AT, **QUICK
        ).to_junit()
    )


def test_mated_comparisons_between_groups_are_part_of_it():
    sides = list("ppqqrr"), list("ppqqrp")
    c = ff.Comparisons(
        [0.9, 0.1, 0.2, 0.7, 0.3, 0], [1, 1, 1, 1, 1, 0], *sides, list("ffmmmf"), list("fmmmmf")
    )
    (one,) = ff.FailureCounts.from_comparisons(c, ff.at_threshold(0.5)).left_out
    assert (one.n, one.n_before, one.entries, one.reason) == (
        1,
        5,
        "mated comparisons",
        "between groups",
    )


def test_parts_are_added_up():
    def part(n: int, before: int, *examples: str) -> Exclusion:
        return Exclusion(
            n, before, "comparisons", "label conflict", "as they do", "x", n, 0, examples
        )

    other = Exclusion(1, 2, "comparisons", "failed", "as they failed")
    found = merge_exclusions([(part(2, 5, "a", "b"), other), (part(6, 7, *"cdefgh"),)])
    assert found == (part(8, 12, *"abcde"), other)
    assert (
        found[0].sentence
        == "8 of 12 comparisons left out, as they do: 8 mated and 0 non-mated: a, b, c, d, e, ..."
    )


def test_systems_that_lost_the_same_say_it_once():
    a, b = draw_comparisons(), draw_comparisons()
    found = exclusions_of_systems([("a", a), ("b", b)])
    assert [one.system for one in found] == ["a", "b"]
    said = a.left_out[0].sentence
    assert sentences_on_exclusions(found) == [f"a and b: {said}."]
    assert sentences_on_exclusions((*a.left_out, *found[:1])) == [f"{said}.", f"a: {said}."]


def test_nothing_is_noted_where_nothing_is_left_out():
    with gathering() as noted:
        leave_out(np.ones(3, bool), "vectors", "failed", "as they failed")
    assert not noted
    assert exclusions_of([1, 2]) == ()
    assert (
        "left out"
        not in ff.evaluate(ff.Comparisons([1, 2, 0], [1, 1, 0]), AT, n_resamples=0).summary()
    )


def test_arrays_have_no_policy_of_their_own():
    refused("failed", draw_comparisons, 0, ff.Policies())
