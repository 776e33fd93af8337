"""Read files that are damaged at random, and hold what comes of it against slow readers.

`python tests/fuzz/files.py --number 20000 --seed 0` damages that many files and counts what came of
them: "equal" to what the slow reader finds, "refused" with an error of fastfair, "wrong" where
another result came out or one that the slow reader cannot tell, "foreign" where another error did,
and "hangs", which crashes are counted with. The last three are listed with their seeds; `--only
SEED` reads one file again and shows everything.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import faulthandler
import gzip
import io
import json
import math
import random
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))
import slow_readers as slow
from helpers import flat

import fastfair as ff
from fastfair.errors import FastfairError

SECONDS = 5  # of work, a file read for longer hangs; so does one that waits eight times as long
BATCH = 500  # files read by one process
BAD = ("wrong", "foreign", "hangs")
SEPARATORS = {"csv": ",", "tsv": "\t", "parquet": None}
Files = dict[str, bytes]


class Hang(BaseException):
    """A file was not read in time."""


@dataclass
class Case:
    """One kind of input: how valid files are made, read, and read slowly."""

    make: Callable[[random.Random], Files]
    read: Callable[[Path], Any]
    expected: Callable[[Path], list[tuple]]
    share: int = 4


def rows_of(
    c: ff.Comparisons | ff.Embeddings | ff.FailureCounts | ff.Searches | list[tuple],
) -> list[tuple]:
    """Return all that is known of each row."""
    if isinstance(c, list):
        return c
    if isinstance(c, ff.Searches):
        return rows_of_searches(c)
    if isinstance(c, ff.FailureCounts):
        labels = [c.groups[code] for code in c.subject_group]
        return sorted(zip(labels, c.failures.tolist(), c.attempts.tolist(), strict=True))
    if isinstance(c, ff.Embeddings):
        values = np.asarray(c.vectors, np.float64).tolist()
        return [
            (tuple(v), str(s)) for v, s in zip(values, c.subjects[c.subject].tolist(), strict=True)
        ]
    rows = []
    for mated, side in ((True, c.mated), (False, c.nonmated)):
        columns = (
            []
            if c.subjects is None
            else [list(map(str, c.subjects[codes])) for codes in (side.reference, side.probe)]
        )
        for name, labels in c.attributes.items():
            for codes in side.attribute(name):
                columns.append([labels[code] for code in codes])
        scores = np.asarray(side.similarities, np.float64).tolist()
        rows += list(zip(scores, [mated] * len(scores), *columns, strict=True))
    return rows


def rows_of_searches(s: ff.Searches) -> list[tuple]:
    """Return what `slow.searches` does."""
    rows = []
    for k, subject in enumerate(s.subject.tolist()):
        mate = s.mate_score[k].item()
        others = [
            (-score, str(s.labels[who]))
            for score, who in zip(s.best[k].tolist(), s.candidate[k].tolist(), strict=True)
            if who >= 0
        ]
        mate = None if not s.is_mated[k] or mate != mate else mate
        row = str(s.labels[subject]), mate, s.rank[k].item(), tuple(sorted(others))
        rows.append((*row, s.reach[k].item()))
    return rows


def people(rng: random.Random) -> list[str]:
    pool = [
        "ann",
        "bob",
        "eve",
        "#dan",
        "é",
        "jo doe",
        "x-1",
        "=1",
        "7",
        "u,v",
        'q"q',
        "n\nl",
        "nan's",
    ]
    return rng.sample(pool, rng.randint(2, 5))


def pairs(rng: random.Random, who: list[str]) -> list[tuple[str, str, str]]:
    """Return two subjects and a score, at least one pair of one and one of two."""
    chosen = [(who[0], who[0]), (who[0], who[1])]
    chosen += [(rng.choice(who), rng.choice(who)) for _ in range(rng.randint(0, 6))]
    form = rng.choice(["{:.3f}", "{:.0f}", "{:.6e}", "{!r}"])
    found = [(a, b, form.format(rng.choice([1, 1, 100]) * rng.uniform(-2, 2))) for a, b in chosen]
    rng.shuffle(found)
    return found


def quoted(text: str, separator: str) -> str:
    text = f"'{text}" if text[:1] in ("=", "'") else text
    return '"' + text.replace('"', '""') + '"' if set(text) & {separator, '"', "\n", "\r"} else text


def delimited(rows: list[list[str]], separator: str, end: str = "\n") -> bytes:
    return end.join(
        [*(separator.join(quoted(t, separator) for t in row) for row in rows), ""]
    ).encode()


def score_rows(rng: random.Random, mated: bool = True) -> list[list[str]]:
    sex = collections.defaultdict(lambda: rng.choice(["f", "m", "other"]))
    rows = [["score", "mated", "reference", "probe", "reference_sex", "probe_sex"]]
    coding = rng.choice(
        [("0", "1"), ("False", "True"), ("impostor", "genuine"), ("nontarget", "target")]
    )
    rows += [[s, coding[a == b], a, b, sex[a], sex[b]] for a, b, s in pairs(rng, people(rng))]
    return rows if mated else [[row[0], *row[2:]] for row in rows]


def top(rng: random.Random) -> bytes:
    return rng.choice(
        [b""] * 4 + [b"# made today\n", b"\n# it's 5\" wide\n\n", b"\xef\xbb\xbf", b"#\r"]
    )


def written(write: Callable[..., object], *arguments: object, **options: object) -> bytes:
    """Return what a function of a library writes to a file."""
    file = io.BytesIO()
    write(file, *arguments, **options)
    return file.getvalue()


def in_csv(rng: random.Random, name: str, separator: str, mated: bool) -> Files:
    data = top(rng) + delimited(score_rows(rng, mated), separator, rng.choice(["\n", "\n", "\r\n"]))
    return {name: gzip.compress(data, mtime=0) if name.endswith(".gz") else data}


def in_parquet(rng: random.Random) -> Files:
    header, *rows = score_rows(rng)
    columns: dict[str, Any] = dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))
    columns["score"] = list(map(float, columns["score"]))
    columns["mated"] = [a == b for a, b in zip(columns["reference"], columns["probe"], strict=True)]
    compression = rng.choice(["zstd", "snappy", "uncompressed", "gzip"])
    return {"s.parquet": written(pl.DataFrame(columns).write_parquet, compression=compression)}


def in_json(rng: random.Random) -> Files:
    """Rows as objects on lines."""
    header, *rows = score_rows(rng)
    entries = [dict(zip(header, row, strict=True)) for row in rows]
    for entry in entries:
        same = entry["reference"] == entry["probe"]
        entry |= {"score": float(entry["score"]), "mated": same}
    ends = rng.choice([True, False])
    text = "\n".join(json.dumps(entry, ensure_ascii=ends) for entry in entries)
    return {"s.jsonl": text.encode()}


def words(rng: random.Random) -> list[str]:
    return [w for w in people(rng) if not set(w) & set(", \n")] + ["ann2", "bob2"]


def in_fields(rows: list[tuple[str, ...]], rng: random.Random) -> bytes:
    by = rng.choice([" ", " ", "\t", "  "])
    return (
        top(rng)
        + "".join(by.join(row) + rng.choice(["\n", "\n", " \n", "\r\n"]) for row in rows).encode()
    )


def in_bob(rng: random.Random, n: int) -> Files:
    found = enumerate(pairs(rng, words(rng)))
    return {
        "s.txt": in_fields(
            [(a, *([f"m{a}"] if n == 5 else []), b, f"t{k}", s) for k, (a, b, s) in found], rng
        )
    }


def in_bob_csv(rng: random.Random) -> Files:
    rows = [["bio_ref_subject_id", "probe_subject_id", "score"]] + [
        list(row) for row in pairs(rng, people(rng))
    ]
    return {"s.csv": top(rng) + delimited(rows, ",")}


def in_trials(rng: random.Random, kind: str, way: str) -> Files:
    found = [
        (f"{a}/{k}" if kind == "voxceleb" else a, f"{b}/x{k}", s, a == b)
        for k, (a, b, s) in enumerate(pairs(rng, words(rng)))
    ]
    if kind == "voxceleb":
        listed = [(str(int(m)), a, b, *([s] if way == "joined" else [])) for a, b, s, m in found]
    else:
        listed = [(a, b, "target" if m else "nontarget") for a, b, _, m in found]
    files = {"t.txt": in_fields(listed, rng)}
    scores = [(s,) if way == "order" else (a, b, s) for a, b, s, _ in found]
    if way == "names":
        rng.shuffle(scores)
    return files if way == "joined" else files | {"s.txt": in_fields(scores, rng)}


def square(rng: random.Random) -> np.ndarray:
    n = rng.randint(2, 6)
    dtype = rng.choice(["<f8", ">f8", "<f4", "<i4", "<i8", "<f2"])
    return np.array([[rng.randint(-50, 50) for _ in range(n)] for _ in range(n)]).astype(dtype)


def in_text_matrix(rng: random.Random, with_names: bool) -> Files:
    """Write a matrix as programs do: with or without a name above the names of rows, and with
    quotes between blanks."""
    matrix = [[f"{rng.uniform(-2, 2):.3f}" for _ in range(3)] for _ in range(3)]
    by = rng.choice([",", "\t", ";", " ", " "])
    if not with_names:
        return {"m.txt": top(rng) + delimited(matrix, by)}
    names = rng.sample(["ann", "bob", "eve", "x-1", "7", "é"], 3)
    quote = rng.choice(["", '"'])
    header = [f"{quote}{name}{quote}" for name in names]
    corner = [] if by == " " else [rng.choice(["", "id"])]
    rows = [[name, *row] for name, row in zip(header, matrix, strict=True)]
    return {
        "m.txt": (
            top(rng) + "".join(by.join(row) + "\n" for row in [[*corner, *header], *rows]).encode()
        )
    }


def in_wide_vectors(rng: random.Random) -> Files:
    vectors, subjects = vectors_and_subjects(rng)
    start, begin = rng.choice([0, 1]), rng.choice(["", "v", "e_"])
    header = ["subject", *(f"{begin}{start + k}" for k in range(3))]
    rows = [
        [who, *map(str, vector)] for who, vector in zip(subjects, vectors.tolist(), strict=True)
    ]
    return {"v.csv": top(rng) + delimited([header, *rows], ",")}


def in_key(rng: random.Random) -> Files:
    """Write a key of people, or of models and segments, and the scores in another order."""
    of_people = rng.random() < 0.5
    rows = {(a, b if of_people else f"s{b}"): (s, a == b) for a, b, s in pairs(rng, words(rng))}
    key = [["reference", "probe", "side", "mated"]] + [
        [a, b, "a", str(int(m))] for (a, b), (_, m) in rows.items()
    ]
    scores = [[a, b, "a", s] for (a, b), (s, _) in rows.items()]
    rng.shuffle(scores)
    scores = [["reference", "probe", "side", "score"], *scores]
    return {"k.tsv": top(rng) + delimited(key, "\t"), "s.tsv": top(rng) + delimited(scores, "\t")}


def archived(rng: random.Random, **arrays: np.ndarray) -> bytes:
    return written(rng.choice([np.savez, np.savez_compressed]), **arrays)


def vectors_and_subjects(rng: random.Random) -> tuple[np.ndarray, list[str]]:
    who = people(rng)
    subjects = [*who, *who]
    vectors = np.array(
        [[rng.randint(1, 9) for _ in range(3)] for _ in subjects],
        rng.choice(["<f4", "<f8", ">f4", "<i2"]),
    )
    return vectors, subjects


def in_npz_vectors(rng: random.Random) -> Files:
    vectors, subjects = vectors_and_subjects(rng)
    return {"v.npz": archived(rng, vectors=vectors, subject=np.array(subjects))}


def archived_vectors(rng: random.Random) -> Iterator[tuple[str, bytes]]:
    """Give names, and vectors as Kaldi writes them, binary or text, or as matrices with one row."""
    vectors, subjects = vectors_and_subjects(rng)
    kind, as_matrix = rng.choice("FDT"), rng.random() < 0.3
    line = b"\n  " if as_matrix else b" "
    sizes = b"".join(b"\4" + n.to_bytes(4, "little") for n in [1] * as_matrix + [3])
    names = ["".join(name.split()) for name in subjects]  # Kaldi's have no blanks
    for name, vector in zip(names, vectors.tolist(), strict=True):
        if kind == "T":
            yield name, b" [" + line + b" ".join(b"%g" % v for v in vector) + b" ]\n"
        else:
            numbers = np.array(vector, {"F": "<f4", "D": "<f8"}[kind]).tobytes()
            yield name, f"\0B{kind}{'M' if as_matrix else 'V'} ".encode() + sizes + numbers


def in_archive(rng: random.Random) -> Files:
    entries = archived_vectors(rng)
    return {"v.ark": b"".join(f"{name} ".encode() + data for name, data in entries)}


def expected_archive(folder: Path) -> list[tuple]:
    return slow.embeddings(*slow.archive_of((folder / "v.ark").read_bytes()))


def in_list(rng: random.Random) -> Files:
    """A list of the places of vectors in an archive: behind their names, or rows of one matrix."""
    if rng.random() < 0.5:
        content, lines = b"", []
        for name, data in archived_vectors(rng):
            content += f"{name} ".encode()
            lines.append(f"{name} v.ark:{len(content)}")
            content += data
    else:
        vectors, subjects = vectors_and_subjects(rng)
        sizes = b"".join(b"\4" + n.to_bytes(4, "little") for n in vectors.shape)
        content = b"all \0BFM " + sizes + vectors.astype("<f4").tobytes()
        columns = rng.choice(["", "", ",0:1", ",:"])
        names = ["".join(name.split()) for name in subjects]
        lines = [f"{name} v.ark:4[{k}:{k}{columns}]" for k, name in enumerate(names)]
    rng.shuffle(lines)
    return {"v.ark": content, "v.scp": "".join(line + "\n" for line in lines).encode()}


def expected_list(folder: Path) -> list[tuple]:
    archive = folder / "v.ark"
    return slow.embeddings(*slow.list_of((folder / "v.scp").read_bytes(), archive.read_bytes()))


def in_npz_of_each(rng: random.Random) -> Files:
    """An array for each vector, by its name; some have one row or one column."""
    vectors, subjects = vectors_and_subjects(rng)
    shape = rng.choice([(3,), (3,), (1, 3), (3, 1)])
    names = [f"{who}_{k}" for k, who in enumerate(subjects)]
    arrays = {name: vector.reshape(shape) for name, vector in zip(names, vectors, strict=True)}
    return {"v.npz": archived(rng, **arrays)}


def expected_npz_of_each(folder: Path) -> list[tuple]:
    return slow.embeddings_of_each(*slow.vectors_of_members(folder / "v.npz"))


def in_tensors_of_each(rng: random.Random) -> Files:
    """A tensor for each vector, by its name."""
    vectors, subjects = vectors_and_subjects(rng)
    vectors = vectors.astype(vectors.dtype.newbyteorder("<"))
    kind = {"f": "F", "i": "I"}[vectors.dtype.kind] + str(8 * vectors.itemsize)
    size = vectors[0].nbytes
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    for k, who in enumerate(subjects):
        place = [k * size, (k + 1) * size]
        header[f"{who}_{k}"] = {"dtype": kind, "shape": [3], "data_offsets": place}
    text = json.dumps(header).encode()
    return {"v.safetensors": len(text).to_bytes(8, "little") + text + vectors.tobytes()}


def expected_tensors_of_each(folder: Path) -> list[tuple]:
    tensors = slow.tensors_of((folder / "v.safetensors").read_bytes())
    return slow.embeddings_of_each(*slow.stacked(list(tensors), list(tensors.values())))


def in_tensors(rng: random.Random) -> Files:
    """Vectors as safetensors writes them for PyTorch, with a number for each subject."""
    vectors, _ = vectors_and_subjects(rng)
    vectors = vectors.astype(vectors.dtype.newbyteorder("<"))
    subject = np.arange(len(vectors), dtype="<i8") % (len(vectors) // 2)
    name = {"f": "F", "i": "I"}[vectors.dtype.kind] + str(8 * vectors.itemsize)
    ends = [vectors.nbytes, vectors.nbytes + subject.nbytes]
    header = {
        "__metadata__": {"format": "pt"},
        "vectors": {"dtype": name, "shape": [*vectors.shape], "data_offsets": [0, ends[0]]},
        "subject": {"dtype": "I64", "shape": [*subject.shape], "data_offsets": ends},
    }
    text = json.dumps(header).encode()
    length = len(text).to_bytes(8, "little")
    return {"v.safetensors": length + text + vectors.tobytes() + subject.tobytes()}


def expected_tensors(folder: Path) -> list[tuple]:
    tensors = slow.tensors_of((folder / "v.safetensors").read_bytes())
    slow.sure({"vectors", "subject"} <= set(tensors) and tensors["subject"].ndim == 1)
    who = [slow.Plain(n) for n in tensors["subject"].tolist()]
    return slow.embeddings(tensors["vectors"], who)


def in_json_vectors(rng: random.Random) -> Files:
    vectors, subjects = vectors_and_subjects(rng)
    rows = [{"subject": s, "vectors": v} for s, v in zip(subjects, vectors.tolist(), strict=True)]
    text = json.dumps(rows) if rng.random() < 0.5 else "\n".join(map(json.dumps, rows))
    return {"v.json": text.encode()}


def expected_json(folder: Path) -> list[tuple]:
    try:
        text = (folder / "v.json").read_bytes().decode("utf-8-sig")
        try:
            rows = json.loads(text)
        except ValueError:
            rows = [json.loads(line) for line in text.split("\n") if line.strip()]
        vectors = np.array([row["vectors"] for row in rows], float)
        who = [row["subject"] for row in rows]
    except (LookupError, RecursionError, TypeError, ValueError) as error:
        raise slow.UnclearError from error
    slow.sure(all(isinstance(name, str) for name in who))
    return slow.embeddings(vectors, [slow.Plain(name) for name in who])


def in_npy_and_table(rng: random.Random) -> Files:
    vectors, subjects = vectors_and_subjects(rng)
    rows = [["image", "subject"]] + [[f"i{k}", s] for k, s in enumerate(subjects)]
    return {"v.npy": written(np.save, vectors), "who.csv": delimited(rows, ",")}


def in_parquet_vectors(rng: random.Random) -> Files:
    vectors, subjects = vectors_and_subjects(rng)
    frame = pl.DataFrame({"vectors": vectors.astype("=f4").tolist(), "subject": subjects})
    return {"v.parquet": written(frame.write_parquet)}


def in_hdf5(rng: random.Random) -> Files:
    import h5py

    vectors, subjects = vectors_and_subjects(rng)
    file = io.BytesIO()
    with h5py.File(file, "w", libver=rng.choice(["earliest", "latest"])) as made:
        made.create_dataset(
            "vectors", data=vectors, **rng.choice([{}, {"chunks": (2, 3), "compression": "gzip"}])
        )
        made["subject"] = subjects
    return {"v.h5": file.getvalue()}


def in_log(rng: random.Random, suffix: str) -> Files:
    """Write lists of candidates with their ranks, and tables of searches and of the gallery."""
    who = people(rng)
    enrolled = who[: rng.randint(1, len(who))]
    columns = ["search", "candidate", "score", "rank"]
    rows: list[list[Any]] = []
    searches = [["search", "probe"]]
    for k in range(rng.randint(1, 5)):
        searches.append([f"s{k}", rng.choice(who)])
        listed = rng.sample(enrolled, rng.randint(0, len(enrolled)))
        scores = sorted((round(rng.uniform(-2, 2), 2) for _ in listed), reverse=True)
        rows += [
            [f"s{k}", other, score, rank]
            for rank, (other, score) in enumerate(zip(listed, scores, strict=True), 1)
        ] or [[f"s{k}", "", "", ""]]
    if not any(row[1] for row in rows):
        rows[0] = ["s0", enrolled[0], 0.5, 1]
    if rng.random() < 0.3:
        rng.shuffle(rows)
    files = {
        "who.csv": top(rng) + delimited(searches, ","),
        "gallery.csv": delimited([["person", "site"], *([name, "x"] for name in enrolled)], ","),
    }
    if suffix == "csv":
        texts = [columns, *([str(field) for field in row] for row in rows)]
        return files | {"log.csv": top(rng) + delimited(texts, ",")}
    filled = [row for row in rows if row[1]]
    frame = pl.DataFrame(dict(zip(columns, zip(*filled, strict=True), strict=True)))
    return files | {"log.parquet": written(frame.write_parquet)}


def log_case(suffix: str, share: int) -> Case:
    """Searches of a log, whose lists are as long as the longest."""
    tables = "who.csv", "gallery.csv"

    def read(folder: Path) -> ff.Searches:
        searches, enrolled = (folder / name for name in tables)
        log = folder / f"log.{suffix}"
        return ff.read_searches(log, searches=searches, enrolled=enrolled)

    def expected(folder: Path) -> list[tuple]:
        return slow.searches(folder / f"log.{suffix}", *(folder / name for name in tables))

    return Case(partial(in_log, suffix=suffix), read, expected, share)


def in_sidekit(rng: random.Random) -> Files:
    """Scores of models and segments, as sidekit writes them; two models are of one person."""
    import h5py

    models = [f"s{k % 3}-{k}m" for k in range(rng.randint(2, 4))]
    segments = [f"s{k % 3}-{k}t" for k in range(rng.randint(2, 5))]
    shape = (len(models), len(segments))
    scores = np.array([rng.randint(-9, 9) / 4 for _ in range(math.prod(shape))], "f4")
    mask = np.array([rng.random() < 0.8 for _ in scores], "i1")
    file = io.BytesIO()
    with h5py.File(file, "w", libver=rng.choice(["earliest", "latest"])) as made:
        for name, names in (("modelset", models), ("segset", segments)):
            made.create_dataset(name, data=np.array(names, "S"), compression="gzip")
        for name, matrix in (("score_mask", mask), ("scores", scores)):
            made.create_dataset(name, data=matrix.reshape(shape), compression="gzip")
    return {"s.h5": file.getvalue()}


def expected_sidekit(folder: Path) -> list[tuple]:
    import h5py

    with h5py.File(folder / "s.h5") as file:
        models, segments = (
            [name.decode() for name in file[name][...].tolist()] for name in ("modelset", "segset")
        )
        mask, scores = (file[name][...].tolist() for name in ("score_mask", "scores"))
    slow.sure(len({*models}) == len(models) and len({*segments}) == len(segments))
    slow.sure(all("-" in name[1:] for name in (*models, *segments)))
    chosen = [
        (float(scores[i][j]), models[i].partition("-")[0], segments[j].partition("-")[0])
        for i in range(len(models))
        for j in range(len(segments))
        if mask[i][j]
    ]
    values, *sides = ([*column] for column in zip(*chosen, strict=True))
    return slow.comparisons(values, None, *sides)


def in_counts(rng: random.Random) -> Files:
    rows = [["failures", "attempts", "sex"]]
    for _ in range(rng.randint(2, 8)):
        attempts = rng.randint(1, 9)
        rows.append([str(rng.randint(0, attempts)), str(attempts), rng.choice("fm")])
    return {"f.csv": top(rng) + delimited(rows, ",")}


def in_map(rng: random.Random) -> Files:
    """Write a map of Kaldi, from people to their gender."""
    who = [name for name in words(rng) if not name.startswith("#")]
    scores = [["score", "reference", "probe"]] + [[s, a, b] for a, b, s in pairs(rng, who)]
    return {
        "scores.csv": delimited(scores, ","),
        "spk2gender": in_fields([(name, rng.choice("fm")) for name in who], rng),
    }


def expected_map(folder: Path) -> list[tuple]:
    rows = slow.rows_by_blanks(folder / "spk2gender")
    slow.sure(all(len(row) == 2 for row in rows))
    return slow.labelled(folder / "scores.csv", [row[0] for row in rows], [row[1] for row in rows])


def in_quality(rng: random.Random) -> Files:
    """Write scores of images, and their quality as OFIQ and NFIQ 2 do."""
    names = [f"{who}/{k}" for who in words(rng)[-4:] for k in (1, 2)]
    chosen = [(names[0], names[1]), (names[0], names[2])]
    chosen += [tuple(rng.sample(names, 2)) for _ in range(rng.randint(0, 4))]
    scores = [["score", "reference", "probe"], *([f"{rng.random():.3f}", *p] for p in chosen)]
    if rng.random() < 0.5:
        by, header = ";", ["Filename", "Q", "Q.scalar"]
        rows = [[name, f"{rng.random():.4f}", str(rng.randint(0, 100))] for name in names]
    else:
        by, header = ",", ["Filename", "Q.scalar", "OptionalError"]
        rows = [[name, str(rng.randint(0, 100)), "NA"] for name in names]
    if rng.random() < 0.1:  # a sample that failed
        rows[0][header.index("Q.scalar")] = "-1"
    table = delimited([header, *rows], by)
    return {"scores.csv": delimited(scores, ","), "q.csv": table}


def read_quality(folder: Path) -> list[tuple]:
    layout = ff.Layout(quality="Q.scalar", quality_table=folder / "q.csv")
    policies = ff.Policies(self_comparisons="keep")
    pattern = "^([^/]+)/"
    c = ff.read_comparisons(
        folder / "scores.csv", subject_pattern=pattern, layout=layout, policies=policies
    )
    return list(zip(*(side.tolist() for side in c.quality), strict=True))


def in_metadata(rng: random.Random, suffix: str) -> Files:
    who = people(rng)
    scores = [["score", "reference", "probe"]] + [[s, a, b] for a, b, s in pairs(rng, who)]
    sexes = [rng.choice(["f", "m"]) for _ in who]
    if suffix == "parquet":
        table = written(pl.DataFrame({"id": who, "sex": sexes}).write_parquet)
    else:
        rows = [["id", "sex"], *map(list, zip(who, sexes, strict=True))]
        table = top(rng) + delimited(rows, SEPARATORS[suffix])
    return {"scores.csv": delimited(scores, ","), f"who.{suffix}": table}


def expected_metadata(folder: Path, suffix: str) -> list[tuple]:
    sex = slow.metadata(folder / f"who.{suffix}", SEPARATORS[suffix])
    return slow.labelled(folder / "scores.csv", list(sex), list(sex.values()))


def expected_table(folder: Path) -> list[tuple]:
    subjects = slow.named(folder / "who.csv", ",", ["subject"])["subject"]
    return slow.embeddings(slow.array_of((folder / "v.npy").read_bytes()), subjects)


def expected_npz(folder: Path) -> list[tuple]:
    subjects = slow.member_of(folder / "v.npz", "subject")
    slow.sure(subjects.ndim == 1 and subjects.dtype.kind == "U")
    try:
        texts = subjects.tolist()
    except Exception as error:
        raise slow.UnclearError from error
    return slow.embeddings(
        slow.member_of(folder / "v.npz", "vectors"), [slow.Plain(t) for t in texts]
    )


def expected_parquet_vectors(folder: Path) -> list[tuple]:
    try:
        frame = pl.read_parquet(folder / "v.parquet")
        vectors = np.array(frame["vectors"].to_list())
        subjects = frame["subject"].to_list()
    except BaseException as error:
        raise slow.UnclearError from error
    slow.sure(all(isinstance(s, str) for s in subjects))
    return slow.embeddings(vectors, [slow.Plain(t) for t in subjects])


def expected_hdf5(folder: Path) -> list[tuple]:
    import h5py

    with h5py.File(folder / "v.h5") as file:
        subjects = [
            slow.Plain(t.decode() if isinstance(t, bytes) else t)
            for t in file["subject"][...].tolist()
        ]
        return slow.embeddings(file["vectors"][...], subjects)


def scores_read(name: str, **options: Any) -> Callable[[Path], Any]:
    def read(folder: Path) -> Any:
        files = {
            key: folder / value for key, value in options.items() if key in ("trials", "metadata")
        }
        return flat.read_comparisons(folder / name, **options | files)

    return read


def scores_case(
    name: str,
    make: Callable[..., Files],
    expected: Callable[..., list[tuple]],
    share: int = 4,
    **options: Any,
) -> Case:
    """Scores of a file, which the slow reader reads, too."""
    return Case(make, scores_read(name, **options), lambda f: expected(f / name), share)


def csv_case(
    name: str, separator: str, share: int, with_flags: bool = True, **options: Any
) -> Case:
    make = partial(in_csv, name=name, separator=separator, mated=with_flags)
    named = NAMED if with_flags else SUBJECTS
    expected = partial(slow.of_named, separator=separator, with_flags=with_flags)
    return scores_case(name, make, expected, share, **named, **options)


def bob_case(n: int, **options: Any) -> Case:
    return scores_case("s.txt", partial(in_bob, n=n), partial(slow.of_bob, n=n), 8, **options)


def trials_case(kind: str, way: str, auto: bool) -> Case:
    options = {"format": "auto" if auto else kind}
    make, expected = partial(in_trials, kind=kind, way=way), partial(slow.of_trials, kind=kind)
    if way == "joined":
        return scores_case("t.txt", make, partial(expected, trials=None), **options)
    read = scores_read("s.txt", trials="t.txt", **options)
    return Case(make, read, lambda f: expected(f / "s.txt", trials=f / "t.txt"))


def metadata_case(suffix: str) -> Case:
    read = scores_read("scores.csv", metadata=f"who.{suffix}", metadata_id="id", groups="sex")
    return Case(partial(in_metadata, suffix=suffix), read, lambda f: expected_metadata(f, suffix))


def vectors_case(
    name: str,
    make: Callable[..., Files],
    expected: Callable[..., list[tuple]],
    share: int = 4,
    **options: Any,
) -> Case:
    return Case(make, lambda f: ff.read_embeddings(f / name, **options), expected, share)


SUBJECTS = {"reference": "reference", "probe": "probe", "groups": "sex"}
BY_NAME = {"subject": "name", "subject_pattern": "^([^_]+)_"}
NAMED = SUBJECTS | {"mated": "mated"}
CASES = {
    "csv": csv_case("s.csv", ",", 12),
    "csv, stated": csv_case("s.csv", ",", 8, format="csv"),
    "csv without flags": csv_case("s.csv", ",", 8, with_flags=False, format="csv"),
    "csv by semicolons": csv_case("s.csv", ";", 6),
    "tsv": csv_case("s.tsv", "\t", 8),
    "csv.gz": csv_case("s.csv.gz", ",", 4),
    "parquet": scores_case("s.parquet", in_parquet, slow.of_parquet, 8, **NAMED),
    "jsonl": scores_case("s.jsonl", in_json, slow.of_json, 4, **NAMED),
    "bob-4": bob_case(4),
    "bob-5": bob_case(5, format="bob-5"),
    "bob-csv": scores_case("s.csv", in_bob_csv, slow.of_bob_csv),
    "voxceleb, joined": trials_case("voxceleb", "joined", False),
    "voxceleb, in order": trials_case("voxceleb", "order", True),
    "voxceleb, by names": trials_case("voxceleb", "names", False),
    "kaldi, in order": trials_case("kaldi", "order", False),
    "kaldi, by names": trials_case("kaldi", "names", True),
    "matrix npy": scores_case(
        "m.npy",
        lambda rng: {"m.npy": written(np.save, square(rng))},
        lambda path: slow.of_array(slow.array_of(path.read_bytes())),
        8,
    ),
    "matrix npz": scores_case(
        "m.npz",
        lambda rng: {"m.npz": archived(rng, a=square(rng))},
        lambda path: slow.of_array(slow.member_of(path, "a")),
        8,
        score="a",
    ),
    "matrix text": scores_case(
        "m.txt", partial(in_text_matrix, with_names=False), slow.of_text_matrix, 8, format="matrix"
    ),
    "named matrix text": scores_case(
        "m.txt", partial(in_text_matrix, with_names=True), slow.of_text_matrix, 8, format="matrix"
    ),
    "key": Case(
        in_key,
        scores_read("s.tsv", trials="k.tsv"),
        lambda f: slow.of_key(f / "s.tsv", f / "k.tsv"),
        8,
    ),
    "embeddings wide": vectors_case(
        "v.csv", in_wide_vectors, lambda f: slow.of_wide_vectors(f / "v.csv"), 8
    ),
    "embeddings npz": vectors_case("v.npz", in_npz_vectors, expected_npz),
    "embeddings npy": Case(
        in_npy_and_table,
        lambda f: ff.read_embeddings(f / "v.npy", samples=f / "who.csv"),
        expected_table,
    ),
    "embeddings parquet": vectors_case("v.parquet", in_parquet_vectors, expected_parquet_vectors),
    "embeddings hdf5": vectors_case("v.h5", in_hdf5, expected_hdf5, 2),
    "embeddings kaldi": vectors_case("v.ark", in_archive, expected_archive, subject="name"),
    "embeddings scp": vectors_case("v.scp", in_list, expected_list, 8, subject="name"),
    "embeddings npz, each": vectors_case("v.npz", in_npz_of_each, expected_npz_of_each, **BY_NAME),
    "embeddings safetensors": vectors_case("v.safetensors", in_tensors, expected_tensors),
    "embeddings safetensors, each": vectors_case(
        "v.safetensors", in_tensors_of_each, expected_tensors_of_each, **BY_NAME
    ),
    "embeddings json": vectors_case("v.json", in_json_vectors, expected_json),
    "sidekit": Case(
        in_sidekit,
        scores_read("s.h5", subject_pattern="^([^-]+)-"),
        expected_sidekit,
        2,
    ),
    "metadata csv": metadata_case("csv"),
    "metadata tsv": metadata_case("tsv"),
    "metadata parquet": metadata_case("parquet"),
    "metadata of kaldi": Case(
        in_map,
        scores_read("scores.csv", metadata="spk2gender", groups="gender"),
        expected_map,
    ),
    "quality": Case(
        in_quality, read_quality, lambda f: slow.qualities(f / "scores.csv", f / "q.csv"), 8
    ),
    "searches csv": log_case("csv", 12),
    "searches parquet": log_case("parquet", 4),
    "failure counts": Case(
        in_counts,
        lambda f: ff.read_failure_counts(f / "f.csv", groups="sex"),
        lambda f: slow.counts(f / "f.csv", ","),
        6,
    ),
}

MARKS = (b",", b" ", b"\t", b";")  # between fields
BITS = [
    *b"# \" ' , ;".split(),
    *(b"\t", b" ", b"  ", b"\n", b"\r", b"\r\n"),
    *b"\0 \xff \xc3 \xef\xbb\xbf \xe2\x80\x83 \x85".split(),
    *(b"\x0b", b"\x1c"),
    *b"- = @ 1 0 e . _ nan NaN <NA>".split(),
    b"",
]
NUMBERS = [
    *b"nan NaN inf -inf Infinity 1e400 -1e400 1e308 1e-400 0x10 1_000 1,5".split(),
    *b"9007199254740993 9007199254740992 9007199254740994 18446744073709551617".split(),
    *(b"1" * 50, b"1" * 5000, b"", b" "),
    *b"- +1 1. .5 -0 1e 1d5 \xd9\xa1".split(),
    b"1 2",
    *b"True 0.1f 00012 NA NULL #N/A -- -3.4028235e+38".split(),
]
REPLACED = {
    b"\n": (b"\r", b"\r\n", b" \n", b"\n\n", b"\n "),
    b",": (b", ", b";", b" ,"),
    b" ": (b"\t",),
}
REPLACEMENTS = [(old, new) for old, others in REPLACED.items() for new in others]


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Change something somewhere."""
    place = rng.randrange(len(data) + 1)
    kind = rng.randrange(16)
    if kind == 0:
        return data[:place]
    if kind in (1, 2) and data:
        place = rng.randrange(len(data))
        other = data[place] ^ 1 << rng.randrange(8) if kind == 1 else rng.randrange(256)
        return data[:place] + bytes([other]) + data[place + 1 :]
    if kind in (3, 4):
        return data[:place] + rng.choice(BITS) + data[place:]
    if kind == 5:
        return data[:place] + data[place + rng.randint(1, 8) :]
    if kind == 6:
        end = place + rng.randint(1, 40)
        return data[:end] + data[place:]
    if kind == 7:
        return data.replace(*rng.choice(REPLACEMENTS))
    if kind == 8:
        with contextlib.suppress(UnicodeError):
            return data.decode().encode(
                rng.choice(["utf-16", "latin-1", "utf-8-sig", "utf-16-le", "utf-32"])
            )
    lines = data.split(b"\n")
    here, there = rng.randrange(len(lines)), rng.randrange(len(lines))
    if kind == 9:
        lines.insert(there, lines[here])
    elif kind == 10:
        del lines[here]
    elif kind == 11:
        lines[here], lines[there] = lines[there], lines[here]
    elif kind == 12:
        lines.insert(
            here, rng.choice([b"", b"  ", b"# comment", b"#", b"\t", b'"', b"#a\rb", b",,,"])
        )
    else:
        mark = rng.choice(MARKS)
        fields = lines[here].split(mark)
        if kind in (13, 14):  # another number, or a label or name that occurs elsewhere
            other = rng.choice([*NUMBERS, *lines[there].split(mark)] if kind == 13 else fields)
            fields[rng.randrange(len(fields))] = other
        else:
            k = rng.randrange(len(fields))
            fields[k] = (
                rng.choice([b" %s", b"%s ", b'"%s"', b"#%s", b"'%s", b"\xc2\xa0%s", b"%s\r"])
                % fields[k]
            )
        lines[here] = mark.join(fields)
    return b"\n".join(lines)


@contextlib.contextmanager
def limited() -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise Hang

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def files_of(seed: int) -> tuple[str, Files]:
    """Return the kind and the damaged files of a seed; one in twenty is left whole."""
    rng = random.Random(seed)
    names = list(CASES)
    name = rng.choices(names, [CASES[n].share for n in names])[0]
    files = CASES[name].make(rng)
    if rng.random() >= 0.05:
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            target = rng.choice(list(files))
            if target.endswith(".gz") and rng.random() < 0.5:
                with contextlib.suppress(Exception):
                    files[target] = gzip.compress(
                        damaged(gzip.decompress(files[target]), rng), mtime=0
                    )
            else:
                files[target] = damaged(files[target], rng)
    return name, files


def outcome(seed: int, folder: Path, show: bool = False) -> tuple[str, str]:
    """Read the files of a seed, and return what came of it and how it is told."""
    name, files = files_of(seed)
    for file, data in files.items():
        (folder / file).write_bytes(data)
        if show:
            print(f"{file}: {data!r}")
    try:
        with limited(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = CASES[name].read(folder)
    except FastfairError as error:
        return "refused", f"{name}: {type(error).__name__}: {error}"
    except Hang:
        return "hangs", f"{name}: {traceback.format_exc(limit=-3)}"
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        return (
            "foreign",
            (
                f"{name}: {type(error).__name__}: {error}"
                f" {traceback.format_exc(limit=-3) if show else ''}"
            ),
        )
    rows = rows_of(found)
    try:
        expected = CASES[name].expected(folder)
    except slow.UnclearError:
        return "wrong", f"{name}: cannot be told, but was read as {found!r}: {rows}"
    if not isinstance(found, ff.Embeddings | ff.Searches):
        rows, expected = sorted(rows), sorted(expected)
    return ("equal", name) if rows == expected else ("wrong", f"{name}: {rows} is not {expected}")


def work(start: int, stop: int) -> None:
    """Read the files of some seeds, and print a line for each that is bad, and the counts at the
    end."""
    counts: collections.Counter[str] = collections.Counter()
    ff.eer(ff.Comparisons([0.1, 0.2], [0, 1]))  # loads what is slow to load
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(start, stop):
            faulthandler.dump_traceback_later(8 * SECONDS, exit=True)
            print(json.dumps({"seed": seed}), flush=True)
            kind, told = outcome(seed, Path(folder))
            counts[kind] += 1
            if kind in BAD:
                print(json.dumps({"seed": seed, "kind": kind, "told": told[:600]}), flush=True)
    print(json.dumps({"counts": counts}), flush=True)


def told_by_process(start: int, stop: int) -> tuple[int, list[dict[str, Any]]]:
    """Read the files of some seeds in another process, and return how it ended and what it said."""
    command = [sys.executable, __file__, "--work", str(start), str(stop)]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False
    )
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def run(number: int, first: int) -> collections.Counter[str]:
    """Read that many damaged files in processes of their own, and print what is bad."""
    counts: collections.Counter[str] = collections.Counter()
    start, stop = first, first + number
    while start < stop:
        end = min(start + BATCH, stop)
        code, told = told_by_process(start, end)
        for line in told:
            if "kind" in line:
                print(f"seed {line['seed']}: {line['kind']}: {line['told']}", flush=True)
        if told and "counts" in told[-1]:
            counts.update(told[-1]["counts"])
            start = end
        else:  # it crashed or hung in a library: what it had counted is counted again, up to there
            last = max((line["seed"] for line in told), default=start)
            if last > start:
                counts.update(told_by_process(start, last)[1][-1].get("counts", {}))
            counts["hangs"] += 1
            print(f"seed {last}: hangs: the process ended with {code}", flush=True)
            start = last + 1
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--number", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int)
    parser.add_argument("--work", type=int, nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.work:
        work(*asked.work)
        return 0
    if asked.only is not None:
        with tempfile.TemporaryDirectory() as folder:
            print(*outcome(asked.only, Path(folder), show=True), sep="\n")
        return 0
    counts = run(asked.number, asked.seed)
    shown = ", ".join(f"{counts[kind]} {kind}" for kind in ("equal", "refused", *BAD))
    print(f"{sum(counts.values())} files: {shown}")
    return int(any(counts[kind] for kind in BAD))


if __name__ == "__main__":
    sys.exit(main())
