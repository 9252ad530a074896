"""What a checkpoint knows of stored tables: who the run is, and the tables that are its own."""

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
class Resident:
    """A run that is set up: the name that databases know it by, and the tables it has at home."""

    run: str
    tables: tuple[str, ...]

    @classmethod
    def new(cls, tables: Iterable[str]) -> Resident:
        """A run that nobody knows yet."""
        return cls(uuid4().hex, tuple(sorted(tables)))


@dataclass(frozen=True)
class Home:
    """The part of a checkpoint that is about tables.

    Tables that are in no database of the user are in a SQLite file here. It is filled under
    another name; the run is set up once its own small file is there, which is written last.
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

    def resident(self) -> Resident | None:
        """The run that is set up here."""
        try:
            found = json.loads(self._about.read_text(encoding="utf-8"))
            return Resident(found["run"], tuple(found["tables"]))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise BoxcarsError(f"{self._about}: the checkpoint is damaged: {error}.") from None

    def clear(self) -> None:
        """Make room; what is there is of a process that did not finish setting up."""
        with writing(self.file):
            self.file.parent.mkdir(parents=True, exist_ok=True)
            for name in (self.file.name, self.draft.name):
                for left in self.file.parent.glob(f"{name}*"):  # with journals
                    left.unlink()

    def settle(self, resident: Resident) -> None:
        """The run is set up from now on."""
        with writing(self.file):
            if resident.tables:
                self.draft.replace(self.file)
            with replacing(self._about) as part:
                about = {"run": resident.run, "tables": resident.tables}
                part.write_text(json.dumps(about), encoding="utf-8")

    @property
    def _about(self) -> Path:
        return self.file.with_name("run.json")


def url_of(file: Path) -> sa.URL:
    """A SQLite file as a database."""
    return sa.URL.create("sqlite+pysqlite", database=str(file))
