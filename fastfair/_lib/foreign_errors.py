"""What other libraries raise, as errors of ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fastfair.errors import FastfairError


@contextmanager
def told_as(error: type[FastfairError], what: str) -> Iterator[None]:
    """Raise an error of ours for whatever another library raises, but for what ends the program.

    They raise nearly everything, and polars what is no `Exception`.

    Parameters
    ----------
    error : type of FastfairError
        Which error.
    what : str
        The beginning of its message; the first line of the other follows.
    """
    try:
        yield
    except (FastfairError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as found:
        reason = next((line for line in str(found).splitlines() if line.strip()), type(found).__name__)
        raise error(f"{what}: {reason}") from found
