"""Score files of NumPy arrays: named arrays of a .npz, and .npy files that lie beside each other."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.flat import read_comparisons
from helpers.refusals import refused

import fastfair as ff
from fastfair.errors import FileFormatError, InputError, MissingFileError

SCORES = np.array([0.9, 0.2, 0.8, 0.1])
ARRAYS = {
    "score": SCORES, "mated": np.array([True, False, True, False]), "reference": np.array(["a", "a", "b", "b"]),
    "probe": np.array([b"a", b"b", b"b", b"a"]), "sex_1": np.array(["f", "f", "m", "m"]),
    "sex_2": np.array(["f", "m", "m", "f"]),
}  # fmt: skip


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, array in ARRAYS.items():
        np.save(f"{name}.npy", array)


def is_right(c: ff.Comparisons, *, groups: bool = True) -> None:
    assert c.mated.similarities.tolist() == [0.8, 0.9]
    assert c.nonmated.similarities.tolist() == [0.1, 0.2]
    if groups:
        assert c.subjects.tolist() == ["a", "b"]
        assert c.nonmated_by_group.cells.tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize("dtype", [">f8", "f4", "f2", "f8"])
def test_named_arrays(dtype):
    np.savez("s.npz", **ARRAYS | {"score": SCORES.astype(dtype)})
    c = read_comparisons("s.npz", groups="sex")
    assert np.allclose(c.mated.similarities, [0.8, 0.9], atol=1e-3)
    assert c.mated.similarities.dtype == (np.float32 if dtype in ("f4", "f2") else np.float64)
    assert c.nonmated_by_group.cells.tolist() == [[0, 1], [1, 0]]


def test_arrays_with_other_names():
    np.savez("s.npz", similarity=SCORES, same=ARRAYS["mated"])
    is_right(read_comparisons("s.npz", score="similarity", mated="same"), groups=False)
    refused(r"holds the arrays similarity, same: say which with score=", read_comparisons, "s.npz")
    with pytest.raises(InputError, match=r"has no array 'sam' \(did you mean 'same'\?\)"):
        read_comparisons("s.npz", score="similarity", mated="sam")
    np.savez("alone.npz", a=SCORES)
    refused(r"nothing says which comparisons are mated", read_comparisons, "alone.npz", score="a")


def test_files_beside_each_other():
    is_right(read_comparisons("score.npy", mated="mated.npy"), groups=False)
    sides = {"reference": "reference.npy", "probe": "probe.npy"}
    is_right(read_comparisons("score.npy", **sides, groups=[("sex_1.npy", "sex_2.npy")]))
    is_right(read_comparisons("score.npy", mated="mated.npy", **sides, groups=[("sex_1.npy", "sex_2.npy")]))
    alone = read_comparisons("score.npy", mated="mated.npy", groups="sex_1.npy")
    assert (alone.grouping, alone.groups) == (("sex_1",), ("f", "m"))


def test_files_of_one_name_in_two_folders(tmp_path):
    for side in ("one", "two"):
        (tmp_path / side).mkdir()
        np.save(tmp_path / side / "who.npy", ARRAYS["reference" if side == "one" else "probe"])
    c = read_comparisons("score.npy", reference="one/who.npy", probe="two/who.npy")
    is_right(c, groups=False)
    assert c.subjects.tolist() == ["a", "b"]


def test_what_is_wrong_is_told():
    with pytest.raises(MissingFileError, match=r"did you mean 'mated.npy'"):
        read_comparisons("score.npy", mated="matd.npy")
    with pytest.raises(InputError, match=r"what goes with it is in \.npy files, too: name one, not 'mated'"):
        read_comparisons("score.npy", mated="mated")
    refused("leave score= out", read_comparisons, "score.npy", score="score", mated="mated.npy")
    np.save("short.npy", [1, 0])
    refused("score has 4, short has 2", read_comparisons, "score.npy", mated="short.npy")
    np.save("dates.npy", np.array(["2024-01-01"] * 4, "M8[D]"))
    with pytest.raises(FileFormatError, match="'dates' must hold numbers or text"):
        read_comparisons("score.npy", mated="mated.npy", groups="dates.npy")
    np.save("bytes.npy", np.array([b"\xff"] * 4))
    with pytest.raises(FileFormatError, match="not UTF-8"):
        read_comparisons("score.npy", mated="mated.npy", groups="bytes.npy")
    np.save("objects.npy", np.array(["a", None, "b", "c"], object), allow_pickle=True)
    with pytest.raises(FileFormatError, match="pickled Python objects"):
        read_comparisons("score.npy", mated="mated.npy", groups="objects.npy")
    np.save("nan.npy", [0.9, np.nan, 0.2, 0.1])
    refused(r"row 1 \(counted from 0\)", read_comparisons, "nan.npy", mated="mated.npy")


def test_matrices_stay_matrices():
    np.save("m.npy", np.array([[0.9, 0.1], [0.2, 0.8]]))
    assert len(read_comparisons("m.npy").mated) == 2
    np.savez("m.npz", a=np.array([[0.9, 0.1], [0.2, 0.8]]), score=SCORES)
    assert len(read_comparisons("m.npz", score="a").mated) == 2
