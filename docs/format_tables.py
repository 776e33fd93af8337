"""A directive that makes the table of the formats of score files out of their records."""

from sphinx.application import Sphinx
from table_directive import TableDirective

from fastfair.io.formats import FORMATS


class Formats(TableDirective):
    def rows(self) -> list[list[str]]:
        header = ["`format=`", "One line holds", "Recognised by"]
        return [
            header,
            *([f"`{kind.name}`", kind.holds, kind.told_by] for kind in FORMATS.values()),
        ]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("formats-table", Formats)
    return {"parallel_read_safe": True}
