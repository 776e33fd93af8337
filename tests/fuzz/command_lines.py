"""Run command lines with options and values at random, in this process, and count what becomes of
them.

Allowed are the exit codes 0 and 2, and of the verb `check` 1 and 3, without a traceback: an
exception of somebody else, a warning of somebody else and more than a minute are faults.
"""

from __future__ import annotations

import argparse
import collections
import json
import random
import re
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))

import calls
import click
import numpy as np
import polars as pl
import valid_calls
from click.testing import CliRunner

import fastfair as ff
from fastfair.cli.main import cli
from fastfair.errors import FastfairError, FastfairWarning

ALLOWED = ("exit 0", "exit 2")
VERDICTS = ("exit 1", "exit 3")  # of the verb `check` alone
LIMIT = 60.0  # seconds: some lines compile kernels, and the machine may be busy
# Every verb on tiny data; the demo takes long by its nature.
_FEW = ("--n-resamples", "20", "--seed", "0")
VERBS: dict[str, tuple[str, ...]] = {
    "evaluate": ("scores.csv", "--group", "group", "--unit", "comparison", *_FEW),
    "claim": ("scores.csv", "fnmr <= 0.5", "--at", "fmr=0.3", "--group", "group", "--unit", "comparison", *_FEW),
    "check": ("scores.csv", "--require", "fnmr@threshold=-1 <= 0.99", "--group", "group", *_FEW),
    "history": ("check.json", "check.json"),
    "apply": ("scores.csv", "--development", "scores.csv", "--at", "fmr=0.3", "--group", "group"),
    "discard": ("quality.csv", "--at", "fmr=0.3", "--quality", "quality", "--group", "sex", "--fractions", "0,0.3"),
    "calibration": ("ratios.csv", "--score-kind", "log-likelihood-ratio", "--group", "group", *_FEW),
    "measures": ("rates.csv", "--fmr-column", "FMR.{group}", "--fnmr-column", "FNMR.{group}", "--by", "who"),
    "model": ("scores.csv", "--at", "fmr=0.3", "--group", "group"),
    "strata": ("pairs.csv", "--at", "fmr=0.3", "--group", "sex", "--group", "age", "--by", "sex"),
    "compare": ("scores.csv", "scores.csv", "./scores.csv", "--group", "group", *_FEW),
    "embeddings": ("vectors.npz", "--group", "group", "--fmr", "0.3", *_FEW),
    "identify": ("roles.npz", "--role", "role", "--templates", "best", "--at", "rank=1", "--group", "group"),
    "group-test": ("failures.csv", "--input", "counts", "--n-resamples", "100", "--seed", "0"),
    "plan": ("--groups", "2", "--subjects", "50", "--attempts", "2", "--fnmr", "0.1", "--correlation", "0.05",
             "--method", "simulation", "--n-simulations", "20", "--seed", "0"),
    "shrink": ("three.csv", "--at", "threshold=0.5", "--group", "group", *_FEW),
    "synthesize": ("--ratios", "1:2", "--rate", "0.1", "--n-mated", "40", "--n-nonmated", "40", "--overall-fmr", "0.1",
                   "--overall-mated", "40", "--overall-nonmated", "40", "--n-steps", "20", "--seed", "0",
                   "--output", "made"),
}  # fmt: skip
# ESC, BEL, C1, an override of the direction of writing, and lines that GitHub Actions obeys.
HOSTILE = (
    "\x1b[31mred\x07",
    "::stop-commands::x",
    "\x9b2J\u202ered",
    "##[error]x",
    "a\n::error::b",
    "\u2028::x::",
)
WORDS = (
    *HOSTILE,
    "", " ", "0", "1", "-1", "2", "3", "0.5", "0.1", "1.5", "95", "-0.0", "1e-320", "1e400", "nan", "inf",
    "-inf", "2e9", "2**3", "99999999999999999999", "1" * 400, "x", "score", "mated", "reference", "group",
    "nosuch", "all", "fmr=0.1", "fmr=10", "threshold=nan", "threshold=0.5", "eer", "fnmr=", "fmr:0.1", "keep",
    "raise", "gini", "sex,age", "1:1:3", "1:0", ":", "1:1e400", "0.1,0.2", "1-10", "[", "(", "(a", "^(.)", "*",
    "\\", "é", "\x1b[31m", "a\nb", "a" * 300, "d/" * 3000, "\udcff", "scores.csv", "vectors.npz",
    "failures.csv", "empty.csv", "text.csv", "nosuch.csv", ".", "/dev/null", "/dev/full", "/dev/null/x",
    "scores.csv/x", "~", "--", "-h", "=", "%s", "{}",
)  # fmt: skip


def make_files() -> None:
    """Write the small files that the lines read."""
    made = valid_calls.made()
    ff.write_comparisons(made["Comparisons"], "scores.csv")
    made["Check"].to_json("check.json")
    ff.write_comparisons(made["ratios"], "ratios.csv")
    ff.write_comparisons(valid_calls.three_groups(), "three.csv")
    ff.write_comparisons(made["two attributes"], "pairs.csv")
    e = made["Embeddings"]
    labels = np.array(e.groups)[e.subject_group[e.subject]]
    np.savez("vectors.npz", vectors=e.vectors, subject=e.subject, group=labels)
    roles = np.where(e.is_probe, "probe", "reference")
    np.savez(
        "roles.npz", vectors=e.vectors[1:], subject=e.subject[1:], group=labels[1:], role=roles[1:]
    )
    people = "abcdabcd"
    lines = [
        f"{a},{b},{'fm'[a in 'cd']},{'fm'[b in 'cd']},{k / 9},{k * k % 7}"
        for k, (a, b) in enumerate(zip(people, "abcdbadc", strict=True))
    ]
    names = "reference,probe,reference_sex,probe_sex,score,quality"
    Path("quality.csv").write_text("\n".join([names, *lines]) + "\n")
    Path("failures.csv").write_text(
        "failures,attempts,group\n0,3,a\n1,3,a\n2,3,a\n0,3,b\n1,3,b\n1,3,b\n"
    )
    Path("rates.csv").write_text(
        "who,FMR.f,FMR.m,FNMR.f,FNMR.m\na,0.1,0.2,0,0.1\nb,0,0.1,0.2,0.2\n"
    )
    Path("empty.csv").write_text("")
    Path("text.csv").write_text("score,mated\nhigh,yes\nlow,no\n")


def line(rng: random.Random) -> list[str]:
    """Choose a verb, and put in or leave out options at random."""
    verb = rng.choice(list(VERBS))
    words = list(VERBS[verb])
    options = [param for param in cli.commands[verb].params if isinstance(param, click.Option)]
    for _ in range(rng.choice((1, 1, 2, 3))):
        option = rng.choice(options)
        if option.is_flag:
            words.append(rng.choice(option.opts + option.secondary_opts))
            continue
        choices = list(option.type.choices) if isinstance(option.type, click.Choice) else []
        value = rng.choice(choices) if choices and rng.random() < 0.7 else rng.choice(WORDS)
        words += [rng.choice(option.opts), value]
    if rng.random() < 0.2:
        words[rng.randrange(len(words))] = rng.choice(WORDS)
    if rng.random() < 0.05:
        del words[rng.randrange(len(words))]
    return [verb, *words]


def harms(text: str) -> list[str]:
    """Return what of a text would steer a terminal, or a service that runs jobs and reads what they
    print."""
    return re.findall(
        r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029]|^\s*::.*|##\[.*",
        text,
        re.M,
    )


def spoiled(text: str) -> str:
    """Put hostile words before a name, the same before the same name."""
    return f"{HOSTILE[ord(text[-1]) % len(HOSTILE)]}{text}"


def spoil(path: Path) -> None:
    """Spoil all names that a file of `make_files` holds."""
    if path.suffix == ".npz":
        arrays = dict(np.load(path))
        np.savez(path, **arrays | {"group": np.array(list(map(spoiled, arrays["group"])))})
        return
    if path.suffix == ".json":
        written = json.loads(path.read_text())
        for row in written["rows"]:
            row["group"] = spoiled(row["group"])
        path.write_text(json.dumps(written))
        return
    numbers = "mated|score|failures|attempts|quality|.*[.].*"
    table = pl.read_csv(path, infer_schema=False)
    table.select(
        (
            column
            if re.fullmatch(numbers, column.name)
            else pl.Series(column.name, list(map(spoiled, column)))
        )
        for column in table
    ).write_csv(path)


def attempt(words: list[str]) -> tuple[str, str]:
    """Run one line; return what became of it, and what there is to tell."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            with calls.limited(LIMIT):
                result = CliRunner().invoke(cli, words, standalone_mode=False)
        except calls.TimeUp:
            return "hang", ""
    error = result.exception
    strangers = [w for w in told if not issubclass(w.category, FastfairWarning)]
    if strangers:
        return "foreign warning", f"{strangers[0].category.__name__}: {strangers[0].message}"
    if isinstance(error, click.ClickException):
        return f"exit {error.exit_code}", error.message
    if isinstance(error, FastfairError | OSError):
        return "exit 2", str(error)  # as `main` has it
    if error is not None and not isinstance(error, SystemExit):
        where = traceback.extract_tb(error.__traceback__)[-1]
        return (
            "foreign",
            f"{type(error).__name__}: {str(error)[:150]} ({where.filename}:{where.lineno})",
        )
    if steers := harms(result.output):
        return "steers the terminal", repr(steers[0])
    what = f"exit {result.exit_code}"
    return ALLOWED[0] if words[:1] == ["check"] and what in VERDICTS else what, result.output[-300:]


def run(number: int, seed: int, tell: Callable[[str], None] = print) -> collections.Counter[str]:
    """Run a number of lines, tell of each fault and count what became of them."""
    counts: collections.Counter[str] = collections.Counter()
    rng = random.Random(seed)
    with calls.away():
        make_files()
        for path in Path().iterdir():  # half of the runs read hostile names
            if seed % 2 and path.name not in ("empty.csv", "text.csv"):
                spoil(path)
        for _ in range(number):
            words = line(rng)
            what, told = attempt(words)
            counts[what] += 1
            if what not in ALLOWED:
                tell(f"{what}: fastfair {words}\n    {told}")
    return counts


def main(arguments: Any = None) -> int:
    """Run from the command line; the exit code says whether all that happened is allowed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--number", type=int, default=2500)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(arguments)
    sys.stdout.reconfigure(line_buffering=True)
    start = time.perf_counter()
    counts = run(asked.number, asked.seed)
    said = ", ".join(f"{what} {n}" for what, n in sorted(counts.items()))
    print(
        f"command lines: {asked.number} of seed {asked.seed} in {time.perf_counter() - start:.0f}"
        f" s: {said}"
    )
    return int(any(counts[what] for what in counts if what not in ALLOWED))


if __name__ == "__main__":
    sys.exit(main())
