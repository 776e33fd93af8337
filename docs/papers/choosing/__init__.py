"""The page that no paper has: all measures on the same data, where they contradict each other, and
which to choose.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from fastfair.evaluation.contrasts import Contrast
from papers.page_parts import Cell, Page, Part, Range, Table
from papers.quantities import WHY_WITHHELD, WITHHELD, fairer
from papers.settings import Settings
from papers.voxceleb import SYSTEMS

from . import rules
from .figures import at_point, draw_relations, draw_uncertainty
from .runs import LEVELS, MADE, POINTS, Entry, Runs, run

_NAMES = dict(zip(("first", "second"), SYSTEMS, strict=True))


def page(settings: Settings) -> Page:
    """Make the page."""
    runs = run(settings)
    settings.tell("choosing: which measure for which question")
    able = rules.abilities(runs)
    parts: list[Part] = [_introduction(settings), "## Two systems, all measures", _about_values()]
    for groups in runs.contrasts:
        parts.append(values_table(runs, groups))
    parts += ["## Which system is fairer?", _about_contrasts()]
    for groups, contrasts in runs.contrasts.items():
        name = "_".join(groups).lower()
        parts += [contrasts_table(groups, contrasts), _said_of_pairs(groups, contrasts, able)]
        parts.append(draw_relations(f"relations_{name}", contrasts, POINTS, " and ".join(groups)))
    parts += ["## Systems whose bias is known", _about_made(runs), made_table(runs)]
    parts += ["## What each measure can do", _about_abilities(), abilities_table(able.values())]
    parts.append(draw_uncertainty(list(able.values())))
    answers = [rules.answer(question, able) for question in rules.questions(able)]
    parts += [
        "## Which measure for which question",
        _about_guide(),
        guide_table(answers),
        _said_of_guide(answers, able),
    ]
    return Page("choosing", "Choosing a measure", parts)


def _introduction(settings: Settings) -> str:
    first, second = SYSTEMS
    return f"""
Five papers propose or compare fairness measures, each on data and at thresholds of its own. Here all measures that
have one value for all groups stand side by side: on two speaker verification systems, {first} and {second}, that scored
the same comparisons of VoxCeleb1-H, and on made systems whose bias is known. All have 95 % intervals from
{settings.n_resamples:,} bootstrap replicates over subjects. The end of the page says which measure the papers recommend
for which question, and whether these runs bear them out. See also [paper 1](sed.md), [paper 2](garbe.md),
[paper 3](pitfalls.md), [paper 4](fnmr_groups.md) and [paper 5](uncertainty.md).
"""


def _about_values() -> str:
    return """
A measure is *not computable* or infinite where it divides by the rate of a group without errors. EER, minDCF, Cllr and
SED need no operating point.
"""


def _interval(entry: Entry) -> Cell:
    quantity = entry.quantity
    if quantity.low is None or quantity.high is None or math.isnan(quantity.low):
        return quantity.estimate
    return Range(quantity.estimate, quantity.low, quantity.high)


def _level(level: float | None) -> str:
    return "none" if level is None else f"FMR {100 * level:g} %"


def values_table(runs: Runs, groups: Sequence[str]) -> Table:
    """Tabulate all measures of both systems, for one choice of groups."""
    of = [f"{system} by {' x '.join(groups).lower()}" for system in SYSTEMS]
    entries = [[entry for entry in runs.real if entry.data == data] for data in of]
    rows: list[list[Cell]] = [
        [rules.title(one.measure), _level(one.level), _interval(one), _interval(other)]
        for one, other in zip(*entries, strict=True)
    ]
    caption = f"All measures by {' and '.join(groups).lower()}, with 95 % intervals."
    columns = ("Measure", "Operating point", *SYSTEMS)
    return Table(
        f"values_{'_'.join(groups).lower()}", caption, columns, rows, dict.fromkeys(SYSTEMS, ".3g")
    )


def _about_contrasts() -> str:
    return f"""
Both systems scored the same comparisons, so they share their replicates. Differences are {SYSTEMS[0]} minus
{SYSTEMS[1]}; their intervals are put together from the two systems' own. Which system is *fairer beyond chance* is the
verdict of `compare`. It is that of a test and not of the interval, so that it can stand beside an interval that reaches
across zero. Chance makes measures larger, and not by as much for both systems; the test asks whether systems that are
equally unfair would differ by so much. Each measure is tested by itself, at 5 %: of many measures of two equally unfair
systems some may be told apart by chance. *{WITHHELD.capitalize()}* are verdicts where `compare` gives {WHY_WITHHELD}.
"""


def contrasts_table(groups: Sequence[str], contrasts: Sequence[Contrast]) -> Table:
    """Tabulate how the two systems differ by each measure."""
    rows: list[list[Cell]] = []
    for one in contrasts:
        known = math.isfinite(one.difference)
        estimate = _NAMES.get(rules.favours(one), "neither") if known else "not computable"
        two_ends = not math.isnan(one.low + one.high)
        difference: Cell = Range(one.difference, one.low, one.high) if two_ends else one.difference
        rows.append(
            [
                rules.title(one.name),
                one.operating_point or "none",
                difference,
                estimate,
                fairer(one.verdict, *SYSTEMS),
            ]
        )
    caption = (
        f"Differences of the two systems by {' and '.join(groups).lower()}, with 95 % intervals"
        " where the intervals of both systems have two ends."
    )
    columns = (
        "Measure",
        "Operating point",
        "Difference",
        "Fairer by the estimate",
        "Fairer beyond chance",
    )
    return Table(
        f"contrasts_{'_'.join(groups).lower()}", caption, columns, rows, {"Difference": ".3g"}
    )


def count_relations(contrasts: Sequence[Contrast]) -> dict[str, int]:
    """Count the pairs of measures that agree, disagree and so on, and those whose estimates
    contradict each other.
    """
    kinds = (
        "agree",
        "disagree",
        "not told apart",
        "withheld",
        "not computable",
        "opposite estimates",
    )
    counted = dict.fromkeys(kinds, 0)
    for k, one in enumerate(contrasts):
        for other in contrasts[:k]:
            counted[rules.relation(one, other)] += 1
            counted["opposite estimates"] += {rules.favours(one), rules.favours(other)} == {
                "first",
                "second",
            }
    return counted


def _said_of_pairs(
    groups: Sequence[str], contrasts: Sequence[Contrast], able: Mapping[str, rules.Ability]
) -> str:
    lines = []
    for point in POINTS:
        chosen = at_point(contrasts, point)
        counted = count_relations(chosen)
        total = len(chosen) * (len(chosen) - 1) // 2
        lines.append(
            f"- At {point}, by {' and '.join(groups).lower()}: of {total} pairs of measures the"
            f" estimates of {counted['opposite estimates']} favour different systems. Beyond chance"
            f" {counted['disagree']} of these contradictions and {counted['agree']} agreements are"
            f" confirmed; in {counted['not told apart']} pairs at least one measure cannot tell the"
            f" systems apart, in {counted['withheld']} a verdict is withheld, and in"
            f" {counted['not computable']} one measure is not computable."
        )
        camps = {
            name: ", ".join(rules.title(one.name) for one in chosen if one.verdict == name)
            for name in _NAMES
        }
        lines += [
            f"  Beyond chance {_NAMES[name]} is fairer for {camp}."
            for name, camp in camps.items()
            if camp
        ]
        against = [
            (one, other)
            for k, other in enumerate(chosen)
            for one in chosen[:k]
            if rules.relation(one, other) == "disagree"
        ]
        apart = sum(
            {able[one.name].keeps_scale, able[other.name].keeps_scale} == {True, False}
            for one, other in against
        )
        if 2 * apart > len(against):
            lines.append(
                f"  In {apart} of the {len(against)} contradictions beyond chance one measure stays"
                " where all error rates fall to a tenth, as ratios do, and the other falls with"
                " them, as differences do. The one asks how many times as likely errors are for"
                " some, the other how many more of them there are: a system with more errors for"
                " all can be the fairer one by ratios and the less fair one by differences."
            )
    return "\n".join(lines)


def _about_made(runs: Runs) -> str:
    fair, *biased = MADE
    alarms = sum(entry.tells_bias for entry in runs.made if entry.data == fair)
    known = [entry for entry in runs.made if entry.data == fair and entry.computable]
    inside = [
        _holds_truth(entry)
        for entry in runs.made
        if entry.computable and math.isfinite(entry.truth)
    ]
    return f"""
Scores drawn from normal laws, with subjects that differ: four groups, all alike in {fair}, and with FMRs in these
ratios at a TMR of 95 % in {" and ".join(biased)}. The true value is that of the laws. Without bias {alarms} of
{len(known)} intervals leave the fair value out. Over all made systems {100 * sum(inside) / len(inside):.0f} % of
{len(inside)} intervals hold the true value; they are not independent, as all come of the same {len(MADE)} draws.
"""


def _holds_truth(entry: Entry) -> bool:
    low, high = entry.quantity.low, entry.quantity.high
    return low is not None and high is not None and low - 1e-9 <= entry.truth <= high + 1e-9


def made_table(runs: Runs) -> Table:
    """Tabulate measures of the made systems beside the true values."""
    columns = ["Measure", "Operating point"]
    for ratios in MADE:
        columns += [ratios, f"{ratios}, true"]
    by_data = [[entry for entry in runs.made if entry.data == ratios] for ratios in MADE]
    rows: list[list[Cell]] = []
    for entries in zip(*by_data, strict=True):
        cells: list[Cell] = [rules.title(entries[0].measure), _level(entries[0].level)]
        for entry in entries:
            cells += [_interval(entry), entry.truth if math.isfinite(entry.truth) else None]
        rows.append(cells)
    caption = (
        "Measures of made systems, with 95 % intervals, and their true values where the laws give"
        " them."
    )
    return Table("made", caption, columns, rows, dict.fromkeys(columns[2:], ".3g"))


def _about_abilities() -> str:
    levels = " and ".join(f"{100 * level:g} %" for level in LEVELS)
    return f"""
Facts that each measure states of itself, and what runs show. *In order*: share of the pairs of systems of paper 1, one
of which is worse for some group and better for none, that the measure puts in that order, without chance, with one, two
and three disadvantaged groups. *Shared bias*: grows from 2:2:2:2 over 3:3:3:3 to 5:5:5:5. *Keeps scale*: stays where
all rates fall to a tenth. *Computable*: share of results on VoxCeleb1-H, both systems and groupings, at FMRs of
{levels}. *Apart from fair*: share of computable results on VoxCeleb1-H, and on made systems with bias, whose interval
leaves the fair value out.
"""


def abilities_table(able: Iterable[rules.Ability]) -> Table:
    """Tabulate what each measure can do."""
    rows: list[list[Cell]] = []
    for one in able:
        shares = one.orders_one, one.orders_two, one.orders_three
        orders = [None if math.isnan(share) else 100 * share for share in shares]
        rows.append(
            [
                rules.title(one.measure),
                one.error_types,
                _mark(not one.needs_policy),
                _mark(one.has_reference),
                _mark(one.bounded),
                _mark(one.fails_without_errors),
                *orders,
                _mark(one.sees_shared),
                _mark(one.keeps_scale),
                100 * one.computable,
                100 * one.tells_bias,
                one.uncertainty,
            ]
        )
    columns = (
        "Measure",
        "Error types",
        "Own or no threshold",
        "Reference",
        "Bounded",
        "Fails without errors",
        "In order, 1 (%)",
        "In order, 2 (%)",
        "In order, 3 (%)",
        "Shared bias",
        "Keeps scale",
        "Computable (%)",
        "Apart from fair (%)",
        "Uncertainty",
    )
    formats = {column: ".0f" for column in columns if column.endswith("(%)")} | {
        "Uncertainty": ".2g"
    }
    return Table(
        "abilities", "What each measure can do; empty where not tried.", columns, rows, formats
    )


def _mark(fact: bool | None) -> Cell:
    return None if fact is None else "yes" if fact else "no"


def _about_guide() -> str:
    return """
For each question a rule says what a measure must have. *Recommended* are those that a paper names for it, by the number
of the paper and the section; they are confirmed or not by the rule. *Also* have the rule on their side measures that no
paper names for that question.
"""


def guide_table(answers: Sequence[rules.Answer]) -> Table:
    """Tabulate questions, rules and measures."""
    rows: list[list[Cell]] = []
    for one in answers:
        confirmed, refused = (
            "; ".join(f"{rules.title(name)} ({one.question.recommended[name]})" for name in names)
            for names in (one.confirmed, one.refused)
        )
        others = ", ".join(rules.title(name) for name in one.others)
        rows.append([one.question.text, one.question.rule, confirmed, refused, others])
    columns = (
        "Question",
        "Rule",
        "Recommended and confirmed",
        "Recommended, not confirmed",
        "Also",
    )
    return Table("guide", "Which measure for which question.", columns, rows)


def _said_of_guide(answers: Sequence[rules.Answer], able: Mapping[str, rules.Ability]) -> str:
    counted = {name: sum(name in (*one.confirmed, *one.others) for one in answers) for name in able}
    most = max(counted.values())
    best = [rules.title(name) for name, count in counted.items() if count == most]
    refused = [
        f"- *{one.question.text}* Not {rules.title(name)}: {_why(one.question, able[name])}."
        for one in answers
        for name in one.refused
    ]
    lines = [
        (
            f"No measure answers every question: {' and '.join(best)} answers most, {most} of"
            f" {len(answers)}. A report needs one that says how large the bias is, one that says"
            " how groups differ, and intervals for both."
            if most < len(answers)
            else f"{' and '.join(best)} answers all {len(answers)} questions."
        )
    ]
    if refused:
        lines += ["Recommendations that these runs do not bear out:", "\n".join(refused)]
    small = able["fdr"]
    if small.uncertainty == min(
        one.uncertainty for one in able.values() if math.isfinite(one.uncertainty)
    ):
        lines.append(
            "That FDR has the least uncertainty is no merit: it is divided by an estimate near 1,"
            " while what tells systems apart is 1 - FDR. Its intervals leave the fair value out in"
            f" {100 * small.tells_bias:.0f} % of results."
        )
    lines.append(
        "Whether groups differ by more than chance is better asked of a test than of a measure's"
        " interval, and how many subjects that takes of a plan: see [paper 4](fnmr_groups.md)."
    )
    return "\n\n".join(lines)


def _why(question: rules.Question, ability: rules.Ability) -> str:
    facts = [f"the rule is {question.rule}"]
    if ability.computable < 1:
        facts.append(
            f"it is computable in {100 * ability.computable:.0f} % of results on real data"
        )
    if math.isfinite(ability.uncertainty):
        facts.append(
            f"its standard error is {ability.uncertainty:.2g} of the estimate in the median"
        )
    return "; ".join(facts)
