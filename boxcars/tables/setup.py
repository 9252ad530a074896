"""The stored tables of a run on the driver: set up at the start, read at the end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import polars as pl

from boxcars.model.check import Checked
from boxcars.model.entities import Table
from boxcars.model.network import Network
from boxcars.model.problem import BoxcarsError, Wrong
from boxcars.model.schema import Schema
from boxcars.sql import Statement
from boxcars.tables.catalog import TableFolder, TableSetup, url_of
from boxcars.tables.database import Address
from boxcars.tables.epoch_transaction import open_tables
from boxcars.tables.ledger import LEDGER, Ledger
from boxcars.tables.store import Tables, check_names, is_address


class Addresses(dict[str, str]):
    """Addresses of the tables that are in the user's databases, including passwords.

    Its ``repr`` hides the passwords; the addresses that are sent to tasks include them.
    """

    def __repr__(self) -> str:
        return repr({name: Address.parse(text, name) for name, text in self.items()})


@runtime_checkable
class _Stating(Protocol):
    """A box that runs a statement for each tuple."""

    def statement(self, tables: Mapping[str, Any], schema: Schema) -> Statement: ...


def writes(net: Network) -> frozenset[str]:
    """The tables that boxes of a network write."""
    boxes = [node.box for node in net.boxes.values() if node.box.writes]
    return frozenset(table for box in boxes for table in box.tables)


def prepare_tables(
    net: Network, given: Mapping[str, Any], checkpoint: str | Path, epoch: int = 0
) -> Addresses:
    """Set up the tables of a run, or check those of a resumed run; return the user's addresses.

    ``given`` is what :func:`preview` takes. A table that is given as data, or not at all, is stored
    in the checkpoint: it is loaded once, and a resumed run continues with it. ``epoch`` is the last
    one of the checkpoint; the tables must have it, too.
    """
    checked = net.check().or_raise()
    addresses = _addresses(net, given)
    if not net.tables:
        return addresses
    _refuse_two_written(net, addresses)
    folder = TableFolder(Path(checkpoint))
    setup = folder.setup()
    if setup is None:
        _set_up(checked, {**given, **addresses}, addresses, folder)
    else:
        _check_locations(net, addresses, folder, setup)
        _refuse_old_tables(net, addresses, folder, setup, epoch)
    return addresses


def contents(
    tables: Mapping[str, Table], addresses: Mapping[str, str], checkpoint: str | Path
) -> dict[str, pl.DataFrame]:
    """The rows of the tables that are in the checkpoint, sorted by value."""
    own = [name for name in tables if name not in addresses]
    if not own:
        return {}
    with open_tables(tables, addresses, checkpoint) as store:
        store.location(own[0]).database.cursor.execute("BEGIN")  # one snapshot for all tables
        return {name: store.records(name) for name in own}


def _addresses(net: Network, given: Mapping[str, Any]) -> Addresses:
    """Resolve addresses for use on any machine; in-memory tables are stored in the checkpoint."""
    check_names(net.tables, given)
    found = Addresses()
    for name, where in given.items():
        if is_address(where):
            try:
                address = Address.parse(where, name)
            except Wrong as wrong:
                raise Wrong(f"table '{name}': {wrong}") from None
            if address.table == LEDGER:
                raise Wrong(f"table '{name}': '{LEDGER}' is reserved for Boxcars.")
            if not address.in_memory:
                found[name] = address.text
    return found


def _refuse_two_written(net: Network, addresses: Addresses) -> None:
    """Raise if a run writes two databases: after a crash they could have different epochs."""
    locations: dict[Any, str] = {}
    for name in sorted(writes(net)):
        address = Address.parse(addresses[name], name) if name in addresses else None
        where = f"{address}" if address else "the checkpoint (it has no address)"
        locations.setdefault(address and address.url, f"'{name}' is in {where}")
    if len(locations) > 1:
        raise Wrong(
            f"a run can write tables in one database only, but {' and '.join(locations.values())}: "
            "give all written tables addresses in the same database."
        )


def _set_up(
    checked: Checked, given: Mapping[str, Any], addresses: Addresses, folder: TableFolder
) -> None:
    """Create missing tables and load the given data; it takes effect at the end, atomically."""
    net = checked.network
    setup = TableSetup.new(net.tables.keys() - addresses.keys())
    folder.clear()
    tables = Tables(net.tables, _without_memory(given, addresses), url_of(folder.draft))
    try:
        for name, statement in _statements(checked):
            _prepare_statement(name, statement, tables)
        tables.commit()
        for table in sorted(writes(net))[:1]:
            Ledger(tables.location(table).database, setup.run).open()
    finally:
        tables.close()
    folder.complete(setup)


def _without_memory(given: Mapping[str, Any], addresses: Addresses) -> Mapping[str, Any]:
    return {n: where for n, where in given.items() if n in addresses or not is_address(where)}


def _statements(checked: Checked) -> Iterator[tuple[str, Statement]]:
    for name, node in checked.network.boxes.items():
        if isinstance(node.box, _Stating):
            schema = checked.inputs_of(name)[0]
            yield name, node.box.statement(checked.network.tables, schema)


def _prepare_statement(box: str, statement: Statement, tables: Tables) -> None:
    """Check that the tables of a statement are in one database, and create their indexes."""
    try:
        database = tables.location_of(statement).database
        with database.explained("the table can't be used"):
            tables.index(statement)
    except BoxcarsError as error:
        raise Wrong(f"box '{box}': {error}") from None


def _check_locations(
    net: Network, addresses: Addresses, folder: TableFolder, setup: TableSetup
) -> None:
    """Raise if a table has moved between the checkpoint and a database."""
    for name in sorted(net.tables):
        if (name in setup.tables) == (name in addresses):
            before, now = "in a database", "in its checkpoint"
            if name in setup.tables:
                before, now = now, before
            raise Wrong(
                f"table '{name}' was {before} when this run started, and can't be {now} now."
            )
    if setup.tables and not folder.file.exists():
        raise BoxcarsError(f"{folder.file}: the checkpoint is damaged: the file is missing.")


def _refuse_old_tables(
    net: Network, addresses: Addresses, folder: TableFolder, setup: TableSetup, epoch: int
) -> None:
    """Raise if a database lacks an epoch that the checkpoint has committed."""
    tables = Tables(net.tables, addresses, url_of(folder.file))
    try:
        for table in sorted(writes(net))[:1]:
            location = tables.location(table)
            last = Ledger(location.database, setup.run).last()
            has = "has no record of this run" if last is None else f"has epoch {last} of this run"
            if last is None or last < epoch:
                raise Wrong(
                    f"table '{table}': {location.address} {has}, but the checkpoint has epoch "
                    f"{epoch}: this is a different database or an older copy. Use the database "
                    "that the run wrote, or a new checkpoint."
                )
    finally:
        tables.close()
