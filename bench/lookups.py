"""Ways to look up many keys in an SQLite table; the basis of the implementation of select."""

import json
import sqlite3
from collections.abc import Callable, Sequence
from time import perf_counter

import numpy as np

RECORDS = 1_000_000
KEYS = 300_000
JOINED = "SELECT input.n, t.k, t.v FROM {} CROSS JOIN t WHERE t.k = input.k"
Found = int


def table() -> sqlite3.Connection:
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE t (k TEXT NOT NULL PRIMARY KEY, v BIGINT)")
    records = ((f"p{n:07d}", n) for n in range(RECORDS))
    database.executemany("INSERT INTO t VALUES (?, ?)", records)
    return database


def one_by_one(database: sqlite3.Connection, keys: Sequence[str]) -> Found:
    sql = "SELECT k, v FROM t WHERE k = ?"
    return sum(len(database.execute(sql, (key,)).fetchall()) for key in keys)


def list_of(size: int) -> Callable[[sqlite3.Connection, Sequence[str]], Found]:
    def ask(database: sqlite3.Connection, keys: Sequence[str]) -> Found:
        found = 0
        for start in range(0, len(keys), size):
            some = keys[start : start + size]
            values = ", ".join(f"({n}, ?)" for n in range(len(some)))
            sql = f"WITH input (n, k) AS (VALUES {values}) {JOINED.format('input')}"
            found += len(database.execute(sql, some).fetchall())
        return found

    return ask


def temporary(database: sqlite3.Connection, keys: Sequence[str]) -> Found:
    database.execute("CREATE TEMP TABLE input (n INTEGER PRIMARY KEY, k)")
    database.executemany("INSERT INTO input VALUES (?, ?)", enumerate(keys))
    found = len(database.execute(JOINED.format("input")).fetchall())
    database.execute("DROP TABLE input")
    return found


def as_json(database: sqlite3.Connection, keys: Sequence[str]) -> Found:
    source = "(SELECT key AS n, value AS k FROM json_each(?)) AS input"
    return len(database.execute(JOINED.format(source), (json.dumps(keys),)).fetchall())


def main() -> None:
    database = table()
    numbers = np.random.default_rng(1).permutation(RECORDS)[:KEYS]
    mixed = [f"p{n:07d}" for n in numbers]
    ways: dict[str, Callable[[sqlite3.Connection, Sequence[str]], Found]] = {
        "one query per key": one_by_one,
        **{f"a list of {size:,} values": list_of(size) for size in (200, 2_000, 20_000)},
        "a temporary table": temporary,
        "one JSON text": as_json,
    }
    print(f"{KEYS:,} of {RECORDS:,} keys, in random order and sorted")
    for name, ask in ways.items():
        rates = []
        for keys in (mixed, sorted(mixed)):
            start = perf_counter()
            assert ask(database, keys) == KEYS
            rates.append(KEYS / (perf_counter() - start))
        print(f"  {name:24} {rates[0]:>11,.0f}/s {rates[1]:>11,.0f}/s")


if __name__ == "__main__":
    main()
