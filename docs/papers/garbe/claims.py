"""The claims of paper 2 held against VoxCeleb1-H."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fastfair import at_fmr
from fastfair.evaluation.contrasts import Contrast
from fastfair.intervals import confidence_interval
from fastfair.measures import MEASURES
from papers.page_parts import Range, Verdict
from papers.quantities import WITHHELD, fairer
from papers.verdict_rules import Outcome, together

from . import rules
from .printed import (
    GARBE_TERMS_AT,
    IR_AT,
    IR_COMPUTABLE,
    NONMATED,
    POOLED_EER,
    RANGES_AT,
    RANGES_OVER,
    SWAPS,
)
from .runs import (
    GROUPINGS,
    OPTIMISED,
    SLIM,
    Floats,
    Run,
    Study,
    contributions,
    disparity,
    terms,
    values,
)

AT, OVER = np.s_[:1], np.s_[:]  # operating points: an FMR of 0.1 % alone, and all


@dataclass(frozen=True)
class Finding:
    """A verdict, and why it is not that the claim holds, where it is not."""

    verdict: Verdict
    why: str = ""

    @property
    def is_mismatch(self) -> bool:
        """Whether there is something to explain."""
        return self.verdict.verdict != "holds" and bool(self.why)


def over_alpha(study: Study, run: Run, name: str, points: slice) -> Floats:
    """Return the values of a measure at operating points for every alpha."""
    return values(name, run.fmr[points], run.fnmr[points], study.alphas)


def share_computable(study: Study, run: Run) -> float:
    """Return the share of operating points and alphas in (0, 1) where IR is finite, FMRs evenly on
    a log axis.
    """
    return float(np.isfinite(values("inequity_rate", run.fmr, run.fnmr, study.alphas[1:-1])).mean())


def swap_of(run: Run, name: str) -> Range:
    """Find the FMR where FPD overtakes FND (FDR) or FND overtakes FPD (GARBE), with its percentile
    interval.
    """
    order = 1 if name == "fdr" else -1  # of what is the smaller term at low FMRs, by the paper

    def crossing(fmr: Floats, fnmr: Floats) -> Floats:
        difference = order * np.subtract(*terms(name, fmr, fnmr))
        # The other way round is not what the paper tells of.
        return np.where(difference[..., 0] < 0, rules.crossings(run.levels, difference), np.nan)

    drawn = crossing(run.drawn_fmr, run.drawn_fnmr)
    low, high = confidence_interval(drawn, crossing(run.fmr, run.fnmr))
    return Range(float(crossing(run.fmr, run.fnmr)), float(low), float(high))


def contrasts(study: Study, grouping: str, name: str) -> list[Contrast]:
    """Return how ResNetSE34L differs from ResNetSE34V2 in a measure at every FMR."""
    return [study.pairs[grouping].contrast(name, at=at_fmr(level)) for level in study.levels]


def findings(study: Study) -> list[Finding]:
    """Judge every claim of section 4 and 5 that these data can tell of."""
    return [
        _concentrated(study, "FMR 0.1 %", AT, RANGES_AT["fdr"], "section 4.1.1, Fig. 1"),
        _concentrated(study, "FMR 0.1 to 10 %", OVER, RANGES_OVER["fdr"], "section 4.2.1, Fig. 2"),
        _disparate(study),
        _not_computable(study),
        _mostly_not_computable(study),
        _wider(study),
        _one_scale(study),
        _spans(study),
        _swap(study, "fdr"),
        _swap(study, "garbe"),
        *_trade_off(study),
    ]


def _concentrated(
    study: Study, where: str, points: slice, printed: tuple[float, float], source: str
) -> Finding:
    found = np.concatenate([over_alpha(study, run, "fdr", points).ravel() for run in study.runs])
    share = rules.share_inside(found, *printed)
    most = max(
        float(terms("fdr", run.fmr[points], run.fnmr[points])[1].max()) for run in study.runs
    )
    eers = [
        f"{100 * study.evaluations[system, 'nationality'].value('eer'):.2f} % against"
        f" {POOLED_EER[system]:.2f} % ({system})"
        for system in (OPTIMISED, SLIM)
    ]
    return Finding(
        Verdict(
            f"At {where} FDR is concentrated in {printed[0]:g} to {printed[1]:g}",
            source,
            f"{100 * rules.MOST:g} % of the values over systems, groups, FMRs and α lie there; in"
            f" part: {100 * rules.HALF:g} %",
            f"{100 * share:.0f} % lie there; all lie in {found.min():.2f} to {found.max():.2f}",
            rules.concentrated(share),
        ),
        f"At α = 0 FDR is one minus the greatest difference of FNMRs, here up to {100 * most:.0f}"
        " %. The trials of VoxCeleb1-H are harder than the paper's: the EER is"
        f" {' and '.join(eers)}, as both speakers of a non-mated trial have one gender. FDR is an"
        " absolute difference, so its range follows the level of the errors.",
    )


def _disparate(study: Study) -> Finding:
    cases = {}
    for run in study.runs:
        ratios = disparity(*terms("fdr", run.fmr, run.fnmr))
        cases[run.label] = ratios[0] >= rules.SAME_SCALE, float(ratios[0])
    ratios = np.array([ratio for _, ratio in cases.values()])
    return Finding(
        Verdict(
            "FDR's terms FPD and FND are on disparate scales at FMR 0.1 %",
            "section 4.1.1, Fig. 1(c)",
            f"The larger is at least {rules.SAME_SCALE} times the smaller for both systems and all"
            " groupings",
            f"{ratios.min():.0f} to {ratios.max():.0f} times",
            rules.of_cases(bool(far) for far, _ in cases.values()),
        ),
        "Where FNMRs differ less between groups the terms come nearer to each other.",
    )


def _not_computable(study: Study) -> Finding:
    finite = {
        run.label: bool(np.isfinite(values("inequity_rate", run.fmr[0], run.fnmr[0], [0.5])[0]))
        for run in study.runs
    }
    return Finding(
        Verdict(
            f"At FMR 0.1 % IR is computable for {len(IR_AT)} of {len(POOLED_EER)} systems only",
            "section 4.1.2",
            "At α = 0.5 it is not computable for at least one system under every grouping",
            f"computable in {sum(finite.values())} of {len(finite)} cases (two systems, three"
            " groupings)",
            rules.of_cases(
                not all(finite[run.label] for run in study.runs if run.grouping == grouping)
                for grouping in dict.fromkeys(run.grouping for run in study.runs)
            ),
        ),
        "With more non-mated comparisons in each group false matches are found in all of them.",
    )


def _mostly_not_computable(study: Study) -> Finding:
    shares = [share_computable(study, run) for run in study.runs]
    return Finding(
        Verdict(
            f"Over FMRs of 0.1 to 10 % few values of IR are computable ({100 * IR_COMPUTABLE:g} %)",
            "section 4.2.2, Fig. 5",
            "Less than half of the values at α in (0, 1) and FMRs on a logarithmic axis are, for"
            " each system and grouping",
            f"{100 * min(shares):.0f} to {100 * max(shares):.0f} %",
            rules.of_cases(share < 0.5 for share in shares),
        ),
        "Where it is computable is a matter of how many comparisons the smallest groups have: from"
        " some FMR on, all of VoxCeleb1-H's have a false match, and its harder trials leave false"
        f" non-matches in every group. The paper's groups have {NONMATED:,} non-mated comparisons"
        " each, and easier ones.",
    )


def _wider(study: Study) -> Finding:
    widths = [
        tuple(float(np.ptp(over_alpha(study, run, name, AT))) for name in ("fdr", "garbe"))
        for run in study.runs
    ]
    return Finding(
        Verdict(
            "At FMR 0.1 % GARBE has a wider range over α than FDR",
            "section 4.1.3, Fig. 3",
            "Its largest value less its least is larger than FDR's for both systems and all"
            " groupings",
            "; ".join(
                f"{run.label}: GARBE {garbe:.2f}, FDR {fdr:.2f}"
                for run, (fdr, garbe) in zip(study.runs, widths, strict=True)
            ),
            rules.of_cases(garbe > fdr for fdr, garbe in widths),
        ),
        "Over α both go from one term to the other. FDR's range widens with the differences of"
        " FNMRs, which are large on hard trials, GARBE's does not.",
    )


def _one_scale(study: Study) -> Finding:
    found = [disparity(*contributions("garbe", run.fmr[0], run.fnmr[0])) for run in study.runs]
    return Finding(
        Verdict(
            "GARBE's terms FPD and FND are of comparable magnitude at FMR 0.1 %, FPD the larger",
            "sections 4.1.3 and 4.2.3, Fig. 3(c)",
            f"FPD is larger, by less than {rules.SAME_SCALE} times, for both systems and all"
            f" groupings (printed medians: {GARBE_TERMS_AT[0] / GARBE_TERMS_AT[1]:.1f} times)",
            f"{min(map(float, found)):.3g} to {max(map(float, found)):.3g} times",
            rules.of_cases(
                rules.one_scale(ratio)
                and bool(np.greater(*terms("garbe", run.fmr[0], run.fnmr[0])))
                for run, ratio in zip(study.runs, found, strict=True)
            ),
        ),
        "Few false matches make the Gini coefficient of FMRs large, whatever the system.",
    )


def _spans(study: Study) -> Finding:
    every = np.concatenate([over_alpha(study, run, "garbe", OVER).ravel() for run in study.runs])
    gini = [float(terms("garbe", run.fmr, run.fnmr)[1][-1]) for run in study.runs]
    return Finding(
        Verdict(
            "Over FMRs of 0.1 to 10 % GARBE spans its full range from 0 to 1",
            "section 4.2.3, Fig. 4",
            "Its values over systems, groupings, FMRs and α span nine tenths of it; in part: half",
            f"they go from {every.min():.2f} to {every.max():.2f}",
            rules.spans(every, *RANGES_OVER["garbe"]),
        ),
        "Near 1 all errors are in one group, and at 0 all groups have equal rates. Systems with"
        " hardly any false non-matches left at high FMRs come near the one. Here there are many:"
        f" the Gini coefficient of FNMRs at an FMR of 10 % is {min(gini):.2f} to {max(gini):.2f}."
        " So GARBE's use of its range is a fact of data sets, too.",
    )


def _swap(study: Study, name: str) -> Finding:
    below, above = ("FND", "FPD") if name == "fdr" else ("FPD", "FND")
    found = {run.label: swap_of(run, name) for run in study.runs}
    printed = SWAPS[name]
    told = [
        f"{label}: {100 * at.value:.2g} % [{100 * at.low:.2g}, {100 * at.high:.2g}]"
        if at.value == at.value
        else f"{label}: no single swap"
        for label, at in found.items()
    ]
    later = all(at.value > printed for at in found.values())
    why = (
        "The terms swap here too, but at higher FMRs: with harder trials FNMR stays large for"
        f" longer, so {below} is overtaken later."
        if later and name == "fdr"
        else (
            "Where the terms meet is a matter of the data. A low FMR leaves few false matches,"
            " which makes the Gini coefficient of FMRs large by chance alone, and a high one few"
            " false non-matches; harder trials move both."
        )
    )
    return Finding(
        Verdict(
            f"{below} of {MEASURES[name].title} is the larger term below an FMR of"
            f" {100 * printed:g} %, {above} above",
            "section 4.2.3",
            "They swap once, that way, and the 95 % interval of the FMR holds the printed one; in"
            " part: once, elsewhere",
            "; ".join(told),
            together(rules.swap(at.value, at.low, at.high, printed) for at in found.values()),
        ),
        why,
    )


def _trade_off(study: Study) -> Sequence[Finding]:
    found = {grouping: contrasts(study, grouping, "garbe") for grouping in GROUPINGS}
    shares = [shares_fairer(study, grouping, "garbe") for grouping in GROUPINGS]
    lowest = together(rules.everywhere(slim, optimised) for slim, optimised in shares)
    told = "; ".join(
        f"{grouping}: lower at {sum(one.difference < 0 for one in ours)} of {len(ours)} FMRs,"
        f" differences {min(one.difference for one in ours):+.3f} to"
        f" {max(one.difference for one in ours):+.3f}; beyond chance:"
        f" {told_apart(study, grouping, 'garbe')}"
        for grouping, ours in found.items()
    )
    of_eer = [study.pairs[grouping].contrast("eer") for grouping in GROUPINGS]
    eer = of_eer[0]
    worst = rules.of_cases(
        contrast.verdict == "second" for contrast in of_eer if contrast.verdict != WITHHELD
    )
    why = (
        "With intervals missing, lines that lie one above the other look like an order; the paper's"
        " lines rest on eight speakers a nationality. At low FMRs some groups have no false matches"
        " here, and `compare` withholds its verdict. Three of the paper's five systems are not in"
        " these data."
    )
    return [
        Finding(
            Verdict(
                f"{SLIM} has the lowest GARBE at all FMRs (α = 0.5)",
                "section 5, Fig. 6",
                f"Of the two systems: {SLIM} is the fairer beyond chance, by `compare`, at all"
                f" FMRs; in part: at more than half; does not hold: {OPTIMISED} is, at more than"
                " half; else it cannot be told. FMRs are tested one by one, at 5 %, so that a few"
                " of them say nothing",
                told,
                lowest,
            ),
            why,
        ),
        Finding(
            Verdict(
                f"{OPTIMISED} has the highest GARBE at most operating points (α = 0.5)",
                "section 5, Fig. 6",
                f"Of the two systems: {SLIM} is the fairer beyond chance, by `compare`, at more"
                f" than half of the FMRs under both groupings; does not hold: {OPTIMISED} is; else"
                " it cannot be told",
                "; ".join(
                    f"{grouping}: above at"
                    f" {100 * float(np.mean([one.difference < 0 for one in ours])):.0f} %, beyond"
                    f" chance at {100 * slim:.0f} %"
                    for (grouping, ours), (slim, _) in zip(found.items(), shares, strict=True)
                ),
                together(rules.most(slim, optimised) for slim, optimised in shares),
            ),
            why,
        ),
        Finding(
            Verdict(
                f"{SLIM} has the worst verification performance",
                "section 5, Fig. 7",
                f"Of the two systems: its EER is higher than that of {OPTIMISED} beyond chance, by"
                " `compare`",
                f"EER {100 * eer.first:.2f} % against {100 * eer.second:.2f} %, difference "
                f"{100 * eer.difference:.2f} [{100 * eer.low:.2f}, {100 * eer.high:.2f}] points",
                worst,
            )
        ),
        Finding(
            Verdict(
                "The fairest system has the worst verification performance",
                "sections 5 and 6",
                "Both hold: it is certainly the fairest and certainly the worst",
                f"fairest: {_words(lowest)}; worst: {_words(worst)}",
                rules.both(lowest, worst),
            ),
            "A trade-off needs an order on either side, of verification performance and of fairness"
            " by GARBE, and both certain.",
        ),
    ]


def shares_fairer(study: Study, grouping: str, name: str) -> tuple[float, float]:
    """Return the shares of FMRs where ResNetSE34L, and where ResNetSE34V2, is the fairer by a
    measure beyond chance.
    """
    verdicts = [one.verdict for one in contrasts(study, grouping, name)]
    return verdicts.count("first") / len(verdicts), verdicts.count("second") / len(verdicts)


def told_apart(study: Study, grouping: str, name: str) -> str:
    """Say at how many FMRs which system is the fairer by a measure beyond chance, and at how many
    none is.
    """
    told = f"{SLIM} fairer", f"{OPTIMISED} fairer"
    found = Counter(fairer(one.verdict, *told) for one in contrasts(study, grouping, name))
    return ", ".join(f"{what} at {count} of {found.total()}" for what, count in found.items())


def _words(outcome: Outcome) -> str:
    return {"holds": "yes", "in part": "in part", "fails": "no", "open": "cannot be told"}[outcome]


def first_with_errors(study: Study) -> str:
    """Say from which FMR on every group has errors of both kinds."""
    told = []
    for run in study.drawn:
        every = ~((run.fmr == 0) | (run.fnmr == 0)).any(axis=1)
        first = (
            f"from {100 * study.levels[int(np.argmax(every))]:.2g} %" if every.any() else "nowhere"
        )
        told.append(f"{run.label}: {first}")
    return "; ".join(told)
