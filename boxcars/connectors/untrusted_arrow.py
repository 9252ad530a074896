"""Read Arrow data from untrusted senders, with validation and a limit on its decoded size.

An Arrow message declares the offsets and sizes of its values itself. So a few bytes can ask for all
memory: by compression, a dictionary, views, or rows without values. The decoded size of a message
is computed before it is decoded.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from boxcars.model.problem import Wrong

UNFOLDED = 128 * 2**20
"""Maximum decoded bytes of one message, where each value counts with its column name."""
_DICTIONARY, _BATCH = 2, 3
"""The message types that contain values."""
_WIDTH = 8
"""Minimum bytes of a value in a tuple."""
_ERRORS = (pa.ArrowException, OSError, EOFError, ValueError, NotImplementedError, struct.error)


def read_stream(data: bytes, most: int | None = None) -> pa.Table:
    """Read the table of an Arrow stream. Raises Wrong if it is invalid or too large."""
    most = most or UNFOLDED
    try:
        buffer = pa.py_buffer(data)
        _check_sizes(_messages(buffer), most)
        with pa.ipc.open_stream(pa.BufferReader(buffer)) as stream:
            table = stream.read_all()
        return _checked(table, most)
    except _ERRORS as error:
        raise Wrong(f"not a valid Arrow stream: {_first(error)}") from None


def read_batch(data: bytes, schema: pa.Schema) -> pa.Table:
    """Read the table of a record batch message. Raises Wrong if it is invalid or too large."""
    try:
        message = pa.ipc.read_message(pa.py_buffer(data))
        _check_sizes([message], UNFOLDED)
        table = pa.Table.from_batches([pa.ipc.read_record_batch(message, schema)])
        return _checked(table, UNFOLDED)
    except _ERRORS as error:
        raise Wrong(f"not a valid Arrow batch: {_first(error)}") from None


def read_schema(data: bytes) -> pa.Schema:
    """Read the schema of a message. Raises Wrong if it is invalid."""
    try:
        return pa.ipc.read_schema(pa.py_buffer(data))
    except _ERRORS as error:
        raise Wrong(f"not a valid Arrow batch: {_first(error)}") from None


def _checked(table: pa.Table, most: int) -> pa.Table:
    table.validate(full=True)  # a wrong offset would read arbitrary memory
    _check_size(unfolded(table), most)
    return table.cast(pa.schema([field.with_type(_written_out(field)) for field in table.schema]))


def _written_out(field: pa.Field) -> pa.DataType:
    """The type without dictionaries and views, so that the size of values is what it seems."""
    type_ = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    if not str(type_).endswith("_view"):
        return type_
    return pa.large_string() if pa.types.is_string_view(type_) else pa.large_binary()


def _messages(buffer: pa.Buffer) -> Iterator[pa.Message]:
    reader = pa.ipc.MessageReader.open_stream(pa.BufferReader(buffer))
    while True:
        try:
            yield reader.read_next_message()
        except StopIteration:
            return


def _check_sizes(messages: Iterable[pa.Message], most: int) -> None:
    """Reject messages whose values would be too large, before they are decompressed."""
    size = 0
    for message in messages:
        if message.metadata is not None and message.body is not None:
            size += sum(_lengths(message.metadata.to_pybytes(), memoryview(message.body)))
            _check_size(size, most)


def _check_size(size: int, most: int) -> None:
    if size > most:
        raise Wrong(
            f"its values would take {size:,} bytes, but the limit of a message is {most:,}: "
            "send it in several messages."
        )


def _lengths(metadata: bytes, body: memoryview) -> Iterator[int]:
    """The declared decompressed size of each buffer; nothing for an uncompressed message."""
    root = _Flat(metadata, struct.unpack_from("<I", metadata)[0])
    kind, header = root.byte(1), root.table(2)
    if kind == _DICTIONARY and header is not None:
        header = header.table(1)
    if kind not in (_DICTIONARY, _BATCH) or header is None or header.table(3) is None:
        return
    for start, length in header.pairs(2):
        if length >= _WIDTH:
            (said,) = struct.unpack_from("<q", body, start)
            yield int(length if said < 0 else said)


class _Flat:
    """A table in a flatbuffer; fields are numbered as in Arrow's Message.fbs."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data, self._at = data, at
        self._fields = at - struct.unpack_from("<i", data, at)[0]
        self._size = struct.unpack_from("<H", data, self._fields)[0]

    def _address(self, field: int) -> int | None:
        entry = 4 + 2 * field
        if entry + 2 > self._size:
            return None
        offset = struct.unpack_from("<H", self._data, self._fields + entry)[0]
        return self._at + offset if offset else None

    def byte(self, field: int) -> int:
        """The value of a byte field."""
        start = self._address(field)
        return 0 if start is None else int(struct.unpack_from("<B", self._data, start)[0])

    def table(self, field: int) -> _Flat | None:
        """The value of a table field."""
        start = self._address(field)
        if start is None:
            return None
        return _Flat(self._data, start + struct.unpack_from("<I", self._data, start)[0])

    def pairs(self, field: int) -> Iterator[tuple[int, int]]:
        """The value of a field that is a vector of pairs of 64-bit integers."""
        start = self._address(field)
        if start is None:
            return
        start += struct.unpack_from("<I", self._data, start)[0]
        (number,) = struct.unpack_from("<I", self._data, start)
        for index in range(number):
            yield struct.unpack_from("<qq", self._data, start + 4 + 16 * index)


def unfolded(table: pa.Table) -> int:
    """Decoded bytes of a table, where each value counts with its column name.

    A dead letter is a row as JSON, so it repeats all names.

    >>> unfolded(pa.table({"t": [1, 2], "who": ["ann", "bob"]}))
    46
    >>> one = pa.DictionaryArray.from_arrays(pa.array([0] * 100, pa.int8()), ["x" * 1000])
    >>> unfolded(pa.table({"who": one}))
    101100
    >>> unfolded(pa.table({"nothing": pa.nulls(1000)}))
    15000
    """
    texts = sum(len(name.encode()) for name in table.column_names) * int(table.num_rows)
    for name, column in zip(table.column_names, table.columns, strict=True):
        if not _is_flat(column.type):
            raise Wrong(f"'{name}' is {column.type}: omit it, or convert it to text.")
        texts += sum(map(_text_bytes, column.chunks))
    return texts + _WIDTH * int(table.num_rows) * int(table.num_columns)


def _is_flat(type_: pa.DataType) -> bool:
    """Whether values are scalars, directly or dictionary-encoded."""
    known = type_.value_type if pa.types.is_dictionary(type_) else type_
    number = pa.types.is_primitive(known) or pa.types.is_decimal(known)
    return bool(number or pa.types.is_null(known) or _is_text(known))


def _is_text(type_: pa.DataType) -> bool:
    kinds = ("binary", "large_binary", "string", "large_string", "string_view", "binary_view")
    return str(type_) in kinds or bool(pa.types.is_fixed_size_binary(type_))


def _text_bytes(chunk: pa.Array) -> int:
    """The bytes of variable-length values; numbers have none besides their fixed width."""
    texts = chunk.dictionary if isinstance(chunk, pa.DictionaryArray) else chunk
    if not _is_text(texts.type):
        return 0
    lengths = _lengths_of(texts)
    if texts is not chunk:
        lengths = pc.take(lengths, chunk.indices)
    return int(pc.sum(lengths).as_py() or 0)


def _lengths_of(texts: pa.Array) -> pa.Array:
    if str(texts.type).endswith("_view"):  # a view starts with its length
        views = np.frombuffer(texts.buffers()[1] or b"", np.int32)[::4]
        found = pa.array(views[texts.offset : texts.offset + len(texts)].astype(np.int64))
        return pc.if_else(texts.is_valid(), found, 0)
    if pa.types.is_fixed_size_binary(texts.type):
        return pa.array(np.full(len(texts), texts.type.byte_width, np.int64))
    return pc.cast(pc.binary_length(texts), pa.int64())


def _first(error: Exception) -> str:
    return (str(error).splitlines() or ["it is truncated"])[0]
