"""How often the intervals of `identify` hold the truth, in populations whose rates are known.

`python -m studies identification_study`, run in `tests/`, prints the table of the documentation.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

import fastfair as ff
from fastfair.uncertainty.notes import Code, has_code

from .populations import Floats
from .processes import coverage, study_parser
from .tables import percents, print_table

COLUMNS = (
    "fpir", "fnir", "rank 1", "held", "fpir of groups", "fnir of groups", "rank 1 of groups", "noted", "without note",
    "alarm",
)  # fmt: skip
VERDICTS = ("met: fpir", "met: fpir of groups", "met: rank 1", "met: held", "differs", "finds worse")
MEAN = 6.0
_WORSE = 0.5  # by which scores of mates are lower
_DRAWS = 20_000  # that stand for a population


@dataclass(frozen=True)
class Kind:
    """People who search a gallery.

    The score of a search of person i and the enrolled person e is a_i + b_e + 0.6 c_ie + 0.8 noise, that of the mate
    mean - g_i + noise. Two groups are alike.

    Attributes
    ----------
    enrolled, others : int
        Numbers of people of the gallery, and of people who are not enrolled and search it.
    attempts : int
        Searches of each person.
    fpir, fnir : float
        The rates at the threshold, and what the threshold holds.
    spread : float
        Standard deviation of a and b.
    skewed : bool
        Whether few people are wolves (a), lambs (b) or goats (g).
    """

    enrolled: int = 150
    others: int = 150
    attempts: int = 2
    fpir: float = 0.1
    spread: float = 0.3
    skewed: bool = False

    def traits(self, rng: np.random.Generator, n: int) -> tuple[Floats, Floats, Floats]:
        """Draw a, b and g of people."""
        if self.skewed:
            a, b, g = rng.exponential(size=(3, n)) - 1
            return self.spread * a, self.spread * b, g
        a, b, g = rng.normal(size=(3, n))
        return self.spread * a, self.spread * b, 0.7 * g

    def draw(self, seed: int) -> tuple[ff.Searches, Floats]:
        """Draw searches, and the b of the gallery."""
        rng = np.random.default_rng([seed, 46])
        n = self.enrolled + self.others
        a, b, g = self.traits(rng, n)
        who = np.repeat(np.arange(n), self.attempts)
        gallery = b[: self.enrolled]
        scores = 0.6 * rng.normal(size=(n, self.enrolled))[who] + 0.8 * rng.normal(size=(who.size, self.enrolled))
        scores += a[who][:, None] + gallery
        mated = np.flatnonzero(who < self.enrolled)
        scores[mated, who[mated]] = MEAN - g[who[mated]] + rng.normal(size=mated.size)
        group = np.array(["f", "m"])[who % 2]
        return ff.Searches.from_matrix(scores, who, np.arange(self.enrolled), group=group, n_threads=1), gallery

    def draw_two(self, seed: int, worse: float, step: float = 0.0) -> list[ff.Searches]:
        """Draw searches of the same people by two systems.

        worse: by how much mates score lower in the second; step: between scores that are tied, 0 for none.
        """
        rng = np.random.default_rng([seed, 47])
        n = self.enrolled + self.others
        a, b, g = self.traits(rng, n)
        who, group = np.repeat(np.arange(n), self.attempts), np.array(["f", "m"])
        mated = np.flatnonzero(who < self.enrolled)
        shared = 0.6 * rng.normal(size=(n, self.enrolled))[who] + a[who][:, None] + b[: self.enrolled]
        of_mates = MEAN - g[who[mated]] + 0.7 * rng.normal(size=mated.size)
        systems = []
        for lower in (0.0, worse):
            scores = shared + 0.8 * rng.normal(size=shared.shape)
            scores[mated, who[mated]] = of_mates + 0.7 * rng.normal(size=mated.size) - lower
            scores = np.round(scores / step) * step if step else scores
            systems.append(
                ff.Searches.from_matrix(scores, who, range(self.enrolled), group=group[who % 2], n_threads=1)
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
    """Return by how much mate scores exceed what people add to their other scores, in a population."""
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
    """Return the FNIR at rank 1, over galleries or of people who join one, with as many others on average."""
    mates, (x, weight) = _mates(kind), _nodes(kind)
    if gallery is None:
        return float(np.mean(1 - (ndtr(mates[:, None] - kind.spread * x) @ weight) ** (kind.enrolled - 1)))
    others = (kind.enrolled - 1) / kind.enrolled
    return float(np.mean(1 - ndtr(mates[:, None] - gallery).prod(axis=1) ** others))


def true_fnir(kind: Kind, threshold: float) -> float:
    """Return the FNIR at a threshold, whatever the rank."""
    x, weight = _nodes(kind)
    return float(weight @ ndtr(threshold - MEAN + (x if kind.skewed else 0.7 * x)))


@functools.cache
def threshold(kind: Kind) -> float:
    """Return the threshold at which the FPIR over galleries is that of the kind."""
    low, high = 0.0, 20.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if true_fpir(kind, middle, None) > kind.fpir else (low, middle)
    return high


def _look(kind: Kind, gallery: str, seed: int) -> Iterable[tuple[str, bool]]:
    """Yield for each interval what it is of, and whether it holds the truth."""
    searches, b = kind.draw(seed)
    drawn, t = None if gallery == "drawn" else b, threshold(kind)
    points = [ff.at_threshold(t), ff.at_rank(1), ff.at_fpir(kind.fpir)]
    found = ff.identify(searches, points, gallery=gallery)
    truths = {
        "fpir": (points[0], true_fpir(kind, t, drawn)), "fnir": (points[0], true_fnir(kind, t)),
        "rank 1": (points[1], true_rank_error(kind, drawn)),
    }  # fmt: skip
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
            yield "alarm", ff.fnmr_test(one, n_resamples=400, rng=seed, follow_up=False, n_threads=1).pvalue <= 0.05


def _judge(kind: Kind, gallery: str, seed: int) -> Iterable[tuple[str, bool]]:
    """Yield whether requirements that are just not met are called met, and whether systems are called different."""
    searches, b = kind.draw(seed)
    drawn, t = None if gallery == "drawn" else b, threshold(kind)
    found = ff.identify(searches, ff.at_threshold(t), gallery=gallery)
    truths = {
        "fpir": ("fpir", true_fpir(kind, t, drawn)), "fpir of groups": ("fpir[*]", true_fpir(kind, t, drawn)),
        "rank 1": ("fnir@rank=1", true_rank_error(kind, drawn)),
    }  # fmt: skip
    if drawn is None:
        truths["held"] = f"fnir@fpir={kind.fpir}", true_fnir(kind, t)
    for name, (what, truth) in truths.items():
        yield f"met: {name}", found.check(f"{what} <= {0.999 * truth}").passed
    points = [ff.at_threshold(t), ff.at_rank(1), ff.at_fpir(kind.fpir)]
    for column, worse in (("differs", 0.0), ("finds worse", _WORSE)):
        rows = ff.compare_searches(*kind.draw_two(seed, worse), points, gallery=gallery).rows
        yield column, any(row.pvalue_adjusted <= 0.05 for row in rows)


KINDS = {
    "150 enrolled, FPIR 0.1": Kind(),
    "150 enrolled, FPIR 0.01": Kind(fpir=0.01),
    "75 enrolled, FPIR 0.05": Kind(75, 75, fpir=0.05),
    "300 enrolled, few wolves": Kind(300, 300, fpir=0.05, skewed=True),
    "300 enrolled, one attempt, strong lambs": Kind(300, 300, 1, 0.1, spread=0.6, skewed=True),
}


def study(name: str, gallery: str, n_data_sets: int, processes: int | None = 1) -> dict[str, float]:
    """Return the coverage of each of `COLUMNS`; data set r has seed r."""
    columns = COLUMNS if gallery == "drawn" else tuple(column for column in COLUMNS if column != "held")
    return coverage(functools.partial(_look, KINDS[name], gallery), n_data_sets, processes, columns)


def verdicts(name: str, gallery: str, n_data_sets: int, processes: int | None = 1) -> dict[str, float]:
    """Return how often each of `VERDICTS` is given; data set r has seed r."""
    columns = VERDICTS if gallery == "drawn" else tuple(column for column in VERDICTS if column != "met: held")
    return coverage(functools.partial(_judge, KINDS[name], gallery), n_data_sets, processes, columns)


def main() -> None:
    """Print the tables."""
    asked = study_parser(main.__doc__, 400, named=False).parse_args()
    for columns, look in ((COLUMNS, study), (VERDICTS, verdicts)):
        rows = [
            [name, gallery, *percents([found.get(column, float("nan")) for column in columns])]
            for name in KINDS
            for gallery in ("drawn", "fixed")
            for found in [look(name, gallery, asked.data_sets, asked.processes)]
        ]
        print_table(["People", "Gallery", *columns], rows, 2)
