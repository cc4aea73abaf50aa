from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import alike
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import fail, ok, warn

UBUNTU = {"id": "ubuntu", "version": "24.04", "name": "Ubuntu 24.04"}
ROLLING = {"id": "debian", "version": None, "name": "Debian sid"}


@pytest.mark.parametrize(("third", "verdict"), [
    ({}, ok("the 3 with PostgreSQL all have x86_64, debian 12, glibc 2.36")),
    ({"architecture": "aarch64"}, fail(
        "the 3 with PostgreSQL have not the same architecture: x86_64 (db1, db2), aarch64 (db3)", alike.FIX_ARCHITECTURE)),
    ({"libc": "glibc 2.41"}, warn("the 3 with PostgreSQL have not the same libc: glibc 2.36 (db1, db2), glibc 2.41 (db3)",
                                  alike.FIX_SORTING)),
    ({"system": ROLLING}, warn("the 3 with PostgreSQL have not the same system: debian 12 (db1, db2), debian without a version (db3)",
                               alike.FIX_SORTING)),
    ({"system": UBUNTU, "libc": "glibc 2.39", "architecture": "aarch64"}, fail(
        "the 3 with PostgreSQL have not the same architecture: x86_64 (db1, db2), aarch64 (db3); not the same system: debian 12 "
        "(db1, db2), ubuntu 24.04 (db3); not the same libc: glibc 2.36 (db1, db2), glibc 2.39 (db3)",
        f"{alike.FIX_ARCHITECTURE} {alike.FIX_SORTING}")),
])
def test_levels(group, third, verdict):
    """Whatever another machine is, it is not compared."""
    assert alike.compare(group({"db1": {}, "db2": {}, "db3": third, "n1": {"architecture": "riscv64"}})) == [(None, verdict)]


def test_another_c_library(group):
    found = group({"db1": {}, "db2": {}})
    found.members[1].record["libc"] = None
    assert alike.compare(found) == [(None, warn("the 2 with PostgreSQL have not the same libc: glibc 2.36 (db1), no glibc (db2)",
                                                alike.FIX_SORTING))]


def test_what_could_not_be_read_of_one_does_not_hide_the_others(group):
    unread = {"libc": None, "system": {"id": 5}, "unmeasured": {"libc": "no answer"}}
    told = fail("could not be read: system: system.id is '5' in the record, which is not of its type; libc: no answer", alike.FIX_UNREAD)
    assert alike.compare(group({"db1": unread, "db2": {}, "db3": {}})) == [("db1", told)]
    assert alike.compare(group({"db1": unread, "db2": {}, "db3": {"libc": "glibc 2.41"}})) == [
        ("db1", told), (None, warn("the 3 with PostgreSQL have not the same libc: glibc 2.36 (db2), glibc 2.41 (db3)", alike.FIX_SORTING))]


@pytest.mark.parametrize(("read", "others"), [(["db1"], ["db2"]), (["db1", "n1", "w1"], [])])
def test_left_out_where_there_are_no_two(group, read, others):
    assert alike.compare(group({name: {} for name in read}, others)) == []
