"""Decisions are plain data; controllers are asked before each epoch."""

import json
from collections.abc import Sequence
from dataclasses import asdict

import pytest
from pyspark.sql import SparkSession

import boxcars as bx
from boxcars.control.decisions import Requests
from boxcars.engine.layout.network_text import write_text
from boxcars.engine.layout.pieces import Shape
from boxcars.engine.layout.placement import place


def test_a_decision_as_json() -> None:
    decision = bx.Decision("counts", 3, (0, 1, 2), "me", "load", {"share": 0.5})
    assert bx.Decision.of(json.loads(json.dumps(asdict(decision)))) == decision


def test_requests_are_passed_on_once() -> None:
    requests = Requests()
    for number in (2, 3):
        requests.put(bx.Decision("counts", number))
    found = requests.observe(bx.View(1, {}))
    assert [decision.instances for decision in found] == [2, 3]
    assert requests.observe(bx.View(2, {})) == []


class Wishes(bx.Controller):
    """Decides as it is told, and notes what it sees."""

    def __init__(self, *wishes: bx.Decision) -> None:
        self.wishes, self.seen = wishes, list[bx.View]()

    def observe(self, view: bx.View) -> Sequence[bx.Decision]:
        self.seen.append(view)
        return self.wishes if view.epoch == 2 else ()


def run(spark: SparkSession, controller: bx.Controller) -> bx.Run:
    net = bx.Network("counted")
    rows = net.input("rows", ts="t", fields={"t": "int", "k": "str"})
    net.output("out", rows.aggregate(bx.tuples(2), by="k", n="count()").named("counts"))
    data = {"t": list(range(90)), "k": [f"k{n % 7}" for n in range(90)]}
    sources = {"rows": data}
    running = bx.run(
        net, sources, epoch_rows=30, instances=1, buckets=4, controllers=[controller], spark=spark
    )
    running.wait()
    return running


def test_the_view_has_the_figures_of_the_last_epoch(spark: SparkSession) -> None:
    controller = Wishes(bx.Decision("counts", 2, (0, 1, 1, 0)))
    assert run(spark, controller).instances == {"rows": 1, "counts": 2}
    first, second, third = controller.seen
    assert (first.epoch, first.instances, first.tuples) == (1, {"rows": 1, "counts": 1}, {})
    assert (second.epoch, second.tuples) == (2, {"rows": 29, "counts": 29})  # the last waits
    assert [len(third.busy[name]) for name in ("rows", "counts")] == [1, 2]
    assert all(seconds > 0 for seconds in third.busy["rows"])


def test_the_buckets_of_a_product_stay() -> None:
    net = bx.Network("pairs")
    left, right = (net.input(name, ts="t", fields={"t": "int"}) for name in ("left", "right"))
    net.output(
        "out", left.product(right, on="left.t < right.t", window=bx.time(5)).named("product")
    )
    text, shape = write_text(net, {}), Shape(2, 4)
    assert place(text, shape, bx.Decision("product", 4)).apart == (("product", 4),)
    with pytest.raises(bx.BoxcarsError, match="cells of a grid"):
        place(text, shape, bx.Decision("product", 2, (0, 1, 1, 0)))


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        (bx.Decision("count", 2), "there is no subquery 'count'. Did you mean 'counts'"),
        (bx.Decision("counts", 9), "can't have 9 instances: it has 4 buckets"),
        (bx.Decision("counts", 2, (0, 1, 2, 0)), "4 buckets, each owned by one of 2 instances"),
        (bx.Decision("counts", 2, (0, 1)), "got 2 owners from 0 to 1"),
    ],
    ids=str,
)
def test_what_can_not_be(spark: SparkSession, wish: bx.Decision, words: str) -> None:
    with pytest.raises(bx.BoxcarsError, match=f"controller 'Wishes': .*{words}"):
        run(spark, Wishes(wish))
