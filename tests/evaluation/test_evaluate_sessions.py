"""Evaluations, verdicts and comparisons of systems whose people share sessions."""

from __future__ import annotations

import json
import math
import pickle
import re

import numpy as np
import pytest
from helpers.refusals import refused
from oracles import sessions as oracle
from scipy.special import stdtr

import fastfair as ff
from fastfair.resampling.engine import Resampler
from fastfair.uncertainty.notes import Code, has_code

AT = ff.at_threshold(0.0)


def days(n_days: int = 12, seed: int = 0, *, with_groups: bool = False, column: int = 1):
    """Return comparisons of 20 people with 6 attempts each on some days, and their columns."""
    rng = np.random.default_rng([4, seed])
    mated = np.repeat(np.arange(20), 6)
    first = rng.integers(0, 20, 150)
    second = (first + rng.integers(1, 20, first.size)) % 20
    reference, probe = np.append(mated, first), np.append(mated, second)
    day = rng.permutation(np.arange(probe.size) % n_days)
    is_mated = reference == probe
    effects = rng.normal(size=n_days)[day]
    scores = np.where(is_mated, 1.0, -1.0) + effects + rng.normal(size=probe.size)
    sex = np.where(np.arange(20) % 2, "f", "m")
    groups = (sex[reference], sex[probe]) if with_groups else ()
    session = day if column == 1 else (np.flip(day), day)
    c = ff.Comparisons(scores, is_mated, reference, probe, *groups, session=session)
    return c, (scores, reference, probe, day)


@pytest.mark.parametrize("n_resamples", [0, 40])
def test_few_sessions_are_flagged_and_fewer_have_no_interval(n_resamples):
    for n_days, codes in ((12, ()), (7, [Code.FEW_SESSIONS]), (3, [Code.TOO_FEW_SESSIONS])):
        evaluation = ff.evaluate(
            days(n_days)[0], AT, [], metrics=["eer"], n_resamples=n_resamples, rng=0
        )
        rate = evaluation.quantity("fnmr")
        assert [
            code for code in (Code.FEW_SESSIONS, Code.TOO_FEW_SESSIONS) if has_code(rate, code)
        ] == list(codes)
        assert rate.has_interval == (n_days >= 4)
        assert np.isnan(rate.standard_error) == (n_days < 4)
        assert has_code(rate, Code.EFFECT_OF_SESSIONS) == (n_days >= 4)
        assert ("narrow" in rate.flags) == (n_days == 7)
        if n_resamples:
            eer = evaluation.quantity("eer")
            assert eer.has_interval == (n_days >= 4)
            assert np.isnan(eer.standard_error) == (n_days < 4)


def test_nothing_is_said_of_intervals_and_pvalues_that_are_withheld(tmp_path):
    for n_days, has in ((7, True), (3, False)):
        c, _ = days(n_days, with_groups=True)
        evaluation = ff.evaluate(c, AT, n_resamples=40, rng=0, metrics=[])
        ff.report(evaluation, tmp_path / "page.html")
        page = (tmp_path / "page.html").read_text("utf-8")
        assert ("Numbers in brackets" in evaluation.summary()) == has
        assert ("sessions tests, too, are withheld." in evaluation.summary()) != has
        assert ("p-values are adjusted for" in page) == has
        assert "people, and sessions where these are given" in page


def test_verdicts_in_too_few_sessions_are_undecided():
    result = ff.check(days(3)[0], ["fnmr <= 0.999"], at=AT)
    assert result.verdict == "undecided"
    claim = ff.claim(days(3)[0], "fnmr <= 0.999", AT)
    assert claim.overall.verdict == "undecided"


def test_measures_need_sessions_in_every_group():
    c, _ = days(3, with_groups=True)
    evaluation = ff.evaluate(c, AT, ["max_min_ratio"], n_resamples=40, rng=0, metrics=[])
    for quantity in evaluation.quantities:
        if quantity.name.startswith("max_min_ratio"):
            assert not quantity.has_interval
            assert quantity.pvalue is None


def test_groups_have_the_degrees_of_freedom_of_their_own_sessions():
    rng = np.random.default_rng(2)
    person = np.repeat(np.arange(40), 8)
    day = np.where(person < 20, rng.integers(0, 6, person.size), rng.integers(6, 26, person.size))
    sex = np.where(np.arange(40) < 20, "f", "m")[person]
    scores = rng.normal(size=person.size) + 0.5
    other = np.arange(40)
    c = ff.Comparisons(
        np.append(scores, -np.ones(40)),
        np.repeat([True, False], [person.size, 40]),
        np.append(person, other),
        np.append(person, (other + 1) % 40),
        np.append(sex, np.where(other < 20, "f", "m")),
        np.append(sex, np.where((other + 1) % 40 < 20, "f", "m")),
        session=np.append(day, other % 26),
    )
    evaluation = ff.evaluate(c, AT, [], metrics=[], n_resamples=0)
    freedom = {
        q.group: d
        for q, d in zip(
            evaluation.quantities, evaluation.maker.sizes.degrees_of_freedom, strict=True
        )
        if q.name == "fnmr"
    }
    assert (freedom["f"], freedom["m"], freedom[None]) == (5, 19, 25)


def test_the_effect_of_sessions_is_said_and_written():
    c, (scores, reference, probe, day) = days()
    evaluation = ff.evaluate(c, AT, [], metrics=[], n_resamples=0)
    (note,) = [n for n in evaluation.quantity("fnmr").notes if n.code is Code.EFFECT_OF_SESSIONS]
    effect = dict(note.values)
    is_mated = reference == probe
    errors = (scores < 0)[is_mated]
    rate = errors.mean()
    attempts = [
        oracle.Attempt(e - rate, (p, p), (s, s))
        for e, p, s in zip(errors, probe[is_mated], day[is_mated], strict=True)
    ]
    binomial = errors.size * rate * (1 - rate)
    people, sessions = (
        k / (k - 1) * oracle.sum_over(attempts, share) / binomial
        for k, share in ((20, oracle.share_a_person), (12, oracle.share_a_session))
    )
    assert (effect["people"], effect["sessions"]) == pytest.approx((people, sessions))
    written = json.loads(evaluation.to_json())["quantities"][2]["notes"]
    assert {"code": "effect-of-sessions", "values": effect} in written
    assert "People share 12 sessions: the standard error of the FNMR" in evaluation.summary()
    assert "over subjects and sessions" in evaluation.summary()
    assert evaluation.settings["sessions"] == 12


@pytest.mark.parametrize("column", [1, 2])
@pytest.mark.parametrize("mated", [True, False])
def test_systems_are_compared_by_two_way_variances(mated, column):
    c, (_, reference, probe, day) = days(column=column)
    rng = np.random.default_rng(8)
    is_mated = reference == probe
    other_scores = np.where(is_mated, 1.0, -1.0) + rng.normal(size=12)[day]
    other_scores += rng.normal(size=day.size)
    first_day = np.flip(day) if column == 2 else day
    session = day if column == 1 else (first_day, day)
    other = ff.Comparisons(other_scores, is_mated, reference, probe, session=session)
    comparison = ff.compare(c, other, [AT], [], metrics=[], n_resamples=0)
    contrast = next(r for r in comparison.contrasts if r.name == ("fnmr" if mated else "fmr"))
    scores = days(column=column)[1][0]
    chosen = is_mated == mated
    apart = ((scores < 0) == mated).astype(float) - ((other_scores < 0) == mated)
    attempts = [
        oracle.Attempt(*parts)
        for parts in zip(
            apart[chosen],
            zip(reference[chosen], probe[chosen], strict=True),
            zip(first_day[chosen], day[chosen], strict=True),
            strict=True,
        )
    ]
    of_people = oracle.sum_over(attempts, oracle.share_a_person)
    # the difference itself takes no part in what sessions and cells add
    about = [a._replace(part=a.part - apart[chosen].mean()) for a in attempts]
    alike = [a._replace(part=1 / len(attempts)) for a in attempts]
    sessions, cells = (
        max(oracle.sum_over(about, share), 0) / (1 - oracle.sum_over(alike, share))
        for share in (oracle.share_a_session, oracle.share_a_cell)
    )
    people = 20 / 19 * of_people if mated else of_people
    pairs: dict[frozenset[object], float] = {}
    for attempt in attempts if not mated else ():
        pair = frozenset(attempt.persons)
        pairs[pair] = pairs.get(pair, 0.0) + attempt.part
    people = max(people, sum(part**2 for part in pairs.values()))
    variance = people + max(sessions - cells, 0)
    expected = 2 * stdtr(11, -abs(apart[chosen].sum()) / variance**0.5)
    assert contrast.pvalue == pytest.approx(float(expected), rel=1e-9)


def test_systems_in_too_few_sessions_are_not_compared():
    c, _ = days(3)
    other, _ = days(3, seed=0)
    comparison = ff.compare(c, other, [AT], [], metrics=[], n_resamples=0)
    assert {row.verdict for row in comparison.contrasts} == {"withheld"}
    assert all(has_code(row, Code.SYSTEMS_IN_FEW_SESSIONS) for row in comparison.contrasts)


def test_vectors_with_sessions_are_compared_in_memory():
    rng = np.random.default_rng(5)
    subject = np.repeat(np.arange(12), 4)
    vectors = rng.normal(size=(12, 6))[subject] + rng.normal(size=(48, 6))
    day = rng.integers(0, 11, 48)
    e = ff.Embeddings(vectors, subject, session=day)
    assert "11 sessions" in repr(e)
    c = e.comparisons()
    for side in (c.mated, c.nonmated):
        for samples, sessions in (
            (side.reference_sample, side.reference_session),
            (side.probe_sample, side.probe_session),
        ):
            assert np.array_equal(c.sessions[sessions], day[samples])
    at = ff.at_fmr(0.1)
    of_vectors, of_pairs = (
        ff.evaluate(data, at, n_resamples=64, rng=1).quantities for data in (e, c)
    )
    assert [q.low for q in of_vectors] == [q.low for q in of_pairs]
    band = ff.roc_band(e, [0.1, 0.2], n_resamples=64, rng=1)
    assert np.array_equal(band.low, ff.roc_band(c, [0.1, 0.2], n_resamples=64, rng=1).low)
    refused("a scan draws people alone", e.scanned)
    role = np.where(np.arange(48) % 4 < 2, "reference", "probe")
    apart = ff.Embeddings(vectors, subject, role=role, session=np.arange(48))
    refused("references of two sessions", apart.enrolled)
    for score in ("mean", "max"):
        enrolled = ff.Embeddings(vectors, subject, role=role, session=subject).enrolled(score=score)
        assert np.array_equal(
            enrolled.sessions[enrolled.session], enrolled.subjects[enrolled.subject]
        )


def test_what_knows_of_people_alone_refuses_sessions():
    c, _ = days(with_groups=True)
    words = "knows of people alone"
    refused(words, ff.margin_of_error, c, AT)
    refused(words, ff.error_model, c, "group", AT)
    refused(words, ff.check, c, ["fnmr <= 0.9"], at=AT, looks="any")
    quality = np.arange(len(c.mated) + len(c.nonmated))
    refused(words, ff.discard_curve, c, AT, quality, fractions=[0, 0.1])


@pytest.mark.parametrize("method", ["auto", "percentile"])
def test_bands_need_sessions_too(method):
    settings = ff.BandSettings(method=method)
    for n_days in (12, 3):
        c, _ = days(n_days, with_groups=True)
        bands = [
            ff.roc_band(c, [0.2], n_resamples=40, rng=1, settings=settings),
            ff.fairness_band(
                c, "max_min_ratio", "fnmr", [0.2], n_resamples=40, rng=1, settings=settings
            ),
        ]
        for band in bands:
            assert np.isnan(band.low).all() == np.isnan(band.uncertainty).all() == (n_days < 4)
            assert has_code(band, Code.TOO_FEW_SESSIONS) == (n_days < 4)


def test_workers_draw_the_same_replicates():
    c, _ = days()
    resampler = Resampler(c, [ff.at_fnmr(0.2)])
    sent = pickle.loads(pickle.dumps(resampler))
    key = np.array([1, 2], np.uint32)
    drawn = [of.replicate(64, key) for of in (resampler, sent)]
    assert np.array_equal(drawn[0].fmr, drawn[1].fmr)


def test_a_summary_says_why_there_are_no_intervals():
    for n_days, n_said in ((3, 1), (12, 0)):
        summary = ff.evaluate(days(n_days)[0], AT, [], metrics=[], n_resamples=0).summary()
        assert summary.count("fewer than 4 sessions") == n_said
        day = np.arange(40) % n_days
        counts = ff.FailureCounts([0, 1] * 20, [5] * 40, session=day, subject=np.arange(40))
        of_counts = ff.evaluate(counts, n_resamples=0).summary()
        assert of_counts.count("fewer than 4 sessions") == n_said


def test_a_reason_says_in_how_many_sessions_more_subjects_are_needed():
    c, _ = days(12)
    fnmr = ff.evaluate(c, AT, [], metrics=[], n_resamples=0).value("fnmr")
    (row,) = ff.check(c, [f"fnmr <= {1.3 * fnmr}"], at=AT, n_resamples=50, rng=0).rows
    assert row.verdict == "undecided"
    needed, sessions = re.search(
        r"about ([0-9,]+) subjects in ([0-9,]+) sessions", row.reason
    ).groups()
    assert row.reason.endswith("and there are 20 in 12")
    assert int(sessions.replace(",", "")) == math.ceil(int(needed.replace(",", "")) * 12 / 20)


def test_the_bad_session_of_both_systems_cancels_in_their_difference():
    c, (scores, reference, probe, day) = days(12)
    better = scores + 0.5 * (reference == probe)
    mated = reference == probe
    other = ff.Comparisons(better, mated, reference, probe, session=day)
    contrast = ff.compare(c, other, AT, [], n_resamples=0).contrast("fnmr")
    assert contrast.verdict == "second"
    assert contrast.low > 0
    own = (
        ff.Comparisons(scores, mated, reference, probe),
        ff.Comparisons(better, mated, reference, probe),
    )
    alone = ff.compare(*own, AT, [], n_resamples=0).contrast("fnmr")
    assert contrast.high - contrast.low < 2 * (alone.high - alone.low)
