"""Plots whose code stands in a page, numbered over the whole page.

Markdown hands each block of reStructuredText over as a document of its own, in which numbers, which
files are named by, would begin anew: one plot would stand in the place of all others.
"""

from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from matplotlib.sphinxext.plot_directive import PlotDirective
from sphinx.application import Sphinx

_COUNTER = "_plot_counter"  # where the directive keeps the number of its last plot


class CountedPlot(PlotDirective):
    """A plot with a number that no other plot of the page has, drawn anew when the file it
    `:reads:` changes.
    """

    option_spec: ClassVar[dict[str, Any]] = PlotDirective.option_spec | {"reads": directives.path}

    def run(self) -> list[nodes.Node]:
        """Number the plot after the last one of the page."""
        document = self.state.document
        env = document.settings.env
        of_page = env.temp_data
        if "reads" in self.options:
            path = str(Path(env.srcdir) / self.options["reads"])
            env.note_dependency(path)
            document.include_log.append(
                (path, ())
            )  # matplotlib draws a plot anew when what is included is newer
        document.attributes[_COUNTER] = of_page.get(_COUNTER, 0)
        made: list[nodes.Node] = super().run()
        of_page[_COUNTER] = document.attributes[_COUNTER]
        return made


def setup(app: Sphinx) -> dict[str, Any]:
    """Take it in place of matplotlib's own."""
    app.setup_extension("matplotlib.sphinxext.plot_directive")
    app.add_directive("plot", CountedPlot, override=True)
    return {"parallel_read_safe": True}
