"""Open a score file, whatever its format, as a table of its columns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fastfair.errors import InputError

from . import array_columns, array_files, field_files, formats, reading, tables, text_files
from .how_to_read import HowToRead
from .text_files import Text


def opened(path: Path, how: HowToRead) -> tuple[str, Text | None, Text | None]:
    """Return the format, and the texts of the file and of the trial list, or None if they are not text."""
    kind = formats.recognise_suffix(path) if how.format == "auto" else how.format
    of_numpy = path.suffix in (".npy", ".npz")
    if how.format == "auto" and path.suffix == ".npz" and not how.scored:
        kind = "arrays"
    elif how.format == "auto" and of_numpy:
        kind = array_files.recognise(path, how.score)
    is_text = kind not in ("parquet", "arrays") and not (kind == "matrix" and of_numpy)
    text = replace(text_files.read(path), failures=how.failures.policy != "error") if is_text else None
    listed = None if how.trials is None else text_files.read(reading.check_file(how.trials))
    if kind is None and text is not None:
        kind = (
            formats.recognise(text, listed, how.mated_value, how.subject_pattern)
            if how.scored
            else formats.recognise_trials(text, how.mated_value)
        )
    if not how.scored and ((kind in ("matrix", *formats.FIELDS) and kind != "voxceleb") or path.suffix == ".npy"):
        raise InputError(f"{path} holds scores and no list of trials, so leave embeddings= out")
    return str(kind), text, listed


def read_table(path: Path, kind: str, texts: tuple[Text | None, Text | None], how: HowToRead) -> formats.ScoreTable:
    """Read the columns of a file of a format, from its text and that of its trial list where they are text."""
    (text, listed), names, groups_of = texts, how.names, how.groups_of
    if text is None or kind in ("csv", "tsv", "bob-csv"):
        if listed is not None:
            raise InputError(f"a {kind} file has its own labels: trials= goes with scores alone")
        if kind == "arrays":
            columns = array_columns.chosen(path, names, groups_of)
            return formats.choose(*columns, scored=how.scored, quality=how.quality, kept=how.keep)
        if text is None:
            return formats.choose(tables.of_parquet(path), kind, names, **groups_of)
        separator = "\t" if kind == "tsv" else ";" if ";" in text.first and "," not in text.first else ","
        return formats.choose(tables.of_text(text, separator), kind, names, **groups_of)
    named = [f"{role}=" for role, name in names.items() if name is not None]
    if named:
        raise InputError(f"a {kind} file has no named columns, so leave {' and '.join(named)} out")
    if groups_of["groups"]:
        raise InputError(
            f"a {kind} file has no columns of labels: give metadata= and metadata_id= for {groups_of['groups']}"
        )
    if how.keep:
        raise InputError(f"a {kind} file has no named columns to keep: leave keep= out")
    if how.quality is not None:
        raise InputError(f"a {kind} file has no columns of quality: leave quality= out")
    if kind == "lfw":
        if how.scored:
            raise InputError(f"{path} lists pairs without scores: give vectors to score them with as embeddings=")
        return field_files.read_pairs_of_lfw(text)
    if kind in ("bob-4", "bob-5"):
        return field_files.read_bob_columns(text, kind)
    return field_files.read_trials(
        text, kind, listed, scored=how.scored, mated_value=how.mated_value, unmatched=how.unmatched
    )
