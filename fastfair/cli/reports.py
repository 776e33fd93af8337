"""What `fastfair evaluate --report` writes: each attribute alone, intersections, claims, and tests of groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fastfair._lib.warnings import warn
from fastfair.claims.results import Claim
from fastfair.data.comparisons import Comparisons
from fastfair.data.embeddings import Embeddings
from fastfair.errors import FewResamplesWarning, InputError
from fastfair.evaluation.result import Evaluation
from fastfair.group_tests.equal_rates import fmr_test, fnmr_test

_REPLICATES = 2000
_REPLICATES_OF_A_GROUP = 50  # so many that p-values adjusted for all groups can be as small as 0.02


def results_of(
    evaluation: Evaluation,
    comparisons: Comparisons | Embeddings,
    claims: Sequence[Claim],
    again: Callable[[Comparisons | Embeddings], Evaluation],
    options: dict[str, Any],
) -> list[Any]:
    """Gather what a page shows of comparisons.

    Parameters
    ----------
    evaluation : Evaluation
        The evaluation by all attributes together.
    comparisons : Comparisons or Embeddings
        What was evaluated.
    claims : sequence of Claim
        Claims about the comparisons.
    again : callable
        Evaluates the same with another grouping.
    options : dict
        The seed and the number of threads.

    Returns
    -------
    list
        An evaluation by each attribute, where there are several, the one given, the claims, and the tests of its groups
        at the first operating point.
    """
    alone = [again(comparisons.by(name)) for name in comparisons.grouping] if len(comparisons.grouping) > 1 else []
    tests: list[Any] = []
    if len(comparisons.groups) > 1 and comparisons.subjects is not None and evaluation.rates:
        # As precise as the numbers of an evaluation, at a fourth of the time of the default of `fnmr_test`.
        n_resamples = max(_REPLICATES, _REPLICATES_OF_A_GROUP * len(comparisons.groups))
        options = options | {"at": evaluation.rates[0].at, "n_resamples": n_resamples}
        try:
            tests = [test(comparisons, **options) for test in (fnmr_test, fmr_test)]
        except InputError as error:
            warn(f"the report has no tests of groups: {error}", FewResamplesWarning)
    return [*alone, evaluation, *claims, *tests]
