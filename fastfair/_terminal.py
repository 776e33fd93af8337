"""An evaluation as tables on the terminal."""

from __future__ import annotations

import math

from rich.console import Console
from rich.table import Table

from ._results import Rates
from .evaluation import Evaluation, Quantity
from .measures import MEASURES
from .operating_points import ENOUGH_ERRORS

_MOST_COLUMNS = 10  # groups beyond which a matrix does not fit a terminal; JSON and CSV have it always


def print_evaluation(evaluation: Evaluation) -> None:
    """Print overall figures, a table of groups at each operating point, and the measures."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 130  # a file or pipe has no width of its own, and tables must not be cut to a guess
    console.print(f"[bold]{evaluation.description}[/bold]")
    console.print(
        f"EER {_percent(evaluation.value('eer'), 3)}   minDCF {evaluation.value('min_dcf'):.4f} "
        f"(p_target {evaluation.settings['p_target']:g})   Cllr {evaluation.value('cllr'):.3f}"
    )
    by_name = {(q.name, q.group): q for q in evaluation.quantities if q.operating_point is None}
    for result in evaluation.rates:
        _print(console, f"At {result.at}: threshold {result.threshold:.6g}", _rates_table(result, by_name))
        across = result.counts.matrix_nonmated.sum() - result.counts.group_nonmated.sum()
        if across and len(result.groups) <= _MOST_COLUMNS:
            _print(console, "FMR by group of reference (rows) and of probe (columns)", _matrix_table(result))
        if result.below_resolution:
            console.print(f"{result.at} asks for fewer than {ENOUGH_ERRORS} errors: below the data's resolution.")
    flagged = any((r.few_false_matches | r.few_false_nonmatches).any() for r in evaluation.rates)
    if flagged:
        console.print(f"* fewer than {ENOUGH_ERRORS} errors behind the rate (Doddington's rule of 30)")
    if evaluation.measured_groups:
        _print(console, f"Fairness over {len(evaluation.measured_groups)} groups", _measures_table(evaluation))
        if len(evaluation.measured_groups) < len(evaluation.groups):
            left_out = sorted(set(evaluation.groups) - set(evaluation.measured_groups))
            console.print(f"Left out of the measures: {', '.join(left_out)}")


def _print(console: Console, title: str, table: Table) -> None:
    # A table's own title would be folded to the width of a narrow table.
    console.print(f"\n[bold]{title}[/bold]")
    console.print(table)


def _rates_table(result: Rates, by_name: dict[tuple[str, str | None], Quantity]) -> Table:
    table = Table(pad_edge=False, box=None)
    table.add_column("group")
    for heading in (
        "FMR",
        "FNMR",
        "EER",
        "minDCF",
        "mated",
        "non-mated",
        "false matches",
        "false non-matches",
        "subjects",
    ):
        table.add_column(heading, justify="right")
    counts = result.counts
    table.add_row(
        "all",
        _percent(result.fmr),
        _percent(result.fnmr),
        _percent(by_name["eer", None].estimate),
        f"{by_name['min_dcf', None].estimate:.4f}",
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
            _percent(result.group_fmr[k]) + ("*" if result.few_false_matches[k] else " "),
            _percent(result.group_fnmr[k]) + ("*" if result.few_false_nonmatches[k] else " "),
            _percent(by_name["eer", group].estimate),
            f"{by_name['min_dcf', group].estimate:.4f}",
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
    for group, row in zip(result.groups, result.fmr_matrix, strict=True):
        table.add_row(group, *map(_percent, row))
    return table


def _measures_table(evaluation: Evaluation) -> Table:
    table = Table(pad_edge=False, box=None)
    table.add_column("measure")
    table.add_column("of")
    points = [str(result.at) for result in evaluation.rates]
    for point in points:
        table.add_column(f"at {point}", justify="right")
    table.add_column("no threshold", justify="right")
    table.add_column("fair", justify="right")
    rows: dict[tuple[str, str], dict[str | None, float]] = {}
    for quantity in evaluation.quantities:
        label = _measure_and_metric(quantity)
        if label is not None and quantity.group is None:
            rows.setdefault(label, {})[quantity.operating_point] = quantity.estimate
    for (name, metric), values in rows.items():
        measure = MEASURES[name.removeprefix("mean ").removeprefix("std ")]
        cells = [_number(values[p]) if p in values else "" for p in [*points, None]]
        title = name.split(" ")[0] + " " + measure.title if " " in name else measure.title
        table.add_row(title, metric, *cells, _fair(measure.fairest, measure.fairer))
    return table


def _measure_and_metric(quantity: Quantity) -> tuple[str, str] | None:
    """Split "nrb(eer)" into measure and base metric; None for what is no measure over groups."""
    name, _, metric = quantity.name.partition("(")
    measure = MEASURES.get(name.removeprefix("mean ").removeprefix("std "))
    if measure is None:
        return None
    return name, metric.rstrip(")").upper().replace("MIN_DCF", "minDCF").replace("CLLR", "Cllr")


def _fair(fairest: float, fairer: str) -> str:
    return f"{fairest:g}, lower is fairer" if fairer == "lower" else f"{fairest:g}, {fairer} is fairer"


def _percent(rate: float, digits: int = 2) -> str:
    return "-" if math.isnan(rate) else f"{100 * rate:.{digits}f} %"


def _number(value: float) -> str:
    if math.isnan(value):
        return "not computable"
    return "infinite" if math.isinf(value) else f"{value:.4g}"
