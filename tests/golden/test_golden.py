"""Numbers of every public call stay the same to the last bit, and words only change on purpose."""

from __future__ import annotations

import difflib

import numpy as np
import pytest
from golden.cases import records, words
from golden.record import WORDS, processor, recorded, text_of
from golden.written import close, moved, written

pytestmark = pytest.mark.jit
ANEW = (
    "if that is on purpose: python tests/golden/record.py, and for numbers a line in"
    " tests/golden/CHANGES.md"
)


def test_no_number_has_moved():
    made_on, old = recorded()
    new = records()
    assert list(old) == list(new), f"other records than before; {ANEW}"
    changed = [place for place in old if old[place] != new[place]]
    if made_on != processor():
        changed = [place for place in changed if not close(old[place], new[place], place)]
    different = [f"{place}: {moved(old[place], new[place])}" for place in changed]
    assert not different, "\n".join((f"{len(different)} numbers moved; {ANEW}", *different[:40]))


def test_words_are_as_they_were():
    old, new = WORDS.read_text("utf-8"), text_of(words())
    changed = difflib.unified_diff(
        old.splitlines(), new.splitlines(), "before", "now", lineterm="", n=0
    )
    assert old == new, "\n".join((f"words changed; {ANEW}", *list(changed)[:40]))


def test_the_net_is_fine():
    array = np.linspace(0, 1, 50)
    changed = array.copy()
    changed[30] = np.nextafter(changed[30], 1)
    assert written(array) != written(changed)
    assert close(written(array), written(changed))
    changed[30] += 1e-3
    assert not close(written(array), written(changed))
    row = {"estimate": 0.25, "low": 0.1, "flags": "narrow"}
    for other in (
        {"low": np.nextafter(0.1, 1)},
        {"flags": ""},
        {"estimate": np.nextafter(0.25, 1)},
    ):
        assert written(row) != written(row | other)
    assert moved("0.25", "0.3") == "0.25 -> 0.3, by 0.05"
