"""The wire format between a client and a run: Arrow batches, and epochs with their numbers."""

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
"""Maximum bytes of a message to a reader."""
MESSAGE = 16 * 2**20
"""Maximum bytes of a sender's message; every sender may have one in flight."""
UNREGISTER = b"L"
"""A sender's last message: it sends nothing again, and can be forgotten."""
POLL = 0.02
"""Seconds between polls for new data."""
_ANSWER = 16 * LONGEST
"""Maximum decoded bytes of an epoch that a client accepts from a run."""


def table_to_bytes(table: pa.Table) -> bytes:
    """Encode a table as an Arrow stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())


def table_to_json(table: pa.Table) -> str:
    """Encode the rows of a table as a JSON array, with the values of the JSON lines format.

    >>> table_to_json(pa.table({"t": [1, 2], "x": [0.5, float("nan")]}))
    '[{"t":1,"x":0.5},{"t":2,"x":"NaN"}]'
    """
    lines = BytesIO()
    append_rows(pl.DataFrame(table), "jsonl", lines, head=False)
    return "[" + lines.getvalue().decode().removesuffix("\n").replace("\n", ",") + "]"


def encode_epoch(epoch: int, table: pa.Table) -> bytes:
    """Encode the number and rows of an epoch."""
    return struct.pack("<q", epoch) + table_to_bytes(table)


def decode_epoch(data: bytes) -> tuple[int, pa.Table]:
    """Decode the number and rows of an epoch.

    >>> epoch, table = decode_epoch(encode_epoch(7, pa.table({"t": [1]})))
    >>> epoch, table.to_pylist()
    (7, [{'t': 1}])
    """
    (epoch,) = struct.unpack_from("<q", data)
    return epoch, read_stream(data[8:], _ANSWER)


class BatchCodec:
    """Encodes and decodes the batches of one connection: the schema is sent once, first.

    >>> sender, receiver = BatchCodec(), BatchCodec()
    >>> batch = pa.record_batch({"t": [1, 2]})
    >>> [receiver.read(message) for message in sender.write(batch)][-1].num_rows
    2
    >>> len(sender.write(batch))
    1
    """

    def __init__(self) -> None:
        self._schema: pa.Schema | None = None

    def write(self, batch: pa.RecordBatch) -> list[bytes]:
        """Encode a batch as messages."""
        found = []
        if self._schema is None or not self._schema.equals(batch.schema):
            self._schema = batch.schema
            found.append(b"S" + bytes(batch.schema.serialize()))
        return [*found, b"B" + bytes(batch.serialize())]

    def read(self, message: bytes) -> pa.Table | None:
        """Decode the table of a message; None if the message is a schema."""
        if message[:1] == b"S":
            self._schema = read_schema(message[1:])
            return None
        if message[:1] == b"B" and self._schema is not None:
            return read_batch(message[1:], self._schema)
        raise Wrong("expected a schema (S) and then batches (B).")
