"""The bucket of a tuple: the same on every machine, in every chunk, for every equal value."""

from datetime import datetime
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import boxcars as bx
from boxcars.kernels.columns.hashing import hash_columns
from boxcars.model.problem import BoxcarsError
from boxcars.model.routing import Routing
from boxcars.model.types import Type
from boxcars.plan.buckets import bucket_numbers
from boxcars.plan.registry import Grid, Registry

VALUES: dict[Type, st.SearchStrategy[Any]] = {
    Type.INT: st.integers(-(2**63), 2**63 - 1),
    Type.FLOAT: st.floats(),
    Type.STR: st.text(max_size=20),
    Type.BYTES: st.binary(max_size=20),
    Type.BOOL: st.booleans(),
    Type.TIMESTAMP: st.datetimes(datetime(1, 1, 1), datetime(9999, 1, 1)),
}
FIXED: dict[Type, list[Any]] = {
    Type.INT: [0, -1, None, 2**63 - 1],
    Type.FLOAT: [0.0, 1.5, None, float("nan")],
    Type.STR: ["", "phone-123456", None, "ß"],
    Type.BYTES: [b"", b"phone-123456", None, b"\x00"],
    Type.BOOL: [True, False, None, True],
    Type.TIMESTAMP: [datetime(2024, 1, 2), datetime(1, 1, 1), None, datetime(2024, 1, 2)],
}


@st.composite
def frames(draw: Any) -> pl.DataFrame:
    types = draw(st.lists(st.sampled_from(list(VALUES)), min_size=1, max_size=3))
    number = draw(st.integers(0, 12))
    return pl.DataFrame(
        {
            f"f{i}": pl.Series(
                draw(st.lists(st.none() | VALUES[type_], min_size=number, max_size=number)),
                dtype=type_.dtype,
            )
            for i, type_ in enumerate(types)
        }
    )


@settings(deadline=None)
@given(frames())
def test_it_is_the_hash_of_sql(frame: pl.DataFrame) -> None:
    """The same definition in SQL, so that a user can compute the bucket of a tuple."""
    types = {Type.of(dtype) for dtype in frame.dtypes}
    assert None not in types
    fields = {name: str(Type.of(dtype)) for name, dtype in frame.schema.items()}
    net = bx.Network("n")
    stream = net.input("i", ts="t", fields={"t": "int", **fields})
    net.output("o", stream.map(t="t", h=f"hash({', '.join(fields)})"))
    table = frame.with_columns(t=pl.int_range(frame.height, dtype=pl.Int64)).select("t", *fields)
    expected = bx.preview(net, {"i": table})["o"]["h"].to_pylist()
    assert hash_columns(frame.get_columns(), frame.height).tolist() == expected


@settings(deadline=None)
@given(frames(), st.integers(0, 12))
def test_chunks_do_not_matter(frame: pl.DataFrame, cut: int) -> None:
    whole = hash_columns(frame.get_columns(), frame.height)
    parts = [frame[:cut], frame[cut:]]
    chunked = pl.concat(parts, rechunk=False)
    assert hash_columns(chunked.get_columns(), frame.height).tolist() == whole.tolist()
    alone = [hash_columns(part.get_columns(), part.height) for part in parts]
    assert np.concatenate(alone).tolist() == whole.tolist()


def test_the_numbers_never_change() -> None:
    """States are partitioned by these numbers: a change would make them unreadable."""
    expected = {
        Type.INT: [
            5197578548964807871,
            4922461756044938104,
            -2152535657050944081,
            -1886230925983937994,
        ],
        Type.FLOAT: [
            5197578548964807871,
            152925022897520223,
            -2152535657050944081,
            166802585970163097,
        ],
        Type.STR: [
            5197578548964807871,
            -2554321058604142758,
            -2152535657050944081,
            -3168468220033540432,
        ],
        Type.BYTES: [
            5197578548964807871,
            -2554321058604142758,
            -2152535657050944081,
            -2059807213142827781,
        ],
        Type.BOOL: [
            -2529857523242969672,
            5197578548964807871,
            -2152535657050944081,
            -2529857523242969672,
        ],
        Type.TIMESTAMP: [
            -8362339341035186693,
            6548393080890370296,
            -2152535657050944081,
            -8362339341035186693,
        ],
    }
    found = {t: hash_columns([pl.Series(v, dtype=t.dtype)], 4).tolist() for t, v in FIXED.items()}
    assert found == expected


@pytest.mark.parametrize("number", [0, 1, -7, 2**53, 2**53 + 1, 2**63 - 1])
def test_an_int_that_meets_a_float_goes_where_it_goes(number: int) -> None:
    """A join compares them as floats, where 2**53 + 1 is 2**53."""
    routing = Routing.key([("k", Type.FLOAT)])
    one = bucket_numbers(pl.DataFrame({"k": [number]}), routing, 1000)
    two = bucket_numbers(pl.DataFrame({"k": [float(number)]}), routing, 1000)
    assert one.tolist() == two.tolist()


def test_equal_floats_have_equal_buckets() -> None:
    odd = pl.Series([0.0, -0.0, float("nan"), -float("nan")])
    found = hash_columns([odd], 4)
    assert found[0] == found[1]
    assert found[2] == found[3]


def test_buckets_by_routing() -> None:
    train = pl.DataFrame({"a": range(9_000), "b": ["x"] * 9_000})
    key = bucket_numbers(train, Routing.key([("b", Type.STR)]), 64)
    assert len(set(key.tolist())) == 1
    assert set(bucket_numbers(train, Routing.single("it sorts"), 64).tolist()) == {0}
    spread = np.bincount(bucket_numbers(train, Routing("any"), 64), minlength=64)
    assert spread.min() > 90
    rows = bucket_numbers(train, Routing.pairs([("a", Type.INT)], side=0), 8)
    assert set(rows.tolist()) == set(range(8))


@settings(deadline=None)
@given(st.integers(1, 300).flatmap(lambda b: st.tuples(st.just(b), st.integers(1, b))))
def test_a_registry_is_balanced(numbers: tuple[int, int]) -> None:
    buckets, instances = numbers
    registry = Registry.balanced(buckets, instances)
    sizes = [len(registry.owned_by(instance)) for instance in range(instances)]
    assert sum(sizes) == buckets
    assert max(sizes) - min(sizes) <= 1
    tiled = Registry.tiled(Grid.of(buckets), instances)
    assert set(tiled.owners.tolist()) == set(range(instances))


def test_moves() -> None:
    registry = Registry.balanced(4, 2)
    moved = registry.moved({0: 1, 3: 2})
    assert moved.owners.tolist() == [1, 0, 1, 2]
    assert (moved.instances, registry.owners.tolist()) == (3, [0, 0, 1, 1])
    assert moved != registry
    assert moved.moved({0: 0, 3: 1}).owners.tolist() == registry.owners.tolist()
    assert registry == Registry.balanced(4, 2)
    with pytest.raises(BoxcarsError, match="no bucket 4"):
        registry.moved({4: 0})
    with pytest.raises(BoxcarsError, match="can't assign 2 buckets to 3 instances"):
        Registry.balanced(2, 3)
