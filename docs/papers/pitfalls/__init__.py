"""Paper 3, "As Biased as You Measure", made anew on VoxCeleb1-H."""

from __future__ import annotations

import math

from papers.page_parts import Page, Part, Verdict, verdict_table
from papers.settings import Settings

from .claims import base_metric_claims, exposure_claims
from .consistency import audit, nrb_of_table_4, table_3_misses, table_4_agreeing
from .figures import figure_1, figure_2
from .meta_claims import contradiction_claims, meta_measure_claims
from .printed import (
    FPR_AVERAGES,
    HOURS_AT_DESIGN,
    HOURS_OF_WORST,
    METRICS,
    NRB_READ,
    OVERALL,
    TABLE_4,
)
from .rules import SURE, per_cent, written
from .runs import LARGE, POINTS, SIZEABLE, Runs, ranged, run
from .tables import (
    attacks,
    contradiction,
    hours_until_success,
    overall,
    success_within,
    table_2,
    table_3,
    table_4,
)

TITLE = "Paper 3: As Biased as You Measure"
_SURVIVES = {
    "holds": (
        "The contradiction survives the uncertainty: chance in who was recorded does not undo it."
    ),
    "in part": "The contradiction survives the uncertainty on one choice of groups, not on both.",
    "fails": "The contradiction does not survive the uncertainty: replicates do not show it.",
    "open": (
        "Whether the contradiction survives the uncertainty cannot be told from these speakers."
    ),
}
_LEVELS = {
    "holds": (
        "Their levels contradict each other, too: the FDR says fair, and the NRB biased by more"
        " than chance."
    ),
    "in part": "Their levels contradict each other in part: see the second row.",
    "fails": "Their levels do not: the FDR is not as near to 1 as the paper reads it.",
    "open": "Their levels cannot show it, as chance alone could make such NRBs.",
}


def page(settings: Settings) -> Page:
    """Make the page of paper 3."""
    runs = run(settings)
    settings.tell("paper 3: verdicts and figures")
    parts: list[Part] = [
        *_introduction(runs),
        *_audit(),
        *_base_metrics(runs),
        *_measures_of_groups(runs),
        *_meta_measures(runs),
        *_contradiction(runs),
        *_which_is_correct(runs),
        *_does_it_matter(runs),
    ]
    return Page("pitfalls", TITLE, parts)


def _introduction(runs: Runs) -> list[Part]:
    without = [name for name in runs.whole.groups if name not in runs.printed.groups]
    n_printed, n_sizeable, n_large = (len(found.groups) for found in runs.intersections)
    return [
        f"""\
Hutiri, Patel, Ding and Scharenborg measure the bias of one speaker verification system in many ways and find that the
answer depends on the way: on the base metric (EER, minDCF, FPR, FNR), on differences or ratios between groups, and on
the meta-measure that sums them up, FDR or NRB. Their advice: ratios, above all where error rates are small.

**What is made anew.** The paper's software comes with the scores of its system on VoxCeleb1-H. All that follows is
computed from these, with 95 % intervals over speakers, which the paper does not have. The paper prints its tables for
VoxCeleb1-I, another list of trials of the same data set, whose scores do not come with it. So printed values stand
beside ours to be compared in kind, not digit by digit. Only the averages of section 4 are printed for both lists.

**Groups.** The paper has eight nationalities by gender. VoxCeleb1-H has trials of {n_printed} of these 16 groups, and
of {", ".join(without)} besides, which the measures leave out. Many groups are small, and an FPR of 0.001 needs
thousands of trials to be seen. So measures are also given over the {n_sizeable} groups with {SIZEABLE:,} non-mated
trials or more ("sizeable": as good as the average, a group has no false positive at 0.001 in one sample of twenty), and
over the {n_large} with {LARGE:,} or more ("large"). The average is always that of the trials within the groups chosen.

**Words.** FPR and FNR are the paper's names of FMR and FNMR, minCDet that of minDCF. The average is of all trials, not
over groups. How sure a claim is, replicates of the bootstrap over speakers tell. They make small groups differ more
than they do, so claims on differences are tried on sizeable and on large groups, and hold where both show them. A
rule "by share" takes the share of replicates in which something is true: the claim holds from {100 * SURE:g} % on, does
not up to {100 * (1 - SURE):.1f} %, and between cannot be told.""",
    ]


def _audit() -> list[Part]:
    misses, turned = table_3_misses(), len(table_4_agreeing(1)) > len(table_4_agreeing(-1))
    cells = "Table 3 follows" if not misses else f"But for {len(misses)} cells table 3 follows"
    group = "male", "IN"
    rate, ratio = TABLE_4["fmr"][group], TABLE_4["group_to_average_log_ratio"][group]
    sign = (
        "Table 4 has the sign of its log ratios turned: by the paper's own definition a group"
        f" worse than average has a negative one, as in table 3, but beside the {rate:g} of Indian"
        f" males stands {ratio:+g}. The NRB takes absolute values, so no conclusion hangs on it."
        if turned
        else "The log ratios of table 4 have the sign of the paper's definition."
    )
    return [
        "## Printed numbers against each other",
        verdict_table(
            "audit",
            "**Audit**: are the paper's numbers consistent, as far as their digits go?",
            audit(),
        ),
        f"""\
{cells} from table 2 if the average is the EER or minCDet of all trials, not the mean over groups. {sign} Over the
{len(TABLE_4["fmr"])} groups that table 4 prints the NRB is {nrb_of_table_4():.2f}; the authors read {NRB_READ:g} off
figure 2, which has all groups.""",
    ]


def _base_metrics(runs: Runs) -> list[Part]:
    eer, cost = 100 * runs.whole.value("eer"), runs.whole.value("min_dcf")
    easy, hard = OVERALL["VoxCeleb1-H"], OVERALL["VoxCeleb1-I"]
    same = (round(eer, 3), round(cost, 3)) == easy
    return [
        "## Base metrics (section 4)",
        overall(runs),
        f"""\
Ours on VoxCeleb1-H {"are" if same else "are not"} the printed ones, to all digits printed. VoxCeleb1-I is the harder
list: its printed EER is {hard[0] / easy[0]:.2f} times as high, so a group's values may differ by as much between the
lists without any difference in bias.""",
        table_2(runs),
        """\
Groups of few speakers have wide intervals. The printed values are of speakers of the same data set, so that the order
of such groups should be as uncertain there.""",
        verdict_table(
            "claims_base",
            "**Claims of sections 4 and 4.1**, on VoxCeleb1-H.",
            base_metric_claims(runs),
        ),
    ]


def _measures_of_groups(runs: Runs) -> list[Part]:
    return [
        "## Differences and ratios (section 4.1)",
        *(table_3(runs, metric) for metric in METRICS),
        f"""\
The column "All" of the paper is the rows f and m here, which are compared with each other; the other rows are compared
with all {len(runs.printed.groups)} groups of the paper's nationalities. Differences from the best group carry the
uncertainty of which group is best. Where the interval of a log ratio holds 0, the group may be favoured or not.""",
    ]


def _meta_measures(runs: Runs) -> list[Part]:
    return [
        "## FDR and NRB (section 4.2)",
        figure_1(runs),
        figure_2(runs),
        f"{_infinite(runs)} {_open_ends(runs)}",
        verdict_table(
            "claims_meta",
            "**Claims of section 4.2** on figures 1 and 2, on VoxCeleb1-H.",
            meta_measure_claims(runs),
        ),
    ]


def _infinite(runs: Runs) -> str:
    silent = [
        name
        for name in runs.printed.groups
        if runs.printed.evaluation.value("fmr", name, POINTS[0]) == 0
    ]
    if not silent:
        return (
            "Every group has false positives at an average FPR of 0.001, so that all NRBs are"
            " finite."
        )
    return (
        "At an average FPR of 0.001 there is no false positive in the trials of"
        f" {', '.join(silent)}. The logarithm of 0 makes the NRB over all"
        f" {len(runs.printed.groups)} groups infinite: it fails where the paper recommends it, at"
        " small rates, unless groups are large enough."
    )


def _open_ends(runs: Runs) -> str:
    nrbs = [runs.printed.nrb_range(metric, point) for metric in ("fmr", "fnmr") for point in POINTS]
    whole = sum(found.low == 0 and found.high == math.inf for found in nrbs)
    if not whole:
        return "No interval of an NRB reaches from 0 to infinity."
    return (
        f"Of the {len(nrbs)} NRBs of rates over these groups {whole} have intervals from 0 to"
        " infinity. Where replicates have groups without errors, there is no upper end; where"
        " groups are so small that a fair system could look like this one, the lower end is 0."
        " Together they say that the data do not tell, which is why choices of larger groups stand"
        " beside them."
    )


def _contradiction(runs: Runs) -> list[Part]:
    verdicts = contradiction_claims(runs)
    worst = max(
        runs.printed.evaluation.value("fmr", name, POINTS[0]) for name in runs.printed.groups
    )
    sets = (*runs.intersections, runs.gender)
    told = [found.name for found in sets if found.test.pvalue < found.test.level]
    return [
        "### Does the contradiction survive the uncertainty?",
        contradiction(runs),
        verdict_table(
            "claims_contradiction",
            "**Do FDR and NRB contradict each other?** On VoxCeleb1-H.",
            verdicts,
        ),
        f"""\
{_said(verdicts)} The reason is arithmetic. At α = 1 the FDR is 1 less the largest difference between FPRs, which cannot
exceed the largest FPR, {per_cent(worst)} at an average of 0.001: so it cannot fall below {1 - worst:.3f}, however many
times worse one group is than another. The NRB has no scale: as many times the average counts the same at every FPR.

But part of what the NRB shows at small FPRs is chance. A group of few false positives has an FPR that goes up and down
by steps, and its logarithm jumps. The intervals, by test inversion, allow for that: where one reaches 0, a system that
treats all groups alike could show such an NRB with so few errors. The test of the last column asks whether all FPRs are
equal. It finds at 5 % that they are not for: {", ".join(told) or "no choice of groups"}. Small groups take power from
it, and so does every group more.""",
    ]


def _said(verdicts: list[Verdict]) -> str:
    return f"{_SURVIVES[verdicts[0].verdict]} {_LEVELS[verdicts[1].verdict]}"


def _which_is_correct(runs: Runs) -> list[Part]:
    implied = [
        FPR_AVERAGES[0] * math.exp(ratio)
        for ratio in TABLE_4["group_to_average_log_ratio"].values()
    ]
    indian = ranged(runs.printed.evaluation, "fmr", "m & India", POINTS[0], 100)
    known = [
        ranged(runs.printed.evaluation, "fmr", name, POINTS[0]) for name in runs.printed.groups
    ]
    differences = [
        ranged(runs.printed.evaluation, "group_to_min_difference(fmr)", name, POINTS[0], 100)
        for name in runs.printed.groups
    ]
    most = max(found.value if math.isnan(found.high) else found.high for found in differences)
    wide = sum(found.low == 0 or found.high / found.low > 4 for found in known)
    return [
        "## Which is correct? (section 4.3)",
        table_4(runs),
        f"""\
Printed FPRs have one digit. The log ratios beside them tell more: with the sign turned they stem from FPRs between
{100 * min(implied):.2f} % and {100 * max(implied):.2f} %. On VoxCeleb1-H Indian males have {written(indian)} %. Of the
{len(known)} groups {wide} have intervals of the FPR whose ends differ by more than a factor of four: at so small an FPR
ratios are uncertain. Differences are small all the same: no interval of one reaches beyond {most:.1f} points.""",
    ]


def _does_it_matter(runs: Runs) -> list[Part]:
    design, worst = FPR_AVERAGES[0], TABLE_4["fmr"]["male", "IN"]
    hours = [hours_until_success(rate) for rate in (design, worst)]
    chances = [
        100 * success_within(spent, rate)
        for spent, rate in ((HOURS_AT_DESIGN, design), (HOURS_OF_WORST, worst))
    ]
    return [
        "### Does it matter?",
        f"""\
The paper lets an attacker try once a minute. At an FPR of {design:g} one success is to be expected after {hours[0]:.1f}
hours, at the printed {worst:g} of Indian males after {hours[1]:.1f}. "Likely to succeed" means a chance of
{chances[0]:.0f} % within the paper's {HOURS_AT_DESIGN:g} hours, and of {chances[1]:.0f} % within its
{HOURS_OF_WORST:g}, if attempts are independent. Attempts of one impostor on one speaker are not: the FPR is a mean over
impostors.""",
        attacks(runs),
        verdict_table(
            "claims_exposure", "**Claims of section 4.3**, on VoxCeleb1-H.", exposure_claims(runs)
        ),
    ]
