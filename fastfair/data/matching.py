"""Match two systems' scores of the same comparisons by the samples or subjects compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair.errors import InputError

from .comparisons import Comparisons
from .embeddings import Embeddings
from .scanned_comparisons import KeptComparisons
from .sorted_scores import SortedSide
from .vector_pairs import PairsOfVectors

_GROUPS = "reference_group", "probe_group"
_SPOKEN = {"mated": "mated", "nonmated": "non-mated"}


def match(first: Comparisons, second: Comparisons, *, one_by_one: bool) -> Comparisons:
    """Return `second` with its comparisons numbered like their counterparts in `first`.

    Parameters
    ----------
    first, second : Comparisons
        The comparisons of each system, with subjects; or those that two scans of vectors have kept.
    one_by_one : bool
        Whether no two comparisons may have the same labels, as resampling comparisons needs.

    Returns
    -------
    Comparisons
        Those of a scan as they are, as each of its pairs has the rows of its two vectors.

    Raises
    ------
    InputError
        Where the two differ in their comparisons, subjects or groups; the message gives an example.
    """
    for name, comparisons in (("first", first), ("second", second)):
        if comparisons.subjects is None:
            raise InputError(f"{name} has no subjects: comparisons are matched by reference and probe")
    _require_the_same_groups(first, second)
    by_sample = first.samples is not None and second.samples is not None
    labels = first.samples if by_sample else first.subjects
    others = second.samples if by_sample else second.subjects
    assert labels is not None
    assert others is not None
    what = "samples" if by_sample else "subjects"
    _require_the_same_labels(what, labels, others)
    if isinstance(first, KeptComparisons) or isinstance(second, KeptComparisons):
        _require_scans_of_the_same_vectors(first, second)
        return second
    sides = []
    for kind in ("mated", "nonmated"):
        pair = [getattr(comparisons, kind) for comparisons in (first, second)]
        codes = [_codes(side, by_sample, labels.size) for side in pair]
        by_group = [getattr(comparisons, f"{kind}_by_group") for comparisons in (first, second) if first.groups]
        columns = [codes, *([getattr(side, name) for side in by_group] for name in _GROUPS if by_group)]
        if not one_by_one and _are_numbered_alike(pair, columns):
            sides.append(pair[1])
            continue
        # Of comparisons with the same labels, those with the same groups belong together.
        orders = [np.lexsort(of_side[::-1]) for of_side in zip(*columns, strict=True)]
        ordered, *groups = ([of_side[order] for of_side, order in zip(both, orders, strict=True)] for both in columns)
        if not np.array_equal(*ordered):
            _refuse(kind, ordered, labels, (first, second))
        if one_by_one and (ordered[0][1:] == ordered[0][:-1]).any():
            raise InputError(
                f'unit="comparison" matches comparisons one to one, but some {_SPOKEN[kind]} comparisons have the '
                f"same reference and probe {what}: "
                + ("" if by_sample else "give reference_sample and probe_sample, or ")
                + 'use unit="subject"'
            )
        for one, other in groups:
            apart = np.flatnonzero(one != other)
            if apart.size:
                here, there = (first.groups[group[apart[0]]] for group in (one, other))
                raise InputError(
                    f"the groups of {apart.size} comparisons differ, such as "
                    f"{_compared(ordered[0][apart[0]], labels)}: {here!r} in first and {there!r} in second"
                )
        # A comparison has the number it has in `first`, so that both are drawn together.
        rows = np.empty(len(pair[1]), np.int64)
        rows[orders[1]] = _rows(pair[0])[orders[0]]
        sides.append(replace(pair[1], rows=rows))
    if sides[0] is second.mated and sides[1] is second.nonmated:
        return second
    return second._with_parts(mated=sides[0], nonmated=sides[1])


def require_the_same_vectors(first: Embeddings, second: Embeddings) -> None:
    """Refuse vectors unless they are of the same subjects, in the same groups and roles, row by row.

    Parameters
    ----------
    first, second : Embeddings
        Vectors of two systems.
    """
    _require_the_same_groups(first, second)
    _require_the_same_labels("subjects", first.subjects, second.subjects)
    pairs = [PairsOfVectors(one.subject, one.is_probe, False) for one in (first, second)]
    _require_the_same_rows(pairs, first.subjects, first.groups, (first.subject_group, second.subject_group))


def _require_the_same_groups(first: Comparisons | Embeddings, second: Comparisons | Embeddings) -> None:
    if (first.grouping, first.groups) != (second.grouping, second.groups):
        raise InputError(
            f"the groups differ: first has {_list(first.groups)} and second {_list(second.groups)}; give "
            "both the same groups"
        )


def _require_the_same_labels(what: str, labels: NDArray[Any], others: NDArray[Any]) -> None:
    if not np.array_equal(labels, others):
        known, other = set(labels.tolist()), set(others.tolist())
        raise InputError(
            f"the {what} differ: {_some(known - other)} only in first, {_some(other - known)} only in second"
        )


def _require_scans_of_the_same_vectors(first: Comparisons, second: Comparisons) -> None:
    """Refuse scans of anything else than the same vectors' pairs."""
    found = []
    for name, scan, other in (("first", first, "second"), ("second", second, "first")):
        if not isinstance(scan, KeptComparisons):
            raise InputError(f"{other} is a scan, and {name} is not: give two scans, or two that are in memory")
        if not isinstance(scan.pairs[1], PairsOfVectors):
            raise InputError(
                f"{name} is a scan of score files, which does not keep which comparison a score is of: read them with "
                "read_comparisons"
            )
        found.append(scan.pairs[1])
    assert first.subjects is not None
    groups = first.group_of_subject, second.group_of_subject
    _require_the_same_rows(found, first.subjects, first.groups, groups)


def _require_the_same_rows(
    found: Sequence[PairsOfVectors],
    subjects: NDArray[Any],
    groups: Sequence[str],
    group_of_subject: tuple[NDArray[Any] | None, NDArray[Any] | None],
) -> None:
    """Refuse two sets of vectors whose rows differ in subject, role or group; subjects and groups are the same."""
    rows = [pairs.subject for pairs in found]
    if rows[0].size != rows[1].size:
        sizes = f"{rows[0].size:,} vectors in first and {rows[1].size:,} in second"
        raise InputError(f"there are {sizes}; rows of both must be of the same samples")
    apart = np.flatnonzero(rows[0] != rows[1])
    if apart.size:
        one, other = (subjects.item(subject[apart[0]]) for subject in rows)
        raise InputError(
            f"the subjects of {apart.size:,} vectors differ, such as in row {apart[0]}: {one!r} in first and {other!r} "
            "in second; rows of both must be of the same samples"
        )
    if not found[0].same_pairs(found[1]):
        raise InputError("the roles of the vectors differ: the same rows must be references and probes in both")
    here, there = group_of_subject
    if groups and here is not None and there is not None:
        apart = np.flatnonzero(here != there)
        if apart.size:
            one, other = (groups[of_subject[apart[0]]] for of_subject in (here, there))
            raise InputError(
                f"the groups of {apart.size:,} subjects differ, such as {subjects.item(apart[0])!r}: {one!r} in "
                f"first and {other!r} in second"
            )


def _are_numbered_alike(pair: list[SortedSide], columns: list[list[NDArray[Any]]]) -> bool:
    """Tell whether the comparisons of each number are of the same labels and groups, as where lists have one order.

    columns: (n,) codes of both sides' labels, and then of their groups.
    """
    rows = [_rows(side) for side in pair]
    if rows[0].size != rows[1].size:
        return False
    n = 1 + max(int(of_side.max(initial=0)) for of_side in rows)
    for one, other in columns:
        of_number = np.full(n, -1, np.int64)
        of_number[rows[0]] = one
        if not np.array_equal(of_number[rows[1]], other):
            return False
    return True


def _rows(side: SortedSide) -> NDArray[Any]:
    assert side.rows is not None  # subjects come with them
    return side.rows


def _codes(side: SortedSide, by_sample: bool, n: int) -> NDArray[np.int64]:
    reference, probe = (side.reference_sample, side.probe_sample) if by_sample else (side.reference, side.probe)
    return np.asarray(reference, np.int64) * n + np.asarray(probe, np.int64)


def _compared(code: int, labels: NDArray[Any]) -> str:
    reference, probe = divmod(int(code), labels.size)
    return f"{labels.item(reference)!r} with {labels.item(probe)!r}"


def _refuse(
    kind: str, ordered: list[NDArray[np.int64]], labels: NDArray[Any], systems: tuple[Comparisons, Comparisons]
) -> None:
    failed = [one.failed for one in systems]
    would_do = (
        '. Comparisons that failed were left out: read both systems with failures="non-match", or leave those that '
        "failed in either out of both"
        if any(one is not None and one.policy == "exclude" and one.n for one in failed)
        else ""
    )
    counted = [dict(zip(*np.unique(codes, return_counts=True), strict=True)) for codes in ordered]
    for k, name in enumerate(("first", "second")):
        more = [code for code, n in counted[k].items() if n > counted[1 - k].get(code, 0)]
        if more:
            raise InputError(
                f"the {_SPOKEN[kind]} comparisons differ: {name} has {len(ordered[k]):,} and {len(more):,} pairs that "
                f"the other lacks or has less often, such as {_compared(more[0], labels)}{would_do}"
            )


def _some(labels: set[Any]) -> str:
    shown = sorted(map(repr, labels))[:3]
    return f"{len(labels)} ({', '.join(shown)})" if labels else "none"


def _list(groups: tuple[str, ...]) -> str:
    return ", ".join(map(repr, groups)) if groups else "none"
