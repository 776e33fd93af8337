"""Interrupts at random moments of real processes: does each end at once, and leave nothing half
done?

    python tests/stress/interrupts.py 500 --seed 1

starts the command line and Python scripts on made-up data, with kernels from a filled cache and
with an empty one, sends each a SIGINT, or half of the commands a SIGTERM, at a moment drawn from
the whole of its run, and checks what came of it:

- it ends within a second, as an interrupted program does;
- where a script catches the interrupt, that is within a second, and the same work gives the right
  numbers afterwards;
- a file of results is whole or not there, and nothing else is left, in the folder of results or in
  the cache;
- the command line shows no traceback.

Seconds are those of the clock: on a busy machine they may need a larger `--limit`.
"""

from __future__ import annotations

import argparse
import collections
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

_HANGS, _WORKS = (
    60.0,
    1200.0,
)  # seconds: an interrupt ends a process, or work afterwards compiles all kernels

# From the first line on an interrupt is ours to heed: before, the interpreter itself is starting.
_COMMAND = """
import runpy, sys
from fastfair.cli import interrupts
heed = interrupts.end_at_once
interrupts.end_at_once = lambda: (heed(), print("begun", flush=True))
sys.argv = ["fastfair", *ARGUMENTS]
runpy.run_module("fastfair", run_name="__main__", alter_sys=True)
"""
_START = """
import numpy as np  # in whose own import an interrupt is an ImportError
print("begun", flush=True)
import fastfair as ff
d = np.load("data.npz")
first, second = (ff.Comparisons(d[name], d["mated"], d["reference"], d["probe"], {"sex": d["sex"]}, {"sex": d["sex"]})
                 for name in ("first", "second"))
print("ready", flush=True)
"""
_DIES = """
for _ in range(5):
    WORK
"""
_GOES_ON = """
try:
    for _ in range(5):
        WORK
except KeyboardInterrupt:
    print("caught", flush=True)
print(WORK)
"""
_WORK = {
    "evaluate": "ff.evaluate(first, ff.at_fmr(0.01), n_resamples=600, rng=0).to_json()",
    "roc_band": "ff.roc_band(first, [0.001, 0.01], n_resamples=400, rng=0).fnmr.tolist()",
    "compare": "ff.compare(first, second, ff.at_fmr(0.01), n_resamples=400, rng=0).to_json()",
}
_COMMANDS = {
    "evaluate": (
        "evaluate first.csv --group sex --at fmr=0.01 --n-resamples 1000 --seed 1 --output out"
        " --plots png"
    ),
    "compare": (
        "compare first.csv second.csv --group sex --at fmr=0.01 --n-resamples 500 --seed 1"
        " --output out"
    ),
    "embeddings": "embeddings vectors.npz --group sex --fmr 0.01 --seed 1 --output out",
    "group-test": (
        "group-test first.csv --group sex --at fmr=0.01 --n-resamples 2000 --seed 1 --output out"
    ),
    "synthesize": "synthesize --fmr 0.01 --n-steps 300 --n-nonmated 30000 --seed 1 --output out",
}


@dataclass(frozen=True)
class Case:
    """A process to interrupt."""

    name: str
    code: str
    is_command: bool = False
    goes_on: bool = False

    @property
    def begins(self) -> str:
        """What it prints when an interrupt may come: where it goes on, fastfair is imported and the
        data are there."""
        return "ready" if self.goes_on else "begun"


CASES = [
    *(
        Case(f"fastfair {name}", _COMMAND.replace("ARGUMENTS", repr(line.split())), True)
        for name, line in _COMMANDS.items()
    ),
    *(Case(f"{name}, dies", _START + _DIES.replace("WORK", work)) for name, work in _WORK.items()),
    *(
        Case(f"{name}, goes on", _START + _GOES_ON.replace("WORK", work), goes_on=True)
        for name, work in _WORK.items()
    ),
]


@dataclass
class Run:
    """What became of a process."""

    code: int
    ended: float
    said: dict[str, float]  # when
    printed: str
    errors: str
    files: dict[str, bytes]
    interrupted: float | None = None
    hung: bool = False
    sent: signal.Signals = signal.SIGINT
    problems: list[str] = field(default_factory=list)


class Bench:
    """A folder with data, a filled cache, and what uninterrupted runs gave."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._whole: dict[str, Run] = {}
        _write_data(folder)

    def whole(self, case: Case) -> Run:
        """Run a case to its end with a filled cache, once."""
        if case.name not in self._whole:
            self.run(case, False, None)  # fills it
            run = self._whole[case.name] = self.run(case, False, None)
            if run.code != 0 or run.hung:
                raise SystemExit(f"{case.name} fails without an interrupt: {run.errors}")
        return self._whole[case.name]

    def run(
        self, case: Case, cold: bool, delay: float | None, sent: signal.Signals = signal.SIGINT
    ) -> Run:
        """Run a case, and send it a signal some seconds after it begins."""
        out, cache = self.folder / "out", self.folder / "cache"
        shutil.rmtree(out, ignore_errors=True)
        with (self.folder / "errors").open("w+") as errors:
            process = subprocess.Popen(
                [sys.executable, "-c", case.code],
                cwd=self.folder,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env=os.environ | ({"FASTFAIR_CACHE_DIR": str(cache)} if cold else {}),
            )
            said: dict[str, float] = {}
            printed: list[str] = []
            ready = threading.Event()

            def listen() -> None:
                assert process.stdout is not None
                for line in process.stdout:
                    said.setdefault(line.strip()[:10], time.perf_counter())
                    printed.append(line)
                    if line.strip() == case.begins:
                        ready.set()
                ready.set()  # it has ended

            listener = threading.Thread(target=listen)
            listener.start()
            hung, interrupted = False, None
            try:
                if delay is not None:
                    ready.wait()
                    time.sleep(delay)
                    if process.poll() is None:
                        interrupted = time.perf_counter()
                        process.send_signal(sent)
                process.wait(_WORKS if delay is None or case.goes_on else _HANGS)
            except subprocess.TimeoutExpired:
                hung = True
            finally:
                ended = time.perf_counter()
                process.kill()
                process.wait()
            listener.join()
            errors.seek(0)
            files = {path.name: path.read_bytes() for path in out.iterdir()} if out.is_dir() else {}
            run = Run(process.returncode, ended, said, "".join(printed), errors.read(), files)
        run.interrupted, run.hung, run.sent = interrupted, hung, sent
        run.problems += [f"{path.name} left in the cache" for path in cache.rglob("*tmp*")]
        return run

    def interrupt(self, case: Case, cold: bool, rng: np.random.Generator) -> Run:
        """Interrupt a case at a random moment of its run with a filled cache, or of as long of the
        kernels' compiling.

        An empty cache is filled by one interrupted run after the other, so that each kernel gets
        its turn.
        """
        whole = self.whole(case)
        while True:
            delay = rng.uniform(0, whole.ended - whole.said[case.begins])
            sent = signal.SIGTERM if case.is_command and rng.random() < 0.5 else signal.SIGINT
            run = self.run(case, cold, delay, sent)
            if run.interrupted is not None:
                return run
            shutil.rmtree(self.folder / "cache", ignore_errors=True)

    def judge(self, case: Case, run: Run, limit: float) -> float:
        """Add what is wrong with an interrupted run to its problems; return how long the interrupt
        took."""
        assert run.interrupted is not None
        whole = self.whole(case)
        files = {name for name, content in whole.files.items() if run.files.get(name) == content}
        done = files == set(whole.files)
        heard = run.said.get("caught", run.ended) if case.goes_on else run.ended
        took = heard - run.interrupted
        if run.hung:
            run.problems.append("hangs")
        elif took > limit:
            run.problems.append(f"took {took:.2f} s")
        if case.goes_on and "caught" in run.said:
            if run.code != 0 or run.printed.splitlines()[-1] != whole.printed.splitlines()[-1]:
                run.problems.append(f"ends with {run.code} and other numbers after the interrupt")
        elif run.code not in (128 + run.sent, -signal.SIGINT) and not (
            run.code == 0 and done and took < limit
        ):
            run.problems.append(f"ends with {run.code}")
        run.problems += [f"{name} is left, but not whole" for name in set(run.files) - files]
        if case.is_command and "Traceback" in run.errors:
            run.problems.append("shows a traceback")
        return took


def _write_data(folder: Path) -> None:
    rng = np.random.default_rng(0)
    n, subjects = 200_000, 400
    mated = rng.random(n) < 0.3
    reference = rng.integers(0, subjects, n)
    probe = np.where(mated, reference, (reference + rng.integers(1, subjects, n)) % subjects)
    sex = np.array(["f", "m"])[np.arange(subjects) % 2]
    scores = dict(zip(("first", "second"), rng.normal(size=(2, n)) + 2 * mated, strict=True))
    np.savez(
        folder / "data.npz",
        **scores,
        mated=mated,
        reference=reference,
        probe=probe,
        sex=sex[reference],
    )
    for name, values in scores.items():
        rows = list(zip(values, mated, reference, probe, strict=True))[:50_000]
        lines = [f"{s:.6f},{m:d},{r},{p},{sex[r]},{sex[p]}\n" for s, m, r, p in rows]
        (folder / f"{name}.csv").write_text(
            "score,mated,reference,probe,reference_sex,probe_sex\n" + "".join(lines)
        )
    subject = np.repeat(np.arange(300), 5)
    vectors = rng.normal(size=(300, 32))[subject] + rng.normal(size=(subject.size, 32))
    np.savez(folder / "vectors.npz", vectors=vectors, subject=subject, sex=sex[subject])


def main(arguments: Sequence[str] | None = None) -> int:
    """Interrupt, tell how it went, and return 1 where anything is wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("n", type=int, help="how many interrupts")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=float, default=1.0, metavar="SECONDS", help="[default: 1]")
    parser.add_argument("--cache", choices=["both", "warm", "cold"], default="both")
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="cases with this in their names alone"
    )
    asked = parser.parse_args(arguments)
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # shells have their background jobs ignore it
    rng = np.random.default_rng(asked.seed)
    cases = [case for case in CASES if asked.only in case.name]
    took: dict[str, list[float]] = collections.defaultdict(list)
    n_wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        for number in range(asked.n):
            case = cases[number % len(cases)]
            cold = asked.cache == "cold" or (
                asked.cache == "both" and number // len(cases) % 2 == 1
            )
            run = bench.interrupt(case, cold, rng)
            seconds = bench.judge(case, run, asked.limit)
            name = f"{case.name}, {'cold' if cold else 'warm'}"
            took[name].append(seconds)
            moment = (run.interrupted or 0) - run.said[case.begins]
            load = f"load {os.getloadavg()[0]:.0f} on {os.cpu_count()} processors"
            said = "; ".join(run.problems) or "right"
            print(
                f"{number}: {name}, after {moment:.2f} s, heeded in {seconds:.2f} s, {load}:"
                f" {said}",
                flush=True,
            )
            if run.problems:
                n_wrong += 1
                print(run.errors[-2000:], flush=True)
    print(f"{'':32}{'interrupts':>10}{'median s':>10}{'largest s':>10}")
    for name, seconds in sorted(took.items()):
        print(f"{name:32}{len(seconds):10}{np.median(seconds):10.2f}{max(seconds):10.2f}")
    print(f"{asked.n} interrupts, {n_wrong} wrong")
    return int(n_wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
