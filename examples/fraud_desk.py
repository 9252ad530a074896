"""A fraud desk: three queries over one live stream of calls.

The networks of three applications are superboxes of one, so the calls are read once. An injector
writes files to a folder at a fixed rate; the run follows it and passes alerts to a callback.
Run it with ``python examples/fraud_desk.py [CALLS]``; it takes about half a minute.
"""

import sys
import tempfile
from collections import Counter
from pathlib import Path

import pyarrow as pa

import boxcars as bx
from boxcars.apps import consumption_control, high_mobility, overlapping_calls
from boxcars.apps.calls import FIELDS
from boxcars.apps.inject import injector_of
from boxcars.draw import draw

QUERIES = {
    "clones": ("high-mobility", "phone"),
    "machines": ("consumption-control", "caller"),
    "overlaps": ("overlapping-calls", "phone"),
}
"""The outputs, each with its application and the field that contains the phone."""
PACE = 20_000
"""Calls per second."""


def build() -> bx.Network:
    """Three applications in parallel; each is a superbox."""
    net = bx.Network("fraud-desk")
    calls = net.input("calls", ts="time", fields=FIELDS)
    for module in (high_mobility, consumption_control, overlapping_calls):
        net.superbox(module.build())
    for output, (name, _) in QUERIES.items():
        net.output(output, calls.use(name).named(output)[output])
    return net


def run(rows: int, folder: Path) -> dict[str, Counter[str]]:
    """Inject calls, and count the alerts of each phone."""
    suspects = {output: Counter[str]() for output in QUERIES}

    def on_alerts(output: str, alerts: pa.Table, epoch: int) -> None:
        phones = alerts[QUERIES[output][1]].to_pylist()
        suspects[output].update(phones)
        print(f"epoch {epoch:3}  {output:9} {len(phones):5,} alerts, such as {phones[0]}")

    injector = injector_of(high_mobility.feed(rows, seed=1), {"calls": folder / "calls"}, PACE)
    injector.start()
    running = bx.run(
        build(),
        {"calls": bx.files(folder / "calls", follow=True)},
        {
            name: bx.callback(lambda table, epoch, name=name: on_alerts(name, table, epoch))
            for name in QUERIES
        },
    )
    print(f"\n{running.wait().state}\n")
    return suspects


def main(rows: int) -> None:
    """Draw the network, run it, and print the suspects."""
    print(draw(build(), "text"))
    with tempfile.TemporaryDirectory(prefix="boxcars-desk-") as folder:
        suspects = run(rows, Path(folder))
    for output, phones in suspects.items():
        print(f"{output}: {len(phones):,} phones")
    twice = set(suspects["clones"]) & set(suspects["overlaps"])
    print(f"cloned, and in two calls at once: {', '.join(sorted(twice)) or 'none'}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200_000)
