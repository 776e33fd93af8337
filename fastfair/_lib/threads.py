"""Share work among threads; kernels, NumPy's sort and its products run at the same time in several
threads.
"""

from __future__ import annotations

import functools
import itertools
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from fastfair.errors import InputError
from fastfair.kernels._aside import deal, deal_in_order, free_in_forks, run_beside

from .warnings import Told, give_warnings, hold_warnings

_First = TypeVar("_First")
_Second = TypeVar("_Second")
_MOST = 1024  # threads
_SMALL = 50_000  # with fewer elements a second thread costs more time than it saves
_here = threading.local()  # `alone`: whether this thread does all of its work itself


def in_threads(
    size: int,
    work: Callable[[_First], _Second],
    items: Sequence[_First],
    n_threads: int | None = None,
) -> list[_Second]:
    """Call a function for each item, in `n_threads` threads if `size` elements of work are enough
    for two.
    """
    if size < _SMALL or len(items) < 2 or getattr(_here, "alone", False):
        return [work(item) for item in items]
    results: dict[int, _Second] = {}
    deal(work, items, count_threads(n_threads), results.__setitem__)
    return [results[k] for k in range(len(items))]


def run_in_order(
    work: Callable[[_First], _Second],
    items: Sequence[_First],
    n_threads: int | None = None,
    ahead: int = 0,
) -> Iterator[_Second]:
    """Call a function for each item in `n_threads` threads, and yield what it returns in the order
    of the items.

    Each item is worked on by one thread alone, whose own calls of `in_threads` start no others; a
    single item, or items for a single thread, are worked on in the thread that asks for them.
    Warnings are given in that thread.

    Parameters
    ----------
    work : callable
        Called with an item.
    items : sequence
        The items.
    n_threads : int, optional
        All processors by default.
    ahead : int, default 0
        How many results may wait until they are asked for, besides as many as there are threads.
    """
    n = min(count_threads(n_threads), len(items))
    if n < 2:
        yield from map(work, items)
        return

    def held_back(item: _First) -> tuple[_Second, Told]:
        with alone(), hold_warnings() as warned:
            return work(item), warned

    for result, warned in deal_in_order(held_back, items, n, n + ahead):
        give_warnings(warned)
        yield result


@contextmanager
def meanwhile(
    call: Callable[[], _Second], n_threads: int | None = None
) -> Iterator[Callable[[], _Second]]:
    """Call a function while this thread goes on, and give what returns its result, and its
    warnings.

    With one thread it is called when its result is asked for.
    """
    if count_threads(n_threads) < 2 or getattr(_here, "alone", False):
        yield call
        return

    def held_back() -> tuple[_Second, Told]:
        with hold_warnings() as warned:
            return call(), warned

    def result() -> _Second:
        value, warned = wait()
        give_warnings(warned)
        return value

    with run_beside(held_back) as wait:
        yield result


@contextmanager
def alone() -> Iterator[None]:
    """Let this thread do all work inside itself."""
    before = getattr(_here, "alone", False)
    _here.alone = True
    try:
        yield
    finally:
        _here.alone = before


def slices(size: int, n_threads: int) -> list[slice]:
    """Cut elements into one slice for each thread, or into fewer where they are too few for a
    thread each.
    """
    n = max(1, min(n_threads, size // (_SMALL // 2)))
    ends = [size * k // n for k in range(n + 1)]
    return [slice(*both_ends) for both_ends in itertools.pairwise(ends)]


def count_threads(n_threads: int | None) -> int:
    """Check a number of threads; None means one for each processor that this process may use."""
    if n_threads is None:
        return (
            len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else os.cpu_count() or 1
        )
    if isinstance(n_threads, bool) or not isinstance(n_threads, int) or n_threads < 1:
        raise InputError(f"⟦n_threads⟧ must be a whole number of at least 1, not {n_threads!r}")
    return min(n_threads, _MOST)


def run_blocks(
    work: Callable[[int], None],
    starts: Sequence[int],
    n: int,
    size: int,
    n_threads: int | None,
    progress: Callable[[int, int], None] | None,
) -> None:
    """Run blocks of work in several threads.

    Parameters
    ----------
    work : callable
        Called with the start of each block; two blocks must not write to the same place.
    starts : sequence of int
        Where each block starts.
    n, size : int
        Size of all the work and of one block, for `progress`.
    n_threads : int or None
        As in `count_threads`.
    progress : callable or None
        Called in this thread, after each block, with the work done and `n`.
    """
    done = 0

    def report_block(_: int, __: None) -> None:
        nonlocal done
        done = min(done + size, n)
        if progress is not None:
            progress(done, n)

    deal(work, starts, count_threads(n_threads), report_block)


_lock = threading.Lock()
free_in_forks(_lock)
_inside = 0
_limit: Any = None


@functools.cache
def _libraries() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()  # searched for once, as this takes as long as a small product


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let each matrix product run only in the thread that calls it.

    The setting belongs to the process: the first thread that enters makes it, and the last one that
    leaves undoes it. Only the threads of `deal` and `run_aside` may call this, as an interrupt of
    the main thread might prevent the undoing.
    """
    global _inside, _limit
    with _lock:
        _inside += 1
        if _inside == 1:
            _limit = _libraries().limit(limits=1, user_api="blas")
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _limit.restore_original_limits()
