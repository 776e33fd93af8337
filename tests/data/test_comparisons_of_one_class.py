"""Comparisons that are all mated, or none of which is: the rate that they have is that of the same
comparisons beside others, to the last bit, and what needs the other rate says so.
"""

from __future__ import annotations

import numpy as np
import pytest
from helpers.each import each
from helpers.refusals import refused

import fastfair as ff
from fastfair.error_rates.rates import ERROR_RATES
from fastfair.errors import InputError

AT = ff.at_threshold(0.5)
RATES = {"mated": "fnmr", "non-mated": "fmr"}
GIVEN = {"measures": ["max_geomean_ratio", "gini"], "metrics": [], "n_resamples": 300, "rng": 0}


def data(kind: str | None = None, group: str | None = "sex") -> ff.Comparisons:
    """Make comparisons of 60 people in two groups, or those of a class alone."""
    rng = np.random.default_rng(3)
    person = np.repeat(np.arange(60), 4)
    partner = np.concatenate([person, (person + 2 * rng.integers(1, 20, person.size)) % 60])
    reference, is_mated = np.tile(person, 2), np.repeat([True, False], person.size)
    effect = rng.normal(0, 0.3, 60)
    scores = rng.normal(np.where(is_mated, 1.2, -0.3), 0.6) + effect[reference]
    kept = np.ones(is_mated.size, bool) if kind is None else is_mated == (kind == "mated")
    of_both = None if group is None else {group: np.array(["f", "m"])[reference[kept] % 2]}
    return ff.Comparisons(
        scores[kept],
        is_mated[kept],
        reference[kept],
        partner[kept],
        reference_group=of_both,
        probe_group=of_both,
    )


def rows_of(result: ff.Evaluation, rate: str) -> list[tuple[object, ...]]:
    """Return what an evaluation says of a rate, and of measures of it."""
    return [
        (q.name, q.group, q.estimate, q.low, q.high, q.n_errors, q.n_subjects)
        for q in result.quantities
        if rate in (q.name, q.name.partition("(")[2].removesuffix(")"))
    ]


@pytest.mark.parametrize("kind", RATES)
def test_their_rate_is_that_of_the_same_comparisons_beside_others(kind):
    both, alone = (ff.evaluate(data(which), AT, **GIVEN) for which in (None, kind))
    assert rows_of(alone, RATES[kind]) == rows_of(both, RATES[kind]) != []


@pytest.mark.parametrize("kind", RATES)
def test_what_needs_the_other_rate_is_absent(kind):
    evaluation = ff.evaluate(data(kind), AT, n_resamples=200, rng=0)
    other = next(name for name in ERROR_RATES if name != RATES[kind])
    assert not {q.name for q in evaluation.quantities} & {other, "eer", "min_dcf", "garbe", "fdr"}
    assert not rows_of(evaluation, other)
    absent = next(name for name in RATES if name != kind)
    assert f"the {other.upper()}: there are no {absent} comparisons." in evaluation.summary()
    assert evaluation.to_frame is not None
    assert other.upper() not in evaluation.summary().split("Error rates at")[1]


@each(
    ("call", "what"),
    [
        (lambda c: ff.eer(c), "the EER"),
        (lambda c: ff.roc(c), "a curve"),
        (lambda c: ff.det(c), "a curve"),
        (lambda c: ff.min_dcf(c), "minDCF"),
        (lambda c: ff.cllr(c), "Cllr"),
        (lambda c: ff.min_cllr(c), "min Cllr"),
        (lambda c: ff.roc_band(c, [0.1], rng=0), "a band"),
        (lambda c: ff.evaluate(c, AT, "garbe", rng=0), "the measure garbe"),
        (lambda c: ff.evaluate(c, AT, metrics="eer", rng=0), "metrics=eer"),
        (lambda c: ff.evaluate(c, ff.at_eer(), rng=0), "the threshold of EER"),
        (lambda c: ff.check(c, "eer <= 5 %", rng=0), "metrics=eer"),
        (lambda c: ff.evaluate(c, AT, n_resamples=0).plot_det(), "this plot"),
    ],
)
def test_what_is_made_of_both_rates_says_which_is_missing(call, what):
    for kind, rate in RATES.items():
        absent = next(name for name in RATES if name != kind)
        other = next(name for name in ERROR_RATES if name != rate)
        message = rf"{what} needs an {other.upper()}, but there are no {absent} comparisons"
        with pytest.raises(InputError, match=message):
            call(data(kind))


def test_a_threshold_may_hold_the_rate_that_they_have():
    assert ff.evaluate(data("non-mated"), ff.at_fmr(0.05), n_resamples=0).value("fmr") <= 0.05
    refused("give the threshold", ff.evaluate, data("mated"), ff.at_fmr(0.05))


def test_verdicts_are_those_of_the_same_comparisons_beside_others():
    lines = ["fnmr[*]@threshold=0.5 <= 25 %", "fnmr@threshold=0.5 <= 15 %"]
    checks = [ff.check(data(which), lines, rng=0, n_resamples=100) for which in (None, "mated")]
    assert checks[0].verdicts == checks[1].verdicts
    assert [row.limit for row in checks[0].rows] == [row.limit for row in checks[1].rows]
    claims = [ff.claim(data(which), "fmr <= 15 %", AT, rng=0) for which in (None, "non-mated")]
    assert claims[0].overall == claims[1].overall
    refused("needs an FMR", ff.check, data("mated"), "fmr@threshold=0.5 <= 1 %")
    refused("needs an FMR", ff.claim, data("mated"), "fmr <= 1 %", AT)
    refused("needs an FNMR", ff.fnmr_test, data("non-mated"), AT)
    refused("needs an FMR", ff.fmr_test, data("mated"), AT)


def test_two_systems_are_compared_by_the_rate_that_they_have():
    alone, both = (
        ff.compare(data(kind), data(kind), at=AT, measures=[], metrics=[], n_resamples=100, rng=0)
        for kind in ("mated", None)
    )
    assert alone.contrast("fnmr").difference == both.contrast("fnmr").difference == 0
    assert "fmr" not in {row.name for row in alone.contrasts}


def test_a_page_shows_them(tmp_path):
    ff.evaluate(data("mated"), AT, n_resamples=100, rng=0).report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "there are no non-mated comparisons" in page
    assert "DET curve of" not in page


def test_a_file_may_say_that_all_are_mated(tmp_path):
    path = tmp_path / "mated.csv"
    path.write_text("reference,probe,score,mated\na,a,0.9,1\nb,b,0.2,1\nc,c,0.8,1\n")
    assert ff.rates(ff.read_comparisons(path), AT).fnmr == pytest.approx(1 / 3)
    path.write_text("reference,probe,score\na,a,0.9\nb,b,0.2\nc,c,0.8\n")
    refused("both classes are needed", ff.read_comparisons, path)


def test_a_class_that_was_left_out_is_an_error():
    policies = ff.Policies(failures="exclude")
    refused("both classes are needed", ff.Comparisons, [np.nan, 0.1], [1, 0], policies=policies)


def test_groups_of_other_attributes_lack_the_same_rate():
    """Also where a requirement is on an attribute among several."""
    for kind, rate in RATES.items():
        two = data(kind, "sex")
        labels = {"sex": list("fm") * 4, "age": list("ooyy") * 2}
        several = ff.Comparisons(
            [0.9, 0.3, 0.6, 0.7, 0.4, 0.8, 0.2, 0.5],
            [kind == "mated"] * 8,
            list("abcdefgh"),
            list("abcdefgh") if kind == "mated" else list("efghabcd"),
            reference_group=labels,
            probe_group=labels,
        )
        for changed in (several.by("sex"), two.without_failure_rates()):
            assert changed.rates == {rate}
        check = ff.check(several, f"{rate}[age=*]@threshold=0.5 <= 90 %", rng=0, n_resamples=20)
        assert {row.name for row in check.rows} == {rate}


def vectors(kinds: str = "non-mated") -> ff.Embeddings:
    """Make a vector of each of 60 people, or all of one person."""
    rng = np.random.default_rng(0)
    who = np.arange(60) if kinds == "non-mated" else np.zeros(60, int)
    group = np.array(["f", "m"])[who % 2]
    return ff.Embeddings(rng.normal(size=(60, 6)), who, group, pair_kinds=kinds)


@pytest.mark.filterwarnings("ignore::fastfair.errors.NarrowIntervalsWarning")
def test_vectors_of_one_kind_of_pairs_have_the_numbers_of_their_comparisons():
    e = vectors()
    assert e.lacks == {"fnmr": "there are no mated comparisons among the 1770"}
    both = [ff.evaluate(given, AT, n_resamples=50, rng=0) for given in (e, e.comparisons())]
    assert rows_of(both[0], "fmr") == rows_of(both[1], "fmr") != []
    claims = [
        ff.claim(given, "fmr <= 20 %", AT, rng=0, n_resamples=50) for given in (e, e.comparisons())
    ]
    assert claims[0].overall == claims[1].overall
    assert ff.fmr_test(e, AT, rng=0, n_resamples=99).rate_name == "fmr"
    assert "fnmr" not in {
        row.name for row in ff.compare(e, e, at=AT, rng=0, n_resamples=20).contrasts
    }
    assert vectors("mated").comparisons().rates == {"fnmr"}


def test_vectors_of_one_kind_say_what_they_lack(tmp_path):
    e = vectors()
    lacking = "there are no mated comparisons among the 1770"
    for what, call in (
        ("the claim", lambda: ff.claim(e, "fnmr <= 5 %", AT)),
        ("a band", lambda: ff.roc_band(e, [0.1])),
        ("a count of false non-matches", lambda: ff.fnmr_test(e, AT)),
        ("the threshold of EER", lambda: ff.evaluate(e, ff.at_eer())),
    ):
        refused(f"{what}.* needs an FNMR, but {lacking}", call)
    refused(f"a scan keeps pairs of both kinds, but {lacking}", e.scanned)
    refused("there are no mated pairs", ff.Embeddings, e.vectors, e.subject)
    refused(
        "of vectors whose pairs are all non-mated, but there are 1 mated and 2 non-mated pairs",
        ff.Embeddings,
        [[1, 0], [2, 1], [0, 1]],
        list("aab"),
        pair_kinds="non-mated",
    )
    np.savez(tmp_path / "v.npz", vectors=e.vectors, subject=e.subject)
    assert ff.read_embeddings(tmp_path / "v.npz", pair_kinds="non-mated").lacks == e.lacks


def test_a_threshold_of_other_data_is_applied():
    both = ff.apply_threshold(data(), ff.at_fmr(0.05), data("non-mated"))
    for kind, rate in RATES.items():
        applied = ff.apply_threshold(data(kind), ff.at_fmr(0.05), data("non-mated"))
        assert applied.names == [rate]
        assert [row for row in both.rates if row.name == rate] == list(applied.rates)
        assert len(applied._figures()) == 1
        other = next(name for name in ERROR_RATES if name != rate)
        refused("name must be", applied.rate, other)
    refused("give the threshold", ff.apply_threshold, data(), ff.at_fmr(0.05), data("mated"))
