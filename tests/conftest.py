"""Fixtures of all tests: Spark, the stores that tables can be in, and a log as it was before."""

import logging
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from boxcars.engine.exec.session import make_session
from tests.postgres import server
from tests.stores import Store


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The one Spark session of all tests of a process."""
    session = make_session("local[2,4]")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL server."""
    with server() as address:
        yield address


@pytest.fixture(scope="session", params=["memory", "sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Each place that tables can be in."""
    if request.param == "postgres":
        return Store(request.getfixturevalue("postgres"))
    file = tmp_path_factory.mktemp("store") / "test.db"
    return Store("" if request.param == "memory" else f"sqlite:///{file}")


@pytest.fixture(autouse=True)
def _log_as_before() -> Iterator[None]:
    """Commands send the log elsewhere."""
    log = logging.getLogger("boxcars")
    before = log.handlers[:], log.propagate, log.level
    yield
    log.handlers[:], log.propagate = before[:2]
    log.setLevel(before[2])
