"""The functional fairness measure criteria (FFMC.1 to 3) of paper 2, decided by facts and runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fastfair.measures import MEASURES
from papers.page_parts import Table, Verdict

from . import rules
from .printed import TABLE_2
from .runs import NAMES, Floats, Study, contributions, disparity, values


@dataclass(frozen=True)
class Decision:
    """Whether a measure meets a criterion, by what, and the number that decided it where there is
    one.
    """

    criterion: str
    measure: str
    met: bool
    because: str
    number: float = np.nan

    @property
    def agrees(self) -> bool:
        """Whether Table 2 says the same."""
        return self.met == TABLE_2[self.criterion][self.measure]


def _disparities(study: Study, name: str) -> Floats:
    return np.concatenate(
        [disparity(*contributions(name, run.fmr, run.fnmr)) for run in study.runs]
    )


def decide(study: Study) -> list[Decision]:
    """Decide the three criteria for the three measures."""
    found = []
    for name in NAMES:
        ratios = _disparities(study, name)
        what = "the logarithms of its terms" if name == "inequity_rate" else "its terms"
        most = float(np.nanmax(ratios))
        because = f"the larger of {what} is up to {most:.3g} times the smaller"
        found.append(Decision("FFMC.1", name, rules.one_scale(ratios), because, most))
    for name in NAMES:
        measure, every = MEASURES[name], _all_values(study, name)
        finite = every[np.isfinite(every)]
        low, high = measure.range
        because = (
            f"from {low:g} to {'no upper limit' if np.isinf(high) else f'{high:g}'} by definition"
        )
        because += f"; {finite.min():.2g} to {finite.max():.3g} where computable here"
        found.append(Decision("FFMC.2", name, rules.within_bounds(measure, every), because))
    for name in NAMES:
        without = rules.computable_without_errors(MEASURES[name].function)
        share = float(np.isfinite(_all_values(study, name)).mean())
        because = "finite" if without else "not finite"
        because += (
            f" for made-up groups without errors; computable in {100 * share:.0f} % of the cases"
            " here"
        )
        found.append(Decision("FFMC.3", name, without and share == 1, because))
    return found


def _all_values(study: Study, name: str) -> Floats:
    """Return a measure of every system and grouping at every FMR and alpha inside (0, 1)."""
    return np.array([values(name, run.fmr, run.fnmr, study.alphas[1:-1]) for run in study.runs])


def table(decisions: list[Decision]) -> Table:
    """Lay the decisions out beside Table 2."""
    rows = [
        (d.criterion, MEASURES[d.measure].title, d.met, TABLE_2[d.criterion][d.measure], d.because)
        for d in decisions
    ]
    caption = (
        "Table 2 decided by rule from these runs, and as printed: whether each measure meets each"
        " criterion."
    )
    return Table("table2", caption, ("Criterion", "Measure", "Ours", "Printed", "Because"), rows)


def verdict(decisions: list[Decision]) -> Verdict:
    """Judge Table 2 as a whole."""
    agreeing = sum(d.agrees for d in decisions)
    return Verdict(
        "GARBE is the only one of the measures that meets all criteria (Table 2)",
        "section 4.3",
        "All cells decided here are those of Table 2; in part: some",
        f"{agreeing} of {len(decisions)} cells agree",
        rules.of_cases(d.agrees for d in decisions),
    )


def limits_text(decisions: list[Decision]) -> str:
    """Say for which limits of FFMC.1 the decisions would be the same."""
    first = [d for d in decisions if d.criterion == "FFMC.1"]
    met, unmet = [d.number for d in first if d.met], [d.number for d in first if not d.met]
    low = f"above {max(met):.3g}" if met else ""
    high = f"up to {min(unmet):.3g}" if unmet else ""
    return f"The decisions are the same with any limit {' and '.join(filter(None, (low, high)))}."
