"""An outlet: what becomes of the parts that tasks write for an output."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from boxcars.connectors.conform import dead_letters


class Outlet:
    """A folder of parts: what tasks write stays there."""

    def __init__(self, folder: Path, target: Path) -> None:
        self.folder, self.target = folder, target

    def deliver(self, epoch: int) -> None:
        """Hand on what an epoch wrote, before it is committed; perhaps again, if it is repeated."""

    def refused(self, epoch: int) -> pl.DataFrame:
        """The rows of an epoch that can't be written there, as dead letters: (record, reason)."""
        return dead_letters([])

    def finish(self) -> None:
        """All input is processed, and the last epoch is committed."""

    def give_up(self) -> None:
        """The run is to stop: don't wait for anybody any more. Called by another thread."""

    def close(self) -> None:
        """The run has ended."""
