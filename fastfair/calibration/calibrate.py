"""`calibrate`: log-likelihood ratios from scores, by people who are not among those compared.

A transform makes ratios of scores: a straight line by logistic regression, or steps by pooling
adjacent violators. It is trained on the comparisons of subjects in other folds than those of the
two subjects compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.special import expit, log_expit

from fastfair._lib import seeds
from fastfair._lib.arguments import Probability, checked
from fastfair._lib.arrays import AnyFloats, Flags, Floats, Integers
from fastfair._lib.plots import GREY, axes_or_new, legend_below, line_style
from fastfair._lib.text import drawn
from fastfair.data import score_keys
from fastfair.data.comparisons import Comparisons
from fastfair.data.derived import overlap, warn_of_overlap, with_ratios
from fastfair.data.exclusions import exclusions_of_systems
from fastfair.errors import InputError
from fastfair.results.result import Result
from fastfair.results.written import UNWRITTEN

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_STEPS = 100  # of Newton's method, at most
_CONVERGED = 1e-12  # of the decrement of Newton's method, twice what the cost can still fall


@dataclass(frozen=True)
class LogisticTransform:
    """Log-likelihood ratios that are a straight line over the similarity.

    Attributes
    ----------
    slope, offset : float
        The ratio of a similarity s is slope * s + offset.
    """

    slope: float
    offset: float

    def ratios_of(self, similarities: AnyFloats) -> Floats:
        """Return the (n,) log-likelihood ratios of (n,) similarities."""
        return self.slope * np.asarray(similarities, np.float64) + self.offset


@dataclass(frozen=True, eq=False)
class PavTransform:
    """Log-likelihood ratios that rise from block to block of similarities, with straight lines
    between blocks.

    Attributes
    ----------
    similarities : (n,) ndarray
        The ends of the blocks, ascending.
    ratios : (n,) ndarray
        The ratios there; beyond the first and the last they stay the same.
    """

    similarities: Floats
    ratios: Floats

    def ratios_of(self, similarities: AnyFloats) -> Floats:
        """Return the (n,) log-likelihood ratios of (n,) similarities."""
        return np.interp(np.asarray(similarities, np.float64), self.similarities, self.ratios)


Transform = LogisticTransform | PavTransform


def fit_logistic(
    mated: Floats, nonmated: Floats, p_target: float, of_whom: str = ""
) -> LogisticTransform:
    """Fit the line whose ratios have the least cross-entropy at a prior p; of_whom: whose scores
    they are, in messages.

    Minimises p mean(log(1 + exp(-z))) over mated plus (1 - p) mean(log(1 + exp(z))) over non-mated
    comparisons, where z
    = slope * s + offset + logit p, by Newton's method.
    """
    if mated.min() >= nonmated.max() or mated.max() <= nonmated.min():
        raise InputError(
            f"a score separates the mated from the non-mated comparisons{of_whom}, so no line is"
            ' the best: calibrate with more comparisons, or with ⟦method="pav"⟧'
        )
    scores = np.concatenate((mated, nonmated))
    center, scale = float(scores.mean()), float(scores.std())
    x = (scores - center) / scale
    is_mated = np.arange(x.size) < mated.size
    weights = np.where(is_mated, p_target / mated.size, (1 - p_target) / nonmated.size)
    sign = np.where(is_mated, 1.0, -1.0)
    log_odds = float(np.log(p_target / (1 - p_target)))

    def of_true_class(line: Floats) -> Floats:
        return sign * (line[0] * x + line[1] + log_odds)

    def cost(log_odds_of_truth: Floats) -> float:
        return -float(weights @ log_expit(log_odds_of_truth))

    line = np.array([1.0, 0.0])
    evidence = of_true_class(line)
    now = cost(evidence)
    for _ in range(_MOST_STEPS):
        wrong = expit(-evidence)  # probability of the other class
        slope = weights * sign * wrong
        curvature = weights * wrong * (1 - wrong)
        gradient = -np.array([slope @ x, slope.sum()])
        middle = curvature @ x
        hessian = np.array([[curvature @ x**2, middle], [middle, curvature.sum()]])
        step = np.linalg.solve(hessian + 1e-300 * np.eye(2), gradient)
        if gradient @ step <= _CONVERGED * now:
            break
        size = 1.0
        while True:
            evidence = of_true_class(line - size * step)
            tried = cost(evidence)
            if tried <= now or size <= 1e-10:
                break
            size /= 2
        line = line - size * step
        now = tried
    if line[0] <= 0:
        raise InputError(
            f"the mated comparisons{of_whom} do not score higher than the non-mated ones, so scores"
            " do not become log-likelihood ratios: are they distances, or is mated the wrong way"
            " round?"
        )
    return LogisticTransform(float(line[0] / scale), float(line[1] - line[0] * center / scale))


def fit_pav(mated: Floats, nonmated: Floats) -> PavTransform:
    """Pool adjacent violators: the rising steps whose ratios have the least cross-entropy at any
    prior.

    A mated and a non-mated comparison are added below all scores, and above them, so that no ratio
    is infinite, as the BOSARIS toolkit does by Laplace's rule of succession.
    """
    from fastfair.kernels import curves as kernels

    sides = [np.sort(np.asarray(side, np.float64)) for side in (mated, nonmated)]
    ends = np.iinfo(np.int64)
    keys = [np.concatenate(([ends.min], score_keys.encode(side), [ends.max])) for side in sides]
    false_matches, false_nonmatches = kernels.convex_hull(*keys)
    of_mated = np.diff(false_nonmatches)
    of_nonmated = -np.diff(false_matches)
    ratios = np.log(of_mated / keys[0].size) - np.log(of_nonmated / keys[1].size)
    # The first and the last score of each block: those of the class whose is lower, or higher.
    firsts, lasts = [], []
    for side, counts in zip(sides, (of_mated, of_nonmated), strict=True):
        # without the one added below, nor that above
        stop = np.clip(np.cumsum(counts) - 1, 0, side.size)
        start = np.concatenate(([0], stop[:-1]))
        has = stop > start
        firsts.append(np.where(has, side[np.minimum(start, side.size - 1)], np.inf))
        lasts.append(np.where(has, side[np.maximum(stop - 1, 0)], -np.inf))
    first, last = np.minimum(*firsts), np.maximum(*lasts)
    filled = first <= last
    at = np.column_stack((first, last))[filled].ravel()
    scores, index = np.unique(at, return_index=True)
    return PavTransform(scores, np.repeat(ratios[filled], 2)[index])


Masks = tuple[Flags, Flags]  # of mated, and of non-mated, comparisons
_LEAST_FOLDS = 3  # so that something is left without the folds of both subjects


def parts_of(
    comparisons: Comparisons, n_folds: int, rng: np.random.Generator
) -> Iterator[tuple[str, Masks, Masks]]:
    """Divide comparisons by the folds of their subjects: a part for each pair of folds compared,
    and each fold alone.

    Subjects are dealt out to the folds group by group. Yielded are the folds, such as "1 and 3",
    and which (mated, non-mated) comparisons are tested, and which trained on: no subject of a
    comparison tested is in one trained on.
    """
    if n_folds < _LEAST_FOLDS:
        raise InputError(
            f"⟦n_folds⟧ must be at least {_LEAST_FOLDS}, as a comparison of two subjects leaves out"
            f" the folds of both, not {n_folds}"
        )
    if comparisons.subjects is None:
        raise InputError(
            "folds are of subjects, but the comparisons have none: give reference and probe, or"
            " pass ⟦development=⟧ with other comparisons"
        )
    if n_folds > comparisons.subjects.size:
        raise InputError(
            f"⟦n_folds={n_folds}⟧ is more than there are subjects, {comparisons.subjects.size}"
        )
    group = comparisons.group_of_subject
    strata = (
        np.zeros(comparisons.subjects.size, np.int64) if group is None else group.astype(np.int64)
    )
    fold = _dealt(strata, n_folds, rng)
    folds = [
        tuple(fold[who] for who in side.compared())
        for side in (comparisons.mated, comparisons.nonmated)
    ]
    pairs = [np.minimum(*both) * n_folds + np.maximum(*both) for both in folds]
    for code in np.union1d(*pairs).tolist():
        first, second = divmod(code, n_folds)
        tested = pairs[0] == code, pairs[1] == code
        mated, nonmated = (
            ~(np.isin(both[0], (first, second)) | np.isin(both[1], (first, second)))
            for both in folds
        )
        name = f"{first + 1}" if first == second else f"{first + 1} and {second + 1}"
        yield name, tested, (mated, nonmated)


def _dealt(strata: Integers, n_folds: int, rng: np.random.Generator) -> Integers:
    """Deal out units in random order, stratum by stratum, so that folds have nearly as many of
    each.
    """
    order = np.lexsort((rng.random(strata.size), strata))
    fold = np.empty(strata.size, np.int64)
    fold[order] = (np.arange(strata.size) + rng.integers(n_folds)) % n_folds
    return fold


ALL_FOLDS = "all"
_SHOWN = 201  # points of a drawn transform


@dataclass(frozen=True, eq=False)
class TrainedTransform:
    """A transform and what it was trained on.

    Attributes
    ----------
    folds : str
        The folds of the subjects whose comparisons get their ratios from it, and that it was not
        trained on; "all" for the one for other comparisons.
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
    transform: Transform
    n_mated: int
    n_nonmated: int
    low: float
    high: float


def ratios_of(
    trained: Sequence[TrainedTransform],
    comparisons: Comparisons,
    mated: bool,
    rows: Flags | slice = slice(None),
) -> Floats:
    """Return the (n,) ratios of some mated, or non-mated, comparisons, by the transforms of one
    training.
    """
    transforms = {part.group: part.transform for part in trained}
    similarities = score_keys.decode(
        (comparisons.mated if mated else comparisons.nonmated).keys[rows]
    )
    ratios = transforms[None].ratios_of(similarities)
    if len(transforms) > 1:
        by_group = comparisons.mated_by_group if mated else comparisons.nonmated_by_group
        reference, probe = by_group.reference_group[rows], by_group.probe_group[rows]
        for k, group in enumerate(comparisons.groups):
            inside = (reference == k) & (probe == k)
            if inside.any() and group not in transforms:
                raise InputError(
                    f"there is no transform of group {group!r}, as it was not in the training"
                )
            if inside.any():
                ratios[inside] = transforms[group].ratios_of(similarities[inside])
    return ratios


@dataclass(frozen=True, eq=False, repr=False)
class CalibratedScores(Result):
    """The result of `calibrate`.

    Attributes
    ----------
    comparisons : Comparisons
        The comparisons with log-likelihood ratios as scores.
    transforms : tuple of TrainedTransform
        The transforms for other comparisons first, that of all before those of groups, and then
        those of folds.
    settings : dict
        The arguments of the call, and the seed.
    """

    comparisons: Comparisons = field(default=None, repr=False, kw_only=True, metadata=UNWRITTEN)  # type: ignore[assignment]  # None in what was read
    # trained on
    _source: Comparisons | None = field(default=None, repr=False, kw_only=True, metadata=UNWRITTEN)
    transforms: tuple[TrainedTransform, ...]
    settings: dict[str, Any]

    _rows = "transforms"

    @property
    def transform(self) -> Transform:
        """The transform for other comparisons, whatever their group."""
        return self.transforms[0].transform

    @checked
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
            For distances where similarities were trained on, and the other way round; and for
            groups that the training had not.

        Warns
        -----
        SharedSubjectsWarning
            Where some of the people are those of the training.
        """
        _require_direction(comparisons, self.settings["score_kind"])
        if self._source is not None:
            warn_of_overlap(overlap(comparisons, self._source), _TOO_GOOD)
        return with_ratios(
            comparisons,
            *(ratios_of(self._for_others, comparisons, mated) for mated in (True, False)),
        )

    @property
    def _for_others(self) -> list[TrainedTransform]:
        return [transform for transform in self.transforms if transform.folds == ALL_FOLDS]

    def _sentences(self) -> list[str]:
        """Return the sentences of the summary."""
        settings = self.settings
        method = {"logistic": "logistic regression", "pav": "pooling adjacent violators"}[
            settings["method"]
        ]
        lines = [(trained.group or "All", trained.transform) for trained in self._for_others]
        at = (
            f" at p_target={settings['p_target']:g}"
            if isinstance(self.transform, LogisticTransform)
            else ""
        )
        score = "-score" if settings["score_kind"] == "distance" else "score"
        if "development" in settings:
            trained = f"Trained on {settings['development']}."
            if settings.get("shared"):
                trained += f" {settings['shared'].capitalize()}: {_TOO_GOOD}."
        else:
            trained = "Each comparison by a transform that was trained without its folds: "
            trained += f"{settings['n_folds']} folds of subjects."
        return [
            f"Log-likelihood ratios by {method}{at}.",
            *(
                f"{group}: {line.slope:.4g} * {score} {line.offset:+.4g}."
                for group, line in lines
                if isinstance(line, LogisticTransform)
            ),
            trained,
        ]

    def _columns(self) -> dict[str, list[Any]]:
        columns = super()._columns()
        made = columns.pop("transform")
        columns |= {
            name: [getattr(transform, name, None) for transform in made]
            for name in ("slope", "offset")
        }
        blocks = [
            np.unique(transform.ratios).size if isinstance(transform, PavTransform) else None
            for transform in made
        ]
        return columns | {"blocks": blocks}

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
        for k, trained in enumerate(self._for_others):
            at = np.linspace(trained.low, trained.high, _SHOWN)
            ax.plot(
                sign * at,
                trained.transform.ratios_of(at),
                label=drawn(trained.group or "all"),
                **line_style(k),
            )
        ax.axhline(0, color=GREY, linewidth=0.8, linestyle=":", zorder=0)
        ax.set_xlabel("Distance" if sign < 0 else "Score")
        ax.set_ylabel("Log-likelihood ratio")
        ax.grid(alpha=0.3)
        if len(self._for_others) > 1:
            legend_below(ax, ax.get_legend_handles_labels()[0])
        return ax


_Method = Literal["logistic", "pav"]
_TOO_GOOD = "ratios look better than they are for other people"


def _require_direction(comparisons: Comparisons, trained_on: str) -> None:
    """Refuse distances for a transform of similarities, and the other way round."""
    if (comparisons.score_kind == "distance") != (trained_on == "distance"):
        kind = comparisons.score_kind
        raise InputError(
            f"training is on scores of the kind {trained_on}, and these are of the kind {kind}"
        )


@checked
def calibrate(
    comparisons: Comparisons,
    method: _Method = "logistic",
    *,
    development: Comparisons | None = None,
    p_target: Probability = 0.5,
    n_folds: int = 5,
    group_wise: bool = False,
    rng: seeds.Seed = None,
) -> CalibratedScores:
    """Turn scores into log-likelihood ratios, trained on other people than those compared.

    Parameters
    ----------
    comparisons : Comparisons
        Comparisons with scores of any kind.
    method : {"logistic", "pav"}
        "logistic": a straight line over the scores, by logistic regression weighted for the prior.
        "pav": rising steps, by pooling adjacent violators, which is the same for every prior.
    development : Comparisons, optional
        Comparisons of other people, with scores of the same system, to train on; by default there
        are folds.
    p_target : float, default 0.5
        Prior probability of a mated comparison for which the line is to be the best, in (0, 1).
    n_folds : int, default 5
        Number of folds, at least 3. A comparison of a subject in fold a with one in fold b gets its
        ratio from a transform trained on the comparisons among all other folds.
    group_wise : bool, default False
        Whether each group has a transform of its own, trained on the comparisons inside it; those
        of two groups get the transform of all.
    rng : None, int, SeedSequence or Generator
        Seed of the folds.

    Returns
    -------
    CalibratedScores
        With the comparisons, whose scores are now log-likelihood ratios, and the transform for
        others, trained on all.

    Raises
    ------
    InputError
        For comparisons without subjects, fewer folds than 3, folds that leave too few comparisons
        to train on, scores that separate the classes ("logistic"), and mated comparisons that score
        lower than non-mated ones.

    Warns
    -----
    SharedSubjectsWarning
        Where some of the people are in `development`, too, or its scores are the very same.

    Notes
    -----
    Ratios of different folds come from different transforms, so their order may differ a little
    from that of the scores [1]_. With five folds, a comparison of two subjects is trained on about
    three fifths of the subjects.

    References
    ----------
    .. [1] Brümmer and de Villiers, "The BOSARIS Toolkit: Theory, Algorithms and Code for Surviving the New DCF", 2013.

    Examples
    --------
    >>> import fastfair as ff
    >>> c = ff.synthesis.binormal_comparisons(2000, 20_000, fmr=0.01, n_subjects=200, rng=0)
    >>> ratios = ff.calibrate(c, rng=0)
    >>> ratios.comparisons.score_kind, round(ff.cllr(ratios.comparisons), 3), round(ff.min_cllr(c), 3)
    ('log-likelihood-ratio', 0.096, 0.091)
    """
    source = comparisons if development is None else development
    _require_direction(comparisons, source.score_kind)
    if group_wise:
        comparisons.require_groups()
        source.require_groups()
    how = method, p_target, group_wise
    everything = (
        np.ones(len(source.mated), np.bool_),
        np.ones(len(source.nonmated), np.bool_),
    )
    settings = {
        "method": method,
        "p_target": p_target,
        "group_wise": group_wise,
        "score_kind": comparisons.score_kind,
    }
    parts: list[tuple[str, Masks, Masks]] = []
    if development is None:
        seed = seeds.fix_seed(rng)
        settings |= {"n_folds": n_folds, "rng": seed if isinstance(seed, int) else str(seed)}
        parts += parts_of(comparisons, n_folds, np.random.default_rng(seed))
    else:
        shared = overlap(comparisons, development)
        warn_of_overlap(shared, _TOO_GOOD)
        settings |= {"development": repr(development), "shared": shared}
    trained = _trained(source, everything, ALL_FOLDS, *how)
    ratios = [ratios_of(trained, comparisons, mated) for mated in (True, False)]
    for name, tested, used in parts:
        of_group = _trained(source, used, name, *how)
        for of_class, mated, rows in zip(ratios, (True, False), tested, strict=True):
            of_class[rows] = ratios_of(of_group, comparisons, mated, rows)
        trained += of_group
    left_out = comparisons.left_out
    if development is not None:
        left_out = (*left_out, *exclusions_of_systems([("development", development)]))
    rescored = with_ratios(comparisons, *ratios)
    return CalibratedScores(
        tuple(trained), settings, comparisons=rescored, left_out=left_out, _source=source
    )


def _trained(
    comparisons: Comparisons,
    chosen: Masks,
    folds: str,
    method: str,
    p_target: float,
    group_wise: bool,
) -> list[TrainedTransform]:
    """Train transforms on the mated and the non-mated comparisons chosen, and on those of each
    group.
    """
    trained = []
    for k, group in enumerate((None, *(comparisons.groups if group_wise else ())), -1):
        masks = list(chosen)
        if group is not None:
            by_group = comparisons.mated_by_group, comparisons.nonmated_by_group
            masks = [
                mask & (side.reference_group == k) & (side.probe_group == k)
                for mask, side in zip(chosen, by_group, strict=True)
            ]
        mated, nonmated = (
            score_keys.decode(side.keys[mask]).astype(np.float64)
            for side, mask in zip((comparisons.mated, comparisons.nonmated), masks, strict=True)
        )
        who = "" if group is None else f" of group {group!r}"
        who += "" if folds == ALL_FOLDS else f" outside folds {folds}"
        if not (mated.size and nonmated.size):
            raise InputError(
                f"there are {mated.size} mated and {nonmated.size} non-mated comparisons{who} to"
                " train on: use fewer folds, larger groups, or ⟦development=⟧"
            )
        fitted = (
            fit_logistic(mated, nonmated, p_target, who)
            if method == "logistic"
            else fit_pav(mated, nonmated)
        )
        low, high = min(mated.min(), nonmated.min()), max(mated.max(), nonmated.max())
        trained.append(
            TrainedTransform(
                folds, group, fitted, mated.size, nonmated.size, float(low), float(high)
            )
        )
    return trained
