"""The verb `synthesize` of the command line."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click
import polars as pl

from fastfair._lib.csv_text import write_csv
from fastfair._lib.seeds import fixed
from fastfair._lib.tables import columns_of, write_json
from fastfair.data.comparisons import Comparisons
from fastfair.error_rates.operating_points import at_fmr, at_fnmr
from fastfair.error_rates.rates import rates
from fastfair.io.write import write_comparisons
from fastfair.synthesis.hill_climbing import KINDS, Synthesis, synthesize
from fastfair.synthesis.simulators import binormal_comparisons
from fastfair.synthesis.systems import BiasedSystem, SystemMeasure, biased_system, scenario_family

from .figures import figures_of_scores
from .options import RUNNING, with_options
from .output import deliver, require_output
from .plan_tables import print_synthesis
from .terminal import say_json
from .verbs import Verb, watched

_ONE_SET: dict[str, Callable[..., Any]] = {"climb": synthesize, "binormal": binormal_comparisons}
_HELD = {"fmr": "tmr", "fnmr": "tnmr"}
_FLAGS = {"n_subjects": "--subjects", "rng": "--seed"}  # flags that differ from the argument's name


def _options(command: Any) -> Any:
    def size(flag: str, text: str) -> Any:
        return click.option(flag, type=click.IntRange(min=1), help=text)

    options = [
        click.option(
            "--ratios", metavar="A:B:...",
            help="Make a system whose groups have error rates in these ratios, as in 1:1:3:5."
        ),
        click.option("--family", is_flag=True, help="Make the 44 systems of the paper."),
        click.option("--fmr", type=float, help="Make one set with this FMR where the TMR is --at."),
        click.option("--fnmr", type=float, help="Make one set with this FNMR where the TNMR is --at."),
        click.option(
            "--kind", type=click.Choice(KINDS), help="Systems: the error rate in which groups differ. [default: fmr]"
        ),
        click.option("--rate", type=float, help="Systems: error rate of a group with ratio 1. [default: 0.001]"),
        click.option(
            "--at", type=float, help="TMR (for --fmr) or TNMR (for --fnmr) of a set, or of groups. [default: 0.95]"
        ),
        size("--n-mated", "Mated comparisons of a set or group. [default: 3000]"),
        size("--n-nonmated", "Non-mated comparisons of a set or group. [default: 3000]"),
        click.option("--overall-fmr", type=float, help="Systems: overall FMR where the TMR is 0.95. [default: 0.0001]"),
        size("--overall-mated", "Systems: mated comparisons overall. [default: 12000]"),
        size("--overall-nonmated", "Systems: non-mated comparisons overall. [default: 600000]"),
        size("--n-steps", "Hill climbing: largest number of steps. [default: 1000]"),
        click.option(
            "--generator", type=click.Choice(list(_ONE_SET)),
            help="One set: hill climbing, or normal scores, whose rates differ by chance from those asked for. "
            "[default: climb]",
        ),
        click.option(
            "--subjects", "n_subjects", type=click.IntRange(min=2), help="Binormal: subjects of the comparisons."
        ),
        click.option(
            "--subject-effect", type=float,
            help="Binormal: correlation between scores of one subject, 0 to 1. [default: 0]"
        ),
        click.option(
            "--format", "suffix", type=click.Choice(["csv", "tsv", "parquet"]), default="csv", show_default=True,
            help="Format of score files.",
        ),
        *RUNNING,
        click.option(
            "--plots", is_flag=True,
            help="With --output: draw DET curves, distributions of the scores, and steps of hill climbing, as PNG and "
            "SVG."
        ),
    ]  # fmt: skip
    return with_options(command, options)


@dataclass(frozen=True)
class _Made:
    """The scores to write, a table of the sets to print, and the fairness measures of the systems."""

    scores: Mapping[str, Comparisons]
    sets: Sequence[Mapping[str, Any]]
    measures: Sequence[SystemMeasure] = ()
    climbed: Sequence[Synthesis] = ()


@click.command(
    "synthesize",
    cls=Verb,
    summary="Make scores with given error rates, or of a biased system.",
    examples="""
    fastfair synthesize --ratios 1:1:3:5 --output system
    fastfair synthesize --fmr 0.01 --n-nonmated 30000 --format parquet --output set
    fastfair synthesize --fmr 0.01 --generator binormal --subjects 500 --subject-effect 0.3 --output set
    fastfair synthesize --family --output family
    """,
)
@_options
def synthesize_command(
    *,
    ratios: str | None,
    family: bool,
    fmr: float | None,
    fnmr: float | None,
    suffix: str,
    as_json: bool,
    output: Path | None,
    plots: bool,
    progress: bool | None,
    rng: int | None,
    n_threads: int | None,
    **options: Any,
) -> None:
    """Make scores with given error rates: a biased system, the 44 systems of the paper, or one set.

    With --output: groups.csv and overall.csv of a system, or scores.csv of a set, and measures.csv. Scores are
    distances.
    """
    if sum((ratios is not None, family, fmr is not None, fnmr is not None)) != 1:
        raise click.UsageError("nothing says what to make: give one of --ratios, --family, --fmr and --fnmr")
    require_output(output, plots)
    given = {name: value for name, value in options.items() if value is not None}
    seed = fixed(rng)
    if ratios is None and not family:
        wanted = {"fmr": fmr} if fmr is not None else {"fnmr": fnmr}
        made = _one_set(wanted, given, seed)
    else:
        running = {"rng": seed, "n_threads": n_threads, "progress": watched(progress)}
        made = _family(given, running) if ratios is None else _system(ratios, given, running)
    asked = {"ratios": ratios, "family": family or None, "fmr": fmr, "fnmr": fnmr, **given, "rng": seed}
    content = {
        "settings": {name: value for name, value in asked.items() if value is not None},
        "sets": list(made.sets),
        "measures": [asdict(row) for row in made.measures],
    }
    deliver(
        output,
        partial(_files, made, content, suffix),
        partial(figures_of_scores, made.scores, made.climbed, made.measures) if plots else None,
        partial(say_json, write_json(content, None)) if as_json else partial(print_synthesis, made.sets, made.measures),
    )


def _system(ratios: str, given: dict[str, Any], running: dict[str, Any]) -> _Made:
    _refuse(given, inspect.signature(biased_system).parameters, "--ratios")
    system = biased_system(ratios, **given, **running)
    named = zip(system.groups.groups, system.sets, strict=True)
    sets = [{"group": group} | _reached(made) for group, made in named]
    return _Made({"groups": system.groups, "overall": system.overall}, sets, system.measures(), _distinct([system]))


def _family(given: dict[str, Any], running: dict[str, Any]) -> _Made:
    _refuse(given, inspect.signature(scenario_family).parameters, "--family")
    family = scenario_family(**given, **running)
    sets = _distinct(family.systems)
    return _Made({}, [_reached(made) for made in sets], family.measures(), sets)


def _distinct(systems: Iterable[BiasedSystem]) -> list[Synthesis]:
    """Return each set once, as systems share sets."""
    sets = {(made.kind, made.target): made for system in systems for made in system.sets}
    return [sets[key] for key in sorted(sets)]


def _one_set(wanted: dict[str, Any], given: dict[str, Any], seed: Any) -> _Made:
    ((kind, target),) = wanted.items()
    options = {"n_mated": 3000, "n_nonmated": 3000, **given}
    generator = options.pop("generator", "climb")
    function = _ONE_SET[generator]
    _refuse(options, {*inspect.signature(function).parameters, "at"}, f"--generator {generator} of one set")
    at = options.pop("at", 0.95)
    made = function(**wanted, **{_HELD[kind]: at}, **options, rng=seed)
    if isinstance(made, Synthesis):
        return _Made({"scores": made.comparisons()}, [_reached(made)], (), [made])
    missed = round(1 - at, 12)  # 1 - 0.9 is less than 0.1
    found = rates(made, at_fnmr(missed) if kind == "fmr" else at_fmr(missed))
    row = {"rate": _rate(kind, at), "target": target, "reached": getattr(found, kind), "threshold": found.threshold}
    return _Made({"scores": made}, [row])


def _reached(made: Synthesis) -> dict[str, Any]:
    return {
        "rate": _rate(made.kind, made.at),
        "target": made.target,
        "reached": getattr(made, made.kind),
        "steps": made.n_steps,
        "threshold": made.threshold,
    }


def _rate(kind: str, at: float) -> str:
    return f"{kind.upper()} at {_HELD[kind].upper()} {at:g}"


def _refuse(given: Iterable[str], known: Iterable[str], what: str) -> None:
    """Refuse options that do not go with the option that says what to make."""
    wrong = [_FLAGS.get(name, f"--{name.replace('_', '-')}") for name in given if name not in set(known)]
    if wrong:
        raise click.UsageError(f"{', '.join(wrong)} cannot go with {what}")


def _files(made: _Made, content: dict[str, Any], suffix: str) -> dict[str, Callable[[Path], Any]]:
    files: dict[str, Callable[[Path], Any]] = {"synthesis.json": partial(write_json, content)}
    files |= {f"{name}.{suffix}": partial(write_comparisons, scores) for name, scores in made.scores.items()}
    if made.measures:
        files["measures.csv"] = partial(write_csv, pl.DataFrame(columns_of(made.measures)))
    return files
