"""The time to check a network of 1,000 boxes, from Python and from a file."""

import statistics
import tempfile
from pathlib import Path
from time import perf_counter

import boxcars as bx

BOXES = 1_000
ROUNDS = 7


def network(boxes: int) -> bx.Network:
    """Chains of four different boxes over calls; every expression is different."""
    net = bx.Network("large")
    fields = {"caller": "str", "callee": "str", "time": "int", "price": "float"}
    calls = net.input("calls", ts="time", fields=fields)
    for i in range(boxes // 4):
        expensive = calls.filter(f"price > {i} and caller <> 'p{i}'").named(f"expensive{i}")
        rest = calls.filter(f"time % {i + 2} = 1", f"price between {i} and {i + 1}").named(
            f"rest{i}"
        )
        both = (expensive | rest).named(f"both{i}")
        net.output(
            f"out{i}",
            both.map(time="time", who="upper(caller)", cost=f"price * {i} / 7").named(f"map{i}"),
        )
    return net


def main() -> None:
    start = perf_counter()
    net = network(BOXES)
    built = perf_counter() - start
    times = []
    for _ in range(ROUNDS):
        start = perf_counter()
        net.check().or_raise()
        times.append(perf_counter() - start)
    print(f"network of {BOXES:,} boxes: built in {built:.2f} s, first check {times[0]:.2f} s,")
    print(f"  repeated {statistics.median(times):.3f} s (median of {ROUNDS})")
    with tempfile.TemporaryDirectory() as folder:
        for suffix in ("yaml", "xml", "json"):
            path = Path(folder) / f"large.{suffix}"
            bx.save(net, path)
            start = perf_counter()
            bx.check_file(path).or_raise()
            print(f"  load and check {suffix}: {perf_counter() - start:.2f} s")


if __name__ == "__main__":
    main()
