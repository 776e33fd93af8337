"""A name is the name of one file, and a file that changes while it is read is an error."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from helpers.flat import read_comparisons, scan_comparisons
from helpers.refusals import refused

import fastfair as ff
from fastfair._lib import memory
from fastfair.data.temporary_files import ArrayFile, Folder
from fastfair.errors import FileFormatError, InputError, MissingFileError
from fastfair.io import files, tables, text

# Characters of patterns, addresses, home folders, partitions, escapes, comments and options.
NAMES = (
    "s[1]",
    "a?b",
    "*",
    "~x",
    "{a,b}",
    "100%",
    "a%20b",
    "#1",
    "a b",
    "it's",
    'q"',
    "a=b",
    "s3:x",
    "-x",
    "[!a]",
)
DECOYS = ("s1", "axb", "a", "b", "x")


def frame(seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    reference, probe = rng.integers(0, 5, (2, 60)).astype(str)
    scores = rng.normal(size=60) + 2 * (reference == probe)
    return pl.DataFrame({"reference": reference, "probe": probe, "score": scores})


def write(path: Path, table: pl.DataFrame) -> Path:
    path.parent.mkdir(exist_ok=True)
    with path.open("wb") as file:  # polars would take the name for a pattern
        table.write_parquet(file) if path.suffix == ".parquet" else table.write_csv(file)
    return path


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("inside", [False, True])
def test_a_name_is_that_of_one_file_for_readers_and_writers(inside, suffix, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for k, name in enumerate(NAMES):
        folder = Path(name if inside else ".")
        for decoy in DECOYS:
            write(folder / f"{decoy}{suffix}", frame(99))
        path = write(folder / f"{name}{suffix}", frame(k))
        expected = np.sort(frame(k)["score"].to_numpy())
        for given in (path, path.absolute()):
            c = read_comparisons(given, self_comparisons="keep")
            scores = np.sort(np.concatenate((c.mated.similarities, c.nonmated.similarities)))
            np.testing.assert_array_equal(scores, expected, err_msg=str(given))
        scan = scan_comparisons(path, self_comparisons="keep")
        assert scan.n_mated + scan.n_nonmated == 60, name
        assert ff.evaluate(scan, ff.at_eer(), n_resamples=0).value("eer") == ff.eer(c).value, name
        again = folder / f"again {name}{suffix}"
        ff.write_comparisons(c, again)
        assert len(read_comparisons(again, self_comparisons="keep").mated) == len(c.mated), name


def test_a_pattern_in_a_folder_whose_name_looks_like_one(tmp_path):
    for name in ("run[1]", "run1"):
        for k in range(1 + (name == "run1")):
            write(tmp_path / name / f"{k}.csv", frame(k))
    assert scan_comparisons(tmp_path / "run[1]" / "*.csv", self_comparisons="keep").n_mated == sum(
        frame(0)["reference"] == frame(0)["probe"]
    )


def test_what_counts_twice_and_what_is_refused(tmp_path):
    path = write(tmp_path / "s.csv", frame(0))
    (tmp_path / "link.csv").symlink_to(path)
    os.link(path, tmp_path / "hard.csv")
    for other in ("link.csv", "hard.csv"):
        refused("twice", scan_comparisons, [path, tmp_path / other])
    shutil.copy(path, tmp_path / "copy.csv")
    assert (
        scan_comparisons([path, tmp_path / "copy.csv"]).n_nonmated
        == 2 * scan_comparisons(path).n_nonmated
    )
    (tmp_path / "nan.csv").write_text("reference,probe,score\na,a,nan\na,b,0.2\nb,b,0.3\n")
    for name, advice in (
        (scan_comparisons, "read_comparisons can leave out"),
        (read_comparisons, 'failures="exc'),
    ):
        with pytest.raises(FileFormatError, match=advice):
            name(tmp_path / "nan.csv")
    for name in (read_comparisons, ff.read_embeddings, scan_comparisons):
        refused("path is empty: name a file", name, "")
    (tmp_path / "deep.json").write_text("[" * 100_000)
    with pytest.raises(
        FileFormatError, match=r"^\S*deep.json is no JSON of a result: it is nested too deeply$"
    ):
        ff.read_results(tmp_path / "deep.json")
    with pytest.raises(InputError, match="n_resamples must be at most 10,000,000, not 100,000,000"):
        ff.evaluate(read_comparisons(path), n_resamples=10**8)


def grows(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"a,b,0.5\n")


def is_replaced(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    other.replace(path)


def shrinks(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 7)


def is_rewritten(path: Path) -> None:
    seen = path.stat().st_mtime_ns
    path.write_bytes(path.read_bytes().replace(b"1", b"2"))
    os.utime(path, ns=(seen + 1,) * 2)


@pytest.mark.parametrize("change", [grows, is_replaced, shrinks, is_rewritten, Path.unlink])
def test_a_file_that_changes_while_it_is_read_is_an_error(change, tmp_path, monkeypatch):
    expected = MissingFileError if change is Path.unlink else FileFormatError
    scores = write(tmp_path / "s.csv", frame(0))
    read_text = text.read

    def changing(path, *given, **options):
        found = read_text(path, *given, **options)
        change(path)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(text, "read", changing)
        with pytest.raises(expected, match=r"s\.csv (changed|was removed) while it was in use"):
            read_comparisons(scores)
    parquet, n_opened = write(tmp_path / "s.parquet", frame(0)), 0
    open_parquet = tables.scan_schema

    def later(path):
        nonlocal n_opened
        n_opened += 1
        if n_opened == 2:
            change(path)
        return open_parquet(path)

    monkeypatch.setattr(tables, "scan_schema", later)
    with pytest.raises(expected, match=r"s\.parquet (changed|was removed) while it was in use"):
        scan_comparisons(parquet)


def test_vectors_and_temporary_files_that_change_are_errors(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    path = tmp_path / "v.npy"
    np.save(path, rng.normal(size=(3000, 64)).astype(np.float32))
    with monkeypatch.context() as patch:
        patch.setattr(memory, "available", lambda: 0)
        e = ff.read_embeddings(path, subject=np.arange(3000) // 2)
    expected = ff.evaluate(e, n_resamples=0).value("eer")
    os.truncate(path, 5000)  # to read behind it would end the process
    assert ff.evaluate(e, n_resamples=0).value("eer") == expected
    file = ArrayFile(Folder(tmp_path), "arrays")
    file.append(np.arange(100))
    (written,) = tmp_path.glob("fastfair-*/arrays")
    written.write_bytes(np.arange(1, 101).tobytes())
    with pytest.raises(FileFormatError, match="temporary file of the scan, was changed"):
        list(file)


def test_other_readers_do_not_look_at_files_of_the_caller(tmp_path):
    path = write(tmp_path / "s.csv", frame(0))
    read_comparisons(path)
    grows(path)  # after it was read
    with files.refuse_changes():
        files.check_file(path)
