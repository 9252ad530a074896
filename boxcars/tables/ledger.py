"""The ledger: a table in the database with the epochs that were applied to it.

The row of a task is written in the transaction of an epoch, so it is proof that the epoch was
applied, even if the process crashed afterwards. It also stores the result of the task, for a retry
of the epoch. Its epoch only increases: a zombie attempt, whose work another attempt has already
repeated, can't apply an epoch again.
"""

from __future__ import annotations

from dataclasses import dataclass

from boxcars.model.problem import BoxcarsError
from boxcars.tables.database import Database
from boxcars.tables.values import Row

LEDGER = "boxcars_epochs"
"""Name of the ledger table."""

_CREATE = f"""CREATE TABLE IF NOT EXISTS {LEDGER} (
    run VARCHAR(32) NOT NULL, part TEXT NOT NULL, epoch BIGINT NOT NULL, record TEXT NOT NULL,
    PRIMARY KEY (run, part))"""
_LOCK_CREATE = f"SELECT pg_advisory_xact_lock(hashtext('{LEDGER}'))"
_CLAIM = f"""INSERT INTO {LEDGER} (run, part, epoch, record) VALUES (?, ?, ?, '')
    ON CONFLICT (run, part) DO UPDATE SET epoch = excluded.epoch, record = excluded.record
    WHERE {LEDGER}.epoch < excluded.epoch RETURNING epoch"""
_FIND = f"SELECT epoch, record FROM {LEDGER} WHERE run = ? AND part = ?"
_STORE_RESULT = f"UPDATE {LEDGER} SET record = ? WHERE run = ? AND part = ? RETURNING epoch"
_LAST = f"SELECT max(epoch) FROM {LEDGER} WHERE run = ?"
_REGISTER = f"INSERT INTO {LEDGER} (run, part, epoch, record) VALUES (?, '', 0, '') RETURNING epoch"


@dataclass(frozen=True)
class Ledger:
    """The rows of a run in the ledger of a database."""

    database: Database
    run: str

    def open(self) -> None:
        """Register the run in the database; create the ledger table if it does not exist."""
        with self.database.explained(f"the ledger table '{LEDGER}' can't be written"):
            self.database.begin()
            if self.database.dialect.typed:  # PostgreSQL: concurrent CREATE TABLE is an error
                self.database.query(_LOCK_CREATE)
            self.database.cursor.execute(_CREATE)
            self._query(_REGISTER, self.run)
            self.database.commit()

    def last(self) -> int | None:
        """The last applied epoch, 0 before the first; None if the run is not registered."""
        with self.database.explained(f"the ledger table '{LEDGER}' can't be read"):
            if not self.database.has_table(LEDGER):
                return None
            ((epoch,),) = self._query(_LAST, self.run)
        return None if epoch is None else int(epoch)

    def begin(self, part: str, epoch: int) -> str | None:
        """Begin the transaction of an epoch; return the result of its task if already applied.

        It blocks while another attempt of the same epoch is running.
        """
        with self.database.explained("the tables can't be written"):
            self.database.begin()
            if self._query(_CLAIM, self.run, part, epoch):
                return None
            ((last, record),) = self._query(_FIND, self.run, part)
            self.database.rollback()
        if last > epoch:
            raise BoxcarsError(
                f"the stored tables already have epoch {last} of this run, but its checkpoint is "
                f"at epoch {epoch}: the checkpoint is older than the tables and can't be resumed."
            )
        return str(record)

    def commit(self, part: str, record: str) -> None:
        """Commit all changes since :meth:`begin`, together with the result of the task."""
        with self.database.explained("the tables can't be written"):
            self._query(_STORE_RESULT, record, self.run, part)
            self.database.commit()

    def _query(self, sql: str, *parameters: str | int) -> list[Row]:
        return self.database.query(sql.replace("?", self.database.dialect.sign), parameters)
