"""Directives that show the recorded figures of the benchmarks."""

from docutils import nodes
from performance_record import RECORD, ROWS, seconds
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective
from table_directive import TableDirective

from benchmarks.versus import tasks


class Against(TableDirective):
    """The rows compared with one kind of peer: `another tool`, `NumPy code`, `a physical limit`, `ours`, `nothing`."""

    required_arguments = 1
    final_argument_whitespace = True

    def rows(self) -> list[list[str]]:
        found = [row for row in ROWS.values() if row["against"] == self.arguments[0]]
        if not found:
            raise ExtensionError(f"no row of the record is compared with {self.arguments[0]!r}")
        header = ["What is done", "Compared with", "fastfair", "The other", "Ratio"]
        alone = all(row["theirs"] is None for row in found)
        keep = [0, 2] if alone else range(len(header))
        return [[cells[k] for k in keep] for cells in (header, *map(self._cells, found))]

    @staticmethod
    def _cells(row: dict) -> list[str]:
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
        found = [ROWS[name] for name in self.arguments[0].split()]
        return [["What is done", "Time"], *([row["task"], seconds(row["ours"])] for row in found)]


class Named(TableDirective):
    """Rows by their names, with what else was found."""

    required_arguments = 1
    final_argument_whitespace = True

    def rows(self) -> list[list[str]]:
        found = [ROWS[name] for name in self.arguments[0].split()]
        body = [[row["task"], seconds(row["ours"]), row["peer"], row["remarks"]] for row in found]
        return [["What is done", "fastfair", "Compared with", "Besides"], *body]


class OwnTable(TableDirective):
    """The table that belongs to one row, or a sentence where the record has none."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        if self.rows():
            return super().run()
        command = f"`python -m benchmarks.versus --only {self.arguments[0]}`"
        return self.parse_text_to_nodes(f"These figures have not been recorded yet; {command} measures them.")

    def rows(self) -> list[list[str]]:
        name = self.arguments[0]
        if all(name != row.name for row in tasks.ROWS):
            raise ExtensionError(f"`make versus` has no row {name!r}")
        return ROWS[name]["table"] if name in ROWS else []


def _ratio(row: dict) -> str:
    ratio = row["ratio"]
    digits = f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.3g}"
    return f"{digits} × as fast" if row["ratio_of"] == "theirs / ours" else f"{digits} × the time"


class Slower(SphinxDirective):
    """A sentence on the rows in which another tool or NumPy takes less time."""

    def run(self) -> list[nodes.Node]:
        rivals = [row for row in ROWS.values() if row["against"] in ("another tool", "NumPy code") and row["theirs"]]
        ahead = [f"*{row['peer']}* ({row['task']})" for row in rivals if row["theirs"] < row["ours"]]
        text = "; ".join(ahead) if ahead else f"in none of the {len(rivals)} rows above"
        return self.parse_text_to_nodes(f"Another tool, or NumPy, takes less time than fastfair: {text}.")


class Provenance(SphinxDirective):
    """Where the figures come from."""

    def run(self) -> list[nodes.Node]:
        machine = RECORD["machine"]
        dates = sorted(row["date"] for row in ROWS.values())
        when = dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"
        versions = ", ".join(f"{name} {version}" for name, version in RECORD["versions"].items())
        peers = {}
        for row in ROWS.values():
            peers |= {k.removeprefix("peer "): v for k, v in row["versions"].items() if k.startswith("peer ")}
        theirs = ", ".join(f"{name} {peers[name]}" for name in sorted(peers.keys() - RECORD["versions"].keys()))
        return self.parse_text_to_nodes(
            f"{machine['processor']}, {machine['cpus']} processors, {machine['system']}; {when}. "
            f"fastfair with {versions}; the others in environments of their own: {theirs}."
        )


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("performance-against", Against)
    app.add_directive("performance-table", OwnTable)
    app.add_directive("performance-rows", Named)
    app.add_directive("performance-times", Times)
    app.add_directive("performance-slower", Slower)
    app.add_directive("performance-provenance", Provenance)
    return {"parallel_read_safe": True}
