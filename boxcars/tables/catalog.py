"""The tables folder of a checkpoint: the id of the run, and the tables stored there."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import sqlalchemy as sa

from boxcars.connectors.files import replacing, writing
from boxcars.model.problem import BoxcarsError


@dataclass(frozen=True)
class TableSetup:
    """The set-up of a run: its id in the ledger of a database, and its tables in the checkpoint."""

    run: str
    tables: tuple[str, ...]

    @classmethod
    def new(cls, tables: Iterable[str]) -> TableSetup:
        """A set-up with a new id."""
        return cls(uuid4().hex, tuple(sorted(tables)))


@dataclass(frozen=True)
class TableFolder:
    """The tables folder of a checkpoint.

    Tables that are not in the user's databases are in a SQLite file here. It is filled as a draft;
    a small file, which is written last, completes the set-up.
    """

    checkpoint: Path

    @property
    def file(self) -> Path:
        """The SQLite file."""
        return self.checkpoint.absolute() / "tables" / "tables.db"

    @property
    def draft(self) -> Path:
        """The SQLite file while it is being filled."""
        return self.file.with_suffix(".draft")

    def setup(self) -> TableSetup | None:
        """The set-up of the run, or None if it is not complete."""
        try:
            found = json.loads(self._setup_file.read_text(encoding="utf-8"))
            return TableSetup(found["run"], tuple(found["tables"]))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise BoxcarsError(f"{self._setup_file}: the checkpoint is damaged: {error}.") from None

    def clear(self) -> None:
        """Remove the files of a set-up that was not completed."""
        with writing(self.file):
            self.file.parent.mkdir(parents=True, exist_ok=True)
            for name in (self.file.name, self.draft.name):
                for left in self.file.parent.glob(f"{name}*"):  # with journals
                    left.unlink()

    def complete(self, setup: TableSetup) -> None:
        """Complete the set-up."""
        with writing(self.file):
            if setup.tables:
                self.draft.replace(self.file)
            with replacing(self._setup_file) as part:
                about = {"run": setup.run, "tables": setup.tables}
                part.write_text(json.dumps(about), encoding="utf-8")

    @property
    def _setup_file(self) -> Path:
        return self.file.with_name("run.json")


def url_of(file: Path) -> sa.URL:
    """The database address of a SQLite file."""
    return sa.URL.create("sqlite+pysqlite", database=str(file))
