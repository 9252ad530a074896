"""Join: the papers' examples, the oracle, and the order of pairs."""

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import boxcars as bx
from boxcars.boxes.join import Join, Matching
from boxcars.boxes.product import Product
from boxcars.kernels.contract import Frontier
from boxcars.kernels.join import match
from boxcars.model.schema import Schema
from tests.join_oracle import Kept, Row, join

GOLDEN = Path(__file__).parents[1] / "golden/join_cp.json"
VECTORS = {v["id"]: v for v in json.loads(GOLDEN.read_text(encoding="utf-8"))["vectors"]}

EPOCH = datetime(2024, 1, 1)
FIELDS = {"k": "int", "f": "float", "s": "str", "b": "bool", "y": "bytes", "m": "timestamp"}
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "k": st.integers(-1, 2) | st.sampled_from([2**53, 2**53 + 1, -(2**63), 2**63 - 1]),
    "f": st.sampled_from([0.0, -0.0, 1.0, 1.5, 2.0**53, float("inf")]),
    "s": st.sampled_from(["", "a", "b", "a name of more than twelve bytes", "ä"]),
    "b": st.booleans(),
    "y": st.sampled_from([b"", b"a", b"\x00"]),
    "m": st.sampled_from([EPOCH, EPOCH + timedelta(microseconds=1)]),
}
ORDERS: dict[str, st.SearchStrategy[Any]] = {
    "small": st.integers(-3, 12) | st.sampled_from([-(2**53), 2**53]),
    "int": st.integers(-3, 12)
    | st.integers(0, 6)
    | st.sampled_from([-(2**62), 1 - 2**62, 2**62 - 1, 2**62]),
    "float": st.integers(-6, 24).map(lambda n: n / 2)
    | st.integers(0, 6).map(float)
    | st.sampled_from([-(2.0**53), 2.0**53, 0.1 + 0.2, 0.3]),
    "timestamp": st.integers(-6, 24).map(lambda n: EPOCH + timedelta(seconds=n / 2))
    | st.integers(0, 6).map(lambda n: EPOCH + timedelta(seconds=n))
    | st.sampled_from([datetime(1, 1, 1), EPOCH + timedelta(microseconds=1), datetime.max]),
}


def same(left: str, right: str) -> Callable[[Row, Row], bool]:
    """Equality in SQL: null equals nothing; an int compared with a float becomes a float."""

    def holds(one: Row, other: Row) -> bool:
        a, b = one[left], other[right]
        if a is None or b is None:
            return False
        return bool(float(a) == float(b)) if {left, right} == {"k", "f"} else bool(a == b)

    return holds


def not_less(one: Row, other: Row) -> bool:
    return one["k"] is not None and other["k"] is not None and one["k"] <= other["k"]


def truthy(one: Row, other: Row) -> bool:
    return one["b"] is True or other["b"] is True


EQUALITIES = {
    f"left.{a} = right.{b}": same(a, b)
    for a, b in [*((name, name) for name in FIELDS), ("k", "f"), ("f", "k")]
} | {"right.s = left.s": same("s", "s"), '(right."k" = left.k)': same("k", "k")}
OTHERS: dict[str, Callable[[Row, Row], bool]] = {
    "left.k <= right.k": not_less,
    "(left.b or right.b)": truthy,
    "true": lambda *_: True,
    "left.s = left.s": lambda one, _: same("s", "s")(one, one),
    "left.k is not null": lambda one, _: one["k"] is not None,
}


@st.composite
def pools(draw: Any) -> list[Row]:
    """Fields of tuples: few values, so that many are equal."""
    nulls = draw(st.sampled_from([False, False, True]))
    columns = {name: st.none() | values if nulls else values for name, values in VALUES.items()}
    return draw(st.lists(st.fixed_dictionaries(columns), min_size=1, max_size=5))  # type: ignore[no-any-return]


@st.composite
def streams(draw: Any, order: str, ts: str, pool: list[Row]) -> list[Row]:
    least = draw(st.sampled_from([8, 8, 0]))
    tuples = st.tuples(ORDERS[order], st.sampled_from(pool))
    rows = draw(st.lists(tuples, min_size=least, max_size=16))
    return [{ts: now, **fields} for now, fields in sorted(rows, key=lambda row: row[0])]


@st.composite
def windows(draw: Any, order: str) -> Kept:
    if draw(st.booleans()):
        return "tuples", draw(st.integers(1, 5) | st.just(2**70))
    sizes = st.integers(1, 9) | st.sampled_from([2**63, 2**64, 10**6])
    if order == "timestamp":
        sizes = st.integers(1, 9) | st.sampled_from([10**6, 10**11])
    if order != "int":
        sizes |= st.sampled_from([0.5, 0.1, 2.5, 1e-6, 0.30000000000000004])
    return "time", draw(sizes)


@st.composite
def predicates(draw: Any, keyed: bool) -> tuple[str, Callable[[Row, Row], bool]]:
    terms = draw(st.lists(st.sampled_from(list(EQUALITIES)), min_size=1, max_size=2)) * keyed
    terms += draw(st.lists(st.sampled_from(list(OTHERS)), min_size=not keyed, max_size=2))
    terms = draw(st.permutations(terms))
    known = EQUALITIES | OTHERS
    return " and ".join(terms), lambda one, two: all(known[term](one, two) for term in terms)


class Case:
    """A box, its input and the result of the oracle."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any], keyed: bool = True) -> None:
        order = draw(st.sampled_from(["int", "float", "timestamp"]))
        mixed = order == "float" and draw(st.booleans())
        pool = draw(pools())
        self.left = draw(streams(order, "t", pool))
        self.right = draw(streams("small" if mixed else order, "u", pool))
        self.fields = ({"t": order, **FIELDS}, {"u": "int" if mixed else order, **FIELDS})
        kept = [draw(windows(order))]
        if not mixed and draw(st.booleans()):
            kept.append(draw(windows(order)))
        made = [getattr(bx, by)(size) for by, size in kept]
        self.window, self.other = made[0], made[1] if len(made) == 2 else None
        self.on, holds = draw(predicates(keyed))
        self.type = "join" if keyed else "product"
        self.expected = join(self.left, self.right, ("t", "u"), (kept[0], kept[-1]), holds)

    def preview(self, trains: int) -> list[Row]:
        net = bx.Network("n")
        left = net.input("left", ts="t", fields=self.fields[0])
        right = net.input("right", ts="u", fields=self.fields[1])
        drawn = left.draw(self.type, right, on=self.on, window=self.window, right=self.other)
        net.output("out", drawn)
        frames = {"left": self.frame(0), "right": self.frame(1)}
        return bx.preview(net, frames, trains=trains)["out"].to_pylist()  # type: ignore[no-any-return]

    @property
    def schemas(self) -> tuple[Schema, Schema]:
        return Schema.of(self.fields[0], "t"), Schema.of(self.fields[1], "u")

    def frame(self, port: int) -> pl.DataFrame:
        rows = (self.left, self.right)[port]
        return pl.DataFrame(rows, schema=self.schemas[port].dtypes, orient="row")

    @property
    def box(self) -> Matching:
        cls = Join if self.type == "join" else Product
        return cls(bx.Expr.of(self.on), self.window, self.other)


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_runner_and_oracle_agree_for_any_split(data: st.DataObject) -> None:
    case = Case(data.draw)
    assert case.preview(data.draw(st.integers(1, 9))) == case.expected


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_steps_and_oracle_agree_for_any_frontiers(data: st.DataObject) -> None:
    """The sides advance independently, with any frontier that their tuples allow.

    Windows are so large, or so small, that their keys have an index or none.
    """
    case = Case(data.draw, keyed=data.draw(st.booleans()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(match, "_INDEX_RATIO", data.draw(st.sampled_from([0, 1, 64])))
        assert list(walk(case, data.draw)) == case.expected


def walk(case: Case, draw: Callable[[st.SearchStrategy[Any]], Any]) -> Any:
    """Pass trains with random cuts to the box; in the end its state must be empty."""
    state = case.box.start(case.schemas)
    frames, done = (case.frame(0), case.frame(1)), [0, 0]
    frontiers = [Frontier(), Frontier()]
    turns = draw(st.integers(1, 6))
    for turn in range(turns):
        trains = []
        for port, frame in enumerate(frames):
            last = turn == turns - 1
            end = frame.height if last else draw(st.integers(done[port], frame.height))
            trains.append(frame[done[port] : end])
            done[port] = end
            if last or (end == frame.height and draw(st.booleans())):
                frontiers[port] = Frontier(frontiers[port].value, final=True)
            elif end < frame.height and draw(st.booleans()):
                frontiers[port] = Frontier(frame[case.schemas[port].ts][end])
        step = case.box.step(state, tuple(trains), tuple(frontiers), case.schemas)
        state = step.state
        yield from step.trains["0"].to_dicts()
    assert all(frame.height == 0 for frame in state.values())


def test_candidates_are_evaluated_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {"t": [0] * 7, "k": [1] * 7}
    results = []
    for portion in (1, 2, 3, 5, 49, 50):
        monkeypatch.setattr(match, "CANDIDATES", portion)
        results.append(keyed_join(rows, rows, bx.time(1)))
    assert len(results[0]) == 49
    assert all(result == results[0] for result in results)


def keyed_join(left: Any, rights: Any, window: Any, **more: Any) -> list[Row]:
    net = bx.Network("n")
    fields = {"t": "int", "k": "int"}
    drawn = net.input("l", ts="t", fields=fields).draw(
        "join",
        net.input("r", ts="t", fields=fields),
        on="left.k = right.k",
        window=window,
        **more,
    )
    net.output("out", drawn)
    return bx.preview(net, {"l": left, "r": rights})["out"].to_pylist()  # type: ignore[no-any-return]


def test_keys_that_share_a_hash_do_not_match(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pl.Expr, "hash", lambda expr: expr.len().cast(pl.UInt64) * 0 + 7)
    net = bx.Network("n")
    one, two = (net.input(name, ts="t", fields={"t": "int", "s": "str"}) for name in ("l", "r"))
    net.output("out", one.join(two, on="left.s = right.s", window=bx.time(5)))
    rows = {"t": [0, 1, 2], "s": ["a", "b", "c"]}
    out = bx.preview(net, {"l": rows, "r": rows})["out"]
    assert out["left_s"].to_pylist() == out["right_s"].to_pylist() == ["a", "b", "c"]


class TestGolden:
    """The examples of the thesis; contradictions are resolved as tests/golden says."""

    @staticmethod
    def run(
        vector: str, on: str, window: Any, fields: dict[str, str], read: Callable[[Any], Row]
    ) -> list[Row]:
        net = bx.Network("n")
        left, right = (net.input(name, ts="ts", fields=fields) for name in ("l", "r"))
        net.output("out", left.join(right, on=on, window=window))
        events = VECTORS[vector]["input"]["events"]
        data = {side: [read(e) for e in events if e[0] == side] for side in ("l", "r")}
        frames = {
            side: pl.DataFrame(rows, schema=Schema.of(fields, "ts").dtypes, orient="row")
            for side, rows in data.items()
        }
        results = [bx.preview(net, frames, trains=n)["out"].to_pylist() for n in (1, 2, 5)]
        assert results[0] == results[1] == results[2]
        return results[0]  # type: ignore[no-any-return]

    def test_at_distance_size_a_tuple_is_purged(self) -> None:
        """C09: the examples of the thesis drop it, its formula would not."""
        vector = VECTORS["join-01-purge-boundary"]
        fields = {"ts": "int", "k": "str"}
        out = self.run(
            vector["id"], "left.k = right.k", bx.time(3), fields, lambda e: {"ts": e[1], "k": e[2]}
        )
        assert out == vector["expected"]["example_reading_drop_at_ge"]

    def test_purge_match_and_insert(self) -> None:
        vector = VECTORS["join-02-symmetric"]
        fields = {"ts": "int", "k": "int", "name": "str"}
        out = self.run(
            vector["id"],
            "left.k = right.k",
            bx.time(3),
            fields,
            lambda e: {"ts": e[1], "k": e[2], "name": e[3]},
        )
        found = [[row["left_name"], row["right_name"], row["ts"]] for row in out]
        assert sorted(found) == sorted(vector["expected"]["output"])
        assert [pair[2] for pair in found] == [1, 2, 2, 4]
        assert found[1] == ["l2b", "r1", 2]  # before r2: at equal order values left comes first
        names = [name.replace("Left_", "left_") for name in vector["expected"]["schema"]]
        names = [name.replace("Right_", "right_") for name in names]
        assert [name for name in out[0] if name in names] == names

    def test_tuple_windows_hold_their_size(self) -> None:
        vector = VECTORS["join-03-tuple-window"]
        order = {"l1": 0, "l2": 1, "l3": 2, "r1": 3}
        fields = {"ts": "int", "k": "str", "name": "str"}
        out = self.run(
            vector["id"],
            "left.k = right.k",
            bx.tuples(2),
            fields,
            lambda e: {"ts": order[e[1]], "k": "k1", "name": e[1]},
        )
        found = [[row["left_name"], row["right_name"]] for row in out]
        assert found == vector["expected"]["output"]

    def test_the_evaluated_join(self) -> None:
        vector = VECTORS["join-04-eval-join"]
        fields = {"ts": "int", "Time": "int", "Caller": "str"}
        out = self.run(
            vector["id"],
            "left.Caller = right.Caller AND left.Time != right.Time",
            bx.time(60),
            fields,
            lambda e: {"ts": e[1], "Time": e[1], "Caller": e[2]},
        )
        found = [[row["left_Time"], row["right_Time"], row["left_Caller"]] for row in out]
        assert found == vector["expected"]["output"]


def test_pairs_are_ordered_by_the_later_then_the_earlier_tuple() -> None:
    left = {"t": [0, 0, 1, 2], "k": [1, 2, 1, 1]}
    right = {"t": [1, 1, 2], "k": [1, 2, 1]}
    out = keyed_join(left, right, bx.time(9))
    #  t       0    0    1    1    1    2    2
    #  left    1    2    1              1
    #  right                  1    2         1
    assert [(r["t"], r["left_t"], r["right_t"], r["left_k"]) for r in out] == [
        (1, 0, 1, 1),
        (1, 1, 1, 1),
        (1, 0, 1, 2),
        (2, 2, 1, 1),
        (2, 0, 2, 1),
        (2, 1, 2, 1),
        (2, 2, 2, 1),
    ]


def test_each_side_can_have_a_window_of_its_own() -> None:
    left, right = {"t": [0, 20], "k": [1, 1]}, {"t": [9, 11], "k": [1, 1]}
    found = {
        name: [(r["left_t"], r["right_t"]) for r in keyed_join(left, right, window, right=other)]
        for name, (window, other) in {
            "long left, short right": (bx.time(12), bx.time(5)),
            "short left, long right": (bx.time(5), bx.time(12)),
            "time left, one right": (bx.time(10), bx.tuples(1)),
        }.items()
    }
    assert found == {
        "long left, short right": [(0, 9), (0, 11)],
        "short left, long right": [(20, 9), (20, 11)],
        "time left, one right": [(0, 9), (20, 11)],
    }


def test_tuples_with_a_null_in_their_key_are_not_even_candidates() -> None:
    text = pl.String()
    condition = match.Condition((("s", "z"), ("s", "z")), (text, text), (), frozenset())
    rows = pl.DataFrame({"s": [None, "a", "a"], "z": ["b", None, "b"]})
    assert condition.with_keys(rows, 0)[match.KEY].is_null().to_list() == [True, True, False]


def test_nan_equals_nan_as_it_does_in_a_filter() -> None:
    net = bx.Network("n")
    one, two = (net.input(name, ts="t", fields={"t": "int", "f": "float"}) for name in ("l", "r"))
    for type_ in ("join", "product"):
        net.output(type_, one.draw(type_, two, on="left.f = right.f", window=bx.time(5)))
    rows = {"t": [0, 1, 2], "f": [float("nan"), 0.0, -0.0]}
    result = bx.preview(net, {"l": rows, "r": rows})
    assert result["join"].num_rows == result["product"].num_rows == 5
    assert result["join"]["left_t"] == result["product"]["left_t"]


@pytest.mark.parametrize("trains", [1, 2, 7])
def test_a_drop_after_a_join_does_not_depend_on_the_split(trains: int) -> None:
    net = bx.Network("n")
    fields = {"t": "int", "k": "int"}
    one, two = (net.input(name, ts="t", fields=fields) for name in ("l", "r"))
    pairs = one.join(two, on="left.k = right.k", window=bx.time(30)).named("pairs")
    net.output("half", pairs.drop(rate=0.5, seed=3))
    net.output("late", pairs.late.drop(rate=0.5, seed=3))
    rows = {"t": list(range(200)), "k": [n % 3 for n in range(200)]}
    result = bx.preview(net, {"l": rows, "r": rows}, trains=trains)
    whole = result.stats["pairs"].total_out
    half = result["half"].to_pylist()
    assert half == bx.preview(net, {"l": rows, "r": rows})["half"].to_pylist()
    assert 0.45 < len(half) / whole < 0.55
    assert len({(row["left_t"], row["right_t"]) for row in half}) == len(half)


def test_two_windows_survive_every_language(tmp_path: Path) -> None:
    net = bx.Network("n")
    fields = {"t": "int", "k": "int"}
    one, two = (net.input(name, ts="t", fields=fields) for name in ("l", "r"))
    drawn = one.join(two, on="left.k = right.k", window=bx.time(9), right=bx.tuples(2))
    net.output("out", drawn.named("j"))
    for suffix in ("yaml", "json", "xml", "py"):
        bx.save(net, tmp_path / f"net.{suffix}")
        assert bx.load(tmp_path / f"net.{suffix}") == net
