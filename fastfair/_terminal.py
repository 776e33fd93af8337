"""An evaluation as tables on the terminal."""

from __future__ import annotations

import math

from rich.console import Console
from rich.table import Table

from ._results import Rates
from .measures import MEASURES
from .operating_points import ENOUGH_ERRORS
from .quantities import Evaluation, Quantity

_MOST_COLUMNS = 10  # groups beyond which a matrix does not fit a terminal; JSON and CSV have it always


def print_evaluation(evaluation: Evaluation) -> None:
    """Print overall figures, a table of groups at each operating point, and the measures."""
    # As wide as the tables are: cut to a narrow terminal they would lose digits. Labels are text, not markup.
    console = Console(width=1000, highlight=False, markup=False, emoji=False)
    console.print(evaluation.description, style="bold")
    console.print(
        f"EER {_percent(evaluation.value('eer'), 3)}   minDCF {evaluation.value('min_dcf'):.4f} "
        f"(p_target {evaluation.settings['p_target']:g})   min Cllr {evaluation.value('min_cllr'):.3f}"
    )
    by_name = {(q.name, q.group): q for q in evaluation.quantities if q.operating_point is None}
    for k, result in enumerate(evaluation.rates):
        _print(
            console,
            f"At {result.at}: threshold {result.threshold:.6g}",
            _rates_table(result, by_name if k == 0 else None),
        )
        across = result.counts.matrix_nonmated.sum() - result.counts.group_nonmated.sum()
        if across and len(result.groups) <= _MOST_COLUMNS:
            _print(console, "FMR by group of reference (rows) and of probe (columns)", _matrix_table(result))
        if result.below_resolution:
            console.print(f"{result.at} asks for fewer than {ENOUGH_ERRORS} errors: below the data's resolution.")
    if any(q.n_errors is not None and q.n_errors < ENOUGH_ERRORS for q in evaluation.quantities):
        console.print(f"\n* fewer than {ENOUGH_ERRORS} errors behind the rate (Doddington's rule of 30)")
    if evaluation.measured_groups:
        _print(console, f"Fairness over {len(evaluation.measured_groups)} groups", _measures_table(evaluation))
        if len(evaluation.measured_groups) < len(evaluation.groups):
            left_out = sorted(set(evaluation.groups) - set(evaluation.measured_groups))
            console.print(f"Left out of the measures: {', '.join(left_out)}")


def _print(console: Console, title: str, table: Table) -> None:
    # A table's own title would be folded to the width of a narrow table.
    console.print(f"\n{title}", style="bold")
    console.print(table)


def _rates_table(result: Rates, by_name: dict[tuple[str, str | None], Quantity] | None) -> Table:
    table = Table(pad_edge=False, box=None)
    table.add_column("group")
    of_curves = () if by_name is None else ("EER", "minDCF")
    behind = ("mated", "non-mated", "false matches", "false non-matches", "subjects")
    for heading in ("FMR", "FNMR", *of_curves, *behind):
        table.add_column(heading, justify="right")
    counts = result.counts

    def of_curve(group: str | None) -> tuple[str, ...]:
        if by_name is None:
            return ()
        return _percent(by_name["eer", group].estimate), f"{by_name['min_dcf', group].estimate:.4f}"

    table.add_row(
        "all",
        _starred(result.fmr, counts.false_matches),
        _starred(result.fnmr, counts.false_nonmatches),
        *of_curve(None),
        f"{counts.mated:,}",
        f"{counts.nonmated:,}",
        f"{counts.false_matches:,}",
        f"{counts.false_nonmatches:,}",
        "" if counts.nonmated_subjects is None else f"{counts.nonmated_subjects:,}",
        end_section=True,
    )
    for k, group in enumerate(result.groups):
        subjects = counts.group_nonmated_subjects
        table.add_row(
            group,
            _starred(result.group_fmr[k], counts.group_false_matches[k]),
            _starred(result.group_fnmr[k], counts.group_false_nonmatches[k]),
            *of_curve(group),
            f"{counts.group_mated[k]:,}",
            f"{counts.group_nonmated[k]:,}",
            f"{counts.group_false_matches[k]:,}",
            f"{counts.group_false_nonmatches[k]:,}",
            "" if subjects is None else f"{subjects[k]:,}",
        )
    return table


def _matrix_table(result: Rates) -> Table:
    table = Table(pad_edge=False, box=None)
    table.add_column("")
    for group in result.groups:
        table.add_column(group, justify="right")
    for group, rates, errors in zip(result.groups, result.fmr_matrix, result.counts.matrix_false_matches, strict=True):
        table.add_row(group, *map(_starred, rates, errors))
    return table


def _measures_table(evaluation: Evaluation) -> Table:
    table = Table(pad_edge=False, box=None)
    table.add_column("measure")
    table.add_column("of")
    points = [str(result.at) for result in evaluation.rates]
    for point in points:
        table.add_column(f"at {point}", justify="right")
    table.add_column("no threshold", justify="right")
    table.add_column("fair value", justify="right")
    table.add_column("fairer")
    rows: dict[tuple[str, str], dict[str | None, float]] = {}
    for quantity in evaluation.quantities:
        label = _measure_and_metric(quantity)
        if label is not None and quantity.group is None:
            rows.setdefault(label, {})[quantity.operating_point] = quantity.estimate
    for (name, metric), values in rows.items():
        measure = MEASURES[_base(name)]
        cells = [_number(values[p]) if p in values else "" for p in [*points, None]]
        summary = name.removeprefix(measure.name).strip("_")
        table.add_row(f"{summary} {measure.title}".strip(), metric, *cells, f"{measure.fairest:g}", measure.fairer)
    return table


def _measure_and_metric(quantity: Quantity) -> tuple[str, str] | None:
    """Split "nrb(eer)" into measure and base metric; None for what is no measure over groups."""
    name, _, metric = quantity.name.partition("(")
    measure = MEASURES.get(_base(name))
    if measure is None:
        return None
    return name, metric.rstrip(")").upper().replace("MIN_DCF", "minDCF").replace("CLLR", "Cllr")


def _base(name: str) -> str:
    """Return the measure that a summary over groups is of."""
    return name.removesuffix("_mean").removesuffix("_std")


def _percent(rate: float, digits: int = 2) -> str:
    if math.isnan(rate):
        return "-"
    per_cent = 100 * rate
    if per_cent == 0 or per_cent >= 0.5 * 10**-digits:
        return f"{per_cent:.{digits}f} %" if per_cent else "0 %"
    return f"{per_cent:.1g} %"  # so that few errors never look like none


def _starred(rate: float, errors: int) -> str:
    return _percent(rate) + ("*" if errors < ENOUGH_ERRORS and not math.isnan(rate) else " ")


def _number(value: float) -> str:
    if math.isnan(value):
        return "not computable"
    return "infinite" if math.isinf(value) else f"{value:.4g}"
