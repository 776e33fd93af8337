"""What vectors are: references, which are enrolled, or probes, which are compared with them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fastfair._lib import validation
from fastfair.errors import InputError

ROLES = "reference", "probe"


def probes_of(role: validation.Labels) -> NDArray[np.bool_]:
    """Return whether each vector is a probe, and not a reference.

    Raises
    ------
    InputError
        For other roles.
    """
    coded = validation.encode("role", role)
    unknown = [label for label in coded.labels.tolist() if label not in ROLES]
    if unknown:
        rows = np.flatnonzero(coded.labels[coded.codes] == unknown[0])
        raise InputError(f'role must be "reference" or "probe", not {unknown[0]!r} as in row {rows[0]}')
    return np.asarray(coded.labels == "probe")[coded.codes]


def require_both(is_probe: NDArray[np.bool_]) -> None:
    """Refuse vectors of one role alone."""
    if is_probe.all() or not is_probe.any():
        missing = ROLES[int(not is_probe.any())]
        raise InputError(f"role has no {missing}: give both references and probes, or leave role out")
