"""Run work in other threads, so that an interrupt ends the main thread at once.

Python raises KeyboardInterrupt in the main thread, between two of its instructions. If that thread
held a lock of numba or llvmlite, the lock would never be released; if it compiled a kernel, the
interrupt would wait for seconds. So long work, and work that holds such a lock, runs in other
threads, and the main thread only waits for the result.

All of fastfair uses these threads. They stand among the kernels, which import nothing of fastfair.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
# held while a file is written that must not stay unfinished; `_die` waits for it
WRITING = threading.Lock()
_GLANCE = 0.05  # seconds between checks whether the result is still wanted


_busy: set[_Hand] = set()


def free_in_forks(lock: Any) -> None:
    """Take a lock while the process is forked, so that no thread, which the other process lacks,
    holds it there.

    Locks are taken in the reverse order of these calls. So a lock that a thread holds while it takes
    another one is given here after that one.
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(
            before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release
        )


free_in_forks(WRITING)


class _Abandoned(BaseException):
    """Raised in a thread whose result is no longer wanted."""


class _Hand(threading.Thread):
    """A thread that takes items as long as there are any, and puts the results into a queue.

    The queue is a SimpleQueue, whose methods are single instructions to Python, so an interrupt
    cannot come inside.
    """

    def __init__(
        self,
        work: Callable[[Any], Any],
        items: Iterator[tuple[int, Any]],
        results: queue.SimpleQueue[Any],
    ):
        super().__init__(name="fastfair", daemon=True)
        self._work, self._items, self._found = work, items, results
        self.abandoned = False

    def run(self) -> None:
        _busy.add(self)
        number = 0
        try:
            for number, item in self._items:
                if self.abandoned:
                    break
                self._found.put((number, self._work(item), None))
        except BaseException as error:
            self._found.put((number, None, error))
        finally:
            _busy.discard(self)


def deal(
    work: Callable[[_Item], _Result],
    items: Sequence[_Item],
    n_threads: int,
    report: Callable[[int, _Result], None],
) -> None:
    """Call a function for each item in other threads; an interrupt or an error does not wait for
    running calls.

    Parameters
    ----------
    work : callable
        Called with an item.
    items : sequence
        The items.
    n_threads : int
        Number of threads.
    report : callable
        Called in this thread after each item, with the number of the item and what `work` returned.
    """
    process = os.getpid()
    # shared safely, as the interpreter's lock lets one thread at a time advance it
    shared = enumerate(items)
    with _at_work(work, shared, min(n_threads, len(items))) as results:
        for _ in items:
            number, result, error = _next(results, process)
            if error is not None:
                raise error
            report(number, result)


@contextlib.contextmanager
def _at_work(
    work: Callable[[Any], Any], items: Iterator[tuple[int, Any]], n_threads: int
) -> Iterator[queue.SimpleQueue[tuple[int, Any, BaseException | None]]]:
    """Start threads that share items, and give the queue of their results; they take no more items
    afterwards.
    """
    # The function registered last is called first at exit, before anything is taken down.
    atexit.unregister(_end)
    atexit.register(_end)
    results: queue.SimpleQueue[tuple[int, Any, BaseException | None]] = queue.SimpleQueue()
    hands = [_Hand(work, items, results) for _ in range(n_threads)]
    try:
        for hand in hands:
            hand.start()
        yield results
    finally:
        for hand in hands:
            hand.abandoned = True


class _Paced:
    """Items that threads share, none of them further ahead than `ahead` of the first one that is
    still wanted.
    """

    def __init__(self, items: Sequence[Any], ahead: int):
        self._items = enumerate(items)
        self._free = threading.Semaphore(ahead)

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        return self

    def __next__(self) -> tuple[int, Any]:
        hand = threading.current_thread()
        while not self._free.acquire(timeout=_GLANCE):
            if isinstance(hand, _Hand) and hand.abandoned:
                raise StopIteration
        return next(self._items)

    def go_on(self) -> None:
        self._free.release()


def deal_in_order(
    work: Callable[[_Item], _Result], items: Sequence[_Item], n_threads: int, ahead: int
) -> Iterator[_Result]:
    """Call a function for each item in other threads, and yield what it returns, or raise its
    error, item by item.

    Parameters
    ----------
    work : callable
        Called with an item.
    items : sequence
        The items.
    n_threads : int
        Number of threads.
    ahead : int
        Most items that are worked on, or were, before their results are asked for.

    Yields
    ------
    object
        What `work` returned.
    """
    paced, process = _Paced(items, max(ahead, n_threads)), os.getpid()
    early: dict[int, tuple[Any, BaseException | None]] = {}
    with _at_work(work, paced, min(n_threads, len(items))) as results:
        for k in range(len(items)):
            while k not in early:
                number, *result = _next(results, process)
                early[number] = result[0], result[1]
            wanted, error = early.pop(k)
            if error is not None:
                raise error
            paced.go_on()
            yield wanted


def run_aside(call: Callable[[], _Result]) -> _Result:
    """Call a function in another thread and wait for its result; after an interrupt the call goes
    on alone.
    """
    with run_beside(call) as wait:
        return wait()


@contextlib.contextmanager
def run_beside(call: Callable[[], _Result]) -> Iterator[Callable[[], _Result]]:
    """Call a function in another thread while this one goes on, and give what waits for its
    result.
    """
    process = os.getpid()

    def wait() -> _Result:
        _, result, error = _next(results, process)
        if error is not None:
            raise error
        return result

    with _at_work(lambda _: call(), enumerate((None,)), 1) as results:
        yield wait


def _next(results: queue.SimpleQueue[Any], process: int) -> Any:
    """Wait for the next result; process: where the threads are that work on it."""
    thread = threading.current_thread()
    while not (isinstance(thread, _Hand) and thread.abandoned):
        if os.getpid() != process:
            raise RuntimeError(
                "this process was forked while fastfair was at work: its threads are in the other"
                " process, so that the work cannot go on here; start processes before, or by the"
                " method spawn"
            )
        with contextlib.suppress(queue.Empty):
            return results.get(timeout=_GLANCE)
    raise _Abandoned


def _end() -> None:
    """Wait for threads before the interpreter is taken down; after an interrupt, end the process
    without waiting.
    """
    # a process that was forked from a busy one has none
    if not any(hand.is_alive() for hand in list(_busy)):
        return
    interactive = hasattr(sys, "ps1")
    if not interactive and getattr(sys, "last_type", None) is KeyboardInterrupt:
        _die()
    try:
        for hand in list(_busy):
            hand.abandoned = True
            hand.join()
    except KeyboardInterrupt:
        _die()


def _die() -> None:
    """End as an interrupted program does, without waiting for threads."""
    atexit.unregister(_end)
    with contextlib.suppress(BaseException):
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    WRITING.acquire(timeout=_GLANCE)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGINT)
