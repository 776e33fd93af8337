"""What `Comparisons` takes, from arrays, frames and matrices, and what it refuses."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from helpers.each import each
from helpers.flat import make
from helpers.refusals import refused
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles.strategies import ANY, from_rows, grouped

import fastfair as ff
from fastfair.data import score_keys, sorted_scores
from fastfair.errors import (
    ContradictingLabelsWarning,
    DroppedWarning,
    InputError,
    NarrowIntervalsWarning,
)

SCORES, MATED = [0.9, 0.2, 0.8, 0.1], [1, 0, 1, 0]


@given(st.lists(ANY, min_size=1, max_size=20), st.sampled_from([np.float32, np.float64]))
def test_keys_sort_as_scores_and_come_back(values, dtype):
    scores = np.array(values, dtype)
    keys = score_keys.encode(scores)
    assert np.array_equal(score_keys.decode(keys), scores)
    assert np.array_equal(np.sort(scores), score_keys.decode(np.sort(keys)))
    assert np.array_equal(keys[:, None] < keys, scores[:, None] < scores)
    assert np.array_equal(score_keys.decode(keys + 1), np.nextafter(scores, dtype(np.inf)))


@given(grouped(), st.sampled_from([np.float32, np.float64]), st.booleans())
def test_every_column_follows_its_score(rows, dtype, thirds):
    # A third of a score is no float32: then the keys are sorted apart from the rows.
    rows = [r._replace(score=r.score / 3) for r in rows] if thirds else rows
    c = from_rows(rows, dtype)
    for side, groups, wanted in (
        (c.mated, c.mated_by_group, True),
        (c.nonmated, c.nonmated_by_group, False),
    ):
        given_rows = [r for r in rows if r.mated is wanted]
        assert len(side) == len(given_rows)
        assert (np.diff(side.similarities) >= 0).all()
        for k, row in enumerate(side.rows):
            expected = rows[row]
            assert side.similarities[k] == dtype(expected.score)
            assert c.subjects[side.reference[k]] == expected.reference
            assert c.subjects[side.probe[k]] == expected.probe
            assert c.groups[groups.reference_group[k]] == expected.reference_group
            assert c.groups[groups.probe_group[k]] == expected.probe_group
        for k, group in enumerate(c.groups):
            within = sorted(
                dtype(r.score) for r in given_rows if r.reference_group == r.probe_group == group
            )
            assert score_keys.decode(groups.within[k]).tolist() == within


def test_distances_are_negated_similarities():
    c = make([0.1, 0.0, 0.9], [1, 1, 0], score_kind="distance")
    assert c.mated.similarities.tolist() == [-0.1, 0.0]
    assert math.copysign(1, c.mated.similarities[1]) == 1


@each(
    "flags",
    [
        [True, False, True, False],
        [1, 0, 1, 0],
        [1, -1, 1, -1],
        [1.0, 0.0, 1.0, 0.0],
        ["mated", "non-mated", "mated", "non-mated"],
        ["Genuine", "impostor", "genuine", "Impostor"],
        ["target", "nontarget", "target", "nontarget"],
        ["1", "0", "1", "0"],
    ],
)
def test_two_valued_codings_of_mated(flags):
    c = make(SCORES, flags)
    assert c.mated.similarities.tolist() == [0.8, 0.9]


@each(
    "flags",
    [
        [1, 0, 2, 0], ["maybe", "no", "maybe", "no"], [1, 0, np.nan, 0], [0.5, 0, 1, 0], [0.99999999, 1, 0, 0],
        [1.0000001, 1.0000001, 0, 0],
    ],
)  # fmt: skip
def test_flags_that_are_not_two_valued_are_refused_and_none_is_rounded(flags):
    refused(r"two-valued|mated is missing in row 2", make, SCORES, flags)


def test_the_value_that_means_mated_can_be_told():
    for flags, value in (
        (list("xyxy"), "x"),
        ([7, 9, 7, 9], 7),
        (["7.0", "9.0", "7", "9"], 7),
        ([1, 0, 1, 0], "1"),
    ):
        c = make(SCORES, flags, mated_value=value)
        assert c.mated.similarities.tolist() == sorted(SCORES[::2])
    refused(
        "holds 'x', 'y': say which one means mated with mated_value=", make, SCORES, list("xyxy")
    )
    with pytest.raises(
        InputError, match="mated_value 'z' is not among the values of mated: 'x', 'y'"
    ):
        make(SCORES, list("xyxy"), mated_value="z")
    with pytest.raises(
        InputError, match="mated has 3 values, 'x', 'y', 'z': which of the others mean non-mated"
    ):
        make(SCORES, list("xyzy"), mated_value="x")


@each("bad", [math.nan, math.inf, -math.inf, -math.nan])
@each("dtype", [np.float32, np.float64])
@each("rich", [False, True])
def test_scores_that_are_not_finite_are_refused_by_row(bad, dtype, rich):
    scores = np.array([0.9, bad, 0.8, bad], dtype)
    with pytest.raises(InputError, match=r"row 1 \(counted from 0\).*and 1 more") as caught:
        make(scores, MATED, reference_group=list("aabb") if rich else None)
    assert caught.value.row == 1


@each("score", [1.7e308, -1.1e150, np.finfo(float).max])
@each("kind", ["similarity", "distance"])
def test_scores_whose_sums_would_overflow_are_refused_by_row(score, kind):
    with pytest.raises(
        InputError, match=r"between -1e\+150 and 1e\+150.* row 2 \(counted from 0\)"
    ) as caught:
        make([0.9, 0.1, score, 0.3], [1, 0, 1, 0], score_kind=kind)
    assert caught.value.row == 2


@pytest.mark.filterwarnings("ignore::fastfair.errors.FastfairWarning")
@pytest.mark.parametrize("scale", [1e150, 1e-9])
def test_scores_of_any_scale_have_the_rates_and_intervals_of_others(scale):
    rng = np.random.default_rng(0)
    mated = rng.random(400) < 0.5
    scores = np.clip((rng.normal(size=400) + 2 * mated) / 6, -1, 1)
    at = [ff.at_fmr(0.05), ff.at_fnmr(0.1), ff.at_eer(), ff.at_mean_group_eer()]
    found = [
        ff.evaluate(
            make(
                scores * times, mated, reference_group=rng.permutation(np.repeat(["f", "m"], 200))
            ),
            at,
            measures="gini",
            metrics=["eer", "min_dcf", "min_cllr"],
            unit="comparison",
            n_resamples=50,
            rng=0,
        )
        for rng, times in ((np.random.default_rng(1), 1.0), (np.random.default_rng(1), scale))
    ]
    for one, other in zip(*(evaluation.quantities for evaluation in found), strict=True):
        if one.name == "threshold":  # a short decimal between two scores
            continue
        for name in ("estimate", "low", "high", "standard_error"):
            value, expected = getattr(other, name), getattr(one, name)
            assert (value is None) == (expected is None)
            if value is not None:
                assert value == pytest.approx(expected, rel=1e-9, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((SCORES, MATED[:3]), "scores has 4, mated has 3"),
        (([], []), "empty"),
        (([[0.1, 0.2]], [1, 0]), "one-dimensional"),
        ((["a", "b"], [1, 0]), "must be numbers"),
        (([True, False], [1, 0]), "must be numbers"),
        ((SCORES, None, list("aabb"), list("aabb")), "no non-mated comparisons among the 4"),
        ((SCORES, None, list("aabb"), list("ccdd")), "no mated comparisons"),
        ((SCORES, None), "mated is None"),
        ((SCORES, MATED, ["a"] * 4), "reference is given without probe"),
        ((SCORES, MATED, None, ["a"] * 4), "probe is given without reference"),
        ((SCORES, MATED, ["a", "b", None, "d"], ["a"] * 4), "reference is missing in row 2"),
        ((SCORES, MATED, None, None, None, list("abab")), "probe_group is given without"),
        ((SCORES, MATED, None, None, {"a": list("abab")}, list("abab")), "has the attributes"),
        (
            (SCORES, MATED, None, None, {"a": list("abab")}, {"b": list("abab")}),
            "has the attributes",
        ),
        ((SCORES, MATED, None, None, list("aba")), "reference_group 'group' has 3"),
        ((SCORES, MATED, None, None, None, None, "distances"), "did you mean 'distance'"),
    ],
)
def test_bad_input_is_an_error_that_names_the_place(arguments, message):
    refused(message, make, *arguments)


def test_masked_entries_are_refused():
    mask = [False, False, True, False]
    for k, values in enumerate((SCORES, MATED, ["a"] * 4, ["a"] * 4)):
        arguments = [SCORES, MATED, ["a", "b", "c", "d"], ["a", "c", "c", "e"]]
        arguments[k] = np.ma.array(values, mask=mask)
        refused("masked entry in row 2", make, *arguments)


def test_large_whole_numbers_stay_apart_or_are_refused():
    signed, unsigned = np.array([2**53, 2**53 + 1], np.int64), np.array([2**53, 2**53], np.uint64)
    c = make([0.9, 0.1], None, signed, unsigned)
    assert (len(c.mated), c.subjects.tolist()) == (1, [2**53, 2**53 + 1])
    refused("whole numbers above 2", make, np.array([2**60, 2**60 + 1]), [1, 0])
    with pytest.raises(InputError, match="that float64 would round"):
        make(np.array([1, 1 + np.finfo(np.longdouble).eps], np.longdouble), [1, 0])


def test_results_cannot_corrupt_what_is_shared():
    c = make(SCORES, MATED, list("xxyy"), list("xzyz"), reference_group=list("aabb"))
    counts, mated = ff.rates(c, ff.at_eer()).counts, c.mated
    for array in (
        counts.matrix_nonmated,
        counts.matrix_subjects,
        c.subjects,
        mated.reference,
        mated.similarities,
        mated.keys,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[0]


def test_a_group_alone_keeps_its_own_subjects_and_labels():
    labels = {"sex": list("ffmm"), "eyes": list("bbgg")}
    c = make(SCORES, MATED, list("xxyy"), list("xzyz"), labels, dict(labels))
    alone = c.by("sex").within_group("f")
    assert alone.subjects.tolist() == ["x", "z"]
    assert alone.by("eyes").groups == ("b",)


def test_flags_that_contradict_the_subjects_are_counted_and_named():
    reference, probe = ["a", "a", "b", "b"], ["a", "a", "c", "c"]
    with pytest.raises(
        InputError, match=r"in 2 comparisons \(1 of one subject marked non-mated, 1 of two"
    ) as caught:
        make(SCORES, MATED, reference, probe)
    assert "'a' with 'a' marked non-mated" in str(caught.value)
    c = make(SCORES, MATED, reference, probe, label_conflicts="keep")
    assert len(c.mated) == 2


@given(grouped(), st.randoms())
def test_contradicting_flags_are_left_out_with_their_labels(rows, rng):
    flags = [rng.random() < 0.5 for _ in rows]
    assume(len(set(flags)) == 2)
    kept = [k for k, r in enumerate(rows) if flags[k] == (r.reference == r.probe)]
    columns = list(zip(*rows, strict=True))
    samples = [
        [f"{r.reference}/{k}" for k, r in enumerate(rows)],
        [f"{r.probe}/{-k}" for k, r in enumerate(rows)],
    ]

    def made(places, **options):
        taken = [[column[k] for k in places] for column in (*columns, *samples)]
        return make(
            taken[0],
            [flags[k] for k in places],
            *taken[2:6],
            reference_sample=taken[6],
            probe_sample=taken[7],
            self_comparisons="keep",
            **options,
        )

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        if {flags[k] for k in kept} != {True, False}:
            refused(
                "both classes are needed|there are no comparisons",
                made,
                range(len(rows)),
                label_conflicts="drop",
            )
            return
        c = made(range(len(rows)), label_conflicts="drop")
    assert len(told) == (len(kept) < len(rows))
    assert [one.sentence for one in c.left_out] == [str(one.message) for one in told]
    expected = made(kept)
    assert (c.attributes, c.groups) == (expected.attributes, expected.groups)
    for name in ("subjects", "samples", "sample_subject"):
        assert getattr(c, name).tolist() == getattr(expected, name).tolist()
    for side, other in ((c.mated, expected.mated), (c.nonmated, expected.nonmated)):
        assert side.similarities.tolist() == other.similarities.tolist()
        for name in ("rows", "reference", "probe", "reference_sample", "probe_sample"):
            assert getattr(side, name).tolist() == getattr(other, name).tolist()


def test_rows_left_out_are_named():
    reference, probe = ["a", "a", "b", "b"], ["a", "a", "c", "c"]
    with pytest.warns(
        DroppedWarning, match=r"^2 of 4 comparisons left out, .*: row 1 \(counted from 0\), row 2 "
    ):
        c = make(SCORES, MATED, reference, probe, label_conflicts="drop")
    assert (len(c.mated), len(c.nonmated), c.subjects.tolist()) == (1, 1, ["a", "b", "c"])
    refused(
        "'a' and 'A' look alike", make, SCORES, MATED, ["a", "a", "b", "b"], ["A", "c", "b", "c"]
    )
    refused("did you mean 'drop'", make, SCORES, MATED, reference, probe, label_conflicts="drops")


def test_intersections_join_their_parts_in_the_order_asked():
    labels = {"sex": list("ffmm"), "land": ["US", "UK", "US", "UK"]}
    c = make(SCORES, MATED, reference_group=labels)
    assert c.groups == ("f & UK", "f & US", "m & UK", "m & US")
    assert c.by("land", "sex").groups == ("UK & f", "UK & m", "US & f", "US & m")
    assert c.by("sex").groups == ("f", "m")
    assert c.by("sex").mated is c.mated
    refused("did you mean 'land'", c.by, "lnd")
    refused("at least one", c.by)
    occurring = {"sex": list("ffmm"), "land": ["US", "US", "UK", "UK"]}
    assert make(SCORES, MATED, reference_group=occurring).groups == ("f & US", "m & UK")


@given(grouped())
def test_a_group_on_its_own_is_its_comparisons(rows):
    c = from_rows(rows)
    for group in c.groups:
        own = [r for r in rows if r.reference_group == r.probe_group == group]
        if {r.mated for r in own} == {True, False}:
            alone = c.within_group(group)
            assert alone.mated.similarities.tolist() == sorted(r.score for r in own if r.mated)
            assert alone.nonmated.similarities.tolist() == sorted(
                r.score for r in own if not r.mated
            )
            assert [alone.subjects[k] for k in alone.mated.reference] == [
                rows[r].reference for r in alone.mated.rows
            ]
            assert alone.groups == ()
        else:
            refused(f"group '{group}' has", c.within_group, group)


def samples_of(rows, n):
    reference = [f"{r.reference}/{k % n}" for k, r in enumerate(rows)]
    probe = [f"{r.probe}/{k * k % n}" for k, r in enumerate(rows)]
    return reference, probe


@given(grouped(), st.integers(1, 4))
def test_samples_follow_their_scores_into_every_part(rows, n):
    reference, probe = samples_of(rows, n)
    scores, *columns = zip(*rows, strict=True)
    c = make(
        scores, *columns, reference_sample=reference, probe_sample=probe, self_comparisons="keep"
    )
    assert repr(c) == repr(from_rows(rows))
    parts = [(c, range(len(rows)))]
    for group in c.groups:
        own = [k for k, r in enumerate(rows) if r.reference_group == r.probe_group == group]
        if {rows[k].mated for k in own} == {True, False}:
            parts.append((c.within_group(group), own))
    for part, kept in parts:
        assert part.samples.tolist() == sorted(
            {side[k] for k in kept for side in (reference, probe)}
        )
        assert part.sample_subject.dtype == part.mated.reference_sample.dtype == np.int32
        for sample, subject in zip(part.samples, part.subjects[part.sample_subject], strict=True):
            assert sample.startswith(f"{subject}/")
        for side in (part.mated, part.nonmated):
            assert part.samples[side.reference_sample].tolist() == [reference[k] for k in side.rows]
            assert part.samples[side.probe_sample].tolist() == [probe[k] for k in side.rows]


@each(
    ("samples", "message"),
    [
        (
            (list("abcd"), None),
            "reference_sample is given without probe_sample: samples are needed on both sides",
        ),
        ((None, list("abcd")), "probe_sample is given without reference_sample"),
        ((list("abcd"), ["a", "e", None, "f"]), "probe_sample is missing in row 2"),
        ((list("abc"), list("aecf")), "reference_sample has 3, probe_sample has 4"),
        (
            (list("abcb"), list("aecf")),
            r"reference_sample 'b' is of subject 'y' in row 3 .*, but of 'x' in another",
        ),
        (
            (list("abcd"), list("aeca")),
            r"probe_sample 'a' is of subject 'z' in row 3 .*, but of 'x' in another",
        ),
    ],
)
def test_samples_that_cannot_be_are_refused(samples, message):
    refused(message, with_samples, *samples, reference=list("xxyy"), probe=list("xzyz"))


def with_samples(reference_sample, probe_sample, **subjects):
    return make(
        SCORES,
        MATED,
        **subjects,
        reference_sample=reference_sample,
        probe_sample=probe_sample,
        self_comparisons="keep",
    )


def test_samples_need_subjects_and_may_be_on_both_sides():
    c = with_samples(list("abcd"), list("aece"), reference=list("xxyy"), probe=list("xzyz"))
    assert c.samples.tolist() == list("abcde")
    refused("need the subjects: give reference and probe", with_samples, list("abcd"), list("abcd"))


FRAME = {
    "s": SCORES, "same": [True, False, True, False], "a": ["x", "x", "y", "y"], "b": ["x", "y", "y", "z"],
    "file_a": ["x1", "x1", "y1", "y1"], "file_b": ["x2", "y1", "y2", "z1"],
    "sex_a": ["f", "f", "m", "m"], "sex_b": ["f", "m", "m", "f"], "eyes_a": list("bbgg"), "eyes_b": list("bggb"),
}  # fmt: skip


@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"]
)
def test_frames_of_every_library(make):
    c = ff.Comparisons.from_frame(
        make(FRAME),
        score="s",
        mated="same",
        reference="a",
        probe="b",
        reference_group=["sex_a", "eyes_a"],
        probe_group=["sex_b", "eyes_b"],
        reference_sample="file_a",
        probe_sample="file_b",
    )
    assert c.groups == ("f & b", "m & g")
    assert c.by("sex").groups == ("f", "m")
    renamed = ff.Comparisons.from_frame(
        pl.DataFrame(FRAME).rename({"sex_a": "reference_sex"}),
        score="s",
        mated="same",
        reference_group="reference_sex",
    )
    assert renamed.by("sex").groups == ("f", "m")
    assert c.subjects.tolist() == ["x", "y", "z"]
    assert c.samples.tolist() == ["x1", "x2", "y1", "y2", "z1"]
    assert c.mated.similarities.tolist() == [0.8, 0.9]
    one = ff.Comparisons.from_frame(
        make(FRAME),
        score="s",
        mated=None,
        reference="a",
        probe="b",
        reference_group="sex_a",
        probe_group="sex_a",
    )
    assert one.groups == ("f", "m")


@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"]
)
def test_frames_with_bad_columns(make):
    scored = {"score": [0.1, 0.2], "mated": [1, 0]}
    for columns, names, message in (
        (
            {"score": SCORES, "same": MATED},
            {"score": "scor"},
            r"no column 'scor' \(did you mean 'score'\?\); its columns are score, same",
        ),
        ({"s": ["0.1", "x"], "mated": [1, 0]}, {"score": "s"}, "'s' must hold numbers"),
        (scored | {"g": ["a", None]}, {"reference_group": "g"}, "missing in row 1"),
        (scored | {"g": ["", "a"]}, {"reference_group": "g"}, "missing in row 0"),
        (scored | {"score": [0.1, None]}, {}, "row 1"),
    ):
        refused(message, ff.Comparisons.from_frame, make(columns), **names)
    refused("data frame", ff.Comparisons.from_frame, [1, 2, 3])


def test_categorical_columns():
    of_polars = pl.DataFrame(FRAME).with_columns(pl.col("sex_a").cast(pl.Categorical))
    for frame in (of_polars, pd.DataFrame(FRAME).astype({"sex_a": "category"})):
        names = {"score": "s", "mated": "same", "reference_group": "sex_a", "probe_group": "sex_a"}
        assert ff.Comparisons.from_frame(frame, **names).groups == ("f", "m")


def test_matrices():
    matrix = np.array([[9, 1, 2], [0, 8, 3], [2, 1, 7]])
    c = ff.Comparisons.from_matrix(matrix, reference_group=list("aab"), probe_group=list("aab"))
    assert (len(c.mated), len(c.nonmated)) == (3, 6)
    assert c.nonmated_by_group.cells.tolist() == [[2, 2], [2, 0]]
    wide = ff.Comparisons.from_matrix(matrix[:2], reference=["x", "y"], probe=["x", "z", "x"])
    assert sorted(wide.mated.similarities.tolist()) == [2, 9]
    refused("2 x 3", ff.Comparisons.from_matrix, matrix[:2])
    refused("two dimensions", ff.Comparisons.from_matrix, matrix[0])
    with pytest.raises(InputError, match="probe has 2, scores along that side has 3"):
        ff.Comparisons.from_matrix(matrix[:2], reference=["x", "y"], probe=["x", "z"])


@given(grouped(), st.floats(-3, 3))
def test_log_likelihood_ratios_are_similarities(rows, threshold):
    columns = list(zip(*rows, strict=True))
    one, other = (
        make(*columns, score_kind=kind) for kind in ("similarity", "log-likelihood-ratio")
    )
    for name in ("threshold", "fmr", "fnmr"):
        assert getattr(ff.roc(one), name).tolist() == getattr(ff.roc(other), name).tolist()
    assert (ff.eer(one).value, ff.eer(one).threshold) == (
        ff.eer(other).value,
        ff.eer(other).threshold,
    )
    assert one.to_key(threshold) == other.to_key(threshold)
    assert other.to_scale(threshold) == threshold


def test_models_and_segments_are_no_people():
    models, segments = np.repeat(np.arange(20), 20), np.tile(np.arange(20), 20)
    mated = models // 4 == segments // 4
    sides = [[f"m{k}" for k in models], [f"t{k}" for k in segments]]
    told = (
        "reference and probe do not name people, as 80 of 80 mated comparisons are of two of them"
    )
    refused(told, ff.Comparisons, mated + 0.0, mated, *sides)
    with pytest.warns(NarrowIntervalsWarning, match=told):
        ff.Comparisons(mated + 0.0, mated, *sides, policies=ff.Policies(label_conflicts="keep"))
    with pytest.raises(InputError, match="Correct the labels") as caught:  # the wrong way round
        ff.Comparisons(mated + 0.0, ~mated, models // 4, segments // 4)
    assert "people" not in str(caught.value)


def test_columns_of_people_are_not_ignored_without_a_word():
    frame = pl.DataFrame(
        {"score": SCORES, "mated": [1, 0, 1, 0], "reference": list("aabb"), "probe": list("abbc")}
    )
    with pytest.warns(NarrowIntervalsWarning, match="'reference' and 'probe' are not used"):
        assert ff.Comparisons.from_frame(frame).subjects is None
    named = ff.Comparisons.from_frame(frame, reference="reference", probe="probe")
    assert named.subjects.tolist() == ["a", "b", "c"]
    assert ff.Comparisons.from_frame(frame.drop("probe")).subjects is None


@each("n_changed", [0, 1, 2, 10])
def test_a_few_people_of_two_groups_are_named(n_changed):
    who = np.arange(12)
    sex = np.where(who % 2 == 0, "f", "m")
    reference, probe = np.append(who, who), np.append(who, np.roll(who, 1))
    of_reference, of_probe = sex[reference], sex[probe].copy()
    of_probe[12 : 12 + n_changed] = sex[reference[12 : 12 + n_changed]]
    given = (
        (reference == probe) + 0.0,
        None,
        reference,
        probe,
        {"sex": of_reference},
        {"sex": of_probe},
    )
    if n_changed in (1, 2):
        says = (
            rf"^{n_changed} of 12 subjects have several labels of 'sex', such as 11, who is 'm'"
            r" and 'f'"
        )
        with pytest.warns(ContradictingLabelsWarning, match=says):
            ff.Comparisons(*given)
    else:  # nobody, or nearly all: a property of samples
        ff.Comparisons(*given)


@each("kind", ["similarity", "distance"])
@each("dtype", [np.float32, np.float64])
def test_classes_are_taken_apart_some_comparisons_at_a_time(monkeypatch, kind, dtype):
    monkeypatch.setattr(sorted_scores, "_IN_CACHE", 7)
    sign = -1 if kind == "distance" else 1
    for n in (2, 7, 8, 50):
        scores = np.random.default_rng(n).normal(size=n).round(1).astype(dtype)
        mated = np.arange(n) % 3 == 0
        c = ff.Comparisons(scores, mated, score_kind=kind)
        for side, wanted in ((c.mated, mated), (c.nonmated, ~mated)):
            assert side.similarities.tolist() == sorted((sign * scores[wanted] + 0.0).tolist())
