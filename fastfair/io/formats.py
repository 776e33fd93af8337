"""Formats of score files: recognise them, and find the columns of scores, subjects, samples and groups."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastfair._lib import side_columns
from fastfair.errors import FileFormatError, InputError

from .tables import SEPARATORS, Rows, Table
from .text_files import Text, is_number

if TYPE_CHECKING:
    import polars as pl

FORMATS = ("csv", "tsv", "parquet", "bob-4", "bob-5", "bob-csv", "voxceleb", "kaldi", "matrix", "arrays")
_CANONICAL = ("score", "mated", "reference", "probe")
_SAMPLES = ("reference_sample", "probe_sample")
_BOB_SUBJECTS = (("bio_ref_subject_id", "probe_subject_id"), ("bio_ref_reference_id", "probe_reference_id"))
_LABEL_WORDS = {"nontarget": False, "target": True, "impostor": False, "imposter": False, "genuine": True}
_UNSCORED = (
    "is a trial list without scores: give the score file as path and this as trials=, or vectors to score it with as "
    "embeddings="
)
LABELS = {"0": False, "1": True, **_LABEL_WORDS}


@dataclass
class ScoreTable(Rows):
    """Columns of a score file or trial list, and the line of the file that each row comes from."""

    frame: pl.DataFrame
    score: str | None
    mated: str | None
    reference: str | None
    probe: str | None
    subject_pattern: str | None = None
    attributes: dict[str, tuple[str, str]] = field(default_factory=dict)
    samples: tuple[str, str] | None = None
    told: dict[str, tuple[str, str]] = field(default_factory=dict)
    quality: tuple[str, str] | None = None


def recognise_suffix(path: Path) -> str | None:
    """Recognise the format of a file by its name; None if its contents must be read to find it."""
    suffix = path.suffixes[-2] if path.suffix == ".gz" and len(path.suffixes) > 1 else path.suffix
    return {".parquet": "parquet"}.get(suffix)


def recognise(text: Text, trials: Text | None) -> str:
    """Recognise the format of a text file, or raise an error that says what is ambiguous about it."""
    path, line = text.path, text.first
    if trials is not None:
        first = trials.first.split()
        if len(first) == 3 and first[0] in ("0", "1"):
            return "voxceleb"
        if len(first) == 3 and first[2].lower() in LABELS:
            return "kaldi"
        raise FileFormatError(
            f"{trials.path} is no trial list: its first line is {' '.join(first)!r}, but 'label enrol test' (VoxCeleb) "
            "or 'enrol test target' (Kaldi) is expected"
        )
    separator = next((s for s in SEPARATORS if s in line), None)
    if separator is not None and not is_number(line.split(separator)[-1]):
        return _with_named_columns(line, separator)
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
            raise FileFormatError(f"{path} {_UNSCORED}")
        raise FileFormatError(f"{path} has scores but nothing says which are mated: give the trial list as trials=")
    if len(fields) == 1 and is_number(fields[0]):
        raise FileFormatError(f"{path} has nothing but scores: give the trial list as trials=")
    if len(fields) == 3 and fields[2].lower() in LABELS:
        raise FileFormatError(f"{path} {_UNSCORED}")
    raise FileFormatError(f"{path} is of no known format; its first line is {line[:120]!r}{ask}")


def recognise_trials(text: Text) -> str:
    """Recognise the format of a list of trials without scores, or raise an error that says what is ambiguous."""
    line = text.first
    fields = line.split()
    separator = next((s for s in SEPARATORS if s in line), None)
    candidates = {}
    if len(fields) == 3 and fields[0] in ("0", "1"):
        candidates["voxceleb"] = "label enrol test"
    elif len(fields) == 3 and fields[2].lower() in LABELS:
        candidates["kaldi"] = "enrol test target"
    if separator is not None and not is_number(line.split(separator)[-1]):
        candidates[_with_named_columns(line, separator)] = "named columns"
    if len(candidates) == 1:
        return next(iter(candidates))
    may_be = " or ".join(f"{kind} ({what})" for kind, what in candidates.items())
    raise FileFormatError(
        f"{text.path} {f'may be {may_be}' if may_be else 'is no list of trials that is known'}; its first line is "
        f"{line[:120]!r}: say which it is with format= (csv, tsv, voxceleb or kaldi)"
    )


def _with_named_columns(header: str, separator: str) -> str:
    names = [name.strip().strip('"') for name in header.split(separator)]
    if any(n.startswith("bio_ref_") for n in names) and any(n.startswith("probe_") for n in names):
        return "bob-csv"
    return "tsv" if separator == "\t" else "csv"


def choose(
    table: Table,
    kind: str,
    names: dict[str, str | None],
    groups: list[Any],
    of_metadata: list[str],
    *,
    scored: bool = True,
    quality: str | tuple[str, str] | None = None,
) -> ScoreTable:
    """Choose and read columns: those named in arguments, those with fastfair's own names, and those with attributes
    of the metadata, which are compared with it. A list of trials that is not `scored` needs no scores.
    """
    known = table.names
    columns = f"its columns are {', '.join(known)}"
    chosen: dict[str, Any] = dict(names)
    for role, name in names.items():
        if name is not None:
            table.require(role, name)
    if kind == "bob-csv":
        pair = next((p for p in _BOB_SUBJECTS if set(p) <= set(known)), None)
        if pair is None:
            raise FileFormatError(f"{table.place} is not bob's CSV: it has none of {' and '.join(_BOB_SUBJECTS[0])}")
        chosen["reference"], chosen["probe"] = names["reference"] or pair[0], names["probe"] or pair[1]
    for role in _CANONICAL if scored else _CANONICAL[1:]:
        if chosen[role] is None and role in known:
            chosen[role] = role
    score = chosen["score"]
    if score is None and scored:
        raise InputError(f"{table.place} has no column 'score': name the score column with score=; {columns}")
    if chosen["mated"] is None and (chosen["reference"] is None or chosen["probe"] is None):
        raise InputError(
            f"nothing says which comparisons are mated: name the column with mated=, or the subjects with reference= "
            f"and probe=; the columns of {table.place} are {', '.join(known)}"
        )
    attributes = side_columns.chosen(table.place, groups, known)
    if not groups and {"reference_group", "probe_group"} <= set(known):
        attributes = {"group": ("reference_group", "probe_group")}
    chosen["samples"] = _SAMPLES if set(_SAMPLES) <= set(known) and "sample" not in attributes else None
    roles = {role: chosen[role] for role in _CANONICAL if chosen[role] is not None}
    roles |= dict(zip(_SAMPLES, chosen["samples"] or (), strict=False))
    roles |= _roles_of_sides(attributes)
    told = {name: pair for name in of_metadata if (pair := side_columns.present(name, known)) is not None}
    told = {name: pair for name, pair in told.items() if score not in pair}
    roles |= _roles_of_sides(told)
    of_quality = None if quality is None else next(iter(side_columns.chosen(table.place, [quality], known).values()))
    roles |= {
        f"the {side}'s quality": name for side, name in zip(("reference", "probe"), of_quality or (), strict=False)
    }
    for role, name in roles.items():
        table.require(role, name)
        if name == score and role != "score":
            raise InputError(f"{table.place}: column {name!r} holds the scores, so it cannot be that of {role} as well")
    numbers = [*([] if score is None else [score]), *dict.fromkeys(of_quality or ())]
    frame = table.columns(list(roles.values()), numbers=numbers)
    return ScoreTable(
        table.place, frame, **chosen, attributes=attributes, told=told, quality=of_quality, lines=table.lines,
        first=table.first,
    )  # fmt: skip


def _roles_of_sides(attributes: dict[str, tuple[str, str]]) -> dict[str, str]:
    """Return the column of each attribute on each side, by its description for messages."""
    return {
        f"the {side}'s attribute {name!r}": column
        for name, pair in attributes.items()
        for side, column in zip(("reference", "probe"), pair, strict=True)
    }
