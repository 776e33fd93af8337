"""Fair systems: figure 1 of paper 4, and how often its methods find differences where there are
none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np
from numpy.typing import NDArray

from fastfair import FailureCounts, correlated_decisions, fnmr_test, margin_of_error
from fastfair.group_tests.equal_rates import MarginOfError
from papers.figure_style import new_figure
from papers.page_parts import Figure, Range, Table, Verdict
from papers.settings import Settings
from papers.verdict_rules import Outcome

from .rules import level_outcome

LEVEL = 0.05  # α of the paper
_REPLICATES = 399  # of each simulated study
_APART = {4: 0.16, 11: 0.05, 17: 0.15}  # FNMRs of the groups of figure 1 that differ


@dataclass(frozen=True)
class Design:
    """A study of groups that are all alike."""

    n_groups: int
    n_subjects: int
    n_attempts: int
    fnmr: float
    correlation: float

    def __str__(self) -> str:
        return (
            f"{self.n_groups} groups of {self.n_subjects} subjects with {self.n_attempts} attempts"
            f" each, FNMR {100 * self.fnmr:g} %, correlation {self.correlation:g}"
        )


FIGURE_1 = Design(20, 400, 2, 0.10, 0.05)
# About as many groups, and as correlated attempts, as VoxCeleb1-H has.
FAIR = Design(11, 60, 20, 0.17, 0.13)


def draw(
    design: Design, seed: np.random.SeedSequence, apart: Mapping[int, float] | None = None
) -> FailureCounts:
    """Draw a study; some groups may have an FNMR of their own."""
    failures = [
        correlated_decisions(
            design.n_subjects,
            design.n_attempts,
            (apart or {}).get(k, design.fnmr),
            design.correlation,
            rng=child,
        ).sum(axis=1)
        for k, child in enumerate(seed.spawn(design.n_groups))
    ]
    group = np.repeat([f"group {k + 1:02d}" for k in range(design.n_groups)], design.n_subjects)
    return FailureCounts(np.concatenate(failures), np.full(group.size, design.n_attempts), group)


def unclustered(counts: FailureCounts) -> FailureCounts:
    """Take every attempt for one of a subject of its own, as who ignores subjects does."""
    kinds = np.stack([counts.n_failures, counts.n_attempts - counts.n_failures], axis=1).ravel()
    failed = np.repeat(np.tile([1, 0], len(counts.groups)), kinds)
    group = np.repeat(np.repeat(counts.groups, 2), kinds)
    return FailureCounts(failed, np.ones(failed.size, np.int64), group)


def example(settings: Settings) -> tuple[MarginOfError, MarginOfError]:
    """Compute the margins of figure 1: of a fair system, and of one with three groups that
    differ.
    """
    settings.tell("paper 4: margins of 20 groups")
    found = []
    for apart in ({}, _APART):
        counts = draw(FIGURE_1, np.random.SeedSequence(settings.seed), apart)
        found.append(margin_of_error(counts, n_resamples=settings.n_resamples, rng=settings.seed))
    return found[0], found[1]


def figure_1(found: Sequence[MarginOfError]) -> Figure:
    """Draw both."""
    figure, axes = new_figure(1, 2, (8.2, 4.6), sharex=True)
    titles = "all groups alike", f"{len(_APART)} groups differ"
    for ax, margin, title in zip(axes[0], found, titles, strict=True):
        margin.plot(ax)
        ax.get_legend().remove()
        ax.set_title(title)
        ax.tick_params(axis="y", labelsize="small")
    handles = {
        label: handle
        for ax in axes[0]
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)
    }
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=len(handles))
    differing = ", ".join(f"group {k + 1:02d} {100 * rate:g} %" for k, rate in _APART.items())
    return Figure(
        "figure_1",
        f"**Figure 1: FNMRs between the margins**, simulated: {FIGURE_1}; on the right"
        f" {differing}.",
        figure,
    )


@dataclass(frozen=True)
class Findings:
    """How many fair studies each method found to be unfair.

    Attributes
    ----------
    n_studies : int
        All.
    found : dict of int
        By method.
    """

    n_studies: int
    found: Mapping[str, int]

    def share(self, method: str) -> Range:
        """Return the share, with Clopper and Pearson's interval."""
        from scipy.stats import binomtest

        k = self.found[method]
        low, high = binomtest(k, self.n_studies).proportion_ci(1 - LEVEL, "exact")
        return Range(k / self.n_studies, float(low), float(high))

    def outcome(self, method: str) -> Outcome:
        """Decide whether a method keeps its level."""
        share = self.share(method)
        return level_outcome(share.low, share.high, LEVEL)


TEST, NAIVE_TEST = "F test, subjects drawn", "F test, attempts taken for independent"
MARGIN, PAPER_MARGIN = "margin, quantile at 1 - α", "margin, quantile at 1 - α/2"
OWN_MARGIN = "margin, quantile at 1 - α, distances to the replicate's own overall rate"
NAIVE_MARGIN = "margin at 1 - α, attempts taken for independent"


def fair_studies(settings: Settings, design: Design = FAIR) -> Findings:
    """Try the methods on systems that treat all groups alike."""
    settings.tell(f"paper 4: {settings.n_datasets:,} fair systems")
    found = dict.fromkeys((TEST, NAIVE_TEST, MARGIN, PAPER_MARGIN, OWN_MARGIN, NAIVE_MARGIN), 0)
    for seed in np.random.SeedSequence([settings.seed, 4]).spawn(settings.n_datasets):
        counts = draw(design, seed)
        key = int(seed.generate_state(1)[0])
        naive = unclustered(counts)
        for name, data in ((TEST, counts), (NAIVE_TEST, naive)):
            test = fnmr_test(
                data, null_model="bootstrap", n_resamples=_REPLICATES, follow_up=False, rng=key
            )
            found[name] += test.pvalue <= LEVEL
        for data, center, names in (
            (counts, "data", {MARGIN: "family-wise", PAPER_MARGIN: "paper"}),
            (counts, "replicate", {OWN_MARGIN: "family-wise"}),
            (naive, "data", {NAIVE_MARGIN: "family-wise"}),
        ):
            margin = margin_of_error(
                data,
                n_resamples=_REPLICATES,
                center=cast("Literal['data', 'replicate']", center),
                rng=key,
            )
            farthest = float(np.abs(margin.group_rate - margin.rate).max())
            for name, quantile in names.items():
                found[name] += farthest > _margin(margin.replicates, quantile)
    return Findings(settings.n_datasets, found)


def _margin(distances: NDArray[np.float64], quantile: str) -> float:
    return float(np.quantile(distances, 1 - LEVEL / 2 if quantile == "paper" else 1 - LEVEL))


def fair_table(findings: Findings) -> Table:
    """Lay out how often a fair system is found unfair."""
    rows = [(name, *_per_cent(findings.share(name))) for name in findings.found]
    return Table(
        "fair_systems",
        f"**Fair systems found unfair**, of {findings.n_studies:,} simulated: {FAIR}. Wanted:"
        f" {100 * LEVEL:g} %.",
        ("Method", "Found unfair (%)"),
        rows,
        {"Found unfair (%)": ".1f"},
    )


def _per_cent(share: Range) -> tuple[Range]:
    return (Range(100 * share.value, 100 * share.low, 100 * share.high),)


def chance_claims(findings: Findings) -> list[Verdict]:
    """Decide what the paper says of its methods where all groups are alike."""
    claims = (
        (TEST, "The bootstrap test rejects a true hypothesis at its level", "IV-A"),
        (
            MARGIN,
            "With the quantile at 1 - α (the 95th percentile of the example), a group is outside by chance in α "
            "of fair studies",
            "IV-B",
        ),
        (
            PAPER_MARGIN,
            "With the quantile at 1 - α/2 (step 5), a group is outside by chance in α of fair studies",
            "IV-B",
        ),
    )
    verdicts = []
    for method, claim, source in claims:
        share = findings.share(method)
        verdicts.append(
            Verdict(
                claim,
                source,
                f"the interval of the share found unfair holds α = {100 * LEVEL:g} %: holds, or"
                " where it reaches to half or twice α: cannot be told; is all below: in part, as"
                " it finds less than it may; is all above: does not",
                "{:.1f} % [{:.1f}, {:.1f}]".format(
                    *(100 * x for x in (share.value, share.low, share.high))
                ),
                findings.outcome(method),
            )
        )
    return verdicts
