"""Notes of two systems: each is said once, and what differs names its system."""

from __future__ import annotations

import numpy as np

import fastfair as ff
from fastfair.uncertainty.notes import Code, Note, joined_of_two


def test_notes_of_two_systems_are_said_once_or_name_their_system():
    few = Note(Code.FEW_ERRORS)
    six, nine = (Note.of(Code.FEW_SESSIONS, n=n) for n in (6, 9))
    about = Note(Code.FEW_SESSIONS, six.values, "FMR")
    assert joined_of_two(("old", "new"), [few, six], [six]) == (few, six)
    assert joined_of_two(("old", "new"), [six], [few]) == (six, few)
    named = joined_of_two(("old", "new"), [few, six], [few, nine])
    assert [note.about for note in named] == ["", "old", "new"]
    assert str(named[1]).startswith("old: 6 sessions")
    assert [note.about for note in joined_of_two(("old", "new"), [six], [about])] == [
        "old",
        "new, FMR",
    ]


def test_effects_of_sessions_in_a_requirement_on_a_difference_name_the_systems():
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(60), 6)
    other = np.where(np.arange(360) % 2, person, (person + 1) % 60)
    day = np.arange(360) // 2 % 12
    scores = rng.normal(size=12)[day] + 2 * (person == other) + rng.normal(size=360)
    systems = {
        name: ff.Comparisons(
            scores + spread * rng.normal(size=360), None, person, other, session=day
        )
        for name, spread in (("old", 0), ("new", 1))
    }
    comparison = ff.compare(systems, at=ff.at_threshold(1.0), n_resamples=30, rng=0)
    row = ff.check(comparison, "fnmr(new) - fnmr(old) <= 90 %").rows[0]
    effects = [note.about for note in row.notes if note.code is Code.EFFECT_OF_SESSIONS]
    assert effects == ["old", "new"]
