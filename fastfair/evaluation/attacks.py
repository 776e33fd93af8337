"""`evaluate_attacks`: APCER, IAPAR and RIAPAR of species and groups, beside errors of bona fide
comparisons.

An attack that is accepted is an error of a decision on the person who is imitated, as a rejected
mated comparison is one: IAPAR and APCER are FNMRs of such decisions, and have their limits, by
people, whatever species these are imitated by. The largest of all species lies between the largest
of all lower and of all upper ends of simultaneous intervals. RIAPAR is a sum, whose limits are
those of both parts by the method of Zou and Donner; where the same people cause errors of both, by
their correlation. Where people share sessions, which may cause both, limits of the parts add up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.special import ndtri

from fastfair import intervals
from fastfair._lib import seeds
from fastfair._lib.arguments import ManyResamples, checked
from fastfair._lib.arrays import Floats
from fastfair._lib.plots import (
    LONGEST_IN_LEGEND,
    Bar,
    Line,
    axes_or_new,
    draw_rows,
    ends_to_name,
    legend_below,
    line_style,
    probit_axes,
)
from fastfair._lib.text import drawn, shortened, typed
from fastfair._lib.warnings import hold_warnings
from fastfair.data.attacks import Attacks, attack_decisions, attacks_of
from fastfair.data.comparisons import Comparisons, keys_of
from fastfair.error_rates.operating_points import OperatingPoint, at_threshold
from fastfair.errors import InputError
from fastfair.measures._registry import METRICS, printed_name
from fastfair.results.result import Result
from fastfair.uncertainty.notes import joined
from fastfair.uncertainty.quantities import (
    Estimate,
    Quantity,
    ends_of,
    in_words,
    warn_of_narrow,
)

from .evaluate import EvaluationSettings, evaluate
from .evaluated import DetCurve, det_curve_of
from .result import Evaluation, file_part
from .transactions import point_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AttackRateName = Literal["iapar", "apcer"]
AT_DECISIONS = at_threshold(0.5)
# what errors of bona fide comparisons are called beside each rate
_OF_BONA_FIDE = {"iapar": "fnmr", "apcer": "bpcer"}


@dataclass(frozen=True, kw_only=True)
class AttackRate(Estimate):
    """An error rate of attacks, or of bona fide comparisons: an `Estimate`, and of which species.

    Attributes
    ----------
    name : str
        "iapar" or "apcer" of attacks; "fnmr" or "bpcer" of bona fide comparisons; "riapar", the sum
        of an IAPAR and the FNMR of all.
    species : str or None
        The species of attacks; None for all.
    """

    name: str
    species: str | None = None


@dataclass(frozen=True, eq=False, repr=False)
class AttackRates(Result):
    """The result of `evaluate_attacks`.

    Attributes
    ----------
    rate : {"iapar", "apcer"}
        Which rate of attacks it is.
    at : OperatingPoint
        The operating point.
    threshold : float
        The threshold there, found from bona fide comparisons.
    species : tuple of str
        The species.
    groups : tuple of str
        The groups of people; empty without.
    rows : tuple of AttackRate
        The rates of all attacks, of each species, and of each group of people who are imitated.
    largest : AttackRate
        The largest rate of all species, with an interval of whichever is the largest: those of all
        species that hold together.
    confidence_level : float
        The level of the intervals.
    settings : dict
        The number of replicates and the seed, and where people share sessions how many there are.
    curves : dict of str to DetCurve
        The errors of bona fide comparisons ("mated") and attacks ("nonmated") at all thresholds, of
        each species.
    """

    rate: str
    at: OperatingPoint
    threshold: float
    species: tuple[str, ...]
    groups: tuple[str, ...]
    rows: tuple[AttackRate, ...]
    largest: AttackRate
    confidence_level: float
    settings: dict[str, Any]
    curves: dict[str, DetCurve]

    _title = "How often do attacks pass?"
    _printed = "name species group estimate n_comparisons n_errors n_subjects"

    @checked
    def of(self, name: str, species: str | None = None, group: str | None = None) -> AttackRate:
        """Return the row of a rate.

        Parameters
        ----------
        name : str
            As in `AttackRate`.
        species, group : str, optional
            The species, or the group of people; by default all.

        Returns
        -------
        AttackRate

        Raises
        ------
        InputError
            Where there is no such row.
        """
        for row in self.rows:
            if (row.name, row.species, row.group) == (name, species, group):
                return row
        raise InputError(f"there is no {name} of species {species!r} and group {group!r}")

    def _sentences(self) -> list[str]:
        """Return the sentences of the summary."""
        title = printed_name(self.rate)
        largest = self.largest
        of_all = self.of(self.rate)
        bona_fide = _OF_BONA_FIDE[self.rate]
        said = [
            f"At {self.at} (threshold {typed(self.threshold)}): {title} of {of_all.n_comparisons:,}"
            f" attack presentations of {len(self.species)} species {in_words(of_all)}.",
            f"The largest {title} is that of {largest.species}: {in_words(largest)}, with an"
            " interval of the largest of all species.",
            f"{printed_name(bona_fide)} {in_words(self.of(bona_fide))}.",
        ]
        if self.rate == "iapar":
            row = self.of("riapar", largest.species)
            said.append(f"RIAPAR of {largest.species}, the sum of both, {in_words(row)}.")
        units = "people and sessions" if "sessions" in self.settings else "people"
        said.append(
            f"Numbers in brackets are {100 * self.confidence_level:g} % intervals for this"
            f" threshold, from {self.settings['n_resamples']:,} replicates over {units}."
        )
        return said

    def _figures(self) -> dict[str, Axes]:
        return {"": self.plot(), f"attacks_det_{file_part(self.at)}": self.plot_det()}

    @checked
    def plot_det(self, ax: Axes | None = None) -> Axes:
        """Draw the errors of bona fide comparisons over those of attacks at all thresholds (DET), a
        line for each species, with the operating point.

        Of more than 8 species the three with the highest and the three with the lowest rate are
        named, and the others grey.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
        """
        bona_fide = _OF_BONA_FIDE[self.rate]
        rates = np.array([self.of(self.rate, species).estimate for species in self.species])
        named = ends_to_name(rates[None])
        others = [k for k in range(rates.size) if k not in named]
        ax = axes_or_new(ax, (5.6, 5.9 + 0.18 * (len(named) + bool(others))))
        for k in others:
            style: dict[str, Any] = {"color": "0.75", "linewidth": 0.8, "zorder": 1}
            ax.plot(*self.curves[self.species[k]].deviates, **style)
        lines = []
        for k, style in zip(named, map(line_style, range(len(named))), strict=True):
            curve = self.curves[self.species[k]]
            label = drawn(shortened(self.species[k], LONGEST_IN_LEGEND))
            label += "" if curve.false_matches.size else " (no curve: no errors)"
            lines += ax.plot(*curve.deviates, label=label, linewidth=1.2, **style)
            x, y = ndtri(rates[k]), ndtri(self.of(bona_fide).estimate)
            if np.isfinite([x, y]).all():
                mark = {"marker": "o", "color": style["color"], "markerfacecolor": "white"}
                ax.plot([x], [y], zorder=5, **mark)
        if others:
            lines += ax.plot([], [], color="0.75", label=f"{len(others)} other species")
        probit_axes(ax)
        ax.set_xlabel(f"{METRICS[self.rate].long_title} (%)")
        ax.set_ylabel(f"{METRICS[bona_fide].long_title} (%)")
        legend_below(ax, lines)
        return ax

    @checked
    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the rate of each species with its interval.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
        """
        rows = [self.of(self.rate, species) for species in self.species]
        bars = [
            Bar(y, row.estimate, *ends_of(row), label="estimate and interval")  # type: ignore[arg-type]
            for y, row in enumerate(rows)
        ]
        line = Line(self.of(self.rate).estimate, "all attacks")
        label = f"{METRICS[self.rate].long_title} at {self.at}"
        return draw_rows(ax, list(self.species), bars, [line], xlabel=label)


@checked
def evaluate_attacks(
    comparisons: Comparisons,
    at: OperatingPoint,
    *,
    rate: AttackRateName | None = None,
    n_resamples: ManyResamples = 2000,
    confidence_level: float = 0.95,
    rng: seeds.Seed = None,
    n_threads: int | None = None,
    progress: bool = False,
) -> AttackRates:
    """Compute how often presentation attacks pass: IAPAR, APCER and RIAPAR, of species and groups.

    Parameters
    ----------
    comparisons : Comparisons
        Bona fide comparisons with attacks, as `add_attacks` and ``Layout(attack=...)`` make them.
    at : OperatingPoint
        The operating point, whose threshold is found from bona fide comparisons.
    rate : {"iapar", "apcer"}, optional
        Whether scores are of comparisons, and an accepted attack matches the person imitated; or
        those of a detector of attacks. By default "iapar" where there are non-mated comparisons,
        which a detector has none of.
    n_resamples : int, default 2000
        Number of replicates.
    confidence_level : float, default 0.95
        Confidence level of the intervals, in (0, 1).
    rng, n_threads, progress
        As in `evaluate`.

    Returns
    -------
    AttackRates

    Raises
    ------
    InputError
        For comparisons without attacks, or without mated ones.

    Warns
    -----
    NarrowIntervalsWarning
        Where intervals are likely too narrow.

    Notes
    -----
    Intervals are for the threshold as it is, and for other people who are imitated by the same
    species: species are fixed, and the same people may be imitated by all of them. The largest rate
    of all species has an interval that holds whichever it is (max-t). RIAPAR is IAPAR + FRR, with
    the FNMR for the FRR, in which failures count under ``Policies(failures="non-match")``.

    References
    ----------
    ISO/IEC 30107-3:2023, "Biometric presentation attack detection: Testing and reporting".

    Examples
    --------
    >>> import fastfair as ff
    >>> c = ff.Comparisons([0.9, 0.8, 0.1], [1, 1, 0], list("aba"), list("abb"))
    >>> c = ff.add_attacks(c, [0.7, 0.2, 0.3], ["print", "print", "mask"], list("aab"))
    >>> rates = ff.evaluate_attacks(c, ff.at_threshold(0.5), rng=0)
    >>> rates.of("iapar", "print").estimate, rates.largest.species
    (0.5, 'print')
    """
    level = intervals.level(confidence_level)
    attacks = attacks_of(comparisons)
    called = rate_of_attacks(comparisons, rate)
    comparisons._require_rates("an evaluation of attacks", ["fnmr"])
    threshold = point_of(comparisons, at).value
    seed = seeds.fix_seed(rng)
    how: dict[str, Any] = {
        "n_resamples": n_resamples,
        "confidence_level": level,
        "rng": seed,
        "n_threads": n_threads,
        "progress": progress,
    }
    decisions = attack_decisions(comparisons, threshold)
    bona_fide = evaluate_plainly(comparisons.without_failure_rates(), at_threshold(threshold), how)
    of_species = evaluate_plainly(decisions, AT_DECISIONS, how)
    by_people = None
    if comparisons.grouping and set(comparisons.grouping) <= set(decisions.attributes):
        by_people = evaluate_plainly(decisions.by(*comparisons.grouping), AT_DECISIONS, how)
    made = Rated(comparisons, threshold, decisions, bona_fide, of_species, by_people)
    rows = tuple(made.rows(called))
    settings = {"n_resamples": n_resamples, "rng": seed}
    if decisions.sessions is not None:
        settings["sessions"] = decisions.sessions.size
    warn_of_narrow(rows)
    return AttackRates(
        called,
        at,
        threshold,
        attacks.names,
        comparisons.groups,
        rows,
        _largest(of_species, called),
        level,
        settings,
        dict(_curves_of_species(comparisons, attacks)),
        left_out=comparisons.left_out,
    )


def _curves_of_species(
    comparisons: Comparisons, attacks: Attacks
) -> Iterator[tuple[str, DetCurve]]:
    """Yield each species with its DET curve."""
    for code, name in enumerate(attacks.names):
        keys = np.sort(attacks.keys[attacks.species.codes == code])
        yield name, det_curve_of(keys_of(comparisons).mated, keys)


def rate_of_attacks(comparisons: Comparisons, rate: str | None = None) -> AttackRateName:
    """Return which rate attacks have; refuse the rate of a detector where people are compared."""
    compares_people = "fmr" in comparisons.rates
    if rate == "apcer" and compares_people:
        raise InputError(
            "APCER and BPCER are rates of a detector's scores, which tell bona fide presentations"
            " from attacks; these comparisons, some of which are non-mated, compare people: their"
            " rate of attacks is the IAPAR"
        )
    return "apcer" if rate == "apcer" or (rate is None and not compares_people) else "iapar"


def evaluate_plainly(
    comparisons: Comparisons, at: OperatingPoint, how: Mapping[str, Any]
) -> Evaluation:
    """Evaluate rates alone; notes tell what warnings would."""
    settings = EvaluationSettings(incomplete_groups="nan")
    with hold_warnings():
        return evaluate(comparisons, at, [], metrics=[], settings=settings, **how)


@dataclass(frozen=True)
class Rated:
    """The evaluations that rates of attacks are taken from.

    Attributes
    ----------
    comparisons : Comparisons
        With attacks.
    threshold : float
        The threshold.
    decisions : Comparisons
        The decisions on attacks.
    bona_fide, of_species, by_people : Evaluation
        Of bona fide comparisons; of decisions by species; and by groups of people, None without.
    """

    comparisons: Comparisons
    threshold: float
    decisions: Comparisons
    bona_fide: Evaluation
    of_species: Evaluation
    by_people: Evaluation | None

    def rows(self, called: str) -> Iterator[AttackRate]:
        """Yield the rows of a result, whose rate of attacks is called so."""
        species = (None, *self.of_species.groups)
        people = () if self.by_people is None else self.by_people.groups
        for name in species:
            quantity = self.of_species.quantity("fnmr", name)
            yield AttackRate._of(quantity, name=called, species=name, group=None)
        for label in people:
            assert self.by_people is not None
            yield AttackRate._of(self.by_people.quantity("fnmr", label), name=called)
        groups: tuple[str | None, ...] = (None, *self.bona_fide.groups)
        for group in groups:
            quantity = self.bona_fide.quantity("fnmr", group)
            yield AttackRate._of(quantity, name=_OF_BONA_FIDE[called])
        if called != "iapar":
            return
        of_all = self.bona_fide.quantity("fnmr")
        for name in species:
            quantity = self.sum_of(self.of_species.quantity("fnmr", name), of_all)
            yield AttackRate._of(quantity, name="riapar", species=name, group=None)

    def sum_of(self, passed: Quantity, rejected: Quantity) -> Quantity:
        """Return the RIAPAR of a species, or of all: the sum of its IAPAR and the FNMR of all."""
        parts = np.array([[q.estimate, *ends_of(q)] for q in (passed, rejected)])
        r = max(0.0, self._correlation(passed.group))
        low, high = intervals.sum_interval(parts[0], parts[1], np.array(r))
        return replace(
            passed,
            name="riapar",
            estimate=passed.estimate + rejected.estimate,
            low=float(low),
            high=float(high),
            n_comparisons=None,
            n_errors=None,
            n_subjects=None,
            notes=joined(passed.notes, rejected.notes),
        )

    def _correlation(self, species: str | None) -> float:
        """Return the correlation of the rate of a species, or of all attacks, with the FNMR, by
        what people add to both; 1 in sessions, whatever these do to both.
        """
        if self.decisions.sessions is not None:
            return 1.0
        inside: Any = slice(None)
        if species is not None:
            code = self.decisions.groups.index(species)
            inside = self.decisions.mated_by_group.reference_group == code
        assert self.comparisons.subjects is not None
        assert self.decisions.subjects is not None
        n = self.comparisons.subjects.size
        position = {who: k for k, who in enumerate(self.comparisons.subjects.tolist())}
        imitated = self.decisions.subjects.tolist()
        numbers = np.array([position.get(who, n + k) for k, who in enumerate(imitated)], np.intp)
        side = self.decisions.mated
        passed = np.asarray(side.similarities < AT_DECISIONS.value)[inside]
        first = _added(numbers[side.compared(inside)[0]], passed, n + len(imitated))
        mated = self.comparisons.mated
        rejected = mated.keys < self.comparisons.to_key(self.threshold)
        second = _added(mated.compared()[0], rejected, n + len(imitated))
        scale = float(np.sqrt((first @ first) * (second @ second)))
        return float(first @ second) / scale if scale > 0 else 0.0


def _added(people: Any, errors: Any, n: int) -> Floats:
    """Return what each of n people adds to the mean of errors."""
    sums: Floats = np.bincount(people, errors - errors.mean(), n).astype(np.float64)
    return sums


def _largest(of_species: Evaluation, called: str) -> AttackRate:
    """Return the largest rate of all species, with limits of whichever it is."""
    wide = of_species.with_intervals(simultaneous=True)
    rows = [wide.quantity("fnmr", species) for species in wide.groups]
    greatest = max(rows, key=lambda row: row.estimate)
    low, high = np.array([ends_of(row) for row in rows]).max(axis=0).tolist()
    row = AttackRate._of(greatest, name=called, species=greatest.group, group=None)
    return replace(row, low=low, high=high)
