"""A few networks to draw."""

import boxcars as bx
from boxcars.boxes.filter import Filter
from boxcars.model.stream import Stream


def start(name: str = "n") -> tuple[bx.Network, Stream]:
    net = bx.Network(name)
    return net, net.input("calls", ts="time", fields={"time": "int", "price": "float"})


def chain() -> bx.Network:
    net, calls = start()
    net.output("out", calls.filter("price < 1").named("cheap").map(time="time").named("times"))
    return net


def diamond() -> bx.Network:
    net, calls = start()
    low, high = calls.filter("price < 1", otherwise=True).named("cut")
    both = low.map(keep=True).named("low") | high.map(keep=True).named("high")
    net.output("both", both.named("all"))
    return net


def long_arrow() -> bx.Network:
    net, calls = start()
    far = calls.filter("price < 1").named("a").map(keep=True).named("b").map(keep=True).named("c")
    net.output("out", calls.union(far).named("u"))
    return net


def superbox() -> bx.Network:
    body, feed = start("alarm")
    high, low = feed.filter("price > $limit", otherwise=True).named("cut")
    body.output("high", high)
    body.output("low", low)
    net, calls = start()
    net.superbox(body, limit=None)
    nyse = calls.use("alarm", limit=5).named("nyse")
    net.output("high", nyse)
    net.output("low", nyse["low"])
    nyse["low"].connection_point("recent", tuples=5)
    return net


def broken() -> bx.Network:
    """Two loops and an arc without a source."""
    box = Filter.build("true")
    net = bx.Network("n").add("a", box, ["b"]).add("b", box, ["a"])
    return net.add("c", box, ["nowhere"]).add("s", box, ["s", "c"])


def deep(size: int) -> bx.Network:
    """A long chain whose boxes are listed from the last to the first."""
    net, _ = start()
    box = Filter.build("true")
    for number in reversed(range(size)):
        net = net.add(f"b{number}", box, [f"b{number - 1}" if number else "calls"])
    return net


NETWORKS = {f.__name__: f for f in (chain, diamond, long_arrow, superbox, broken)}
