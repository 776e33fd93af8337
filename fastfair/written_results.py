"""`read_results`: results from the pages and the JSON that they were written to, to look up, draw
and report again.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

from fastfair._lib import validation
from fastfair._lib.arguments import checked
from fastfair._lib.tables import in_rows
from fastfair.errors import FileFormatError
from fastfair.io.files import check_file
from fastfair.results.result import Result, read

# About the numbers in a page.
_BEFORE = '<script type="application/json" id="numbers">'
_AFTER = "</script>"
# Where classes of results are.
_HOMES = (
    "bands.curve",
    "calibration.calibrate",
    "calibration.evaluate_calibration",
    "claims",
    "claims.plans",
    "error_models.error_model",
    "evaluation.attributes",
    "evaluation.result",
    "evaluation.system_comparison",
    "evaluation.worst_comparisons",
    "group_tests.equal_rates",
    "identification.compare_searches",
    "identification.result",
    "planning.fmr",
    "planning.fnmr",
    "quality",
    "small_groups",
    "thresholds",
)


@checked
def read_results(path: str | Path) -> list[Result]:
    """Read the results of a page that `report` wrote, or the result of a file that `to_json` wrote.

    Parameters
    ----------
    path : path
        A page, or JSON of a result.

    Returns
    -------
    list of results
        Of the classes that were written, in the order of the page, which `report` makes again of
        them. They have no comparisons and no replicates, but evaluations of a page have its DET
        curves, bands and distributions of scores.

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
    _load_classes()
    try:
        results = [read(content) for content in _contents(path)]
    except RecursionError:
        raise FileFormatError(f"{path} is no JSON of a result: it is nested too deeply") from None
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
        if str(path).lstrip().startswith("{"):
            raise FileFormatError(
                "path is JSON, and not the name of a file that holds it: write it with to_json(path)"
            ) from None
        raise FileFormatError(
            f"{path} is neither the JSON of a result nor a page: {error!r}"
        ) from None
    if not results:
        raise FileFormatError(f"{path} holds no result: write one with to_json or report")
    return results


def schema(kind: str) -> dict[str, Any]:
    """Return the JSON schema of a class of results, such as "Evaluation".

    Parameters
    ----------
    kind : str
        The name of the class.

    Returns
    -------
    dict

    Raises
    ------
    InputError
        For a name that is none of a class of results; the message lists these.

    Examples
    --------
    >>> from fastfair.written_results import schema
    >>> schema("Check")["properties"]["passed"]
    {'type': 'boolean'}
    """
    _load_classes()
    return Result.kinds[validation.choice("kind", kind, tuple(sorted(Result.kinds)))].schema()


def _load_classes() -> None:
    for name in _HOMES:
        importlib.import_module(f"fastfair.{name}")


def _contents(path: str | Path) -> list[dict[str, Any]]:
    """Read the numbers of each result of a page, or of a file of JSON that holds one result."""
    text = check_file(path).read_text("utf-8")
    if _BEFORE not in text:
        return [json.loads(text)]
    _, _, behind = text.partition(_BEFORE)
    numbers = behind[: behind.index(_AFTER)]
    contents: list[dict[str, Any]] = json.loads(numbers, object_hook=in_rows)["results"]
    return contents


if __name__ == "__main__":
    print("\n".join(json.dumps(schema(name), indent=1) for name in sys.argv[1:] or [""]))
