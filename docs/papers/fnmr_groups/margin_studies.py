"""The simulation study of paper 4: margins of error over 4,000 settings, and what they depend
on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair import plan_margin
from fastfair.planning.fnmr import GroupsPlan
from papers.page_parts import Figure, Table, Verdict
from papers.settings import Settings
from papers.verdict_rules import Outcome

from . import margin_figures
from .rules import (
    FEW_STEPS,
    bend,
    larger_outcome,
    only_outcome,
    order_outcome,
    slower_beyond,
    steps,
    trend_outcome,
)

Floats = NDArray[np.float64]
# The 4,000 settings of the paper, each on an axis of its own.
SETTINGS: dict[str, Any] = dict(
    zip(
        ("fnmr", "correlation", "n_subjects", "n_attempts", "n_groups"),
        np.ix_(
            [0.025, 0.05, 0.10, 0.15, 0.20],
            [0.05, 0.15, 0.25, 0.35, 0.45],
            [100, 200, 400, 800],
            [2, 3, 4, 6, 10],
            [3, 4, 5, 6, 10, 15, 20, 30],
        ),
        strict=True,
    )
)
AXES = tuple(SETTINGS)
HELD = {
    "n_subjects": 400,
    "n_attempts": 2,
    "fnmr": 0.1,
    "correlation": 0.05,
}  # about which figure 3 changes one
TITLES = {
    "n_subjects": "Subjects n",
    "fnmr": "FNMR π",
    "n_attempts": "Attempts m",
    "correlation": "Correlation ρ",
    "n_groups": "Groups G",
}
_SYMBOLS = {name: title[-1] for name, title in TITLES.items()}
_GROWS = {
    "n_groups": True,
    "fnmr": True,
    "n_subjects": False,
    "n_attempts": False,
}  # as the paper reads figure 2
_BENT = 0.01  # of a margin, from which on a relationship is not a straight line


@dataclass(frozen=True, eq=False)
class Study:
    """The study as computed, and as drawn.

    Attributes
    ----------
    exact, drawn : GroupsPlan
        Without noise; and from simulated studies, as the paper has it.
    """

    exact: GroupsPlan
    drawn: GroupsPlan

    def noise(self) -> Floats:
        """Return by what share drawn margins miss the exact ones."""
        return np.asarray(self.drawn.margin / self.exact.margin - 1)

    def axis(self, name: str) -> int:
        """Return the axis along which a setting changes."""
        return AXES.index(name)

    def values(self, name: str) -> list[float]:
        """Return a setting's values."""
        return np.unique(getattr(self.exact, name)).tolist()

    def over(self, name: str) -> Floats:
        """Return exact margins with a setting on the last axis."""
        return np.moveaxis(self.exact.margin, self.axis(name), -1)

    def factors(self) -> dict[str, float]:
        """Return by what factor each setting changes the margin about `HELD`, from its least to its
        largest value.

        A mean over the numbers of groups; that of the number of groups itself is at `HELD`.
        """
        return self._factors(self.exact.margin)

    def factors_by_formula(self) -> dict[str, float]:
        """Return the same where the margin goes with the root of the variance of formula (6)."""
        plan = self.exact
        spread = plan.fnmr * (1 - plan.fnmr) * (1 + (plan.n_attempts - 1) * plan.correlation)
        factors = self._factors(np.sqrt(spread / (plan.n_subjects * plan.n_attempts)))
        return {name: factor for name, factor in factors.items() if name != "n_groups"}

    def _factors(self, values: Floats) -> dict[str, float]:
        found = {}
        for name in TITLES:
            at: list[Any] = [slice(None)] * values.ndim
            for other, held in HELD.items():
                if other != name:
                    k = self.values(other).index(held)
                    at[self.axis(other)] = slice(k, k + 1)
            line = np.moveaxis(values[tuple(at)], self.axis(name), -1)
            found[name] = float((line[..., -1] / line[..., 0]).mean())
        return found


def study(settings: Settings) -> Study:
    """Repeat the study, computed and drawn."""
    settings.tell("paper 4: margins of 4,000 settings")
    drawn = plan_margin(**SETTINGS, n_simulations=settings.n_datasets, rng=settings.seed)
    return Study(plan_margin(**SETTINGS, method="exact"), drawn)


def figures(found: Study, *, quick: bool) -> tuple[Figure, Figure]:
    """Draw figures 2 and 3: of simulated studies, as the paper does, or of exact margins where
    these are too few.
    """
    plan = found.exact if quick else found.drawn
    made = (
        "exact margins"
        if plan.n_simulations is None
        else (
            f"95 % quantiles of {plan.n_simulations:,} simulated studies for each point, as in the"
            " paper"
        )
    )
    drawings = margin_figures.overview(plan), margin_figures.one_at_a_time(plan, HELD)
    held = ", ".join(f"{_SYMBOLS[name]} = {value:g}" for name, value in HELD.items())
    return (
        Figure(
            "figure_2",
            "**Figure 2: margins over the number of groups**, by subjects n, attempts m and FNMR"
            f" π; {made}. All axes are alike and logarithmic.",
            drawings[0],
        ),
        Figure(
            "figure_3",
            f"**Figure 3: margins where one setting changes** and the others are {held}; {made}."
            " All axes are alike and logarithmic, so that lines as far apart differ by the same"
            " factor.",
            drawings[1],
        ),
    )


def factor_table(found: Study) -> Table:
    """Lay out how much each setting changes the margin."""
    factors, formula = found.factors(), found.factors_by_formula()
    rows = []
    for name, title in TITLES.items():
        ends = found.values(name)[0], found.values(name)[-1]
        start, end = (f"{100 * value:g} %" if name == "fnmr" else f"{value:g}" for value in ends)
        way = "grows" if factors[name] > 1 else "falls"
        by_formula = max(formula[name], 1 / formula[name]) if name in formula else None
        rows.append((title, start, end, way, max(factors[name], 1 / factors[name]), by_formula))
    return Table(
        "factors",
        "**What the margin depends on**: exact margins from one end of a range to the other, the"
        " other settings as in figure 3, in the mean over numbers of groups.",
        ("Setting", "From", "To", "Margin", "Factor", "Factor by formula (6)"),
        rows,
        {"Factor": ".2f", "Factor by formula (6)": ".2f"},
    )


def claims(found: Study) -> list[Verdict]:
    """Decide what the paper says of figures 2 and 3."""
    factors = found.factors()
    written = {name: f"{_SYMBOLS[name]} {max(f, 1 / f):.2f}" for name, f in factors.items()}
    order = ("n_subjects", "fnmr", "n_attempts", "correlation")
    large, small = ("n_groups", "n_subjects"), ("correlation", "n_attempts")
    falling = [name for name, factor in factors.items() if factor < 1]
    return [
        *(_trend(found, name, grows=grows) for name, grows in _GROWS.items()),
        _slower(found),
        Verdict(
            "n has the largest impact on M, followed by π, m and ρ",
            "IV-B, Fig. 3",
            "factors by which each changes M over its range come in this order: holds; n at least"
            " is first: in part; else does not",
            ", ".join(written[name] for name in order),
            order_outcome(factors, order),
        ),
        Verdict(
            "G and n impact M substantially, ρ and m to a lesser extent",
            "section V",
            "the factors of G and n are both above those of ρ and m: holds; one of them: in part;"
            " none: does not",
            ", ".join(written[name] for name in (*large, *small)),
            larger_outcome(factors, large, small),
        ),
        Verdict(
            "Only ρ is negatively associated with M",
            "IV-B",
            "the settings with which M falls are ρ alone: holds; ρ and others: in part; others:"
            " does not",
            "M falls with " + ", ".join(_SYMBOLS[name] for name in falling),
            only_outcome(falling, ["correlation"]),
        ),
        _correlation(found),
    ]


def _trend(found: Study, name: str, *, grows: bool) -> Verdict:
    up, same, down = steps(found.exact.margin, found.axis(name))
    with_it, against = (up, down) if grows else (down, up)
    return Verdict(
        f"M {'grows' if grows else 'falls'} as {_SYMBOLS[name]} grows",
        "IV-B, Fig. 2",
        f"no step of exact margins goes against it: holds; up to {100 * FEW_STEPS:g} %: in part;"
        " more: cannot be told, or most: does not",
        f"of {up + same + down:,} steps {up:,} up, {down:,} down, {same:,} stay",
        trend_outcome(with_it, against),
    )


def _slower(found: Study) -> Verdict:
    share = slower_beyond(found.over("n_groups"), found.values("n_groups"), 10)
    outcome: Outcome = "holds" if share == 1 else "in part" if share >= 1 - FEW_STEPS else "fails"
    return Verdict(
        "The increase with G slows beyond 10 groups",
        "IV-B, Fig. 2",
        "M grows less for each group more from 10 to 30 than from 3 to 10: in all settings: holds;"
        f" in {100 * (1 - FEW_STEPS):g} %: in part; else does not",
        f"in {100 * share:.1f} % of settings",
        outcome,
    )


def _correlation(found: Study) -> Verdict:
    up, same, down = steps(found.exact.margin, found.axis("correlation"))
    margins = found.over("correlation")
    attempts = found.values("n_attempts")
    of_attempts = np.moveaxis(
        margins, [name for name in AXES if name != "correlation"].index("n_attempts"), 0
    )
    bends = [float(bend(part, found.values("correlation")).mean()) for part in of_attempts]
    grows = trend_outcome(up, down)
    bent = any(abs(value) >= _BENT for value in bends)
    outcome: Outcome = grows if bent or grows == "fails" else "in part"
    return Verdict(
        "The relationship between ρ and M is positive, though not linear",
        "IV-B",
        "no step goes down, and in the middle of its range M is off the straight line by"
        f" {100 * _BENT:g} % or more for some m: holds; positive alone: in part; else does not",
        f"of {up + same + down:,} steps {up:,} up, {down:,} down, {same:,} stay;"
        f" {100 * bends[0]:+.1f} % off at m = {attempts[0]:g}, {100 * bends[-1]:+.1f} % at m ="
        f" {attempts[-1]:g}",
        outcome,
    )
