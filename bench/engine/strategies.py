"""StreamCloud's strategies (thesis, 3.2): one query, split in three ways.

High mobility (examples/high-mobility.yaml): query-cloud runs the whole query on every instance,
operator-cloud makes each box a subcluster, operator-set-cloud splits only before stateful boxes.
"""

from functools import partial
from pathlib import Path

from _beside import bench, frames
from _calls import calls
from _shown import keep, panel

import boxcars as bx
from boxcars.plan import STRATEGIES, make_plan

ROWS, FILES, KEYS = 200_000, 8, 100_000
NETWORK = Path(__file__).parents[2] / "examples/high-mobility.yaml"


def main() -> None:
    net = bx.load(NETWORK)
    with bench() as b:
        files = b.write("calls", frames(FILES, partial(calls, ROWS, KEYS)))
        print("high mobility, local[2], epochs of 200,000")
        print("  strategy             subqueries  levels   tuples/s")
        found: dict[str, float] = {}
        for strategy in STRATEGIES:
            plan = make_plan(net.check().or_raise(), strategy, 64, 2)
            seconds = b.ours(net, {"calls": files}, ROWS, strategy=strategy)
            shape = f"{len(plan.subqueries):10} {len(plan.levels):7}"
            found[strategy.removesuffix("-cloud")] = ROWS / seconds
            print(f"  {strategy:20} {shape} {ROWS / seconds:10,.0f}", flush=True)
        rows = [{"strategy": name, "speed": speed} for name, speed in found.items()]
        title = "High mobility by strategy, tuples per second (log scale)"
        keep("strategies", rows, [panel("epochs of 200,000", found)], title, "")


if __name__ == "__main__":
    main()
