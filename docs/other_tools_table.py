"""A directive that makes the table of other tools out of its rows and of the versions that tests
install."""

from other_tools_rows import ROWS, SETS, Example, Row
from sphinx.application import Sphinx
from table_directive import TableDirective

from benchmarks.versus.environments import version_of


def _numbers(numbers: tuple[float, ...]) -> str:
    return ", ".join(f"{number:.3g}" for number in numbers)


def _example(example: Example) -> str:
    scores = f"mated {list(example.mated)}, non-mated {list(example.nonmated)}"
    return f"{scores}: {_numbers(example.theirs)}, ours {_numbers(example.ours)}"


def _verdict(row: Row) -> str:
    sentences = [
        f"Differs in {row.differing} of {SETS - row.refused} sets" if row.differing else "Yes"
    ]
    if row.examples:
        sentences[0] += ": " + "; ".join(map(_example, row.examples))
    return ". ".join([*sentences, row.note] if row.note else sentences)


class OtherTools(TableDirective):
    widths = "32 20 48"

    def rows(self) -> list[list[str]]:
        header = ["Their call", "Ours", "The same?"]
        return [
            header,
            *(
                [f"{row.tool} {version_of(row.tool)}: {row.theirs}", row.ours, _verdict(row)]
                for row in ROWS
            ),
        ]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("other-tools-table", OtherTools)
    return {"parallel_read_safe": True}
