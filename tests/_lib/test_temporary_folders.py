"""Temporary folders and files go with their owners; those of killed processes go with the next one."""

import os
import subprocess
import sys
import time

import pytest

from fastfair._lib import whole_files
from fastfair.errors import OutputError

pytestmark = pytest.mark.skipif(whole_files.fcntl is None, reason="there are no locks")
LEFT = "fastfair-12345-0123456789abcdef.tmp"


def aged(path):
    os.utime(path, (time.time() - 100,) * 2)
    return path


def test_what_dead_processes_left_is_removed_and_nothing_else(tmp_path):
    for name in (LEFT, "fastfair-results", "fastfair-12345-0123456789abcdef", "fastfair-1-012.tmp"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").touch()
        aged(tmp_path / name)
    file, young = tmp_path / f".{LEFT}", tmp_path / f".{LEFT.replace('1', '2')}"
    for path in (file, young):
        path.touch()
    aged(file)
    held = tmp_path / LEFT.replace("5", "6")
    held.mkdir()
    aged(held)
    descriptor = os.open(held, os.O_RDONLY)
    whole_files.lock(descriptor)  # as its owner does
    made = whole_files.make_folder(tmp_path)
    kept = {"fastfair-results", "fastfair-12345-0123456789abcdef", "fastfair-1-012.tmp"}
    assert {path.name for path in tmp_path.iterdir()} == kept | {young.name, held.name, made.name}
    os.close(descriptor)
    whole_files.remove_folder(made)
    assert not made.exists()


def test_files_left_behind_go_when_another_is_written(tmp_path):
    file = tmp_path / f".{LEFT}"
    file.touch()
    aged(file)
    whole_files.write_text(tmp_path / "result", "x")
    assert [path.name for path in tmp_path.iterdir()] == ["result"]


def test_a_process_that_ends_takes_its_folders_along_and_makes_no_more(tmp_path, monkeypatch):
    made = whole_files.make_folder(tmp_path)
    (made / "file").touch()
    monkeypatch.setattr(whole_files, "_abandoned", False)
    monkeypatch.setattr(whole_files, "_folders", {made: None})
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


@pytest.mark.slow
def test_a_killed_process_leaves_a_folder_that_can_be_locked(tmp_path):
    code = "import os, sys; from fastfair._lib.whole_files import make_folder; make_folder(sys.argv[1]); os.abort()"
    subprocess.run([sys.executable, "-c", code, tmp_path], check=False)
    (left,) = tmp_path.iterdir()
    aged(left)
    whole_files._swept.discard(tmp_path)
    whole_files.remove_folder(whole_files.make_folder(tmp_path))
    assert list(tmp_path.iterdir()) == []
