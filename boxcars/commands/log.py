"""``boxcars log``: print the events of a run, from its checkpoint or its port."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from time import sleep
from typing import Annotated

import typer

from boxcars.events.event import ENDS, Event, Kind
from boxcars.events.event_log import EventLog, Page
from boxcars.model.problem import BoxcarsError, Wrong, number_of, visible
from boxcars.service.security import token_from_environment

_PAUSE = 0.2
"""Seconds between two looks at a checkpoint."""
_WAIT = 20.0
"""Seconds that a run is asked to wait for the next event."""
_KIND_WIDTH = max(map(len, Kind))
_BOX_WIDTH, _MOST = 8, 24
"""Characters of the column of boxes: at first, and at most; it grows with the names."""
_COLOURS: dict[str, str] = {
    Kind.FAILED: "red",
    **dict.fromkeys((Kind.STARTED, Kind.FINISHED, Kind.SINK_BACK, Kind.CONNECTION_BACK), "green"),
    **dict.fromkeys((Kind.LATE, Kind.DEAD, Kind.SLOW_EPOCH, Kind.MESSAGES_LOST), "yellow"),
    **dict.fromkeys((Kind.SINK_WAITING, Kind.CONNECTION_LOST, Kind.RETRIED), "yellow"),
    Kind.DECISION: "cyan",
}


def log_command(
    where: Annotated[
        str,
        typer.Argument(
            help="The checkpoint folder of a run, or the URL of its port.",
            metavar="CHECKPOINT|ADDRESS",
        ),
    ],
    follow: Annotated[
        bool,
        typer.Option(
            "--follow", help="Keep printing new events until the run ends or Ctrl-C is pressed."
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print each event as a JSON object.")
    ] = False,
) -> None:
    """Print what happened in a run: starts, stops, decisions, slow epochs, lost tuples, failures.

    Each line has the local time, the epoch, the kind of event, the box
    that it concerns, and the cause. The token of a port is read from
    BOXCARS_TOKEN.
    """
    is_address = where.startswith(("http://", "https://"))
    pages = _of_run(where, follow) if is_address else _of_folder(Path(where), follow)
    width = _BOX_WIDTH
    try:
        for page in pages:
            width = min(_MOST, max([width, *(len(visible(e.box)) for e in page.events)]))
            for event in page.events:
                typer.echo(json.dumps(event.plain()) if as_json else event_line(event, width))
            if page.damaged:
                lines = number_of(page.damaged, "damaged line")
                typer.echo(f"{where}: {lines} skipped.", err=True)
    except KeyboardInterrupt:
        return


def event_line(event: Event, width: int = _BOX_WIDTH) -> str:
    """An event as a line for people: time, epoch, kind, box and cause.

    >>> event = Event(0.0, "balanced", "so it is.", epoch=7, box="count")
    >>> event_line(event)[21:]
    '     7  balanced         count     so it is.'
    """
    moment = datetime.fromtimestamp(event.at).strftime("%Y-%m-%d %H:%M:%S")
    colour = _COLOURS.get(event.kind)
    kind = _one_line(event.kind).ljust(_KIND_WIDTH)
    kind = typer.style(kind, fg=colour) if colour else kind
    box = _one_line(event.box).ljust(width)
    return f"{moment}  {event.epoch:>6}  {kind}  {box}  {_one_line(event.cause)}"


def _one_line(text: str) -> str:
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def _of_folder(folder: Path, follow: bool) -> Iterator[Page]:
    """The events in a checkpoint folder; with ``follow``, until one says that the run has ended."""
    if not folder.is_dir():
        raise Wrong(f"{folder}: expected a checkpoint folder, or an address that begins with http.")
    log = EventLog(folder)
    log.check_readable()
    if not log.exists:
        raise Wrong(
            f"{folder}: there are no events here: give the --checkpoint folder of a run, or the "
            "http:// address of its port."
        )
    tail = log.tail()
    ended = not follow
    while True:
        page = tail.news()
        yield page
        if page.events:
            ended = not follow or page.events[-1].kind in ENDS
        if ended:
            return
        sleep(_PAUSE)


def _of_run(address: str, follow: bool) -> Iterator[Page]:
    """The events of a run with a port; with ``follow``, until it has ended."""
    from boxcars.service.client import Client

    try:
        client = Client(address, token_from_environment())
    except ValueError as error:
        raise Wrong(f"{address}: this is not an address: {error}.") from None
    after, ended = 0, False
    while True:
        try:
            page, live = client.events(after, _WAIT if follow else 0.0)
        except BoxcarsError:
            if ended:  # it said so, and then its process ended
                return
            raise
        yield page
        if page.events:
            after, ended = page.events[-1].number, page.events[-1].kind in ENDS
        elif not (follow and live):
            return
