"""Interrupts of the command line."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import time

import pytest
from helpers.interrupted import SOON, interrupted

HEEDED = """
    import os, signal, sys, time
    from fastfair.cli.interrupts import end_at_once
    end_at_once()
"""


def test_a_command_ends_at_once_without_a_traceback(tmp_path):
    code = """
    print("ready", flush=True)
    time.sleep(60)
    """
    done, took = interrupted(HEEDED + code, tmp_path)
    assert (done.returncode, done.stderr) == (130, "Interrupted\n")
    assert took < SOON


def test_a_command_ends_at_once_while_the_main_thread_cannot_be_stopped(tmp_path):
    code = """
    import hashlib
    print("ready", flush=True)
    hashlib.pbkdf2_hmac("sha256", b"", b"", 10**9)  # minutes in one instruction
    """
    done, took = interrupted(HEEDED + code, tmp_path)
    assert (done.returncode, done.stderr) == (130, "Interrupted\n")
    assert took < SOON


def test_a_file_that_is_being_written_is_removed(tmp_path):
    code = """
    from fastfair._lib import whole_files
    with whole_files.written("results.json") as file:
        file.write(b"half")
        file.flush()
        print("ready", flush=True)
        time.sleep(60)
    """
    done, took = interrupted(HEEDED + code, tmp_path)
    assert done.returncode == 130
    assert list(tmp_path.iterdir()) == []
    assert took < SOON


def test_machine_code_is_not_left_half_written(tmp_path):
    code = """
    from pathlib import Path
    from fastfair.kernels._aside import WRITING
    with WRITING:
        path = Path("half")
        path.touch()
        print("ready", flush=True)
        time.sleep(0.4)
        path.unlink()
    time.sleep(60)
    """
    done, _ = interrupted(HEEDED + code, tmp_path)
    assert done.returncode == 130
    assert list(tmp_path.iterdir()) == []


def test_a_reader_who_is_gone_or_slow_holds_nothing_up(tmp_path):
    code = """
    os.set_blocking(2, False)
    try:
        while True:
            os.write(2, b"." * 4096)
    except BlockingIOError:
        os.set_blocking(2, True)
    print("ready", flush=True)
    time.sleep(60)
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(HEEDED + code)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            start = time.perf_counter()
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 130
            assert time.perf_counter() - start < SOON
        finally:
            process.kill()


def test_interrupts_that_are_ignored_stay_so():
    code = f"{HEEDED}\n    os.kill(os.getpid(), signal.SIGINT)\n    time.sleep(0.3)\n    print('still here')"
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60, check=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )  # fmt: skip
    assert done.stdout == "still here\n"


def test_the_entry_heeds_interrupts_before_it_imports(tmp_path):
    code = """
    import runpy, sys, time
    class Slow:
        def find_spec(self, name, *_):
            if name == "fastfair.cli.main":
                print("ready", flush=True)
                time.sleep(60)
    sys.meta_path.insert(0, Slow())
    runpy.run_module("fastfair", run_name="__main__")
    """
    done, took = interrupted(code, tmp_path)
    assert (done.returncode, done.stderr) == (130, "Interrupted\n")
    assert took < SOON


@pytest.mark.parametrize("error", ["KeyboardInterrupt", "fastfair.errors.OutputError('nothing is written any more')"])
def test_a_command_ends_as_interrupted_where_an_interrupt_causes_an_error(error, tmp_path):
    # polars raises KeyboardInterrupt: it has a handler of its own that precedes ours.
    (tmp_path / "scores.csv").write_text("score,mated\n1,1\n0,0\n")
    code = f"""
    import fastfair.errors, fastfair.io.comparisons
    from fastfair.kernels import _aside
    _aside.WRITING.acquire()  # so that putting things in order takes longest
    def read(*_, **__):
        print("ready", flush=True)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep({0 if error == "KeyboardInterrupt" else 0.05})
        raise {error}
    fastfair.io.comparisons.read_comparisons = read
    from fastfair.cli import main as cli
    sys.argv = ["fastfair", "evaluate", "scores.csv"]
    cli.main()
    """
    done, took = interrupted(HEEDED + code, tmp_path)
    assert (done.returncode, done.stderr) == (130, "")
    assert took < SOON
