"""Work shared among threads in the order of its items."""

import threading
import time
import warnings

import pytest
from helpers.each import each

from fastfair._lib.threads import in_threads, meanwhile, run_in_order
from fastfair._lib.warnings import warn
from fastfair.errors import DroppedWarning


@each("n_threads", [1, 3])
@each("n_items", [1, 2, 20])
def test_results_come_in_the_order_of_items(n_threads, n_items):
    assert [*run_in_order(lambda item: item + 1, range(n_items), n_threads)] == [
        *range(1, n_items + 1)
    ]


def test_each_thread_works_alone():
    def work(_: int) -> set[int]:
        return set(in_threads(10**9, lambda _: threading.get_ident(), range(8), 4))

    assert all(len(threads) == 1 for threads in run_in_order(work, range(6), 2))


def test_warnings_are_given_by_the_thread_that_asks_and_in_order():
    def work(item: int) -> None:
        time.sleep((3 - item) / 100)
        warn(str(item), DroppedWarning)

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert [*run_in_order(work, range(3), 3)] == [None] * 3
    assert [(str(one.message), one.filename) for one in told] == [
        (str(k), __file__) for k in range(3)
    ]


@each("n_threads", [1, 2])
def test_a_call_meanwhile_gives_its_warnings_and_errors_where_it_is_asked_for(n_threads):
    def work() -> int:
        warn("said", DroppedWarning)
        return threading.get_ident()

    with meanwhile(work, n_threads) as result, pytest.warns(DroppedWarning) as told:
        assert (result() == threading.get_ident()) == (n_threads == 1)
    assert told[0].filename == __file__
    with meanwhile(lambda: 1 // 0, n_threads) as result, pytest.raises(ZeroDivisionError):
        result()
