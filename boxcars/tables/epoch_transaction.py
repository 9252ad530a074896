"""The stored tables in a task of a run: an epoch changes them once, wherever a process ends.

The boxes work inside of one transaction. Its commit makes three things at once: what they changed,
the note that the epoch was applied, and what the task returned. A task that is killed before leaves
the tables as they were, and is repeated. One that is killed behind it is not: whoever repeats the
epoch gets what was returned then.
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
from boxcars.tables.catalog import Home, url_of
from boxcars.tables.database import Address, Database
from boxcars.tables.ledger import Ledger
from boxcars.tables.statements import Place, PlacedTables

_MOST_IDLE = 8
"""How many tasks' tables a process keeps open between epochs."""
_IDLE: dict[tuple[object, ...], EpochTables] = {}


class EpochTables(PlacedTables):
    """The tables of one task, each opened when it is first asked for.

    ``addresses`` has the tables that are in databases of the user; all others are in the
    checkpoint. ``writes`` has those that the task changes: they are in one database. All other
    databases are opened for reading only.
    """

    def __init__(
        self,
        tables: Mapping[str, Table],
        addresses: Mapping[str, str],
        home: Home,
        run: str,
        writes: Collection[str],
    ) -> None:
        super().__init__(tables)
        self._addresses = {
            name: Address.parse(addresses[name], name)
            if name in addresses
            else Address(url_of(home.file), name)
            for name in tables
        }
        self._own = tables.keys() - addresses.keys()
        self._run = run
        self._part = json.dumps(sorted(writes))
        self._written = {self._addresses[name].url for name in writes}
        self._databases: dict[sa.URL, Database] = {}

    def place(self, name: str) -> Place:
        """Where a table is."""
        address = self._addresses[name]
        return Place(self._database(address.url), address, own=name in self._own)

    def begin(self, epoch: int) -> str | None:
        """Begin an epoch. What its task returned is given if it was applied before.

        Then there is nothing left to do. An earlier attempt that is still at it is waited for.
        """
        return self._ledger.begin(self._part, epoch) if self._written else None

    def commit(self, record: str) -> None:
        """Make what the epoch did last, together with what its task is going to return."""
        if self._written:
            self._ledger.commit(self._part, record)

    def undo(self) -> None:
        """Undo what was not committed."""
        for database in self._databases.values():
            database.undo()

    def close(self) -> None:
        """Leave all databases; what was not committed is undone."""
        for database in self._databases.values():
            database.close()

    def are_there(self) -> bool:
        """Whether all databases that were opened still answer, and are the same."""
        return all(database.is_there() for database in self._databases.values())

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
    """The tables of a task, for one epoch. What is not committed in it is undone.

    They stay open for the next epoch of this process, unless something went wrong. ``writes`` are
    the tables that boxes of this task change, and names the task in the ledger: a repeated epoch
    must be cut into the same tasks.
    """
    home = Home(Path(checkpoint))
    resident = home.resident()
    if resident is None and tables:
        raise BoxcarsError(f"{checkpoint}: the checkpoint is damaged: its tables are gone.")
    run = resident.run if resident else ""
    who = (os.getpid(), threading.get_ident(), home, run)  # no fork, no thread shares them
    key = (*who, Fields(tables), frozenset(addresses.items()), frozenset(writes))
    store = _IDLE.pop(key, None)
    if store is not None and not store.are_there():
        store.close()
        store = None
    store = store or EpochTables(tables, addresses, home, run, writes)
    try:
        yield store
        store.undo()
    except BaseException:
        store.close()
        raise
    _IDLE[key] = store
    if len(_IDLE) > _MOST_IDLE:
        _IDLE.pop(next(iter(_IDLE))).close()


def close_idle() -> None:
    """Leave all databases that are open for a next epoch."""
    while _IDLE:
        _IDLE.popitem()[1].close()
