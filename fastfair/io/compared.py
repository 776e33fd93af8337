"""Who is compared by each row of a score file: the subjects and samples of both sides, as codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastfair._lib import label_codes, validation
from fastfair._lib.distinct_entries import smallest_integers
from fastfair._lib.frames import FrameColumns

from . import reading
from .formats import ScoreTable
from .subject_patterns import cut_out

if TYPE_CHECKING:
    import polars as pl

BothSides = tuple[validation.Coded, validation.Coded]


def subjects_and_samples(kind: str, table: ScoreTable, *, looked_up: bool) -> tuple[BothSides | None, BothSides | None]:
    """Return the subjects and the samples of both sides as codes, or None for those not in the file.

    looked_up: whether the subjects of what the file names are looked up in a table of samples.
    """
    if table.reference is None or table.probe is None:
        return None, None
    of_names = kind in ("kaldi", "voxceleb") or kind.startswith("enrol-test")
    if of_names and table.subject_pattern is None and not looked_up:
        return None, None  # test ids are utterances, whose speakers are not in the list
    samples: BothSides | None = None
    if table.subject_pattern is not None:
        subjects, samples = _cut_out(table, (table.reference, table.probe), table.subject_pattern)
    else:
        subjects = names_of(table)
    if kind == "bob-5":
        samples = _code_text(table.frame.select(table.samples))
        samples = samples if _have_one_subject(samples, subjects) else None
    elif table.samples is not None:
        samples = _code(table.frame, table.samples)
    return subjects, samples


def names_of(table: ScoreTable) -> BothSides:
    """Return what a table calls both sides."""
    assert table.reference is not None
    assert table.probe is not None
    return _code(table.frame, (table.reference, table.probe))


def _code(frame: pl.DataFrame, sides: tuple[str, str]) -> BothSides:
    """Turn two columns into codes of one list of labels."""
    columns = FrameColumns(frame)
    if all(columns.is_text(name) for name in sides):
        reference, probe = (columns.text(name) for name in sides)
        coded = _code_text(reading.polars().DataFrame({"reference": reference, "probe": probe}))
        if label_codes.are_clean(coded[0].labels.tolist()):
            return coded
    labels, codes = validation.encode_together(sides, [columns.labels(name) for name in sides])
    return validation.Coded(labels, codes[0]), validation.Coded(labels, codes[1])


def _cut_out(table: ScoreTable, sides: tuple[str, str], pattern: str) -> tuple[BothSides, BothSides]:
    """Take two columns as samples, and find their subjects by a pattern."""
    columns = FrameColumns(table.frame)
    reference, probe = (columns.text(name) for name in sides)
    samples = _code_text(reading.polars().DataFrame({"reference": reference, "probe": probe}))
    subjects = cut_out(list(zip(sides, samples, strict=True)), pattern)
    return (subjects[0], subjects[1]), samples


def _code_text(sides: pl.DataFrame) -> BothSides:
    """Turn two columns of text into codes of one list of labels; fast even if nearly all labels differ."""
    pl = reading.polars()
    reference, probe = sides.select(pl.all().cast(pl.Categorical)).get_columns()  # both columns share codes
    together = pl.concat([reference, probe.alias(reference.name)])
    distinct = together.unique()
    names = distinct.cast(pl.String)
    order = names.arg_sort()  # a Categorical's codes may differ between two readings, so labels are sorted
    physical = distinct.to_physical().gather(order).to_numpy()
    position = np.empty(int(physical.max()) + 1, smallest_integers(physical.size))
    position[physical] = np.arange(physical.size)
    labels = names.gather(order).to_numpy()
    codes = position[together.to_physical().to_numpy()]
    return validation.Coded(labels, codes[: len(sides)]), validation.Coded(labels, codes[len(sides) :])


def _have_one_subject(samples: BothSides, subjects: BothSides) -> bool:
    """Return whether labels can be samples: some files have placeholders, or give a model and a test the same label."""
    found = np.empty(samples[0].labels.size, np.intp)
    for sample, subject in zip(samples, subjects, strict=True):
        found[sample.codes] = subject.codes
    return all(bool((found[a.codes] == b.codes).all()) for a, b in zip(samples, subjects, strict=True))
