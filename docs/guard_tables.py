"""A directive that makes the table of guards and kinds of data, and the reasons for its gaps, out
of their records."""

from docutils import nodes
from sphinx.application import Sphinx
from table_directive import TableDirective

from fastfair.data.guards import GUARDS, KINDS


class Guards(TableDirective):
    def rows(self) -> list[list[str]]:
        header = ["Against", "What happens", *KINDS]
        return [
            header,
            *(
                [
                    guard.name,
                    guard.answer,
                    *("" if kind in guard.reasons else "yes" for kind in KINDS),
                ]
                for guard in GUARDS
            ),
        ]

    def run(self) -> list[nodes.Node]:
        lines = ["Where a kind of data has no such guard, it needs none:", ""]
        for guard in GUARDS:
            reasons: dict[str, list[str]] = {}
            for kind, reason in guard.reasons.items():
                reasons.setdefault(reason, []).append(kind)
            if reasons:
                said = "; ".join(
                    f"{', '.join(kinds)}: {reason}" for reason, kinds in reasons.items()
                )
                lines.append(f"- *{guard.name}*: {said}.")
        return [*super().run(), *self.parse_text_to_nodes("\n".join(lines))]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("guards-table", Guards)
    return {"parallel_read_safe": True}
