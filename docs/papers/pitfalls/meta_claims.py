"""Claims of paper 3 on FDR and NRB, decided by how often replicates of VoxCeleb1-H agree with
them.
"""

from __future__ import annotations

from collections.abc import Sequence

from papers.page_parts import Verdict
from papers.verdict_rules import together

from .printed import FDR_READ, FPR_AVERAGES, NRB_READ
from .rules import BY_SHARE, by_share, level_outcome, opposed, per_cent, rises, written
from .runs import POINTS, Runs

_IN_SETS = f"{BY_SHARE}, among sizeable and among large groups"


def meta_measure_claims(runs: Runs) -> list[Verdict]:
    """Decide the claims of section 4.2 on FDR and NRB."""
    sets = runs.sizeable, runs.large
    alike = {rate: [found.nrb_replicates(rate) for found in sets] for rate in ("fmr", "fnmr")}

    def both(claim: str, source: str, rule: str, shares: Sequence[float]) -> Verdict:
        found = "; ".join(
            f"{s.name}: {per_cent(share)}" for s, share in zip(sets, shares, strict=True)
        )
        return Verdict(claim, source, rule, found, together([by_share(share) for share in shares]))

    ends = [
        found.fdr_replicates[-1] - found.fdr_replicates[0] for found in sets
    ]  # alpha 1 less alpha 0
    return [
        both(
            "At an average FPR of 0.001 the FDR grows with α",
            "Fig. 1",
            f"FDR at α = 1 above that at α = 0: {_IN_SETS}",
            [float((d[0] > 0).mean()) for d in ends],
        ),
        both(
            "At an average FPR of 0.1 the trend is reversed",
            "Fig. 1",
            f"FDR at α = 1 below that at α = 0: {_IN_SETS}",
            [float((d[-1] < 0).mean()) for d in ends],
        ),
        both(
            "The NRB of the FPR grows while the average FPR falls",
            "Fig. 2",
            f"it grows at each of the four steps: {_IN_SETS}",
            [rises(x[::-1]) for x in alike["fmr"]],
        ),
        both(
            "The NRB of the FNR falls with the average FPR",
            "Fig. 2",
            f"it falls at each of the four steps: {_IN_SETS}",
            [rises(x) for x in alike["fnmr"]],
        ),
        both(
            "At an average FPR of 0.1 the NRB of the FPR is below that of the FNR",
            "Fig. 2",
            _IN_SETS,
            [float((a[-1] < b[-1]).mean()) for a, b in zip(*alike.values(), strict=True)],
        ),
        both(
            "At an average FPR of 0.001 the NRB of the FPR is above that of the FNR",
            "Fig. 2",
            _IN_SETS,
            [float((a[0] > b[0]).mean()) for a, b in zip(*alike.values(), strict=True)],
        ),
        _weaker_by_gender(runs),
    ]


def contradiction_claims(runs: Runs) -> list[Verdict]:
    """Decide whether FDR and NRB contradict each other by more than chance."""
    sets = runs.sizeable, runs.large
    found, outcomes, levels, level_outcomes = [], [], [], []
    for group_set in sets:
        share, pairs = opposed(group_set.fdr_replicates[-1], group_set.nrb_replicates("fmr"))
        of_pairs = per_cent(float(pairs.mean()))
        found.append(f"{group_set.name}: {per_cent(share)} (and {of_pairs} of all pairs of points)")
        outcomes.append(by_share(share))
        fdr, nrb = group_set.fdr_range(1.0, POINTS[0]), group_set.nrb_range("fmr", POINTS[0])
        levels.append(f"{group_set.name}: FDR {written(fdr, 3)}, NRB {written(nrb)}")
        level_outcomes.append(level_outcome(fdr, nrb))
    low, high = FPR_AVERAGES[0], FPR_AVERAGES[-1]
    return [
        Verdict(
            "FDR and NRB lead to contradictory conclusions",
            "4.2",
            f"replicates in which one calls an average FPR of {low:g} fairer for the FPR (α = 1),"
            f" the other {high:g}: " + BY_SHARE,
            "; ".join(found),
            together(outcomes),
        ),
        Verdict(
            f"At an average FPR of {low:g} the FDR (α = 1), about {FDR_READ:g}, says fair; the NRB,"
            f" about {NRB_READ:g}, says biased",
            "4.2",
            f"all of the FDR's interval from {FDR_READ:g} on and all of the NRB's above 0: holds;"
            " all of the FDR's below: does not; the NRB's from 0, which is what chance alone may"
            " do: cannot be told; else in part",
            "; ".join(levels),
            together(level_outcomes),
        ),
    ]


def _weaker_by_gender(runs: Runs) -> Verdict:
    shares = {}
    for rate, title in (("fmr", "FPR"), ("fnmr", "FNR")):
        gender, others = (found.nrb_replicates(rate) for found in (runs.gender, runs.sizeable))
        shares[title] = float((gender < others).mean(axis=1).min())
    return Verdict(
        "By gender alone the trends are similar but weaker",
        "4.2",
        f"NRB by gender below that of {runs.sizeable.name}, at every point: {BY_SHARE}",
        "; ".join(f"{title}: {per_cent(share)} at least" for title, share in shares.items()),
        together([by_share(share) for share in shares.values()]),
    )
