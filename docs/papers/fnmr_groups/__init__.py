"""Paper 4, on differences in false non-match rates across groups, made anew."""

from __future__ import annotations

import numpy as np

from papers.page_parts import Page, Part, verdict_table
from papers.settings import Settings

from .chance import (
    FIGURE_1,
    MARGIN,
    NAIVE_TEST,
    OWN_MARGIN,
    PAPER_MARGIN,
    TEST,
    Findings,
    chance_claims,
    example,
    fair_studies,
    fair_table,
    figure_1,
)
from .margin_studies import HELD, Study, claims, factor_table, figures, study
from .voxceleb import FEW_SPEAKERS, FMR, SystemTests, figure, group_table, run, summary_table
from .voxceleb import claims as voxceleb_claims

TITLE = "Paper 4: statistical methods for differences in FNMR across groups"


def page(settings: Settings) -> Page:
    """Make the page of paper 4."""
    parts: list[Part] = [
        _INTRODUCTION,
        *_methods(settings),
        *_margins(study(settings), settings),
        *_voxceleb(run(settings)),
    ]
    return Page("fnmr_groups", TITLE, parts)


_INTRODUCTION = """\
Schuckers, Purnapatra, Fatima, Hou and Schuckers ask whether differences between the FNMRs of groups are more than
chance. They give two methods, which both draw people and not comparisons: a bootstrap test with an F statistic, and a
margin of error about the overall FNMR that no group should leave. A simulation study of 4,000 settings shows what the
margin depends on.

**What is made anew.** Everything: the paper uses no data but simulated ones, and prints figures and no tables. So
there are no printed numbers to stand beside ours, but statements, each of which is decided here by a rule. The
methods are then applied to the nationalities of VoxCeleb1-H, which the paper does not have.

**Words.** G groups of n subjects have m attempts each. An attempt fails with probability π, the FNMR, and two
attempts of one subject have the correlation ρ. M is the margin of error, α the chance of a false finding."""

_ONE_MARGIN = """\
There is one margin for all groups, as wide as the group known least needs; the test weighs groups by what is known of
them. So they may name different groups, and margins are for groups of about the same size, as in the paper's planned
studies. The statistics of the largest difference and the largest ratio, which section V of the paper suggests, listen
to the group farthest away and do not weigh its size either."""


def _methods(settings: Settings) -> list[Part]:
    margins = example(settings)
    findings = fair_studies(settings)
    fair, unfair = (", ".join(margin.outside) or "no group" for margin in margins)
    return [
        "## The margin of error (section IV-B)",
        figure_1(margins),
        f"""\
Where all groups are alike {fair} is outside the margin of {100 * margins[0].margin:.1f} points; where three differ,
{unfair}, with a margin of {100 * margins[1].margin:.1f} points. The paper's example has {FIGURE_1.n_groups} groups,
an FNMR of 10 % and a margin of 3 points; it does not say of how many people.

## Which quantile? How often are fair systems found unfair?

Step 5 of the paper takes the 1 - α/2 quantile of the largest distances. The next sentences say that by chance a group
is outside in α of fair studies, and call the margin of their example the 95th percentile, α being 0.05. Both cannot
be: the largest distance has no sign, so α is not to be halved.""",
        fair_table(findings),
        verdict_table(
            "claims_chance",
            "**Claims of section IV**, on simulated fair systems.",
            chance_claims(findings),
        ),
        _chance_text(findings),
    ]


def _chance_text(findings: Findings) -> str:
    outcomes = {name: findings.outcome(name) for name in (MARGIN, PAPER_MARGIN, OWN_MARGIN)}
    kept = [name for name, outcome in outcomes.items() if outcome == "holds"]
    if "open" in outcomes.values():
        said = "These studies are too few to tell the margins apart."
    elif kept:
        said = f"The level is kept by: {'; '.join(kept)}."
    else:
        said = "No margin keeps the level on this design."
    test, naive = findings.share(TEST).value, findings.share(NAIVE_TEST).value
    return f"""\
{said} The paper takes distances in a replicate to the overall rate of the data. As a group counts in the overall rate
that it is compared with, this makes margins wider than the level asks for where groups are few; `margin_of_error` takes
the replicate's own rate where asked for `center="replicate"`, and 1 - α/2 where asked for `quantile="paper"`.

The paper draws people because their attempts are correlated. Who takes attempts for independent and runs the same test
finds {100 * naive:.0f} % of these fair systems unfair; who draws people finds {100 * test:.0f} %."""


def _margins(found: Study, settings: Settings) -> list[Part]:
    settings.tell("paper 4: figures of margins")
    noise = np.abs(found.noise())
    n = found.drawn.n_simulations
    held = HELD["n_subjects"]
    return [
        "## What the margin depends on (simulation study, section IV-B)",
        *figures(found, quick=settings.quick),
        f"""\
The margins of all settings can be computed as well as drawn: failures are beta-binomial, and groups independent.
Margins of {n:,} drawn studies for each of the {noise.size:,} settings are off by {100 * noise.mean():.1f} % in the
mean and by {100 * noise.max():.0f} % at most. Verdicts use computed margins, so that noise decides nothing. The
curves have steps, as rates are multiples of 1 / (nm).""",
        factor_table(found),
        f"""\
Formula (6) has π (1 - π) (1 + (m - 1) ρ) / (nm) for the variance of a group's FNMR. Where margins go with its root,
as they do nearly, ρ counts for little at m = {HELD["n_attempts"]} and n = {held:g}, and for more where attempts are
many. The ranges that the paper chose differ, from
{found.values("n_subjects")[-1] / found.values("n_subjects")[0]:.0f} times for n to
{found.values("n_attempts")[-1] / found.values("n_attempts")[0]:.0f} times for m, and the order of impact is one of
these ranges.""",
        verdict_table(
            "claims_margin", "**Claims of sections IV-B and V** on figures 2 and 3.", claims(found)
        ),
        """\
On ρ the paper says two things: "only ρ is negatively associated with the size of M", and in the next paragraph that
the relationship is "positive, though not linear". The verdicts tell which of the two the study shows, and by formula
(6) it can only be the second: ρ increases the variance.""",
    ]


def _voxceleb(systems: list[SystemTests]) -> list[Part]:
    attempts = systems[0].clustered.counts.attempts
    return [
        "## Applied: nationalities of VoxCeleb1-H",
        f"""\
Two systems, each at one threshold with an FMR of {100 * FMR:g} %. A speaker has {attempts.mean():.0f} mated trials in
the mean. Beside the paper's methods stands what the same methods say where every attempt is taken for one of another
person ("naive").""",
        summary_table(systems),
        figure(systems),
        *(group_table(found) for found in systems),
        _voxceleb_text(systems),
        verdict_table(
            "claims_voxceleb", "**Claims of the paper**, on VoxCeleb1-H.", voxceleb_claims(systems)
        ),
    ]


def _voxceleb_text(systems: list[SystemTests]) -> str:
    lines = []
    for found in systems:
        test, naive = found.clustered.tests["f"], found.naive.tests["f"]
        lines.append(
            f"- {found.system}: the test names {len(test.different)} of {len(test.groups)} groups,"
            f" the naive one {len(naive.different)}. The margin is"
            f" {100 * found.clustered.margin.margin:.1f} points with all groups,"
            f" {100 * found.larger.margin.margin:.1f} without those of fewer than {FEW_SPEAKERS}"
            f" speakers, and {100 * found.naive.margin.margin:.1f} by the naive way."
        )
    return "\n".join(
        [
            "What ignoring speakers does, and what small groups do:",
            "",
            *lines,
            "",
            _ONE_MARGIN,
        ]
    )
