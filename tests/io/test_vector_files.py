"""Files of vectors in which each vector has a name, and rows without a vector."""

import io
import json
import struct
import tracemalloc
import zipfile

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fastfair as ff
from fastfair.errors import FastfairWarning, FileFormatError, InputError

VECTORS = np.float32([[1 / 3, 2], [2, 1], [0, 1], [1, 3]])
NAMES = ["ann/1", "ann/2", "bob/1", "bob/2"]
BY_NAME = dict(zip(NAMES, VECTORS, strict=True))


def in_safetensors(arrays: dict[str, np.ndarray], metadata: dict[str, str] | None = None) -> bytes:
    types = {"f": "F", "i": "I", "u": "U"}
    header: dict[str, object] = {} if metadata is None else {"__metadata__": metadata}
    data = b""
    for name, array in arrays.items():
        end = len(data) + array.nbytes
        kind = types[array.dtype.kind] + str(8 * array.itemsize)
        offsets = [len(data), end]
        header[name] = {"dtype": kind, "shape": [*array.shape], "data_offsets": offsets}
        data += array.tobytes()
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


PT = {"format": "pt"}


def test_arrays_of_one_vector_each(tmp_path):
    np.savez(tmp_path / "v.npz", **{name.replace("/", "-"): v for name, v in BY_NAME.items()})
    np.savez_compressed(tmp_path / "m.npz", **{name: v[None] for name, v in BY_NAME.items()})
    (tmp_path / "v.safetensors").write_bytes(in_safetensors(BY_NAME, PT))
    lists = {name: vector.tolist() for name, vector in BY_NAME.items()}
    (tmp_path / "v.json").write_text(json.dumps(lists))
    for file in ("v.npz", "m.npz", "v.safetensors", "v.json"):
        read = ff.read_named_vectors(tmp_path / file)
        assert np.array_equal(read.vectors, VECTORS), file
        assert read.names.tolist() == [
            name.replace("/", "-" * (file == "v.npz") or "/") for name in NAMES
        ]
        assert read.vectors.dtype == (np.float64 if file == "v.json" else np.float32)


def test_arrays_that_are_no_vectors_are_columns(tmp_path):
    """With an array that is asked for, of other lengths, or of text, arrays are what they were."""
    np.savez(tmp_path / "v.npz", vectors=VECTORS, subject=[1, 1, 2, 2])
    assert ff.read_embeddings(tmp_path / "v.npz").subjects.tolist() == [1, 2]
    for other in (
        {"a": [1.0, 2], "b": [1.0, 2, 3]},
        {"a": ["x", "y"], "b": ["z", "w"]},
        {"a": 1.0},
    ):
        np.savez(tmp_path / "v.npz", **other)
        with pytest.raises(InputError, match="no array 'vectors'"):
            ff.read_embeddings(tmp_path / "v.npz", subject=[1, 2])


def test_vectors_by_name_have_the_same_length(tmp_path):
    vectors = {**BY_NAME, "bob/9": np.ones(3)}
    np.savez(tmp_path / "v.npz", **vectors)
    (tmp_path / "v.json").write_text(
        json.dumps({k: list(map(float, v)) for k, v in vectors.items()})
    )
    for path in (tmp_path / "v.npz", tmp_path / "v.json"):
        with pytest.raises(FileFormatError, match="'bob/9' has 3 numbers, and most others have 2"):
            ff.read_named_vectors(path)


def test_tensors_by_name(tmp_path):
    path = tmp_path / "v.safetensors"
    path.write_bytes(in_safetensors({"vectors": VECTORS, "subject": np.int64([1, 1, 2, 2])}, PT))
    assert ff.read_embeddings(path).subjects.tolist() == [1, 2]


def test_order_of_tensors_is_doubted_unless_pytorch_wrote_them(tmp_path):
    path = tmp_path / "v.safetensors"
    for metadata in (None, {"format": "np"}):
        path.write_bytes(in_safetensors(BY_NAME, metadata))
        with pytest.warns(FastfairWarning, match=r"column order.*ascontiguousarray"):
            assert np.array_equal(ff.read_named_vectors(path).vectors, VECTORS)


def test_bfloat16_is_widened(tmp_path):
    halves = (VECTORS.view(np.uint32) >> 16).astype(np.uint16)
    content = in_safetensors({"vectors": halves}, PT).replace(b'"U16"', b'"BF16"')
    (tmp_path / "v.safetensors").write_bytes(
        struct.pack("<Q", len(content) - 8 - halves.nbytes) + content[8:]
    )
    read = ff.read_named_vectors(tmp_path / "v.safetensors", name=NAMES)
    assert np.array_equal(read.vectors, (halves.astype(np.uint32) << 16).view(np.float32))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\0" * 7, "no file of safetensors|no length"),
        (struct.pack("<Q", 2**60) + b"{}", "its header has no length"),
        (in_safetensors(BY_NAME)[:-1], "do not fit into the file"),
        (in_safetensors(BY_NAME).replace(b'"shape": [2]', b'"shape": [3]'), "do not fit"),
        (in_safetensors(BY_NAME).replace(b'"shape": [2]', b'"shape": -2 '), "nothing sensible"),
        (in_safetensors(BY_NAME).replace(b"ann/2", b"ann/1"), "cannot be read: .*a name twice"),
        (in_safetensors(BY_NAME, PT).replace(b'"F32"', b'"F8_"'), "no array 'name'"),
    ],
)
def test_damaged_tensors_are_refused(tmp_path, content, message):
    (tmp_path / "v.safetensors").write_bytes(content)
    with pytest.raises((FileFormatError, InputError), match=message):
        ff.read_named_vectors(tmp_path / "v.safetensors")


@pytest.mark.parametrize("kind", [pl.List(pl.Float32), pl.Array(pl.Float32, 2)])
def test_rows_without_a_vector_failed(tmp_path, kind):
    vectors = [[1.0, 2.0], None, None, [3.0, 4.0]]
    if kind == pl.List(pl.Float32):
        vectors[2] = []
    frame = pl.DataFrame(
        {"vectors": vectors, "subject": [1, 1, 2, 2]}, {"vectors": kind, "subject": pl.Int64}
    )
    frame.write_parquet(tmp_path / "v.parquet")
    for source in (frame, tmp_path / "v.parquet"):
        with pytest.raises(InputError, match="row 1"):
            ff.read_embeddings(source)
        read = ff.read_embeddings(source, failures="non-match")
        assert read.vectors.dtype == np.float32
        assert np.isnan(read.vectors).any(axis=1).tolist() == [False, True, True, False]


LIST_VIEWS = pa.table({"vectors": pa.array(VECTORS.tolist(), pa.list_view(pa.float32()))})


def test_list_views_are_refused_in_one_line():
    with pytest.raises(InputError, match=r"'vectors' cannot be read; .* list_view .* become lists"):
        ff.read_named_vectors(LIST_VIEWS, name=NAMES)


def test_list_views_in_files_are_refused_in_one_line(tmp_path):
    try:
        pq.write_table(LIST_VIEWS, tmp_path / "v.parquet")
    except pa.ArrowNotImplementedError:
        pytest.skip("this pyarrow writes no list_view to Parquet")
    with pytest.raises(FileFormatError, match="list_view: write vectors as lists"):
        ff.read_named_vectors(tmp_path / "v.parquet", name=NAMES)


def test_arrow_keeps_float32(tmp_path):
    for kind in (pa.list_(pa.float32()), pa.list_(pa.float32(), 2), pa.large_list(pa.float32())):
        pq.write_table(
            pa.table({"vectors": pa.array(VECTORS.tolist(), kind), "name": NAMES}),
            tmp_path / "v.parquet",
        )
        read = ff.read_named_vectors(tmp_path / "v.parquet")
        assert read.vectors.dtype == np.float32
        assert np.array_equal(read.vectors, VECTORS)


def test_an_index_of_faiss_is_named(tmp_path):
    (tmp_path / "v.index").write_bytes(b"IxFI\x03\x00\x00\x00\x04" + bytes(40))
    with pytest.raises(
        FileFormatError, match=r"an index of FAISS: save its vectors, .* numpy\.save"
    ):
        ff.read_named_vectors(tmp_path / "v.index")


def of_shape(shape: tuple[int, ...]) -> bytes:
    """Return a file of two arrays with four bytes each, whose headers have another shape."""
    member, content = io.BytesIO(), io.BytesIO()
    described = {"descr": "<f4", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(member, described)
    with zipfile.ZipFile(content, "w") as file:
        for name in ("a.npy", "b.npy"):
            file.writestr(name, member.getvalue() + bytes(4))
    return content.getvalue()


def tensor_of_shape(shape: list[int]) -> bytes:
    header = {"a": {"dtype": "F32", "shape": shape, "data_offsets": [0, 4]}}
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + bytes(4)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("v.npz", of_shape((10**9,)), r"has 4 bytes .* its shape is \(1000000000,\)"),
        ("v.npz", of_shape((2**70,)), "has 4 bytes of numbers"),
        ("v.npz", of_shape((-4,)), "has 4 bytes of numbers"),
        ("v.safetensors", tensor_of_shape([2**62, 2**62]), "do not fit into the file"),
        ("v.safetensors", tensor_of_shape([10**18] * 100_000), "nothing sensible"),
        ("v.safetensors", struct.pack("<Q", 10**6) + b"[" * 10**6, "recursion|nest"),
        ("v.ark", b"a \0BFV \4\xff\xff\xff\x7f0000", "ends in the middle|of memory"),
        ("v.ark", b"a [" + b"1 " * 10**6, r"no numbers between \[ and \]"),
    ],
)
def test_sizes_that_files_do_not_have_take_no_memory(tmp_path, file, content, message):
    (tmp_path / file).write_bytes(content)
    tracemalloc.start()
    try:
        with pytest.raises((FileFormatError, InputError), match=message):
            ff.read_named_vectors(tmp_path / file)
        assert tracemalloc.get_traced_memory()[1] < 64e6
    finally:
        tracemalloc.stop()
