"""`evaluate_attributes`: one evaluation for each attribute, and for intersections that are asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastfair._lib import seeds, validation
from fastfair._lib.arguments import checked
from fastfair._lib.warnings import give_warnings, hold_warnings
from fastfair._lib.workers import Checkpoint
from fastfair.data.comparisons import Comparisons
from fastfair.data.embeddings import Embeddings
from fastfair.data.group_labels import Grouping
from fastfair.data.scans import ScannedComparisons
from fastfair.errors import InputError
from fastfair.measures._registry import measure_of
from fastfair.results.result import Printed, Result
from fastfair.uncertainty.quantities import table_of

from .chapter import (
    lines_of_tables,
    summary_of_attributes,
    tables_of_rates,
    tables_to_show,
)
from .evaluate import EvaluationSettings, evaluate
from .result import Evaluation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fastfair.error_rates.operating_points import OperatingPoint
    from fastfair.pages.parts import Table


@dataclass(frozen=True, eq=False, repr=False)
class AttributeEvaluations(Result):
    """The result of `evaluate_attributes`: an evaluation for each attribute or intersection.

    Attributes
    ----------
    evaluations : tuple of Evaluation
        The evaluations, in the order asked for. Estimates of all comparisons are the same in each,
        but at `at_mean_group_eer`.

    Notes
    -----
    The table of `to_frame` has the rows of all evaluations, with the attribute that made the
    groups in the column `grouping`; numbers of all comparisons stand once, without it.
    """

    evaluations: tuple[Evaluation, ...]

    @property
    def by_grouping(self) -> dict[Grouping, Evaluation]:
        """The evaluations by the attributes that make their groups."""
        return {
            tuple(evaluation.settings["grouping"]): evaluation for evaluation in self.evaluations
        }

    @checked
    def by(self, *attributes: str) -> Evaluation:
        """Return the evaluation of the groups of an attribute, or of an intersection.

        Parameters
        ----------
        *attributes : str
            One attribute, or those whose intersection was asked for.

        Returns
        -------
        Evaluation

        Raises
        ------
        InputError
            Where it was not asked for.

        Examples
        --------
        >>> import fastfair as ff
        >>> groups = {"sex": list("ffmmffmm"), "age": ["old", "young"] * 4}
        >>> scores = [0.9, 0.8, 0.7, 0.6, 0.4, 0.3, 0.2, 0.1]
        >>> c = ff.Comparisons(scores, [1] * 4 + [0] * 4, reference_group=groups)
        >>> evaluations = ff.evaluate_attributes(c, at=ff.at_threshold(0.35), n_resamples=0)
        >>> evaluations.by("age").groups
        ('old', 'young')
        """
        of_names = {
            " & ".join(grouping): evaluation for grouping, evaluation in self.by_grouping.items()
        }
        return of_names[validation.choice("attributes", " & ".join(attributes), tuple(of_names))]

    def _columns(self) -> dict[str, list[Any]]:
        rows = [
            (" & ".join(grouping) if is_of_groups else None, row)
            for k, (grouping, evaluation) in enumerate(self.by_grouping.items())
            for row in evaluation.quantities
            if (is_of_groups := row.group is not None or measure_of(row.name) is not None) or not k
        ]
        return {"grouping": [of for of, _ in rows]} | table_of([row for _, row in rows])

    def _tables(self) -> list[Printed]:
        return []

    def _display(self) -> Mapping[str, Sequence[tuple[OperatingPoint | None, Table]]]:
        return tables_to_show(self.evaluations)

    def _shown_tables(self) -> Sequence[Printed]:
        return tables_of_rates(self.evaluations)

    def _shown(self) -> Sequence[str]:
        return super().summary().splitlines()

    @checked
    def summary(self) -> str:
        """Describe the most important numbers in sentences, one for each attribute, and all groups
        in a table for each operating point.

        Returns
        -------
        str
        """
        return "\n".join([super().summary(), *lines_of_tables(self.evaluations)])

    def _sentences(self) -> Sequence[str]:
        return summary_of_attributes(self.evaluations)

    def _figures(self) -> Mapping[str, Axes]:
        return {
            name if name == "scores" else re.sub(r"\W+", "_", f"{'_'.join(grouping)}_{name}"): axes
            for grouping, evaluation in self.by_grouping.items()
            for name, axes in evaluation._figures().items()
        }

    def _parts(self) -> Sequence[Result]:
        return self.evaluations


@checked
def evaluate_attributes(
    comparisons: Comparisons | ScannedComparisons | Embeddings,
    groups: str | Sequence[str | Sequence[str]] | None = None,
    *,
    rng: seeds.Seed = None,
    settings: EvaluationSettings = EvaluationSettings(),  # noqa: B008 - frozen
    **kwargs: Any,
) -> AttributeEvaluations:
    """Evaluate the groups of one attribute at a time, and intersections that are asked for.

    Parameters
    ----------
    comparisons : Comparisons, ScannedComparisons or Embeddings
        The comparisons, with the labels of attributes.
    groups : str or sequence of str or of sequences of str, optional
        Attributes, and tuples of attributes whose intersections are evaluated too, as in ``["sex",
        "age", ("sex", "age")]``. By default each attribute that the groups are made of.
    rng : None, int, SeedSequence or Generator
        As in `evaluate`; the same one for each attribute.
    settings : EvaluationSettings
        As in `evaluate`. Intersections that lack comparisons are left out of the measures where
        attributes alone would be refused.
    **kwargs
        Further arguments of `evaluate`.

    Returns
    -------
    AttributeEvaluations

    Raises
    ------
    InputError
        For an unknown attribute, for comparisons without groups, and as `evaluate` does.

    Notes
    -----
    Attributes share scores and the seed. Replicates differ between them, as subjects are drawn
    within groups; so intervals of all comparisons may differ in their last digits.

    Examples
    --------
    >>> import fastfair as ff
    >>> groups = {"sex": list("ffmmffmm"), "age": ["old", "young"] * 4}
    >>> scores = [0.9, 0.8, 0.7, 0.6, 0.4, 0.3, 0.2, 0.1]
    >>> c = ff.Comparisons(scores, [1] * 4 + [0] * 4, reference_group=groups)
    >>> evaluations = ff.evaluate_attributes(c, at=ff.at_threshold(0.35), n_resamples=0)
    >>> [one.groups for one in evaluations.evaluations]
    [('f', 'm'), ('old', 'young')]
    """
    if not comparisons.grouping:
        raise InputError(
            "these comparisons have no groups: give ⟦reference_group⟧ (and ⟦probe_group⟧)"
        )
    named = (
        [groups] if isinstance(groups, str) else comparisons.grouping if groups is None else groups
    )
    asked = dict.fromkeys((name,) if isinstance(name, str) else tuple(name) for name in named)
    if not asked:
        raise InputError("⟦groups⟧ is empty: name attributes of the comparisons")
    executor = kwargs.pop("executor", None)
    keeps = isinstance(executor, Checkpoint)
    seed = rng if keeps or not kwargs.get("n_resamples", 1) else seeds.fix_seed(rng)
    evaluations = []
    given = dict[tuple[str, type[Warning]], None]()
    for k, grouping in enumerate(asked):
        data = comparisons.by(*grouping)
        more = kwargs | {"executor": executor, "rng": seed, "settings": settings}
        if len(grouping) > 1 and settings.incomplete_groups == "raise":
            more["settings"] = replace(settings, incomplete_groups="drop")
        if keeps:
            more["executor"] = replace(executor, folder=Path(executor.folder) / str(1 + k))
        with hold_warnings() as warned:
            evaluations.append(evaluate(data, **more))
        given |= dict.fromkeys(warned)
    give_warnings(list(given))
    return AttributeEvaluations(tuple(evaluations), left_out=comparisons.left_out)
