"""Directives that make tables of the measures out of their own facts and docstrings."""

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from table_directive import TableDirective

from fastfair.measures import MEASURES, METRICS, Estimand
from papers.sed.limitations import limitations_table


def formula(measure: Estimand) -> str:
    if not measure.formula:
        raise ExtensionError(f"the Returns section of {measure.name} holds no ``formula``")
    return measure.formula


def yes(fact: bool) -> str:
    return "yes" if fact else ""


def number(value: float) -> str:
    return f"{value:g}".replace("-", "−").replace("inf", "∞")


def measure_rows() -> list[list[str]]:
    fairer = {
        "lower": "lower is fairer",
        "higher": "higher is fairer",
        "nearer": "nearer is fairer",
    }
    rows = [["Measure", "Formula", "Of", "Fair", "Range"]]
    for m in MEASURES.values():
        rows.append(
            [
                f"[{m.title}](#fastfair.measures.{m.name})",
                f"`{formula(m)}`",
                ", ".join(METRICS[metric].title for metric in m.of) or "FMR and FNMR together",
                f"{number(m.fair_value)}, {fairer[m.fairer]}",
                f"{number(m.range[0])} to {number(m.range[1])}",
            ]
        )
    return rows


def fact_rows() -> list[list[str]]:
    facts = ["Global reference", "Own threshold", "One value a group", "Fails without errors"]
    rows = [["Measure", "Source", "Family", *facts]]
    for m in MEASURES.values():
        facts = [yes(fact) for fact in (m.global_reference, m.own_threshold, m.per_group, m.ratio)]
        rows.append([m.title, m.source, ", ".join(m.families), *facts])
    return rows


def limitation_rows() -> list[list[str]]:
    table = limitations_table()
    return [list(table[0])] + [
        [v if isinstance(v, str) else yes(v) for v in row.values()] for row in table
    ]


class Measures(TableDirective):
    def rows(self) -> list[list[str]]:
        return measure_rows()


class Facts(TableDirective):
    def rows(self) -> list[list[str]]:
        return fact_rows()


class Limitations(TableDirective):
    def rows(self) -> list[list[str]]:
        return limitation_rows()


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("measures-table", Measures)
    app.add_directive("measure-facts-table", Facts)
    app.add_directive("limitations-table", Limitations)
    return {"parallel_read_safe": True}
