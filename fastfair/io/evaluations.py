"""Evaluations from the JSON that they were written as, and the numbers that pages hold."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.tables import by_rows
from fastfair.error_rates.curve_results import RateCounts, Rates
from fastfair.error_rates.operating_points import ENOUGH_ERRORS, OperatingPoint, point_of
from fastfair.errors import FileFormatError, InputError
from fastfair.evaluation.contrasts import Contrast
from fastfair.evaluation.pair_contrasts import pairs_of
from fastfair.evaluation.paired_result import PairedEvaluation
from fastfair.evaluation.result import Evaluation
from fastfair.evaluation.system_comparison import SystemComparison
from fastfair.evaluation.traces import Traces
from fastfair.uncertainty.interval_maker import IntervalMaker
from fastfair.uncertainty.quantities import Quantity, find

from . import reading

Floats = NDArray[np.float64]
_BEFORE, _AFTER = '<script type="application/json" id="numbers">', "</script>"  # the numbers in a page
_SYSTEMS = ("first", "second")
_WHOLE = ("n_comparisons", "n_errors", "n_subjects")


def read_numbers(path: str | Path) -> list[dict[str, Any]]:
    """Read the numbers of each result of a page, or of a file of JSON that holds one evaluation."""
    file = reading.check_file(path)
    try:
        text = file.read_text("utf-8")
        if _BEFORE in text:
            text = text[text.index(_BEFORE) + len(_BEFORE) :]
            return [by_rows(one) for one in json.loads(text[: text.index(_AFTER)])["results"]]
        return [json.loads(text)]
    except RecursionError:
        raise FileFormatError(f"{path} is no JSON of an evaluation: it is nested too deeply") from None
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise FileFormatError(f"{path} is neither the JSON of an evaluation nor a page: {error!r}") from None


def evaluation_of(content: dict[str, Any]) -> Evaluation:
    """Make an evaluation of its numbers."""
    for k, name, value in content["infinite"]:
        content["quantities"][k][name] = float(value)
    quantities = tuple(_quantity(row) for row in content["quantities"])
    settings, groups = content["settings"], tuple(content["groups"])
    points = [point_of(text) for text in settings["at"]]
    return Evaluation(
        quantities, tuple(_rates(quantities, groups, point) for point in points), groups,
        tuple(content["measured_groups"]), settings, content["description"],
        _as_read(quantities, content, settings), None, tuple(content["left_out"]), content["n_subjects"],
        Traces.of_record(content["drawn"], groups) if "drawn" in content else None,
    )  # fmt: skip


def pair_of(content: dict[str, Any]) -> PairedEvaluation:
    """Make a comparison of two systems of its numbers."""
    systems = [evaluation_of(content[name] | {"quantities": content[f"{name}_quantities"]}) for name in _SYSTEMS]
    for k, name, value in content["infinite"]:
        content["contrasts"][k][name] = value
    contrasts = tuple(_contrast(row) for row in content["contrasts"])
    return PairedEvaluation(contrasts, systems[0], systems[1], content["settings"], (), np.zeros(0))


def systems_of(content: dict[str, Any]) -> SystemComparison:
    """Make a comparison of many systems of its numbers."""
    names = tuple(map(str, content["systems"]))
    evaluations = tuple(
        evaluation_of(one | {"quantities": content[f"quantities_{k}"]}) for k, one in enumerate(content["evaluations"])
    )
    if len(evaluations) != len(names):
        raise ValueError(f"{len(names)} systems have {len(evaluations)} evaluations")
    for k, name, value in content["infinite"]:
        content["contrasts"][k][name] = value
    settings = content["settings"]
    contrasts: dict[tuple[str, str], list[Contrast]] = {pair: [] for pair in pairs_of(names, settings["baseline"])}
    for row in content["contrasts"]:
        contrasts[row["first_system"], row["second_system"]].append(_contrast(row))
    place = {one.key: k for k, one in enumerate(evaluations[0].quantities)}
    pvalues = np.full((len(contrasts), len(place)), np.nan)
    for k, of_pair in enumerate(contrasts.values()):
        for one in of_pair:
            pvalues[k, place[one.name, one.group, one.probe_group, one.at]] = one.pvalue_adjusted
    found = {pair: tuple(of_pair) for pair, of_pair in contrasts.items()}
    return SystemComparison(names, evaluations, found, pvalues, settings)


def _contrast(row: dict[str, Any]) -> Contrast:
    values = {field.name: row["operating_point" if field.name == "at" else field.name] for field in fields(Contrast)}
    values["at"] = None if values["at"] is None else point_of(values["at"])
    numbers = {field.name: _number(values[field.name]) for field in fields(Contrast) if field.type == "float"}
    return Contrast(**values | numbers)


def _quantity(row: dict[str, Any]) -> Quantity:
    values = {field.name: row["operating_point" if field.name == "at" else field.name] for field in fields(Quantity)}
    values["at"] = None if values["at"] is None else point_of(values["at"])
    if values["method"] is not None:  # there is an interval, but where its ends are not known
        values |= {name: _number(values[name]) for name in ("low", "high")}
    return Quantity(**values | {"estimate": _number(values["estimate"])})


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


def _rates(quantities: Sequence[Quantity], groups: tuple[str, ...], at: OperatingPoint) -> Rates:
    """Put the rates at an operating point together from its quantities."""
    here = [one for one in quantities if one.at == at]
    of_all = {name: find(here, name, None, at) for name in ("threshold", "fmr", "fnmr")}
    of_groups = {name: [find(here, name, group, at) for group in groups] for name in ("fmr", "fnmr")}
    matrix = np.full((len(groups), len(groups)), np.nan)
    n_matrix, errors = np.zeros((2, *matrix.shape), np.int64)
    cells = [one for one in here if one.name == "fmr_matrix"]
    for one in cells or [replace(one, probe_group=one.group) for one in of_groups["fmr"]]:
        place = groups.index(str(one.group)), groups.index(str(one.probe_group))
        matrix[place], n_matrix[place], errors[place] = one.estimate, one.n_comparisons or 0, one.n_errors or 0
    counts: dict[str, Any] = {}
    for name, kind, wrong in (("fnmr", "mated", "false_nonmatches"), ("fmr", "nonmated", "false_matches")):
        one, each = of_all[name], of_groups[name]
        counts |= {kind: one.n_comparisons or 0, wrong: one.n_errors or 0, f"{kind}_subjects": one.n_subjects}
        counts |= {f"group_{kind}": _whole(each, 0), f"group_{wrong}": _whole(each, 1)}
        counts[f"group_{kind}_subjects"] = None if one.n_subjects is None else _whole(each, 2)
    held = {"fmr": counts["nonmated"], "fnmr": counts["mated"]}.get(at.kind)
    return Rates(
        at=at, threshold=of_all["threshold"].estimate, fmr=of_all["fmr"].estimate, fnmr=of_all["fnmr"].estimate,
        groups=groups, group_fmr=np.array([one.estimate for one in of_groups["fmr"]]),
        group_fnmr=np.array([one.estimate for one in of_groups["fnmr"]]), fmr_matrix=matrix,
        counts=RateCounts(**counts, matrix_nonmated=n_matrix, matrix_false_matches=errors, matrix_subjects=None),
        below_resolution=held is not None and bool(at.value * held < ENOUGH_ERRORS),
    )  # fmt: skip


def _whole(each: Sequence[Quantity], which: int) -> NDArray[np.int64]:
    return np.array([getattr(one, _WHOLE[which]) or 0 for one in each], np.int64)


def _as_read(
    quantities: tuple[Quantity, ...], content: dict[str, Any], settings: dict[str, Any]
) -> _IntervalsAsRead | None:
    """Keep the intervals for all groups together that a page has beside the others."""
    if "together" not in content:
        return None
    together = tuple(
        one if ends is None else replace(one, low=_number(ends[0]), high=_number(ends[1]))
        for one, ends in zip(quantities, content["together"], strict=True)
    )
    asked = tuple(settings[name] for name in ("confidence_level", "method", "alternative"))
    return _IntervalsAsRead(asked, quantities, together, settings["unit"])


class _IntervalsAsRead(IntervalMaker):
    """The intervals that a file has; there are no others, as it has no replicates."""

    def __init__(
        self, asked: tuple[Any, ...], quantities: tuple[Quantity, ...], together: tuple[Quantity, ...], unit: str
    ) -> None:
        super().__init__(quantities, unit)
        self._asked, self._together = asked, together

    def with_intervals(
        self, confidence_level: float, method: str, alternative: str = "two-sided", simultaneous: bool = False
    ) -> tuple[Quantity, ...]:
        """Return the quantities with the intervals read, or those for all groups together."""
        if (confidence_level, method, alternative) != self._asked:
            raise InputError("an evaluation that is read has the intervals of its file only, as that has no replicates")
        return self._together if simultaneous else self.quantities
