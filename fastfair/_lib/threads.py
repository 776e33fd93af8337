"""Work dealt to threads: kernels, NumPy's sort and its products release the interpreter, so threads are enough."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from fastfair.errors import InputError
from fastfair.kernels._aside import deal

_First = TypeVar("_First")
_Second = TypeVar("_Second")
_SMALL = 50_000  # elements below which a second thread costs more than it brings


def in_threads(size: int, work: Callable[[_First], _Second], items: Sequence[_First]) -> list[_Second]:
    """Call a function for each item, two at a time where `size` elements of work are worth it."""
    if size < _SMALL or len(items) < 2:
        return [work(item) for item in items]
    found: dict[int, _Second] = {}
    deal(work, items, 2, found.__setitem__)
    return [found[k] for k in range(len(items))]


def slices(size: int, n_threads: int) -> list[slice]:
    """Cut elements into a stretch for each of at most two threads, as memory feeds no more."""
    if n_threads < 2 or size < _SMALL:
        return [slice(0, size)]
    return [slice(0, size // 2), slice(size // 2, size)]


def both(size: int, first: Callable[[], _First], second: Callable[[], _Second]) -> tuple[_First, _Second]:
    """Call two functions, at the same time where `size` elements of work are worth it."""
    calls: tuple[Callable[[], Any], ...] = (first, second)
    one, other = in_threads(size, lambda call: call(), calls)
    return one, other


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


_lock = threading.Lock()
_inside = 0
_limit: Any = None


@functools.cache
def _libraries() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()  # finds NumPy's library once, as that takes as long as a small product


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let matrix products run on the thread that calls them.

    The setting is the process's own, so the first who enters makes it and the last who leaves restores what was found.
    For threads that no interrupt strikes, as it might between the two: those of `deal` and `aside`.
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
