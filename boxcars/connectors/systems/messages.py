"""Shared code of connectors: encoding of rows, options, optional packages, and error messages."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import polars as pl
import pyarrow as pa

from boxcars.connectors.formats import make_format
from boxcars.connectors.formats.format import letters
from boxcars.connectors.systems.connector import Connector, Delivery, Intake, Lost
from boxcars.connectors.systems.url import Url
from boxcars.model.problem import BoxcarsError, Wrong
from boxcars.model.schema import Schema

FIRST, NEW = "first", "new"
"""Values of the option ``from``: read everything retained, or only new messages."""


def check_options(url: Url, *own: str, path: str = "") -> None:
    """Raise Wrong for options that are neither common to all connectors nor in ``own``."""
    formats = [name for name in url.options if name.startswith("format.")]
    url.check(["format", "patience", *own, *formats], path=path)


def choice(url: Url, name: str, *choices: str) -> str:
    """The value of an option that must be one of ``choices``; the first is the default."""
    word = url.options.get(name, choices[0])
    if word not in choices:
        got = url.hide(word)
        raise Wrong(f"{url}: expected {' or '.join(choices)} for '{name}', got '{got}'.")
    return word


def library(connector: type[Connector], module: str) -> Any:
    """Import an optional dependency when it is needed."""
    try:
        return import_module(module)
    except ImportError:
        raise Wrong(
            f"{connector.scheme}:// needs the package {connector.package}: "
            "pip install 'boxcars[connectors]'."
        ) from None


def words(error: BaseException, url: Url) -> str:
    """The first line of an error as a sentence, without secrets."""
    first = url.hide(str(error)).strip().partition("\n")[0] or type(error).__name__
    for secret in {url.password, *url.secrets()} - {""}:
        first = first.replace(secret, "***")
    return f"{first.rstrip('. ')}."


def client_tls(url: Url) -> ssl.SSLContext:
    """A TLS context that trusts the certificates in the file ``ca``, or those of the system."""
    try:
        return ssl.create_default_context(cafile=url.options.get("ca"))
    except OSError as error:
        raise Wrong(f"{url}: 'ca' can't be read: {words(error, url)}") from None


def unreachable(who: str, error: BaseException, url: Url) -> BoxcarsError:
    """The error for a failed connection: temporary, unless the certificate is not trusted."""
    said = words(error, url)
    if "certificate verify failed" in said.lower():
        return Wrong(f"{url}: the certificate is not trusted: {said}")
    return Lost(f"{who} does not answer: {said}")


@contextmanager
def or_closed(connection: Intake | Delivery) -> Iterator[None]:
    """Close a connection if opening it fails."""
    try:
        yield
    except BaseException:
        connection.close()
        raise


def arrived(last: int | None, epoch: int) -> bool:
    """Whether an epoch was delivered already, given the last epoch in the ledger."""
    if last is not None and last > epoch:
        raise BoxcarsError(
            f"epoch {last} of this run was delivered already, but its checkpoint is at epoch "
            f"{epoch}: the checkpoint is outdated, and the run can't be resumed from it."
        )
    return last == epoch


class Encoder:
    r"""Encodes rows as messages, one per row.

    The URL option ``format`` selects the format: ``jsonl`` (the default), another format, or
    ``arrow``: one message with all rows, as an IPC stream.

    >>> schema = Schema.of({"t": "int"}, ts="t")
    >>> Encoder(schema, Url.parse("redis://host/calls")).encode(pa.table({"t": [1, 2]}))
    [b'{"t":1}', b'{"t":2}']
    """

    def __init__(self, schema: Schema, url: Url) -> None:
        self._name = url.options.get("format", "jsonl")
        own = {
            name.removeprefix("format."): value
            for name, value in url.options.items()
            if name.startswith("format.")
        }
        try:
            arrow = self._name == "arrow"
            self._format = None if arrow else make_format(self._name, schema.fields, own)
        except Wrong as wrong:
            raise Wrong(f"{url}: {url.hide(str(wrong))}") from None

    @property
    def may_refuse(self) -> bool:
        """Whether there are rows that the format can't represent, such as line breaks in CSV."""
        return self._name not in ("jsonl", "arrow")

    def refused(self, table: pa.Table) -> pl.DataFrame:
        """The rows that can't be encoded: (origin, record, reason)."""
        if self._format is None or not self.may_refuse:
            return letters([], [], [])
        return self._format.encode(pl.DataFrame(table)).dead

    def encode(self, table: pa.Table) -> list[bytes]:
        """Encode rows, none of which may be refused."""
        if self._format is None:
            stream = pa.BufferOutputStream()
            with pa.ipc.new_stream(stream, table.schema) as writer:
                writer.write_table(table)
            return [stream.getvalue().to_pybytes()]
        frame = pl.DataFrame(table)
        encoded = self._format.encode(frame)
        if encoded.dead.height:
            reason = encoded.dead["reason"][0]
            raise BoxcarsError(f"a row can't be written as {self._name}: {reason}.")
        return [line.removesuffix(b"\n") for line in encoded.data]


class EncodedDelivery(Delivery):
    """A connection that writes messages, one per row, in the format of its URL."""

    _encoder: Encoder

    @property
    def may_refuse(self) -> bool:
        """Whether there are rows that its format can't represent."""
        return self._encoder.may_refuse

    def refused(self, table: pa.Table) -> pl.DataFrame:
        """The rows that its format can't represent."""
        return self._encoder.refused(table)
