"""The threshold that is shown, typed in again, gives the same decisions."""

from __future__ import annotations

import json

import numpy as np
import pytest
from helpers.command_line import run_program
from helpers.each import each
from hypothesis import given
from hypothesis import strategies as st

import fastfair as ff
from fastfair.data.score_keys import typed_threshold

KINDS = (
    "integers", "8-bit", "float16", "float32", "float64", "grid", "grid of float16", "grid of float32", "bool",
    "big-endian", "negative", "tiny",
)  # fmt: skip


def scores_of(kind: str, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw scores of a kind, and which of them are mated."""
    mated = np.arange(n) % 3 == 0
    x = rng.normal(1.5 * mated, 1.0)
    made = {
        "integers": np.round(40 * x).astype(np.int64),
        "8-bit": np.clip(np.round(40 * x + 100), 0, 255) / 255,
        "float16": x.astype(np.float16),
        "float32": x.astype(np.float32),
        "float64": x,
        "grid": np.round(x, 2),
        "grid of float16": np.round(x, 1).astype(np.float16),
        "grid of float32": np.round(x, 2).astype(np.float32),
        "bool": np.where(x > 0, 1, 0).astype(np.uint8),
        "big-endian": np.round(x, 2).astype(">f4"),
        "negative": -np.exp(-x),
        "tiny": x * 1e-12,
    }[kind]
    return made, mated


@given(
    st.sampled_from(KINDS), st.integers(0, 10**6), st.integers(6, 60), st.sampled_from(["similarity", "distance"]),
    st.sampled_from([ff.at_fmr(0), ff.at_fmr(0.1), ff.at_fmr(0.001), ff.at_fnmr(0), ff.at_fnmr(0.2), ff.at_eer()]),
)  # fmt: skip
def test_a_threshold_typed_in_again_gives_the_same_counts(kind, seed, n, score_kind, at):
    scores, mated = scores_of(kind, np.random.default_rng(seed), n)
    signed = scores.astype(np.int16) if scores.dtype == np.uint8 else scores
    c = ff.Comparisons(
        scores if score_kind == "similarity" else -signed, mated, score_kind=score_kind
    )
    held = ff.rates(c, at)
    typed = ff.rates(c, ff.at_threshold(float(repr(held.threshold))))
    assert (typed.counts.false_matches, typed.counts.false_nonmatches) == (
        held.counts.false_matches,
        held.counts.false_nonmatches,
    )
    similarity = held.threshold if score_kind == "similarity" else -held.threshold
    accepted = scores >= similarity
    assert held.counts.false_matches == int((accepted & ~mated).sum())
    lowest = scores[accepted].min() if accepted.any() else np.inf
    if kind == "integers" and accepted.any():
        assert similarity == lowest
    highest = scores[~accepted].max() if not accepted.all() else -np.inf
    assert highest < similarity <= lowest
    if kind in ("float64", "float32") and np.isfinite(lowest - highest) and highest > 0:
        digits = len(repr(float(similarity)).replace("-", "").replace(".", "").strip("0"))
        gap = int(np.ceil(-np.log10((lowest - highest) / lowest)))
        assert digits <= max(gap, 0) + 2


@pytest.mark.parametrize(
    ("rejected", "accepted", "expected"),
    [
        (134.0, 135.0, 135.0), (134.0, 140.0, 140.0), (255.0, None, 256.0), (0.98765, None, 1.0),
        (0.7129381, 0.7341229, 0.73), (-0.31234567, 0.0123456789, 0.0), (0.54, 0.55, 0.55),
        (9.9712345678, 10.02345678, 10.0),
        (None, 0.123456789, 0.123), (-0.7341229, -0.7129381, -0.72), (-0.01234, None, -0.01),
        (0.1, float(np.nextafter(0.1, 1)), float(np.nextafter(0.1, 1))),
    ],
)  # fmt: skip
def test_the_shortest_decimal_between_two_scores_is_taken(rejected, accepted, expected):
    assert typed_threshold(rejected, accepted) == expected


def test_the_terminal_json_and_configuration_agree(tmp_path):
    scores, mated = scores_of("8-bit", np.random.default_rng(1), 300)
    lines = [
        f"{round(255 * s)},{int(m)},{k},{k}"
        for k, (s, m) in enumerate(zip(scores, mated, strict=True))
    ]
    (tmp_path / "s.csv").write_text("score,mated,reference,probe\n" + "\n".join(lines))
    how = ["--label-conflicts", "keep", "--n-resamples", 0]
    done = run_program("evaluate", tmp_path / "s.csv", "--at", "fmr=0.05", "--json", *how)
    (told,) = (q for q in json.loads(done.stdout)["quantities"] if q["name"] == "threshold")
    assert float(told["estimate"]).is_integer()
    rates = {
        q["name"]: q["estimate"]
        for q in json.loads(done.stdout)["quantities"]
        if q["name"] in ("fmr", "fnmr")
    }
    shown = run_program("evaluate", tmp_path / "s.csv", "--at", "fmr=0.05", *how).stdout
    assert f"threshold {told['estimate']:g}" in shown
    typed = run_program(
        "evaluate", tmp_path / "s.csv", "--at", f"threshold={told['estimate']:g}", "--json", *how
    )
    again = {
        q["name"]: q["estimate"]
        for q in json.loads(typed.stdout)["quantities"]
        if q["name"] in ("fmr", "fnmr")
    }
    assert again == rates


@each("kind", ["float32", "float64"])
def test_a_scan_has_the_same_thresholds(tmp_path, kind):
    scores, mated = scores_of(kind, np.random.default_rng(2), 900)
    ids = np.arange(900)
    rows = [
        f"{s!r},{a},{a if m else a + 1000}"
        for s, m, a in zip(scores.tolist(), mated, ids, strict=True)
    ]
    (tmp_path / "s.csv").write_text("score,reference,probe\n" + "\n".join(rows))
    points = [ff.at_fmr(0.01), ff.at_fmr(0.2), ff.at_fnmr(0.1), ff.at_eer()]
    whole, scan = ff.read_comparisons(tmp_path / "s.csv"), ff.scan_comparisons(tmp_path / "s.csv")
    found = [
        [r.threshold for r in ff.evaluate(c, points, n_resamples=2, rng=0).rates]
        for c in (whole, scan)
    ]
    assert found[0] == found[1]


FLOATS = [np.float16, np.float32, np.float64]


@given(
    st.sampled_from(FLOATS), st.integers(0, 10**6), st.sampled_from(["similarity", "distance"]), st.integers(-30, 130)
)  # fmt: skip
def test_a_threshold_meets_scores_as_a_literal_does_in_numpy(dtype, seed, score_kind, hundredths):
    rng = np.random.default_rng(seed)
    scores, mated = rng.integers(0, 101, 60) / 100, np.arange(60) % 3 == 0
    threshold, given_scores = hundredths / 100, scores.astype(dtype)
    c = ff.Comparisons(given_scores, mated, score_kind=score_kind)
    accepted = given_scores <= threshold if score_kind == "distance" else given_scores >= threshold
    counts = ff.rates(c, f"threshold={threshold}").counts
    assert counts.false_matches == int((accepted & ~mated).sum())
    assert counts.false_nonmatches == int((~accepted & mated).sum())
    in_text = scores <= threshold if score_kind == "distance" else scores >= threshold
    assert (accepted == in_text).all()


@each("dtype", FLOATS)
@pytest.mark.parametrize("threshold", [1e300, -1e300, 1e-300, -1e-300])
def test_a_threshold_beyond_the_type_accepts_all_or_none_of_the_scores(dtype, threshold):
    scores, mated = np.array([0.5, np.nan, 0.25, 0.125], dtype), [1, 1, 0, 0]
    c = ff.Comparisons(scores, mated, policies=ff.Policies(failures="non-match"))
    counts = ff.rates(c, ff.at_threshold(threshold)).counts
    assert (counts.false_matches, counts.false_nonmatches) == ((0, 2) if threshold > 1 else (2, 1))


@each("dtype", FLOATS)
def test_failure_scores_are_rounded_as_thresholds_are(dtype):
    scores = np.array([0.9, -0.1, 0.3, 0.2], dtype)
    with pytest.warns(ff.errors.DroppedWarning):
        c = ff.Comparisons(
            scores, [1, 1, 0, 0], policies=ff.Policies(failures="exclude", failure_score=-0.1)
        )
    assert len(c.mated) == 1


@pytest.mark.jit  # minutes without
@each("dtype", FLOATS)
def test_every_way_to_give_a_threshold_rounds_it(dtype):
    rng = np.random.default_rng(3)
    n = 400
    who = np.stack([np.arange(n), np.where(rng.random(n) < 0.5, np.arange(n), np.arange(n) + 1000)])
    scores = np.round(np.clip(0.3 * (who[0] == who[1]) + rng.random(n) * 0.7, 0, 1), 1)
    groups = np.array(["f", "m"])
    sides = {"reference": who[0], "probe": who[1], "reference_group": groups[who[0] % 2]}
    sides["probe_group"] = groups[who[1] % 2]

    def told(c: ff.Comparisons) -> list:
        apart = ff.thresholds.with_own_thresholds(c, {"f": 0.7, "m": 0.3})
        at = ff.at_threshold(0.7)
        return [
            ff.rates(c, at).counts.false_matches,
            ff.rates(apart, ff.at_threshold(0)).group_fmr.tolist(),
            ff.evaluate(c, "threshold=0.7", n_resamples=0).value("fnmr"),
            ff.claim(c, "fmr <= 90 %", at, rng=0).overall.estimate,
            ff.fnmr_test(c, at, n_resamples=100, rng=0).group_rate.tolist(),
            {name: errors.n_errors for name, errors in ff.worst_comparisons(c, at).errors.items()},
            [row.estimate for row in ff.check(c, "fnmr <= 50 %", at, rng=0, n_resamples=50).rows],
        ]

    assert told(ff.Comparisons(scores.astype(dtype), None, **sides)) == told(
        ff.Comparisons(scores, None, **sides)
    )


@each("dtype", [np.float32, np.float64])
def test_similarities_of_vectors_meet_a_threshold_in_their_type(dtype):
    vectors = np.array([[1], [1], [0.7], [0.9], [0.2]], dtype)
    e = ff.Embeddings(vectors, [0, 1, 1, 0, 0], similarity="inner_product")
    assert (
        ff.rates(e.comparisons(), ff.at_threshold(0.7)).counts.false_matches == 3
    )  # 1 x 1, 1 x 0.7, 1 x 0.9
    assert (
        ff.evaluate(e, ff.at_threshold(0.7), rng=0, n_resamples=50).rates[0].counts.false_matches
        == 3
    )


@each("dtype", FLOATS)
def test_files_keep_the_type_of_their_scores(tmp_path, dtype):
    polars = pytest.importorskip("polars")
    scores, ids = np.array([0.7, 0.9, 0.1, 0.3], dtype), np.arange(4)
    columns = {"score": scores, "reference": ids, "probe": [0, 1, 10, 11]}
    np.savez(tmp_path / "s.npz", **columns)
    found = [
        ff.read_comparisons(tmp_path / "s.npz"),
        ff.read_comparisons(polars.DataFrame(columns)),
    ]
    if dtype != np.float16:  # Parquet files of polars have none
        polars.DataFrame(columns).write_parquet(tmp_path / "s.parquet")
        found.append(ff.read_comparisons(tmp_path / "s.parquet"))
    for c in found:
        assert [ff.rates(c, ff.at_threshold(t)).counts.false_nonmatches for t in (0.7, 0.9)] == [
            0,
            1,
        ]
    if dtype != np.float16:
        scan = ff.scan_comparisons(tmp_path / "s.parquet")
        rates = ff.evaluate(
            scan, [ff.at_threshold(0.7), ff.at_threshold(0.9)], n_resamples=2, rng=0
        ).rates
        assert [one.counts.false_nonmatches for one in rates] == [0, 1]


@each("dtype", FLOATS)
def test_the_cost_at_the_bayes_threshold_is_the_curve_s(dtype):
    often = ff.Costs(p_target=0.01)
    scores = np.array([often.threshold, 6, 1, often.threshold], dtype)
    c = ff.Comparisons(scores, [1, 1, 0, 0], score_kind="log-likelihood-ratio")
    assert (ff.act_dcf(c, often).fnmr, ff.act_dcf(c, often).fmr) == (0.0, 0.5)
    curve = ff.calibration.bayes_error(c, [-often.threshold])
    assert curve.actual[0] == pytest.approx(0.99 * 0.5)
