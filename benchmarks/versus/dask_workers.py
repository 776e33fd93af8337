"""The row of Dask: what a second worker of one thread brings, and what handing out tasks costs."""

from __future__ import annotations

import importlib.metadata
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fastfair as ff
from benchmarks._data import embeddings_of_subjects

from . import scans
from .clock import clocked
from .common import must_agree, scratch_folder, versions
from .construction import columns
from .many_pairs import REPLICATES
from .rows import Against, Measurement, NotMeasuredError, Row
from .targets import AtLeast, in_units

_SIZE, _REPLICATES = 10_000_000, 50_000
_VECTORS, _SAMPLES, _DIM = 50_000, 10, 512
_LEVELS = np.geomspace(1e-6, 1e-2, 24)
_TIMES = 1.8
_OVERHEAD = 0.03
_ALONE, _ONE, _TWO = "one thread", "one worker", "two workers"
_ROUNDS = 2
_OF_LITTLE = 1_000_000  # comparisons

_Work = Callable[..., NDArray[Any]]  # of n_threads or an executor; returns replicates


def _evaluation(size: int, n_resamples: int) -> _Work:
    comparisons = ff.Comparisons(**columns(size))
    points = [ff.at_fmr(1e-3), ff.at_fmr(1e-4)]

    def work(**who: Any) -> NDArray[Any]:
        found = ff.evaluate(
            comparisons,
            points,
            ["garbe", "fdr"],
            metrics=["eer"],
            n_resamples=n_resamples,
            rng=0,
            **who,
        )
        assert found.uncertainty is not None
        return found.uncertainty.replicates

    return work


def _band(n: int, n_resamples: int) -> _Work:
    embeddings = embeddings_of_subjects(n, _SAMPLES, _DIM)
    return lambda **who: (
        ff.roc_band(embeddings, _LEVELS, n_resamples=n_resamples, rng=0, **who).replicates
    )


def _scan(folder: Path) -> _Work:
    """Return what reads and evaluates the files in a folder, which threads of this process do with
    all processors."""

    def work(executor: Any) -> NDArray[Any]:
        found = scans.evaluate(folder, executor=executor)
        assert found.uncertainty is not None
        return found.uncertainty.replicates

    return work


# What is clocked, by the function that makes it: with little data, and with much.
_WORKS: dict[str, tuple[Callable[[int, int], _Work], tuple[int, int], tuple[int, int]]] = {
    f"evaluation of {_SIZE:,} comparisons, {_REPLICATES:,} replicates": (
        _evaluation,
        (100_000, 1024),
        (_SIZE, _REPLICATES),
    ),
    f"ROC band over {_VECTORS:,} vectors x {_DIM}, 1,000 replicates": (
        _band,
        (2000, 1024),
        (_VECTORS, 1000),
    ),
}


@contextmanager
def _workers(n: int) -> Iterator[Any]:
    """Start workers of one thread on this machine, and give the client."""
    try:
        distributed = importlib.import_module("distributed")
    except ImportError as error:
        raise NotMeasuredError("it needs Dask: install the extra `dask`") from error
    with (
        distributed.LocalCluster(
            n_workers=n,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.wait_for_workers(n)
        yield client


def _rounds(work: _Work, sides: dict[str, dict[str, Any]], name: str) -> dict[str, list[float]]:
    """Clock the sides in turns; their replicates are the same to the last bit."""
    seconds: dict[str, list[float]] = {side: [] for side in sides}
    found: dict[str, NDArray[Any]] = {}

    def run(side: str) -> None:
        found[side] = work(**sides[side])

    for _ in range(_ROUNDS):
        for side in sides:
            seconds[side].append(clocked(partial(run, side))())
    must_agree(
        all(np.array_equal(found[_TWO], one, equal_nan=True) for one in found.values()),
        f"{name} differs",
    )
    return seconds


def one_against_two() -> Measurement:
    seconds: dict[str, dict[str, list[float]]] = {}
    with warnings.catch_warnings(), _workers(1) as one, _workers(2) as two:
        warnings.simplefilter("ignore", UserWarning)  # of Dask: large data is handed out
        sides: dict[str, dict[str, Any]] = {
            _ALONE: {"n_threads": 1},
            _ONE: {"executor": one},
            _TWO: {"executor": two},
        }
        for name, (make, few, many) in _WORKS.items():
            little = make(*few)
            for who in sides.values():
                little(**who)  # so that no worker imports or compiles while the clock runs
            seconds[name] = _rounds(make(*many), sides, name)
        with scratch_folder() as folder:
            workers = {_ONE: sides[_ONE], _TWO: sides[_TWO]}
            scans.write(folder, _OF_LITTLE)
            for who in workers.values():
                scans.evaluate(folder, **who)
            scans.write(folder)
            name = (
                f"scan of {scans.SIZE:,} comparisons and its evaluation, {REPLICATES:,} replicates"
            )
            seconds[name] = _rounds(_scan(folder), workers, name)
    least = {name: {side: min(taken) for side, taken in by.items()} for name, by in seconds.items()}
    times = {name: by[_ONE] / by[_TWO] for name, by in least.items()}
    costs = {name: by[_ONE] / by[_ALONE] - 1 for name, by in least.items() if _ALONE in by}
    body = [
        (
            name,
            *(in_units(by[side]) if side in by else "-" for side in sides),
            f"{times[name]:.2f}",
            f"{100 * costs[name]:.1f} %" if name in costs else "-",
        )
        for name, by in least.items()
    ]
    of_workers = (_ONE, _TWO)
    sums = {
        side: [sum(taken) for taken in zip(*(by[side] for by in seconds.values()), strict=True)]
        for side in of_workers
    }
    return Measurement(
        sums[_TWO],
        sums[_ONE],
        "the same bits",
        versions() | {"distributed": importlib.metadata.version("distributed")},
        also_met=min(times.values()) >= _TIMES and max(costs.values()) <= _OVERHEAD,
        remarks=(
            f"the sum of what the table lists; aim for each: {_TIMES} times as fast with two"
            f" workers, and with one at most {100 * _OVERHEAD:.0f} % slower than in one thread of"
            " this process"
        ),
        details={
            name: {**by, "times_faster": times[name], "cost": costs.get(name)}
            for name, by in least.items()
        },
        table=(("work", *sides, "times faster", "cost of a worker"), *body),
    )


ROWS = (
    Row(
        "dask-workers",
        f"an evaluation of {_SIZE:,} comparisons, a band over {_VECTORS:,} vectors, and a scan of"
        f" {scans.SIZE:,} with its evaluation, by two local Dask workers of one thread each",
        "ours by one worker",
        Against.OURS,
        AtLeast(_TIMES),
        one_against_two,
        "reading results, intervals and what precedes the tasks happen in the process that calls,"
        " which also puts the comparisons of a scan into buckets; Dask carries what was read"
        " through its scheduler",
    ),
)
