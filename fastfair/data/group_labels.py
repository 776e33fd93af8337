"""Groups made from the labels of an attribute, or from the intersections of several attributes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from fastfair._lib import label_codes, validation
from fastfair._lib.arrays import AnyArray, Flags, Groups, Integers
from fastfair._lib.label_codes import Coded, Labels, encode, encode_with_missing
from fastfair._lib.warnings import warn
from fastfair.errors import ContradictingLabelsWarning, InputError

from .exclusions import leave_out

Grouping = tuple[str, ...]  # the attributes that groups are made of
MissingLabels = Literal["error", "drop", "unknown"]
GroupLabels = Labels | Mapping[str, Labels]  # of one attribute, or of several by name
# the codes of each column, and which rows of some have no label
LabelsAndLacking = tuple[dict[str, Coded], dict[str, Flags]]
# subjects of rows and their labels, of one column, or of references and of probes
LabelledRows = list[tuple[AnyArray, AnyArray]]
UNKNOWN = "unknown"  # label of entries without one, unless they are left out
COMPLETE = (
    'complete it, or pass ⟦missing_labels="drop"⟧ to leave these rows out, or'
    ' ⟦missing_labels="unknown"⟧ to make them a group'
)
INTERSECTION = " & "  # between the labels of several attributes
_MOST_GROUPS = 2000  # pairs of groups are counted, so that time and memory grow with the square


def attributed(grouping: Grouping, group: str) -> str:
    """Name a group with its attribute, as in "sex=f"; an intersection has several labels already."""
    return f"{grouping[0]}={group}" if len(grouping) == 1 else group


def columns_of(name: str, group: GroupLabels) -> dict[str, Any]:
    """Return one column of group labels for each attribute, with white space stripped from the
    attributes' names.
    """
    if not isinstance(group, Mapping):
        return {"group": group}
    columns: dict[str, Any] = {}
    for attribute, column in group.items():
        if not isinstance(attribute, str) or not attribute.strip():
            raise InputError(
                f"{name} has an attribute called {attribute!r}: names must be text, and not blank"
            )
        if attribute.strip() in columns:
            raise InputError(f"{name} has two attributes called {attribute.strip()!r}")
        columns[attribute.strip()] = column
    return columns


def labels_by_policy(columns: Mapping[str, Labels], policy: MissingLabels) -> LabelsAndLacking:
    """Code columns of labels of one attribute, some of which may be missing.

    Parameters
    ----------
    columns : mapping of str to array_like
        The labels, by what messages call them: of one side, or of both.
    policy : {"error", "drop", "unknown"}
        What to do with missing ones: raise an error, give them any label, as `flag_labelled` leaves them
        out, or "unknown".

    Returns
    -------
    coded : dict of Coded
    lacking : dict of (n,) ndarray of bool
        Which rows have no label, for the columns in which some have none.
    """
    if policy == "error":
        return {name: encode(name, column, COMPLETE) for name, column in columns.items()}, {}
    coded_columns = encode_with_missing(
        list(columns), list(columns.values()), UNKNOWN if policy == "unknown" else None
    )
    named = dict(zip(columns, coded_columns, strict=True))
    lacking = {name: rows for name, (_, rows) in named.items() if rows.any()}
    return {name: coded for name, (coded, _) in named.items()}, lacking


def attributes_by_policy(group: GroupLabels | None, policy: MissingLabels) -> LabelsAndLacking:
    """Code the argument `group`, a column for each attribute; policy and what is returned: as in
    `labels_by_policy`.
    """
    coded: dict[str, Coded] = {}
    lacking: dict[str, Flags] = {}
    for name, column in ({} if group is None else columns_of("group", group)).items():
        called = f"group {name!r}"
        of_column, without = labels_by_policy({called: column}, policy)
        coded[name] = of_column[called]
        lacking |= without
    return coded, lacking


def flag_labelled(lacking: Mapping[str, Flags], policy: str, n: int, entries: str) -> Flags:
    """Return which of n entries to keep, as they have all labels or "unknown" is one; warn of the
    others.
    """
    keep = np.ones(n, np.bool_)
    if policy == "drop" and lacking:
        keep = ~np.logical_or.reduce(list(lacking.values()))
        because = f"as they lack a label in {' or '.join(lacking)}"
        leave_out(keep, entries, "missing label", because, 'missing_labels="drop"')
    return keep


class TooManyGroupsError(InputError):
    """Attributes make more groups than there can be."""


def attribute(name: str, labels: AnyArray) -> tuple[str, ...]:
    """Return the distinct labels of an attribute as text; refuse more than there can be groups."""
    if labels.size > _MOST_GROUPS:
        raise InputError(
            f"{name!r} has {labels.size} labels; at most {_MOST_GROUPS} are possible. Numbers go"
            " into bands, as with label_bands, or are rounded for error_model"
        )
    text = tuple(map(str, labels))
    if len(set(text)) < len(text):
        twice = next(label for k, label in enumerate(text) if label in text[:k])
        raise InputError(f"{name!r} has two labels that are both written {twice!r}: rename one")
    return text


def check_attributes(names: tuple[str, ...], attributes: Iterable[str]) -> tuple[str, ...]:
    """Check the names of attributes given to `by`."""
    if not names:
        raise InputError(
            f"by() needs at least one attribute of {', '.join(attributes) or 'none given'}"
        )
    for k, name in enumerate(names):
        validation.choice("attribute", name, attributes)
        if name in names[:k]:
            raise InputError(f"the attribute {name!r} is given twice")
    return names


def intersections(
    names: Sequence[str],
    labels: Mapping[str, tuple[str, ...]],
    columns: Sequence[Mapping[str, Groups]],
) -> tuple[tuple[str, ...], list[Groups]]:
    """Make one group of each combination of labels that occurs.

    Parameters
    ----------
    names : sequence of str
        The attributes, in the order in which their labels are joined; without any there are no
        groups.
    labels : mapping of str to tuple of str
        The labels of each attribute.
    columns : sequence of mappings of str to (n,) uint16
        For each part of the data, such as mated and non-mated, the label of every entry as a
        position in `labels`.

    Returns
    -------
    groups : tuple of str
    codes : list of (n,) uint16
        The group of each entry of each part; empty without attributes.
    """
    groups: tuple[str, ...] = ()
    codes: list[Groups] = []
    for name in names:
        column = [part[name] for part in columns]
        more = labels[name]
        if not codes:
            groups = ("",)
            codes = [np.zeros_like(part) for part in column]
        n = len(more)
        mixed = [
            np.multiply(code, n, dtype=np.intp) + other
            for code, other in zip(codes, column, strict=True)
        ]
        occurs, position = label_codes.in_use(len(groups) * n, *mixed)
        kept = np.flatnonzero(occurs)
        if kept.size > _MOST_GROUPS:
            raise TooManyGroupsError(
                f"these attributes make {kept.size} groups; at most {_MOST_GROUPS} are possible"
            )
        groups = tuple(
            f"{groups[k // n]}{INTERSECTION}{more[k % n]}".removeprefix(INTERSECTION) for k in kept
        )
        codes = [position.astype(np.uint16)[cells] for cells in mixed]
    if len(set(groups)) < len(groups):
        twice = next(label for k, label in enumerate(groups) if label in groups[:k])
        raise InputError(
            f"two intersections of {' and '.join(names)} are both called {twice!r}: rename labels"
        )
    return groups, codes


def groups_of(columns: Mapping[str, Coded]) -> tuple[tuple[str, ...], Groups | None]:
    """Make groups of the labels of attributes; return the group of each row, None without any."""
    texts = {name: attribute(name, column.labels) for name, column in columns.items()}
    codes = {name: column.codes.astype(np.uint16) for name, column in columns.items()}
    groups, of_rows = intersections(tuple(texts), texts, [codes])
    return groups, of_rows[0] if of_rows else None


def labels_of_subjects(n: int, columns: LabelledRows) -> AnyArray | None:
    """Find the label of each of n subjects, all of whom occur; None where one has several.

    columns: the subjects of each row and their labels, such as those of references and those of
    probes.
    """
    label_of = np.full(n, -1, np.int32)
    if all(label_codes.fill_table(subject, label, label_of) for subject, label in columns):
        return label_of.astype(columns[0][1].dtype)
    return None


def _first_labels(n: int, columns: LabelledRows) -> Integers:
    """Return the (n,) first label of each subject."""
    first = np.full(n, -1, np.int64)
    for subject, label in reversed(columns):
        first[subject[::-1]] = label[::-1]
    return first


# of the subjects, at most, whose several labels are errors; more are what an attribute is like
_EXCEPTIONS = 0.25


def warn_of_exceptions(
    name: str,
    labels: AnyArray,
    subjects: AnyArray,
    columns: LabelledRows,
) -> None:
    """Warn where a few subjects have several labels of an attribute, of which the others have one
    each.

    columns: as in `labels_of_subjects`.
    """
    first = _first_labels(subjects.size, columns)
    several = np.zeros(subjects.size, np.bool_)
    for subject, label in columns:
        several[subject[label != first[subject]]] = True
    n_several = int(np.count_nonzero(several))
    if not 0 < n_several <= _EXCEPTIONS * subjects.size:
        return
    k, row, here, earlier = first_conflict(subjects.size, columns)
    who = subjects.item(columns[k][0][row])
    earlier_label, other_label = (labels.item(code) for code in (earlier, here))
    warn(
        f"{n_several} of {subjects.size} subjects have several labels of {name!r}, such as {who!r},"
        f" who is {earlier_label!r} and {other_label!r}: correct them, unless {name!r} is a"
        " property of samples and not of people",
        ContradictingLabelsWarning,
    )


def first_conflict(n: int, columns: LabelledRows) -> tuple[int, int, int, int]:
    """Return the column and the row of the first label that is not its subject's first one, that
    label, and the first.

    n, columns: as in `labels_of_subjects`, where some subject has several labels.
    """
    first = _first_labels(n, columns)
    wrong = [np.flatnonzero(first[subject] != label)[:1] for subject, label in columns]
    row, k = min((int(rows[0]), k) for k, rows in enumerate(wrong) if rows.size)
    subject, label = columns[k]
    return k, row, int(label[row]), int(first[subject[row]])


def label_of_each(subject: Coded, name: str, labels: Coded) -> Groups:
    """Find the label of each subject, who must have the same one throughout."""
    columns = [(subject.codes, labels.codes)]
    labels_of = labels_of_subjects(subject.labels.size, columns)
    if labels_of is None:
        _, row, *codes = first_conflict(subject.labels.size, columns)
        here, earlier = (labels.labels.item(code) for code in codes)
        raise InputError(
            f"group {name!r}: subject {subject.at(row)!r} is {here!r} in"
            f" row {row} (counted from 0), but {earlier!r} in another; a subject has one group",
            row=row,
        )
    return labels_of
