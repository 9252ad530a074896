import pytest

import boxcars as bx
from boxcars.model.flatten import flatten

TICKS = {"time": "int", "price": "float"}


def alarm() -> bx.Network:
    body = bx.Network("alarm")
    feed = body.input("feed", ts="time", fields=TICKS)
    high, low = feed.filter("price > $limit", otherwise=True).named("cut")
    body.output("high", high)
    body.output("low", low)
    return body


def network() -> bx.Network:
    net = bx.Network("n")
    ticks = net.input("ticks", ts="time", fields=TICKS)
    net.superbox(alarm(), limit=None)
    nyse = ticks.use("alarm", limit=10).named("nyse")
    nasdaq = nyse["low"].use("alarm", limit=5).named("nasdaq")
    net.output("very-high", nyse)
    net.output("high", nasdaq["high"])
    net.output("low", nasdaq["low"])
    return net


def test_a_superbox_is_used_like_a_box() -> None:
    result = bx.preview(network(), {"ticks": {"time": [1, 2, 3], "price": [3.0, 7.0, 12.0]}})
    times = {name: table["time"].to_pylist() for name, table in result.items()}
    assert times == {"very-high": [3], "high": [2], "low": [1]}
    assert {"nyse/cut", "nasdaq/cut"} <= set(result.stats)


def test_opened_up_it_is_its_boxes() -> None:
    flat = flatten(network()).network
    assert list(flat.boxes) == ["nyse/cut", "nasdaq/cut"]
    assert flat.boxes["nasdaq/cut"].box.plain()["where"] == ["price > 5"]
    assert str(flat.boxes["nasdaq/cut"].inputs[0]) == "nyse/cut.else"


def test_superboxes_nest() -> None:
    inner = alarm()
    outer = bx.Network("twice")
    feed = outer.input("feed", ts="time", fields=TICKS)
    outer.superbox(inner, limit=2)
    first = feed.use("alarm", limit="$top").named("first")
    outer.output("middle", first["low"].use("alarm").named("second")["high"])
    net = bx.Network("n")
    ticks = net.input("ticks", ts="time", fields=TICKS)
    net.superbox(outer, top=10)
    net.output("out", ticks.use("twice", top=8).named("both"))
    net.check().or_raise()
    assert list(flatten(net).network.boxes) == ["both/first/cut", "both/second/cut"]
    prices = [1.0, 3.0, 7.0, 9.0]
    out = bx.preview(net, {"ticks": {"time": [1, 2, 3, 4], "price": prices}})["out"]
    assert out["price"].to_pylist() == [3.0, 7.0]


def test_a_body_may_pass_an_input_straight_through() -> None:
    body = bx.Network("wire")
    body.output("same", body.input("feed", ts="time", fields=TICKS))
    net = bx.Network("n")
    net.superbox(body)
    net.output("out", net.input("ticks", ts="time", fields=TICKS).use("wire").named("w"))
    out = bx.preview(net, {"ticks": {"time": [1], "price": [2.0]}})["out"]
    assert out.num_rows == 1


def test_text_arguments_become_part_of_the_expression() -> None:
    body = bx.Network("pick")
    feed = body.input("feed", ts="time", fields=TICKS)
    body.output("out", feed.filter("$field > 2").named("cut"))
    net = bx.Network("n")
    net.superbox(body, field=None)
    ticks = net.input("ticks", ts="time", fields=TICKS)
    net.output("out", ticks.use("pick", field="price").named("p"))
    out = bx.preview(net, {"ticks": {"time": [1, 2], "price": [1.0, 3.0]}})["out"]
    assert out["time"].to_pylist() == [2]


def test_an_argument_of_the_wrong_kind() -> None:
    body = bx.Network("less")
    feed = body.input("feed", ts="time", fields=TICKS)
    body.output("out", feed.drop(rate="$rate").named("some"))  # type: ignore[arg-type]
    net = bx.Network("n")
    net.superbox(body, rate=None)
    ticks = net.input("ticks", ts="time", fields=TICKS)
    net.output("out", ticks.use("less", rate="much").named("l"))
    with pytest.raises(bx.NetworkError, match="superbox 'less', box 'some', rate: expected a num"):
        net.check().or_raise()
