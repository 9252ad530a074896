"""Generated tuples: from the generator of a template, else random values of the schema."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime

import numpy as np
import polars as pl

from boxcars.apps import App, Feed
from boxcars.apps.app import Chunk
from boxcars.model.deserialize import read_network
from boxcars.model.entities import Input
from boxcars.model.network import Network
from boxcars.model.problem import Wrong, nearest
from boxcars.model.types import Type
from boxcars.studio.edit.json_rows import csv_text, plain_rows
from boxcars.studio.edit.templates import find_template, templates
from boxcars.studio.wire import messages

_NAMES = ("ann", "bob", "cid", "dan", "eve", "fay", "gus", "hal", "ida", "jan")
_FIRST = datetime(2026, 1, 1)
_CHUNK = 10_000
_MOST = 10_000
"""The largest number of records of a stored table in a sample."""


def sample(asked: messages.AskSample) -> messages.Sample:
    """Generate tuples for an input of a network, which may be incomplete elsewhere."""
    net = read_network(asked.network).network
    if asked.input not in net.inputs:
        raise Wrong(f"there is no input '{asked.input}'.{nearest(asked.input, net.inputs)}")
    entity = net.inputs[asked.input]
    app = find_template(asked.template) if asked.template else _fitting(net, asked.input)
    tables: dict[str, list[messages.Row]] = {}
    if app is not None:
        feed = app.feed(max(asked.rows * len(app.build().inputs), 4), asked.seed)
        chunks = of_template(app, feed, {asked.input: entity})
        frame = pl.concat([entity.data_schema.empty(), *(chunk[asked.input] for chunk in chunks)])
        tables = {n: plain_rows(t[:_MOST]) for n, t in feed.tables.items() if n in net.tables}
    else:
        frame = pl.concat(random_tuples(entity, asked.seed, asked.rows))
    return messages.Sample(
        rows=plain_rows(frame),
        text=csv_text(frame),
        template=app.name if app else None,
        tables=tables,
    )


def _fitting(net: Network, input: str) -> App | None:
    """Find the application that a network was started from, else one with an input of that name.

    The fields of the input must be a subset of the application's.
    """
    fields = net.inputs[input].fields
    for app in sorted(templates().values(), key=lambda app: app.name != net.name):
        known = app.build().inputs
        if input in known and fields.items() <= known[input].fields.items():
            return app
    return None


def of_template(app: App, feed: Feed, entities: Mapping[str, Input]) -> Iterator[Chunk]:
    """Yield the data of an application, for inputs whose fields are a subset of its fields.

    The data of an application with one input fits an input of any name.
    """
    known = app.build().inputs
    origin: dict[str, str] = {}
    for name, entity in entities.items():
        origin[name] = name if name in known or len(known) > 1 else next(iter(known))
        given = known[origin[name]].fields if origin[name] in known else {}
        for field, type_ in entity.fields.items():
            if given.get(field) is not type_:
                raise Wrong(f"the data of {app.name} has no {type_} '{field}' for input '{name}'.")
    fields = {name: list(entity.fields) for name, entity in entities.items()}
    return (
        {name: chunk[of].select(fields[name]) for name, of in origin.items() if of in chunk}
        for chunk in feed.chunks
    )


def random_tuples(entity: Input, seed: int, rows: int | None = None) -> Iterator[pl.DataFrame]:
    """Yield ordered chunks of random tuples that fit an input; without ``rows`` endlessly.

    >>> entity = Network("n").input("a", ts="t", fields={"t": "int", "who": "str"}).net.inputs["a"]
    >>> next(random_tuples(entity, 1, 3)).shape
    (3, 2)
    """
    for name, type_ in entity.fields.items():
        if type_ not in _MAKERS:
            raise Wrong(f"field '{name}' has no type yet.")
    rng, start = np.random.default_rng(seed), 0
    while rows is None or start < rows:
        size = _CHUNK if rows is None else min(_CHUNK, rows - start)
        numbers = np.arange(start, start + size)
        columns = {
            name: _order(type_, numbers) if name == entity.ts else _MAKERS[type_](rng, size)
            for name, type_ in entity.fields.items()
        }
        yield pl.DataFrame(columns, schema={n: t.dtype for n, t in entity.fields.items()})
        start += size
    if rows == 0:
        yield entity.data_schema.empty()


def _order(type_: Type, numbers: np.ndarray) -> pl.Series:
    """Return order values one unit apart, or one second for timestamps."""
    if type_ is Type.TIMESTAMP:
        first = int((_FIRST - datetime(1970, 1, 1)).total_seconds() * 1e6)
        return pl.Series(first + numbers * 1_000_000).cast(pl.Datetime("us"))
    return pl.Series(numbers).cast(type_.dtype)


def _texts(rng: np.random.Generator, size: int) -> pl.Series:
    return pl.Series([_NAMES[i] for i in rng.integers(0, len(_NAMES), size)])


def _times(rng: np.random.Generator, size: int) -> pl.Series:
    return _order(Type.TIMESTAMP, rng.integers(0, 86_400, size))


_MAKERS: Mapping[Type, Callable[[np.random.Generator, int], pl.Series]] = {
    Type.STR: _texts,
    Type.INT: lambda rng, size: pl.Series(rng.integers(0, 100, size)),
    Type.FLOAT: lambda rng, size: pl.Series(rng.uniform(0, 100, size).round(2)),
    Type.BOOL: lambda rng, size: pl.Series(rng.random(size) < 0.5),
    Type.TIMESTAMP: _times,
    Type.BYTES: lambda rng, size: pl.Series([rng.bytes(4) for _ in range(size)], dtype=pl.Binary),
}
