"""`Note`: what there is to say of a number, as a code with values; the words for all codes stand in
one table here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from string import Formatter

from fastfair.error_rates.operating_points import ENOUGH_ERRORS, FEWEST_ERRORS
from fastfair.measures._registry import printed_name
from fastfair.resampling.dependence import ENOUGH_PAIRS

Value = float | int | str
# from which on intervals made of quantiles hold the truth often enough
ENOUGH_EFFECTIVE_ERRORS = 10
# of a group, as independent ones, with which it may have met who fails most
ENOUGH_EFFECTIVE_ATTEMPTS = 20
# that people share: with fewer, intervals are flagged, and with fewer still there are none
ENOUGH_SESSIONS = 10
FEWEST_SESSIONS = 4
CONCENTRATED = 0.7  # share of false matches that 5 % of the subjects are involved in


class Flag(StrEnum):
    """What verdicts depend on."""

    NONE = ""
    NARROW = "narrow"  # the interval is likely too narrow
    BELOW_RESOLUTION = "below-resolution"  # too few errors are expected at the operating point
    UNKNOWN_CONCENTRATION = (  # too few errors to see whether few subjects cause most of them
        "unknown-concentration"
    )
    LEAVES_ROOM = (  # the limit may be several times too low, as it is luck who is enrolled
        "leaves-room"
    )


class Code(StrEnum):
    """What is said; files have the values."""

    AS_WRITTEN = "as-written"
    HELD = "held"
    # What is missing in the data.
    NO_COMPARISONS = "no-comparisons"
    GROUPS_LACK_COMPARISONS = "groups-lack-comparisons"
    NOT_COMPUTABLE = "not-computable"
    INFINITE = "infinite"
    NONE_LEFT = "none-left"
    NONE_LEFT_AT_SHARE = "none-left-at-share"
    NO_SEARCHES = "no-searches"
    SHORT_LISTS = "short-lists"
    # Few errors.
    FEW_ERRORS = "few-errors"
    FEW_FAILURES = "few-failures"
    FEW_EXPECTED = "few-expected"
    NO_ERRORS = "no-errors"
    NOTHING_BUT_ERRORS = "nothing-but-errors"
    CAUTIOUS_LIMIT = "cautious-limit"
    WIDENED = "widened"
    TAKEN_FOR_INDEPENDENT = "taken-for-independent"
    NO_ERRORS_IN_STRATA = "no-errors-in-strata"
    NO_ERRORS_WITH_VALUE = "no-errors-with-value"
    NOTHING_BUT_ERRORS_WITH_VALUE = "nothing-but-errors-with-value"
    NO_ERRORS_TO_COMPARE = "no-errors-to-compare"
    FEW_ERRORS_WITH_VALUE = "few-errors-with-value"
    ERRORS_APART = "errors-apart"
    BELOW_RESOLUTION = "below-resolution"
    NO_END = "no-end"
    THRESHOLD_BEYOND_SCORES = "threshold-beyond-scores"
    # Why there is no interval.
    NO_SUCH_ERRORS = "no-such-errors"
    FEW_GROUP_ERRORS = "few-group-errors"
    ONE_SUBJECT = "one-subject"
    CONSTANT_RATE = "constant-rate"
    CONSTANT_REPLICATES = "constant-replicates"
    CONSTANT_AREA = "constant-area"
    FEW_COMPUTABLE = "few-computable"
    FEW_REPLICATES = "few-replicates"
    TOO_FEW_SESSIONS = "too-few-sessions"
    THRESHOLD_FIXED = "threshold-fixed"
    BY_SEQUENCE = "by-sequence"
    NO_ERRORS_TO_MOVE = "no-errors-to-move"
    NO_ERRORS_TO_DRAW = "no-errors-to-draw"
    NO_ERRORS_OF_A_KIND = "no-errors-of-a-kind"
    MANY_GROUPS = "many-groups"
    # Why an interval may be too narrow, or leave out what is true.
    FEW_EFFECTIVE_ERRORS = "few-effective-errors"
    FEW_SESSIONS = "few-sessions"
    FEW_DRAWN = "few-drawn"
    CONCENTRATED = "concentrated"
    RESTS_ON_CONCENTRATED = "rests-on-concentrated"
    HELD_BY_FEW_SUBJECTS = "held-by-few-subjects"
    UNKNOWN_WHOSE = "unknown-whose"
    FEW_FALSE_MATCHES = "few-false-matches"
    FITTED_COST = "fitted-cost"
    FEW_AT_EER = "few-at-eer"
    SMALL_GROUPS = "small-groups"
    EXTREME_SCORES = "extreme-scores"
    UNLIKE_SUBJECTS = "unlike-subjects"
    BY_PERCENTILES = "by-percentiles"
    FEW_ERRORS_OF_A_KIND = "few-errors-of-a-kind"
    SHIFTED_REPLICATES = "shifted-replicates"
    OFTEN_NOT_COMPUTABLE = "often-not-computable"
    UNBOUNDED = "unbounded"
    FAIR_OUTSIDE = "fair-outside"
    REPEATED_SUBJECTS = "repeated-subjects"
    FEW_ENROLLED = "few-enrolled"
    CHANCE_OF_GALLERY = "chance-of-gallery"
    MEASURE_OF_GALLERY = "measure-of-gallery"
    HIDDEN_TIES = "hidden-ties"
    # Whom intervals are about.
    OF_THESE_PEOPLE = "of-these-people"
    OF_THIS_COHORT = "of-this-cohort"
    OF_PEOPLE_ALONE = "of-people-alone"
    # What a number depends on.
    MIX_OF_COMPARISONS = "mix-of-comparisons"
    EFFECT_OF_SESSIONS = "effect-of-sessions"
    # Why two systems are not compared.
    NO_DIFFERENCE = "no-difference"
    TWO_SIDED_MEASURE = "two-sided-measure"
    MEASURE_WITHOUT_ERRORS = "measure-without-errors"
    COSTS_OF_FEW_ERRORS = "costs-of-few-errors"
    SYSTEM_OF_FEW_ERRORS = "system-of-few-errors"
    SYSTEM_OF_FEW_HELD = "system-of-few-held"
    RATE_OF_ONE_SUBJECT = "rate-of-one-subject"
    RATE_WITHOUT_INTERVAL = "rate-without-interval"
    WITHOUT_REPLICATES = "without-replicates"
    FEW_PEOPLE = "few-people"
    SYSTEMS_IN_FEW_SESSIONS = "systems-in-few-sessions"
    LIMITS_TOO_NARROW = "limits-too-narrow"
    SESSIONS_APART = "sessions-apart"
    GROUPS_IN_FEW_SESSIONS = "groups-in-few-sessions"


@dataclass(frozen=True)
class Words:
    """The words for a code.

    Attributes
    ----------
    parts : tuple of str
        A sentence, beginning with a small letter; parts whose values a note lacks are left out.
    on_page : str or None
        What a page says of all notes of the code, without their numbers: by default the sentence,
        "" for nothing.
    flag : Flag
        What verdicts depend on.
    warns : bool
        Whether there is a warning of it, too, and ": likely too narrow" follows the words. Of the
        codes with the flag NARROW, those whose words say so themselves give no warning: they are
        of measures and of fitted costs. Of those that warn, FEW_ENROLLED leaves room in verdicts in
        place of that flag, and FEW_ERRORS_OF_A_KIND has none, as no verdict is about measures of
        actual costs.
    """

    parts: tuple[str, ...]
    on_page: str | None = None
    flag: Flag = Flag.NONE
    warns: bool = False


_CLOPPER_PEARSON = ": Clopper and Pearson's interval for the effective sample size."
_FEW_FALSE_MATCHES = (
    "Fewer than 30 false matches: the interval is too narrow if few people cause most of them."
)
_FEW_CAUSE_MOST = "Few people cause most errors: the interval is likely too narrow."
_NO_VERDICT = "no p-value and no verdict"
_OF_GALLERY = (
    "intervals for other galleries are too narrow where few people resemble many, as it is luck who"
    " is enrolled"
)


def _words(
    *parts: str, on_page: str | None = None, flag: Flag = Flag.NONE, warns: bool = False
) -> Words:
    return Words(parts, on_page, flag, warns)


WORDS: Mapping[Code, Words] = {
    Code.AS_WRITTEN: _words("{text}"),
    Code.HELD: _words("held by the operating point", on_page=""),
    Code.NO_COMPARISONS: _words("no comparisons"),
    Code.GROUPS_LACK_COMPARISONS: _words("groups lack comparisons"),
    Code.NOT_COMPUTABLE: _words("not computable: 0/0 or a group without comparisons"),
    Code.INFINITE: _words("not computable: a group has no errors"),
    Code.NONE_LEFT: _words("none is left"),
    Code.NONE_LEFT_AT_SHARE: _words("no comparisons are left at some share"),
    Code.NO_SEARCHES: _words("no such searches"),
    Code.SHORT_LISTS: _words("lists are too short to count all candidates"),
    Code.FEW_ERRORS: _words(
        f"fewer than {ENOUGH_ERRORS} errors",
        on_page=f"Fewer than {ENOUGH_ERRORS} errors: the rate is rough.",
    ),
    Code.FEW_FAILURES: _words(f"fewer than {ENOUGH_ERRORS} failures"),
    Code.FEW_EXPECTED: _words(
        f"too few data for this operating point: it allows fewer than {ENOUGH_ERRORS} errors"
    ),
    Code.NO_ERRORS: _words(
        "no {errors}: the interval is Clopper and Pearson's, for ",
        "{n:,.0f} ",
        "independent comparisons",
        on_page="No {errors}" + _CLOPPER_PEARSON,
    ),
    Code.NOTHING_BUT_ERRORS: _words(
        "nothing but {errors}: the interval is Clopper and Pearson's, for ",
        "{n:,.0f} ",
        "independent comparisons",
        on_page="Nothing but {errors}" + _CLOPPER_PEARSON,
    ),
    Code.CAUTIOUS_LIMIT: _words(
        "cautious upper limit {limit:.3g}, if only subjects are independent",
        on_page="If only people are independent, the upper limit is higher.",
    ),
    Code.TAKEN_FOR_INDEPENDENT: _words(
        "taken for independent, as people are not given: too narrow if some have several",
        on_page="Taken for independent, as people are not given.",
    ),
    Code.WIDENED: _words("widened to the quantiles of replicates, which have other thresholds"),
    Code.NO_ERRORS_IN_STRATA: _words("no errors in {strata}, so the interval is likely too narrow"),
    Code.NO_ERRORS_WITH_VALUE: _words("no errors in {n} comparisons"),
    Code.NOTHING_BUT_ERRORS_WITH_VALUE: _words("nothing but errors in {n} comparisons"),
    Code.NO_ERRORS_TO_COMPARE: _words(
        "no errors, or nothing but errors, in comparisons that it is compared with"
    ),
    Code.FEW_ERRORS_WITH_VALUE: _words("only {n} errors"),
    Code.ERRORS_APART: _words("its numbers separate errors from other comparisons"),
    Code.BELOW_RESOLUTION: _words(
        "below the resolution of the data: {expected:.2g} {errors} are expected",
        ", which tell as much as {effective:.2g} independent ones",
        "; about {needed:,.0f} {comparisons} comparisons would do",
        flag=Flag.BELOW_RESOLUTION,
    ),
    Code.NO_END: _words("the development data have too few errors to bound the threshold"),
    Code.THRESHOLD_BEYOND_SCORES: _words(
        "an end of the threshold's interval lies beyond all scores: more comparisons, or longer lists"
        " of candidates, are needed"
    ),
    Code.NO_SUCH_ERRORS: _words("no interval: no group has such errors"),
    Code.FEW_GROUP_ERRORS: _words(
        f"no interval: the group, or all others together, have fewer than {ENOUGH_PAIRS} such"
        " errors"
    ),
    Code.ONE_SUBJECT: _words("no interval: there is one subject, so replicates do not vary"),
    Code.CONSTANT_RATE: _words("no interval: the rate does not vary between units"),
    Code.CONSTANT_REPLICATES: _words("no interval: replicates do not vary"),
    Code.CONSTANT_AREA: _words("no interval: the area does not vary"),
    Code.FEW_COMPUTABLE: _words(
        "no interval: too few replicates have a computable value for this method"
    ),
    Code.FEW_REPLICATES: _words("limits of so high a level need {n:,} replicates"),
    Code.TOO_FEW_SESSIONS: _words(
        f"no interval: fewer than {FEWEST_SESSIONS} sessions do not tell how errors vary between"
        " them"
    ),
    Code.THRESHOLD_FIXED: _words(
        "this look fixes the threshold, {threshold}: it judges people of later looks"
    ),
    Code.BY_SEQUENCE: _words("a confidence sequence over {n:,} {units}"),
    Code.NO_ERRORS_TO_MOVE: _words("no interval: a group has no errors"),
    Code.NO_ERRORS_TO_DRAW: _words(
        "no interval: a group has no errors, and their numbers are drawn only for score files whose"
        " units are not samples"
    ),
    Code.NO_ERRORS_OF_A_KIND: _words(
        "no interval: a group has no false matches or no false non-matches, so that replicates"
        " hardly vary"
    ),
    Code.MANY_GROUPS: _words("there are more than {most} groups, or some lack searches"),
    Code.FEW_EFFECTIVE_ERRORS: _words(
        f"fewer than {ENOUGH_EFFECTIVE_ERRORS} effective errors", flag=Flag.NARROW, warns=True
    ),
    Code.FEW_SESSIONS: _words(
        f"{{n}} sessions, of fewer than {ENOUGH_SESSIONS} of which it is hardly known how errors vary"
        " between them",
        on_page=f"Fewer than {ENOUGH_SESSIONS} sessions: the interval is likely too narrow.",
        flag=Flag.NARROW,
        warns=True,
    ),
    Code.FEW_DRAWN: _words(
        "fewer than 10 errors in all groups, and none in one: likely too narrow where few subjects"
        " cause most",
        flag=Flag.NARROW,
    ),
    Code.CONCENTRATED: _words(
        "{share} of the errors involve the 5 % of subjects with most",
        on_page=_FEW_CAUSE_MOST,
        flag=Flag.NARROW,
        warns=True,
    ),
    Code.RESTS_ON_CONCENTRATED: _words(
        "few subjects cause most false matches",
        on_page=_FEW_CAUSE_MOST,
        flag=Flag.NARROW,
        warns=True,
    ),
    Code.HELD_BY_FEW_SUBJECTS: _words(
        f"few subjects cause {100 * CONCENTRATED:.0f} % or more of the false matches",
        flag=Flag.NARROW,
        warns=True,
    ),
    Code.UNKNOWN_WHOSE: _words(  # after "fewer than 30 errors"
        "too narrow if few subjects cause most of them",
        on_page=_FEW_FALSE_MATCHES,
        flag=Flag.UNKNOWN_CONCENTRATION,
    ),
    Code.FEW_FALSE_MATCHES: _words(
        f"fewer than {ENOUGH_ERRORS} false matches: too narrow if few subjects cause most of them",
        on_page=_FEW_FALSE_MATCHES,
        flag=Flag.UNKNOWN_CONCENTRATION,
    ),
    Code.FITTED_COST: _words(
        "minDCF is too low in small groups, as its threshold is fitted: likely too narrow",
        flag=Flag.NARROW,
    ),
    Code.FEW_AT_EER: _words(
        f"a group has fewer than {ENOUGH_EFFECTIVE_ERRORS} false matches or false non-matches at"
        " the mean of the EER thresholds: likely too narrow",
        flag=Flag.NARROW,
    ),
    Code.SMALL_GROUPS: _words(
        f"the mated comparisons of a group tell as much as fewer than {ENOUGH_EFFECTIVE_ATTEMPTS}"
        " independent ones, so people who fail most attempts may be missing there: likely too"
        " narrow",
        flag=Flag.NARROW,
    ),
    Code.EXTREME_SCORES: _words(
        "the Cllr of a group rests on the extreme scores of few people, who may be missing: likely"
        " too narrow",
        flag=Flag.NARROW,
    ),
    Code.UNLIKE_SUBJECTS: _words(
        "where a few people score unlike all others, such intervals hold the truth in 86 to 92 % of"
        " simulations: may be too narrow",
        flag=Flag.NARROW,
    ),
    Code.BY_PERCENTILES: _words(
        "a group has no errors, so the interval is of percentiles", flag=Flag.NARROW, warns=True
    ),
    Code.FEW_ERRORS_OF_A_KIND: _words(
        "a group has fewer than {least} false matches or false non-matches", warns=True
    ),
    Code.SHIFTED_REPLICATES: _words(
        "replicates lie mostly to one side of the estimate, as chance makes groups differ: see"
        " Coverage in the docs"
    ),
    Code.OFTEN_NOT_COMPUTABLE: _words(
        "not computable in {share} of replicates", on_page="Not computable in some replicates."
    ),
    Code.UNBOUNDED: _words(
        "the interval is unbounded, as groups have no errors in some replicates"
    ),
    Code.FAIR_OUTSIDE: _words(
        "these intervals leave out the value of a fair system, so they do not show that groups"
        " differ"
    ),
    Code.REPEATED_SUBJECTS: _words(
        "comparisons of the same subjects were taken for independent, so the limit is too narrow"
    ),
    Code.FEW_ENROLLED: _words(
        "few enrolled people cause much of the uncertainty", flag=Flag.LEAVES_ROOM, warns=True
    ),
    Code.CHANCE_OF_GALLERY: _words(_OF_GALLERY, flag=Flag.LEAVES_ROOM),
    Code.MEASURE_OF_GALLERY: _words(_OF_GALLERY, flag=Flag.UNKNOWN_CONCENTRATION),
    Code.HIDDEN_TIES: _words(
        "lists end with the mate's score in {n:,} of {of:,} searches: if others with it are missing"
        " from them, the rate is up to {highest}, as ties count against the system; lists that are"
        " longer by one tell"
    ),
    Code.OF_THESE_PEOPLE: _words(
        "for other samples of these very people; for other people the interval is too narrow"
    ),
    Code.OF_THIS_COHORT: _words(
        "for scores normalised with this very cohort; with another one the interval is too narrow"
    ),
    Code.OF_PEOPLE_ALONE: _words(
        "for people alone, not the sessions in which attempts are counted: too narrow where errors"
        " depend on sessions"
    ),
    Code.MIX_OF_COMPARISONS: _words(
        "{share} of these comparisons are mated: with another mix the accuracy is another one",
        on_page="Accuracy depends on the share of mated comparisons: with another one it differs.",
    ),
    Code.EFFECT_OF_SESSIONS: _words(
        "{n} sessions: the standard error is {times:.3g} times that of people alone; design effects"
        " of people {people:.2g}, of sessions {sessions:.2g}",
        on_page="What people share, such as days, makes intervals wider than people alone do.",
    ),
    Code.NO_DIFFERENCE: _words(
        "no interval, as the two systems do not differ, in the data or in what is drawn from them"
    ),
    Code.TWO_SIDED_MEASURE: _words(f"{_NO_VERDICT} for a measure that chance moves to either side"),
    Code.MEASURE_WITHOUT_ERRORS: _words(
        f"{_NO_VERDICT} for a measure where a group has no errors and numbers cannot be drawn"
    ),
    Code.COSTS_OF_FEW_ERRORS: _words(
        f"{_NO_VERDICT} for differences from the lowest minDCF where a group has fewer than 10"
        " errors: it is too low in small groups"
    ),
    Code.SYSTEM_OF_FEW_ERRORS: _words(
        f"{_NO_VERDICT} where one of the systems has fewer than {FEWEST_ERRORS} errors"
    ),
    Code.SYSTEM_OF_FEW_HELD: _words(
        f"{_NO_VERDICT} where the threshold of one of the systems is held by fewer than"
        f" {FEWEST_ERRORS} errors"
    ),
    Code.RATE_OF_ONE_SUBJECT: _words(f"{_NO_VERDICT} for a rate of one subject"),
    Code.RATE_WITHOUT_INTERVAL: _words(
        f"{_NO_VERDICT} where one of the data sets has no interval of its own"
    ),
    Code.WITHOUT_REPLICATES: _words(f"{_NO_VERDICT} without replicates"),
    Code.SYSTEMS_IN_FEW_SESSIONS: _words(f"{_NO_VERDICT} in fewer than {FEWEST_SESSIONS} sessions"),
    Code.LIMITS_TOO_NARROW: _words(
        f"{_NO_VERDICT} on areas, d' and Cllr of other people: limits may be too narrow where people"
        " are unlike"
    ),
    Code.SESSIONS_APART: _words(
        f"{_NO_VERDICT} where groups hardly share sessions, as these may be what differs"
    ),
    Code.GROUPS_IN_FEW_SESSIONS: _words(
        f"{_NO_VERDICT} in fewer than {FEWEST_SESSIONS} sessions, which groups may share unevenly"
    ),
    Code.FEW_PEOPLE: _words("no interval and no p-value for searches of fewer than {least} people"),
}


@dataclass(frozen=True)
class Note:
    """What there is to say of a number.

    Attributes
    ----------
    code : Code
        What is said.
    values : tuple of (str, value)
        The numbers and names in it.
    about : str
        What it is about, where that is not the whole number; may be empty.
    """

    code: Code
    values: tuple[tuple[str, Value], ...] = ()
    about: str = ""

    @classmethod
    def of(cls, code: Code, **values: Value) -> Note:
        """Make a note with values."""
        return cls(code, tuple(values.items()))

    def __str__(self) -> str:
        return (
            (f"{self.about}: " if self.about else "")
            + self.reason
            + (": likely too narrow" * self.warns)
        )

    @property
    def reason(self) -> str:
        """The sentence, without what follows from it."""
        return _filled(WORDS[self.code].parts, dict(self.values))

    @property
    def warns(self) -> bool:
        """Whether there is a warning that an interval is likely too narrow."""
        return WORDS[self.code].warns

    @property
    def flag(self) -> str:
        """What verdicts depend on; empty for what they do not depend on."""
        return (
            str(dict(self.values)["flags"])
            if self.code is Code.AS_WRITTEN
            else WORDS[self.code].flag.value
        )

    @property
    def on_page(self) -> str:
        """What a page says of all notes of this kind; empty for what needs no note."""
        written = WORDS[self.code].on_page
        text = (
            f"{replace(self, about='')}."
            if written is None
            else _filled((written,), dict(self.values))
        )
        if text and self.about:
            text = f"{self.about}: {text[0].lower()}{text[1:]}"
        return text[:1].upper() + text[1:]

    def to_plain(self) -> str | dict[str, object]:
        """Return what JSON has: the code alone where there is nothing else."""
        if not self.values and not self.about:
            return self.code.value
        about = {"about": self.about} if self.about else {}
        return {"code": self.code.value, **about, "values": dict(self.values)}

    @classmethod
    def from_plain(cls, content: str | Mapping[str, object]) -> Note:
        """Make a note of what JSON has."""
        if isinstance(content, str):
            return cls(Code(content))
        values = content["values"]
        assert isinstance(values, Mapping)
        return cls(Code(str(content["code"])), tuple(values.items()), str(content.get("about", "")))


def _filled(parts: Iterable[str], values: Mapping[str, Value]) -> str:
    """Put values into parts of a sentence; parts whose values are missing are left out."""

    def is_complete(part: str) -> bool:
        return all(name is None or name in values for _, name, _, _ in Formatter().parse(part))

    return "".join(part.format(**values) for part in parts if is_complete(part))


class Noted:
    """A row, or a result, with notes."""

    name: str
    notes: tuple[Note, ...] = ()

    @property
    def note(self) -> str:
        """All notes in words; may be empty."""
        return in_words(self.notes)

    @property
    def flags(self) -> str:
        """The codes of what verdicts depend on, separated by spaces; may be empty."""
        return " ".join(dict.fromkeys(note.flag for note in self.notes if note.flag))

    @property
    def is_held(self) -> bool:
        """Whether the operating point holds the number."""
        return has_code(self, Code.HELD)


def in_words(notes: Iterable[Note]) -> str:
    """Write notes as text, separated by semicolons."""
    return "; ".join(map(str, notes))


def has_code(row: Noted, *codes: Code) -> bool:
    """Return whether a row has a note of any of these codes."""
    return any(note.code in codes for note in row.notes)


def has_flag(row: Noted, *flags: Flag) -> bool:
    """Return whether any of these codes is among what verdicts on a row depend on."""
    return any(note.flag in flags for note in row.notes if note.flag)


def notes_about(*rows: Noted) -> tuple[Note, ...]:
    """Join notes of several quantities, each with the name of its own."""
    return tuple(replace(note, about=printed_name(row.name)) for row in rows for note in row.notes)


def joined_of_two(
    names: Sequence[str], first: Sequence[Note], second: Sequence[Note]
) -> tuple[Note, ...]:
    """Join the notes of two systems, each of which is said once; where both have notes of a code
    with other values, these say whose they are.
    """
    in_both = {note.code for note in first} & {note.code for note in second}
    of_one = set(first) ^ set(second)
    named = [
        replace(note, about=f"{name}, {note.about}" if note.about else name)
        if note in of_one and note.code in in_both
        else note
        for name, notes in zip(names, (first, second), strict=True)
        for note in notes
    ]
    return joined(named)


def joined(*of_rows: Sequence[Note]) -> tuple[Note, ...]:
    """Join notes, each of which is said once."""
    return tuple(dict.fromkeys(note for notes in of_rows for note in notes))
