"""The tests of paper 4 on the nationalities of VoxCeleb1-H, beside those of who ignores
speakers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fastfair import FailureCounts, at_fmr, fnmr_test, margin_of_error
from fastfair.group_tests.equal_rates import GroupTest, MarginOfError
from papers.figure_style import new_figure
from papers.page_parts import Cell, Figure, Range, Table, Verdict
from papers.settings import Settings
from papers.verdict_rules import by_count
from papers.voxceleb import SYSTEMS, scores

from .chance import unclustered

Floats = NDArray[np.float64]
FMR = 1e-3
STATISTICS: tuple[Literal["f", "max-difference", "max-ratio"], ...] = (
    "f",
    "max-difference",
    "max-ratio",
)
_LEAST_REPLICATES = 499  # fewer could not name groups among eleven
FEW_SPEAKERS = 15  # with fewer, a group widens the margin of all


@dataclass(frozen=True, eq=False)
class Tested:
    """Test and margin of some counts of failures.

    Attributes
    ----------
    tests : dict of GroupTest
        By statistic.
    margin : MarginOfError
        Of all groups.
    """

    tests: dict[str, GroupTest]
    margin: MarginOfError

    @property
    def counts(self) -> FailureCounts:
        """What was tested."""
        assert self.margin.counts is not None
        return self.margin.counts


@dataclass(frozen=True, eq=False)
class SystemTests:
    """What is found of one system.

    Attributes
    ----------
    system : str
        Its name.
    clustered, naive, larger : Tested
        Drawing speakers; taking attempts for independent; drawing speakers of groups that are not
        small.
    """

    system: str
    clustered: Tested
    naive: Tested
    larger: Tested


def run(settings: Settings) -> list[SystemTests]:
    """Test both systems."""
    found = []
    for system in SYSTEMS:
        settings.tell(f"paper 4: nationalities, {system}")
        counts = FailureCounts.from_comparisons(scores(system, ("Nationality",)), at_fmr(FMR))
        small = [
            g for g, n in zip(counts.groups, counts.n_subjects, strict=True) if n < FEW_SPEAKERS
        ]
        tested = (
            tested_counts(data, settings)
            for data in (counts, unclustered(counts), counts.without(small))
        )
        found.append(SystemTests(system, *tested))
    return found


def tested_counts(counts: FailureCounts, settings: Settings) -> Tested:
    """Test counts of failures in every way of the paper."""
    drawn: dict[str, Any] = {
        "n_resamples": max(settings.n_resamples, _LEAST_REPLICATES),
        "rng": settings.seed,
    }
    tests: dict[str, GroupTest] = {
        name: fnmr_test(
            counts, statistic=name, null_model="bootstrap", follow_up=name == "f", **drawn
        )
        for name in STATISTICS
    }
    return Tested(tests, margin_of_error(counts, **drawn))


def group_table(found: SystemTests) -> Table:
    """Lay out what is known of each group."""
    test, naive = found.clustered.tests["f"], found.naive.tests["f"]
    assert test.icc is not None
    assert test.design_effect is not None
    rows = [
        (
            group,
            int(test.n_subjects[k]),
            int(test.n_trials[k]),
            Range(100 * test.group_rate[k], 100 * test.low[k], 100 * test.high[k]),
            Range(100 * naive.group_rate[k], 100 * naive.low[k], 100 * naive.high[k]),
            float(test.icc[k]),
            float(test.design_effect[k]),
            _yes(group in test.different),
            _yes(group in naive.different),
            _yes(group in found.clustered.margin.outside),
            _yes(group in found.naive.margin.outside),
        )
        for k, group in enumerate(test.groups)
    ]
    headings = (
        "Group",
        "Speakers",
        "Attempts",
        "FNMR (%)",
        "FNMR, naive (%)",
        "Correlation",
        "Design effect",
        "Differs",
        "Differs, naive",
        "Outside margin",
        "Outside, naive",
    )
    return Table(
        f"groups_{found.system}",
        f"**Nationalities, {found.system}**, at an FMR of {100 * FMR:g} %; naive: attempts taken"
        ' for independent. "Differs" is from all other groups together, adjusted for testing them'
        " all.",
        headings,
        rows,
        {"FNMR (%)": ".1f", "FNMR, naive (%)": ".1f", "Correlation": ".3f", "Design effect": ".1f"},
    )


def _yes(told: bool) -> str:
    return "yes" if told else ""


def summary_table(systems: list[SystemTests]) -> Table:
    """Lay out the tests of all groups together."""
    rows: list[Sequence[Cell]] = []
    for found in systems:
        ways = (
            ("speakers drawn", found.clustered),
            (f"speakers drawn, groups of {FEW_SPEAKERS} and more", found.larger),
            ("attempts taken for independent", found.naive),
        )
        for way, tested in ways:
            rows.append(
                (
                    found.system,
                    way,
                    len(tested.counts.groups),
                    tested.tests["f"].statistic,
                    *(tested.tests[name].pvalue for name in STATISTICS),
                    len(tested.tests["f"].different),
                    100 * tested.margin.margin,
                    ", ".join(tested.margin.outside),
                )
            )
    headings = (
        "System",
        "How",
        "Groups",
        "F",
        "p of F",
        "p of largest difference",
        "p of largest ratio",
        "Groups that differ",
        "Margin (points)",
        "Outside the margin",
    )
    formats = {"F": ".1f", "Margin (points)": ".1f"} | {
        h: ".2g" for h in headings if h.startswith("p ")
    }
    return Table(
        "tests",
        f"**Do FNMRs differ between nationalities?** At an FMR of {100 * FMR:g} %; the smallest"
        f" p-value that {systems[0].clustered.margin.replicates.size:,} replicates can give is"
        f" {1 / (1 + systems[0].clustered.margin.replicates.size):.2g}.",
        headings,
        rows,
        formats,
    )


def figure(systems: list[SystemTests]) -> Figure:
    """Draw tests and margins."""
    drawing, axes = new_figure(len(systems), 2, (8.6, 3.3 * len(systems)), sharex="row")
    for row, found in zip(axes, systems, strict=True):
        found.clustered.tests["f"].plot(row[0])
        found.clustered.margin.plot(row[1])
        row[0].set_title(f"{found.system}: 95 % intervals")
        row[1].set_title("margin of error")
        row[1].set_yticklabels([])
        row[1].set_xlim(left=0)
        for ax in row:
            legend = ax.get_legend()
            if legend is not None:
                legend.remove()
    found_labels = {
        label: handle
        for ax in axes.ravel()
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)
    }
    drawing.legend(
        found_labels.values(),
        found_labels.keys(),
        loc="outside lower center",
        ncols=len(found_labels),
    )
    return Figure(
        "voxceleb",
        f"**FNMRs of nationalities** on VoxCeleb1-H at an FMR of {100 * FMR:g} %: on the left each"
        " with its interval, on the right between the margins of error. Dashed: all together.",
        drawing,
    )


def claims(systems: list[SystemTests]) -> list[Verdict]:
    """Decide what the paper says of correlated attempts, and of its two methods, by these data."""
    effects = np.concatenate([found.clustered.tests["f"].design_effect for found in systems])
    correlations = np.concatenate([found.clustered.counts.icc for found in systems])
    both = [formulas(found.clustered.counts) for found in systems]
    apart = max(float(np.abs(four / six - 1).max()) for four, six in both)
    named = [
        (f.system, f.clustered.tests["f"].different, f.clustered.margin.outside) for f in systems
    ]
    return [
        Verdict(
            "Variances (4) and (6) are the same",
            "section III",
            "with the correlation of (5), in every group, but for rounding: holds; else does not",
            f"off by a share of {apart:.1g} at most",
            "holds" if apart < 1e-9 else "fails",
        ),
        Verdict(
            "Negative correlations within people are unlikely",
            "section III",
            "no group has one: holds; some: in part; all: does not",
            f"from {correlations.min():.3f} to {correlations.max():.3f}",
            by_count(int((correlations >= 0).sum()), correlations.size),
        ),
        Verdict(
            "Correlation of attempts makes FNMRs less certain",
            "section III",
            "design effects are above 1 in every group: holds; in some: in part; in none: does not",
            f"design effects from {effects.min():.0f} to {effects.max():.0f}",
            by_count(int((effects > 1).sum()), effects.size),
        ),
        Verdict(
            "The margin of error is a simpler way to identify the groups that differ",
            "IV-B",
            "test and margin name the same groups: for both systems: holds; for one: in part; for"
            " none: does not",
            "; ".join(
                f"{s}: {_listed(test)} by the test, {_listed(margin)} by the margin"
                for s, test, margin in named
            ),
            by_count(sum(test == margin for _, test, margin in named), len(systems)),
        ),
    ]


def _listed(groups: Sequence[str]) -> str:
    return ", ".join(groups) or "none"


def formulas(counts: FailureCounts) -> tuple[Floats, Floats]:
    """Compute the variance of each group's FNMR by formulas (4) and (6), with the correlation of
    (5).
    """
    four, six = np.empty((2, len(counts.groups)))
    for k in range(len(counts.groups)):
        of_group = counts.subject_group == k
        m, rate, rho = counts.attempts[of_group], counts.group_rate[k], counts.icc[k]
        n, spread = m.sum(), rate * (1 - rate)
        four[k] = spread * (n + rho * (m * (m - 1)).sum()) / n**2
        six[k] = spread * (1 + ((m**2).sum() / n - 1) * rho) / n
    return four, six
