"""What files hold, said so plainly that it is believed at sight: text by Python alone, everything
else by its library.

Each reader returns what must come out, or raises `UnclearError` where it cannot tell; then only an
error is right.
"""

from __future__ import annotations

import ast
import csv
import gzip
import io
import itertools
import json
import math
import re
import zipfile
from pathlib import Path

import numpy as np
import polars as pl

NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
MISSING = {"", "nan", "NaN", "<NA>", "NaT"}
NO_SCORES = {"", "na", "n/a", "#n/a", "<na>", "null", "none", "-", "--", ".", "nan", "inf", "-inf"}
NO_NUMBER = NO_SCORES - {"inf", "-inf"}
WORDS = {"1": True, "target": True, "genuine": True} | dict.fromkeys(
    ["0", "nontarget", "impostor", "imposter"], False
)
CODINGS = """0/1 -1/1 false/true non-mated/mated nonmated/mated nontarget/target non-target/target impostor/genuine
imposter/genuine different/same"""
FLAGS = [dict(zip(coding.split("/"), (False, True), strict=True)) for coding in CODINGS.split()]


class UnclearError(Exception):
    """There is no one way to read this."""


def sure(condition: object) -> None:
    if not condition:
        raise UnclearError


def text_of(path: Path) -> str:
    try:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        text = data.decode("utf-8-sig")
    except (OSError, EOFError, ValueError, Exception) as error:
        raise UnclearError from error
    sure("\0" not in text and "\ufeff" not in text)
    return text


def body(text: str) -> str:
    """Leave out blank lines and comments before the first line of data."""
    lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", text)
    while lines and (not lines[0].strip() or lines[0].startswith("#")):
        lines.pop(0)
    sure(lines and "".join(lines))
    return "".join(lines)


def cell(text: str) -> str:
    text = text.strip()
    return text[1:] if re.match(r"''*[=+\-@\t\r]", text) else text


def rows_by_separator(path: Path, separator: str, names_of_rows: bool = False) -> list[list[str]]:
    text = body(text_of(path))
    try:
        rows = [
            row
            for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
            if row
        ]
    except csv.Error as error:
        raise UnclearError from error
    rows = [row for row in rows if len(row) > 1 or row[0].strip()]
    lines = re.split(r"\r\n|\n|\r", text)[:2]
    ends = not any('"' in line for line in lines) and len(rows) > 1
    if ends and not rows[0][-1].strip() and len(rows[0]) == len(rows[1]) + 1:
        rows[0].pop()  # a separator that ends the header alone
    first = [row[0] for row in rows[1:]]
    numbered = all(re.fullmatch("[0-9]+", name) for name in first) and len(set(first)) == len(first)
    if (
        len(rows) > 1
        and len(rows[0]) > 1
        and len(rows[1]) == len(rows[0]) + 1
        and (numbered or names_of_rows)
    ):
        sure(rows[1][-1])
        rows[0] = ["", *rows[0]]  # R gives the names of rows no name
    sure(len({len(row) for row in rows}) == 1)
    return rows


def rows_by_blanks(path: Path) -> list[list[str]]:
    lines = re.split(r"\r\n|\n|\r", body(text_of(path)))
    return [
        [field for field in re.split(r"[ \t]+", line) if field] for line in lines if line.strip()
    ]


def named(path: Path, separator: str, names: list[str]) -> dict[str, list[str]]:
    first = re.split(r"[\r\n]", body(text_of(path)))[0]
    if separator != "\t" and separator not in first:
        separator = next((mark for mark in "\t,;" if mark in first), separator)
    rows = rows_by_separator(path, separator)
    header = [cell(name) for name in rows[0]]
    sure(len(rows) > 1 and all(header.count(name) == 1 for name in names))
    return {name: [row[header.index(name)] for row in rows[1:]] for name in names}


def number(text: str) -> float:
    text = text.strip()
    sure(NUMBER.fullmatch(text))
    value = float(text)
    sure(math.isfinite(value))
    sure(not re.fullmatch(r"[+-]?[0-9]+", text) or int(text) == int(value))
    return value


class Plain(str):
    """Text that is not of a CSV file, in which an apostrophe is nothing but that."""


def label(text: str) -> str:
    text = text if isinstance(text, Plain) else cell(text)
    sure(text.strip() not in MISSING)
    return text.strip()


def flags(texts: list[str]) -> list[bool]:
    words = [label(text).lower() for text in texts]
    words = [
        str(int(float(word))) if NUMBER.fullmatch(word) and float(word) in (-1, 0, 1) else word
        for word in words
    ]
    for coding in FLAGS:
        if set(words) <= set(coding):
            return [coding[word] for word in words]
    raise UnclearError


def comparisons(scores: list[float], mated: list[bool] | None, *labels: list[str]) -> list[tuple]:
    """Return scores, flags and labels of each row, subjects first."""
    labelled = mated is not None  # then all may be mated, or non-mated
    if mated is None:
        mated = [a == b for a, b in zip(labels[0], labels[1], strict=True)]
    elif labels:
        sure(mated == [a == b for a, b in zip(labels[0], labels[1], strict=True)])
    sure(len(scores) == len(mated) and (labelled or 0 < sum(mated) < len(mated)))
    return list(zip(scores, mated, *labels, strict=True))


def of_named(path: Path, separator: str, *, with_flags: bool = True) -> list[tuple]:
    names = ["score", "mated", "reference", "probe", "reference_sex", "probe_sex"]
    if not with_flags:
        names.remove("mated")
    found = named(path, separator, names)
    sides = [[label(t) for t in found[name]] for name in names[-4:]]
    return comparisons(
        [number(t) for t in found["score"]], flags(found["mated"]) if with_flags else None, *sides
    )


def of_parquet(path: Path) -> list[tuple]:
    try:
        frame = pl.read_parquet(path)
        found = {name: frame[name].to_list() for name in frame.columns}
    except BaseException as error:
        raise UnclearError from error
    sure(frame["score"].dtype in (pl.Float64, pl.Float32))
    sure(None not in found["score"] and all(map(math.isfinite, found["score"])))
    sides = []
    for name in ("reference", "probe", "reference_sex", "probe_sex"):
        sure(frame[name].dtype == pl.String and None not in found[name])
        texts = [text.strip() for text in found[name]]
        sure(not MISSING & set(texts))
        sides.append(texts)
    sure(frame["mated"].dtype == pl.Boolean)
    return comparisons(found["score"], found["mated"], *sides)


def of_json(path: Path) -> list[tuple]:
    """Read an object a line."""
    names = ("reference", "probe", "reference_sex", "probe_sex")
    try:
        lines = path.read_bytes().decode("utf-8-sig").split("\n")
        rows = [json.loads(line) for line in lines if line.strip()]
        scores, mated = ([row[name] for row in rows] for name in ("score", "mated"))
        sides = [[row[name] for row in rows] for name in names]
    except (LookupError, RecursionError, TypeError, ValueError) as error:
        raise UnclearError from error
    sure(all(type(s) in (int, float) for s in scores) and all(type(m) is bool for m in mated))
    sure(all(isinstance(text, str) for texts in sides for text in texts))
    sides = [[text.strip() for text in texts] for texts in sides]
    sure(not MISSING & {text for texts in sides for text in texts})
    scores = [float(s) for s in scores]
    sure(all(map(math.isfinite, scores)))
    return comparisons(scores, mated, *sides)


def of_bob(path: Path, n: int) -> list[tuple]:
    rows = rows_by_blanks(path)
    sure(all(len(row) == n for row in rows))
    if n == 5:  # a sample is not compared with itself
        rows = [row for row in rows if (row[0], row[1]) != (row[2], row[3])]
    subjects = ([label(Plain(r[k])) for r in rows] for k in (0, -3))
    return comparisons([number(r[-1]) for r in rows], None, *subjects)


def of_bob_csv(path: Path) -> list[tuple]:
    found = named(path, ",", ["bio_ref_subject_id", "probe_subject_id", "score"])
    subjects = (
        [label(t) for t in found[name]] for name in ("bio_ref_subject_id", "probe_subject_id")
    )
    return comparisons([number(t) for t in found["score"]], None, *subjects)


def of_trials(path: Path, trials: Path | None, kind: str) -> list[tuple]:
    rows = rows_by_blanks(trials or path)
    sure(all(len(row) == (3 if trials else 4) for row in rows))
    order = (0, 1, 2) if kind == "voxceleb" else (2, 0, 1)
    listed = [tuple(row[k] for k in order) for row in rows]
    sure(all(word.strip().lower() in WORDS for word, _, _ in listed))
    mated = [WORDS[word.strip().lower()] for word, _, _ in listed]
    pairs = [(enrol, test) for _, enrol, test in listed]
    sure(len(set(zip(pairs, mated, strict=True))) == len(set(pairs)))
    if trials is None:
        scores = [number(row[3]) for row in rows]
    else:
        given = rows_by_blanks(path)
        if len(given[0]) == 1:
            sure(all(len(row) == 1 for row in given) and len(given) == len(rows))
            scores = [number(row[0]) for row in given]
        else:
            sure(all(len(row) == 3 for row in given))
            first = given[0]
            at = 0 if NUMBER.fullmatch(first[0]) and not NUMBER.fullmatch(first[2]) else 2
            table = {
                (row[1], row[2]) if at == 0 else (row[0], row[1]): number(row[at]) for row in given
            }
            each = {
                ((row[1], row[2]) if at == 0 else (row[0], row[1]), number(row[at]))
                for row in given
            }
            sure(len(each) == len(table) and set(table) == set(pairs))
            scores = [table[pair] for pair in pairs]
    if kind == "kaldi":
        return comparisons(scores, mated)
    subjects = []
    apart = [enrol != test for enrol, test in pairs]  # a sample is not compared with itself
    scores, mated, pairs = (
        [one for one, kept in zip(column, apart, strict=True) if kept]
        for column in (scores, mated, pairs)
    )
    for side in (0, 1):
        found = [re.match(r"([^/\n]+)/", pair[side].strip()) for pair in pairs]
        sure(all(found))
        subjects.append([label(Plain(m[1])) for m in found])
    return comparisons(scores, mated, *subjects)


def of_square(matrix: list[list[float]]) -> list[tuple]:
    n = len(matrix)
    sure(n > 1 and all(len(row) == n for row in matrix))
    who = [str(k) for k in range(n)]
    return comparisons(
        [s for row in matrix for s in row], None, [w for w in who for _ in who], who * n
    )


def header_of(path: Path) -> list[str]:
    first = re.split(r"[\r\n]", body(text_of(path)))[0]
    separator = next((mark for mark in "\t,;" if mark in first), None)
    sure(separator)
    return [cell(name) for name in rows_by_separator(path, separator)[0]]


def is_score(text: str) -> bool:
    return (
        bool(NUMBER.fullmatch(text.strip().replace(",", ".", 1)))
        or text.strip().lower() in NO_SCORES
    )


def of_text_matrix(path: Path) -> list[tuple]:
    """Read a matrix with words as names of rows and of columns, or without any name."""
    first = re.split(r"[\r\n]", body(text_of(path)))[0]
    separator = next((mark for mark in "\t;," if mark in first), None)
    rows = (
        rows_by_separator(path, separator, names_of_rows=True)
        if separator
        else rows_by_blanks(path)
    )
    if not separator and len(rows) > 1 and len(rows[1]) == len(rows[0]) + 1:
        rows[0] = ["", *rows[0]]
    sure(len({len(row) for row in rows}) == 1)
    rows = [[re.sub('^"(.*)"$', r"\1", field.strip()) for field in row] for row in rows]
    if all(is_score(field) for row in rows for field in row):
        sure(all(field.strip() for field in rows[0]))
        return of_square([[number(field) for field in row] for row in rows])
    has_header = not all(map(is_score, rows[0][1:]))
    sure(
        not has_header
        or not any(NUMBER.fullmatch(name) and not name.isdigit() for name in rows[0][1:])
    )
    has_names = not all(is_score(row[0]) for row in rows[has_header:])
    sure(has_names and len(rows) > 1)
    columns, rows = (rows[0][1:], rows[1:]) if has_header else ([row[0] for row in rows], rows)
    sure(all(len(row) == len(columns) + 1 for row in rows))
    scores = [number(field) for row in rows for field in row[1:]]
    of_rows = [label(Plain(row[0])) for row in rows for _ in columns]
    return comparisons(scores, None, of_rows, [label(Plain(name)) for name in columns] * len(rows))


def of_wide_vectors(path: Path) -> list[tuple]:
    """Read vectors of numbered columns, of which there is one set."""
    header = header_of(path)
    sets: dict[str, dict[int, str]] = {}
    for name in header:
        if match := re.fullmatch("(.*?)[_. -]?([0-9]+)", name):
            sets.setdefault(match[1], {})[int(match[2])] = name
    complete = [
        k for k in sets.values() if len(k) > 1 and sorted(k) == list(range(min(k), min(k) + len(k)))
    ]
    complete = [k for k in complete if min(k) in (0, 1)]
    sure(len(complete) == 1 and "vectors" not in header)
    names = [complete[0][k] for k in sorted(complete[0])]
    found = named(path, ",", [*names, "subject"])
    return embeddings(
        np.array([[number(t) for t in found[name]] for name in names]).T, found["subject"]
    )


def of_key(scores: Path, key: Path) -> list[tuple]:
    """Join a key with scores by all columns that both have."""
    first, second = header_of(key), header_of(scores)
    shared = [name for name in first if name in second and name != "mated"]
    sure({"reference", "probe"} <= set(shared) and "score" in second and "score" not in first)
    listed, scored = named(key, "\t", [*first]), named(scores, "\t", [*shared, "score"])
    where = [tuple(map(cell, row)) for row in zip(*(listed[name] for name in shared), strict=True)]
    there = [tuple(map(cell, row)) for row in zip(*(scored[name] for name in shared), strict=True)]
    sure(
        len(set(where)) == len(where) and len(set(there)) == len(there) and set(where) == set(there)
    )
    of_pair = dict(zip(there, [number(text) for text in scored["score"]], strict=True))
    found = [of_pair[row] for row in where]
    sides = [[label(text) for text in listed[name]] for name in ("reference", "probe")]
    if "mated" not in first:
        return comparisons(found, None, *sides)
    mated = flags(listed["mated"])
    alike = any(a == b for a, b in zip(*sides, strict=True))
    return comparisons(found, mated, *sides) if alike else comparisons(found, mated)


def array_of(data: bytes) -> np.ndarray:
    """Read NumPy's format by its description."""
    try:
        sure(data[:6] == b"\x93NUMPY" and data[6:8] in (b"\x01\x00", b"\x02\x00"))
        width = 2 if data[6] == 1 else 4
        start = 8 + width + int.from_bytes(data[8 : 8 + width], "little")
        header = ast.literal_eval(data[8 + width : start].decode("latin1").strip())
        dtype, shape = np.dtype(header["descr"]), header["shape"]
        sure(
            set(header) == {"descr", "fortran_order", "shape"}
            and type(header["fortran_order"]) is bool
        )
        sure(
            not dtype.hasobject
            and dtype.itemsize * math.prod(shape) == len(data) - start
            and dtype.itemsize
        )
        flat = np.frombuffer(data[start:], dtype)
        return flat.reshape(shape, order="F" if header["fortran_order"] else "C")
    except Exception as error:
        raise UnclearError from error


def member_of(path: Path, name: str) -> np.ndarray:
    try:
        with zipfile.ZipFile(path) as archive:
            sure([i.filename.removesuffix(".npy") for i in archive.infolist()].count(name) == 1)
            info = next(i for i in archive.infolist() if i.filename.removesuffix(".npy") == name)
            return array_of(archive.read(info))
    except Exception as error:
        raise UnclearError from error


def of_array(matrix: np.ndarray) -> list[tuple]:
    sure(matrix.dtype.kind in "fiu" and matrix.ndim == 2 and np.isfinite(matrix).all())
    return of_square(matrix.tolist())


def archive_of(data: bytes) -> tuple[np.ndarray, list[object]]:
    """Read Kaldi's vectors, and their names, one byte after another."""
    names: list[object] = []
    rows: list[np.ndarray] = []
    at = 0
    while at < len(data):
        if data[at] in b"\r\n":
            at += 1
            continue
        end = at
        while end < len(data) and data[end] not in b" \n":
            end += 1
        sure(end > at and data[end : end + 1] == b" " and end - at <= 1000)
        names.append(Plain(plain_text(data[at:end])))
        numbers, at = numbers_at(data, end + 1)
        rows.append(numbers)
    return stacked(names, rows)


def plain_text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise UnclearError from error


def numbers_at(data: bytes, at: int) -> tuple[np.ndarray, int]:
    """Read the vector or matrix of Kaldi at a place, and return where it ends."""
    if data[at : at + 2] == b"\0B":
        kind = data[at + 2 : at + 5]
        sure(kind in (b"FV ", b"DV ", b"FM ", b"DM "))
        at += 5
        sizes = []
        for _ in range(2 if kind[1:2] == b"M" else 1):
            sure(data[at : at + 1] == b"\4" and len(data) >= at + 5)
            sizes.append(int.from_bytes(data[at + 1 : at + 5], "little", signed=True))
            at += 5
        each = {b"F": 4, b"D": 8}[kind[:1]]
        sure(min(sizes) > 0)
        end = at + math.prod(sizes) * each
        sure(end <= len(data))
        return np.frombuffer(data[at:end], f"<f{each}").reshape(sizes), end
    end = data.find(b"]", at)
    sure(end >= 0 and data[at:end].lstrip(b" \t").startswith(b"["))
    inside = data[at:end].lstrip(b" \t")[1:]
    lines = [line.split() for line in inside.split(b"\n") if line.split()]
    sure(lines and len({len(line) for line in lines}) == 1 and b"_" not in inside)
    is_matrix = inside.lstrip(b" \t\r").startswith(b"\n")
    sure(is_matrix or len(lines) == 1)
    try:
        with np.errstate(over="ignore"):
            numbers = np.array([[float(field) for field in line] for line in lines], np.float32)
    except ValueError as error:
        raise UnclearError from error
    return numbers if is_matrix else numbers[0], end + 1


def stacked(names: list, rows: list[np.ndarray]) -> tuple[np.ndarray, list[object]]:
    """Return vectors, of one length and at least two numbers each, as the rows of one array, and
    their names."""
    sure(rows and all(row.size > 1 and max(row.shape) == row.size for row in rows))
    sure(all(row.dtype.kind in "fiu" for row in rows))
    sure(len({row.size for row in rows}) == 1)
    return np.array([row.ravel().tolist() for row in rows]), [Plain(name) for name in names]


def list_of(listing: bytes, archive: bytes) -> tuple[np.ndarray, list[object]]:
    """Read the vectors of a list, all of one archive."""
    names, rows = [], []
    for line in re.split("\r\n|\n|\r", plain_text(listing)):
        if not line.strip():
            continue
        match = re.fullmatch(
            r"\s*(\S+)\s+v\.ark(?::([0-9]+))?(?:\[([0-9:]*)(?:,([0-9:]*))?\])?\s*", line
        )
        sure(match)
        numbers, _ = numbers_at(archive, int(match[2] or 0))
        sure(match[4] is None or numbers.ndim == 2)
        if match[3] is not None:
            numbers = numbers[rows_of_range(match[3], len(numbers))]
        if match[4] is not None:
            numbers = numbers[:, rows_of_range(match[4], numbers.shape[1])]
        sure(numbers.ndim == 1 or len(numbers) == 1)
        names.append(match[1])
        rows.append(numbers)
    sure(len({row.dtype for row in rows}) == 1)
    return stacked(names, rows)


def rows_of_range(text: str, size: int) -> list[int]:
    """Return the numbers of a range whose last counts."""
    if text in ("", ":"):
        return list(range(size))
    match = re.fullmatch("([0-9]+):([0-9]+)", text)
    sure(match)
    first, last = int(match[1]), int(match[2])
    sure(first <= last < size)
    return list(range(first, last + 1))


def vectors_of_members(path: Path) -> tuple[np.ndarray, list[object]]:
    """Read the arrays of an archive of NumPy, a vector each."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.namelist()
    except Exception as error:
        raise UnclearError from error
    names = [member.removesuffix(".npy") for member in members]
    sure(len(set(names)) == len(names) and "vectors" not in names)
    return stacked(names, [member_of(path, name) for name in names])


def tensors_of(data: bytes) -> dict[str, np.ndarray]:
    """Read the arrays of a file of safetensors."""
    start = 8 + int.from_bytes(data[:8], "little")
    try:
        header = json.loads(data[8:start], object_pairs_hook=_all_pairs)
        header.pop("__metadata__", None)
        tensors = {}
        for name, entry in header.items():
            begin, end = entry["data_offsets"]
            kind = f"<{entry['dtype'][0].lower()}{int(entry['dtype'][1:]) // 8}"
            sure(entry["dtype"][0] in "FIU" and 0 <= begin <= end <= len(data) - start)
            numbers = np.frombuffer(data[start + begin : start + end], kind)
            tensors[name] = numbers.reshape(entry["shape"])
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise UnclearError from error
    return tensors


def _all_pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    sure(len(dict(pairs)) == len(pairs))
    return dict(pairs)


def embeddings(vectors: np.ndarray, subjects: list[object]) -> list[tuple]:
    sure(
        vectors.dtype.kind in "fiu"
        and vectors.ndim == 2
        and len(vectors) == len(subjects)
        and vectors.shape[1]
    )
    values = vectors.astype(np.float64)
    sure(np.isfinite(values).all() and values.any(axis=1).all())
    return [(tuple(row), label(who)) for row, who in zip(values.tolist(), subjects, strict=True)]


def embeddings_of_each(vectors: np.ndarray, names: list[object]) -> list[tuple]:
    """Return vectors whose subjects are their names up to an underscore."""
    sure(all("_" in str(name)[1:] and str(name)[0] != "_" for name in names))
    return embeddings(vectors, [Plain(str(name).partition("_")[0]) for name in names])


def counts(path: Path, separator: str) -> list[tuple]:
    found = named(path, separator, ["failures", "attempts", "sex"])
    failures, attempts = ([number(t) for t in found[name]] for name in ("failures", "attempts"))
    sure(
        all(
            f == int(f) and a == int(a) and 0 <= f <= a and a > 0
            for f, a in zip(failures, attempts, strict=True)
        )
    )
    return sorted(
        zip([label(t) for t in found["sex"]], map(int, failures), map(int, attempts), strict=True)
    )


def metadata(path: Path, separator: str | None) -> dict[str, str]:
    if separator is None:
        try:
            frame = pl.read_parquet(path)
            ids, sexes = frame["id"].to_list(), frame["sex"].to_list()
        except BaseException as error:
            raise UnclearError from error
        sure(
            all(isinstance(i, str) and isinstance(s, str) for i, s in zip(ids, sexes, strict=True))
        )
        ids, sexes = [i.strip() for i in ids], [s.strip() for s in sexes]
    else:
        found = named(path, separator, ["id", "sex"])
        ids, sexes = [cell(t).strip() for t in found["id"]], [cell(t).strip() for t in found["sex"]]
    sure(len(set(ids)) == len(ids) and not MISSING & set(ids))
    return {i: s for i, s in zip(ids, sexes, strict=True) if s not in MISSING}


def labelled(scores: Path, ids: list[str], labels: list[str]) -> list[tuple]:
    """Return comparisons with labels of both people, whose ids and labels are those of a table."""
    sure(len(set(ids)) == len(ids) and not MISSING & set(ids))
    of_person = {who: text for who, text in zip(ids, labels, strict=True) if text not in MISSING}
    table = named(scores, ",", ["score", "reference", "probe"])
    sides = [[label(text) for text in table[name]] for name in ("reference", "probe")]
    sure(all(who in of_person for side in sides for who in side))
    groups = [[of_person[who] for who in side] for side in sides]
    return comparisons([number(text) for text in table["score"]], None, *sides, *groups)


def qualities(scores: Path, table: Path) -> list[tuple]:
    """Return the quality of reference and probe of each comparison."""
    pairs = named(scores, ",", ["score", "reference", "probe"])
    sides = [[label(text) for text in pairs[name]] for name in ("reference", "probe")]
    sure(all(re.match("[^/]+/", name) for side in sides for name in side))
    people = [[label(Plain(name.partition("/")[0])) for name in side] for side in sides]
    comparisons([number(text) for text in pairs["score"]], None, *people)
    header = header_of(table)
    column = named(table, ";", [header[0], "Q.scalar"])
    ids = [cell(text).strip() for text in column[header[0]]]
    values = [number(text) for text in column["Q.scalar"]]
    sure(len(set(ids)) == len(ids) and not MISSING & set(ids) and -1 not in values)
    of_image = dict(zip(ids, values, strict=True))
    sure(all(name in of_image for side in sides for name in side))
    return [(of_image[a], of_image[b]) for a, b in zip(*sides, strict=True)]


def searches(log: Path, of_searches: Path, gallery: Path) -> list[tuple]:
    """Return the probe of each search, its mate's score and rank, the others on its list, and the
    score down to which all are known."""
    table = named(of_searches, ",", ["search", "probe"])
    names, probes = ([label(text) for text in table[name]] for name in ("search", "probe"))
    header = re.split(r"[\r\n]", body(text_of(gallery)))[0]
    by = next((mark for mark in "\t,;" if mark in header), ",")
    enrolled = [label(row[0]) for row in rows_by_separator(gallery, by)[1:]]
    sure(enrolled and len(set(enrolled)) == len(enrolled) and len(set(names)) == len(names))
    lists: dict[str, list[tuple[float | None, float, str]]] = {name: [] for name in names}
    for search, who, score, rank in _entries_of(log):
        sure(search in lists and who in enrolled)
        lists[search].append((rank, score, who))
    listed = [entry for entries in lists.values() for entry in entries]
    sure(listed)
    has_ranks = listed[0][0] is not None
    lowest_rank = min(1.0, *(rank for rank, _, _ in listed)) if has_ranks else 0.0
    for entries in lists.values():
        entries.sort(key=lambda entry: entry[0] if has_ranks else -entry[1])
        sure(len({who for _, _, who in entries}) == len(entries))
        sure(not entries or not has_ranks or entries[0][0] in (1.0, lowest_rank))
        for before, after in itertools.pairwise(entries if has_ranks else ()):
            sure(after[0] == before[0] + 1 and after[1] <= before[1])
    longest, least = max(map(len, lists.values())), min(score for _, score, _ in listed)
    rows = []
    for name, probe in zip(names, probes, strict=True):
        entries = [(score, who) for _, score, who in lists[name]]
        mate = next((score for score, who in entries if who == probe), None)
        others = sorted(((-score, who) for score, who in entries if who != probe))
        limit = -math.inf if mate is None else mate
        rank = 1 + sum(-score >= limit for score, _ in others) if probe in enrolled else 0
        reach = math.nextafter(least, -math.inf)
        if len(entries) >= len(enrolled):
            reach = -math.inf
        elif len(entries) == longest:
            reach = entries[-1][0]
        rows.append((probe, mate, rank, tuple(others), reach))
    return rows


def _entries_of(log: Path) -> list[tuple[str, str, float, float | None]]:
    """Return search, candidate, score and, where there are ranks, rank of each row of a log that
    has a candidate."""
    columns = ["search", "candidate", "score", "rank"]
    if log.suffix == ".parquet":
        try:
            rows = pl.read_parquet(log).select(columns).rows()
        except BaseException as error:
            raise UnclearError from error
        for row in rows:
            sure(all(isinstance(text, str) for text in row[:2]))
            sure(all(isinstance(x, float | int) and math.isfinite(x) for x in row[2:]))
        return [(label(Plain(a)), label(Plain(b)), float(s), float(r)) for a, b, s, r in rows]
    table = named(log, ",", columns[:3])
    try:
        ranks = named(log, ",", columns[3:])["rank"]
    except UnclearError:
        ranks = None
    entries = []
    for k, (search, who, score) in enumerate(zip(*table.values(), strict=True)):
        rank = "" if ranks is None else ranks[k]
        lacks = score.strip().lower() in NO_NUMBER
        if lacks and cell(who).strip() in MISSING:
            label(search)
            sure(rank.strip().lower() in NO_NUMBER or number(rank) is not None)
        else:
            of_rank = None if ranks is None else number(rank)
            entries.append((label(search), label(who), number(score), of_rank))
    return entries
