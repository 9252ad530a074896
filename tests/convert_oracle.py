"""Converter boxes, one record at a time, with Python's own json."""

import json
import math
from typing import Any

Row = dict[str, Any]

KINDS: dict[str, tuple[type, ...]] = {"str": (str,), "int": (int,), "float": (int, float)}


def to_jsonl(row: Row) -> bytes:
    r"""One line.

    >>> to_jsonl({"t": 1, "k": "ä", "x": float("nan"), "n": None})
    b'{"t":1,"k":"\xc3\xa4","x":"NaN","n":null}\n'
    """
    known = {name: json_value(value) for name, value in row.items()}
    return (json.dumps(known, separators=(",", ":"), ensure_ascii=False) + "\n").encode()


def json_value(value: Any) -> Any:
    """JSON has no word for what is not finite, so it is a text."""
    assert value is None or type(value) in (str, int, float, bool), value
    if isinstance(value, float) and not math.isfinite(value):
        return {math.inf: "inf", -math.inf: "-inf"}.get(value, "NaN")
    return value


def from_jsonl(data: bytes, fields: dict[str, str]) -> tuple[list[Row], list[Row]]:
    """The records in some bytes, and the dead letters."""
    found, dead = [], []
    for line in data.splitlines():
        given = json.loads(line)
        row = {name: given.get(name) for name in fields}
        wrong = [name for name, kind in fields.items() if not fits(row[name], kind)]
        if wrong:
            name = wrong[0]
            reason = f"{name}: expected {article(fields[name])}, got {row[name]!r}"
            dead.append({"record": line, "reason": reason})
        else:
            found.append(row)
    return found, dead


def fits(value: Any, kind: str) -> bool:
    """A float may be written like an int, but not the other way round."""
    return value is None or type(value) in KINDS[kind]


def article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
