import polars as pl
import pytest

import boxcars as bx
from boxcars.boxes.filter import Filter
from tests.boxes.helper import CALLS, network, problems, run, schema

PRICES = {"time": [1, 2, 3, 4], "caller": ["a", "b", None, "d"], "price": [1.0, 7.0, None, 20.0]}


@pytest.mark.parametrize(
    ("where", "otherwise", "times"),
    [
        (["price < 10"], False, [[1, 2]]),
        (["price < 10"], True, [[1, 2], [3, 4]]),
        (["price < 5", "price < 10"], True, [[1], [2], [3, 4]]),
        (["price < 10", "price < 5"], True, [[1, 2], [], [3, 4]]),
        (["true", "price < 5"], False, [[1, 2, 3, 4], []]),
        (["price > 5 or caller is null", "not (price > 5)"], False, [[2, 3, 4], [1]]),
        (["caller < 'c'", "caller >= 'c'"], True, [[1, 2], [4], [3]]),
        (["false"], True, [[], [1, 2, 3, 4]]),
    ],
)
@pytest.mark.parametrize("trains", [1, 3, 9])
def test_the_first_predicate_that_holds_gets_the_tuple(
    where: list[str], otherwise: bool, times: list[list[int]], trains: int
) -> None:
    net = network(lambda calls: calls.filter(*where, otherwise=otherwise))
    out = run(net, trains, calls=PRICES)
    assert [[row["time"] for row in rows] for rows in out] == times
    assert all(list(row) == list(CALLS) for rows in out for row in rows)


def test_a_polars_expression_is_a_predicate() -> None:
    cheap = pl.col("price") < 5
    net = network(lambda calls: calls.filter(cheap, pl.col("caller").is_null(), otherwise=True))
    assert [[row["time"] for row in rows] for rows in run(net, calls=PRICES)] == [[1], [3], [2, 4]]
    assert bx.loads(bx.dumps(net), code=True) == net


def test_outputs_feed_different_boxes_and_one_feeds_several() -> None:
    net = bx.Network("n")
    calls = net.input("calls", ts="time", fields=CALLS)
    cheap, rest = calls.filter("price < 10", otherwise=True).named("cut")
    net.output("doubled", cheap.map(time="time", price="price * 2").named("double"))
    net.output("named", cheap.filter("caller = 'a'").named("a"))
    net.output("rest", rest)
    result = bx.preview(net, {"calls": PRICES}, trains=2)
    assert result["doubled"]["price"].to_pylist() == [2.0, 14.0]
    assert result["named"]["time"].to_pylist() == [1]
    assert result["rest"]["time"].to_pylist() == [3, 4]
    assert result.stats["cut"].tuples_out == {"0": 2, "else": 2}


def test_streams_by_name_and_number() -> None:
    calls = bx.Network("n").input("calls", ts="time", fields=CALLS)
    cut = calls.filter("price < 5", "price < 10", otherwise=True).named("cut")
    assert [str(stream) for stream in cut] == ["cut", "cut.1", "cut.else"]
    assert [str(cut[port]) for port in (0, 2, "1", "else")] == [
        "cut",
        "cut.else",
        "cut.1",
        "cut.else",
    ]
    for port in (3, -1, "rest"):
        with pytest.raises(bx.BoxcarsError, match=f"'cut' has no output '{port}'"):
            cut[port]


def test_every_output_has_the_schema_of_the_input() -> None:
    net = network(lambda calls: calls.filter("price < 5", otherwise=True))
    assert schema(net, "out0") == schema(net, "out1") == "time*: int, caller: str, price: float"


@pytest.mark.parametrize(
    ("where", "words"),
    [
        (["price"], "where[0]: expected a bool, got 'price' of type float."),
        (["true", "prize > 1"], "where[1]: unknown field 'prize'. Did you mean 'price'?"),
        ([], "where: a filter needs at least one predicate."),
    ],
)
def test_mistakes(where: list[str], words: str) -> None:
    net = bx.Network("n")
    calls = net.input("calls", ts="time", fields=CALLS)
    net.output("out", calls.filter(*where).named("f"))
    assert f"box 'f', {words}" in problems(net)


def test_borealis_counts_outputs() -> None:
    box = Filter.build("a", "b")
    assert box.with_outputs(2) == box
    assert box.with_outputs(3).ports == ("0", "1", "else")
    with pytest.raises(bx.BoxcarsError, match="a filter like this has exactly 2 outputs, got 1"):
        box.with_outputs(1)
