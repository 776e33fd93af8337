"""The verb `embeddings` of the command line."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from numpy.typing import NDArray

from fastfair._lib import frames
from fastfair._lib.csv_text import write_csv
from fastfair._lib.text import drawn
from fastfair._lib.validation import SIMILARITIES
from fastfair.bands.all_bands import DEFAULT_MEASURES, Bands, bands_of
from fastfair.bands.fairness import BAND_ZERO_POLICIES, FairnessBand
from fastfair.bands.rates_at_levels import BAND_METHODS_OF_EMBEDDINGS
from fastfair.data.embeddings import Embeddings
from fastfair.data.templates import TEMPLATE_SCORES
from fastfair.error_rates.operating_points import ENOUGH_ERRORS
from fastfair.errors import InputError
from fastfair.io.embeddings import read_embeddings
from fastfair.measures._registry import METRICS, at_any_threshold
from fastfair.pages.report import report as write_report
from fastfair.resampling.pair_lists import VECTOR_UNITS, WEIGHTINGS
from fastfair.uncertainty.quantities import table_of

from .options import (
    ALPHA,
    CHECKPOINT,
    CONFIDENCE_LEVEL,
    MOST_CURVES,
    REPORT,
    RUNNING,
    SUBJECTS,
    Rates,
    measure_option,
    method_option,
    read_with,
    with_options,
    zero_policy_option,
)
from .output import deliver, require_output, with_inputs
from .tables import print_bands
from .terminal import say, say_json
from .verbs import Verb, input_files, watched

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Levels = NDArray[np.float64]
_DEFAULT_LEVELS = np.array([1e-4, 1e-3, 1e-2])
_LAST_RESORT = 0.1  # the FMR for few pairs: the highest one that bands over embeddings have by default
_DRAWN, _ON_PAGE = 50, 20  # FMRs at which a plot draws a curve, and at which a page does, which holds their numbers


def _options(command: Any) -> Any:
    options = [
        click.option("--vectors", metavar="NAME", help="Array or column of vectors. [default: vectors]"),
        click.option("--subject", metavar="NAME", help="Array or column of subjects or paths. [default: subject]"),
        click.option(
            "--samples", type=click.Path(path_type=Path), metavar="FILE",
            help="Table with one row for each vector, where PATH does not hold the subjects.",
        ),
        *SUBJECTS,
        click.option(
            "--role", metavar="NAME",
            help='Array or column that says which vectors are a "reference" and which a "probe": references are '
            "compared with probes alone. [default: every two vectors are compared]",
        ),
        click.option(
            "--template", metavar="NAME",
            help="With --role: array or column that says which template each reference is part of, such as that of the "
            "subjects. [default: each reference alone]",
        ),
        click.option(
            "--template-score", type=click.Choice(TEMPLATE_SCORES), default="mean", show_default=True,
            help="With --template: the score of a template with a probe is that of the mean of its vectors, or the "
            "highest that one of them has.",
        ),
        click.option("--similarity", type=click.Choice(SIMILARITIES), default="cosine", show_default=True),
        click.option(
            "--fmr", "levels", multiple=True, type=Rates(), metavar="RATES",
            help="False match rates at which to measure, as in 0.001,0.01. May be repeated. "
            "[default: those of 0.0001, 0.001 and 0.01 that are at least 30 false matches]",
        ),
        measure_option(at_any_threshold, ", ".join(DEFAULT_MEASURES)),
        ALPHA,
        zero_policy_option(BAND_ZERO_POLICIES),
        click.option(
            "--weighting", type=click.Choice(WEIGHTINGS), default="identity", show_default=True,
            help="What has equal weight: subjects and pairs of subjects (identity), or pairs of vectors.",
        ),
        click.option(
            "--n-resamples", type=click.IntRange(min=2), default=1000, show_default=True, help="Bootstrap replicates."
        ),
        click.option(
            "--unit", type=click.Choice(VECTOR_UNITS), default="subject", show_default=True,
            help="What replicates draw with replacement: subjects inside each group, for what other people would give; "
            "samples inside each subject, for other images of these very people; or subjects and their samples.",
        ),
        CONFIDENCE_LEVEL,
        method_option(BAND_METHODS_OF_EMBEDDINGS),
        *RUNNING,
        CHECKPOINT,
        REPORT,
        click.option("--plots", is_flag=True, help="With --output: draw ROC and fairness bands, as PNG and SVG."),
    ]  # fmt: skip
    return with_options(command, options)


@click.command(
    "embeddings",
    cls=Verb,
    summary="Measure vectors: FNMR at false match rates, groups, fairness.",
    examples="""
    fastfair embeddings faces.npz --group sex --output results --plots --report report.html
    fastfair embeddings faces.npy --samples images.csv --subject file --subject-pattern '^([^/]+)/' --fmr 0.001,0.01
    """,
)
@click.argument("path", type=click.Path(path_type=Path))
@_options
def embeddings_command(
    path: Path,
    *,
    levels: tuple[tuple[float, ...], ...],
    names: tuple[str, ...],
    as_json: bool,
    output: Path | None,
    plots: bool,
    report: Path | None,
    progress: bool | None,
    **options: Any,
) -> None:
    """Measure the vectors in the file PATH: FNMR at false match rates, per group too, and fairness, with intervals.

    PATH may be a pattern in quotes, such as 'vectors/*.npy', of files with parts of the vectors.
    """
    require_output(output, plots, report)
    embeddings = read_with(read_embeddings, path, options)
    asked = np.unique([rate for rates in levels for rate in rates]) if levels else _default_levels(embeddings)
    computed = asked
    if plots or report is not None:
        computed = _curve_to(asked, embeddings, _DRAWN if plots else _ON_PAGE)

    bands = bands_of(embeddings, computed, names, progress=watched(progress), **options)

    def page(path: Path) -> None:
        title = "Error rates and fairness of vectors"
        write_report([replace(bands, asked=tuple(asked.tolist()))], path, title=title, inputs=input_files())

    deliver(
        output,
        lambda: {
            "bands.json": partial(with_inputs, bands.to_json()),
            "bands.csv": partial(write_csv, frames.build(table_of(bands.quantities), "polars")),
        },
        partial(_figures, bands) if plots else None,
        (lambda: say_json(with_inputs(bands.to_json()))) if as_json else partial(print_bands, bands, asked.tolist()),
        None if report is None else (report, page),
    )


def _default_levels(embeddings: Embeddings) -> Levels:
    """Choose the default FMRs for which there are enough pairs, and print which are left out."""
    enough = _DEFAULT_LEVELS * embeddings.n_nonmated >= ENOUGH_ERRORS
    if enough.all():
        return _DEFAULT_LEVELS
    left_out = ", ".join(f"{level:g}" for level in _DEFAULT_LEVELS[~enough])
    chosen = _DEFAULT_LEVELS[enough] if enough.any() else np.array([_LAST_RESORT])
    say(
        f"FMR {left_out} would be fewer than {ENOUGH_ERRORS} of {embeddings.n_nonmated:,} non-mated pairs, so FNMR "
        f"is measured at FMR {', '.join(f'{level:g}' for level in chosen)}; choose others with --fmr.",
        err=True,
    )
    return chosen


def _curve_to(asked: Levels, embeddings: Embeddings, n: int) -> Levels:
    """Add FMRs below the highest one asked for, so that a curve can be drawn; this needs no further pairs."""
    least = min(asked[0], ENOUGH_ERRORS / embeddings.n_nonmated)
    if least == asked[-1]:
        raise InputError(
            f"there is no curve to draw: an FMR below {least:g} would be fewer than {ENOUGH_ERRORS} of "
            f"{embeddings.n_nonmated:,} non-mated pairs; add a higher --fmr, or leave --plots and --report out"
        )
    return np.union1d(asked, np.geomspace(least, asked[-1], n))


def _figures(bands: Bands) -> dict[str, Figure]:
    from fastfair.bands.plots import draw_roc_panels

    figures = {"roc": _roc_figure(bands)}
    if len(bands.groups) > MOST_CURVES:
        figures["roc_by_group"] = draw_roc_panels(bands.roc, bands.group_roc)
    computable = [band for band in bands.fairness if np.isfinite(band.value).any()]
    if computable:
        figures["fairness"] = _fairness_figure(computable)
    return figures


def _roc_figure(bands: Bands) -> Figure:
    """Draw the FNMR of all pairs, and to its right that of each group."""
    from matplotlib.figure import Figure

    with_groups = 1 < len(bands.groups) <= MOST_CURVES
    figure = Figure(figsize=(11 if with_groups else 5.5, 4.5), layout="constrained")
    axes = figure.subplots(1, 1 + with_groups, sharey=True, squeeze=False)[0]
    bands.roc.plot(axes[0], label="all", color="black")
    if with_groups:
        for group, band in bands.group_roc.items():
            band.plot(axes[1], label=drawn(group))
        axes[1].set(xlabel=f"{METRICS['fmr'].long_title} of all pairs", ylabel="")
    for ax in axes:
        ax.set_ylim(bottom=0)
        ax.legend()
    return figure


def _fairness_figure(bands: list[FairnessBand]) -> Figure:
    """Draw each fairness measure in its own axes."""
    from matplotlib.figure import Figure

    columns = min(2, len(bands))
    rows = -(-len(bands) // columns)
    figure = Figure(figsize=(5.5 * columns, 3.2 * rows), layout="constrained")
    for k, band in enumerate(bands):
        color = {} if band.value.ndim > 1 else {"color": "black"}
        band.plot(figure.add_subplot(rows, columns, k + 1), **color)
    return figure
