"""Paper 1: the 44 biased systems made anew, its measures beside the printed ones, and its claims
put to the test.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.stats import spearmanr

from fastfair import OperatingPoint
from papers.page_parts import Cell, Page, Part, Range, Table, Verdict, verdict_table
from papers.settings import Settings
from papers.verdict_rules import Outcome

from . import claims
from .audit_parts import audit_parts
from .figures import draw_beside_printed, draw_sets
from .law import lawful_scores
from .limitations import limitations_table
from .printed import COLUMNS, OVERALL_FMR, OVERALL_NONMATED, SET_SIZE, SYSTEMS
from .systems import AT, AT_A_POINT, SEEDS_ELSEWHERE, Floats, Runs, Scores, equal_error_rates, run

_TITLES = {
    "IV": "a single disadvantaged group",
    "V": "two disadvantaged groups",
    "VI": "three disadvantaged groups",
    "VII": "four disadvantaged groups",
    "VIII": "bias in false non-matches",
}
_HOLDS_BY_LAW = "without chance: yes"
_KINDS = ("ours", "without chance", "printed")
_FORMATS = {
    "inequity_rate": ".3g",
    "garbe": ".3f",
    "fdr": ".4f",
    "std(eer)": ".2e",
    "sed_std": ".2f",
    "sed_mean": ".2f",
}


def page(settings: Settings) -> Page:
    """Make the page."""
    runs = run(settings)
    settings.tell("paper 1: claims and audit")
    law = lawful_scores()
    verdicts = [claims.judged(claim, runs, law) for claim in claims.claims()]
    parts: list[Part] = [
        _introduction(runs),
        "## Table I: limitations of measures",
        *_limitations(),
    ]
    parts += [
        "## Tables II and III: the data sets",
        _about_sets(),
        sets_table(runs),
        draw_sets(runs),
    ]
    parts += ["## Tables IV to VIII: the measures", _about_measures(runs)]
    parts += [measures_table(runs, table) for table in _TITLES]
    parts += [draw_beside_printed(runs), agreement_table(runs), _why_they_differ(runs)]
    parts += [
        "## Section V: the claims",
        _about_claims(verdicts),
        verdict_table("claims", "Claims of section V.", verdicts),
    ]
    order = order_table(runs, law)
    parts += [order, _what_claims_say(verdicts, order)]
    parts += ["## The printed numbers against each other", *audit_parts()]
    title = "Paper 1: Sum of Group Error Differences"
    return Page("sed", title, parts)


def _introduction(runs: Runs) -> str:
    return f"""
The paper compares fairness measures on systems whose bias is known. It makes distances by hill climbing, seven sets
with an FMR of 0.1 % to 5 % at a TMR of 95 %, and puts them together to systems of four groups, such as 1:1:3:5. It
claims that measures of maximum disparity (IR, FDR) miss groups between the best and the worst, that standard deviations
misrank some systems, and that all measures without a global reference miss a bias that all groups share, which the mean
of its own Sum of Group Error Differences (SED) finds.

All of it can be remade, as no data but these are used. The paper's random numbers are unknown and its threshold is not
named, so its digits cannot be had. Each system is made {runs.n_seeds} times instead, and medians stand with the range
from the 5th to the 95th percentile. IR, GARBE and FDR are taken at {AT} of the overall set, with alpha 0.5.
"""


def _limitations() -> list[Part]:
    marks = limitations_table()
    rows: list[list[Cell]] = [
        [row["method"], *("yes" if row[key] else "" for key in _KEYS)] for row in marks
    ]
    caption = "Classes and limitations, from the facts that each measure states of itself."
    headings = ("Method", *_KEYS.values())
    said = (
        "The marks of the printed table are missing from the text that this page was made from, so"
        " what section II-B says in words is put to the facts."
    )
    verdicts = verdict_table(
        "limitations_claims", "What section II-B says.", limitation_verdicts(marks)
    )
    return [Table("limitations", caption, headings, rows), said, verdicts]


_KEYS = {
    "C1": "C1 standard deviation",
    "C2": "C2 maximum disparity",
    "C3": "C3 aggregation",
    "L1": "L1 one error type",
    "L2": "L2 no global reference",
    "L3": "L3 needs a policy FMR",
}


def limitation_verdicts(marks: Sequence[dict[str, object]]) -> list[Verdict]:
    """Put the statements of section II-B to the facts."""
    stated = {
        "L1": (
            "SER, MAPE and the STDs of single rates account for one error type",
            "section II-B",
            {"SER", "MAPE", "STD in FMR", "STD in FNMR", "STD in TMR"},
        ),
        "L2": (
            "Only MAPE and SED use a global reference",
            "sections I and II-B",
            {row["method"] for row in marks} - {"MAPE", "SED"},
        ),
        "L3": (
            "Only the STD of EER and SED need no policy FMR",
            "section II-B",
            {row["method"] for row in marks} - {"STD in EER", "SED"},
        ),
        "C2": (
            "SER, IR and FDR are measures of maximum disparity",
            "section II-B",
            {"SER", "IR", "FDR"},
        ),
        "C3": (
            "MAPE, GARBE and SED aggregate",
            "sections II-B and III-B",
            {"MAPE", "GARBE", "SED"},
        ),
    }
    found = []
    for key, (text, where, expected) in stated.items():
        marked = {row["method"] for row in marks if row[key]}
        said = ", ".join(str(row["method"]) for row in marks if row[key])
        outcome: Outcome = "holds" if marked == expected else "fails"
        found.append(
            Verdict(text, where, f"these and no others have {key}", f"{key}: {said}", outcome)
        )
    return found


def _about_sets() -> str:
    said = " and ".join(f"{size:,} in {where}" for where, size in OVERALL_NONMATED.items())
    printed = OVERALL_NONMATED["Table III"]
    return f"""
Each set has {SET_SIZE:,} mated and {SET_SIZE:,} non-mated comparisons. For the overall set the paper prints two numbers
of non-mated ones, {said}. Of {printed:,} an FMR of {100 * OVERALL_FMR:g} % would be {OVERALL_FMR * printed:g}
comparisons, so the other is used. The algorithm names neither its threshold nor the size of its changes. Here the
threshold accepts 95 % of mated comparisons (for biased non-matches it rejects 95 % of non-mated ones), and steps adapt.
"""


def sets_table(runs: Runs) -> Table:
    """Tabulate what was asked of the data sets and what they have."""
    rows: list[list[Cell]] = []
    for (kind, factor), made in runs.sets.items():
        reached = np.array([getattr(one, kind) for one in made])
        exact = float(np.mean(np.abs(reached - made[0].target) < 0.5 / SET_SIZE))
        steps, eers = np.array([float(one.n_steps) for one in made]), equal_error_rates(made)
        name = f"{kind.upper()} at a {'TMR' if kind == 'fmr' else 'TNMR'} of 95 %"
        rows.append(
            [
                f"x {factor}",
                name,
                100 * made[0].target,
                100 * exact,
                _spread(steps),
                _spread(100 * eers),
            ]
        )
    columns = ("Set", "Rate", "Asked, %", "Reached by, %", "Steps", "EER, %")
    caption = (
        f"Data sets of Table II, and those of section V-C, {runs.n_seeds} of each. Reached by: how"
        " many have the rate to the comparison. Steps (of 1,000 at most) and EER: medians and 5th"
        " to 95th percentiles."
    )
    formats = {"Asked, %": ".1f", "Reached by, %": ".0f", "Steps": ".0f", "EER, %": ".2f"}
    return Table("sets", caption, columns, rows, formats)


def _spread(values: Floats) -> Range:
    """Return the median with the 5th and 95th percentiles, which are among the values, so that some
    may be infinite.
    """
    low, median, high = np.percentile(values, [5, 50, 95], method="inverted_cdf")
    return Range(float(median), float(low), float(high))


def measures_table(runs: Runs, table: str) -> Table:
    """Tabulate ours beside the printed numbers of one of the tables IV to VIII."""
    columns = ["Ratios"]
    for title in COLUMNS.values():
        columns += [title, f"{title}, printed"]
    rows: list[list[Cell]] = []
    for k, printed in enumerate(SYSTEMS):
        if printed.table == table:
            cells: list[Cell] = [printed.ratios]
            for name in COLUMNS:
                cells += [_spread(runs.values[name][:, k]), printed.numbers[name].text]
            rows.append(cells)
    caption = (
        f"Table {table}: {_TITLES[table]}. Medians over {runs.n_seeds} sets of systems, 5th to 95th"
        " percentiles."
    )
    formats = {title: _FORMATS[name] for name, title in COLUMNS.items()}
    return Table(f"table_{table}", caption, columns, rows, formats)


def _about_measures(runs: Runs) -> str:
    endless = {
        name: 100 * float(np.mean(~np.isfinite(values))) for name, values in runs.values.items()
    }
    fewest = SET_SIZE * 1e-3
    return f"""
IR is infinite where a group has no errors of one kind at the threshold, as in {endless["inequity_rate"]:.1f} % of all
systems made: an FMR of 0.1 % is {fewest:.0f} comparisons of {SET_SIZE:,}. SED is infinite where the overall set has no
errors of one kind at the mean of the groups' EER thresholds, as in {endless["sed_mean"]:.1f} %.
"""


def agreement(runs: Runs, name: str, at: OperatingPoint = AT) -> tuple[float, float, float]:
    """Compare a measure with its printed column.

    Returns
    -------
    inside : float
        Share of printed numbers, of systems with different groups, within our 5th and 95th
        percentiles.
    ratio : float
        Median of our medians over printed numbers; of 1 - FDR for FDR, which is near 1 itself.
    correlation : float
        Of the ranks of our medians and of the printed numbers, all systems of tables IV to VII.
    """
    ours = (runs.values if at == AT else runs.elsewhere[at])[name]
    printed = np.array([one.numbers[name].value for one in SYSTEMS])
    differ = np.array([len(set(one.ratios.split(":"))) > 1 for one in SYSTEMS])
    low, median, high = np.percentile(ours, [5, 50, 95], axis=0, method="inverted_cdf")
    inside = float(np.mean(((low <= printed) & (printed <= high))[differ]))
    away = (1 - median, 1 - printed) if name == "fdr" else (median, printed)
    ratio = float(np.median(away[0][differ] / away[1][differ]))
    kinds = np.array([one.kind == "fmr" for one in SYSTEMS])
    return inside, ratio, float(spearmanr(median[kinds], printed[kinds]).statistic)


def agreement_table(runs: Runs) -> Table:
    """Tabulate how far ours agree with the printed numbers, by measure and operating point."""
    rows: list[list[Cell]] = []
    for name, title in COLUMNS.items():
        for at in (AT, *(runs.elsewhere if name in AT_A_POINT else ())):
            inside, ratio, correlation = agreement(runs, name, at)
            point = str(at) if name in AT_A_POINT else "its own"
            rows.append([title, point, 100 * inside, ratio, correlation])
    columns = (
        "Measure",
        "Threshold",
        "Printed within our range, %",
        "Ours / printed",
        "Rank correlation",
    )
    caption = (
        "Ours and printed. Within our range: share of the printed numbers, of systems whose groups"
        " differ, between our 5th and 95th percentiles, of which that of IR may be infinite. Ours"
        " / printed: median ratio (of 1 - FDR for FDR). Rank correlation: over Tables IV to VII."
        f" Thresholds other than {AT} have {min(runs.n_seeds, SEEDS_ELSEWHERE)} sets of systems."
    )
    formats = {
        "Printed within our range, %": ".0f",
        "Ours / printed": ".2g",
        "Rank correlation": ".2f",
    }
    return Table("agreement", caption, columns, rows, formats)


def _why_they_differ(runs: Runs) -> str:
    points = (AT, *runs.elsewhere)
    garbe, inequity = (
        [agreement(runs, name, at)[1] for at in points] for name in ("garbe", "inequity_rate")
    )
    lines = []
    if min(garbe) > 1.25:
        lines.append(
            "At each of the thresholds our GARBE is larger than the printed one, at least"
            f" {min(garbe):.1f} times in the median. No threshold can change that: the printed"
            " GARBE does not follow from equations 16 to 18, as the audit of the printed numbers"
            " shows."
        )
    if max(inequity) < 0.8:
        lines.append(
            f"At each of them our IR is smaller than the printed one, at most {max(inequity):.2f}"
            " times it in the median. The audit shows that some of the printed ones cannot be had"
            " from sets of this size by equation 14, and could be without its exponents."
        )
    fdr = min(points, key=lambda at: abs(np.log(agreement(runs, "fdr", at)[1])))
    lines.append(
        f"Our FDR is nearest to the printed one at {fdr}, where 1 - FDR is"
        f" {agreement(runs, 'fdr', fdr)[1]:.2g} times the printed one in the median."
    )
    inside = {
        title: 100 * agreement(runs, name)[0]
        for name, title in COLUMNS.items()
        if name not in AT_A_POINT
    }
    said = ", ".join(f"{share:.0f} % of the {title}" for title, share in inside.items())
    lines.append(
        "Of the measures that bring their own threshold these shares of printed numbers lie within"
        f" our range: {said}. Ranges are wide because single comparisons count: the EER of a set of"
        " this size, and the rates of the overall set at a threshold where it has few errors,"
        " depend on the random numbers."
    )
    return "\n\n".join(lines)


def _about_claims(verdicts: Sequence[Verdict]) -> str:
    counted = {
        key: sum(one.verdict == key for one in verdicts)
        for key in ("holds", "in part", "fails", "open")
    }
    return f"""
Each claim is a rule that a set of the 44 systems obeys or breaks. It *holds* where at least {100 * claims.HOLDS:.0f} %
of our sets obey, *in part* where at least {100 * claims.IN_PART:.0f} % do, or systems without chance do, and *cannot be
told* where it is computable in no more than half of them. Systems without chance have binormal groups with the same
rates asked for, whose error rates are known, so that ties and orders are those of the measure. The printed tables are
put to the same rule. Of {len(verdicts)} claims {counted["holds"]} hold, {counted["in part"]} hold in part,
{counted["fails"]} do not hold, and {counted["open"]} cannot be told.
"""


def order_table(runs: Runs, law: Scores) -> Table:
    """Tabulate the share of ordered pairs of systems that each measure has in order."""
    columns = ["Measure", *(f"Table {table}" for table in _TITLES), "IV to VII together"]
    rows: list[list[Cell]] = []
    for name, title in COLUMNS.items():
        shares = np.array([claims.order_shares(runs.of_seed(k), name) for k in range(runs.n_seeds)])
        known = [column[np.isfinite(column)] for column in shares.T]
        ours: list[Cell] = [100 * float(one.mean()) if one.size else math.nan for one in known]
        rows.append([f"{title}, {_KINDS[0]}", *ours])
        for kind, scores in zip(_KINDS[1:], (law, claims.printed_scores()), strict=True):
            rows.append(
                [f"{title}, {kind}", *(100 * share for share in claims.order_shares(scores, name))]
            )
    caption = (
        "Per cent of the pairs of systems, one of which is worse for some group and better for"
        " none, that a measure puts in that order: means over our sets of systems where it is"
        " computable, in systems without chance, and in the printed tables. Ties count against it."
    )
    return Table("order", caption, columns, rows, dict.fromkeys(columns[1:], ".0f"))


def _what_claims_say(verdicts: Sequence[Verdict], order: Table) -> str:
    last = {str(row[0]): float(row[-1]) for row in order.rows if isinstance(row[-1], float)}
    shares = {
        title: {kind: last[f"{title}, {kind}"] for kind in _KINDS} for title in COLUMNS.values()
    }
    best = max(shares, key=lambda title: np.nan_to_num(shares[title]["ours"]))
    by_law = [title for title, share in shares.items() if share["without chance"] == 100]
    by_print = [title for title, share in shares.items() if share["printed"] == 100]
    printed = shares["mean SED"]["printed"]
    by_chance = sum(_HOLDS_BY_LAW in one.found and one.verdict != "holds" for one in verdicts)
    against = [f"*{one.claim}*" for one in verdicts if _HOLDS_BY_LAW not in one.found]
    lines = [
        (
            f"{by_chance} of the claims that do not hold in {100 * claims.HOLDS:.0f} % of our sets"
            " hold without chance. They say what a measure does with the systems asked for, and"
            " sets of this size are not those systems: at one threshold for all, a group with"
            " twice the FMR at a TMR of 95 % may well have the fewer false matches. The paper"
            " shows one draw."
        ),
        (
            f"Over all pairs of Tables IV to VII {best} has most in order,"
            f" {shares[best]['ours']:.0f} % of them. Without chance"
            f" {' and '.join(by_law) or 'no measure'} has all of them, and in the printed tables"
            f" {' and '.join(by_print) or 'none'}."
        ),
    ]
    if against:
        lines.append(
            f"Without chance these do not hold: {'; '.join(against)}. What a standard deviation"
            " makes of such ratios hangs on how far apart the error rates are, which distances"
            " with the same FMR at a TMR of 95 % leave open."
            if all("STD" in text for text in against)
            else f"Without chance these do not hold: {'; '.join(against)}."
        )
    if printed < 100:
        lines.append(
            f"The printed mean SED has {printed:.0f} % in order, not all: within a table it does,"
            " but the threshold at which SED is taken differs from system to system, and 1:1:1:5,"
            " say, is printed with more than 1:1:2:5 is."
            if claims.bias(claims.printed_scores(), "sed_mean", "1:1:1:5")
            > claims.bias(claims.printed_scores(), "sed_mean", "1:1:2:5")
            else f"The printed mean SED has {printed:.0f} % in order, not all."
        )
    return "\n\n".join(lines)
