"""Whether intervals, bands, tests and verdicts hold where attempts share sessions: a person's own
ones, or days that people share.

`python -m studies session_study`, run in `tests/`, prints the tables of the documentation.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

import fastfair as ff

from .processes import chosen, coverage, shares, study_parser
from .tables import percents, print_table

THRESHOLD = 2.3
N_PEOPLE, N_ATTEMPTS, N_NONMATED = 200, 6, 3000
OF_PEOPLE, OF_SESSIONS = 0.4, 0.5  # standard deviations of what scores share, of 1
MEANS = {True: 3.5, False: 0.0}  # of mated and non-mated scores
GOATS = 1.8  # by how much their mated scores are lower
ALIKE = 0.8  # correlation of the scores of two systems
WORSE = 0.3  # by how much those of a worse one are lower
HELD = 0.05  # the FNMR that is held
RESAMPLES = 300
CLOSED = ("FNMR", "FMR", "met wrongly")
COMPARED = ("FNMR of alike", "FMR of alike", "FNMR of worse")
REPLICATED = ("EER", "FMR at an FNMR", "band", "fair ratio", "test rejects")


@dataclass(frozen=True)
class Design:
    """How sessions are shared.

    Attributes
    ----------
    name : str
        What the tables call it.
    n_own, n_shared : int
        Sessions of each person, days of all; one of them is 0, and both are without sessions.
    visits : {"any", "one", "each"}
        On which days people come: on any for each attempt, all on one, or once on each.
    of_both : bool
        Whether references, enrolled on one day each, have sessions, too.
    is_told : bool
        Whether sessions are given to the library.
    goats : float
        The share of people whose mated scores are low.
    """

    name: str
    n_own: int = 0
    n_shared: int = 0
    visits: str = "any"
    of_both: bool = False
    is_told: bool = True
    goats: float = 0.0

    @property
    def is_flagged(self) -> bool:
        """Whether results say that sessions are too few to rely on."""
        return self.is_told and 0 < self.n_shared < 10

    @property
    def n_attempts(self) -> int:
        """Mated attempts of each person."""
        return self.n_shared if self.visits == "each" else N_ATTEMPTS

    def sessions(
        self, rng: np.random.Generator, people: np.ndarray, home: np.ndarray
    ) -> np.ndarray:
        """Return the session of each attempt, (n,) numbers from 0; home: the day of each person."""
        if self.visits == "one":
            return home[people]
        if self.n_shared:
            return rng.integers(0, self.n_shared, people.size)
        return people * max(self.n_own, 1) + rng.integers(0, max(self.n_own, 1), people.size)

    def draw(self, seed: int, worse: float | None = None) -> ff.Comparisons:
        """Draw a data set of other people and other sessions, in two groups that are alike.

        worse: by how much mated scores of a second system are lower, whose scores are then
        returned.
        """
        rng = np.random.default_rng([71, seed])
        mated = np.repeat(np.arange(N_PEOPLE), self.n_attempts)
        first, second = rng.integers(0, N_PEOPLE, (2, N_NONMATED))
        second = np.where(first == second, (second + 1) % N_PEOPLE, second)
        reference, probe = np.append(mated, first), np.append(mated, second)
        is_mated = reference == probe
        home = rng.integers(0, max(self.n_shared, 1), N_PEOPLE)
        session = self.sessions(rng, probe, home)
        if self.visits == "each":
            session[is_mated] = np.tile(np.arange(self.n_shared), N_PEOPLE)
        enrolled = home[reference] if self.of_both else session
        with_sessions = self.n_own or self.n_shared
        effects = rng.normal(size=int(session.max()) + 1) * (OF_SESSIONS if with_sessions else 0)
        of_session = np.where(
            session == enrolled,
            effects[session],
            (effects[session] + effects[enrolled]) / np.sqrt(2),
        )
        parts = rng.normal(size=N_PEOPLE) * OF_PEOPLE
        of_people = np.where(is_mated, parts[probe], (parts[reference] + parts[probe]) / np.sqrt(2))
        noise = np.sqrt(1 - OF_PEOPLE**2 - (OF_SESSIONS**2 if with_sessions else 0))
        scores = np.where(is_mated, MEANS[True], MEANS[False]) + of_people + of_session
        scores += noise * rng.normal(size=probe.size)
        is_goat = rng.random(N_PEOPLE) < self.goats
        scores -= GOATS * (is_mated & is_goat[probe])
        if worse is not None:
            mean = np.where(is_mated, MEANS[True], MEANS[False])
            scores = mean + ALIKE * (scores - mean) - worse * is_mated
            scores += np.sqrt(1 - ALIKE**2) * rng.normal(size=probe.size)
        group = np.array(["f", "m"])[np.arange(N_PEOPLE) % 2]
        told = (enrolled, session) if self.of_both else session
        return ff.Comparisons(
            scores,
            is_mated,
            reference,
            probe,
            group[reference],
            group[probe],
            session=told if self.is_told and with_sessions else None,
        )

    def fnmr(self, threshold: float) -> float:
        """Return the FNMR of the population: a score is normal with variance 1, whatever is
        shared.
        """
        of_goats = float(ndtr(threshold - MEANS[True] + GOATS))
        return (1 - self.goats) * float(ndtr(threshold - MEANS[True])) + self.goats * of_goats

    def fmr(self, threshold: float) -> float:
        """Return the FMR of the population."""
        return float(ndtr(MEANS[False] - threshold))

    @cached_property
    def truth(self) -> dict[str, float]:
        """The rates of the population, by name."""
        equal = brentq(lambda t: self.fnmr(t) - self.fmr(t), -5, 9)
        holding = brentq(lambda t: self.fnmr(t) - HELD, -5, 9)
        return {
            "FNMR": self.fnmr(THRESHOLD),
            "FMR": self.fmr(THRESHOLD),
            "EER": self.fmr(equal),
            "FMR at an FNMR": self.fmr(holding),
        }


DESIGNS = (
    Design("no sessions"),
    Design("2 sessions of each person", n_own=2),
    Design("5 sessions of each person", n_own=5),
    Design("20 days that people share, untold", n_shared=20, is_told=False),
    Design("5 days that people share, untold", n_shared=5, is_told=False),
    Design("100 days that people share", n_shared=100),
    Design("20 days that people share", n_shared=20),
    Design("10 days that people share", n_shared=10),
    Design("5 days that people share", n_shared=5),
    Design("20 days, of enrolment, too", n_shared=20, of_both=True),
    Design("10 days, of enrolment, too", n_shared=10, of_both=True),
    Design("20 days, 3 % goats", n_shared=20, goats=0.03),
    Design("10 days, 3 % goats", n_shared=10, goats=0.03),
    Design("20 days, one day a person", n_shared=20, visits="one"),
    Design("10 days, one day a person", n_shared=10, visits="one"),
    Design("10 days, everybody on each", n_shared=10, visits="each"),
)


def look(design: Design, seed: int) -> Iterator[tuple[str, bool]]:
    """Yield whether the intervals of a data set hold the rates of the population, and whether a
    bound just below the FNMR would be met.
    """
    data = design.draw(seed)
    how = {"metrics": [], "n_resamples": 0}
    evaluation = ff.evaluate(data, ff.at_threshold(THRESHOLD), [], **how)
    for name in CLOSED[:2]:
        low, high = evaluation.interval(name.lower())
        yield name, bool(low <= design.truth[name] <= high)
    limits = evaluation.with_intervals(alternative="less")
    row = limits.quantity("fnmr")
    yield "met wrongly", bool(row.high < design.truth["FNMR"] and not row.flags)


def look_at_replicates(design: Design, seed: int) -> list[float]:
    """Return whether what replicates are behind holds the population's, and whether alike groups
    are called different; NaN where it is withheld.
    """
    data = design.draw(seed)
    drawn = {"n_resamples": RESAMPLES, "rng": seed}
    points = [ff.at_threshold(THRESHOLD), ff.at_fnmr(HELD)]
    evaluation = ff.evaluate(data, points, ["max_min_ratio"], metrics=["eer"], **drawn)
    equal, held, ratio = (
        evaluation.quantity("eer"),
        evaluation.quantity("fmr", at=points[1]),
        evaluation.quantity("max_min_ratio(fnmr)", at=points[0]),
    )
    curve = ff.roc_band(data, fmr=[0.01, 0.03, 0.1], **drawn)
    true = [design.fnmr(float(-ndtri(fmr))) for fmr in curve.fmr]
    pvalue = ff.fnmr_test(data, points[0], follow_up=False, **drawn).pvalue
    return [
        _holds(equal.low, design.truth["EER"], equal.high),
        _holds(held.low, design.truth["FMR at an FNMR"], held.high),
        _holds(curve.band_low, np.array(true), curve.band_high),
        _holds(ratio.low, 1.0, math.inf),
        math.nan if math.isnan(pvalue) else float(pvalue <= 0.05),
    ]


def look_at_systems(design: Design, seed: int) -> Iterator[tuple[str, bool]]:
    """Yield whether rates of two systems on the same comparisons are called different, which are
    alike, or of which one is worse.
    """
    first = design.draw(seed)
    for name, worse, rates in (("alike", 0.0, ("fnmr", "fmr")), ("worse", WORSE, ("fnmr",))):
        second = design.draw(seed, worse)
        how = {"metrics": [], "n_resamples": 0}
        comparison = ff.compare(first, second, ff.at_threshold(THRESHOLD), [], **how)
        for rate in rates:
            pvalue = comparison.contrast(rate).pvalue
            yield f"{rate.upper()} of {name}", bool(pvalue <= 0.05)


def _holds(low: ArrayLike, truth: ArrayLike, high: ArrayLike) -> float:
    """Return 1 where all of the truth is within the limits, else 0; NaN without limits."""
    if np.isnan(low).any():
        return math.nan
    return float(np.all((low <= truth) & (truth <= high)))


def wider(design: Design, seed: int) -> Iterator[tuple[str, float]]:
    """Yield how many times as wide intervals are with sessions as without."""
    data = design.draw(seed)
    how = {"metrics": [], "n_resamples": 0}
    evaluations = [
        ff.evaluate(comparisons, ff.at_threshold(THRESHOLD), [], **how)
        for comparisons in (data, data._with_parts(sessions=None))
    ]
    for name in CLOSED[:2]:
        told, untold = (np.ptp(evaluation.interval(name.lower())) for evaluation in evaluations)
        yield name, float(told / untold)


def look_at_searches(n_days: int, is_told: bool, seed: int) -> Iterator[tuple[str, bool]]:
    """Yield whether rates of searches on days that people share hold those of the population, each
    of whom is searched for four times.
    """
    rng = np.random.default_rng([72, seed])
    people, enrolled = np.repeat(np.arange(90), 4), np.arange(60)
    day = rng.integers(0, n_days, people.size)
    mates = people[:, None] == enrolled
    of_day = rng.normal(size=n_days)[day][:, None]
    scores = rng.normal(size=mates.shape) + np.where(mates, 2.5 - 0.5 * of_day, -2.0)
    searches = ff.Searches.from_matrix(scores, people, enrolled, session=day if is_told else None)
    row = ff.identify(searches, ff.at_threshold(1.5)).of("fnir")
    truth = float(ndtr((1.5 - 2.5) / np.hypot(1, 0.5)))
    yield "FNIR", bool(row.low <= truth <= row.high)


def look_at_compared_searches(n_days: int, is_told: bool, seed: int) -> Iterator[tuple[str, bool]]:
    """Yield whether FNIRs of two systems are called different, of the same searches on days that
    each system suffers from in its own way, or of other searches on other days: of systems that are
    alike, and where the second one is worse.
    """
    rng = np.random.default_rng([73, seed])
    people, enrolled = np.repeat(np.arange(90), 4), np.arange(60)
    mates = people[:, None] == enrolled
    day = rng.integers(0, n_days, people.size)
    others = rng.integers(0, n_days, people.size)
    systems: list[ff.Searches] = []
    for of_system, lower in ((day, 0.0), (day, 0.0), (day, 1.0), (others, 0.0), (others, 1.0)):
        of_day = rng.normal(size=n_days)[of_system][:, None]
        mean = np.where(mates, 2.5 - lower - 0.5 * of_day, -2.0)
        scores = rng.normal(size=mates.shape) + mean
        session = of_system if is_told else None
        systems.append(ff.Searches.from_matrix(scores, people, enrolled, session=session))
    names = ("alike", "worse", "alike, unpaired", "worse, unpaired")
    for name, second in zip(names, systems[1:], strict=True):
        paired = not name.endswith("unpaired")
        row = ff.compare_searches(systems[0], second, ff.at_threshold(1.5), paired=paired)
        yield name, bool(row.of("fnir").pvalue <= 0.05)


def main() -> None:
    """Print how often intervals hold the truth, and with --replicates what rests on these."""
    parser = study_parser(main.__doc__, 1000)
    parser.add_argument("--replicates", action="store_true")
    parser.add_argument("--systems", action="store_true", help="two systems, compared")
    asked = parser.parse_args()
    how = asked.data_sets, asked.processes
    columns = REPLICATED if asked.replicates else COMPARED if asked.systems else CLOSED
    closed = look_at_systems if asked.systems else look
    rows = (
        [
            design.name,
            *percents(
                shares(columns, partial(look_at_replicates, design), *how).values()
                if asked.replicates
                else coverage(partial(closed, design), *how, columns).values()
            ),
        ]
        for design in chosen(DESIGNS, asked.only)
    )
    print_table(["Sessions", *columns], rows)
    if not (asked.only or asked.replicates or asked.systems):
        looks = {
            f"{n_days} days{'' if is_told else ', untold'}": (n_days, is_told)
            for n_days in (12, 20)
            for is_told in (False, True)
        }
        of_searches = (
            [name, *percents(coverage(partial(look_at_searches, *which), *how).values())]
            for name, which in looks.items()
        )
        print_table(["Searches", "FNIR"], of_searches)
        compared = [
            coverage(partial(look_at_compared_searches, *which), *how) for which in looks.values()
        ]
        rows_compared = (
            [name, *percents(each.values())] for name, each in zip(looks, compared, strict=True)
        )
        print_table(["Searches compared", *compared[0]], rows_compared)


if __name__ == "__main__":
    main()
