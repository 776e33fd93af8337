"""Tables of metadata: with one row for each subject, each sample, or each pair."""

from __future__ import annotations

import polars as pl
import pytest
from helpers.command_line import run
from helpers.flat import read_comparisons
from helpers.refusals import refused

import fastfair as ff
from fastfair.errors import DroppedWarning, InputError

TRIALS = pl.DataFrame({
    "score": [0.9, 0.2, 0.8, 0.1], "mated": [1, 0, 1, 0],
    "reference": ["a/1.png", "a/1.png", "b/1.png", "b/2.png"], "probe": ["a/2.png", "b/1.png", "b/2.png", "a/2.png"],
})  # fmt: skip
FILES = pl.DataFrame({
    "file": ["a/1.png", "a/2.png", "b/1.png", "b/2.png"], "person": ["Ann", "Ann", "Bob", "Bob"],
    "age": ["young", "old", "young", "young"], "sex": ["f", "f", "m", "m"],
})  # fmt: skip
PATTERN = "^([^/]+)/"
PER_SAMPLE = {"metadata": FILES, "metadata_id": "file", "metadata_per": "sample"}
# With non-mated comparisons in each group, as an evaluation needs them.
MORE_TRIALS = TRIALS.vstack(
    pl.DataFrame({"score": [0.3, 0.4], "mated": [0, 0], "reference": ["a/1.png", "b/1.png"],
                  "probe": ["c/1.png", "d/1.png"]})
)  # fmt: skip
SEX_1, SEX_2 = pl.Series("sex_1", list("ffmmfm")), pl.Series("sex_2", list("fmmffm"))


def labels(c: ff.Comparisons, attribute: str) -> list[tuple[str, str]]:
    """Return the labels of reference and probe in the order of the rows."""
    known = c.attributes[attribute]
    found = {}
    for side in (c.mated, c.nonmated):
        for row, *codes in zip(side.rows, *side.attribute(attribute), strict=True):
            found[int(row)] = tuple(known[code] for code in codes)
    return [found[row] for row in sorted(found)]


def test_labels_of_samples():
    c = read_comparisons(TRIALS, subject_pattern=PATTERN, **PER_SAMPLE, groups=["sex", "age"])
    assert labels(c, "age") == [
        ("young", "old"),
        ("young", "young"),
        ("young", "young"),
        ("young", "old"),
    ]
    assert labels(c, "sex") == [("f", "f"), ("f", "m"), ("m", "m"), ("m", "f")]
    assert c.subjects.tolist() == ["a", "b"]
    named = TRIALS.with_columns(
        reference_sample=pl.col("reference"),
        probe_sample=pl.col("probe"),
        reference=pl.col("reference").str.slice(0, 1),
        probe=pl.col("probe").str.slice(0, 1),
    )
    again = read_comparisons(named, **PER_SAMPLE, groups="age")
    assert labels(again, "age") == labels(c, "age")


@pytest.mark.parametrize("word", ["NA", "n/a", "NULL", None])
def test_words_for_no_number_are_blank_where_all_else_is_numbers(word):
    frame = pl.DataFrame(
        {"score": [0.9, 0.8, 0.2], "reference": ["a", "b", "a"], "probe": ["a", "b", "b"]}
    )
    people = pl.DataFrame({"id": ["a", "b"], "age": ["31", word], "country": ["GB", "NA"]})
    options = {"reference": "reference", "probe": "probe", "metadata": people}
    bands = ff.Layout(bands="age=0,20,35")
    with pytest.raises(InputError, match="1 of 2 subjects have no metadata for age: 'b'"):
        read_comparisons(frame, **options, groups="age", layout=bands)
    c = read_comparisons(frame, **options, groups="age", layout=bands, missing_labels="unknown")
    assert c.groups == ("20-34", "unknown")
    with pytest.warns(ff.errors.LookAlikeWarning, match="a group of its own"):  # Namibia, perhaps
        assert read_comparisons(frame, **options, groups="country").groups == ("GB", "NA")


def test_subjects_of_samples(tmp_path):
    options = {
        "metadata": FILES,
        "metadata_id": "file",
        "metadata_subject": "person",
        "groups": "sex",
    }
    for given_frame in (TRIALS, TRIALS.drop("mated")):
        c = read_comparisons(given_frame, **options)
        assert (c.subjects.tolist(), c.samples.tolist()) == (["Ann", "Bob"], sorted(FILES["file"]))
        assert c.subjects[c.sample_subject].tolist() == ["Ann", "Ann", "Bob", "Bob"]
        assert labels(c, "sex") == [("f", "f"), ("f", "m"), ("m", "m"), ("m", "f")]
    with pytest.raises(InputError, match=r"both subject_pattern= and .*metadata_subject="):
        read_comparisons(TRIALS, **options, subject_pattern=PATTERN)
    with pytest.raises(
        InputError, match=r"1 of 4 samples have no metadata for sex: 'b/2.png'; 2 of 4 comparisons"
    ):
        read_comparisons(TRIALS, **options | {"metadata": FILES[:3]})
    nameless = FILES.with_columns(person=pl.Series(["Ann", "Ann", "Bob", None]))
    with pytest.warns(DroppedWarning, match="2 of 4 comparisons left out, .*: 'b/2.png'$"):
        c = read_comparisons(TRIALS, **options | {"metadata": nameless}, missing_labels="drop")
    assert (len(c.mated), len(c.nonmated), c.subjects.tolist()) == (1, 1, ["Ann", "Bob"])
    more = {
        "file": ["c/1.png", "d/1.png"],
        "person": ["Eve", "Dan"],
        "age": ["old", "old"],
        "sex": ["f", "m"],
    }
    MORE_TRIALS.write_csv(tmp_path / "s.csv")
    FILES.vstack(pl.DataFrame(more)).write_csv(tmp_path / "w.csv")
    words = [
        "evaluate",
        tmp_path / "s.csv",
        "--metadata",
        tmp_path / "w.csv",
        "--metadata-id",
        "file",
        "--metadata-subject",
        "person",
        "--group",
        "sex",
        "--n-resamples",
        0,
        "--at",
        "threshold=0.5",
    ]
    done = run(*words)
    assert "of 4 people, in 2 groups" in done.output, done.output


def test_the_message_says_what_the_ids_are_of():
    people = pl.DataFrame({"id": ["A", "B"], "sex": ["f", "m"]})
    lower = people.with_columns(pl.col("id").str.to_lowercase())
    pattern = {"subject_pattern": PATTERN}
    for table, options, message in (
        (FILES, pattern, r'The table has ids of samples: pass .*metadata_per="sample"'),
        (
            lower,
            pattern | {"metadata_per": "sample"},
            r'The table has ids of subjects: pass .*metadata_per="subject"',
        ),
        (people, pattern, "'a' is written 'A' in the metadata: write both alike"),
        (lower, {}, "look like names of samples, such as 'a/1.png'"),
        (FILES, {"metadata_per": "sample"}, "needs the samples of the comparisons"),
    ):
        with pytest.raises(InputError, match=message):
            read_comparisons(
                TRIALS, metadata=table, metadata_id=table.columns[0], groups="sex", **options
            )


@pytest.mark.parametrize("policy", ["raise", "drop", "keep"])
def test_labels_that_contradict_the_table_of_samples(policy):
    frame = TRIALS.with_columns(sex_1=pl.Series(list("ffmm")), sex_2=pl.Series(list("fmff")))
    options = {
        "metadata": FILES,
        "metadata_id": "file",
        "metadata_subject": "person",
        "groups": "sex",
        "label_conflicts": policy,
    }
    if policy == "raise":
        with pytest.raises(
            InputError,
            match=r"'sex_2' has 'f' for 'b/2.png' in row 2 .* the metadata is 'm' \(1 such",
        ):
            read_comparisons(frame, **options)
    elif policy == "drop":
        with pytest.warns(
            DroppedWarning, match=r"1 of 4 comparisons left out, .* contradict the metadata: row 2 "
        ):
            c = read_comparisons(frame, **options)
        assert (len(c.mated), len(c.nonmated)) == (1, 2)
    else:
        assert labels(read_comparisons(frame, **options), "sex")[2] == ("m", "m")


def test_conflicts_of_files_are_named_by_line(write):
    path = write(
        "s.csv",
        "\nscore,mated,reference,probe\n0.9,1,a,a\n0.8,0,a,a\n0.7,1,a,b\n0.1,0,a,c\n0.2,0,c,b\n",
    )
    refused(
        r"s\.csv: line 4: mated contradicts .* the first is line 4: 'a' with 'a'",
        read_comparisons,
        path,
    )
    with pytest.warns(DroppedWarning, match=r"^2 of 5 comparisons left out, .*: line 4, line 5$"):
        c = read_comparisons(path, label_conflicts="drop")
    assert (len(c.mated), len(c.nonmated)) == (1, 2)
    who = pl.DataFrame({"id": ["a", "b"], "sex": ["f", "m"]})
    path.write_text(path.read_text().replace("0.9,1,a,a", "0.3,0,c,a\n0.9,1,a,a") + "0.3,0,b,a\n")
    with pytest.warns(
        DroppedWarning
    ) as told:  # rows are those of the file, whatever else is left out
        c = read_comparisons(
            path,
            metadata=who,
            metadata_id="id",
            groups="sex",
            label_conflicts="drop",
            missing_labels="drop",
        )
    assert str(told[-1].message).endswith("line 5, line 6")
    assert (len(c.mated), len(c.nonmated)) == (1, 1)


def test_a_stranger_evaluates_a_table_of_pairs_in_one_command(tmp_path):
    frame = MORE_TRIALS.rename({"reference": "image_1", "probe": "image_2", "mated": "same"})
    frame.with_columns(SEX_1, SEX_2).write_csv(tmp_path / "s.csv")
    words = [
        "evaluate",
        tmp_path / "s.csv",
        "--mated",
        "same",
        "--reference",
        "image_1",
        "--probe",
        "image_2",
        "--subject-pattern",
        PATTERN,
        "--group",
        "sex",
        "--n-resamples",
        0,
        "--at",
        "threshold=0.5",
    ]
    done = run(*words)
    assert "2 mated and 4 non-mated comparisons of 4 people, in 2 groups" in done.output, (
        done.output
    )
