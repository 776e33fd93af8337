"""`CalibratedScores`: comparisons with log-likelihood ratios, and the transforms that made them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import argument_kinds
from fastfair._lib.arguments import checked
from fastfair._lib.axes import axes_or_new
from fastfair._lib.plot_style import GREY, legend_below, line_style
from fastfair._lib.text import drawn
from fastfair.data import score_keys
from fastfair.data.comparisons import Comparisons
from fastfair.data.rescoring import with_ratios
from fastfair.errors import InputError, visible
from fastfair.results.result import Result
from fastfair.results.written import UNWRITTEN

from .transforms import LogisticTransform, PavTransform, Transform

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
ALL_FOLDS = "all"
_SHOWN = 201  # points of a drawn transform


@dataclass(frozen=True, eq=False)
class TrainedTransform:
    """A transform and what it was trained on.

    Attributes
    ----------
    folds : str
        The folds of the subjects whose comparisons get their ratios from it, and that it was not trained on; "all" for
        the one for other comparisons.
    group : str or None
        The group that it is for; None for all comparisons.
    transform : LogisticTransform or PavTransform
        The transform.
    n_mated, n_nonmated : int
        Numbers of comparisons that it was trained on.
    low, high : float
        The least and the largest similarity among them.
    """

    folds: str
    group: str | None
    transform: LogisticTransform | PavTransform
    n_mated: int
    n_nonmated: int
    low: float
    high: float


class ByGroup:
    """The transforms of one training: that of all comparisons, and those of groups where there are any."""

    def __init__(self, trained: Sequence[TrainedTransform]) -> None:
        self._of: Mapping[str | None, Transform] = {one.group: one.transform for one in trained}

    def ratios(self, comparisons: Comparisons, mated: bool, rows: Mask | slice = slice(None)) -> Floats:
        """Return the (n,) ratios of some mated, or non-mated, comparisons, in the order of their keys."""
        side = comparisons.mated if mated else comparisons.nonmated
        similarities = score_keys.decode(side.keys[rows])
        found = self._of[None].ratios_of(similarities)
        if len(self._of) > 1:
            by_group = comparisons.mated_by_group if mated else comparisons.nonmated_by_group
            reference, probe = by_group.reference_group[rows], by_group.probe_group[rows]
            for k, group in enumerate(comparisons.groups):
                inside = (reference == k) & (probe == k)
                if not inside.any():
                    continue
                if group not in self._of:
                    raise InputError(f"there is no transform of group {group!r}, as it was not in the training")
                found[inside] = self._of[group].ratios_of(similarities[inside])
        return found


@dataclass(frozen=True, eq=False, repr=False)
class CalibratedScores(Result):
    """The result of `calibrate`.

    Attributes
    ----------
    comparisons : Comparisons
        The comparisons with log-likelihood ratios as scores.
    transforms : tuple of TrainedTransform
        The transforms for other comparisons first, that of all before those of groups, and then those of folds.
    settings : dict
        The arguments of the call, and the seed.
    """

    comparisons: Comparisons = field(default=None, repr=False, kw_only=True, metadata=UNWRITTEN)  # type: ignore[assignment]  # None in what was read
    transforms: tuple[TrainedTransform, ...]
    settings: dict[str, Any]

    @property
    def transform(self) -> LogisticTransform | PavTransform:
        """The transform for other comparisons, whatever their group."""
        return self.transforms[0].transform

    @checked(comparisons=argument_kinds.one_of("Comparisons"))
    def apply(self, comparisons: Comparisons) -> Comparisons:
        """Turn scores of other comparisons into log-likelihood ratios.

        Parameters
        ----------
        comparisons : Comparisons
            Of other people, with scores of the same system.

        Returns
        -------
        Comparisons
            With log-likelihood ratios, by the transform that was trained on all.

        Raises
        ------
        InputError
            For distances where similarities were trained on, and the other way round; and for groups that the training
            had not.
        """
        if (comparisons.score_kind == "distance") != (self.settings["score_kind"] == "distance"):
            raise InputError(
                f"the transform was trained on scores of the kind {self.settings['score_kind']}, and these are of the "
                f"kind {comparisons.score_kind}"
            )
        return apply_transforms(comparisons, self._for_others)

    @property
    def _for_others(self) -> list[TrainedTransform]:
        return [one for one in self.transforms if one.folds == ALL_FOLDS]

    @checked
    def summary(self) -> str:
        """Describe the result in sentences.

        Returns
        -------
        str
        """
        method = {"logistic": "logistic regression", "pav": "pooling adjacent violators"}[self.settings["method"]]
        text = [f"Log-likelihood ratios by {method}."]
        if isinstance(self.transform, LogisticTransform):
            text = [f"Log-likelihood ratios by {method} at p_target={self.settings['p_target']:g}."]
            sign = "-" if self.settings["score_kind"] == "distance" else ""
            text += [
                f"{visible(one.group or 'All')}: {one.transform.slope:.4g} * {sign}score {one.transform.offset:+.4g}."
                for one in self._for_others
                if isinstance(one.transform, LogisticTransform)
            ]
        who = {"subject": "of subjects", "comparison": "of comparisons, which share subjects"}
        text.append(
            f"Trained on {self.settings['development']}."
            if "development" in self.settings
            else f"Each comparison by a transform that was trained without its folds: {self.settings['n_folds']} folds "
            f"{who[self.settings['by']]}."
        )
        return "\n".join(text)

    def _columns(self) -> dict[str, list[Any]]:
        transforms = [one.transform for one in self.transforms]
        lines = [one if isinstance(one, LogisticTransform) else None for one in transforms]
        columns: dict[str, list[Any]] = {
            name: [getattr(one, name) for one in self.transforms] for name in ("folds", "group")
        }
        columns |= {name: [line and getattr(line, name) for line in lines] for name in ("slope", "offset")}
        columns["blocks"] = [
            np.unique(one.ratios).size if isinstance(one, PavTransform) else None for one in transforms
        ]
        names = ("n_mated", "n_nonmated", "low", "high")
        return columns | {name: [getattr(one, name) for one in self.transforms] for name in names}

    @checked
    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the log-likelihood ratio over the score, by the transform for other comparisons.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
        """
        sign = -1 if self.settings["score_kind"] == "distance" else 1
        ax = axes_or_new(ax)
        for k, one in enumerate(self._for_others):
            at = np.linspace(one.low, one.high, _SHOWN)
            ax.plot(sign * at, one.transform.ratios_of(at), label=drawn(one.group or "all"), **line_style(k))
        ax.axhline(0, color=GREY, linewidth=0.8, linestyle=":", zorder=0)
        ax.set_xlabel("Distance" if sign < 0 else "Score")
        ax.set_ylabel("Log-likelihood ratio")
        ax.grid(alpha=0.3)
        if len(self._for_others) > 1:
            legend_below(ax, ax.get_legend_handles_labels()[0])
        return ax


def apply_transforms(comparisons: Comparisons, trained: Sequence[TrainedTransform]) -> Comparisons:
    """Give comparisons the ratios of one training."""
    by_group = ByGroup(trained)
    mated, nonmated = (by_group.ratios(comparisons, mated) for mated in (True, False))
    return with_ratios(comparisons, mated, nonmated)
