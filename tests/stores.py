"""A place where tables are, for tests that must hold in every one: memory, SQLite, PostgreSQL."""

from itertools import count
from typing import Any

import pyarrow as pa

import boxcars as bx
from boxcars.connectors.conform import as_frame, conform
from boxcars.tables.store import Tables

_numbers = count()


class Store:
    """Runs networks over tables in one place, each time with new tables."""

    def __init__(self, address: str) -> None:
        self.address = address

    def preview(
        self, net: bx.Network, sources: dict[str, Any], trains: int = 1, **tables: Any
    ) -> tuple[bx.Preview, dict[str, list[dict[str, Any]]]]:
        """What a network gives over tables with this content, and what they hold afterwards."""
        if not self.address:
            result = bx.preview(net, sources, trains=trains, tables=tables)
            return result, {name: table.to_pylist() for name, table in result.stored.items()}
        places = {name: f"{self.address}#{name}_{next(_numbers)}" for name in net.tables}
        filled = Tables(net.tables, places)
        for name, data in tables.items():
            filled.load(name, conform(as_frame(data), net.tables[name]).tuples)
        filled.close()
        result = bx.preview(net, sources, trains=trains, tables=places)
        assert not result.stored
        after = Tables(net.tables, places)
        held = {name: after.records(name) for name in net.tables}
        after.close()
        return result, {name: frame.to_dicts() for name, frame in held.items()}


def rows(result: bx.Preview, output: str) -> list[Any]:
    """The rows of an output as tuples."""
    table: pa.Table = result[output]
    return [tuple(row.values()) for row in table.to_pylist()]
