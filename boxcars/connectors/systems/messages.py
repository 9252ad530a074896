"""What connectors share: the messages that rows become, options, libraries, and errors as words."""

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
"""What the option ``from`` may be: all that is there, or only what comes from now on."""


def check_options(url: Url, *own: str, path: str = "") -> None:
    """Complain about options that are neither those of all connectors nor its own."""
    formats = [name for name in url.options if name.startswith("format.")]
    url.check(["format", "patience", *own, *formats], path=path)


def choice(url: Url, name: str, *choices: str) -> str:
    """An option that is one of a few words; the first is meant if it is not given."""
    word = url.options.get(name, choices[0])
    if word not in choices:
        got = url.hide(word)
        raise Wrong(f"{url}: expected {' or '.join(choices)} for '{name}', got '{got}'.")
    return word


def library(connector: type[Connector], module: str) -> Any:
    """A library that is an extra of ours, imported when it is needed."""
    try:
        return import_module(module)
    except ImportError:
        raise Wrong(
            f"{connector.scheme}:// needs the package {connector.package}: "
            "pip install 'boxcars[connectors]'."
        ) from None


def words(error: BaseException, url: Url) -> str:
    """The first line of an error as a sentence, without anything that is secret."""
    first = url.hide(str(error)).strip().partition("\n")[0] or type(error).__name__
    for secret in {url.password, *url.secrets()} - {""}:
        first = first.replace(secret, "***")
    return f"{first.rstrip('. ')}."


def client_tls(url: Url) -> ssl.SSLContext:
    """Who is trusted to be the other side: those of the file ``ca``, or whom the system trusts."""
    try:
        return ssl.create_default_context(cafile=url.options.get("ca"))
    except OSError as error:
        raise Wrong(f"{url}: 'ca' can't be read: {words(error, url)}") from None


def silence(who: str, error: BaseException, url: Url) -> BoxcarsError:
    """That nobody answers, for now; or for good, if nobody vouches for who does."""
    said = words(error, url)
    if "certificate verify failed" in said.lower():
        return Wrong(f"{url}: nobody vouches for it: {said}")
    return Lost(f"{who} does not answer: {said}")


@contextmanager
def or_closed(connection: Intake | Delivery) -> Iterator[None]:
    """Leave nothing open if opening fails."""
    try:
        yield
    except BaseException:
        connection.close()
        raise


def arrived(last: int | None, epoch: int) -> bool:
    """Whether a ledger, by the last epoch in it, has the rows of an epoch."""
    if last is not None and last > epoch:
        raise BoxcarsError(
            f"epoch {last} of this run was delivered already, but its checkpoint asks for epoch "
            f"{epoch}: it is older than what was delivered, and can't go on."
        )
    return last == epoch


class Encoder:
    r"""From rows to messages, a message for each row.

    The option ``format`` of an address says how: ``jsonl`` if nothing is said, another format, or
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
        """Whether there are rows that the format has no message for, such as one of two lines."""
        return self._name not in ("jsonl", "arrow")

    def refused(self, table: pa.Table) -> pl.DataFrame:
        """The rows that can't be written: (origin, record, reason)."""
        if self._format is None or not self.may_refuse:
            return letters([], [], [])
        return self._format.encode(pl.DataFrame(table)).dead

    def encode(self, table: pa.Table) -> list[bytes]:
        """The messages of rows, none of which is refused."""
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
    """A connection that is written in messages, each a row in the format of its address."""

    _encoder: Encoder

    @property
    def may_refuse(self) -> bool:
        """Whether its format has rows that it can't write."""
        return self._encoder.may_refuse

    def refused(self, table: pa.Table) -> pl.DataFrame:
        """The rows that its format can't write."""
        return self._encoder.refused(table)
