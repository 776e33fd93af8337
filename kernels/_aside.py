"""Work done by other threads, so that an interrupt is heeded at once whatever is under way.

Python raises KeyboardInterrupt in the main thread, between two of its instructions. There it could strike while numba's
or llvmlite's lock is held, which then nobody gets again, and while a kernel compiles it would have to wait for seconds.
So what takes long or holds such a lock is done aside, and whoever needs the result waits in a way that can be given up.
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
WRITING = threading.Lock()  # held while a file is begun that must not be left so; whoever ends the process takes it
_GLANCE = 0.05  # seconds between looks at whether the wait was given up


_busy: set[_Hand] = set()
_ending = False


class _Abandoned(BaseException):
    """Raised in a thread whose result nobody waits for any more."""


class _Hand(threading.Thread):
    """A thread that takes items while there are some, and puts what became of them into a queue.

    The queue is a simple one, as its methods are single instructions to Python: an interrupt cannot strike inside.
    """

    def __init__(self, work: Callable[[Any], Any], items: Iterator[tuple[int, Any]], found: queue.SimpleQueue[Any]):
        super().__init__(name="fastfair", daemon=True)
        self._work, self._items, self._found = work, items, found
        self.abandoned = False

    def run(self) -> None:
        _busy.add(self)
        try:
            for number, item in self._items:
                if self.abandoned:
                    break
                self._found.put((number, self._work(item), None))
        except BaseException as error:
            self._found.put((0, None, error))
        finally:
            _busy.discard(self)


def deal(
    work: Callable[[_Item], _Result],
    items: Sequence[_Item],
    n_threads: int,
    told: Callable[[int, _Result], None],
) -> None:
    """Call a function for each item in other threads; an interrupt, or an error, does not wait for those under way.

    Parameters
    ----------
    work : callable
        Called with an item.
    items : sequence
        What there is to do.
    n_threads : int
        How many items are worked on at a time.
    told : callable
        Called in this thread with the number of an item and what work returned, in the order in which they end.
    """
    # The last registered is the first called, while nothing is taken down yet.
    atexit.unregister(_end)
    atexit.register(_end)
    found: queue.SimpleQueue[tuple[int, Any, BaseException | None]] = queue.SimpleQueue()
    shared = enumerate(items)  # threads take turns at it under the interpreter's lock
    hands = [_Hand(work, shared, found) for _ in range(min(n_threads, len(items)))]
    try:
        for hand in hands:
            hand.start()
        for _ in items:
            number, result, error = _next(found)
            if error is not None:
                raise error
            told(number, result)
    finally:
        for hand in hands:
            hand.abandoned = True


def aside(call: Callable[[], _Result]) -> _Result:
    """Call a function in another thread and wait for it; an interrupt leaves it to go on alone."""
    results: list[_Result] = []
    deal(lambda _: call(), (None,), 1, lambda _, result: results.append(result))
    return results[0]


def end_if_the_process_does() -> None:
    """Raise where the process waits for its threads to end: for work to call between its steps."""
    if _ending:
        raise _Abandoned


def _next(found: queue.SimpleQueue[Any]) -> Any:
    thread = threading.current_thread()
    while not (isinstance(thread, _Hand) and thread.abandoned):
        with contextlib.suppress(queue.Empty):
            return found.get(timeout=_GLANCE)
    raise _Abandoned


def _end() -> None:
    """Let threads end before the interpreter is taken down, or end with them where an interrupt ends the process."""
    global _ending
    if not _busy:
        return
    interactive = hasattr(sys, "ps1")
    if not interactive and getattr(sys, "last_type", None) is KeyboardInterrupt:
        _die()
    _ending = True
    try:
        for hand in list(_busy):
            hand.abandoned = True
            hand.join()
    except KeyboardInterrupt:
        _die()
    _ending = False


def _die() -> None:
    """End as an interrupted program does, whatever threads are doing."""
    atexit.unregister(_end)
    with contextlib.suppress(BaseException):
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    WRITING.acquire(timeout=_GLANCE)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGINT)
