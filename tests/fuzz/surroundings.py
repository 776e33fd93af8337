"""Change files at random moments while they are read, and give work to executors of bad manners.

What comes out is right, for the file as it was or as it is, or an error of ours. Rounds are run by
other processes, some at a time, as a fault may be the end of the process; each process has its
limit in time.
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import polars as pl

import fastfair as ff
from fastfair._lib import memory
from fastfair.errors import FastfairError

ALLOWED = ("right", "error of ours")
AT_ONCE, LIMIT = 50, 300  # rounds of a process, and seconds that they may take
_ROWS = 3000


def table(seed: int, n: int = _ROWS) -> pl.DataFrame:
    """Make scores of few people."""
    rng = np.random.default_rng(seed)
    reference, probe = rng.integers(0, 40, (2, n))
    scores = rng.normal(size=n) + 2 * (reference == probe)
    return pl.DataFrame(
        {"reference": reference.astype(str), "probe": probe.astype(str), "score": scores}
    )


def write(path: Path, seed: int) -> None:
    """Write a file by its suffix."""
    with path.open("wb") as file:
        if path.suffix == ".npy":
            np.save(file, np.random.default_rng(seed).normal(size=(400, 64)).astype(np.float32))
        elif path.suffix == ".csv":
            table(seed).write_csv(file)
        else:
            table(seed).write_parquet(file, row_group_size=500)


def told(found: Any) -> str:
    """Return the numbers of an evaluation."""
    ev = ff.evaluate(found, ff.at_fmr(0.1), [], metrics=["eer"], n_resamples=64, rng=0, n_threads=1)
    return json.dumps([[q.name, q.estimate, q.low, q.high] for q in ev.quantities])


def of_vectors(path: Path) -> str:
    """Read vectors as where memory is short, and evaluate them."""
    with mock.patch.object(memory, "available", return_value=2**20):
        e = ff.read_embeddings(path, subject=np.arange(400) // 4)
    return told(e)


def by_workers(path: Path) -> str:
    """Scan by an executor."""
    with ThreadPoolExecutor(2) as pool:
        return told(
            ff.scan_comparisons(path, executor=pool, policies=ff.Policies(self_comparisons="keep"))
        )


READERS: dict[str, tuple[str, Callable[[Path], str]]] = {
    "text": (
        ".csv",
        lambda path: told(ff.read_comparisons(path, policies=ff.Policies(self_comparisons="keep"))),
    ),
    "Parquet": (
        ".parquet",
        lambda path: told(ff.read_comparisons(path, policies=ff.Policies(self_comparisons="keep"))),
    ),
    "scan of text": (
        ".csv",
        lambda path: told(ff.scan_comparisons(path, policies=ff.Policies(self_comparisons="keep"))),
    ),
    "scan": (
        ".parquet",
        lambda path: told(ff.scan_comparisons(path, policies=ff.Policies(self_comparisons="keep"))),
    ),
    "scan by workers": (".parquet", by_workers),
    "vectors": (".npy", of_vectors),
}


def change(path: Path, rng: random.Random) -> None:
    """Change a file in one of many ways."""
    size = path.stat().st_size
    way = rng.choice(("grow", "shrink", "empty", "rewrite", "replace", "spoil", "remove"))
    if way == "grow":
        with path.open("ab") as file:
            file.write(b"1,2,0.25\n" * rng.randrange(1, 50))
    elif way in ("shrink", "empty"):
        os.truncate(path, 0 if way == "empty" else rng.randrange(size))
    elif way == "rewrite":
        write(path, rng.randrange(2, 9))
    elif way == "replace":
        other = path.with_name(f"other{path.suffix}")
        write(other, rng.randrange(2, 9))
        other.replace(path)
    elif way == "spoil":
        with path.open("r+b") as file:
            file.seek(rng.randrange(size))
            file.write(rng.randbytes(20))
    else:
        path.unlink()


def change_while_reading(
    rng: random.Random, folder: Path, expected: dict[str, str], took: dict[str, float]
) -> str:
    """Change a file at a moment of a reading; return what became of it."""
    name = rng.choice(list(READERS))
    suffix, reader = READERS[name]
    path = folder / f"scores{suffix}"
    write(path, 1)
    if name not in expected:
        reader(path)  # compiles kernels
        start = time.perf_counter()
        expected[name] = reader(path)
        took[name] = time.perf_counter() - start
    timer = threading.Timer(rng.uniform(0, 1.2 * took[name]), change, (path, rng))
    timer.start()
    try:
        found = reader(path)
    except FastfairError:
        return "error of ours"
    finally:
        timer.join()
    if found == expected[name]:
        return "right"
    try:
        return "right" if found == reader(path) else f"wrong: {name}"
    except FastfairError:
        return f"wrong: {name}"


class Odd:
    """An executor whose `submit` gives what a function makes of a future."""

    def __init__(self, manners: Callable[[Future[Any]], Any]) -> None:
        self.manners, self.pool = manners, ThreadPoolExecutor(2)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """As executors have it."""
        return self.manners(self.pool.submit(function, *arguments))


def sometimes(
    rng: random.Random, manners: Callable[[Future[Any]], Any]
) -> Callable[[Future[Any]], Any]:
    """Use manners from a random task on."""
    left = rng.randrange(40)

    def behave(future: Future[Any]) -> Any:
        nonlocal left
        left -= 1
        return manners(future) if left < 0 else future

    return behave


def ended(value: Any = None, error: BaseException | None = None) -> Future[Any]:
    """Return a future that has ended."""
    future: Future[Any] = Future()
    if error is None:
        future.set_result(value)
    else:
        future.set_exception(error)
    return future


def refuse(_: Future[Any]) -> Any:
    """Raise what no executor should."""
    raise KeyError("no")


def silence(future: Future[Any]) -> Future[Any]:
    """Let a future forget whom to call."""
    future.add_done_callback = lambda call: None  # type: ignore[method-assign, assignment]  # that is the bad manner
    return future


MANNERS: dict[str, Callable[[Future[Any]], Any]] = {
    "raises": refuse,
    "returns a number": lambda _: 5,
    "returns nonsense": lambda _: ended({"x": np.zeros(3)}),
    "returns nothing": lambda _: ended(),
    "cancels": lambda _: ended(error=asyncio.CancelledError("cancelled")),
    "fails": lambda _: ended(error=SystemError("failed")),
    "is silent": silence,
}


def work_of_bad_manners(rng: random.Random, data: ff.Comparisons, expected: dict[str, str]) -> str:
    """Evaluate by an executor of bad manners, or one that is shut down midway."""

    def evaluated(executor: Any) -> str:
        ev = ff.evaluate(
            data, ff.at_fmr(0.1), [], metrics=["eer"], n_resamples=3000, rng=0, executor=executor
        )
        return json.dumps([[q.name, q.estimate, q.low, q.high] for q in ev.quantities])

    if "executor" not in expected:
        expected["executor"] = evaluated(None)
    name = rng.choice((*MANNERS, "is shut down"))
    if name == "is shut down":
        executor: Any = ThreadPoolExecutor(1)
        options = {"wait": False, "cancel_futures": True}
        threading.Timer(rng.uniform(0, 0.2), executor.shutdown, kwargs=options).start()
    else:
        executor = Odd(sometimes(rng, MANNERS[name]))
    try:
        return (
            "right"
            if evaluated(executor) == expected["executor"]
            else f"wrong: executor that {name}"
        )
    except FastfairError:
        return "error of ours"


def rounds(first: int, number: int) -> None:
    """Run some rounds, and print what became of each."""
    warnings.simplefilter("ignore")
    expected: dict[str, str] = {}
    took: dict[str, float] = {}
    data = table(0)
    c = ff.Comparisons(
        data["score"].to_numpy(),
        (data["reference"] == data["probe"]).to_numpy(),
        data["reference"],
        data["probe"],
        policies=ff.Policies(self_comparisons="keep"),
    )
    with tempfile.TemporaryDirectory() as folder:
        for k in range(first, first + number):
            rng = random.Random(k)
            try:
                if k % 4 == 3:
                    print(work_of_bad_manners(rng, c, expected), flush=True)
                else:
                    print(change_while_reading(rng, Path(folder), expected, took), flush=True)
            except BaseException as error:
                where = traceback.extract_tb(error.__traceback__)[-1]
                print(
                    f"foreign: {type(error).__name__}: {error!s:.100}"
                    f" ({where.filename}:{where.lineno})",
                    flush=True,
                )


def main() -> int:
    """Run from the command line; the exit code says whether all that happened is allowed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--number", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    counts: collections.Counter[str] = collections.Counter()
    start = time.perf_counter()
    for first in range(0, asked.number, AT_ONCE):
        number, begin = min(AT_ONCE, asked.number - first), asked.seed * 10**6 + first
        code = f"import surroundings; surroundings.rounds({begin}, {number})"
        try:
            done = subprocess.run(
                [sys.executable, "-c", code],
                cwd=Path(__file__).parent,
                capture_output=True,
                text=True,
                timeout=LIMIT,
                check=False,
            )
        except subprocess.TimeoutExpired as late:
            counts["hang"] += 1
            print(
                f"hang in the {AT_ONCE} rounds from {begin}"
                f" on\n{(late.stderr or b'').decode()[-2000:]}"
            )
            continue
        lines = done.stdout.splitlines()
        counts.update(lines)
        for k, line in enumerate(lines):
            if line not in ALLOWED:
                print(f"{begin + k}: {line}")
        if done.returncode or len(lines) != number:
            counts["process ended"] += 1
            print(
                f"the process ended with {done.returncode} in round"
                f" {begin + len(lines)}\n{done.stderr[-2000:]}"
            )
    said = ", ".join(f"{what} {n}" for what, n in sorted(counts.items()))
    print(
        f"surroundings: {asked.number} of seed {asked.seed} in {time.perf_counter() - start:.0f} s:"
        f" {said}"
    )
    return int(any(what not in ALLOWED for what in counts))


if __name__ == "__main__":
    sys.exit(main())
