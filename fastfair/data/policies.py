"""`Policies`: what to do with comparisons that failed, contradict their labels, or lack one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from fastfair._lib.arguments import checked
from fastfair.errors import InputError

from . import checks
from .score_keys import Floats

Failures = Literal["error", "exclude", "non-match"]
FAILURES: tuple[Failures, ...] = get_args(Failures)
MissingLabels = Literal["error", "drop", "unknown"]


@checked
@dataclass(frozen=True)
class Policies:
    """What to do with comparisons that failed, contradict their labels, or lack one.

    Attributes
    ----------
    failures : {"error", "exclude", "non-match"}
        What to do with comparisons that failed, as a sample could not be acquired or enrolled, and whose score is NaN,
        an empty field or `failure_score`: raise an error; leave them out of the scores, with a warning, and count them;
        or count them as non-matches at every threshold, so that FNMR and FMR are the FRR and the FAR of ISO/IEC
        19795-1.
    failure_score : float, optional
        The score that stands for a failed comparison, such as -1.
    label_conflicts : {"raise", "drop", "keep"}
        What to do with non-mated comparisons of a subject with itself, mated comparisons of two subjects, and labels of
        a score file that contradict the metadata: raise an error, leave them out with a warning that names rows, or
        keep them as they are marked, with the labels of the metadata.
    self_comparisons : {"drop", "keep"}
        What to do with comparisons of a sample with itself, where some subject has several samples, and with the
        diagonal of a symmetric matrix all of whose entries are the best scores: leave them out with a warning, or keep
        them.
    look_alikes : {"warn", "unite"}
        What to do with names of subjects that differ in the form of Unicode, in invisible characters or in the kind of
        blanks, and with labels of groups that differ in these or in letter case: warn, or take them for one.
    missing_labels : {"error", "drop", "unknown"}
        What to do with comparisons that lack a label, in the score file or in the metadata: raise an error, leave them
        out of those attributes whose label they lack, with warnings that say how many, or take "unknown" for it.
    unmatched : {"error", "drop"}
        What to do with trials of a list that have no score, and scores that have no trial: raise an error, or leave
        them out with a warning that counts them.

    Examples
    --------
    >>> import fastfair as ff
    >>> policies = ff.Policies(failures="non-match", failure_score=-1)
    >>> c = ff.Comparisons([0.9, 0.8, -1, 0.4, 0.1, 0.2], [1, 1, 1, 0, 0, 0], policies=policies)
    >>> ff.rates(c, ff.at_threshold(0.3)).fnmr  # the FRR
    0.3333333333333333
    """

    failures: Failures = "error"
    failure_score: float | None = None
    label_conflicts: Literal["raise", "drop", "keep"] = "raise"
    self_comparisons: Literal["drop", "keep"] = "drop"
    look_alikes: Literal["warn", "unite"] = "warn"
    missing_labels: MissingLabels = "error"
    unmatched: Literal["error", "drop"] = "error"

    def _find_failed(self, values: Floats) -> NDArray[np.bool_] | None:
        """Tell which scores are those of failed comparisons; None where failures are refused.

        Raises
        ------
        InputError
            For a failed comparison where failures are refused, and for infinite scores.
        """
        if self.failures == "error" and self.failure_score is None:
            return None  # NaN is refused after the sort
        failed = np.isnan(values)
        if self.failure_score is not None:
            with np.errstate(over="ignore"):  # beyond float32 it is no score
                failed |= values == values.dtype.type(self.failure_score)
        if self.failures == "error":
            if failed.any():
                row = int(failed.argmax())
                raise InputError(
                    f"{np.count_nonzero(failed)} of {failed.size} comparisons failed, the first in row {row} (counted "
                    f"from 0), whose score is {float(values[row]):g}; {checks.FAILURES_DO}",
                    row=row,
                )
            return None
        if np.isinf(values).any():
            raise checks.not_usable(np.where(failed, 0, values))
        return failed


USUAL = Policies()
