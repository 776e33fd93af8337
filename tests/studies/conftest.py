"""Studies are slow."""

from __future__ import annotations

import pytest


def pytest_itemcollected(item: pytest.Item) -> None:
    if item.get_closest_marker("study"):
        item.add_marker("slow")
