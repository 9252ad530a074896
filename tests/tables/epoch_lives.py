"""Lives of the driver, one after the other, each a process that may be killed.

``python -m tests.tables.epoch_lives FOLDER GIVEN LIVES``: ``GIVEN`` is what tables are given as. A
life is ``[epoch, point]`` to be killed there, or a number of seconds to be killed after. It prints
the signal that ended each life: 9 if it was killed.
"""

import json
import os
import signal
import sys
import time
from importlib import import_module
from pathlib import Path

SLOW = "numba psycopg pyarrow.parquet pyspark.sql sqlalchemy.dialects.sqlite sqlglot"
"""Modules that a forked process can inherit; Polars is not one of them."""


def main(folder: str, given: str, lives: str) -> None:
    for module in SLOW.split():
        import_module(module)
    for end in json.loads(lives):
        heard, say = os.pipe()
        child = os.fork()
        if not child:
            from tests.tables.epoch_driver import Life

            os.write(say, b"ready")
            Life(Path(folder), json.loads(given), end).live()
            os._exit(0)
        os.close(say)
        os.read(heard, 5)
        if isinstance(end, float):
            time.sleep(end)
            os.kill(child, signal.SIGKILL)
        print(os.waitpid(child, 0)[1])
        os.close(heard)


if __name__ == "__main__":
    main(*sys.argv[1:])
