"""A few hundred damaged files; `python tests/fuzz/files.py` reads as many as are asked for."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

_spec = importlib.util.spec_from_file_location("fuzz_files", Path(__file__).with_name("files.py"))
files = importlib.util.module_from_spec(_spec)
sys.modules["fuzz_files"] = files
_spec.loader.exec_module(files)


@pytest.mark.slow
def test_damaged_files_are_refused_or_read_as_they_are(capsys):
    counts = files.run(300, first=0)
    assert not any(counts[kind] for kind in files.BAD), capsys.readouterr().out
    assert counts["equal"] > 30
    assert counts["refused"] > 100


def test_whole_files_are_read_as_they_are(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "damaged", lambda data, rng: data)
    for seed in range(120):
        kind, told = files.outcome(seed, tmp_path)
        refusals = (
            "begins as comments do",
            "blank lines and comments",
            "says that the sample failed",
        )
        assert kind == "equal" or any(words in told for words in refusals), told
