"""User code of each kind, from scripts, packages and notebooks, on workers with only Boxcars."""

import shutil
from pathlib import Path

import pytest

from tests.cluster import Cluster
from tests.strangers.installed import Installed
from tests.strangers.notebook import run_cells
from tests.strangers.pieces import PIECES

USE = """
import sys

net = bx.Network("own")
raw = net.input("raw", ts="at", fields={"at": "int", "data": "bytes"})
rows = raw.decode(format="pipe", fields={"name": "str", "number": "int"}).named("rows")
loud = rows.apply(louder).named("loud")
more = loud.map(at="at", name="name", number="twice(number) + count_char(name, 'A')").named("more")
both = more.duplicate(number=3).named("both")
some = both.custom(Every, by="name").named("some")
window = bx.tuples(2, advance=1)
net.output("out", some.aggregate(window, by="name", p="product(CAST(number AS float))"))

data = {"at": [1, 2, 3, 4], "data": [b"ann|5", b"bob|4", b"ann|3", b"bob|2"]}
expected = bx.preview(net, {"raw": data})["out"].to_pylist()
found = []
sink = bx.callback(lambda table, _: found.extend(table.to_pylist()))
bx.run(net, {"raw": data}, {"out": sink}, epoch_rows=2, master=MASTER).wait()
print(len(found), "the same" if found == expected else f"not {expected}")
"""
FOUND = "4 the same\n"
CLUSTER = pytest.mark.parametrize("where", ["cluster"])
IMPORT = "import boxcars as bx\nfrom {module} import Every, louder\n"
FILE = """
name: own
modules: [shop.pieces]
inputs:
  raw: {ts: at, fields: {at: int, data: bytes}}
boxes:
  rows: {type: decode, in: raw, format: pipe, fields: {name: str, number: int}}
  loud: {type: apply, in: rows, function: "shop.pieces:louder"}
  more: {type: map, in: loud, fields: {at: at, name: name,
         number: "twice(number) + count_char(name, 'A')"}}
  both: {type: duplicate, in: more, number: 3}
  some: {type: custom, in: both, class: "shop.pieces:Every", by: [name]}
  last: {type: aggregate, in: some, window: {tuples: 2, advance: 1}, by: [name],
         fields: {p: product(CAST(number AS float))}}
outputs:
  out: {from: last}
"""
SETUP = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "shop"
version = "1.0"
"""


@pytest.fixture
def master(where: str, bare_cluster: Cluster) -> str | None:
    return bare_cluster.master if where == "cluster" else None


def package(folder: Path) -> Path:
    """A user package with all kinds of code, in two modules."""
    (folder / "shop").mkdir(parents=True)
    (folder / "shop" / "__init__.py").touch()
    assert "FACTOR = 2\n" in PIECES
    (folder / "shop" / "constants.py").write_text("FACTOR = 2\n")
    moved = PIECES.replace("FACTOR = 2\n", "from shop.constants import FACTOR\n")
    (folder / "shop" / "pieces.py").write_text(moved)
    return folder


@pytest.mark.parametrize("where", ["local", "cluster"])
def test_a_script(installed: Installed, tmp_path: Path, master: str | None) -> None:
    (tmp_path / "script.py").write_text(PIECES + USE.replace("MASTER", repr(master)))
    done = installed.run("python", "script.py", folder=tmp_path)
    assert (done.stdout, done.stderr) == (FOUND, "")


@CLUSTER
def test_a_script_with_a_package_beside_it(
    installed: Installed, tmp_path: Path, master: str | None
) -> None:
    package(tmp_path / "project")
    script = IMPORT.format(module="shop.pieces") + USE.replace("MASTER", repr(master))
    (tmp_path / "project" / "script.py").write_text(script)
    done = installed.run("python", "project/script.py", folder=tmp_path)
    assert (done.stdout, done.stderr) == (FOUND, "")


@CLUSTER
def test_an_installed_package(
    installed: Installed, wheel: Path, tmp_path: Path, master: str | None
) -> None:
    """It is installed on the driver, and not on the workers."""
    (package(tmp_path / "source") / "pyproject.toml").write_text(SETUP)
    driver = Installed.make(tmp_path / "driver", wheel, tmp_path / "source")
    shutil.rmtree(tmp_path / "source")
    script = IMPORT.format(module="shop.pieces") + USE.replace("MASTER", repr(master))
    (tmp_path / "script.py").write_text(script)
    done = driver.run("python", "script.py", folder=tmp_path, PYSPARK_PYTHON=installed.python)
    assert (done.stdout, done.stderr) == (FOUND, "")


@CLUSTER
def test_a_notebook(installed: Installed, tmp_path: Path, master: str | None) -> None:
    cells = [PIECES, USE.replace("MASTER", repr(master))]
    assert FOUND in run_cells(installed, tmp_path, *cells)


@CLUSTER
def test_a_network_file(installed: Installed, tmp_path: Path, master: str | None) -> None:
    folder = package(tmp_path / "project")
    (folder / "own.yaml").write_text(FILE)
    (folder / "raw.jsonl").write_text(
        '{"at": 1, "data": "YW5ufDU="}\n{"at": 2, "data": "YW5ufDM="}\n'
    )
    arguments = ["run", "project/own.yaml", "--source", "raw=project/raw.jsonl", "--sink", "out=-"]
    arguments += ["--master", master] if master else []
    refused = installed.run("boxcars", *arguments, folder=tmp_path)
    assert refused.returncode == 1
    assert "own.yaml:3: modules: these modules are Python code: allow that" in refused.stderr
    done = installed.run("boxcars", *arguments, "--allow-code", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        '{"name":"ANN","at":2,"p":77.0}',
        '{"name":"ANN","at":2,"p":49.0}',
    ]
