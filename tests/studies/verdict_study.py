"""How often `check` errs where few errors are expected, and where goats, wolves or repeated
attempts make them, several of these at once, and ties in small groups.

`python -m studies verdict_study`, run in `tests/`, prints the tables of the documentation. Each
quantity is required to be at most what it truly is, so that "met" is an error; to be at most a hair
more, so that "not met" is one; and to be at most 1.5 and 2 times that, which a system at two thirds
and at half of the bound should be called met for. Then how often `evaluate`'s intervals hold the
truth, and how many say that they may be too narrow.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri
from scipy.stats import gamma

import fastfair as ff
from fastfair.claims import MET, NOT_MET, Requirement, read_requirement
from fastfair.claims.families import Attributes
from fastfair.claims.gate import check_evaluations

from .populations import Floats, compared
from .processes import chosen, coverage, of_data_sets, study_parser
from .tables import percents, table

N_NONMATED = 21_000
EXPECTED = (21.0, 2.0, 0.2, 0.02)  # false matches at the operating point
TIMES = (1.5, 2.0)
LOOKS = ("met wrongly", "not met wrongly", *(f"met at {times:g} times" for times in TIMES))
QUANTITIES = (
    *("fnmr@held", "fnmr[*]@held", "fnmr@given", "fmr@given", "eer", "min_dcf"),
    *("fnmr[*]@given", "fmr[*]@given", "fmr@fnmr", "fmr[*]@fnmr", "fmr@eer"),
)
RESAMPLES = 500
GROUP_LOOKS = ("met wrongly", "not met wrongly", "met at 2 times")
OF_GROUPS = ("fnmr@given", "fmr@given", "fnmr@held")
INTERVALS = ("fnmr@held", "fnmr@given", "eer", "cllr")
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(61)
_MOST_ATTEMPTS = 5  # where people try until they succeed
_GRID = gamma.ppf((np.arange(200) + 0.5) / 200, 2.0)


@dataclass(frozen=True)
class Setting:
    """People of some kinds, who differ in the means of their scores.

    Attributes
    ----------
    name : str
    sizes : tuple of int
        Subjects of each group.
    attempts : int or tuple of int
        Mated comparisons of each subject, or between which two numbers; 0 for as many as it takes
        to succeed.
    goats : float
        The share of subjects who fail three quarters of their attempts at the operating point.
    wolves : float
        The share of subjects whose non-mated scores are one standard deviation higher.
    quality : float
        How much a gamma quality of each subject lowers mated scores and raises non-mated ones.
    step : float
        Distance between possible scores; 0 for scores without ties.
    """

    name: str
    sizes: tuple[int, ...] = (200,)
    attempts: int | tuple[int, int] = 2
    goats: float = 0.0
    wolves: float = 0.0
    quality: float = 0.0
    step: float = 0.0

    @property
    def kinds(self) -> tuple[Floats, Floats, Floats]:
        """The share of each kind of people, and what is added to their mated and non-mated
        scores."""
        if self.quality:
            lowered = self.quality * _GRID
            return np.full(_GRID.size, 1 / _GRID.size), 2.3 - lowered, lowered / 2
        share = np.array([1 - self.goats - self.wolves, self.goats, self.wolves])
        return (
            share,
            np.array([-ndtri(0.02), -ndtri(0.75), -ndtri(0.02)]),
            np.array([0.0, 0.0, 1.0]),
        )

    def fmr(self, threshold: float) -> float:
        """Return the FMR at a threshold."""
        share, _, added = self.kinds
        return float(share @ ndtr(added[:, None] + added - threshold) @ share)

    def fnmr(self, above: float) -> float:
        """Return the FNMR at a threshold so far above the operating point."""
        share, mean, _ = self.kinds
        failing = ndtr(above - mean)
        if self.attempts == 0:
            failed = sum(failing**k for k in range(1, 1 + _MOST_ATTEMPTS))
            return float(share @ failed / (share @ (failed + 1 - failing**_MOST_ATTEMPTS)))
        return float(share @ failing)

    def threshold(self, expected: float) -> float:
        """Return the threshold at which so many false matches are expected, or the next possible
        score above."""
        found = brentq(lambda t: self.fmr(t) - expected / N_NONMATED, -5, 15, xtol=1e-12)
        return math.ceil(found / self.step) * self.step if self.step else found

    @functools.cache  # noqa: B019
    def cllr(self, expected: float) -> float:
        """Return Cllr where scores are taken for logarithms of likelihood ratios."""
        share, mean, added = self.kinds
        mated = self.threshold(expected) + mean[:, None] + _NODES
        nonmated = (added[:, None] + added)[..., None] + _NODES
        costs = share @ np.logaddexp(0, -mated) + share @ (share @ np.logaddexp(0, nonmated))
        return float(costs @ _WEIGHTS / _WEIGHTS.sum()) / (2 * math.log(2))

    @functools.cache  # noqa: B019
    def truth(self, expected: float) -> dict[str, float]:
        """Return what `QUANTITIES` truly are."""
        at = self.threshold(expected)
        equal = brentq(lambda t: self.fmr(t) - self.fnmr(t - at), at - 15, at + 15)
        eer = self.fmr(equal)
        if self.step:
            near = (np.floor(equal / self.step) + np.arange(2)) * self.step
            pairs = [(self.fmr(t), self.fnmr(t - at)) for t in near.tolist()]
            eer = sum(min(pairs, key=lambda pair: abs(pair[0] - pair[1]))) / 2
        costs = [
            0.05 * self.fnmr(t - at) + 0.95 * self.fmr(t) for t in np.linspace(at - 4, at + 4, 4001)
        ]
        fnmr, fmr = self.fnmr(0.0), self.fmr(at)
        truths = fnmr, fnmr, fnmr, fmr, eer, min(0.05, *costs), fnmr, fmr, fmr, fmr, eer
        found = dict(zip(QUANTITIES, truths, strict=True))
        if self.step:  # an EER lies between the rates of two thresholds
            del found["fmr@eer"]
        # Who tries again depends on the operating point, so curves are those of no system.
        return {
            name: truth
            for name, truth in found.items()
            if self.attempts or ("eer" not in name and name != "min_dcf")
        }

    def draw(self, rng: np.random.Generator, expected: float) -> ff.Comparisons:
        """Draw people, their mated comparisons, and non-mated ones of any two of them."""
        share, mean, added = self.kinds
        at, n = self.threshold(expected), sum(self.sizes)
        kind, group = (
            rng.choice(share.size, n, p=share),
            np.repeat(np.arange(len(self.sizes)), self.sizes),
        )
        if self.attempts == 0:
            drawn = at + mean[kind, None] + rng.normal(size=(n, _MOST_ATTEMPTS))
            before = np.cumsum(drawn >= at, axis=1) - (drawn >= at)
            who, mated = np.nonzero(before == 0)[0], drawn[before == 0]
        else:
            low, high = (self.attempts,) * 2 if isinstance(self.attempts, int) else self.attempts
            who = np.repeat(np.arange(n), rng.integers(low, high + 1, n))
            mated = at + mean[kind[who]] + rng.normal(size=who.size)
        a = rng.integers(0, n, N_NONMATED)
        b = (a + rng.integers(1, n, N_NONMATED)) % n
        nonmated = added[kind[a]] + added[kind[b]] + rng.normal(size=N_NONMATED)
        if self.step:
            mated, nonmated = (
                np.floor(scores / self.step) * self.step for scores in (mated, nonmated)
            )
        return compared(
            mated, nonmated, who, a, b, group.astype(str) if len(self.sizes) > 1 else None
        )


SETTINGS = (
    Setting("alike, 2 attempts"),
    Setting("alike, 60 with 4 attempts", (60,), 4),
    *(Setting(f"goats, {m} attempts", attempts=m, goats=0.03) for m in (1, 2, 4, 20)),
    Setting("goats, 1 to 20 attempts", attempts=(1, 20), goats=0.03),
    Setting("goats, until success", attempts=0, goats=0.03),
    Setting("one quality", attempts=4, quality=0.35),
    Setting("wolves", attempts=4, wolves=0.02),
    Setting("goats in 300, 60, 25 and 12", (300, 60, 25, 12), 4, goats=0.03),
)
# Several things at once; all pairs are of any two people, so most are of two groups.
SEVERAL = (
    Setting(
        "goats, 1 to 8 attempts, ties, 60 to 12", (60, 60, 40, 12, 12), (1, 8), 0.05, step=1 / 16
    ),
    Setting("goats and wolves across groups", (60,) * 4, 4, goats=0.03, wolves=0.03),
    Setting("goats and ties, until success", (200, 100), 0, goats=0.03, step=1 / 16),
)


def _look(setting: Setting, expected: float, seed: int) -> list[list[bool]]:
    """Judge a data set: of each of `QUANTITIES` the `LOOKS`, of "[*]" in any group."""
    truth, at = setting.truth(expected), setting.threshold(expected)
    asked_at = {
        "held": ff.at_fmr(setting.fmr(at)),
        "given": ff.at_threshold(at),
        "fnmr": ff.at_fnmr(setting.fnmr(0.0)),
        "eer": ff.at_eer(),
    }
    data = setting.draw(np.random.default_rng([seed, len(setting.name)]), expected)
    texts: dict[str, list[str]] = {}
    for name, value in truth.items():
        written, _, at = name.partition("@")
        if "[*]" not in name or data.groups:
            bounds = (value * times for times in (1, 1.0001, *TIMES))
            texts[name] = [
                f"{written}{'@' if at else ''}{asked_at.get(at, '')} <= {bound!r}"
                for bound in bounds
            ]
    verdicts: dict[str, set[str]] = {}
    # That one is called not met depends on how many are asked for at once; that it is met does not.
    together = [text for at_edge, _, *with_room in texts.values() for text in (at_edge, *with_room)]
    metrics = ["eer", "min_dcf"] if "eer" in truth else []
    how = {"n_resamples": RESAMPLES, "rng": seed, "n_threads": 1}
    found = ff.evaluate(data, list(asked_at.values()), [], metrics=metrics, **how)
    for asked in (together, *([of_name[1]] for of_name in texts.values())):
        wanted = [read_requirement(text, asked_at["held"]) for text in asked]
        families = [Attributes(data).family(rule) for rule in wanted]
        for row in check_evaluations([found], wanted, families).rows:
            verdicts.setdefault(row.requirement, set()).add(row.verdict)
    looks = []
    for name in QUANTITIES:
        at_edge, beyond, *with_room = (
            (verdicts[text] for text in texts[name]) if name in texts else [set()] * 4
        )
        looks.append([MET in at_edge, NOT_MET in beyond, *(found == {MET} for found in with_room)])
    return looks


def _look_at_groups(setting: Setting, expected: float, seed: int) -> Iterator[tuple[str, float]]:
    """Judge each group by itself, as if nothing else were required: `GROUP_LOOKS` of
    `OF_GROUPS`, by the number of subjects."""
    truth, at = setting.truth(expected), setting.threshold(expected)
    points = {"held": ff.at_fmr(setting.fmr(at)), "given": ff.at_threshold(at)}
    data = setting.draw(np.random.default_rng([seed, len(setting.name)]), expected)
    found = ff.evaluate(
        data,
        list(points.values()),
        [],
        metrics=[],
        n_resamples=RESAMPLES,
        rng=seed,
        n_threads=1,
    )

    def verdicts(rules: list[Requirement]) -> list[str]:
        families = [Attributes(data).family(rule) for rule in rules]
        return [row.verdict for row in check_evaluations([found], rules, families).rows]

    asked = {}
    for name, (group, size) in itertools.product(OF_GROUPS, enumerate(setting.sizes)):
        rate, _, place = name.partition("@")
        asked[f"{name} of {size}", group] = [
            read_requirement(
                f"{rate}[{group}]@{points[place]} <= {truth[name] * times!r}", points[place]
            )
            for times in (1, 1.0001, 2)
        ]
    met = iter(verdicts([rule for edge, _, room in asked.values() for rule in (edge, room)]))
    for (name, _), (_, beyond, _) in asked.items():  # as if nothing else were asked for
        at_edge, with_room = next(met), next(met)
        judged = at_edge == MET, verdicts([beyond]) == [NOT_MET], with_room == MET
        for look, is_given in zip(GROUP_LOOKS, judged, strict=True):
            yield f"{look}: {name}", is_given


def of_single_groups(
    setting: Setting, expected: float, n_data_sets: int, processes: int | None = 1
) -> dict[str, float]:
    """Return the shares of data sets in which a group that is judged by itself is met or not."""
    return coverage(functools.partial(_look_at_groups, setting, expected), n_data_sets, processes)


def _look_at_intervals(setting: Setting, expected: float, seed: int) -> Iterator[tuple[str, float]]:
    """Say whether intervals of `INTERVALS` hold the truth, of all and of groups, and whether they
    have a flag."""
    truth = setting.truth(expected) | ({"cllr": setting.cllr(expected)} if setting.attempts else {})
    data = setting.draw(np.random.default_rng([seed, len(setting.name)]), expected)
    points = [
        ff.at_fmr(setting.fmr(setting.threshold(expected))),
        ff.at_threshold(setting.threshold(expected)),
    ]
    found = ff.evaluate(
        data, points, [], metrics=["eer", "cllr"], n_resamples=RESAMPLES, rng=seed, n_threads=1
    )
    for q in found.quantities:
        name = q.name if q.at is None else f"{q.name}@{'held' if q.at.kind == 'fmr' else 'given'}"
        if name in INTERVALS and name in truth:
            name += "" if q.group is None else f" of {setting.sizes[int(q.group)]}"
            yield name, q.low <= truth[name.partition(" ")[0]] <= q.high
            yield f"{name}, flagged", bool(q.flags)


def intervals(
    setting: Setting, expected: float, n_data_sets: int, processes: int | None = 1
) -> dict[str, float]:
    """Return the shares of data sets in which intervals hold the truth, and in which they have a
    flag."""
    return coverage(
        functools.partial(_look_at_intervals, setting, expected), n_data_sets, processes
    )


def study(setting: Setting, expected: float, n_data_sets: int, processes: int | None = 1) -> Floats:
    """Return the (quantities, looks) shares of data sets; that with seed r is number r."""
    return np.mean(
        of_data_sets(functools.partial(_look, setting, expected), n_data_sets, processes), axis=0
    )


def main() -> None:
    """Print the tables."""
    asked = study_parser(main.__doc__, 200).parse_args()
    found: dict[tuple[str, float], Floats] = {}
    for setting in chosen((*SETTINGS, *SEVERAL), asked.only):
        for expected in (210.0, 21.0) if setting in SEVERAL else EXPECTED:
            shares = found[setting.name, expected] = study(
                setting, expected, asked.data_sets, asked.processes
            )
            print(setting.name, expected, np.round(100 * shares, 1).tolist(), flush=True)
    for look, name in enumerate(LOOKS):
        rows = (
            [name, f"{expected:g}", *percents(of[:, look])]
            for (name, expected), of in found.items()
        )
        print(f"\n{name}\n{table(['Population', 'false matches expected', *QUANTITIES], rows)}")
    for setting in chosen(SETTINGS, asked.only):
        for expected in EXPECTED[:3]:
            shares = intervals(setting, expected, asked.data_sets, asked.processes)
            said = (f"{name} {100 * share:.1f}" for name, share in shares.items())
            print(f"\n{setting.name}, {expected:g}: {', '.join(said)}", flush=True)
    print(f"twice the binomial error of 5 %: {200 * math.sqrt(0.05 * 0.95 / asked.data_sets):.1f}")
