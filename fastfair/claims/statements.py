"""What statements on a quantity have in common: a relation, and a number that may be a percentage."""

from __future__ import annotations

import math
import re

RELATION = re.compile("<=|>=|[<>\u2264\u2265]")
RELATIONS = {"<=": "<=", "\u2264": "<=", "<": "<", ">=": ">=", "\u2265": ">=", ">": ">"}
_NUMBER = re.compile(r"\s*(?P<number>[^\s%]+)\s*(?P<percent>%?)\s*")


def number_of(text: str) -> float:
    """Return the number that is written, such as "1e-4" or "2 %".

    Raises
    ------
    ValueError
        Where the text is no finite number.
    """
    found = _NUMBER.fullmatch(text)
    value = float(found["number"]) / (100 if found["percent"] else 1) if found else math.nan
    if not math.isfinite(value):
        raise ValueError(text)
    return value
