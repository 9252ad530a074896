"""The oracle for networks with stateful boxes: each box over all its tuples, one at a time.

Windows need to know how far time has come, which is not what a box has seen: a filter before it
takes tuples away, but not time. So each stream has its *end*, the last promise on its arc.
"""

from typing import Any

from tests import aggregate_oracle, join_oracle, sort_oracle
from tests.growing_oracle import Kind
from tests.growing_oracle import Oracle as Growing
from tests.oracle import Oracle, Row, Stream

Block = dict[str, Any]


def rows_of(stream: Stream) -> list[Row]:
    return [row for _, row in stream]


def stream_of(rows: list[Row]) -> Stream:
    return [(0, row) for row in rows]


class NetworkOracle(Oracle):
    def __init__(self, plain: Block, data: dict[str, list[Row]]) -> None:
        super().__init__(plain, data)
        self.ends: dict[str, Any] = {}

    def input(self, name: str, entity: Block) -> Stream:
        accepted = super().input(name, entity)
        self.ends[name] = accepted[-1][1]["t"] if accepted else None
        return accepted

    def box(self, name: str, block: Block) -> None:
        ends = [self.ends[arc.split(".")[0]] for arc in self.inputs(block)]
        known = [end for end in ends if end is not None]
        self.ends[name] = max(known, default=None)
        super().box(name, block)

    def aggregate(self, name: str, block: Block, streams: list[Stream]) -> None:
        rows, by, window = rows_of(streams[0]), block.get("by", []), block["window"]
        fields = {field: read_call(text) for field, text in block["fields"].items()}
        found, late = self.windows(name, rows, by, window, fields)
        self.streams[name] = stream_of(found)
        self.streams[f"{name}.late"] = stream_of(late)

    def windows(
        self, name: str, rows: list[Row], by: list[str], window: Block, fields: Any
    ) -> tuple[list[Row], list[Row]]:
        end, flush = self.ends[name], window.get("flush", False)
        (kind,) = {"time", "tuples", "value", "runs", "landmark"} & set(window)
        size: Any = window["size"] if kind == "value" else window[kind]
        advance: Any = window.get("advance", size)
        timeout: Any = window.get("timeout")
        if "emit" in window or kind == "landmark":
            return Growing(growing_kind(kind, size, advance, window), by, fields).run(rows, end)
        if kind in ("time", "value") and advance == 0:
            field = window[kind] if kind == "value" else "t"
            return aggregate_oracle.moving_windows(rows, field, size, by, fields)
        if kind == "value":
            field = window["value"]
            return aggregate_oracle.value_windows(
                rows, field, size, advance, by, fields, flush, end
            )
        if kind == "runs":
            return aggregate_oracle.run_windows(rows, by, fields, flush, end), []
        if kind == "tuples":
            return aggregate_oracle.tuple_windows(
                rows, size, advance, by, fields, flush, timeout, end
            ), []
        if window.get("obsolete") == "drop":
            return aggregate_oracle.dropped_windows(rows, size, advance, timeout, by, fields), []
        self.ends[name] = first_open(rows, size, advance, flush, end)
        return aggregate_oracle.time_windows(rows, size, advance, by, fields, flush, end=end), []

    def join(self, name: str, block: Block, streams: list[Stream]) -> None:
        left, right = map(rows_of, streams)
        window = ("time", block["window"]["time"])
        self.streams[name] = stream_of(
            join_oracle.join(
                left, right, ("t", "t"), (window, window), lambda a, b: bool(a["t"] == b["t"])
            )
        )

    def product(self, name: str, block: Block, streams: list[Stream]) -> None:
        left, right = map(rows_of, streams)
        window = ("tuples", block["window"]["tuples"])
        self.streams[name] = stream_of(
            join_oracle.join(
                left, right, ("t", "t"), (window, window), lambda a, b: bool(a["t"] < b["t"])
            )
        )

    def bsort(self, name: str, block: Block, streams: list[Stream]) -> None:
        rows = rows_of(streams[0])
        if "tuples" in block:
            found, late = sort_oracle.bsort_tuples(rows, "t", block["tuples"])
        else:
            found, late = sort_oracle.bsort_slack(rows, "t", block.get("slack", 0))
        self.streams[name] = stream_of(found)
        self.streams[f"{name}.late"] = stream_of(late)
        self.ends[name] = found[-1]["t"] if found else None

    def wsort(self, name: str, block: Block, streams: list[Stream]) -> None:
        end = self.ends[name]
        by = block["by"] if isinstance(block["by"], list) else [block["by"]]
        left, lost, rest = sort_oracle.wsort(rows_of(streams[0]), by, block["timeout"], end)
        self.streams[name] = stream_of(left + [{**row, "t": end} for row in rest])
        self.streams[f"{name}.late"] = stream_of(lost)

    def waitfor(self, name: str, block: Block, streams: list[Stream]) -> None:
        left, right = map(rows_of, streams)
        go = sort_oracle.waitfor(
            left, right, lambda a, b: a["t"] % 3 == b["t"] % 3, block["timeout"]
        )
        self.streams[name], self.streams[f"{name}.timeout"] = map(stream_of, go)

    def resample(self, name: str, block: Block, streams: list[Stream]) -> None:
        left, right = map(rows_of, streams)
        fields = {field: read_call(text) for field, text in block["fields"].items()}
        found = sort_oracle.resample(left, right, block["window"]["time"], fields)
        self.streams[name] = stream_of(found)


def read_call(text: str) -> tuple[str, str]:
    function, _, rest = text.partition("(")
    return function, rest.removesuffix(")") or "t"


def first_open(rows: list[Row], size: Any, advance: Any, flush: bool, end: Any) -> Any:
    """The start of the first window that is still open: no result will be before it."""
    number = 0 if end is None else max((end - size) // advance + 1, 0)
    if flush and rows:
        number = max(number, rows[-1]["t"] // advance + 1)
    return number * advance


def growing_kind(kind: str, size: Any, advance: Any, window: Block) -> Kind:
    emit, unit, every = window.get("emit", "close"), "time" if kind == "time" else "tuples", None
    if isinstance(emit, dict):
        every, unit, emit = emit["every"], emit.get("by", unit), "every"
    return Kind(
        kind,
        size,
        advance,
        field=window["value"] if kind == "value" else "t",
        timeout=window.get("timeout"),
        emit=emit,
        every=every,
        every_by=unit,
        flush=window.get("flush", False),
    )
