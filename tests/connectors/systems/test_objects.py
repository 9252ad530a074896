"""S3 objects, against moto's server in a separate process.

It has all in memory, so it is frozen for a while here instead of killed.
"""

import json
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather, fs

from boxcars.connectors.systems.connector import connect
from tests.connectors.systems import servers
from tests.connectors.systems.contract import (
    Reading,
    Sink,
    Source,
    delivery,
    messages,
    reading,
    refuses,
    table,
)
from tests.postgres import free_port

__all__ = ["reading"]


def moto(_: Path, port: int) -> list[str]:
    return [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]


class There:
    """A server with a bucket; each name is a folder."""

    def __init__(self, server: servers.Server) -> None:
        self.server = server
        self.files = fs.S3FileSystem(
            access_key="ann",
            secret_key="geheim",
            region="eu-west-1",
            endpoint_override=f"127.0.0.1:{server.port}",
            scheme="http",
            allow_bucket_creation=True,
        )
        self.files.create_dir("bucket")
        self.sent = 0

    def address(self, name: str) -> str:
        where = f"endpoint=127.0.0.1:{self.server.port}&tls=no&region=eu-west-1&every=0.1"
        return f"s3://ann:geheim@bucket/{name}/?{where}"

    def put(self, path: str, data: bytes) -> None:
        with self.files.open_output_stream(f"bucket/{path}") as stream:
            stream.write(data)

    def send(self, name: str, messages: Sequence[bytes]) -> None:
        """As several objects."""
        for first in range(0, len(messages), 40):
            self.sent += 1
            self.put(f"{name}/{self.sent:08d}.jsonl", b"\n".join(messages[first : first + 40]))

    def objects(self, name: str) -> dict[str, bytes]:
        found = self.files.get_file_info(
            fs.FileSelector(f"bucket/{name}", allow_not_found=True, recursive=True)
        )
        return {
            file.base_name: self.files.open_input_stream(file.path).read()
            for file in sorted(found, key=lambda file: str(file.path))
        }

    def received(self, name: str) -> list[int]:
        parts = [pl.read_parquet(BytesIO(data))["t"] for data in self.objects(name).values()]
        return [t for part in parts for t in part]

    def kill(self) -> None:
        servers.freeze(self.server.process)

    def start(self) -> None:
        assert self.server.process is not None
        self.server.process.send_signal(signal.SIGCONT)


@pytest.fixture(scope="module")
def there() -> Iterator[There]:
    with servers.serving(moto) as server:
        yield There(server)


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boxcars.connectors.systems.objects._SECONDS", 1.0)


class TestSource(Source):
    def test_tables(self, there: There, reading: Callable[[str], Reading]) -> None:
        def written(write: Any, rows: pa.Table) -> bytes:
            data = BytesIO()
            write(rows, data)
            return data.getvalue()

        there.put("tables/1.parquet", written(pq.write_table, table(0, 5)))
        there.put("tables/2.jsonl", b"\n".join(messages(5, 7)))
        there.put("tables/3.arrow", written(feather.write_feather, table(7, 9)))
        there.put("tables/4.parquet", b"oops")
        there.put("tables/_SUCCESS", b"")
        there.put("tables/deep/5.jsonl", messages(9, 10)[0])
        journal = reading(there.address("tables"))
        assert journal.take(*range(10)) == list(range(10))

    def test_the_end(self, there: There) -> None:
        there.put("end/1.jsonl", messages(0, 1)[0])
        intake = connect(there.address("end") + "&follow=no").intake()
        intake.open(None)
        first, end = intake.pull(10, 0.1), intake.pull(10, 0.1)
        assert first is not None
        assert end is not None
        assert (first.data, first.ended) == (messages(0, 1), False)
        assert (end.data, end.ended, end.position) == ([], True, "bucket/end/1.jsonl")


class TestSink(Sink):
    def test_names(self, there: There) -> None:
        sink = delivery(there.address("names"), "0123456789abcdef")
        sink.deliver(table(0, 2), 7)
        assert list(there.objects("names")) == ["part-00000007-0123456789ab.parquet"]

    def test_lines(self, there: There) -> None:
        sink = delivery(there.address("lines") + "&format=jsonl")
        sink.deliver(table(0, 2), 1)
        (data,) = there.objects("lines").values()
        assert [json.loads(line)["t"] for line in data.splitlines()] == [0, 1]

    def test_arrow(self, there: There) -> None:
        sink = delivery(there.address("arrow") + "&format=arrow")
        sink.deliver(table(0, 2), 1)
        (data,) = there.objects("arrow").values()
        assert feather.read_table(BytesIO(data))["t"].to_pylist() == [0, 1]


def test_mistakes(there: There) -> None:
    away = there.address("x").replace(str(there.server.port), str(free_port()))
    said = refuses(away, "S3 does not answer: .*connect")
    assert "geheim" not in said
    refuses(there.address("x").replace("bucket", "nowhere"), "bucket 'nowhere' does not exist")
    refuses("s3:///x", "expected a bucket, as in")
    refuses("s3://b/x?regoin=x", "Did you mean 'region'")
    refuses("s3://b/x?follow=maybe", "expected yes or no for 'follow'")
