"""`read_results`: results from the pages and the JSON that they were written to, to look up, draw and report again."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.arguments import checked
from fastfair._lib.results import Tabular
from fastfair._lib.tables import records
from fastfair.bands.all_bands import Bands
from fastfair.bands.fairness import FairnessBand
from fastfair.bands.roc import RocBand
from fastfair.calibration.results import Calibration
from fastfair.error_rates.operating_points import point_of
from fastfair.errors import FileFormatError
from fastfair.evaluation.paired_result import PairedEvaluation
from fastfair.evaluation.result import Evaluation
from fastfair.evaluation.system_comparison import SystemComparison
from fastfair.io.evaluations import evaluation_of, pair_of, read_numbers, systems_of
from fastfair.pages.parts import Chapter
from fastfair.pages.report import chapter_of_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
Result: TypeAlias = (
    "Evaluation | PairedEvaluation | SystemComparison | RocBand | FairnessBand | Calibration | WrittenResult"
)
# What a page has around the numbers of a result.
_AROUND = ("title", "kind", "table", "summary", "infinite", "asked", "roc", "group_roc", "fairness")


@checked
def read_results(path: str | Path) -> list[Result]:
    """Read the results of a page that `report` wrote, or the evaluation of a file that `Evaluation.to_json` wrote.

    Parameters
    ----------
    path : path
        A page, or JSON of an evaluation.

    Returns
    -------
    list of Evaluation, PairedEvaluation, SystemComparison, RocBand, FairnessBand, Calibration and WrittenResult
        In the order of the page, which `report` makes again of them. They have no comparisons and no replicates, but
        evaluations of a page have its DET curves, bands and distributions of scores. All else is a `WrittenResult`.

    Raises
    ------
    FileFormatError
        For a file that is missing, or holds no result.

    Examples
    --------
    >>> import fastfair as ff
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "evaluation.json"
    >>> c = ff.Comparisons([0.9, 0.3, 0.4, 0.1], [1, 1, 0, 0])
    >>> _ = ff.evaluate(c, ff.at_threshold(0.35), n_resamples=0).to_json(file)
    >>> ff.read_results(file)[0].value("fmr")
    0.5
    """
    numbers = read_numbers(path)
    try:
        found = [_result(one) for one in numbers]
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
        raise FileFormatError(f"{path} is neither the JSON of an evaluation nor a page: {error!r}") from None
    if not found:
        raise FileFormatError(f"{path} holds no result: write one with Evaluation.to_json or report")
    return found


def _result(content: dict[str, Any]) -> Result:
    if "measured_groups" in content:
        return evaluation_of(content)
    if "rankings" in content:
        return systems_of(content)
    if "contrasts" in content:
        return pair_of(content)
    if content["kind"] == Calibration.__name__:
        return Calibration._of_numbers(content)
    if content["kind"] in _CURVES:
        return _CURVES[content["kind"]]._of_numbers(content)
    if content["kind"] not in _PLOTS:
        raise ValueError(f"no result is called {content['kind']!r}")
    result = WrittenResult(content["title"], content)
    result._columns()  # refuses a table that is broken
    return result


@dataclass(frozen=True, eq=False, repr=False)
class WrittenResult(Tabular):
    """A result of another kind, as a page has it: its sentences, its table and its plot.

    Attributes
    ----------
    title : str
        The title of its chapter.
    content : dict
        Its numbers.
    """

    title: str
    content: dict[str, Any]

    @property
    def kind(self) -> str:
        """Name of the class that it had, such as "FnmrTest"."""
        return str(self.content["kind"])

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments of the call, and the seed."""
        return dict(self.content.get("settings", {}))

    @checked
    def summary(self) -> str:
        """Return the sentences that describe the result.

        Returns
        -------
        str
        """
        return "\n".join(self.content["summary"])

    def _columns(self) -> dict[str, list[Any]]:
        rows = self.content[self.content["table"]]
        columns = {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}
        for name, k, value in self.content["infinite"]:
            columns[name][k] = float(value)
        return columns

    def _content(self) -> dict[str, Any]:
        return {name: value for name, value in self.content.items() if name not in _AROUND}

    @checked
    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the result as its class does.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
        """
        return _PLOTS[self.kind](self, ax)

    def _chapter(self) -> Chapter:
        if self.kind == Bands.__name__:
            return Bands.of_numbers(self.content, records(self._columns()))._chapter()
        return chapter_of_table(self, self.kind, self.title)

    def _array(self, name: str) -> Floats:
        return np.array(self._columns()[name], np.float64)

    def _made(self, kind: Callable[..., Any], *left_out: str) -> list[Any]:
        """Make a record of each row, with NaN for numbers that there are none of."""
        columns = {
            name: [
                math.nan if value is None and kind.__annotations__.get(name) == "float" else value for value in values
            ]
            for name, values in self._columns().items()
            if name not in left_out
        }
        if "operating_point" in columns:
            columns["at"] = [text and point_of(str(text)) for text in columns.pop("operating_point")]
        return [kind(**row) for row in records(columns)]


def _draw_test(result: WrittenResult, ax: Axes | None) -> Axes:
    from fastfair.group_tests.plots import draw_test

    error = result.content.get("rate", "fmr" if result.kind == "FmrTest" else "fnmr")  # pages of before do not say
    own, together = ((result._array(f"{which}low"), result._array(f"{which}high")) for which in ("", "simultaneous_"))
    groups, overall, different = result._columns()["group"], result.content[error], result.content["different"]
    return draw_test(groups, result._array(error), overall, (own, together), different, error, ax)


def _draw_margin(result: WrittenResult, ax: Axes | None) -> Axes:
    from fastfair.group_tests.plots import draw_margin

    content = result.content
    name = content.get("rate", "fnmr")
    low, high = (math.nan if content[end] is None else content[end] for end in ("low", "high"))
    groups, rates = result._columns()["group"], result._array(name)
    return draw_margin(groups, rates, content[name], (low, high), content["outside"], name, ax)


def _draw_claim(result: WrittenResult, ax: Axes | None) -> Axes:
    from fastfair.claims.claimed_rates import ClaimedRate
    from fastfair.claims.plots import draw_claim

    rows = result._made(ClaimedRate, "rule_of_3", "meets_rule_of_30")
    return draw_claim(rows, result.content["rate"], result.content["claimed"], ax)


def _draw_check(result: WrittenResult, ax: Axes | None) -> Axes:
    from fastfair.claims.check_plots import draw_check
    from fastfair.claims.checked_quantity import CheckedQuantity

    return draw_check(result._made(CheckedQuantity, "title"), ax)


def _draw_shrunken(result: WrittenResult, ax: Axes | None) -> Axes:
    from fastfair.small_groups.plots import draw_shrunken

    raw, shrunken = (
        (result._array(names[0]), result._array(names[1]), result._array(names[2]))
        for names in (("raw", "raw_low", "raw_high"), ("shrunken", "low", "high"))
    )
    return draw_shrunken(result._columns()["group"], raw, shrunken, result.content["rate"], ax)


def _draw_effects(result: WrittenResult, ax: Axes | None) -> Axes:
    from fastfair.error_models.effects import Effect
    from fastfair.error_models.plots import draw_effects

    return draw_effects(result._made(Effect), result.content["rate"], ax)


def _draw_strata(result: WrittenResult, ax: Axes | None) -> Axes:
    from fastfair.error_models.plots import draw_rates
    from fastfair.error_models.stratifying import StratifiedRate

    return draw_rates(result._made(StratifiedRate), result.content["rate"], result.content["strata"], ax)


def _draw_fmr_plan(result: WrittenResult, ax: Axes | None) -> Axes:
    from fastfair.planning.fmr_studies import FmrStudy
    from fastfair.planning.plots import draw_fmr_plan

    content = result.content
    levels = {"claimed": content["claimed"], "expected FMR": content["fmr"]}
    return draw_fmr_plan(result._made(FmrStudy), levels, content["wanted_assurance"], content["n_subjects"], ax)


def _by_group(rows: list[Any]) -> dict[Any, list[Any]]:
    """Return the rows of each group, or those of all comparisons where there are no groups."""
    groups = list(dict.fromkeys(row.group for row in rows if row.group is not None)) or [None]
    return {group: [row for row in rows if row.group == group] for group in groups}


def _draw_discarded(result: WrittenResult, ax: Axes | None) -> Axes:
    from fastfair.quality.discarded import DiscardedRate
    from fastfair.quality.plots import draw_curves

    content, curves = result.content, _by_group(result._made(DiscardedRate))
    return draw_curves(np.array(content["fractions"]), curves, content["rate"], "rate", content["share_of"], ax)


def _draw_applied(result: WrittenResult, ax: Axes | None) -> Axes:
    from fastfair.thresholds.applied import AppliedRate
    from fastfair.thresholds.plots import draw_applied

    at = point_of(result.content["operating_point"])
    rows = [row for row in result._made(AppliedRate) if row.name == "fmr"]
    return draw_applied(rows, "fmr", at.value if at.kind == "fmr" else math.nan, ax)


def _draw_over_thresholds(result: WrittenResult, ax: Axes | None) -> Axes:
    from fastfair.thresholds.curve_rows import RateAtThreshold
    from fastfair.thresholds.plots import draw_over

    rows = [row for row in result._made(RateAtThreshold) if row.group is None]
    curves = {name.upper(): [row for row in rows if row.name == name] for name in ("fmr", "fnmr")}
    return draw_over(np.array([row.threshold for row in curves["FMR"]]), curves, "Error rate", ax)


def _draw_expected(result: WrittenResult, ax: Axes | None) -> Axes:
    from fastfair.thresholds.curve_rows import ExpectedError
    from fastfair.thresholds.plots import draw_expected

    return draw_expected(_by_group(result._made(ExpectedError)), ax)


def _draw_bands(result: WrittenResult, ax: Axes | None) -> Axes:
    return RocBand._of_numbers(result.content["roc"]).plot(ax)


_CURVES: dict[str, type[RocBand] | type[FairnessBand]] = {"RocBand": RocBand, "FairnessBand": FairnessBand}
_PLOTS: dict[str, Callable[[WrittenResult, Axes | None], Axes]] = {
    "FnmrTest": _draw_test,
    "FmrTest": _draw_test,
    "MarginOfError": _draw_margin,
    "Claim": _draw_claim,
    "Check": _draw_check,
    "ShrunkenRates": _draw_shrunken,
    "ErrorModel": _draw_effects,
    "StratifiedRates": _draw_strata,
    "FmrPlan": _draw_fmr_plan,
    "DiscardCurve": _draw_discarded,
    "AppliedThreshold": _draw_applied,
    "RatesOverThresholds": _draw_over_thresholds,
    "ExpectedPerformance": _draw_expected,
    "Bands": _draw_bands,
}
