"""Stored records of runs, which survive a restart of the studio."""

from __future__ import annotations

from pathlib import Path
from time import time
from uuid import uuid4

from pydantic import BaseModel, Field, ValidationError

from boxcars.connectors.files import replacing, writing
from boxcars.studio.runs.launch import Order
from boxcars.studio.wire.run_messages import Run, RunState

LIVE_STATES = ("starting", "running", "waiting")
_RECORD = "run.json"


class Record(BaseModel):
    """The stored record of a run."""

    id: str
    name: str
    order: Order
    state: RunState
    sentence: str
    started: float
    ended: float | None = None
    epoch: int = 0
    read: dict[str, int] = Field(default_factory=dict)
    out: dict[str, int] = Field(default_factory=dict)
    late: int = 0
    command: str = ""

    @property
    def live(self) -> bool:
        """Whether the run has not ended."""
        return self.state in LIVE_STATES

    def save(self, folder: Path) -> None:
        """Write the record to the folder of the run."""
        path = folder / _RECORD
        with writing(path), replacing(path) as part:
            part.write_text(self.model_dump_json(), encoding="utf-8")

    def to_message(self, address: str | None, spark_ui: str | None) -> Run:
        """Return the run as a message."""
        return Run(
            id=self.id,
            name=self.name,
            network=self.order.network,
            state=self.state,
            sentence=self.sentence,
            started=self.started,
            ended=self.ended,
            epoch=self.epoch,
            read=self.read,
            out=self.out,
            seconds=(self.ended or time()) - self.started,
            address=address,
            spark_ui=spark_ui,
            command=self.command,
            feeds=self.order.feeds,
            taps=self.order.taps,
            document=self.order.document,
        )

    @classmethod
    def new(cls, order: Order) -> Record:
        """Return the record of a run that starts now."""
        return cls(
            id=uuid4().hex[:12],
            name=order.name,
            order=order,
            state="starting",
            sentence="Spark is starting ...",
            started=time(),
        )


def read_record(folder: Path) -> Record | None:
    """Read the record of a run; one that was live when its studio ended is marked as stopped."""
    try:
        record = Record.model_validate_json((folder / _RECORD).read_text(encoding="utf-8"))
    except (OSError, ValidationError):
        return None
    if record.state in LIVE_STATES:
        record.state, record.sentence = "stopped", "the studio was closed while it ran."
        record.ended = record.ended or (folder / _RECORD).stat().st_mtime
    return record
