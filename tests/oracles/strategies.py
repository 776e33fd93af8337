"""Hypothesis strategies: small lists of comparisons with heavy ties."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from oracles.naive import Comparison
from oracles.paired import Trial

import fastfair as ff

# Few distinct values make ties the rule; zeros of both signs, subnormals and extremes sort with the
# rest.
TIED = st.sampled_from([-2.0, -1.0, -0.0, 0.0, 0.5, 1.0, 1.5, 3.0])
_LARGE, _TINY = float(np.float32(3e38)), float(np.float32(1e-45))
EXTREME = st.sampled_from(
    [
        -_LARGE,
        -_TINY,
        -0.0,
        0.0,
        _TINY,
        1.0,
        float(np.nextafter(np.float32(1), np.float32(2))),
        _LARGE,
    ]
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
    rows = [
        comparison(mated)
        for mated, size in zip((True, False), sizes, strict=True)
        for _ in range(size)
    ]
    return draw(st.permutations(rows))


def from_lists(
    mated: list[float],
    nonmated: list[float],
    dtype: type = np.float64,
    score_kind: str = "similarity",
) -> ff.Comparisons:
    """Comparisons of two lists of similarities, shuffled, as similarities or distances."""
    scores = np.array(mated + nonmated, dtype)
    flags = np.arange(scores.size) < len(mated)
    order = np.random.default_rng(scores.size).permutation(scores.size)
    return ff.Comparisons(
        (scores if score_kind == "similarity" else -scores)[order],
        flags[order],
        score_kind=score_kind,
    )


def from_rows(rows: list[Comparison], dtype: type = np.float64) -> ff.Comparisons:
    """Comparisons with subjects and groups."""
    columns = list(zip(*rows, strict=True))
    return ff.Comparisons(np.array(columns[0], dtype), *columns[1:])


@st.composite
def two_systems(draw: st.DrawFn) -> list[Trial]:
    """Some comparisons that two systems scored inside and across two groups, with ties and repeated
    pairs."""
    subjects = {f"{group}{k}": group for group in "xy" for k in range(draw(st.integers(2, 4)))}
    score = st.integers(0, 6).map(float)
    names = st.sampled_from(sorted(subjects))
    found = [
        Trial(name, name, True, draw(st.tuples(score, score)), (group,) * 2)
        for name, group in subjects.items()
    ]
    for _ in range(draw(st.integers(3, 25))):
        one, other = draw(st.lists(names, min_size=2, max_size=2, unique=True))
        found.append(
            Trial(
                one, other, False, draw(st.tuples(score, score)), (subjects[one], subjects[other])
            )
        )
    for name in draw(st.lists(names, max_size=6)):
        found.append(Trial(name, name, True, draw(st.tuples(score, score)), (subjects[name],) * 2))
    return found


def comparisons_of_system(found: list[Trial], system: int) -> ff.Comparisons:
    columns = [
        [trial.scores[system], trial.mated, trial.reference, trial.probe, *trial.groups]
        for trial in found
    ]
    return ff.Comparisons(*map(list, zip(*columns, strict=True)))
