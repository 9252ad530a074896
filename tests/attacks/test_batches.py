"""Invalid or exploding batches: the sender gets an error, and the run continues."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from boxcars.connectors import untrusted_arrow
from boxcars.connectors.files import count_tuples, read_input, write_table
from boxcars.connectors.read.journal import Decoder
from boxcars.connectors.read.splits import FileSplit
from boxcars.connectors.untrusted_arrow import read_batch, read_stream
from boxcars.model.problem import BoxcarsError, Wrong
from boxcars.service.wire import ARROW, table_to_bytes
from tests.attacks.victim import Victim, until
from tests.service.test_service import network, rows

MB = 2**20
LIMIT = 4 * MB


def packed(table: pa.Table, compression: str | None = None) -> bytes:
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(sink, table.schema, options=options) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())


def column(data: Any, type_: Any = None) -> pa.Table:
    return pa.table({"t": pa.array(data, type_), "who": pa.nulls(len(data))})


def dictionary() -> pa.Table:
    """One long text, and many references to it."""
    indices = pa.array(np.zeros(100, np.int8))
    return pa.table({"t": range(100), "who": pa.DictionaryArray.from_arrays(indices, ["x" * MB])})


def views() -> pa.Table:
    """The same with views, all of which refer to the beginning of the text."""
    text = pa.array(["x" * MB], pa.string_view())
    validity, view, *data = text.buffers()
    many = pa.py_buffer(view.to_pybytes() * 100)
    return pa.table(
        {"t": range(100), "who": pa.Array.from_buffers(text.type, 100, [validity, many, *data], 0)}
    )


def runs() -> pa.Table:
    ends, values = pa.array([2**30], pa.int32()), pa.array([1])
    return pa.table({"t": pa.RunEndEncodedArray.from_arrays(ends, values)})


def nothing() -> bytes:
    """Nulls have no values, so a message can claim any number of them."""
    data = packed(pa.table({"t": pa.nulls(12_345)}))
    assert data.count((12_345).to_bytes(8, "little")) == 3
    return data.replace((12_345).to_bytes(8, "little"), (2**40).to_bytes(8, "little"))


BOMBS: dict[str, Callable[[], bytes]] = {
    "zeros, compressed (zstd)": lambda: packed(column(np.zeros(MB, np.int64)), "zstd"),
    "zeros, compressed (lz4)": lambda: packed(column(np.zeros(MB, np.int64)), "lz4"),
    "a dictionary": lambda: packed(dictionary()),
    "a dictionary, compressed": lambda: packed(dictionary(), "zstd"),
    "views": lambda: packed(views()),
    "rows of nothing": nothing,
    "rows of bytes without bytes": lambda: packed(column([b""] * MB, pa.binary(0))),
    "runs": lambda: packed(runs()),
    "narrow numbers": lambda: packed(column(np.zeros(MB, np.int8))),
    "structs": lambda: packed(pa.table({"t": pa.array([{"a": 1}])})),
    "a long name": lambda: packed(pa.table([pa.nulls(1000)], names=["x" * 20_000])),
    "many columns": lambda: packed(pa.table({f"c{n}": pa.nulls(MB) for n in range(100)})),
}


@pytest.mark.parametrize("what", BOMBS)
def test_a_small_message_that_would_take_all_memory(
    what: str, victim: Victim, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(untrusted_arrow, "UNFOLDED", LIMIT)
    data = BOMBS[what]()
    pool = pa.default_memory_pool()
    before = pool.bytes_allocated()
    with pytest.raises(Wrong, match="send it in several|omit it"):
        read_stream(data)
    assert pool.bytes_allocated() <= before + LIMIT
    found = Decoder(network().inputs["rows"], {"format": "arrow"}).decode([data])
    assert (found.tuples.height, found.dead.height) == (0, 1)
    code, answer = victim.ask("POST", "/api/inputs/rows", data, content_type=ARROW)
    assert (code, len(answer["detail"]) > 20) == (400, True)


def test_the_size_is_checked_before_decompression(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A message can claim any size, and claims are not trusted."""
    monkeypatch.setattr(untrusted_arrow, "UNFOLDED", LIMIT)
    data = bytearray(packed(column(np.arange(1000)), "zstd"))
    length = (8000).to_bytes(8, "little")
    assert data.count(length) == 1, "the size of the column, before what is compressed"
    at = data.rindex(length)
    data[at : at + 8] = (2**50).to_bytes(8, "little")
    with pytest.raises(Wrong, match=r"would take 1,125,899,906,8\d\d,\d\d\d bytes"):
        read_stream(bytes(data))


def test_batches_over_a_websocket(monkeypatch: pytest.MonkeyPatch) -> None:
    table = dictionary().combine_chunks()
    plain = rows(0, 10).to_batches()[0]
    assert read_batch(bytes(plain.serialize()), plain.schema).num_rows == 10
    monkeypatch.setattr(untrusted_arrow, "UNFOLDED", untrusted_arrow.unfolded(rows(0, 10)) - 1)
    with pytest.raises(Wrong, match="send it in several"):
        read_batch(bytes(plain.serialize()), plain.schema)
    with pytest.raises(Wrong):
        read_batch(bytes(table.to_batches()[0].serialize()), table.schema)


@pytest.mark.parametrize("compression", [None, "zstd", "lz4"])
def test_ordinary_messages_are_read(compression: str | None) -> None:
    table = pa.table(
        {
            "t": pa.array([1, 2], pa.int32()),
            "who": pa.array(["ann", "bob"]).dictionary_encode(),
            "view": pa.array(["ann", None], pa.string_view()),
        }
    )
    found = read_stream(packed(table, compression))
    assert found.to_pylist() == table.to_pylist()
    assert not any(pa.types.is_dictionary(type_) for type_ in found.schema.types)


WRONG = {
    "no field t": pa.table({"who": ["a", "b"]}),
    "a text for a number that is none": pa.table({"t": ["x", "y"], "who": ["a", "b"]}),
    "bytes for a number": pa.table({"t": [b"1", b"2"], "who": ["a", "b"]}),
    "no field at all": pa.table({"x": pa.nulls(2)}),
    "a number for a text": pa.table({"t": [1, 2], "who": [1, 2]}),
    "a time for a number": pa.table({"t": pa.array([0, 1], pa.timestamp("us")), "who": ["a", "b"]}),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_batch_is_dead_letters(what: str, victim: Victim) -> None:
    """Each of its rows is counted, with the reason; valid ones before and after are read."""
    before = victim.run.stats().boxes["rows"].dead
    for data in (table_to_bytes(rows(0, 1)), table_to_bytes(WRONG[what]), b'{"t": 0, "who": "a"}'):
        kind = {} if data.startswith(b"{") else {"content_type": ARROW}
        assert victim.ask("POST", "/api/inputs/rows", data, **kind)[0] == 200
    victim.client.enqueue("rows", WRONG[what])
    until(lambda: victim.run.stats().boxes["rows"].dead == before + 4, "four are counted")


def test_letters_say_why() -> None:
    decoder = Decoder(network().inputs["rows"], {})
    found = decoder.decode(WRONG["no field t"])
    assert found.tuples.height == 0
    assert [json.loads(record) for record in found.dead["record"]] == [{"who": "a"}, {"who": "b"}]
    assert set(found.dead["reason"]) == {"the data has no field 't'. There is: who."}


def extension(name: bytes) -> pa.Table:
    """A column with an unknown extension type."""
    note = {b"ARROW:extension:name": name, b"ARROW:extension:metadata": b"\xff"}
    fields = [pa.field("t", pa.int64(), metadata=note), pa.field("who", pa.string(), metadata=note)]
    return pa.table([[1, 2], ["a", "b"]], schema=pa.schema(fields, {b"\xff": b"\xfe"}))


def beside(type_: pa.DataType, data: Any = None) -> pa.Table:
    """Two valid rows, and a column that is not a field of the input."""
    more = pa.nulls(2, type_) if data is None else pa.array(data, type_)
    return pa.table({"t": [1, 2], "who": ["a", "b"], "more": more})


STRANGE = {
    "a wide decimal": beside(pa.decimal256(40, 2)),
    "a far date": beside(pa.date32(), [2**31 - 1, 0]),
    "a time of no day": beside(pa.time64("ns"), [2**62, -1]),
    "an interval": beside(pa.month_day_nano_interval()),
    "a zone that is nowhere": beside(pa.timestamp("us", "nowhere")),
    "the name of an extension": extension(b"\xff\xfe"),
    "an unknown extension": extension(b"boxcars.unknown"),
    "an extension of Arrow": pa.table(
        {"t": [1, 2], "who": ["a", "b"], "id": pa.array([b"0" * 16] * 2, pa.uuid())}
    ),
}
"""Tables with columns that Polars can't read; the fields of the input are valid."""


@pytest.mark.parametrize("what", STRANGE)
def test_unused_columns_are_harmless(what: str) -> None:
    decoder = Decoder(network().inputs["rows"], {"format": "arrow"})
    found = decoder.decode(STRANGE[what])
    assert (found.tuples.rows(), found.dead.height) == ([(1, "a"), (2, "b")], 0)
    sent = decoder.decode([packed(STRANGE[what])])
    assert sent.tuples.height + sent.dead.height in (1, 2), "read, or refused as a whole"


def test_a_column_that_polars_has_no_type_for(victim: Victim) -> None:
    """In a field its rows are dead letters; in another column they are read."""
    before = victim.run.stats().boxes["rows"].dead
    wide = STRANGE["a wide decimal"].set_column(0, "t", pa.array([0, 0]))
    for table in (wide, wide.select(["more", "who"]).rename_columns(["t", "who"])):
        data = table_to_bytes(table)
        assert victim.ask("POST", "/api/inputs/rows", data, content_type=ARROW)[0] == 200
    until(lambda: victim.run.stats().boxes["rows"].dead == before + 2, "two are counted")


@pytest.mark.parametrize(
    "column",
    [
        pa.nulls(2, pa.decimal256(40, 2)),
        pa.array([2**31 - 1, 0], pa.date32()),
        pa.array([9 * 10**18, 0], pa.timestamp("ms")),
        pa.array([[1], [2]]),
        pa.array([b"0" * 16] * 2, pa.uuid()),
    ],
    ids=lambda column: str(column.type),
)
def test_a_type_that_the_field_can_t_have(column: pa.Array) -> None:
    found = Decoder(network().inputs["rows"], {}).decode(pa.table({"t": column, "who": ["a", "b"]}))
    assert (found.tuples.height, found.dead.height) == (0, 2)
    assert all(reason.startswith("field 't' is ") for reason in found.dead["reason"])
    assert all(json.loads(record)["who"] for record in found.dead["record"])


@pytest.mark.parametrize("suffix", ["arrow", "parquet"])
def test_files_with_a_wide_decimal(suffix: str, tmp_path: Path) -> None:
    entity, path = network().inputs["rows"], tmp_path / f"wide.{suffix}"
    table = STRANGE["a wide decimal"]
    write_table(table, path)
    assert read_input(path, entity).tuples.rows() == [(1, "a"), (2, "b")]
    assert FileSplit(str(path), 0, count_tuples(path, entity), 0).read(entity).tuples.height == 2
    write_table(table.select(["more", "who"]).rename_columns(["t", "who"]), path)
    with pytest.raises(BoxcarsError, match="field 't' is decimal256.* expected an int"):
        read_input(path, entity)


def test_a_sender_without_numbers_while_the_input_is_full(
    victim: Victim, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Requests that wait for room concurrently are different batches: all are accepted."""
    monkeypatch.setattr(victim.run.feeds["rows"], "_room", 1)
    line = json.dumps({"t": Victim.number, "who": "ann"}).encode()

    def post(_: int) -> int:
        return victim.ask("POST", "/api/inputs/rows?sender=all-at-once", line)[0]

    with ThreadPoolExecutor(20) as pool:
        assert list(pool.map(post, range(20))) == [200] * 20
    assert victim.run.feeds["rows"].kept("all-at-once") == 20
