"""Transparency: the output depends on the input only, not on how it is split into trains."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

import polars as pl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import boxcars as bx
from boxcars.engine.flow.input_ordering import Turn, ordered_turns
from boxcars.engine.flow.single_instance import SingleInstance
from boxcars.kernels.columns.system_columns import POSITION
from boxcars.model.network import Network
from boxcars.model.serialize import network_to_plain
from boxcars.tables.store import Tables
from tests.network_oracle import NetworkOracle
from tests.oracle import Oracle
from tests.strategies import networks

VALUES: dict[str, st.SearchStrategy[Any]] = {
    "str": st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    "int": st.integers(-(2**63), 2**63 - 1),
    "float": st.floats(allow_nan=False),
    "bool": st.booleans(),
    "timestamp": st.datetimes(datetime(1970, 1, 1), datetime(2100, 1, 1)),
    "bytes": st.binary(max_size=5),
}


@st.composite
def rows(draw: Any, net: Network) -> dict[str, list[dict[str, Any]]]:
    """Data with ties, disorder within and beyond the slack, nulls and extremes."""
    data = {}
    for name, entity in net.inputs.items():
        columns = {
            field: st.none() | VALUES[type_.value]
            for field, type_ in entity.fields.items()
            if field != "t"
        }
        time = st.integers(-5, 12)
        data[name] = draw(st.lists(st.fixed_dictionaries({"t": time, **columns}), max_size=14))
    return data


@given(st.data())
@settings(max_examples=70, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_runner_and_oracle_agree_for_any_cut(data: st.DataObject) -> None:
    net = data.draw(networks(boxes=6, only=("filter", "map", "union", "drop")))
    inputs = data.draw(rows(net))
    trains = data.draw(st.integers(1, 9))
    oracle = Oracle(network_to_plain(net), inputs)
    expected = oracle.run()
    result = bx.preview(
        net, {name: as_columns(net, name, inputs) for name in inputs}, trains=trains
    )
    for name, table in result.items():
        assert table.to_pylist() == expected[name]
    assert {name: result.stats[name].late for name in inputs} == oracle.late


STATEFUL = ("aggregate", "join", "product", "bsort", "wsort", "waitfor", "resample")


@given(st.data())
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_stateful_boxes_agree_with_the_oracle_for_any_cut(data: st.DataObject) -> None:
    kinds = ("filter", "map", "union", *STATEFUL, "aggregate", "aggregate")
    net = data.draw(networks(boxes=5, only=kinds, runnable=True))
    inputs = data.draw(rows(net))
    expected = NetworkOracle(network_to_plain(net), inputs).run()
    sources = {name: as_columns(net, name, inputs) for name in inputs}
    result = bx.preview(net, sources, trains=data.draw(st.integers(1, 9)))
    for name, table in result.items():
        assert table.to_pylist() == expected[name]


def as_columns(net: Network, name: str, inputs: dict[str, list[dict[str, Any]]]) -> Any:
    return pl.DataFrame(inputs[name], schema=net.inputs[name].schema.dtypes, orient="row")


@given(st.data())
@settings(max_examples=70, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_split_of_any_network_has_the_same_results(data: st.DataObject) -> None:
    """Every box, in random networks: bitwise equal results, including late and dead tuples."""
    net = data.draw(networks(boxes=7, runnable=True))
    inputs = data.draw(rows(net))
    sources = {name: as_columns(net, name, inputs) for name in inputs}
    whole = bx.preview(net, sources)
    cut = bx.preview(net, sources, trains=data.draw(st.integers(2, 9)))
    for name, table in whole.items():
        assert cut[name].equals(table)
    for name, table in whole.stored.items():
        assert cut.stored[name].equals(table)
    assert sorted(map(str, cut.dead.to_pylist())) == sorted(map(str, whole.dead.to_pylist()))
    for name, box in whole.stats.items():
        assert (cut.stats[name].tuples_in, cut.stats[name].total_out) == (
            box.tuples_in,
            box.total_out,
        )


@given(st.data())
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_inputs_may_end_long_before_others(data: st.DataObject) -> None:
    """Turns after the end of some or all inputs change nothing."""
    net = data.draw(networks(boxes=6, runnable=True))
    drawn = data.draw(rows(net))
    inputs = {name: as_columns(net, name, drawn) for name in drawn}
    whole = SingleInstance(net.check().or_raise(), Tables(net.tables, {}))
    turns = 6
    feeds = [
        _ending(
            ordered_turns(
                tuples.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias(POSITION)),
                net.inputs[name],
                data.draw(st.integers(1, turns)),
            ),
            turns,
        )
        for name, tuples in inputs.items()
    ]
    found: dict[str, list[pl.DataFrame]] = {name: [] for name in net.outputs}
    for given_turns in zip(*feeds, strict=True):
        for name, frame in whole.run_turn(dict(zip(inputs, given_turns, strict=True))).items():
            found[name].append(frame)
    for name, table in bx.preview(net, inputs).items():
        assert pl.concat(found[name]).to_arrow().select(table.column_names) == table


def _ending(turns: Iterator[Turn], number: int) -> Iterator[Turn]:
    """The turns of an input, and empty ones after its end."""
    for turn in turns:
        number -= 1
        yield turn
    rest = replace(turn, train=turn.train[:0], late=turn.late[:0], late_at=turn.late_at[:0])
    yield from [rest] * (number + 1)  # and one after the end of all
