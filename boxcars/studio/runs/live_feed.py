"""Live messages of a run over a WebSocket: a few per second, however fast the run is."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from fastapi import WebSocket, WebSocketDisconnect

from boxcars.studio.runs.run import ManagedRun, event_messages
from boxcars.studio.wire.run_messages import OutputRows, Watched

_EVERY = 0.25
"""Seconds between two checks for news."""
_ENDED = 1000
"""The WebSocket close code for a run that has ended."""
NO_RUN = 4004
"""The WebSocket close code for a run that does not exist."""


def messages_now(run: ManagedRun) -> list[Watched]:
    """Return the status and statistics of the run, its last tuples and its last events."""
    outputs = {name: run.output(name) for name in run.record.order.taps}
    return [
        Watched(type="status", run=run.to_message()),
        Watched(type="stats", stats=run.stats()),
        Watched(type="rows", outputs=outputs),
        Watched(type="events", events=run.events()),
    ]


class _News:
    """Tracks which messages were sent, and returns the new ones."""

    def __init__(self, run: ManagedRun) -> None:
        self._run, self._version = run, -1
        self._epochs: dict[str, int] = {}
        self._tail = run.event_log.tail()

    def messages(self) -> list[Watched]:
        """Return the messages since the last call."""
        if self._version == self._run.version:
            return []
        self._version = self._run.version
        found = [
            Watched(type="status", run=self._run.to_message()),
            Watched(type="stats", stats=self._run.stats()),
        ]
        if outputs := self._outputs():
            found.append(Watched(type="rows", outputs=outputs))
        if events := event_messages(self._tail.news()):
            found.append(Watched(type="events", events=events))
        return found

    def _outputs(self) -> dict[str, OutputRows]:
        """Return the new tuples of each output that has some."""
        found = {}
        for name in self._run.record.order.taps:
            rows = self._run.output(name, self._epochs.get(name, 0))
            if rows.rows or name not in self._epochs:
                self._epochs[name] = rows.epoch
                found[name] = rows
        return found


async def watch(socket: WebSocket, run: ManagedRun) -> None:
    """Send live messages to a page until it disconnects or the run ends."""
    await socket.accept()
    leaving = asyncio.create_task(_until_gone(socket))
    news = _News(run)
    with suppress(WebSocketDisconnect, RuntimeError):
        while not leaving.done():
            live = run.record.live
            for message in await asyncio.to_thread(news.messages):
                await socket.send_text(message.model_dump_json())
            if not live:
                await socket.close(_ENDED, "the run has ended.")
                break
            await asyncio.wait([leaving], timeout=_EVERY)
    leaving.cancel()


async def _until_gone(socket: WebSocket) -> None:
    with suppress(WebSocketDisconnect, RuntimeError):
        while True:
            await socket.receive_text()
