"""Stored Polars expressions: texts that start with ``polars:``, which run only if trusted.

The format is private to Polars. Reading it runs what is in it: pickled functions, or the library
that a plugin names. So a text is only read after it was vouched for: because this process wrote it
for an expression that it was given, because the user allowed code from its source, or because the
driver of a run sent it to a worker.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import polars as pl

from boxcars.model.box import Box
from boxcars.model.flatten import flatten
from boxcars.model.network import Network
from boxcars.model.problem import Path, Wrong
from boxcars.model.serialize import network_to_plain

POLARS = "polars:"
"""Prefix of a stored Polars expression."""

_vouched: set[str] = set()
"""The texts that may be read. It only grows: trust in a text does not depend on the caller."""


def store(expr: pl.Expr) -> str:
    """Return the text of an expression; this process may read it again.

    >>> restore(store(pl.col("price") * 2)).meta.root_names()
    ['price']
    """
    try:
        text = POLARS + expr.meta.serialize(format="json")
    except pl.exceptions.PolarsError:
        raise Wrong(
            "a Polars expression with a Python function in it can't be stored: "
            "register the function with bx.function and call it by name."
        ) from None
    _vouched.add(text)
    return text


def restore(text: str) -> pl.Expr:
    """Read an expression whose text was vouched for.

    >>> restore("polars:from a stranger")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    boxcars.model.problem.Wrong: a stored Polars expression can run code: write it in SQL, ...
    """
    if text not in _vouched:
        raise Wrong(
            "a stored Polars expression can run code: write it in SQL, or allow it with "
            "--allow-code, or in Python with code=True, if you trust it."
        )
    return _read(text)


@lru_cache(maxsize=1_000)
def _read(text: str) -> pl.Expr:
    try:
        return pl.Expr.deserialize(io.StringIO(text.removeprefix(POLARS)), format="json")
    except (pl.exceptions.PolarsError, ValueError, RecursionError) as error:
        first = str(error).partition("\n")[0]
        raise Wrong(f"can't read the stored Polars expression: {first}.") from None


def vouch(text: str) -> None:
    """Allow a text to be read: call this only for text from a source that may run code here."""
    if text.startswith(POLARS):
        _vouched.add(text)


def vouch_for(net: Network) -> None:
    """Allow all stored expressions of a network to be read, also those that superboxes assemble."""
    for each in (net, flatten(net).network):
        for _, text in stored_in(network_to_plain(each)):
            vouch(text)


def code_in(box: Box) -> list[Path]:
    """Return the parameters of a box that run code: names of code, and stored expressions."""
    named = [] if box.code is None else [(box.code,)]
    return [*named, *(path for path, _ in stored_in(box.plain()))]


def stored_in(plain: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Yield the stored expressions in a plain value, each with its path.

    >>> list(stored_in({"where": ["price > 1", " polars:{}"]}))
    [(('where', '1'), 'polars:{}')]
    """
    if isinstance(plain, str):
        if plain.strip().startswith(POLARS):
            yield path, plain.strip()
    elif isinstance(plain, Mapping):
        for key, value in plain.items():
            yield from stored_in(value, (*path, str(key)))
    elif isinstance(plain, list | tuple):
        for index, value in enumerate(plain):
            yield from stored_in(value, (*path, str(index)))
