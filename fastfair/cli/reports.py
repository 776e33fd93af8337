"""What `fastfair evaluate --report` shows: each attribute alone, intersections, and tests of their groups."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from fastfair._lib.warnings import warn
from fastfair.data.comparisons import Comparisons
from fastfair.data.embeddings import Embeddings
from fastfair.error_rates.operating_points import OperatingPoint
from fastfair.errors import FastfairWarning, FewResamplesWarning, InputError
from fastfair.evaluation.evaluate import evaluate
from fastfair.evaluation.result import Evaluation
from fastfair.group_tests.equal_rates import fmr_test, fnmr_test

_REPLICATES = 999
_REPLICATES_OF_A_GROUP = 50  # so many that p-values adjusted for all groups can be as small as 0.02


def results_of(
    evaluation: Evaluation,
    comparisons: Comparisons | Embeddings,
    points: Sequence[OperatingPoint],
    names: Sequence[str] | str,
    options: dict[str, Any],
) -> list[Any]:
    """Gather what a page shows of comparisons.

    Parameters
    ----------
    evaluation : Evaluation
        The evaluation by all attributes together.
    comparisons : Comparisons or Embeddings
        What was evaluated.
    points, names, options
        The operating points, measures and options of that evaluation.

    Returns
    -------
    list
        An evaluation by each attribute, where there are several, from the same draws of subjects as the one given, that
        one, and tests of the groups of each at the first operating point.
    """
    seed = evaluation.settings["rng"] if options["n_resamples"] else options["rng"]
    options = options | {"rng": seed, "checkpoint": None}
    alone = []
    for name in comparisons.grouping if len(comparisons.grouping) > 1 else ():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FastfairWarning)  # the page has them as notes
            alone.append((comparisons.by(name), evaluate(comparisons.by(name), points, names, **options)))
    found = [*alone, (comparisons, evaluation)]
    tests: list[Any] = []
    for data, one in found:
        if len(data.groups) > 1 and data.subjects is not None and one.rates:
            try:
                tests += _tests_of(data, one.rates[0].at, options, named=one is not evaluation or not alone)
            except InputError as error:
                warn(f"the report has no tests of groups: {error}", FewResamplesWarning)
    return [*(one for _, one in found), *tests]


def _tests_of(data: Comparisons | Embeddings, at: OperatingPoint, options: dict[str, Any], *, named: bool) -> list[Any]:
    """Test whether rates differ; which FNMRs of several groups do is tested where some do and they are to be named.

    Those of intersections are not: that takes longest, and their groups are often too small for it.
    """
    n_groups = len(data.groups)
    asked = {name: options[name] for name in ("rng", "n_threads")}
    asked["n_resamples"] = max(_REPLICATES, _REPLICATES_OF_A_GROUP * n_groups)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FastfairWarning)  # those of the follow-up, or of the other test, are the same
        of_failures = fnmr_test(data, at, follow_up=False, **asked)
    if named and n_groups > 2 and of_failures.pvalue < of_failures.level:
        of_failures = fnmr_test(data, at, **asked)
    return [of_failures, fmr_test(data, at, **asked)]
