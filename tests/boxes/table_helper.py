"""Helpers for the tests of table boxes: one box over one table, tuples and records."""

from typing import Any

import boxcars as bx

FIELDS = {"t": "int", "k": "str", "v": "int"}
RECORDS = [
    {"k": "a", "v": 1, "note": "one"},
    {"k": "b", "v": 2, "note": None},
    {"k": "a", "v": 0, "note": "zero"},
]
TUPLES: list[dict[str, Any]] = [
    {"t": 1, "k": "a", "v": 10},
    {"t": 2, "k": "z", "v": 20},
    {"t": 2, "k": None, "v": 30},
    {"t": 3, "k": "b", "v": None},
    {"t": 4, "k": "a", "v": 50},
]


def network(box: str, sql: str, key: str = "", **fields: str) -> bx.Network:
    """One box over one table, and an output for each of its ports."""
    net = bx.Network("n")
    tuples = net.input("i", ts="t", fields=FIELDS)
    net.table("DB", fields=fields or {"k": "str", "v": "int", "note": "str"}, key=key or ())
    for port, stream in enumerate(tuples.draw(box, sql).named("b")):
        net.output(f"out{port}", stream)
    return net
