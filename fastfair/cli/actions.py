"""What verbs do: read, call the library, and hand over results. A verb `group-test` is the function
`group_test`.
"""

from __future__ import annotations

import inspect
import itertools
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import click
import numpy as np
import polars as pl

import fastfair as ff
from fastfair._lib.text import in_lines, number_with_interval
from fastfair._lib.warnings import warn
from fastfair.claims import (
    ALL_OF_ATTACKS,
    MET,
    NOT_MET,
    UNDECIDED,
    Attributes,
    Check,
    ProfileCheck,
    Requirement,
    check_evaluations,
    read_profile,
    requirements_of,
)
from fastfair.data.label_bands import NO_BANDS
from fastfair.error_rates.operating_points import ENOUGH_ERRORS, OperatingPoint, at_fmr
from fastfair.errors import FastfairWarning, FewResamplesWarning, InputError
from fastfair.evaluation.failure_counts import ATTEMPTS, OF_TWO_PEOPLE
from fastfair.identification.read_searches import groups_of_gallery
from fastfair.measures._registry import ACCURACY, difference_of, measure_of, printed_name
from fastfair.pages.report import sha256_of
from fastfair.resampling.engine import METRICS as SCORE_METRICS
from fastfair.results.result import printed
from fastfair.results.written import to_plain
from fastfair.uncertainty.quantities import table_of

from .commands import given_options
from .run import OF_FAILURES, Run, default_of
from .signatures import arguments_for
from .terminal import print_result, print_table, say
from .verbs import OUTPUT

_POINT = at_fmr(1e-3)
# what comparisons call the rates of checks, those of transactions and of attacks, too
_OF_COMPARISONS: Mapping[str, Literal["fnmr", "fmr", "iapar", "apcer"]]
_OF_COMPARISONS = {
    **{"fnmr": "fnmr", "fmr": "fmr", "frr": "fnmr", "far": "fmr"},
    **{"iapar": "iapar", "apcer": "apcer", "bpcer": "fnmr"},
}
_LEAST_REPLICATES = 2  # that limits are made of


# evaluate and demo


def evaluate(run: Run) -> None:
    """Evaluate a file."""
    if run.kind_of(run.arguments[0]) in OF_FAILURES:
        _evaluate_counts(run, run.read())
        return
    wanted = _requirements(run)
    data = run.read()
    for what, evaluate_each in (
        ("transactions", ff.evaluate_transactions),
        ("attacks", ff.evaluate_attacks),
    ):
        if getattr(data, what, None) is not None:
            _evaluate_each_point(run, data, wanted, what, evaluate_each)
            return
    _evaluate(run, data, wanted, print_result)


def _evaluate_counts(run: Run, counts: ff.FailureCounts) -> None:
    """Evaluate counts, and judge requirements on them."""
    if run.take("intersections", False):
        raise click.UsageError("--intersections: several --group of counts are these already")
    requirements = run.take("requirements", ())
    results: dict[str, Any] = {"evaluation": run.call(ff.evaluate, counts)}
    if requirements:
        results["check"] = run.call(ff.check, counts, requirements)

    def page() -> list[Any]:
        evaluation, *checks = results.values()
        if len(counts.groups) < 2 or not counts.are_clusters:
            return [evaluation, *checks]
        n_resamples = _replicates_for(counts.groups)
        return [evaluation, run.call(ff.fnmr_test, counts, n_resamples=n_resamples), *checks]

    _deliver(run, results, page=page)


def _evaluate_each_point(
    run: Run,
    data: Any,
    wanted: Sequence[Requirement],
    what: str,
    evaluate_each: Callable[..., Any],
) -> None:
    """Evaluate transactions, or attacks and the comparisons beside them, and judge requirements."""
    points = _points(run)
    results: dict[str, Any] = {}
    if wanted:
        texts = [requirement.text for requirement in wanted]
        results["check"] = run.call(ff.check, data, texts, at=points[0])
    for k, point in enumerate(points, 1):
        name = f"{what}_{k}" if len(points) > 1 else what
        results[name] = run.call(evaluate_each, data, point)
    if what == "attacks" and not data.lacks_rate:
        results["evaluation"] = run.call(ff.evaluate, data)
    run.deliver(results)


def demo(run: Run) -> None:
    """Evaluate real data, and write a page about it."""
    run.options.setdefault("report", run.options.get("output", Path()) / "report.html")
    wanted = _requirements(run)
    _evaluate(
        run, run.call(ff.datasets.voxceleb1_h), wanted, lambda evaluation: say(evaluation.summary())
    )


def _requirements(run: Run) -> list[Requirement]:
    """Read the requirements before any work."""
    if "requirements" not in run.options:
        return []
    also = ALL_OF_ATTACKS if "attack" in run.options else ()
    wanted = requirements_of(run.take("requirements"), _points(run)[0], also=also)
    if run.options.get("n_resamples", _LEAST_REPLICATES) < _LEAST_REPLICATES:
        raise click.UsageError(
            "--require needs replicates: give --n-resamples 2 or more, and leave --quick out"
        )
    return wanted


def _points(run: Run) -> list[OperatingPoint]:
    return list(run.options.get("at", default_of(ff.evaluate, "at")))


def _evaluate(
    run: Run, data: Any, wanted: Sequence[Requirement], show: Callable[[Any], None]
) -> None:
    more: dict[str, Any] = {
        "at": list(
            dict.fromkeys(
                [*_points(run), *(requirement.at for requirement in wanted if requirement.at)]
            )
        )
    }
    if "measures" in run.options:
        named = [
            measure.name for requirement in wanted if (measure := measure_of(requirement.name))
        ]
        more["measures"] = [*run.options["measures"], *named]
    about = Attributes(data)
    is_given = run.take("intersections", False)
    families = [about.family(requirement) for requirement in wanted]
    groupings = dict.fromkeys(
        [
            *about.asked,
            *([tuple(data.grouping)] if is_given else ()),
            *(requirement.grouping for family in families for requirement in family),
        ]
    )
    if len(groupings) == 1:
        evaluation = run.call(ff.evaluate, data, **more)
    else:
        given = arguments_for(ff.evaluate, run.options) | more
        evaluation = run.call(ff.evaluate_attributes, data, list(groupings), **given)
    parts = evaluation._parts()
    results: dict[str, Any] = {"evaluation": evaluation}
    if wanted:
        results["check"] = check_evaluations(parts, wanted, families)
    _deliver(
        run,
        results,
        page=lambda: [evaluation, *_tests(run, data, parts), *list(results.values())[1:]],
        show=show,
    )


_REPLICATES = 999
_REPLICATES_OF_A_GROUP = 50  # so many that p-values adjusted for all groups can be as small as 0.02


def _tests(run: Run, data: Any, evaluations: Sequence[Any]) -> list[Any]:
    """Test the groups of each evaluation at the first point."""
    first = evaluations[0].settings
    seed = first["rng"] if run.options.get("n_resamples", 1) else run.options["rng"]
    asked = {"rng": seed, "n_threads": run.options.get("n_threads")}
    return [
        test
        for evaluation in evaluations
        if len(evaluation.groups) > 1 and data.subjects is not None and evaluation.rates
        for test in _tests_of(
            data.by(*evaluation.settings["grouping"]), evaluation.rates[0].at, asked
        )
    ]


def _replicates_for(groups: Sequence[str]) -> int:
    """Return how many replicates a test of so many groups needs."""
    return max(_REPLICATES, _REPLICATES_OF_A_GROUP * len(groups))


def _tests_of(data: Any, at: OperatingPoint, asked: Mapping[str, Any]) -> Iterator[Any]:
    """Test whether FNMRs, and FMRs, differ; where one of them cannot be tested a warning says
    why.
    """
    n_resamples = _replicates_for(data.groups)
    for test in (ff.fnmr_test, ff.fmr_test):
        try:
            yield test(data, at, **asked, n_resamples=n_resamples)
        except InputError as error:
            warn(f"the report lacks a test of groups: {error.marked}", FewResamplesWarning)


# compare


def compare(run: Run) -> None:
    """Compare two systems, or more."""
    first, second, others = run.arguments
    files = [first, second, *others]
    of_second = {
        name.removeprefix("second_"): run.take(name)
        for name in ("second_score", "second_score_kind", "second_embeddings")
        if name in run.options
    }
    baseline = run.options.get("baseline")
    if len(files) > 2 and of_second:
        raise click.UsageError("options of the second system go with two files, not with more")
    names = _names_of(files, run.take("system_names", ()))
    unpaired = run.take("unpaired", False)
    if unpaired and run.options.get("common"):
        raise click.UsageError("--common is for systems that scored the same comparisons")
    are_counts = run.kind_of(files[0]) in OF_FAILURES
    wanted = [] if are_counts else _requirements_on_differences(run, names, baseline)
    if baseline is not None and baseline not in names:
        raise click.UsageError(
            f"--baseline is {baseline!r}, but the systems are {', '.join(map(repr, names))}"
        )
    systems = [run.read(file, **(of_second if k == 1 else {})) for k, file in enumerate(files)]
    given = dict(zip(names, systems, strict=True))
    # which tell what counts are of
    texts = run.take("requirements", ()) if are_counts else [rule.text for rule in wanted]
    junit, judged = _asked_of_checks(run, texts)
    more = arguments_for(ff.evaluate, run.options) | {"paired": not unpaired}
    results: dict[str, Any] = {"comparison": run.call(ff.compare, given, None, **more)}
    if texts:
        level = run.options.get("confidence_level", default_of(ff.check, "confidence_level"))
        results["check"] = ff.check(results["comparison"], texts, confidence_level=level, **judged)
    _deliver(run, results, junit)
    _exit_by(results.get("check"))


def _asked_of_checks(run: Run, requirements: Sequence[str]) -> tuple[Path | None, dict[str, Any]]:
    """Take what is asked of checks beside requirements: where JUnit XML goes, and arguments."""
    junit = run.take("junit")
    allow_undecided = run.take("allow_undecided", False)
    if not requirements and (junit or allow_undecided):
        raise click.UsageError("--junit and --allow-undecided go with --require")
    return junit, {"allow_undecided": allow_undecided}


def _requirements_on_differences(
    run: Run, names: Sequence[str], baseline: str | None
) -> list[Requirement]:
    """Read requirements before any work, and have computed what they are about."""
    texts = run.take("requirements", ())
    if not texts:
        return []
    pairs = list(itertools.combinations(names, 2))
    if baseline is not None:
        pairs = [(name, baseline) for name in names if name != baseline]
    points = list(run.options.get("at", default_of(ff.compare, "at")))
    wanted = requirements_of(texts, points[0] if points else _POINT, pairs=pairs)
    further = [rule.at for rule in wanted if rule.at is not None]
    run.options["at"] = list(dict.fromkeys([*points, *further]))
    about = [difference_of(rule.name) for rule in wanted]
    metrics = [name for name in about if name in (*SCORE_METRICS, ACCURACY)]
    if metrics:
        run.options["metrics"] = [*run.options.get("metrics", ["auto"]), *metrics]
    if "measures" in run.options:
        named = [measure.name for name in about if (measure := measure_of(name))]
        run.options["measures"] = [*run.options["measures"], *named]
    return wanted


def _names_of(files: Sequence[Path], named: Sequence[str] = ()) -> list[str]:
    """Name systems as asked, or by their files: without suffix, or as given where others have the
    same name; files may repeat.
    """
    if named:
        if len(set(named)) < len(named):
            twice = next(name for k, name in enumerate(named) if name in named[:k])
            raise click.UsageError(f"--name {twice} is given twice: name each file differently")
        if len(named) != len(files):
            raise click.UsageError(
                f"--name is given {len(named)} times for {len(files)} files: give another name for"
                " each, in their order"
            )
        return list(named)
    stems = [file.stem for file in files]
    names = [str(file) if stems.count(file.stem) > 1 else file.stem for file in files]
    repeats = [names[:k].count(name) for k, name in enumerate(names)]
    return [f"{name} ({1 + n})" if n else name for name, n in zip(names, repeats, strict=True)]


# check


def check(run: Run) -> None:
    """Judge requirements."""
    _take_bands_of_profile(run)
    data = run.read()
    if isinstance(data, ff.FailureCounts) and "worst" in run.options:
        raise click.UsageError(
            "--worst lists comparisons by their scores, which counts have none of"
        )
    checks = run.call(ff.check, data)
    if isinstance(checks, ProfileCheck):
        checks = checks._with_hashes({str(file): sha256_of(file) for file in run.input_files()})
    listed = _worst_of(data, checks, run.take("worst", 0))

    def show() -> None:
        print_result(checks)
        for title, comparisons in listed:
            print_result(comparisons, f"The worst comparisons behind the {title}")

    names = [f"worst_{k}" if len(listed) > 1 else "worst" for k in range(1, len(listed) + 1)]
    worst = dict(zip(names, (comparisons for _, comparisons in listed), strict=True))
    junit = run.take("junit")
    run.deliver(
        {"check": checks, **worst},
        show=show,
        page=lambda: [checks],
        files={junit: checks.to_junit} if junit else {},
    )
    _exit_by(checks)


def _take_bands_of_profile(run: Run) -> None:
    """Make groups of ages as the profile does, where groups are asked for and no bands are."""
    if "profile" not in run.options:
        if "requirements" not in run.options:
            raise click.UsageError("nothing says what must hold: give --require or --profile")
        return
    bands = read_profile(run.options["profile"]).bands
    is_asked = bands.partition("=")[0] in run.options.get("groups", ())
    is_of_scores = run.options.get("kind", "scores") == "scores"
    if bands and is_asked and is_of_scores and "bands" not in run.options:
        run.options["bands"] = [bands]


def _exit_by(checks: Check | None) -> None:
    if checks is None:
        return
    # 2 is that of wrong options
    sys.exit({MET: 0, NOT_MET: 1, UNDECIDED: 3}[MET if checks.passed else checks.verdict])


def _worst_of(data: Any, checks: Check, n: int) -> list[tuple[str, Any]]:
    """List the comparisons behind each rate that is not shown to be as required."""
    rows = {
        row.title: row
        for row in reversed(checks.rows)
        if row.verdict != MET and row.name in _OF_COMPARISONS
    }
    return [
        (title, ff.worst_comparisons(data, row.at, row.group, n, rate=_OF_COMPARISONS[row.name]))
        for title, row in reversed(rows.items())
        if n and row.at is not None
    ]


def history(run: Run) -> None:
    """Put checks beside each other."""
    (files,) = run.arguments
    if not files:
        raise click.UsageError("give the JSON of each check, in the order of the looks")
    run.deliver({"history": ff.history(list(files))})


# verbs of one call


def apply(run: Run) -> None:
    """Apply a threshold that development data give."""
    data = run.read()
    development = run.read(run.take("development"))
    run.deliver({"applied": run.call(ff.apply_threshold, data, run.take("at"), development)})


def calibration(run: Run) -> None:
    """Tell what decisions by log-likelihood ratios cost."""
    data = run.read()
    method = run.take("method")
    if method is not None:
        data = run.call(ff.calibrate, data, method).comparisons
    run.deliver({"calibration": run.call(ff.evaluate_calibration, data)})


def claim(run: Run) -> None:
    """Judge a claim."""
    data = run.read()
    run.deliver({"claim": run.call(ff.claim, data, run.arguments[1])})


def discard(run: Run) -> None:
    """Discard comparisons of low quality."""
    table = run.take("quality_table")
    quality, *sides = (run.take(name) for name in ("quality", "reference_quality", "probe_quality"))
    if (sides[0] is None) != (sides[1] is None) or (quality and sides[0]):
        raise click.UsageError("give --quality, or both of --reference-quality and --probe-quality")
    if table is not None and sides[0]:
        raise click.UsageError("--quality-table has one column of quality: name it with --quality")
    named = tuple(sides) if sides[0] else quality or "quality"
    data = run.read(quality=named, quality_table=table)
    run.deliver({"discard": run.call(ff.discard_curve, data)})


def model(run: Run) -> None:
    """Model errors by all attributes."""
    asked = [text for name in ("linear", "spline") for text in run.options.get(name, ())]
    numbers = list(dict.fromkeys(text.partition("=")[0].strip() for text in asked))
    instead: dict[str, Any] = {}
    if numbers:  # as columns of numbers that make no groups
        bands, groups = run.options.get("bands", ()), run.options.get("groups", ())
        _refuse_numbers_as_groups(numbers, groups, bands)
        unbanded = [f"{name}={NO_BANDS}" for name in numbers]
        instead = {"bands": [*bands, *unbanded], "groups": [*dict.fromkeys((*groups, *numbers))]}
    data = run.read(**instead)
    attributes = [name for name in data.attributes if name not in numbers]
    more = {"baseline": dict(run.take("baseline"))} if "baseline" in run.options else {}
    run.deliver({"model": run.call(ff.error_model, data, attributes, **more)})


def _refuse_numbers_as_groups(
    numbers: Sequence[str], groups: Sequence[str], bands: Sequence[str]
) -> None:
    """Refuse an attribute that is asked for as numbers and as groups."""
    banded = [text.partition("=")[0].strip() for text in bands]
    for option, names in (("--group", groups), ("--bands", banded)):
        for name in numbers:
            if name in names:
                raise click.UsageError(
                    f"--linear and --spline take {name!r} as a number, and {option} as groups:"
                    f" leave {option} {name} out, or model groups alone"
                )


def strata(run: Run) -> None:
    """Compare rates within strata."""
    data = run.read()
    by = run.take("by")
    others = [name for name in data.attributes if name != by]
    if by not in data.attributes:
        raise click.UsageError(
            f"--by {by} is none of the attributes ({', '.join(others) or 'there are none'}): give"
            f" --group {by}, and --group with a column for each attribute that makes strata"
        )
    if not others:
        raise click.UsageError(
            f"--by {by} is the only attribute, and others make the strata in which it is compared:"
            f" give --group {by}, and --group with a column for each of them"
        )
    run.deliver({"strata": run.call(ff.stratified_rates, data, by, others)})


def shrink(run: Run) -> None:
    """Draw the rates of small groups towards those of the others."""
    data = run.read()
    run.options["incomplete_groups"] = "nan"
    evaluation = run.call(ff.evaluate, data, run.take("at"), [], metrics=[])
    run.deliver({"shrunken": run.call(ff.shrunken_rates, evaluation)})


def warm_up(run: Run) -> None:
    """Compile all kernels."""
    begun = time.monotonic()
    compiled = run.call(ff.warm_up)
    took = f"{compiled:,} kernels were compiled in {time.monotonic() - begun:.0f} s"
    say(f"{took}; later runs find them." if compiled else "All kernels are compiled.")


# embeddings


_LEVELS = np.array([1e-4, 1e-3, 1e-2])
# the FMR for few pairs: the highest one that bands over embeddings have by default
_LAST_RESORT = np.array([0.1])
# FMRs at which a plot draws a curve, and at which a page does, which holds their numbers
_DRAWN, _ON_PAGE = (
    50,
    20,
)


def embeddings(run: Run) -> None:
    """Measure vectors at false match rates."""
    data = run.call(ff.read_embeddings, *run.arguments)
    given = run.take("fmr")
    enough = _LEVELS[_LEVELS * data.n_nonmated >= ENOUGH_ERRORS]
    asked = np.unique(np.concatenate(given)) if given else enough if enough.size else _LAST_RESORT
    levels = asked
    if run.options.get("plots") or "report" in run.options:
        levels = _curve_to(asked, data, _DRAWN if run.options.get("plots") else _ON_PAGE)
    from fastfair.bands.curve import bands_of

    bands = run.call(bands_of, data, levels, **arguments_for(ff.roc_band, run.options))
    run.deliver({name: replace(band, asked=tuple(asked.tolist())) for name, band in bands.items()})


def identify(run: Run) -> None:
    """Measure searches of a gallery, and judge requirements on them."""
    kind = run.take("kind") or ("vectors" if "role" in run.options else "searches")
    run.refuse_options_of_others(kind)
    requirements = list(run.take("requirements", ()))
    junit, judged = _asked_of_checks(run, requirements)
    of_second = {name: run.take(f"against_{name}") for name in ("searches", "gallery")}
    against = run.take("against")
    unpaired = run.take("unpaired", False)
    own_thresholds = run.take("own_thresholds", False)
    if against is None and (unpaired or any(of_second.values())):
        raise click.UsageError(
            "--unpaired, --against-searches and --against-gallery go with --against"
        )
    searches, more = _searches(run, kind, *run.arguments)
    identification = run.call(ff.identify, searches, **more)
    results: dict[str, Any] = {"identification": identification}
    if own_thresholds:
        results["own_thresholds"] = identification.own_thresholds()
    if against is not None:
        other = {"searches": of_second["searches"], "enrolled": of_second["gallery"]}
        run.options |= {name: path for name, path in other.items() if path is not None}
        second, _ = _searches(run, kind, against)
        results["comparison"] = run.call(ff.compare_searches, searches, second, paired=not unpaired)
    if requirements:
        results["check"] = results["comparison" if against else "identification"].check(
            requirements, confidence_level=identification.confidence_level, **judged
        )
    _deliver(run, results, junit)
    _exit_by(results.get("check"))


def _searches(run: Run, kind: str, path: Path) -> tuple[Any, dict[str, Any]]:
    """Read searches, and the groups of enrolled people where these are asked for."""
    returned = run.take("returned", False)
    of_people: Mapping[str, str] = {}
    if kind == "searches":
        searches = run.call(ff.read_searches, path)
        if returned and not {"enrolled", "groups"} <= set(run.options):
            raise click.UsageError(
                "--returned tells apart groups of enrolled people: give --gallery, whose table has"
                " the columns of --group, too"
            )
        if returned:
            of_people = run.call(groups_of_gallery, run.options["enrolled"])
    else:
        data = run.call(ff.read_embeddings, path)
        searches = run.call(ff.Searches.from_embeddings, data)
        if returned and not data.groups:
            raise InputError(
                "--returned tells apart groups of people: name an attribute with --group"
            )
        if returned:
            groups = [data.groups[code] for code in data.subject_group.tolist()]
            of_people = dict(zip(data.subjects.tolist(), groups, strict=True))
    return searches, {"returned_group": of_people} if returned else {}


def _deliver(
    run: Run,
    results: Mapping[str, Any],
    junit: Path | None = None,
    page: Callable[[], list[Any]] | None = None,
    show: Callable[[Any], None] = print_result,
) -> None:
    """Deliver results; the verdicts of a check stand first, and the others say what was left out of
    the data.
    """
    check = results.get("check")

    def show_all() -> None:
        if check is not None:
            print_result(replace(check, left_out=()))
        for result in results.values():
            if check is not None and result is not check:
                say()
            if result is not check:
                show(result)

    files = {junit: check.to_junit} if junit and check is not None else {}
    run.deliver(results, show=show_all, files=files, page=page)


def _curve_to(asked: Any, data: Any, n: int) -> Any:
    """Add FMRs below the highest one asked for, so that a curve can be drawn; this needs no further
    pairs.
    """
    least = min(asked[0], ENOUGH_ERRORS / data.n_nonmated)
    if least == asked[-1]:
        raise InputError(
            f"there is no curve to draw: an FMR below {least:g} would be fewer than {ENOUGH_ERRORS}"
            f" of {data.n_nonmated:,} non-mated pairs; add a higher --fmr, or leave --plots and"
            " --report out"
        )
    return np.union1d(asked, np.geomspace(least, asked[-1], n))


# group-test


_RATES_OF_COUNTS = tuple(name for name in ATTEMPTS if name not in ("fnmr", *OF_TWO_PEOPLE))


def group_test(run: Run) -> None:
    """Test whether error rates of groups differ."""
    kind = run.options.get("kind", "scores")
    rate = run.take("rate")
    has_scores = kind in ("scores", "vectors")
    run.refuse_options_of_others(kind)
    if not has_scores and rate in ("fmr", "both"):
        raise click.UsageError(
            f"--rate {rate} needs scores, but --input is {kind}: they have failures only"
        )
    if has_scores and rate in _RATES_OF_COUNTS:
        raise click.UsageError(
            f"--rate {rate} needs {ATTEMPTS[rate]}s that failed, but --input is {kind}: give --input"
            " decisions or counts"
        )
    rate = rate or ("both" if has_scores else "fnmr")
    at = run.take("at", _POINT) if has_scores else None
    if not has_scores:
        run.options |= {"rate": rate, "groups": run.options.get("groups", "group")}
    data = run.read()
    run.take("rate")
    n_resamples = run.take("n_resamples", default_of(ff.fnmr_test, "n_resamples"))
    tests: dict[str, Any] = {}
    if rate != "fmr":
        name = f"{rate if rate in _RATES_OF_COUNTS else 'fnmr'}_test"
        tests[name] = run.call(ff.fnmr_test, data, at, n_resamples=n_resamples)
        if getattr(data, "sessions", None) is None:  # a margin of error knows of people alone
            with warnings.catch_warnings():
                # the test has given the same warnings
                warnings.simplefilter("ignore", FastfairWarning)
                tests["margin"] = run.call(ff.margin_of_error, data, at, n_resamples=n_resamples)
    if at is not None and rate != "fnmr":
        statistic = run.take("fmr_statistic", default_of(ff.fmr_test, "statistic"))
        tests["fmr_test"] = run.call(
            ff.fmr_test, data, at, n_resamples=n_resamples, statistic=statistic
        )
    _deliver_tests(run, tests, at)


def _deliver_tests(run: Run, tests: Mapping[str, Any], at: OperatingPoint | None) -> None:
    first = next(iter(tests.values()))
    of_failures = None if "fmr_test" in tests and len(tests) == 1 else first

    def show() -> None:
        say(
            repr(of_failures.counts)
            if of_failures is not None
            else f"{sum(tests['fmr_test'].n_trials):,} comparisons"
        )
        where = "" if at is None else f" at {at}"
        fixed = "" if at is None or at.is_given else ", with the threshold held fixed"
        for name, result in tests.items():
            rates = f"{result.rate_name.upper()}s"
            print_result(
                result,
                (
                    f"Margin of error of {rates}"
                    if name == "margin"
                    else f"Do {rates} differ{where}{fixed}?"
                ),
            )

    run.deliver(tests, show=show)


# measures


def measures(run: Run) -> None:
    """Compute all measures of a table of rates."""
    from fastfair.io.failure_counts import read_rates

    by = list(run.take("by", ()))
    group = run.options.get("group")
    table = run.call(
        ff.measures.table,
        read_rates(run.arguments[0], [*by, *([group] if group else [])]),
        by=by,
    )
    content = to_plain({"measures": table.to_dicts()})
    run.write(
        {"measures": lambda: content},
        {"measures": lambda: table},
        partial(_print_measures, table, by),
    )


def _print_measures(table: pl.DataFrame, by: Sequence[str]) -> None:
    values = {}
    for row in table.filter(table["group"].is_null()).iter_rows(named=True):
        values[printed_name(row["name"]), " & ".join(row[name] for name in by) or "value"] = row[
            "value"
        ]
    names, systems = (list(dict.fromkeys(keys)) for keys in zip(*values, strict=True))
    cells = [
        [name, *(number_with_interval(values[name, system]) for system in systems)]
        for name in names
    ]
    for k, (headings, rows) in enumerate(_narrow_tables(["measure", *systems], cells)):
        if k:
            say()
        print_table(("", headings, rows))
    if table["group"].is_not_null().any():
        say(
            "\nMeasures with a value for each group are in the files of --output DIR and in --json."
        )


_WIDEST = 120  # characters of a line


def _narrow_tables(
    headings: list[str], rows: list[list[str]]
) -> Iterator[tuple[list[str], list[list[str]]]]:
    """Yield a table of measures by systems, or where its lines would be long, tables of systems by
    some measures.
    """
    if len(in_lines(headings, rows)[0]) <= _WIDEST:
        yield headings, rows
        return
    columns = [["system", *headings[1:]], *rows]
    widths = [max(map(len, column)) + 2 for column in columns]
    start = 1
    while start < len(columns):
        stop = start + 1
        while stop < len(columns) and sum(widths[start : stop + 1]) + widths[0] <= _WIDEST:
            stop += 1
        lines = list(map(list, zip(columns[0], *columns[start:stop], strict=True)))
        yield lines[0], lines[1:]
        start = stop


# plan


# by whether subjects and a difference are given: what asks for a plan, its function, and options
# that it does not have
_PLANS = {
    (True, True): ("--subjects and --difference", "plan_power", ""),
    (True, False): ("--subjects without --difference", "plan_margin", ""),
    (False, True): ("--difference without --subjects", "plan_subjects", "assurance margin"),
    (False, False): ("--margin", "plan_subjects", "power method"),
}


def plan(run: Run) -> None:
    """Plan margins of error, power or subjects, whichever the settings are for."""
    from fastfair.planning.fnmr import RATES_OF_GROUPS, SETTINGS

    given = {*given_options(run.context)}
    rates = [name for name in RATES_OF_GROUPS if name in given]
    pilot = run.take("pilot")
    what, name, others = _PLANS["n_subjects" in given, "difference" in given]
    function, without = getattr(ff, name), {*others.split()}
    if not given & {"n_subjects", "margin", "difference"}:
        raise click.UsageError(
            "nothing says what to plan. Give --subjects for the margin of error, --subjects and"
            " --difference for the power, --margin or --difference for the subjects needed"
        )
    if pilot:
        what = f"{what} and --pilot"
        without = without | {"n_attempts"}
    _refuse(run, given - {*rates}, function, what, without)
    unneeded = {"n_subjects", "n_attempts" if pilot else "", "fnmr" if rates else ""}
    missing = {*SETTINGS} - given - unneeded
    if missing:
        raise click.UsageError(f"a plan also needs {', '.join(_flags(run, missing))}")
    more: dict[str, Any] = {} if pilot is None else {"n_attempts": ff.read_failure_counts(pilot)}
    if function is ff.plan_margin:
        if "assurance" in given:
            more["assurance"], *further = run.take("assurance")
            if further:
                raise click.UsageError("--assurance takes one number with --subjects")
        more["method"] = run.take("method", "simulation" if more else "exact")
        if "n_simulations" in given and more["method"] == "exact":
            raise click.UsageError("--n-simulations goes with --method simulation")
    gridded = (*SETTINGS, *RATES_OF_GROUPS, "margin", "assurance", "difference", "power")
    # every combination is planned
    grid = {name: run.options.pop(name) for name in gridded if name in run.options}
    arrays = dict(zip(grid, np.ix_(*map(np.array, grid.values())), strict=True))
    run.deliver({"plan": run.call(function, **arrays | more)})


def _flags(run: Run, names: Iterable[str]) -> list[str]:
    """Return how options are written, in the order of the verb."""
    return [param.opts[0] for param in run.command.params if param.name in names]


_OF_ALL = {param.name for param in OUTPUT} | {"rng", "n_threads", "progress", "suffix", "pilot"}


def _refuse(
    run: Run,
    given: Iterable[str],
    function: Callable[..., Any],
    what: str,
    without: Iterable[str] = (),
) -> None:
    """Refuse options that the function chosen by what is asked for does not have, and some
    others.
    """
    wrong = _flags(
        run, {*given} - {*inspect.signature(function).parameters, *_OF_ALL} | {*given} & {*without}
    )
    if wrong:
        raise click.UsageError(f"{', '.join(wrong)} cannot go with {what}")


def plan_fmr(run: Run) -> None:
    """Plan how many subjects support a claimed FMR."""
    pilot = run.take("pilot")
    more = {} if pilot is None else {"pilot": run.read(pilot)}
    run.deliver({"plan_fmr": run.call(ff.plan_fmr, **more)})


def plan_requirement(run: Run) -> None:
    """Plan how many subjects meet a requirement."""
    pilot = run.take("pilot")
    if (pilot is None) == ("n_attempts" not in run.options):
        raise click.UsageError("give --attempts, or a --pilot whose subjects have so many")
    columns = {name: run.take(name) for name in ("subject", "session")}
    if pilot is None and any(columns.values()):
        raise click.UsageError("--subject and --session are columns of a --pilot")
    attempts = run.take("n_attempts")
    if pilot is not None:
        attempts = ff.read_failure_counts(pilot, "failures", "attempts", (), **columns)
    run.deliver({"plan": run.call(ff.plan_requirement, *run.arguments, n_attempts=attempts)})


# synthesize


_HELD = {"fmr": "tmr", "fnmr": "tnmr"}


def synthesize(run: Run) -> None:
    """Make scores: of a system, or one set."""
    what = [name for name in ("ratios", "fmr", "fnmr") if run.options.get(name)]
    if len(what) != 1:
        raise click.UsageError("nothing says what to make: give one of --ratios, --fmr and --fnmr")
    asked = {name: value for name, value in run.options.items() if name not in _OF_ALL}
    measures: Sequence[Any] = ()
    if what == ["ratios"]:
        _refuse(run, asked, ff.biased_system, "--ratios")
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
        _refuse(run, wanted, ff.synthesize, f"--{kind}")
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
