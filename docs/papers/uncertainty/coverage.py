"""Paper 5, appendix B.1: how often intervals hold the truth, over many simulated data sets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from fastfair import BandSettings, Embeddings, VonMisesFisherIdentities, roc_band
from fastfair.synthesis import coverage_experiment
from fastfair.synthesis.coverage import CoverageExperiment
from papers.figure_style import COLORS, LINES, new_figure, per_cent
from papers.page_parts import Cell, Figure, Range, Table, Verdict
from papers.settings import Settings
from papers.verdict_rules import Outcome, by_count

from . import printed
from .curves import label_rates
from .rules import ENOUGH_DATASETS, OF_PAPER, SLACK, chance, judged, near, settled

Floats = NDArray[np.float64]
METHODS: tuple[Literal["recentered", "percentile", "gaussian"], ...] = (
    "recentered",
    "percentile",
    "gaussian",
)
TITLES = {"recentered": "Recentered", "percentile": "Naive", "gaussian": "Gaussian"}
LEVELS = (1e-4, 2e-4, 3e-4, 5e-4, 1e-3, 2e-3, 3e-3, 5e-3, 1e-2)
TABLED = (1e-4, 1e-3, 1e-2)  # of which the tables are
FIRST, SECOND = 1e-3, 1e-2  # stand for the FMRs of the paper's Tables 1 and 2
NOMINAL = tuple(nominal for nominal, _ in printed.TABLE_1)
N_SUBJECTS, N_SAMPLES, DIM, CONCENTRATION = 200, 10, 64, (50, 150)
FEWER_SAMPLES = (5, 3)
_RESAMPLES = 500  # at most: coverage needs data sets more than it needs replicates


def experiment(settings: Settings) -> CoverageExperiment:
    """Run the experiment behind Tables 1 and 2."""
    return coverage_experiment(
        settings.n_datasets,
        n_resamples(settings),
        identities=_identities(settings),
        n_samples=N_SAMPLES,
        fmr=LEVELS,
        confidence_levels=NOMINAL,
        methods=METHODS,
        unit=OF_PAPER["unit"],
        rng=settings.seed,
    )


def _identities(settings: Settings) -> VonMisesFisherIdentities:
    return VonMisesFisherIdentities.random(N_SUBJECTS, DIM, CONCENTRATION, rng=settings.seed)


def n_resamples(settings: Settings) -> int:
    """Return how many replicates each data set has."""
    return min(_RESAMPLES, settings.n_resamples)


def with_fewer_samples(settings: Settings) -> dict[int, CoverageExperiment]:
    """Run a smaller experiment for fewer vectors of each subject, where naive intervals have the
    least chance.
    """
    return {
        n: coverage_experiment(
            max(2, settings.n_datasets // 2),
            n_resamples(settings),
            identities=_identities(settings),
            n_samples=n,
            fmr=TABLED[:2],
            confidence_levels=(0.95,),
            methods=METHODS[:2],
            unit=OF_PAPER["unit"],
            rng=settings.seed,
        )
        for n in FEWER_SAMPLES
    }


def first_data_set(settings: Settings) -> Embeddings:
    """Draw the first data set of the experiment again."""
    vectors = _identities(settings).draw(
        N_SAMPLES, rng=np.random.SeedSequence(settings.seed, spawn_key=(0,))
    )
    return Embeddings(vectors, np.repeat(np.arange(N_SUBJECTS), N_SAMPLES))


def at(found: CoverageExperiment, values: Floats, method: str, fmr: float) -> Floats:
    """Look values of methods, nominal coverages and levels up for one method and level."""
    return np.asarray(values[found.methods.index(method), :, found.fmr.tolist().index(fmr)])


def _part(
    found: CoverageExperiment, methods: tuple[str, ...], fmr: tuple[float, ...]
) -> CoverageExperiment:
    """Keep some methods and levels, to draw them."""
    m = [found.methods.index(method) for method in methods]
    k = [found.fmr.tolist().index(level) for level in fmr]
    kept = {
        name: getattr(found, name)[m][:, :, k] for name in ("coverage", "standard_error", "width")
    }
    of_levels = {
        name: getattr(found, name)[..., k]
        for name in ("fmr", "truth", "threshold", "estimates", "v_statistics")
    }
    return replace(found, methods=methods, **kept, **of_levels)


def table_1(found: CoverageExperiment) -> Table:
    """Put recentered intervals beside the paper's."""
    columns = [_ranges(found, "recentered", fmr) for fmr in TABLED]
    agrees = near(
        at(found, found.coverage, "recentered", FIRST),
        _table_1()[:, 1],
        NOMINAL,
        len(found.estimates),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            100 * nominal,
            *(column[c] for column in columns),
            100 * theirs,
            "yes" if agrees[c] else "no",
        )
        for c, (nominal, theirs) in enumerate(printed.TABLE_1)
    ]
    heads = [f"FMR {per_cent(fmr)}" for fmr in TABLED]
    names = ("Nominal (%)", *heads, "Printed", f"FMR {per_cent(FIRST)} near it")
    caption = (
        "Table 1: estimated coverage of recentered intervals in per cent, with two binomial"
        f" standard errors about it, and the paper's. Near: within {100 * SLACK:.0f} points and two"
        " binomial standard errors."
    )
    return Table(
        "table_1",
        caption,
        names,
        rows,
        {"Nominal (%)": ".0f", "Printed": ".0f"} | dict.fromkeys(heads, ".1f"),
    )


def table_2(found: CoverageExperiment) -> Table:
    """Put all methods at the second FMR beside the paper's."""
    columns = [_ranges(found, method, SECOND) for method in METHODS]
    rows: list[tuple[Cell, ...]] = []
    for c, (nominal, *theirs) in enumerate(printed.TABLE_2):
        beside = [cell for k, number in enumerate(theirs) for cell in (columns[k][c], 100 * number)]
        rows.append((100 * nominal, *beside))
    heads = [head for method in METHODS for head in (TITLES[method], f"{TITLES[method]}, printed")]
    formats = {head: ".0f" if "printed" in head else ".1f" for head in heads} | {
        "Nominal (%)": ".0f"
    }
    caption = (
        f"Table 2: estimated coverage at an FMR of {per_cent(SECOND)} in per cent, with two"
        " binomial standard errors about it, and the paper's, which is at another FMR"
    )
    return Table("table_2", caption, ("Nominal (%)", *heads), rows, formats)


def _ranges(found: CoverageExperiment, method: str, fmr: float) -> list[Range]:
    coverage, error = (
        at(found, values, method, fmr) for values in (found.coverage, found.standard_error)
    )
    ends = np.clip([coverage - 2 * error, coverage + 2 * error], 0, 1)
    return [Range(*numbers) for numbers in (100 * np.transpose([coverage, *ends])).tolist()]


def shift_table(found: CoverageExperiment, fewer: dict[int, CoverageExperiment]) -> Table:
    """Lay out how far replicates lie below the curve, in standard deviations of it, and what that
    does to coverage.
    """
    rows = [_shift(N_SAMPLES, found, k) for k in range(found.fmr.size)]
    rows += [_shift(n, less, k) for n, less in fewer.items() for k in range(less.fmr.size)]
    columns = (
        "Vectors a subject",
        "FMR (%)",
        "FNMR (%)",
        "V-statistic (%)",
        "Shift (standard deviations)",
        "Naive at nominal 95 %",
        "Recentered at nominal 95 %",
    )
    caption = (
        "The truth, the mean V-statistic, how many standard deviations of the data sets' curves"
        " that lies lower, and the coverage of 95 % intervals in per cent"
    )
    formats = (
        {"FMR (%)": ".3g"} | dict.fromkeys(columns[2:5], ".2f") | dict.fromkeys(columns[5:], ".1f")
    )
    return Table("shift", caption, columns, rows, formats)


def _shift(n_samples: int, found: CoverageExperiment, k: int) -> tuple[Cell, ...]:
    fmr = float(found.fmr[k])
    ranges = [_ranges(found, method, fmr)[0] for method in ("percentile", "recentered")]
    truth, expected = 100 * float(found.truth[k]), 100 * float(found.v_statistics[:, k].mean())
    return (n_samples, 100 * fmr, truth, expected, float(shifts(found)[k]), *ranges)


def shifts(found: CoverageExperiment) -> Floats:
    """Return how many standard deviations of the curve the V-statistic lies below it, at each
    level.
    """
    return np.asarray(
        (found.estimates - found.v_statistics).mean(axis=0) / found.estimates.std(axis=0)
    )


def excess(found: CoverageExperiment, fmr: float) -> float:
    """Return the mean width of recentered 95 % intervals over that of 3.92 standard deviations of
    the curve.
    """
    deviation = found.estimates.std(axis=0)[found.fmr.tolist().index(fmr)]
    return float(at(found, found.width, "recentered", fmr)[0] / (2 * 1.96 * deviation))


def bands_figure(found: CoverageExperiment, settings: Settings) -> Figure:
    """Draw the intervals of one data set by each method, and the truth: Figures 7 and 8 in kind."""
    data = first_data_set(settings)
    drawing, axes = new_figure(2, 3, size=(11.0, 5.8), sharex=True, sharey="row")
    for k, method in enumerate(("percentile", "recentered", "gaussian")):
        band = roc_band(
            data,
            LEVELS,
            unit=OF_PAPER["unit"],
            n_resamples=settings.n_resamples,
            settings=BandSettings(method),
            rng=settings.seed,
        )
        ax = band.plot(axes[0, k], color=COLORS[METHODS.index(method)], label="measured curve")
        ax.plot(found.fmr, found.truth, color="black", linestyle="--", label="truth")
        ax.set_title(TITLES[method])
        ax.legend()
        label_rates(ax)
        ax.set(xlabel="", ylabel="" if k else ax.get_ylabel())
        below = axes[1, k]
        low, value, high = (
            100 * (rates - found.truth) for rates in (band.low, band.fnmr, band.high)
        )
        below.fill_between(
            band.fmr, low, high, color=COLORS[METHODS.index(method)], alpha=0.35, linewidth=0
        )
        below.plot(band.fmr, value, color=COLORS[METHODS.index(method)])
        below.axhline(0, color="black", linestyle="--")
        below.set(xlabel="False match rate", ylabel="" if k else "Points from the truth")
    axes[0, 0].set_ylim(bottom=0)
    caption = (
        "Figures 7 and 8 in kind: the intervals of one data set by each method, and the truth."
        " Dark: the 95 % interval at each FMR; light: the band for the whole curve, the same for"
        " all methods. Below: how many points the curve and its 95 % intervals lie from the truth."
    )
    return Figure("fig_7_8", caption, drawing)


def coverage_figures(found: CoverageExperiment) -> list[Figure]:
    """Draw estimated over nominal coverage, and coverage over FMR: Figures 6 and 9 and what lies
    between.
    """
    drawing, axes = new_figure(size=(5.6, 4.4))
    ax = _part(found, ("recentered",), TABLED).plot(axes[0, 0], linewidth=1)
    for fmr, container, color in zip(TABLED, ax.containers, COLORS, strict=False):
        for artist in (container[0], *container[2]):
            artist.set_color(color)
        container.set_label(f"FMR {per_cent(fmr)}")
    ax.plot(*_table_1().T, "x", color="black", label="printed")
    _finish(ax)
    fig_6 = Figure(
        "fig_6",
        "Figure 6 in kind: coverage of recentered intervals at three FMRs, bars of one binomial"
        " standard error, and the paper's Table 1. On the dotted diagonal intervals are right.",
        drawing,
    )
    drawing, axes = new_figure(size=(5.6, 4.4))
    ax = _part(found, METHODS, (SECOND,)).plot(axes[0, 0], linewidth=1)
    for method, container, line in zip(METHODS, ax.containers, LINES, strict=False):
        container[0].set_linestyle(line)
        container.set_label(TITLES[method])
    theirs = np.array(printed.TABLE_2)
    for k, method in enumerate(METHODS):
        ax.plot(
            theirs[:, 0],
            theirs[:, 1 + k],
            "x",
            color=COLORS[k],
            label=f"{TITLES[method]}, printed",
            markersize=5,
        )
    _finish(ax)
    fig_9 = Figure(
        "fig_9",
        f"Figure 9 in kind: coverage of all methods at an FMR of {per_cent(SECOND)}, bars of one"
        " binomial standard error, and the paper's Table 2",
        drawing,
    )
    return [fig_6, fig_9, _over_fmr(found)]


def _over_fmr(found: CoverageExperiment) -> Figure:
    drawing, axes = new_figure(size=(5.6, 3.8))
    ax = axes[0, 0]
    for k, method in enumerate(METHODS):
        coverage, error = (
            values[found.methods.index(method), 0]
            for values in (found.coverage, found.standard_error)
        )
        style = {"color": COLORS[k], "linestyle": LINES[k], "marker": ".", "label": TITLES[method]}
        ax.errorbar(found.fmr, coverage, error, **style)
    ax.axhline(NOMINAL[0], color="0.4", linewidth=0.8, linestyle=":")
    ax.set(xscale="log", xlabel="False match rate", ylabel="Estimated coverage", ylim=(0, 1.02))
    ax.xaxis.set_major_formatter(per_cent)
    ax.yaxis.set_major_formatter(per_cent)
    ax.legend()
    caption = "Coverage of 95 % intervals (dotted) over FMR, bars of one binomial standard error"
    return Figure("coverage_over_fmr", caption, drawing)


def _finish(ax: Any) -> None:
    ax.xaxis.set_major_formatter(per_cent)
    ax.yaxis.set_major_formatter(per_cent)
    ax.legend()


def _table_1() -> Floats:
    return np.array(printed.TABLE_1)


def verdicts(found: CoverageExperiment, fewer: dict[int, CoverageExperiment]) -> list[Verdict]:
    """Judge what appendix B.1 says of the three methods."""
    return [
        _printed_again(found),
        _nominal(found),
        _zero(found, fewer),
        _far(found),
        *_gaussian(found),
    ]


def _printed_again(found: CoverageExperiment) -> Verdict:
    n = len(found.estimates)
    shares = {
        fmr: near(at(found, found.coverage, "recentered", fmr), _table_1()[:, 1], NOMINAL, n)
        for fmr in (FIRST, SECOND)
    }
    return Verdict(
        "Estimated coverages of recentered intervals are those of Table 1",
        "Table 1, Fig. 6",
        f"Share of nominal coverages at which ours are within {100 * SLACK:.0f} points and two"
        " binomial standard errors of the printed ones. Holds if all, in part if half; cannot be"
        f" told of fewer than {ENOUGH_DATASETS} data sets",
        "; ".join(
            f"{share.sum()} of {share.size} at FMR {per_cent(fmr)}" for fmr, share in shares.items()
        ),
        settled(
            judged(min(float(share.mean()) for share in shares.values()), holds=1, part=0.5), n
        ),
    )


def _nominal(found: CoverageExperiment) -> Verdict:
    n = len(found.estimates)
    good = {
        fmr: bool(near(at(found, found.coverage, "recentered", fmr), NOMINAL, NOMINAL, n).all())
        for fmr in TABLED
    }
    furthest = {
        fmr: float(100 * np.abs(at(found, found.coverage, "recentered", fmr) - NOMINAL).max())
        for fmr in TABLED
    }
    return Verdict(
        "The recentered bootstrap nearly achieves perfect nominal coverage, even in the"
        " non-asymptotic regime",
        "B.1",
        f"All nominal coverages met within {100 * SLACK:.0f} points and two binomial standard"
        " errors. Holds if so at all three FMRs, in part if at one; cannot be told of fewer than"
        f" {ENOUGH_DATASETS} data sets",
        "; ".join(
            f"{points:.1f} points away at most at FMR {per_cent(fmr)}"
            for fmr, points in furthest.items()
        ),
        settled(by_count(sum(good.values()), len(good)), n),
    )


def _zero(found: CoverageExperiment, fewer: dict[int, CoverageExperiment]) -> Verdict:
    lowest = {N_SAMPLES: found} | fewer
    coverage = {
        n: float(at(one, one.coverage, "percentile", TABLED[0])[0]) for n, one in lowest.items()
    }
    return Verdict(
        "The naive bootstrap's coverage is experimentally equal to zero, no matter what the nominal"
        " coverage is",
        "B.1, Fig. 7",
        f"Coverage of naive 95 % intervals at an FMR of {per_cent(TABLED[0])} is 1 % at most. Holds"
        " if so whatever the vectors a subject, in part if for some numbers of them",
        "; ".join(f"{per_cent(round(value, 3))} with {n} vectors" for n, value in coverage.items()),
        by_count(sum(value <= 0.01 for value in coverage.values()), len(coverage)),
    )


def _far(found: CoverageExperiment) -> Verdict:
    naive = at(found, found.coverage, "percentile", SECOND)
    upper = naive + 2 * at(found, found.standard_error, "percentile", SECOND)
    nominal = np.array(NOMINAL)
    tabled = nominal >= printed.TABLE_2[-1][0]
    short = (upper < nominal)[tabled]
    return Verdict(
        "Where it has a chance, the naive bootstrap is far from achieving nominal coverage",
        "B.1, Table 2, Fig. 9",
        "Coverage and two binomial standard errors are less than nominal. Holds if so at all"
        " nominal coverages of Table 2, in part if at half",
        f"at {short.sum()} of {short.size}; {100 * (nominal - naive)[tabled].min():.1f} to "
        f"{100 * (nominal - naive)[tabled].max():.1f} points too few",
        judged(float(short.mean()), holds=1, part=0.5),
    )


def _gaussian(found: CoverageExperiment) -> list[Verdict]:
    tabled = np.array(NOMINAL) >= printed.TABLE_2[-1][0]
    recentered, gaussian = (
        at(found, found.coverage, method, SECOND)[tabled] for method in ("recentered", "gaussian")
    )
    nominal = np.array(NOMINAL)[tabled]
    away = [float(100 * np.abs(c - nominal).mean()) for c in (recentered, gaussian)]
    theirs = np.array(printed.TABLE_2)
    away_printed = [float(100 * np.abs(theirs[:, k] - theirs[:, 0]).mean()) for k in (1, 3)]
    widths = [
        at(found, found.width, method, SECOND)[tabled] for method in ("recentered", "gaussian")
    ]
    wider = float((widths[1] / widths[0] - 1).mean())
    worse, over = away[1] - away[0], gaussian - recentered
    return [
        Verdict(
            "The Gaussian approximation is slightly less accurate than the recentered bootstrap",
            "B.1, Table 2, Fig. 9",
            "Mean distance of coverage from nominal. Holds if a point larger or more, in part if"
            " half a point",
            f"{away[1]:.2f} and {away[0]:.2f} points; printed {away_printed[1]:.2f} and"
            f" {away_printed[0]:.2f}",
            judged(worse, holds=1, part=0.5),
        ),
        Verdict(
            "Gaussian intervals are too wide",
            "B.1, Fig. 9",
            "Mean width over that of recentered intervals. Holds if more than 5 % wider, in part if"
            " wider with coverage above theirs by more than two binomial standard errors on"
            " average",
            f"{100 * wider:+.1f} % in width, {100 * float(over.mean()):+.1f} points of coverage on"
            " average",
            too_wide(wider, float((over - chance(nominal, len(found.estimates))).mean())),
        ),
    ]


def too_wide(wider: float, over: float) -> Outcome:
    """Judge whether intervals are too wide, by their extra width and by how far their extra
    coverage passes chance.
    """
    return "holds" if wider > 0.05 else "in part" if wider > 0 and over > 0 else "fails"


def chance_of_printed_step(n_datasets: int) -> float:
    """Return the chance that coverage grows as little as printed from a nominal 85 % to 95 %, were
    intervals right.

    Nested intervals of the right width hold the truth at 95 % and not at 85 % in a tenth of all
    data sets.
    """
    first, last = printed.TABLE_2[0], printed.TABLE_2[2]
    return float(
        binom.cdf(round((first[1] - last[1]) * n_datasets), n_datasets, first[0] - last[0])
    )
