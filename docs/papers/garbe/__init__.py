"""Paper 2: FDR, IR and GARBE of speaker verification systems over operating points."""

from __future__ import annotations

from fastfair.measures import MEASURES
from papers.page_parts import Page, Part, Verdict, verdict_table
from papers.quantities import WHY_WITHHELD
from papers.settings import Settings

from . import claims, criteria, figures, table1, tables
from .printed import GARBE_TERMS_AT, IR_COMPUTABLE, NATIONALITIES, NONMATED, POOLED_EER, RANGES_AT
from .rules import SAME_SCALE, chance_of_errors_everywhere
from .runs import GROUPINGS, NAMES, OPTIMISED, SLIM, Study, study, terms

TITLE = "Paper 2: FDR, IR and GARBE in speaker verification"


def page(settings: Settings) -> Page:
    """Make the page."""
    settings.tell("paper 2: Table 1 through the measures")
    first = _table_1()
    made = study(settings)
    settings.tell("paper 2: claims and criteria")
    decisions = criteria.decide(made)
    found = claims.findings(made)
    settings.tell("paper 2: figures")
    return Page(
        "garbe",
        TITLE,
        [
            _introduction(made),
            *first,
            *_values(made),
            *_terms(made),
            *_inequity(made),
            *_criteria(decisions),
            *_performance(made, settings),
            *_claims(
                [*found, claims.Finding(criteria.verdict(decisions), _disagreement(decisions))]
            ),
        ],
    )


def _introduction(made: Study) -> str:
    fewest = int(min(made.evaluations[SLIM, "nationality"].rates[0].counts.group_nonmated))
    return f"""
Chouchane, Busch, Galdi, Evans and Todisco, *A Comparison of Differential Performance Metrics for the Evaluation of
Automatic Speaker Verification Fairness*, compare the Fairness Discrepancy Rate (FDR), the Inequity Rate (IR) and the
Gini Aggregation Rate for Biometric Equitability (GARBE) on {len(POOLED_EER)} speaker verification systems. They hold
the measures against three functional fairness measure criteria (FFMC) and find that GARBE alone meets all. They also
find that the fairest system by GARBE, {SLIM}, has the worst verification performance.

**Their data**: {len(NATIONALITIES)} nationalities of VoxCeleb1, eight speakers and {NONMATED:,} mated and
{NONMATED:,} non-mated comparisons each. Scores are not published; the rates at one threshold are (Table 1).

**Ours**: Table 1's printed rates, and VoxCeleb1-H scored by two of the five systems, {OPTIMISED} and {SLIM}, with all
speakers of VoxCeleb1. Its trials are between speakers of one gender and nationality, and groups differ in size: the
smallest nationality has {fewest:,} non-mated comparisons. So levels of errors, and where curves meet, cannot be the
same. What can be compared are the paper's statements about the measures: ranges, scales, what is computable, and
which system is fairer. The three other systems cannot be remade.

Groups are nationalities, the paper's nine of them, or intersections of gender and nationality. Operating points are
{made.levels.size} FMRs from 0.1 % to 10 %, evenly spaced on a logarithmic axis, and α, the weight of false matches, has
{made.alphas.size} values in [0, 1]. Intervals are for other speakers, as the bootstrap draws them.
"""


def _table_1() -> list[Part]:
    whole = (
        f"All printed rates are those of whole numbers of errors among {NONMATED:,} comparisons, to"
        " both decimals: so the counts behind them are known, and the audit below uses these."
        if table1.all_whole()
        else (
            f"Not all printed rates are those of whole numbers of errors among {NONMATED:,}"
            " comparisons."
        )
    )
    same = (
        "The same systems are the fairest with the exact rates of those counts."
        if table1.same_by_counts()
        else (
            "With exact rates of the nearest counts some other systems are the fairest: rounding"
            " decides."
        )
    )
    by = {name: table1.fairest(name, 0.5, table1.printed_rates()) for name in ("fdr", "garbe")}
    worst = table1.fairest("fdr", 0.5, table1.printed_rates(), least=True)
    opposite = (
        f"At α = 0.5 GARBE calls {by['garbe']} the fairest system and FDR calls the same system the"
        " least fair. FDR takes differences of rates, which are large where rates are; GARBE"
        " divides them by the mean rate. So a trade-off between fairness and performance is in"
        " part the measure's own: a system with more errors everywhere, in the same ratios, has"
        " the same GARBE and a worse FDR."
        if by["garbe"] == worst
        else f"At α = 0.5 the fairest system is {by['garbe']} by GARBE and {by['fdr']} by FDR."
    )
    verdicts = table1.verdicts()
    explanations = (
        (
            "If both rates were taken at the threshold of the EER they would be one comparison"
            " apart at most, in a protocol with as many mated as non-mated comparisons. The"
            " thresholds of Table 1 seem to be near those, not at them."
        ),
        (
            "The statement on FDR's terms is either of other thresholds than the FMR says, or of"
            " something else than these five systems' rates: Table 1's own thresholds lie above the"
            " FMR at which the terms are said to swap."
        ),
    )
    wrong = [
        why
        for verdict, why in zip(verdicts[:2], explanations, strict=True)
        if verdict.verdict != "holds"
    ]
    return [
        f"## Table 1 through the measures\n\n{whole} {same} {opposite}",
        table1.measures_table(),
        table1.measures_figure(),
        "### What the printed numbers say of each other",
        table1.audit(),
        verdict_table(
            "table1_verdicts", "Statements of the text held against Table 1 alone.", verdicts
        ),
        *wrong,
    ]


def _values(made: Study) -> list[Part]:
    return [
        "## The measures over FMR and α (sections 4.1 and 4.2)",
        tables.groups_table(made),
        tables.ranges_table(made),
        figures.measure_figure(made, "fdr", "Figures 1 and 2"),
        figures.measure_figure(made, "garbe", "Figures 3 and 4"),
    ]


def _terms(made: Study) -> list[Part]:
    largest, median = RANGES_AT["garbe"][1], GARBE_TERMS_AT[0]
    plain = (
        f"The printed median {median:g} of FPD cannot be of a term already multiplied by α: no term"
        f" exceeds GARBE's largest value, {largest:g}, and half of that is the most that the median"
        " over α could be. So terms without α are shown."
        if median > largest / 2
        else "Terms are shown without α."
    )
    text = f"""
## The terms that α weights

FDR and GARBE are α times a term FPD of the groups' FMRs and 1 − α times a term FND of their FNMRs; IR is a product
of powers of them. {plain} In the paper the boxes of the terms swap places between an FMR of 0.1 % (Figs. 1(c), 3(c))
and the whole range (Figs. 2(c), 4(c)), as the terms swap at some FMR between.
"""
    highest = [terms("garbe", run.fmr[-1], run.fnmr[-1]) for run in made.drawn]
    at_eer = [terms("garbe", *rates)[1] for rates in table1.exact_rates().values()]
    why = f"""
The medians of GARBE's terms are not those printed, as these follow the data. FND grows as false non-matches
become few: in Table 1, at FMRs of a few per cent, it is {min(at_eer):.2f} to {max(at_eer):.2f}; here at an FMR of 10
% FPD is {min(fpd for fpd, _ in highest):.2f} to {max(fpd for fpd, _ in highest):.2f} and FND
{min(fnd for _, fnd in highest):.2f} to {max(fnd for _, fnd in highest):.2f}. Medians over the range also follow from
how FMRs are spaced: on a linear axis nine tenths of them lie above 1 %.
"""
    return [
        text,
        tables.terms_table(made),
        why,
        figures.terms_figure(made),
        tables.swaps_table(made),
    ]


def _inequity(made: Study) -> list[Part]:
    n_errors = round(0.001 * NONMATED * len(NATIONALITIES))
    chance = chance_of_errors_everywhere(len(NATIONALITIES), n_errors)
    text = f"""
## Where IR is computable (sections 4.1.2 and 4.2.2)

IR divides by the smallest error rate of a group. The paper could compute {100 * IR_COMPUTABLE:g} % of its values.
That is as much a fact of the data as of the measure: an FMR of 0.1 % of the paper's
{NONMATED * len(NATIONALITIES):,} non-mated comparisons is {n_errors} false matches, and if all nationalities were
alike, as fair as can be, each of the nine would have one of them in {100 * chance:.0f} % of draws only. In the
others IR does not exist.
"""
    return [
        text,
        tables.inequity_table(made),
        figures.measure_figure(made, "inequity_rate", "Figure 5"),
    ]


def _criteria(decisions: list[criteria.Decision]) -> list[Part]:
    text = f"""
## The criteria (section 4.3, Table 2)

The paper states the criteria in words. They are decided here by these rules:

- **FFMC.1**, contributions of FMR and FNMR are intuitive across typical α and relevant error rates: for both
  systems, all groupings and all FMRs of 0.1 to 10 % where the measure is computable, the larger of the two
  contributions is less than {SAME_SCALE} times the smaller. Contributions are what α weights in a sum: the terms,
  and for IR their logarithms.
- **FFMC.2**, defined boundaries: the measure has a finite minimum and maximum, and all values computed keep them.
- **FFMC.3**, computable for groups without errors: it is finite for made-up groups without false matches, without false
  non-matches and without both, and at all FMRs and all α in (0, 1) here.

The limit of FFMC.1 is ours. {criteria.limits_text(decisions)}
"""
    return [text, criteria.table(decisions)]


def _disagreement(decisions: list[criteria.Decision]) -> str:
    cells = ", ".join(
        f"{d.criterion} of {MEASURES[d.measure].title}" for d in decisions if not d.agrees
    )
    return (
        f"Decided otherwise than printed: {cells}. What decided it stands beside each cell of the"
        " table above."
    )


def _performance(made: Study, settings: Settings) -> list[Part]:
    return [
        "## Fairness and verification performance (section 5)",
        figures.garbe_figure(made),
        (
            "Intervals of GARBE are made by test inversion, which knows that chance alone makes"
            " groups differ: where one reaches towards 0 chance may have made much of the"
            " difference between groups. It draws numbers of errors where a group has none, and"
            " people where every group has errors of both kinds"
            f" ({claims.first_with_errors(made)}), so that intervals jump there. Intervals of"
            " differences are put together from those of the two systems."
        ),
        tables.operating_points_table(made),
        _told_apart(made),
        figures.det_figure(settings),
    ]


def _told_apart(made: Study) -> str:
    lines = [
        f"- {MEASURES[name].title}, by {grouping}: {claims.told_apart(made, grouping, name)} FMRs."
        for name in NAMES
        for grouping in GROUPINGS
    ]
    return f"""
Which system is the fairer beyond chance is told by the tests of `compare`, at 5 % and at each FMR by itself (α = 0.5).
They ask whether two systems that are equally unfair would differ by so much, and are not read off the intervals above.
*Withheld* means that `compare` gives {WHY_WITHHELD}.

""" + "\n".join(lines)


def _claims(found: list[claims.Finding]) -> list[Part]:
    verdicts: list[Verdict] = [finding.verdict for finding in found]
    parts: list[Part] = [
        "## The claims",
        verdict_table("verdicts", "The paper's statements held against VoxCeleb1-H.", verdicts),
    ]
    whys = [
        f"- *{finding.verdict.claim}.* {finding.why}" for finding in found if finding.is_mismatch
    ]
    if whys:
        parts.append("Why not all of them hold:\n\n" + "\n".join(whys))
    return parts
