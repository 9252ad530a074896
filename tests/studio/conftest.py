"""A studio for all tests of a module, in a folder of its own."""

from collections.abc import Iterator

import pytest

from tests.studio.server import Served


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    found = Served(tmp_path_factory.mktemp("studio"))
    yield found
    found.close()
