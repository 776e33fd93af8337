"""Jobs in parts: by executors of all kinds and with checkpoints, always the same arrays."""

import asyncio
import copy
import errno
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from helpers.jobs import Deadly, Refusing, Slow, Squares
from helpers.refusals import refused

from fastfair._lib import executors, packing
from fastfair._lib import workers as jobs
from fastfair._lib.workers import Workers
from fastfair.errors import FileFormatError, InputError, OutputError, WorkerError

VALUES = np.arange(1000.0)


def done(job, workers=Workers(), n=VALUES.size, at_once=7):  # noqa: B008 - frozen
    """Return what a job makes, from parts put together, and the parts."""
    found, parts = np.full(n, np.nan), []

    def take(steps, arrays):
        assert np.isnan(found[steps.start : steps.stop]).all()
        found[steps.start : steps.stop] = arrays["squares"]
        parts.append(steps)

    jobs.do_job(job, n, at_once, workers, "squares", take)
    return found, parts


@pytest.fixture(scope="module")
def processes():
    """Give two processes that are started anew, as under Windows and macOS, and so import the
    job."""
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        yield pool


def test_a_job_is_one_part_in_this_process():
    found, parts = done(Squares(VALUES))
    assert parts == [range(1000)]
    assert np.array_equal(found, VALUES**2)


@pytest.mark.parametrize(
    ("n", "at_once"), [(1, 1), (1000, 7), (1000, 1), (130, 1), (100_000, 64), (64, 64), (65, 64)]
)
def test_parts_are_multiples_of_what_is_done_at_once(n, at_once, tmp_path):
    found, parts = done(Squares(np.arange(float(n))), Workers(checkpoint=tmp_path), n, at_once)
    assert np.array_equal(found, np.arange(n) ** 2)
    assert len(parts) <= 128
    assert all(part.start % at_once == 0 for part in parts)
    assert all(len(part) % at_once == 0 for part in parts[:-1])


@pytest.mark.slow
def test_processes_open_a_file_which_is_removed(processes, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert np.array_equal(done(Squares(VALUES), Workers(executor=processes))[0], VALUES**2)
    assert list(tmp_path.iterdir()) == []
    # The next job is another one, also to a process that has opened the last.
    assert np.array_equal(done(Squares(VALUES, 3), Workers(executor=processes))[0], VALUES**3)
    with pytest.raises(InputError, match="50 is refused") as caught:
        done(Refusing(VALUES), Workers(executor=processes))
    assert caught.value.row == 50
    assert list(tmp_path.iterdir()) == []


def test_each_task_has_one_thread_unless_told_otherwise():
    told = []
    with ThreadPoolExecutor(2) as pool:
        for n_threads in (None, 3):
            workers = Workers(n_threads, executor=pool)
            jobs.do_job(
                Squares(VALUES),
                8,
                1,
                workers,
                "",
                lambda _, arrays: told.append(int(arrays["threads"][0])),
            )
    assert told == [1] * 8 + [3] * 8


@pytest.mark.slow
def test_a_dead_process_is_an_error_that_says_what_to_do(tmp_path):
    killing, kept = tmp_path / "killing", tmp_path / "kept"
    killing.mkdir()
    (killing / "once").touch()
    context = multiprocessing.get_context("spawn")
    job = Deadly(VALUES, folder=str(killing))

    def tried():
        with ProcessPoolExecutor(1, context) as pool:
            return done(job, Workers(executor=pool, checkpoint=kept))[0]

    with pytest.raises(
        WorkerError, match=r"a worker has died.*run again with a new executor; with ff.Checkpoint"
    ):
        tried()
    n_kept = len(list(kept.glob("*/*.part")))
    assert 0 < n_kept < 72
    assert np.array_equal(tried(), VALUES**2)


class Losing:
    """Loses every task a number of times, as where workers die; has `scatter`, as a Client of Dask
    has."""

    def __init__(self, times):
        self.times, self.tried, self.scattered, self.pool = times, {}, [], ThreadPoolExecutor(2)

    def scatter(self, data, *, broadcast, hash):
        assert broadcast
        assert not hash
        self.scattered.append(data)
        return copy.copy(data)

    def submit(self, function, source, steps, n_threads, *, pure):
        assert not pure
        self.tried[steps] = self.tried.get(steps, 0) + 1
        if self.tried[steps] > self.times:
            return self.pool.submit(function, source, steps, n_threads)
        future = Future()
        future.set_exception(OSError("the worker is gone"))
        return future


def test_a_task_is_tried_again_with_data_scattered_anew():
    executor = Losing(2)
    assert np.array_equal(done(Squares(VALUES), Workers(executor=executor))[0], VALUES**2)
    assert set(executor.tried.values()) == {3}
    assert 2 <= len(executor.scattered) <= 10  # not for each of the 72 tasks


def test_a_task_that_always_loses_its_worker_ends_the_run():
    with pytest.raises(WorkerError, match=r"tried 3 times.*OSError: the worker is gone"):
        done(Squares(VALUES), Workers(executor=Losing(3)))


def test_an_error_of_the_work_is_not_tried_again():
    executor = Losing(0)
    refused("50 is refused", done, Refusing(VALUES), Workers(executor=executor))
    assert executor.tried[next(part for part in executor.tried if 50 in part)] == 1


def test_a_worker_without_the_file_says_what_to_do(tmp_path):
    with pytest.raises(WorkerError, match=r"finds no file .*gone: .*TMPDIR.*scatter"):
        executors.do(partial(executors.job_in_file, str(tmp_path / "gone")), range(1), 1)


class Odd:
    """An executor of bad manners: `submit` gives what a function makes of a future."""

    def __init__(self, manners):
        self.manners, self.pool = manners, ThreadPoolExecutor(1)

    def submit(self, function, *arguments):
        return self.manners(self.pool.submit(function, *arguments))


def with_outcome(future, **outcome):
    future = Future()
    for name, value in outcome.items():
        getattr(future, name)(value)
    return future


def raising(future):
    raise KeyError("no")


def closed():
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    return executor


@pytest.mark.parametrize(
    ("executor", "error", "message"),
    [
        (
            lambda: Odd(lambda future: 5),
            InputError,
            r"must return a future, as those of concurrent\.futures do, not int",
        ),
        (
            lambda: Odd(
                lambda future: with_outcome(future, set_exception=asyncio.CancelledError("lost"))
            ),
            WorkerError,
            r"tried 3 times.*CancelledError: lost",
        ),
        *(
            (
                lambda value=value: Odd(lambda future: with_outcome(future, set_result=value)),
                WorkerError,
                "not what its",
            )
            for value in (None, 5, {"squares": VALUES})
        ),
        (lambda: Odd(raising), WorkerError, r"takes no more tasks \(KeyError: 'no'\)"),
        (
            closed,
            WorkerError,
            r"takes no more tasks \(RuntimeError: cannot schedule.*with ff.Checkpoint",
        ),
    ],
)
def test_executors_of_bad_manners_are_errors_of_ours(executor, error, message):
    with pytest.raises(error, match=message):
        done(Squares(VALUES), Workers(executor=executor()))


def test_futures_that_do_not_say_when_they_end_are_asked():
    def silent(future):
        future.add_done_callback = lambda call: None
        return future

    assert np.array_equal(
        done(Squares(VALUES), Workers(executor=Odd(silent)), at_once=500)[0], VALUES**2
    )


def test_an_executor_that_is_shut_down_midway_is_an_error_of_ours():
    pool = ThreadPoolExecutor(1)

    def take(*_):
        pool.shutdown(wait=False, cancel_futures=True)

    with pytest.raises(WorkerError, match="takes no more tasks"):
        jobs.do_job(Squares(VALUES), VALUES.size, 7, Workers(executor=pool), "", take)


def test_a_full_disk_for_the_data_of_workers_is_an_error_of_ours(monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(packing, "save", full)
    with pytest.raises(OutputError, match="no space is left"):
        done(Squares(VALUES), Workers(executor=Odd(lambda future: future)))


@pytest.mark.slow
def test_an_error_cancels_what_waits():
    with ThreadPoolExecutor(1) as pool:
        start = time.perf_counter()

        def take(*_):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            jobs.do_job(Slow(VALUES), 30, 1, Workers(executor=pool), "", take)
    assert time.perf_counter() - start < 10


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="interrupts are sent by signals")
def test_an_interrupt_ends_the_wait_and_removes_the_file(processes, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    timer = threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        done(Slow(VALUES), Workers(executor=processes))
    timer.join()
    assert list(tmp_path.iterdir()) == []


def test_finished_parts_are_not_done_again(tmp_path):
    done(Squares(VALUES), Workers(checkpoint=tmp_path))
    spoiled = Squares(VALUES)
    spoiled.run = None  # of the object, and so in its fingerprint
    with pytest.raises(TypeError):
        done(spoiled, Workers(checkpoint=tmp_path))
    files = sorted(tmp_path.glob("*/*.part"))
    assert len(files) == 72
    files[3].unlink()
    called = []

    class Counting(Squares):
        def __reduce_ex__(self, protocol):
            return Squares(self.values).__reduce_ex__(protocol)

        def run(self, steps, n_threads, told):
            called.append(steps)
            return super().run(steps, n_threads, told)

    found, parts = done(Counting(VALUES), Workers(checkpoint=tmp_path))
    assert np.array_equal(found, VALUES**2)
    assert len(parts) == 72
    assert [f"{called[0].start}-{called[0].stop}.part"] == [files[3].name]


def test_other_data_and_settings_have_other_files(tmp_path):
    for job in (Squares(VALUES), Squares(VALUES, 3), Squares(VALUES + 1)):
        assert np.array_equal(done(job, Workers(checkpoint=tmp_path))[0], job.values**job.power)
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize(
    "content",
    [
        lambda raw: b"",
        lambda raw: b"score,mated\n1,2\n",
        lambda raw: raw[:-1],
        lambda raw: raw[:30],
        lambda raw: raw[:200] + bytes([raw[200] ^ 1]) + raw[201:],
    ],
)
def test_a_damaged_file_is_an_error_that_names_it(content, tmp_path):
    done(Squares(VALUES), Workers(checkpoint=tmp_path))
    path = sorted(tmp_path.glob("*/*.part"))[5]
    path.write_bytes(content(path.read_bytes()))
    with pytest.raises(
        FileFormatError, match=f"{path.name} is damaged .*: remove it, and its part"
    ):
        done(Squares(VALUES), Workers(checkpoint=tmp_path))
    path.unlink()
    assert np.array_equal(done(Squares(VALUES), Workers(checkpoint=tmp_path))[0], VALUES**2)


def test_a_folder_that_cannot_be_written_to_is_an_error_at_once(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="file"):
        Workers(checkpoint=tmp_path / "file").checked(0)
    Workers(checkpoint=tmp_path / "new").checked(0)
    assert list((tmp_path / "new").iterdir()) == []


@pytest.mark.slow
def test_importing_this_does_not_import_dask():
    code = (
        "import sys; from fastfair._lib import workers; assert not {'distributed', 'dask'} &"
        " set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.slow
def test_progress_tells_of_every_part(tmp_path):
    for executor, checkpoint in (
        (None, None),
        (ThreadPoolExecutor(2), None),
        (None, tmp_path),
        (None, tmp_path),
    ):
        told = []
        done(Squares(VALUES), Workers(1, lambda *both: told.append(both), executor, checkpoint))  # noqa: B023 - called before the next turn
        assert told[-1] == (1000, 1000)
        assert [one for one, _ in told] == sorted(one for one, _ in told)
        if executor is not None:
            executor.shutdown()


class Once:
    """A future whose result can be fetched once, and that raises what it was made with
    elsewhere."""

    def __init__(self, future, raising=()):
        self.future, self.asked, self.raising = future, 0, raising

    def result(self, timeout=None):
        self.asked += 1
        if self.asked > 1:
            raise KeyError("the result is gone")
        return self.future.result(timeout)

    def add_done_callback(self, call):
        if "add_done_callback" in self.raising:
            raise KeyError("no calls")
        if "done" not in self.raising:
            self.future.add_done_callback(lambda _: call(self))

    def done(self):
        raise KeyError("not known")


@pytest.mark.parametrize("raising", [(), ("done",)])
def test_a_result_is_asked_for_once(raising):
    made = []

    def once(future):
        made.append(Once(future, raising))
        return made[-1]

    job = Squares(VALUES)
    tasks = [range(start, start + 200) for start in range(0, 1000, 200)]
    for ahead in (None, 2):
        found = dict(executors.results(Odd(once), job, tasks, 1, ahead))
        assert all(
            np.array_equal(found[task]["squares"], VALUES[task.start : task.stop] ** 2)
            for task in tasks
        )
    assert [one.asked for one in made] == [1] * 10


def test_a_future_that_takes_no_calls_is_named():
    executor = Odd(lambda future: Once(future, ("add_done_callback",)))
    with pytest.raises(WorkerError, match=r"takes no more tasks \(KeyError: 'no calls'\)"):
        done(Squares(VALUES), Workers(executor=executor))
