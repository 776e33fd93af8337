"""`calibrate`: log-likelihood ratios from scores, by people who are not among those compared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import argument_kinds, seeds, validation
from fastfair._lib.arguments import checked
from fastfair.data import score_keys
from fastfair.data.comparisons import Comparisons
from fastfair.data.rescoring import with_ratios
from fastfair.errors import InputError

from .calibrated import ALL_FOLDS, ByGroup, CalibratedScores, TrainedTransform, apply_transforms
from .folds import parts_of
from .transforms import fit_logistic, fit_pav

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
METHODS = ("logistic", "pav")


@checked(development=argument_kinds.optional(argument_kinds.one_of("Comparisons")))
def calibrate(
    comparisons: Comparisons,
    method: str = "logistic",
    *,
    development: Comparisons | None = None,
    p_target: float = 0.5,
    n_folds: int = 5,
    by: str = "subject",
    group_wise: bool = False,
    rng: seeds.Seed = None,
) -> CalibratedScores:
    """Turn scores into log-likelihood ratios, trained on other people than those compared.

    Parameters
    ----------
    comparisons : Comparisons
        Comparisons with scores of any kind.
    method : {"logistic", "pav"}
        "logistic": a straight line over the scores, by logistic regression weighted for the prior. "pav": rising steps,
        by pooling adjacent violators, which is the same for every prior.
    development : Comparisons, optional
        Other comparisons, with scores of the same system, to train on; by default there are folds.
    p_target : float, default 0.5
        Prior probability of a mated comparison for which the line is to be the best, in (0, 1).
    n_folds : int, default 5
        Number of folds, at least 3. A comparison of a subject in fold a with one in fold b gets its ratio from a
        transform trained on the comparisons among all other folds.
    by : {"subject", "comparison"}
        What folds consist of. Those of comparisons train on people who are tested, and make ratios look better than
        they are.
    group_wise : bool, default False
        Whether each group has a transform of its own, trained on the comparisons inside it; those of two groups get the
        transform of all.
    rng : None, int, SeedSequence or Generator
        Seed of the folds.

    Returns
    -------
    CalibratedScores
        With the comparisons, whose scores are now log-likelihood ratios, and the transform for others, trained on all.

    Raises
    ------
    InputError
        For comparisons without subjects, fewer folds than 3, folds that leave too few comparisons to train on, scores
        that separate the classes ("logistic"), and mated comparisons that score lower than non-mated ones.

    Notes
    -----
    Ratios of different folds come from different transforms, so their order may differ a little from that of the scores
    [1]_. With five folds, a comparison of two subjects is trained on about three fifths of the subjects.

    References
    ----------
    .. [1] Brümmer and de Villiers, "The BOSARIS Toolkit: Theory, Algorithms and Code for Surviving the New DCF", 2013.

    Examples
    --------
    >>> import fastfair as ff
    >>> c = ff.binormal_comparisons(2000, 20_000, fmr=0.01, n_subjects=200, rng=0)
    >>> ratios = ff.calibrate(c, rng=0)
    >>> ratios.comparisons.score_kind, round(ff.cllr(ratios.comparisons), 3), round(ff.min_cllr(c), 3)
    ('log-likelihood-ratio', 0.096, 0.091)
    """
    validation.choice("method", method, METHODS)
    validation.open_fraction("p_target", p_target)
    source = comparisons if development is None else development
    if _is_distance(source) != _is_distance(comparisons):
        raise InputError(
            f"development has scores of the kind {source.score_kind}, but the comparisons of the kind "
            f"{comparisons.score_kind}"
        )
    if group_wise:
        comparisons.require_groups()
        source.require_groups()
    training = _Training(source, method, p_target, group_wise)
    settings = {
        "method": method, "p_target": p_target, "group_wise": group_wise, "score_kind": comparisons.score_kind,
    }  # fmt: skip
    if development is not None:
        trained = training.on_all()
        settings |= {"development": repr(development)}
        return CalibratedScores(tuple(trained), settings, comparisons=apply_transforms(comparisons, trained))
    seed = seeds.fixed(rng)
    settings |= {"by": by, "n_folds": n_folds, "rng": seed if isinstance(seed, int) else str(seed)}
    parts = list(parts_of(comparisons, by, n_folds, np.random.default_rng(seed)))
    trained = training.on_all()
    mated, nonmated = np.empty(len(comparisons.mated)), np.empty(len(comparisons.nonmated))
    for part in parts:
        own = training.on(part.trained, part.name)
        by_group = ByGroup(own)
        for ratios, is_mated, tested in zip((mated, nonmated), (True, False), part.tested, strict=True):
            ratios[tested] = by_group.ratios(comparisons, is_mated, tested)
        trained += own
    return CalibratedScores(tuple(trained), settings, comparisons=with_ratios(comparisons, mated, nonmated))


def _is_distance(comparisons: Comparisons) -> bool:
    return comparisons.score_kind == "distance"


@dataclass(frozen=True, eq=False)
class _Training:
    """Trains transforms on some of the comparisons."""

    comparisons: Comparisons
    method: str
    p_target: float
    group_wise: bool

    def on_all(self) -> list[TrainedTransform]:
        """Train on all comparisons."""
        sides = self.comparisons.mated, self.comparisons.nonmated
        mated, nonmated = (np.ones(len(side), np.bool_) for side in sides)
        return self.on((mated, nonmated), ALL_FOLDS)

    def on(self, chosen: tuple[Mask, Mask], folds: str) -> list[TrainedTransform]:
        """Train on the mated and the non-mated comparisons chosen, and on those of each group."""
        found = [self._fit(chosen, None, folds)]
        if self.group_wise:
            sides = self.comparisons.mated_by_group, self.comparisons.nonmated_by_group
            for k, group in enumerate(self.comparisons.groups):
                mated, nonmated = (
                    mask & (side.reference_group == k) & (side.probe_group == k)
                    for mask, side in zip(chosen, sides, strict=True)
                )
                found.append(self._fit((mated, nonmated), group, folds))
        return found

    def _fit(self, chosen: tuple[Mask, Mask], group: str | None, folds: str) -> TrainedTransform:
        sides = self.comparisons.mated, self.comparisons.nonmated
        mated, nonmated = (
            score_keys.decode(side.keys[mask]).astype(np.float64) for side, mask in zip(sides, chosen, strict=True)
        )
        who = "" if group is None else f" of group {group!r}"
        who += "" if folds == ALL_FOLDS else f" outside folds {folds}"
        if not (mated.size and nonmated.size):
            raise InputError(
                f"there are {mated.size} mated and {nonmated.size} non-mated comparisons{who} to train on: use fewer "
                "folds, larger groups, or development="
            )
        fitted = (
            fit_logistic(mated, nonmated, self.p_target, who) if self.method == "logistic" else fit_pav(mated, nonmated)
        )
        low, high = min(mated.min(), nonmated.min()), max(mated.max(), nonmated.max())
        return TrainedTransform(folds, group, fitted, mated.size, nonmated.size, float(low), float(high))
