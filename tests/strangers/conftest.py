"""Fixtures for tests of an installed Boxcars: one wheel, one environment, one cluster."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster import Cluster, cluster
from tests.strangers.installed import Installed, build_wheel


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of Boxcars."""
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """An environment with Boxcars and no user code."""
    return Installed.make(tmp_path_factory.mktemp("installed"), wheel)


@pytest.fixture(scope="session")
def bare_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster with one worker."""
    with cluster(tmp_path_factory.mktemp("cluster")) as found:
        yield found
