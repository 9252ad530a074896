"""A studio per test module, in its own folder, and a user of its page."""

from collections.abc import Iterator

import pytest

from boxcars.studio.build import build
from tests.studio.page.browser import Person, chromium
from tests.studio.server import Served


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    found = Served(tmp_path_factory.mktemp("studio"))
    yield found
    found.close()


@pytest.fixture(scope="session")
def page() -> None:
    """The current page, and the tools that check it."""
    build(tools=True)


@pytest.fixture
def person(request: pytest.FixtureRequest, served: Served) -> Iterator[Person]:
    request.getfixturevalue("page")
    with chromium(served.url) as someone:
        yield someone
        assert someone.complaints == []
