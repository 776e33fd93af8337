"""An evaluation in sentences that follow from its numbers: terminal, notebook and page share them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from fastfair._lib.text import p_value, per_cent, rate_with_interval, typed
from fastfair.error_rates.operating_points import ENOUGH_ERRORS, OperatingPoint
from fastfair.error_rates.rates import Rates
from fastfair.errors import visible
from fastfair.measures._registry import METRICS, measure_of, printed_name
from fastfair.uncertainty.quantities import FAILURE_RATES, WITH_FAILURES, Quantity, ends_of, find, in_words

from .evaluated import Evaluated

CLASSES = ("mated", "non-mated")
Said = list[tuple[str, str]]
_SIDES = {"less": "upper limit", "greater": "lower limit"}
_FEW_PEOPLE = 10
_MOST_NAMED = 4  # groups that a sentence names
_AS_NONMATCHES = (
    "They count as non-matches at every threshold: FNMR is here the false rejection rate (FRR), and FMR the false "
    "acceptance rate (FAR), of ISO/IEC 19795-1, and so are the measures made of them."
)
_LEFT_OUT = "They are left out of FNMR and FMR, and of the measures; the FRR and the FAR count them as non-matches."


def summary_of(evaluation: Evaluated, together: Evaluated) -> list[str]:
    """Return the sentences; `together` is the same evaluation with intervals that hold in all groups together."""
    said = [f"{size_of(evaluation)}."] if evaluation.rates else []
    answer = [*overall(evaluation), *of_groups(evaluation, together, ()), *limits(evaluation)]
    said += [f"{name}: {sentence}" for name, sentence in answer]
    if has_failures(evaluation):
        said += sentences_on_failures(evaluation)
        said += [extremes(evaluation, together, name) for name in FAILURE_RATES] if evaluation.groups else []
    said += left_out_of_measures(evaluation)
    if "confidence_level" in evaluation.settings:
        said.append(brackets_of(evaluation.settings))
    return said


def left_out_of_measures(evaluation: Evaluated) -> list[str]:
    """Say which groups the measures leave out, if any."""
    dropped = [group for group in evaluation.groups if group not in evaluation.measured_groups]
    why = "Left out of the measures, as they lack mated or non-mated comparisons"
    return [visible(f"{why}: {', '.join(dropped)}.")] if dropped else []


def facts_of(evaluation: Evaluated) -> Said:
    """Say what was tested: comparisons, people, groups and operating points."""
    facts = []
    if evaluation.n_subjects is not None:
        facts.append(("People", f"{evaluation.n_subjects:,}"))
    if evaluation.groups:
        facts.append(("Groups", f"{len(evaluation.groups)}, by {grouping_of(evaluation)}"))
    if evaluation.rates:
        counts = evaluation.rates[0].counts
        facts.append(
            ("Comparisons",
             f"{counts.mated:,} of the same person (mated), {counts.nonmated:,} of two people (non-mated)")
        )  # fmt: skip
    facts.append(
        ("Two errors",
         "the same person is rejected: false non-match, rate FNMR; another person is accepted: false match, rate FMR")
    )  # fmt: skip
    for k, rates in enumerate(evaluation.rates):
        facts.append(("" if k else "Operating point", f"{rates.at}: threshold {typed(rates.threshold)}"))
    metrics = [one for one in evaluation.quantities if one.name in ("eer", "min_dcf") and one.group is None]
    if metrics:
        facts.append(("All thresholds", "; ".join(f"{printed_name(one.name)} {in_words(one)}" for one in metrics)))
    if has_failures(evaluation):
        facts.append(("Failed", " ".join(sentences_on_failures(evaluation)[:1])))
    return [(name, visible(text)) for name, text in facts]


def grouping_of(evaluation: Evaluated) -> str:
    """Name the attributes that groups are made of."""
    return visible(" & ".join(evaluation.settings["grouping"] or ("group",)))


def overall(evaluation: Evaluated) -> Said:
    """Say how often comparisons are wrong at each operating point."""
    said = []
    for k, rates in enumerate(evaluation.rates):
        wrong = [find(evaluation.quantities, name, None, rates.at) for name in ("fnmr", "fmr")]
        threshold = f"threshold {typed(rates.threshold)}"
        at = f"{rates.at} ({threshold})" if k else threshold
        said.append(
            f"at {at}, {_share(wrong[0], 'mated', 'rejected')}, and {_share(wrong[1], 'non-mated', 'accepted')}."
        )
    if not said and any(one.name == "eer" for one in evaluation.quantities):
        said = [f"the EER is {in_words(find(evaluation.quantities, 'eer', None, None))}."]
    return [("Overall", f"{said[0][0].upper()}{' '.join(said)[1:]}")] if said else []


def _share(one: Quantity, kind: str, verb: str) -> str:
    """Say which share of comparisons is wrong, such as "about 1 in 6 mated comparisons is wrongly rejected"."""
    rate, behind = one.estimate, f"({one.name.upper()} {in_words(one)})"
    if math.isnan(rate):
        return f"there are no {kind} comparisons"
    if rate == 0:
        return f"no {kind} comparison is wrongly {verb} {behind}"
    if rate < 0.25:
        return f"about 1 in {float(f'{1 / rate:.2g}'):,.0f} {kind} comparisons is wrongly {verb} {behind}"
    return f"{per_cent(rate, 2)} of {kind} comparisons are wrongly {verb} {behind}"


def of_groups(evaluation: Evaluated, together: Evaluated, tests: Sequence[Any]) -> Said:
    """Say where rates are highest and lowest, and what tests of these groups say.

    together: the same evaluation with intervals that hold in all groups together; tests: their results.
    """
    if not (evaluation.groups and evaluation.rates):
        return []
    said = []
    for k, rates in enumerate(evaluation.rates):
        at = f"At {rates.at}: " if len(evaluation.rates) > 1 else ""
        found = []
        for name in ("fnmr", "fmr"):
            here = [one for one in tests if one.rate_name == name] if k == 0 else []
            found += [extremes(evaluation, together, name, rates.at, is_tested=bool(here)), *map(_tested, here)]
        said.append(at + " ".join(found))
    return [(grouping_of(evaluation)[:1].upper() + grouping_of(evaluation)[1:], " ".join(said))]


def _tested(test: Any) -> str:
    """Say in a sentence or two what a test of equal rates found."""
    if math.isnan(test.pvalue):
        return "Whether they differ could not be tested."
    if test.pvalue >= test.level:
        return f"No difference was detected (p = {p_value(test.pvalue)}), which does not show that the rates are equal."
    said = f"The groups differ by more than chance explains (p = {p_value(test.pvalue)})."
    named = {
        word: [
            group
            for group, difference in zip(test.groups, test.difference, strict=True)
            if group in test.different and sign * difference > 0
        ]
        for word, sign in (("higher", 1), ("lower", -1))
    }
    parts = [
        f"{word} in {visible(', '.join(groups)) if len(groups) <= _MOST_NAMED else f'{len(groups)} groups'}"
        for word, groups in named.items() if groups
    ]  # fmt: skip
    if len(test.groups) == 2 or all(map(math.isnan, test.group_pvalue_adjusted)):
        return said
    return f"{said} It is {' and '.join(parts)} than in the others." if parts else f"{said} The test cannot say which."


def extremes(
    evaluation: Evaluated, together: Evaluated, name: str, at: OperatingPoint | None = None, *, is_tested: bool = False
) -> str:
    """Say which groups have the highest and the lowest rate, among those with enough errors."""
    title = printed_name(name)
    found = [find(evaluation.quantities, name, group, at) for group in evaluation.groups]
    enough = [one for one in found if (one.n_errors or 0) >= ENOUGH_ERRORS]
    if not enough:
        return f"No group has {ENOUGH_ERRORS} {METRICS[name].errors}."
    if len(enough) == 1:
        only = enough[0]
        return f"Only {visible(str(only.group))} has {ENOUGH_ERRORS} {METRICS[name].errors}: {title} {in_words(only)}."
    low, high = min(enough, key=lambda one: one.estimate), max(enough, key=lambda one: one.estimate)
    said = (
        f"{title} is highest in {visible(str(high.group))}, {in_words(high)}, and lowest in "
        f"{visible(str(low.group))}, {in_words(low)}."
    )
    if is_tested or not together.settings.get("simultaneous", False):
        return said
    low, high = (find(together.quantities, name, one.group, at) for one in (low, high))
    if low.high is not None and high.low is not None and not math.isnan(low.high) and not math.isnan(high.low):
        said += f" Their simultaneous intervals {'do not overlap' if low.high < high.low else 'overlap'}."
    return said


def limits(evaluation: Evaluated) -> Said:
    """Say what the data cannot tell, and what was not tested."""
    if not evaluation.rates:
        return []
    rates, unknown = evaluation.rates[0], []
    said: Said = []
    for one in evaluation.rates:
        if one.below_resolution:
            few_errors = f"fewer than {ENOUGH_ERRORS} errors fix its threshold"
            unknown.append(f"the rates at {one.at} with any precision, as {few_errors}")
    few = {
        name: sum((find(evaluation.quantities, name, group, rates.at).n_errors or 0) < ENOUGH_ERRORS
                  for group in evaluation.groups)
        for name in ("fnmr", "fmr")
    }  # fmt: skip
    n = len(evaluation.groups)
    known = [
        f"no group has {ENOUGH_ERRORS} {METRICS[name].errors}" if number == n
        else f"{number} of {n} groups have fewer than {ENOUGH_ERRORS} {METRICS[name].errors}"
        for name, number in few.items() if number
    ]  # fmt: skip
    people = _people_of(rates)
    n_small = sum(number < _FEW_PEOPLE for number in people)
    if n_small:
        known.append(f"{n_small} of {n} groups have fewer than {_FEW_PEOPLE} people")
    if known:
        unknown.append(f"which group has the highest rate: {', and '.join(known)}, so their rates are rough")
    if unknown:
        said.append(("Not known", f"{'; '.join(unknown)}."))
    if evaluation.settings.get("unit") == "comparison":
        said.append(
            ("Not known", "how people differ: comparisons were drawn as if independent, so intervals are too narrow "
             "where people repeat.")
        )  # fmt: skip
    if evaluation.groups and not has_comparisons_between_groups(rates):
        said.append(("Not tested", "false matches between groups: all non-mated comparisons are within groups."))
    return said


def _people_of(rates: Rates) -> list[int]:
    counts = rates.counts
    found = counts.group_mated_subjects if counts.group_mated_subjects is not None else counts.group_nonmated_subjects
    return [] if found is None else [int(one) for one in found]


def has_comparisons_between_groups(rates: Rates) -> bool:
    """Return whether non-mated comparisons are between groups."""
    return bool(rates.counts.matrix_nonmated.sum() > rates.counts.group_nonmated.sum())


def size_of(evaluation: Evaluated) -> str:
    """Say how many comparisons, people and groups there are, of an evaluation at an operating point."""
    counts = evaluation.rates[0].counts
    return sizes_in_words(counts.mated, counts.nonmated, evaluation.n_subjects, len(evaluation.groups))


def sizes_in_words(n_mated: int, n_nonmated: int, n_subjects: int | None, n_groups: int) -> str:
    """Say how many comparisons, people and groups there are."""
    who = "" if n_subjects is None else f" of {n_subjects:,} people"
    groups = f", in {n_groups} groups" if n_groups else ""
    return f"{n_mated:,} mated and {n_nonmated:,} non-mated comparisons{who}{groups}"


def brackets_of(settings: Mapping[str, Any]) -> str:
    """Say what intervals stand in brackets."""
    drawn = f"from {settings['n_resamples']:,} replicates" if settings["n_resamples"] else "in closed form"
    kind = f"{_SIDES.get(settings.get('alternative', ''), 'interval')}s"
    kind += " that hold in all groups together" if settings.get("simultaneous") else ""
    unit = settings["unit"].replace("+", "s and ")
    return f"Numbers in brackets are {100 * settings['confidence_level']:g} % {kind}, {drawn} over {unit}s."


def sentences_on_failures(evaluation: Evaluated) -> list[str]:
    """Say how many comparisons failed, and what became of them."""
    failed = [find(evaluation.quantities, name, None, None) for name in FAILURE_RATES]
    parts = [
        f"{one.n_errors:,} of {one.n_comparisons:,} {kind} comparisons failed "
        f"({rate_with_interval(one.estimate, one.low, one.high)})"
        for kind, one in zip(CLASSES, failed, strict=True)
    ]
    said = [f"{' and '.join(parts)}.", _LEFT_OUT if has_rates_with_failures(evaluation) else _AS_NONMATCHES]
    for rates in evaluation.rates if has_rates_with_failures(evaluation) else ():
        frr, far = (in_words(find(evaluation.quantities, name, None, rates.at)) for name in WITH_FAILURES)
        said.append(f"At {rates.at} the FRR is {frr} and the FAR is {far}.")
    return said


def has_rates_with_failures(evaluation: Evaluated) -> bool:
    """Return whether an evaluation has FRRs and FARs beside FNMRs and FMRs."""
    return any(one.name in WITH_FAILURES for one in evaluation.quantities)


def interval_name(settings: dict[str, Any]) -> str:
    """Name the intervals of an evaluation, such as "95 % interval, for all groups together"; empty without."""
    if "confidence_level" not in settings:
        return ""
    side = _SIDES.get(settings["alternative"], "interval")
    together = ", for all groups together" if settings["simultaneous"] else ""
    return f"{100 * settings['confidence_level']:g} % {side}{together}"


def has_failures(evaluation: Evaluated) -> bool:
    """Return whether an evaluation reports how often comparisons failed."""
    return any(one.name in FAILURE_RATES for one in evaluation.quantities)


def measures_at(evaluation: Evaluated, rates: Rates | None) -> list[Quantity]:
    """Return the measures over all groups at an operating point, and those that need none."""
    points = (None, None if rates is None else rates.at)
    return [q for q in evaluation.quantities if q.group is None and q.at in points and measure_of(q.name) is not None]


def distances_from_fair(one: Quantity) -> tuple[float, float, float, float]:
    """Return how far a measure, the nearest and the farthest of its interval are from fair; and the largest, or 1."""
    measure, (low, high) = measure_of(one.name), ends_of(one)
    assert measure is not None
    value, *ends = (abs(x - measure.fair_value) for x in (one.estimate, low, high))
    largest = max((x for x in (value, *ends) if math.isfinite(x)), default=0.0) or 1.0
    return value, 0.0 if low <= measure.fair_value <= high else min(ends), max(ends), largest
