"""Two calls at once: kernels and NumPy's sort release the interpreter, so threads are enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_First = TypeVar("_First")
_Second = TypeVar("_Second")
_SMALL = 50_000  # elements below which a second thread costs more than it brings


def in_threads(size: int, work: Callable[[_First], _Second], items: Sequence[_First]) -> list[_Second]:
    """Call a function for each item, two at a time where `size` elements of work are worth it."""
    if size < _SMALL or len(items) < 2:
        return [work(item) for item in items]
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(work, items))


def both(size: int, first: Callable[[], _First], second: Callable[[], _Second]) -> tuple[_First, _Second]:
    """Call two functions, at the same time where `size` elements of work are worth it."""
    if size < _SMALL:
        return first(), second()
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(second)
        return first(), other.result()
