"""Few pairs parted as many are: those near thresholds sorted, those between them summed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from fastfair.resampling import error_lists


@contextmanager
def parted_if(
    wanted: bool, width: int = 3, deviations: float = 0.0, least_share: float = 0.0
) -> Iterator[None]:
    """Part pairs however few they are, and sort those within a width of each threshold, and within
    deviations."""
    with pytest.MonkeyPatch.context() as patch:
        if wanted:
            patch.setattr(error_lists, "_SORT_ALL_UP_TO", 0)
            patch.setattr(error_lists, "_IN_A_RUN", 0)
            patch.setattr(error_lists, "_LEAST_SHARE", least_share)
            patch.setattr(error_lists, "_LEAST_WIDTH", width)
            patch.setattr(error_lists, "_DEVIATIONS", deviations)
        yield
