"""Files are written whole or not at all, and faults are told by the file's name."""

from __future__ import annotations

import errno
import os
import resource
import stat
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import polars as pl
import pytest

from fastfair._lib import whole_files
from fastfair.errors import FastfairError, OutputError


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "old.txt"
    path.write_text("old")
    return path


def leftovers(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.startswith(".fastfair")]


def test_a_new_file_and_a_replaced_one(tmp_path):
    path = tmp_path / "ä b.txt"
    for text in ("one", "two, longer", "ß"):
        whole_files.write_text(path, text)
        assert path.read_text(encoding="utf-8") == text
    assert [p.name for p in tmp_path.iterdir()] == ["ä b.txt"]


def test_the_target_is_not_touched_before_the_end(old):
    with whole_files.written(old) as file:
        file.write(b"new")
        file.flush()
        assert old.read_text() == "old"
        (temporary,) = leftovers(old.parent)
        assert temporary.endswith(".tmp")
    assert old.read_text() == "new"
    assert leftovers(old.parent) == []


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, MemoryError])
def test_what_is_raised_while_writing_leaves_the_old_file(old, error):
    def write():
        with whole_files.written(old) as file:
            file.write(b"new")
            raise error

    with pytest.raises(error):
        write()
    assert old.read_text() == "old"
    assert leftovers(old.parent) == []


def failing(code):
    def fail(*_args, **_kwargs):
        raise OSError(code, os.strerror(code))

    return fail


@pytest.mark.parametrize("function", ["fsync", "replace", "chmod"])
@pytest.mark.parametrize(
    ("code", "said"),
    [
        (errno.ENOSPC, "no space is left there"),
        (errno.EACCES, "no permission"),
        (errno.EROFS, "read-only"),
        (errno.EIO, "Input/output error"),
    ],
)
def test_faults_of_the_system_leave_the_old_file_and_are_told(
    old, monkeypatch, function, code, said
):
    monkeypatch.setattr(os, function, failing(code))
    with pytest.raises(OutputError, match=f"old.txt cannot be written: .*{said}") as caught:
        whole_files.write_text(old, "new")
    assert caught.value.errno == code
    assert isinstance(caught.value, FastfairError)
    assert old.read_text() == "old"
    assert leftovers(old.parent) == []


def run(code: str, most_bytes: int | None = None) -> str:
    """Run a program that may write files of so many bytes and no more."""

    def limit() -> None:
        if most_bytes is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))

    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
        preexec_fn=limit,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_data_frames_that_do_not_fit_leave_the_old_file(old, kind):
    said = run(
        f"""
        import polars as pl
        from fastfair import errors
        from fastfair._lib import whole_files
        try:
            with whole_files.written({str(old)!r}) as file:
                pl.DataFrame({{"a": range(100_000)}}).write_{kind}(file)
        except errors.OutputError as error:
            print(error)
        """,
        most_bytes=10_000,
    )
    assert said.endswith("old.txt cannot be written: File too large\n")
    assert old.read_text() == "old"
    assert leftovers(old.parent) == []


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_data_frames_are_written_whole(tmp_path, kind):
    frame = pl.DataFrame({"a": range(300_000)})
    with whole_files.written(tmp_path / "x") as file:
        getattr(frame, f"write_{kind}")(file)
    assert getattr(pl, f"read_{kind}")(tmp_path / "x").equals(frame)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "it is a folder"),
        ("a\0b", "characters"),
        ("a\ud800b", r"a\\ud800b"),
        ("n" * 300, "[Nn]ame too long"),
        ("d/" * 4000 + "x", "[Nn]ame too long"),
        ("old.txt/x", "a part of its path is a file"),
        ("folder", "it is a folder"),
        ("circle", "symbolic links"),
    ],
)
def test_paths_that_cannot_be(tmp_path, old, monkeypatch, name, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    with pytest.raises(OutputError, match=said) as caught:
        whole_files.write_text(name, "new")
    assert len(str(caught.value)) < 1600
    str(caught.value).encode()
    assert leftovers(tmp_path) == []


def test_what_is_no_file_on_a_disk_is_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    whole_files.write_text(pipe, "through")
    reader.join()
    assert read == ["through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    with pytest.raises(OutputError, match="no space is left"):
        whole_files.write_text("/dev/full", "x" * 100_000)


def test_after_an_interrupt_nothing_is_left_and_nothing_more_is_written(old):
    said = run(f"""
        import os, threading, time
        from fastfair._lib import whole_files
        path = {str(old)!r}
        def slow():
            with whole_files.written(path) as file:
                file.write(b"new")
                writing.set()
                goes_on.wait()
        def caught():
            try:
                slow()
            except OSError as error:
                print(error)
        writing, goes_on = threading.Event(), threading.Event()
        thread = threading.Thread(target=caught)
        thread.start()
        writing.wait()
        whole_files.abandon()
        print(sorted(os.listdir(os.path.dirname(path))))
        goes_on.set()
        thread.join()
        try:
            whole_files.write_text(path, "new")
        except OSError as error:
            print(error)
        """)
    late = "nothing is written after an interrupt"
    assert said.splitlines() == ["['old.txt']", late, late]
    assert old.read_text() == "old"


def test_links_are_written_through(tmp_path, old):
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "link").symlink_to(old)
    (inner / "dangling").symlink_to("../made")
    whole_files.write_text(inner / "link", "new")
    whole_files.write_text(inner / "dangling", "new")
    assert (inner / "link").is_symlink()
    assert old.read_text() == (tmp_path / "made").read_text() == "new"


def test_a_file_is_synced_before_it_gets_its_name(old, monkeypatch):
    done = []
    real_sync, real_replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda fd: (done.append("file"), real_sync(fd)))
    monkeypatch.setattr(os, "replace", lambda *a: (done.append("replace"), real_replace(*a)))
    whole_files.write_text(old, "new")
    assert done == ["file", "replace"]


def test_a_folder_is_made_with_its_parents(tmp_path):
    assert whole_files.ready_folder(tmp_path / "a" / "b") == tmp_path / "a" / "b"
    assert whole_files.ready_folder(tmp_path / "a" / "b").is_dir()
    assert list((tmp_path / "a" / "b").iterdir()) == []


@pytest.mark.slow
def test_an_interrupt_does_not_wait_for_a_thread_that_hangs(old):
    said = run(f"""
        import os, threading, time
        from fastfair._lib import whole_files
        def hang(*args):
            renaming.set()
            time.sleep(60)
        renaming = threading.Event()
        os.replace = hang
        threading.Thread(target=whole_files.write_text, args=({str(old)!r}, "new"), daemon=True).start()
        renaming.wait()
        start = time.monotonic()
        whole_files.abandon()
        print(time.monotonic() - start < 30, os.listdir({str(old.parent)!r}), flush=True)
        os._exit(0)
        """)
    assert said == "True ['old.txt']\n"
