"""The oracle: a slow interpreter of networks, one tuple at a time, from the papers' definitions.

It reads the plain form of a network and shares no code with the product. What it does not know
raises: a box, a setting of a box, a function.
"""

from math import sqrt
from typing import Any

from tests.convert_oracle import from_jsonl, to_jsonl
from tests.expression_oracle import evaluate

Row = dict[str, Any]
Block = dict[str, Any]
Stream = list[tuple[int | None, Row]]
"""Tuples with their position in the input; results of several tuples have none."""

WORD = 2**64

SETTINGS: dict[str, set[str]] = {
    "filter": {"where", "else"},
    "map": {"fields", "keep"},
    "union": set(),
    "drop": {"rate", "where", "seed"},
    "encode": {"format"},
    "decode": {"format", "fields"},
}


class Sample(list[Row]):
    """Tuples of which a share is dropped, who knows which.

    The choice is by place, and the docs do not say what place a result of several tuples has. So
    the oracle says no more than they promise: what is left is in its order and was there before,
    and the share is about the rate, which is to say within four standard deviations.
    """

    def __init__(self, rows: list[Row], rate: float) -> None:
        super().__init__(rows)
        self.rate = rate

    def fits(self, left: list[Row]) -> bool:
        expected, variance = len(self) * (1 - self.rate), len(self) * self.rate * (1 - self.rate)
        before = iter(map(repr, self))
        in_order = all(repr(row) in before for row in left)
        return in_order and abs(len(left) - expected) <= 4 * sqrt(variance)


class Oracle:
    settings = SETTINGS

    def __init__(self, plain: Block, data: dict[str, list[Row]]) -> None:
        self.plain = plain
        self.data = data
        self.streams: dict[str, Stream] = {}
        self.samples: dict[str, float] = {}
        self.late: dict[str, int] = {}

    def run(self) -> dict[str, list[Row]]:
        for name, entity in self.plain["inputs"].items():
            self.streams[name] = self.input(name, entity)
        waiting = dict(self.plain.get("boxes", {}))
        while waiting:
            ready = next(
                name
                for name, block in waiting.items()
                if all(self.source(arc) in self.streams for arc in self.inputs(block))
            )
            self.box(ready, waiting.pop(ready))
        return {name: self.output(block["from"]) for name, block in self.plain["outputs"].items()}

    def output(self, arc: str) -> list[Row]:
        name = self.source(arc)
        rows = [row for _, row in self.streams[name]]
        return Sample(rows, self.samples[name]) if name in self.samples else rows

    def inputs(self, block: Block) -> list[str]:
        return block["in"] if isinstance(block["in"], list) else [block["in"]]

    def source(self, arc: str) -> str:
        return arc.removesuffix(".0")

    def input(self, name: str, entity: Block) -> Stream:
        """A tuple is late if it is more than the slack behind the greatest before it."""
        ts, slack = entity["ts"], entity.get("slack", 0)
        accepted: Stream = []
        late: Stream = []
        greatest = None
        for position, row in enumerate(self.data[name]):
            if greatest is not None and row[ts] < greatest - slack:
                late.append((position, row))
                continue
            greatest = row[ts] if greatest is None else max(greatest, row[ts])
            accepted.append((position, row))
        self.late[name], self.streams[f"{name}.late"] = len(late), late
        return sorted(accepted, key=lambda item: item[1][ts])

    def box(self, name: str, block: Block) -> None:
        kind, arcs = block["type"], [self.source(arc) for arc in self.inputs(block)]
        unknown = block.keys() - self.settings[kind] - {"type", "in", "group"}
        assert not unknown, f"the oracle does not know {unknown} of {kind}"
        assert not self.samples.keys() & set(arcs), f"who knows what is left before {name}"
        getattr(self, kind)(name, block, [self.streams[arc] for arc in arcs])

    def filter(self, name: str, block: Block, streams: list[Stream]) -> None:
        where = block["where"]
        ports: list[Stream] = [[] for _ in [*where, "else"]]
        for position, row in streams[0]:
            holds = [evaluate(predicate, row) is True for predicate in where]
            ports[holds.index(True) if True in holds else len(where)].append((position, row))
        for number in range(len(where)):
            self.streams[f"{name}.{number}" if number else name] = ports[number]
        if block.get("else"):
            self.streams[f"{name}.else"] = ports[-1]

    def map(self, name: str, block: Block, streams: list[Stream]) -> None:
        out: Stream = []
        for position, row in streams[0]:
            kept = dict(row) if block.get("keep") else {}
            new = {field: evaluate(text, row) for field, text in block["fields"].items()}
            out.append((position, kept | new))
        self.streams[name] = out

    def union(self, name: str, block: Block, streams: list[Stream]) -> None:
        merged = [
            (row["t"], port, order, position, row)
            for port, stream in enumerate(streams)
            for order, (position, row) in enumerate(stream)
        ]
        merged.sort(key=lambda item: item[:3])
        self.streams[name] = [(position, row) for *_, position, row in merged]

    def drop(self, name: str, block: Block, streams: list[Stream]) -> None:
        rate, seed, where = block.get("rate", 1.0), block.get("seed", 0), block.get("where")

        def goes(position: int | None, row: Row) -> bool:
            if where is not None and evaluate(where, row) is not True:
                return False
            return bool(rate == 1 or chance(position, seed) < rate)

        if rate < 1 and any(position is None for position, _ in streams[0]):
            assert where is None, f"the oracle does not know which tuples {name} may drop"
            self.streams[name], self.samples[name] = streams[0], rate
        else:
            self.streams[name] = [item for item in streams[0] if not goes(*item)]

    def encode(self, name: str, block: Block, streams: list[Stream]) -> None:
        assert block["format"] == "jsonl", block
        self.streams[name] = [
            (position, {"t": row["t"], "data": to_jsonl(row)}) for position, row in streams[0]
        ]

    def decode(self, name: str, block: Block, streams: list[Stream]) -> None:
        assert block["format"] == "jsonl", block
        found: Stream = []
        dead: Stream = []
        for _, row in streams[0]:
            records, letters = from_jsonl(row["data"], block["fields"])
            found += [(None, {"t": row["t"], **record}) for record in records]
            dead += [(None, {"t": row["t"], **letter}) for letter in letters]
        self.streams[name], self.streams[f"{name}.dead"] = found, dead


def chance(position: int | None, seed: int) -> float:
    """Splitmix64 of Steele, Lea and Flood, as its authors give it, on position and seed."""
    assert position is not None
    z = (position + seed * 0x9E3779B97F4A7C15) % WORD
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) % WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % WORD
    z ^= z >> 31
    return float(z >> 11) / float(2**53)
