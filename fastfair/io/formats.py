"""Formats of score files: recognise them, and find the columns of scores, subjects, samples and groups."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastfair._lib import side_columns, validation
from fastfair.errors import FileFormatError, InputError

from .tables import SEPARATORS, Rows, Table
from .text_files import Text, fields_of, is_number, split

if TYPE_CHECKING:
    import polars as pl

# The fields of formats without named columns.
FIELDS = {
    "bob-4": "claimed real test score",
    "bob-5": "claimed model real test score",
    "voxceleb": "label enrol test score",
    "enrol-test-score-label": "enrol test score label",
    "enrol-test-label-score": "enrol test label score",
    "enrol-test-score": "enrol test score",
}
_FIELDS_OF_TRIALS = {"voxceleb": "label enrol test", "kaldi": "enrol test target"}
_MATRIX = {"matrix": "a score matrix"}
FORMATS = ("csv", "tsv", "parquet", "bob-csv", *FIELDS, "kaldi", "lfw", "matrix", "arrays")
_CANONICAL = ("score", "mated", "reference", "probe")
_SAMPLES = ("reference_sample", "probe_sample")
_BOB_SUBJECTS = (("bio_ref_subject_id", "probe_subject_id"), ("bio_ref_reference_id", "probe_reference_id"))
_BOB_ATTACKS = ("probe_attack_type", "attack_type")
_UNSCORED = (
    "is a trial list without scores: give the score file as path and this as trials=, or vectors to score it with as "
    "embeddings="
)
_HEAD = 2000  # rows that are looked at before all are


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
    attack: str | None = None
    kept: tuple[str, ...] = ()


def recognise_suffix(path: Path) -> str | None:
    """Recognise the format of a file by its name; None if its contents must be read to find it."""
    suffix = path.suffixes[-2] if path.suffix == ".gz" and len(path.suffixes) > 1 else path.suffix
    return {".parquet": "parquet"}.get(suffix)


def recognise(text: Text, trials: Text | None, mated_value: object = None, subject_pattern: str | None = None) -> str:
    """Recognise the format of a text file, or raise an error that names all that it may be.

    All rows are looked at. A reading that leaves no mated, or no non-mated, comparisons is none where there is another.
    """
    path, line = text.path, text.first
    if trials is not None:
        found = _readings_or_first(trials, _FIELDS_OF_TRIALS, mated_value)
        if len(found) == 1:
            return next(iter(found))
        raise FileFormatError(
            f"{trials.path} {_may_be(found) or 'is no trial list'}: its first line is {trials.first[:120]!r}, but "
            "'label enrol test' (VoxCeleb) or 'enrol test target' (Kaldi) is expected"
        )
    separator = next((s for s in SEPARATORS if s in line), None)
    if separator is not None and not is_number(line.split(separator)[-1]) and not _is_list(text, mated_value):
        return _with_named_columns(line, separator)
    fields = line.split(separator)
    numeric = all(map(is_number, fields))
    if numeric and len(fields) > 5:
        return "matrix"
    if separator in (",", ";") and not numeric:
        raise FileFormatError(f"{path}: the first line names no columns: {line[:120]!r}; give the file such a line")
    if len(fields) == 1 and numeric:
        raise FileFormatError(f"{path} has nothing but scores: give the trial list as trials=")
    found = _readings_or_first(text, FIELDS | _MATRIX, mated_value)
    if subject_pattern is None and len(found) == 1 and "enrol-test-score" in found:
        raise FileFormatError(
            f"{path} has scores but nothing says which are mated: give the trial list as trials=, or say how to find "
            "the subjects in its names with subject_pattern="
        )
    if len(found) == 1:
        return next(iter(found))
    if not found and len(fields) == 3 and _readings(text, _FIELDS_OF_TRIALS, mated_value):
        raise FileFormatError(f"{path} {_UNSCORED}")
    if not found and len(fields) == 3 and is_number(fields[0]):
        raise FileFormatError(f"{path} has scores but nothing says which are mated: give the trial list as trials=")
    raise FileFormatError(
        f"{path} {_may_be(found) or 'is of no known format'}; its first line is {line[:120]!r}; say which with format= "
        f"(one of {', '.join(FORMATS)})"
    )


def recognise_trials(text: Text, mated_value: object = None) -> str:
    """Recognise the format of a list of trials without scores, or raise an error that says what is ambiguous."""
    line = text.first
    if is_pairs_of_lfw(text):
        return "lfw"
    separator = next((s for s in SEPARATORS if s in line), None)
    found = _readings(text, _FIELDS_OF_TRIALS, mated_value) if separator in (None, "\t") else {}
    if separator is not None and not is_number(line.split(separator)[-1]):
        found[_with_named_columns(line, separator)] = "named columns"
    found = found or _readings_or_first(text, _FIELDS_OF_TRIALS, mated_value)
    if len(found) == 1:
        return next(iter(found))
    raise FileFormatError(
        f"{text.path} {_may_be(found) or 'is no list of trials that is known'}; its first line is "
        f"{line[:120]!r}: say which it is with format= (csv, tsv, voxceleb, kaldi or lfw)"
    )


def is_pairs_of_lfw(text: Text) -> bool:
    """Return whether a list begins as LFW's pairs.txt: with numbers of pairs, and then a name and two numbers."""
    second = text.data.split(b"\n", 2)[1:2]
    fields = fields_of(second[0].decode().strip()) if second else []
    return text.first.replace("\t", "").strip().isdigit() and len(fields) == 3 and all(map(str.isdigit, fields[1:]))


def _may_be(readings: dict[str, str]) -> str:
    return f"may be {' or '.join(f'{kind} ({what})' for kind, what in readings.items())}" if readings else ""


def _is_list(text: Text, mated_value: object) -> bool:
    """Return whether the first line, with fields that end in a word, is a row of a list and not a header."""
    try:
        return "\t" in text.first and len(_readings(text, FIELDS, mated_value)) > 0
    except FileFormatError:  # of rows with empty fields
        return False


def _readings(text: Text, known: dict[str, str], mated_value: object) -> dict[str, str]:
    """Return the formats, with their fields, that all rows may be read as."""
    n = len(fields_of(text.first))
    possible = {kind: what for kind, what in known.items() if kind == "matrix" or len(what.split()) == n}
    end = -1
    for _ in range(_HEAD):
        if (end := text.data.find(b"\n", end + 1)) < 0:
            break
    for size in (end + 1, len(text.data)) if end >= 0 else (len(text.data),):
        if len(possible) > 1 or size <= end + 1 or end < 0:
            rows, _ = split(replace(text, data=text.data[:size]), None)
            possible = {kind: what for kind, what in possible.items() if _fits(rows, kind, what, mated_value)}
    if len(possible) > 1:
        telling = {kind: what for kind, what in possible.items() if _has_both_classes(rows, kind, what)} or possible
        return {kind: what for kind, what in telling.items() if _has_label_words(rows, what)} or telling
    return possible


def _readings_or_first(text: Text, known: dict[str, str], mated_value: object) -> dict[str, str]:
    """Return the formats that all rows may be read as, or else those of the first row."""
    found = _readings(text, known, mated_value)
    return found or _readings(replace(text, data=text.first.encode()), known, mated_value)


def _has_label_words(rows: pl.DataFrame, fields: str) -> bool:
    """Return whether a reading has labels that are words, which nobody would be called by."""
    labels = [column for name, column in zip(fields.split(), rows, strict=False) if name in ("label", "target")]
    return any(not validation.mated_word(label[0]).lstrip("-").isdigit() for label in labels)


def _fits(rows: pl.DataFrame, kind: str, fields: str, mated_value: object) -> bool:
    if kind == "matrix":
        return all(map(_are_numbers, rows.get_columns()))
    are_labels = partial(_are_labels, mated_value)
    checks: dict[str, Callable[[pl.Series], bool]]
    checks = {"score": _are_numbers, "label": are_labels, "target": are_labels}
    return all(checks[name](column) for name, column in zip(fields.split(), rows, strict=True) if name in checks)


def _are_numbers(column: pl.Series) -> bool:
    import polars as pl

    return not column.cast(pl.Float64, strict=False).is_null().any()


def _are_labels(mated_value: object, column: pl.Series) -> bool:
    words = [validation.mated_word(word) for word in column.unique()[:3]]
    if mated_value is not None:
        return len(words) < 3 and (validation.mated_word(mated_value) in words or len(words) == 1)
    return validation.mated_pair(words) is not None


def _has_both_classes(rows: pl.DataFrame, kind: str, fields: str) -> bool:
    """Return whether a reading has mated and non-mated comparisons; of a matrix, whether it is square."""
    if kind == "matrix":
        return rows.height == rows.width
    columns = dict(zip(fields.split(), rows, strict=True))
    if "claimed" in columns:
        same = columns["claimed"] == columns["real"]
        return bool(same.any()) and not bool(same.all())
    label = columns.get("label", columns.get("target"))
    return label is None or label.n_unique() == 2


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
    kept: tuple[str, ...] = (),
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
    attack = None
    if kind == "bob-csv":
        attack = next((name for name in _BOB_ATTACKS if name in known), None)
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
    if attack is not None:
        roles["the attack"] = attack
    roles |= {f"keep {name!r}": name for name in kept}
    for role, name in roles.items():
        table.require(role, name)
        if name == score and role != "score" and not role.startswith("keep"):
            raise InputError(f"{table.place}: column {name!r} holds the scores, so it cannot be that of {role} as well")
    numbers = [*([] if score is None else [score]), *dict.fromkeys(of_quality or ())]
    frame = table.columns(list(roles.values()), numbers=numbers)
    return ScoreTable(
        table.place, frame, **chosen, attributes=attributes, told=told, quality=of_quality, lines=table.lines,
        first=table.first, attack=attack, kept=kept,
    )  # fmt: skip


def _roles_of_sides(attributes: dict[str, tuple[str, str]]) -> dict[str, str]:
    """Return the column of each attribute on each side, by its description for messages."""
    return {
        f"the {side}'s attribute {name!r}": column
        for name, pair in attributes.items()
        for side, column in zip(("reference", "probe"), pair, strict=True)
    }
