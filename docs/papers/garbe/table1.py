"""Paper 2's Table 1 through the measures, and what the printed numbers say of each other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fastfair.measures import MEASURES
from papers.figure_style import COLORS, LINES, new_figure
from papers.page_parts import Cell, Figure, Table, Verdict

from .printed import MATED, NATIONALITIES, NONMATED, POOLED_EER, SWAPS, TABLE_1
from .rules import of_cases
from .runs import NAMES, OPTIMISED, SLIM, Floats, terms, values

ALPHAS = (0.0, 0.25, 0.5, 0.75, 1.0)
_HALF_DIGIT = 0.005  # of a rate in per cent with two decimals
_N_MATED, _N_NONMATED = (n * len(NATIONALITIES) for n in (MATED, NONMATED))


def printed_rates() -> dict[str, tuple[Floats, Floats]]:
    """Return FMR and FNMR of each system as fractions."""
    return {
        system: (np.array(fmr) / 100, np.array(fnmr) / 100)
        for system, (fmr, fnmr) in TABLE_1.items()
    }


def error_counts(per_cent: tuple[float, ...], n: int) -> tuple[NDArray[np.int64], bool]:
    """Find the whole numbers of errors that rates with two decimals stand for, and whether they are
    exactly those.
    """
    counts = np.rint(np.array(per_cent) / 100 * n).astype(np.int64)
    off = np.abs(100 * counts / n - np.array(per_cent))
    return counts, bool((off <= _HALF_DIGIT + 1e-9).all())


def exact_rates() -> dict[str, tuple[Floats, Floats]]:
    """Return FMR and FNMR of each system as the counts behind the printed rates have them."""
    return {
        system: (error_counts(fmr, NONMATED)[0] / NONMATED, error_counts(fnmr, MATED)[0] / MATED)
        for system, (fmr, fnmr) in TABLE_1.items()
    }


def all_whole() -> bool:
    """Tell whether every printed rate is one of a whole number of errors."""
    return all(
        error_counts(fmr, NONMATED)[1] and error_counts(fnmr, MATED)[1]
        for fmr, fnmr in TABLE_1.values()
    )


def fairest(
    name: str, alpha: float, rates: dict[str, tuple[Floats, Floats]], *, least: bool = False
) -> str:
    """Name the system that a measure calls fairest, or least fair."""
    sign = -1 if MEASURES[name].fairer == "higher" else 1
    found = {
        system: sign * float(values(name, *pair, [alpha])[0]) for system, pair in rates.items()
    }
    return (max if least else min)(found, key=lambda system: found[system])


def measures_table() -> Table:
    """Lay out the three measures of the printed rates over alpha."""
    columns = ["Measure", "System", *(f"α = {alpha:g}" for alpha in ALPHAS)]
    rows: list[list[Cell]] = []
    for name in NAMES:
        for system, rates in printed_rates().items():
            rows.append([MEASURES[name].title, system, *map(float, values(name, *rates, ALPHAS))])
        for title, least in (("fairest", False), ("least fair", True)):
            named = [fairest(name, alpha, printed_rates(), least=least) for alpha in ALPHAS]
            rows.append([MEASURES[name].title, title, *named])
    caption = (
        "FDR (1 is fair), IR (1 is fair) and GARBE (0 is fair) of Table 1's printed rates, which"
        " are at each system's threshold of the pooled EER. α is the weight of false matches."
    )
    return Table("table1_measures", caption, columns, rows)


def measures_figure() -> Figure:
    """Draw the three measures of the printed rates over alpha."""
    drawing, axes = new_figure(1, 3, (10, 3.2))
    alphas = np.linspace(0, 1, 101)
    for ax, name in zip(axes[0], NAMES, strict=True):
        for k, (system, rates) in enumerate(printed_rates().items()):
            found = values(name, *rates, alphas)
            known = np.isfinite(found)
            ax.plot(alphas[known], found[known], label=system, linestyle=LINES[k % len(LINES)])
            if name == "inequity_rate" and known.sum() == 1:
                ax.plot(
                    alphas[known], found[known], "o", color=COLORS[k], markersize=4, clip_on=False
                )
        ax.set(xlabel="α, weight of false matches", ylabel=MEASURES[name].title, xlim=(0, 1))
    axes[0, 1].set_yscale("log")
    axes[0, 1].set_yticks([5, 10, 20, 50, 100], ["5", "10", "20", "50", "100"])
    axes[0, 1].minorticks_off()
    drawing.legend(
        *axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=len(TABLE_1)
    )
    caption = (
        "FDR, IR and GARBE of Table 1's printed rates over α. Higher is fairer for FDR, lower for"
        " IR and GARBE. Where a group has no errors IR exists only at the α that leaves them out (a"
        " dot)."
    )
    return Figure("table1_over_alpha", caption, drawing)


def audit() -> Table:
    """Hold pooled rates, of the counts behind the printed ones, against the printed EER; and the
    terms of measures.
    """
    rows: list[list[Cell]] = []
    for system, (fmr, fnmr) in exact_rates().items():
        fdr_terms, garbe_terms = (terms(name, fmr, fnmr) for name in ("fdr", "garbe"))
        rows.append(
            [
                system,
                POOLED_EER[system],
                100 * float(fmr.mean()),
                100 * float(fnmr.mean()),
                _gap(fmr, fnmr),
                *(100 * float(term) for term in fdr_terms),
                *map(float, garbe_terms),
            ]
        )
    columns = [
        "System",
        "Pooled EER, printed (%)",
        "Pooled FMR (%)",
        "Pooled FNMR (%)",
        "Errors between them",
        "FPD of FDR (%)",
        "FND of FDR (%)",
        "FPD of GARBE",
        "FND of GARBE",
    ]
    caption = (
        f"The rates of Table 1 pooled over nationalities ({_N_MATED:,} mated and {_N_NONMATED:,}"
        " non-mated comparisons), and the terms that FDR and GARBE weight with α."
    )
    formats = dict.fromkeys(columns[1:2], ".2f") | dict.fromkeys(columns[2:], ".3f")
    return Table("table1_audit", caption, columns, rows, formats)


def _gap(fmr: Floats, fnmr: Floats) -> int:
    return round(abs(float(fmr.mean()) - float(fnmr.mean())) * _N_MATED)


def eer_between(printed: float, fmr: Floats, fnmr: Floats) -> bool:
    """Tell whether a printed EER lies between the pooled rates at its threshold, within
    rounding.
    """
    low, high = sorted((100 * float(fmr.mean()), 100 * float(fnmr.mean())))
    return low - _HALF_DIGIT <= printed <= high + _HALF_DIGIT


def verdicts() -> list[Verdict]:
    """Judge what the text says by Table 1."""
    rates = exact_rates()
    between = {system: eer_between(POOLED_EER[system], *pair) for system, pair in rates.items()}
    gaps = [_gap(*pair) for pair in rates.values()]
    n, lowest = len(rates), 100 * min(float(fmr.mean()) for fmr, _ in rates.values())
    found = [
        Verdict(
            "The rates are at the threshold of the pooled EER",
            "Table 1",
            "In every system the printed EER lies between the pooled FMR and FNMR, within its two"
            " decimals",
            f"in {sum(between.values())} of {n} systems"
            + _named("; not in ", [system for system, inside in between.items() if not inside])
            + f"; the two rates are {min(gaps)} to {max(gaps)} errors apart",
            of_cases(between.values()),
        ),
        _swap_verdict("fdr", rates, lowest, "FPD", "FND"),
        _swap_verdict("garbe", rates, lowest, "FND", "FPD"),
    ]
    for claim, source, system, least in (
        (
            f"{SLIM} has the lowest GARBE at all thresholds (α = 0.5)",
            "section 5, Fig. 6",
            SLIM,
            False,
        ),
        (
            f"{OPTIMISED} has the highest GARBE at most operating points (α = 0.5)",
            "section 5, Fig. 6",
            OPTIMISED,
            True,
        ),
    ):
        named = fairest("garbe", 0.5, rates, least=least)
        found.append(
            Verdict(
                claim,
                source,
                "It has so at the thresholds of Table 1 too",
                f"there it is {named}, GARBE {float(values('garbe', *rates[named], [0.5])[0]):.3f}",
                of_cases([named == system]),
            )
        )
    worst = max(POOLED_EER, key=lambda system: POOLED_EER[system])
    best = {name: fairest(name, 0.5, rates) for name in NAMES}
    found.append(
        Verdict(
            "The fairest system has the worst verification performance",
            "sections 5 and 6",
            "The system with the highest pooled EER of Table 1 is the fairest there at α = 0.5, by"
            " each of the measures",
            f"highest EER: {worst}; fairest by "
            + ", ".join(f"{MEASURES[name].title}: {system}" for name, system in best.items()),
            of_cases(system == worst for system in best.values()),
        )
    )
    return found


def _swap_verdict(
    name: str, rates: dict[str, tuple[Floats, Floats]], lowest: float, larger: str, smaller: str
) -> Verdict:
    order = 1 if larger == "FPD" else -1
    cases = [order * float(np.subtract(*terms(name, *pair))) > 0 for pair in rates.values()]
    return Verdict(
        f"Above an FMR of {100 * SWAPS[name]:g} % {larger} of {MEASURES[name].title} is larger than"
        f" {smaller}",
        "section 4.2.3",
        f"It is in every system of Table 1, whose thresholds have FMRs of {lowest:.2f} % and more",
        f"in {sum(cases)} of {len(cases)} systems",
        of_cases(cases),
    )


def _named(prefix: str, systems: list[str]) -> str:
    return prefix + ", ".join(systems) if systems else ""


def same_by_counts() -> bool:
    """Tell whether rounding changes which system is the fairest by any measure at any alpha."""
    printed, exact = printed_rates(), exact_rates()
    return all(
        fairest(name, alpha, printed) == fairest(name, alpha, exact)
        for name in NAMES
        for alpha in ALPHAS
    )
