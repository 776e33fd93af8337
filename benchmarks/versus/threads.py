"""Rows of threads: what a second processor brings."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fastfair as ff
from benchmarks._data import counted, decisions, embeddings_of_subjects, scores_and_flags

from .clock import Clocked, clocked, take_turns
from .common import must_agree, versions, voxceleb1_h
from .rows import Against, Measurement, NotMeasuredError, Row
from .targets import AtLeast, NoTarget, in_units

_FMRS = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2)
_EVERYTHING = "all measures, 5 FMRs, EER and minDCF of all groups of VoxCeleb1-H, 2,000 replicates"

_Works = dict[str, Callable[[], NDArray[Any]]]  # each returns what must not depend on threads


def _replicates(comparisons: ff.Comparisons, metrics: list[str], **asked: Any) -> NDArray[Any]:
    found = ff.evaluate(comparisons, metrics=metrics, n_resamples=2000, rng=0, **asked)
    assert found.uncertainty is not None
    return found.uncertainty.replicates


def _everything() -> _Works:
    comparisons, points = voxceleb1_h(), [ff.at_fmr(fmr) for fmr in _FMRS]
    return {
        _EVERYTHING: lambda: _replicates(comparisons, ["eer", "min_dcf"], at=points, measures="all")
    }


def _works() -> _Works:
    scores, mated = scores_and_flags(10_000_000)
    comparisons = voxceleb1_h()
    embeddings = embeddings_of_subjects(10_000, 10, 512)
    counts = counted(decisions(20, 800))

    def test() -> NDArray[Any]:
        unseen = counts.without([])  # of which nothing has been computed yet
        return ff.fnmr_test(unseen, n_resamples=9999, follow_up=False, rng=0).replicates

    def sets() -> NDArray[Any]:
        made = ff.synthesis.synthesize_each(3000, 3000, "fmr", [0.01] * 64, stop=False, rng=1)
        return np.concatenate([one.distances for one in made])

    return {
        "ROC of 10,000,000 scores": lambda: ff.roc(ff.Comparisons(scores, mated)).fnmr,
        "EER of VoxCeleb1-H, 2,000 replicates": lambda: _replicates(
            comparisons, ["eer"], at=[], measures=[]
        ),
        **_everything(),
        "ROC band over 10,000 vectors x 512, 1,000 replicates": lambda: (
            ff.roc_band(
                embeddings, np.geomspace(1e-6, 1e-2, 24), n_resamples=1000, rng=0
            ).replicates
        ),
        "fnmr_test over 20 groups x 800 subjects, 9,999 replicates": test,
        "64 data sets of 3,000 + 3,000, 1,000 steps": sets,
    }


@contextmanager
def _processors(chosen: set[int]) -> Iterator[None]:
    """Let this thread, and those it starts, run on some processors alone."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, chosen)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _on(chosen: set[int], run: Callable[[], Any]) -> Callable[[], Any]:
    def work() -> Any:
        with _processors(chosen), warnings.catch_warnings():
            # Of small groups, and of one of some thousand sets.
            warnings.simplefilter("ignore", ff.errors.NarrowIntervalsWarning)
            warnings.simplefilter("ignore", ff.errors.TargetMissedWarning)
            return run()

    return work


def _share_of_one_thread(work: Callable[[], Any]) -> float:
    """Return the least share of the processor time that the thread which calls has spent: what more
    threads do not shorten (Amdahl). Waiting counts for nothing, so that other work on the machine
    does not either."""
    shares = []
    for _ in range(3):
        of_thread, of_all = time.thread_time(), time.process_time()
        work()
        shares.append((time.thread_time() - of_thread) / (time.process_time() - of_all))
    return min(shares)


def one_against_two(works: Callable[[], _Works], rounds: int) -> Measurement:
    if not hasattr(os, "sched_setaffinity"):
        raise NotMeasuredError("this system does not say which processors a thread may use")
    usable = sorted(os.sched_getaffinity(0))
    if len(usable) < 2:
        raise NotMeasuredError("there is one processor alone")
    allowed = {1: set(usable[:1]), 2: set(usable[:2])}
    seconds: dict[str, dict[int, list[float]]] = {}
    alone: dict[str, float] = {}
    for name, work in works().items():
        one, two = (_on(allowed[n], work)() for n in (1, 2))
        must_agree(np.array_equal(one, two, equal_nan=True), f"{name} depends on threads")
        sides: dict[int, Clocked] = {n: _on(allowed[n], clocked(work)) for n in (1, 2)}
        seconds[name] = take_turns(sides, rounds=rounds)
        alone[name] = _share_of_one_thread(_on(allowed[2], work))
    least = {name: {n: min(taken) for n, taken in both.items()} for name, both in seconds.items()}
    body = [
        (
            name,
            in_units(by[1]),
            in_units(by[2]),
            f"{by[1] / by[2]:.2f}",
            f"{100 * alone[name]:.0f} %",
            f"{1 / (alone[name] + (1 - alone[name]) / 16):.1f}",
        )
        for name, by in least.items()
    ]
    in_all = {
        n: [sum(taken) for taken in zip(*(both[n] for both in seconds.values()), strict=True)]
        for n in (1, 2)
    }
    return Measurement(
        in_all[2],
        in_all[1],
        "the same bits",
        versions(),
        remarks=(
            "the sum of what the table lists; threads follow the processors that a process may use"
        ),
        details={
            name: {"1": by[1], "2": by[2], "share_of_one_thread": alone[name]}
            for name, by in least.items()
        },
        table=(
            (
                "work",
                "1 processor",
                "2 processors",
                "times faster",
                "of one thread",
                "with 16 at most",
            ),
            *body,
        ),
    )


ROWS = (
    Row(
        "threads",
        "six pieces of work with two processors",
        "ours with one processor",
        Against.OURS,
        NoTarget(),
        partial(one_against_two, _works, 3),
    ),
    Row(
        "threads-everything",
        f"{_EVERYTHING}, two processors",
        "ours with one processor",
        Against.OURS,
        AtLeast(1.75),
        partial(one_against_two, _everything, 9),
        "by samples of all threads, 27 % of the processor time is the interpreter's, which runs one"
        " thread at a time, so that at most 1.6 is to be had; 35 % is NumPy's, most of it short steps"
        " of inverted tests, and 27 % that of kernels. The thread that calls spends a tenth",
    ),
)
