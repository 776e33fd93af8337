"""`fastfair apply`: the numbers of the library, in sentences, tables, files and plots."""

from __future__ import annotations

import json

import pytest
from helpers.command_line import run

import fastfair as ff


@pytest.fixture
def files(tmp_path):
    """Write evaluation and development scores of eight people each."""
    paths = []
    for k, people in enumerate(("abcdefgh", "ijklmnop")):
        path = tmp_path / f"scores{k}.csv"
        others = "".join(b + a for a, b in zip(people[::2], people[1::2], strict=True))
        rows = [
            f"{a},{b},{'fm'[a in people[4:]]},{'fm'[b in people[4:]]},{(7 * n + 3 * k + 40 * (a == b)) % 88}"
            for n, (a, b) in enumerate(zip(people * 6, (people + others) * 3, strict=True))
        ]
        path.write_text("\n".join(["reference,probe,reference_sex,probe_sex,score", *rows]))
        paths.append(path)
    return paths


def found(files):
    return ff.apply_threshold(
        *(
            ff.read_comparisons(path, groups=["sex"]) if k != 1 else ff.at_fmr(0.3)
            for k, path in enumerate((files[0], None, files[1]))
        )
    )


def test_sentences_and_rows_are_printed(files):
    asked = ["--development", files[1], "--at", "fmr=0.3", "--group", "sex"]
    printed = run("apply", files[0], *asked).output
    assert found(files).summary() in printed
    assert (
        len([line for line in printed.splitlines() if line.startswith(("all ", "f ", "m "))]) == 6
    )
    content = json.loads(run("apply", files[0], *asked, "--json").output)
    assert content.pop("inputs") == [str(path) for path in files]
    assert content == json.loads(found(files).to_json())
