"""`compare`: how two systems that scored the same comparisons differ, with intervals from the same replicates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fastfair import intervals
from fastfair._lib import argument_kinds, frames, seeds, validation
from fastfair._lib.arguments import checked
from fastfair._lib.tables import columns_of, records, write_json
from fastfair.data import matching
from fastfair.data.comparisons import Comparisons
from fastfair.error_rates.operating_points import OperatingPoint, at_fmr
from fastfair.errors import InputError
from fastfair.uncertainty.quantities import Group, find

from .contrasts import Contrast, contrasts_of, errors_behind
from .evaluate import evaluate
from .result import Evaluation


@dataclass(frozen=True, eq=False)
class PairedEvaluation:
    """The result of `compare`: contrasts, each the difference between the two systems in one quantity.

    Attributes
    ----------
    contrasts : tuple of Contrast
        The contrasts, in the order of the evaluations' quantities.
    first, second : Evaluation
        The evaluations of the two systems, with the same replicates.
    settings : dict
        The arguments of the call.
    errors : tuple of two tuples of int or None
        For each system and quantity, the number of errors behind it; see `contrasts.errors_behind`.
    """

    contrasts: tuple[Contrast, ...]
    first: Evaluation
    second: Evaluation
    settings: dict[str, Any] = field(repr=False)
    errors: tuple[tuple[int | None, ...], ...] = field(repr=False)

    @checked(group=argument_kinds.group_or_cell)
    def contrast(self, name: str, group: Group = None, at: OperatingPoint | None = None) -> Contrast:
        """Return one contrast.

        Parameters
        ----------
        name, group, at
            As in `Evaluation.quantity`.

        Returns
        -------
        Contrast

        Raises
        ------
        InputError
            Where there is no such contrast, or more than one.

        Examples
        --------
        >>> import fastfair as ff
        >>> who = list("aabbccaabbcc"), list("aabbccbbccaa")
        >>> mated = [1] * 6 + [0] * 6
        >>> good = ff.Comparisons([9, 8, 7, 9, 8, 6, 1, 2, 3, 1, 2, 3], mated, *who)
        >>> bad = ff.Comparisons([5, 3, 4, 2, 5, 1, 1, 2, 3, 1, 2, 3], mated, *who)
        >>> ff.compare(bad, good, rng=0).contrast("eer").difference
        0.3333333333333333
        """
        return find(self.contrasts, name, group, at)

    @checked
    def with_intervals(self, confidence_level: float | None = None, method: str | None = None) -> PairedEvaluation:
        """Compute intervals of another level or method from the same replicates.

        Parameters
        ----------
        confidence_level : float, optional
            As in `compare`; unchanged by default.
        method : str, optional
            As in `compare`; unchanged by default.

        Returns
        -------
        PairedEvaluation

        Raises
        ------
        InputError
            For an unknown method and a level outside (0, 1).

        Examples
        --------
        >>> import fastfair as ff
        >>> who = list("aabbccaabbcc"), list("aabbccbbccaa")
        >>> c = ff.Comparisons([9, 8, 7, 9, 8, 6, 1, 2, 3, 1, 2, 3], [1] * 6 + [0] * 6, *who)
        >>> ff.compare(c, c, rng=0).with_intervals(0.5).settings["confidence_level"]
        0.5
        """
        level = intervals.level(self.settings["confidence_level"] if confidence_level is None else confidence_level)
        method = validation.choice(
            "method", self.settings["method"] if method is None else method, intervals.METHODS_FOR_ANYTHING
        )
        first, second = (evaluation.with_intervals(level, method) for evaluation in (self.first, self.second))
        settings = self.settings | {"confidence_level": level, "method": method}
        contrasts = contrasts_of(first, second, self.errors, level, method)
        return PairedEvaluation(contrasts, first, second, settings, self.errors)

    @checked
    def to_frame(self, backend: str | None = None) -> Any:
        """Return one row for each contrast, as a data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            By default the first of these that is installed.

        Returns
        -------
        data frame
            With the attributes of `Contrast` as columns.

        Examples
        --------
        >>> import fastfair as ff
        >>> who = list("aabbccaabbcc"), list("aabbccbbccaa")
        >>> c = ff.Comparisons([9, 8, 7, 9, 8, 6, 1, 2, 3, 1, 2, 3], [1] * 6 + [0] * 6, *who)
        >>> ff.compare(c, c, rng=0).to_frame("polars").columns[3:6]
        ['first', 'second', 'difference']
        """
        return frames.build(columns_of(self.contrasts), backend)

    @checked
    def to_json(self, path: str | Path | None = None) -> str:
        """Write everything as JSON.

        Parameters
        ----------
        path : path, optional
            File to which the JSON is written as well.

        Returns
        -------
        str
            Strict JSON, with null in place of NaN and infinite values.

        Examples
        --------
        >>> import fastfair as ff
        >>> import json
        >>> who = list("aabbccaabbcc"), list("aabbccbbccaa")
        >>> c = ff.Comparisons([9, 8, 7, 9, 8, 6, 1, 2, 3, 1, 2, 3], [1] * 6 + [0] * 6, *who)
        >>> json.loads(ff.compare(c, c, rng=0).to_json())["contrasts"][0]["name"]
        'fnmr'
        """
        content = {
            "descriptions": [self.first.description, self.second.description],
            "settings": self.settings,
            "thresholds": [evaluation.settings["thresholds"] for evaluation in (self.first, self.second)],
            "contrasts": records(columns_of(self.contrasts)),
        }
        return write_json(content, path)

    def __repr__(self) -> str:
        return f"PairedEvaluation({self.first.description} against {self.second.description})"


@checked(takes=evaluate, at=argument_kinds.points)
def compare(
    first: Comparisons,
    second: Comparisons,
    at: OperatingPoint | Sequence[OperatingPoint] = (at_fmr(1e-3),),  # noqa: B008 - frozen
    measures: str | Sequence[str] = "all",
    *,
    n_resamples: int = 2000,
    confidence_level: float = 0.95,
    method: str = "percentile",
    rng: seeds.Seed = None,
    **options: Any,
) -> PairedEvaluation:
    """Compare two systems that scored the same comparisons, replicate by replicate.

    Parameters
    ----------
    first, second : Comparisons
        The same comparisons scored by each system, in any order. They are matched by the samples of reference and
        probe where both systems have these, else by the subjects. Scores may be on different scales.
    at : OperatingPoint or sequence of OperatingPoint
        As in `evaluate`; each system has its own threshold.
    measures : "all" or sequence of str
        As in `evaluate`.
    n_resamples : int, default 2000
        Replicates, the same for both systems.
    confidence_level : float, default 0.95
        In (0, 1).
    method : {"percentile", "basic", "normal", "bca"}
        Method of the intervals of differences and ratios, as in `intervals.confidence_interval`.
    rng : None, int, SeedSequence or Generator
        Seed of the random numbers.
    options
        Further keyword arguments of `evaluate`.

    Returns
    -------
    PairedEvaluation
        Differences and ratios, with intervals and p-values, of all quantities but thresholds and the rates that
        operating points hold.

    Raises
    ------
    InputError
        Where the comparisons or the groups of the two systems differ, and as `evaluate` does.

    Notes
    -----
    The difference of two systems varies less than if their data were independent, as comparisons that are hard for one
    system are often hard for the other. The p-values are those of `intervals.bootstrap_pvalue`. Those of groups are
    adjusted by Holm's procedure, separately for each quantity and operating point.

    The p-value is withheld (NaN) and so is the verdict ("withheld", and `note` says why) where they would too often
    find a difference between equal systems: for fairness measures, as the system with less certain rates looks less
    fair; for rates, EERs and costs with fewer than 10 errors in either system; and for rates at an operating point
    whose threshold rests on fewer than 10 errors. Intervals of such differences exclude zero too often as well.
    Holm's procedure does not count withheld p-values.

    Examples
    --------
    >>> import fastfair as ff
    >>> who = list("aabbccaabbcc"), list("aabbccbbccaa")
    >>> mated = [1] * 6 + [0] * 6
    >>> good = ff.Comparisons([9, 8, 7, 9, 8, 6, 1, 2, 3, 1, 2, 3], mated, *who)
    >>> bad = ff.Comparisons([5, 3, 4, 2, 5, 1, 1, 2, 3, 1, 2, 3], mated, *who)
    >>> found = ff.compare(bad, good, at=ff.at_fmr(0.1), rng=0).contrast("fnmr")
    >>> found.first, found.second, found.difference
    (0.5, 0.0, 0.5)
    """
    n_resamples = validation.count("n_resamples", n_resamples)
    if n_resamples < 2:
        raise InputError("compare needs replicates: n_resamples must be at least 2")
    validation.choice("method", method, intervals.METHODS_FOR_ANYTHING)
    seed = seeds.fixed(rng)
    second = matching.match(first, second, one_by_one=options.get("unit") == "comparison")
    options |= {"n_resamples": n_resamples, "confidence_level": confidence_level, "method": method, "rng": seed}
    one, other = (evaluate(system, at, measures, **options) for system in (first, second))
    settings = {name: value for name, value in one.settings.items() if name not in ("thresholds", "score_kind")}
    settings["score_kinds"] = [first.score_kind, second.score_kind]
    errors = errors_behind(first, one), errors_behind(second, other)
    found = contrasts_of(one, other, errors, settings["confidence_level"], method)
    return PairedEvaluation(found, one, other, settings, errors)
