"""Print results as tables on the terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from fastfair._lib.text import number_with_interval, p_value, per_cent, rate_with_interval, typed
from fastfair._lib.validation import LOG_LIKELIHOOD_RATIO
from fastfair.bands.all_bands import FEW, Bands
from fastfair.bands.fairness import FAIR_OUTSIDE
from fastfair.error_rates.curve_results import Rates
from fastfair.error_rates.operating_points import ENOUGH_ERRORS, OperatingPoint, at_fmr
from fastfair.evaluation.contrasts import WITHHELD
from fastfair.evaluation.difference_tests import REASONS
from fastfair.evaluation.paired_result import PairedEvaluation
from fastfair.evaluation.rates_table import FEW_ERRORS, failures_table, has_failures, rate_cell, rates_table
from fastfair.evaluation.result import Evaluation
from fastfair.group_tests.equal_rates import FmrTest, FnmrTest, GroupTest
from fastfair.group_tests.margins import MarginOfError
from fastfair.measures._registry import measure_of, printed_name
from fastfair.uncertainty.quantities import HELD, Key, Quantity, in_words

from .terminal import Table, Terminal

_Found = dict[Key, Quantity]
_MOST_COLUMNS = 10  # with more groups the FMR matrix does not fit a terminal; JSON and CSV always have it
_UNITS = {
    "sample": "samples (other images of these very people)",
    "subject+sample": "subjects and their samples",
}
_WITHOUT_ERRORS = "no errors at all: the interval is Clopper and Pearson's; notes say for how many comparisons"


def _threshold(quantity: Quantity) -> str:
    """Write a threshold with all its digits, and the ends of its interval with some."""
    low, high = quantity.low, quantity.high
    has_interval = low is not None and high is not None and not math.isnan(low) and low < high
    return typed(quantity.estimate) + (f" [{low:.6g}, {high:.6g}]" if has_interval else "")


def print_evaluation(evaluation: Evaluation) -> None:
    """Print overall rates, a table of groups at each operating point, and the fairness measures."""
    console = Terminal()
    console.print(evaluation.description, style="bold")
    found = {q.key: q for q in evaluation.quantities}
    normalized = "normalised" if evaluation.settings.get("normalize") else "not normalised"
    more = {"min_dcf": f" (p_target {evaluation.settings['p_target']:g}, {normalized})"}
    if evaluation.settings["score_kind"] != LOG_LIKELIHOOD_RATIO:
        found.pop(("cllr", None, None, None), None)  # of other scores it tells their scale
    parts = [
        f"{printed_name(name)} {in_words(found[name, None, None, None])}{more.get(name, '')}"
        for name in ("eer", "min_dcf", "cllr", "min_cllr")
        if (name, None, None, None) in found
    ]
    console.print("   ".join(parts))
    if evaluation.uncertainty is not None:
        console.print(_about_intervals(evaluation.settings))
    for result in evaluation.rates:
        point = result.at
        threshold = _threshold(found["threshold", None, None, point])
        print_titled(console, f"At {point}: threshold {threshold}", _rates_table(evaluation, result))
        across = result.counts.matrix_nonmated.sum() - result.counts.group_nonmated.sum()
        if across and len(result.groups) <= _MOST_COLUMNS:
            print_titled(
                console, "FMR by group of reference (rows) and of probe (columns)", _matrix_table(result, found)
            )
        if result.below_resolution:
            console.print(f"{point} allows fewer than {ENOUGH_ERRORS} errors: too few data for this operating point.")
    if has_failures(evaluation):
        print_titled(console, "Comparisons that failed", text_table(*failures_table(evaluation)))
    if any(q.n_errors is not None and q.n_errors < ENOUGH_ERRORS for q in evaluation.quantities):
        console.print(f"\n{FEW_ERRORS}")
    if any(HELD in q.note for q in evaluation.quantities):
        console.print(
            "  the rate that an operating point fixes hardly varies: every replicate chooses its own threshold"
        )
    if any(q.low is not None and q.n_errors == 0 for q in evaluation.quantities):
        console.print(f"  {_WITHOUT_ERRORS}")
    if evaluation.measured_groups and evaluation.settings["measures"]:
        table = measures_table(evaluation.quantities, [result.at for result in evaluation.rates])
        print_titled(console, f"Fairness over {len(evaluation.measured_groups)} groups", table)
        if len(evaluation.measured_groups) < len(evaluation.groups):
            left_out = sorted(set(evaluation.groups) - set(evaluation.measured_groups))
            console.print(f"Left out of the measures: {', '.join(left_out)}")


def print_summary(evaluation: Evaluation) -> None:
    """Print an evaluation in sentences, and a table of groups at each operating point."""
    Terminal().print(evaluation.summary())


def print_bands(bands: Bands, levels: Sequence[float]) -> None:
    """Print the FNMR at each false match rate, of all pairs and of groups, and the fairness measures."""
    console = Terminal()
    console.print(bands.description, style="bold")
    console.print(_about_intervals(bands.settings))
    points = [at_fmr(level) for level in levels]
    shown = [q for q in bands.quantities if q.at in points]
    found = {q.key: q for q in shown}

    def star(quantity: Quantity) -> str:
        return "*" if FEW in quantity.note else " "

    def rate(name: str, group: str | None, point: OperatingPoint) -> str:
        return in_words(found[name, group, None, point]) + star(found[name, group, None, point])

    table = Table(pad_edge=False, box=None)
    for heading in ("at", "threshold", "FNMR", "uncertainty of FNMR"):
        table.add_column(heading, justify="left" if heading == "at" else "right")
    for point in points:
        threshold = found["threshold", None, None, point]
        uncertainty = per_cent(found["fnmr", None, None, point].uncertainty)
        table.add_row(str(point), _threshold(threshold) + star(threshold), rate("fnmr", None, point), uncertainty)
    print_titled(console, "All pairs", table)
    for name, kind in (("fnmr", "mated"), ("fmr", "non-mated")) if bands.groups else ():
        table = Table(pad_edge=False, box=None)
        table.add_column("group")
        for heading in (*(f"at {point}" for point in points), kind, "subjects"):
            table.add_column(heading, justify="right")
        for group in bands.groups:
            behind = found[name, group, None, points[0]]
            counts = (f"{number:,}" for number in (behind.n_comparisons, behind.n_subjects))
            table.add_row(group, *(rate(name, group, point) for point in points), *counts)
        print_titled(console, f"{name.upper()} inside each group, at the same thresholds", table)
    if any(FEW in q.note for q in shown):
        console.print(f"\n* {FEW} behind the number (Doddington's rule of {ENOUGH_ERRORS})")
    if any(q.n_errors == 0 for q in shown):
        console.print(f"  {_WITHOUT_ERRORS}")
    if bands.fairness:
        print_titled(console, f"Fairness over {len(bands.groups)} groups", measures_table(shown, points))
    if any(q.note == FAIR_OUTSIDE for q in shown):
        console.print(f"  {FAIR_OUTSIDE}")


def print_contrasts(paired: PairedEvaluation) -> None:
    """Print the differences between two systems: overall, per group, and in the fairness measures."""
    console = Terminal()
    for name, evaluation in (("first", paired.first), ("second", paired.second)):
        console.print(f"{name}: {evaluation.description}", style="bold")
    console.print(_about_intervals(paired.first.settings))
    console.print("difference: first - second; p: two-sided test of no difference, adjusted (Holm) for several groups")
    points = [None, *(result.at for result in paired.first.rates)]
    reasons: set[str] = set()
    for point in points:
        table = Table(pad_edge=False, box=None)
        for heading in ("quantity", "group"):
            table.add_column(heading)
        for heading in ("first", "second", "difference", "ratio", "p"):
            table.add_column(heading, justify="right")
        table.add_column("better or fairer")
        for contrast in paired.contrasts:
            if contrast.at != point or contrast.name == "fmr_matrix":
                continue
            if contrast.group is not None and measure_of(contrast.name) is not None:
                continue
            table.add_row(
                printed_name(contrast.name),
                contrast.group or "all",
                *(number_with_interval(value) for value in (contrast.first, contrast.second)),
                number_with_interval(contrast.difference, contrast.low, contrast.high),
                number_with_interval(contrast.ratio, contrast.ratio_low, contrast.ratio_high),
                p_value(contrast.pvalue_adjusted),
                contrast.verdict,
            )
            reasons.update(reason for reason in REASONS if reason in contrast.note)
        print_titled(console, "Without a threshold" if point is None else f"At {point}", table)
    if reasons:
        console.print(f"\n{WITHHELD}: no test that would not too often tell equal systems apart")
    for reason in REASONS:
        if reason in reasons:
            console.print(f"  {reason}")


def print_group_tests(of_failures: FnmrTest | None, margin: MarginOfError | None, fmr_test: FmrTest | None) -> None:
    """Print the results of the tests and the margin of error, as sentences and as tables of groups."""
    console = Terminal()
    first = of_failures or fmr_test
    assert first is not None
    tested = f"{int(first.n_trials.sum()):,} {first.trials} in {len(first.groups)} groups"
    console.print(tested if of_failures is None else repr(of_failures.counts), style="bold")
    console.print(
        f"[low, high]: {100 * first.confidence_level:g} % intervals; p: one group against the others, and "
        f"adjusted for several groups; {first.settings['n_resamples']:,} replicates over subjects, "
        f"seed {first.settings['rng']}"
    )
    at = "" if first.settings["at"] is None else f" at {first.settings['at']}"
    if of_failures is not None and margin is not None:
        said = of_failures.summary()
        more = [line for line in margin.summary().splitlines() if line not in said.splitlines()]
        place = ["-"] * len(margin.groups) if math.isnan(margin.margin) else [
            "inside" if group not in margin.outside else "above" if rate > margin.rate else "below"
            for group, rate in zip(margin.groups, margin.group_rate, strict=True)
        ]  # fmt: skip
        symbol = of_failures.error.upper()
        print_titled(console, f"Do {symbol}s differ{at}?", said)
        print_titled(console, "By more than the margin of error?", "\n".join(more))
        print_titled(console, f"{symbol} of groups", _groups_table(of_failures, "failures", {"margin": place}))
    if fmr_test is not None:
        print_titled(console, f"Do FMRs differ{at}?", fmr_test.summary())
        print_titled(console, "FMR of groups", _groups_table(fmr_test, "false matches", {}))


def _groups_table(test: GroupTest, errors: str, more: dict[str, list[str]]) -> Table:
    table = Table(pad_edge=False, box=None)
    table.add_column("group")
    headings = ("subjects", test.trials, errors, test.error.upper(), "p", "adjusted p")
    for heading in headings:
        table.add_column(heading, justify="right")
    for heading in more:
        table.add_column(heading)
    for k, group in enumerate(test.groups):
        rate = rate_with_interval(*(float(values[k]) for values in (test.group_rate, test.low, test.high)))
        table.add_row(
            group,
            *(f"{numbers[k]:,}" for numbers in (test.n_subjects, test.n_trials, test.n_errors)),
            rate,
            *(p_value(values[k]) for values in (test.group_pvalue, test.group_pvalue_adjusted)),
            *(column[k] for column in more.values()),
        )
    return table


def _about_intervals(settings: dict[str, Any]) -> str:
    units = _UNITS.get(settings["unit"], f"{settings['unit']}s")
    kind = {"less": "upper limits", "greater": "lower limits"}.get(settings.get("alternative", ""), "intervals")
    if settings.get("simultaneous"):
        kind = f"{kind} that hold in all groups together"
    about = f"[low, high]: {100 * settings['confidence_level']:g} % {kind}"
    if not settings["n_resamples"]:
        return f"{about} of rates over {units}, in closed form, without replicates; nothing else has any"
    weights = f"{settings['scheme']} weights" if "scheme" in settings else f"{settings['weighting']} weighting"
    return (
        f"{about}, {settings['n_resamples']:,} replicates over {units}, {settings['method']} method, {weights}, "
        f"seed {settings['rng']}"
    )


def print_titled(console: Terminal, title: str, content: Table | str) -> None:
    """Print a title, and a table or text below it."""
    # A table's own title would be folded to the width of a narrow table.
    console.print(f"\n{title}", style="bold")
    console.print(content)


def _rates_table(evaluation: Evaluation, rates: Rates) -> Table:
    return text_table(*rates_table(evaluation, rates))


def text_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Make a table of cells that are written, the first row of which is about all comparisons."""
    table = Table(pad_edge=False, box=None)
    for heading in headings:
        table.add_column(heading, justify="left" if heading in ("group", "system") else "right")
    for k, row in enumerate(rows):
        table.add_row(*row, end_section=k == 0)
    return table


def _matrix_table(result: Rates, found: _Found) -> Table:
    table = Table(pad_edge=False, box=None)
    table.add_column("")
    for group in result.groups:
        table.add_column(group, justify="right")
    for reference in result.groups:
        cells = [found.get(("fmr_matrix", reference, probe, result.at)) for probe in result.groups]
        table.add_row(reference, *("-" if cell is None else rate_cell(cell) for cell in cells))
    return table


def measures_table(quantities: Sequence[Quantity], points: Sequence[OperatingPoint]) -> Table:
    """Make the table of fairness measures, a row for each and a column for each operating point."""
    rows: dict[str, dict[OperatingPoint | None, Quantity]] = {}
    for quantity in quantities:
        if quantity.group is None and measure_of(quantity.name) is not None:
            rows.setdefault(quantity.name, {})[quantity.at] = quantity
    without = [None] if any(None in values for values in rows.values()) else []
    table = Table(pad_edge=False, box=None)
    table.add_column("measure")
    for heading in (*(f"at {point}" for point in points), *("no threshold" for _ in without), "fair value"):
        table.add_column(heading, justify="right")
    table.add_column("fairer")
    for name, values in rows.items():
        measure = measure_of(name)
        assert measure is not None
        cells = [in_words(values[p]) if p in values else "" for p in [*points, *without]]
        table.add_row(printed_name(name), *cells, f"{measure.fair_value:g}", measure.fairer)
    return table
