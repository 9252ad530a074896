"""Watching a run over a WebSocket: a few messages a second, however fast the run is."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from fastapi import WebSocket, WebSocketDisconnect

from boxcars.studio.runs.run import TheRun
from boxcars.studio.wire.run_messages import OutputRows, Watched

_EVERY = 0.25
"""Seconds between two looks at what is new."""
_ENDED = 1000
"""The code with which a WebSocket is closed when all is said."""
NO_RUN = 4004
"""The code for a run that is not there, or not any more."""


def messages_now(run: TheRun) -> list[Watched]:
    """How the run stands, what it has measured, and the last tuples of its outputs."""
    outputs = {name: run.output(name) for name in run.record.order.taps}
    return [
        Watched(type="status", run=run.told()),
        Watched(type="stats", stats=run.stats()),
        Watched(type="rows", outputs=outputs),
    ]


class _Teller:
    """Knows what was told, and tells what is new."""

    def __init__(self, run: TheRun) -> None:
        self._run, self._version = run, -1
        self._epochs: dict[str, int] = {}

    def news(self) -> list[Watched]:
        """The messages about what is new since the last ones."""
        if self._version == self._run.version:
            return []
        self._version = self._run.version
        found = [
            Watched(type="status", run=self._run.told()),
            Watched(type="stats", stats=self._run.stats()),
        ]
        outputs = self._outputs()
        return [*found, Watched(type="rows", outputs=outputs)] if outputs else found

    def _outputs(self) -> dict[str, OutputRows]:
        """The new tuples of each output that has some."""
        found = {}
        for name in self._run.record.order.taps:
            rows = self._run.output(name, self._epochs.get(name, 0))
            if rows.rows or name not in self._epochs:
                self._epochs[name] = rows.epoch
                found[name] = rows
        return found


async def watch(socket: WebSocket, run: TheRun) -> None:
    """Tell a page what is new, until it goes away or the run has ended."""
    await socket.accept()
    leaving = asyncio.create_task(_until_gone(socket))
    teller = _Teller(run)
    with suppress(WebSocketDisconnect, RuntimeError):
        while not leaving.done():
            live = run.record.live
            for message in await asyncio.to_thread(teller.news):
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
