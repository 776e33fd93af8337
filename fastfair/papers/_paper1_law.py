"""The systems of paper 1 without chance: groups whose error rates are those of a law, not of a sample."""

from __future__ import annotations

import numpy as np

from .. import measures
from ..binormal import Binormal
from ..systems import TABLES
from ._paper1_systems import Scores
from ._printed1 import OVERALL_FMR

_FMR = 1e-3  # of the overall system at the threshold, and of a group of factor 1 at a TMR of 95 %


def lawful_scores() -> Scores:
    """Return the measures of all 44 systems, each group and the overall system binormal."""
    overall = Binormal.of_rates(fmr=OVERALL_FMR)
    found: dict[tuple[str, str, str], float] = {}
    for kind, systems in TABLES.values():
        for ratios in systems:
            rates = [int(part) * _FMR for part in ratios.split(":")]
            laws = [Binormal.of_rates(fmr=rate) if kind == "fmr" else Binormal.of_rates(fnmr=rate) for rate in rates]
            for name, value in _measures(laws, overall).items():
                found[name, kind, ratios] = value
    return found


def _measures(laws: list[Binormal], overall: Binormal) -> dict[str, float]:
    threshold = float(overall.threshold_at_fmr(_FMR))
    fmr, fnmr = (
        np.array([float(rate) for rate in rates])
        for rates in zip(*(_rates(law, threshold) for law in laws), strict=True)
    )
    # The error rates of every law are equal at one threshold, so that is the mean of the groups' thresholds too.
    eers = np.array([law.eer for law in laws])
    sed = measures.sed(eers, eers, overall.eer, overall.eer)
    return {
        "inequity_rate": float(measures.inequity_rate(fmr, fnmr)),
        "garbe": float(measures.garbe(fmr, fnmr)),
        "fdr": float(measures.fdr(fmr, fnmr)),
        "std(eer)": float(measures.std(eers)),
        "sed_std": float(np.std(sed)),
        "sed_mean": float(np.mean(sed)),
    }


def _rates(law: Binormal, threshold: float) -> tuple[float, float]:
    return float(law.fmr(threshold)), float(law.fnmr(threshold))
