"""Sums over the buckets of a scan as tasks of an executor."""

from types import SimpleNamespace

import numpy as np

from fastfair.resampling import scanned_pairs


def test_a_worker_draws_once_for_all_of_its_tasks(monkeypatch):
    begun = []

    def begin():
        begun.append(1)

        def add(grouped, part, sums, lock):
            sums["n"] += grouped.n_comparisons

        return add

    work = scanned_pairs.Pass(1, {"n": ((1,), np.int64)}, begin)
    job = scanned_pairs._Passing(None, "", work)
    monkeypatch.setattr(
        scanned_pairs._Passing, "_grouped", lambda self, k, n: SimpleNamespace(n_comparisons=10 + k)
    )
    sums = [job.run(steps, 1, None)["n"].tolist() for steps in (range(2), range(2, 3))]
    assert sums == [[21], [12]]
    assert len(begun) == 1
