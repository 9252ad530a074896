"""Stored tables in epochs: changed exactly once, despite crashes and concurrent access."""

import json
import pickle
import random
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest

import boxcars as bx
from boxcars.connectors.conform import as_frame
from boxcars.model.problem import BoxcarsError, Wrong
from boxcars.tables import database as databases
from boxcars.tables import epoch_transaction
from boxcars.tables.catalog import TableFolder
from boxcars.tables.database import Address
from boxcars.tables.epoch_transaction import close_idle, open_tables
from boxcars.tables.setup import Addresses, contents, prepare_tables, writes
from boxcars.tables.store import Tables
from tests.postgres import PASSWORD
from tests.tables.epoch_driver import CALLS, COUNTS, EPOCHS, PEOPLE, epoch_rows, network

_numbers = count()
NET = network()
WRITTEN = writes(NET)


@pytest.fixture(autouse=True)
def nothing_stays_open() -> Iterator[None]:
    yield
    close_idle()


class Where:
    """A location of the tables, filled before the test."""

    def __init__(self, address: str) -> None:
        self.given: dict[str, Any] = {"counts": COUNTS, "people": PEOPLE}
        if address:
            number = next(_numbers)
            places = {name: f"{address}#{name}_{number}" for name in NET.tables}
            filled = Tables(NET.tables, places)
            for name, data in self.given.items():
                filled.load(name, as_frame(data))
            filled.close()
            self.given = dict(places)

    def prepare(self, folder: Path) -> Addresses:
        return prepare_tables(NET, self.given, folder)

    def records(self, folder: Path) -> dict[str, list[dict[str, Any]]]:
        with open_tables(NET.tables, self.prepare(folder), folder) as store:
            return {name: store.records(name).to_dicts() for name in NET.tables}


@pytest.fixture(params=["checkpoint", "sqlite", "postgres"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> Where:
    if request.param == "postgres":
        return Where(request.getfixturevalue("postgres"))
    return Where("" if request.param == "checkpoint" else f"sqlite:///{tmp_path / 'user.db'}")


def expected() -> tuple[dict[str, list[Any]], dict[str, list[dict[str, Any]]]]:
    """The outputs and tables of an undisturbed preview."""
    result = bx.preview(NET, {"calls": CALLS}, tables={"counts": COUNTS, "people": PEOPLE})
    outputs = {name: [list(row.values()) for row in t.to_pylist()] for name, t in result.items()}
    return outputs, {name: table.to_pylist() for name, table in result.stored.items()}


def live(folder: Path, where: Where, lives: list[Any]) -> list[int]:
    """How each life of the driver ended."""
    command = [sys.executable, "-m", "tests.tables.epoch_lives", str(folder)]
    given = [json.dumps(where.given), json.dumps(lives)]
    done = subprocess.run(
        [*command, *given], capture_output=True, text=True, timeout=60, check=False
    )
    assert not done.stderr, done.stderr
    return [int(line) for line in done.stdout.split()]


def assert_undisturbed(folder: Path, where: Where) -> None:
    outputs, stored = expected()
    parts = [json.loads(p.read_text()) for p in sorted((folder / "out").glob("*.json"))]
    assert len(parts) == EPOCHS
    for name, rows in outputs.items():
        assert [row for part in parts for row in part[name]] == rows
    assert where.records(folder) == stored


class TestKilled:
    def test_at_each_point(self, tmp_path: Path) -> None:
        where = Where("")
        lives: list[Any] = [[0, "half"], [0, "load"], [1, "boxes"], [1, "commit"]]
        lives += [[1, "committed"], [7, "returned"]]
        assert live(tmp_path / "run", where, [*lives, []]) == [9] * len(lives) + [0]
        assert_undisturbed(tmp_path / "run", where)

    def test_in_postgres(self, tmp_path: Path, postgres: str) -> None:
        where = Where(postgres)
        lives: list[Any] = [[1, "commit"], [3, "committed"]]
        assert live(tmp_path / "run", where, [*lives, []]) == [9, 9, 0]
        assert_undisturbed(tmp_path / "run", where)

    def test_at_any_time(self, tmp_path: Path) -> None:
        where = Where("")
        chance = random.Random(5)
        lives: list[Any] = [chance.uniform(0.005, 0.12) for _ in range(6)]
        assert live(tmp_path / "run", where, [*lives, []])[-1] == 0
        assert_undisturbed(tmp_path / "run", where)


class TestTwoAttempts:
    """One attempt is still running, perhaps cut off from its driver, when the other starts."""

    @pytest.mark.parametrize("applied", [True, False])
    def test_the_second_waits(self, tmp_path: Path, where: Where, applied: bool) -> None:
        addresses = where.prepare(tmp_path)
        found: list[str | None] = []

        def second() -> None:
            with open_tables(NET.tables, addresses, tmp_path, WRITTEN) as store:
                found.append(store.begin(1))
                if found[0] is None:
                    epoch_rows(NET, store, 1)
                    store.commit("second")

        other = threading.Thread(target=second)
        with open_tables(NET.tables, addresses, tmp_path, WRITTEN) as store:
            assert store.begin(1) is None
            epoch_rows(NET, store, 1)
            other.start()
            other.join(0.3)
            assert not found
            if applied:
                store.commit("first")
        other.join(20)
        assert found == ["first" if applied else None]
        assert len(where.records(tmp_path)["log"]) == 5

    def test_it_does_not_wait_for_ever(
        self, tmp_path: Path, where: Where, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(databases, "SECONDS_TO_WAIT", 0.1)
        addresses = where.prepare(tmp_path)
        failed: list[str] = []

        def second() -> None:
            try:
                with open_tables(NET.tables, addresses, tmp_path, WRITTEN) as store:
                    store.begin(1)
            except BoxcarsError as error:
                failed.append(str(error))

        other = threading.Thread(target=second)
        with open_tables(NET.tables, addresses, tmp_path, WRITTEN) as store:
            store.begin(1)
            other.start()
            other.join(20)
        (message,) = failed
        assert message.startswith("the tables can't be written: ")
        assert message.endswith(
            "lock timeout. Another run or program is writing there: stop it, or wait until it ends."
        ) or message.startswith("the tables can't be written: database is locked. Another run")
        assert "\n" not in message

    def test_an_attempt_of_long_ago_changes_nothing(self, tmp_path: Path, where: Where) -> None:
        addresses = where.prepare(tmp_path)
        for epoch in (1, 2):
            apply(addresses, tmp_path, epoch)
        with (
            pytest.raises(BoxcarsError, match="already have epoch 2 of this run, but its check"),
            open_tables(NET.tables, addresses, tmp_path, WRITTEN) as store,
        ):
            store.begin(1)
        assert len(where.records(tmp_path)["log"]) == 10


def apply(addresses: Addresses, folder: Path, epoch: int, record: str = "done") -> str | None:
    """Run an epoch; return its stored result if it is already applied."""
    with open_tables(NET.tables, addresses, folder, WRITTEN) as store:
        before = store.begin(epoch)
        if before is None:
            epoch_rows(NET, store, epoch)
            store.commit(record)
        return before


class TestLedger:
    def test_runs_do_not_take_each_other_for_themselves(self, tmp_path: Path, where: Where) -> None:
        for folder in (tmp_path / "a", tmp_path / "b"):
            addresses = where.prepare(folder)
            assert apply(addresses, folder, 1, folder.name) is None
            assert apply(addresses, folder, 1) == folder.name
        if addresses:
            assert len(where.records(folder)["log"]) == 10

    def test_it_does_not_grow(self, tmp_path: Path) -> None:
        addresses = prepare_tables(NET, {}, tmp_path)
        sizes = []
        for epoch in range(1, 30):
            apply(addresses, tmp_path, epoch, "x" * 1000)
            with sqlite3.connect(TableFolder(tmp_path).file) as file:
                sizes.append(file.execute("SELECT count(*) FROM boxcars_epochs").fetchone()[0])
        assert set(sizes) == {2}

    def test_tasks_of_an_epoch_are_apart(self, tmp_path: Path, where: Where) -> None:
        addresses = where.prepare(tmp_path)
        for name in ("counts", "log"):
            for before in (None, name):
                with open_tables(NET.tables, addresses, tmp_path, {name}) as store:
                    assert store.begin(1) == before
                    if before is None:
                        store.commit(name)

    def test_a_task_that_fails_leaves_nothing(self, tmp_path: Path, where: Where) -> None:
        addresses = where.prepare(tmp_path)
        for _ in range(3):
            with (
                suppress(ZeroDivisionError),
                open_tables(NET.tables, addresses, tmp_path, WRITTEN) as store,
            ):
                assert store.begin(1) is None
                epoch_rows(NET, store, 1)
                raise ZeroDivisionError
        with open_tables(NET.tables, addresses, tmp_path, WRITTEN) as store:
            store.begin(1)
            epoch_rows(NET, store, 1)  # and is not committed
        assert apply(addresses, tmp_path, 1) is None
        assert len(where.records(tmp_path)["log"]) == 5


class TestReaders:
    def test_many_at_once_beside_a_writer(self, tmp_path: Path, where: Where) -> None:
        addresses = where.prepare(tmp_path)
        people = {"people": NET.tables["people"]}
        places = {name: text for name, text in addresses.items() if name in people}
        inside = threading.Barrier(5, timeout=20)
        found: list[int] = []

        def read() -> None:
            with open_tables(people, places, tmp_path) as store:
                assert store.begin(1) is None
                found.append(store.records("people").height)
                inside.wait()  # all have read, and none has left
                inside.wait()  # the writer has committed
                found.append(store.records("people").height)
                store.commit("")

        readers = [threading.Thread(target=read) for _ in range(4)]
        with open_tables(NET.tables, addresses, tmp_path, WRITTEN) as store:
            store.begin(1)
            epoch_rows(NET, store, 1)
            for reader in readers:
                reader.start()
            inside.wait()
            store.commit("")
            inside.wait()
            for reader in readers:
                reader.join(20)
        assert found == [3] * 8

    def test_they_can_not_write(self, tmp_path: Path, where: Where) -> None:
        addresses = where.prepare(tmp_path)
        with (
            pytest.raises(BoxcarsError, match="(?i)read-?only"),
            open_tables(NET.tables, addresses, tmp_path) as store,
        ):
            epoch_rows(NET, store, 1)

    def test_a_read_only_database_beside_a_written_one(self, tmp_path: Path, postgres: str) -> None:
        with psycopg.connect(postgres, autocommit=True) as there:
            there.execute("DROP TABLE IF EXISTS people")
            there.execute("DROP ROLE IF EXISTS reader")
            there.execute("CREATE TABLE people (who text, town text)")
            there.execute("INSERT INTO people VALUES ('ann', 'Rome')")
            there.execute("CREATE ROLE reader LOGIN PASSWORD 'r'")
            there.execute("GRANT SELECT ON people TO reader")
        address = postgres.replace(f"boxcars:{PASSWORD.replace(' ', '%20')}", "reader:r")
        given = {"counts": COUNTS, "people": address}
        addresses = prepare_tables(NET, given, tmp_path)
        with open_tables(NET.tables, addresses, tmp_path, WRITTEN) as store:
            store.begin(1)
            assert epoch_rows(NET, store, 1)["towns"] == [(0, "ann", "Rome"), (3, "ann", "Rome")]
            store.commit("")
        assert contents(NET.tables, addresses, tmp_path).keys() == {"counts", "log"}


class TestOpenBetweenEpochs:
    def test_a_process_opens_them_once(self, tmp_path: Path, where: Where) -> None:
        addresses = where.prepare(tmp_path)
        seen = set()
        for epoch in range(1, 4):
            with open_tables(NET.tables, addresses, tmp_path, WRITTEN) as store:
                store.begin(epoch)
                store.commit("")
                seen.add(id(store))
        assert len(seen) == 1

    def test_a_new_run_in_the_same_folder(self, tmp_path: Path) -> None:
        """The old worker still has its file open, which was removed."""
        for _ in range(2):
            addresses = prepare_tables(NET, {"counts": COUNTS}, tmp_path / "run")
            assert apply(addresses, tmp_path / "run", 1) is None
            assert contents(NET.tables, addresses, tmp_path / "run")["log"].height == 5
            shutil.rmtree(tmp_path / "run")

    def test_a_lost_connection_is_made_again(self, tmp_path: Path, postgres: str) -> None:
        where = Where(postgres)
        addresses = where.prepare(tmp_path)
        apply(addresses, tmp_path, 1)
        with psycopg.connect(postgres) as other:
            other.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
            )
        assert apply(addresses, tmp_path, 2) is None

    def test_not_too_many(self, tmp_path: Path) -> None:
        for number in range(12):
            folder = tmp_path / str(number)
            apply(prepare_tables(NET, {}, folder), folder, 1)
        assert len(epoch_transaction._IDLE) == 8


class TestSettingUp:
    def test_what_is_written(self) -> None:
        assert {"counts", "log"} == WRITTEN
        assert writes(bx.Network("n")) == frozenset()

    def test_data_is_loaded_once(self, tmp_path: Path) -> None:
        for n in range(3):
            data = {"caller": ["ann"], "n": [n]}
            addresses = prepare_tables(NET, {"counts": data}, tmp_path)
            assert addresses == {}
            assert contents(NET.tables, addresses, tmp_path)["counts"].rows() == [("ann", 0)]

    def test_a_network_without_tables_leaves_no_trace(self, tmp_path: Path) -> None:
        net = bx.Network("n")
        net.output("o", net.input("i", ts="t", fields={"t": "int"}))
        assert prepare_tables(net, {}, tmp_path / "run") == {}
        with open_tables(net.tables, {}, tmp_path / "run") as store:
            assert store.begin(1) is None
            store.commit("")
        assert contents(net.tables, {}, tmp_path / "run") == {}
        assert not (tmp_path / "run").exists()

    def test_our_tables_are_fast_to_look_up(self, tmp_path: Path) -> None:
        prepare_tables(NET, {"people": PEOPLE}, tmp_path)
        with sqlite3.connect(TableFolder(tmp_path).file) as file:
            plan = file.execute("EXPLAIN QUERY PLAN SELECT * FROM people WHERE who = 'a'")
            assert "USING INDEX" in plan.fetchone()[-1]

    def test_secrets_are_not_shown_or_stored(self, tmp_path: Path, postgres: str) -> None:
        addresses = Where(postgres).prepare(tmp_path)
        again = pickle.loads(pickle.dumps(addresses))
        assert again == addresses == json.loads(json.dumps(addresses))
        assert "sesame" not in f"{addresses} {again!r}"
        kept = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
        assert kept
        assert not any(b"sesame" in data for data in kept)

    def test_an_address_is_the_same_everywhere(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = tmp_path / "a #1?%20 ü"
        folder.mkdir()
        monkeypatch.chdir(folder)
        addresses = prepare_tables(NET, dict.fromkeys(NET.tables, "sqlite:///u.db"), "run")
        monkeypatch.chdir(tmp_path)
        assert Address.parse(addresses["log"], "") == Address.parse(addresses["log"], "log")
        assert apply(addresses, folder / "run", 1) is None
        with sqlite3.connect(folder / "u.db") as file:
            assert file.execute("SELECT count(*) FROM log").fetchone() == (5,)

    @pytest.mark.parametrize("memory", ["sqlite://", "sqlite:///:memory:"])
    def test_memory_is_the_checkpoint(self, tmp_path: Path, memory: str) -> None:
        assert prepare_tables(NET, {"log": memory}, tmp_path) == {}
        assert TableFolder(tmp_path).file.exists()

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({"lag": None}, "there is no table 'lag'. Did you mean 'log'?"),
            ({"log": "mysql://u:hush@h/d"}, "table 'log': expected a database such as sqlite:///"),
            ({"log": {"at": ["x"], "caller": ["a"]}}, "table 'log': a record can't be read: at: "),
            (
                {"counts": {"caller": ["a", "a"], "n": [1, 2]}},
                "table 'counts': UNIQUE constraint failed: counts.caller.",
            ),
            ({"log": "sqlite:///x.db#boxcars_epochs"}, "table 'log': 'boxcars_epochs' is reserved"),
        ],
    )
    def test_what_does_not_fit(self, tmp_path: Path, given: Any, message: str) -> None:
        with pytest.raises(BoxcarsError) as failed:
            prepare_tables(NET, given, tmp_path)
        assert str(failed.value).startswith(message)
        assert TableFolder(tmp_path).setup() is None

    def test_two_written_databases(self, tmp_path: Path) -> None:
        with pytest.raises(Wrong) as wrong:
            prepare_tables(NET, {"log": f"sqlite:///{tmp_path}/u.db"}, tmp_path)
        assert str(wrong.value) == (
            "a run can write tables in one database only, but 'counts' is in the checkpoint "
            f"(it has no address) and 'log' is in sqlite:///{tmp_path}/u.db#log: "
            "give all written tables addresses in the same database."
        )

    def test_a_statement_over_two_databases(self, tmp_path: Path) -> None:
        net = bx.Network("n")
        for name in ("a", "b"):
            net.table(name, fields={"k": "int"})
        stream = net.input("i", ts="n", fields={"n": "int"})
        net.output("o", stream.read("SELECT a.k FROM a JOIN b ON a.k = b.k").named("r"))
        with pytest.raises(Wrong, match="box 'r': .* are in different databases"):
            prepare_tables(net, {"a": f"sqlite:///{tmp_path}/u.db"}, tmp_path)


class TestGoingOn:
    def test_with_another_database(self, tmp_path: Path) -> None:
        places = dict.fromkeys(NET.tables, f"sqlite:///{tmp_path}/a.db")
        prepare_tables(NET, places, tmp_path / "run")
        others = dict.fromkeys(NET.tables, f"sqlite:///{tmp_path}/b.db")
        with pytest.raises(Wrong, match="table 'counts': sqlite:///.*b.db#counts has no record of"):
            prepare_tables(NET, others, tmp_path / "run")
        prepare_tables(NET, places, tmp_path / "run")

    def test_with_an_older_copy(self, tmp_path: Path) -> None:
        places = dict.fromkeys(NET.tables, f"sqlite:///{tmp_path}/a.db")
        addresses = prepare_tables(NET, places, tmp_path / "run")
        for epoch in (1, 2):
            shutil.copy(tmp_path / "a.db", tmp_path / "copy.db")
            apply(addresses, tmp_path / "run", epoch)
            prepare_tables(NET, places, tmp_path / "run", epoch)
        (tmp_path / "copy.db").replace(tmp_path / "a.db")
        with pytest.raises(Wrong) as wrong:
            prepare_tables(NET, places, tmp_path / "run", 2)
        assert str(wrong.value) == (
            f"table 'counts': sqlite:///{tmp_path}/a.db#counts has epoch 1 of this run, but the "
            "checkpoint has epoch 2: this is a different database or an older copy. Use the "
            "database that the run wrote, or a new checkpoint."
        )

    def test_with_tables_elsewhere(self, tmp_path: Path) -> None:
        places = dict.fromkeys(NET.tables, f"sqlite:///{tmp_path}/a.db")
        prepare_tables(NET, places, tmp_path / "run")
        with pytest.raises(Wrong) as wrong:
            prepare_tables(NET, {}, tmp_path / "run")
        words = "table 'counts' was in a database when this run started, and can't be in its "
        assert str(wrong.value) == f"{words}checkpoint now."

    def test_a_damaged_checkpoint(self, tmp_path: Path) -> None:
        prepare_tables(NET, {}, tmp_path)
        TableFolder(tmp_path).file.unlink()
        with pytest.raises(BoxcarsError, match="tables.db: the checkpoint is damaged"):
            prepare_tables(NET, {}, tmp_path)
        TableFolder(tmp_path).file.with_name("run.json").write_text("{")
        with pytest.raises(BoxcarsError, match="run.json: the checkpoint is damaged"):
            prepare_tables(NET, {}, tmp_path)
        with (
            pytest.raises(BoxcarsError, match="the checkpoint is damaged: its tables are missing"),
            open_tables(NET.tables, {}, tmp_path / "no"),
        ):
            pass
