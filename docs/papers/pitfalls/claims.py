"""Claims of paper 3 on base metrics and measures of groups, decided by replicates of
VoxCeleb1-H.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fastfair import measures
from fastfair.evaluation.result import Evaluation
from papers.page_parts import Verdict
from papers.verdict_rules import by_count, together

from .printed import FPR_AVERAGES, METRICS, OVERALL, TABLE_2, TABLE_4, label
from .rules import (
    BY_SHARE,
    SURE,
    by_share,
    certainly_swapped,
    keeps_order,
    per_cent,
    rank_correlation,
    ratio_outcome,
    similarity_outcome,
    spread,
    swap_outcome,
    written,
)
from .runs import POINTS, GroupSet, Runs, ranged

Floats = NDArray[np.float64]
_ALIKE = 0.7  # a rank correlation from which on trends count as similar
_ORDERS = 1.5  # powers of ten that "two orders of magnitude" must reach at least
_TIMES = (
    "the printed ratio in our interval, all of which is above 1: holds, or not above 1: cannot be"
    " told; not in it, but all above 1: in part; else does not"
)
_TITLES = {"eer": "EER", "min_dcf": "minDCF"}


def of_groups(evaluation: Evaluation, metric: str, groups: Sequence[str]) -> Floats:
    """Return (1 + replicates, groups) values of a metric, the estimates first."""
    return np.stack(
        [np.append(evaluation.value(metric, g), evaluation.replicates(metric, g)) for g in groups],
        axis=-1,
    )


def base_metric_claims(runs: Runs) -> list[Verdict]:
    """Decide the claims of section 4 and 4.1 on base metrics and measures of groups."""
    return [
        _overall(runs.whole),
        *(_similar(runs, metric) for metric in METRICS),
        _males_better(runs.gender.evaluation),
        *(_lowest(runs, metric) for metric in METRICS),
        _norwegian_males(runs.whole),
        _german_females(runs.whole),
        _magnitudes(runs.whole),
        _same_ranks(runs.printed),
        _other_ranks(runs.printed),
        _indian_males(runs.whole),
    ]


def _overall(whole: Evaluation) -> Verdict:
    eer, cost = 100 * whole.value("eer"), whole.value("min_dcf")
    same = round(eer, 3) == OVERALL["VoxCeleb1-H"][0], round(cost, 3) == OVERALL["VoxCeleb1-H"][1]
    return Verdict(
        "EER 2.402 %, minCDet 0.008 on VoxCeleb1-H",
        "section 4",
        "ours, rounded as printed, are these: holds; one of them: in part; none: does not",
        f"{eer:.3f} %, {cost:.4f}",
        by_count(sum(same), 2),
    )


def _similar(runs: Runs, metric: str) -> Verdict:
    printed = {label(group): value for group, value in TABLE_2[metric].items() if group[1] != "All"}
    groups = [name for name in printed if name in runs.whole.groups]
    values = of_groups(runs.whole, metric, groups)
    found = rank_correlation(
        values, np.broadcast_to([printed[name] for name in groups], values.shape)
    )
    share = float((found[1:] > 0).mean())
    return Verdict(
        f"VoxCeleb1-H and -I have similar trends: {_TITLES[metric]}",
        "section 4",
        f"rank correlation of our groups' values with the printed ones above 0 in {100 * SURE:g} %"
        f" of replicates, and estimated at {_ALIKE:g} or more: holds; estimated lower: in part; not"
        f" above 0 so often: {BY_SHARE}",
        f"{written(spread(found[1:], float(found[0])))} over {len(groups)} groups; above 0 in"
        f" {per_cent(share)}",
        similarity_outcome(float(found[0]), share, _ALIKE),
    )


def _males_better(gender: Evaluation) -> Verdict:
    shares = {}
    for metric in METRICS:
        values = of_groups(gender, metric, ("f", "m"))[1:]
        shares[_TITLES[metric]] = float((values[:, 1] < values[:, 0]).mean())
    return Verdict(
        "The model prefers males: by both base metrics, and so by all measures of groups",
        "4, 4.1",
        f"males' value below females', each metric for itself: {BY_SHARE}",
        "; ".join(f"{name}: {per_cent(share)}" for name, share in shares.items()),
        together([by_share(share) for share in shares.values()]),
    )


def _lowest(runs: Runs, metric: str) -> Verdict:
    said = {"eer": ("female", "AUS"), "min_dcf": ("male", "DE")}[metric]
    name, groups = label(said), list(runs.printed.groups)
    claim = f"Of the nationalities by gender, {name} has the lowest {_TITLES[metric]}"
    if name not in groups:
        return Verdict(claim, "section 4", BY_SHARE, f"VoxCeleb1-H has no trials of {name}", "open")
    values = of_groups(runs.printed.evaluation, metric, groups)
    share = float((values[1:].argmin(axis=1) == groups.index(name)).mean())
    best = groups[int(values[0].argmin())]
    return Verdict(
        claim,
        "section 4",
        BY_SHARE,
        f"{name} lowest in {per_cent(share)}; lowest estimate: {best}",
        by_share(share),
    )


def _ratio(whole: Evaluation, metric: str, group: str, other: str) -> Floats:
    with np.errstate(divide="ignore"):
        values = of_groups(whole, metric, (group, other))
        return np.asarray(values[:, 0] / values[:, 1])


def _norwegian_males(whole: Evaluation) -> Verdict:
    printed = TABLE_2["eer"]["male", "NO"] / TABLE_2["eer"]["male", "US"]
    ratio = _ratio(whole, "eer", "m & Norway", "m & USA")
    found = spread(ratio[1:], ratio[0])
    return Verdict(
        f"Norwegian males have {printed:.1f} times the EER of US males",
        "section 4",
        _TIMES,
        written(found),
        ratio_outcome(found, printed),
    )


def _german_females(whole: Evaluation) -> Verdict:
    printed = {m: TABLE_2[m]["female", "DE"] / TABLE_2[m]["female", "AUS"] for m in METRICS}
    ratios = {m: _ratio(whole, m, "f & Germany", "f & Australia") for m in METRICS}
    share = float((ratios["eer"][1:] > ratios["min_dcf"][1:]).mean())
    found = ", ".join(f"{_TITLES[m]} {written(spread(r[1:], r[0]))}" for m, r in ratios.items())
    return Verdict(
        f"German females have {printed['eer']:.1f} times the EER of Australian females, but only "
        f"{printed['min_dcf']:.1f} times the minCDet",
        "section 4",
        f"ratio of EERs above ratio of minDCFs: {BY_SHARE}",
        f"{found}; {per_cent(share)}",
        by_share(share),
    )


def _magnitudes(whole: Evaluation) -> Verdict:
    ours = float(np.log10(whole.value("eer") / whole.value("min_dcf")))
    eer, cost = OVERALL["VoxCeleb1-I"]
    printed = float(np.log10(eer / 100 / cost))
    return Verdict(
        "EER and minCDet are two orders of magnitude apart",
        "4.1",
        f"both as fractions, ratio from 10^{_ORDERS:g} on, in ours and in the printed values: holds; in one: in part",
        f"ours 10^{ours:.2f}, printed 10^{printed:.2f}",
        by_count(sum(abs(power) >= _ORDERS for power in (ours, printed)), 2),
    )


def _same_ranks(found: GroupSet) -> Verdict:
    same = []
    for metric in METRICS:
        values = of_groups(found.evaluation, metric, found.groups)
        average = np.append(found.evaluation.value(metric), found.evaluation.replicates(metric))
        of_measures = (
            measures.group_to_min_difference(values),
            measures.group_to_average_ratio(values, average),
            -measures.group_to_average_log_ratio(values, average),
        )
        computable = ~np.isnan(values).any(axis=-1)
        same += [keeps_order(values, measured)[computable].mean() for measured in of_measures]
    share = float(min(same))
    return Verdict(
        "Measures of groups keep the order of groups for one base metric",
        "4.1",
        f"each of the three measures ranks all {len(found.groups)} groups as either metric does:"
        f" {BY_SHARE}",
        per_cent(share),
        by_share(share),
    )


def _other_ranks(found: GroupSet) -> Verdict:
    values = [of_groups(found.evaluation, metric, found.groups) for metric in METRICS]
    swapped, certain = certainly_swapped(*values)
    return Verdict(
        "Another base metric can change the order of groups",
        "4.1",
        f"pairs of groups that EER and minDCF order the other way round, each in {100 * SURE:g} %"
        " of replicates: holds; only in the estimates: cannot be told; none: does not",
        f"{swapped} of {len(found.groups) * (len(found.groups) - 1) // 2} pairs in the estimates,"
        f" {certain} of them beyond chance",
        swap_outcome(swapped, certain),
    )


def _indian_males(whole: Evaluation) -> Verdict:
    group, sides = "m & India", []
    for metric in METRICS:
        values = np.append(whole.value(metric, group), whole.replicates(metric, group))
        average = np.append(whole.value(metric), whole.replicates(metric))
        sides.append(values / average)
    ratio, cost = sides
    share = float(((ratio[1:] < 1) & (cost[1:] > 1)).mean())
    return Verdict(
        "Indian males are favoured by EER and prejudiced against by minCDet",
        "4.1",
        f"ratio to the average below 1 for the EER and above 1 for the minDCF: {BY_SHARE}",
        f"EER {written(spread(ratio[1:], ratio[0]))}, minDCF {written(spread(cost[1:], cost[0]))};"
        f" {per_cent(share)}",
        by_share(share),
    )


def exposure_claims(runs: Runs) -> list[Verdict]:
    """Decide the claims of section 4.3 on what small differences in FPR do."""
    rate = ranged(runs.printed.evaluation, "fmr", "m & India", POINTS[0], 1 / FPR_AVERAGES[0])
    printed = TABLE_4["fmr"]["male", "IN"] / FPR_AVERAGES[0]
    above = {
        found.name: [
            g
            for g, d in zip(found.groups, found.test.difference, strict=True)
            if d > 0 and g in different
        ]
        for found in (runs.sizeable, runs.large)
        for different in (found.test.different,)
    }
    return [
        Verdict(
            f"An Indian male's device is open {printed:g} times as often as the design says",
            "4.3",
            f"FPR over {FPR_AVERAGES[0]:g}: {_TIMES}",
            written(rate),
            ratio_outcome(rate, printed),
        ),
        Verdict(
            "Groups with worse performance are at greater risk",
            "4.3",
            "`fmr_test` names groups above the others, adjusted for being several, among sizeable"
            " and among large groups: holds; among some: in part; none: cannot be told",
            "; ".join(
                f"{found.name}: {', '.join(above[found.name]) or 'none'}, of {len(found.groups)}"
                " groups"
                for found in (runs.sizeable, runs.large)
            ),
            together(["holds" if groups else "open" for groups in above.values()]),
        ),
    ]
