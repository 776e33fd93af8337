"""`synthesize`: scores of a system, or of one set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import click
import polars as pl

import fastfair as ff
from fastfair.cli.run import NOT_OF_FUNCTIONS, Run, default_of
from fastfair.cli.terminal import print_table, say
from fastfair.results.result import printed
from fastfair.results.written import to_plain
from fastfair.uncertainty.quantities import table_of

_HELD = {"fmr": "tmr", "fnmr": "tnmr"}


def synthesize(run: Run) -> None:
    """Make scores: of a system, or one set."""
    what = [name for name in ("ratios", "fmr", "fnmr") if run.options.get(name)]
    if len(what) != 1:
        raise click.UsageError("nothing says what to make: give one of --ratios, --fmr and --fnmr")
    asked = {name: value for name, value in run.options.items() if name not in NOT_OF_FUNCTIONS}
    measures: Sequence[Any] = ()
    if what == ["ratios"]:
        run.refuse(asked, ff.biased_system, "--ratios")
        system = run.call(ff.biased_system)
        scores = {"groups": system.groups, "overall": system.overall}
        sets = [
            {"group": group, **_reached(scores_of)}
            for group, scores_of in zip(system.groups.groups, system.sets, strict=True)
        ]
        measures = system.measures()
    else:
        (kind,) = what
        usual = {
            name: default_of(ff.biased_system, name) for name in ("n_mated", "n_nonmated", "at")
        }
        wanted = usual | asked
        wanted[_HELD[kind]] = wanted.pop("at")
        run.refuse(wanted, ff.synthesize, f"--{kind}")
        made = ff.synthesize(**wanted, rng=run.options["rng"])
        scores = {"scores": made.comparisons()}
        sets = [_reached(made)]
    names = {
        "measure": "name",
        "group": "group",
        "operating_point": "operating_point",
        "value": "estimate",
    }
    frame = pl.DataFrame(
        {name: [getattr(row, of_row) for row in measures] for name, of_row in names.items()}
    )
    settings = {name: asked[name] for name in dict.fromkeys((*what, *asked))} | {
        "rng": run.options["rng"]
    }
    content = to_plain({"settings": settings, "sets": sets, "measures": frame.to_dicts()})
    suffix = run.options.get("suffix", "csv")
    output = run.options.get("output")
    run.write(
        {"synthesis": lambda: content},
        {"measures": lambda: frame} if measures else {},
        partial(_print_made, sets, measures),
        files=(
            {}
            if output is None
            else {
                output / f"{name}.{suffix}": partial(ff.write_comparisons, scores_of)
                for name, scores_of in scores.items()
            }
        ),
    )


def _reached(made: Any) -> dict[str, Any]:
    rate = f"{made.kind.upper()} at {_HELD[made.kind].upper()} {made.at:g}"
    return {
        "rate": rate,
        "target": made.target,
        "reached": getattr(made, made.kind),
        "steps": made.n_steps,
        "threshold": made.threshold,
    }


def _print_made(sets: Sequence[Mapping[str, Any]], measures: Sequence[Any]) -> None:
    """Print the rate reached in each set, and the measures of a system."""
    columns = {name: [row[name] for row in sets] for name in sets[0]}
    print_table(("Reached", *printed(columns, columns)[1:]))
    if measures:
        say()
        columns = table_of([row for row in measures if row.group is None])
        print_table(("Fairness", *printed(columns, ("name", "operating_point", "estimate"))[1:]))
