"""Work shared among threads in the order of its items."""

import contextlib
import threading
import time
import warnings

from helpers.each import each

from fastfair._lib.threads import Turns, in_order, in_threads
from fastfair._lib.warnings import warn
from fastfair.errors import DroppedWarning


@each("n_threads", [1, 3])
@each("n_items", [1, 2, 20])
def test_results_come_in_the_order_of_items(n_threads, n_items):
    assert [*in_order(lambda item: item + 1, range(n_items), n_threads)] == [*range(1, n_items + 1)]


def test_each_thread_works_alone():
    def work(_: int) -> set[int]:
        return set(in_threads(10**9, lambda _: threading.get_ident(), range(8), 4))

    assert all(len(threads) == 1 for threads in in_order(work, range(6), 2))


def test_warnings_are_given_by_the_thread_that_asks_and_in_order():
    def work(item: int) -> None:
        time.sleep((3 - item) / 100)
        warn(str(item), DroppedWarning)

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert [*in_order(work, range(3), 3)] == [None] * 3
    assert [(str(one.message), one.filename) for one in told] == [(str(k), __file__) for k in range(3)]


def test_turns_are_taken_in_order_and_passed_on_by_those_that_fail():
    turns, taken = Turns(), []

    def work(item: int) -> None:
        with turns.of(item) as turn:
            time.sleep((item % 3) / 200)
            if item % 4 == 1:
                raise ZeroDivisionError
            turn.take()
            taken.append(item)
            if item % 2:
                turn.pass_on()

    threads = [threading.Thread(target=lambda k=k: _without_error(work, k)) for k in range(12)]
    for thread in reversed(threads):
        thread.start()
    for thread in threads:
        thread.join(10)
    assert taken == [k for k in range(12) if k % 4 != 1]


def _without_error(work, item):
    with contextlib.suppress(ZeroDivisionError):
        work(item)
