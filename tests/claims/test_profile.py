"""Profiles: what is shipped, the schema, and the line and word that messages name."""

from __future__ import annotations

import tomllib
from dataclasses import fields
from importlib import resources

from helpers.each import each
from helpers.refusals import refused

import fastfair as ff
from fastfair.claims import read_profile, shipped_profiles
from fastfair.claims.profile import Profile, profile_of

GOOD = """\
name = "ours"
title = "Our policy"
version = "1"
level = 0.9

[source]
title = "Our policy"
read = 2026-11-29
official = true

[[clauses]]
clause = "1"
title = "Few misses"
require = "fnmr <= 5 %"

[[clauses]]
clause = "2"
title = "Few false matches"
require = ["fmr <= 0.1 %", "far <= 0.1 %"]
rule = "rule of 3 or 30"

[[data]]
clause = "3"
title = "People"
count = "people"
least = 100

[[items]]
clause = "4"
title = "Device"
"""


def says(call, argument: object, *said: str) -> None:
    """Make a call that must be refused with an error that has these words."""
    message = str(refused("profile", call, argument))
    assert all(word in message for word in said), message


def of_text(text: str) -> Profile:
    return profile_of(text.encode(), "ours.toml")


def test_every_word_of_a_file_is_read():
    made = of_text(GOOD)
    table = tomllib.loads(GOOD)
    assert (made.name, made.level, made.source.read) == ("ours", 0.9, "2026-11-29")
    assert [clause.require for clause in made.clauses] == [
        ("fnmr <= 5 %",),
        ("fmr <= 0.1 %", "far <= 0.1 %"),
    ]
    assert made.clauses[1].rule == table["clauses"][1]["rule"]
    assert (made.data[0].least, made.items[0].title) == (100, "Device")
    assert len(made.sha256) == 64
    assert made.point == ff.at_fmr(1e-3)


@each("name", shipped_profiles())
def test_shipped_profiles_say_where_and_when_they_were_read(name):
    profile = read_profile(name)
    assert profile.name == name
    assert profile.source.read == "2026-11-29"
    assert profile.source.official or "check the official text" in profile.source.note.lower()
    assert profile.items
    for clause in profile.clauses:
        assert clause.needs, clause.clause


def test_shipped_profiles_are_those_that_the_help_names():
    listed = {"common-criteria", "eu-ees-face", "eu-ees-finger", "iso-19795", "nist-800-63a"}
    assert set(shipped_profiles()) == listed
    assert all(f'"{name}"' in ff.check.__doc__ for name in listed)


def test_shipped_profiles_never_say_that_a_system_complies():
    folder = resources.files("fastfair.claims").joinpath("profiles")
    for file in folder.iterdir():
        text = file.read_text("utf-8").lower()
        assert "complies" not in text
        assert "compliant" not in text


WRONG = (
    ("levle = 0.9", "level = 0.9", "line 4, 'levle'", "did you mean 'level'"),
    ("level = 95", "level = 0.9", "line 4, 'level'", "between 0.5 and 1"),
    ('level = "high"', "level = 0.9", "line 4, 'level'", "must be a number, not 'high'"),
    ("official = 1", "official = true", "line 9, 'official'", "true or false"),
    ('require = "fnmr <= 500 %"', 'require = "fnmr <= 5 %"', "line 14, 'require'", "between 0 and 1"),
    ('require = "fnrm <= 5 %"', 'require = "fnmr <= 5 %"', "line 14, 'require'", "fnmr"),
    ("require = []", 'require = "fnmr <= 5 %"', "line 14, 'require'", "no requirement"),
    ('rule = "rule of 2"', 'rule = "rule of 3 or 30"', "line 20, 'rule'", "did you mean"),
    ('least = "many"', "least = 100", "line 26, 'least'", "a whole number"),
    ('count = "persons"', 'count = "people"', "line 25, 'count'", "'nonmated'"),
    ('attribute = "age"\ncount = "people"', 'count = "people"', "line 26, 'count'", "people of each label"),
    ("", 'title = "Device"\n', "line 28, 'title'", "lacks it"),
    ('title = "Device"\nwho = "x"', 'title = "Device"', "line 31, 'who'", "write clause or title"),
    ("[[source]]", "[source]", "line 6, 'source'", "write it as [source]"),
    ("[data]", "[[data]]", "line 22, 'data'", "write it as [[data]]"),
    ("level = ", "level = 0.9", "is no TOML", "line 4"),
    ('at = "fmr=200 %"', "level = 0.9", "line 4, 'at'", "write 0.02"),
    ('bands = "age=50,20"', "level = 0.9", "line 4, 'bands'", "ascending edges"),
    ('bands = "0,20"', "level = 0.9", "line 4, 'bands'", "age=0,20,35,50,65"),
    ("least = -1", "least = 100", "line 26, 'least'", "at least 1, not -1"),
)  # fmt: skip


@each("wrong", WRONG)
def test_a_wrong_line_is_named_with_its_word(wrong):
    new, old, *said = wrong
    assert old in GOOD
    says(of_text, GOOD.replace(old, new, 1), *said)


def test_rules_are_of_all_people_together():
    text = GOOD.replace('"fmr <= 0.1 %"', '"fmr[*] <= 0.1 %"')
    says(of_text, text, "line 20, 'rule'", "of groups")


def test_what_is_no_profile_is_refused(tmp_path):
    says(read_profile, "common", "no profile 'common'", "common-criteria")
    says(read_profile, tmp_path / "none.toml", "cannot be read")
    binary = tmp_path / "x.toml"
    binary.write_bytes(b"\xff\xfe")
    says(read_profile, binary, "is no TOML")


def test_a_file_of_ones_own_is_read(tmp_path):
    file = tmp_path / "policy.toml"
    file.write_text(GOOD)
    assert read_profile(file) == read_profile(str(file))
    assert {field.name for field in fields(Profile)} >= set(tomllib.loads(GOOD))
