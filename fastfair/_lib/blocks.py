"""Blocks of work dealt to threads, so that progress is told between blocks."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from fastfair.errors import InputError
from fastfair.kernels._aside import deal


def count_threads(n_threads: int | None) -> int:
    """Check a number of threads; None means every processor this process may use."""
    if n_threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if isinstance(n_threads, bool) or not isinstance(n_threads, int) or n_threads < 1:
        raise InputError(f"n_threads must be a whole number of at least 1, not {n_threads!r}")
    return n_threads


def run_blocks(
    work: Callable[[int], None],
    starts: Sequence[int],
    n: int,
    size: int,
    n_threads: int | None,
    progress: Callable[[int, int], None] | None,
) -> None:
    """Do blocks of work, several at a time.

    Parameters
    ----------
    work : callable
        Called with the start of each block; writes where no other block does.
    starts : sequence of int
        Of the blocks.
    n, size : int
        All there is to do and how much of it a block does, for `progress`.
    n_threads : int or None
        As in `count_threads`.
    progress : callable or None
        Called in this thread, after each block, with what is done and `n`.
    """
    done = 0

    def told(_: int, __: None) -> None:
        nonlocal done
        done = min(done + size, n)
        if progress is not None:
            progress(done, n)

    deal(work, starts, count_threads(n_threads), told)
