"""Flink SQL with PyFlink, from CSV files to CSV files, which its PyPI package supports.

Parallelism two, state on the heap, a checkpoint on disk every second, exactly once. Its file source
reads files in any order, so each input is split into two files with every second row each, like a
topic with two partitions, and each is a separate table.
"""

import logging
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

from _contest import Run, Task, contest, name_columns
from pyflink.table import EnvironmentSettings, TableEnvironment

PARTITIONS = 2
TIMED = "caller STRING, `time` BIGINT, duration BIGINT"
INPUTS = {
    "map-filter": "caller STRING, callee STRING, `time` BIGINT, price DOUBLE",
    "sliding": TIMED,
    "mobility": """caller STRING, callee STRING, `time` BIGINT, duration BIGINT, price DOUBLE,
        caller_x DOUBLE, caller_y DOUBLE, callee_x DOUBLE, callee_y DOUBLE""",
    "join": "`time` BIGINT, phone STRING, x DOUBLE",
    "aggregates": TIMED,
}
"""The columns of the inputs of each workload."""

OUTPUTS = {
    "map-filter": "`time` BIGINT, caller STRING, cents DOUBLE",
    "sliding": "`time` BIGINT, caller STRING, n BIGINT, mean DOUBLE",
    "mobility": "`time` BIGINT, phone STRING, speed DOUBLE",
    "join": """left_time BIGINT, left_phone STRING, left_x DOUBLE,
        right_time BIGINT, right_phone STRING, right_x DOUBLE""",
    "aggregates": "`time` BIGINT, callers BIGINT, most BIGINT, mean DOUBLE",
}
"""The columns of the results."""

SECONDS = "TIMESTAMPDIFF(SECOND, TIMESTAMP '1970-01-01 00:00:00', CAST(window_start AS TIMESTAMP))"
QUERIES = {
    "map-filter": """
        SELECT `time`, caller, price * 100 + 1 FROM calls WHERE price > 5 AND caller <> callee
        """,
    "sliding": f"""
        SELECT {SECONDS}, caller, n, mean FROM (
            SELECT window_start, window_end, caller,
                COUNT(*) AS n, AVG(CAST(duration AS DOUBLE)) AS mean
            FROM HOP(TABLE calls, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '60' SECOND)
            GROUP BY window_start, window_end, caller)
        WHERE n >= 3
        """,
    "mobility": """
        SELECT t1, phone, SQRT(POWER(x2 - x1, 2) + POWER(y2 - y1, 2)) / (t2 - t1)
        FROM (
            SELECT phone, `time` AS t2, x AS x2, y AS y2, LAG(`time`) OVER past AS t1,
                LAG(x) OVER past AS x1, LAG(y) OVER past AS y1
            FROM (
                SELECT caller AS phone, `time`, ts, caller_x AS x, caller_y AS y FROM calls
                UNION ALL
                SELECT callee AS phone, `time`, ts, callee_x AS x, callee_y AS y FROM calls)
            WINDOW past AS (PARTITION BY phone ORDER BY ts))
        WHERE SQRT(POWER(x2 - x1, 2) + POWER(y2 - y1, 2)) / (t2 - t1) > 110
        """,
    "join": """
        SELECT l.`time`, l.phone, l.x, r.`time`, r.phone, r.x FROM `left` AS l, `right` AS r
        WHERE l.phone = r.phone
            AND r.ts BETWEEN l.ts - INTERVAL '59' SECOND AND l.ts + INTERVAL '59' SECOND
        """,
    "aggregates": f"""
        SELECT {SECONDS}, COUNT(*), MAX(n), AVG(CAST(n AS DOUBLE))
        FROM (
            SELECT window_start, window_end, caller, COUNT(*) AS n
            FROM HOP(TABLE calls, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '60' SECOND)
            GROUP BY window_start, window_end, caller)
        GROUP BY window_start, window_end
        """,
}


def environment(checkpoints: Path) -> TableEnvironment:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for name, value in {
        "parallelism.default": "2",
        "state.backend.type": "hashmap",
        "execution.checkpointing.interval": "1 s",
        "execution.checkpointing.dir": checkpoints.as_uri(),
        "execution.checkpointing.mode": "EXACTLY_ONCE",
        "restart-strategy.type": "none",  # otherwise a failure would only look slow
        "pipeline.object-reuse": "true",
        "table.local-time-zone": "UTC",
    }.items():
        env.get_config().set(name, value)
    return env


def split(files: list[Path], folder: Path) -> list[Path]:
    """Distribute the rows of files, without headers, to partitions."""
    folder.mkdir(parents=True)
    paths = [folder / f"{number}.csv" for number in range(PARTITIONS)]
    for path in files:
        lines = path.read_text().splitlines(keepends=True)[1:]
        for number, partition in enumerate(paths):
            with partition.open("a") as out:
                out.writelines(lines[number::PARTITIONS])
    return paths


def source(name: str, columns: str, path: Path) -> str:
    return f"""
        CREATE TEMPORARY TABLE `{name}` (
            {columns},
            ts AS TO_TIMESTAMP_LTZ(`time`, 0),
            WATERMARK FOR ts AS ts - INTERVAL '0.001' SECOND
        ) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv')
        """


def statements(task: Task) -> Iterator[str]:
    for name, files in task.files("csv").items():
        paths = split(files, task.out / "in" / name)
        for number, path in enumerate(paths):
            yield source(f"{name}_{number}", INPUTS[task.workload], path)
        parts = " UNION ALL ".join(f"SELECT * FROM {name}_{n}" for n in range(len(paths)))
        yield f"CREATE TEMPORARY VIEW `{name}` AS {parts}"
    yield f"""
        CREATE TEMPORARY TABLE found ({OUTPUTS[task.workload]})
        WITH ('connector' = 'filesystem', 'path' = '{task.results}', 'format' = 'csv')
        """


def names(columns: str) -> str:
    """The names of columns without their types."""
    return ",".join(column.split()[0].strip("`") for column in columns.split(","))


def job(task: Task) -> Run:
    env = environment(task.out / "checkpoint")
    for statement in statements(task):
        env.execute_sql(dedent(statement))

    def run() -> None:
        env.execute_sql(f"INSERT INTO found {dedent(QUERIES[task.workload])}").wait()
        if task.small:
            name_columns(task.results, names(OUTPUTS[task.workload]))

    return run


if __name__ == "__main__":
    logging.getLogger("py4j").setLevel(logging.ERROR)
    contest(job)
