from __future__ import annotations

import fnmatch
import itertools
import random
import re
import unicodedata

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.reports import folding


def numbered(pattern, *numbers):
    return [pattern % number for number in numbers]


@pytest.mark.parametrize(("machines", "told"), [
    ([], ""),
    (["db1"], "db1"),
    (["db1", "db2"], "db1, db2"),
    (["db1", "db1", "db2"], "db1, db2"),
    (numbered("db%d", 1, 2, 3), "db[1-3]"),
    (numbered("db%d", 3, 1, 2), "db[1-3]"),
    (numbered("node%02d", *range(1, 41)), "node[01-40]"),
    (numbered("node%d", *range(8, 13)), "node[8-12]"),
    (numbered("node%d", 1, 2, 3, 5, 7, 8), "node[1-3,5,7-8]"),
    (["node1", "node01", "node2", "node02", "node3", "node03"], "node[1-3], node[01-03]"),
    (numbered("node%02d", 8, 9, 10, 99, 100, 101, 102), "node[08-10,99], node[100-102]"),
    (numbered("node%d.example.com", 1, 2, 3), "node[1-3].example.com"),
    (numbered("10.0.0.%d", 5, 6, 7), "10.0.0.[5-7]"),
    (numbered("fd00::%s", "9", "10", "11", "12"), "fd00::9, fd00::10, fd00::11, fd00::12"),  # between 9 and 10 there are others
    (numbered("fd00::%s:1", 1, 2, 3), "fd00::1:1, fd00::2:1, fd00::3:1"),
    (["a", "db1", "b", "db2", "db3", "c1"], "a, db[1-3], b, c1"),
    (["a", "db1", "b", "db2"], "a, db1, db2, b"),
    ([f"r{rack}n{node:02}" for rack in (1, 2, 3) for node in (1, 2, 3, 4)], "r[1-3]n[01-04]"),
    (["r1n1", "r1n2", "r1n3", "r2n1"], "r1n[1-3], r2n1"),
    (["alpha", "beta", "gamma"], "alpha, beta, gamma"),
    # No more than eight names and ranges.
    (numbered("node%d", *range(1, 19, 2)), "node[1,3,5,7,9,11,13,15] and 1 more"),
    (numbered("node%d", *range(1, 400, 2)), "node[1,3,5,7,9,11,13,15] and 192 more"),
    (["a", *numbered("node%d", *range(1, 400, 3))], "a, node[1,4,7,10,13,16,19] and 126 more"),
    ([chr(letter) for letter in range(97, 107)], "a, b, c, d, e, f, g, h and 2 more"),
    ([f"r{rack}n{node}" for rack in range(0, 40, 2) for node in range(0, 40, 2)],
     "r0n0, r0n2, r0n4, r0n6, r0n8, r0n10, r0n12, r0n14 and 392 more"),
    # What could be taken for several, or for part of the text, stands in quotes.
    (["my host", "a,b", "x[1-3]", "", 'say "hi"'], '"my host", "a,b", "x[1-3]", "", "say "hi""'),
    (["n1\x1b[2J", "n2\x1b[2J", "n3\x1b[2J"], r'"n1\x1b[2J", "n2\x1b[2J", "n3\x1b[2J"'),
    (numbered("計算機%d", 1, 2, 3), "計算機[1-3]"),
    (numbered("n٣%s", "a", "b", "c"), "n٣\u200ea, n٣\u200eb, n٣\u200ec"),
])
def test_names(machines, told):
    assert folding.names(machines) == told


def expanded(told):
    """The names that ranges stand for, as people read them: counted up, with as many digits as the ends have."""
    names = set()
    for item in re.findall(r"(?:\[[^]]*\]|[^,\[])+", told):
        parts = [re.split(r",", part) if at % 2 else [part] for at, part in enumerate(re.split(r"\[([^]]*)\]", item.strip()))]
        parts = [[f"{number:0{len(ends[0])}}" for text in part for ends in [text.split("-")] for number in
                  range(int(ends[0]), int(ends[-1]) + 1)] if at % 2 else part for at, part in enumerate(parts)]
        names |= set(map("".join, itertools.product(*parts)))
    return names


def test_ranges_stand_for_these_names_and_no_others():
    lot = random.Random(3)
    for number in range(2000):
        pieces = ["n", "r", "-", ".", "x1y", *map(str, range(12)), "08", "09", "010", "99", "100", "0"]
        machines = {"".join(lot.choices(pieces, k=lot.randint(1, 4))) for which in range(number % 40 + 1)}
        assert expanded(folding.names(machines, most=len(machines))) == machines


def test_long_names_are_folded_too_and_cut_where_no_host_has_one_so_long():
    assert folding.names([f"{'x' * 100}{number}" for number in (1, 2, 3)]) == f"{'x' * 100}[1-3]"
    one, two = (f'"{"x" * 192} ... {"x" * 62}{number}"' for number in (1, 2))
    assert folding.names([f"{'x' * 300}{number}" for number in (1, 2)]) == f"{one}, {two}"


def test_a_label_is_cut_in_its_middle():
    labels = [folding.label(f"production-database-{number:02d}", 18) for number in range(1, 6)]
    assert labels == [f"produ...atabase-{number:02d}" for number in range(1, 6)]
    assert folding.label("db1", 18) == "db1"


def test_most_names():
    assert folding.names(numbered("n%d", *range(1, 40, 2)), 3) == "n[1,3,5] and 17 more"
    assert folding.names(numbered("n%d", *range(1, 40, 2)), 1) == "n1 and 19 more"


@pytest.mark.parametrize("machines", [
    numbered("node%03d", *range(1, 301)),
    numbered("node%d", *range(1, 301)),
    numbered("n%d.x%d", *((rack, node) for rack in range(12) for node in range(3, 25))),
    [f"node{number}" for number in random.Random(1).sample(range(300), 90)],
    ["db*", "db?", "db[1-3]", "[!a]", "db1", "db2", "a]", "]", "é3", "é4", "x\ny", "\udc80"],
    ["one", "two"],
    [],
])
def test_patterns_match_these_names_and_no_others(machines):
    patterns = folding.patterns(machines)
    others = [f"{prefix}{number}{suffix}" for prefix in ("node", "node0", "node00", "n1.x", "db", "é", "x") for number in range(350)
              for suffix in ("", "0", "a")] + ["db*", "db?", "a", "!a", "x y", "one", "two", "node"]
    assert {name for name in {*others, *machines} if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)} == set(machines)


def test_patterns_of_a_range_are_few():
    assert folding.patterns(numbered("node%03d", *range(1, 301))) == ["node00[1-9]", "node0[1-9][0-9]", "node[12][0-9][0-9]", "node300"]
    assert folding.patterns(numbered("db%d", 1, 2, 3)) == ["db1", "db2", "db3"]  # these few say more by themselves


# ----------------------------------------------------------------------------------------------------------- texts
@pytest.mark.parametrize(("text", "told"), [
    ("plain", "plain"),
    (5, "5"),
    ("a\x1b]0;t\x07b\r\nc\td", r"a\x1b]0;t\x07b\r\nc\td"),
    ("\x9b31m\x00\x7f", r"\x9b31m\x00\x7f"),
    ("\u202eabc\u2066\u200b\u200d\ufeff\u2028", r"\u202eabc\u2066\u200b\u200d\ufeff\u2028"),
    ("\udc80\U000e0041", r"\udc80\U000e0041"),
    ("é 日本 😀", "é 日本 😀"),
    ("שלום עולם: 13 GB", "שלום עולם\u200e: 13 GB"),
    ("1 مرحبا 2", "1 مرحبا\u200e 2"),
    ("e" + "\u0301" * 5, "e\u0301\u0301\u0301\\u0301\\u0301"),
    ("e" + "\u20dd" * 4, "e\u20dd\u20dd\u20dd\\u20dd"),  # around it, which combining() does not count
    ("ש\u200e, a\u200e", "ש\u200e, a\\u200e"),
    ("x" * 400, "x" * 400),
    ("x" * 400 + "y" * 101, "x" * 300 + " ... " + "y" * 100),
])
def test_clean(text, told):
    assert folding.clean(text) == told
    assert folding.clean(told, 999) == told


@pytest.mark.parametrize("most", range(9))
def test_what_is_cut_is_no_longer_than_it_may_be(most):
    assert len(folding.cut("x" * 99, most)) == most + len(" ... ")


@pytest.mark.parametrize(("text", "columns"), [
    ("", 0), ("abc", 3), ("日本語", 6), ("ｆｕｌｌ", 8), ("é", 1), ("e\u0301", 1), ("שלום\u200e", 4), ("😀", 2), ("ﾊﾝｶｸ", 4),
])
def test_width(text, columns):
    assert folding.width(text) == columns
    assert folding.width(folding.pad(text, 10)) == 10


@pytest.mark.parametrize(("text", "columns", "hang", "lines"), [
    ("", 10, 0, [""]),
    ("one two three", 7, 0, ["one two", "three"]),
    ("one two three", 7, 2, ["one two", "three"]),
    ("one two three four", 9, 4, ["one two", "three", "four"]),
    ("a  b", 10, 0, ["a  b"]),
    ("abcdefghijkl", 5, 0, ["abcde", "fghij", "kl"]),
    ("abcdefghijkl", 5, 1, ["abcd", "efgh", "ijkl"]),
    ("日本語日本語", 5, 0, ["日本", "語日", "本語"]),
    ("日本", 1, 0, ["日", "本"]),
    ("node[01,03,05,07]", 10, 0, ["node[01,", "03,05,07]"]),
    ("at most 13 GB", 10, 0, ["at most", "13 GB"]),
    ("take 13 of GB", 10, 0, ["take 13 of", "GB"]),
])
def test_wrap(text, columns, hang, lines):
    assert folding.wrap(text, columns, hang) == lines


# -------------------------------------------------------------------------------------------------------- problems
def on(number):
    return [f"n{number}"]


def test_few_are_told_each_by_itself():
    problems = [(f"{number} GB free", on(number)) for number in range(4)]
    assert folding.alike(problems, 4) == problems


def test_many_that_differ_in_figures_are_told_as_a_range_with_who_has_the_ends():
    problems = [(f"{free} GB free on / (needs 30)", on(number)) for number, free in enumerate((7, 12, 3, 11, 12, 9), 1)]
    assert folding.alike(problems, 4) == [
        ("3 to 12 GB free on / (needs 30); least on n3, most on n2, n5", ["n1", "n2", "n5", "n3", "n4", "n6"])]


def test_each_figure_has_its_range_and_the_first_that_differs_its_ends():
    problems = [("1 s behind (give or take 0.050 s)", ["a"]), ("1 s behind (give or take 0.004 s)", ["b", "c"]),
                ("1 s behind (give or take 1,234 s)", ["d"]), ("away", ["e"])]
    assert folding.alike(problems, 3) == [
        ("1 s behind (give or take 0.004 to 1,234 s); least on b, c, most on d", ["a", "b", "c", "d"]), ("away", ["e"])]


@pytest.mark.parametrize("text", [
    "does not reach db%d", "port %d: refused", "10.0.0.%d s", "in use: %d by root", "/dev/sda%d GB", "-%d GB", "%dGB",
])
def test_what_is_no_figure_is_not_told_as_a_range(text):
    assert folding.shape(text % 1) != folding.shape(text % 2)


def test_many_that_differ_in_other_numbers_are_told_by_the_first():
    problems = [(f"held by apt (process {number})", on(number)) for number in range(1, 7)]
    assert folding.alike(problems, 4) == [
        ("held by apt (process 1); on n1, and the like on the others", [f"n{number}" for number in range(1, 7)])]
    same = [(text, ["n1"]) for text, machines in problems]
    assert folding.alike(same, 4) == [("held by apt (process 1), and the like", ["n1"] * 6)]


def test_of_many_that_differ_in_all_the_most_common_are_told_and_the_rest_counted():
    problems = [(word, [f"{word}{number}" for number in range(times)]) for word, times in zip("abcdef", (1, 1, 3, 1, 2, 1), strict=True)]
    assert folding.alike(problems, 4) == [
        ("c", ["c0", "c1", "c2"]), ("e", ["e0", "e1"]), ("a", ["a0"]), ("the like, each in other words", ["b0", "d0", "f0"])]


def test_what_is_about_all_together_is_not_joined_but_counted():
    problems = [(f"{number} GB", list[str]()) for number in range(6)]
    assert folding.alike(problems, 4) == [*problems[:3], ("3 more like these", [])]


def test_figures_below_zero_make_no_range():
    problems = [(f"{minus}{number} MB", [f"n{number}"]) for minus in "-\u2212" for number in (5, 9)]
    assert folding.alike(problems, 4) == problems


def test_nothing_can_stand_for_a_figure():
    problems = [("5 GB", ["a"]), ("\0 GB", ["b"])]
    assert folding.alike(problems, 1) == [("the like, each in other words", ["a", "b"])]


def test_figures_that_are_written_in_other_ways_are_one():
    assert folding.alike([("1.0 s", ["a"]), ("1.00 s", ["b"]), ("1 s", ["c"])], 2) == [("1.0 s", ["a", "b", "c"])]


def test_no_letter_that_is_written_from_right_to_left_is_forgotten():
    """Those of Unicode as this Python has it."""
    letters = [chr(code) for code in range(0x110000) if unicodedata.bidirectional(chr(code)) in ("R", "AL", "AN")]
    assert [letter for letter in letters if letter.isprintable() and not folding.clean(letter).endswith("\u200e")] == []
    assert len(letters) > 1000
