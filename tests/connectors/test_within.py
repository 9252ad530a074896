"""Sources confined to a folder, with existing and later links."""

from pathlib import Path

import pytest

import boxcars as bx
from boxcars.connectors.read.base import Offset, Reader
from boxcars.connectors.read.file_reader import FileLog
from boxcars.connectors.read.open import open_source
from boxcars.connectors.read.sources import source_of
from boxcars.connectors.within import leads_out
from boxcars.model.entities import Input
from boxcars.model.problem import Wrong

ROWS = "t,x\n1,2\n3,4\n"
START = Offset()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    found = tmp_path / "home [1]"  # not a pattern, although it looks like one
    (found / "data").mkdir(parents=True)
    (found / "data" / "a.csv").write_text(ROWS)
    (tmp_path / "outside.csv").write_text(ROWS)
    monkeypatch.chdir(found)
    return found


def opened(where: str, follow: bool = False) -> Reader:
    net = bx.Network("n")
    net.input("rows", ts="t", fields={"t": "int", "x": "int"})
    entity: Input = net.inputs["rows"]
    checkpoint = Path("checkpoint")
    checkpoint.mkdir(exist_ok=True)
    return open_source("rows", source_of(where, follow=follow, within="."), checkpoint, entity)


def link(home: Path) -> None:
    (home / "data" / "b.csv").symlink_to("../../outside.csv")


@pytest.mark.parametrize(
    "where", ["data", "data/*.csv", "**/b.csv", "data/b.csv", "../outside.csv"]
)
def test_an_existing_link(home: Path, where: str) -> None:
    link(home)
    with pytest.raises(Wrong, match=r"outside.csv leads outside '\.', and this run reads only"):
        opened(where)
    assert leads_out(where, home) is not None


@pytest.mark.parametrize("where", ["data", "data/*.csv"])
def test_a_later_link(home: Path, where: str) -> None:
    reader = opened(where, follow=True)
    assert reader.take(START, 10).offset.position == 2
    link(home)
    with pytest.raises(Wrong, match=r"b.csv leads outside '\.'"):
        reader.take(START, 10)


def test_files_of_a_checkpoint(home: Path) -> None:
    """It may be shipped with the folder, with files of the user in its list."""
    bx.files("data", within=home)
    opened("../home [1]/data").take(START, 10)
    log = Path("checkpoint") / "files.jsonl"
    log.unlink()
    FileLog(log).add(["/etc/passwd"])
    for follow in (False, True):
        with pytest.raises(Wrong, match="/etc/passwd leads out"):
            opened("data", follow)


def test_files_inside(home: Path) -> None:
    (home / "data" / "c.csv").symlink_to("a.csv")
    assert (
        leads_out("data", home) is leads_out("*/*.csv", home) is leads_out("no.csv", home) is None
    )
    assert opened("data").take(START, 10).offset.position == 4
