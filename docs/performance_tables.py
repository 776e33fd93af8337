"""Directives that show the recorded figures of the benchmarks."""

from collections.abc import Callable, Iterable, Sequence

from docutils import nodes
from performance_record import PATH, RECORD, Row, seconds
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective
from table_directive import TableDirective

from benchmarks.versus import tasks


def _lines(
    header: list[str], found: Sequence[Row], cells: Callable[[Row], list[str]]
) -> list[list[str]]:
    """Lay rows out, with a column of their machines where one is not that of the most rows."""
    lines = [header, *map(cells, found)]
    if not any(RECORD.elsewhere(row["name"]) for row in found):
        return lines
    machines = ["Machine", *map(RECORD.letter, found)]
    return [[*line, machine] for line, machine in zip(lines, machines, strict=True)]


class Against(TableDirective):
    """The rows compared with one kind of peer: `another tool`, `NumPy code`, `a physical limit`,
    `ours`, `nothing`."""

    required_arguments = 1
    final_argument_whitespace = True

    def rows(self) -> list[list[str]]:
        found = [row for row in RECORD.rows.values() if row["against"] == self.arguments[0]]
        if not found:
            raise ExtensionError(f"no row of the record is compared with {self.arguments[0]!r}")
        header = ["What is done", "Compared with", "fastfair", "The other", "Ratio"]
        alone = all(row["theirs"] is None for row in found)
        keep = [0, 2] if alone else range(len(header))
        return _lines(
            [header[k] for k in keep], found, lambda row: [self._cells(row)[k] for k in keep]
        )

    @staticmethod
    def _cells(row: Row) -> list[str]:
        if row["ours"] is None:
            return [row["task"], row["peer"], "", "", row["remarks"]]
        ratio = "" if row["ratio"] is None else _ratio(row)
        theirs = "" if row["theirs"] is None else seconds(row["theirs"])
        return [row["task"], row["peer"], seconds(row["ours"]), theirs, ratio]


class Times(TableDirective):
    """Rows by their names: what is done and how long it takes."""

    required_arguments = 1
    final_argument_whitespace = True

    def rows(self) -> list[list[str]]:
        found = [RECORD.rows[name] for name in self.arguments[0].split()]
        return _lines(
            ["What is done", "Time"], found, lambda row: [row["task"], seconds(row["ours"])]
        )


class Named(TableDirective):
    """Rows by their names, with what else was found."""

    required_arguments = 1
    final_argument_whitespace = True

    def rows(self) -> list[list[str]]:
        found = [RECORD.rows[name] for name in self.arguments[0].split()]
        header = ["What is done", "fastfair", "Compared with", "Besides"]
        return _lines(
            header,
            found,
            lambda row: [row["task"], seconds(row["ours"]), row["peer"], row["remarks"]],
        )


class OwnTable(TableDirective):
    """The table that belongs to one row, or a sentence where the record has none."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        if self.rows():
            elsewhere = RECORD.elsewhere(self.arguments[0])
            note = self.parse_text_to_nodes(f"Measured on {elsewhere}:") if elsewhere else []
            return note + super().run()
        command = f"`python -m benchmarks.versus --only {self.arguments[0]}`"
        return self.parse_text_to_nodes(
            f"These figures have not been recorded yet; {command} measures them."
        )

    def rows(self) -> list[list[str]]:
        name = self.arguments[0]
        if all(name != row.name for row in tasks.ROWS):
            raise ExtensionError(f"`make versus` has no row {name!r}")
        return RECORD.rows[name]["table"] if name in RECORD.rows else []


def _ratio(row: Row) -> str:
    ratio = row["ratio"]
    digits = f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.3g}"
    return f"{digits} × as fast" if row["ratio_of"] == "theirs / ours" else f"{digits} × the time"


class Slower(SphinxDirective):
    """A sentence on the rows in which another tool or NumPy takes less time."""

    def run(self) -> list[nodes.Node]:
        kinds = ("another tool", "NumPy code")
        rivals = [row for row in RECORD.rows.values() if row["against"] in kinds and row["theirs"]]
        ahead = [
            f"*{row['peer']}* ({row['task']})" for row in rivals if row["theirs"] < row["ours"]
        ]
        text = "; ".join(ahead) if ahead else f"in none of the {len(rivals)} rows above"
        return self.parse_text_to_nodes(
            f"Another tool, or NumPy, takes less time than fastfair: {text}."
        )


class Missed(TableDirective):
    """The rows that miss what is aimed at, and why."""

    def rows(self) -> list[list[str]]:
        found = [row for row in RECORD.rows.values() if row["met"] is False]
        return _lines(["What is done", "Aim", "Found", "Why"], found, self._cells)

    @staticmethod
    def _cells(row: Row) -> list[str]:
        aim = (
            row["target"]
            .replace("ours", "fastfair")
            .replace("theirs", "the other")
            .replace("<=", "≤")
        )
        measured = seconds(row["ours"])
        if " / " in row["target"]:
            measured = f"{row['ratio']:.3g}"
        elif " - " in row["target"]:
            measured = seconds(row["ours"] - row["theirs"])
        return [row["task"], aim.replace(">=", "≥"), measured, row["shortfall"]]


class Provenance(SphinxDirective):
    """Where the figures come from: machines, dates and versions."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(PATH))  # so that the page is made anew when rows are recorded
        machines = {letter: _about(rows) for letter, rows in RECORD.by_letter().items()}
        if len(machines) == 1:
            (where,) = machines.values()
            lines = [f"The times are from one machine: {where}."]
        else:
            lines = [
                (
                    f"The times are from {len(machines)} machines. Tables and plots that name none"
                    " are from machine A. Both times of a ratio are from the same machine; times"
                    " from different machines cannot be compared."
                ),
                "",
                *(f"- Machine {letter}: {about}" for letter, about in machines.items()),
            ]
        return self.parse_text_to_nodes("\n".join([*lines, "", _all_versions()]))


def _about(rows: Sequence[Row]) -> str:
    """Describe the machine of some rows and when they were measured."""
    dates = sorted(row["date"].split()[0] for row in rows)
    when = " to ".join(dict.fromkeys((dates[0], dates[-1])))
    systems = _named(row["machine"]["system"] for row in rows)
    machine = rows[0]["machine"]
    about = f"{machine['processor']}, {machine['cpus']} processors, {systems}; {when}"
    loops = [row["machine"].get("million_additions_s") for row in rows]
    clocked = [loop for loop in loops if loop is not None]
    if clocked:
        least, most = seconds(min(clocked)), seconds(max(clocked))
        about += f"; a million additions in plain Python took {least} to {most}"
    return about


def _all_versions() -> str:
    ours: dict[str, list[str]] = {}
    theirs: dict[str, list[str]] = {}
    for row in RECORD.rows.values():
        for name, version in row["versions"].items():
            side = theirs if name.startswith("peer ") else ours
            side.setdefault(name.removeprefix("peer "), []).append(version)
    own = ", ".join(f"{name} {_named(found)}" for name, found in ours.items())
    others = ", ".join(
        f"{name} {_named(theirs[name])}" for name in sorted(theirs.keys() - ours.keys())
    )
    return f"fastfair with {own}; the others in environments of their own: {others}."


def _named(values: Iterable[str]) -> str:
    """List what differs."""
    return " and ".join(dict.fromkeys(values))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("performance-against", Against)
    app.add_directive("performance-table", OwnTable)
    app.add_directive("performance-rows", Named)
    app.add_directive("performance-times", Times)
    app.add_directive("performance-slower", Slower)
    app.add_directive("performance-missed", Missed)
    app.add_directive("performance-provenance", Provenance)
    return {"parallel_read_safe": True}
