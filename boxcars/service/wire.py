"""What goes over the wire between a client and a run: Arrow, and numbers before it."""

from __future__ import annotations

import struct
from io import BytesIO

import polars as pl
import pyarrow as pa

from boxcars.connectors.files import append_rows
from boxcars.connectors.untrusted_arrow import read_batch, read_schema, read_stream
from boxcars.model.problem import Wrong

ARROW = "application/vnd.apache.arrow.stream"
LONGEST = 64 * 2**20
"""Bytes of the longest message to a reader."""
MESSAGE = 16 * 2**20
"""Bytes of the longest message of a sender: each of them may have one under way."""
LEAVE = b"L"
"""The message of a sender that takes its leave: it sends nothing again."""
LOOK = 0.02
"""Seconds between two looks at what is new."""
_ANSWER = 16 * LONGEST
"""Bytes that the values of an epoch may take, each written out: a reader trusts a run that far."""


def table_to_bytes(table: pa.Table) -> bytes:
    """A table as an Arrow stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())


def table_to_json(table: pa.Table) -> str:
    """The rows of a table as an array of JSON; its values are those of JSON lines.

    >>> table_to_json(pa.table({"t": [1, 2], "x": [0.5, float("nan")]}))
    '[{"t":1,"x":0.5},{"t":2,"x":"NaN"}]'
    """
    lines = BytesIO()
    append_rows(pl.DataFrame(table), "jsonl", lines, head=False)
    return "[" + lines.getvalue().decode().removesuffix("\n").replace("\n", ",") + "]"


def numbered(epoch: int, table: pa.Table) -> bytes:
    """The rows of an epoch with its number."""
    return struct.pack("<q", epoch) + table_to_bytes(table)


def read_numbered(data: bytes) -> tuple[int, pa.Table]:
    """The number and the rows again.

    >>> epoch, table = read_numbered(numbered(7, pa.table({"t": [1]})))
    >>> epoch, table.to_pylist()
    (7, [{'t': 1}])
    """
    (epoch,) = struct.unpack_from("<q", data)
    return epoch, read_stream(data[8:], _ANSWER)


class Schemed:
    """Batches over one connection: the schema goes first, and only once.

    >>> sender, receiver = Schemed(), Schemed()
    >>> batch = pa.record_batch({"t": [1, 2]})
    >>> [receiver.read(message) for message in sender.write(batch)][-1].num_rows
    2
    >>> len(sender.write(batch))
    1
    """

    def __init__(self) -> None:
        self._schema: pa.Schema | None = None

    def write(self, batch: pa.RecordBatch) -> list[bytes]:
        """The messages for a batch."""
        found = []
        if self._schema is None or not self._schema.equals(batch.schema):
            self._schema = batch.schema
            found.append(b"S" + bytes(batch.schema.serialize()))
        return [*found, b"B" + bytes(batch.serialize())]

    def read(self, message: bytes) -> pa.Table | None:
        """The table in a message; None if it was a schema."""
        if message[:1] == b"S":
            self._schema = read_schema(message[1:])
            return None
        if message[:1] == b"B" and self._schema is not None:
            return read_batch(message[1:], self._schema)
        raise Wrong("expected a schema (S) and then batches (B).")
