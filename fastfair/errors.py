"""Exceptions and warnings: each message says where the problem is, what was found and what would help."""

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
        Any text.

    Returns
    -------
    str
        The text on one line, with every such character escaped.

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
        The row that caused the error, counted from 0 in the order given; None where no single row did.
    """

    def __init__(self, message: str, row: int | None = None) -> None:
        super().__init__(message)
        self.row = row


class FileFormatError(InputError):
    """The contents of a file do not fit the format that was named or recognised."""


class MissingFileError(InputError, FileNotFoundError):
    """A file to read does not exist."""

    def __str__(self) -> str:
        return str(self.args[0])


class OutputError(FastfairError, OSError):
    """A file or folder cannot be written; what it held before is unchanged."""


class WorkerError(FastfairError, RuntimeError):
    """Workers of an executor have died, or cannot reach the data."""


class NotEnoughMemoryError(FastfairError, MemoryError):
    """The system gives the process less memory than the work needs."""


class MissingDependencyError(FastfairError, ImportError):
    """A feature needs a package that is not installed."""


class FastfairWarning(UserWarning):
    """Base of every warning given by fastfair; control characters in what a message quotes are shown escaped."""

    def __init__(self, message: str = "", *more: Any) -> None:
        super().__init__(visible(message) if isinstance(message, str) else message, *more)


class EmptyGroupWarning(FastfairWarning):
    """A rate has no comparisons behind it and is NaN."""


class ReversedScoresWarning(FastfairWarning):
    """Scores look reversed: mated comparisons score as non-mated ones should."""


class DroppedWarning(FastfairWarning):
    """Comparisons or groups were left out, as the caller's arguments allow."""


class NarrowIntervalsWarning(FastfairWarning):
    """Intervals are likely to be too narrow for their confidence level."""


class FairValueOutsideWarning(NarrowIntervalsWarning):
    """By the method chosen, intervals of a fairness measure exclude the value of a fair system: they are no test."""


class LookAlikeWarning(FastfairWarning):
    """Names of two subjects or groups look alike, or a label says that there is none."""


class ContradictingLabelsWarning(FastfairWarning):
    """A few subjects have several labels of an attribute, of which the others have one each."""


class ContradictingStrataWarning(FastfairWarning):
    """Rates of groups say one thing overall, and another within strata of another attribute."""


class SharedSubjectsWarning(FastfairWarning):
    """Data that should be of other people than those judged are of some of the same, or are the same data."""


class DependentGroupsWarning(FastfairWarning):
    """Groups share subjects, although the method takes the groups to be independent."""


class OutOfReachWarning(FastfairWarning):
    """A plan needs more subjects than `max_subjects` allows."""


class NotComputableWarning(FastfairWarning):
    """A result is NaN because the data do not suffice to compute it."""


class TargetMissedWarning(FastfairWarning):
    """Simulated data do not have the error rates that were requested."""


class FewResamplesWarning(FastfairWarning):
    """There are too few bootstrap replicates for the result that they are used for."""
