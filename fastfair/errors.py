"""Exceptions and warnings: each message says where the problem is, what was found and what would
help.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from functools import partial
from typing import Any, NamedTuple

_LONGEST = 1500  # characters of a message, however long what it names
# Controls, formats such as bidi overrides, lone surrogates, line ends.
_ESCAPED = ("Cc", "Cf", "Cs", "Zl", "Zp")
_BEGINS, _ENDS = "⟦⟧"  # about arguments in messages
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
    return "".join(
        repr(c)[1:-1] if unicodedata.category(c) in _ESCAPED and c not in _JOINERS else c
        for c in text
    )


class Argument(NamedTuple):
    """An argument in a message: its name, a value that is given or proposed for it, and how Python
    writes both.
    """

    name: str
    value: str
    text: str

    @property
    def marked(self) -> str:
        """The argument as a message holds it."""
        return f"{_BEGINS}{self.text}{_ENDS}"


class _Message:
    """The message of an error or warning, which marks arguments as in ⟦n_groups⟧, ⟦groups=⟧ and
    ⟦unit="subject"⟧.

    Python sees them without these brackets, and the command line writes its options instead.

    Attributes
    ----------
    parts : tuple of str and Argument
        The message.
    """

    parts: tuple[str | Argument, ...] = ()

    def _read(self, message: str) -> str:
        """Read the arguments out of a message, and return it as Python writes them."""
        first, *others = message.split(_BEGINS)
        parts: list[str | Argument] = [first]
        for text in others:
            inside, end, after = text.partition(_ENDS)
            name, _, value = inside.partition("=")
            is_argument = end and name.isidentifier()  # else somebody else's brackets
            parts += [Argument(name, value, inside), after] if is_argument else [_BEGINS + text]
        self.parts = tuple(parts)
        shown = self._in_python({})
        if len(shown) > _LONGEST:
            shown = f"{shown[: _LONGEST // 2]} [...] {shown[-_LONGEST // 2 :]}"
            self.parts = (shown,)
        return shown

    def _in_python(self, records: Mapping[str, str]) -> str:
        """Return the message as Python writes it; records: as in `FastfairError.in_records`."""
        return visible("".join(map(partial(_in_records, records), self.parts)))

    @property
    def marked(self) -> str:
        """The message for another one that quotes it, which marks the same arguments."""
        return "".join(part if isinstance(part, str) else part.marked for part in self.parts)

    def in_options(self, options: Mapping[str, str]) -> str:
        """Return the message with options in place of arguments; options: by the names of
        arguments, or by an argument with its value.
        """
        return visible("".join(map(partial(_in_options, options), self.parts)))


def _in_options(options: Mapping[str, str], part: str | Argument) -> str:
    if isinstance(part, str):
        return part
    if part.text in options:  # an option that is the contrary, such as --unpaired
        return options[part.text]
    value = "" if part.value == "True" else part.value.strip('"')
    return f"{options[part.name]} {value}".rstrip() if part.name in options else part.text


def _in_records(records: Mapping[str, str], part: str | Argument) -> str:
    if isinstance(part, str):
        return part
    record = records.get(part.name, "")
    if not record or "=" not in part.text:
        return part.text
    return f"{record}({part.text}{'' if part.value else '...'})"


# How results quote an error; the command line quotes it in options.
QUOTED: ContextVar[Callable[[Any], str]] = ContextVar("quoted", default=str)


class FastfairError(_Message, Exception):
    """Base of every error raised by fastfair; control characters in what a message quotes are shown
    escaped.
    """

    def __init__(self, message: str = "", *more: Any) -> None:
        super().__init__(self._read(message), *more)

    def in_records(self, records: Mapping[str, str]) -> None:
        """Write values of arguments as a function takes them that has these in records.

        Parameters
        ----------
        records : mapping
            Of fields, the record that a caller gives, as in {"failures": "policies=Policies"};
            of what is given by itself, "".
        """
        if any(isinstance(part, Argument) and part.name in records for part in self.parts):
            self.args = (self._in_python(records), *self.args[1:])


class InputError(FastfairError, ValueError):
    """An argument cannot be used as it is.

    Attributes
    ----------
    row : int or None
        The row that caused the error, counted from 0 in the order given; None where no single row
        did.
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


class FastfairWarning(_Message, UserWarning):
    """Base of every warning given by fastfair; control characters in what a message quotes are
    shown escaped.
    """

    def __init__(self, message: str = "", *more: Any) -> None:
        super().__init__(self._read(message) if isinstance(message, str) else message, *more)


class EmptyGroupWarning(FastfairWarning):
    """A rate has no comparisons behind it and is NaN."""


class ReversedScoresWarning(FastfairWarning):
    """Scores look reversed: mated comparisons score as non-mated ones should."""


class DroppedWarning(FastfairWarning):
    """Comparisons or groups were left out, as the caller's arguments allow."""


class NarrowIntervalsWarning(FastfairWarning):
    """Intervals are likely to be too narrow for their confidence level."""


class FairValueOutsideWarning(NarrowIntervalsWarning):
    """By the method chosen, intervals of a fairness measure exclude the value of a fair system:
    they are no test.
    """


class LookAlikeWarning(FastfairWarning):
    """Names of two subjects or groups look alike, or a label says that there is none."""


class ManyGroupsWarning(FastfairWarning):
    """An attribute has numbers, such as ages in years, each of which is a group of its own."""


class ContradictingLabelsWarning(FastfairWarning):
    """A few subjects have several labels of an attribute, of which the others have one each."""


class ContradictingStrataWarning(FastfairWarning):
    """Rates of groups say one thing overall, and another within strata of another attribute."""


class SharedSubjectsWarning(FastfairWarning):
    """Data that should be of other people than those judged are of some of the same, or are the
    same data.
    """


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
