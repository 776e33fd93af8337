"""Labels: which are one and the same, which are missing, and what is refused."""

import datetime
import decimal
import enum

import numpy as np
import pandas as pd
import pytest
from helpers.each import each
from helpers.refusals import refused

import fastfair as ff
from fastfair._lib import label_codes
from fastfair.errors import InputError

SCORES = [0.9, 0.8, 0.3, 0.4]
MATED = [1, 1, 0, 0]
PLAIN = ["f", "m", "f", "m"]


class Word(str):
    """A text of a type of its own, which is not equal to others."""

    __hash__ = str.__hash__

    def __eq__(self, other):
        return self is other

    def __str__(self):
        return "a word"


class TextSex(str, enum.Enum):  # noqa: UP042 - as many write it
    F = "f"
    M = "m"


def groups_of(labels, other=None):
    c = ff.Comparisons(SCORES, MATED, reference_group=labels, probe_group=other)
    return c.groups, [
        c.nonmated_by_group.reference_group.tolist(),
        c.nonmated_by_group.probe_group.tolist(),
    ]


@each(
    "labels",
    [
        ["f ", "m", "f", " m\t"],
        np.array(["f ", "m", "f", " m"]),
        np.array(["f", "m", "f", "m"], ">U3"),
        np.array([b"f ", b"m", b"f", b"m"]),
        [b"f", b" m", b"f", b"m"],
        ["f", b"m", b"f", "m"],
        [Word("f "), Word("m"), Word("f"), Word("m")],
        [np.str_("f"), "m", "f ", np.str_("m")],
        [TextSex.F, TextSex.M, "f", "m"],
        np.array(PLAIN, object),
        np.ma.array(PLAIN),
        pd.Series(["f\n", "m", "f", "\u00a0m"]),
        pd.Categorical(PLAIN),
        np.array(["f", "x", "m", "x", "f", "x", "m", "x"])[::2],
    ],
)
def test_text_is_one_label_however_it_is_held(labels):
    assert groups_of(labels) == groups_of(PLAIN)
    assert groups_of(labels, PLAIN) == groups_of(PLAIN)
    assert groups_of(PLAIN, labels) == groups_of(PLAIN)
    e = ff.Embeddings(np.eye(4) + 1, labels, group=labels)
    assert (e.subjects.tolist(), e.groups) == (["f", "m"], ("f", "m"))
    assert all(type(subject) is str for subject in e.subjects)
    counts = ff.FailureCounts([0, 1, 0, 1], [2, 2, 2, 2], labels)
    assert (counts.groups, counts.subject_group.tolist()) == (("f", "m"), [0, 1, 0, 1])


def test_blanks_around_subjects_make_no_other_subject():
    c = ff.Comparisons([0.9, 0.1], None, np.array(["ann", "bob"]), np.array([" ann", "ann "]))
    assert (len(c.mated), c.subjects.tolist()) == (1, ["ann", "bob"])


NO_LABELS = [
    "nan",
    "NaN",
    "<NA>",
    "NaT",
    " nan ",
    "",
    "\u2003",
    b"nan",
    b" ",
    None,
    pd.NA,
    pd.NaT,
    np.datetime64("NaT"),
    decimal.Decimal("nan"),
    np.float32("nan"),
    float("nan"),
    "  ",
]


@each("missing", NO_LABELS)
def test_missing_labels_are_refused_by_row(missing):
    kinds = [np.array(["a", "b", missing, missing], object), ["a", "b", missing, missing]]
    if isinstance(missing, str | bytes):
        kinds.append(np.array(["a", "b", missing, missing]))
    for labels in kinds:
        with pytest.raises(
            InputError, match=r"^reference_group .*missing in row 2 \(.* 0\) and 2 in all"
        ) as caught:
            groups_of(labels)
        assert caught.value.row == 2
        refused("subject is missing in row 2", ff.Embeddings, np.eye(4), labels)


def test_texts_that_numpy_makes_of_missing_labels_are_missing():
    with pytest.raises(InputError, match="missing in row 1"):
        groups_of(np.array(["f", np.nan, "m", "m"]))  # "nan"
    refused(r"missing in row 2 .* 2 in all", groups_of, [1.0, 2.0, np.nan, np.nan])
    assert groups_of(["Nan", "m", "Nan", "m"])[0] == ("Nan", "m")  # a name


@pytest.mark.parametrize(
    ("one", "other", "types"),
    [
        ([1, 2, 1, 2], ["1", "2", "1", "2"], "int, str"),
        ([1.5, 2, 1, 2], ["1.5", "2", "1", "2"], "float, int, str"),
        ([True, False] * 2, [1, 0] * 2, "bool, int"),
        ([True, False] * 2, ["True", "False"] * 2, "bool, str"),
        ([datetime.date(2020, 1, 1)] * 4, ["2020-01-01"] * 4, "date, str"),
    ],
)
def test_labels_of_two_kinds_are_refused_beside_each_other(one, other, types):
    for sides in ((one, other), (np.array(one), np.array(other)), (one[:2] + other[2:], None)):
        for call in (
            lambda sides: groups_of(*sides),
            lambda sides: ff.Comparisons(
                SCORES, MATED, sides[0], sides[0] if sides[1] is None else sides[1]
            ),
        ):
            refused("mixes labels of the types", call, sides)
    refused(types, groups_of, one, other)


def test_truth_values_are_labels():
    assert groups_of([True, False] * 2) == groups_of(np.array([True, False] * 2))
    assert groups_of([True, False] * 2)[0] == ("False", "True")


@each(
    ("labels", "message"),
    [
        ([b"a", b"\xff", b"a", b"a"], r"is not UTF-8 text: .* in row 1 "),
        (np.array([b"a", b"\xff", b"a", b"a"]), r"is not UTF-8 text: .* in row 1 "),
        (["a", "\ud800", "a", "a"], r"is not UTF-8 text: .* in row 1 "),
        (
            np.array(["a", ["b"], "a", "a"], object),
            "must be labels, text or numbers, but some cannot be compared",
        ),
        (np.array(["a", {}, "a", "a"], object), "some cannot be compared"),
        ([["a"], ["b"], ["c"], ["d"]], "one-dimensional"),
        ([["a"], ["b", "c"], ["c"], ["d"]], "reference_group"),
        (np.zeros(4, complex), "type is complex"),
        (np.zeros(4, [("a", int)]), "has the fields a"),
        (np.zeros(4, "V3"), "their type is"),
        ([1, 10**400, 1, 1], "is too large a number in row 1"),
        ([1, float("inf"), 1, 1], "is too large a number in row 1"),
        ([1j, 2j, 1j, 2j], "cannot be sorted"),
        ([object()] * 4, "mixes|no order|reference_group"),
        ({1, 2, 3, 4}, "must be an array or a list of labels"),
        ((x for x in "abab"), "must be an array or a list of labels"),
        ("abab", "must be an array or a list of labels"),
        (7, "must be an array or a list of labels"),
    ],
)
def test_what_is_no_label_is_refused(labels, message):
    if isinstance(labels, list) and type(labels[0]) is object:
        labels = [object(), object(), object(), object()]
    refused(message, groups_of, labels)


def test_dates_are_labels_as_they_are_written():
    assert groups_of(np.array(["2020-01-01", "2021-01-01"] * 2, "M8[D]"))[0] == (
        "2020-01-01",
        "2021-01-01",
    )
    refused("missing in row 1", groups_of, np.array(["2020-01-01", "NaT"] * 2, "M8[ns]"))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([""], "called ''"), ([" "], "called ' '"), ([1], "must be text, not 1"), ([None], "must be text, not None"),
        (["sex", " sex"], "two attributes called 'sex'"),
    ],
)  # fmt: skip
def test_attributes_have_names_of_their_own(names, message):
    labels = dict.fromkeys(names, PLAIN)
    for call in (
        lambda: ff.Comparisons(SCORES, MATED, reference_group=labels),
        lambda: ff.Embeddings(np.eye(4), PLAIN, group=labels),
        lambda: ff.FailureCounts([0] * 4, [1] * 4, labels),
        lambda: ff.FailureCounts.from_decisions([0] * 4, PLAIN, labels),
    ):
        refused(message, call)


def test_names_of_attributes_are_stripped():
    c = ff.Comparisons(SCORES, MATED, reference_group={" sex ": PLAIN}, probe_group={"sex": PLAIN})
    assert (c.grouping, c.by("sex").groups) == (("sex",), ("f", "m"))


def test_an_attribute_is_named_once():
    sexes = {"sex": PLAIN}
    for one in (
        ff.Comparisons(SCORES, MATED, reference_group=sexes),
        ff.Embeddings(np.eye(4), PLAIN, group=sexes),
    ):
        refused("'sex' is given twice", one.by, "sex", "sex")


def test_labels_written_alike_are_refused_as_groups():
    class Odd:
        def __init__(self, order):
            self.order = order

        def __lt__(self, other):
            return self.order < other.order

        def __str__(self):
            return "odd"

    one, other = Odd(1), Odd(2)
    refused("two labels that are both written 'odd'", groups_of, [one, other, one, other])


def test_the_rule_is_one_function():
    assert [
        label_codes.clean(x)
        for x in (" a\t", b" a ", TextSex.M, 1.0, np.int8(1), True, 1.5, Word("x "))
    ] == ["a", "a", "m", 1, 1, True, 1.5, "x"]
    for label, kind in (
        (np.str_("a"), str),
        (1.0, int),
        (np.bool_(1), bool),
        (np.float32(0.5), float),
    ):
        assert type(label_codes.clean(label)) is kind
