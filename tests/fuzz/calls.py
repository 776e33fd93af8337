"""Call every public function with values of a hundred kinds, and count what becomes of it.

Allowed are the library's own errors, and results that pass for one. Anything else is a fault: an
exception or a warning of somebody else, more than five seconds, a rate outside [0, 1], another
result for what is as good as a valid value.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import dataclasses
import inspect
import os
import random
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))

import bad_values
import valid_calls
from helpers import public_api

import fastfair as ff
from fastfair.errors import FastfairError, FastfairWarning

LIMIT = 5.0  # seconds
ALLOWED = ("refused", "accepted", "same")
_RATES = {"fmr", "fnmr", "eer", "tmr", "tnmr", "pvalue", "group_fmr", "group_fnmr"}


class TimeUp(BaseException):
    """A call took too long."""


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What became of one call, and how to have it again."""

    what: str
    call: str
    kinds: tuple[tuple[str, str], ...]
    told: str = ""

    def __str__(self) -> str:
        again = " ".join(f"{name}={kind!r}" for name, kind in self.kinds)
        return f"{self.what}: {self.call} {again}\n    {self.told}"


@contextlib.contextmanager
def limited(seconds: float | None = None) -> Iterator[None]:
    """Raise where the block takes longer."""

    def stop(*_: Any) -> None:
        raise TimeUp

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds or LIMIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def target(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return what is called by a name, and the function whose arguments it takes."""
    function = public_api.FUNCTIONS.get(name) or public_api.FUNCTIONS[f"{name}.__init__"]
    if name.startswith("fastfair."):
        return function, function
    kind, _, method = name.partition(".")
    if not method:
        return next(one for one in public_api.CLASSES if one.__name__ == kind), function
    return getattr(valid_calls.made()[kind], method), function


def call(name: str, given: dict[str, Any]) -> Any:
    """Call a function with arguments by name; what a star gathers is given by place."""
    callee, function = target(name)
    star = [
        p.name
        for p in inspect.signature(function).parameters.values()
        if p.kind is p.VAR_POSITIONAL
    ]
    rest = {key: value for key, value in given.items() if key not in star}
    return callee(*(given[key] for key in star if key in given), **rest)


def facts(value: Any, depth: int = 0) -> Any:
    """Reduce a result to what can be compared: equal results have equal facts."""
    if isinstance(value, ff.Comparisons):
        return facts(
            [value.score_kind, value.groups, value.mated.keys, value.nonmated.keys, repr(value)],
            depth,
        )
    if isinstance(value, ff.Embeddings):
        return facts([value.vectors, value.subject, value.groups], depth)
    if isinstance(value, ff.FailureCounts):
        return facts([value.failures, value.attempts, value.groups], depth)
    if isinstance(value, np.ndarray):
        return [str(value.shape), *map(repr, value.ravel().tolist())]
    if dataclasses.is_dataclass(value) and not isinstance(value, type) and depth < 4:
        fields = (field.name for field in dataclasses.fields(value) if field.name != "uncertainty")
        return [facts(getattr(value, name), depth + 1) for name in fields]
    if isinstance(value, list | tuple):
        return [facts(one, depth + 1) for one in value]
    if isinstance(value, dict):
        return {str(key): facts(one, depth + 1) for key, one in value.items()}
    return repr(value) if isinstance(value, float | int | str | None) else type(value).__name__


def strange(value: Any, depth: int = 0) -> str:
    """Say what of a result cannot be: a rate outside [0, 1], or limits the wrong way round."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type) and depth < 3:
        for name in (field.name for field in dataclasses.fields(value)):
            part = getattr(value, name)
            if name in _RATES and isinstance(part, float | np.ndarray) and part is not None:
                with np.errstate(invalid="ignore"):
                    if ((np.asarray(part) < 0) | (np.asarray(part) > 1)).any():
                        return f"{name} is {part!r}"
            if found := strange(part, depth + 1):
                return found
        low, high = getattr(value, "low", None), getattr(value, "high", None)
        if isinstance(low, float) and isinstance(high, float) and low > high:
            return f"limits {low!r} to {high!r}"
    if isinstance(value, list | tuple):
        return next((found for one in value if (found := strange(one, depth + 1))), "")
    return ""


def attempt(
    name: str, changed: dict[str, Any], kinds: tuple[tuple[str, str], ...], as_valid: bool = False
) -> Outcome:
    """Make one call, and say what became of it."""

    def outcome(what: str, told: str = "") -> Outcome:
        return Outcome(what, name, kinds, told)

    given = {**valid_calls.calls()[name], **changed}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            with limited(), contextlib.redirect_stdout(None), contextlib.redirect_stderr(None):
                result = call(name, given)
        except TimeUp:
            return outcome("hang")
        except FastfairError as error:
            size = len(str(error))
            return (
                outcome("refused")
                if size < 2000
                else outcome("wrong", f"a message of {size} characters")
            )
        except Exception as error:
            # What a caller's own function raises is the caller's.
            if "bad listener" in dict(kinds).values() and "hostile" in str(error):
                return outcome("refused")
            where = traceback.extract_tb(error.__traceback__)[-1]
            return outcome(
                "foreign",
                f"{type(error).__name__}: {str(error)[:150]} ({where.filename}:{where.lineno})",
            )
    strangers = [w for w in told if not issubclass(w.category, FastfairWarning)]
    if strangers:
        one = strangers[0]
        return outcome(
            "foreign warning",
            f"{one.category.__name__}: {one.message} ({one.filename}:{one.lineno})",
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if found := strange(result):
            return outcome("wrong", found)
        if as_valid:
            same = facts(result) == facts(call(name, valid_calls.calls()[name]))
            return outcome(
                "same" if same else "wrong", "" if same else "another result for what is as good"
            )
    return outcome("accepted")


def names() -> list[str]:
    """Return every function that has arguments to replace."""
    return sorted(name for name in valid_calls.calls() if public_api.arguments(target(name)[1]))


def one(rng: random.Random) -> Outcome:
    """Choose a function, one or two of its arguments and a kind for each, and call it."""
    name = rng.choice(names())
    arguments = public_api.arguments(target(name)[1])
    valid = valid_calls.calls()[name]
    if rng.random() < 0.1:
        made = [
            (argument, bad_values.alike(valid[argument]))
            for argument in arguments
            if argument in valid
        ]
        made = [(argument, alike) for argument, alike in made if alike]
        if made:
            argument, alike = rng.choice(made)
            kind = rng.choice(list(alike))
            return attempt(
                name, {argument: alike[kind]}, ((argument, f"as good: {kind}"),), as_valid=True
            )
    chosen = rng.sample(arguments, min(len(arguments), rng.choice((1, 1, 1, 2))))
    kinds = tuple((argument, rng.choice(list(bad_values.KINDS))) for argument in chosen)
    return attempt(name, {argument: bad_values.KINDS[kind]() for argument, kind in kinds}, kinds)


def again(name: str, pairs: list[str]) -> Outcome:
    """Make one call again, of its name and "argument=kind"."""
    kinds = tuple(tuple(pair.split("=", 1)) for pair in pairs)
    changed, as_valid = {}, False
    for argument, kind in kinds:
        as_valid = kind.startswith("as good: ")
        alike = bad_values.alike(valid_calls.calls()[name][argument]) if as_valid else {}
        changed[argument] = (
            alike[kind.removeprefix("as good: ")] if as_valid else bad_values.KINDS[kind]()
        )
    return attempt(name, changed, kinds, as_valid)


@contextlib.contextmanager
def away() -> Iterator[None]:
    """Work in a folder that is removed, where calls may leave files; figures are closed without
    being shown."""
    mpl.use("Agg")
    mpl.rcParams["figure.max_open_warning"] = 0
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        yield
    mpl.pyplot.close("all") if "matplotlib.pyplot" in sys.modules else None


def run(number: int, seed: int, tell: Callable[[str], None] = print) -> collections.Counter[str]:
    """Make a number of calls, tell of each fault once a place and kind, and count what became of
    them."""
    counts: collections.Counter[str] = collections.Counter()
    rng = random.Random(seed)
    with away():
        valid_calls.calls()
        for k in range(number):
            found = one(rng)
            counts[found.what] += 1
            if found.what not in ALLOWED:
                tell(str(found))
            if k % 50 == 0 and "matplotlib.pyplot" in sys.modules:
                mpl.pyplot.close("all")
    return counts


def main() -> int:
    """Run from the command line; the exit code says whether all that happened is allowed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--number", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--only", nargs="+", metavar="NAME ARGUMENT=KIND", help="one call, as a fault was told"
    )
    asked = parser.parse_args()
    if asked.only:
        with away():
            print(again(asked.only[0], asked.only[1:]))
        return 0
    sys.stdout.reconfigure(line_buffering=True)
    start = time.perf_counter()
    counts = run(asked.number, asked.seed)
    said = ", ".join(f"{what} {n}" for what, n in sorted(counts.items()))
    print(
        f"calls: {asked.number} of seed {asked.seed} in {time.perf_counter() - start:.0f} s: {said}"
    )
    return int(any(counts[what] for what in counts if what not in ALLOWED))


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # whatever threads a call left behind
