"""`Around`: a plan of a single setting with other numbers of subjects, which plots draw."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False)
class Around:
    """What a study of a single setting would give with other numbers of subjects.

    Attributes
    ----------
    n_subjects : int
        The number given, or found.
    plan : callable
        Plans the study for the numbers of subjects given as `n_subjects`.
    """

    n_subjects: int
    plan: Callable[..., Any]
