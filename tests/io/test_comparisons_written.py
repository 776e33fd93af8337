"""Score files written come back as the same comparisons."""

from __future__ import annotations

import tempfile
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from helpers.each import each
from helpers.flat import make, read_comparisons
from helpers.refusals import refused
from hypothesis import given
from hypothesis import strategies as st
from oracles.strategies import ANY

import fastfair as ff
from fastfair._lib.label_codes import is_missing
from fastfair.errors import DroppedWarning, InputError

SUFFIXES = [".csv", ".tsv", ".parquet"]
WORDS = st.text(
    st.one_of(
        st.sampled_from(list(",;\"'\t\n\r# &|\\é")),
        st.characters(codec="utf-8", exclude_characters="\0\ufeff"),
    ),
    min_size=1,
    max_size=6,
)
LABELS = WORDS.filter(lambda text: not is_missing(text))
TRIMMED = LABELS.filter(lambda text: text == text.strip())
NAMES = st.text(st.sampled_from(list("abgroup_,;\"' &")), max_size=8).map(str.strip).filter(bool)


def there_and_back(c, suffix, **options):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"scores{suffix}"
        ff.write_comparisons(c, path)
        return read_comparisons(
            path,
            score_kind=c.score_kind,
            label_conflicts="keep",
            self_comparisons="keep",
            **options,
        )


def rows_of(c):
    """All that is known of each comparison, as labels, by its row."""
    rows = {}
    for mated, side in ((True, c.mated), (False, c.nonmated)):
        for k in range(len(side)):
            row = [mated, float(side.similarities[k])]
            for labels, names in (
                (c.subjects, ("reference", "probe")),
                (c.samples, ("reference_sample", "probe_sample")),
            ):
                row += [
                    None if labels is None else labels[getattr(side, name)[k]] for name in names
                ]
            for name, labels in c.attributes.items():
                row += [(name, labels[codes[k]]) for codes in side.attribute(name)]
            rows[int(side.rows[k])] = tuple(row)
    return rows


def are_equal(c, other):
    assert rows_of(c) == rows_of(other)
    assert (c.groups, c.grouping, dict(c.attributes)) == (
        other.groups,
        other.grouping,
        dict(other.attributes),
    )
    assert (c.score_kind, len(c.mated)) == (other.score_kind, len(other.mated))
    for name in ("subjects", "samples", "sample_subject"):
        ours, theirs = getattr(c, name), getattr(other, name)
        assert (ours is None) == (theirs is None)
        assert ours is None or ours.tolist() == theirs.tolist()


# But for the largest of float32, which stands for no score.
WIDE = st.floats(-1e150, 1e150).filter(lambda score: not 3.4e38 < abs(score) < 3.41e38)


@st.composite
def comparisons(draw, names=NAMES, labels=TRIMMED):
    n = draw(st.integers(2, 10))

    def column(values):
        return draw(st.lists(values, min_size=n, max_size=n))

    dtype = draw(st.sampled_from([np.float32, np.float64]))
    scores = np.array(column(ANY if dtype is np.float32 else WIDE), dtype)
    mated = [True, False, *draw(st.lists(st.booleans(), min_size=n - 2, max_size=n - 2))]
    known = {}
    if draw(st.booleans()):
        subject = draw(st.lists(LABELS, min_size=1, max_size=4, unique=True))
        known = {
            "reference": column(st.sampled_from(subject)),
            "probe": column(st.sampled_from(subject)),
        }
        if draw(st.booleans()):
            take = column(st.integers(0, 2))
            known |= {
                f"{side}_sample": [
                    f"{label}/{k}" for label, k in zip(known[side], take, strict=True)
                ]
                for side in ("reference", "probe")
            }
    attributes = draw(st.lists(names, min_size=0 if known else 1, max_size=3, unique=True))
    if attributes:
        pool = st.sampled_from(draw(st.lists(labels, min_size=1, max_size=4, unique=True)))
        known["reference_group"] = {name: column(pool) for name in attributes}
        known["probe_group"] = {name: column(pool) for name in attributes}
    kind = draw(st.sampled_from(["similarity", "distance"]))
    return make(
        scores, mated, score_kind=kind, label_conflicts="keep", self_comparisons="keep", **known
    )


@pytest.mark.filterwarnings("ignore::fastfair.errors.LookAlikeWarning")  # of random labels
@pytest.mark.parametrize("suffix", SUFFIXES)
@given(comparisons())
def test_what_is_written_is_read_again(suffix, c):
    read = there_and_back(c, suffix, groups=list(c.attributes))
    are_equal(c, read)
    if suffix == ".parquet":
        assert read.mated.keys.dtype == c.mated.keys.dtype


@pytest.mark.filterwarnings("ignore::fastfair.errors.LookAlikeWarning")  # of random labels
@given(comparisons(names=st.text(max_size=5).filter(str.strip), labels=LABELS))
def test_parquet_takes_labels_and_names_of_any_kind(c):
    are_equal(c, there_and_back(c, ".parquet", groups=list(c.attributes)))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_rows_stay_in_their_order_and_groups_are_found_by_themselves(suffix):
    c = make([0.5, 0.9, 0.1], [0, 1, 0], ["a", "b", "a"], ["b", "b", "c"], list("xyx"), list("yxx"))
    are_equal(c, there_and_back(c, suffix))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_scores_alone_come_back(suffix):
    c = make(np.float32([0.1, 1 / 3, 0.7, 1e-45]), [1, 0, 1, 0], score_kind="distance")
    read = there_and_back(c, suffix)
    for side, other in ((c.mated, read.mated), (c.nonmated, read.nonmated)):
        assert np.array_equal(side.similarities, other.similarities)
    assert read.mated.similarities.dtype == (np.float32 if suffix == ".parquet" else np.float64)


def test_parquet_keeps_whole_numbers_and_text_files_make_text_of_them():
    c = make([0.9, 0.1], [1, 0], np.array([10, 9]), np.array([10, 10]))
    assert there_and_back(c, ".parquet").subjects.tolist() == [9, 10]
    assert there_and_back(c, ".csv").subjects.tolist() == ["10", "9"]
    halves = make([0.9, 0.1], [1, 0], [0.5, 1.5], [0.5, 0.5])
    assert there_and_back(halves, ".parquet").subjects.tolist() == ["0.5", "1.5"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_parts_and_pairs_are_written_too(suffix):
    c = make(
        [0.9, 0.8, 0.2, 0.4, 0.1],
        [1, 1, 0, 0, 0],
        list("abaac"),
        list("abbcb"),
        list("fmffm"),
        list("fmmff"),
    )
    part = there_and_back(c.within_group("f"), suffix)
    assert (
        part.subjects.tolist(),
        part.mated.similarities.tolist(),
        part.nonmated.similarities.tolist(),
    ) == (
        ["a", "c"],
        [0.9],
        [0.4],
    )
    e = ff.von_mises_fisher_embeddings(3, 2, dim=4, concentration=9, rng=0)
    pairs = there_and_back(e.comparisons(), suffix)
    assert np.array_equal(pairs.nonmated.similarities, e.comparisons().nonmated.similarities)


def test_regrouped_comparisons_are_written_with_all_attributes(tmp_path):
    c = make([0.9, 0.1], [1, 0], reference_group={"sex": ["f", "m"], "eyes": ["blue", "brown"]})
    ff.write_comparisons(c.by("eyes"), tmp_path / "s.csv")
    assert read_comparisons(tmp_path / "s.csv", groups=["sex", "eyes"]).groups == c.groups
    assert read_comparisons(tmp_path / "s.csv", groups="eyes").groups == c.by("eyes").groups


def test_samples_are_read_from_columns_of_their_own():
    frame = {
        "score": [0.9, 0.1],
        "mated": [True, False],
        "reference": ["a", "a"],
        "probe": ["a", "b"],
    }
    samples = {"reference_sample": [1, 1], "probe_sample": [2, 3]}
    c = read_comparisons(pl.DataFrame(frame | samples))
    assert (c.samples.tolist(), c.sample_subject.tolist()) == ([1, 2, 3], [0, 0, 1])
    assert read_comparisons(pl.DataFrame(frame | samples), groups="sample").samples is None
    with pytest.raises(InputError, match=r"column 'probe_sample' is missing in row 1"):
        read_comparisons(pl.DataFrame(frame | samples | {"probe_sample": [2, None]}))
    refused(
        "a sample has one subject",
        read_comparisons,
        pl.DataFrame(frame | samples | {"probe_sample": [1, 1]}),
    )


def test_what_cannot_be_written(tmp_path):
    c = make([0.9, 0.1], [1, 0])
    for name in ("scores.txt", "scores", "scores.csv.gz"):
        refused(
            rf"path must end in .csv, .tsv or .parquet, not '{name}'",
            ff.write_comparisons,
            c,
            tmp_path / name,
        )
    ff.write_comparisons(c, tmp_path / "nowhere" / "yet" / "scores.csv")
    assert len(read_comparisons(tmp_path / "nowhere" / "yet" / "scores.csv").mated) == 1


@pytest.mark.parametrize(
    ("attributes", "suffix", "message"),
    [
        ({"sample": ["a", "b"]}, ".parquet", "'sample' would be read as the samples"),
        ({"s\tx": ["f", "m"]}, ".csv", r"'s\\tx' cannot head a column of a text file"),
    ],
)
def test_labels_that_would_not_come_back_are_refused(tmp_path, attributes, suffix, message):
    c = make([0.9, 0.1], [1, 0], reference_group=attributes)
    refused(message, ff.write_comparisons, c, tmp_path / f"scores{suffix}")
    assert not list(tmp_path.iterdir())


@each("suffix", SUFFIXES)
@each("policy", ["exclude", "non-match"])
def test_failed_comparisons_have_no_score_in_a_file(suffix, policy):
    warned = pytest.warns(DroppedWarning, match="failed") if policy == "exclude" else nullcontext()
    scores = [0.5, np.nan, 0.25, np.nan, 0.125]
    with warned:
        c = make(scores, [1, 1, 1, 0, 0], list("aabbc"), list("aabcd"), failures=policy)
    with pytest.warns(DroppedWarning, match="failed") if policy == "exclude" else nullcontext():
        back = there_and_back(c, suffix, failures=policy)
    assert rows_of(back) == rows_of(c)
    for side, other in zip(c.failed.sides, back.failed.sides, strict=True):
        assert side.rows.tolist() == other.rows.tolist()
        assert c.subjects[side.reference].tolist() == list(back.subjects[other.reference])
