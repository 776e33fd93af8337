"""Work of the library beside fixed work of NumPy on the same data: figures that a noisy machine
blurs least.

Both sides run on one thread for some milliseconds, some tens at most, so that an undisturbed turn
is likely. Data sets stay below the size from which two threads share sorting and curves. The
baselines never change: a ratio of today means what it meant before. What a ratio needs of the
library is imported where it is prepared, as older commits may lack it.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

import fastfair as ff
from fastfair.evaluation.result import Evaluation

from . import _data
from .versus.clock import Clocked, take_turns

Work = Callable[[], object]
Seconds = dict[str, list[float]]  # of "ours" and of the "baseline"
LEVELS = np.geomspace(1e-5, 1e-2, 24)
_SIZE = 48_000
_BLOCK = 64


class Sides(NamedTuple):
    """What is compared; the first call compiles."""

    ours: Work
    baseline: Work


def on_processors(work: Work) -> Clocked:
    """Clock the processors' time, of all threads together: waiting for one that others use counts
    for nothing."""

    def run() -> float:
        start = time.process_time()
        work()
        return time.process_time() - start

    return run


def measure_all(
    benchmarks: Mapping[str, Sides], rounds: int, clocked: Callable[[Work], Clocked] = on_processors
) -> dict[str, Seconds]:
    """Let both sides of all benchmarks take turns, after one unclocked.

    A machine is quick for some seconds and slow for others, so the turns of each benchmark are
    spread over all of them.
    """
    works = {
        (name, side): clocked(work)
        for name, sides in benchmarks.items()
        for side, work in sides._asdict().items()
    }
    seconds = take_turns(works, rounds)
    return {name: {side: seconds[name, side] for side in Sides._fields} for name in benchmarks}


def measure(
    sides: Sides, rounds: int, clocked: Callable[[Work], Clocked] = on_processors
) -> Seconds:
    """Do the same with one benchmark."""
    return measure_all({"": sides}, rounds, clocked)[""]


def ratio(seconds: Seconds) -> float:
    """Return the quickest turn of ours in units of the baseline's quickest."""
    return min(seconds["ours"]) / min(seconds["baseline"])


def _times(n: int, work: Work) -> Work:
    def repeated() -> None:
        for _ in range(n):
            work()

    return repeated


def _sorts(n: int, size: int = _SIZE) -> Work:
    """Sort random numbers of 64 bits."""
    values = np.random.default_rng(0).random(size)
    return _times(n, lambda: np.sort(values))


def _construction() -> Sides:
    columns = _data.labelled_columns(_SIZE)
    names = [columns[name] for name in ("reference", "probe", "reference_group")]
    return Sides(
        lambda: ff.Comparisons(**columns),
        lambda: (np.sort(columns["scores"]), [np.unique(name) for name in names]),
    )


def raw_to_roc(size: int) -> Sides:
    """Unsorted scores to EER and full ROC, and `np.sort` of the same scores."""
    scores, mated = _data.scores_and_flags(size)

    def ours() -> None:
        comparisons = ff.Comparisons(scores, mated)
        ff.eer(comparisons)
        ff.roc(comparisons)

    return Sides(ours, lambda: np.sort(scores))


def _raw_to_roc() -> Sides:
    return Sides(*(_times(10, work) for work in raw_to_roc(_SIZE)))


def _least_costs() -> Sides:
    comparisons = ff.Comparisons(*_data.scores_and_flags(_SIZE))

    def ours() -> None:
        ff.min_dcf(comparisons)
        ff.min_cllr(comparisons)

    return Sides(_times(30, ours), _sorts(10))


def _grouped() -> ff.Comparisons:
    return ff.Comparisons(**_data.labelled_columns(_SIZE))


def _rates() -> Sides:
    comparisons, point = _grouped(), ff.at_fmr(1e-3)
    # `by` leaves the cached split into groups behind, so that every call pays for it.
    return Sides(_times(15, lambda: ff.rates(comparisons.by("group"), point)), _sorts(8))


def _closed_form() -> Sides:
    """Evaluate with intervals in closed form, which older commits leave out."""
    comparisons, points = _grouped(), [ff.at_fmr(1e-3), ff.at_eer()]

    def ours() -> Evaluation:
        return ff.evaluate(comparisons.by("group"), at=points, n_resamples=0)

    if all(quantity.low is None for quantity in ours().quantities):
        raise RuntimeError("no intervals without replicates")
    return Sides(ours, _sorts(6))


def _sweep() -> Sides:
    from fastfair.kernels import _jit, sweep

    add_many_pairs = _jit.jit(sweep.add_many_pairs)
    rng = np.random.default_rng(0)
    n_subjects, n_pairs = 1190, 262_144
    weights = rng.poisson(1, (n_subjects, _BLOCK)).astype(np.uint8)
    a, b = rng.integers(n_subjects, size=(2, n_pairs), dtype=np.int32)
    largest, totals = int(weights.max()), np.zeros(_BLOCK, np.int64)
    # Rows of 64 KiB, which the processor's second cache holds.
    x, y, product, added = np.ones((4, 65_536), np.uint8)

    def multiply_and_add() -> None:
        np.multiply(x, y, out=product)
        np.add(added, product, out=added)

    return Sides(
        _times(8, lambda: add_many_pairs(a, b, weights, largest, 0, n_pairs, totals)),
        _times(8 * n_pairs * _BLOCK // x.size, multiply_and_add),
    )


def _replicates(
    n_resamples: int, n_baseline: int, columns: Mapping[str, Any], **asked: Any
) -> Sides:
    """Replicates of subjects, and what a replicate takes at least in NumPy: the weights of all
    comparisons, summed."""
    comparisons = ff.Comparisons(**columns)
    weights = np.random.default_rng(0).poisson(1, 1188).astype(np.int32)
    first, second = np.random.default_rng(1).integers(weights.size, size=(2, _SIZE))
    return Sides(
        lambda: ff.evaluate(comparisons, n_resamples=n_resamples, rng=0, n_threads=1, **asked),
        _times(n_baseline, lambda: np.cumsum(weights[first] * weights[second])),
    )


def _eer_replicates() -> Sides:
    columns = _data.labelled_columns(_SIZE)
    del columns["reference_group"]
    return _replicates(1024, 100, columns, at=[], metrics=["eer"], measures=[])


def _rates_replicates() -> Sides:
    points = [ff.at_fmr(fmr) for fmr in (1e-3, 3e-3, 1e-2)]
    return _replicates(512, 150, _data.labelled_columns(_SIZE), at=points, metrics=[], measures=[])


def _all_replicates() -> Sides:
    columns = _data.labelled_columns(_SIZE, n_groups=6, subjects_per_group=198)
    return _replicates(128, 200, columns, at=[ff.at_fmr(1e-2)])


def _measures() -> Sides:
    from fastfair.measures import MEASURES

    fmr, fnmr = np.random.default_rng(0).uniform(1e-4, 1e-1, (2, 300, 5, 20))
    calls = []
    for one in MEASURES.values():
        rates = (fmr,) if one.of else (fmr, fnmr)
        calls.append(
            partial(one.function, *rates, *(x.mean(axis=-1) for x in rates if one.global_reference))
        )
    return Sides(_times(4, lambda: [call() for call in calls]), _sorts(8))


def _band() -> Sides:
    from threadpoolctl import threadpool_limits

    e = _data.embeddings_of_subjects(1500, 10, 512, groups=4)

    def product() -> None:
        with threadpool_limits(1, "blas"):
            np.matmul(e.vectors, e.vectors.T)

    return Sides(lambda: ff.roc_band(e, LEVELS, n_resamples=128, rng=0, n_threads=1), product)


def _prefilter() -> Sides:
    """Few of 6 million pairs, which are searched by whole numbers, and the product of a part of the
    vectors."""
    from threadpoolctl import threadpool_limits

    e = _data.embeddings_of_subjects(3500, 10, 256)
    some, levels = e.vectors[:1500], np.geomspace(1e-5, 1e-3, 24)

    def product() -> None:
        with threadpool_limits(1, "blas"):
            np.matmul(some, some.T)

    return Sides(lambda: ff.roc_band(e, levels, n_resamples=64, rng=0, n_threads=1), product)


def _group_test() -> Sides:
    from .versus.groups import NumpyGroupTest

    failed = _data.decisions(20, 800)
    counts, numpy = _data.counted(failed), NumpyGroupTest(failed)
    return Sides(
        # `without` leaves what is known of the counts behind.
        lambda: ff.fnmr_test(
            counts.without([]), n_resamples=2048, follow_up=False, rng=0, n_threads=1
        ),
        _times(64, numpy.from_counts),
    )


def _synthesis() -> Sides:
    def ours() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ff.errors.TargetMissedWarning)
            ff.synthesis.synthesize_each(
                3000, 3000, "fmr", [0.01], n_steps=500, stop=False, rng=0, n_threads=1
            )

    return Sides(_times(2, ours), _sorts(8))


RATIOS: Mapping[str, Callable[[], Sides]] = MappingProxyType(
    {
        "construction": _construction,
        "raw-to-roc": _raw_to_roc,
        "least-costs": _least_costs,
        "rates": _rates,
        "closed-form": _closed_form,
        "sweep": _sweep,
        "eer-replicates": _eer_replicates,
        "rates-replicates": _rates_replicates,
        "all-replicates": _all_replicates,
        "measures": _measures,
        "band": _band,
        "prefilter": _prefilter,
        "group-test": _group_test,
        "synthesis": _synthesis,
    }
)
