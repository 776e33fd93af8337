"""Score files of NumPy arrays: named arrays of a .npz, and matrices."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.flat import read_comparisons
from helpers.refusals import refused

from fastfair.errors import InputError

SCORES = np.array([0.9, 0.2, 0.8, 0.1])
ARRAYS = {
    "score": SCORES, "mated": np.array([True, False, True, False]), "reference": np.array(["a", "a", "b", "b"]),
    "probe": np.array([b"a", b"b", b"b", b"a"]), "sex_1": np.array(["f", "f", "m", "m"]),
    "sex_2": np.array(["f", "m", "m", "f"]),
}  # fmt: skip


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("dtype", [">f8", "f4", "f2", "f8"])
def test_named_arrays(dtype):
    np.savez("s.npz", **ARRAYS | {"score": SCORES.astype(dtype)})
    c = read_comparisons("s.npz", groups="sex")
    assert np.allclose(c.mated.similarities, [0.8, 0.9], atol=1e-3)
    assert c.mated.similarities.dtype == (np.float32 if dtype in ("f4", "f2") else np.float64)
    assert c.nonmated_by_group.cells.tolist() == [[0, 1], [1, 0]]


def test_arrays_with_other_names():
    np.savez("s.npz", similarity=SCORES, same=ARRAYS["mated"])
    c = read_comparisons("s.npz", score="similarity", mated="same")
    assert (c.mated.similarities.tolist(), c.nonmated.similarities.tolist()) == (
        [0.8, 0.9],
        [0.1, 0.2],
    )
    refused(r"holds the arrays similarity, same: say which with score=", read_comparisons, "s.npz")
    with pytest.raises(InputError, match=r"has no array 'sam' \(did you mean 'same'\?\)"):
        read_comparisons("s.npz", score="similarity", mated="sam")
    np.savez("alone.npz", a=SCORES)
    refused(r"nothing says which comparisons are mated", read_comparisons, "alone.npz", score="a")


def test_what_is_wrong_is_told():
    for wrong, message in (
        ({"mated": [1, 0]}, "score has 4, mated has 2"),
        ({"mated": np.array(["2024-01-01"] * 4, "M8[D]")}, "'mated' must hold numbers or text"),
        ({"mated": np.array([b"\xff"] * 4)}, "not UTF-8"),
        (
            {"mated": np.array(["a", None, "b", "c"], object)},
            "the array holds Python objects, which are never loaded",
        ),
        ({"score": [0.9, np.nan, 0.2, 0.1]}, r"row 1 \(counted from 0\)"),
    ):
        np.savez("s.npz", **{"score": SCORES, "mated": ARRAYS["mated"]} | wrong)
        refused(message, read_comparisons, "s.npz")
    np.save("s.npy", SCORES)
    refused(r"shape is \(4,\); .* as the arrays of one .npz", read_comparisons, "s.npy")


def test_matrices_stay_matrices():
    np.save("m.npy", np.array([[0.9, 0.1], [0.2, 0.8]]))
    assert len(read_comparisons("m.npy").mated) == 2
    np.savez("m.npz", a=np.array([[0.9, 0.1], [0.2, 0.8]]), score=SCORES)
    assert len(read_comparisons("m.npz", score="a").mated) == 2
