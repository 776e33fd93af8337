"""Names of other documentations that this one links to, as the files that `sphinx.ext.intersphinx`
reads.

A build fetches nothing, so `inventories/` has the few names that are needed, a line each, as an
inventory holds them before it is compressed: name, kind, priority, page with anchor ($ is the
name), and what is shown (- is the name).
"""

import zlib
from pathlib import Path

SITES = {
    "matplotlib": "https://matplotlib.org/stable/",
    "numpy": "https://numpy.org/doc/stable/",
    "pandas": "https://pandas.pydata.org/docs/",
    "polars": "https://docs.pola.rs/api/python/stable/",
    "python": "https://docs.python.org/3/",
    "scipy": "https://docs.scipy.org/doc/scipy/",
}
DOCS = Path(__file__).parent
HEAD = """\
# Sphinx inventory version 2
# Project: {name}
# Version: stable
# The remainder of this file is compressed using zlib.
"""


def mapping() -> dict[str, tuple[str, str]]:
    """Write the inventories below `generated/`, and return `intersphinx_mapping`."""
    folder = DOCS / "generated" / "inventories"
    folder.mkdir(parents=True, exist_ok=True)
    for name in SITES:
        body = (DOCS / "inventories" / f"{name}.txt").read_bytes()
        (folder / f"{name}.inv").write_bytes(HEAD.format(name=name).encode() + zlib.compress(body))
    return {name: (site, f"generated/inventories/{name}.inv") for name, site in SITES.items()}
