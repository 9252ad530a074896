"""StreamCloud's operators (thesis, 3.3.3): map, aggregate, join and product, by instances.

The thesis has 1, 20 and 40 nodes; here are two cores, so one and two instances are compared with
one of its nodes (2007). As in the thesis, the Cartesian product is measured in comparisons.
"""

from functools import partial

from _beside import bench, frames
from _calls import RATE, calls, input_of
from _shown import keep, panel

import boxcars as bx

ROWS, FILES, KEYS = 200_000, 8, 100_000
FEW = 5_000
"""Calls per epoch of the product, which compares all pairs."""
THESIS = {"map": 7_000, "aggregate": 11_000, "join": 7_000}
"""Tuples per second of one node."""


def map_network() -> bx.Network:
    net = bx.Network("map")
    net.output("out", input_of(net).map(time="time", caller="caller", cents="price * 100"))
    return net


def aggregate_network() -> bx.Network:
    net = bx.Network("aggregate")
    window = bx.time(60, 10)
    counts = input_of(net).aggregate(window, by="caller", n="count()", mean="avg(duration)")
    net.output("out", counts)
    return net


def join_network() -> bx.Network:
    net = bx.Network("join")
    left, right = input_of(net, "left"), input_of(net, "right")
    net.output("out", left.join(right, on="left.caller = right.callee", window=bx.time(60)))
    return net


def product_network() -> bx.Network:
    net = bx.Network("product")
    left, right = input_of(net, "left"), input_of(net, "right")
    near = "left.caller_x - right.caller_x > 9999"
    net.output("out", left.product(right, on=near, window=bx.time(5)))
    return net


def main() -> None:
    with bench() as b:
        print("  operator      instances   tuples/s      one node of the thesis")
        files = b.write("calls", frames(FILES, partial(calls, ROWS, KEYS)))
        few = b.write("few", frames(FILES, partial(calls, FEW, KEYS)))
        found: dict[str, dict[str, float]] = {}
        for make in (map_network, aggregate_network, join_network):
            net = make()
            inputs = dict.fromkeys(net.inputs, files)
            for instances in (1, 2):
                seconds = b.ours(net, inputs, ROWS, instances=instances)
                speed = len(inputs) * ROWS / seconds
                ratio = speed / THESIS[net.name]
                found.setdefault(net.name, {})[f"{instances} here"] = speed
                print(
                    f"  {net.name:12} {instances:10} {speed:11,.0f}   {ratio:8.0f} times",
                    flush=True,
                )
            found[net.name]["thesis"] = THESIS[net.name]
        pairs = 2 * FEW * 5 * RATE
        for instances in (1, 2):
            inputs = {"left": few, "right": few}
            seconds = b.ours(product_network(), inputs, FEW, instances=instances)
            found.setdefault("product", {})[f"{instances} here"] = 2 * FEW / seconds
            print(
                f"  product      {instances:10} {2 * FEW / seconds:11,.0f}   "
                f"{pairs / seconds / 1e6:,.0f} M comparisons/s"
            )
        rows = [{"operator": name, **speeds} for name, speeds in found.items()]
        panels = [panel(name, speeds) for name, speeds in found.items()]
        note = "One and two instances on two cores, and one node of the thesis."
        keep("operators", rows, panels, "Operators, tuples a second (log scale)", note)


if __name__ == "__main__":
    main()
