"""``boxcars lang``: import networks from other languages."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from boxcars.connectors.files import writing
from boxcars.draw import draw
from boxcars.lang.files import LANGUAGES, save
from boxcars.lang.ossim import HOME, read_ossim
from boxcars.model.network import Network
from boxcars.model.problem import Wrong

app = typer.Typer(help="Import networks from other languages.", no_args_is_help=True)
_PICTURES = {".svg": "svg", ".mmd": "mermaid", ".txt": "text"}


@app.callback()
def lang() -> None:
    """Import networks from other languages."""


@app.command()
def ossim(
    files: Annotated[list[Path], typer.Argument(help="OSSIM directive files (.xml).")],
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write a network file (.yaml, .json, .xml, .py) or a drawing (.svg, .mmd, .txt)."
        ),
    ] = None,
    net: Annotated[
        list[str] | None,
        typer.Option(
            help=f"An IP network that the directives name. Default: HOME_NET={HOME['HOME_NET']}.",
            metavar="NAME=SUBNETS",
        ),
    ] = None,
) -> None:
    """Translate OSSIM directives to a network, and draw it or write it to a file."""
    network = read_ossim(*files, nets=_nets(net or []))
    network.check().or_raise()
    if out is not None:
        _write(network, out)
        return
    room = Console().width if sys.stdout.isatty() else None
    typer.echo(draw(network, "text", width=room), nl=False)


def _nets(given: list[str]) -> dict[str, str]:
    nets = {}
    for text in given:
        name, equals, subnets = text.partition("=")
        if not (name and equals and subnets):
            raise Wrong(f"expected --net NAME=SUBNETS, got '{text}'.")
        nets[name] = subnets
    return nets


def _write(network: Network, out: Path) -> None:
    """Write a network file or a drawing, depending on the suffix."""
    if out.suffix in LANGUAGES:
        save(network, out)
    elif out.suffix in _PICTURES:
        with writing(out):
            out.write_text(draw(network, _PICTURES[out.suffix]), encoding="utf-8")
    else:
        endings = ", ".join([*LANGUAGES, *_PICTURES])
        raise Wrong(f"{out}: expected a file name ending in {endings}.")
