"""User-defined operators over single tuples, with a state for each key."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import boxcars as bx
from boxcars.kernels.state import keyed_lsm
from boxcars.kernels.user.operator import INPUT
from tests.boxes.helper import CALLS, network, problems, run

Row = dict[str, Any]
TYPES = {"time": pl.Int64, "caller": pl.String, "price": pl.Float64}


@dataclass(frozen=True)
class Silence(bx.PerKey):
    """Report when a caller has made no call for some time, and how many there were before."""

    keeps = {"calls": "int", "last": "int"}  # noqa: RUF012
    patience: int

    def setup(self, inputs: tuple[bx.Schema, ...]) -> bx.Setup:
        return bx.Setup({"time": "int", "caller": "str", "calls": "int", "end": "bool"})

    def on_tuple(self, state: Row, row: Row) -> list[Row]:
        state["calls"] = (state["calls"] or 0) + 1
        state["last"] = row["time"]
        return []

    def due(self, state: Row) -> int:
        return int(state["last"] + self.patience)

    def on_time(self, state: Row, frontier: bx.Frontier) -> list[Row]:
        calls = state["calls"]
        state.update(calls=None, last=None)
        return [{"calls": calls, "end": frontier.final}]


def silence(rows: list[Row], patience: int, end: int) -> list[Row]:
    """The same by definition, with all calls in memory."""
    found = []
    first: dict[Any, int] = {}
    for number, row in enumerate(rows):
        times = [r["time"] for r in rows if r["caller"] == row["caller"]]
        place = sum(r["caller"] == row["caller"] for r in rows[:number])
        begins = place == 0 or times[place] - times[place - 1] >= patience
        if begins:
            first[row["caller"]] = number
        last = place == len(times) - 1 or times[place + 1] - times[place] >= patience
        if last:
            count = sum(
                r["caller"] == row["caller"] for r in rows[first[row["caller"]] : number + 1]
            )
            due = row["time"] + patience
            over = due > end
            found.append((over, end if over else due, first[row["caller"]], row["caller"], count))
    return [
        {"time": time, "caller": caller, "calls": count, "end": over}
        for over, time, _, caller, count in sorted(found, key=lambda item: item[:3])
    ]


def in_order(rows: list[Any]) -> list[Any]:
    return sorted(rows, key=lambda row: row["time"])


calls_rows: st.SearchStrategy[list[dict[str, Any]]] = st.lists(
    st.fixed_dictionaries(
        {
            "time": st.integers(0, 20),
            "caller": st.none() | st.sampled_from("abc"),
            "price": st.just(1.0),
        }
    ),
    max_size=25,
).map(in_order)


@given(calls_rows, st.integers(1, 6), st.integers(1, 9))
@settings(max_examples=80, deadline=None)
def test_time_passes_between_tuples(rows: list[Row], patience: int, trains: int) -> None:
    net = network(lambda calls: calls.custom(Silence, by="caller", patience=patience).named("s"))
    frame = pl.DataFrame(rows, schema=TYPES)
    end = rows[-1]["time"] if rows else 0
    assert run(net, trains, calls=frame)[0] == silence(rows, patience, end)


class Count(bx.PerKey):
    keeps = {"n": "int", "recent": pl.List(pl.Float64())}  # noqa: RUF012

    def setup(self, inputs: tuple[bx.Schema, ...]) -> bx.Setup:
        return bx.Setup({"time": inputs[0]["time"], "n": "int", "top": "float"})

    def on_tuple(self, state: Row, row: Row) -> Any:
        state["n"] = (state["n"] or 0) + 1
        state["recent"] = [*(state["recent"] or []), row["price"]][-3:]
        yield {"n": state["n"], "top": max(state["recent"])}


def test_without_by_there_is_one_state() -> None:
    rows = [{"time": i, "caller": "abc"[i % 3], "price": float(9 - i)} for i in range(6)]
    net = network(lambda calls: calls.custom(Count).named("c"))
    assert [row["n"] for row in run(net, 4, calls=rows)[0]] == [1, 2, 3, 4, 5, 6]
    assert [row["top"] for row in run(net, 4, calls=rows)[0]] == [9, 9, 9, 8, 7, 6]


@pytest.mark.parametrize(
    ("type_", "values"),
    [
        ("float", [0.0, None, float("nan"), -0.0, float("nan"), None]),
        ("bool", [True, None, False, True, False, None]),
        ("timestamp", [datetime(2026, 1, 1 + i % 3) for i in range(6)]),
        ("bytes", [b"a", b"", None, b"a", None, b""]),
        ("int", [1, 2, None, 1, None, 2]),
    ],
)
def test_keys_of_any_type(type_: str, values: list[Any]) -> None:
    fields = {"time": "int", "k": type_, "price": "float"}
    rows = [{"time": i, "k": value, "price": 1.0} for i, value in enumerate(values)]
    net = network(lambda calls: calls.custom(Count, by="k").named("c"), fields)
    assert sorted(row["n"] for row in run(net, calls=rows)[0]) == [1, 1, 1, 2, 2, 2]
    bx.check_cuts(net, {"calls": rows})


def test_timestamps_and_two_inputs() -> None:
    class Answer(bx.PerKey):
        """Forward a question if there was no answer in five seconds."""

        inputs = 2
        keeps = {"asked": "timestamp"}  # noqa: RUF012

        def on_tuple(self, state: Row, row: Row) -> None:
            state["asked"] = row["t"] if row[INPUT] == 0 else None

        def due(self, state: Row) -> datetime:
            return state["asked"] + timedelta(seconds=5)  # type: ignore[no-any-return]

        def on_time(self, state: Row, frontier: bx.Frontier) -> list[Row]:
            state["asked"] = None
            return [{}]

    start = datetime(2026, 1, 1)
    at = [start + timedelta(seconds=s) for s in range(30)]
    net = bx.Network("n")
    asks = net.input("asks", ts="t", fields={"t": "timestamp", "k": "int"})
    answers = net.input("answers", ts="t", fields={"t": "timestamp", "k": "int"})
    net.output("out", asks.custom(Answer, answers, by="k").named("a"))
    data = {
        "asks": {"t": [at[0], at[1], at[10]], "k": [1, 2, 1]},
        "answers": {"t": [at[4], at[6], at[20]], "k": [1, 2, 1]},
    }
    rows = bx.preview(net, data)["out"].to_pylist()
    assert rows == [{"t": at[6], "k": 2}, {"t": at[15], "k": 1}]
    bx.check_cuts(net, data)


class Wrongs:
    class Base(bx.PerKey):
        keeps = {"n": "int"}  # noqa: RUF012

        def on_tuple(self, state: Row, row: Row) -> Any:
            state["n"] = 1

    class Raises(Base):
        def on_tuple(self, state: Row, row: Row) -> Any:
            yield row
            raise KeyError("who")

    class Misses(Base):
        def setup(self, inputs: tuple[bx.Schema, ...]) -> bx.Setup:
            return bx.Setup({"time": "int", "speed": "float"})

        def on_tuple(self, state: Row, row: Row) -> Any:
            return [{"spede": 1.0}]

    class Extra(Base):
        def on_tuple(self, state: Row, row: Row) -> Any:
            return [{**row, "prize": 1.0}]

    class Type(Base):
        def on_tuple(self, state: Row, row: Row) -> Any:
            return [row, {**row, "price": "much"}]

    class NoRow(Base):
        def on_tuple(self, state: Row, row: Row) -> Any:
            return [5]

    class State(Base):
        def on_tuple(self, state: Row, row: Row) -> Any:
            state["n"] = "many"

    class MoreState(Base):
        def on_tuple(self, state: Row, row: Row) -> Any:
            state["m"] = 1

    class Forever(Base):
        def due(self, state: Row) -> Any:
            return 5


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Raises", ".on_tuple raised KeyError: 'who'"),
        ("Misses", ".on_tuple returned a row without 'speed'."),
        ("Extra", ".on_tuple returned the unknown field 'prize'. Did you mean 'price'?"),
        ("Type", " returned 'much' as 'price', which is not Float64."),
        ("NoRow", ".on_tuple returned 5, expected rows such as {name: value}."),
        ("State", " stored 'many' as 'n', which is not Int64."),
        ("MoreState", ".on_tuple stored 'm', which is not in keeps."),
        ("Forever", ".on_time left a state that is due at 5, but the time is already 5."),
    ],
)
def test_mistakes_of_the_class(name: str, words: str) -> None:
    rows = [{"time": 4 * i, "caller": "a", "price": 1.0} for i in range(3)]
    net = network(lambda calls: calls.custom(getattr(Wrongs, name), by="caller").named("w"))
    with pytest.raises(bx.BoxcarsError) as error:
        run(net, calls=rows)
    assert str(error.value) == f"box 'w' failed: {__name__}:Wrongs.{name}{words}"


def test_mistakes_that_the_check_finds() -> None:
    class Keeps(Wrongs.Base):
        keeps = {"n": "integer"}  # noqa: RUF012

    class By(Wrongs.Base):
        keeps = {"caller": "str"}  # noqa: RUF012

    net = network(lambda calls: calls.custom(Keeps).named("c"), CALLS)
    assert ".keeps gives 'n' the type 'integer'. Did you mean 'int'?" in problems(net)[0]
    net = network(lambda calls: calls.custom(By, by="caller").named("c"), CALLS)
    assert ".keeps has 'caller', which is in by." in problems(net)[0]


def test_a_dropped_key_leaves_no_state() -> None:
    """The state does not grow with dropped keys."""
    box: Any = bx.box_types()["custom"].build(Silence, by="caller", patience=2)
    schema = bx.Schema.of(CALLS, ts="time")
    state = box.start((schema,))
    train = pl.DataFrame({"time": [1], "caller": ["a"], "price": [1.0]})
    step = box.step(state, (train,), (bx.Frontier(2),), (schema,))
    assert step.state["own.entries.0"].height == 1
    step = box.step(step.state, (train.clear(),), (bx.Frontier(3),), (schema,))
    assert step.trains["0"]["time"].to_list() == [3]
    assert step.state["own.entries.0"].height == 0


@pytest.mark.parametrize("name", ["Says", "SaysAll"])
def test_the_end_is_notified_once(name: str) -> None:
    """A step may be called again after the input has ended."""

    class Says(Wrongs.Base):
        def on_time(self, state: Row, frontier: bx.Frontier) -> list[Row]:
            return [{"caller": "a", "price": 1.0}]

    class SaysAll(bx.Operator):
        def on_train(self, state: bx.State, train: pl.DataFrame) -> tuple[None, bx.State]:
            return None, state

        def on_frontier(
            self, state: bx.State, frontier: bx.Frontier
        ) -> tuple[pl.DataFrame, bx.State]:
            return pl.DataFrame({"time": [1], "caller": ["a"], "price": [1.0]}), state

    box: Any = bx.box_types()["custom"].build(Says if name == "Says" else SaysAll)
    schema = bx.Schema.of(CALLS, ts="time")
    train = pl.DataFrame({"time": [1], "caller": ["a"], "price": [1.0]})
    last = bx.Frontier(1, final=True)
    first = box.step(box.start((schema,)), (train,), (last,), (schema,))
    again = box.step(first.state, (train.clear(),), (last,), (schema,))
    assert (first.trains["0"].height, again.trains["0"].height) == (1, 0)


def test_the_end_visits_no_key_without_on_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Silent(bx.PerKey):
        keeps: ClassVar[dict[str, str]] = {"n": "int"}

        def on_tuple(self, state: dict[str, Any], row: dict[str, Any]) -> None:
            state["n"] = (state["n"] or 0) + 1

    class Heard(Silent):
        def on_time(self, state: dict[str, Any], frontier: bx.Frontier) -> list[dict[str, Any]]:
            return [{"price": float(state["n"])}]

    looked: list[int] = []
    take = keyed_lsm.take

    def note(state: bx.State, frames: Any, busy: Any) -> Any:
        looked.append(len(busy))
        return take(state, frames, busy)

    monkeypatch.setattr(keyed_lsm, "take", note)
    data = {"time": list(range(50)), "caller": [f"c{n}" for n in range(50)], "price": [1.0] * 50}
    for class_, rows in ((Silent, 0), (Heard, 50)):
        looked.clear()
        net = bx.Network("n")
        calls = net.input("calls", ts="time", fields=CALLS)
        net.output("o", calls.custom(class_, by="caller"))
        found = bx.preview(net, {"calls": data}, trains=5)
        assert found["o"].num_rows == rows
        assert (max(looked) == 50) is bool(rows), looked
