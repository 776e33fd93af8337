"""Few pairs parted as many are: those near thresholds sorted, those between them summed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from fastfair.resampling import ranges


@contextmanager
def parted_if(wanted: bool, width: int = 3, deviations: float = 0.0, least_share: float = 0.0) -> Iterator[None]:
    """Part pairs however few they are, and sort those within a width of each threshold, and within deviations."""
    with pytest.MonkeyPatch.context() as patch:
        if wanted:
            patch.setattr(ranges, "_FEW", 0)
            patch.setattr(ranges, "_IN_A_RUN", 0)
            patch.setattr(ranges, "_LEAST_SHARE", least_share)
            patch.setattr(ranges, "_LEAST_WIDTH", width)
            patch.setattr(ranges, "_DEVIATIONS", deviations)
        yield
