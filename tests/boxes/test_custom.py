"""User-defined stateful operators over trains."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import boxcars as bx
from boxcars.kernels.contract import State
from boxcars.kernels.user.operator import INPUT, Output
from tests.boxes.helper import CALLS, network, problems, run, schema
from tests.test_golden import VECTORS

ROWS = [
    {"time": 1, "caller": "a", "price": 1.0},
    {"time": 1, "caller": "b", "price": 2.0},
    {"time": 4, "caller": "a", "price": 4.0},
    {"time": 9, "caller": None, "price": 8.0},
    {"time": 9, "caller": "a", "price": 16.0},
]


def in_order(rows: list[Any]) -> list[Any]:
    return sorted(rows, key=lambda row: row["time"])


calls_rows: st.SearchStrategy[list[dict[str, Any]]] = st.lists(
    st.fixed_dictionaries(
        {
            "time": st.integers(0, 20),
            "caller": st.none() | st.sampled_from("abc"),
            "price": st.integers(0, 9).map(float),
        }
    ),
    max_size=25,
).map(in_order)


@dataclass(frozen=True)
class Deduplicate(bx.Operator):
    """Pass a call if there was none of that caller in the time before."""

    time: int

    def setup(self, inputs: tuple[bx.Schema, ...]) -> bx.Setup:
        seen = inputs[0].empty().select("caller", "time")
        return bx.Setup(state={"last": seen})

    def on_train(self, state: State, train: pl.DataFrame) -> tuple[Output, State]:
        both = pl.concat([state["last"], train.select("caller", "time")])
        before = both.select(pl.col("time").shift(1).over("caller"))["time"][-train.height :]
        last = both.unique("caller", keep="last", maintain_order=True)
        gap = train["time"] - before
        return train.filter((gap > self.time).fill_null(value=True)), {"last": last}


class Snapshot(bx.Operator):
    """The number of calls so far, every ten units of time and at the end."""

    def setup(self, inputs: tuple[bx.Schema, ...]) -> bx.Setup:
        fields = {"time": inputs[0]["time"], "calls": "int", "end": "bool"}
        return bx.Setup(fields, {"calls": pl.DataFrame({"n": [0]})}, every=10)

    def on_train(self, state: State, train: pl.DataFrame) -> tuple[Output, State]:
        return None, {"calls": state["calls"] + train.height}

    def on_frontier(self, state: State, frontier: bx.Frontier) -> tuple[Output, State]:
        if frontier.value is None:
            return None, state
        row = {"time": [frontier.value], "calls": state["calls"]["n"], "end": [frontier.final]}
        types = {"time": pl.Datetime("us")} if isinstance(frontier.value, datetime) else None
        return pl.DataFrame(row, schema_overrides=types), state


class Route(bx.Operator):
    """Two inputs, two outputs: which tuple came from where, in order of arrival."""

    inputs = 2
    outputs = ("first", "second")

    def setup(self, inputs: tuple[bx.Schema, ...]) -> bx.Setup:
        fields = {"time": "int", "n": "int"}
        state = {"count": pl.DataFrame({"n": [0]})}
        return bx.Setup({"first": fields, "second": {**fields, "x": "int"}}, state)

    def on_train(self, state: State, train: pl.DataFrame) -> tuple[Output, State]:
        first = state["count"].item()
        count = pl.int_range(first, first + train.height, eager=True, dtype=pl.Int64)
        numbered = train.with_columns(n=count)
        parts = {name: numbered.filter(pl.col(INPUT) == i) for i, name in enumerate(self.outputs)}
        return parts, {"count": state["count"] + train.height}


def test_the_state_is_carried_across_trains() -> None:
    net = network(lambda calls: calls.custom(Deduplicate, by="caller", time=4).named("d"))
    assert run(net, calls=ROWS)[0] == [ROWS[0], ROWS[1], ROWS[3], ROWS[4]]
    assert schema(net) == "time*: int, caller: str, price: float"
    bx.check_cuts(net, {"calls": ROWS})


@pytest.mark.parametrize("language", ["yaml", "json", "xml", "python"])
def test_every_language_has_it(language: str, tmp_path: Any) -> None:
    net = network(lambda calls: calls.custom(Deduplicate, by="caller", time=4).named("d"))
    path = tmp_path / f"n.{'py' if language == 'python' else language}"
    bx.save(net, path)
    assert bx.load(path, code=True) == net
    assert bx.dumps(bx.load(path, code=True)) == bx.dumps(net)


def test_in_a_file() -> None:
    text = f"""
name: n
inputs:
  calls: {{ts: time, fields: {{time: int, caller: str, price: float}}}}
boxes:
  d:
    type: custom
    in: calls
    class: {__name__}:Deduplicate
    with: {{time: 4}}
    by: [caller]
outputs: {{out0: {{from: d}}}}
"""
    drawn = network(lambda calls: calls.custom(Deduplicate, by="caller", time=4).named("d"))
    assert bx.loads(text, code=True) == drawn
    xml = bx.dumps(drawn, "xml")
    assert f'name="class" value="{__name__}:Deduplicate"' in xml
    assert 'name="parameter.0" value="4"' in xml
    assert 'name="parameter-name.0" value="time"' in xml


def test_a_parameter_of_a_superbox() -> None:
    net = bx.Network("n")
    body = bx.Network("once")
    feed = body.input("calls", ts="time", fields=CALLS)
    body.output("out", feed.custom(Deduplicate, time="$gap").named("d"))
    net.superbox(body, gap=None)
    calls = net.input("calls", ts="time", fields=CALLS)
    net.output("out", calls.use("once", gap=4).named("u"))
    assert [row["time"] for row in run(net, calls=ROWS)[0]] == [1, 1, 9, 9]
    assert (
        "with.time: no enclosing superbox has"
        in problems(network(lambda calls: calls.custom(Deduplicate, time="$gap").named("d")))[0]
    )


@given(calls_rows, st.integers(0, 5), st.integers(1, 9))
@settings(max_examples=60, deadline=None)
def test_results_do_not_depend_on_the_split(
    rows: list[dict[str, Any]], gap: int, trains: int
) -> None:
    net = network(lambda calls: calls.custom(Deduplicate, by="caller", time=gap).named("d"))
    frame = pl.DataFrame(rows, schema={"time": pl.Int64, "caller": pl.String, "price": pl.Float64})
    last: dict[str, int] = {}
    expected = []
    for row in rows:
        if row["time"] - last.get(row["caller"], -99) > gap:
            expected.append(row)
        last[row["caller"]] = row["time"]
    assert run(net, trains, calls=frame)[0] == expected


@given(calls_rows, st.integers(1, 9))
@settings(max_examples=60, deadline=None)
def test_time_passes_at_its_own_moments(rows: list[dict[str, Any]], trains: int) -> None:
    net = network(lambda calls: calls.filter("price > 2").custom(Snapshot).named("s"))
    frame = pl.DataFrame(rows, schema={"time": pl.Int64, "caller": pl.String, "price": pl.Float64})
    expected = []
    kept = [row["time"] for row in rows if row["price"] > 2]
    end = rows[-1]["time"] if rows else None
    if kept and end is not None:
        for moment in range((kept[0] // 10 + 1) * 10, end + 1, 10):
            n = sum(time < moment for time in kept)
            expected.append({"time": moment, "calls": n, "end": False})
    if end is not None:
        expected.append({"time": end, "calls": len(kept), "end": True})
    assert run(net, trains, calls=frame)[0] == expected


@pytest.mark.parametrize(
    ("type_", "times", "moments"),
    [
        ("float", [9.5, 10.0, 20.5], [10.0, 20.0, 20.5]),
        ("int", [-15, -9], [-10, -9]),
        (
            "timestamp",
            [datetime(2026, 1, 1, 0, 0, 9), datetime(2026, 1, 1, 0, 0, 10)],
            [datetime(2026, 1, 1, 0, 0, 10), datetime(2026, 1, 1, 0, 0, 10)],
        ),
    ],
)
def test_ticks_of_every_type(type_: str, times: list[Any], moments: list[Any]) -> None:
    net = network(lambda calls: calls.custom(Snapshot).named("s"), {"time": type_})
    rows = run(net, 2, calls=[{"time": time} for time in times])[0]
    assert [row["time"] for row in rows] == moments


def two_inputs() -> bx.Network:
    net = bx.Network("n")
    a = net.input("a", ts="time", fields={"time": "int"})
    b = net.input("b", ts="time", fields={"time": "int", "x": "int"})
    first, second = a.custom(Route, b).named("r")
    net.output("first", first)
    net.output("second", second)
    return net


@given(st.lists(st.integers(0, 9)), st.lists(st.integers(0, 9)), st.integers(1, 6))
@settings(max_examples=60, deadline=None)
def test_several_inputs_are_merged_in_order(a: list[int], b: list[int], trains: int) -> None:
    data = {"a": pl.DataFrame({"time": sorted(a)}, schema={"time": pl.Int64})}
    rows = [{"time": time, "x": i} for i, time in enumerate(sorted(b))]
    data["b"] = pl.DataFrame(rows, schema={"time": pl.Int64, "x": pl.Int64})
    first, second = run(two_inputs(), trains, **data)
    order = sorted([(t, 0, None) for t in a] + [(t, 1, i) for i, t in enumerate(sorted(b))])
    numbered = [(n, *row) for n, row in enumerate(order)]
    assert first == [{"time": t, "n": n} for n, t, port, _ in numbered if port == 0]
    assert second == [{"time": t, "n": n, "x": x} for n, t, port, x in numbered if port == 1]


def test_several_outputs_in_every_language(tmp_path: Any) -> None:
    net = two_inputs()
    for suffix in ("yaml", "json", "xml", "py"):
        bx.save(net, tmp_path / f"n.{suffix}")
        assert bx.load(tmp_path / f"n.{suffix}", code=True) == net
    assert ".custom('" in (tmp_path / "n.py").read_text(encoding="utf-8")


def test_positions_do_not_depend_on_the_split() -> None:
    """With a drop after it, each output tuple is numbered."""
    rows = [{"time": i // 3, "caller": "abc"[i % 3], "price": 1.0} for i in range(60)]
    net = network(lambda calls: calls.custom(Deduplicate, time=-1).named("d").drop(rate=0.5))
    kept = run(net, calls=rows)[0]
    assert 10 < len(kept) < 50
    bx.check_cuts(net, {"calls": rows})


def test_state_may_be_arrow() -> None:
    class Count(bx.Operator):
        def setup(self, inputs: tuple[bx.Schema, ...]) -> bx.Setup:
            state: Any = {"n": pa.table({"n": [0]})}
            return bx.Setup({"time": "int", "n": "int"}, state)

        def on_train(self, state: State, train: pl.DataFrame) -> tuple[Output, State]:
            n = state["n"].item() + train.height
            more: Any = {"n": pa.table({"n": [n]})}
            return train.select("time", n=pl.lit(n, pl.Int64)).tail(1), more

    net = network(lambda calls: calls.custom(Count).named("c"))
    assert run(net, calls=ROWS)[0] == [{"time": 9, "n": 5}]


class Wrongs:
    """Invalid operators, each in its own way."""

    class Base(bx.Operator):
        def on_train(self, state: State, train: pl.DataFrame) -> tuple[Output, State]:
            return train, state

    class Raises(Base):
        def on_train(self, state: State, train: pl.DataFrame) -> tuple[Output, State]:
            raise ZeroDivisionError("nothing to divide\nat all")

    class Alone(Base):
        def on_train(self, state: State, train: pl.DataFrame) -> Any:
            return train

    class Columns(Base):
        def on_train(self, state: State, train: pl.DataFrame) -> tuple[Output, State]:
            return train.select("time"), state

    class Types(Base):
        def on_train(self, state: State, train: pl.DataFrame) -> tuple[Output, State]:
            return train.with_columns(price=1), state

    class NoFrame(Base):
        def on_train(self, state: State, train: pl.DataFrame) -> Any:
            return 5, state

    class Port(Base):
        def on_train(self, state: State, train: pl.DataFrame) -> tuple[Output, State]:
            return {"side": train}, state

    class ListState(Base):
        def on_train(self, state: State, train: pl.DataFrame) -> Any:
            return train, [1]

    class NumberState(Base):
        def setup(self, inputs: tuple[bx.Schema, ...]) -> bx.Setup:
            return bx.Setup(state={"n": pl.DataFrame({"n": [0]})})

        def on_train(self, state: State, train: pl.DataFrame) -> Any:
            return train, {"n": 5}

    class NewState(Base):
        def on_train(self, state: State, train: pl.DataFrame) -> tuple[Output, State]:
            return train, {"new": train}

    class OtherState(NumberState):
        def on_train(self, state: State, train: pl.DataFrame) -> tuple[Output, State]:
            return train, {"n": pl.DataFrame({"n": [0.5]})}

    class ObjectState(NumberState):
        def on_train(self, state: State, train: pl.DataFrame) -> tuple[Output, State]:
            return train, {"n": pl.DataFrame({"n": pl.Series([object()], dtype=pl.Object)})}

    class Backwards(Base):
        def on_train(self, state: State, train: pl.DataFrame) -> tuple[Output, State]:
            return train.reverse(), state

    class Past(Base):
        def on_frontier(self, state: State, frontier: bx.Frontier) -> tuple[Output, State]:
            row = {"time": [2], "caller": ["x"], "price": [1.0]}
            return pl.DataFrame(row), state


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Raises", ".on_train raised ZeroDivisionError: nothing to divide"),
        ("Alone", ".on_train returned DataFrame, expected (output, state)."),
        ("Columns", " returned {'time': Int64}, but its fields are {'time': Int64, 'caller"),
        (
            "Types",
            " returned {'time': Int64, 'caller': String, 'price': Int32}, but its fields are",
        ),
        ("NoFrame", " returned int, but its fields are"),
        ("Port", " has no output 'side'."),
        (
            "ListState",
            ".on_train returned list as state, expected Polars frames or Arrow tables by",
        ),
        ("NumberState", ".on_train returned int as state 'n', expected a Polars frame or an Arrow"),
        ("NewState", ".on_train returned the states new; setup has none."),
        ("OtherState", ".on_train returned state 'n' with {'n': Float64}; setup has {'n': Int64}."),
        ("ObjectState", ".on_train returned Python objects in state 'n', which can't be stored."),
        ("Backwards", " returned tuples out of order: 'time' must never be less than before"),
        ("Past", " returned tuples out of order"),
    ],
)
def test_mistakes_of_the_class(name: str, words: str) -> None:
    net = network(lambda calls: calls.custom(getattr(Wrongs, name)).named("w"))
    with pytest.raises(bx.BoxcarsError) as error:
        run(net, 2, calls=ROWS)
    assert str(error.value).startswith(f"box 'w' failed: {__name__}:Wrongs.{name}{words}")
    assert "\n" not in str(error.value)


def test_output_order_is_checked_across_trains() -> None:
    class Late(Wrongs.Base):
        def on_train(self, state: State, train: pl.DataFrame) -> tuple[Output, State]:
            return train.tail(1).with_columns(pl.col("time") - 3), state

    net = network(lambda calls: calls.custom(Late).named("w"))
    assert run(net, calls=ROWS)[0][0]["time"] == 6
    with pytest.raises(bx.BoxcarsError, match="nor less than the current time"):
        run(net, 3, calls=ROWS)


@dataclass
class Checked(bx.Operator):
    """Rejects its parameters in setup."""

    number: int
    where: str = "here"
    more: Mapping[str, Any] | None = None

    def setup(self, inputs: tuple[bx.Schema, ...]) -> bx.Setup:
        if self.number < 1:
            raise ValueError(f"expected at least one copy, got {self.number}")
        fields: dict[str, Any] = {
            "type": {"time": "int", "x": "integer"},
            "order": {"x": "int"},
            "hidden": {"time": "int", "__x": "int"},
        }
        states: dict[str, Any] = {"state": 5, "frame": {"n": 5}}
        if self.where == "setup":
            return 5  # type: ignore[return-value]
        every = -1 if self.where == "every" else None
        return bx.Setup(fields.get(self.where), states.get(self.where, {}), every)

    def on_train(self, state: State, train: pl.DataFrame) -> tuple[Output, State]:
        return train, state


NAME = f"{__name__}:Checked"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "with: Checked needs 'number'."),
        ({"number": ""}, "with: Checked needs 'number'."),
        ({"number": "x"}, "with.number: expected a whole number, got 'x'."),
        ({"numer": 1}, "with.numer: Checked has no 'numer'. Did you mean 'number'?"),
        ({"number": 0}, f"class: {NAME}.setup raised ValueError: expected at least one copy, got"),
        ({"where": "setup"}, f"class: {NAME}.setup returned int, expected a bx.Setup."),
        ({"where": "every"}, f"class: {NAME}.setup returned every=-1, expected a number above 0."),
        ({"where": "state"}, f"class: {NAME}.setup returned int as state, expected Polars frames"),
        ({"where": "frame"}, f"class: {NAME}.setup returned int as state 'n', expected a Polars"),
        (
            {"where": "type"},
            f"class: {NAME}.setup returned 'x' with the type 'integer'.",
        ),
        ({"where": "order"}, f"class: {NAME}.setup: the order attribute 'time' must stay in the"),
        ({"where": "hidden"}, f"class: {NAME}.setup: names that start with __ belong to Boxcars."),
    ],
    ids=str,
)
def test_setup_is_part_of_the_check(given: dict[str, Any], words: str) -> None:
    given = {"number": 3} | given if given and "numer" not in given else given
    net = network(lambda calls: calls.custom(Checked, parameters=given).named("c"))
    assert problems(net)[0].startswith(f"box 'c', {words}")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"class": "Checked"}, "class: expected 'package.module:class', got 'Checked'."),
        (
            {"class": "nowhere:X"},
            "class: there is no class 'nowhere:X': No module named 'nowhere'.",
        ),
        ({"class": f"{__name__}:CALLS"}, "class: expected a class that is a bx.Operator or a bx.P"),
        ({"by": ["who"]}, "by[0]: unknown field 'who'."),
        ({"outputs": ["0", "1"]}, f"outputs: {NAME} has the outputs 0; got 0, 1."),
        ({"class": f"{__name__}:Route", "with": {}}, f"in: {__name__}:Route has exactly 2 inputs"),
    ],
    ids=str,
)
def test_mistakes_in_a_file(given: dict[str, Any], words: str) -> None:
    plain = {"class": NAME, "with": {"number": 3}} | given
    box = bx.box_types()["custom"].from_plain(plain)
    net = bx.Network("n")
    calls = net.input("calls", ts="time", fields=CALLS)
    net.output("out", net.box("c", box, calls))
    assert problems(net)[0].startswith(f"box 'c', {words}")


def test_incompatible_inputs() -> None:
    class Anything(Wrongs.Base):
        inputs: ClassVar[int | None] = None

    net = bx.Network("n")
    a = net.input("a", ts="time", fields={"time": "int", "x": "int"})
    b = net.input("b", ts="at", fields={"at": "int", "x": "str"})
    net.output("out", a.custom(Anything, b).named("c"))
    said = problems(net)
    assert said[0] == "box 'c', in[1]: it needs one order attribute, got 'time' and 'at'."
    assert said[1] == "box 'c', in[1]: 'x' is a str in this input and an int in another."


def test_only_operators_are_drawn() -> None:
    calls = bx.Network("n").input("calls", ts="time", fields=CALLS)
    with pytest.raises(
        bx.BoxcarsError, match="expected a class that is a bx.Operator or a bx.PerK"
    ):
        calls.custom(dict)  # type: ignore[arg-type]


class Abstract(bx.Operator):
    pass


def test_a_class_without_on_train() -> None:
    net = network(lambda calls: calls.custom(Abstract).named("c"))
    assert "Abstract raised TypeError: Can't instantiate abstract class" in problems(net)[0]


def test_attributes_of_the_operator_do_not_survive() -> None:
    class Careless(Wrongs.Base):
        def __init__(self) -> None:
            self.seen = 0

        def on_train(self, state: State, train: pl.DataFrame) -> tuple[Output, State]:
            self.seen += train.height
            return train.with_columns(price=pl.lit(float(self.seen))), state

    net = network(lambda calls: calls.custom(Careless).named("c"))
    with pytest.raises(bx.BoxcarsError, match="output 'out0' depends on the split"):
        bx.check_cuts(net, {"calls": ROWS})


@dataclass(frozen=True)
class Duplicate(bx.Operator):
    """The thesis' example of a user-defined operator (A.2, Listings 15-17)."""

    number: int

    def on_train(self, state: State, train: pl.DataFrame) -> tuple[Output, State]:
        return train.select(pl.all().repeat_by(self.number).explode()), state


XML = """<borealis>
<schema name="s"><field name="t" type="int"/><field name="x" type="string"/></schema>
<input stream="in" schema="s" ts="t"/>
<box name="d" type="custom">{inputs}{outputs}
<parameter name="class" value="tests.boxes.test_custom:Duplicate"/>{parameters}</box>
<output stream="out"/></borealis>"""
NUMBER = (
    '<parameter name="parameter.0" value="{}"/><parameter name="parameter-name.0" value="number"/>'
)
IN, OUT = '<in stream="in"/>', '<out stream="out"/>'


def test_the_entry_points_of_borealis() -> None:
    """fmt-12 and op-06: setup_impl's checks are ours, run_impl's dequeue and enqueue too."""
    calls, vector = (
        VECTORS["fmt-12-borealis-udf"]["expected"]["calls"],
        VECTORS["op-06-duplicate-udf"],
    )
    two = '<out stream="out"/><out stream="more"/>'
    wrong = {
        "get_num_inputs": XML.format(inputs=IN + IN, outputs=OUT, parameters=NUMBER.format(3)),
        "get_num_outputs": XML.format(inputs=IN, outputs=two, parameters=NUMBER.format(3)),
        "param(name, PARAM_NON_EMPTY)": XML.format(inputs=IN, outputs=OUT, parameters=""),
    }
    words = ["exactly 1 input, got 2", "exactly 1 output, got 2", "Duplicate needs 'number'"]
    for call, word in zip(wrong, words, strict=True):
        assert call in calls
        assert any(word in str(p) for p in bx.check_text(wrong[call], "xml", True).problems), call
    assert len(vector["expected"]["setup_errors"]) == len(wrong)
    empty = XML.format(inputs=IN, outputs=OUT, parameters=NUMBER.format(""))
    assert "parameter 'parameter.0' is empty" in str(bx.check_text(empty, "xml", True).problems[0])
    right = XML.format(
        inputs=IN, outputs=OUT, parameters=NUMBER.format(vector["parameters"]["duplicate-number"])
    )
    tuples = vector["input"]["tuples"]
    data = {"in": {"t": list(range(len(tuples))), "x": tuples}}
    result = bx.preview(bx.loads(right, "xml", code=True), data, trains=2)
    assert result["out"]["x"].to_pylist() == vector["expected"]["out"]
