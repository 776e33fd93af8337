"""`Exclusion`: what was left out of the data, a record that travels with them into every result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal

import numpy as np

from fastfair._lib.arrays import Flags
from fastfair._lib.warnings import warn
from fastfair.errors import DroppedWarning

Reason = Literal[
    "failed",
    "missing label",
    "label conflict",
    "self-comparison",
    "attack",
    "between groups",
    "padding",
    "incomplete transaction",
    "not in all systems",
]
MOST_NAMED = 5  # examples that a sentence names


@dataclass(frozen=True)
class Exclusion:
    """Entries of the data that were left out for one reason.

    Attributes
    ----------
    n : int
        How many were left out.
    n_before : int
        How many there were before.
    entries : str
        What they are: "comparisons", "vectors", "searches", "subjects", "attempts",
        "groups".
    reason : str
        Why: "failed", "missing label", "label conflict", "self-comparison", "attack", "between
        groups", "padding", "incomplete transaction" or "not in all systems".
    because : str
        The same in words, as the sentence about them ends: "as they failed".
    policy : str
        The argument that left them out, such as 'failures="exclude"'; empty where none decides.
    n_mated, n_nonmated : int or None
        How many of them are mated and non-mated comparisons; None where that is not known.
    examples : tuple of str
        Some of them: rows, or the ids that lack a label.
    system : str or None
        The system whose data they were left out of, where several are compared.
    sentence : str
        All this in words, as the warning said it; made of the others where it is not given.

    Examples
    --------
    >>> from fastfair.data.exclusions import Exclusion
    >>> Exclusion(2, 6, "comparisons", "failed", "as they failed", 'failures="exclude"', 1, 1).sentence
    '2 of 6 comparisons left out, as they failed: 1 mated and 1 non-mated'
    """

    n: int
    n_before: int
    entries: str
    reason: Reason
    because: str
    policy: str = ""
    n_mated: int | None = None
    n_nonmated: int | None = None
    examples: tuple[str, ...] = ()
    system: str | None = None
    sentence: str = ""

    def __post_init__(self) -> None:
        if not self.sentence:
            object.__setattr__(self, "sentence", self._in_words())

    def __str__(self) -> str:
        return self.sentence

    @property
    def _kind(self) -> tuple[Any, ...]:
        """What two records share that can be added up."""
        return self.entries, self.reason, self.because, self.policy, self.system

    def _in_words(self) -> str:
        parts = [f"{self.n} of {self.n_before} {self.entries} left out, {self.because}"]
        if self.n_mated is not None:
            parts.append(f"{self.n_mated} mated and {self.n_nonmated} non-mated")
        if self.examples:
            parts.append(
                ", ".join(self.examples)
                + (", ..." if len(self.examples) == MOST_NAMED < self.n else "")
            )
        return ": ".join(parts)


Exclusions = tuple[Exclusion, ...]


def merge_exclusions(parts: Iterable[Exclusions]) -> Exclusions:
    """Add up what was left out of parts of the data, such as those of a scan."""
    merged: dict[tuple[Any, ...], Exclusion] = {}
    for exclusion in (exclusion for part in parts for exclusion in part):
        before = merged.get(exclusion._kind)
        merged[exclusion._kind] = exclusion if before is None else _sum(before, exclusion)
    return tuple(merged.values())


def _sum(first: Exclusion, second: Exclusion) -> Exclusion:
    def total(name: str) -> int | None:
        values = getattr(first, name), getattr(second, name)
        return None if None in values else sum(values)

    return replace(
        first,
        n=first.n + second.n,
        n_before=first.n_before + second.n_before,
        n_mated=total("n_mated"),
        n_nonmated=total("n_nonmated"),
        examples=(*first.examples, *second.examples)[:MOST_NAMED],
        sentence="",
    )


def exclusions_of(data: Any) -> Exclusions:
    """Return what was left out of data; nothing where they are arrays."""
    excluded: Exclusions = getattr(data, "left_out", ())
    return excluded


def exclusions_of_systems(systems: Iterable[tuple[str, Any]]) -> Exclusions:
    """Return what was left out of the data of each system: names, and data."""
    return tuple(
        replace(exclusion, system=name)
        for name, data in systems
        for exclusion in exclusions_of(data)
    )


def sentences_on_exclusions(exclusions: Exclusions) -> list[str]:
    """Say what was left out of the data; what is the same in several systems, once."""
    systems: dict[tuple[str, bool], list[str]] = {}
    for exclusion in exclusions:
        systems.setdefault((exclusion.sentence, exclusion.system is None), []).append(
            exclusion.system or ""
        )
    return [
        f"{'' if is_alone else ' and '.join(names) + ': '}{said.removesuffix('...')}"
        f"{'...' if said.endswith('...') else '.'}"
        for (said, is_alone), names in systems.items()
    ]


_gathered: ContextVar[list[Exclusion] | None] = ContextVar("gathered", default=None)


@contextmanager
def gathering() -> Iterator[list[Exclusion]]:
    """Gather what is left out inside."""
    exclusions: list[Exclusion] = []
    before = _gathered.set(exclusions)
    try:
        yield exclusions
    finally:
        _gathered.reset(before)


def leave_out(
    keep: Flags,
    entries: str,
    reason: Reason,
    because: str,
    policy: str = "",
    *,
    mated: Flags | None = None,
    examples: Iterable[str] = (),
    hint: str = "",
) -> None:
    """Warn of the entries that are not kept, and note them for whoever gathers; nothing where all
    are kept.

    Parameters
    ----------
    keep : (n,) ndarray of bool
        Which entries stay.
    entries, reason, because, policy, examples
        As in `Exclusion`.
    mated : (n,) ndarray of bool, optional
        Which of the entries are mated comparisons.
    hint : str
        A further sentence of the warning.
    """
    n = int(np.count_nonzero(~keep))
    if not n:
        return
    n_mated = None if mated is None else int(np.count_nonzero(mated & ~keep))
    record = Exclusion(
        n,
        keep.size,
        entries,
        reason,
        because,
        policy,
        n_mated,
        None if n_mated is None else n - n_mated,
        tuple(islice(examples, MOST_NAMED)),
    )
    excluded = _gathered.get()
    if excluded is not None:
        excluded.append(record)
    warn(record.sentence + (f". {hint}" if hint else ""), DroppedWarning)
