"""Round whole numbers up, without floats."""

from __future__ import annotations


def divide_up(n: int, size: int) -> int:
    """Return how many parts of a size hold n.

    >>> divide_up(10, 4)
    3
    """
    return -(-n // size)


def round_up(n: int, step: int) -> int:
    """Return the first multiple of a step that is at least n.

    >>> round_up(10, 4)
    12
    """
    return divide_up(n, step) * step
