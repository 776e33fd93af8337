"""The systems of paper 1 without chance: groups whose error rates are those of a law, not of a
sample.
"""

from __future__ import annotations

from fastfair.synthesis import Binormal
from papers.laws import measures_of_laws

from .printed import OVERALL_FMR, TABLES
from .systems import Scores

_FMR = 1e-3  # of the overall system at the threshold, and of a group of factor 1 at a TMR of 95 %


def lawful_scores() -> Scores:
    """Return the measures of all 44 systems, each group and the overall system binormal."""
    overall = Binormal.of_rates(fmr=OVERALL_FMR)
    found: dict[tuple[str, str, str], float] = {}
    for kind, systems in TABLES.values():
        for ratios in systems:
            rates = [int(part) * _FMR for part in ratios.split(":")]
            groups = [
                Binormal.of_rates(fmr=rate) if kind == "fmr" else Binormal.of_rates(fnmr=rate)
                for rate in rates
            ]
            for name, value in measures_of_laws(groups, [overall], _FMR).items():
                found[name, kind, ratios] = value
    return found
