"""Transactions of attempts: those of plain loops, with ties, failures, sessions and groups."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st
from oracles import transactions as oracle

import fastfair as ff
from fastfair.errors import DroppedWarning

pytestmark = pytest.mark.filterwarnings("ignore::fastfair.errors.DroppedWarning")
AT = ff.at_threshold(2)
ROWS = st.lists(
    st.tuples(
        st.booleans(),
        st.sampled_from("ab"),
        st.sampled_from("cd"),
        st.integers(0, 2),
        st.sampled_from([0.0, 1.0, 2.0, 3.0, math.nan]),
    ),
    min_size=4,
    max_size=40,
)


def compare(rows, failures="exclude", kind="similarity"):
    """Make comparisons of rows; the probe of a mated one is the reference."""
    rows = [(m, r, r if m else p, s, x) for m, r, p, s, x in rows]
    # three attempts more of each class, so that each has a score and a transaction
    rows += [(True, "e", "e", 0, 1.0), (False, "e", "f", 0, 1.0)] * 3
    mated, reference, probe, session, scores = map(list, zip(*rows, strict=True))
    c = ff.Comparisons(
        scores, mated, reference, probe, score_kind=kind, policies=ff.Policies(failures=failures)
    )
    return c, rows, session


@given(ROWS, st.integers(1, 3), st.sampled_from(["exclude", "non-match"]))
def test_consecutive_attempts_are_those_of_loops(rows, attempts, failures):
    for kind in ("similarity", "distance"):
        c, rows_of, session = compare(rows, failures, kind)
        made = oracle.consecutive(rows_of, attempts)
        t = ff.transactions(c, attempts, session=session)
        for allowed in range(1, attempts + 1):
            rates = ff.rates(t.transactions.allowing(allowed), AT)
            wanted = oracle.rates(made, 2, allowed, distance=kind == "distance")
            assert (rates.fnmr, rates.fmr) == pytest.approx(wanted, abs=0, nan_ok=True)
        assert len(t.mated) + len(t.nonmated) == len(made)


@given(ROWS, st.one_of(st.none(), st.integers(1, 3)))
def test_named_transactions_are_those_of_loops(rows, attempts):
    c, rows, session = compare(rows)
    t = ff.transactions(c, attempts, transaction=session)
    rates = ff.rates(t, AT)
    wanted = oracle.rates(oracle.named(rows), 2, 99 if attempts is None else attempts)
    assert (rates.fnmr, rates.fmr) == wanted


def test_one_attempt_fails_as_the_standard_says():
    rng = np.random.default_rng(0)
    n = 400
    person = rng.integers(0, 40, n)
    scores = np.where(rng.random(n) < 0.1, math.nan, rng.normal(1, 1, n))
    other = (person + rng.integers(1, 40, n)) % 40
    c = ff.Comparisons(
        np.append(scores, rng.normal(-1, 1, n)),
        np.repeat([True, False], n),
        np.append(person, person),
        np.append(person, other),
        policies=ff.Policies(failures="exclude"),
    )
    fta = np.isnan(scores).mean()
    at = ff.at_threshold(0.5)
    fnmr = ff.rates(c, at).fnmr
    t = ff.transactions(c, 1)
    assert ff.rates(t, at).fnmr == pytest.approx(fta + fnmr * (1 - fta), rel=1e-14)
    counted = ff.evaluate(c, at, n_resamples=0).quantity("frr")
    assert (counted.n_errors, counted.estimate) == (
        ff.rates(t, at).counts.false_nonmatches,
        ff.rates(t, at).fnmr,
    )
    assert t.failed.policy == "non-match"


def test_incomplete_transactions_are_left_out_and_said():
    c = ff.Comparisons([1.0, 2, 3, 4, 5], [1, 1, 1, 0, 0], list("aaaaa"), list("aaabb"))
    with pytest.warns(
        DroppedWarning, match="1 of 5 attempts left out, as they are fewer than the 2"
    ):
        t = ff.transactions(c, 2)
    assert t.mated.similarities.tolist() == [2.0]
    assert t.left_out[0].reason == "incomplete transaction"
    assert "transactions" in repr(t)


def test_transactions_of_one_class_lack_the_other_rate():
    c = ff.Comparisons([1.0, 2, 3], [1, 1, 0], list("aaa"), list("aab"))
    with pytest.warns(DroppedWarning):
        t = ff.transactions(c, 2)
    assert t.lacks_rate
    refused("there are no non-mated transactions", ff.eer, t)


def test_groups_go_with_transactions_and_may_not_differ_in_one():
    labels = {"finger": ["x", "y", "x", "x"], "sex": list("ffff")}
    c = ff.Comparisons([1.0, 2, 3, 4], [1, 1, 0, 0], list("aaab"), list("aabc"), labels)
    refused("differ in 'finger', the first in row 1", ff.transactions, c, 2)
    t = ff.transactions(c, 1, session=labels["finger"])
    assert t.by("sex").groups == ("f",)
    assert t.by("finger").transactions is t.transactions


def test_what_cannot_make_transactions_is_refused():
    c = ff.Comparisons([1.0, 2, 3, 4], [1, 1, 0, 0], list("aaab"), list("aabc"))
    refused("give attempts=, transaction= or both", ff.transactions, c)
    refused("leave session= out", ff.transactions, c, transaction=[1] * 4, session=[1] * 4)
    refused("no subject has 3 attempts", ff.transactions, c, 3)
    refused("transaction has 3, comparisons has 4", ff.transactions, c, transaction=[1] * 3)
    refused("transaction must be one of", ff.transactions, c, transaction="visit")
    refused("attempts must be", ff.transactions, c, 0)
    plain = ff.Comparisons([1.0, 2], [1, 0])
    refused("no subjects", ff.transactions, plain, 1)


def test_files_are_read_as_transactions(tmp_path):
    frame = pl.DataFrame(
        {
            "reference": list("aaaaaabbbb"),
            "probe": list("aaaabbbbbb"),
            "visit": [1, 1, 2, 2, 1, 1, 1, 1, 1, 1],
            "score": [0.1, 0.9, 0.3, 0.2, 0.4, 0.8, 0.7, 0.6, 0.5, 0.1],
        }
    )
    frame.write_csv(tmp_path / "s.csv")
    plain = ff.read_comparisons(tmp_path / "s.csv")
    for layout, made in (
        (ff.Layout(attempts=2), ff.transactions(plain, 2)),
        (ff.Layout(transaction="visit"), ff.transactions(plain, transaction=frame["visit"])),
        (ff.Layout(attempts=2, session="visit"), ff.transactions(plain, 2, session=frame["visit"])),
    ):
        t = ff.read_comparisons(tmp_path / "s.csv", layout=layout)
        for name in ("mated", "nonmated"):
            assert (
                getattr(t, name).similarities.tolist() == getattr(made, name).similarities.tolist()
            )
        assert t.transactions.allowed == made.transactions.allowed
    refused("leave .*attempts=.* out", ff.read_comparisons, tmp_path / "s.csv",
            layout=ff.Layout(attempts=2, impostor=tmp_path / "s.csv"))  # fmt: skip
    refused("a scan has no attempts=", ff.scan_comparisons, tmp_path / "s.csv",
            layout=ff.Layout(attempts=2))  # fmt: skip


def test_voxceleb_accepts_four_times_as_many_of_three():
    pytest.importorskip("bt4vt")
    c = ff.datasets.voxceleb1_h("resnetse34v2", groups="Gender")
    with pytest.warns(DroppedWarning):
        t = ff.transactions(c, 3)
    at = ff.at_threshold(ff.rates(c, ff.at_fmr(1e-3)).threshold)
    single, of_three = ff.rates(c, at), ff.rates(t, at)
    assert single.fnmr == pytest.approx(0.166, abs=5e-4)
    assert single.fmr == pytest.approx(0.0010, abs=5e-6)
    assert of_three.fmr == pytest.approx(0.0039, abs=5e-5)
    # in the order of the file, where neighbours are alike; 1.7 % in a random order
    assert of_three.fnmr == pytest.approx(0.0286, abs=5e-5)
