"""Run the parts of a job as tasks of an executor, such as those of `concurrent.futures` or a Client
of Dask.
"""

from __future__ import annotations

import itertools
import os
import queue
import secrets
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from fastfair._lib.arrays import Bytes
from fastfair.errors import FastfairError, InputError, WorkerError

from . import packing, whole_files
from .text import shown
from .whole_files import explained

_TRIES = 3  # of a task whose worker dies
_CANCELLING = 5.0  # seconds that cancelling may take
# Bringing data to workers may take so many seconds, and one more for so many bytes.
_SECONDS_TO_SCATTER = 20.0
_BYTES_A_SECOND = 5e6
_PATIENCE = 1.0  # seconds after which futures are asked whether they have ended


def results(
    executor: Any, job: Any, tasks: Iterable[Any], n_threads: int, ahead: int | None = None
) -> Generator[tuple[Any, Any], None, None]:
    """Run the tasks of a job, and yield each task with its result, or raise its error.

    Parameters
    ----------
    executor : object with a method `submit`
        Where it has a method `scatter`, this hands out the data; other workers read them from a
        file.
    job : object
        The work; its `run` takes a task, `n_threads` and None.
    tasks : iterable
        What tells each task from others.
    n_threads : int
        Number of threads of each task.
    ahead : int, optional
        Yield results in the order of the tasks, at most so many of which wait, run, or have ended
        and are not yielded yet; by default all tasks are submitted at once, and results come in the
        order in which they end.

    Raises
    ------
    WorkerError
        Where workers die, where the executor takes no tasks, and where it returns something else
        than their results.
    OutputError
        Where the file for the workers cannot be written.
    """
    coming = iter(tasks)
    order = dict[Any, None]()
    ended = dict[Any, _Outcome]()
    with _delivered(executor, job) as deliver:
        waiting = _Waiting(executor, deliver, n_threads)
        try:
            while True:
                for task in itertools.islice(coming, None if ahead is None else ahead - len(order)):
                    waiting.submit(task)
                    order[task] = None
                if not order:
                    return
                while not ended or (ahead is not None and next(iter(order)) not in ended):
                    ended.update([waiting.next()])
                task = next(iter(ended if ahead is None else order))
                del order[task]
                outcome = ended.pop(task)
                if outcome.error is not None:
                    raise outcome.error
                yield outcome.answer
        finally:
            waiting.cancel()


def do(job: Callable[[], Any], task: Any, n_threads: int) -> tuple[Any, Any]:
    """Do a task of a job in a worker, and return it with its result."""
    return task, job().run(task, n_threads, None)


@dataclass(frozen=True, eq=False)
class _Outcome:
    """What a task came to: its answer, or an error of the work itself. Its future is asked for it
    once.
    """

    answer: Any = None
    error: FastfairError | None = None


class _Waiting:
    """The tasks that run or wait to run."""

    def __init__(self, executor: Any, deliver: Callable[[], Any], n_threads: int) -> None:
        self._executor = executor
        self._deliver = deliver
        self._n_threads = n_threads
        # By Dask, equal calls would be the same task, also after it failed.
        self._options = {"pure": False} if hasattr(executor, "scatter") else {}
        self._source, self._process = deliver(), os.getpid()
        self._ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._running: dict[Any, tuple[Any, Any]] = {}  # the task and the source of each future
        self._tries: Counter[Any] = Counter()

    def submit(self, task: Any) -> None:
        """Add a task."""
        self._tries[task] += 1
        try:
            future = self._executor.submit(do, self._source, task, self._n_threads, **self._options)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # those of asyncio that cancel are no Exception
            raise _gone(error) from error
        if not hasattr(future, "add_done_callback"):
            kind = type(future).__name__
            raise InputError(
                "executor.submit() must return a future, as those of concurrent.futures do, not"
                f" {kind}"
            )
        try:
            self._running[future] = task, self._source
            future.add_done_callback(self._ended.put)
        except Exception as error:
            raise _gone(error) from error

    def next(self) -> tuple[Any, _Outcome]:
        """Wait for the next task that ends by itself, and return it with its outcome; where a
        worker died, retry.
        """
        while True:
            try:
                future = self._ended.get(timeout=_PATIENCE)
            except queue.Empty:
                if os.getpid() != self._process:
                    raise _gone(
                        RuntimeError("this process was forked from the one that hands out tasks")
                    ) from None
                if getattr(self._executor, "status", "running") == "closed":  # a Client of Dask
                    raise _gone(RuntimeError("it was closed")) from None
                # of executors that do not call what they are asked to
                for future in filter(_has_ended, self._running):
                    self._ended.put(future)
                continue
            if future not in self._running:  # ended twice
                continue
            task, source = self._running.pop(future)
            try:
                answer = future.result()
            except (KeyboardInterrupt, SystemExit):
                raise
            except FastfairError as error:  # of the work itself
                return task, _Outcome(error=error)
            except BrokenExecutor as error:
                raise _gone(error) from error
            except BaseException as error:
                self._try_again(task, source, error)
            else:
                if not (isinstance(answer, tuple) and len(answer) == 2 and answer[0] == task):
                    raise WorkerError(
                        f"a future of executor.submit() returned {shown(answer)}, not what its"
                        " function returns: executors are those of concurrent.futures, the Client"
                        " of Dask, and others alike"
                    )
                return task, _Outcome(answer)

    def _try_again(self, task: Any, source: Any, error: BaseException) -> None:
        if self._tries[task] == _TRIES:
            raise WorkerError(
                f"a task was tried {_TRIES} times, and its worker did not finish it"
                f" ({type(error).__name__}: {error}): see what its log says, perhaps of memory;"
                " with ff.Checkpoint a new run goes on from what is finished"
            ) from error
        if source is self._source:
            self._source = self._deliver()  # the data may have been lost with the worker
        self.submit(task)

    def cancel(self) -> None:
        """Cancel what has not ended."""

        def cancel_all() -> None:
            for future in list(self._running):
                with suppress(Exception):
                    future.cancel()

        # A Client of Dask that was closed meanwhile would wait for ever.
        with suppress(TimeoutError):
            _bounded_in_time(cancel_all, _CANCELLING)


def _has_ended(future: Any) -> bool:
    """Ask a future whether it has ended; one that cannot say is asked for its result, where errors
    are expected.
    """
    try:
        return bool(getattr(future, "done", bool)())
    except Exception:
        return True


def _bounded_in_time(call: Callable[[], Any], seconds: float) -> Any:
    """Return what a call returns, or raise its error; where it takes longer, raise TimeoutError and
    abandon it.
    """
    future: Future[Any] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future.result(seconds)


def _gone(error: BaseException) -> WorkerError:
    what = "the executor takes no more tasks"
    if isinstance(error, BrokenExecutor):
        what = (
            "a worker has died, perhaps for lack of memory, and no worker of this executor goes on"
        )
    return WorkerError(
        f"{what} ({type(error).__name__}: {error}): run again with a new executor; with"
        " ff.Checkpoint the new run goes on from what is finished"
    )


@contextmanager
def _delivered(executor: Any, job: Any) -> Iterator[Callable[[], Any]]:
    """Give a function that brings the job to the workers, and returns what they call to have it."""
    if isinstance(executor, ThreadPoolExecutor):
        yield lambda: lambda: job
    elif hasattr(executor, "scatter"):
        packed = _InMemory(secrets.token_hex(8), packing.pack(job))
        yield lambda: _scattered(executor, packed)
    else:
        with explained(whole_files.temporary_root()):
            folder = whole_files.make_folder()
        try:
            path = folder / "job"
            with explained(path):
                packing.save(job, path)
            yield lambda: partial(job_in_file, str(path))
        finally:
            whole_files.remove_folder(folder)


def _scattered(executor: Any, packed: _InMemory) -> Any:
    """Bring data to all workers, and to one, of which others fetch them, where one has just died.

    Dask then waits for ever for those who copy to all, whoever asks, or raises.
    """
    seconds = _SECONDS_TO_SCATTER + packed.packed.nbytes / _BYTES_A_SECOND
    for left in reversed(range(_TRIES)):
        try:
            everywhere = left == _TRIES - 1
            return _bounded_in_time(
                partial(executor.scatter, packed, broadcast=everywhere, hash=False), seconds
            )
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # OSError, or KeyError of the worker or the data
            if left == 0:
                raise _gone(error) from error
    raise AssertionError


@dataclass(frozen=True, eq=False)
class _InMemory:
    """A job in memory, which the executor carries to its workers."""

    token: str
    packed: Bytes

    def __call__(self) -> Any:
        return _opened(self.token, lambda: packing.unpack(self.packed))


def job_in_file(path: str) -> Any:
    """Return a job out of a file."""
    try:
        return _opened(path, lambda: packing.opened(Path(path)))
    except FileNotFoundError:
        raise WorkerError(
            f"a worker finds no file {path}: where workers are on other machines, set TMPDIR to a"
            " folder that all of them share, or use an executor that scatters data, as the Client"
            " of Dask does"
        ) from None


_lock = threading.Lock()
# the job that this process worked on last: most tasks are of the same one
_last: tuple[str, Any] = (
    "",
    None,
)


def _opened(name: str, open_it: Callable[[], Any]) -> Any:
    """Return a job that is opened once in each process."""
    global _last
    with _lock:
        if _last[0] != name:
            _last = "", None  # before there are two in memory
            _last = name, open_it()
        return _last[1]
