"""Hypothesis strategies: small lists of comparisons with heavy ties."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from oracles.naive import Comparison

import fastfair as ff

# Few distinct values make ties the rule; zeros of both signs, subnormals and extremes sort with the rest.
TIED = st.sampled_from([-2.0, -1.0, -0.0, 0.0, 0.5, 1.0, 1.5, 3.0])
_LARGE, _TINY = float(np.float32(3e38)), float(np.float32(1e-45))
EXTREME = st.sampled_from(
    [-_LARGE, -_TINY, -0.0, 0.0, _TINY, 1.0, float(np.nextafter(np.float32(1), np.float32(2))), _LARGE]
)
ANY = st.one_of(TIED, EXTREME, st.floats(-100, 100, width=32))


def score_lists() -> st.SearchStrategy[tuple[list[float], list[float]]]:
    """Mated and non-mated similarity scores, exactly representable in float32."""
    lists = [st.lists(values, min_size=1, max_size=14) for values in (TIED, ANY)]
    return st.one_of(*(st.tuples(side, side) for side in lists))


@st.composite
def grouped(draw: st.DrawFn) -> list[Comparison]:
    """Comparisons of up to five subjects in up to three groups, both classes present."""
    group_of = draw(st.lists(st.sampled_from("abc"), min_size=2, max_size=5))
    subject = st.integers(0, len(group_of) - 1)

    def comparison(mated: bool) -> Comparison:
        reference = draw(subject)
        probe = reference if mated else draw(subject.filter(lambda s: s != reference))
        return Comparison(draw(TIED), mated, reference, probe, group_of[reference], group_of[probe])

    sizes = draw(st.tuples(st.integers(1, 12), st.integers(1, 12)))
    rows = [comparison(mated) for mated, size in zip((True, False), sizes, strict=True) for _ in range(size)]
    return draw(st.permutations(rows))


def from_lists(
    mated: list[float], nonmated: list[float], dtype: type = np.float64, score_kind: str = "similarity"
) -> ff.Comparisons:
    """Comparisons of two lists of similarities, shuffled, as similarities or distances."""
    scores = np.array(mated + nonmated, dtype)
    flags = np.arange(scores.size) < len(mated)
    order = np.random.default_rng(scores.size).permutation(scores.size)
    return ff.Comparisons(
        (scores if score_kind == "similarity" else -scores)[order], flags[order], score_kind=score_kind
    )


def from_rows(rows: list[Comparison], dtype: type = np.float64) -> ff.Comparisons:
    """Comparisons with subjects and groups."""
    columns = list(zip(*rows, strict=True))
    return ff.Comparisons(np.array(columns[0], dtype), *columns[1:])
