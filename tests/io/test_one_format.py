"""A format of score files is one record, by which reading, messages, the command line and the docs know it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from helpers.flat import read_comparisons, scan_comparisons
from helpers.refusals import refused

from fastfair.cli import signatures
from fastfair.errors import FileFormatError
from fastfair.io import formats, tables

# Rows of six fields, and files with a suffix of their own that hold columns.
JUDGED = formats.Format(
    "judged", "label, judge, enrolment, test, place, score", "six fields", formats.read_rows,
    fields="label judge enrol test place score", subject_pattern="^[a-z]+",
)  # fmt: skip


def read_lines(file: formats.ScoreFile, how: formats.HowToRead) -> formats.ScoreTable:
    rows = [json.loads(line) for line in file.path.read_text().splitlines()]
    frame = tables.files.polars().DataFrame(rows)
    return formats.choose(tables.of_frame(frame, "path", str(file.path)), how, file.format)


LINES = formats.Format(
    "json-lines", "an object with named values", "`.jsonl`", read_lines, suffixes=(".jsonl",), is_text=False
)
TEXT = "mated x ann1 ann2 b 0.9\nnonmated x ann1 bob1 b 0.2\nmated x bob1 bob2 c 0.8\n"


@pytest.fixture(autouse=True)
def known(monkeypatch):
    for kind in (JUDGED, LINES):
        monkeypatch.setitem(formats.FORMATS, kind.name, kind)


def test_rows_of_a_new_format_are_recognised_and_read(write, monkeypatch):
    for stated in ("auto", "judged"):
        c = read_comparisons(write("s.txt", TEXT), format=stated)
        assert (c.mated.similarities.tolist(), c.nonmated.similarities.tolist()) == ([0.8, 0.9], [0.2])
        assert (c.subjects.tolist(), c.samples.tolist()) == (["ann", "bob"], ["ann1", "ann2", "bob1", "bob2"])
    scan = scan_comparisons(write("s.txt", TEXT))
    assert (scan.n_mated, scan.n_nonmated) == (2, 1)
    with pytest.raises(FileFormatError, match=r"line 2: expected 6 fields \(label judge enrol test place score\)"):
        read_comparisons(write("s.txt", TEXT.replace(" bob1 b", "")), format="judged")
    refused(r"one of 'auto', .*'arrays', 'judged'", read_comparisons, write("s.txt", TEXT), format="no")
    refused("say which with format= .*judged", read_comparisons, write("s.txt", "what is this\n"))
    monkeypatch.setitem(formats.FORMATS, "other-judged", replace(JUDGED, name="other-judged"))
    refused(r"may be judged .* or other-judged", read_comparisons, write("s.txt", TEXT))


def test_files_of_a_new_suffix_are_read(write):
    rows = [{"reference": "a", "probe": p, "score": s, "sex": "f"} for p, s in (("a", 0.9), ("b", 0.1))]
    c = read_comparisons(write("s.jsonl", "\n".join(map(json.dumps, rows))), groups="sex")
    assert (len(c.mated), len(c.nonmated), c.groups) == (1, 1, ("f",))


def test_the_documentation_lists_a_new_format():
    format_tables = pytest.importorskip("format_tables", reason="needs Sphinx")
    assert format_tables.Formats.rows(None)[-1] == ["`json-lines`", "an object with named values", "`.jsonl`"]


def test_the_command_line_offers_a_new_format():
    choices = signatures.options_from(read_comparisons)["format"]["choices"]
    assert choices[-2:] == ["judged", "json-lines"]
