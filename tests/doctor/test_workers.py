"""Findings of the doctor about Spark workers."""

from pathlib import Path

import pytest

from boxcars.doctor.workers import Report, compare, look_at_workers

pytestmark = pytest.mark.usefixtures("spark")
DRIVER: Report = ("here", "/bin/python", "3.11.7", {"boxcars": "0.2", "polars": "2.1"})


def test_local_workers(tmp_path: Path) -> None:
    found = list(look_at_workers(None, str(tmp_path)))
    assert [(finding.what, finding.verdict) for finding in found] == [
        ("Spark", "ok"),
        ("workers", "ok"),
        ("checkpoint", "ok"),
    ]
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_workers_do_not_see(tmp_path: Path) -> None:
    *_, found = look_at_workers(None, str(tmp_path / "no"))
    assert found.verdict == "wrong"
    assert found.mend.startswith("On a cluster the checkpoint must be on a filesystem")


def test_an_unreachable_cluster() -> None:
    (found,) = look_at_workers("spark://127.0.0.1:1", None)
    assert found.seen.startswith("no Spark master answers at spark://127.0.0.1:1")


def test_workers_that_differ() -> None:
    worker: Report = ("there", "/usr/bin/python3", "3.12.1", {"boxcars": "0.1", "polars": "2.1"})
    found = [str(finding) for finding in compare([worker], DRIVER)]
    assert len(found) == 2
    assert "Python 3.12.1 at /usr/bin/python3 on there; the driver has 3.11.7" in found[0]
    assert "On there: `/usr/bin/python3 -m pip install boxcars==0.2`." in found[1]
    assert [finding.verdict for finding in compare([DRIVER], DRIVER)] == ["ok"]
