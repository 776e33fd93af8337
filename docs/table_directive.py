"""What directives that make tables have in common."""

from docutils import nodes
from sphinx.util.docutils import SphinxDirective


class TableDirective(SphinxDirective):
    """A table of Markdown cells, its header first. `widths`: of columns, in per cent; by default
    what cells need."""

    widths = ""

    def run(self) -> list[nodes.Node]:
        options = [f":widths: {self.widths}"] if self.widths else []
        lines = ["```{list-table}", ":header-rows: 1", *options, ""]
        for row in self.rows():
            lines += [f"{'* -' if k == 0 else '  -'} {cell}".rstrip() for k, cell in enumerate(row)]
        return self.parse_text_to_nodes("\n".join([*lines, "```"]))

    def rows(self) -> list[list[str]]:
        raise NotImplementedError
