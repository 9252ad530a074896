from collections.abc import Callable
from functools import partial
from typing import Any

import polars as pl
import pytest

import boxcars as bx
from boxcars.model.problem import BoxcarsError
from tests.boxes.helper import network, problems, run, schema

FIELDS = {"time": "int", "price": "float"}
ROWS = [{"time": 1, "price": 1.0}, {"time": 2, "price": 2.0}, {"time": 3, "price": None}]
NOT_A_FUNCTION = 5


def twice(train: pl.DataFrame) -> pl.DataFrame:
    return pl.concat([train, train]).sort("time", maintain_order=True)


def raises(_train: pl.DataFrame) -> pl.DataFrame:
    raise ZeroDivisionError("nothing to divide")


def test_a_function_or_its_name() -> None:
    by_object = network(lambda calls: calls.apply(twice).named("a"), FIELDS)
    by_name = network(lambda calls: calls.apply(f"{__name__}:twice").named("a"), FIELDS)
    assert by_object == by_name == bx.loads(bx.dumps(by_object), code=True)
    assert [row["time"] for row in run(by_name, 2, calls=ROWS)[0]] == [1, 1, 2, 2, 3, 3]
    assert schema(by_object) == "time*: int, price: float"


def test_other_fields() -> None:
    def bill(train: pl.DataFrame) -> pl.DataFrame:
        return train.with_columns(cents=(pl.col("price") * 100).cast(pl.Int64), waste=pl.lit(1))

    net = network(lambda calls: calls.apply(bill, fields={"time": "int", "cents": "int"}), FIELDS)
    assert schema(net) == "time*: int, cents: int"
    assert run(net, calls=ROWS)[0][0] == {"time": 1, "cents": 100}


def test_anonymous_functions_are_distinguished() -> None:
    def more(by: float) -> Callable[[pl.DataFrame], pl.DataFrame]:
        return lambda train: train.with_columns(pl.col("price") + by)

    def add(train: pl.DataFrame, by: float) -> pl.DataFrame:
        return train.with_columns(pl.col("price") + by)

    net = bx.Network("n")
    calls = net.input("calls", ts="time", fields=FIELDS)
    one = more(1.0)
    functions: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
        "a": one,
        "b": more(10.0),
        "c": partial(add, by=100.0),
        "d": one,
        "e": partial(add, by=1000.0),
    }
    for name, function in functions.items():
        net.output(name, calls.apply(function).named(name))
    result = bx.preview(net, {"calls": ROWS})
    assert [table["price"][0].as_py() for table in result.values()] == [
        2.0,
        11.0,
        101.0,
        2.0,
        1001.0,
    ]


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (raises, "box 'a' failed: tests.boxes.test_apply:raises raised ZeroDivisionError: nothing"),
        (
            lambda train: train.select("time"),
            "returned {'time': Int64}, but its fields are declared as",
        ),
        (
            lambda train: train.with_columns(price=1),
            "but its fields are declared as {'time': Int64",
        ),
        (lambda _: None, "returned NoneType, but its fields"),
        (lambda train: train.select("tiem"), "raised ColumnNotFoundError"),
        (
            f"{__name__}:missing",
            "box 'a' failed: there is no function 'tests.boxes.test_apply:miss",
        ),
        ("no_such_module:f", "there is no function 'no_such_module:f': No module named"),
        (f"{__name__}:NOT_A_FUNCTION", "'tests.boxes.test_apply:NOT_A_FUNCTION' is not a function"),
    ],
)
def test_the_error_names_the_box(function: Any, words: str) -> None:
    net = network(lambda calls: calls.apply(function).named("a"), FIELDS)
    with pytest.raises(BoxcarsError) as error:
        run(net, calls=ROWS)
    assert str(error.value).startswith("box 'a' failed: ")
    assert words in str(error.value)


def test_hidden_columns_must_be_kept() -> None:
    """With a drop in the network each tuple carries its position."""

    def fresh(train: pl.DataFrame) -> pl.DataFrame:
        return train.select("time", "price")

    def kept(train: pl.DataFrame) -> pl.DataFrame:
        return train.filter(pl.col("price") > 1)

    net = network(lambda calls: calls.apply(fresh).named("a").drop(rate=0.5), FIELDS)
    with pytest.raises(BoxcarsError, match="Columns that start with __ belong to Boxcars"):
        run(net, calls=ROWS)
    net = network(lambda calls: calls.apply(kept).named("a").drop(rate=0.0), FIELDS)
    assert run(net, calls=ROWS) == [[ROWS[1]]]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"function": "len"}, "function: expected 'package.module:function', got 'len'."),
        ({"function": ":f"}, "function: expected 'package.module:function', got ':f'."),
        ({"function": "m:"}, "function: expected 'package.module:function', got 'm:'."),
        ({"fields": {"x": "int"}}, "fields: the order attribute 'time' must stay an int."),
        ({"fields": {"time": "float"}}, "fields: the order attribute 'time' must stay an int."),
        ({"fields": {"time": "int", "__x": "int"}}, "fields.__x: names that start with __ belong"),
    ],
    ids=str,
)
def test_mistakes(given: dict[str, Any], words: str) -> None:
    given = {"function": "m:f"} | given
    net = network(lambda calls: calls.apply(**given).named("a"), FIELDS)
    assert problems(net)[0].startswith(f"box 'a', {words}")


def test_mistakes_that_are_found_while_drawing() -> None:
    calls = bx.Network("n").input("calls", ts="time", fields=FIELDS)
    with pytest.raises(bx.NetworkError, match="unknown type 'integer'. Did you mean 'int'?"):
        calls.apply(twice, fields={"time": "integer"})
    with pytest.raises(BoxcarsError, match="expected a function or its name, got 5"):
        calls.apply(5)  # type: ignore[arg-type]
