"""`WorstComparisons`: the errors farthest beyond a threshold, and who is behind all errors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import frames
from fastfair._lib.arguments import checked
from fastfair._lib.results import Tabular
from fastfair._lib.tables import records
from fastfair._lib.text import per_cent, typed
from fastfair.errors import visible

from .operating_points import FEWEST_ERRORS, OperatingPoint

FALSE_NONMATCH, FALSE_MATCH = "false non-match", "false match"
_KINDS = {"mated": "false non-matches", "non-mated": "false matches"}


@dataclass(frozen=True)
class Errors:
    """How many comparisons of one kind are errors, and how many of these involve few subjects.

    Attributes
    ----------
    n_comparisons, n_errors : int
        Numbers of comparisons and of errors.
    n_failed : int
        How many of the errors failed and count as non-matches; they have no score and are not listed.
    concentration : float
        The share of the errors that involve one of the 5 % of subjects with most of them; NaN without errors and where
        subjects are not known.
    """

    n_comparisons: int
    n_errors: int
    n_failed: int
    concentration: float


@dataclass(frozen=True, eq=False, repr=False)
class WorstComparisons(Tabular):
    """The result of `worst_comparisons`: a row for each comparison, the worst first, false non-matches before others.

    Attributes
    ----------
    at : OperatingPoint
        The operating point.
    threshold : float
        Its threshold, on the scale of the scores.
    group : str or None
        The group that the comparisons are within; None for all.
    error : tuple of str
        "false non-match" or "false match".
    score : (n,) ndarray of float
        The scores, as they were given.
    distance : (n,) ndarray of float
        How far the score is beyond the threshold, at least 0.
    row : tuple of int, or None
        The row of each comparison in the order given, counted from 0 and without those left out; None where comparisons
        have neither subjects nor groups, and in scans.
    labels : dict of str to tuple
        "reference", "probe", "reference_sample", "probe_sample", "reference_group" and "probe_group", where known; and
        of text files the "line", and the columns that were kept.
    subjects : dict of str to tuple
        For each subject who is involved in an error, those with most errors first: "subject", "false_nonmatches",
        "false_matches", and the numbers of "mated" and "nonmated" comparisons; of all errors, not only of those listed.
        Empty where subjects are not known.
    errors : dict of str to Errors
        All errors among the "mated" and the "non-mated" comparisons; those that were asked for.
    left_out : tuple of str
        What was left out of the comparisons before they were numbered.
    """

    at: OperatingPoint
    threshold: float
    group: str | None
    error: tuple[str, ...]
    score: NDArray[np.float64]
    distance: NDArray[np.float64]
    row: tuple[int, ...] | None
    labels: Mapping[str, tuple[Any, ...]]
    subjects: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    errors: Mapping[str, Errors] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()

    @checked
    def subjects_to_frame(self, backend: str | None = None) -> Any:
        """Return who is behind the errors as a data frame: one row for each subject who is involved in one.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            By default the first of these that is installed.

        Returns
        -------
        data frame
            The numbers of errors and of comparisons of each subject, those with most errors first. A false match counts
            for both of its subjects.
        """
        return frames.build({name: list(column) for name, column in self.subjects.items()}, backend)

    @checked
    def summary(self) -> str:
        """Describe the result in sentences.

        Returns
        -------
        str
        """
        where = "" if self.group is None else f" within {self.group}"
        text = [f"At {self.at} the threshold is {typed(self.threshold)}."]
        for kind, found in self.errors.items():
            n_listed = self.error.count(FALSE_NONMATCH if kind == "mated" else FALSE_MATCH)
            told = f"{found.n_errors:,} of {found.n_comparisons:,} {kind} comparisons{where} are {_KINDS[kind]}"
            text.append(f"{told}; the {n_listed:,} worst are listed." if n_listed else f"{told}.")
            if found.n_failed:
                text.append(f"{found.n_failed:,} of these failed: they have no score, and are not listed.")
            if found.n_errors >= FEWEST_ERRORS and not math.isnan(found.concentration):
                share = per_cent(found.concentration)
                text.append(f"{share} of the {_KINDS[kind]} involve the 5 % of subjects with most of them.")
        text += [f"Rows are counted without what was left out: {told}" for told in self.left_out]
        return "\n".join(map(visible, text))

    def _columns(self) -> dict[str, list[Any]]:
        columns: dict[str, Sequence[Any]] = {
            "error": self.error, "score": self.score.tolist(), "distance": self.distance.tolist(),
            **({} if self.row is None else {"row": self.row}), **self.labels,
        }  # fmt: skip
        return {name: list(column) for name, column in columns.items()}

    def _content(self) -> dict[str, Any]:
        return {
            "operating_point": str(self.at), "threshold": self.threshold, "group": self.group,
            "errors": {
                kind: asdict(one) for kind, one in self.errors.items()
            },
            "left_out": list(self.left_out), "comparisons": records(self._columns()),
            "subjects": records({name: list(column) for name, column in self.subjects.items()}),
        }  # fmt: skip
