"""`report`: results as one page that can be handed on."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fastfair._lib import validation, whole_files
from fastfair._lib.arguments import checked
from fastfair._lib.axes import off_screen
from fastfair.errors import InputError, visible

from .page import render
from .parts import Chapter
from .vector import SETTINGS

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
        chapters = [result._chapter() for result in results]
    whole_files.write_text(path, render(title, chapters, digests, _limits(chapters)))


def _sha256(path: str | Path) -> str:
    try:
        if not stat.S_ISREG(Path(path).stat().st_mode):
            raise InputError(f"inputs: {path} is a folder, a pipe or a device: name the files that were read")
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"inputs: {path} cannot be read: {error.strerror}") from error


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
