"""Rows of tests across groups and of planning, against NumPy as one would write it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fastfair as ff
from benchmarks._data import ATTEMPTS, counted, decisions
from fastfair._lib import seeds
from fastfair.group_tests.equal_rates import GroupTest
from fastfair.group_tests.frailty import Design, Frailty, count_errors, estimate, replicate

from .clock import Clocked, clocked, take_turns
from .common import must_agree, versions, voxceleb1_h
from .rows import Against, Measurement, Row
from .targets import AtLeast, AtMost, AtMostSeconds

_N = 9999
_THEIR_N = 300  # replicates that a loop in Python is timed over
_GROUPS, _SUBJECTS = 20, 800


class NumpyGroupTest:
    """F in replicates of subjects, one replicate at a time; equations (7) to (11) of paper 4.

    Parameters
    ----------
    failed : (groups, subjects, attempts) ndarray of bool
        Every decision.
    """

    def __init__(self, failed: NDArray[np.bool_]) -> None:
        self._failed = failed
        self._rng = np.random.default_rng(0)
        n_groups, n, m = failed.shape
        self._sizes = np.full(n_groups, n * m)
        self._failures, self._attempts = failed.sum(axis=2), np.full((n_groups, n), m)
        self._flat = self._failures.ravel(), self._attempts.ravel()
        self._offset = n * np.arange(n_groups)[:, None]
        self._rates, self._rate = failed.mean(axis=(1, 2)), failed.mean()

    def _f(
        self, rates: NDArray[np.float64], sizes: NDArray[np.int64], effects: NDArray[np.float64]
    ) -> float:
        n = self._sizes
        middle = (sizes * rates).sum() / sizes.sum()
        between = (n * (rates - middle) ** 2).sum() / (n.size - 1)
        return float(between / ((n * rates * (1 - rates) * effects).sum() / (n.sum() - n.size)))

    def observed(self) -> float:
        effects = [self._effect(*pair) for pair in zip(self._failures, self._attempts, strict=True)]
        return self._f(self._rates, self._sizes, np.array(effects))

    @staticmethod
    def _effect(failures: NDArray[np.int64], attempts: NDArray[np.int64]) -> float:
        rate = failures.sum() / attempts.sum()
        return float(
            ((failures - attempts * rate) ** 2).sum() / (attempts.sum() * rate * (1 - rate))
        )

    def from_decisions(self) -> float:
        """Draw subjects with all their decisions, group by group, as the paper tells it."""
        rates, sizes, effects = (np.empty(self._sizes.size) for _ in range(3))
        for g, failed in enumerate(self._failed):
            drawn = failed[self._rng.integers(len(failed), size=len(failed))]
            failures, attempts = drawn.sum(axis=1), np.full(len(drawn), drawn.shape[1])
            rates[g], sizes[g] = failures.sum() / drawn.size, drawn.size
            effects[g] = self._effect(failures, attempts)
        return self._f(rates - self._rates + self._rate, sizes, effects)

    def from_counts(self) -> float:
        """Draw subjects of all groups at once, with their numbers of failures and attempts."""
        drawn = (
            self._rng.integers(self._failures.shape[1], size=self._failures.shape) + self._offset
        )
        failures, attempts = (counts[drawn] for counts in self._flat)
        sizes = attempts.sum(axis=1)
        rates = failures.sum(axis=1) / sizes
        squares = ((failures - attempts * rates[:, None]) ** 2).sum(axis=1)
        return self._f(
            rates - self._rates + self._rate, sizes, squares / (sizes * rates * (1 - rates))
        )


def _test(counts: ff.FailureCounts) -> GroupTest:
    return ff.fnmr_test(counts, n_resamples=_N, follow_up=False, rng=0)


def _clocked_test(counts: ff.FailureCounts) -> Clocked:
    """Clock a test of counts that have been given and not yet looked at."""

    def run() -> float:
        unseen = counts.without([])
        return clocked(lambda: _test(unseen))()

    return run


def against_numpy(how: Callable[[NumpyGroupTest], float]) -> Measurement:
    failed = decisions(_GROUPS, _SUBJECTS)
    counts, numpy = counted(failed), NumpyGroupTest(failed)
    ours = _test(counts)
    must_agree(
        abs(ours.statistic / numpy.observed() - 1) < 1e-12,
        f"F {ours.statistic} against {numpy.observed()}",
    )
    theirs = np.array([how(numpy) for _ in range(2000)])
    for share in (0.5, 0.9):
        apart = (theirs > np.quantile(ours.replicates, share)).mean() - (1 - share)
        must_agree(
            abs(apart) < 4 * np.sqrt(share * (1 - share) * (1 / 2000 + 1 / _N)),
            f"{share} quantiles of F*",
        )
    each = clocked(lambda: [how(numpy) for _ in range(_THEIR_N)])
    seconds = take_turns(
        {"ours": _clocked_test(counts), "theirs": lambda: each() * _N / _THEIR_N},
        rounds=9,
    )
    return Measurement(
        seconds["ours"],
        seconds["theirs"],
        "F within 1e-12, median and 90 % quantile of F* within 4 standard errors",
        versions(),
        remarks=f"theirs is timed over {_THEIR_N} replicates; ours with both threads",
    )


class NumpyFrailty:
    """Errors of groups that are alike, one replicate at a time, from a uniform number for each pair
    of subjects.

    Parameters
    ----------
    design : Design
        Who is compared with whom.
    null : Frailty
        What is drawn from.
    """

    def __init__(self, design: Design, null: Frailty) -> None:
        partners = design.partners
        one = np.repeat(np.arange(partners.end.size), np.diff(partners.end, prepend=0))
        other = partners.partner.astype(np.int64)
        pairs, self._repeats = np.unique(
            (one * partners.end.size + other)[one < other], return_counts=True
        )
        self._one, self._other = np.divmod(pairs, partners.end.size)
        self._group, self._groups = partners.group[self._one], design.size.size
        self._again, self._sigma = float(null.again), np.sqrt(np.log1p(null.kappa[partners.group]))
        # Whether a pair has errors at all, over the chance that one comparison is an error.
        self._rate = null.rate * (1 - (1 - self._again) ** self._repeats) / self._again
        self._rng = np.random.default_rng(0)

    def errors(self) -> NDArray[np.int64]:
        effect = np.exp(self._sigma * self._rng.normal(size=self._sigma.size) - self._sigma**2 / 2)
        chance = 1 - np.exp(-self._rate * effect[self._one] * effect[self._other])
        drawn = np.flatnonzero(self._rng.random(chance.size) < chance)
        repeats = self._repeats[drawn]
        # The first comparison in error is geometric, but among those there are, and the others
        # follow.
        u = self._rng.random(drawn.size) * (1 - (1 - self._again) ** repeats)
        before = np.floor(np.log1p(-u) / np.log1p(-self._again)).astype(np.int64)
        errors = 1 + self._rng.binomial(np.maximum(repeats - before - 1, 0), self._again)
        return np.bincount(self._group[drawn], errors, self._groups).astype(np.int64)


def against_uniform_numbers() -> Measurement:
    comparisons, at = voxceleb1_h().by("Nationality"), ff.at_fmr(1e-3)
    by_group, side = comparisons.nonmated_by_group, comparisons.nonmated
    erred = side.similarities >= ff.rates(comparisons, at).threshold
    inside = by_group.reference_group == by_group.probe_group
    columns = (side.reference, side.probe, by_group.reference_group, erred)
    design, counts = count_errors(*(column[inside] for column in columns), len(comparisons.groups))
    null = estimate(counts, design)
    numpy = NumpyFrailty(design, null)
    ours = replicate(design, null, _N, seeds.stream(0)[0])[..., 0]
    theirs = np.array([numpy.errors() for _ in range(_THEIR_N)])
    error = np.hypot(ours.std(axis=0) / np.sqrt(_N), theirs.std(axis=0) / np.sqrt(_THEIR_N))
    apart = np.abs(ours.mean(axis=0) - theirs.mean(axis=0)) / error
    must_agree(
        bool((apart < 4.5).all()), f"means of errors {apart.max():.1f} standard errors apart"
    )
    each = clocked(lambda: [numpy.errors() for _ in range(50)])
    n = 2000
    seconds = take_turns(
        {
            "ours": clocked(lambda: ff.fmr_test(comparisons, at, n_resamples=n, rng=0)),
            "theirs": lambda: each() * n / 50,
        },
        rounds=5,
    )
    return Measurement(
        seconds["ours"],
        seconds["theirs"],
        "mean errors of each group within 4.5 standard errors",
        versions(),
        remarks=(
            "theirs only draws errors, and is timed over 50 replicates; ours is the whole test with"
            " both threads"
        ),
    )


def against_fewer_subjects() -> Measurement:
    few, many = (counted(decisions(_GROUPS, n)) for n in (_SUBJECTS, 100 * _SUBJECTS))
    seconds = take_turns(
        {"ours": _clocked_test(many), "theirs": _clocked_test(few)},
        rounds=15,
    )
    return Measurement(seconds["ours"], seconds["theirs"], "nothing to agree on", versions())


def whole_study() -> Measurement:
    names = ("fnmr", "correlation", "n_subjects", "n_attempts", "n_groups")
    ranges = (
        [0.025, 0.05, 0.1, 0.15, 0.2],
        [0.05, 0.15, 0.25, 0.35, 0.45],
        [100, 200, 400, 800],
        [2, 3, 4, 6, 10],
        [3, 4, 5, 6, 10, 15, 20, 30],
    )
    settings: dict[str, Any] = dict(zip(names, np.ix_(*ranges), strict=True))  # of paper 4
    exact = ff.plan_margin(**settings, method="exact")
    drawn = ff.plan_margin(**settings, n_simulations=1000, rng=0)
    apart = float(np.abs(drawn.margin / exact.margin - 1).mean())
    must_agree(apart < 0.03, f"margins lie {apart:.1%} apart on average")
    seconds = take_turns(
        {
            "ours": clocked(lambda: ff.plan_margin(**settings, n_simulations=1000, rng=0)),
            "theirs": clocked(lambda: ff.plan_margin(**settings, method="exact")),
        },
        rounds=3,
    )
    return Measurement(
        seconds["ours"],
        seconds["theirs"],
        f"margins of 1,000 draws lie {apart:.1%} from the exact ones on average",
        versions(),
    )


_TASK = (
    f"fnmr_test over {_GROUPS} groups x {_SUBJECTS} subjects x {ATTEMPTS} attempts, {_N:,}"
    " replicates of F"
)
ROWS = (
    Row(
        "group-test",
        _TASK,
        "NumPy, a replicate and a group at a time, from decisions",
        Against.NUMPY,
        AtLeast(50),
        lambda: against_numpy(NumpyGroupTest.from_decisions),
    ),
    Row(
        "group-test-counts",
        _TASK,
        "NumPy, a replicate at a time, all groups at once, from counts of each subject",
        Against.NUMPY,
        AtLeast(50),
        lambda: against_numpy(NumpyGroupTest.from_counts),
        shortfall=(
            "nearly all of ours is drawing 1.8 million binomial numbers; the target's own loop is"
            " the row above"
        ),
    ),
    Row(
        "fmr-test",
        "fmr_test of 275,000 comparisons (VoxCeleb1-H, 11 groups), 2,000 replicates",
        "NumPy, a replicate at a time, a uniform number for each pair of subjects",
        Against.NUMPY,
        AtMostSeconds(3),
        against_uniform_numbers,
    ),
    Row(
        "group-test-growth",
        f"the same with {100 * _SUBJECTS:,} subjects a group",
        f"ours with {_SUBJECTS} subjects a group",
        Against.OURS,
        AtMost(1.5),
        against_fewer_subjects,
    ),
    Row(
        "margin-study",
        "plan_margin: the 4,000 settings of paper 4, 1,000 draws each",
        "ours, computed exactly",
        Against.OURS,
        AtMostSeconds(30),
        whole_study,
    ),
)
