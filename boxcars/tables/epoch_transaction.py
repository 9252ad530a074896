"""The stored tables in a task of a run: an epoch is applied to them exactly once.

The boxes work inside one transaction. Its commit makes three things durable at once: their changes,
the ledger entry that the epoch was applied, and the result of the task. A task that is killed
before the commit leaves the tables unchanged and is retried. After the commit a retry returns the
stored result.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa

from boxcars.model.entities import Table
from boxcars.model.ordered_map import Fields
from boxcars.model.problem import BoxcarsError
from boxcars.tables.catalog import TableFolder, url_of
from boxcars.tables.database import Address, Database
from boxcars.tables.ledger import Ledger
from boxcars.tables.statements import Location, SqlTables

_MAX_IDLE = 8
"""Number of tasks whose tables a process keeps open between epochs."""
_IDLE: dict[tuple[object, ...], EpochTables] = {}


class EpochTables(SqlTables):
    """The tables of one task; databases are opened on first use.

    ``addresses`` has the tables that are in the user's databases; all others are in the checkpoint.
    ``writes`` are the tables that the task writes, all in one database. All other databases are
    opened read-only.
    """

    def __init__(
        self,
        tables: Mapping[str, Table],
        addresses: Mapping[str, str],
        folder: TableFolder,
        run: str,
        writes: Collection[str],
    ) -> None:
        super().__init__(tables)
        self._addresses = {
            name: Address.parse(addresses[name], name)
            if name in addresses
            else Address(url_of(folder.file), name)
            for name in tables
        }
        self._own = tables.keys() - addresses.keys()
        self._run = run
        self._part = json.dumps(sorted(writes))
        self._written = {self._addresses[name].url for name in writes}
        self._databases: dict[sa.URL, Database] = {}

    def location(self, name: str) -> Location:
        """The location of a table."""
        address = self._addresses[name]
        return Location(self._database(address.url), address, own=name in self._own)

    def begin(self, epoch: int) -> str | None:
        """Begin an epoch; return the stored result of its task if it is already applied.

        It blocks while an earlier attempt of the epoch is still running.
        """
        return self._ledger.begin(self._part, epoch) if self._written else None

    def commit(self, record: str) -> None:
        """Commit the changes of the epoch, together with the result of its task."""
        if self._written:
            self._ledger.commit(self._part, record)

    def rollback(self) -> None:
        """Roll back all databases."""
        for database in self._databases.values():
            database.rollback()

    def close(self) -> None:
        """Close all databases; uncommitted changes are rolled back."""
        for database in self._databases.values():
            database.close()

    def are_alive(self) -> bool:
        """Whether all open connections are alive, and their files are the same."""
        return all(database.is_alive() for database in self._databases.values())

    @property
    def _ledger(self) -> Ledger:
        (url,) = self._written
        return Ledger(self._database(url), self._run)

    def _database(self, url: sa.URL) -> Database:
        if url not in self._databases:
            self._databases[url] = Database(url, read_only=url not in self._written)
        return self._databases[url]


@contextmanager
def open_tables(
    tables: Mapping[str, Table],
    addresses: Mapping[str, str],
    checkpoint: str | Path,
    writes: Collection[str] = (),
) -> Iterator[EpochTables]:
    """Open the tables of a task for one epoch; uncommitted changes are rolled back.

    They stay open for the next epoch in this process, unless there was an error. ``writes`` are the
    tables that boxes of this task write; they identify the task in the ledger, so a replayed epoch
    must be split into the same tasks.
    """
    folder = TableFolder(Path(checkpoint))
    setup = folder.setup()
    if setup is None and tables:
        raise BoxcarsError(f"{checkpoint}: the checkpoint is damaged: its tables are missing.")
    run = setup.run if setup else ""
    owner = (
        os.getpid(),
        threading.get_ident(),
        folder,
        run,
    )  # connections are not shared by forks or threads
    key = (*owner, Fields(tables), frozenset(addresses.items()), frozenset(writes))
    store = _IDLE.pop(key, None)
    if store is not None and not store.are_alive():
        store.close()
        store = None
    store = store or EpochTables(tables, addresses, folder, run, writes)
    try:
        yield store
        store.rollback()
    except BaseException:
        store.close()
        raise
    _IDLE[key] = store
    if len(_IDLE) > _MAX_IDLE:
        _IDLE.pop(next(iter(_IDLE))).close()


def close_idle() -> None:
    """Close all databases that are kept open for the next epoch."""
    while _IDLE:
        _IDLE.popitem()[1].close()
