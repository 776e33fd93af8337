"""What sessions do to intervals: how many are behind each quantity, and what they add to people."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from fastfair._lib.arrays import Floats
from fastfair.errors import visible
from fastfair.measures._registry import MATED, METRICS, NONMATED, measure_of
from fastfair.resampling.engine import Resampler

from .notes import ENOUGH_SESSIONS, FEWEST_SESSIONS, Code, Note, Noted, has_code
from .quantities import RATES, Entry, Quantity, base_metric_of_ratio, noted

_BOTH = (MATED, NONMATED)
IN_TOO_FEW = (
    f"Intervals are withheld where people share fewer than {FEWEST_SESSIONS} sessions, which do not"
    " tell how errors vary between sessions."
)
_TESTS_TOO = f" In fewer than {FEWEST_SESSIONS} sessions tests, too, are withheld."
OF_PEOPLE_ALONE = (
    "Intervals take people alone, not the sessions in which attempts are counted: they are too narrow"
    " where errors depend on sessions."
)


def remarks_on_few(groups: Sequence[str], n_sessions: Floats) -> list[str]:
    """Name groups that are in too few sessions for an interval, and in few.

    n_sessions: (groups,) of each; NaN where it is not known.
    """
    too_few = n_sessions < FEWEST_SESSIONS
    few = ~too_few & (n_sessions < ENOUGH_SESSIONS)
    return [
        f"{visible(', '.join(np.array(groups, object)[which]))}: fewer than {least} sessions, {what}."
        for which, least, what in (
            (too_few, FEWEST_SESSIONS, "which give no interval"),
            (few, ENOUGH_SESSIONS, "whose intervals are likely too narrow"),
        )
        if which.any()
    ]


def are_too_few(rows: Iterable[Noted]) -> bool:
    """Return whether sessions are too few for an interval of any row."""
    return any(has_code(row, Code.TOO_FEW_SESSIONS) for row in rows)


def sentence_on_tests(tests: str, rows: Iterable[Noted]) -> str:
    """Say which tests tell whether groups differ, and that they are withheld as intervals are."""
    withheld = _TESTS_TOO if are_too_few(rows) else ""
    return f"Whether groups differ by more than chance is for {tests}.{withheld}"


def sentences_on_ignored(rows: Iterable[Noted]) -> list[str]:
    """Say of rows whether sessions tell transactions apart alone."""
    return [OF_PEOPLE_ALONE] * any(has_code(row, Code.OF_PEOPLE_ALONE) for row in rows)


def sessions_behind(entries: Sequence[Entry], resampler: Resampler) -> Floats:
    """Count the sessions behind each entry: of its comparisons, of the group with fewest for a
    measure, and of those that hold its threshold.

    Parameters
    ----------
    entries : sequence of Entry
        The entries of an evaluation.
    resampler : Resampler
        Its resampler.

    Returns
    -------
    (entries,) ndarray
        Infinite where sessions are not known.
    """
    if resampler.comparisons.sessions is None:
        return np.full(len(entries), np.inf)
    of_all = [resampler.n_sessions(side == MATED) for side in _BOTH if _has_some(resampler, side)]
    return np.array([_behind(entry, resampler, min(of_all)) for entry in entries], np.float64)


def _behind(entry: Entry, resampler: Resampler, of_all: float) -> float:
    name = base_metric_of_ratio(entry.name) or entry.name
    cells = [entry.cell]
    if name not in METRICS and measure_of(name) is not None:
        name = name.partition("(")[2].removesuffix(")")
        cells = [(k, k) for k in resampler.measured.tolist()]
    sides = METRICS[name].sides if name in METRICS else _BOTH
    numbers = [
        resampler.n_sessions(side == MATED, cell)
        for side in sides
        for cell in cells
        if _has_some(resampler, side, cell)
    ]
    point = None if entry.point is None else resampler.points[entry.point]
    if point is not None and not point.is_given:
        numbers.append(of_all)
    return min(numbers, default=math.inf)


def _has_some(resampler: Resampler, side: str, cell: tuple[int, int] | None = None) -> bool:
    """Return whether there are comparisons of a kind in a cell."""
    mated = side == MATED
    if mated and cell is not None and cell[0] != cell[1]:
        return False
    return resampler.n_comparisons(mated, cell) > 0


def noted_effects(
    quantities: Sequence[Quantity], entries: Sequence[Entry], resampler: Resampler
) -> tuple[Quantity, ...]:
    """Note how much larger sessions make the standard errors of rates of all comparisons, and which
    of people and sessions dominate.

    quantities: of the entries, and perhaps further ones, which stay as they are.
    """
    of_entries = list(quantities)
    if resampler.comparisons.sessions is None:
        return tuple(of_entries)
    for k, entry in enumerate(entries):
        is_of_all = entry.name in RATES and entry.cell is None and entry.point is not None
        if is_of_all and not of_entries[k].is_held:
            assert entry.point is not None
            n_sessions = resampler.n_sessions(entry.name == "fnmr")
            if n_sessions < FEWEST_SESSIONS:
                continue
            effects = resampler.design_effects(entry.name == "fnmr", entry.point)
            if effects is not None:
                people, sessions, both = effects
                note = Note.of(
                    Code.EFFECT_OF_SESSIONS,
                    times=math.sqrt(both / people),
                    people=people,
                    sessions=sessions,
                    n=int(n_sessions),
                )
                of_entries[k] = noted(of_entries[k], note)
    return tuple(of_entries)


def without_pvalues(
    quantities: Sequence[Quantity], n_sessions: Floats | float
) -> tuple[Quantity, ...]:
    """Take p-values back that rest on too few sessions; n_sessions: those behind quantities."""
    numbers = np.broadcast_to(n_sessions, len(quantities)).tolist()
    return tuple(
        replace(quantity, pvalue=None)
        if quantity.pvalue is not None and n < FEWEST_SESSIONS
        else quantity
        for quantity, n in zip(quantities, numbers, strict=True)
    )


def note_of_few(n_sessions: float) -> Note:
    """Say that sessions are fewer than are enough."""
    return Note.of(Code.FEW_SESSIONS, n=int(n_sessions))
