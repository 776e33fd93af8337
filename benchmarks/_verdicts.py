"""What turns at the clock say of two commits: which ratios rose, and by how much."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from .ratios import Seconds, ratio

LIMIT = 1.15
Outcome = Seconds | str  # or why it could not run
Outcomes = Mapping[str, Outcome]
Status = Literal["same", "slower", "faster", "new", "fails"]


@dataclass(frozen=True)
class Verdict:
    """One ratio benchmark at both commits.

    Attributes
    ----------
    name : str
        Of the benchmark.
    base, head : float or None
        Ours in units of the baseline, None where not both can run it.
    status : str
        "new" where the base alone cannot run it, "fails" where HEAD cannot.
    reason : str
        Why it could not run, else empty.
    """

    name: str
    base: float | None
    head: float | None
    status: Status
    reason: str = ""

    @property
    def change(self) -> float | None:
        """How many times as long HEAD takes, the baseline being as long."""
        return None if self.base is None or self.head is None else self.head / self.base


def pooled(some: Seconds, more: Seconds) -> Seconds:
    """Put turns of two processes together."""
    return {"ours": some["ours"] + more["ours"], "baseline": some["baseline"] + more["baseline"]}


def judge(base: Outcomes, head: Outcomes, limit: float = LIMIT) -> list[Verdict]:
    """Compare the minima of all benchmarks that HEAD has."""
    return [_judge(name, base[name], outcome, limit) for name, outcome in head.items()]


def _judge(name: str, base: Outcome, head: Outcome, limit: float) -> Verdict:
    if isinstance(head, str):
        return Verdict(name, None, None, "fails", head)
    if isinstance(base, str):
        return Verdict(name, None, None, "new", base)
    before, now = ratio(base), ratio(head)
    if now > limit * before:
        return Verdict(name, before, now, "slower")
    return Verdict(name, before, now, "faster" if before > limit * now else "same")


def undecided(tries: Sequence[Verdict], most: int) -> bool:
    """Tell whether more tries, `most` in all, could decide otherwise; one that shows nothing
    decides."""
    slow = sum(verdict.status == "slower" for verdict in tries)
    return tries[0].status == "slower" and max(slow, len(tries) - slow) <= most // 2


def middle(tries: Sequence[Verdict]) -> Verdict:
    """Return the try in the middle, the one before it of an even number."""
    return sorted(tries, key=lambda verdict: verdict.change or 0)[(len(tries) - 1) // 2]


def table(verdicts: Iterable[Verdict]) -> str:
    """Lay verdicts out, a line each."""
    rows = [("benchmark", "base", "HEAD", "HEAD / base", "")]
    for verdict in verdicts:
        figures = (verdict.base, verdict.head, verdict.change)
        remark = f"{verdict.status}: {verdict.reason}" if verdict.reason else verdict.status
        rows.append(
            (
                verdict.name,
                *("-" if figure is None else f"{figure:.3f}" for figure in figures),
                remark,
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            [row[0].ljust(widths[0]), *map(str.rjust, row[1:4], widths[1:4]), row[4]]
        ).rstrip()
        for row in rows
    )
