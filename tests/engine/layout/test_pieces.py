"""A network in several pieces has the same results as in one, however it is split."""

import json
import random
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import boxcars as bx
from boxcars.connectors.read.splits import FileSplit
from boxcars.engine.epoch.messages import EpochTask
from boxcars.engine.epoch.piece_runner import run_in_process
from boxcars.engine.layout.pieces import Shape, lay_out, make_layout
from boxcars.engine.state.epoch_records import EpochPlan
from boxcars.engine.state.storage import LocalStorage
from boxcars.model.network import Network
from boxcars.model.serialize import network_to_plain
from tests.engine.test_transparency import STATEFUL, as_columns, rows
from tests.strategies import networks

KINDS = ("filter", "map", "union", "drop", "convert", "use", *STATEFUL, *["aggregate"] * 3)


def run_pieces(
    net: Network, sources: dict[str, pl.DataFrame], folder: Path, shapes: list[Shape]
) -> dict[str, list[dict[str, Any]]]:
    """Run one epoch for each shape, with inputs split evenly; return the outputs."""
    text = json.dumps(network_to_plain(net))
    for number, frame in enumerate(sources.values()):
        frame.write_ipc(folder / f"{number}.arrow", compat_level=pl.CompatLevel.oldest())
    before: Any = ()
    for epoch, shape in enumerate(shapes):
        splits = {}
        for number, (name, frame) in enumerate(sources.items()):
            start, stop = (frame.height * k // len(shapes) for k in (epoch, epoch + 1))
            splits[name] = (FileSplit(str(folder / f"{number}.arrow"), start, stop, start),)
        final = dict.fromkeys(sources, epoch == len(shapes) - 1)
        sinks = {name: str(folder / f"out{n}") for n, name in enumerate(net.outputs)}
        plan = EpochPlan(epoch, splits, final)
        task = EpochTask(
            network=text,
            storage=LocalStorage(folder, durable=False),
            folder=str(folder),
            term=1,
            plan=plan,
            state=before,
            sinks=sinks,
            shape=shape,
            durable=False,
            previous_shape=shapes[max(epoch - 1, 0)],
        )
        before = tuple(entry for done in run_in_process(task) for entry in done.state)
    return {name: written(folder / f"out{n}") for n, name in enumerate(net.outputs)}


def same(got: list[dict[str, Any]], expected: list[dict[str, Any]]) -> bool:
    """Equality for which NaN equals NaN."""
    return repr(got) == repr(expected)


def written(folder: Path) -> list[dict[str, Any]]:
    found = sorted(folder.glob("part-*.parquet"))
    return [row for path in found for row in pl.read_parquet(path).to_dicts()]


FEW: dict[str, list[Any]] = {
    "str": ["a", "b", "c", None],
    "int": [0, 1, 2, 3, None],
    "float": [0.5, 1.0, 2.0, float("nan"), None],
    "bool": [True, False, None],
    "timestamp": [datetime(2026, 1, 1), datetime(2026, 1, 2), None],
    "bytes": [b"x", b"y", None],
}


@st.composite
def crowded(draw: Any, net: Network) -> dict[str, list[dict[str, Any]]]:
    """Many tuples with few values, so that there are many ties and equal keys."""
    data = {}
    for name, entity in net.inputs.items():
        seed = draw(st.integers(0, 2**32))
        chance = random.Random(seed)
        number = draw(st.integers(0, 60))
        times = [n // 6 + chance.randint(-1, 1) for n in range(number)]
        data[name] = [
            {"t": time}
            | {f: chance.choice(FEW[t.value]) for f, t in entity.fields.items() if f != "t"}
            for time in times
        ]
    return data


shapes = st.builds(
    Shape,
    st.integers(1, 5),
    st.sampled_from([1, 2, 6, 16]),
    st.sampled_from(["operator-set-cloud", "operator-cloud"]),
)

placements = st.lists(st.tuples(shapes, st.none() | st.integers(0, 99)), min_size=1, max_size=5)


def placed(net: Network, shape: Shape, seed: int | None) -> Shape:
    """A shape in which any instance may own any bucket, and some own none; None: equal shares."""
    if seed is None:
        return shape
    chance, owners = random.Random(seed), []
    for subquery in make_layout(json.dumps(network_to_plain(net)), shape).plan.subqueries:
        own = [chance.randrange(subquery.instances) for _ in range(subquery.buckets)]
        if subquery.kind != "pairs":  # its cells can't be moved one by one
            owners.append((subquery.name, tuple(own)))
    return replace(shape, owners=tuple(owners))


@given(st.data())
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_pieces_may_change_from_epoch_to_epoch(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Instances, buckets, their owners and the strategy change: states are repartitioned."""
    net = data.draw(networks(boxes=6, only=KINDS, runnable=True))
    inputs = data.draw(rows(net) | crowded(net))
    sources = {name: as_columns(net, name, inputs) for name in inputs}
    taken = [placed(net, *drawn) for drawn in data.draw(placements)]
    got = run_pieces(net, sources, tmp_path_factory.mktemp("pieces"), taken)
    for name, table in bx.preview(net, sources).items():
        assert same(got[name], table.to_pylist())


class Numbered(bx.PerKey):
    """Numbers the tuples of each key, and emits one more tuple a little after the last."""

    keeps: ClassVar[dict[str, str]] = {"number": "int", "due": "int"}

    def on_tuple(self, state: Any, row: Any) -> Any:
        state["number"] = (state["number"] or 0) + 1
        state["due"] = row["t"] + 2
        return [{**row, "n": state["number"]}]

    def due(self, state: Any) -> Any:
        return state["due"]

    def on_time(self, state: Any, frontier: Any) -> Any:
        state["due"] = None
        return [{"n": -1, "x": None}]


class ByValue(Numbered):
    """The same for each x, and twice."""

    def on_time(self, state: Any, frontier: Any) -> Any:
        state["due"] = None
        return [{"n": -1, "k": None}, {"n": -2, "k": None}]


def own_boxes(inputs: int) -> Network:
    """A user-defined box on some inputs, split by key; its output is split again, and shed."""
    fields = {"t": "int", "k": "str", "x": "float"}
    net = bx.Network("own")
    streams = [net.input(f"i{n}", ts="t", fields={**fields, "n": "int"}) for n in range(inputs)]
    if inputs > 1:  # with other ranks than the first
        streams[1] = streams[1].aggregate(bx.tuples(1), by=("k", "x"), n="count()")
    class_ = Numbered if inputs == 1 else Merged
    numbered = streams[0].custom(class_, *streams[1:], by="k").named("numbered")
    net.output("numbered", numbered)
    again = numbered.custom(ByValue, by="x").named("again")
    net.output("again", again)
    net.output("counts", again.aggregate(bx.tuples(2, 1), by="n", m="sum(x)"))
    net.output("some", numbered.drop(rate=0.5, seed=3))
    return net


class Merged(Numbered):
    """The same over two inputs."""

    inputs: ClassVar[int | None] = 2


@pytest.mark.parametrize("inputs", [1, 2])
@given(st.data())
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_pieces_of_user_defined_boxes_may_change(
    tmp_path_factory: pytest.TempPathFactory, inputs: int, data: st.DataObject
) -> None:
    """The output and its order do not depend on which instance owns a key, or since when."""
    net = own_boxes(inputs)
    found = data.draw(crowded(net))
    sources = {name: as_columns(net, name, found) for name in found}
    taken = [placed(net, *drawn) for drawn in data.draw(placements)]
    got = run_pieces(net, sources, tmp_path_factory.mktemp("pieces"), taken)
    whole = bx.preview(net, sources)
    for name, table in whole.items():
        assert same(got[name], table.to_pylist())
    cut = bx.preview(net, sources, trains=7)
    assert all(same(cut[name].to_pylist(), table.to_pylist()) for name, table in whole.items())


def test_boxes_do_run_in_many_pieces() -> None:
    """Checks the property test itself: the boxes that can be split are split."""
    fields = {"t": "int", "k": "str", "x": "float"}
    net = bx.Network("many")
    one, two = (net.input(name, ts="t", fields=fields) for name in ("one", "two"))
    both = (one | two).named("both")
    counts = both.aggregate(bx.tuples(2, 1), by="k", n="count()").named("counts")
    net.output("counts", counts.aggregate(bx.time(10), by="n", m="count()").named("again"))
    near = one.product(two, on="abs(left.x - right.x) < 3", window=bx.time(9)).named("near")
    net.output("near", near)
    net.output("joined", one.join(two, on="left.k = right.k", window=bx.time(9)).named("joined"))
    net.output("let_go", one.waitfor(two, on="left.k = right.k", timeout=4).named("let_go"))
    net.output("sorted", one.bsort(slack=3).named("sorted"))
    tagged = one.map(n="1", keep=True)
    net.output("own", tagged.custom(Numbered, by="k").named("own"))
    net.output("at_once", tagged.custom(Numbered).named("at_once"))
    layout = lay_out(net.check().or_raise(), Shape(4, 64))
    pieces = {s.name: s.instances for s in layout.plan.subqueries}
    assert {name: pieces[name] for name in ("counts", "again", "near", "joined")} == {
        "counts": 4,
        "again": 4,
        "near": 4,
        "joined": 4,
    }
    assert (pieces["let_go"], pieces["sorted"], pieces["one"]) == (4, 1, 1)
    assert (pieces["own"], pieces["at_once"]) == (4, 1)
