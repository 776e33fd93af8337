"""Compute replicates in blocks of 64, and collect the rates, thresholds and metrics of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import memory
from fastfair._lib.jobs import Arrays, do_job
from fastfair._lib.progress import Report
from fastfair._lib.threads import run_blocks
from fastfair._lib.workers import Workers

from .units import BLOCK

Floats = NDArray[np.float64]
_UNFINISHED = "unfinished"  # the name of a further array: which replicates need more than was at hand


class TooFewKeptError(Exception):
    """A block needs comparisons that were not sent along with those kept."""


@dataclass(frozen=True, eq=False)
class Replicates:
    """Thresholds, rates and metrics of every replicate, with replicates on the last axis; or, without it, of the data.

    Attributes
    ----------
    threshold : (points, r) ndarray
        Thresholds on the scale of the scores; NaN where there is none.
    fmr : (points, 1 + groups + cells, r) ndarray
        False match rates: overall, of each group, of each pair of groups in `cells`; NaN where not computed.
    fnmr : (points, 1 + groups, r) ndarray
        False non-match rates: overall and of each group.
    metrics : dict of (1 + groups, r) ndarray
        EER, minDCF, Cllr and min Cllr, overall and of each group.
    cells : tuple of tuple of int
        Pairs of different groups: that of the reference and that of the probe.
    """

    threshold: Floats
    fmr: Floats
    fnmr: Floats
    metrics: dict[str, Floats] = field(default_factory=dict)
    cells: tuple[tuple[int, int], ...] = ()


class Drawing(Protocol):
    """What draws replicates, in blocks of 64. It can be pickled, with all the data that this needs."""

    @property
    def shapes(self) -> Mapping[str, tuple[int, ...]]:
        """Names of the arrays to compute, with the shape that each has in one replicate."""

    def new_scratch(self) -> Any:
        """Return the working memory of one thread."""

    def compute(self, scratch: Any, first: int, out: dict[str, Floats]) -> None:
        """Compute a block.

        Parameters
        ----------
        scratch : object
            Working memory.
        first : int
            Number of the block's first replicate.
        out : dict of (..., 64) ndarray
            The block's part of each array, to be filled; NaN where nothing is written.

        Raises
        ------
        TooFewKeptError
            Where it was sent to another process without data that the block needs.
        """


def compute_blocks(n: int, drawing: Drawing, would_do: str, workers: Workers) -> dict[str, Floats]:
    """Compute replicates block by block, with several blocks at a time.

    Parameters
    ----------
    n : int
        Number of replicates.
    drawing : Drawing
        What draws them.
    would_do : str
        Advice on how to use less memory, for the error raised where there is too little.
    workers : Workers
        Who computes them.

    Returns
    -------
    dict of (..., n) ndarray
        The arrays by name.
    """
    shapes = drawing.shapes
    size = 8 * _padded(n) * sum(int(np.prod(shape)) for shape in shapes.values())
    memory.require(2 * size, f"{n:,} replicates of all rates", would_do)  # what is made of them is as large
    found: dict[str, Floats] = {}
    unfinished: list[int] = []
    job = _Blocks(drawing)

    def take(steps: range, arrays: Arrays) -> None:
        unfinished.extend(steps[k] for k in np.flatnonzero(arrays.pop(_UNFINISHED)[::BLOCK]) * BLOCK)
        for name, array in arrays.items():
            if len(steps) == n:
                found[name] = array
                continue
            if name not in found:
                found[name] = np.empty((*shapes[name], n))
            found[name][..., steps.start : steps.stop] = array

    do_job(job, n, BLOCK, workers, f"{n:,} replicates", take)

    def finish(start: int) -> None:
        steps = range(start, min(start + BLOCK, n))
        arrays = job.run(steps, 1, None)
        if arrays.pop(_UNFINISHED).any():
            raise TooFewKeptError
        for name, array in arrays.items():
            found[name][..., steps.start : steps.stop] = array

    run_blocks(finish, unfinished, n, BLOCK, workers.n_threads, None)  # here, where all data are
    return found


@dataclass(frozen=True, eq=False)
class _Blocks:
    """Replicates as a job, whose steps they are; parts begin at a block."""

    drawing: Drawing
    _free: list[Any] = field(default_factory=list)  # working memory, which the next thread or part uses again

    def __reduce__(self) -> tuple[type, tuple[Drawing]]:
        return _Blocks, (self.drawing,)

    def run(self, steps: range, n_threads: int | None, told: Report | None) -> Arrays:
        n = len(steps)
        out = {name: np.full((*shape, _padded(n)), np.nan) for name, shape in self.drawing.shapes.items()}
        unfinished = np.zeros(n, np.bool_)

        def block(start: int) -> None:
            try:
                scratch = self._free.pop()
            except IndexError:
                scratch = self.drawing.new_scratch()
            parts = {name: array[..., start : start + BLOCK] for name, array in out.items()}
            try:
                self.drawing.compute(scratch, steps.start + start, parts)
            except TooFewKeptError:
                unfinished[start : start + BLOCK] = True
            self._free.append(scratch)

        run_blocks(block, range(0, n, BLOCK), n, BLOCK, n_threads, told)
        return {name: array[..., :n] for name, array in out.items()} | {_UNFINISHED: unfinished}


def _padded(n: int) -> int:
    return -(-n // BLOCK) * BLOCK
