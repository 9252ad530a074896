"""What commands have in common: their arguments, and what the texts of options mean."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from boxcars.model.problem import Wrong

NetworkFile = Annotated[Path, typer.Argument(help="A network file: .yaml, .json, .xml or .py.")]

AllowCode = Annotated[
    bool,
    typer.Option("--allow-code", help="Import the Python code that boxes name, as you trust it."),
]

TableOptions = Annotated[
    list[str] | None,
    typer.Option(
        help="name=FILE or name=ADDRESS of a database, for a stored table; else it is empty.",
        metavar="NAME=WHERE",
    ),
]


def pairs(given: list[str] | None, option: str, value_is: str = "FILE") -> dict[str, str]:
    """Options such as ``--source calls=calls.csv``, by name.

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
