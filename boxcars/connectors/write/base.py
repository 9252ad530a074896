"""The base of sink writers: they deliver the parts that tasks write for an output."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from boxcars.connectors.conform import dead_letters


class SinkWriter:
    """Tasks write the parts of an output into ``folder``; they are delivered to ``target``."""

    durable: bool = True
    """Whether a delivered part survives a loss of power."""

    def __init__(self, folder: Path, target: Path) -> None:
        self.folder, self.target = folder, target

    def deliver(self, epoch: int) -> None:
        """Deliver the parts of a committed epoch.

        After a crash it is called again for the last committed epoch, so it must be idempotent.
        """

    def refused(self, epoch: int) -> pl.DataFrame:
        """The rows of an epoch that the sink can't represent, as dead letters: (record, reason)."""
        return dead_letters([])

    def finish(self) -> None:
        """Called when all input is processed and the last epoch is committed."""

    def give_up(self) -> None:
        """Stop waiting for the sink, because the run is stopping. Called from another thread."""

    def close(self) -> None:
        """Release resources at the end of the run."""
