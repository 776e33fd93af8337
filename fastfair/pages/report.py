"""`report`: results as one page that can be handed on."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from fastfair._lib import validation, whole_files
from fastfair._lib.arguments import checked, is_a
from fastfair.errors import InputError

from .cards import cards_of, limits_table
from .page import render
from .parts import Beside, Chapter, FirstScreen, Section

TITLE = "Error rates and fairness"


def _results(name: str, value: Any) -> list[Any]:
    results = list(value) if isinstance(value, list | tuple) else [value]
    wrong = next((result for result in results if not is_a(result, "Result")), None)
    if results and wrong is None:
        return results
    found = validation.shown(value if wrong is None else wrong)
    raise InputError(f"{name} must be results, such as evaluate, check or fnmr_test return, not {found}")


Results = Annotated[Any, _results]


@checked
def report(
    results: Results, path: str | Path, *, title: str = TITLE, inputs: str | Path | Sequence[str | Path] = ()
) -> None:
    """Write results as one page: an HTML file that needs no other file, no network and no JavaScript.

    Parameters
    ----------
    results : result or sequence of results
        Evaluations, also of several groupings of the same comparisons, comparisons of systems, and results of
        `fnmr_test`, `fmr_test`, `margin_of_error`, `claim`, `check`, `discard_curve`, `apply_threshold`,
        `rates_over_thresholds`, `expected_performance_curve`, `shrunken_rates`, `error_model`,
        `stratified_rates`, `plan_fmr`, `roc_band`, `fairness_band` and `evaluate_calibration`, and what `read_results`
        read.
    path : path
        The file to write.
    title : str
        The title of the page.
    inputs : path or sequence of path
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
    The page begins with what was tested, requirements as cards, the answer in a few sentences and the rates of all
    groups; of several evaluations of the same comparisons overall numbers stand once. Tests of equal rates and
    requirements stand beside the evaluation of the same groups. The settings, the seed and all numbers as JSON follow.
    The same results make the same page.

    Examples
    --------
    >>> import fastfair as ff
    >>> c = ff.Comparisons([0.9, 0.3, 0.7, 0.4, 0.1, 0.6], [1, 1, 1, 0, 0, 0], reference_group=list("fmffmf"))
    >>> ff.report(ff.evaluate(c, n_resamples=0, incomplete_groups="nan"), "report.html")  # doctest: +SKIP
    """
    whole_files.ready_folder(Path(path).parent)
    files = [inputs] if isinstance(inputs, str | Path) else inputs
    digests = {str(name): _sha256(name) for name in files}
    validation.require("jinja2", "cli", "a report")
    whole_files.write_text(path, _page(results, title, digests))


def _page(results: Sequence[Any], title: str, digests: dict[str, str]) -> str:
    """Put results on one page: requirements and tests stand beside the evaluations of the same groups."""
    evaluations = [result for result in results if hasattr(result, "_chapter_beside")]
    checks = [result for result in results if hasattr(result, "requirements")]
    tests = [result for result in results if hasattr(result, "different") and evaluations]
    beside = Beside(tests, checks, max((one.groups for one in evaluations), key=len, default=()))
    chapters = [result._chapter_beside(beside) if result in evaluations else result._chapter() for result in results]
    main_point = str(evaluations[0].rates[0].at) if evaluations and evaluations[0].rates else None
    cards = [card for check in checks for card in cards_of(check, main_point)]
    if not evaluations:
        return render(title, chapters, cards, digests, chapters)
    placed = [test for each in evaluations for test in beside.tests_of(each.groups)]
    pairs = list(zip(results, chapters, strict=True))
    shown = [chapter for result, chapter in pairs if result in evaluations]
    apart = [
        _folded(result, chapter) if result in checks else chapter
        for result, chapter in pairs
        if result not in placed and result not in evaluations
    ]
    return render(title, [*shown, *apart], cards, digests, chapters)


def _folded(check: Any, chapter: Chapter) -> Chapter:
    """Return the chapter of requirements whose verdicts stand on the first screen already."""
    section = Section("All limits", (), (), [limits_table(check)], is_folded=True)
    return replace(chapter, title="Requirements", sections=[section], first=FirstScreen())


def _sha256(path: str | Path) -> str:
    try:
        if not stat.S_ISREG(Path(path).stat().st_mode):
            raise InputError(f"inputs: {path} is a folder, a pipe or a device: name the files that were read")
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"inputs: {path} cannot be read: {error.strerror}") from error
