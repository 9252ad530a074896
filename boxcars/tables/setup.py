"""The stored tables of a run, as its driver sees them: set up once, and looked at in the end."""

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
from boxcars.tables.catalog import Home, Resident, url_of
from boxcars.tables.database import Address
from boxcars.tables.epoch_transaction import open_tables
from boxcars.tables.ledger import LEDGER, Ledger
from boxcars.tables.store import Tables, check_names, is_address


class Addresses(dict[str, str]):
    """The tables that are in databases of the user, with all that it takes to open them.

    Printed it shows no secret; what tasks are told does.
    """

    def __repr__(self) -> str:
        return repr({name: Address.parse(text, name) for name, text in self.items()})


@runtime_checkable
class _Stating(Protocol):
    """A box that runs a statement for each tuple."""

    def statement(self, tables: Mapping[str, Any], schema: Schema) -> Statement: ...


def writes(net: Network) -> frozenset[str]:
    """The tables that boxes of a network change."""
    boxes = [node.box for node in net.boxes.values() if node.box.writes]
    return frozenset(table for box in boxes for table in box.tables)


def prepare_tables(
    net: Network, given: Mapping[str, Any], checkpoint: str | Path, epoch: int = 0
) -> Addresses:
    """Set the tables of a run up, or find them as they were left; where those of the user are.

    ``given`` is what :func:`preview` takes. A table that is given as data, or not at all, is in the
    checkpoint: it is loaded once, and a run that goes on finds it as it left it. ``epoch`` is the
    last one that the checkpoint has; the tables must be as far.
    """
    checked = net.check().or_raise()
    addresses = _addresses(net, given)
    if not net.tables:
        return addresses
    _refuse_two_written(net, addresses)
    home = Home(Path(checkpoint))
    resident = home.resident()
    if resident is None:
        _set_up(checked, {**given, **addresses}, addresses, home)
    else:
        _come_back(net, addresses, home, resident)
        _refuse_old_tables(net, addresses, home, resident, epoch)
    return addresses


def contents(
    tables: Mapping[str, Table], addresses: Mapping[str, str], checkpoint: str | Path
) -> dict[str, pl.DataFrame]:
    """The records of the tables that are in the checkpoint, in the order of their values."""
    own = [name for name in tables if name not in addresses]
    if not own:
        return {}
    with open_tables(tables, addresses, checkpoint) as store:
        store.place(own[0]).database.cursor.execute("BEGIN")  # all as of one moment
        return {name: store.records(name) for name in own}


def _addresses(net: Network, given: Mapping[str, Any]) -> Addresses:
    """The addresses as every machine understands them; a table in memory is one at home."""
    check_names(net.tables, given)
    found = Addresses()
    for name, where in given.items():
        if is_address(where):
            try:
                address = Address.parse(where, name)
            except Wrong as wrong:
                raise Wrong(f"table '{name}': {wrong}") from None
            if address.table == LEDGER:
                raise Wrong(f"table '{name}': '{LEDGER}' is the table of Boxcars itself.")
            if not address.in_memory:
                found[name] = address.text
    return found


def _refuse_two_written(net: Network, addresses: Addresses) -> None:
    """One database can say for sure what was applied to it; two can disagree after a crash."""
    places: dict[Any, str] = {}
    for name in sorted(writes(net)):
        address = Address.parse(addresses[name], name) if name in addresses else None
        where = f"{address}" if address else "the checkpoint, as no address is given"
        places.setdefault(address and address.url, f"'{name}' is in {where}")
    if len(places) > 1:
        raise Wrong(
            f"a run can write the tables of one database, but {' and '.join(places.values())}: "
            "give all tables that are written addresses in one."
        )


def _set_up(checked: Checked, given: Mapping[str, Any], addresses: Addresses, home: Home) -> None:
    """Create what is missing and load what is given; nothing of it counts until the end."""
    net = checked.network
    resident = Resident.new(net.tables.keys() - addresses.keys())
    home.clear()
    tables = Tables(net.tables, _without_memory(given, addresses), url_of(home.draft))
    try:
        for name, statement in _statements(checked):
            _try_out(name, statement, tables)
        tables.commit()
        for table in sorted(writes(net))[:1]:
            Ledger(tables.place(table).database, resident.run).open()
    finally:
        tables.close()
    home.settle(resident)


def _without_memory(given: Mapping[str, Any], addresses: Addresses) -> Mapping[str, Any]:
    return {n: where for n, where in given.items() if n in addresses or not is_address(where)}


def _statements(checked: Checked) -> Iterator[tuple[str, Statement]]:
    for name, node in checked.network.boxes.items():
        if isinstance(node.box, _Stating):
            schema = checked.inputs_of(name)[0]
            yield name, node.box.statement(checked.network.tables, schema)


def _try_out(box: str, statement: Statement, tables: Tables) -> None:
    """See to all that a statement needs before the first task runs it: one database, indexes."""
    try:
        database = tables.place_of(statement).database
        with database.explained("the table can't be used"):
            tables.index(statement)
    except BoxcarsError as error:
        raise Wrong(f"box '{box}': {error}") from None


def _come_back(net: Network, addresses: Addresses, home: Home, resident: Resident) -> None:
    """Complain if a table is not where the run had it."""
    for name in sorted(net.tables):
        if (name in resident.tables) == (name in addresses):
            before, now = "in a database", "in its checkpoint"
            if name in resident.tables:
                before, now = now, before
            raise Wrong(f"table '{name}' was {before} when this run began, and can't be {now} now.")
    if resident.tables and not home.file.exists():
        raise BoxcarsError(f"{home.file}: the checkpoint is damaged: the file is gone.")


def _refuse_old_tables(
    net: Network, addresses: Addresses, home: Home, resident: Resident, epoch: int
) -> None:
    """Complain about a database that has not seen what the checkpoint has."""
    tables = Tables(net.tables, addresses, url_of(home.file))
    try:
        for table in sorted(writes(net))[:1]:
            place = tables.place(table)
            last = Ledger(place.database, resident.run).last()
            knows = "does not know this run" if last is None else f"has epoch {last} of this run"
            if last is None or last < epoch:
                raise Wrong(
                    f"table '{table}': {place.address} {knows}, and the checkpoint has epoch "
                    f"{epoch}: it is another database than the one that the run wrote, or an "
                    "older copy. Give the run that one, or a new checkpoint."
                )
    finally:
        tables.close()
