"""`identify`: rates of searches of a gallery, and verdicts on them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

import fastfair as ff
from fastfair.cli.reading import refuse_options_of_others
from fastfair.cli.run import Run
from fastfair.cli.verdicts import deliver_with_verdicts, exit_by_verdict, take_options_of_checks
from fastfair.errors import InputError
from fastfair.identification.read_searches import groups_of_gallery


def identify(run: Run) -> None:
    """Measure searches of a gallery, and judge requirements on them."""
    kind = run.take("kind") or ("vectors" if "role" in run.options else "searches")
    refuse_options_of_others(run, kind)
    requirements = list(run.take("requirements", ()))
    junit, judged = take_options_of_checks(run, requirements)
    of_second = {"searches": run.take("against_searches"), "enrolled": run.take("against_gallery")}
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
        run.options |= {name: path for name, path in of_second.items() if path is not None}
        second, _ = _searches(run, kind, against)
        results["comparison"] = run.call(ff.compare_searches, searches, second, paired=not unpaired)
    if requirements:
        results["check"] = results["comparison" if against else "identification"].check(
            requirements, confidence_level=identification.confidence_level, **judged
        )
    deliver_with_verdicts(run, results, junit)
    exit_by_verdict(results.get("check"))


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
