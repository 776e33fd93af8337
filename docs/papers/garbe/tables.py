"""Tables of paper 2's measures on VoxCeleb1-H, beside what is printed."""

from __future__ import annotations

import numpy as np

from fastfair import at_fmr
from fastfair.intervals import confidence_interval
from fastfair.measures import MEASURES
from papers.page_parts import Cell, Range, Table
from papers.quantities import fairer

from .claims import AT, OVER, over_alpha, share_computable, swap_of
from .printed import (
    GARBE_TERMS_AT,
    GARBE_TERMS_OVER,
    IR_AT,
    IR_COMPUTABLE,
    IR_LARGEST,
    RANGES_AT,
    RANGES_OVER,
    SWAPS,
)
from .runs import GROUPINGS, NAMES, OPTIMISED, SLIM, Floats, Run, Study, disparity, terms, values

_WHERE = {"0.1 %": AT, "0.1 to 10 %": OVER}


def groups_table(study: Study) -> Table:
    """Say what stands behind the groups of nationality."""
    slim, optimised = (
        study.evaluations[system, "nationality"].rates[0] for system in (SLIM, OPTIMISED)
    )
    counts = slim.counts
    speakers = counts.group_nonmated_subjects
    columns = (
        "Nationality",
        "Speakers",
        "Mated",
        "Non-mated",
        f"False matches, {OPTIMISED}",
        f"False matches, {SLIM}",
    )
    rows = [
        (
            group,
            None if speakers is None else int(speakers[k]),
            int(counts.group_mated[k]),
            int(counts.group_nonmated[k]),
            int(optimised.counts.group_false_matches[k]),
            int(counts.group_false_matches[k]),
        )
        for k, group in enumerate(slim.groups)
    ]
    caption = (
        "VoxCeleb1-H by nationality: comparisons, and false matches at an overall FMR of 0.1 %."
    )
    return Table("voxceleb_groups", caption, columns, rows)


def ranges_table(study: Study) -> Table:
    """Lay out the values of the measures over alpha beside the ranges printed."""
    printed = {
        ("fdr", "0.1 %"): RANGES_AT["fdr"],
        ("fdr", "0.1 to 10 %"): RANGES_OVER["fdr"],
        ("garbe", "0.1 %"): RANGES_AT["garbe"],
        ("garbe", "0.1 to 10 %"): RANGES_OVER["garbe"],
    }
    rows: list[list[Cell]] = []
    for (name, where), (low, high) in printed.items():
        for grouping in _groupings(study):
            cells = [
                _about(over_alpha(study, study.run(s, grouping), name, _WHERE[where]))
                for s in (OPTIMISED, SLIM)
            ]
            rows.append([MEASURES[name].title, where, f"{low:g} to {high:g}", grouping, *cells])
    caption = (
        "Values over α in [0, 1]: median [least, largest]. Printed are least and largest of five"
        " systems on another protocol."
    )
    columns = ("Measure", "FMR", "Printed", "Groups", OPTIMISED, SLIM)
    return Table("ranges", caption, columns, rows, dict.fromkeys(columns[4:], ".2f"))


def terms_table(study: Study) -> Table:
    """Lay out medians of the terms beside those printed."""
    printed = {("garbe", "0.1 %"): GARBE_TERMS_AT, ("garbe", "0.1 to 10 %"): GARBE_TERMS_OVER}
    rows: list[list[Cell]] = []
    for name in NAMES:
        for where, points in _WHERE.items():
            for grouping in _groupings(study):
                runs = [study.run(system, grouping) for system in (OPTIMISED, SLIM)]
                both = [
                    np.array([terms(name, run.fmr[points], run.fnmr[points])[k] for run in runs])
                    for k in (0, 1)
                ]
                fpd, fnd = (float(np.median(of_both)) for of_both in both)
                known = printed.get((name, where), (None, None))
                times = float(disparity(fpd, fnd))
                rows.append([MEASURES[name].title, where, *known, grouping, fpd, fnd, times])
    columns = (
        "Measure",
        "FMR",
        "FPD printed",
        "FND printed",
        "Groups",
        "FPD",
        "FND",
        "Larger over smaller",
    )
    caption = (
        "Medians of the terms FPD and FND over systems (two here, five in print) and FMRs, evenly"
        " spaced on a logarithmic axis here; the paper does not say how."
    )
    return Table("terms", caption, columns, rows, dict.fromkeys(columns[5:], ".3g"))


def inequity_table(study: Study) -> Table:
    """Lay out how often IR is computable, and how large it is."""
    rows: list[list[Cell]] = []
    for run in study.runs:
        found = values("inequity_rate", run.fmr, run.fnmr, study.alphas)
        finite = np.isfinite(found)
        points = finite[1:-1].all(axis=0)
        first = float(run.levels[points.argmax()]) if points.any() else np.nan
        # Where the FMRs were evenly spaced on a linear axis, each would count as far as it reaches
        # there.
        linear = float(np.average(points, weights=np.gradient(run.levels)))
        at_first = float(values("inequity_rate", run.fmr[0], run.fnmr[0], [0.5])[0])
        rows.append(
            [
                run.system,
                run.grouping,
                IR_AT.get(run.system, "not computable"),
                at_first,
                100 * first,
                100 * share_computable(study, run),
                100 * linear,
                100 * float(finite.mean()),
                float(found[finite].max()) if finite.any() else np.nan,
            ]
        )
    columns = (
        "System",
        "Groups",
        "IR at FMR 0.1 %, printed",
        "IR at FMR 0.1 %",
        "Computable from FMR (%)",
        "Computable (%)",
        "FMRs evenly on a linear axis (%)",
        "With α of 0 and 1 (%)",
        "Largest IR",
    )
    caption = (
        "IR at α = 0.5 (the paper does not say of which α its value is), and the share of pairs of"
        " FMR (0.1 to 10 %) and α where it is computable: for α in (0, 1), for FMRs on a linear"
        " axis, and with the α at which one kind of errors does not count. Printed for five"
        f" systems together: {100 * IR_COMPUTABLE:g} %, values up to {IR_LARGEST:g}."
    )
    return Table(
        "inequity_rate",
        caption,
        columns,
        rows,
        dict.fromkeys(columns[5:8], ".0f") | {columns[4]: ".2g"},
    )


def operating_points_table(study: Study) -> Table:
    """Lay out the measures at three operating points with intervals, and what the systems differ
    by.
    """
    rows: list[list[Cell]] = []
    for grouping in GROUPINGS:
        for level in study.levels[[0, study.levels.size // 2, -1]]:
            at = at_fmr(level)
            for name in NAMES:
                contrast = study.pairs[grouping].contrast(name, at=at)
                cells = [
                    Range(
                        study.evaluations[system, grouping].value(name, at=at),
                        *study.evaluations[system, grouping].interval(name, at=at),
                    )
                    for system in (OPTIMISED, SLIM)
                ]
                difference = Range(contrast.difference, contrast.low, contrast.high)
                rows.append(
                    [
                        grouping,
                        f"{100 * level:.3g} %",
                        MEASURES[name].title,
                        *map(_or_value, cells),
                        _or_value(difference),
                        fairer(contrast.verdict, SLIM, OPTIMISED),
                    ]
                )
    columns = ("Groups", "FMR", "Measure", OPTIMISED, SLIM, f"{SLIM} less {OPTIMISED}", "Fairer")
    caption = (
        "The measures at α = 0.5 with 95 % intervals over speakers, by test inversion; intervals of"
        " differences are put together from both systems' own. Which system is the fairer beyond"
        " chance is told by the test of `compare`, which draws numbers of errors anew where a group"
        " has none."
    )
    return Table("operating_points", caption, columns, rows, dict.fromkeys(columns[3:6], ".3f"))


def swaps_table(study: Study) -> Table:
    """Lay out where one term overtakes the other."""
    rows: list[list[Cell]] = []
    for name, printed in SWAPS.items():
        what = "FPD overtakes FND" if name == "fdr" else "FND overtakes FPD"
        for grouping in _groupings(study):
            cells = [
                _per_cent(swap_of(study.run(system, grouping), name))
                for system in (OPTIMISED, SLIM)
            ]
            rows.append([MEASURES[name].title, what, 100 * printed, grouping, *cells])
    columns = ("Measure", "Where", "FMR printed (%)", "Groups", f"{OPTIMISED} (%)", f"{SLIM} (%)")
    caption = (
        "FMR where the terms swap, with percentile intervals over the replicates in which they do"
        " so once."
    )
    return Table("swaps", caption, columns, rows, dict.fromkeys(columns[4:], ".2g"))


def term_intervals(run: Run, name: str) -> list[tuple[Floats, Floats, Floats]]:
    """Return both terms over FMR, each with its percentile interval."""
    found, drawn = terms(name, run.fmr, run.fnmr), terms(name, run.drawn_fmr, run.drawn_fnmr)
    return [
        (term, *confidence_interval(np.moveaxis(d, 0, -1), term))
        for term, d in zip(found, drawn, strict=True)
    ]


def _groupings(study: Study) -> list[str]:
    return list(dict.fromkeys(run.grouping for run in study.runs))


def _about(found: Floats) -> Range:
    return Range(float(np.median(found)), float(found.min()), float(found.max()))


def _per_cent(found: Range) -> Cell:
    return _or_value(Range(100 * found.value, 100 * found.low, 100 * found.high))


def _or_value(found: Range) -> Cell:
    """Leave out an interval that there is not."""
    return found.value if np.isnan([found.low, found.high]).any() else found
