"""A row of intervals without replicates: standard errors of rates in closed form, against NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import fastfair as ff
from fastfair.data.sorted_scores import SortedSide
from fastfair.evaluation.result import Evaluation

from .clock import clocked, take_turns
from .common import must_agree, versions, voxceleb1_h
from .rows import Against, Measurement, Row
from .targets import AtLeast

Floats = NDArray[np.float64]


class _InNumpy:
    """The standard errors of rates at a threshold, overall and of groups, as one would write them
    with NumPy."""

    def __init__(self, comparisons: ff.Comparisons, threshold: float) -> None:
        assert comparisons.subjects is not None
        self.n_subjects, self.groups = len(comparisons.subjects), len(comparisons.groups)
        self.group = np.zeros(self.n_subjects, np.int64)
        self.sides = []
        sides = (
            (comparisons.mated, comparisons.mated_by_group),
            (comparisons.nonmated, comparisons.nonmated_by_group),
        )
        for mated, (side, by_group) in zip((True, False), sides, strict=True):
            self.group[side.reference] = by_group.reference_group
            self.group[side.probe] = by_group.probe_group
            errors = (side.similarities >= threshold) != mated
            self.sides.append((mated, side, errors, by_group.reference_group, by_group.probe_group))

    def standard_errors(self) -> Floats:
        found = []
        for mated, side, errors, a, b in self.sides:
            for k in range(-1, self.groups):
                inside = slice(None) if k < 0 else (a == k) & (b == k)
                found.append(self._one(mated, side, errors, inside))
        return np.sqrt(np.maximum(found, 0))

    def _one(
        self,
        mated: bool,
        side: SortedSide,
        errors: NDArray[np.bool_],
        inside: NDArray[np.bool_] | slice,
    ) -> float:
        assert side.reference is not None
        assert side.probe is not None
        a, b, wrong = side.reference[inside], side.probe[inside], errors[inside]
        n = wrong.size
        residual = wrong - wrong.mean()
        sums = np.bincount(a, residual, self.n_subjects)
        if not mated:
            sums += np.bincount(b, residual, self.n_subjects)
        size = np.bincount(self.group)
        centred = sums - (np.bincount(self.group, sums) / size)[self.group]
        if mated:
            return float(centred @ centred) / n**2
        codes = np.minimum(a, b).astype(np.int64) * self.n_subjects + np.maximum(a, b)
        _, pair = np.unique(codes, return_inverse=True)
        of_pair = np.bincount(pair, residual)
        return float(centred @ centred - of_pair @ of_pair) / n**2


def against_numpy() -> Measurement:
    comparisons = voxceleb1_h().by("Nationality")
    threshold = ff.rates(comparisons, ff.at_fmr(0.01)).threshold

    def ours() -> Evaluation:
        return ff.evaluate(comparisons, ff.at_threshold(threshold), [], metrics=[], n_resamples=0)

    theirs = _InNumpy(comparisons, threshold)
    quantities = [q for name in ("fnmr", "fmr") for q in ours().quantities if q.name == name]
    expected = theirs.standard_errors()
    # The rate is estimated from the same comparisons, which ours corrects for: more than a little
    # in small groups.
    large = [
        k
        for k, q in enumerate(quantities)
        if (q.n_subjects or 0) >= 100 and (q.n_errors or 0) >= 30
    ]
    apart = max(abs((quantities[k].standard_error or 0.0) / expected[k] - 1) for k in large)
    must_agree(apart < 0.05, f"standard errors of large groups lie {100 * apart:.1f} % apart")
    seconds = take_turns(
        {"ours": clocked(ours), "theirs": clocked(theirs.standard_errors)}, rounds=7
    )
    return Measurement(
        seconds["ours"],
        seconds["theirs"],
        f"standard errors of {len(large)} rates of 100 subjects or more within 5 %",
        versions(),
        remarks=(
            "ours has the intervals, their degrees of freedom and the notes as well; theirs the"
            " variances alone"
        ),
    )


ROWS = (
    Row(
        "rates-in-closed-form",
        "evaluate without replicates: rates of all and of 11 groups of 550,000 comparisons"
        " (VoxCeleb1-H)",
        "NumPy, sums over subjects and pairs, a group at a time",
        Against.NUMPY,
        AtLeast(1),
        against_numpy,
    ),
)
