"""Paper 5: uncertainty of ROC curves over embeddings, coverage of their bands, and how uncertain
measures are.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from fastfair import Embeddings
from fastfair.synthesis.coverage import CoverageExperiment
from papers.figure_style import per_cent
from papers.page_parts import Page, Part, Table, verdict_table
from papers.settings import Settings

from . import coverage, curves, measures, printed
from .rules import ENOUGH_ERRORS

_INTRODUCTION = """\
*Assessing Uncertainty in Similarity Scoring: Performance & Fairness in Face Recognition* draws confidence bands
about the ROC curve of a system that compares vectors. Every two vectors are a comparison, so that comparisons are
not independent, and a replicate that draws vectors with replacement compares some of them with themselves. The
paper shows that plain ("naive") bands lie too low for that, and recenters them. It counts on synthetic vectors how
often bands hold the truth, and it asks which fairness measure is the least uncertain.

Its curves are of faces (MORPH and RFW), which cannot be had here, and the concentrations, false match rates and
numbers of data sets of its simulations are missing from the text at hand. So everything below is of synthetic
vectors that scatter about their subject's centre by von Mises-Fisher laws, as in the paper's appendix B.1, with
numbers chosen here. Tables 1 and 2 can be compared with the printed ones in kind, not digit by digit. Figures 1, 4
and 10 to 18 compare models of those faces and are not remade. FMR and FNMR are the paper's FAR and FRR; every
subject counts alike in them.

As in the paper, replicates draw the vectors of each subject with replacement, and keep the subjects
(`unit="sample"`). So intervals say what other images of these very people would give. What other people would give
varies more, and needs replicates that draw subjects (`unit="subject"`)."""

_RANKING = """\
**What this ranking says.** The paper divides the deviation of the replicates by the value. A fair system has a
ratio of 1, but a log-geomean sum or a Gini coefficient of 0. So ratios are divided by their unfairness *plus one*,
and the other two measures by what is next to nothing where groups are alike. With two groups the max-geomean ratio
is the square root of the max-min ratio, and a root has half the relative deviation where that is small, whatever
the data. The Gini coefficient, which ends at 1, hardly moves where groups differ much. Divided by the distance from
the fair value, deviations rank otherwise, and that ranking too is one of yardsticks."""

_ALIKE = """\
**Do measures order systems alike?** The paper finds it striking that the curves of two models cross at the same FMR
for all four measures (appendix B.3). With two groups it is arithmetic: each of the four grows with the ratio of the
two rates and depends on nothing else, so that they must order any two systems alike. With more groups they need
not, as pairs of made-up systems show whose groups have any rates from 0.1 % to 10 %."""


def page(settings: Settings) -> Page:
    """Make the page.

    Parameters
    ----------
    settings : Settings
        How much work goes into it.

    Returns
    -------
    Page
    """
    parts = [_INTRODUCTION, *_curves(settings), *_measures(settings), *_coverage(settings)]
    if settings.embeddings is not None:
        settings.tell("paper 5: the embeddings given")
        parts += _given(settings.embeddings, settings)
    return Page("uncertainty", "Paper 5: how certain ROC curves and fairness measures are", parts)


def _curves(settings: Settings) -> list[Part]:
    settings.tell("paper 5: bundles of ROC curves")
    bundle = curves.synthetic_bundle(settings)
    text = f"""\
## What replicates scatter about (section 3.2)

The data are {curves.DATA}, and {settings.n_resamples:,} replicates draw each subject's vectors with replacement. Of
a subject's mated pairs in a replicate, 1 in {curves.N_SAMPLES} on average is a vector with itself, which never
fails. So replicates scatter about the *V-statistic*, in which such pairs are counted, and not about the curve that
was measured. Recentered intervals take the V-statistic off the replicates and add the curve (algorithm 2 of the
paper)."""
    return [
        text,
        curves.bundle_figure(
            bundle,
            "fig_2",
            "Figure 2 in kind: replicates of a ROC curve, the curve, and its V-statistic",
        ),
        curves.bands_figure(
            bundle,
            "fig_3",
            "Figure 3 in kind: naive and recentered intervals of the same replicates. Dark: the 95"
            " % interval at each FMR; light: the band for the whole curve, which is made of logit"
            " intervals and so the same for both.",
        ),
        curves.shift_table(bundle, "curves", "The same in numbers; intervals are 95 %"),
        verdict_table("claims_curves", "The claims of section 3.2", curves.verdicts(bundle)),
    ]


def _measures(settings: Settings) -> list[Part]:
    settings.tell("paper 5: uncertainty of fairness measures")
    bands = [
        measures.fairness_bands(
            measures.synthetic_groups(scenario, settings.seed), measures.LEVELS, settings
        )
        for scenario in measures.SCENARIOS
    ]
    found = [
        uncertainty
        for scenario, of_scenario in zip(measures.SCENARIOS, bands, strict=True)
        for uncertainty in measures.uncertainties(scenario.title, of_scenario)
    ]
    agreed = [measures.agreement(n_groups, settings.seed) for n_groups in (2, 3, 5)]
    apart = measures.apart_table(
        bands,
        "apart",
        "How many standard deviations of their difference two systems are apart at FMR"
        f" {per_cent(measures.SHOWN)}",
    )
    text = f"""\
## Which fairness measure is the least uncertain (section 4, appendix B.2 to B.4)

Groups differ in how closely vectors lie about their subject's centre, which moves FNMR, and in how alike their
subjects are, which moves FMR. Each of the {len(measures.SCENARIOS)} data sets has {measures.N_SUBJECTS} subjects
with {measures.N_SAMPLES} vectors, and {settings.n_resamples:,} replicates. The threshold is one for all groups and
holds the FMR of all pairs. FMRs at which a group has fewer than {ENOUGH_ERRORS} errors are left out."""
    return [
        text,
        measures.uncertainty_figure(
            found,
            "fig_5",
            "Figure 5 in kind: normalised uncertainty of the four measures of FMR (above) and FNMR"
            " (below), a column for each data set; both axes logarithmic. Where groups are nearly"
            " alike two lines coincide, those of the log-geomean sum and of the Gini coefficient.",
        ),
        *_rankings(found),
        _RANKING,
        "**Which measure tells systems apart?** That needs two systems. A measure does it well if"
        " their values differ by many standard deviations of the difference, whatever its scale."
        " With two groups that are nearly alike all four must see nearly the same, as each is a"
        " function of one ratio. " + _furthest(apart),
        apart,
        measures.bands_figure(
            bands[-1],
            "fig_19_22",
            "Figures 19 to 22 in kind: recentered bands of all eight measures,"
            f" {measures.SCENARIOS[-1].title}. Dark: the 95 % interval at each FMR; light: the band"
            f" for the whole curve. {bands[-1].note[0].upper()}{bands[-1].note[1:]}.",
        ),
        _ALIKE,
        measures.agreement_table(
            agreed,
            "agreement",
            "Pairs of made-up systems, and how many all four measures order alike",
        ),
        verdict_table(
            "claims_measures",
            "The claims of section 4 and appendix B",
            measures.verdicts(found, agreed),
        ),
    ]


def _rankings(found: list[measures.Uncertainty], suffix: str = "") -> list[Part]:
    return [
        measures.least_table(
            found, "least" + suffix, "Which measure is the least uncertain, and at how many FMRs"
        ),
        measures.uncertainty_table(
            found,
            "uncertainty" + suffix,
            "Standard deviation of the replicates over the value, and over the distance from the"
            f" value of a fair system, at the FMR nearest to {per_cent(measures.SHOWN)}",
        ),
    ]


def _furthest(apart: Table) -> str:
    names = Counter(
        apart.columns[2 + int(np.argmax(np.abs(np.array(row[2:], float))))] for row in apart.rows
    )
    counted = ", ".join(
        f"{name} in {n} of {len(apart.rows)} rows" for name, n in names.most_common()
    )
    return f"Furthest apart: {counted}."


def _coverage(settings: Settings) -> list[Part]:
    settings.tell("paper 5: coverage of intervals")
    found = coverage.experiment(settings)
    settings.tell("paper 5: coverage with fewer vectors")
    fewer = coverage.with_fewer_samples(settings)
    low, high = coverage.CONCENTRATION
    fig_6, fig_9, over_fmr = coverage.coverage_figures(found)
    text = f"""\
## How often intervals hold the truth (appendix B.1)

{coverage.N_SUBJECTS} subjects have centres uniform on the sphere in {coverage.DIM} dimensions and concentrations
uniform from {low} to {high}. {settings.n_datasets:,} data sets of these subjects have {coverage.N_SAMPLES} vectors
of each, and {coverage.n_resamples(settings):,} replicates. The truth is the FNMR at an FMR in all data sets
together. FMRs of {per_cent(coverage.FIRST)} and {per_cent(coverage.SECOND)} stand for those of the paper's Tables 1
and 2. All methods and FMRs read the same replicates, and all rows of a table the same data sets, so that their
errors go together."""
    return [
        text,
        coverage.bands_figure(found, settings),
        fig_6,
        coverage.table_1(found),
        _on_widths(found, fewer),
        over_fmr,
        coverage.shift_table(found, fewer),
        _on_naive(found, fewer),
        fig_9,
        coverage.table_2(found),
        _on_table_2(found),
        verdict_table(
            "claims_coverage", "The claims of appendix B.1", coverage.verdicts(found, fewer)
        ),
    ]


def _on_widths(found: CoverageExperiment, fewer: dict[int, CoverageExperiment]) -> str:
    widths = ", ".join(
        f"{coverage.excess(found, fmr):.2f} at {per_cent(fmr)}" for fmr in coverage.TABLED
    )
    own = 1 - 1 / coverage.N_SAMPLES
    fmr = coverage.FIRST
    held = _held({coverage.N_SAMPLES: found} | fewer, "recentered", fmr)
    return (
        "**Where recentered intervals are off.** The mean width of 95 % intervals over 3.92"
        f" standard deviations of the data sets' own curves is {widths} (1 would be right). The"
        " lower the FMR, the fewer pairs make the threshold, and the more it hangs on their own"
        " chance. Replicates count that too often: a non-mated pair weighs the product of two"
        f" counts, each with a variance of {own:.1f}, and so counts its own chance (1 + {own:.1f})²"
        f" − 1 = {(1 + own) ** 2 - 1:.1f} times. The fewer vectors a subject has, the more"
        " something else counts: means of n values that are drawn from themselves scatter with 1 −"
        f" 1/n of the variance of means of new ones. At an FMR of {per_cent(fmr)} 95 % intervals"
        f" hold the truth in {held} vectors a subject."
    )


def _on_naive(found: CoverageExperiment, fewer: dict[int, CoverageExperiment]) -> str:
    fmr = coverage.TABLED[0]
    held = _held({coverage.N_SAMPLES: found} | fewer, "percentile", fmr)
    return (
        "**Where naive intervals fail.** They miss the more often, the more standard deviations"
        " the V-statistic lies below the curve. The fewer vectors a subject has, the more often"
        f" one meets itself in a replicate: at an FMR of {per_cent(fmr)} the naive 95 % interval"
        f" holds the truth in {held} vectors a subject. So coverages that the paper finds to be"
        " zero need not be so with other data. And an FMR at which naive intervals have a chance"
        " can be found, as the paper does for its Table 2: its naive column depends on that"
        " choice."
    )


def _held(found: dict[int, CoverageExperiment], method: str, fmr: float) -> str:
    held = {n: float(coverage.at(one, one.coverage, method, fmr)[0]) for n, one in found.items()}
    return ", ".join(f"{per_cent(round(share, 3))} with {n}" for n, share in held.items())


def _on_table_2(found: CoverageExperiment) -> str:
    rows = {row[0]: row for row in printed.TABLE_2}
    first, third, last = rows[0.95], rows[0.85], rows[0.45]
    recentered, gaussian = (
        coverage.at(found, found.coverage, method, coverage.SECOND)
        for method in ("recentered", "gaussian")
    )
    apart = 100 * float(np.abs(gaussian - recentered).max())
    return (
        "**Where the printed table strays.** Both methods read the same recentered replicates; one"
        " takes their quantiles, the other those of a normal law with their mean and deviation."
        f" Where replicates are nearly normal the two must agree. Here they are {apart:.1f} points"
        f" apart at most; printed are {100 * last[3]:.0f} % for the Gaussian and"
        f" {100 * last[1]:.0f} % for recentered intervals at a nominal {100 * last[0]:.0f} %. And"
        f" from a nominal {100 * third[0]:.0f} % to {100 * first[0]:.0f} % the printed coverage of"
        f" recentered intervals grows by {100 * (first[1] - third[1]):.0f} points only. Intervals"
        " of the right width would grow past the truth in a tenth of all data sets. So few or"
        f" fewer have a chance of {coverage.chance_of_printed_step(100):.2g} with 100 data sets and"
        f" {coverage.chance_of_printed_step(1000):.2g} with 1,000: either data sets were few, or"
        " some lie far off."
    )


def _given(data: Embeddings, settings: Settings) -> list[Part]:
    """Make the figures that need no truth of the reader's own embeddings."""
    levels = measures.LEVELS[measures.LEVELS * data.n_nonmated >= ENOUGH_ERRORS]
    title = f"## The embeddings given\n\n`{data!r}`, {settings.n_resamples:,} replicates."
    if not levels.size:
        return [
            f"{title} They have too few pairs for an FMR of {per_cent(float(measures.LEVELS[-1]))}."
        ]
    bundle = curves.Bundle.of(data, levels, settings)
    parts: list[Part] = [
        title,
        curves.bundle_figure(
            bundle, "given_curves", "Replicates of the ROC curve, the curve, and its V-statistic"
        ),
        curves.bands_figure(
            bundle,
            "given_bands",
            "Naive and recentered intervals of the same replicates; light: the band for the whole"
            " curve, the same for both",
        ),
        curves.shift_table(bundle, "given_curves", "The same in numbers; intervals are 95 %"),
    ]
    if len(data.groups) > 1:
        bands = measures.fairness_bands(data, levels, settings)
        found = measures.uncertainties(" & ".join(data.grouping), bands)
        parts += [
            measures.uncertainty_figure(
                found, "given_uncertainty", "Normalised uncertainty of the four measures over FMR"
            ),
            *_rankings(found, "_given"),
            measures.bands_figure(
                bands,
                "given_measures",
                f"Recentered bands of all eight measures over FMR; {bands.note}",
            ),
        ]
    return parts
