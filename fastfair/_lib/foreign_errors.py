"""Turn errors that other libraries raise into errors of ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fastfair.errors import FastfairError


@contextmanager
def told_as(error: type[FastfairError], what: str) -> Iterator[None]:
    """Raise an error of ours in place of any error of another library, except those that end the program.

    These errors have many types, and those of polars need not be an `Exception`.

    Parameters
    ----------
    error : type of FastfairError
        The type to raise.
    what : str
        The beginning of its message; the first line of the other error follows.
    """
    try:
        yield
    except (FastfairError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as found:
        reason = next((line for line in str(found).splitlines() if line.strip()), type(found).__name__)
        raise error(f"{what}: {reason}") from found
