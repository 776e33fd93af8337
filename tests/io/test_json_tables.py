"""Tables in JSON."""

import json
from pathlib import Path

import numpy as np
import pytest

import fastfair as ff
from fastfair.errors import FileFormatError
from fastfair.io.json_tables import read_json

ROWS = [
    {"score": 0.5, "mated": True, "name": "ann"},
    {"score": None, "mated": False, "name": "bob"},
]


def rows_of(path: Path) -> list[tuple]:
    table = read_json(path)
    return table.columns(table.names).rows()


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(ROWS),
        json.dumps(ROWS, indent=2),
        "\n".join(map(json.dumps, ROWS)) + "\n\n",
        json.dumps({name: [row[name] for row in ROWS] for name in ROWS[0]}),
        "\ufeff" + json.dumps(ROWS),
    ],
)
def test_rows_lines_and_columns_are_one_table(tmp_path, text):
    (tmp_path / "s.json").write_text(text, encoding="utf-8")
    assert rows_of(tmp_path / "s.json") == [(0.5, True, "ann"), (None, False, "bob")]


def test_numbers_are_the_nearest(tmp_path):
    (tmp_path / "s.json").write_text('{"a": [1, 9007199254740993, 2], "b": [1, 0.1, 1e400]}')
    table = read_json(tmp_path / "s.json")
    assert table.columns(["a", "b"]).rows() == [(1, 1.0), (9007199254740993, 0.1), (2, np.inf)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1, 2]", r"row 0 \(counted from 0\) is no object"),
        ('{"a": 1}\n[2]', "line 2 is no object"),
        ('{"a": 1}\n{"a": }', "line 2 cannot be read"),
        ('{"a": {"0": 1}}', "an object that is no table.*records"),
        ('[{"a": 1, "a": 2}]', "s.json cannot be read: an object has a name twice"),
        ('[{"a": 1}, {"a": "x"}]', "'a' holds int and str"),
        ('[{"a": [1]}, {"a": ["x"]}]', "something else than numbers"),
        ('{"a": [1], "b": [1, 2]}', "a has 1, b has 2"),
        ("[" * 100_000, "cannot be read"),
        ("  \n ", "nothing but blank lines"),
        ("[]", "no list of rows"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path, text, message):
    (tmp_path / "s.json").write_text(text)
    with pytest.raises((FileFormatError, ff.errors.InputError), match=message):
        rows_of(tmp_path / "s.json")
