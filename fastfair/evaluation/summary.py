"""An evaluation in sentences, which terminal, notebook and page share, and the tables of the terminal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from fastfair._lib.text import in_lines, p_value, per_cent, rate_with_interval, typed
from fastfair._lib.validation import LOG_LIKELIHOOD_RATIO
from fastfair.error_rates.operating_points import ENOUGH_ERRORS, OperatingPoint
from fastfair.error_rates.rates import Rates
from fastfair.errors import visible
from fastfair.measures._registry import METRICS, measure_of, printed_name
from fastfair.pages.parts import Cell, Column, Table
from fastfair.results.result import Printed, measures_table
from fastfair.uncertainty.quantities import FAILURE_RATES, WITH_FAILURES, Quantity, find, in_words

from .evaluated import Evaluated

CLASSES = ("mated", "non-mated")
Said = list[tuple[str, str]]
_FEW_PEOPLE = 10
_MOST_COLUMNS = 10  # with more groups a matrix of FMRs does not fit a terminal
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
    left_out = sorted(set(evaluation.groups) - set(evaluation.measured_groups))
    if left_out:
        said.append(f"Left out of the measures: {visible(', '.join(left_out))}.")
    if "confidence_level" in evaluation.settings:
        said.append(brackets_of(evaluation.settings))
    return said


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
        at = (
            f"at threshold {typed(rates.threshold)}, "
            if k == 0
            else f"at {rates.at} (threshold {typed(rates.threshold)}), "
        )
        said.append(f"{at}{_share(wrong[0], 'mated', 'rejected')}, and {_share(wrong[1], 'non-mated', 'accepted')}.")
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
            here = [one for one in tests if one.error == name] if k == 0 else []
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
            unknown.append(f"{one.at} allows fewer than {ENOUGH_ERRORS} errors: too few data for this operating point.")
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
        unknown.append(f"which group has the highest rate: {', and '.join(known)}, so their rates are rough.")
    if unknown:
        said.append(("Not known", " ".join(unknown)))
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
    who = "" if evaluation.n_subjects is None else f" of {evaluation.n_subjects:,} people"
    groups = f", in {len(evaluation.groups)} groups" if evaluation.groups else ""
    return f"{counts.mated:,} mated and {counts.nonmated:,} non-mated comparisons{who}{groups}"


def brackets_of(settings: Mapping[str, Any]) -> str:
    """Say what intervals stand in brackets."""
    drawn = f"from {settings['n_resamples']:,} replicates" if settings["n_resamples"] else "in closed form"
    kind = {"less": "upper limits", "greater": "lower limits"}.get(settings.get("alternative", ""), "intervals")
    kind += " that hold in all groups together" if settings.get("simultaneous") else ""
    unit = settings["unit"].replace("+", "s and ")
    return f"Numbers in brackets are {100 * settings['confidence_level']:g} % {kind}, {drawn} over {unit}s."


def sentences_on_failures(evaluation: Evaluated) -> list[str]:
    """Say how many comparisons failed, and what became of them."""
    parts = [
        f"{one.n_errors:,} of {one.n_comparisons:,} {kind} comparisons failed "
        f"({rate_with_interval(one.estimate, one.low, one.high)})"
        for one, kind in zip(failure_rates_of(evaluation, None), CLASSES, strict=True)
    ]
    said = [f"{' and '.join(parts)}.", _LEFT_OUT if has_rates_with_failures(evaluation) else _AS_NONMATCHES]
    for rates in evaluation.rates if has_rates_with_failures(evaluation) else ():
        frr, far = (in_words(find(evaluation.quantities, name, None, rates.at)) for name in WITH_FAILURES)
        said.append(f"At {rates.at} the FRR is {frr} and the FAR is {far}.")
    return said


def has_rates_with_failures(evaluation: Evaluated) -> bool:
    """Return whether an evaluation has FRRs and FARs beside FNMRs and FMRs."""
    return any(one.name in WITH_FAILURES for one in evaluation.quantities)


def printed_tables(evaluation: Evaluated) -> list[Printed]:
    """Return the tables of the terminal below the summary: metrics, FMRs between groups, and measures."""
    metrics = [q for q in evaluation.quantities if q.group is None and q.at is None and measure_of(q.name) is None]
    if evaluation.settings["score_kind"] != LOG_LIKELIHOOD_RATIO:  # of other scores Cllr tells their scale
        metrics = [one for one in metrics if one.name != "cllr"]
    tables: list[Printed] = []
    if metrics:
        normalized = "normalised" if evaluation.settings.get("normalize") else "not normalised"
        about = {"min_dcf": f" (p_target {evaluation.settings.get('p_target', 0):g}, {normalized})"}
        metrics = [one for one in metrics if one.name not in FAILURE_RATES]
        rows = [[printed_name(one.name) + about.get(one.name, ""), in_words(one)] for one in metrics]
        tables.append(("All thresholds", ["metric", "all comparisons"], rows))
    found = {q.key: q for q in evaluation.quantities}
    for rates in evaluation.rates if len(evaluation.groups) <= _MOST_COLUMNS else ():
        if has_comparisons_between_groups(rates):
            cells = [
                [found.get(("fmr_matrix", reference, probe, rates.at)) for probe in evaluation.groups]
                for reference in evaluation.groups
            ]
            rows = [
                [group, *("-" if cell is None else rate_cell(cell) for cell in row)]
                for group, row in zip(evaluation.groups, cells, strict=True)
            ]
            title = f"FMR by group of reference (rows) and of probe (columns) at {rates.at}"
            tables.append((title, ["", *evaluation.groups], rows))
    if evaluation.measured_groups and evaluation.settings["measures"]:
        headings, rows = measures_table(evaluation.quantities, [rates.at for rates in evaluation.rates])
        tables.append((f"Fairness over {len(evaluation.measured_groups)} groups", headings, rows))
    return tables


def tables_of(evaluation: Evaluated) -> list[str]:
    """Return the lines of a table of groups at each operating point, and of the note below them."""
    lines = []
    for rates in evaluation.rates:
        lines += ["", f"At {rates.at}", *in_lines(*rates_table(evaluation, rates))]
    at_points = [one for one in evaluation.quantities if one.name in ("fmr", "fnmr") and one.n_comparisons]
    if has_failures(evaluation):
        lines += ["", "Comparisons that failed", *in_lines(*failures_table(evaluation))]
        at_points += [one for one in evaluation.quantities if one.name in FAILURE_RATES and one.n_comparisons]
    if any((one.n_errors or 0) < ENOUGH_ERRORS for one in at_points):
        lines += ["", FEW_ERRORS]
    return lines


def interval_name(settings: dict[str, Any]) -> str:
    """Name the intervals of an evaluation, such as "95 % interval, for all groups together"; empty without."""
    if "confidence_level" not in settings:
        return ""
    side = {"less": "upper limit", "greater": "lower limit"}.get(settings["alternative"], "interval")
    together = ", for all groups together" if settings["simultaneous"] else ""
    return f"{100 * settings['confidence_level']:g} % {side}{together}"


FEW_ERRORS = f"* fewer than {ENOUGH_ERRORS} errors behind the rate (Doddington's rule of {ENOUGH_ERRORS})"
_METRICS = ("eer", "min_dcf")  # of groups, beside the rates at the first operating point


def rates_table(evaluation: Evaluated, rates: Rates) -> tuple[list[str], list[list[str]]]:
    """Write rates and counts of all comparisons and of each group at an operating point.

    Parameters
    ----------
    evaluation : Evaluated
        The evaluation.
    rates : Rates
        Those of one of its operating points; EER and minDCF stand beside those of the first.

    Returns
    -------
    headings : list of str
        The first is that of groups.
    rows : list of list of str
        All comparisons, then each group.
    """
    found = {one.key: one for one in evaluation.quantities}
    is_first = rates is evaluation.rates[0]
    metrics = [name for name in _METRICS if is_first and (name, None, None, None) in found]
    shown = ["fmr", "fnmr", *(name for name in ("far", "frr") if (name, None, None, rates.at) in found)]
    headings = ["group", *map(printed_name, (*shown, *metrics))]
    headings += ["mated", "non-mated", "false matches", "false non-matches", "subjects"]
    counts = rates.counts
    numbers: list[tuple[Any, ...]] = [
        (counts.mated, counts.nonmated, counts.false_matches, counts.false_nonmatches, counts.nonmated_subjects)
    ]
    subjects = counts.group_nonmated_subjects
    for k in range(len(rates.groups)):
        per_group = counts.group_mated, counts.group_nonmated, counts.group_false_matches, counts.group_false_nonmatches
        numbers.append((*(column[k] for column in per_group), None if subjects is None else subjects[k]))
    rows = []
    for group, behind in zip((None, *rates.groups), numbers, strict=True):
        row = [group or "all", *(rate_cell(found[name, group, None, rates.at]) for name in shown)]
        for name in metrics:
            row.append(in_words(found[name, group, None, None]))
        rows.append([*row, *("" if number is None else f"{number:,}" for number in behind)])
    return headings, rows


def rate_cell(quantity: Quantity) -> str:
    """Write a rate with its interval, and a star where fewer than 30 errors are behind it."""
    few = quantity.n_errors is not None and quantity.n_errors < ENOUGH_ERRORS and bool(quantity.n_comparisons)
    return in_words(quantity) + ("*" if few else " ")


def has_failures(evaluation: Evaluated) -> bool:
    """Return whether an evaluation reports how often comparisons failed."""
    return any(one.name in FAILURE_RATES for one in evaluation.quantities)


def failure_rates_of(evaluation: Evaluated, group: str | None) -> list[Quantity]:
    """Return the shares of mated and of non-mated comparisons that failed, of all or of a group."""
    return [find(evaluation.quantities, name, group, None) for name in FAILURE_RATES]


def failures_table(evaluation: Evaluated) -> tuple[list[str], list[list[str]]]:
    """Write the rates of failure of all comparisons and of each group, with the numbers behind them.

    Parameters
    ----------
    evaluation : Evaluated
        An evaluation that has them.

    Returns
    -------
    headings : list of str
        The first is that of groups.
    rows : list of list of str
        All comparisons, then each group.
    """
    headings = ["group", *map(printed_name, FAILURE_RATES), "mated failed", "mated", "non-mated failed", "non-mated"]
    rows = []
    for group in (None, *evaluation.groups):
        found = failure_rates_of(evaluation, group)
        counts = [f"{number:,}" for one in found for number in (one.n_errors, one.n_comparisons)]
        rows.append([group or "all", *map(rate_cell, found), *counts])
    return headings, rows


def measures_at(evaluation: Evaluated, rates: Rates | None) -> list[Quantity]:
    """Return the measures over all groups at an operating point, and those that need none."""
    points = (None, None if rates is None else rates.at)
    return [q for q in evaluation.quantities if q.group is None and q.at in points and measure_of(q.name) is not None]


def printed_of(table: Table) -> Printed:
    """Turn a table of a page into one of the terminal, without drawings; stars mark rates of few errors."""
    kept = [k for k, one in enumerate(table.columns) if getattr(one, "kind", "") != "drawing"]
    headings = [one.title if isinstance(one, Column) else one for one in (table.columns[k] for k in kept)]
    return table.caption, headings, [[_as_text(row[k]) for k in kept] for row in table.rows]


def _as_text(cell: str | Cell) -> str:
    if isinstance(cell, str):
        return cell
    return " ".join(filter(None, (cell.text, cell.interval))) + ("*" if cell.look == "few" else "")
