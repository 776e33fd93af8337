"""How much memory there is, and what is refused for taking more."""

from __future__ import annotations

import os
import re

import pytest
from helpers.each import each

from fastfair._lib import memory
from fastfair._lib.arguments import checked
from fastfair.errors import InputError, NotEnoughMemoryError

GIB = 2**30


@pytest.fixture
def system(tmp_path, monkeypatch):
    """A computer with 8 GiB free, whose files can be written."""
    monkeypatch.setattr(memory, "_PROC", tmp_path / "proc")
    monkeypatch.setattr(memory, "_CGROUPS", tmp_path / "cgroup")
    (tmp_path / "proc" / "self").mkdir(parents=True)
    (tmp_path / "proc" / "meminfo").write_text(
        "MemTotal: 16777216 kB\nMemAvailable: 8388608 kB\nHugePages: 0\n"
    )

    def write(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{content}\n")

    return write


def test_the_tightest_group_of_version_2_counts(system):
    assert memory.available() == 8 * GIB
    system("proc/self/cgroup", "0::/outer/inner")
    system("cgroup/outer/inner/memory.max", "max")
    system("cgroup/outer/inner/memory.current", GIB)
    assert memory.available() == 8 * GIB
    system("cgroup/outer/memory.max", 4 * GIB)
    system("cgroup/outer/memory.current", 3 * GIB)
    system("cgroup/outer/memory.stat", f"anon 5\ninactive_file {GIB}\nactive_file 7")
    assert memory.available() == 2 * GIB
    system("cgroup/memory.max", GIB)
    system("cgroup/memory.current", 3 * GIB)
    assert memory.available() == 0


def test_groups_of_version_1(system):
    system("proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/a\n0::/")
    system("cgroup/memory/a/memory.limit_in_bytes", 3 * GIB)
    system("cgroup/memory/a/memory.usage_in_bytes", 2 * GIB)
    system("cgroup/memory/memory.limit_in_bytes", 9223372036854771712)
    system("cgroup/memory/memory.usage_in_bytes", 9 * GIB)
    assert memory.available() == GIB


def test_limits_of_resources_count(system, monkeypatch):
    resource = pytest.importorskip("resource")  # which Windows has not
    system("proc/self/statm", "1000 500 100 1 0 300 0")
    for limit, used in ((resource.RLIMIT_AS, 1000), (resource.RLIMIT_DATA, 300)):
        limits = {limit: (GIB, GIB)}
        monkeypatch.setattr(
            resource,
            "getrlimit",
            lambda one, known=limits: known.get(one, (resource.RLIM_INFINITY,) * 2),
        )
        assert memory.available() == GIB - used * resource.getpagesize()


def test_memory_that_the_system_does_not_give_is_an_error_of_ours():
    @checked
    def greedy(n: int) -> None:
        raise MemoryError("Unable to allocate")

    with pytest.raises(
        NotEnoughMemoryError, match=r"greedy needs more memory than .*\(Unable to allocate\)"
    ):
        greedy(1)


def test_other_systems(system, monkeypatch, tmp_path):
    (tmp_path / "proc" / "meminfo").unlink()
    monkeypatch.setattr(os, "sysconf", {"SC_PHYS_PAGES": 2**20, "SC_PAGE_SIZE": 4096}.__getitem__)
    assert memory.available() == 4 * GIB
    monkeypatch.delattr(os, "sysconf")
    assert memory.available() == 2**47


def test_this_computer():
    assert 2**20 < memory.available() < 2**47


@each(
    ("n_bytes", "said"),
    [
        (8 * GIB + 1, "8 GiB"),
        (1000 * GIB, "1,000 GiB"),
        (3 * 2**39, "1,536 GiB"),
        (10**6000, "1.074e+09 GiB"),
    ],
)
@pytest.mark.usefixtures("system")
def test_what_takes_more_is_refused_with_what_would_do(n_bytes, said):
    with pytest.raises(
        InputError,
        match=re.escape(f"the things would take {said} of memory, and 8 GiB are free: use fewer"),
    ):
        memory.require(n_bytes, "the things", "use fewer")


@pytest.mark.usefixtures("system")
def test_what_fits_goes_on():
    memory.require(8 * GIB, "the things", "use fewer")
    memory.require(0, "the things", "use fewer")
