"""Configuration of the documentation."""

import json
import re
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # the extensions here
sys.path.append(str(Path(__file__).parents[1]))  # benchmarks, whose record is shown

import inventories

import fastfair
from fastfair import __version__

project = "fastfair"
author = "The fastfair developers"
copyright = "the fastfair developers"
version = release = __version__

extensions = [
    "command_tables",
    "counted_plots",
    "format_tables",
    "guard_tables",
    "measure_tables",
    "myst_parser",
    "performance_tables",
    "numpydoc",
    "other_tools_table",
    "paper_sections",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.doctest",
    "sphinx.ext.intersphinx",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
myst_heading_anchors = 2  # sections are linked by their titles
exclude_patterns = [
    "examples",  # what the gallery is made of
    "generated/papers/index.md",  # the list of pages, for those who read them without these docs
    "papers",  # what makes those pages
]

plot_html_show_formats = False
plot_html_show_source_link = False
plot_formats = [("png", 120)]

autodoc_typehints = "none"  # the docstrings say more
autosummary_generate = True
# The list of measures, which autosummary reads next.
_names = "".join(f"   measures.{name}\n" for name in fastfair.measures.MEASURES)
_head = (
    "Fairness measures\n=================\n\n.. currentmodule:: fastfair\n\n.. autosummary::\n  "
    " :toctree:\n\n"
)
_list = Path(__file__).with_name("generated") / "measures.rst"
_list.parent.mkdir(exist_ok=True)
_list.write_text(_head + _names, "utf-8")
numpydoc_show_class_members = False  # the class template lists them
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"  # but what is named here
_DOCUMENTED = re.findall(
    r"^   ([\w.]+)$", Path(__file__).with_name("api.rst").read_text("utf-8"), re.MULTILINE
)
numpydoc_xref_aliases = {
    "Axes": "matplotlib.axes.Axes",
    "Figure": "matplotlib.figure.Figure",
    "Generator": "numpy.random.Generator",
    "SeedSequence": "numpy.random.SeedSequence",
    "Path": "pathlib.Path",
    "ndarray": "numpy.ndarray",
} | {
    name.rpartition(".")[2]: f"fastfair.{name}"
    for name in _DOCUMENTED
    if name.rpartition(".")[2][0].isupper()
}

intersphinx_mapping = inventories.mapping()

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "generated/examples",
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": "generated/used_by",
    "doc_module": ("fastfair",),
    "ignore_repr_types": r"<class 'matplotlib\.",
    "remove_config_comments": True,
    "show_signature": False,
    "write_computation_times": False,
}
# Examples show warnings without the place in a file of this machine.
warnings.formatwarning = lambda message, category, *_: f"{category.__name__}: {message}\n"
doctest_test_doctest_blocks = ""  # docstrings are tested with the code

html_theme = "pydata_sphinx_theme"
html_title = f"fastfair {version}"
html_show_sourcelink = False
html_sidebars = {"index": [], "getting_started": []}  # pages of a section list their neighbours
html_static_path = ["_static"]
html_css_files = ["fastfair.css"]
html_context = {
    "all_versions": json.loads((Path(__file__).parent / "_static" / "versions.json").read_text()),
    "default_mode": "auto",  # light or dark, as the reader's machine
}
html_theme_options = {
    "footer_end": [],
    "footer_start": ["copyright"],
    "header_links_before_dropdown": 5,
    # The theme's own list of versions fetches a file when the page is read, which a browser refuses
    # on a disk.
    "navbar_end": ["versions", "theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
}


def _anchors_of_source_pages(app, pagename, templatename, context, doctree):
    """Link to objects by the names of their pages: viewcode has one name for a module, whose
    functions stand higher."""
    if pagename.startswith("_modules/"):
        link = r'/((?:\w+\.)*(\w+))\.html#(?:\w+\.)*\2((?:\.\w+)*)"'
        context["body"] = re.sub(link, r'/\1.html#\1\3"', context["body"])


def _names_of_folds(app, pagename, templatename, context, doctree):
    """Name what folds a part of the sidebar: the theme leaves it to an arrow, which a screen reader
    cannot say."""
    make = context["generate_toctree_html"]

    def named(*args, **kwargs):
        return str(make(*args, **kwargs)).replace(
            "<summary>", '<summary aria-label="Pages below this one">'
        )

    context["generate_toctree_html"] = named


def setup(app):
    app.connect("html-page-context", _anchors_of_source_pages)
    app.connect("html-page-context", _names_of_folds, priority=900)  # after the theme's own
