"""`report`: results as one page that can be handed on."""

from __future__ import annotations

import hashlib
import json
import math
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fastfair._lib import validation, whole_files
from fastfair._lib.arguments import checked
from fastfair._lib.axes import off_screen
from fastfair._lib.tables import write_json
from fastfair.errors import InputError, visible

from .page import render
from .parts import Chapter, Picture, Section, Table, cell
from .vector import SETTINGS, svg_of

_TITLES = {
    "FmrTest": "Do false match rates differ between groups?",
    "Claim": "Do the data support the claim?",
    "Check": "Are the requirements met?",
    "ShrunkenRates": "Rates of groups that borrow from the others",
    "AppliedThreshold": "Errors at the threshold of development data",
    "ExpectedPerformance": "Errors at thresholds that cost least on development data",
    "RatesOverThresholds": "Error rates over thresholds",
    "DiscardCurve": "Errors after discarding comparisons of low quality",
    "ErrorModel": "Which attributes go with errors?",
    "StratifiedRates": "Rates within strata",
    "FmrPlan": "How many subjects the claim needs",
}
# Where the JSON of a result has the rows of its table.
_ROWS = {
    "Claim": "rows", "Check": "rows", "ExpectedPerformance": "errors", "ErrorModel": "effects", "FmrPlan": "studies",
    **dict.fromkeys(("AppliedThreshold", "DiscardCurve", "RatesOverThresholds", "StratifiedRates"), "rates"),
    **dict.fromkeys(("FnmrTest", "FmrTest", "MarginOfError", "ShrunkenRates"), "groups"),
}  # fmt: skip
_MOST_NUMBERS = 12  # that a remark lists; the JSON has all


@checked
def report(
    results: Any, path: str | Path, *, title: str = "Error rates and fairness", inputs: Sequence[str | Path] = ()
) -> None:
    """Write results as one page: an HTML file that needs no other file, no network and no JavaScript.

    Parameters
    ----------
    results : result or sequence of results
        Evaluations, also of several groupings of the same comparisons, comparisons of systems, and results of
        `fnmr_test`, `fmr_test`, `margin_of_error`, `claim`, `check`, `discard_curve`, `apply_threshold`,
        `rates_over_thresholds`, `expected_performance_curve`, `shrunken_rates`, `error_model`,
        `stratified_rates`, `plan_fmr`, `roc_band`, `fairness_band` and `evaluate_calibration`, and what `read_results`
        read. Each becomes a chapter.
    path : path
        The file to write.
    title : str
        The title of the page.
    inputs : sequence of path
        Files that the results were computed from; the page names them with their SHA-256.

    Raises
    ------
    InputError
        For an object that is no such result, and for an input that is not there.
    MissingDependencyError
        Where matplotlib or jinja2 is not installed.
    OutputError
        Where the file cannot be written.

    Notes
    -----
    The page has sentences that follow from the numbers, plots with tables of what they show, the settings and the
    seed, and all numbers as JSON. The same results make the same page.

    Examples
    --------
    >>> import fastfair as ff
    >>> c = ff.Comparisons([0.9, 0.3, 0.7, 0.4, 0.1, 0.6], [1, 1, 1, 0, 0, 0], reference_group=list("fmffmf"))
    >>> ff.report(ff.evaluate(c, n_resamples=0, incomplete_groups="nan"), "report.html")  # doctest: +SKIP
    """
    whole_files.ready_folder(Path(path).parent)
    digests = {str(name): _sha256(name) for name in inputs}
    matplotlib = validation.require("matplotlib", "cli", "a report")
    validation.require("jinja2", "cli", "a report")
    with off_screen(), matplotlib.rc_context(SETTINGS):
        chapters = [_chapter(result) for result in results]
    whole_files.write_text(path, render(title, chapters, digests, _limits(chapters)))


def _sha256(path: str | Path) -> str:
    try:
        if not stat.S_ISREG(Path(path).stat().st_mode):
            raise InputError(f"inputs: {path} is a folder, a pipe or a device: name the files that were read")
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"inputs: {path} cannot be read: {error.strerror}") from error


def _chapter(result: Any) -> Chapter:
    return result._chapter() if hasattr(result, "_chapter") else chapter_of_table(result, type(result).__name__)


def chapter_of_table(result: Any, kind: str, title: str | None = None) -> Chapter:
    """Make a chapter of a result that has a table, a plot and a summary in sentences; title: if not that of its kind.

    Its numbers have beside them all else that the chapter is made again from.
    """
    title = title or _TITLES[kind]
    columns = result._columns()
    rows = [[cell(value) for value in row] for row in zip(*columns.values(), strict=True)]
    text = [k for k, values in enumerate(columns.values()) if k and any(isinstance(one, str) for one in values)]
    table = Table(f"{title} The numbers", [name.replace("_", " ") for name in columns], rows, text)
    sentences = [line for line in result.summary().splitlines() if line]
    picture = Picture(
        svg_of(result.plot().get_figure(root=True)),
        f"{title} A plot of the table below.",
        "The table below has the numbers.",
    )
    section = Section("Numbers", (), [picture], [table])
    infinite = [
        [name, k, str(value)]
        for name, values in columns.items()
        for k, value in enumerate(values)
        if isinstance(value, float) and math.isinf(value)
    ]
    numbers = json.loads(result.to_json()) | {
        "kind": kind, "table": _ROWS[kind], "summary": sentences, "infinite": infinite
    }  # fmt: skip
    return Chapter(title, sentences, [section], getattr(result, "settings", {}), write_json(numbers, None))


def _limits(chapters: Sequence[Chapter]) -> dict[str, list[str]]:
    """Gather the remarks of all chapters, each with the first of the numbers that it is about."""
    found: dict[str, list[str]] = {}
    for chapter in chapters:
        for remark, numbers in chapter.remarks.items():
            named = [f"{number} ({chapter.title})" if len(chapters) > 1 else number for number in numbers]
            found.setdefault(visible(remark), []).extend(map(visible, named))
    return {
        remark: [*numbers[:_MOST_NUMBERS], f"and {len(numbers) - _MOST_NUMBERS} more, which the JSON has"]
        if len(numbers) > _MOST_NUMBERS
        else numbers
        for remark, numbers in found.items()
    }
