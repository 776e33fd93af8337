"""Sessions: what attempts of several people share, such as a day, a device, a site or an operator."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import TYPE_CHECKING, Annotated, Any

from fastfair._lib.arrays import Codes
from fastfair._lib.label_codes import Coded, Labels, column_of_labels
from fastfair.errors import InputError

if TYPE_CHECKING:
    from .sorted_scores import SortedSide

ROLES = ("reference_session", "probe_session")


def _is_column(entry: object) -> bool:
    return isinstance(entry, Sized | Coded) and not isinstance(entry, str | bytes)


def _both_columns(name: str, value: Any) -> tuple[Any, Any]:
    """Return the sessions of references and of probes; the same ones where one column is given."""
    if isinstance(value, list | tuple) and len(value) == len(ROLES) and all(map(_is_column, value)):
        reference, probe = value
    else:
        reference = probe = value
    columns = [column_of_labels(name, column) for column in (reference, probe)]
    return columns[0], columns[0] if probe is reference else columns[1]


# of each comparison, or a pair: of its reference and of its probe
Sessions = Annotated[Labels | tuple[Labels, Labels], _both_columns]


def session_columns(session: Any) -> dict[str, Labels]:
    """Return the sessions of references and of probes by their names among the columns of
    comparisons; nothing without any.
    """
    return {} if session is None else dict(zip(ROLES, session, strict=True))


def named_columns(session: str | Sequence[str]) -> tuple[str, str]:
    """Return the names of the columns of references' and of probes' sessions."""
    names = [session] if isinstance(session, str) else list(session)
    return names[0], names[-1]


def sessions_of(side: SortedSide) -> tuple[Codes, Codes] | None:
    """Return the sessions of the references and of the probes of comparisons; None without any."""
    reference, probe = side.reference_session, side.probe_session
    return None if reference is None or probe is None else (reference, probe)


def refuse_sessions(sessions: object, what: str, instead: str = "") -> None:
    """Refuse data with sessions where people alone are known to depend on each other.

    Parameters
    ----------
    sessions : ndarray or None
        Those of the data.
    what : str
        What knows of people alone.
    instead : str
        What would do besides data without sessions.
    """
    if sessions is not None:
        raise InputError(
            f"{what} knows of people alone, and these data have sessions, which people share:"
            f" {instead and instead + ', or '}make the data without ⟦session=⟧ where each person has"
            " sessions of its own"
        )
