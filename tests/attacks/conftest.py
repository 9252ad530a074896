"""The run that all attacks share: it must survive them and still accept tuples."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from boxcars.service.security import Access
from tests.attacks.victim import Victim


@pytest.fixture(scope="session")
def _victim(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Victim]:
    found = Victim(spark, tmp_path_factory.mktemp("victim"), Access(port=0))
    yield found
    found.is_well()
    found.stop()


@pytest.fixture
def victim(_victim: Victim) -> Iterator[Victim]:
    """A run that survives each attack, and accepts tuples after all of them."""
    yield _victim
    assert _victim.ask("GET", "/ready")[0] == 200
