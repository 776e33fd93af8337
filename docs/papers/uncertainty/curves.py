"""Paper 5, section 3.2: what replicates of a ROC curve over embeddings scatter about, and the bands
made of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastfair import BandSettings, Embeddings, roc_band, von_mises_fisher_embeddings
from fastfair.bands.curve import RocBand
from papers.figure_style import COLORS, new_figure, per_cent
from papers.page_parts import Figure, Range, Table, Verdict
from papers.settings import Settings

from .rules import OF_PAPER, judged

Floats = NDArray[np.float64]
LEVELS = np.geomspace(1e-4, 2e-2, 24)
N_SAMPLES = 4
DATA = f"500 subjects with {N_SAMPLES} vectors each"
_BUNDLE = 100  # replicates drawn: more would be a surface


@dataclass(frozen=True, eq=False)
class Bundle:
    """Both bands of the same replicates of one curve."""

    naive: RocBand
    recentered: RocBand

    @classmethod
    def of(cls, data: Embeddings, levels: Floats, settings: Settings) -> Bundle:
        """Compute the bands of data at levels of FMR."""
        bands = {
            method: roc_band(
                data,
                levels,
                unit=OF_PAPER["unit"],
                n_resamples=settings.n_resamples,
                settings=BandSettings(method),
                rng=settings.seed,
            )
            for method in ("percentile", "recentered")
        }
        return cls(bands["percentile"], bands["recentered"])

    @property
    def mean(self) -> Floats:
        """Return the mean of the replicates at each level."""
        return self.naive.replicates.mean(axis=0)

    @property
    def misses(self) -> NDArray[np.bool_]:
        """Tell the levels at which the naive interval does not hold the measured curve."""
        return (self.naive.fnmr < self.naive.low) | (self.naive.fnmr > self.naive.high)


def synthetic_bundle(settings: Settings) -> Bundle:
    """Draw few vectors of many subjects, as sets of faces have them, and compute both bands."""
    data = von_mises_fisher_embeddings(
        500, N_SAMPLES, 64, concentration=(50, 150), rng=settings.seed
    )
    return Bundle.of(data, LEVELS, settings)


def bundle_figure(bundle: Bundle, name: str, caption: str) -> Figure:
    """Draw replicates, the curve and the V-statistic: Figure 2 in kind."""
    drawing, axes = new_figure(size=(6.4, 4.2))
    ax, band = axes[0, 0], bundle.naive
    lines = ax.plot(
        band.fmr, band.replicates[:_BUNDLE].T, color=COLORS[5], linewidth=0.6, alpha=0.35
    )
    lines[0].set_label("replicates")
    ax.plot(band.fmr, band.fnmr, color=COLORS[0], linewidth=2, label="measured curve (U-statistic)")
    ax.plot(
        band.fmr,
        band.v_statistic,
        color=COLORS[1],
        linestyle="--",
        linewidth=2,
        label="V-statistic",
    )
    for handle in ax.legend().legend_handles:
        handle.set_alpha(1)
    label_rates(ax)
    ax.set_ylim(bottom=0)
    return Figure(name, caption, drawing)


def bands_figure(bundle: Bundle, name: str, caption: str) -> Figure:
    """Draw naive and recentered intervals about the measured curve: Figure 3 in kind."""
    drawing, axes = new_figure(1, 2, size=(9.0, 3.8), sharey=True)
    titles = {
        "Naive bootstrap": (bundle.naive, COLORS[1]),
        "Recentered bootstrap": (bundle.recentered, COLORS[0]),
    }
    for ax, (title, (band, color)) in zip(axes[0], titles.items(), strict=True):
        band.plot(ax, color=color, linewidth=0)
        ax.plot(band.fmr, band.fnmr, color="black", label="measured curve")
        ax.set_title(title)
        ax.legend()
        label_rates(ax)
    axes[0, 1].set(ylabel="", ylim=(0, None))
    return Figure(name, caption, drawing)


def label_rates(ax: Any) -> None:
    """Write FNMR over a logarithmic FMR in per cent."""
    ax.set_xscale("log")
    ax.set(xlabel="False match rate", ylabel="False non-match rate")
    ax.xaxis.set_major_formatter(per_cent)
    ax.yaxis.set_major_formatter(per_cent)


def shift_table(bundle: Bundle, name: str, caption: str) -> Table:
    """Lay out curve, V-statistic and replicates at a few levels."""
    shown = np.unique(np.linspace(0, bundle.naive.fmr.size - 1, 5).astype(int))
    rows = [
        (
            100 * float(bundle.naive.fmr[k]),
            100 * float(bundle.naive.fnmr[k]),
            100 * float(bundle.naive.v_statistic[k]),
            100 * float(bundle.mean[k]),
            Range(
                *(
                    100 * float(values[k])
                    for values in (bundle.naive.fnmr, bundle.naive.low, bundle.naive.high)
                )
            ),
            Range(
                *(
                    100 * float(v[k])
                    for v in (bundle.recentered.fnmr, bundle.recentered.low, bundle.recentered.high)
                )
            ),
        )
        for k in shown
    ]
    columns = (
        "FMR (%)",
        "FNMR (%)",
        "V-statistic (%)",
        "Mean of replicates (%)",
        "FNMR, naive interval (%)",
        "FNMR, recentered interval (%)",
    )
    return Table(
        name, caption, columns, rows, {"FMR (%)": ".3g"} | dict.fromkeys(columns[1:], ".2f")
    )


def verdicts(bundle: Bundle) -> list[Verdict]:
    """Judge what section 3.2 says of the replicates and of the naive band."""
    fnmr, v_statistic, mean = bundle.naive.fnmr, bundle.naive.v_statistic, bundle.mean
    nearer = np.abs(mean - v_statistic) < np.abs(mean - fnmr)
    below = mean < fnmr
    centred = judged(float((nearer & below).mean()), holds=1, part=0.5)
    missed = float(bundle.misses.mean())
    return [
        Verdict(
            "Bootstrap curves are centred about the V-statistic and not about the curve, which they"
            " underestimate",
            "Section 3.2, Fig. 2",
            "At each FMR: the replicates' mean lies below the curve, and nearer to the V-statistic"
            " than to the curve. Holds if everywhere, in part if at half of the FMRs",
            f"at {(nearer & below).sum()} of {fnmr.size} FMRs; the mean is at most"
            f" {_furthest(mean, v_statistic)} off the V-statistic, and the V-statistic"
            f" {_furthest(v_statistic, fnmr)} off the curve",
            centred,
        ),
        Verdict(
            "Bands of the naive bootstrap do not even contain the empirical curve most of the time",
            "Section 3.2, Fig. 3",
            "Share of FMRs at which the naive 95 % interval misses the curve that it was made of."
            " Holds if more than half, in part if any",
            f"missed at {bundle.misses.sum()} of {fnmr.size} FMRs",
            "holds" if missed > 0.5 else "in part" if missed > 0 else "fails",
        ),
    ]


def _furthest(values: Floats, reference: Floats) -> str:
    return per_cent(round(float((np.abs(values - reference) / reference).max()), 3))
