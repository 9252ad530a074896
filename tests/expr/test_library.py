"""Cases that the examples of the catalogue don't cover."""

from collections.abc import Sequence
from ipaddress import ip_address, ip_network

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from boxcars.expr import Expr
from boxcars.model.schema import Schema
from tests.expr.frame import value

SCHEMA = Schema.of({"text": "str", "net": "str", "n": "int", "x": "float"}, ts="n")


def column(sql: str, /, **columns: Sequence[object]) -> list[object]:
    size = len(next(iter(columns.values())))
    full = {name: columns.get(name, [None] * size) for name in SCHEMA.fields}
    frame = pl.DataFrame(full, schema=SCHEMA.dtypes)
    return frame.select(Expr.of(sql).compile(SCHEMA)).to_series().to_list()


def mix(word: int) -> int:
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB % 2**64
    return word ^ (word >> 31)


def slow_hash(*values: str | int) -> int:
    start, total = 0x9E3779B97F4A7C15, 0
    for item in values:
        data = item.encode() if isinstance(item, str) else b""
        word = mix(((item if isinstance(item, int) else len(data)) + start) % 2**64)
        for at in range(0, len(data), 8):
            word = mix((word * 31 + int.from_bytes(data[at : at + 8], "little")) % 2**64)
        total = mix((total * 31 + word) % 2**64)
    return total - 2**64 if total >= 2**63 else total


@given(st.lists(st.text(max_size=30), min_size=1, max_size=20))
@settings(max_examples=50, deadline=None)
def test_hash_agrees_with_plain_arithmetic(texts):
    assert column("hash(text)", text=texts) == [slow_hash(text) for text in texts]


def test_hash_is_stable():
    assert value("hash('boxcars')") == slow_hash("boxcars") == 5118084719566713249
    assert value("hash('boxcars', 7)") == slow_hash("boxcars", 7) == -4444829374037486336
    assert value("hash(1)") != value("hash(1, 1)") != value("hash(NULL, 1)")
    assert value("hash(0.0)") == value("hash(-0.0)")


@given(st.lists(st.ip_addresses() | st.sampled_from(["", "1.2.3", "01.2.3.4", "g::1"]), min_size=1))
@settings(max_examples=50, deadline=None)
def test_addresses_agree_with_the_standard_library(addresses):
    def version(text: str) -> int | None:
        try:
            return ip_address(text).version
        except ValueError:
            return None

    texts: list[object] = [str(address) for address in addresses]
    expected = [version(str(text)) for text in texts]
    assert column("ip_version(text)", text=texts) == expected
    for subnet in ("10.0.0.0/8", "128.0.0.0/1", "::/1", "fe80::/10"):
        network = ip_network(subnet)
        inside = [
            None if kind is None else ip_address(str(text)) in network
            for text, kind in zip(texts, expected, strict=True)
        ]
        assert column(f"in_subnet(text, '{subnet}')", text=texts) == inside
        assert column("in_subnet(text, net)", text=texts, net=[subnet] * len(texts)) == inside


@given(st.integers(0, 2**32 - 1), st.integers(0, 32))
@settings(max_examples=50, deadline=None)
def test_ipv4_round_trip(number, length):
    text = str(ip_address(number))
    assert column("ip_text(ip(text))", text=[text]) == [text]
    expected = str(ip_network((number, length), strict=False))
    assert column("subnet(text, n)", text=[text], n=[length]) == [expected]


@given(st.text(max_size=12), st.integers(-5, 15), st.integers(0, 15))
@settings(max_examples=100, deadline=None)
def test_substr_counts_as_postgres_does(text, start, length):
    expected = "".join(c for at, c in enumerate(text, 1) if start <= at < start + length)
    assert column(f"substr(text, n, {length})", text=[text], n=[start]) == [expected]


@given(st.text("ab", max_size=8), st.text("ab", max_size=3))
@settings(max_examples=100, deadline=None)
def test_replace_and_strpos_agree_with_python(text, part):
    expected = text.replace(part, "+") if part else text
    assert column("replace(text, net, '+')", text=[text], net=[part]) == [expected]
    assert column("strpos(text, net)", text=[text], net=[part]) == [text.find(part) + 1]


def test_extreme_arguments_do_no_harm():
    largest = 2**63 - 1
    assert value(f"repeat(s, {largest})") is None
    assert value("repeat(s, -1)") == ""
    assert value(f"lpad(s, {largest})") is None
    assert value("rpad(s, -5)") == ""
    assert value(f"substr(s, {largest}, {largest})") == ""
    assert value(f"left(s, {largest})") == "abc"
    assert value(f"split_part(s, 'b', {largest})") == ""
    assert value("split_part(s, 'b', 0)") is None
    assert value(f"from_epoch({largest})") is None
    assert value("subnet('10.0.0.1', -1)") is None
    assert value("log(0, 5)") is None
    assert value("tan(10 ^ 400)") is None
