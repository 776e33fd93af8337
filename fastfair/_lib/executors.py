"""Run the parts of a job as tasks of an executor, such as those of `concurrent.futures` or a Client of Dask."""

from __future__ import annotations

import itertools
import queue
import secrets
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair.errors import InputError, WorkerError

from . import packing, whole_files
from .text import shown
from .whole_files import explained

_TRIES = 3  # of a task whose worker dies
_CANCELLING = 5.0  # seconds that cancelling may take
_SCATTERING = 20.0, 5e6  # bringing data to workers may take so many seconds, and one more for so many bytes
_PATIENCE = 1.0  # seconds after which futures are asked whether they have ended
_Take = Callable[[range, dict[str, NDArray[Any]]], None]


def run_in(executor: Any, job: Any, parts: Sequence[range], n_threads: int, take: _Take) -> None:
    """Run the parts of a job as tasks.

    Parameters
    ----------
    executor : object with a method `submit`
        Where it has a method `scatter`, this hands out the data; other workers read them from a file.
    job : Job
        The work.
    parts : sequence of range
        The steps of each part.
    n_threads : int
        Number of threads of each task.
    take : callable
        Called in this thread with the steps and the results of each part, in the order in which they end.

    Raises
    ------
    WorkerError
        Where workers die, where the executor takes no tasks, and where it returns something else than their results.
    OutputError
        Where the file for the workers cannot be written.
    """
    if not parts:
        return
    with _delivered(executor, job) as deliver:
        waiting = _Waiting(executor, deliver, n_threads)
        try:
            for steps in parts:
                waiting.submit(steps)
            for _ in parts:
                take(*_found(*waiting.next()))
        finally:
            waiting.cancel()


def run_in_order(executor: Any, job: Any, tasks: Iterable[Any], n_threads: int, ahead: int) -> Iterator[Any]:
    """Run tasks of a job, and yield their results, or raise their errors, in the order of the tasks.

    Parameters
    ----------
    executor, n_threads
        As in `run_in`.
    job : object
        Its `run` takes a task, `n_threads` and None.
    tasks : iterable
        What tells each task from others. They are asked for when there is room for them.
    ahead : int
        Most tasks that wait, run, or have ended before their results are asked for.

    Raises
    ------
    WorkerError
        Where workers die.
    """
    coming = iter(tasks)
    with _delivered(executor, job) as deliver:
        waiting, order, ended = _Waiting(executor, deliver, n_threads), deque[Any](), dict[Any, Any]()
        try:
            while True:
                for task in itertools.islice(coming, ahead - len(order)):
                    waiting.submit(task)
                    order.append(task)
                if not order:
                    return
                while order[0] not in ended:
                    task, found = waiting.next()
                    ended[task] = found
                first = order.popleft()
                yield _found(first, ended.pop(first))[1]
        finally:
            waiting.cancel()


def _found(task: Any, found: Any) -> tuple[Any, Any]:
    if isinstance(found, _Failed):
        raise found.error
    return task, found


@dataclass(frozen=True)
class _Failed:
    """What a part of the work itself raised, as opposed to an executor that cannot run it."""

    error: Exception


@dataclass(frozen=True)
class _Done:
    """What a part of the work returned."""

    steps: Any
    result: Any


def do(source: Any, steps: Any, n_threads: int) -> _Done:
    """Do a part of a job in a worker."""
    try:
        return _Done(steps, source.job().run(steps, n_threads, None))
    except Exception as error:
        return _Done(steps, _Failed(error))


class _Waiting:
    """The tasks that run or wait to run."""

    def __init__(self, executor: Any, deliver: Callable[[], Any], n_threads: int) -> None:
        self._executor, self._deliver, self._n_threads = executor, deliver, n_threads
        # By Dask, equal calls would be the same task, also after it failed.
        self._options = {"pure": False} if hasattr(executor, "scatter") else {}
        self._source = deliver()
        self._ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._running: dict[Any, tuple[Any, Any]] = {}  # the steps and the source of each future
        self._tries: dict[Any, int] = {}

    def submit(self, steps: Any) -> None:
        """Add a task."""
        self._tries[steps] = self._tries.get(steps, 0) + 1
        try:
            future = self._executor.submit(do, self._source, steps, self._n_threads, **self._options)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BrokenExecutor as error:
            raise _broken(error) from error
        except BaseException as error:  # those of asyncio that cancel are no Exception
            raise _closed(error) from error
        if not hasattr(future, "add_done_callback"):
            kind = type(future).__name__
            raise InputError(f"executor.submit() must return a future, as those of concurrent.futures do, not {kind}")
        self._running[future] = steps, self._source
        future.add_done_callback(self._ended.put)

    def next(self) -> tuple[Any, Any]:
        """Wait for the next part, and return its steps and its results, or how it failed.

        Where a worker died, try again.
        """
        while True:
            future = self._next_ended()
            steps, source = self._running.pop(future)
            try:
                found = future.result()
            except (KeyboardInterrupt, SystemExit):
                raise
            except BrokenExecutor as error:
                raise _broken(error) from error
            except BaseException as error:
                self._try_again(steps, source, error)
                continue
            if not isinstance(found, _Done) or found.steps != steps:
                raise WorkerError(
                    f"a future of executor.submit() returned {shown(found)}, and not what its function returns: "
                    "executors are those of concurrent.futures, the Client of Dask, and others alike"
                )
            return steps, found.result

    def _next_ended(self) -> Any:
        """Wait for a future that has ended, also of executors that do not call what they are asked to call."""
        while True:
            with suppress(queue.Empty):
                future = self._ended.get(timeout=_PATIENCE)
                if future in self._running:
                    return future
                continue
            for future in self._running:
                if getattr(future, "done", bool)():
                    self._ended.put(future)
            if getattr(self._executor, "status", "running") == "closed":  # a Client of Dask
                raise _closed(RuntimeError("it was closed"))

    def _try_again(self, steps: Any, source: Any, error: BaseException) -> None:
        if self._tries[steps] == _TRIES:
            raise WorkerError(
                f"a task was tried {_TRIES} times, and its worker did not finish it ({type(error).__name__}: {error}): "
                "see what its log says, perhaps of memory; with ff.Checkpoint a new run goes on from what is finished"
            ) from error
        if source is self._source:
            self._source = self._deliver()  # the data may have been lost with the worker
        self.submit(steps)

    def cancel(self) -> None:
        """Cancel what has not ended."""

        def cancel_all() -> None:
            for future in list(self._running):
                with suppress(Exception):
                    future.cancel()

        # A Client of Dask that was closed meanwhile would wait for ever.
        with suppress(TimeoutError):
            _bounded_in_time(cancel_all, _CANCELLING)


def _bounded_in_time(call: Callable[[], Any], seconds: float) -> Any:
    """Return what a call returns, or raise its error; where it takes longer, raise TimeoutError and abandon it."""
    future: Future[Any] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future.result(seconds)


def _closed(error: BaseException) -> WorkerError:
    return WorkerError(
        f"the executor takes no more tasks ({type(error).__name__}: {error}): run again with one that is open; with "
        "ff.Checkpoint the new run goes on from what is finished"
    )


def _broken(error: BrokenExecutor) -> WorkerError:
    return WorkerError(
        f"a worker has died, perhaps for lack of memory, and no worker of this executor goes on ({error}): run again "
        "with a new executor; with ff.Checkpoint the new run goes on from what is finished"
    )


@contextmanager
def _delivered(executor: Any, job: Any) -> Iterator[Callable[[], Any]]:
    """Give a function that brings the data to the workers, and returns what tasks find them by."""
    if isinstance(executor, ThreadPoolExecutor):
        yield lambda: _Here(job)
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
            yield lambda: _InFile(str(path))
        finally:
            whole_files.remove_folder(folder)


def _scattered(executor: Any, packed: _InMemory) -> Any:
    """Bring data to all workers, once more where one dies on the way: Dask then waits for ever, or raises."""
    seconds = _SCATTERING[0] + packed.packed.nbytes / _SCATTERING[1]
    for left in reversed(range(_TRIES)):
        try:
            return _bounded_in_time(lambda: executor.scatter(packed, broadcast=True, hash=False), seconds)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            if left == 0 or not isinstance(error, OSError):
                raise _closed(error) from error
    raise AssertionError


@dataclass(frozen=True)
class _Here:
    """A job in this process."""

    here: Any

    def job(self) -> Any:
        return self.here


@dataclass(frozen=True)
class _InFile:
    """A job in a file."""

    path: str

    def job(self) -> Any:
        return _opened(self.path, self._open)

    def _open(self) -> Any:
        try:
            return packing.opened(Path(self.path))
        except FileNotFoundError:
            raise WorkerError(
                f"a worker finds no file {self.path}: where workers are on other machines, set TMPDIR to a folder that "
                "all of them share, or use an executor that scatters data, as the Client of Dask does"
            ) from None


@dataclass(frozen=True, eq=False)
class _InMemory:
    """A job in memory, which the executor carries to its workers."""

    token: str
    packed: NDArray[np.uint8]

    def job(self) -> Any:
        return _opened(self.token, lambda: packing.unpack(self.packed))


_lock = threading.Lock()
_last: tuple[str, Any] = "", None  # the job that this process worked on last: most tasks are of the same one


def _opened(name: str, open_it: Callable[[], Any]) -> Any:
    """Return a job that is opened once in each process."""
    global _last
    with _lock:
        if _last[0] != name:
            _last = "", None  # before there are two in memory
            _last = name, open_it()
        return _last[1]
