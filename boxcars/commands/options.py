"""Arguments and options shared by several commands, and the parsing of ``NAME=VALUE`` options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from boxcars.model.problem import Wrong

NetworkFile = Annotated[Path, typer.Argument(help="A network file: .yaml, .json, .xml or .py.")]

AllowCode = Annotated[
    bool,
    typer.Option(
        "--allow-code", help="Import the Python code that the network names. Only if you trust it."
    ),
]

TableOptions = Annotated[
    list[str] | None,
    typer.Option(
        help="The file or database URL of a stored table. Default: an empty table in memory.",
        metavar="NAME=URI",
    ),
]


def pairs(given: list[str] | None, option: str, value_is: str = "FILE") -> dict[str, str]:
    """Parse repeated options such as ``--source calls=calls.csv`` into a dict.

    >>> pairs(["calls=calls.csv"], "--source")
    {'calls': 'calls.csv'}
    """
    found: dict[str, str] = {}
    for text in given or []:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise Wrong(f"expected {option} NAME={value_is}, got '{name}{equals}'.")
        if name in found:
            raise Wrong(f"{option} names '{name}' twice.")
        found[name] = value
    return found
