"""Embeddings out of files: every format, labels beside them, metadata, and what is wrong with
files."""

from __future__ import annotations

import pickle
import sys

import h5py
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from helpers.each import each
from helpers.refusals import refused
from helpers.vector_files import in_lists, write_vectors

import fastfair as ff
from fastfair._lib import memory
from fastfair.data import temporary_files
from fastfair.errors import (
    DroppedWarning,
    FastfairWarning,
    FileFormatError,
    InputError,
    MissingDependencyError,
    MissingFileError,
)

VECTORS = np.array([[3, 4], [0, 2], [1, 0], [0, -1], [1, 1]], np.float32)
FIELDS = {"vectors": VECTORS, "subject": list("babca"), "sex": list("mfmff"), "eyes": list("xyxxy")}
PATHS = ["b/1.png", "a/1.png", "b/2.png", "c/1.png", "a/2.png"]


@pytest.fixture(params=["v.npz", "v.parquet", "fixed.parquet", "v.h5", "v.hdf5"])
def write(request, tmp_path):
    as_column = np.asarray if request.param == "fixed.parquet" else in_lists
    return lambda fields: write_vectors(tmp_path / request.param, fields, as_column)


@pytest.fixture
def npy(tmp_path):
    np.save(tmp_path / "v.npy", VECTORS)
    return tmp_path / "v.npy"


@pytest.fixture
def who(tmp_path):
    path = tmp_path / "who.csv"
    path.write_text("name;sex;eyes\na;f;y\nb;m;x\nc;f;x\n")
    return path


def is_the_same(e, groups=()):
    assert np.array_equal(e.vectors, VECTORS)
    assert e.subjects[e.subject].tolist() == FIELDS["subject"]
    assert e.groups == groups


def test_fields_of_our_own_names(write):
    path = write(FIELDS)
    is_the_same(ff.read_embeddings(path))
    is_the_same(ff.read_embeddings(str(path), groups="sex"), ("f", "m"))
    e = ff.read_embeddings(path, groups=["eyes", "sex"], similarity="inner_product")
    is_the_same(e, ("x & f", "x & m", "y & f"))
    assert e.by("sex").groups == ("f", "m")
    assert e.similarity == "inner_product"


@pytest.mark.slow
def test_roles_come_from_a_field_or_as_labels(write):
    role = ["reference", "probe"] * len(VECTORS)
    role = role[: len(VECTORS)]
    wanted = ff.Embeddings(VECTORS, FIELDS["subject"], role=role)
    path = write(FIELDS | {"what": role})
    for given in ("what", role):
        e = ff.read_embeddings(path, role=given)
        assert e.is_probe.tolist() == wanted.is_probe.tolist()
        assert repr(e) == repr(wanted)
    for template in ("subject", FIELDS["subject"], len(VECTORS)):
        found = ff.read_embeddings(path, role="what", layout=ff.VectorLayout(template=template))
        assert np.array_equal(found.vectors, wanted.enrolled().vectors)
        best = ff.read_embeddings(
            path, role="what", layout=ff.VectorLayout(template=template, template_score="max")
        )
        assert np.array_equal(best.template, wanted.enrolled(score="max").template)
    with pytest.raises(InputError, match=r"template_score='max'\) is given without .*template="):
        ff.read_embeddings(path, role="what", layout=ff.VectorLayout(template_score="max"))
    refused(
        "the vectors have no roles",
        ff.read_embeddings,
        path,
        layout=ff.VectorLayout(template="subject"),
    )
    refused("'whta' \\(did you mean 'what'", ff.read_embeddings, path, role="whta")


def test_what_is_wrong_with_the_vectors_names_the_file(write):
    path = write(FIELDS | {"vectors": np.where(VECTORS == 4, np.nan, VECTORS)})
    refused(
        rf"{path.name}: row 0 .*: 1 of 5 vectors are not finite: rows 0 ", ff.read_embeddings, path
    )
    path = write(FIELDS | {"subject": ["b", "a", "", "c", "a"]})
    refused(rf"{path.name}: .*'?subject'? is (missing|empty) in row 2 ", ff.read_embeddings, path)
    path = write(FIELDS | {"vectors": VECTORS[:, 0]})
    refused(rf"{path.name}: vectors must be two-dimensional", ff.read_embeddings, path)


@pytest.mark.parametrize("name", ["v.npz", "v.h5"])
def test_lengths_that_differ(name, tmp_path, who):
    write_vectors(tmp_path / name, FIELDS | {"subject": list("bab")})
    for more in (
        {},
        {"metadata": who, "layout": ff.VectorLayout(metadata_id="name"), "groups": "sex"},
    ):
        with pytest.raises(
            InputError, match="one value for each vector, but vectors has 5, subject has 3"
        ):
            ff.read_embeddings(tmp_path / name, **more)


@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"]
)
def test_data_frames(make, npy):
    is_the_same(
        ff.read_embeddings(make(FIELDS | {"vectors": VECTORS.tolist()}), groups="sex"), ("f", "m")
    )
    table = make({name: FIELDS[name] for name in ("subject", "eyes")})
    is_the_same(ff.read_embeddings(npy, samples=table, groups="eyes"), ("x", "y"))
    refused("samples has no column 'eye'", ff.read_embeddings, npy, samples=table, groups="eye")


def test_a_large_npy_is_in_a_temporary_file_and_labels_come_from_beside_it(
    npy, tmp_path, monkeypatch
):
    monkeypatch.setattr(memory, "available", lambda: 0)
    monkeypatch.setattr(temporary_files, "_ALWAYS_IN_MEMORY", 0)
    e = ff.read_embeddings(npy, subject=FIELDS["subject"], groups={"sex": FIELDS["sex"]})
    is_the_same(e, ("f", "m"))
    assert isinstance(e.vectors.base, np.memmap) or isinstance(e.vectors.base.base, np.memmap)
    is_the_same(ff.read_embeddings(npy, subject=PATHS, subject_pattern="^[a-c]"))
    table = tmp_path / "samples.csv"
    table.write_text(
        "path,sex\n" + "".join(f"{p},{s}\n" for p, s in zip(PATHS, FIELDS["sex"], strict=True))
    )
    arguments = {"samples": table, "subject": "path", "subject_pattern": "^([^/]+)/"}
    is_the_same(ff.read_embeddings(npy, **arguments, groups="sex"), ("f", "m"))


def test_metadata(npy, who):
    arguments = {
        "subject": FIELDS["subject"],
        "layout": ff.VectorLayout(metadata_id="name"),
        "groups": ["sex", "eyes"],
    }
    is_the_same(ff.read_embeddings(npy, metadata=who, **arguments), ("f & x", "f & y", "m & x"))
    who.write_text("name,sex,eyes\na,f,y\nb,m,x\nc,,x\n")
    with pytest.raises(
        InputError, match=r"1 of 3 subjects have no metadata for sex or eyes: 'c'; 1 of 5 vectors"
    ):
        ff.read_embeddings(npy, metadata=who, **arguments)
    with pytest.warns(
        DroppedWarning, match="1 of 5 vectors left out, as their subjects .*: 'c'$"
    ) as caught:
        e = ff.read_embeddings(npy, metadata=who, **arguments, missing_labels="drop")
    assert caught[0].filename == __file__
    assert e.left_out == e.by("eyes").left_out == e.comparisons().left_out
    assert [one.sentence for one in e.left_out] == [str(caught[0].message)]
    assert (e.subjects.tolist(), e.groups, len(e)) == (["a", "b"], ("f & y", "m & x"), 4)
    who.write_text("name,sex,eyes\nb,m,x\nc,f,x\n")
    np.save(npy, VECTORS * (VECTORS != -1))
    message = r"v.npy: row 3 .*: 1 of 3 vectors are zero"
    with pytest.warns(DroppedWarning), pytest.raises(InputError, match=message):
        ff.read_embeddings(npy, metadata=who, **arguments, missing_labels="drop")


def test_arguments_that_do_not_fit_the_file(npy, who):
    known, paths = {"subject": FIELDS["subject"]}, {"subject": PATHS}
    table = {"metadata": who, "layout": ff.VectorLayout(metadata_id="name")}
    for options, message in (
        ({}, "holds nothing but vectors: give the subject of each as an array, or a table"),
        (known | {"vectors": "vectors"}, "one array without a name, so leave vectors= out"),
        (
            paths | {"subject_pattern": "^([ac])/"},
            r"finds no subject in 'b/1.png' \(2 of 5 values of 'subject'\)",
        ),
        (paths | {"subject_pattern": "("}, "not a regular expression"),
        (
            known | {"layout": ff.VectorLayout(metadata_id="name")},
            "metadata_id is given without metadata=",
        ),
        (table | {"groups": {"sex": FIELDS["sex"]}}, "names of its columns, not labels"),
        (
            known | {"missing_labels": "ignore"},
            "missing_labels must be one of 'error', 'drop', 'unknown'",
        ),
    ):
        refused(message, ff.read_embeddings, npy, **options)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("v.npy", pickle.dumps(VECTORS), "v.npy cannot be read"),
        ("v.npz", pickle.dumps(VECTORS), "v.npz cannot be read"),
        ("v.npy", b"PK\x03\x04", "v.npy cannot be read"),
        ("v.npz", b"PK\x03\x04nonsense", "v.npz cannot be read"),
        ("v.parquet", b"PAR1 and no more", "v.parquet cannot be read"),
        ("v.h5", b"\x89HDF\r\n\x1a\n and no more", "v.h5 cannot be read"),
        ("v.h5", b"PAR1", "v.h5 cannot be read"),
        ("v.npy", b"\x93NUMPY\x01\x00", "v.npy cannot be read"),
        ("v.npy", b"", "is empty"),
        ("v.txt", b"1 2 3", "no header that names columns.* numpy.savez"),
    ],
)
def test_files_that_are_not_what_they_are_called(name, content, message, tmp_path):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=message):
        ff.read_embeddings(path, subject=FIELDS["subject"])


def test_missing_and_cut_off_files(npy):
    with pytest.raises(MissingFileError, match=r"did you mean 'v.npy'"):
        ff.read_embeddings(npy.with_name("w.npy"), subject=FIELDS["subject"])
    npy.write_bytes(npy.read_bytes()[:-4])
    with pytest.raises(FileFormatError, match=r"v.npy cannot be read"):
        ff.read_embeddings(npy, subject=FIELDS["subject"])


def test_objects_are_never_unpickled(tmp_path):
    np.save(tmp_path / "v.npy", VECTORS.astype(object))
    with pytest.raises(FileFormatError, match=r"v.npy cannot be read: .*[Oo]bject"):
        ff.read_embeddings(tmp_path / "v.npy", subject=FIELDS["subject"])
    np.savez(tmp_path / "v.npz", **FIELDS | {"subject": np.array(FIELDS["subject"], object)})
    with pytest.raises(
        FileFormatError,
        match=r"v.npz: array 'subject' cannot be read: the array holds Python objects",
    ):
        ff.read_embeddings(tmp_path / "v.npz")


def test_lists_of_several_lengths(tmp_path):
    frame = pl.DataFrame(
        {"vectors": [[1.0, 2.0], [1.0], None, [3.0, 4.0]], "subject": list("aabb")}
    )
    frame.write_parquet(tmp_path / "v.parquet")
    message = (
        r"column 'vectors' holds 1 numbers in row 1 \(counted from 0\), but 2 in others; 1 such"
        r" rows"
    )
    with pytest.raises(FileFormatError, match=message):
        ff.read_embeddings(tmp_path / "v.parquet")


def test_bytes_are_text(tmp_path):
    np.savez(tmp_path / "v.npz", **FIELDS | {"subject": np.array(FIELDS["subject"], "S1")})
    is_the_same(ff.read_embeddings(tmp_path / "v.npz"))


def test_hdf5_in_folders_and_without_its_package(tmp_path, monkeypatch):
    path = tmp_path / "v.h5"
    write_vectors(path, {f"test/{name}": values for name, values in FIELDS.items()})
    is_the_same(
        ff.read_embeddings(path, "test/vectors", "test/subject", groups="test/sex"), ("f", "m")
    )
    with pytest.raises(
        InputError, match=r"has no dataset 'vectors' .*; its datasets are test/eyes, test/sex,"
    ):
        ff.read_embeddings(path, subject="test/subject")
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(
        MissingDependencyError, match=r'reading HDF5 needs the package h5py; .*"fastfair\[hdf5\]"'
    ):
        ff.read_embeddings(path)


def test_real_faces(shared_data):
    attributes = np.load(shared_data / "lfw_faces_attributes.npz", allow_pickle=False)
    subject, gender = attributes["subject"], attributes["gender"]
    first = np.unique(subject, return_index=True)[1]
    labels = pl.DataFrame({"id": subject[first], "gender": gender[first]})
    with pytest.warns(
        DroppedWarning, match="1 of 6298 vectors left out, as their subjects have no metadata"
    ):
        e = ff.read_embeddings(
            shared_data / "lfw_faces_mbf_arc.npy",
            subject=subject,
            metadata=labels,
            layout=ff.VectorLayout(metadata_id="id"),
            groups="gender",
            missing_labels="drop",
        )
    assert (len(e), e.subjects.size, e.groups) == (6297, 2943, ("F", "M"))


def write_as_r(path, vectors, subject, **attributes):
    """Write what R's packages write: matrices with rows and columns exchanged."""
    with h5py.File(path, "w") as file:
        file["subject"] = subject
        made = file.create_dataset("vectors", data=vectors.T)
        for name, value in attributes.items():
            made.attrs[name] = value


def test_matrices_of_r_are_refused_where_rows_are_no_vectors(tmp_path):
    rng, path = np.random.default_rng(0), tmp_path / "v.h5"
    wide, square = rng.normal(size=(6, 4)), rng.normal(size=(6, 6))
    names = ["a", "a", "b", "b", "c", "c"]
    for attributes in ({}, {"rhdf5-NA.OK": 1}):
        write_as_r(path, wide, names, **attributes)
        with pytest.raises(
            FileFormatError, match=r"has 4 rows and 6 columns, but subject has 6 labels: .* t\(x\)"
        ):
            ff.read_embeddings(path)
        write_as_r(path, wide.T, names, **attributes)
        assert ff.read_embeddings(path).vectors.shape == (6, 4)
    for attributes in ({"rhdf5-NA.OK": 1}, {"MATLAB_class": "double"}):
        write_as_r(path, square, names, **attributes)
        with pytest.raises(FileFormatError, match="is square, 6 x 6, and R or MATLAB wrote it"):
            ff.read_embeddings(path)
    write_as_r(path, square, names)
    with pytest.warns(FastfairWarning, match="is square, 6 x 6: its rows are taken for vectors"):
        ff.read_embeddings(path)
    np.savez(tmp_path / "v.npz", vectors=wide.T, subject=names)
    with pytest.raises(FileFormatError, match="has 4 rows and 6 columns, but subject has 6 labels"):
        ff.read_embeddings(tmp_path / "v.npz")


def test_truth_values_of_r_are_words(tmp_path):
    vectors, names = np.random.default_rng(0).normal(size=(4, 3)), ["a", "a", "b", "b"]
    logical = h5py.enum_dtype({"FALSE": 0, "TRUE": 1, "NA": 2}, basetype="i1")
    factor = h5py.enum_dtype({"dark": 1, "light": 2}, basetype="u1")
    with h5py.File(tmp_path / "v.h5", "w") as file:
        file["vectors"], file["subject"] = vectors, names
        file.create_dataset("glasses", data=np.array([1, 1, 0, 0], "i1"), dtype=logical)
        file.create_dataset("beard", data=np.array([1, 1, 2, 2], "i1"), dtype=logical)
        file.create_dataset("hair", data=np.array([1, 1, 2, 2], "u1"), dtype=factor)
        file.create_dataset("hat", data=np.array([0, 0, -(2**31), 1], "i4")).attrs[
            "storage.mode"
        ] = "logical"
    groups = {
        name: ff.read_embeddings(tmp_path / "v.h5", groups=name).groups
        for name in ("glasses", "hair")
    }
    assert groups == {"glasses": ("FALSE", "TRUE"), "hair": ("dark", "light")}
    for name in ("beard", "hat"):
        with pytest.raises(InputError, match=f"column '{name}' is missing in row 2"):
            ff.read_embeddings(tmp_path / "v.h5", groups=name)


WIDE = pd.DataFrame(np.random.default_rng(3).normal(size=(8, 5)).round(4)).assign(
    subject=list("aabbccdd")
)


@each(
    "rename",
    [
        str,
        lambda k: f"v{k}",
        lambda k: f"emb_{k:03d}",
        lambda k: f"{k + 1}",
        lambda k: f"x.{k + 1}",
    ],
)
@each("separator", [",", "\t", ";"])
def test_vectors_with_a_column_for_each_number_are_read(tmp_path, rename, separator):
    vectors = WIDE.drop(columns="subject").to_numpy()
    frame = WIDE.rename(
        columns=lambda name: name if isinstance(name, str) else rename(name)
    ).sample(frac=1, axis=1)
    decimal = "," if separator == ";" else "."
    frame.to_csv(tmp_path / "v.csv", sep=separator, index=False, decimal=decimal)
    frame.to_parquet(tmp_path / "v.parquet")
    for source in (
        frame,
        pl.DataFrame(frame.to_dict("list")),
        tmp_path / "v.csv",
        tmp_path / "v.parquet",
    ):
        e = ff.read_embeddings(source)
        np.testing.assert_array_equal(e.vectors, vectors)
        assert e.subjects.tolist() == list("abcd")
    named = ff.read_named_vectors(frame.assign(name=range(8)))
    np.testing.assert_array_equal(named.vectors, vectors)


def test_numbers_as_names_of_columns_are_text():
    np.testing.assert_array_equal(
        ff.read_embeddings(WIDE).vectors, WIDE.drop(columns="subject").to_numpy()
    )
    assert ff.read_embeddings(WIDE.rename(columns={4: "x"})).vectors.shape == (8, 4)
    with pytest.raises(InputError, match="names of columns must be text"):
        ff.read_embeddings(WIDE.rename(columns={4: "1", 3: None}))


def test_sets_of_numbered_columns_are_chosen_by_name(tmp_path):
    both = WIDE.rename(
        columns=lambda name: name if isinstance(name, str) else f"{'ab'[name > 2]}{name % 3}"
    )
    refused(
        "has several sets of numbered columns: say which with vectors='a' or 'b'",
        ff.read_embeddings,
        both,
    )
    assert ff.read_embeddings(both, "a").vectors.shape == (8, 3)
    assert ff.read_embeddings(both, "b").vectors.shape == (8, 2)
    refused("has no column 'c'.* numbered columns", ff.read_embeddings, both, "c")
    refused("numbered columns, such as v0, v1", ff.read_embeddings, WIDE.rename(columns={1: 7}))
    refused(
        "column 'v1' .*must be a number, not 'x'",
        ff.read_embeddings,
        written(tmp_path, "subject,v0,v1\na,1,x\na,2,3\n"),
    )
    missing = written(tmp_path, "subject,v0,v1\na,1,2\na,1,3\nb,2,\nb,1,1\nb,2,3\n")
    refused("vectors are not finite", ff.read_embeddings, missing)
    with pytest.warns(DroppedWarning, match="1 of 5 vectors left out, as they failed"):
        assert len(ff.read_embeddings(missing, failures="exclude").vectors) == 4


def written(folder, text):
    """Write a CSV, and return its path."""
    (folder / "w.csv").write_text(text)
    return folder / "w.csv"


@each(
    ("name", "content", "says"),
    [
        ("v.json", b'[{"subject": "a", "embedding": [1, 2]}]', "no column 'vectors'.*embedding"),
        ("v.pkl", pickle.dumps({"a": [1.0]}), "is a pickle of Python objects.*numpy.savez"),
        ("v.txt", b"a 0.1 0.2\nb 0.3 0.4\n", "no header that names columns.*numpy.savez"),
        ("v.ark", b"a  [ 0.1 0.2 ]\n", "no array 'subject'.*vectors, name"),
        ("v.csv", b"1,0.1,0.2\n2,0.3,0.4\n", "no header that names columns.*numpy.savez"),
        (
            "v.csv",
            b'subject,vectors\na,"[0.1, 0.2]"\na,"[0.1, 0.3]"\n',
            "holds text, as '.0.1, 0.2.': write a column",
        ),
        ("v.csv", b"subject,x,y\na,0.1,0.2\na,0.3,0.1\n", r"Embeddings\(vectors, subject\)"),
    ],
)
def test_other_forms_of_vectors_say_how_to_go_on(tmp_path, name, content, says):
    (tmp_path / name).write_bytes(content)
    refused(says, ff.read_embeddings, tmp_path / name)
