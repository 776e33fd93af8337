"""Kaldi's archives and lists, written here byte by byte; those that other tools write are read in
tests/other_tools."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastfair as ff
from fastfair.errors import FileFormatError, MissingFileError
from fastfair.io import kaldi_archives
from fastfair.io.kaldi_archives import read_vectors

TYPES = {np.dtype("<f4"): b"F", np.dtype("<f8"): b"D"}


def binary(array: np.ndarray) -> bytes:
    kind = TYPES[array.dtype] + (b"V " if array.ndim == 1 else b"M ")
    sizes = b"".join(b"\4" + struct.pack("<i", size) for size in array.shape)
    return b"\0B" + kind + sizes + array.tobytes()


def archive(vectors: dict[str, np.ndarray]) -> bytes:
    return b"".join(name.encode() + b" " + binary(array) for name, array in vectors.items())


def listed(vectors: dict[str, np.ndarray]) -> tuple[bytes, dict[str, int]]:
    """Return an archive, and where each of its vectors begins."""
    data, offsets = b"", {}
    for name, array in vectors.items():
        data += name.encode() + b" "
        offsets[name] = len(data)
        data += binary(array)
    return data, offsets


@given(st.data())
def test_vectors_are_those_written(tmp_path_factory, data):
    n = data.draw(st.integers(1, 5))
    dtype = data.draw(st.sampled_from([*TYPES]))
    numbers = np.random.default_rng(n).normal(size=(n, data.draw(st.integers(1, 4)))).astype(dtype)
    failed = data.draw(st.sets(st.integers(0, n - 1), max_size=n - 1))
    written = {
        f"é{k}": row[:0] if k in failed else row[None] if data.draw(st.booleans()) else row
        for k, row in enumerate(numbers)
    }
    path = tmp_path_factory.mktemp("kaldi") / "v.ark"
    content, offsets = listed(written)
    path.write_bytes(content)
    listing = path.with_suffix(".scp")
    listing.write_text("".join(f"{name} {path}:{at}\n" for name, at in offsets.items()))
    numbers[[*failed]] = np.nan
    for file in (path, listing):
        names, vectors = read_vectors(file)
        assert names == [*written]
        assert vectors.dtype == dtype
        assert np.array_equal(vectors, numbers, equal_nan=True)


@pytest.mark.parametrize(
    ("text", "vectors"),
    [
        ("a  [ 1 2 3 ]\nb  [ 0.5 1e-05 -2 ]\n", [[1, 2, 3], [0.5, 1e-5, -2]]),
        ("a  [\n  1 2 ]\nb  [\n  3 4 ]\n", [[1, 2], [3, 4]]),
        ("a [ 1 nan ]\nb [ inf 2 ]", [[1, np.nan], [np.inf, 2]]),
        ("a  [ ]\nb  [ 1 2 ]\n", [[np.nan, np.nan], [1, 2]]),
    ],
)
def test_text_is_read_as_kaldi_writes_it(tmp_path, text, vectors):
    (tmp_path / "v.ark").write_text(text)
    names, numbers = read_vectors(tmp_path / "v.ark")
    assert names == ["a", "b"]
    assert numbers.dtype == np.float32
    assert np.array_equal(numbers, np.float32(vectors), equal_nan=True)


def test_both_ends_of_ranges_count(tmp_path):
    matrix = np.arange(12, dtype=np.float32).reshape(4, 3)
    content, offsets = listed({"m": matrix, "v": matrix[1]})
    (tmp_path / "v.ark").write_bytes(content)
    lines = {
        "[2:2]": matrix[2],
        "[0:0,]": matrix[0],
        "[3:3,0:2]": matrix[3],
        "[1:1,:]": matrix[1],
    }
    listing = tmp_path / "v.scp"
    listing.write_text("".join(f"m{k} v.ark:{offsets['m']}{k}\n" for k in lines))
    assert np.array_equal(read_vectors(listing)[1], [*lines.values()])
    listing.write_text(f"m v.ark:{offsets['m']}[1:1,0:1]\nv v.ark:{offsets['v']}[1:2]\n")
    assert read_vectors(listing)[1].tolist() == [[3, 4], [4, 5]]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("m v.ark:2[0:1]", "a matrix of 2 rows"),
        ("m v.ark:2[2:4]", "does not fit, as there are 4"),
        ("m v.ark:2[2:1]", "both of its ends count"),
        ("m v.ark:2[a]", "no archive of Kaldi|cannot be|there is no file"),
        ("m v.ark:2[1]", "no range"),
        ("m v.ark:2", "a matrix of 4 rows"),
        ("m cat v.ark |", "a command, which is never run"),
        ("m", "must have a name and a place"),
        ("m v.ark:9999", "no numbers between"),
        ("m v.arc:2", "there is no file v.arc.*did you mean|there is no file"),
    ],
)
def test_lists_that_name_no_vectors_are_refused(tmp_path, line, message):
    (tmp_path / "v.ark").write_bytes(archive({"m": np.ones((4, 3), np.float32)}))
    (tmp_path / "v.scp").write_text(line + "\n")
    with pytest.raises((FileFormatError, MissingFileError), match=message):
        read_vectors(tmp_path / "v.scp")


ONE = archive({"a": np.ones(3, np.float32)})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (ONE[:-1], "ends in the middle of a vector"),
        (ONE + archive({"b": np.ones(2, np.float32)}), "'b' has 2 numbers of float32, but"),
        (ONE + archive({"b": np.ones(3)}), "'b' has 3 numbers of float64, but"),
        (archive({"a": np.ones((3, 2))}), "'a' is a matrix of 3 rows"),
        (b"a \0BCM2 " + bytes(20), "compressed matrix: write it with copy-feats"),
        (b"a \0B\4\3\0\0\0", "'a' is no vector of numbers"),
        (b"a \0BFV \4\xff\xff\xff\xff", "no size where one belongs"),
        (b"a \0BFM \4\xff\xff\xff\x7f\4\xff\xff\xff\x7f", "would take .* of memory"),
        (b"a PKL\x80\x04.", "'a' is a pickle of a Python object, which is never loaded"),
        (b"a NPY\x93NUMPY", "'a' is an array in NumPy's format"),
        (b"a RIFF0000WAVE", "'a' is sound"),
        (b"a 1 2 3\n", r"no numbers between \[ and \]"),
        (b"a [ 1 x ]\n", "could not convert string to float"),
        (b"a [ 1 1_0 ]\n", "with '_' in it"),
        (b"a [\n 1 2\n 3 ]\n", "different lengths"),
        (b"\xff [ 1 2 ]\n", "a name is not UTF-8"),
        (b"nothing", "no name and blank before a vector"),
        (b"a  [ ]\n", "has no vectors"),
    ],
)
def test_archives_of_something_else_are_refused(tmp_path, content, message):
    (tmp_path / "v.ark").write_bytes(content)
    with pytest.raises((FileFormatError, ff.errors.InputError), match=message):
        read_vectors(tmp_path / "v.ark")


def test_small_archives_of_large_arrays_are_refused(tmp_path, monkeypatch):
    """Vectors that are nearly all empty, or listed again and again, would fill the memory."""
    monkeypatch.setattr(kaldi_archives, "_ALWAYS_TAKEN", 2**20)
    vector = {"a": np.ones(5000, np.float32)}
    failed = {f"f{k}": np.ones(0, np.float32) for k in range(200)}
    (tmp_path / "failed.ark").write_bytes(archive(failed | vector))
    (tmp_path / "v.ark").write_bytes(archive(vector))
    (tmp_path / "v.scp").write_text("".join(f"n{k} v.ark:2\n" for k in range(200)))
    for file in ("failed.ark", "v.scp"):
        with pytest.raises(FileFormatError, match="100 times as large as the archives"):
            read_vectors(tmp_path / file)
    names, _ = read_vectors(tmp_path / "v.ark")
    assert names == ["a"]


def test_names_of_an_archive_are_those_of_samples(tmp_path):
    vectors = np.float32([[1, 0], [2, 1], [0, 1], [1, 3]])
    names = ["ann/1", "ann/2", "bob/1", "bob/2"]
    (tmp_path / "v.ark").write_bytes(archive(dict(zip(names, vectors, strict=True))))
    read = ff.read_embeddings(tmp_path / "v.ark", subject="name", subject_pattern="^([^/]+)/")
    assert np.array_equal(read.vectors, vectors)
    assert read.subjects[read.subject].tolist() == ["ann", "ann", "bob", "bob"]
    (tmp_path / "t.txt").write_text("1 ann/1 ann/2\n0 bob/1 ann/1\n")
    scored = ff.read_comparisons(tmp_path / "t.txt", embeddings=tmp_path / "v.ark")
    assert scored.mated.similarities == pytest.approx([2 / 5**0.5])
