"""Fail where HEAD is slower than an earlier commit: `python -m benchmarks.check [--base REV]
[--only NAME]`.

What is compared are the ratios of `ratios.py`. Processes of both commits take turns, and minima
over all of them count. On a shared machine a process can be a fifth slower than another of the same
code, all its turns long, and by bad luck all of one side's are. So what seems slower is installed
and measured anew, and is slower only if it is so in most of up to five tries.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ._commits import CheckError, Library, commit_of, default_base, git, unpack
from ._verdicts import LIMIT, Outcome, Verdict, judge, middle, pooled, table, undecided
from .ratios import RATIOS

_MEASURED = ("kernels", "fastfair", "benchmarks", "pyproject.toml")
_PROCESSES = 3  # of each commit
_ROUNDS = 6  # of a benchmark in each process
_TRIES = 5  # at what seems slower, the first among them; most of them decide
_MORE = 3  # times the rounds, in all but the first


class Race:
    """Both commits' turns so far.

    Parameters
    ----------
    base, head : Library
        The commits, installed.
    names : sequence of str
        Of benchmarks; none for all of them.
    """

    def __init__(self, base: Library, head: Library, names: Sequence[str]) -> None:
        self._libraries = base, head
        # Run once, unclocked: that compiles, and shows what cannot run.
        with ThreadPoolExecutor() as pool:
            self._outcomes = tuple(
                pool.map(lambda library: library.measure(0, names), self._libraries)
            )

    def run(self, names: Iterable[str], processes: int, rounds: int) -> None:
        """Let processes of both commits take turns at some benchmarks that both can run."""
        for _ in range(processes):
            for library, outcomes in zip(self._libraries, self._outcomes, strict=True):
                for name, more in library.measure(rounds, names).items():
                    outcomes[name] = _joined(outcomes[name], more, name)

    @property
    def of_both(self) -> list[str]:
        """What both can run."""
        base, head = self._outcomes
        return [
            name
            for name in head
            if not isinstance(head[name], str) and not isinstance(base[name], str)
        ]

    def verdicts(self) -> list[Verdict]:
        """Judge by all turns so far."""
        return judge(*self._outcomes)


def _joined(some: Outcome, more: Outcome, name: str) -> Outcome:
    if isinstance(some, str) or isinstance(more, str):
        raise CheckError(f"{name} ran at first and then did not: {more}")
    return pooled(some, more)


def compare(
    install: Callable[[int], tuple[Library, Library]],
    names: Sequence[str],
    processes: int,
    rounds: int,
) -> list[Verdict]:
    """Measure, and measure again with new installs what seems slower, until most tries agree."""
    race = Race(*install(0), names)
    if race.of_both:
        race.run(race.of_both, processes, rounds)
    found = {verdict.name: [verdict] for verdict in race.verdicts()}
    for attempt in range(1, _TRIES):
        asked = [name for name, tries in found.items() if undecided(tries, _TRIES)]
        if not asked:
            break
        print(f"seems slower, installed and measured again: {', '.join(asked)}", flush=True)
        race = Race(*install(attempt), asked)
        race.run(asked, processes, rounds * _MORE)
        for verdict in race.verdicts():
            found[verdict.name].append(verdict)
    return [middle(tries) for tries in found.values()]


def check(base: str, head: str, names: Sequence[str], processes: int, rounds: int) -> list[Verdict]:
    """Install two commits and compare them; benchmarks are HEAD's."""
    with tempfile.TemporaryDirectory(prefix="fastfair-check-") as name:
        folder = Path(name).resolve()
        unpack(head, folder / "code", "benchmarks")

        def install(attempt: int) -> tuple[Library, Library]:
            sides = {"base": base, "head": head}
            first, second = (
                Library(at, folder / f"{side} {attempt}", folder / "code")
                for side, at in sides.items()
            )
            first.install()
            second.install()
            return first, second

        return compare(install, names, processes, rounds)


def differ(base: str, head: str) -> bool:
    """Tell whether two commits differ in anything that is measured."""
    return bool(git("diff", "--name-only", base, head, "--", *_MEASURED))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.check", description="Is HEAD slower than it was?"
    )
    parser.add_argument(
        "--base", metavar="REV", help="the commit to compare with: the last release, else HEAD~1"
    )
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        choices=RATIOS,
        metavar="NAME",
        help=f"one of {', '.join(RATIOS)}; repeatable",
    )
    parser.add_argument(
        "--processes",
        type=int,
        default=_PROCESSES,
        metavar="N",
        help="of each commit (%(default)s)",
    )
    parser.add_argument(
        "--rounds", type=int, default=_ROUNDS, metavar="N", help="in each process (%(default)s)"
    )
    return parser


def main() -> int:
    """Compare, print, and return 1 where something is slower or cannot run."""
    options = _parser().parse_args()
    base = options.base or default_base()
    if base is None:
        print("nothing to compare with: HEAD has no earlier commit here")
        return 0
    commit, head = commit_of(base), commit_of("HEAD")
    if commit is None or head is None:
        print(f"no such commit: {base if commit is None else 'HEAD'}", file=sys.stderr)
        return 2
    if not differ(commit, head):
        print(
            f"nothing that is measured differs between HEAD ({head[:9]}) and {base} ({commit[:9]})"
        )
        return 0
    if git("status", "--porcelain"):
        print("there are changes that no commit has; they are not measured")
    print(
        f"HEAD ({head[:9]}) against {base} ({commit[:9]}); more than {LIMIT - 1:.0%} slower fails",
        flush=True,
    )
    try:
        verdicts = check(commit, head, options.only, options.processes, options.rounds)
    except CheckError as error:
        print(error, file=sys.stderr)
        return 2
    print(table(verdicts))
    failed = [verdict.name for verdict in verdicts if verdict.status in ("slower", "fails")]
    if failed:
        print(f"slower, or unable to run: {', '.join(failed)}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
