"""How often the intervals of `identify` hold the truth, in populations whose rates are known.

`python -m studies identification_study`, run in `tests/`, prints the table of the documentation.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr
from scipy.stats import binomtest

import fastfair as ff
from fastfair.intervals import holm
from fastfair.uncertainty.notes import Code, has_code

from .populations import Floats
from .processes import coverage, study_parser
from .tables import percents, print_table

COLUMNS = (
    "fpir", "fnir", "rank 1", "held", "fpir of groups", "fnir of groups", "rank 1 of groups", "noted", "without note",
    "alarm",
)  # fmt: skip
OF_HELD = "holds", "met", "met at twice"
VERDICTS = ("met: fpir", "met: fpir of groups", "met: rank 1", "met: held")
DIFFERENCES = (
    "differs", "FPIR", "FNIR", "rank 1", "FNIR at FPIR", "FPIR at FNIR", "finds worse", "FNIR of the worse",
    "paired test",
)  # fmt: skip
MEAN = 6.0
_WORSE = 0.5  # by which scores of mates are lower
_DRAWS = 20_000  # that stand for a population


@dataclass(frozen=True)
class Kind:
    """People who search a gallery.

    The score of a search of person i and the enrolled person e is a_i + b_e + 0.6 c_ie + 0.8 noise,
    that of the mate mean - g_i + noise. Two groups are alike.

    Attributes
    ----------
    enrolled, others : int
        Numbers of people of the gallery, and of people who are not enrolled and search it.
    attempts : int
        Searches of each person.
    fpir, fnir : float
        What thresholds hold.
    spread : float
        Standard deviation of a and b.
    skewed : bool
        Whether few people are wolves (a), lambs (b) or goats (g).
    goats : float
        The share of people whose g is larger by 4.
    unequal : bool
        Whether numbers of attempts have a geometric law, with four on average.
    step : float
        Between scores that are tied, 0 for none.
    mean : float
        Of mates' scores.
    """

    enrolled: int = 150
    others: int = 150
    attempts: int = 2
    fpir: float = 0.1
    spread: float = 0.3
    skewed: bool = False
    goats: float = 0.0
    unequal: bool = False
    step: float = 0.0
    mean: float = MEAN
    fnir: float = 0.05

    def traits(self, rng: np.random.Generator, n: int) -> tuple[Floats, Floats, Floats]:
        """Draw a, b and g of people."""
        a, b, g = rng.exponential(size=(3, n)) - 1 if self.skewed else rng.normal(size=(3, n))
        of_goats = 4 * (rng.random(n) < self.goats) if self.goats else 0
        return self.spread * a, self.spread * b, g * (1.0 if self.skewed else 0.7) + of_goats

    def probes(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw who searches."""
        n = self.enrolled + self.others
        return np.repeat(
            np.arange(n), np.minimum(rng.geometric(0.25, n), 20) if self.unequal else self.attempts
        )

    def draw(self, seed: int) -> tuple[ff.Searches, Floats]:
        """Draw searches, and the b of the gallery."""
        rng = np.random.default_rng([seed, 46])
        n = self.enrolled + self.others
        a, b, g = self.traits(rng, n)
        who = self.probes(rng)
        gallery = b[: self.enrolled]
        scores = 0.6 * rng.normal(size=(n, self.enrolled))[who] + 0.8 * rng.normal(
            size=(who.size, self.enrolled)
        )
        scores += a[who][:, None] + gallery
        mated = np.flatnonzero(who < self.enrolled)
        scores[mated, who[mated]] = self.mean - g[who[mated]] + rng.normal(size=mated.size)
        group = np.array(["f", "m"])[who % 2]
        return (
            ff.Searches.from_matrix(
                scores, who, np.arange(self.enrolled), group=group, n_threads=1
            ),
            gallery,
        )

    def draw_two(self, seed: int, worse: float) -> list[ff.Searches]:
        """Draw searches of the same people by two systems; worse: by how much mates score lower in
        the second."""
        rng = np.random.default_rng([seed, 47])
        n = self.enrolled + self.others
        a, b, g = self.traits(rng, n)
        who, group = self.probes(rng), np.array(["f", "m"])
        mated = np.flatnonzero(who < self.enrolled)
        shared = (
            0.6 * rng.normal(size=(n, self.enrolled))[who] + a[who][:, None] + b[: self.enrolled]
        )
        of_mates = self.mean - g[who[mated]] + 0.7 * rng.normal(size=mated.size)
        systems = []
        for lower in (0.0, worse):
            scores = shared + 0.8 * rng.normal(size=shared.shape)
            scores[mated, who[mated]] = of_mates + 0.7 * rng.normal(size=mated.size) - lower
            scores = np.round(scores / self.step) * self.step if self.step else scores
            systems.append(
                ff.Searches.from_matrix(
                    scores, who, range(self.enrolled), group=group[who % 2], n_threads=1
                )
            )
        return systems


def _nodes(kind: Kind) -> tuple[Floats, Floats]:
    """Return values of a trait of spread 1, and the probabilities that they stand for."""
    if kind.skewed:
        x, weight = np.polynomial.laguerre.laggauss(60)
        return x - 1, weight
    x, weight = np.polynomial.hermite_e.hermegauss(60)
    return x, weight / weight.sum()


@functools.cache
def _mates(kind: Kind) -> Floats:
    """Return by how much mate scores exceed what people add to their other scores, in a
    population."""
    rng = np.random.default_rng(1)
    a, _, g = kind.traits(rng, _DRAWS)
    return MEAN - g + rng.normal(size=_DRAWS) - a


def true_fpir(kind: Kind, threshold: float, gallery: Floats | None) -> float:
    """Return the FPIR at a threshold, over galleries or of one whose b are given."""
    x, weight = _nodes(kind)
    below = threshold - kind.spread * x[:, None]
    if gallery is None:
        return float(weight @ (1 - (ndtr(below - kind.spread * x) @ weight) ** kind.enrolled))
    return float(weight @ (1 - ndtr(below - gallery).prod(axis=1)))


def true_rank_error(kind: Kind, gallery: Floats | None) -> float:
    """Return the FNIR at rank 1, over galleries or of people who join one, with as many others on
    average."""
    mates, (x, weight) = _mates(kind), _nodes(kind)
    if gallery is None:
        return float(
            np.mean(1 - (ndtr(mates[:, None] - kind.spread * x) @ weight) ** (kind.enrolled - 1))
        )
    others = (kind.enrolled - 1) / kind.enrolled
    return float(np.mean(1 - ndtr(mates[:, None] - gallery).prod(axis=1) ** others))


def true_fnir(kind: Kind, threshold: float) -> float:
    """Return the FNIR at a threshold, whatever the rank."""
    x, weight = _nodes(kind)
    below = threshold - kind.mean + (x if kind.skewed else 0.7 * x)
    return float(weight @ ((1 - kind.goats) * ndtr(below) + kind.goats * ndtr(below + 4)))


@functools.cache
def threshold(kind: Kind) -> float:
    """Return the threshold at which the FPIR over galleries is that of the kind."""
    return brentq(lambda at: true_fpir(kind, at, None) - kind.fpir, -5.0, 20.0)


@functools.cache
def threshold_at_fnir(kind: Kind) -> float:
    """Return the threshold at which the FNIR is the one that is held."""
    return brentq(lambda at: true_fnir(kind, at) - kind.fnir, -5.0, 20.0)


def _look(kind: Kind, gallery: str, seed: int) -> Iterable[tuple[str, bool]]:
    """Yield for each interval what it is of, and whether it holds the truth."""
    searches, b = kind.draw(seed)
    drawn, t = None if gallery == "drawn" else b, threshold(kind)
    points = [ff.at_threshold(t), ff.at_rank(1), ff.at_fpir(kind.fpir)]
    found = ff.identify(searches, points, gallery=gallery)
    truths = {
        "fpir": (points[0], true_fpir(kind, t, drawn)),
        "fnir": (points[0], true_fnir(kind, t)),
        "rank 1": (points[1], true_rank_error(kind, drawn)),
    }
    if drawn is None:
        truths["held"] = points[2], true_fnir(kind, t)
    for name, (at, truth) in truths.items():
        for group in (None, "f", "m"):
            row = found.of("fpir" if name == "fpir" else "fnir", group, at)
            holds = row.low <= truth <= row.high
            yield name + (" of groups" if group else ""), holds
            is_noted = has_code(row, Code.FEW_ENROLLED)
            yield "noted", is_noted
            if not is_noted:
                yield "without note", holds
    counts = [found.failure_counts(name, points[0]) for name in ("fpir", "fnir")]
    for one in counts:
        if 0 < one.rate < 1:
            yield (
                "alarm",
                ff.fnmr_test(one, n_resamples=400, rng=seed, follow_up=False, n_threads=1).pvalue
                <= 0.05,
            )


def _judge(kind: Kind, gallery: str, seed: int) -> Iterable[tuple[str, bool]]:
    """Yield whether requirements that are just not met are called met, and whether systems are
    called different."""
    searches, b = kind.draw(seed)
    drawn, t = None if gallery == "drawn" else b, threshold(kind)
    found = ff.identify(searches, ff.at_threshold(t), gallery=gallery)
    truths = {
        "fpir": ("fpir", true_fpir(kind, t, drawn)),
        "fpir of groups": ("fpir[*]", true_fpir(kind, t, drawn)),
        "rank 1": ("fnir@rank=1", true_rank_error(kind, drawn)),
    }
    if drawn is None:
        truths["held"] = f"fnir@fpir={kind.fpir}", true_fnir(kind, t)
    for name, (what, truth) in truths.items():
        yield f"met: {name}", found.check(f"{what} <= {0.999 * truth}").passed


def _compare(kind: Kind, gallery: str, seed: int) -> Iterable[tuple[str, bool]]:
    """Yield which differences of two systems are called significant, and what a test of paired
    people finds."""
    given = ff.at_threshold(threshold(kind))
    points = [given, ff.at_rank(1), ff.at_fpir(kind.fpir), ff.at_fnir(kind.fnir)]
    for worse in (0.0, _WORSE):
        systems = kind.draw_two(seed, worse)
        rows = ff.compare_searches(*systems, points, gallery=gallery).rows
        adjusted = holm([row.pvalue for row in rows if row.at.kind != "fnir"])
        yield "finds worse" if worse else "differs", bool((adjusted <= 0.05).any())
        if worse:
            yield (
                "FNIR of the worse",
                any(
                    row.pvalue <= 0.05
                    for row in rows
                    if (row.name, row.group, row.at) == ("fnir", None, given)
                ),
            )
            yield "paired test", _paired_pvalue(systems, given) <= 0.05
            continue
        for row in rows:
            yield _COLUMN_OF[row.at.kind].format(row.name.upper()), row.pvalue <= 0.05


def _look_at_held(kind: Kind, gallery: str, seed: int) -> Iterable[tuple[str, bool]]:
    """Yield whether the interval of the FPIR at a held FNIR holds the truth, and bounds are met."""
    searches, b = kind.draw(seed)
    truth = true_fpir(kind, threshold_at_fnir(kind), None if gallery == "drawn" else b)
    row = ff.identify(searches, ff.at_fnir(kind.fnir), gallery=gallery).of("fpir")
    yield "holds", row.low <= truth <= row.high
    limit = (
        ff.identify(searches, ff.at_fnir(kind.fnir), gallery=gallery, confidence_level=0.9)
        .of("fpir")
        .high
    )
    yield "met", limit <= 0.999 * truth
    yield "met at twice", limit <= 2 * truth


_COLUMN_OF = {"threshold": "{}", "rank": "rank 1", "fpir": "{} at FPIR", "fnir": "{} at FNIR"}


def _paired_pvalue(systems: list[ff.Searches], at: ff.OperatingPoint) -> float:
    """Return the p-value of a sign test of people whom one system misses more often."""
    missed = [
        np.bincount(s.subject[s.is_mated], s.mate_score[s.is_mated] < at.value, s.labels.size)
        for s in systems
    ]
    sign = np.sign(missed[0] - missed[1])
    return (
        float(binomtest(int((sign > 0).sum()), int((sign != 0).sum())).pvalue)
        if sign.any()
        else 1.0
    )


KINDS = {
    "150 enrolled, FPIR 0.1": Kind(),
    "150 enrolled, FPIR 0.01": Kind(fpir=0.01),
    "75 enrolled, FPIR 0.05": Kind(75, 75, fpir=0.05),
    "300 enrolled, few wolves": Kind(300, 300, fpir=0.05, skewed=True),
    "300 enrolled, one attempt, strong lambs": Kind(300, 300, 1, 0.1, spread=0.6, skewed=True),
}
HELD_KINDS = {
    "150 enrolled": Kind(mean=5.5),
    "goats": Kind(goats=0.03),
    "goats, 400 enrolled": Kind(400, 400, goats=0.03),
    "goats, one attempt": Kind(300, 300, 1, goats=0.04),
    "goats that hold, 2 attempts": Kind(goats=0.03, fnir=0.03),
    "goats that hold, 20 attempts": Kind(100, 100, 20, goats=0.03, fnir=0.03),
    "goats, unequal attempts": Kind(goats=0.03, unequal=True),
    "few wolves": Kind(skewed=True, mean=6.5),
}
SYSTEMS = {
    "150 enrolled, FPIR 0.1": Kind(),
    "goats": Kind(goats=0.05),
    "goats, unequal attempts": Kind(goats=0.03, unequal=True),
    "few errors": Kind(fpir=0.01, mean=6.5),
    "tied scores": Kind(step=0.5),
    "few wolves": Kind(300, 300, fpir=0.05, skewed=True),
    "30 enrolled": Kind(30, 60, 3, mean=5.5),
    "75 enrolled, FPIR 0.05": Kind(75, 75, fpir=0.05),
    "one attempt, strong lambs": Kind(300, 300, 1, 0.1, spread=0.6, skewed=True),
}


def study(name: str, gallery: str, n_data_sets: int, processes: int | None = 1) -> dict[str, float]:
    """Return the coverage of each of `COLUMNS`; data set r has seed r."""
    columns = (
        COLUMNS if gallery == "drawn" else tuple(column for column in COLUMNS if column != "held")
    )
    return coverage(functools.partial(_look, KINDS[name], gallery), n_data_sets, processes, columns)


def verdicts(
    name: str, gallery: str, n_data_sets: int, processes: int | None = 1
) -> dict[str, float]:
    """Return how often each of `VERDICTS` is given; data set r has seed r."""
    columns = (
        VERDICTS
        if gallery == "drawn"
        else tuple(column for column in VERDICTS if column != "met: held")
    )
    return coverage(
        functools.partial(_judge, KINDS[name], gallery), n_data_sets, processes, columns
    )


def differences(
    name: str, gallery: str, n_data_sets: int, processes: int | None = 1
) -> dict[str, float]:
    """Return how often each of `DIFFERENCES` is seen; data set r has seed r."""
    return coverage(
        functools.partial(_compare, SYSTEMS[name], gallery), n_data_sets, processes, DIFFERENCES
    )


def at_held_fnir(
    name: str, gallery: str, n_data_sets: int, processes: int | None = 1
) -> dict[str, float]:
    """Return how often each of `OF_HELD` is seen; data set r has seed r."""
    return coverage(
        functools.partial(_look_at_held, HELD_KINDS[name], gallery), n_data_sets, processes, OF_HELD
    )


def main() -> None:
    """Print the tables."""
    asked = study_parser(main.__doc__, 400, named=False).parse_args()
    for columns, look, kinds in (
        (COLUMNS, study, KINDS),
        (VERDICTS, verdicts, KINDS),
        (DIFFERENCES, differences, SYSTEMS),
        (OF_HELD, at_held_fnir, HELD_KINDS),
    ):
        rows = [
            [name, gallery, *percents([found.get(column, float("nan")) for column in columns])]
            for name in kinds
            for gallery in ("drawn", "fixed")
            for found in [look(name, gallery, asked.data_sets, asked.processes)]
        ]
        print_table(["People", "Gallery", *columns], rows, 2)
