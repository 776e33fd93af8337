"""Notes beside numbers: each kind stands once on a page, with a letter and the rows that it concerns."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fastfair.errors import visible

# Numbers inside notes are in the JSON; a kind that says nothing without them is left out.
_KINDS = (
    (r"fewer than 30 errors", "Fewer than 30 errors: the rate is rough."),
    (r"fewer than 30 false matches: .*|too narrow if few subjects cause most of them",
     "Fewer than 30 false matches: the interval is too narrow if few people cause most of them."),
    (r"no errors: .*", "No errors: Clopper and Pearson's interval for the effective sample size."),
    (r"no failures: .*", "No failures: Clopper and Pearson's interval for the effective sample size."),
    (r"nothing but .*", "Nothing but errors: Clopper and Pearson's interval for the effective sample size."),
    (r"if only subjects are independent, .*", "If only people are independent, the upper limit is higher."),
    (r"\d.* % of the errors involve .*|few subjects cause most false matches.*",
     "Few people cause most errors: the interval is likely too narrow."),
    (r"not computable in \d.* % of replicates", "Not computable in some replicates."),
    (r"held by the operating point", ""),
)  # fmt: skip
_MOST_NAMED = 6


def kind_of(note: str) -> str:
    """Return the sentence for notes of a kind; empty for what needs no note."""
    for pattern, kind in _KINDS:
        if re.fullmatch(pattern, note):
            return kind
    text = re.sub(r"\d[\d.,]*(e[+-]?\d+)?(?= (replicates|comparisons|subjects|units)\b)", "some", note)
    return f"{text[0].upper()}{text[1:]}." if text else ""


class Notes:
    """The notes of a page, in the order in which its cells show them."""

    def __init__(self) -> None:
        self._rows: dict[str, dict[str, None]] = {}

    def letters(self, notes: Sequence[str], row: str) -> list[str]:
        """Return the letters of notes beside a number of a row."""
        kinds = dict.fromkeys(filter(None, map(kind_of, notes)))
        for kind in kinds:
            self._rows.setdefault(kind, {})[row] = None
        return [_letter(list(self._rows).index(kind)) for kind in kinds]

    def listed(self) -> list[tuple[str, str, str]]:
        """Return the letter, the sentence and the rows of each kind."""
        return [
            (
                _letter(k), kind,
                ", ".join(map(visible, rows)) if len(rows) <= _MOST_NAMED else f"{len(rows)} rows, marked {_letter(k)}",
            )
            for k, (kind, rows) in enumerate(self._rows.items())
        ]  # fmt: skip


def _letter(k: int) -> str:
    return chr(ord("a") + k) if k < 26 else f"{chr(ord('a') + k // 26 - 1)}{chr(ord('a') + k % 26)}"
