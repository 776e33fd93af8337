"""Score files of every supported format, read into one kind of table."""

from __future__ import annotations

import csv
import gzip
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _validation
from .errors import FastfairError, FileFormatError, InputError, MissingFileError

if TYPE_CHECKING:
    import polars as pl

FORMATS = ("csv", "tsv", "parquet", "bob-4", "bob-5", "bob-csv", "voxceleb", "kaldi", "matrix")
_CANONICAL = ("score", "mated", "reference", "probe")
_SAMPLES = ("reference_sample", "probe_sample")
_BOB_SUBJECTS = (("bio_ref_subject_id", "probe_subject_id"), ("bio_ref_reference_id", "probe_reference_id"))
_LABEL_WORDS = {"nontarget": False, "target": True, "impostor": False, "imposter": False, "genuine": True}
LABELS = {"0": False, "1": True, **_LABEL_WORDS}


@dataclass
class ScoreTable:
    """Columns of a score file, and the line each row came from."""

    frame: pl.DataFrame
    score: str
    mated: str | None
    reference: str | None
    probe: str | None
    subject_pattern: str | None = None
    attributes: dict[str, tuple[str, str]] = field(default_factory=dict)
    samples: tuple[str, str] | None = None
    lines: np.ndarray[Any, Any] | None = None
    first_line: int | None = 2

    def place(self, row: int) -> str:
        """Say where in the file a row came from: its line, where the file has lines."""
        if self.lines is not None:
            return f"line {self.lines[row]}"
        return f"row {row} (counted from 0)" if self.first_line is None else f"line {self.first_line + row}"


def polars() -> Any:
    """Import polars, or say what brings it."""
    return _validation.require("polars", "cli", "reading files")


@contextmanager
def reading(path: Path | str) -> Iterator[None]:
    """Turn what other libraries raise of a broken file into an error that names the file."""
    try:
        yield
    except FastfairError:
        raise
    except (polars().exceptions.PolarsError, OSError, EOFError, ValueError, zlib.error, zipfile.BadZipFile) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise FileFormatError(f"{path} cannot be read: {reason}") from error


def check_file(path: Path) -> Path:
    """Refuse files that are missing or empty."""
    if not path.is_file():
        near = [p.name for p in path.parent.iterdir() if p.is_file()] if path.parent.is_dir() else []
        raise MissingFileError(f"there is no file {path}{_validation.did_you_mean(path.name, near)}")
    if path.stat().st_size == 0:
        raise FileFormatError(f"{path} is empty")
    return path


def recognise(path: Path, trials: Path | None) -> str:
    """Tell the format of a file, or say what is ambiguous about it."""
    suffix = path.suffixes[-2] if path.suffix == ".gz" and len(path.suffixes) > 1 else path.suffix
    if suffix == ".parquet":
        return "parquet"
    if suffix in (".npy", ".npz"):
        return "matrix"
    if trials is not None:
        first = first_line(trials).split()
        if len(first) == 3 and first[0] in ("0", "1"):
            return "voxceleb"
        if len(first) == 3 and first[2].lower() in LABELS:
            return "kaldi"
        raise FileFormatError(
            f"{trials} is no trial list: its first line is {' '.join(first)!r}, but 'label enrol test' (VoxCeleb) or "
            "'enrol test target' (Kaldi) is expected"
        )
    line = first_line(path)
    separator = next((s for s in ("\t", ",", ";") if s in line), None)
    if separator is not None and not is_number(line.split(separator)[-1]):
        names = [name.strip().strip('"') for name in line.split(separator)]
        if any(n.startswith("bio_ref_") for n in names) and any(n.startswith("probe_") for n in names):
            return "bob-csv"
        return "tsv" if separator == "\t" else "csv"
    fields = line.split(separator)
    ask = f"; say which with format= (one of {', '.join(FORMATS)})"
    numeric = all(map(is_number, fields))
    if numeric and len(fields) > 5:
        return "matrix"
    if len(fields) in (4, 5) and is_number(fields[-1]):
        columns = "claimed real test score" if len(fields) == 4 else "claimed model real test score"
        candidates = {f"bob-{len(fields)}": columns}
        if len(fields) == 4 and fields[0] in ("0", "1"):
            candidates["voxceleb"] = "label enrol test score"
        if numeric:
            candidates["matrix"] = "a score matrix"
        words = [field for field in fields[:-1] if field.lower() in _LABEL_WORDS]
        if len(candidates) == 1 and not words:
            return next(iter(candidates))
        if words:
            candidates["a trial list"] = f"as {words[0]!r} says"
        raise FileFormatError(f"{path} may be {' or '.join(f'{k} ({v})' for k, v in candidates.items())}{ask}")
    if len(fields) == 3 and (is_number(fields[2]) or is_number(fields[0])):
        if fields[0] in ("0", "1") and not is_number(fields[2]):
            raise FileFormatError(
                f"{path} is a trial list without scores: give the score file as path and this as trials="
            )
        raise FileFormatError(f"{path} has scores but nothing says which are mated: give the trial list as trials=")
    if len(fields) == 1 and is_number(fields[0]):
        raise FileFormatError(f"{path} has nothing but scores: give the trial list as trials=")
    if len(fields) == 3 and fields[2].lower() in LABELS:
        raise FileFormatError(f"{path} is a trial list without scores: give the score file as path and this as trials=")
    raise FileFormatError(f"{path} is of no known format; its first line is {line[:120]!r}{ask}")


def as_polars(frame: Any) -> pl.DataFrame:
    """Turn any data frame into a polars one."""
    import narwhals as nw

    polars()
    try:
        return nw.from_native(frame, eager_only=True).to_polars()
    except TypeError as error:
        raise InputError(f"path must be a file's path or a data frame, not {type(frame).__name__}") from error


def take_named(frame: pl.DataFrame, names: dict[str, str | None], groups: list[str]) -> ScoreTable:
    """Take the columns wanted out of a data frame."""
    chosen, attributes = _choose_columns("the data frame", "frame", names, frame.columns, groups)
    return _table(frame.select(_wanted(chosen, attributes)), "the data frame", chosen, attributes, first_line=None)


def read_named(path: Path, kind: str, names: dict[str, str | None], groups: list[str]) -> ScoreTable:
    """Read a file with named columns: CSV, TSV, Parquet or bob's CSV."""
    pl = polars()
    if kind == "parquet":
        with reading(path):
            known = list(pl.read_parquet_schema(path))
        chosen, attributes = _choose_columns(path, kind, names, known, groups)
        with reading(path):
            frame = pl.read_parquet(path, columns=_wanted(chosen, attributes))
        return _table(frame, path, chosen, attributes, first_line=None)
    header, skipped = _header(path)
    separator = "\t"
    if kind != "tsv":
        separator = ";" if ";" in header and "," not in header else ","
    known = [name.strip() for name in next(csv.reader([header], delimiter=separator, skipinitialspace=True))]
    chosen, attributes = _choose_columns(path, kind, names, known, groups)
    frame = _read_delimited(path, separator, skipped, known, _wanted(chosen, attributes), chosen["score"])
    labels = list({column for pair in attributes.values() for column in pair})
    frame = frame.with_columns(pl.col(labels).str.strip_chars())
    return _table(frame, path, chosen, attributes, first_line=skipped + 2)


def _wanted(chosen: dict[str, Any], attributes: dict[str, tuple[str, str]]) -> list[str]:
    named = (chosen[role] for role in _CANONICAL if chosen[role] is not None)
    return list(dict.fromkeys([*named, *(chosen["samples"] or ()), *(c for pair in attributes.values() for c in pair)]))


def _table(
    frame: pl.DataFrame,
    place: Path | str,
    chosen: dict[str, Any],
    attributes: dict[str, tuple[str, str]],
    first_line: int | None,
) -> ScoreTable:
    if frame.height == 0:
        raise FileFormatError(f"{place} has a header but no rows")
    table = ScoreTable(frame, **chosen, attributes=attributes, first_line=first_line)
    missing = frame[table.score].is_null()
    if missing.any():
        raise FileFormatError(
            f"{place}: {table.place(int(missing.to_numpy().argmax()))}: column {table.score!r} is empty"
        )
    return table


def read_matrix(path: Path, score: str | None) -> np.ndarray[Any, Any]:
    """Read a score matrix from .npy, .npz (`score` names the array) or a text file of numbers."""
    if path.suffix in (".npy", ".npz"):
        with reading(path):
            loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return loaded
        with loaded:
            if score is None and len(loaded.files) != 1:
                raise InputError(f"{path} holds the arrays {', '.join(loaded.files)}: say which with score=")
            name = loaded.files[0] if score is None else score
            if name not in loaded.files:
                raise InputError(
                    f"{path} has no array {name!r}{_validation.did_you_mean(name, loaded.files)}; it holds "
                    f"{', '.join(loaded.files)}"
                )
            with reading(path):
                matrix: np.ndarray[Any, Any] = loaded[name]
            return matrix
    delimiter = "," if "," in first_line(path) else None
    with reading(path):
        return np.loadtxt(path, delimiter=delimiter, ndmin=2)


def _choose_columns(
    path: Path | str, kind: str, names: dict[str, str | None], known: list[str], groups: list[str]
) -> tuple[dict[str, Any], dict[str, tuple[str, str]]]:
    """Settle which columns play which role, and which hold the attributes of either side."""
    chosen: dict[str, Any] = dict(names)
    for role, name in names.items():
        if name is not None and name not in known:
            raise InputError(
                f"{path} has no column {name!r} ({role}){_validation.did_you_mean(name, known)}; its columns are "
                f"{', '.join(known)}"
            )
    if kind == "bob-csv":
        pair = next((p for p in _BOB_SUBJECTS if set(p) <= set(known)), None)
        if pair is None:
            raise FileFormatError(f"{path} is not bob's CSV: it has none of {' and '.join(_BOB_SUBJECTS[0])}")
        chosen["reference"], chosen["probe"] = names["reference"] or pair[0], names["probe"] or pair[1]
    for role in _CANONICAL:
        if chosen[role] is None and role in known:
            chosen[role] = role
    if chosen["score"] is None:
        raise InputError(
            f"{path} has no column 'score': name the score column with score=; its columns are {', '.join(known)}"
        )
    if chosen["mated"] is None and (chosen["reference"] is None or chosen["probe"] is None):
        raise InputError(
            f"nothing says which comparisons are mated: name the column with mated=, or the subjects with reference= "
            f"and probe=; the columns of {path} are {', '.join(known)}"
        )
    attributes = {group: _attribute_columns(path, group, known) for group in groups}
    if not groups and {"reference_group", "probe_group"} <= set(known):
        attributes = {"group": ("reference_group", "probe_group")}
    chosen["samples"] = _SAMPLES if set(_SAMPLES) <= set(known) and "sample" not in groups else None
    return chosen, attributes


def _attribute_columns(path: Path | str, group: str, known: list[str]) -> tuple[str, str]:
    for prefix in ("reference_", "bio_ref_"):
        if f"{prefix}{group}" in known and f"probe_{group}" in known:
            return f"{prefix}{group}", f"probe_{group}"
    if group in known:
        return group, group
    raise InputError(
        f"{path} has no column {group!r}, nor reference_{group} and probe_{group}"
        f"{_validation.did_you_mean(group, known)}; its columns are {', '.join(known)}. Labels of subjects come from a "
        "table of their own with metadata= and metadata_id="
    )


def _read_delimited(
    path: Path, separator: str, skipped: int, known: list[str], columns: list[str], score: str
) -> pl.DataFrame:
    pl = polars()
    places = sorted(known.index(column) for column in columns)
    twice = [column for column in columns if known.count(column) > 1]
    if twice:
        raise FileFormatError(f"{path} has {known.count(twice[0])} columns called {twice[0]!r}")
    with reading(path):
        frame = pl.read_csv(path, separator=separator, columns=places, skip_lines=skipped, infer_schema=False)
    frame.columns = [known[place] for place in places]  # without the blanks that may surround them in the file
    text = frame[score].str.strip_chars()
    numbers = text.cast(pl.Float64, strict=False)
    wrong = (numbers.is_null() & (text != "")).arg_true()
    if len(wrong):
        row = int(wrong[0])
        raise FileFormatError(
            f"{path}: line {row + skipped + 2}: column {score!r} must be a number, not {text[row]!r} "
            f"({len(wrong)} such lines)"
        )
    return frame.with_columns(numbers)


def first_line(path: Path) -> str:
    """Return the first line that is neither blank nor a comment."""
    return _header(path)[0]


def _header(path: Path) -> tuple[str, int]:
    """Return the first line that is neither blank nor a comment, and how many lines stand before it."""
    opener: Any = gzip.open if path.suffix == ".gz" else open
    with reading(path), opener(path, "rt", encoding="utf-8-sig") as file:
        for before, line in enumerate(file):
            if line.strip() and not line.startswith("#"):
                return str(line.strip("\r\n")), before
    raise FileFormatError(f"{path} holds nothing but blank lines and comments")


def is_number(text: str) -> bool:
    """Tell whether a field is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
