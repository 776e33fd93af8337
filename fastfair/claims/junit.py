"""The result of `check` as JUnit XML, the format of test results that build servers read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from fastfair._lib import whole_files
from fastfair.errors import visible

from .checked_quantity import MET, CheckedQuantity
from .judging import UNDECIDED

_SUITE = "fastfair check"


def as_junit(rows: Sequence[CheckedQuantity], allow_undecided: bool, path: str | Path | None) -> str:
    """Write a suite with a test case for each quantity; those that are not met, or undecided, have failed.

    Undecided ones are skipped where they are allowed.
    """
    skipped = [row for row in rows if allow_undecided and row.verdict == UNDECIDED]
    n_failed = sum(row.verdict != MET for row in rows) - len(skipped)
    numbers = {"tests": str(len(rows)), "failures": str(n_failed), "errors": "0", "skipped": str(len(skipped))}
    root = ElementTree.Element("testsuites", numbers)
    suite = ElementTree.SubElement(root, "testsuite", {"name": _SUITE, **numbers})
    for row in rows:
        case = ElementTree.SubElement(
            suite, "testcase", {"classname": visible(row.requirement), "name": visible(row.title), "time": "0"}
        )
        if row in skipped:
            ElementTree.SubElement(case, "skipped", {"message": f"{row.verdict}: {visible(row.reason)}"})
        elif row.verdict != MET:
            failure = {"type": row.verdict, "message": visible(row.reason)}
            ElementTree.SubElement(case, "failure", failure).text = f"{visible(row.title)}: {visible(row.reason)}"
        else:
            ElementTree.SubElement(case, "system-out").text = visible(row.reason)
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    if path is not None:
        with whole_files.written(Path(path)) as file:
            file.write(f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'.encode())
    return text
