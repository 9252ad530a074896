"""Random networks for hypothesis: every box, every kind of entity, odd names, Unicode."""

from collections.abc import Callable
from typing import Any, get_args

from hypothesis import strategies as st

import boxcars as bx
from boxcars.model.entities import Clock
from boxcars.model.stream import Stream

LETTERS = "abcxyzäßλЖ"
names = st.text(LETTERS, min_size=1, max_size=4).flatmap(
    lambda head: st.text(LETTERS + "0123456789_-", max_size=5).map(lambda tail: head + tail)
)
field_names = st.one_of(
    st.sampled_from(["price", "who", "no", "on", "x", "null", "true", "name", "keep"]),
    names,
    st.just("two words"),
    st.just('a "quoted" name'),
)
types = st.sampled_from(["str", "int", "float", "bool", "timestamp", "bytes"])
numbers = st.one_of(st.integers(1, 1000), st.floats(0.5, 1000, width=32))
strings = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8)
EVERY_KIND = ("filter", "map", "union", "drop", "convert", "aggregate", "join", "use", "store")


FUNCTIONS = {
    "_n": "count()",
    "_m": "last(t)",
    "_s": "sum(t % 7 - 1)",
    "_d": "median(t)",
    "_o": "timed_out()",
}
NEW_TYPES = {"_n": "int", "_m": "int", "_s": "int", "_d": "float", "_o": "bool"}
EQUAL = ("left.t = right.t", "left.t = right.t and (left.t % 2 = 1 or right.t > 4)")
ANY_PAIR = ("left.t < right.t", "left.t % 3 = right.t % 3", "not abs(left.t - right.t) in (1, 2)")


def quoted(field: str) -> str:
    return '"' + field.replace('"', '""') + '"'


@st.composite
def schemas(draw: Any) -> dict[str, str]:
    fields = draw(st.dictionaries(field_names, types, max_size=4))
    return {"t": "int", **{name: type_ for name, type_ in fields.items() if name != "t"}}


@st.composite
def values(draw: Any, fields: dict[str, str]) -> str:
    """An expression over the fields, of any type that the box in question may take."""
    field = draw(st.sampled_from(list(fields)))
    text = draw(strings).replace("'", "''")
    choices = [
        quoted(field),
        "t + 1",
        "t * 2.5",
        f"'{text}'",
        f"length('{text}' || 'x') - t // 3",
        "case when t > 3 then 1 else 2 end",
        f"case t % 3 when 0 then {quoted(field)} end",
        "abs(-t)::float / nullif(t, 2)",
    ]
    return str(draw(st.sampled_from(choices)))


@st.composite
def predicates(draw: Any, fields: dict[str, str]) -> str:
    field = draw(st.sampled_from(list(fields)))
    number = draw(st.integers(-5, 5))
    choices = [
        f"t > {number}",
        f"{quoted(field)} is null",
        f"t % 3 = 1 or t < {number}",
        f"{quoted(field)} = {quoted(field)} and t between {number} and 7",
        f"not (t in ({number}, 3) or {quoted(field)} is not null)",
        f"coalesce(nullif(t, {number}) <> 2, {quoted(field)} is distinct from {quoted(field)})",
    ]
    return str(draw(st.sampled_from(choices)))


class _Drawing:
    """A network under way: its streams and their fields."""

    def __init__(self, draw: Any, net: bx.Network, runnable: bool) -> None:
        self.draw = draw
        self.runnable = runnable
        self.net = net
        self.streams: list[tuple[Stream, dict[str, str]]] = []
        self.leaves: list[Stream] = []
        self.taken: set[str] = set()

    def name(self) -> str:
        name = self.draw(names.filter(lambda n: n not in self.taken))
        self.taken.add(name)
        return str(name)

    def pick(self) -> tuple[Stream, dict[str, str]]:
        return self.draw(st.sampled_from(self.streams))  # type: ignore[no-any-return]

    def keep(self, stream: Stream, fields: dict[str, str]) -> None:
        if self.draw(st.integers(0, 4)) == 0:
            stream = stream.in_group(self.draw(names))
        self.streams += [(port, fields) for port in stream]

    def filter(self) -> None:
        stream, fields = self.pick()
        where = self.draw(st.lists(predicates(fields), min_size=1, max_size=3))
        drawn = stream.filter(*where, otherwise=self.draw(st.booleans())).named(self.name())
        self.keep(drawn, fields)

    def map(self) -> None:
        stream, fields = self.pick()
        more = self.draw(st.dictionaries(field_names.filter(lambda n: n != "t"), values(fields)))
        keep = self.draw(st.booleans())
        drawn = stream.map({"t": "t", **more}, keep=keep).named(self.name())
        checked = self.net.check()
        schema = checked.schemas[drawn.arc]
        self.keep(drawn, {n: type_.value for n, type_ in schema.fields.items()})

    def union(self) -> None:
        stream, fields = self.pick()
        others = [other for other, more in self.streams if more == fields]
        chosen = self.draw(st.lists(st.sampled_from(others), min_size=1, max_size=3))
        self.keep(stream.union(*chosen).named(self.name()), fields)

    def drop(self) -> None:
        stream, fields = self.pick()
        rate = self.draw(st.floats(0, 0.99))
        drawn = stream.drop(rate=rate, seed=self.draw(st.integers(0, 2**40))).named(self.name())
        self.keep(drawn, fields)

    def convert(self) -> None:
        stream, fields = self.pick()
        packed = stream.encode(format="jsonl").named(self.name())
        inside = {f"in_{name}": type_ for name, type_ in fields.items()}
        unpacked = packed.decode(format="jsonl", fields=inside).named(self.name())
        self.keep(unpacked, {"t": "int", **inside})
        self.streams.append((unpacked.dead, {"t": "int", "record": "bytes", "reason": "str"}))

    def aggregate(self) -> None:
        stream, fields = self.pick()
        size, advance = self.draw(st.integers(1, 99)), self.draw(st.integers(0, 99))
        window = self.draw(st.sampled_from(self.windows(size, advance)))
        groups = [name for name in fields if name not in ("t", *FUNCTIONS)]
        by = groups[: self.draw(st.integers(0, 3))]
        if window.by == "runs" and not by:
            by, window = groups[:1], window if groups else bx.time(size)
        drawn = stream.aggregate(window, by=by, fields=FUNCTIONS).named(self.name())
        kept = {name: fields[name] for name in by}
        self.keep(drawn, {**kept, "t": "int", **NEW_TYPES})

    def windows(self, size: int, advance: int) -> list[bx.Window]:
        if self.runnable:
            flush = size % 2 == 0
            return [
                bx.time(size % 9 + 1, advance % 9 + 1, flush=flush),
                bx.time(size % 9 + 1, 0),
                bx.time(size % 9 + 1, advance % 5 + 1, timeout=advance % 4, obsolete="drop"),
                bx.time(
                    size % 9 + 1, advance % 5 + 1, emit={"every": advance % 3 + 1}, flush=flush
                ),
                bx.tuples(size % 5 + 1, advance % 7, timeout=advance % 4 + 1, flush=flush),
                bx.tuples(
                    size % 5 + 1, advance % 3 + 1, emit={"every": 2}, timeout=advance % 4 + 1
                ),
                bx.value("t", size % 9 + 1, advance % 5 + 1, flush=flush),
                bx.runs(flush=flush),
                bx.landmark(emit="change"),
                bx.landmark(emit={"every": advance % 3 + 1, "by": "time"}, flush=flush),
            ]
        return [
            bx.time(size, advance),
            bx.tuples(size, slack=3, timeout=2.5),
            bx.tuples(size, timeout=2.5, obsolete="drop"),
            bx.value("t", size, advance or 1, emit="change"),
            bx.landmark(emit={"every": size}, flush=True),
            bx.landmark(emit={"every": size, "by": "time"}, slack={"time": 2}),
            bx.time(size, emit={"every": size, "by": "tuples"}),
        ]

    def product(self) -> None:
        (left, ours), (right, theirs) = self.pick(), self.pick()
        drawn = left.product(right, on=self.draw(st.sampled_from(ANY_PAIR)), **self.reach())
        self.keep_pairs(drawn, ours, theirs)

    def join(self) -> None:
        (left, ours), (right, theirs) = self.pick(), self.pick()
        drawn = left.join(right, on=self.draw(st.sampled_from(EQUAL)), **self.reach())
        self.keep_pairs(drawn, ours, theirs)

    def reach(self) -> dict[str, Any]:
        """One window for both sides, or one for each."""
        window = st.one_of(st.integers(1, 99).map(bx.time), st.integers(1, 3).map(bx.tuples))
        return {"window": self.draw(window), "right": self.draw(st.none() | window)}

    def keep_pairs(self, drawn: Stream, ours: dict[str, str], theirs: dict[str, str]) -> None:
        fields = {"t": "int", **{f"left_{n}": t for n, t in ours.items()}}
        self.keep(
            drawn.named(self.name()), {**fields, **{f"right_{n}": t for n, t in theirs.items()}}
        )

    def bsort(self) -> None:
        """The order attribute is computed anew, so the stream has to be sorted."""
        stream, fields = self.pick()
        disordered = stream.map(t="t % 5", keep=True).named(self.name())
        number = self.draw(st.integers(0, 4))
        if self.draw(st.booleans()):
            drawn = disordered.bsort(tuples=number)
        else:
            drawn = disordered.bsort(slack=number)
        self.keep(drawn.named(self.name()), fields)

    def wsort(self) -> None:
        stream, fields = self.pick()
        by = [name for name in fields if name != "t"][: self.draw(st.integers(1, 2))] or ["t"]
        drawn = stream.wsort(by=by, timeout=self.draw(st.integers(1, 5)))
        self.keep(drawn.named(self.name()), fields)

    def waitfor(self) -> None:
        """Its streams end where they are: they have no boxes behind them."""
        (left, _), (right, _) = self.pick(), self.pick()
        timeout = self.draw(st.integers(1, 5))
        drawn = left.waitfor(right, on=self.draw(st.sampled_from(ANY_PAIR)), timeout=timeout)
        self.leaves += list(drawn.named(self.name()))

    def resample(self) -> None:
        (left, fields), (right, _) = self.pick(), self.pick()
        if not {"_n", "_i"} & set(fields):
            window = bx.time(self.draw(st.integers(1, 5)))
            drawn = left.resample(right, window, _n="count(t)", _i="interpolate(t)")
            self.leaves.append(drawn.named(self.name()))

    def store(self) -> None:
        """Tuples are kept in a table, and others are looked up there."""
        (stream, fields), (other, more) = self.pick(), self.pick()
        table = self.net.table(self.name(), fields={"k": "int", "v": "float"})
        stored = stream.insert(f'INSERT INTO "{table}" VALUES (input.t % 3, input.t)')
        self.keep(stored.named(self.name()), fields)
        sql = f'SELECT * FROM "{table}" WHERE k = input.t'
        found, missing, number = other.select(sql, table=table).named(self.name())
        self.streams += [
            (found, {"t": "int", "k": "int", "v": "float"}),
            (missing, more),
            (number, {"t": "int", "Count": "int"}),
        ]

    def use(self) -> None:
        stream, fields = self.pick()
        superbox = f"super{len(self.net.superboxes)}"
        body = bx.Network(superbox)
        feed = body.input("feed", ts="t", fields={"t": "int"})
        high, low = feed.filter("t > $limit", otherwise=True).named("cut")
        body.output("high", high)
        body.output("low", low.drop(rate="$rate", seed=1).named("less"))  # type: ignore[arg-type]
        self.net.superbox(body, limit=self.draw(st.integers(-5, 5)), rate=None)
        rate = self.draw(st.floats(0, 0.9))
        self.keep(stream.use(superbox, rate=rate).named(self.name()), fields)


@st.composite
def networks(
    draw: Any, boxes: int = 6, only: tuple[str, ...] = (), runnable: bool = False
) -> bx.Network:
    """A network that is right, of boxes of these kinds (all kinds if none are named)."""
    drawing = _Drawing(draw, bx.Network(draw(names)), runnable)
    net = drawing.net
    for _ in range(draw(st.integers(1, 2))):
        fields, name = draw(schemas()), drawing.name()
        slack = draw(st.sampled_from([0, 3, 2.5]))
        clock = draw(st.sampled_from(get_args(Clock)))
        stream = net.input(name, ts="t", fields=fields, slack=slack, clock=clock)
        drawing.streams.append((stream, fields))
    kinds = only or EVERY_KIND
    for kind in draw(st.lists(st.sampled_from(kinds), min_size=int(runnable), max_size=boxes)):
        step: Callable[[], None] = getattr(drawing, kind)
        step()
    ends = [stream for stream, _ in drawing.streams] + drawing.leaves
    if runnable:
        ends = ends[len(net.inputs) :] or ends
    for stream in draw(st.lists(st.sampled_from(ends), min_size=1, max_size=3)):
        qos = draw(
            st.sampled_from([None, {"latency": [[0, 1], [2.5, 0]], "loss": [[0, 0], [1, 1]]}])
        )
        net.output(drawing.name(), stream, qos=qos)
    if not only and draw(st.booleans()):
        net.table(drawing.name(), fields={"k": "str", "v": "int"}, key="k")
        drawing.pick()[0].connection_point(drawing.name(), tuples=draw(st.integers(1, 9)))
    return net
