"""The ledger that a database keeps of the epochs that were applied to it.

Its row for a task is written in the transaction of an epoch, so it says for sure whether the epoch
was applied, whatever became of the process that did it. With it goes what the task returned, for
the attempt that comes too late. A row is only ever moved to a later epoch: an attempt that
lived on while others repeated its work can't apply it again.
"""

from __future__ import annotations

from dataclasses import dataclass

from boxcars.model.problem import BoxcarsError
from boxcars.tables.database import Database
from boxcars.tables.values import Row

LEDGER = "boxcars_epochs"
"""The table that the ledger is."""

_CREATE = f"""CREATE TABLE IF NOT EXISTS {LEDGER} (
    run VARCHAR(32) NOT NULL, part TEXT NOT NULL, epoch BIGINT NOT NULL, record TEXT NOT NULL,
    PRIMARY KEY (run, part))"""
_CREATE_ALONE = f"SELECT pg_advisory_xact_lock(hashtext('{LEDGER}'))"
_CLAIM = f"""INSERT INTO {LEDGER} (run, part, epoch, record) VALUES (?, ?, ?, '')
    ON CONFLICT (run, part) DO UPDATE SET epoch = excluded.epoch, record = excluded.record
    WHERE {LEDGER}.epoch < excluded.epoch RETURNING epoch"""
_FIND = f"SELECT epoch, record FROM {LEDGER} WHERE run = ? AND part = ?"
_SETTLE = f"UPDATE {LEDGER} SET record = ? WHERE run = ? AND part = ? RETURNING epoch"
_LAST = f"SELECT max(epoch) FROM {LEDGER} WHERE run = ?"
_GREET = f"INSERT INTO {LEDGER} (run, part, epoch, record) VALUES (?, '', 0, '') RETURNING epoch"


@dataclass(frozen=True)
class Ledger:
    """The rows of a run in the ledger of a database."""

    database: Database
    run: str

    def open(self) -> None:
        """Make the run known to the database; the table is created if it is not there."""
        with self.database.explained(f"the ledger '{LEDGER}' can't be kept"):
            self.database.begin()
            if self.database.dialect.typed:  # where creating a table twice at once is an error
                self.database.query(_CREATE_ALONE)
            self.database.cursor.execute(_CREATE)
            self._query(_GREET, self.run)
            self.database.commit()

    def last(self) -> int | None:
        """The last epoch that was applied, 0 before the first; None of a run that is unknown."""
        with self.database.explained(f"the ledger '{LEDGER}' can't be read"):
            if not self.database.has_table(LEDGER):
                return None
            ((epoch,),) = self._query(_LAST, self.run)
        return None if epoch is None else int(epoch)

    def begin(self, part: str, epoch: int) -> str | None:
        """Begin the transaction of an epoch; what its task returned if it was applied before.

        An attempt of the same epoch that is under way is waited for.
        """
        with self.database.explained("the tables can't be written"):
            self.database.begin()
            if self._query(_CLAIM, self.run, part, epoch):
                return None
            ((last, record),) = self._query(_FIND, self.run, part)
            self.database.undo()
        if last > epoch:
            raise BoxcarsError(
                f"the stored tables are at epoch {last} of this run already, but its checkpoint "
                f"asks for epoch {epoch}: it is older than the tables, and can't go on with them."
            )
        return str(record)

    def commit(self, part: str, record: str) -> None:
        """Make all that was done since :meth:`begin` last, and with it what the task returns."""
        with self.database.explained("the tables can't be written"):
            self._query(_SETTLE, record, self.run, part)
            self.database.commit()

    def _query(self, sql: str, *parameters: str | int) -> list[Row]:
        return self.database.query(sql.replace("?", self.database.dialect.sign), parameters)
