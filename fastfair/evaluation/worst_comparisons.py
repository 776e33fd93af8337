"""`worst_comparisons`: the errors farthest beyond a threshold, and who is behind all errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from fastfair._lib import frames, validation
from fastfair._lib.arguments import checked
from fastfair._lib.arrays import Flags, Floats, Indices, Integers
from fastfair._lib.text import per_cent, typed
from fastfair.data import score_keys
from fastfair.data.attacks import SPECIES, attack_presentations
from fastfair.data.comparisons import Comparisons
from fastfair.data.scans import ScannedComparisons
from fastfair.data.sorted_scores import GroupedSide, SortedSide
from fastfair.error_rates.operating_points import FEWEST_ERRORS, OperatingPoint, threshold_key
from fastfair.error_rates.rates import (
    Rates,
    concentration,
    concentration_in_cells,
    counts_behind,
    rates_at_key,
)
from fastfair.errors import InputError
from fastfair.measures._registry import METRICS
from fastfair.results.result import Result

from .transactions import point_of

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
        of all errors, not only of those listed; of attacks "passed" and "attacks". Empty where
        subjects are not known.
    errors : dict of str to ErrorCounts
        All errors among the "mated" and the "non-mated" comparisons, or of attacks by their rate;
        those that were asked for.
    """

    at: OperatingPoint
    threshold: float
    group: str | None
    error: tuple[str, ...]
    score: Floats
    distance: Floats
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
        for kind, errors in self.errors.items():
            rate = METRICS.get(kind) or METRICS["fnmr" if kind == "mated" else "fmr"]
            what = "attack presentations" if kind in METRICS else f"{kind} comparisons"
            n_listed = self.error.count(rate.error)
            counted = (
                f"{errors.n_errors:,} of {errors.n_comparisons:,} {what}{where} are {rate.errors}"
            )
            text.append(
                f"{counted}; the {n_listed:,} worst are listed." if n_listed else f"{counted}."
            )
            if errors.n_failed:
                text.append(
                    f"{errors.n_failed:,} of these failed: they have no score, and are not listed."
                )
            if errors.n_errors >= FEWEST_ERRORS and not math.isnan(errors.concentration):
                share = per_cent(errors.concentration)
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
    inside: Flags  # which comparisons are within the group asked for
    positions: Indices  # of the errors, the worst first
    error: str
    counted: ErrorCounts


@checked
def worst_comparisons(
    comparisons: Comparisons | ScannedComparisons,
    at: OperatingPoint,
    group: str | None = None,
    n: int = 50,
    *,
    rate: Literal["both", "fnmr", "fmr", "iapar", "apcer"] = "both",
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
    rate : {"both", "fnmr", "fmr", "iapar", "apcer"}
        Whether to list the false non-matches behind the FNMR, the false matches behind the FMR, or
        both. Or the attacks that passed with the highest scores, of comparisons with attacks; the
        group is then a species, or a group of people as in "sex=f", and a row is that of the
        attack among attacks.

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
    >>> worst = ff.worst_comparisons(c, ff.at_threshold(0.5))
    >>> worst.error, worst.row, worst.labels["reference"], worst.labels["probe"], worst.distance.round(3)
    (('false non-match', 'false match'), (1, 3), ('b', 'b'), ('b', 'a'), array([0.2, 0.2]))
    """
    if isinstance(comparisons, ScannedComparisons):
        comparisons = comparisons.kept
    if rate in ("iapar", "apcer"):
        return _worst_attacks(comparisons, at, group, n, rate)
    code = None
    if group is not None:
        if not comparisons.groups:
            raise InputError(
                f"group is {group!r}, but the comparisons have none: give ⟦reference_group⟧"
            )
        code = comparisons.groups.index(validation.choice("group", group, comparisons.groups))
    key = threshold_key(comparisons, at)
    rates = rates_at_key(comparisons, at, key)
    by_class = [
        _errors(comparisons, rates, mated, code)
        for mated, name in ((True, "fnmr"), (False, "fmr"))
        if rate in ("both", name)
    ]
    listed = [errors.positions[errors.counted.n_failed :][:n] for errors in by_class]

    worst = SortedSide.joined(
        [errors.side.take(places) for errors, places in zip(by_class, listed, strict=True)]
    )
    score = (comparisons.to_scale(1.0) * worst.similarities).astype(np.float64)
    columns: list[tuple[str, Any, Any]] = [
        (f"{side}{of}", getattr(worst, f"{side}{of}"), names_of)
        for of, names_of in (("", comparisons.subjects), ("_sample", comparisons.samples))
        for side in ("reference", "probe")
    ]
    for name in ("reference_group", "probe_group") if comparisons.groups else ():
        parts = [
            getattr(errors.by_group, name)[places]
            for errors, places in zip(by_class, listed, strict=True)
        ]
        columns.append((name, np.concatenate(parts), comparisons.groups))
    labels = {
        name: tuple(np.asarray(names_of, object)[codes].tolist())
        for name, codes, names_of in columns
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
        error=tuple(
            errors.error for errors, places in zip(by_class, listed, strict=True) for _ in places
        ),
        score=score,
        distance=np.abs(score - rates.threshold),
        row=None if rows is None else tuple(map(int, rows)),
        labels=labels,
        subjects={} if comparisons.subjects is None else _count_by_subject(comparisons, by_class),
        errors={
            "mated" if errors.error == FALSE_NONMATCH else "non-mated": errors.counted
            for errors in by_class
        },
        left_out=comparisons.left_out,
    )


def _worst_attacks(
    comparisons: Comparisons, at: OperatingPoint, group: str | None, n: int, rate: str
) -> WorstComparisons:
    """List attacks as false matches with those who are imitated, and call them by their name."""
    attacks = attack_presentations(comparisons)
    attribute, _, label = (group or "").partition("=")
    is_of_people = group not in attacks.groups and attribute in attacks.attributes
    presented = attacks.by(attribute) if is_of_people else attacks
    listed = worst_comparisons(
        presented, point_of(comparisons, at), label if is_of_people else group, n, rate="fmr"
    )
    labels = {"subject": listed.labels["reference"]}
    labels |= {attribute if is_of_people else SPECIES: listed.labels["reference_group"]}
    subjects = {name: listed.subjects[name] for name in ("subject", "false_matches", "nonmated")}
    ((_, errors),) = listed.errors.items()
    return replace(
        listed,
        at=at,
        group=group,
        error=(METRICS[rate].error,) * len(listed.error),
        labels=labels,
        subjects=dict(zip(("subject", "passed", "attacks"), subjects.values(), strict=True)),
        errors={rate: errors},
        left_out=comparisons.left_out,
    )


def _errors(comparisons: Comparisons, rates: Rates, mated: bool, code: int | None) -> _Found:
    cell = None if code is None else (code, code)
    side = comparisons.mated if mated else comparisons.nonmated
    by_group = None
    if comparisons.groups:
        by_group = comparisons.mated_by_group if mated else comparisons.nonmated_by_group
    n_errors = counts_behind(rates.counts, mated)[1]
    share = math.nan
    positions = np.arange(n_errors)
    if not mated:  # of equal scores the first one first
        first = side.keys.size - n_errors
        positions = first + np.argsort(~side.keys[first:], kind="stable")
    if comparisons.subjects is not None and n_errors:
        share = (
            concentration(comparisons, rates, mated)
            if cell is None
            else float(concentration_in_cells(comparisons, rates, mated)[cell])
        )
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


def _count_by_subject(
    comparisons: Comparisons, by_class: list[_Found]
) -> dict[str, tuple[Any, ...]]:
    """Count the errors, and the comparisons, that each subject is involved in, in those of both
    kinds asked for.
    """
    assert comparisons.subjects is not None
    n_all = comparisons.subjects.size

    def involved(errors: _Found, positions: Indices) -> Integers:
        counts = errors.side.of_subjects(positions)
        return np.pad(counts, (0, n_all - counts.size))

    columns: dict[str, Integers] = {}
    for errors in by_class:
        names = (
            ("false_nonmatches", "mated")
            if errors.error == FALSE_NONMATCH
            else ("false_matches", "nonmated")
        )
        columns[names[0]] = involved(errors, errors.positions)
        if errors.side.not_kept is None:
            columns[names[1]] = involved(errors, np.flatnonzero(errors.inside))
    of_errors = sum(
        (columns[name] for name in columns if name.startswith("false")), np.zeros(n_all, np.int64)
    )
    order = np.argsort(-of_errors, kind="stable")[: np.count_nonzero(of_errors)]
    labels = comparisons.subjects.tolist()
    return {"subject": tuple(labels[k] for k in order)} | {
        name: tuple(column[order].tolist()) for name, column in columns.items()
    }
