"""The oracle for networks with stateful boxes: each box over all its tuples, one at a time.

Windows need to know how far time has come, which is not what a box has seen: a filter before it
takes tuples away, but not time. So each stream has its *end*, the last promise on its arc.
"""

from collections.abc import Callable
from typing import Any

from tests import aggregate_oracle, join_oracle, sort_oracle
from tests.aggregate_oracle import Fields
from tests.custom_oracle import CLASSES
from tests.expression_oracle import evaluate, fields_in, read_call
from tests.growing_oracle import Kind
from tests.growing_oracle import Oracle as Growing
from tests.oracle import SETTINGS, Block, Oracle, Row, Stream

WINDOWS = {"time", "tuples", "value", "runs", "landmark"}
WINDOW_SETTINGS = {"size", "advance", "emit", "slack", "timeout", "obsolete", "flush"}


def rows_of(stream: Stream) -> list[Row]:
    return [row for _, row in stream]


def stream_of(rows: list[Row]) -> Stream:
    return [(None, row) for row in rows]


class NetworkOracle(Oracle):
    settings = SETTINGS | {
        "aggregate": {"window", "fields", "by"},
        "join": {"on", "window", "right"},
        "product": {"on", "window", "right"},
        "bsort": {"slack", "tuples"},
        "wsort": {"by", "timeout"},
        "waitfor": {"on", "timeout"},
        "resample": {"window", "fields"},
        "custom": {"class", "by"},
    }

    def __init__(self, plain: Block, data: dict[str, list[Row]]) -> None:
        super().__init__(plain, data)
        self.ends: dict[str, Any] = {}

    def input(self, name: str, entity: Block) -> Stream:
        assert entity["ts"] == "t", "the oracle calls the order attribute t"
        accepted = super().input(name, entity)
        self.ends[name] = accepted[-1][1]["t"] if accepted else None
        return accepted

    def box(self, name: str, block: Block) -> None:
        ends = [self.ends[arc.split(".")[0]] for arc in self.inputs(block)]
        known = [end for end in ends if end is not None]
        self.ends[name] = max(known, default=None)
        super().box(name, block)

    def map(self, name: str, block: Block, streams: list[Stream]) -> None:
        """Time goes where the map sends it; if that needs other fields, it is out of order."""
        super().map(name, block, streams)
        text, end = block["fields"].get("t", "t"), self.ends[name]
        known = end is not None and fields_in(text) == {"t"}
        self.ends[name] = evaluate(text, {"t": end}) if known else None

    def aggregate(self, name: str, block: Block, streams: list[Stream]) -> None:
        rows, by, window = rows_of(streams[0]), block.get("by", []), block["window"]
        fields = {field: call_of(text) for field, text in block["fields"].items()}
        late: list[Row] = []
        if "slack" in window:
            rows, late = in_order(rows, window["slack"])
            self.ends[name] = rows[-1]["t"] if rows else None
        found, lost = self.windows(name, with_arguments(rows, fields), by, window, fields)
        names = list(rows[0]) if rows else []
        late += [{field: row[field] for field in names} for row in lost]
        self.streams[name], self.streams[f"{name}.late"] = stream_of(found), stream_of(late)

    def windows(
        self, name: str, rows: list[Row], by: list[str], window: Block, fields: Fields
    ) -> tuple[list[Row], list[Row]]:
        end, flush = self.ends[name], window.get("flush", False)
        kind = kind_of(window, WINDOW_SETTINGS)
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
        if window.get("obsolete") == "drop":
            assert not flush, window
            drop = DROPPED[kind]
            return drop(rows, size, advance, timeout, by, fields), []
        if kind == "tuples":
            return aggregate_oracle.tuple_windows(
                rows, size, advance, by, fields, flush, timeout, end
            ), []
        self.ends[name] = first_open(rows, size, advance, flush, end)
        return aggregate_oracle.time_windows(rows, size, advance, by, fields, flush, end=end), []

    def join(self, name: str, block: Block, streams: list[Stream]) -> None:
        left, right = map(rows_of, streams)
        windows = (kept(block["window"]), kept(block.get("right") or block["window"]))
        pairs = join_oracle.join(left, right, ("t", "t"), windows, matches(block["on"]))
        self.streams[name] = stream_of(pairs)

    product = join

    def bsort(self, name: str, block: Block, streams: list[Stream]) -> None:
        slack = block["tuples"] if "tuples" in block else {"time": block.get("slack", 0)}
        found, late = in_order(rows_of(streams[0]), slack)
        self.streams[name], self.streams[f"{name}.late"] = stream_of(found), stream_of(late)
        self.ends[name] = found[-1]["t"] if found else None

    def wsort(self, name: str, block: Block, streams: list[Stream]) -> None:
        end = self.ends[name]
        by = block["by"] if isinstance(block["by"], list) else [block["by"]]
        left, lost, rest = sort_oracle.wsort(rows_of(streams[0]), by, block["timeout"], end)
        self.streams[name] = stream_of(left + [{**row, "t": end} for row in rest])
        self.streams[f"{name}.late"] = stream_of(lost)

    def waitfor(self, name: str, block: Block, streams: list[Stream]) -> None:
        left, right = map(rows_of, streams)
        go = sort_oracle.waitfor(left, right, matches(block["on"]), block["timeout"])
        self.streams[name], self.streams[f"{name}.timeout"] = map(stream_of, go)

    def resample(self, name: str, block: Block, streams: list[Stream]) -> None:
        left, right = map(rows_of, streams)
        fields = {field: call_of(text) for field, text in block["fields"].items()}
        size = kept(block["window"])[1]
        found = sort_oracle.resample(left, with_arguments(right, fields), size, fields)
        self.streams[name] = stream_of(found)

    def custom(self, name: str, block: Block, streams: list[Stream]) -> None:
        run = CLASSES[block["class"]]
        (rows,) = map(rows_of, streams)
        self.streams[name] = stream_of(run(rows, block.get("by", []), self.ends[name]))


DROPPED: dict[str, Callable[..., list[Row]]] = {
    "time": aggregate_oracle.dropped_windows,
    "tuples": aggregate_oracle.dropped_tuple_windows,
}


def matches(on: str) -> Callable[[Row, Row], bool | None]:
    def match(left: Row, right: Row) -> Any:
        ours = {f"left.{name}": value for name, value in left.items()}
        return evaluate(on, ours | {f"right.{name}": value for name, value in right.items()})

    return match


def kind_of(window: Block, settings: set[str]) -> str:
    (kind,) = WINDOWS & set(window)
    assert window.keys() <= {kind} | settings, f"the oracle does not know all of {window}"
    return kind


def kept(window: Block) -> tuple[str, Any]:
    """A window with nothing but a size."""
    kind = kind_of(window, set())
    return kind, window[kind]


def in_order(rows: list[Row], slack: Any) -> tuple[list[Row], list[Row]]:
    if isinstance(slack, dict):
        return sort_oracle.bsort_slack(rows, "t", slack["time"])
    return sort_oracle.bsort_tuples(rows, "t", slack)


def call_of(text: str) -> tuple[Any, ...]:
    """A function, the text of its argument, and the constants behind it."""
    function, arguments = read_call(text)
    field, *constants = arguments or ["t"]
    return function, field, *(evaluate(constant, {}) for constant in constants)


def with_arguments(rows: list[Row], fields: Fields) -> list[Row]:
    """The tuples with the arguments of all functions as further fields."""
    texts = {field for _, field, *_ in fields.values()}
    return [row | {text: evaluate(text, row) for text in texts} for row in rows]


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
