"""Work in other threads: what it gives, and that an interrupt waits for none of it."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest
from fastfair.kernels import _jit
from fastfair.kernels._aside import _Abandoned, deal, deal_in_order, run_aside
from helpers.each import each
from helpers.interrupted import SOON, interrupted


def interrupt_in(seconds: float) -> None:
    main = threading.main_thread().ident
    assert main is not None
    threading.Timer(seconds, signal.pthread_kill, (main, signal.SIGINT)).start()


@pytest.mark.parametrize("n_threads", [1, 2, 9])
def test_each_item_is_worked_on_once_and_its_result_told_here(n_threads):
    found = {}
    here = threading.current_thread()

    def told(number: int, result: int) -> None:
        assert threading.current_thread() is here
        assert number not in found
        found[number] = result

    deal(lambda item: item * item, range(7), n_threads, told)
    assert found == {k: k * k for k in range(7)}


def test_an_error_ends_the_work_and_is_raised_here():
    seen = []

    def work(item: int) -> None:
        seen.append(item)
        if item == 2:
            raise ZeroDivisionError("two")

    with pytest.raises(ZeroDivisionError, match="two"):
        deal(work, range(1000), 1, lambda *_: None)
    assert seen == [0, 1, 2]


@each("n_threads", [1, 2, 9])
@each("ahead", [1, 3, 20])
def test_results_come_in_order_and_no_more_are_begun_than_may_wait(n_threads, ahead):
    begun, pace = [], random.Random(n_threads)

    def work(item: int) -> int:
        begun.append(item)
        time.sleep(pace.random() / 200)
        return item * item

    for k, result in enumerate(deal_in_order(work, range(30), n_threads, ahead)):
        assert result == k * k
        assert max(begun) <= k + max(ahead, n_threads)
    assert sorted(begun) == list(range(30))


def test_the_error_of_the_first_item_is_raised_when_its_turn_comes():
    def work(item: int) -> int:
        if item == 3:
            time.sleep(0.1)
        if item in (3, 4):
            raise ZeroDivisionError(str(item))
        return item

    results = []
    with pytest.raises(ZeroDivisionError, match="3"):
        results.extend(deal_in_order(work, range(9), 3, 6))
    assert results == [0, 1, 2]


def test_results_that_are_not_asked_for_end_the_work():
    begun, before = [], set(threading.enumerate())
    results = deal_in_order(begun.append, range(1000), 2, 2)
    assert next(results) is None
    results.close()
    for hand in set(threading.enumerate()) - before:
        hand.join(30)
    assert len(begun) <= 4


def test_an_interrupt_waits_for_nothing_and_nothing_more_is_begun():
    release, begun = threading.Event(), []

    def work(item: int) -> None:
        begun.append(item)
        if item == 1:
            interrupt_in(0.2)
        release.wait(30)

    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        deal(work, range(10), 2, lambda *_: None)
    took = time.perf_counter() - start
    release.set()
    time.sleep(0.2)
    assert took < SOON
    assert begun == [0, 1]


LONG_WORK = """
    import atexit, sys, time
    from fastfair.kernels._aside import run_aside
    def work():
        print("ready", flush=True)
        time.sleep(SECONDS)
        print("worked")
    atexit.register(print, "tidied")
"""


def test_an_interrupt_that_nobody_catches_ends_the_process_though_work_goes_on(tmp_path):
    done, took = interrupted(LONG_WORK.replace("SECONDS", "30") + "    run_aside(work)", tmp_path)
    assert done.returncode == -signal.SIGINT
    assert "KeyboardInterrupt" in done.stderr
    assert done.stdout == "tidied\n"
    assert took < SOON


@pytest.mark.slow
@pytest.mark.jit
def test_a_kernel_that_compiles_when_interrupted_is_there_the_next_time(tmp_path):
    code = """
        import time, numpy as np
        from numba.core.registry import CPUDispatcher
        from fastfair.kernels import groups
        calls, compile = [], CPUDispatcher.compile
        def slowly(self, *args):
            if not calls:
                calls.append(self)
                print("ready", flush=True)
                time.sleep(1)
            return compile(self, *args)
        CPUDispatcher.compile = slowly
        subject, high = np.zeros(5, np.int64), np.zeros(1, np.int64)
        try:
            groups.widen_ranges(subject, subject + 5, high.copy(), high)
        except KeyboardInterrupt:
            print("caught", calls[0].signatures, flush=True)
        while not calls[0].signatures:
            time.sleep(0.01)
        groups.widen_ranges(subject, subject + 5, high.copy(), high)
        print(high[0], len(calls[0].signatures))
    """
    done, _ = interrupted(code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "caught []\n5 1\n"


@pytest.mark.slow
@pytest.mark.jit
def test_kernels_are_compiled_and_imported_aside(tmp_path):
    code = """
        import threading
        import llvmlite.binding.ffi as ffi
        callers, call = set(), ffi._lib_fn_wrapper.__call__
        def heard(self, *args):
            callers.add(threading.current_thread())
            return call(self, *args)
        ffi._lib_fn_wrapper.__call__ = heard
        import numpy as np
        from fastfair.kernels import groups
        groups.widen_ranges(*np.zeros((4, 5), np.int64))
        print(len(callers) > 1, threading.main_thread() in callers)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert done.stdout == "True False\n"


@pytest.mark.slow
@pytest.mark.jit
def test_an_interrupt_of_a_kernel_that_returns_arrays_is_one(tmp_path):
    (tmp_path / "work.py").write_text(
        textwrap.dedent("""
        import os, signal, threading, time
        import numpy as np
        from fastfair.kernels._jit import jit

        @jit
        def work(n):
            total = 0
            for k in range(n):
                total += k * k % 7
            return np.full(1, total), np.ones(1)

        work(1)
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            while True:
                work(30_000_000)
        except KeyboardInterrupt:
            print("caught")
    """)
    )
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "work.py"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (done.stdout, done.stderr) == ("caught\n", "")


@pytest.mark.slow
def test_an_interrupt_that_is_caught_lets_work_end_before_the_process(tmp_path):
    code = """
    try:
        run_aside(work)
    except KeyboardInterrupt:
        print("caught", flush=True)
        sys.exit(7)
    """
    done, _ = interrupted(LONG_WORK.replace("SECONDS", "1") + code, tmp_path)
    assert done.returncode == 7, done.stderr
    assert done.stdout == "caught\nworked\ntidied\n"


@pytest.mark.slow
@pytest.mark.jit
@pytest.mark.parametrize("cause", [KeyboardInterrupt, ValueError])
def test_a_fault_of_the_machine_code_that_an_interrupt_caused_is_told_from_others(
    cause, monkeypatch
):
    def faulty(*_: object) -> None:
        try:
            try:
                raise cause
            except cause as error:
                raise SystemError("made an array with an exception set") from error
        except SystemError as error:
            raise SystemError("returned a result with an exception set") from error

    faulty.compile = lambda _: None  # type: ignore[attr-defined]
    monkeypatch.setattr(_jit.numba, "njit", lambda **_: lambda _: faulty)
    work = _jit.jit(lambda: 1)
    with pytest.raises(KeyboardInterrupt if cause is KeyboardInterrupt else SystemError):
        work()


@pytest.mark.slow
def test_a_wait_inside_work_that_was_given_up_ends():
    release, ended = threading.Event(), []

    def work(_: int) -> None:
        try:
            run_aside(lambda: release.wait(30))
        except BaseException as error:
            ended.append(type(error))
            raise

    interrupt_in(0.2)
    with pytest.raises(KeyboardInterrupt):
        deal(work, range(1), 1, lambda *_: None)
    deadline = time.perf_counter() + SOON
    while not ended and time.perf_counter() < deadline:
        time.sleep(0.01)
    release.set()
    assert ended == [_Abandoned]
