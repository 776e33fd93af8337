"""The section on the printed numbers of paper 1 against each other."""

from __future__ import annotations

from papers.page_parts import Cell, Part, Table

from . import audit
from .printed import COLUMNS, SET_SIZE, SYSTEMS, PrintedSystem

_GARBE_HALF_UNIT = 5e-5  # of the last printed digit


def audit_parts() -> list[Part]:
    """Make the section on the printed numbers."""
    return [
        (
            "What follows needs no run: it is what the printed numbers allow each other, within"
            " their rounding."
        ),
        audit_table(),
        _what_the_audit_says(),
        limits_table(),
    ]


def audit_table() -> Table:
    """Tabulate the checks of the printed numbers against each other."""
    rows: list[list[Cell]] = []
    for exponents, formula in ((True, "equation 14"), (False, "equation 14 without exponents")):
        over = _impossible_rates(exponents)
        rows.append(
            [f"IR possible beside FDR, {formula}", len(SYSTEMS), len(over), ", ".join(over)]
        )
    for exponents, formula in ((True, "equation 14"), (False, "equation 14 without exponents")):
        under = [
            one.ratios
            for one in SYSTEMS
            if one.numbers["garbe"].high < audit.least_garbe(one, exponents)
        ]
        said = "all whose groups differ" if len(under) == _n_different() else ", ".join(under)
        rows.append([f"GARBE possible beside IR, {formula}", len(SYSTEMS), len(under), said])
    mirrors = audit.mirrored()
    same = [
        f"{one.ratios} = {other.ratios}" for one, other in mirrors if _text(one) == _text(other)
    ]
    rows.append(
        [
            "GARBE of one group above differs from one below",
            len(mirrors),
            len(same),
            ", ".join(same),
        ]
    )
    eers = audit.eers_behind()
    rows.append(
        [
            "STD of EER follows from one EER a factor",
            len(eers.predicted),
            len(eers.outliers),
            ", ".join(eers.outliers),
        ]
    )
    repeated = audit.repeated_garbe()
    rows.append(["STD of EER is not the GARBE", len(SYSTEMS), len(repeated), ", ".join(repeated)])
    for name, combine in (("inequity_rate", lambda a, b: a * b), ("fdr", lambda a, b: a + b - 1)):
        broken = audit.broken_chains(name, combine)
        rows.append(
            [
                f"{COLUMNS[name]} of 1:1:1:3 follows from 1:1:1:2 and 2:2:2:3, and so on",
                4,
                len(broken),
                ", ".join(broken),
            ]
        )
        odd = audit.odd_within_extremes(name)
        said = ", ".join(f"{ratios}: {printed}, others {usual}" for ratios, printed, usual in odd)
        rows.append(
            [f"{COLUMNS[name]} depends on the extremes alone", len(SYSTEMS), len(odd), said]
        )
    return Table(
        "audit",
        "The printed numbers against each other.",
        ("Check", "Checked", "Broken", "Where"),
        rows,
    )


def _text(system: PrintedSystem) -> str:
    return system.numbers["garbe"].text


def _n_different() -> int:
    return sum(len(set(one.ratios.split(":"))) > 1 for one in SYSTEMS)


def _what_the_audit_says() -> str:
    sums, eers = audit.garbe_as_pair_sums(), audit.eers_behind()
    first, most = (
        audit.row("1:1:1:2"),
        max(SYSTEMS, key=lambda one: one.numbers["inequity_rate"].value),
    )
    ratio, printed = first.numbers["inequity_rate"].text, first.numbers["garbe"].text
    lines = [
        (
            f"**IR.** With {SET_SIZE:,} comparisons of either class the least rate above 0 is one"
            f" of {SET_SIZE:,}, and the FDR says how far maxima and minima are apart. Beside an FDR"
            f" of {most.numbers['fdr'].text} the IR is"
            f" {audit.largest_inequity_rate(most.numbers['fdr']):.0f} at most;"
            f" {most.numbers['inequity_rate'].text} is printed."
        ),
        (
            f"**GARBE.** For 1:1:1:2 an IR of {ratio} needs a GARBE of at least"
            f" {audit.least_garbe(first):.3f} by equations 14 and 16 to 18, and of"
            f" {audit.least_garbe(first, False):.3f} if IR has no exponents; {printed} is printed."
        ),
    ]
    if not _impossible_rates(exponents=False):
        lines[0] += (
            " As the plain product of the two ratios, without exponents, every printed IR is"
            " possible."
        )
    if sums.largest_miss < _GARBE_HALF_UNIT:
        lines[1] += (
            f" The column has a law of its own: for all {sums.n_systems} systems of the factors 1,"
            " 2, 3 and 5 it is the sum, over the six pairs of groups, of one number for each pair"
            f" of factors, {sums.n_terms} numbers in all, and no printed digit contradicts that."
            " Equation 16 divides by the mean over all groups, so 1:1:1:2 must have a larger GARBE"
            " than 1:2:2:2."
        )
    if eers.outliers:
        expected = ", ".join(
            f"{eers.predicted[ratios]:.2e} for {ratios}" for ratios in eers.outliers
        )
        lines.append(
            "**STD of EER.** The numbers of systems with one group apart give the EERs of the"
            f" sets, and these give all others but those of {' and '.join(eers.outliers)}. Expected"
            f" are {expected}."
        )
    if eers.outliers and set(eers.outliers) == set(audit.repeated_garbe()):
        lines[-1] += " The digits of their GARBE stand there."
    below = [factor for factor, offset in eers.offset.items() if offset < 0]
    if below:
        named = " and ".join(
            f"x {factor} ({100 * eers.offset[factor]:+.2f} points)" for factor in below
        )
        lines.append(
            f"The same EERs show that if x 5 has a higher EER than x 1, then {named} has a lower"
            " one: in the paper's own draw a set that is worse by its FMR at a TMR of 95 % is"
            " better by its EER. So a standard deviation of EERs cannot follow the intended order,"
            " whatever its merits."
        )
    return "\n\n".join(lines)


def _impossible_rates(exponents: bool) -> list[str]:
    return [
        f"{one.ratios} ({one.table})"
        for one in SYSTEMS
        if one.numbers["inequity_rate"].low
        > audit.largest_inequity_rate(one.numbers["fdr"], exponents)
    ]


def limits_table() -> Table:
    """Tabulate what the printed numbers allow each other, system by system."""
    rows: list[list[Cell]] = []
    for one in SYSTEMS:
        numbers = one.numbers
        limits = [
            audit.largest_inequity_rate(numbers["fdr"], exponents) for exponents in (True, False)
        ]
        least = [audit.least_garbe(one, exponents) for exponents in (True, False)]
        rows.append(
            [
                one.table,
                one.ratios,
                numbers["inequity_rate"].text,
                *limits,
                numbers["garbe"].text,
                *least,
            ]
        )
    columns = (
        "Table",
        "Ratios",
        "IR, printed",
        "IR at most",
        "IR at most, no exponents",
        "GARBE, printed",
        "GARBE at least",
        "GARBE at least, no exponents",
    )
    formats = dict.fromkeys(columns[3:5], ".1f") | dict.fromkeys(columns[6:], ".4f")
    caption = (
        "The largest IR that the printed FDR allows, and the least GARBE that the printed IR does,"
        " within rounding."
    )
    return Table("limits", caption, columns, rows, formats)
