"""Calls whose warnings, which small data make, are not what a test is about."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from fastfair.errors import FastfairWarning


@contextmanager
def quietly(kind: type[Warning] = FastfairWarning) -> Iterator[None]:
    """Let warnings of a kind pass, in a block or as a function's decorator."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kind)
        yield
