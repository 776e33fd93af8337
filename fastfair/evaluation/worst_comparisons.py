"""`worst_comparisons`: the errors farthest beyond a threshold, and who is behind all errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import frames, validation
from fastfair._lib.arguments import checked
from fastfair._lib.text import per_cent, typed
from fastfair.data import score_keys
from fastfair.data.comparisons import Comparisons
from fastfair.data.scans import ScannedComparisons
from fastfair.data.sorted_scores import GroupedSide, SortedSide
from fastfair.error_rates.operating_points import FEWEST_ERRORS, OperatingPoint, threshold_key
from fastfair.error_rates.rates import Rates, concentration, counts_behind, rates_at_key
from fastfair.errors import InputError
from fastfair.measures._registry import METRICS
from fastfair.results.result import Result

FALSE_NONMATCH, FALSE_MATCH = (METRICS[rate].error for rate in ("fnmr", "fmr"))


@dataclass(frozen=True)
class ErrorCounts:
    """How many comparisons of one kind are errors, and how many of these involve few subjects.

    Attributes
    ----------
    n_comparisons, n_errors : int
        Numbers of comparisons and of errors.
    n_failed : int
        How many of the errors failed and count as non-matches; they have no score and are not
        listed.
    concentration : float
        The share of the errors that involve one of the 5 % of subjects with most of them; NaN
        without errors and where subjects are not known.
    """

    n_comparisons: int
    n_errors: int
    n_failed: int
    concentration: float


@dataclass(frozen=True, eq=False, repr=False)
class WorstComparisons(Result):
    """The result of `worst_comparisons`: a row for each comparison, the worst first, false
    non-matches before others.

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
        The row of each comparison in the order given, counted from 0 and without those left out;
        None where comparisons have neither subjects nor groups, and in scans.
    labels : dict of str to tuple
        "reference", "probe", "reference_sample", "probe_sample", "reference_group" and
        "probe_group", where known; and of text files the "line", and the columns that were kept.
    subjects : dict of str to tuple
        For each subject who is involved in an error, those with most errors first: "subject",
        "false_nonmatches", "false_matches", and the numbers of "mated" and "nonmated" comparisons;
        of all errors, not only of those listed. Empty where subjects are not known.
    errors : dict of str to ErrorCounts
        All errors among the "mated" and the "non-mated" comparisons; those that were asked for.
    """

    at: OperatingPoint
    threshold: float
    group: str | None
    error: tuple[str, ...]
    score: NDArray[np.float64]
    distance: NDArray[np.float64]
    row: tuple[int, ...] | None
    labels: dict[str, tuple[Any, ...]]
    subjects: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    errors: dict[str, ErrorCounts] = field(default_factory=dict)

    @checked
    def subjects_to_frame(self, backend: frames.Backend | None = None) -> Any:
        """Return who is behind the errors as a data frame: one row for each subject who is involved
        in one.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            By default the first of these that is installed.

        Returns
        -------
        data frame
            The numbers of errors and of comparisons of each subject, those with most errors first.
            A false match counts for both of its subjects.
        """
        return frames.build({name: list(column) for name, column in self.subjects.items()}, backend)

    def _sentences(self) -> list[str]:
        """Return the sentences of the summary."""
        where = "" if self.group is None else f" within {self.group}"
        text = [f"At {self.at} the threshold is {typed(self.threshold)}."]
        for kind, found in self.errors.items():
            rate = METRICS["fnmr" if kind == "mated" else "fmr"]
            n_listed = self.error.count(rate.error)
            told = (
                f"{found.n_errors:,} of {found.n_comparisons:,} {kind} comparisons{where} are"
                f" {rate.errors}"
            )
            text.append(f"{told}; the {n_listed:,} worst are listed." if n_listed else f"{told}.")
            if found.n_failed:
                text.append(
                    f"{found.n_failed:,} of these failed: they have no score, and are not listed."
                )
            if found.n_errors >= FEWEST_ERRORS and not math.isnan(found.concentration):
                share = per_cent(found.concentration)
                text.append(
                    f"{share} of the {rate.errors} involve the 5 % of subjects with most of them."
                )
        if self.left_out:
            text.append("Rows are counted without what was left out:")
        return text

    def _columns(self) -> dict[str, list[Any]]:
        columns: dict[str, Sequence[Any]] = {
            "error": self.error,
            "score": self.score.tolist(),
            "distance": self.distance.tolist(),
            **({} if self.row is None else {"row": self.row}),
            **self.labels,
        }
        return {name: list(column) for name, column in columns.items()}


class _Found(NamedTuple):
    """The errors among the mated, or the non-mated, comparisons."""

    side: SortedSide
    by_group: GroupedSide | None  # None without groups
    inside: NDArray[np.bool_]  # which comparisons are within the group asked for
    positions: NDArray[np.intp]  # of the errors, the worst first
    error: str
    counted: ErrorCounts


@checked
def worst_comparisons(
    comparisons: Comparisons | ScannedComparisons,
    at: OperatingPoint,
    group: str | None = None,
    n: int = 50,
    *,
    rate: Literal["both", "fnmr", "fmr"] = "both",
) -> WorstComparisons:
    """List the comparisons behind errors: mated ones with the lowest scores, and non-mated ones
    with the highest.

    Parameters
    ----------
    comparisons : Comparisons or ScannedComparisons
        The comparisons.
    at : OperatingPoint
        The operating point; its threshold is found from all comparisons.
    group : str, optional
        Only the comparisons whose reference and probe are both in this group.
    n : int, default 50
        How many false non-matches, and how many false matches, to list at most.
    rate : {"both", "fnmr", "fmr"}
        Whether to list the false non-matches behind the FNMR, the false matches behind the FMR, or
        both.

    Returns
    -------
    WorstComparisons
        With the numbers of errors of each subject.

    Raises
    ------
    InputError
        For an unknown group, and for a scan that has not kept the scores at the threshold.

    Notes
    -----
    The worst comparisons are those whose scores are farthest beyond the threshold; of equal scores,
    those given first. Comparisons that failed and count as non-matches are counted, but have no
    score and are not listed. Wrong labels, poor samples and twins are often among them.

    Examples
    --------
    >>> import fastfair as ff
    >>> c = ff.Comparisons([0.9, 0.3, 0.4, 0.7], [1, 1, 0, 0], list("abab"), list("abba"))
    >>> found = ff.worst_comparisons(c, ff.at_threshold(0.5))
    >>> found.error, found.row, found.labels["reference"], found.labels["probe"], found.distance.round(3)
    (('false non-match', 'false match'), (1, 3), ('b', 'b'), ('b', 'a'), array([0.2, 0.2]))
    """
    if isinstance(comparisons, ScannedComparisons):
        comparisons = comparisons.kept
    code = None
    if group is not None:
        if not comparisons.groups:
            raise InputError(
                f"group is {group!r}, but the comparisons have none: give ⟦reference_group⟧"
            )
        code = comparisons.groups.index(validation.choice("group", group, comparisons.groups))
    key = threshold_key(comparisons, at)
    rates = rates_at_key(comparisons, at, key)
    found = [
        _errors(comparisons, rates, mated, code)
        for mated, name in ((True, "fnmr"), (False, "fmr"))
        if rate in ("both", name)
    ]
    listed = [one.positions[one.counted.n_failed :][:n] for one in found]

    worst = SortedSide.joined(
        [one.side.take(places) for one, places in zip(found, listed, strict=True)]
    )
    score = (comparisons.to_scale(1.0) * worst.similarities).astype(np.float64)
    columns: list[tuple[str, Any, Any]] = [
        (f"{side}{of}", getattr(worst, f"{side}{of}"), known)
        for of, known in (("", comparisons.subjects), ("_sample", comparisons.samples))
        for side in ("reference", "probe")
    ]
    for name in ("reference_group", "probe_group") if comparisons.groups else ():
        parts = [
            getattr(one.by_group, name)[places] for one, places in zip(found, listed, strict=True)
        ]
        columns.append((name, np.concatenate(parts), comparisons.groups))
    labels = {
        name: tuple(np.asarray(known, object)[codes].tolist())
        for name, codes, known in columns
        if codes is not None
    }
    rows = worst.rows
    if rows is not None:
        labels |= {
            name: tuple(column[rows].tolist()) for name, column in comparisons.origin.items()
        }
    return WorstComparisons(
        at=at,
        threshold=rates.threshold,
        group=group,
        error=tuple(one.error for one, places in zip(found, listed, strict=True) for _ in places),
        score=score,
        distance=np.abs(score - rates.threshold),
        row=None if rows is None else tuple(map(int, rows)),
        labels=labels,
        subjects={} if comparisons.subjects is None else _by_subject(comparisons, found),
        errors={
            "mated" if one.error == FALSE_NONMATCH else "non-mated": one.counted for one in found
        },
        left_out=comparisons.left_out,
    )


def _errors(comparisons: Comparisons, rates: Rates, mated: bool, code: int | None) -> _Found:
    cell = None if code is None else (code, code)
    side = comparisons.mated if mated else comparisons.nonmated
    by_group = None
    if comparisons.groups:
        by_group = comparisons.mated_by_group if mated else comparisons.nonmated_by_group
    n_errors, share = counts_behind(rates.counts, mated)[1], math.nan
    positions = np.arange(n_errors)
    if not mated:  # of equal scores the first one first
        first = side.keys.size - n_errors
        positions = first + np.argsort(~side.keys[first:], kind="stable")
    if comparisons.subjects is not None and n_errors:
        overall, cells = concentration(comparisons, rates, mated)
        share = overall if cell is None else float(cells[cell])
    inside = np.ones(side.keys.size, np.bool_)
    if code is not None and by_group is not None:
        inside = (by_group.reference_group == code) & (by_group.probe_group == code)
        positions = positions[inside[positions]]
    n = counts_behind(rates.counts, mated, cell)[0]
    n_failed = int(np.count_nonzero(positions < score_keys.count_failed(side.keys))) if mated else 0
    error = FALSE_NONMATCH if mated else FALSE_MATCH
    return _Found(
        side, by_group, inside, positions, error, ErrorCounts(n, positions.size, n_failed, share)
    )


def _by_subject(comparisons: Comparisons, found: list[_Found]) -> dict[str, tuple[Any, ...]]:
    """Count the errors, and the comparisons, that each subject is involved in, in those of both
    kinds asked for.
    """
    assert comparisons.subjects is not None
    n_all = comparisons.subjects.size

    def involved(one: _Found, positions: NDArray[np.intp]) -> NDArray[np.int64]:
        counts = one.side.of_subjects(positions)
        return np.pad(counts, (0, n_all - counts.size))

    columns: dict[str, NDArray[np.int64]] = {}
    for one in found:
        names = (
            ("false_nonmatches", "mated")
            if one.error == FALSE_NONMATCH
            else ("false_matches", "nonmated")
        )
        columns[names[0]] = involved(one, one.positions)
        if one.side.not_kept is None:
            columns[names[1]] = involved(one, np.flatnonzero(one.inside))
    of_errors = sum(
        (columns[name] for name in columns if name.startswith("false")), np.zeros(n_all, np.int64)
    )
    order = np.argsort(-of_errors, kind="stable")[: np.count_nonzero(of_errors)]
    labels = comparisons.subjects.tolist()
    return {"subject": tuple(labels[k] for k in order)} | {
        name: tuple(column[order].tolist()) for name, column in columns.items()
    }
