"""Configuration of the documentation."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # the extensions here
sys.path.append(str(Path(__file__).parents[1]))  # benchmarks, whose record is shown

from fastfair import __version__

project = "fastfair"
author = "The fastfair developers"
copyright = "the fastfair developers"
version = release = __version__

extensions = [
    "matplotlib.sphinxext.plot_directive",
    "measure_tables",
    "myst_parser",
    "performance_tables",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.doctest",
]
templates_path = ["_templates"]
exclude_patterns = [
    "generated/papers/index.md",  # the list of pages, for those who read them without these docs
    "papers",  # what makes those pages
]

plot_html_show_formats = False
plot_html_show_source_link = False
plot_formats = [("png", 120)]

autodoc_typehints = "none"  # the docstrings say more
autosummary_generate = True
numpydoc_show_class_members = False  # the class template lists them
doctest_test_doctest_blocks = ""  # docstrings are tested with the code

html_theme = "pydata_sphinx_theme"
html_title = f"fastfair {version}"
html_show_sourcelink = False
html_sidebars = {"*": []}  # only the pages of the API, in a folder below, have neighbours to list
html_theme_options = {
    "footer_end": [],
    "footer_start": ["copyright"],
    "header_links_before_dropdown": 4,
    "secondary_sidebar_items": ["page-toc"],
}
