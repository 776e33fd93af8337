"""Make the pages of the papers: `python docs/papers [NAME...] --output DIR`."""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[1])  # where `papers` is imported from
    try:
        from papers.command import main
    except ModuleNotFoundError as error:
        sys.exit(f'The papers need {error.name}, which is not installed: pip install -e ".[demo]"')
    except KeyboardInterrupt:
        sys.exit(130)
    main()
