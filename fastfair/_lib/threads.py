"""Work dealt to threads: kernels, NumPy's sort and its products release the interpreter, so threads are enough."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

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
