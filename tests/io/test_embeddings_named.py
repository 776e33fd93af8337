"""Vectors with names out of files: every format, names beside them, and what is wrong with
files."""

import numpy as np
import polars as pl
import pytest
from helpers.refusals import refused
from helpers.vector_files import write_vectors

import fastfair as ff
from fastfair.errors import FileFormatError

VECTORS = np.array([[3, 4], [0, 2], [1, 0]], np.float32)
NAMES = ["ann/1", "bob/1", "ann/2"]


def write(path, **fields):
    return write_vectors(path, fields)


@pytest.mark.parametrize("file", ["v.npz", "v.parquet", "v.h5"])
def test_fields_of_a_file(file, tmp_path):
    wanted = ff.NamedVectors(VECTORS, NAMES)
    path = write(tmp_path / file, vectors=VECTORS, name=NAMES)
    other = write(tmp_path / f"other.{file[2:]}", emb=VECTORS, utt=NAMES)
    for found in (
        ff.read_named_vectors(path),
        ff.read_named_vectors(path, name=NAMES),
        ff.read_named_vectors(other, "emb", "utt"),
    ):
        assert np.array_equal(found.vectors, VECTORS)
        assert repr(found) == repr(wanted)
        assert (
            found.scores(NAMES[:2], NAMES[1:]).tolist()
            == wanted.scores(NAMES[:2], NAMES[1:]).tolist()
        )
    refused(
        r"has no (array|column|dataset) 'nam' \(did you mean 'name'",
        ff.read_named_vectors,
        path,
        name="nam",
    )
    twice = write(tmp_path / f"twice.{file[2:]}", vectors=VECTORS, name=["a", "b", "a"])
    refused(
        rf"twice.{file[2:]}: the vectors of rows 0 and 2 .* the same name 'a'",
        ff.read_named_vectors,
        twice,
    )
    assert (
        ff.read_named_vectors(twice, same_name="max", similarity="inner_product")
        .scores(["a"], ["b"])
        .item()
        == 8
    )


def test_names_of_a_memory_mapped_array_are_in_a_table(tmp_path):
    np.save(tmp_path / "v.npy", VECTORS)
    (tmp_path / "names.csv").write_text("file,camera\n01,x\n02,y\n1,y\n")
    found = ff.read_named_vectors(tmp_path / "v.npy", samples=tmp_path / "names.csv", name="file")
    assert found.names.tolist() == ["01", "02", "1"]
    refused(
        r"v.npy holds nothing but vectors: give the name of each",
        ff.read_named_vectors,
        tmp_path / "v.npy",
    )


def test_numbers_as_names_are_text(tmp_path):
    found = ff.read_named_vectors(write(tmp_path / "v.npz", vectors=VECTORS, name=[10, 9, 2]))
    assert found.names.tolist() == ["10", "2", "9"]
    assert found.scores(["10"], ["9"]).tolist() == [np.float32(0.8)]


def test_vectors_of_different_lengths_name_the_row(tmp_path):
    path = tmp_path / "v.parquet"
    pl.DataFrame({"vectors": [[1.0, 2.0], [1.0], [2.0, 1.0]], "name": NAMES}).write_parquet(path)
    with pytest.raises(
        FileFormatError,
        match=r"column 'vectors' holds 1 numbers in row 1 \(counted from 0\), but 2 in",
    ):
        ff.read_named_vectors(path)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(2,), (1, 2), (2, 1, 1)])
def test_each_dataset_of_an_hdf5_file_may_be_a_vector(shape, tmp_path):
    one_by_one = dict(zip(NAMES, (v.reshape(shape) for v in VECTORS), strict=True))
    path = write(tmp_path / "v.h5", **one_by_one)
    found = ff.read_named_vectors(path)
    assert found.names.tolist() == sorted(NAMES)
    assert np.array_equal(found.vectors, VECTORS[np.argsort(NAMES)])
    e = ff.read_embeddings(path, subject="name", subject_pattern="^[^/]+")
    assert e.subjects[e.subject].tolist() == ["ann", "ann", "bob"]
    (tmp_path / "trials.txt").write_text("1 ann/1 ann/2\n0 bob/1 ann/1\n")
    c = ff.read_comparisons(tmp_path / "trials.txt", embeddings=path, subject_pattern="^[^/]+")
    assert c.mated.similarities.tolist() == [np.float32(0.6)]


def test_datasets_that_are_no_vectors_of_one_length_are_not_taken(tmp_path):
    for k, others in enumerate(
        ({"c": [1.0, 2, 3]}, {"c": np.eye(2)}, {"c": ["x", "y"]}, {"c": 1.0})
    ):
        path = write(tmp_path / f"{k}.h5", a=[1.0, 2], b=[3.0, 1], **others)
        refused(
            r"has no dataset '(vectors|name)'.*; its datasets are a, b, c",
            ff.read_named_vectors,
            path,
        )


def test_many_datasets_are_not_all_listed(tmp_path):
    path = write(tmp_path / "v.h5", emb=VECTORS, **{f"n{k:02}": [k] for k in range(30)})
    refused(r"its datasets are emb, n00, .*, n18 and 11 more$", ff.read_named_vectors, path)


@pytest.mark.slow
def test_thousands_of_datasets_take_their_time(tmp_path):
    vectors = np.random.default_rng(0).normal(size=(3000, 4)).astype(np.float32)
    path = write(
        tmp_path / "v.h5", **{f"id{k // 10:03}/u{k % 10}": v for k, v in enumerate(vectors)}
    )
    assert np.array_equal(ff.read_named_vectors(path).vectors, vectors)
