"""``boxcars inject``: the load injector."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from boxcars.apps import find_app
from boxcars.commands.options import pairs
from boxcars.connectors.systems.url import Url
from boxcars.inject import (
    AtRate,
    Batch,
    ByTime,
    Controller,
    Folders,
    Pace,
    Target,
    Unthrottled,
    cut,
)
from boxcars.inject.controller import COMMANDS
from boxcars.inject.data import from_files
from boxcars.model.problem import BoxcarsError, Wrong
from boxcars.service.security import token_from_environment

_TICK = 1.0
"""Seconds between progress lines."""


def inject_command(
    what: Annotated[
        list[str],
        typer.Argument(
            help="INPUT=FILE, where FILE may also be a folder or a glob pattern; or the name of an "
            "application (see boxcars apps), to inject its generated data.",
            metavar="DATA...",
        ),
    ],
    to: Annotated[
        str,
        typer.Option(
            help="The target: http://HOST:PORT of a run with enqueue:// inputs, tcp://HOST:PORT, "
            "or a folder that a run follows."
        ),
    ] = "http://127.0.0.1:7070",
    rate: Annotated[
        float | None, typer.Option(help="Tuples per second. Default: as fast as possible.")
    ] = None,
    by_time: Annotated[
        str | None,
        typer.Option(help="Replay by this field's timestamps (or seconds, if it is a number)."),
    ] = None,
    speed: Annotated[
        float, typer.Option(help="With --by-time: speed-up factor of the replay.")
    ] = 1.0,
    stamp: Annotated[
        str | None, typer.Option(help="A field to overwrite with the time of sending.")
    ] = None,
    batch: Annotated[int, typer.Option(help="Tuples per message.", min=1)] = 1000,
    injectors: Annotated[int, typer.Option(help="Number of parallel senders.", min=1)] = 1,
    rows: Annotated[
        int, typer.Option(help="For an application: number of generated tuples.")
    ] = 1_000_000,
    seed: Annotated[int, typer.Option(help="For an application: seed of the generator.")] = 1,
) -> None:
    """Inject load into a run: files or generated data, at a rate or by their timestamps.

    Reads commands from stdin, one per line: start, stop, rate NUMBER, end.
    """
    if rate is not None and by_time is not None:
        raise Wrong("choose one of --rate and --by-time.")
    names, chunks = _open(what, rows, seed)
    pace: Pace = Unthrottled()
    if rate is not None:
        pace = AtRate(rate)
    elif by_time is not None:
        pace = ByTime(dict.fromkeys(names, by_time), speed)
    targets = [_target(to, names) for _ in range(injectors)]
    stamps = None if stamp is None else dict.fromkeys(names, stamp)
    controller = Controller(cut(chunks, batch), targets, pace, stamps)
    controller.start()
    threading.Thread(target=_obey, args=(controller,), daemon=True).start()
    _watch(controller)


def _open(what: list[str], rows: int, seed: int) -> tuple[list[str], Iterator[Batch]]:
    """The names of the inputs and their data."""
    if len(what) == 1 and "=" not in what[0]:
        feed = find_app(what[0]).feed(rows, seed)
        chunks = iter(feed.chunks)
        first = next(chunks, {})
        return list(first), _chain(first, chunks)
    files = pairs(what, "inject", "FILE")
    return list(files), from_files(files)


def _chain(first: Batch, rest: Iterator[Batch]) -> Iterator[Batch]:
    yield first
    yield from rest


def _target(to: str, names: list[str]) -> Target:
    from boxcars.service.client import Client
    from boxcars.service.target import Lines, Service

    if to.startswith(("http://", "https://")):
        return Service(Client(to, token_from_environment()), {name: name for name in names})
    if to.startswith("tcp://"):
        if len(names) > 1:
            raise Wrong(f"{to}: a TCP port takes one input, got {', '.join(names)}.")
        return Lines(Url.parse(to))
    folder = Path(to)
    return Folders({name: folder / name if len(names) > 1 else folder for name in names})


def _obey(controller: Controller) -> None:
    """Execute commands from stdin."""
    for line in sys.stdin:
        try:
            if line.strip():
                controller.command(line)
        except BoxcarsError as error:
            typer.echo(f"{error} The commands are: {', '.join(COMMANDS)}.", err=True)


def _watch(controller: Controller) -> None:
    """Print the progress every second until everything is sent."""
    begun, before = time.monotonic(), 0
    try:
        while not controller.wait(_TICK):
            sent = controller.sent
            typer.echo(f"{sent:,} tuples, {(sent - before) / _TICK:,.0f}/s", err=True)
            before = sent
    except KeyboardInterrupt:
        controller.stop()
        controller.wait()
    seconds = time.monotonic() - begun
    typer.echo(f"{controller.sent:,} tuples in {seconds:.1f} s", err=True)
