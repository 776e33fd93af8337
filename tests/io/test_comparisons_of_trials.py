"""Lists of trials scored with vectors: the comparisons of a score file that has these scores."""

import numpy as np
import polars as pl
import pytest
from helpers.each import each
from helpers.flat import read_comparisons
from helpers.refusals import refused
from oracles import listed_pairs as slow

import fastfair as ff
from fastfair.errors import DroppedWarning, FileFormatError, InputError

NAMES = ["ann/1", "ann/2", "bob/1", "bob/2", "eve/1"]
VECTORS = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
PAIRS = [
    ("ann/1", "ann/2"),
    ("bob/1", "ann/1"),
    ("bob/2", "bob/1"),
    ("eve/1", "ann/2"),
    ("bob/2", "eve/1"),
]
MATED = [a[:3] == b[:3] for a, b in PAIRS]
WHO = "id,sex\nann,f\nbob,m\neve,f\n"
SEXES = {"metadata": "who.csv", "metadata_id": "id", "groups": "sex"}
NAMED_BY = {"subject_pattern": "^([^/]+)/"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("v.npz", vectors=VECTORS, name=NAMES)
    (tmp_path / "who.csv").write_text(WHO)
    scores = [np.float32(slow.score(VECTORS, NAMES, *pair)) for pair in PAIRS]
    lines = [f"{a},{b},{int(m)},{s}" for (a, b), m, s in zip(PAIRS, MATED, scores, strict=True)]
    (tmp_path / "scored.csv").write_text("\n".join(["reference,probe,mated,score", *lines]))
    return tmp_path


def lists():
    """Return the content of a list and how it is read, by format."""
    named = [f"{a}{{0}}{b}{{0}}{int(m)}" for (a, b), m in zip(PAIRS, MATED, strict=True)]
    words = {True: "target", False: "nontarget"}
    return {
        "voxceleb": (
            "".join(f"{int(m)} {a} {b}\n" for (a, b), m in zip(PAIRS, MATED, strict=True)),
            {},
        ),
        "kaldi": (
            "".join(f"{a} {b} {words[m]}\n" for (a, b), m in zip(PAIRS, MATED, strict=True)),
            NAMED_BY,
        ),
        "csv": (
            "\n".join(["reference,probe,mated", *(line.format(",") for line in named)]),
            NAMED_BY,
        ),
        "tsv": (
            "\n".join(["reference\tprobe\tmated", *(line.format("\t") for line in named)]),
            NAMED_BY,
        ),
        "without labels": (
            "\n".join(["reference,probe", *(f"{a},{b}" for a, b in PAIRS)]),
            NAMED_BY,
        ),
        "scores that are not read": (
            "\n".join(["score,reference,probe", *(f"x,{a},{b}" for a, b in PAIRS)]),
            NAMED_BY,
        ),
    }


def is_the_same(found, wanted):
    assert repr(found) == repr(wanted)
    for side in ("mated", "nonmated"):
        one, other = getattr(found, side), getattr(wanted, side)
        assert one.similarities == pytest.approx(other.similarities, abs=1e-7)
        for name in ("reference", "probe", "reference_sample", "probe_sample", "rows"):
            assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert found.groups == wanted.groups
    assert found.subjects.tolist() == wanted.subjects.tolist()


def wanted(folder, **options):
    return read_comparisons(folder / "scored.csv", **NAMED_BY, **SEXES, **options)


@each("kind", lists())
def test_every_format_has_what_a_score_file_has(kind, folder):
    text, options = lists()[kind]
    (folder / "trials").write_text(text)
    for embeddings in ("v.npz", ff.NamedVectors(VECTORS, NAMES)):
        is_the_same(
            read_comparisons("trials", embeddings=embeddings, **options, **SEXES), wanted(folder)
        )


def test_columns_of_parquet_of_arrays_and_of_data_frames(folder):
    frame = pl.DataFrame(
        {"reference": [a for a, _ in PAIRS], "probe": [b for _, b in PAIRS], "mated": MATED}
    )
    frame.write_parquet("t.parquet")
    np.savez("t.npz", **{name: frame[name].to_list() for name in frame.columns})
    for path in (frame, "t.parquet", "t.npz"):
        is_the_same(read_comparisons(path, embeddings="v.npz", **NAMED_BY, **SEXES), wanted(folder))


def test_subjects_are_in_columns_of_the_list_or_in_a_table_of_samples(folder):
    rows = [f"{a[:3]},{b[:3]},{a},{b}" for a, b in PAIRS]
    (folder / "t.csv").write_text(
        "\n".join(["reference,probe,reference_sample,probe_sample", *rows])
    )
    is_the_same(read_comparisons("t.csv", embeddings="v.npz", **SEXES), wanted(folder))
    (folder / "files.csv").write_text(
        "\n".join(["file,who,sex", *(f"{n},{n[:3]},{'mf'[n[0] != 'b']}" for n in NAMES)])
    )
    (folder / "kaldi").write_text(lists()["kaldi"][0])
    found = read_comparisons(
        "kaldi",
        embeddings="v.npz",
        metadata="files.csv",
        metadata_id="file",
        metadata_subject="who",
        groups="sex",
    )
    is_the_same(found, wanted(folder))


def test_kaldi_lists_without_subjects(folder):
    (folder / "kaldi").write_text(lists()["kaldi"][0])
    found = read_comparisons("kaldi", embeddings="v.npz")
    assert found.subjects is None
    assert found.mated.similarities == pytest.approx(wanted(folder).mated.similarities, abs=1e-7)


def test_templates_of_several_vectors(folder):
    (folder / "t.csv").write_text("reference,probe,mated\nann,ann/2,1\nann,eve/1,0\nbob,bob/2,1\n")
    names = ["ann", "ann/2", "bob", "bob/2", "eve/1", "ann", "bob", "ann"]
    vectors = np.random.default_rng(1).normal(size=(8, 3))
    for same_name in ("max", "mean"):
        found = read_comparisons(
            "t.csv",
            embeddings=ff.NamedVectors(vectors, names, same_name=same_name),
            subject_pattern="^[a-z]+",
        )
        score = [
            slow.score(vectors, names, *pair, same_name=same_name)
            for pair in (("ann", "ann/2"), ("bob", "bob/2"))
        ]
        assert found.mated.similarities == pytest.approx(sorted(score), rel=1e-12)


def test_rows_without_metadata_are_left_out_before_they_are_scored(folder):
    (folder / "who.csv").write_text(WHO[:-6])
    np.savez("v.npz", vectors=VECTORS[:4], name=NAMES[:4])
    (folder / "t.csv").write_text(lists()["csv"][0])
    options = NAMED_BY | SEXES
    with pytest.warns(
        DroppedWarning, match="comparisons left out, as their subjects have no metadata"
    ):
        found = read_comparisons("t.csv", embeddings="v.npz", missing_labels="drop", **options)
    with pytest.warns(
        DroppedWarning, match="comparisons left out, as their subjects have no metadata"
    ):
        is_the_same(found, wanted(folder, missing_labels="drop"))
    np.savez("v.npz", vectors=VECTORS[:3], name=NAMES[:3])
    with (
        pytest.raises(InputError, match=r"t.csv: line 4: reference 'bob/2' .* has no vector"),
        pytest.warns(DroppedWarning),
    ):
        read_comparisons("t.csv", embeddings="v.npz", missing_labels="drop", **options)


@each(
    ("text", "options", "message"),
    [
        (
            "1 ann/1 ann/2\n0 ann/1 eve/9\n",
            {},
            "trials: line 2: probe 'eve/9' in row 1 .* has no vector",
        ),
        (
            "mated,a\n1,ann/1\n0,ann/2\n",
            {},
            "needs the names of vectors: name their columns with reference=",
        ),
        (
            "reference,probe\nann/1,ann/2\n",
            {"score": "probe"},
            "leave score= out: scores are the similarities",
        ),
        ("1 ann/1 ann/2\n", {"trials": "trials"}, "leave trials= out: scores are the similarities"),
        (
            "1 ann/1 ann/2\n",
            {"score_kind": "distance"},
            "leave score_kind= out: scores are the similarities",
        ),
        ("1 ann/1 ann/2\n", {"reference": "a"}, "a voxceleb file has no named columns"),
        ("a b 0.3\n", {}, "trials is no list of trials that is known; its first line is 'a b 0.3'"),
        ("a a b 0.3\n", {"format": "bob-4"}, "trials holds scores and no list of trials"),
        (
            "reference\tprobe\ttarget\n",
            {},
            r"may be kaldi \(enrol test target\) or tsv \(named columns\)",
        ),
        (
            "1 ann/1 ann/2\n0 ann/1 ann/2\n",
            {},
            "is a target trial in line 1 and a nontarget one in line 2",
        ),
    ],
)
def test_what_is_wrong_with_a_list(folder, text, options, message):
    (folder / "trials").write_text(text)
    with pytest.raises((InputError, FileFormatError), match=message):
        read_comparisons("trials", embeddings="v.npz", **options)


def test_other_readers_point_to_vectors(folder):
    for text in ("1 a b\n", "a b target\n"):
        (folder / "trials").write_text(text)
        with pytest.raises(FileFormatError, match="or vectors to score it with as embeddings="):
            read_comparisons("trials")
    refused(
        "embeddings must be the name of a file, a data frame or NamedVectors",
        read_comparisons,
        "trials",
        embeddings=5,
    )
