"""Temporary folders go with their owners."""

import os

import pytest

from fastfair._lib import whole_files
from fastfair.errors import OutputError


def test_a_process_that_ends_takes_its_folders_along_and_makes_no_more(tmp_path, monkeypatch):
    made = whole_files.make_folder(tmp_path)
    (made / "file").touch()
    monkeypatch.setattr(whole_files, "_abandoned", False)
    monkeypatch.setattr(whole_files, "_folders", {made: os.getpid()})
    whole_files.abandon_folders()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(OutputError, match="after an interrupt"):
        whole_files.make_folder(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_without_a_folder_for_temporary_files_there_is_an_error_of_ours(monkeypatch):
    def none():
        raise FileNotFoundError("No usable temporary directory found")

    monkeypatch.setattr(whole_files.tempfile, "gettempdir", none)
    with pytest.raises(OutputError, match="set TMPDIR"):
        whole_files.make_folder()
