"""Directives that make the tables of other tools out of their rows and of the versions that tests
install."""

from other_tools_rows import ROWS, SETS, Example, Row
from other_tools_situations import SITUATIONS, Call, Situation
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


def _caller(call: Call) -> str:
    name = call.call if " " in call.call else f"`{call.call}`"
    return " ".join(filter(None, [call.tool, version_of(call.tool), name]))


def _callers(calls: tuple[Call, ...]) -> str:
    return "; ".join(map(_caller, calls))


class Situations(TableDirective):
    """A row for each answer to a question; ours is the first."""

    widths = "32 14 54"

    def rows(self) -> list[list[str]]:
        rows = [["Asked", "Answer", "Who gives it"]]
        for asked in SITUATIONS:
            rows += [[asked.asked * (k == 0), *row] for k, row in enumerate(self._answers(asked))]
        return rows

    def _answers(self, asked: Situation) -> list[list[str]]:
        others = asked.theirs.get(asked.ours, ())
        names = "; ".join(["**fastfair**", *map(_caller, others)])
        return [
            [asked.ours, names],
            *(
                [answer, _callers(calls)]
                for answer, calls in asked.theirs.items()
                if answer != asked.ours
            ),
        ]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("other-tools-table", OtherTools)
    app.add_directive("situations-table", Situations)
    return {"parallel_read_safe": True}
