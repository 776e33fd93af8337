"""Interrupts of the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.interrupted import SOON, interrupted

HEEDED = """
    import os, signal, sys, time
    from fastfair.cli.interrupts import end_at_once
    end_at_once()
"""


def ends_at_once(code: str, folder: Path, said: str = "Interrupted\n") -> None:
    done, took = interrupted(code, folder)
    assert (done.returncode, done.stderr) == (130, said)
    assert took < SOON


def test_a_command_ends_at_once_without_a_traceback(tmp_path):
    code = """
    print("ready", flush=True)
    time.sleep(60)
    """
    ends_at_once(HEEDED + code, tmp_path)


@pytest.mark.slow
def test_a_command_ends_at_once_while_the_main_thread_cannot_be_stopped(tmp_path):
    code = """
    import hashlib
    print("ready", flush=True)
    hashlib.pbkdf2_hmac("sha256", b"", b"", 10**9)  # minutes in one instruction
    """
    ends_at_once(HEEDED + code, tmp_path)


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
    ends_at_once(code, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    "error", ["KeyboardInterrupt", "fastfair.errors.OutputError('nothing is written any more')"]
)
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
    ends_at_once(HEEDED + code, tmp_path, said="")
