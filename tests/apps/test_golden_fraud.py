"""The applications on the examples of the papers' fraud queries."""

from typing import Any

import pytest

import boxcars as bx
from boxcars.apps import find_app
from boxcars.apps.calls import FIELDS as CALL
from boxcars.apps.cards import FIELDS as PAYMENT
from tests.test_golden import VECTORS

Rows = list[dict[str, Any]]
ZERO = {"str": "", "int": 0, "float": 0.0}

cuts = pytest.mark.parametrize("trains", [1, 4])


def run(name: str, rows: Rows, trains: int, tables: dict[str, Any] | None = None) -> Rows:
    """The results of an application for tuples with only some fields given."""
    app = find_app(name)
    (source,), (output,) = app.build().inputs, app.build().outputs
    fields = CALL if source == "calls" else PAYMENT
    rest = {field: ZERO[type_] for field, type_ in fields.items()}
    data = {source: [rest | row for row in rows]}
    got: Rows = bx.preview(app.build(), data, trains=trains, tables=tables)[output].to_pylist()
    return got


def tuples(vector: dict[str, Any], *names: str) -> Rows:
    return [dict(zip(names, row, strict=True)) for row in vector["input"]["tuples"]]


def values(rows: Rows, *names: str) -> list[list[Any]]:
    return [[row[name] for name in names] for row in rows]


@cuts
def test_consumption_control(trains: int) -> None:
    vector = VECTORS["q-02-consumption-control"]
    got = run("consumption-control", tuples(vector, "caller", "time"), trains)
    expected = vector["expected"]["O_F"]
    names = ("Caller", "Time", "Calls")
    assert values(got, *map(str.lower, names)) == values(expected, *names)


@cuts
def test_overlapping_calls(trains: int) -> None:
    vector = VECTORS["q-03-overlapping-calls"]
    rows = tuples(vector, "caller", "callee", "time", "duration")
    got = values(run("overlapping-calls", rows, trains), "phone", "first_end", "second_start")
    expected = vector["expected"]["O_F"]
    assert got == values(expected, "Phone", "First_Call_End", "Second_Call_Start")


@cuts
def test_blacklist(trains: int) -> None:
    vector = VECTORS["q-04-blacklist"]
    rows = [row | {"time": time} for time, row in enumerate(tuples(vector, "caller", "callee"))]
    tables = {"fraudsters": {"phone": vector["parameters"]["tables"]["DB"]}}
    got = run("blacklist", rows, trains, tables)
    assert [row["phone"] for row in got] == vector["expected"]["O_F"]
    assert {row["Count"] for row in got} == {1}


@cuts
def test_caller_distribution(trains: int) -> None:
    """Windows close for all phones together, so later ones have results too; the first is equal."""
    vector = VECTORS["q-08-phones-per-call-count"]
    rows = tuples(vector, "caller", "time", "price")
    rows = [row | {"price": float(row["price"])} for row in rows]
    first = run("caller-distribution", rows, trains)[:1]
    (expected,) = vector["expected"]["O"]
    assert first == [{name.lower(): value for name, value in expected.items()}]


@cuts
def test_improper_fake(trains: int) -> None:
    """The filter is upstream of the join; the output is the same."""
    vector = VECTORS["q-05-improper-fake"]
    got = run("improper-fake", tuples(vector, "card", "time", "seller"), trains)
    assert all(row["left_seller"] == row["right_seller"] for row in got)
    names = ("left_card", "right_card", "left_seller", "left_payments", "right_payments")
    assert sorted(values(got, *names)) == sorted(vector["expected"]["O_F"])


@cuts
def test_restrict_usage(trains: int) -> None:
    vector = VECTORS["q-06-restrict-usage"]
    rows = tuples(vector, "card", "time", "price")
    rows = [row | {"price": float(row["price"])} for row in rows]
    limits = vector["parameters"]["tables"]["DB"]
    stored = {"card": list(limits), "limit": [float(limit) for limit in limits.values()]}
    got = run("restrict-usage", rows, trains, {"limits": stored})
    assert [row["left_card"] for row in got] == vector["expected"]["O_F_intended"]
    assert [row["left_expenses"] for row in got] == [110.0]
