"""Names that look alike: in another form of Unicode, with invisible characters, or labels in other letter case."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Literal, get_args

import numpy as np

from fastfair._lib.warnings import warn
from fastfair.errors import LookAlikeWarning

from .sorted_scores import BothSides

LookAlikes = Literal["warn", "unite"]
LOOK_ALIKES: tuple[LookAlikes, ...] = get_args(LookAlikes)
_INVISIBLE = dict.fromkeys([0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF, 0x00AD])
_BLANKS = dict.fromkeys([0x00A0, 0x2007, 0x202F], " ")
_AS_IF_MISSING = frozenset(["na", "n/a", "none", "null", "#n/a"])  # what programs write for a missing label


def plain_name(name: str) -> str:
    """Return a name as it looks: composed, without invisible characters, and with usual blanks."""
    return unicodedata.normalize("NFC", name.translate(_INVISIBLE | _BLANKS)).strip()


def plain_label(label: str) -> str:
    """Return the label of a group as it looks, in lower case."""
    return plain_name(label).casefold()


def without_look_alikes(what: str, sides: BothSides, policy: str) -> BothSides:
    """Look for names that look alike, and warn of them or unite them.

    Parameters
    ----------
    what : str
        What the names are, for messages: "subject", or "group 'sex'" of an attribute.
    sides : tuple of ndarray
        Distinct names, and for each comparison their positions for the reference and the probe.
    policy : {"warn", "unite"}
        What to do with names that look alike. United, they have the spelling that comes first in the alphabet.

    Returns
    -------
    tuple of ndarray

    Warns
    -----
    LookAlikeWarning
        Names both spellings, and labels that programs write where there is none.
    """
    names = sides[0].tolist()
    form: Callable[[str], str] = plain_name if what == "subject" else plain_label
    if not all(isinstance(name, str) for name in names) or (what == "subject" and all(map(str.isascii, names))):
        return sides
    first: dict[str, int] = {}
    to = np.array([first.setdefault(form(name), k) for k, name in enumerate(names)])
    alike = np.flatnonzero(to != np.arange(to.size))
    if what != "subject" and (odd := [name for name in names if plain_label(name) in _AS_IF_MISSING]):
        warn(
            f"{what} has the label {odd[0]!r}, which is taken for a group of its own; where it says that there is no "
            "label, leave the field blank",
            LookAlikeWarning,
        )
    if not alike.size:
        return sides
    if policy == "warn":
        one, other = (ascii(names[k]) for k in (to[alike[0]], alike[0]))
        more = f" (and {alike.size - 1} more)" if alike.size > 1 else ""
        warn(
            f"{what} {one} and {other} look alike and are taken for two{more}: write both alike, or pass "
            'look_alikes="unite"',
            LookAlikeWarning,
        )
        return sides
    kept, position = np.unique(to, return_inverse=True)
    reference, probe = (position[codes].astype(codes.dtype) for codes in sides[1:])
    return sides[0][kept], reference, probe
