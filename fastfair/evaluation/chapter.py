"""What people read of an evaluation: sentences that follow from its numbers, tables, and a chapter
of a page.

Terminal, notebook and page share the sentences. A page has the first screen, and sections with the
rates, curves and measures of groups.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.special import ndtr

from fastfair import intervals
from fastfair._lib.arrays import Flags, Floats, Integers
from fastfair._lib.text import (
    NONE,
    in_lines,
    p_in_words,
    p_value,
    per_cent,
    rate_with_interval,
    typed,
    value_and_interval,
)
from fastfair.data.checks import LOG_LIKELIHOOD_RATIO
from fastfair.data.group_labels import attributed
from fastfair.error_rates.operating_points import ENOUGH_ERRORS, OperatingPoint
from fastfair.error_rates.rates import ErrorRate, Rates
from fastfair.errors import visible
from fastfair.measures._registry import (
    ACCURACY,
    AT_POINTS,
    METRICS,
    TRUE_MATCHES,
    measure_of,
    printed_name,
)
from fastfair.pages.drawings import Scale, axis, det_panel, distance, interval, scores_panel
from fastfair.pages.parts import (
    INTERVALS,
    Beside,
    Cell,
    Chapter,
    Column,
    FirstScreen,
    Panels,
    Section,
    Table,
    interval_name,
    stacked,
)
from fastfair.pages.report import letter
from fastfair.results.display import FEW_ERRORS, text_of
from fastfair.results.result import Printed, on_page, printed
from fastfair.uncertainty.notes import Code, Flag, has_flag
from fastfair.uncertainty.quantities import (
    FAILURE_RATES,
    IN_PER_CENT,
    WITH_FAILURES,
    Quantity,
    ends_of,
    find,
    in_words,
)
from fastfair.uncertainty.sessions import (
    IN_TOO_FEW,
    are_too_few,
    sentence_on_tests,
    sentences_on_ignored,
)

from .evaluated import Evaluated, outline

CLASSES = ("mated", "non-mated")
Said = list[tuple[str, str]]
_FEW_PEOPLE = 10
_TESTS = "tests to say (fnmr_test, fmr_test)"
_RATES: tuple[ErrorRate, ...] = ("fnmr", "fmr")
_WRONGLY = {"fnmr": ("mated", "rejected"), "fmr": ("non-mated", "accepted")}
_MOST_NAMED = 4  # groups that a sentence names
_ARE_FRR_AND_FAR = (
    ": FNMR is here the false rejection rate (FRR), and FMR the false acceptance rate (FAR), of"
    " ISO/IEC 19795-1, and so are the measures made of them."
)
_AS_NONMATCHES = f"They count as non-matches at every threshold{_ARE_FRR_AND_FAR}"
_LEFT_OUT = (
    "They are left out of FNMR and FMR, and of the measures; the FRR and the FAR count them as"
    " non-matches."
)
# a column, and what writes its cell in a row
ColumnOf = tuple[str | Column, Callable[[Any], str | Cell]]
OWN_SCALES = "Each bar has its own scale."
# measures that the answer speaks of
LEADING = ("garbe", "max_geomean_ratio(fmr)", "max_geomean_ratio(fnmr)")
_MOST_LEADING = 4
_DIFFERS = {"yes": "Differs from fair", "may be chance": "May be chance", "not known": "Not known"}
_NOT_ADJUSTED = (
    "Of so many measures of a fair system some seem to differ: these p-values are not adjusted."
)
_OF_DECISIONS = {
    ACCURACY: "Accuracy, the share of right decisions in this mix of comparisons",
    TRUE_MATCHES: "True match rate (TMR), 1 - FNMR",
}
_MOST_LETTERS = 20  # with more groups the cells of a matrix have no numbers
_HIGHEST = 8  # cells of a matrix that are listed with intervals
_INVISIBLE = 4.5  # divided by a panel's side: normal deviates between a curve and its lines
# groups whose panels are larger, and sides of panels in pixels
_FEW_GROUPS, _LARGE, _SMALL = 4, 230, 150
_LEAST_RATE, _GREATEST_RATE = 1e-5, 0.6  # ends of the axes of curves


def rates_of(evaluation: Evaluated) -> list[ErrorRate]:
    """Return the error rates that it has: one where all comparisons are mated, or none is."""
    names = {quantity.name for quantity in evaluation.quantities}
    return [name for name in _RATES if name in names]


def summary_of_attributes(evaluations: Sequence[Evaluated]) -> list[str]:
    """Return the sentences of evaluations of the same comparisons by several attributes, or by
    one.
    """
    first = evaluations[0]
    several = len(evaluations) > 1
    said = [f"{size_of(first, evaluations)}."] if first.rates else []
    answer = sentences_on_overall_rates(first)
    answer += metrics_in_words(first, shown_metrics(first)) if several else []
    for evaluation in evaluations:
        answer += sentences_on_groups(evaluation, (), several=several)
        answer += sentences_on_measures(evaluation, several=several)
    if not several:
        answer += sentences_on_limitations(first)
    said += [f"{name}: {sentence}" for name, sentence in answer]
    said += sentences_on_transactions(first)
    said += sentences_on_sessions(first)
    if has_failures(first):
        said += sentences_on_failures(first)
        names = FAILURE_RATES if first.groups and not several else ()
        said += [sentence_on_extreme_groups(first, name) for name in names]
    said += [words for evaluation in evaluations for words in left_out_of_measures(evaluation)]
    if several:
        said.append(sentence_on_tests(_TESTS, first.quantities))
    return said + brackets_of(first.settings, evaluations)


def sentences_on_transactions(evaluation: Evaluated) -> list[str]:
    """Say what rates are called where comparisons are transactions."""
    allowed = evaluation.settings.get("transactions")
    what = f"Each comparison is a transaction of at most {allowed} attempts"
    return [] if allowed is None else [what + _ARE_FRR_AND_FAR]


def sentences_on_sessions(evaluation: Evaluated) -> list[str]:
    """Say how much wider sessions make intervals of rates of all comparisons, and whether they or
    people dominate; or that they are too few for intervals.
    """
    said, names = sentences_on_ignored(evaluation.quantities), set[str]()
    if are_too_few(evaluation.quantities):
        said.append(IN_TOO_FEW)
    for quantity in evaluation.quantities:
        for note in quantity.notes:
            if note.code is not Code.EFFECT_OF_SESSIONS or quantity.name in names:
                continue
            names.add(quantity.name)
            effect = dict(note.values)
            parts = [("sessions", float(effect["sessions"])), ("people", float(effect["people"]))]
            (most, larger), (least, smaller) = sorted(parts, key=lambda part: -part[1])
            times = f"{effect['times']:.3g}"
            as_large = "" if times == "1" else f"{times} times "
            said.append(
                f"People share {effect['n']:,} sessions: the standard error of the {quantity.title}"
                f" is {as_large}that of people alone, and {most} weigh more than"
                f" {least} (design effects {larger:.2g} and {smaller:.2g})."
            )
    return said


def left_out_of_measures(evaluation: Evaluated) -> list[str]:
    """Say which groups the measures leave out, if any."""
    dropped = [group for group in evaluation.groups if group not in evaluation.measured_groups]
    why = "Left out of the measures, as they lack mated or non-mated comparisons"
    return [visible(f"{why}: {', '.join(dropped)}.")] if dropped else []


def facts_of(evaluation: Evaluated, evaluations: Sequence[Evaluated] = ()) -> Said:
    """Say what was tested: comparisons, people, groups and operating points."""
    facts = [] if evaluation.n_subjects is None else [("People", f"{evaluation.n_subjects:,}")]
    if len(evaluations) > 1:
        facts.append(("Groups", groupings_in_words(evaluations)))
    elif evaluation.groups:
        facts.append(("Groups", f"{len(evaluation.groups)}, by {grouping_of(evaluation)}"))
    if evaluation.rates:
        mated = evaluation.rates[0].counts.mated
        nonmated = evaluation.rates[0].counts.nonmated
        of_two = f"{nonmated:,} of two people (non-mated)"
        facts.append(("Comparisons", f"{mated:,} of the same person (mated), {of_two}"))
    rejected = "the same person is rejected: false non-match, rate FNMR"
    facts.append(("Two errors", f"{rejected}; another person is accepted: false match, rate FMR"))
    facts += [
        ("" if k else "Operating point", f"{rates.at}: threshold {typed(rates.threshold)}")
        for k, rates in enumerate(evaluation.rates)
    ]
    facts += metrics_in_words(evaluation, ("eer", "min_dcf"))
    facts += [("Transactions", said) for said in sentences_on_transactions(evaluation)]
    if has_failures(evaluation):
        facts.append(("Failed", " ".join(sentences_on_failures(evaluation)[:1])))
    return [(name, visible(text)) for name, text in facts]


def metrics_in_words(evaluation: Evaluated, names: Sequence[str]) -> Said:
    """Say what the metrics of all thresholds are, over all comparisons."""
    metrics = [
        quantity
        for quantity in evaluation.quantities
        if quantity.name in names and quantity.group is None
    ]
    said = "; ".join(f"{printed_name(quantity.name)} {in_words(quantity)}" for quantity in metrics)
    return [("All thresholds", said)] if metrics else []


def grouping_of(evaluation: Evaluated) -> str:
    """Name the attributes that groups are made of."""
    return visible(" & ".join(evaluation.settings["grouping"] or ("group",)))


def sentences_on_overall_rates(evaluation: Evaluated) -> Said:
    """Say how often comparisons are wrong at each operating point."""
    said = []
    for k, rates in enumerate(evaluation.rates):
        threshold = f"threshold {typed(rates.threshold)}"
        shares = ", and ".join(
            _share(find(evaluation.quantities, name, None, rates.at), *_WRONGLY[name])
            for name in rates_of(evaluation)
        )
        said.append(f"At {f'{rates.at} ({threshold})' if k else threshold}, {shares}.")
    if not said and any(quantity.name == "eer" for quantity in evaluation.quantities):
        said = [f"The EER is {in_words(find(evaluation.quantities, 'eer', None, None))}."]
    return [("Overall", " ".join(said))] if said else []


def _share(quantity: Quantity, kind: str, verb: str) -> str:
    """Say which share of comparisons is wrong, such as "about 1 in 6 mated comparisons is wrongly
    rejected".
    """
    rate = quantity.estimate
    behind = f"({quantity.name.upper()} {in_words(quantity)})"
    if math.isnan(rate):
        return f"there are no {kind} comparisons"
    if rate == 0:
        return f"no {kind} comparison is wrongly {verb} {behind}"
    if rate < 0.25:
        return (
            f"about 1 in {float(f'{1 / rate:.2g}'):,.0f} {kind} comparisons is wrongly {verb}"
            f" {behind}"
        )
    return f"{per_cent(rate, 2)} of {kind} comparisons are wrongly {verb} {behind}"


def sentences_on_groups(
    evaluation: Evaluated, tests: Sequence[Any], *, several: bool = False
) -> Said:
    """Say where rates are highest and lowest, and what tests of these groups say.

    Somewhere they always are, so that only a test answers whether groups differ.
    """
    if not (evaluation.groups and evaluation.rates):
        return []
    said = [small] if (small := small_groups_in_words(evaluation)) else []
    for k, rates in enumerate(evaluation.rates):
        at = f"At {rates.at}: " if len(evaluation.rates) > 1 else ""
        sentences = []
        for name in rates_of(evaluation):
            here = [test for test in tests if test.rate_name == name] if k == 0 else []
            sentences += [
                sentence_on_extreme_groups(evaluation, name, rates.at),
                *map(_test_in_words, here),
            ]
        said.append(at + " ".join(sentences))
    if not tests and not several:
        said.append(sentence_on_tests(_TESTS, evaluation.quantities))
    return [(attribute_of(evaluation), " ".join(said))]


def attribute_of(evaluation: Evaluated) -> str:
    """Name the attributes of groups as sentences begin."""
    grouping = grouping_of(evaluation).replace("_", " ")
    return grouping[:1].upper() + grouping[1:]


def people_of(rates: Rates) -> Integers | None:
    """Return the number of people of each group; None where it is not known who they are."""
    counts = rates.counts
    return counts.group_mated_subjects if counts.mated else counts.group_nonmated_subjects


def is_small(evaluation: Evaluated) -> Flags:
    """Return which groups are intersections of a few people, which stand last and are summarised."""
    people = people_of(evaluation.rates[0]) if evaluation.rates else None
    if people is None or len(evaluation.settings["grouping"]) < 2:
        return np.zeros(len(evaluation.groups), np.bool_)
    return people < _FEW_PEOPLE


def small_groups_in_words(evaluation: Evaluated) -> str:
    """Say how many intersections have few people, how many people these are, and how far the limits
    of their FNMRs reach.
    """
    small = is_small(evaluation)
    if not small.any():
        return ""
    rates = evaluation.rates[0]
    people = people_of(evaluation.rates[0])
    names = [group for group, few in zip(evaluation.groups, small, strict=True) if few]
    ends = [ends_of(find(evaluation.quantities, "fnmr", group, rates.at)) for group in names]
    finite = [end for both in ends for end in both if not math.isnan(end)]
    assert people is not None
    reach = (
        f"; the limits of their FNMRs reach from {per_cent(min(finite))} to {per_cent(max(finite))}"
        if finite
        else ""
    )
    return (
        f"{len(names)} of {small.size} groups {_have(len(names))} fewer than {_FEW_PEOPLE} people"
        f" ({int(people[small].sum()):,} in all){reach}."
    )


def _test_in_words(test: Any) -> str:
    """Say what a test of equal rates answers, and where there are more than two groups which of
    them it names.
    """
    left_out = map(visible, test.on_untested)
    if len(test.groups) == 2 or not test.pvalue < test.level:
        return " ".join([test.answer, *left_out])
    parts = []
    for word, groups in test.sides.items():
        several = (
            f"{len(groups)} groups" if len(groups) > _MOST_NAMED else visible(", ".join(groups))
        )
        parts += [f"{word} in {several}"] if groups else []
    which = (
        f"The rate is {' and '.join(parts)} than in the others."
        if parts
        else "The test cannot say which."
    )
    return " ".join([test.answer, which, *left_out])


def sentence_on_extreme_groups(
    evaluation: Evaluated, name: str, at: OperatingPoint | None = None
) -> str:
    """Say which groups have the highest and the lowest rate, among those with enough errors."""
    title = printed_name(name)
    title = title[:1].upper() + title[1:]
    rates_there = [find(evaluation.quantities, name, group, at) for group in evaluation.groups]
    enough = [quantity for quantity in rates_there if (quantity.n_errors or 0) >= ENOUGH_ERRORS]
    if not enough:
        return f"No group has as many as {ENOUGH_ERRORS} {METRICS[name].errors}."
    if len(enough) == 1:
        only = enough[0]
        return (
            f"Only {visible(str(only.group))} has at least {ENOUGH_ERRORS}"
            f" {METRICS[name].errors}: {title}"
            f" {in_words(only)}."
        )
    low = min(enough, key=lambda quantity: quantity.estimate)
    high = max(enough, key=lambda quantity: quantity.estimate)
    if low.estimate == high.estimate:
        return f"{title} is {per_cent(low.estimate)} in each of {len(enough)} groups."
    return (
        f"{title} is highest in {visible(str(high.group))}, {in_words(high)}, and lowest in "
        f"{visible(str(low.group))}, {in_words(low)}."
    )


def sentences_on_limitations(evaluation: Evaluated) -> Said:
    """Say what the data cannot tell, and what was not tested."""
    if not evaluation.rates:
        return []
    rates = evaluation.rates[0]
    said = Said()
    few_errors = f"fewer than {ENOUGH_ERRORS} errors fix its threshold"
    unknown = [
        f"the rates at {rates_there.at} with any precision, as {few_errors}"
        for rates_there in evaluation.rates
        if rates_there.below_resolution
    ]
    n = len(evaluation.groups)
    reasons = list[str]()
    for name in rates_of(evaluation):
        of_groups = [
            find(evaluation.quantities, name, group, rates.at).n_errors or 0
            for group in evaluation.groups
        ]
        number = sum(n_errors < ENOUGH_ERRORS for n_errors in of_groups)
        errors = f"{ENOUGH_ERRORS} {METRICS[name].errors}"
        if number:
            few = (
                f"no group has {errors}"
                if number == n
                else f"{number} of {n} groups {_have(number)} fewer than {errors}"
            )
            reasons.append(few)
    people = people_of(rates)
    n_small = 0 if people is None else int(np.count_nonzero(people < _FEW_PEOPLE))
    if n_small:
        reasons.append(f"{n_small} of {n} groups {_have(n_small)} fewer than {_FEW_PEOPLE} people")
    if reasons:
        unknown.append(
            f"which group has the highest rate: {', and '.join(reasons)}, so their rates are rough"
        )
    if unknown:
        said.append(("Not known", f"{'; '.join(unknown)}."))
    if evaluation.settings.get("unit") == "comparison":
        about = (
            "how people differ: comparisons were drawn as if independent, so intervals are too"
            " narrow where people repeat."
        )
        said.append(("Not known", about))
    untested = [
        f"the {rate.upper()}: there are no {kind} comparisons."
        for rate, (kind, _) in _WRONGLY.items()
        if rate not in rates_of(evaluation)
    ]
    if evaluation.groups and rates.counts.nonmated and not has_comparisons_between_groups(rates):
        untested.append(
            "false matches between groups: all non-mated comparisons are within groups."
        )
    return said + [("Not tested", about) for about in untested]


def _have(n: int) -> str:
    return "has" if n == 1 else "have"


def has_comparisons_between_groups(rates: Rates) -> bool:
    """Return whether non-mated comparisons are between groups."""
    return bool(rates.counts.matrix_nonmated.sum() > rates.counts.group_nonmated.sum())


def size_of(evaluation: Evaluated, evaluations: Sequence[Evaluated] = ()) -> str:
    """Say how many comparisons, people and groups there are, of an evaluation at an operating
    point, or of several of the same comparisons.
    """
    counts = evaluation.rates[0].counts
    several = len(evaluations) > 1
    n_groups = 0 if several else len(evaluation.groups)
    said = sizes_in_words(counts.mated, counts.nonmated, evaluation.n_subjects, n_groups)
    return f"{said}, in {groupings_in_words(evaluations)}" if several else said


def groupings_in_words(evaluations: Sequence[Evaluated]) -> str:
    """Say how many groups each attribute makes, such as "2 groups by sex, 5 by age"."""
    first, *others = (
        (len(evaluation.groups), grouping_of(evaluation)) for evaluation in evaluations
    )
    return ", ".join([f"{first[0]} groups by {first[1]}", *(f"{n} by {by}" for n, by in others)])


def sizes_in_words(n_mated: int, n_nonmated: int, n_subjects: int | None, n_groups: int) -> str:
    """Say how many comparisons, people and groups there are."""
    who = "" if n_subjects is None else f" of {n_subjects:,} people"
    groups = f", in {n_groups} groups" if n_groups else ""
    return f"{n_mated:,} mated and {n_nonmated:,} non-mated comparisons{who}{groups}"


def brackets_of(settings: Mapping[str, Any], evaluations: Sequence[Evaluated]) -> list[str]:
    """Say what intervals stand in brackets, where there are any."""
    if "confidence_level" not in settings or not any(
        quantity.has_interval and quantity.name != "threshold"
        for evaluation in evaluations
        for quantity in evaluation.quantities
    ):
        return []
    drawn = (
        f"from {settings['n_resamples']:,} replicates"
        if settings["n_resamples"]
        else "in closed form"
    )
    together = " that hold in all groups together" if settings.get("simultaneous") else ""
    kind = f"{INTERVALS.get(settings.get('alternative', ''), 'interval')}s{together}"
    unit = settings["unit"].replace("+", "s and ")
    unit += "s and session" if "sessions" in settings else ""
    return [
        f"Numbers in brackets are {100 * settings['confidence_level']:g} % {kind}, {drawn} over"
        f" {unit}s."
    ]


def sentences_on_failures(evaluation: Evaluated) -> list[str]:
    """Say how many comparisons failed, and what became of them."""
    failed = [find(evaluation.quantities, name, None, None) for name in FAILURE_RATES]
    parts = [
        f"{rate.n_errors:,} of {rate.n_comparisons:,} {kind} comparisons failed "
        f"({rate_with_interval(rate.estimate, rate.low, rate.high)})"
        for kind, rate in zip(CLASSES, failed, strict=True)
    ]
    said = [
        f"{' and '.join(parts)}.",
        _LEFT_OUT if has_rates_with_failures(evaluation) else _AS_NONMATCHES,
    ]
    for rates in evaluation.rates if has_rates_with_failures(evaluation) else ():
        frr, far = (
            in_words(find(evaluation.quantities, name, None, rates.at)) for name in WITH_FAILURES
        )
        said.append(f"At {rates.at} the FRR is {frr} and the FAR is {far}.")
    return said


def has_rates_with_failures(evaluation: Evaluated) -> bool:
    """Return whether an evaluation has FRRs and FARs beside FNMRs and FMRs."""
    return any(quantity.name in WITH_FAILURES for quantity in evaluation.quantities)


def has_failures(evaluation: Evaluated) -> bool:
    """Return whether an evaluation reports how often comparisons failed."""
    return any(quantity.name in FAILURE_RATES for quantity in evaluation.quantities)


def measures_at(evaluation: Evaluated, rates: Rates | None) -> list[Quantity]:
    """Return the measures over all groups at an operating point, and those that need none."""
    points = (None, None if rates is None else rates.at)
    return [
        q
        for q in evaluation.quantities
        if q.group is None and q.at in points and measure_of(q.name) is not None
    ]


@dataclass(frozen=True)
class Judged:
    """A measure that the answer speaks of, its p-value adjusted for their number, and whether it
    differs from fair.
    """

    measure: Quantity
    pvalue: float
    differs: str


def leading_measures(evaluation: Evaluated, rates: Rates) -> list[Quantity]:
    """Return the measures at an operating point that the answer speaks of, which are chosen without
    a look at data.

    They are those that were asked for, where these are few; otherwise the usual ones among them, or
    else the first.
    """
    asked = measures_at(evaluation, rates)
    if len(asked) <= _MOST_LEADING:
        return asked
    return [measure for measure in asked if measure.name in LEADING] or asked[:_MOST_LEADING]


def judged_measures(evaluation: Evaluated) -> list[Judged]:
    """Judge the measures that the answer speaks of, with p-values adjusted by Holm's procedure."""
    each = dict.fromkeys(
        measure for rates in evaluation.rates for measure in leading_measures(evaluation, rates)
    )
    family = [measure for measure in each if measure.has_interval]
    adjusted = intervals.holm(
        [math.nan if measure.pvalue is None else measure.pvalue for measure in family]
    ).tolist()
    significance = 1 - evaluation.settings.get("confidence_level", 1.0)
    return [
        Judged(measure, p, _differs(measure, p, significance))
        for measure, p in zip(family, adjusted, strict=True)
    ]


def _differs(measure: Quantity, pvalue: float, significance: float) -> str:
    """Say whether a measure differs from its fair value, by an adjusted p-value and the
    interval.
    """
    if not distances_from_fair(measure)[1] or pvalue > significance:
        return "may be chance"
    # Of fair systems with few errors, a measure whose interval is likely too narrow seems unfair
    # too often.
    return "not known" if has_flag(measure, Flag.NARROW) or math.isnan(pvalue) else "yes"


def sentences_on_measures(evaluation: Evaluated, *, several: bool = False) -> Said:
    """Say which of a few measures differ from fair, and how many measures were looked at."""
    judged = judged_measures(evaluation)
    if not judged:
        return []
    said = []
    for differs, begin in _DIFFERS.items():
        some = [_in_words(evaluation, measure) for measure in judged if measure.differs == differs]
        said += [f"{begin}: {', '.join(some)}."] if some else []
    n_all = len(
        {measure for rates in evaluation.rates for measure in measures_at(evaluation, rates)}
    )
    said.append(
        f"Measures looked at: {n_all}; chosen in advance, with p-values adjusted for them:"
        f" {len(judged)}."
    )
    name = f"Measures by {grouping_of(evaluation)}" if several else "Measures"
    return [(name, visible(" ".join(said[:-1] if several else said)))]


def _in_words(evaluation: Evaluated, judged: Judged) -> str:
    measure = judged.measure
    name = measure.title if len(evaluation.rates) > 1 else printed_name(measure.name)
    chance = f" ({p_in_words(judged.pvalue)})" if judged.differs == "yes" else ""
    return f"{name} {in_words(measure)}{chance}"


def distances_from_fair(quantity: Quantity) -> tuple[float, float, float, float]:
    """Return how far a measure, the nearest and the farthest of its interval are from fair; and the
    largest, or 1.
    """
    measure, (low, high) = measure_of(quantity.name), ends_of(quantity)
    assert measure is not None
    value, *ends = (abs(x - measure.fair_value) for x in (quantity.estimate, low, high))
    largest = max((x for x in (value, *ends) if math.isfinite(x)), default=0.0) or 1.0
    return value, 0.0 if low <= measure.fair_value <= high else min(ends), max(ends), largest


def chapter_of(evaluation: Evaluated, numbers: str, beside: Beside) -> Chapter:
    """Make a chapter."""
    tests = beside.tests_of(evaluation.groups) if evaluation.groups else []
    of_rates = sentences_on_groups(evaluation, tests)
    several = len(beside.evaluations) > 1
    answer = [*of_rates, *sentences_on_measures(evaluation)]
    sections = [Section("", [*left_out_of_measures(evaluation), *(said for _, said in answer)])]
    for rates in evaluation.rates:
        sections += _rates_sections(evaluation, rates, beside, tests)
    for test in tests:
        symbol = test.rate_name.upper()
        caption = (
            f"{symbol} of each group within its own comparisons; test of all groups: p ="
            f" {p_value(test.pvalue)}"
        )
        _, headings, rows = printed(
            test._columns(),
            ("group", test.rate_name, "group_pvalue_adjusted", "note"),
            of=test.rate_name,
        )
        sections.append(
            Section(
                f"Test of equal {symbol}s",
                (),
                (),
                [on_page(caption, headings, rows)],
                is_folded=True,
            )
        )
    if has_failures(evaluation):
        sections.append(
            Section("Failures", sentences_on_failures(evaluation), (), [_failure_table(evaluation)])
        )
    metrics = _metric_tables(evaluation)
    of_all = metrics.pop("metrics", None)
    if of_all is not None and evaluation.groups:
        sections.append(Section("Summaries of all thresholds", (), (), [of_all], is_folded=True))
    if metrics:
        sections.append(Section("Shares of right decisions", (), (), [*metrics.values()]))
    if evaluation.has_curves:
        sections += _curve_sections(evaluation)
    picture = None
    is_drawn = any(other.quantities is evaluation.quantities for other in beside.one_by_one)
    if evaluation.groups and evaluation.rates and is_drawn:
        picture = rates_of_groups(evaluation, evaluation.rates[0], beside, tests, is_short=True)
    first = FirstScreen(
        facts_of(evaluation, beside.evaluations),
        sentences_on_overall_rates(evaluation),
        of_rates if several else answer,
        [] if several else sentences_on_limitations(evaluation),
        picture,
        attribute_of(evaluation),
    )
    title = (
        f"By {grouping_of(evaluation)}" if evaluation.settings["grouping"] else "All comparisons"
    )
    said = summary_of_attributes([evaluation])
    return Chapter(title, said, sections, evaluation.settings, numbers, first=first)


def quantity_cell(quantity: Quantity) -> Cell:
    """Write a number with its interval and notes; rates in per cent, without the sign."""
    is_rate = quantity.name in IN_PER_CENT
    look = "few" if quantity.n_errors is not None and quantity.n_errors < ENOUGH_ERRORS else ""
    if quantity.is_held:
        return Cell(per_cent(quantity.estimate).removesuffix(" %"), "(held)", look=look)
    text, ends = value_and_interval(quantity.estimate, quantity.low, quantity.high, is_rate=is_rate)
    return Cell(text, ends, quantity.notes, look)


def _errors_of(quantity: Quantity) -> str:
    return f"{quantity.n_errors or 0:,} of {quantity.n_comparisons or 0:,}"


def _table(caption: str, rows: Sequence[Any], columns: Sequence[ColumnOf], **more: Any) -> Table:
    """Make a table of columns, each with the function that writes its cell in a row."""
    cells = [[write(row) for _, write in columns] for row in rows]
    return Table(caption, [column for column, _ in columns], cells, **more)


_GROUP: ColumnOf = (Column("Group", "text"), lambda group: visible(group or "all"))


def rates_of_groups(
    evaluation: Evaluated,
    rates: Rates,
    beside: Beside,
    tests: Sequence[Any],
    *,
    is_short: bool = False,
) -> Table:
    """Write and draw both rates of all comparisons and of each group; the short form has no counts
    and no verdicts.
    """
    order = np.argsort(np.where(np.isnan(rates.group_fnmr), -1, rates.group_fnmr), kind="stable")[
        ::-1
    ]
    small = is_small(evaluation)
    order = np.concatenate([order[~small[order]], order[small[order]][: 0 if is_short else None]])
    groups = [None, *(evaluation.groups[k] for k in order.tolist())]
    shown = groups if beside.is_first(evaluation) else groups[1:]
    grouping = tuple(evaluation.settings["grouping"])
    of_written = {attributed(grouping, group): group for group in evaluation.groups}

    def people(group: str | None) -> str:
        """Return how many people a group has, some of whom may be in comparisons of one kind."""
        each = [
            find(evaluation.quantities, name, group, rates.at).n_subjects
            for name in rates_of(evaluation)
        ]
        sizes = [
            n for n in (evaluation.n_subjects if group is None else None, *each) if n is not None
        ]
        return f"{max(sizes):,}" if sizes else ""

    columns: list[ColumnOf] = [_GROUP, (Column("People"), people)]
    foot = [Cell(), Cell()]
    has_limits = False
    for name in rates_of(evaluation):
        asked = [
            replace(row, group=of_written.get(row.group, row.group))
            for row in beside.required(name, str(rates.at))
        ]
        required = [row for row in asked if row.group in shown]
        others = [
            find(alone.quantities, name, group, rates.at)
            for alone in (beside.one_by_one if is_short else ())
            for group in alone.groups
            if any(other.at == rates.at for other in alone.rates)
        ]
        shared = _ends_to_show(others)
        shared += [row.bound for row in asked] if is_short else []
        has_limits = has_limits or any(math.isfinite(row.bound) for row in required)
        different = {group for test in tests if test.rate_name == name for group in test.different}
        of_rate, scale = _columns_of_rate(
            evaluation, name, rates, groups, required, different, shared, is_short=is_short
        )
        columns += of_rate
        foot += [Cell(drawing=axis(scale)), *[Cell()] * (len(of_rate) - 1)]
    has_verdicts = any(
        isinstance(column, Column) and column.title.endswith("?") for column, _ in columns
    )
    ends = interval_name(evaluation.settings)
    reading = [
        (
            f"Dots: measured rates{f'; lines: {ends}s' if ends else ''}. Solid line: all people"
            f"{'; dashed: required' if has_limits else ''}."
        ),
        f"Hollow, light, italic: fewer than {ENOUGH_ERRORS} errors. Arrow: goes on.",
        *(
            ["Diamond: a test names this group as different."]
            if any(test.different for test in tests)
            else []
        ),
        "Sorted by FNMR.",
    ]
    return _table(
        "" if is_short else f"Error rates at {rates.at}",
        shown,
        columns,
        foot=foot,
        look="rates wide" if has_verdicts else "rates",
        explanation=" ".join(reading) if is_short else "",
    )


def _ends_to_show(rates: Sequence[Quantity]) -> list[float | None]:
    """Return what an axis has to reach: all rates, but not the limits of those of few errors, beside
    which others would be too close to see.
    """
    enough = [rate for rate in rates if (rate.n_errors or 0) >= ENOUGH_ERRORS]
    return [*(rate.estimate for rate in rates), *(rate.high for rate in enough or rates)]


def _columns_of_rate(
    evaluation: Evaluated,
    name: str,
    rates: Rates,
    groups: Sequence[str | None],
    required: Sequence[Any],
    different: set[str],
    shared: Sequence[float | None],
    *,
    is_short: bool,
) -> tuple[list[ColumnOf], Scale]:
    """Make the columns of one rate: drawn, written, and unless short with its errors and the
    verdicts on it; shared: what other tables have on the same scale.
    """
    side = 1 + _RATES.index(name)
    each = {group: find(evaluation.quantities, name, group, rates.at) for group in groups}
    lines = [
        ("all", each[None].estimate),
        *(("limit", x) for x in dict.fromkeys(row.bound for row in required)),
    ]
    ends = [*shared, *_ends_to_show([*each.values()])]
    scale = Scale.of(ends, is_logarithmic=name == "fmr", lines=lines)

    def drawn(group: str | None) -> Cell:
        quantity = each[group]
        mark = "diamond" if group in different else "dot"
        look = quantity_cell(quantity).look
        ends = quantity.estimate, quantity.low, quantity.high
        return Cell(drawing=interval(scale, *ends, look=look, mark=mark))

    def written(group: str | None) -> Cell:
        cell = quantity_cell(each[group])
        return replace(cell, notes=()) if is_short else cell

    brackets = interval_name(evaluation.settings).removesuffix(" interval")
    heading = f"{name.upper()}, %" + (f" [{brackets}]" if brackets and not is_short else "")
    columns: list[ColumnOf] = [
        (Column("", "drawing", side), drawn),
        (Column(heading, "number", side), written),
    ]
    if is_short:
        return columns, scale
    columns.append((Column("Errors", "number", side), lambda group: _errors_of(each[group])))
    verdicts: dict[str, dict[str | None, Cell]] = {}
    for row in required:
        of_text = verdicts.setdefault(f"{row.relation} {per_cent(row.bound)}?", {})
        of_text[row.group] = Cell(row.verdict.capitalize(), look=row.verdict)
    for text, cells in verdicts.items():
        columns.append((Column(text, "text", side), partial(_or_none, cells)))
    return columns, scale


def _or_none(cells: Mapping[Any, str | Cell], row: Any) -> str | Cell:
    return cells.get(row, NONE)


def _rates_sections(
    evaluation: Evaluated, rates: Rates, beside: Beside, tests: Sequence[Any]
) -> list[Section]:
    tables = [
        rates_of_groups(evaluation, rates, beside, tests),
        *_tables_of_leading_measures(evaluation, rates),
    ]
    more = _tables_of_all_measures(evaluation, rates)
    between = _between_groups(evaluation, rates)
    sections = [
        Section(f"At {rates.at}" if len(evaluation.rates) > 1 else "", (), (), tables),
        Section(f"All measures at {rates.at}", (), (), more, is_folded=True),
        Section(f"False matches between groups at {rates.at}", (), (), between),
    ]
    return [section for section in sections if section.tables]


def _tables_of_leading_measures(evaluation: Evaluated, rates: Rates) -> list[Table]:
    """Write the measures that the answer speaks of, with adjusted p-values and whether they differ
    from fair.
    """
    judged = {of_measure.measure: of_measure for of_measure in judged_measures(evaluation)}

    pvalues = {measure: p_value(of_measure.pvalue) for measure, of_measure in judged.items()}
    differs = {measure: of_measure.differs for measure, of_measure in judged.items()}
    columns: list[ColumnOf] = [
        ("p, adjusted", partial(_or_none, pvalues)),
        (Column("Differs from fair?", "text"), partial(_or_none, differs)),
    ]
    explanation = (
        f"{OWN_SCALES} Chosen in advance; p-values are adjusted for {len(judged)} by Holm's"
        " procedure."
        if judged
        else OWN_SCALES
    )
    return _measure_tables(
        evaluation,
        rates,
        leading_measures(evaluation, rates),
        columns,
        "Fairness measures",
        explanation,
    )


def _tables_of_all_measures(
    evaluation: Evaluated, rates: Rates, *, always: bool = False
) -> list[Table]:
    """Write all measures, always or where they are more than the answer speaks of, with p-values
    that are not adjusted.
    """
    measures = measures_at(evaluation, rates)
    if not always and len(measures) == len(leading_measures(evaluation, rates)):
        return []
    columns: list[ColumnOf] = [("p, not adjusted", lambda quantity: p_value(quantity.pvalue))]
    explanation = f"{OWN_SCALES} {_NOT_ADJUSTED}"
    return _measure_tables(
        evaluation, rates, measures, columns, f"All {len(measures)} fairness measures", explanation
    )


def _measure_tables(
    evaluation: Evaluated,
    rates: Rates,
    measures: Sequence[Quantity],
    more: Sequence[ColumnOf],
    title: str,
    explanation: str,
) -> list[Table]:
    """Write measures with their distance from the fair value, each on a scale of its own."""
    columns: list[ColumnOf] = [
        ("Measure", lambda quantity: printed_name(quantity.name)),
        ("Value", quantity_cell),
        ("Fair value", lambda quantity: f"{measure_of(quantity.name).fair_value:g}"),  # type: ignore[union-attr]
        (Column("Distance from fair", "drawing"), _distance),
    ]
    caption = f"{title} over {len(evaluation.measured_groups)} groups at {rates.at}"
    table = _table(caption, measures, [*columns, *more], look="measures", explanation=explanation)
    return [table] if measures else []


def _distance(quantity: Quantity) -> Cell:
    return Cell(
        drawing=distance(*distances_from_fair(quantity)) if math.isfinite(quantity.estimate) else ""
    )


def _between_groups(evaluation: Evaluated, rates: Rates) -> list[Table]:
    """Show the FMR of each pair of groups as a matrix of shades, and the highest cells with their
    intervals.
    """
    if not (evaluation.groups and has_comparisons_between_groups(rates)):
        return []
    cells = {
        (cell.group, cell.probe_group): cell
        for cell in evaluation.quantities
        if cell.name == "fmr_matrix" and cell.at == rates.at and cell.n_comparisons
    }
    groups = evaluation.groups
    letters = {group: letter(k).upper() for k, group in enumerate(groups)}
    enough = [cell for cell in cells.values() if (cell.n_errors or 0) >= ENOUGH_ERRORS]
    log_rates = [math.log(cell.estimate) for cell in enough if cell.estimate > 0]
    low, high = (min(log_rates), max(log_rates)) if log_rates else (0.0, 0.0)

    def shaded(other: str, group: str) -> str | Cell:
        cell = cells.get((group, other))
        if cell is None:
            return NONE
        look = "few" if (cell.n_errors or 0) < ENOUGH_ERRORS or cell.estimate <= 0 else "h3"
        if look == "h3" and high > low:
            look = f"h{1 + min(4, int(5 * (math.log(cell.estimate) - low) / (high - low)))}"
        text = per_cent(cell.estimate, 2).removesuffix(" %") if len(groups) <= _MOST_LETTERS else ""
        return Cell(text, look=look + (" own" if group == other else ""))

    columns: list[ColumnOf] = [("Reference", lambda group: f"{letters[group]}  {visible(group)}")]
    columns += [(letters[other], partial(shaded, other)) for other in groups]
    matrix = _table(
        f"FMR between groups at {rates.at}, %: group of the reference (rows) and of the probe (columns)",
        groups,
        columns,
        look="matrix",
        explanation=f"Darker: higher FMR; no shade: fewer than {ENOUGH_ERRORS} false matches; –: no comparisons; "
        "framed: within a group.",
    )
    highest: list[ColumnOf] = [
        (
            "Reference with probe",
            lambda cell: f"{visible(str(cell.group))} with {visible(str(cell.probe_group))}",
        ),
        ("FMR, %", quantity_cell),
        ("False matches", _errors_of),
    ]
    enough = sorted(enough, key=lambda cell: -cell.estimate)[:_HIGHEST]
    caption = f"The highest FMRs with at least {ENOUGH_ERRORS} false matches"
    return [matrix, *([_table(caption, enough, highest)] if enough else [])]


def _column(
    evaluation: Evaluated,
    heading: str,
    name: str,
    at: OperatingPoint | None,
    write: Callable[[Quantity], str | Cell] = quantity_cell,
) -> ColumnOf:
    """Make the column of a quantity of all comparisons and of groups."""
    return heading, lambda group: write(find(evaluation.quantities, name, group, at))


def _failure_table(evaluation: Evaluated) -> Table:
    """Write the shares of comparisons that failed, and the rates in which they count, of all and of
    each group.
    """
    points = [rates.at for rates in evaluation.rates] if has_rates_with_failures(evaluation) else []
    kinds = list(zip(FAILURE_RATES, CLASSES, strict=True))
    columns = [
        _GROUP,
        *(
            _column(evaluation, f"{kind.capitalize()} that failed, %", name, None)
            for name, kind in kinds
        ),
        *(_column(evaluation, f"Failed {kind}", name, None, _errors_of) for name, kind in kinds),
        *(
            _column(evaluation, f"{printed_name(name)} at {at}, %", name, at)
            for at in points
            for name in WITH_FAILURES
        ),
    ]
    caption = "Shares of comparisons that failed, and rates in which they count"
    return _table(caption, (None, *evaluation.groups), columns)


def shown_metrics(evaluation: Evaluated) -> list[str]:
    """Name the metrics that are shown: of scores that are no log-likelihood ratios Cllr tells their
    scale.
    """
    asked = evaluation.settings
    is_ratio = asked["score_kind"] == LOG_LIKELIHOOD_RATIO
    shown = ("eer", "min_dcf", "min_cllr", *(["cllr"] if is_ratio else []), "auc", "d_prime")
    return [name for name in shown if name in asked["metrics"]]


def _metric_tables(evaluation: Evaluated) -> dict[str, Table]:
    """Write EERs, costs and Cllr of log-likelihood ratios, of all comparisons and of each group, and
    accuracies and TMRs at operating points.
    """
    asked = evaluation.settings
    groups = (None, *evaluation.groups)
    tables = {}
    names = shown_metrics(evaluation)
    if names:
        headings = {
            name: printed_name(name) + (", %" if name in IN_PER_CENT else "") for name in names
        }
        columns = [
            _GROUP,
            *(_column(evaluation, heading, name, None) for name, heading in headings.items()),
        ]
        costs = (
            f"; minDCF: p_target {asked.get('p_target', 0):g},"
            f" {'' if asked.get('normalize') else 'not '}normalised"
        )
        caption = "Summaries of all thresholds" + (costs if "min_dcf" in names else "")
        tables["metrics"] = _table(caption, groups, columns)
    points = [rates.at for rates in evaluation.rates]
    for name in [name for name in AT_POINTS if name in asked["metrics"]]:
        columns = [
            _GROUP,
            *(_column(evaluation, f"at {point}, %", name, point) for point in points),
        ]
        tables[name] = _table(_OF_DECISIONS[name], groups, columns)
    return tables


def lines_of_tables(evaluations: Sequence[Evaluated]) -> list[str]:
    """Return the tables that a summary ends with: rates at each operating point, and failures where
    there is one evaluation.
    """
    lines = []
    for caption, headings, rows in tables_of_rates(evaluations):
        lines += ["", caption, *in_lines(headings, rows)]
    return [*lines, "", FEW_ERRORS] if any("*" in line for line in lines) else lines


def tables_of_rates(evaluations: Sequence[Evaluated]) -> list[Printed]:
    """Return tables of rates of all groups as the terminal has them, and of failures where there is
    one evaluation.
    """
    tables = [table for _, table in rates_at_points(evaluations)]
    is_alone = len(evaluations) == 1 and has_failures(evaluations[0])
    return list(map(printed_of, [*tables, *([_failure_table(evaluations[0])] if is_alone else [])]))


def rates_at_points(evaluations: Sequence[Evaluated]) -> list[tuple[OperatingPoint, Table]]:
    """Return a table of rates of all groups for each operating point; intersections are left out
    where attributes are alone, too.
    """
    beside = Beside(evaluations=evaluations)

    def make(evaluation: Evaluated, rates: Rates) -> list[Table]:
        return [rates_of_groups(evaluation, rates, beside, ())]

    return [(at.at, stacked(_titled(beside.one_by_one, at, make))) for at in evaluations[0].rates]


def _titled(
    evaluations: Sequence[Evaluated],
    at: Rates,
    make: Callable[[Evaluated, Rates], Sequence[Table]],
) -> list[tuple[str, Table]]:
    """Make tables of several evaluations at an operating point, with the attributes that they are
    by.
    """
    return [
        (f"by {grouping_of(evaluation)}", table)
        for evaluation in evaluations
        for rates in evaluation.rates
        if rates.at == at.at
        for table in make(evaluation, rates)
    ]


def tables_to_show(
    evaluations: Sequence[Evaluated],
) -> dict[str, Sequence[tuple[OperatingPoint | None, Table]]]:
    """Return the tables to hand on of an evaluation, or of several by different attributes."""
    first = evaluations[0]
    measures = [
        (at.at, replace(stacked(tables, 0), caption=f"Fairness measures at {at.at}"))
        for at in first.rates
        if (tables := _titled(evaluations, at, partial(_tables_of_all_measures, always=True)))
    ]
    of_each = [(f"by {grouping_of(each)}", _metric_tables(each)) for each in evaluations]
    metrics = {
        name: stacked([(by, _drop_row_of_all(of[name], k)) for k, (by, of) in enumerate(of_each)])
        for name in of_each[0][1]
    }
    return {
        "rates": rates_at_points(evaluations),
        "measures": measures,
        **{name: [(None, table)] for name, table in metrics.items()},
        "failures": [(None, _failure_table(first))] if has_failures(first) else [],
    }


def _drop_row_of_all(table: Table, k: int) -> Table:
    """Return a table without its first row, of all comparisons, unless it is the first table."""
    return replace(table, rows=table.rows[1:]) if k else table


def printed_tables(evaluation: Evaluated) -> list[Printed]:
    """Return the tables of the terminal below the summary: metrics, measures, and FMRs between
    groups.
    """
    tables = [*_metric_tables(evaluation).values()]
    for rates in evaluation.rates:
        tables += [
            *_tables_of_leading_measures(evaluation, rates),
            *_tables_of_all_measures(evaluation, rates),
        ]
        tables += _between_groups(evaluation, rates)
    return list(map(printed_of, tables))


def printed_of(table: Table) -> Printed:
    """Turn a table of a page into one of the terminal, without drawings; stars mark rates of few
    errors.
    """
    columns = table.headed
    kept = [k for k, column in enumerate(columns) if column.kind != "drawing"]
    rows = [[text_of(row[k]) for k in kept] for row in table.rows]
    return table.caption, [columns[k].title for k in kept], rows


def det_limits(curves: Sequence[tuple[Floats, Floats]]) -> tuple[float, float]:
    """Return the rates at the ends of the axes on which all curves, as normal deviates, are
    seen.
    """
    inside = [
        float(edge(values))
        for curve in curves
        for values in curve
        if values.size
        for edge in (np.min, np.max)
    ]
    low, high = (float(ndtr(edge(inside))) for edge in (min, max)) if inside else (0.01, 0.5)
    return max(_LEAST_RATE, min(0.8 * low, 0.1)), min(max(1.1 * high, 0.3), _GREATEST_RATE)


def det_curve(evaluation: Evaluated, group: str | None, side: int) -> tuple[Floats, Floats]:
    """Return the normal deviates of a DET curve at as many points as a panel of this side shows."""
    x, y = evaluation._curve(group).deviates
    kept = outline(x, y, _INVISIBLE / side)
    return x[kept], y[kept]


def _curve_sections(evaluation: Evaluated) -> list[Section]:
    """Draw the DET curve and the scores of all comparisons, or of each group before them."""
    groups: Sequence[str | None] = evaluation.groups if len(evaluation.groups) > 1 else (None,)
    side = _LARGE if len(groups) <= _FEW_GROUPS else _SMALL
    curves = {group: det_curve(evaluation, group, side) for group in (None, *groups)}
    ends = det_limits(list(curves.values()))
    thresholds = [rates.threshold for rates in evaluation.rates]
    det, scores = [], []
    for group in groups:
        name = visible(group or "All comparisons")
        points = []
        look = ""
        for rates in evaluation.rates:
            fnmr, fmr = (find(evaluation.quantities, rate, group, rates.at) for rate in _RATES)
            if min(fnmr.n_errors or 0, fmr.n_errors or 0) < ENOUGH_ERRORS:
                look = "few"
            low, high = (0.0, 0.0) if look else ends_of(fnmr)
            points.append((look, fmr.estimate, fnmr.estimate, low, high))
        back = [] if group is None else [("back", *curves[None])]
        panel = det_panel([*back, (look, *curves[group])], points, ends, side)
        det.append((name, panel, f"DET curve of {name}; tables have the rates."))
        panel = scores_panel(evaluation._distributions(group), evaluation.edges, thresholds)
        scores.append((name, panel, f"Distributions of scores of {name}."))
    at = " and ".join(str(rates.at) for rates in evaluation.rates)
    caption = "FNMR over FMR, %, at all thresholds. Blue: the group; grey: all comparisons"
    caption += f"; circle: {at}, with the interval of the FNMR. " if at else ". "
    caption += f"Thin: fewer than {ENOUGH_ERRORS} errors. Lower is better."
    typed_thresholds = f" {', '.join(map(typed, thresholds))}" if thresholds else ""
    explained = f"Blue: mated; orange: non-mated scores; dashed: threshold{typed_thresholds}."
    return [
        Section("Trade-off of the two errors", panels=Panels(det, caption)),
        Section("Scores", panels=Panels(scores, explained), is_folded=True),
    ]
