"""Directives that make the tables of the formats of score files, and of files of vectors, out of
their records."""

from sphinx.application import Sphinx
from table_directive import TableDirective

from fastfair.io.formats import FORMATS
from fastfair.io.vector_files import VECTOR_FILES


class Formats(TableDirective):
    def rows(self) -> list[list[str]]:
        header = ["`format=`", "One line holds", "Recognised by"]
        return [
            header,
            *([f"`{kind.name}`", kind.holds, kind.told_by] for kind in FORMATS.values()),
        ]


class VectorFiles(TableDirective):
    def rows(self) -> list[list[str]]:
        header = ["File", "Vectors", "Subjects and groups"]
        return [
            header,
            *(
                [", ".join(f"`{suffix}`" for suffix in kind.suffixes), kind.vectors, kind.labels]
                for kind in VECTOR_FILES
            ),
            [
                "`.csv`, `.tsv`, data frame",
                "a column for each number, `0`, `1`, ... or `v0`, `v1`, ...; of a frame also lists",
                "columns",
            ],
        ]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("formats-table", Formats)
    app.add_directive("vector-files-table", VectorFiles)
    return {"parallel_read_safe": True}
