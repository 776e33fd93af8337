"""Paper 5, section 4 and appendix B: how uncertain fairness measures are, and whether they order
systems alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fastfair import Embeddings, VonMisesFisherIdentities, fairness_band, roc_band
from fastfair.bands.curve import FairnessBand
from fastfair.measures import MEASURES
from papers.figure_style import COLORS, LINES, new_figure, per_cent
from papers.page_parts import Cell, Figure, Table, Verdict
from papers.settings import Settings
from papers.verdict_rules import by_count

from .rules import ENOUGH_ERRORS, OF_PAPER, judged

Floats = NDArray[np.float64]
NAMES = ("max_geomean_ratio", "max_min_ratio", "log_geomean_sum", "gini")
TITLES = {name: MEASURES[name].title for name in NAMES}
RATES: tuple[Literal["fmr", "fnmr"], ...] = ("fmr", "fnmr")
LEVELS = np.array([1e-4, 2e-4, 3e-4, 5e-4, 1e-3, 2e-3, 3e-3, 5e-3, 1e-2])
N_SUBJECTS, N_SAMPLES, _DIM = 400, 10, 64
SHOWN = 1e-3  # the FMR of the table
_FEWEST = 2  # replicates, where only estimates are wanted
_SYSTEMS = 10_000  # pairs of made-up systems


@dataclass(frozen=True)
class Scenario:
    """Synthetic subjects in groups.

    Attributes
    ----------
    title : str
        What differs.
    concentrations : tuple of float
        How closely vectors lie about their subject's centre, in each group: the lower, the more
        mated pairs fail.
    likenesses : tuple of float
        How closely the centres of a group's subjects lie about one point: the higher, the more
        false matches in it.
    """

    title: str
    concentrations: tuple[float, ...]
    likenesses: tuple[float, ...]


SCENARIOS = (
    Scenario("two groups alike", (90, 90), (0, 0)),
    Scenario("two, one a little harder", (95, 85), (0, 8)),
    Scenario("two, one much harder", (120, 60), (0, 30)),
    Scenario("five groups alike", (90,) * 5, (0,) * 5),
    Scenario("five in steps", (110, 100, 90, 80, 70), (0, 6, 12, 18, 24)),
)
_APART = ((0, 1), (3, 4))  # scenarios that a measure should tell apart


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """Normalised uncertainty of the four measures of one rate over FMR.

    Attributes
    ----------
    title, rate : str
        Of which data, and of which rate.
    levels : (levels,) ndarray
        False match rates of all pairs at which every group has enough errors.
    of_value : (measures, levels) ndarray
        Standard deviation of the replicates over the value: the paper's equation (11).
    of_distance : (measures, levels) ndarray
        The same over the distance from what a fair system has.
    """

    title: str
    rate: str
    levels: Floats
    of_value: Floats
    of_distance: Floats

    @property
    def share(self) -> float:
        """Return the share of levels at which the max-geomean ratio is the least uncertain."""
        return _share(self.of_value, "max_geomean_ratio")

    @property
    def share_of_distance(self) -> float:
        """Return the same of the uncertainty over the distance."""
        return _share(self.of_distance, "max_geomean_ratio")


def synthetic_groups(scenario: Scenario, seed: int) -> Embeddings:
    """Draw subjects whose groups differ as a scenario says, and in nothing else."""
    k = len(scenario.concentrations)
    stream = np.random.SeedSequence(seed, spawn_key=(SCENARIOS.index(scenario),))
    poles = VonMisesFisherIdentities(np.eye(k, _DIM), np.array(scenario.likenesses, np.float64))
    centers = poles.draw(N_SUBJECTS // k, rng=stream).astype(np.float64)
    group = np.repeat(np.arange(k), N_SUBJECTS // k)
    spread = np.tile(np.linspace(0.7, 1.3, N_SUBJECTS // k), k)
    people = VonMisesFisherIdentities(centers, np.array(scenario.concentrations)[group] * spread)
    subject = np.repeat(np.arange(N_SUBJECTS), N_SAMPLES)
    labels = np.array([f"group {1 + j}" for j in range(k)])
    return Embeddings(
        people.draw(N_SAMPLES, rng=stream.spawn(1)[0]), subject, group=labels[group[subject]]
    )


@dataclass(frozen=True, eq=False)
class Bands:
    """The paper's four measures of both rates over FMR, and how many errors are behind the groups'
    rates.

    Attributes
    ----------
    fairness : tuple of FairnessBand
        The same replicates make all of them.
    group_rates : dict of str to (levels, groups) ndarray
        FMR and FNMR of each group; NaN where nobody has an error.
    n_comparisons : dict of str to (groups,) ndarray
        Non-mated and mated pairs inside each group.
    """

    fairness: tuple[FairnessBand, ...]
    group_rates: dict[str, Floats]
    n_comparisons: dict[str, NDArray[np.int64]]

    @property
    def note(self) -> str:
        """Return what the bands warn of."""
        return self.fairness[0].note

    def few_errors(self, rate: str) -> NDArray[np.bool_]:
        """Tell the FMRs at which a group has few errors of a kind."""
        enough = self.group_rates[rate] * self.n_comparisons[rate] >= ENOUGH_ERRORS
        return np.asarray(~enough.all(axis=1))


def fairness_bands(data: Embeddings, levels: Floats, settings: Settings) -> Bands:
    """Compute the paper's eight measures over FMR, and the rates of groups."""
    bands = tuple(
        fairness_band(
            data,
            name,
            rate,
            levels,
            n_resamples=settings.n_resamples,
            rng=settings.seed,
            **OF_PAPER,
        )
        for name in NAMES
        for rate in RATES
    )
    # A group's rate is its ratio to that of all pairs, times that. No replicate is looked at here.
    few = {"n_resamples": _FEWEST, "rng": settings.seed} | OF_PAPER
    rates_of_all = {"fmr": levels, "fnmr": roc_band(data, levels, **few).fnmr}
    group_rates: dict[str, Floats] = {}
    for rate in RATES:
        of_all = rates_of_all[rate]
        ratio = fairness_band(data, "group_to_average_ratio", rate, levels, **few)
        group_rates[rate] = ratio.value * of_all[:, np.newaxis]
    vectors, mated = (
        np.bincount(data.subject_group, weights).astype(np.int64)
        for weights in (data.n_samples, data.n_samples * (data.n_samples - 1) // 2)
    )
    return Bands(bands, group_rates, {"fmr": vectors * (vectors - 1) // 2 - mated, "fnmr": mated})


def uncertainties(title: str, bands: Bands) -> list[Uncertainty]:
    """Read the normalised uncertainties of both rates off bands, where no group's rate has few
    errors behind it.
    """
    return [
        _uncertainty(
            title, rate, [b for b in bands.fairness if b.rate == rate], bands.few_errors(rate)
        )
        for rate in RATES
    ]


def _uncertainty(
    title: str, rate: str, of_rate: list[FairnessBand], few: NDArray[np.bool_]
) -> Uncertainty:
    by_name = {band.measure: band for band in of_rate}
    value, of_value = (
        np.array([getattr(by_name[n], key)[~few] for n in NAMES])
        for key in ("value", "uncertainty")
    )
    fairest = np.array([[MEASURES[name].fair_value] for name in NAMES])
    with np.errstate(divide="ignore", invalid="ignore"):
        of_distance = of_value * value / np.abs(value - fairest)
    return Uncertainty(title, rate, of_rate[0].fmr[~few], of_value, of_distance)


def _least(uncertainty: Floats) -> list[str]:
    """Name the measure of the least uncertainty at each level."""
    return [NAMES[k] for k in uncertainty.argmin(axis=0)] if uncertainty.size else []


def _share(uncertainty: Floats, name: str) -> float:
    least = _least(uncertainty)
    return least.count(name) / len(least) if least else float("nan")


def uncertainty_figure(found: list[Uncertainty], name: str, caption: str) -> Figure:
    """Draw normalised uncertainty over FMR, a row for each rate and a column for each data set:
    Figure 5 in kind.
    """
    titles = list(dict.fromkeys(u.title for u in found))
    wide = max(3, len(titles))
    drawing, axes = new_figure(2, len(titles), size=(2.5 * wide, 5.6), sharex=True, sharey="row")
    for u in found:
        row = RATES.index(u.rate)
        ax = axes[row, titles.index(u.title)]
        for k, measure in enumerate(NAMES):
            ax.plot(
                u.levels, u.of_value[k], color=COLORS[k], linestyle=LINES[k], label=TITLES[measure]
            )
        ax.set(xscale="log", yscale="log")
        ax.xaxis.set_major_formatter(per_cent)
        # Less than a decade of deviations is common; the powers of ten alone would leave axes
        # without numbers.
        ax.yaxis.get_major_locator().set_params(subs=(1, 2, 5))
        ax.yaxis.set_major_formatter(per_cent)
        ax.yaxis.set_minor_formatter("")
        if row == 0:
            ax.set_title(u.title)
        else:
            ax.set_xlabel("FMR of all pairs")
    for row, rate in enumerate(RATES):
        axes[row, 0].set_ylabel(f"{rate.upper()}: deviation / value")
    drawing.legend(
        *axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=len(NAMES)
    )
    return Figure(name, caption, drawing)


def bands_figure(bands: Bands, name: str, caption: str) -> Figure:
    """Draw the band of each measure over FMR, a row for each rate: Figures 19 to 22 in kind."""
    drawing, axes = new_figure(2, len(NAMES), size=(12.0, 5.4), sharex=True)
    for band in bands.fairness:
        k = NAMES.index(band.measure)
        ax = axes[RATES.index(band.rate or ""), k]
        band.plot(ax, color=COLORS[k])
        ax.xaxis.set_major_formatter(per_cent)
        ax.set_xlabel("FMR of all pairs" if band.rate == RATES[-1] else "")
    return Figure(name, caption, drawing)


def least_table(found: list[Uncertainty], name: str, caption: str) -> Table:
    """Count which measure is least uncertain, over value and over distance from the fair value."""
    rows = [
        (
            u.title,
            u.rate.upper(),
            len(u.levels),
            _counted(_least(u.of_value)),
            _counted(_least(u.of_distance)),
        )
        for u in found
    ]
    columns = (
        "Data",
        "Rate",
        "FMRs",
        "Least deviation / value, at how many",
        "Least deviation / distance from fair value",
    )
    return Table(name, caption, columns, rows)


def _counted(names: list[str]) -> str:
    return ", ".join(f"{TITLES[name]} {n}" for name, n in Counter(names).most_common())


def uncertainty_table(found: list[Uncertainty], name: str, caption: str) -> Table:
    """Lay out the uncertainties at the level nearest to an FMR of 0.1 %, over value and over
    distance.
    """
    rows: list[tuple[Cell, ...]] = []
    for u in found:
        if u.levels.size:
            k = int(np.abs(np.log(u.levels / SHOWN)).argmin())
            numbers = [
                100 * float(v) for column in (u.of_value, u.of_distance) for v in column[:, k]
            ]
            rows.append((u.title, u.rate.upper(), 100 * float(u.levels[k]), *numbers))
    heads = [f"{TITLES[name]}{of} (%)" for of in ("", ", of distance") for name in NAMES]
    return Table(
        name,
        caption,
        ("Data", "Rate", "FMR (%)", *heads),
        rows,
        {"FMR (%)": ".3g"} | dict.fromkeys(heads, ".1f"),
    )


def apart_table(bands: Sequence[Bands], name: str, caption: str) -> Table:
    """Lay out how many standard deviations apart each measure sees two systems, at an FMR of 0.1
    %.
    """
    level = LEVELS.tolist().index(SHOWN)
    rows: list[tuple[Cell, ...]] = []
    for first, second in _APART:
        for rate in RATES:
            found = [
                {b.measure: b for b in bands[k].fairness if b.rate == rate} for k in (first, second)
            ]
            title = f"{SCENARIOS[first].title}; {SCENARIOS[second].title}"
            rows.append(
                (title, rate.upper(), *(_distance(found[0][n], found[1][n], level) for n in NAMES))
            )
    columns = ("Systems", "Rate", *(TITLES[n] for n in NAMES))
    return Table(name, caption, columns, rows, dict.fromkeys(columns[2:], ".2f"))


def _distance(first: FairnessBand, second: FairnessBand, level: int) -> float:
    deviations = [band.uncertainty[level] * band.value[level] for band in (first, second)]
    return float((second.value[level] - first.value[level]) / np.hypot(*deviations))


@dataclass(frozen=True)
class Agreement:
    """How many pairs of made-up systems the four measures all order alike."""

    n_groups: int
    n_pairs: int
    n_agreed: int


def agreement(n_groups: int, seed: int) -> Agreement:
    """Draw pairs of systems whose groups have any rates from 0.1 % to 10 %, and compare the
    measures' orders.
    """
    rng = np.random.default_rng(seed)
    rates = 10 ** rng.uniform(-3, -1, (_SYSTEMS, 2, n_groups))
    first_is_fairer = np.array(
        [np.subtract(*MEASURES[name].function(rates).T) < 0 for name in NAMES]
    )
    return Agreement(
        n_groups, _SYSTEMS, int((first_is_fairer == first_is_fairer[0]).all(axis=0).sum())
    )


def agreement_table(found: list[Agreement], name: str, caption: str) -> Table:
    """Lay out agreements, a row for each number of groups."""
    rows = [(a.n_groups, a.n_pairs, a.n_agreed, 100 * a.n_agreed / a.n_pairs) for a in found]
    columns = ("Groups", "Pairs of systems", "Ordered alike by all four", "Share (%)")
    return Table(name, caption, columns, rows, {"Share (%)": ".1f"})


def verdicts(found: list[Uncertainty], agreed: list[Agreement]) -> list[Verdict]:
    """Judge what section 4 and appendix B say of the measures."""
    return [_lowest(found), _robust(found), _alike(agreed)]


def _lowest(found: list[Uncertainty]) -> Verdict:
    shares = [u.share for u in found]
    levels = sum(u.levels.size for u in found)
    times = sum(_least(u.of_value).count("max_geomean_ratio") for u in found)
    always = judged(min(shares), holds=0.9, part=2)
    return Verdict(
        "Max-geomean displays (almost always) the lowest uncertainty, in terms of FMR and of FNMR",
        "Section 4, Fig. 5; B.2",
        "Share of FMRs at which its deviation over its value is the lowest of the four. Holds if 90"
        " % of them for every data set and rate, in part if half of them altogether",
        f"lowest in {times} of {levels} cases; from {per_cent(round(min(shares), 2))} to "
        f"{per_cent(round(max(shares), 2))} of them over data sets and rates",
        always if always != "fails" else judged(times / levels, holds=2, part=0.5),
    )


def _robust(found: list[Uncertainty]) -> Verdict:
    levels = sum(u.levels.size for u in found)
    least = Counter(name for u in found for name in _least(u.of_distance))
    return Verdict(
        "Max-geomean is the more robust to assess fairness",
        "Sections 4 and 5",
        "As before, with the deviation divided by the distance from the value of a fair system,"
        " which is how far a measure sees unfairness. Holds if lowest at 90 % of FMRs, in part if"
        " at half",
        f"lowest in {least['max_geomean_ratio']} of {levels} cases; most often lowest: "
        f"{TITLES[least.most_common(1)[0][0]]}, in {least.most_common(1)[0][1]}",
        judged(least["max_geomean_ratio"] / levels, holds=0.9, part=0.5),
    )


def _alike(agreed: list[Agreement]) -> Verdict:
    shares = {a.n_groups: a.n_agreed / a.n_pairs for a in agreed}
    return Verdict(
        "All fairness metrics of two models exhibit exactly the same behaviour: they intersect at"
        " the same FMR",
        "B.3, Figs. 4 and 16 to 18",
        "Share of pairs of made-up systems that all four measures order alike. Holds if all of them"
        " for any number of groups, in part if for some numbers",
        "; ".join(f"{k} groups {per_cent(round(share, 3))}" for k, share in shares.items()),
        by_count(sum(share == 1 for share in shares.values()), len(shares)),
    )
