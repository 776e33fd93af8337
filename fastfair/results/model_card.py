"""Results handed on to model hubs and trackers: the card of a model on Hugging Face, and metrics of
a run of MLflow.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastfair._lib import whole_files
from fastfair._lib.arguments import checked
from fastfair._lib.text import number_with_interval, rate_with_interval
from fastfair._lib.warnings import require
from fastfair._version import __version__
from fastfair.data.exclusions import sentences_on_exclusions
from fastfair.errors import InputError, visible
from fastfair.uncertainty.quantities import IN_PER_CENT, Estimated

from .result import Result

_NOT_IN_KEYS = re.compile(r"[^\w. -]")  # of MLflow's metrics


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ResultOfEstimates(Result):
    """A result of estimates, which model hubs and trackers may have."""

    def _estimates(self) -> Sequence[Estimated]:
        """Return the rows with an estimate each."""
        raise NotImplementedError

    @checked
    def to_model_card(
        self,
        path: str | Path | None = None,
        *,
        model: str = "model",
        dataset: str = "scores",
        task: str = "biometric-verification",
    ) -> str:
        """Write the card of a model, as Hugging Face has it: metadata with the value of each
        quantity, and a table with the intervals.

        Parameters
        ----------
        path : path, optional
            File to which the card is written as well, such as README.md.
        model, dataset : str
            What the model and the data are called.
        task : str
            The kind of task.

        Returns
        -------
        str
            Markdown that begins with YAML. Quantities without a number are in the table alone.

        Examples
        --------
        >>> import fastfair as ff
        >>> c = ff.Comparisons([0.9, 0.3, 0.4, 0.1], [1, 1, 0, 0])
        >>> evaluation = ff.evaluate(c, ff.at_threshold(0.35), n_resamples=0)
        >>> print(evaluation.to_model_card(model="ours").splitlines()[2])
        - name: "ours"
        """
        rows = self._estimates()
        settings = getattr(self, "settings", {})
        text = "\n".join([*_metadata(rows, model, dataset, task), *_table(rows, settings), ""])
        text += "".join(f"\n{_escaped(said)}.\n" for said in sentences_on_exclusions(self.left_out))
        if path is not None:
            whole_files.write_text(path, text)
        return text

    @checked
    def to_mlflow(self, prefix: str = "") -> dict[str, float]:
        """Log all estimates, with the ends of their intervals, as metrics of the run of MLflow that
        is active; and the result as JSON.

        Parameters
        ----------
        prefix : str
            What the names of metrics begin with.

        Returns
        -------
        dict of str to float
            The metrics by their names, such as "FNMR of f at FMR 0.001" and the same with " low"
            and " high".

        Raises
        ------
        MissingDependencyError
            Where mlflow is not installed.

        Examples
        --------
        >>> import fastfair as ff
        >>> c = ff.Comparisons([0.9, 0.3, 0.4, 0.1], [1, 1, 0, 0])
        >>> ff.evaluate(c, n_resamples=0).to_mlflow()  # doctest: +SKIP
        """
        mlflow: Any = require("mlflow", "mlflow", "to_mlflow")
        metrics = metrics_of(self._estimates(), prefix)
        mlflow.log_metrics(metrics)
        mlflow.log_text(self.to_json(), f"{prefix}fastfair.json")
        return metrics


def metrics_of(rows: Sequence[Estimated], prefix: str = "") -> dict[str, float]:
    """Return the finite estimates, and ends of intervals, under names that MLflow takes."""
    metrics: dict[str, float] = {}
    for row in rows:
        # a slash would make folders of some names, and files of what these begin with
        key = prefix + _NOT_IN_KEYS.sub(" ", row.title)
        for name, value in (
            (key, row.estimate),
            (f"{key} low", row.low),
            (f"{key} high", row.high),
        ):
            if value is None or not math.isfinite(value):
                continue
            if name in metrics:
                raise InputError(
                    f"two quantities would be the metric {name!r}: name groups with letters, digits"
                    " or one of . - _"
                )
            metrics[name] = value
    return metrics


def _metadata(rows: Sequence[Estimated], model: str, dataset: str, task: str) -> Iterator[str]:
    """Yield the lines of the YAML, in which texts are written as in JSON."""
    yield "---"
    yield "model-index:"
    yield f"- name: {_quoted(model)}"
    yield "  results:"
    yield "  - task:"
    yield f"      type: {_quoted(task)}"
    yield "    dataset:"
    yield f"      type: {_quoted(dataset)}"
    yield f"      name: {_quoted(dataset)}"
    yield "    metrics:"
    for row in rows:
        if math.isfinite(row.estimate):
            yield f"    - type: {_quoted(row.name)}"
            yield f"      name: {_quoted(row.title)}"
            yield f"      value: {float(row.estimate)!r}"
    yield "---"


def _table(rows: Sequence[Estimated], settings: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of the table."""
    level = settings.get("confidence_level")
    interval = "interval" if level is None else f"{100 * level:g} % interval"
    yield f"\n# Error rates\n\nBy fastfair {__version__}, with the {interval} in brackets.\n"
    is_judged = any(hasattr(row, "verdict") for row in rows)
    yield f"| Quantity | Value |{' Requirement | Verdict |' * is_judged}"
    yield f"|---|---|{'---|---|' * is_judged}"
    for row in rows:
        write = rate_with_interval if row.name in IN_PER_CENT else number_with_interval
        cells = [_escaped(row.title), write(row.estimate, row.low, row.high)]
        if is_judged:
            cells += [_escaped(getattr(row, name, "")) for name in ("requirement", "verdict")]
        yield f"| {' | '.join(cells)} |"


def _quoted(text: str) -> str:
    return json.dumps(text)


def _escaped(text: str) -> str:
    return re.sub(r"([\\|*_<\[\]`#])", r"\\\1", visible(text))
