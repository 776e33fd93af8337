"""Find which columns describe references and which describe probes; refuse one side's column for both."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fastfair._lib.text import did_you_mean, not_there
from fastfair.errors import InputError

if TYPE_CHECKING:
    from fastfair._lib.frames import FrameColumns

# Words that name the side in names of columns: any of the first kind goes with any of the second.
_SIDES = (
    (("reference", "ref", "bio_ref", "enrol", "enroll", "enrolment", "enrollment", "enrolled", "gallery", "template"),
     ("probe", "test", "query", "verification")),
    (("left", "l"), ("right", "r")),
    (("first", "one", "1"), ("second", "two", "2")),
    (("0",), ("1",)),
    (("a",), ("b",)),
    (("i",), ("j",)),
    (("x",), ("y",)),
)  # fmt: skip
_WORDS = re.compile(r"bio_ref|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|.", re.DOTALL)
_SEPARATORS = " _-."

Pair = tuple[str, str]


def named(groups: str | Sequence[Any] | None) -> list[Any]:
    """Return the argument `groups` as a list of names, or of pairs of names."""
    return [groups] if isinstance(groups, str) else list(groups or [])


def chosen(place: object, groups: Sequence[Any], known: list[str]) -> dict[str, Pair]:
    """Find the two columns, of references and of probes, that hold each attribute.

    Parameters
    ----------
    place : path or str
        The file or data frame, for messages.
    groups : sequence of str or of pairs of str
        Each attribute is the name of one column for both sides; or "x", what the names of two columns share, as in
        "reference_x" and "probe_x" or "x_1" and "x_2"; or a pair of columns, and its name is then what their names
        share, or the first name.
    known : list of str
        All columns.

    Returns
    -------
    dict of str to tuple of str
        The columns of references and of probes, by attribute.

    Raises
    ------
    InputError
        For columns that do not exist, and for the column of one side if there is one of the other side.
    """
    attributes: dict[str, Pair] = {}
    for group in groups:
        name, pair = _of_pair(place, group, known) if isinstance(group, tuple) else _of_name(place, group, known)
        if attributes.get(name, pair) != pair:
            raise InputError(f"groups has two attributes called {name!r}: {attributes[name]} and {pair}")
        attributes[name] = pair
    return attributes


def labels_of_sides(
    columns: FrameColumns, reference: str | Sequence[str] | None, probe: str | Sequence[str] | None
) -> tuple[Any, Any]:
    """Return the labels of references and of probes by attribute, or None for a side without columns."""
    sides = [None if names is None else named(names) for names in (reference, probe)]
    first, second = (sides[0] or sides[1] or []), (sides[1] or sides[0] or [])
    for name in first if None in sides else ():
        require_both_sides(name, columns.names)
    if len(first) != len(second):
        raise InputError(
            f"reference_group has {len(first)} columns and probe_group {len(second)}: give one of each for every "
            "attribute"
        )
    attributes = list(map(shared_name, first, second))
    if len(set(attributes)) < len(attributes):
        raise InputError(f"two attributes would have one name: {', '.join(attributes)}; rename the columns")
    of_reference, of_probe = (
        None if names is None else dict(zip(attributes, map(columns.labels, names), strict=True)) for names in sides
    )
    return of_reference, of_probe


def present(name: str, known: Sequence[str]) -> Pair | None:
    """Return the columns of an attribute for references and probes, or None."""
    return next(iter(_holding(name, known)), None)


def _holding(name: str, known: Sequence[str]) -> list[Pair]:
    """Return the pairs of columns that may hold an attribute: the plainest, or all whose names share its name."""
    for prefix in ("reference_", "bio_ref_"):
        if f"{prefix}{name}" in known and f"probe_{name}" in known:
            return [(f"{prefix}{name}", f"probe_{name}")]
    if name in known:
        return [(name, name)]
    return [pair for pair, shared in _pairs(known).items() if shared == name]


def _pairs(known: Sequence[str]) -> dict[Pair, str]:
    """Return what the names of two sides' columns share, for all such pairs."""
    return {pair: shared_name(*pair) for name in known if (pair := sides(name, known)) is not None}


def shared_name(reference: str, probe: str) -> str:
    """Return what the names of two sides' columns share, or the reference's name if they share nothing."""
    for key, name in _keys(reference):
        if name == probe or any(key[:2] == other[:2] and key[2] != other[2] for other, _ in _keys(probe)):
            return name
    if any(name == reference for _, name in _keys(probe)):
        return reference
    return reference.removeprefix("reference_").removeprefix("bio_ref_")


def sides(name: str, known: Sequence[str]) -> Pair | None:
    """Return a column and that of the other side, references first; None if there is no other.

    The other's name differs in the word for the side; or, if no column's does, it lacks such a word.
    """
    pair = _opposite(name, known)
    if pair is not None:
        return pair
    for other in known:
        for one, plain in ((name, other), (other, name)):
            for (_, _, side), rest in _keys(one):
                if rest == plain and _opposite(one, known) is None:
                    return (plain, one) if side else (one, plain)
    return None


def _opposite(name: str, known: Sequence[str]) -> Pair | None:
    keys = [key for key, _ in _keys(name)]
    for other in known:
        for key, _ in _keys(other):
            for pairing, rest, side in keys:
                if key == (pairing, rest, 1 - side):
                    return (other, name) if side else (name, other)
    return None


def require_both_sides(name: str, known: Sequence[str]) -> None:
    """Refuse one column for both sides if there is another column for the other side."""
    pair = sides(name, known)
    if pair is not None:
        raise InputError(
            f"column {name!r} holds the labels of one side: give reference_group={pair[0]!r} and "
            f"probe_group={pair[1]!r}; {_alone(name)}"
        )


def _of_pair(place: object, pair: Pair, known: list[str]) -> tuple[str, Pair]:
    for name in pair:
        if name not in known:
            raise InputError(not_there(place, name, known))
    return shared_name(*pair), pair


def _of_name(place: object, group: str, known: list[str]) -> tuple[str, Pair]:
    held = _holding(group, known)
    if held == [(group, group)] and (pair := sides(group, known)) is not None:
        raise InputError(f"{place}: column {group!r} holds the labels of one side: {_advice(pair)}; {_alone(group)}")
    if len(held) == 1:
        return group, held[0]
    if held:
        raise InputError(
            f"{place}: several pairs of columns hold {group!r}: {' and '.join(map(str, held))}; give one of these "
            "pairs in groups, on the command line with --reference-group and --probe-group"
        )
    pairs = _pairs(known)
    near = next((pair for pair, name in pairs.items() if did_you_mean(group, [name])), None)
    for_both = [name for name in known if not any(name in pair for pair in pairs)]
    hint = did_you_mean(group, for_both)
    if near:
        hint = (
            f" (did you mean {pairs[near]!r}, of which {near[0]!r} and {near[1]!r} hold the labels of the two sides?)"
        )
    raise InputError(
        f"{place} has no column {group!r}, nor reference_{group} and probe_{group}{hint}; its columns are "
        f"{', '.join(known)}. To read labels from a table of subjects, give metadata= and metadata_id="
    )


def _advice(pair: Pair) -> str:
    reference, probe = pair
    return (
        f"{reference!r} and {probe!r} hold the labels of the two sides, so give the pair ({reference!r}, {probe!r}) in "
        f"groups, on the command line --reference-group {reference} --probe-group {probe}"
    )


def _alone(name: str) -> str:
    return f"if {name!r} holds for both sides, give it as the column of both"


def _keys(name: str) -> list[tuple[tuple[int, Pair, int], str]]:
    """Return, for each word that may name a side, (pair of words, text around it, side), and the name without it."""
    words = _WORDS.findall(name)
    found = []
    for k, word in enumerate(words):
        before, after = "".join(words[:k]), "".join(words[k + 1 :])
        if not (before + after).strip(_SEPARATORS):
            continue  # a column with no other word, such as "a", holds no attribute
        if len(word) == 1 and word.isalpha() and not _stands_alone(before, word, after):
            continue
        for pairing, both in enumerate(_SIDES):
            for side in (0, 1):
                if word.lower() in both[side]:
                    rest = before.rstrip(_SEPARATORS) if not after else before + after.lstrip(_SEPARATORS)
                    found.append(((pairing, (before, after), side), rest))
    return found


def _stands_alone(before: str, letter: str, after: str) -> bool:
    """Return whether a letter is a word of its own: between separators, or a capital after a small letter."""
    begins = not before or before[-1] in _SEPARATORS or (letter.isupper() and before[-1].islower())
    return begins and (not after or after[0] in _SEPARATORS)
