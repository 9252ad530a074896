"""The oracle: a slow interpreter of networks, one tuple at a time, from the papers' definitions.

It reads the plain form of a network and shares no code with the product, its expressions
included: it knows only the few that the random networks use.
"""

import re
from typing import Any

Row = dict[str, Any]
Stream = list[tuple[int, Row]]
"""Tuples with their position in the input."""

WORD = 2**64


class Oracle:
    def __init__(self, plain: dict[str, Any], data: dict[str, list[Row]]) -> None:
        self.plain = plain
        self.data = data
        self.streams: dict[str, Stream] = {}
        self.late: dict[str, int] = {}

    def run(self) -> dict[str, list[Row]]:
        for name, entity in self.plain["inputs"].items():
            self.streams[name] = self.input(name, entity)
        waiting = dict(self.plain.get("boxes", {}))
        while waiting:
            ready = next(
                name
                for name, block in waiting.items()
                if all(self.source(arc) is not None for arc in self.inputs(block))
            )
            self.box(ready, waiting.pop(ready))
        outputs = self.plain["outputs"].items()
        return {name: [row for _, row in self.get(block["from"])] for name, block in outputs}

    def inputs(self, block: dict[str, Any]) -> list[str]:
        return block["in"] if isinstance(block["in"], list) else [block["in"]]

    def source(self, arc: str) -> Stream | None:
        return self.streams.get(arc.removesuffix(".0"))

    def get(self, arc: str) -> Stream:
        stream = self.source(arc)
        assert stream is not None
        return stream

    def input(self, name: str, entity: dict[str, Any]) -> Stream:
        """A tuple is late if it is more than the slack behind the greatest before it."""
        ts, slack = entity["ts"], entity.get("slack", 0)
        accepted: Stream = []
        greatest = None
        self.late[name] = 0
        for position, row in enumerate(self.data[name]):
            if greatest is not None and row[ts] < greatest - slack:
                self.late[name] += 1
                continue
            greatest = row[ts] if greatest is None else max(greatest, row[ts])
            accepted.append((position, row))
        return sorted(accepted, key=lambda item: item[1][ts])

    def box(self, name: str, block: dict[str, Any]) -> None:
        streams = [self.get(arc) for arc in self.inputs(block)]
        getattr(self, block["type"])(name, block, streams)

    def filter(self, name: str, block: dict[str, Any], streams: list[Stream]) -> None:
        where = block["where"]
        ports: list[Stream] = [[] for _ in [*where, "else"]]
        for position, row in streams[0]:
            holds = [evaluate(predicate, row) is True for predicate in where]
            ports[holds.index(True) if True in holds else len(where)].append((position, row))
        for number in range(len(where)):
            self.streams[f"{name}.{number}" if number else name] = ports[number]
        if block.get("else"):
            self.streams[f"{name}.else"] = ports[-1]

    def map(self, name: str, block: dict[str, Any], streams: list[Stream]) -> None:
        out: Stream = []
        for position, row in streams[0]:
            kept = dict(row) if block.get("keep") else {}
            new = {field: evaluate(text, row) for field, text in block["fields"].items()}
            out.append((position, kept | new))
        self.streams[name] = out

    def union(self, name: str, block: dict[str, Any], streams: list[Stream]) -> None:
        merged = [
            (row["t"], port, order, position, row)
            for port, stream in enumerate(streams)
            for order, (position, row) in enumerate(stream)
        ]
        merged.sort(key=lambda item: item[:3])
        self.streams[name] = [(position, row) for *_, position, row in merged]

    def drop(self, name: str, block: dict[str, Any], streams: list[Stream]) -> None:
        rate, seed = block.get("rate", 1.0), block.get("seed", 0)
        self.streams[name] = [item for item in streams[0] if chance(item[0], seed) >= rate]


def chance(position: int, seed: int) -> float:
    """Splitmix64 of Steele, Lea and Flood, as its authors give it, on position and seed."""
    z = (position + seed * 0x9E3779B97F4A7C15) % WORD
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) % WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % WORD
    z ^= z >> 31
    return float(z >> 11) / float(2**53)


def evaluate(text: str, row: Row) -> Any:
    if text in row:
        return row[text]
    if found := re.fullmatch(r'"((?:[^"]|"")*)"( is null)?', text):
        value = row[found[1].replace('""', '"')]
        return value is None if found[2] else value
    if text == "t + 1":
        return wrap(row["t"] + 1)
    if text == "t % 5":
        return row["t"] % 5
    if text == "t * 2.5":
        return row["t"] * 2.5
    if text == "case when t > 3 then 1 else 2 end":
        return 1 if row["t"] > 3 else 2
    if found := re.fullmatch(r"t > (-?\d+)", text):
        return row["t"] > int(found[1])
    if found := re.fullmatch(r"t % 3 = 1 or t < (-?\d+)", text):
        return row["t"] % 3 == 1 or row["t"] < int(found[1])
    if found := re.fullmatch(r"'((?:[^']|'')*)'", text):
        return found[1].replace("''", "'")
    raise AssertionError(f"the oracle does not know {text!r}")


def wrap(number: int) -> int:
    return (number + 2**63) % WORD - 2**63
