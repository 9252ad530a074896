"""Lock files hold names, versions and hashes, and no addresses."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("name", ["requirements.lock", "boxcars/studio/page/package-lock.json"])
def test_no_addresses(name: str) -> None:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    assert len(lines) > 100
    assert [line for line in lines if "://" in line] == []
