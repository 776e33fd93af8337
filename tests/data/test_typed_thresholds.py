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

KINDS = ("integers", "8-bit", "float32", "float64", "grid", "negative", "tiny")


def scores_of(kind: str, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw scores of a kind, and which of them are mated."""
    mated = np.arange(n) % 3 == 0
    x = rng.normal(1.5 * mated, 1.0)
    made = {
        "integers": np.round(40 * x).astype(np.int64), "8-bit": np.clip(np.round(40 * x + 100), 0, 255) / 255,
        "float32": x.astype(np.float32), "float64": x, "grid": np.round(x, 2), "negative": -np.exp(-x),
        "tiny": x * 1e-12,
    }[kind]  # fmt: skip
    return made, mated


@given(
    st.sampled_from(KINDS), st.integers(0, 10**6), st.integers(6, 60), st.sampled_from(["similarity", "distance"]),
    st.sampled_from([ff.at_fmr(0), ff.at_fmr(0.1), ff.at_fmr(0.001), ff.at_fnmr(0), ff.at_fnmr(0.2), ff.at_eer()]),
)  # fmt: skip
def test_a_threshold_typed_in_again_gives_the_same_counts(kind, seed, n, score_kind, at):
    scores, mated = scores_of(kind, np.random.default_rng(seed), n)
    c = ff.Comparisons(scores if score_kind == "similarity" else -scores, mated, score_kind=score_kind)
    held = ff.rates(c, at)
    typed = ff.rates(c, ff.at_threshold(float(repr(held.threshold))))
    assert (typed.counts.false_matches, typed.counts.false_nonmatches) == (
        held.counts.false_matches, held.counts.false_nonmatches
    )  # fmt: skip
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
    lines = [f"{round(255 * s)},{int(m)},{k},{k}" for k, (s, m) in enumerate(zip(scores, mated, strict=True))]
    (tmp_path / "s.csv").write_text("score,mated,reference,probe\n" + "\n".join(lines))
    how = ["--label-conflicts", "keep", "--n-resamples", 0]
    done = run_program("evaluate", tmp_path / "s.csv", "--at", "fmr=0.05", "--json", *how)
    (told,) = (q for q in json.loads(done.stdout)["quantities"] if q["name"] == "threshold")
    assert float(told["estimate"]).is_integer()
    rates = {q["name"]: q["estimate"] for q in json.loads(done.stdout)["quantities"] if q["name"] in ("fmr", "fnmr")}
    shown = run_program("evaluate", tmp_path / "s.csv", "--at", "fmr=0.05", *how).stdout
    assert f"threshold {told['estimate']:g}" in shown
    typed = run_program("evaluate", tmp_path / "s.csv", "--at", f"threshold={told['estimate']:g}", "--json", *how)
    again = {q["name"]: q["estimate"] for q in json.loads(typed.stdout)["quantities"] if q["name"] in ("fmr", "fnmr")}
    assert again == rates


@each("kind", ["float32", "float64"])
def test_a_scan_has_the_same_thresholds(tmp_path, kind):
    scores, mated = scores_of(kind, np.random.default_rng(2), 900)
    ids = np.arange(900)
    rows = [f"{s!r},{a},{a if m else a + 1000}" for s, m, a in zip(scores.tolist(), mated, ids, strict=True)]
    (tmp_path / "s.csv").write_text("score,reference,probe\n" + "\n".join(rows))
    points = [ff.at_fmr(0.01), ff.at_fmr(0.2), ff.at_fnmr(0.1), ff.at_eer()]
    whole, scan = ff.read_comparisons(tmp_path / "s.csv"), ff.scan_comparisons(tmp_path / "s.csv")
    found = [[r.threshold for r in ff.evaluate(c, points, n_resamples=2, rng=0).rates] for c in (whole, scan)]
    assert found[0] == found[1]
