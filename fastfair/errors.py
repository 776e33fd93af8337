"""Exceptions and warnings: each names the place, what was found and what would help."""

from __future__ import annotations

import unicodedata
from typing import Any

_LONGEST = 1500  # characters of a message, however long what it names
_ESCAPED = ("Cc", "Cf", "Cs", "Zl", "Zp")  # controls, formats such as bidi overrides, lone surrogates, line ends
_JOINERS = "\u200c\u200d"  # which some scripts spell with


def visible(text: str) -> str:
    r"""Write control characters, line ends and the like as Python's escapes do.

    Parameters
    ----------
    text : str
        Any.

    Returns
    -------
    str
        Of one line, which is shown as it is written.

    Examples
    --------
    >>> from fastfair.errors import visible
    >>> print(visible("\x1b[31mred\n\u202e"))
    \x1b[31mred\n\u202e
    """
    if text.isprintable():
        return text
    return "".join(repr(c)[1:-1] if unicodedata.category(c) in _ESCAPED and c not in _JOINERS else c for c in text)


class FastfairError(Exception):
    """Base of every error raised by fastfair; control characters in what a message quotes are shown escaped."""

    def __init__(self, message: str = "", *more: Any) -> None:
        shown = visible(message)
        if len(shown) > _LONGEST:
            shown = f"{shown[: _LONGEST // 2]} [...] {shown[-_LONGEST // 2 :]}"
        super().__init__(shown, *more)


class InputError(FastfairError, ValueError):
    """An argument cannot be used as it is.

    Attributes
    ----------
    row : int or None
        The offending row, counted from 0 in the order given, where one row is to blame.
    """

    def __init__(self, message: str, row: int | None = None) -> None:
        super().__init__(message)
        self.row = row


class FileFormatError(InputError):
    """A file is not what it was said, or seemed, to be."""


class MissingFileError(InputError, FileNotFoundError):
    """There is no such file."""

    def __str__(self) -> str:
        return str(self.args[0])


class OutputError(FastfairError, OSError):
    """A file or folder cannot be written; what was there before is still there."""


class MissingDependencyError(FastfairError, ImportError):
    """A feature needs a package that is not installed."""


class FastfairWarning(UserWarning):
    """Base of every warning given by fastfair; control characters in what a message quotes are shown escaped."""

    def __init__(self, message: str = "", *more: Any) -> None:
        super().__init__(visible(message) if isinstance(message, str) else message, *more)


class EmptyGroupWarning(FastfairWarning):
    """A rate has no comparisons behind it and is NaN."""


class ReversedScoresWarning(FastfairWarning):
    """Mated comparisons score as if they were the non-mated ones."""


class DroppedWarning(FastfairWarning):
    """Comparisons or groups were left out, as the caller had allowed."""


class NarrowIntervalsWarning(FastfairWarning):
    """Intervals are likely to be narrower than their level promises."""


class FairValueOutsideWarning(NarrowIntervalsWarning):
    """Intervals of a fairness measure leave out what a fair system has, so that they are no test."""


class DependentGroupsWarning(FastfairWarning):
    """Groups that are taken to be independent share subjects."""


class OutOfReachWarning(FastfairWarning):
    """A plan needs more subjects than `max_subjects` allows."""


class NotComputableWarning(FastfairWarning):
    """A result is NaN, as the data cannot give it."""


class TargetMissedWarning(FastfairWarning):
    """Simulated data miss the error rates that were wanted."""


class FewResamplesWarning(FastfairWarning):
    """There are too few replicates for what they are to show."""
