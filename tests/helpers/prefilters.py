"""The prefilters of pairs of vectors: a test has an item for each, and skips those that this
processor has not."""

from __future__ import annotations

import pytest
from fastfair.kernels import int8_products

KNOWN = int8_products.known_ways()
EACH = [
    pytest.param(
        name, marks=pytest.mark.skipif(name not in KNOWN, reason=f"this processor cannot do {name}")
    )
    for name in int8_products.WAYS
]
