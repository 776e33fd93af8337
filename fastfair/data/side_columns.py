"""Find which columns describe references and which describe probes; refuse one side's column for
both.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from fastfair._lib.text import did_you_mean, not_there
from fastfair.errors import InputError

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


def names_of_groups(groups: str | Sequence[Any] | None) -> list[Any]:
    """Return the argument `groups` as a list of names, or of pairs of names."""
    return [groups] if isinstance(groups, str) else list(groups or [])


_OF_SUBJECTS = "To read labels from a table of subjects, give ⟦metadata=⟧ and ⟦metadata_id=⟧"


def find_columns(
    source: object, groups: Sequence[Any], names: list[str], elsewhere: str = _OF_SUBJECTS
) -> dict[str, Pair]:
    """Find the two columns, of references and of probes, that hold each attribute.

    Parameters
    ----------
    source : path or str
        The file or data frame, for messages.
    groups : sequence of str or of pairs of str
        Each attribute is the name of one column for both sides; or "x", what the names of two
        columns share, as in "reference_x" and "probe_x" or "x_1" and "x_2"; or a pair of columns,
        and its name is then what their names share, or the first name.
    names : list of str
        All columns.
    elsewhere : str
        What a message says of other places that may hold them.

    Returns
    -------
    dict of str to tuple of str
        The columns of references and of probes, by attribute.

    Raises
    ------
    InputError
        For columns that do not exist, and for the column of one side if there is one of the other
        side.
    """
    attributes: dict[str, Pair] = {}
    for group in groups:
        if isinstance(group, tuple):
            if unknown := [column for column in group if column not in names]:
                raise InputError(not_there(source, unknown[0], names))
            name = shared_name(*group)
            pair = group
        else:
            name, pair = _of_name(source, group, names, elsewhere)
        if attributes.get(name, pair) != pair:
            raise InputError(
                f"groups has two attributes called {name!r}: {attributes[name]} and {pair}"
            )
        attributes[name] = pair
    return attributes


def pairs_that_hold(name: str, columns: Sequence[str]) -> list[Pair]:
    """Return the pairs of columns that may hold an attribute: the plainest, or all whose names
    share its name.
    """
    for prefix in ("reference_", "bio_ref_"):
        if f"{prefix}{name}" in columns and f"probe_{name}" in columns:
            return [(f"{prefix}{name}", f"probe_{name}")]
    if name in columns:
        return [(name, name)]
    return [pair for pair, shared in _pairs(columns).items() if shared == name]


def _pairs(names: Sequence[str]) -> dict[Pair, str]:
    """Return the columns of both sides, references first, and what the names of each pair share.

    The names of two columns differ in the word for the side; or, if no other column's does, one
    lacks such a word.
    """
    keys = {name: _keys(name) for name in names}
    column = {(key, side): name for name in names for key, side, _ in keys[name]}
    pairs: dict[Pair, str] = {}
    for name in names:
        for key, side, rest in keys[name]:
            if (other := column.get((key, 1 - side))) is not None:
                pairs[(other, name) if side else (name, other)] = rest
    paired = {name for pair in pairs for name in pair}
    for name in names:
        for _, side, rest in keys[name] if name not in paired else ():
            if rest in names:
                pairs[(rest, name) if side else (name, rest)] = rest
    return pairs


def shared_name(reference: str, probe: str) -> str:
    """Return what the names of two sides' columns share, or the reference's name if they share
    nothing.
    """
    plain = reference.removeprefix("reference_").removeprefix("bio_ref_")
    return next(iter(_pairs([reference, probe]).values()), plain)


def _of_name(source: object, group: str, columns: list[str], elsewhere: str) -> tuple[str, Pair]:
    held = pairs_that_hold(group, columns)
    pairs = _pairs(columns)
    pair = next((pair for pair in pairs if group in pair), None)
    if held == [(group, group)] and pair is not None:
        raise InputError(
            f"{source}: column {group!r} holds the labels of one side: give"
            f" ⟦reference_group={pair[0]!r}⟧ and ⟦probe_group={pair[1]!r}⟧, or the pair {pair} in"
            f" groups; if {group!r} holds for both sides, give it as the column of both"
        )
    if len(held) == 1:
        return group, held[0]
    if held:
        raise InputError(
            f"{source}: several pairs of columns hold {group!r}: {' and '.join(map(str, held))};"
            " give one of these pairs in groups, on the command line with --reference-group and"
            " --probe-group"
        )
    of_one_side = {name for pair in pairs for name in pair}
    hint = did_you_mean(
        group, [*pairs.values(), *(name for name in columns if name not in of_one_side)]
    )
    raise InputError(
        f"{source} has no column {group!r}, nor reference_{group} and probe_{group}{hint}; its"
        f" columns are {', '.join(columns)}. {elsewhere}"
    )


def _keys(name: str) -> list[tuple[tuple[int, str, str], int, str]]:
    """Return, for each word that may name a side, (pair of words, text around it), side, and the
    name without it.
    """
    words = _WORDS.findall(name)
    keys = []
    for k, word in enumerate(words):
        before = "".join(words[:k])
        after = "".join(words[k + 1 :])
        if not (before + after).strip(_SEPARATORS):
            continue  # a column with no other word, such as "a", holds no attribute
        # A letter is a word of its own between separators, or as a capital after a small letter.
        begins = (
            not before or before[-1] in _SEPARATORS or (word.isupper() and before[-1].islower())
        )
        if (
            len(word) == 1
            and word.isalpha()
            and not (begins and (not after or after[0] in _SEPARATORS))
        ):
            continue
        rest = before + after.lstrip(_SEPARATORS) if after else before.rstrip(_SEPARATORS)
        keys += [
            ((pairing, before, after), side, rest)
            for pairing, both in enumerate(_SIDES)
            for side in (0, 1)
            if word.lower() in both[side]
        ]
    return keys
