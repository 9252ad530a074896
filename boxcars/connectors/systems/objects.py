"""Object storage: ``s3://bucket/folder/``, of Amazon or any other S3 server."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from time import monotonic
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import feather, fs

from boxcars.connectors.formats.format import letters
from boxcars.connectors.systems.connector import Connector, Delivery, Intake, Lost, Received
from boxcars.connectors.systems.messages import Encoder, check_options, choice, words
from boxcars.connectors.systems.url import Url
from boxcars.model.problem import Wrong
from boxcars.model.schema import Schema

_SECONDS = 10.0
"""Seconds to wait for a response."""
_EVERY = 5.0
"""Default seconds between listings of new objects."""
_ENOUGH = 2**26
"""Bytes of objects per pull, at least one object."""
_REFUSED = (
    "NO_SUCH_BUCKET",
    "ACCESS_DENIED",
    "INVALID_ACCESS_KEY_ID",
    "SIGNATURE_DOES_NOT_MATCH",
    "INVALID_CLIENT_TOKEN_ID",
    "MISSING_AUTHENTICATION_TOKEN",
    "HTTP status 403",
)
"""Permanent errors."""


class Objects(Connector):
    """A folder of objects in an S3 bucket.

    A source reads ``.parquet`` and ``.arrow`` objects as tables, and others by their ``format``; a
    sink writes one object per epoch, with ``format=parquet`` by default. Other options:
    ``endpoint``, a server that is not Amazon's; ``tls=no``; ``region``; ``token``, a session token;
    ``every``, seconds between listings; ``follow=no``, to end after all objects were read. The
    access key and secret key are ``user:password@``, or come from the environment.
    """

    scheme, title = "s3", "S3 objects"
    guarantee_in = "exactly once, if later objects have later names: the last name is the position"
    guarantee_out = "exactly once: the epoch is in the name, so a replay replaces the object"
    tested = "moto's S3 server, no real one"

    def intake(self) -> Intake:
        """Create a connection that reads objects in the order of their names."""
        self._check()
        return ObjectsIntake(self.url)

    def delivery(self, schema: Schema, home: str) -> Delivery:
        """Create a connection that writes objects."""
        self._check()
        return ObjectsDelivery(self.url, schema, home)

    def _check(self) -> None:
        own = ("endpoint", "tls", "region", "token", "every", "follow")
        check_options(self.url, *own)
        if not self.url.host:
            raise Wrong(f"{self.url}: expected a bucket, as in s3://bucket/folder/.")
        choice(self.url, "tls", "yes", "no")
        choice(self.url, "follow", "yes", "no")


class _Link:
    """A bucket, and the translation of errors."""

    def __init__(self, url: Url) -> None:
        self.url, self.folder = url, f"{url.host}/{url.path.strip('/')}".rstrip("/")
        self.files: Any = None

    def open(self) -> None:
        """Create a client, and check that the bucket exists."""
        url = self.url
        with self.explained():
            self.files = fs.S3FileSystem(
                access_key=url.user or None,
                secret_key=url.password or None,
                session_token=url.options.get("token"),
                region=url.options.get("region"),
                endpoint_override=url.options.get("endpoint"),
                scheme="http" if url.options.get("tls") == "no" else "https",
                connect_timeout=_SECONDS,
                request_timeout=_SECONDS,
                retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=1),
            )
            if self.files.get_file_info(url.host).type is fs.FileType.NotFound:
                bucket = url.hide(url.host)
                raise Wrong(f"{url}: bucket '{bucket}' does not exist or is not accessible.")

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Translate errors of the client: Lost if temporary, Wrong if the user must act."""
        try:
            yield
        except FileNotFoundError as error:
            raise Lost(f"an object was deleted: {words(error, self.url)}") from None
        except (OSError, pa.ArrowException, ValueError) as error:
            said = words(error, self.url)
            if any(word in said for word in _REFUSED):
                raise Wrong(f"{self.url}: S3 refused the request: {said}") from None
            raise Lost(f"S3 does not answer: {said}") from None


class ObjectsIntake(Intake):
    """Reads objects in the order of their names; the name of the last one is the position."""

    def __init__(self, url: Url) -> None:
        self._link, self._last = _Link(url), ""
        self._every = url.number("every", _EVERY)
        self._follow = url.options.get("follow") != "no"
        self._listed: list[Any] = []
        self._next_listing = 0.0

    def open(self, position: Any) -> None:
        """Connect, and resume after a name."""
        self._link.open()
        self._last, self._listed, self._next_listing = position or "", [], 0.0

    def pull(self, most: int, seconds: float) -> Received | None:
        """The next objects: one table, or several objects with messages."""
        if not self._listed and not self._list(seconds):
            return None
        if not self._listed:
            return None if self._follow else Received([], self._last, ended=True)
        if _is_table(self._listed[0].path):
            return self._received([self._listed.pop(0)])
        found, size = [], 0
        while self._listed and not _is_table(self._listed[0].path) and size < _ENOUGH:
            found.append(self._listed.pop(0))
            size += found[-1].size
        return self._received(found)

    def _list(self, seconds: float) -> bool:
        """List new objects if it is time for it; otherwise wait up to ``seconds``."""
        wait = self._next_listing - monotonic()
        if wait > 0:
            time.sleep(min(wait, seconds))
            return False
        selector = fs.FileSelector(self._link.folder, allow_not_found=True, recursive=True)
        with self._link.explained():
            found = self._link.files.get_file_info(selector)
        new = [f for f in found if f.is_file and f.path > self._last and _is_data(f.base_name)]
        self._listed = sorted(new, key=lambda file: str(file.path))
        self._next_listing = monotonic() + (0 if self._listed else self._every)
        return True

    def _received(self, files: list[Any]) -> Received:
        contents = []
        for file in files:
            with self._link.explained(), self._link.files.open_input_stream(file.path) as stream:
                contents.append(stream.read())
        self._last = files[-1].path
        if not _is_table(self._last):
            return Received(contents, self._last)
        try:
            read = feather.read_table if self._last.endswith(".arrow") else pq.read_table
            return Received(read(BytesIO(contents[0])), self._last)
        except (pa.ArrowException, OSError) as error:
            why = f"{self._last} can't be read: {words(error, self._link.url)}"
            return Received([why.encode()], self._last)  # becomes a dead letter


def _is_table(path: str) -> bool:
    return path.endswith((".parquet", ".arrow"))


def _is_data(name: str) -> bool:
    """Whether an object is neither a marker such as ``_SUCCESS`` nor hidden."""
    return not name.startswith((".", "_"))


class ObjectsDelivery(Delivery):
    """Writes the rows of an epoch as one object."""

    def __init__(self, url: Url, schema: Schema, home: str) -> None:
        self._link, self._home = _Link(url), home
        self._suffix = url.options.get("format", "parquet")
        tables = self._suffix in ("parquet", "arrow")
        self._encoder = None if tables else Encoder(schema, url)

    def open(self) -> None:
        """Connect."""
        self._link.open()

    @property
    def may_refuse(self) -> bool:
        """Whether there are rows that its format can't represent."""
        return self._encoder is not None and self._encoder.may_refuse

    def refused(self, table: pa.Table) -> pl.DataFrame:
        """The rows that its format can't represent."""
        return letters([], [], []) if self._encoder is None else self._encoder.refused(table)

    def deliver(self, table: pa.Table, epoch: int) -> None:
        """Write an object whose name contains the epoch, so a replay replaces it."""
        data = self._data(table)
        name = f"{self._link.folder}/part-{epoch:08d}-{self._home[:12]}.{self._suffix}"
        with self._link.explained(), self._link.files.open_output_stream(name) as stream:
            stream.write(data)

    def _data(self, table: pa.Table) -> bytes:
        if self._encoder is not None:
            return b"".join(message + b"\n" for message in self._encoder.encode(table))
        data = BytesIO()
        write = pq.write_table if self._suffix == "parquet" else feather.write_feather
        write(table, data)
        return data.getvalue()
