"""`python -m studies NAME`, run in `tests/`, prints the tables of a study."""

from __future__ import annotations

import importlib
import sys

importlib.import_module(f"studies.{sys.argv.pop(1)}").main()
