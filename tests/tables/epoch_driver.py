"""A driver and its task in one process, which can be killed; it replaces the engine."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import polars as pl

import boxcars as bx
from boxcars.kernels.contract import Tabled
from boxcars.model.arc import Arc
from boxcars.tables.catalog import TableFolder
from boxcars.tables.database import Database
from boxcars.tables.epoch_transaction import open_tables
from boxcars.tables.ledger import Ledger
from boxcars.tables.setup import prepare_tables, writes

EPOCHS, ROWS = 8, 5
NAMES = ["ann", "bob", "cy"]
COUNTS = {"caller": NAMES, "n": [0, 10, 20]}
PEOPLE = {"who": NAMES, "town": ["Ulm", "Bonn", "Kiel"]}
CALLS = {
    "time": list(range(EPOCHS * ROWS)),
    "caller": [NAMES[n * n % 3] for n in range(EPOCHS * ROWS)],
}


def network() -> bx.Network:
    """Counts in a table, and emits the counts; applied twice it would store each call twice."""
    net = bx.Network("counts")
    calls = net.input("calls", ts="time", fields={"time": "int", "caller": "str"})
    net.table("counts", fields={"caller": "str", "n": "int"}, key="caller")
    net.table("log", fields={"at": "int", "caller": "str"})
    net.table("people", fields={"who": "str", "town": "str"})
    counted, _ = calls.update("UPDATE counts SET n = n + 1 WHERE caller = input.caller").named("up")
    net.output("counted", counted)
    net.output("kept", calls.insert("INSERT INTO log VALUES (time, caller)").named("keep"))
    net.output(
        "towns", calls.read("SELECT town FROM people WHERE who = input.caller").named("look")
    )
    return net


def epoch_rows(net: bx.Network, store: Any, epoch: int) -> dict[str, list[Any]]:
    """The output of the network in an epoch."""
    checked = net.check().or_raise()
    first = (epoch - 1) * ROWS
    frames = {Arc("calls"): pl.DataFrame(CALLS)[first : first + ROWS]}
    for name in checked.order:
        node = net.boxes[name]
        assert isinstance(node.box, Tabled)
        given = node.box.run(frames[node.inputs[0]], checked.inputs_of(name)[0], store)
        frames |= {Arc(name, port): frame for port, frame in given.items()}
    return {name: frames[output.source].rows() for name, output in net.outputs.items()}


class Life:
    """One process of the driver; it ends at ``[epoch, point]``, if it gets there."""

    def __init__(self, folder: Path, given: dict[str, Any], end: Any) -> None:
        self.folder, self.given, self.end = folder, given, end

    def here(self, epoch: int, point: str) -> None:
        """A point to be killed at."""
        if self.end == [epoch, point]:
            os.kill(os.getpid(), signal.SIGKILL)

    def ends_in(self, kind: type, method: str) -> None:
        """Be killed where a method is called."""
        setattr(kind, method, lambda *_: self.here(*self.end))

    def run_task(self, net: bx.Network, addresses: dict[str, str], epoch: int) -> str:
        with open_tables(net.tables, addresses, self.folder, writes(net)) as store:
            if (record := store.begin(epoch)) is not None:
                return record
            record = json.dumps(epoch_rows(net, store, epoch))
            self.here(epoch, "boxes")
            if self.end == [epoch, "commit"]:  # the ledger is written, the commit is not
                self.ends_in(Database, "commit")
            store.commit(record)
            self.here(epoch, "committed")
            return record

    def live(self) -> None:
        net, out = network(), self.folder / "out"
        if self.end == [0, "load"]:  # the tables are filled, but the run is not set up
            self.ends_in(TableFolder, "complete")
        if self.end == [0, "half"]:
            self.ends_in(Ledger, "open")
        out.mkdir(parents=True, exist_ok=True)
        addresses = prepare_tables(net, self.given, self.folder)
        for epoch in range(len(list(out.glob("*.json"))) + 1, EPOCHS + 1):
            record = self.run_task(net, addresses, epoch)
            self.here(epoch, "returned")
            part = out / f"{epoch:04d}.part"
            part.write_text(record, encoding="utf-8")
            part.replace(part.with_suffix(".json"))
