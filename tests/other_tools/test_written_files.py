"""Vectors and scores that other tools write are read to the numbers that they were given."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fastfair as ff
from fastfair.errors import FastfairWarning, FileFormatError

sys.path.append(str(Path(__file__).resolve().parents[2]))  # benchmarks are not installed

environments = importlib.import_module("benchmarks.versus.environments")
NotMeasuredError = importlib.import_module("benchmarks.versus.rows").NotMeasuredError

pytestmark = [pytest.mark.slow, pytest.mark.nightly]

WORKERS = Path(__file__).parent / "workers"
NAMES = ["ann/1", "ann/2", "bob/1", "bob/2"]
# with digits of float32 or fewer
ROUNDED = {
    "native_text.ark": 1e-6,
    "pandas.jsonl": 1e-9,
    "pandas_wide.csv": 1e-7,
    "polars.jsonl": 1e-7,
    "polars_wide.csv": 1e-7,
}


def write_with(peer, worker: str, made: Path) -> Path:
    """Let a worker write its files into a folder."""
    try:
        python = peer.python()
    except NotMeasuredError as error:
        pytest.skip(str(error))
    done = subprocess.run(
        [str(python), "-W", "ignore", str(WORKERS / worker), str(made)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return made


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("written")
    return write_with(environments.WRITERS, "written_files.py", made)


@pytest.mark.parametrize(
    "file",
    [
        *("kaldiio.ark", "kaldiio.scp", "kaldiio_text.ark", "kaldiio_double.ark"),
        *("kaldiio_matrices.ark", "ranges.scp", "native.ark", "native_text.ark", "each.npz"),
        *("each.h5", "lists.json", "polars.parquet", "polars.jsonl", "pandas.parquet"),
        *("pandas.jsonl", "tensors.parquet", "duckdb.parquet", "duckdb_array.parquet"),
        *("pandas_wide.csv", "pandas_wide.parquet", "polars_wide.csv", "polars_wide.parquet"),
    ],
)
def test_numbers_are_those_written(folder, file):
    read = ff.read_named_vectors(folder / file, failures="nan")
    expected = np.load(folder / "expected.npy")
    assert [name for name in read.names if name != "none"] == NAMES
    if not file.endswith((".csv", ".json", ".jsonl", "_double.ark")):
        assert read.vectors.dtype == np.float32
    kept = np.asarray(read.vectors)
    assert np.abs(kept - expected).max() <= ROUNDED.get(file, 0) * np.abs(expected).max()


def test_order_of_safetensors_is_doubted(folder):
    with pytest.warns(FastfairWarning, match="column order"):
        read = ff.read_named_vectors(folder / "each.safetensors")
    assert np.array_equal(read.vectors[np.argsort(read.names)], np.load(folder / "expected.npy"))
    with pytest.warns(FastfairWarning, match="column order"):
        read = ff.read_named_vectors(folder / "one.safetensors", name=NAMES)
    assert np.array_equal(read.vectors, np.load(folder / "expected.npy"))


def test_list_views_are_refused(folder):
    with pytest.raises(FileFormatError, match="list_view"):
        ff.read_named_vectors(folder / "views.parquet")


def test_scores_of_pandas_are_those_written(folder):
    matrix = ff.read_comparisons(folder / "matrix.csv", layout=ff.Layout(format="matrix"))
    for c in (matrix, ff.read_comparisons(folder / "scores.jsonl")):
        assert c.mated.similarities.tolist() == [0.75, 1]
        assert c.nonmated.similarities.tolist() == [0.25, 0.5]


def test_scores_of_sidekit_are_those_of_its_key(tmp_path):
    made = write_with(environments.SIDEKIT, "sidekit_files.py", tmp_path)
    by_key = ff.read_comparisons(made / "scores.h5", trials=made / "key.h5")
    by_name = ff.read_comparisons(made / "scores.h5", subject_pattern="^([^/]+)")
    for c in (by_key, by_name):
        assert c.mated.similarities.tolist() == [0.125, 0.75, 1]
        assert c.nonmated.similarities.tolist() == [0.25, 0.5]


def test_an_index_of_faiss_is_refused_and_its_vectors_are_read(tmp_path):
    made = write_with(environments.TORCH, "faiss_files.py", tmp_path)
    with pytest.raises(FileFormatError, match=r"an index of FAISS: save its vectors"):
        ff.read_named_vectors(made / "faces.index")
    read = ff.read_named_vectors(made / "faces.npy", name=NAMES)
    assert np.array_equal(read.vectors, np.load(made / "expected.npy"))
