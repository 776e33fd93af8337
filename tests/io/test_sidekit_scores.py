"""Scores and keys of sidekit and BOSARIS in HDF5, and scores in JSON."""

import json

import h5py
import numpy as np
import pytest

import fastfair as ff
from fastfair.errors import FastfairWarning, FileFormatError, InputError

MODELS, SEGMENTS = ["ann", "bob"], ["a-1", "b-1", "c-1"]
SCORES = np.float32([[0.9, 0.1, 0.3], [0.2, 0.8, -9]])
MASK = np.int8([[1, 1, 1], [1, 1, 0]])
LIST = "ann a-1 target\nann b-1 nontarget\nann c-1 nontarget\nbob a-1 nontarget\nbob b-1 target\n"


def write(path, names=("modelset", "segset"), **matrices):
    with h5py.File(path, "w") as file:
        for name, labels in zip(names, (MODELS, SEGMENTS), strict=True):
            file.create_dataset(name, data=np.array(labels, "S"), compression="gzip")
        for name, matrix in matrices.items():
            file.create_dataset(name, data=matrix, maxshape=(None, None), compression="gzip")


def rows_of(comparisons):
    sides = ((True, comparisons.mated), (False, comparisons.nonmated))
    return sorted((flag, float(score)) for flag, side in sides for score in side.similarities)


@pytest.mark.parametrize("names", [("modelset", "segset"), ("ID/row_ids", "ID/column_ids")])
def test_scores_are_those_of_the_list(tmp_path, names):
    write(tmp_path / "s.h5", names, scores=SCORES, score_mask=MASK)
    (tmp_path / "t.txt").write_text(LIST)
    lines = [line.split() for line in LIST.splitlines()]
    places = {(m, s): SCORES[i, j] for i, m in enumerate(MODELS) for j, s in enumerate(SEGMENTS)}
    expected = sorted((label == "target", float(places[m, s])) for m, s, label in lines)
    assert rows_of(ff.read_comparisons(tmp_path / "s.h5", trials=tmp_path / "t.txt")) == expected
    write(tmp_path / "k.h5", trial_mask=np.int8([[1, -1, -1], [-1, 1, 0]]))
    assert rows_of(ff.read_comparisons(tmp_path / "s.h5", trials=tmp_path / "k.h5")) == expected


def test_subjects_may_be_cut_out_of_names(tmp_path):
    write(tmp_path / "s.h5", scores=SCORES, score_mask=MASK)
    read = ff.read_comparisons(tmp_path / "s.h5", subject_pattern="^[a-z]")
    assert rows_of(read) == [
        (False, pytest.approx(0.1)),
        (False, pytest.approx(0.2)),
        (False, pytest.approx(0.3)),
        (True, pytest.approx(0.8)),
        (True, pytest.approx(0.9)),
    ]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"scores": SCORES.T}, "MATLAB exchanges rows and columns"),
        ({"scores": SCORES[:1]}, r"'scores' has the shape \(1, 3\)"),
        ({"score_mask": 2 * MASK}, "something else than 0 and 1"),
        ({"score_mask": 0 * MASK}, "nothing but 0"),
        ({"names": ("models", "segments")}, "no file of sidekit or BOSARIS"),
        (
            {"score_mask": np.ones_like(MASK)},
            "1 scores of .* have no trial in .*, first bob c-1 in the matrix$",
        ),
        ({"score_mask": np.eye(2, 3)}, "3 of 5 trials of .* have no score in"),
    ],
)
def test_other_matrices_are_refused(tmp_path, changed, message):
    write(tmp_path / "s.h5", **({"scores": SCORES, "score_mask": MASK} | changed))
    (tmp_path / "t.txt").write_text(LIST)
    with pytest.raises(FileFormatError, match=message):
        ff.read_comparisons(tmp_path / "s.h5", trials=tmp_path / "t.txt")


def test_labels_are_needed(tmp_path):
    write(tmp_path / "s.h5", scores=SCORES, score_mask=MASK)
    with pytest.raises(FileFormatError, match="give the key or the list of trials as trials="):
        ff.read_comparisons(tmp_path / "s.h5")
    (tmp_path / "s.txt").write_text("0.5\n0.1\n")
    with pytest.raises((FileFormatError, InputError), match=r"labels|HDF5|trial list"):
        ff.read_comparisons(tmp_path / "s.txt", trials=tmp_path / "s.h5")


def test_square_matrices_of_bosaris_are_doubted(tmp_path):
    with h5py.File(tmp_path / "s.h5", "w") as file:
        file["ID/row_ids"] = file["ID/column_ids"] = np.array(["ann-1", "bob-1"], "S")
        file["scores"] = SCORES[:, :2]
        file["score_mask"] = MASK[:, :2]
    with pytest.warns(FastfairWarning, match="MATLAB exchanges rows and columns"):
        ff.read_comparisons(
            tmp_path / "s.h5",
            subject_pattern="^[a-z]+",
            policies=ff.Policies(self_comparisons="keep"),
        )


def test_scores_in_json(tmp_path):
    rows = [
        {"score": 0.9, "mated": True, "sex": "f"},
        {"score": None, "mated": True, "sex": "m"},
        {"score": 0.1, "mated": False, "sex": "f"},
        {"score": 0.25, "mated": False, "sex": "m"},
    ]
    texts = (json.dumps(rows), "\n".join(map(json.dumps, rows)))
    for suffix, text in zip((".json", ".jsonl"), texts, strict=True):
        path = tmp_path / f"s{suffix}"
        path.write_text(text)
        with pytest.raises(InputError, match="line 2" if suffix == ".jsonl" else "row 1"):
            ff.read_comparisons(path)
        read = ff.read_comparisons(path, groups="sex", policies=ff.Policies(failures="non-match"))
        assert read.groups == ("f", "m")
        assert sorted(read.nonmated.similarities.tolist()) == [0.1, 0.25]


def test_maps_of_kaldi_are_metadata(tmp_path):
    (tmp_path / "s.csv").write_text(
        "score,reference,probe\n0.9,ann,ann\n0.1,ann,bob\n0.8,bob,bob\n"
    )
    for text in ("ann f\nbob m\n", "ann\tf\nbob\tm\n", "spk\tgender\nann\tf\nbob\tm\n"):
        (tmp_path / "spk2gender").write_text(text)
        read = ff.read_comparisons(
            tmp_path / "s.csv", metadata=tmp_path / "spk2gender", groups="gender"
        )
        assert read.groups == ("f", "m")
    (tmp_path / "spk2utt").write_text("ann a b\nbob c d\n")
    with pytest.raises(FileFormatError, match="a row of spk and utt has two fields, not 3"):
        ff.read_comparisons(tmp_path / "s.csv", metadata=tmp_path / "spk2utt", groups="utt")
