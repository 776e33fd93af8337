"""Compute replicates in blocks of 64, and collect the rates, thresholds and metrics of each."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import memory
from fastfair._lib.threads import run_blocks

from .units import BLOCK

Floats = NDArray[np.float64]
_Scratch = TypeVar("_Scratch")


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


def compute_blocks(
    n: int,
    shapes: Mapping[str, tuple[int, ...]],
    new_scratch: Callable[[], _Scratch],
    compute: Callable[[_Scratch, int, dict[str, Floats]], None],
    would_do: str,
    n_threads: int | None,
    progress: Callable[[int, int], None] | None,
) -> dict[str, Floats]:
    """Compute replicates block by block, with several blocks at a time on several threads.

    Parameters
    ----------
    n : int
        Number of replicates.
    shapes : dict of tuple of int
        Names of the arrays to compute, with the shape that each has in one replicate.
    new_scratch : callable
        Returns the working memory of one thread.
    compute : callable
        Called with that memory, the number of a block's first replicate, and the block's part of each array to fill.
    would_do : str
        Advice on how to use less memory, for the error raised where there is too little.
    n_threads, progress
        As in `run_blocks`.

    Returns
    -------
    dict of (..., n) ndarray
        The arrays by name; NaN where `compute` writes nothing.
    """
    padded = -(-n // BLOCK) * BLOCK
    size = 8 * padded * sum(int(np.prod(shape)) for shape in shapes.values())
    memory.require(2 * size, f"{n:,} replicates of all rates", would_do)  # what is made of them is as large
    out = {name: np.full((*shape, padded), np.nan) for name, shape in shapes.items()}
    local = threading.local()

    def block(first: int) -> None:
        if not hasattr(local, "scratch"):
            local.scratch = new_scratch()
        compute(local.scratch, first, {name: array[..., first : first + BLOCK] for name, array in out.items()})

    run_blocks(block, range(0, padded, BLOCK), n, BLOCK, n_threads, progress)
    return {name: array[..., :n] for name, array in out.items()}
