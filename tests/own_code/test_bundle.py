"""Packing a bundle, and unpacking it in a worker."""

import io
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest

import boxcars as bx
from boxcars.model.own_code import OwnCode, find_own
from boxcars.model.problem import BoxcarsError
from boxcars.own_code.bundle import OBJECTS, Bundle, keep_bundle, pack
from boxcars.own_code.loading import load_bundle
from boxcars.own_code.used import used_in


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A user's package, and a module next to it that it imports."""
    folder = tmp_path / "project"
    (folder / "shopping").mkdir(parents=True)
    (folder / "shopping" / "__init__.py").write_text("import besides\nimport polars\nimport json\n")
    (folder / "shopping" / "rules.py").write_text("def rule(train):\n    return train\n")
    (folder / "shopping" / "names.json").write_text("{}")
    (folder / "besides.py").write_text("X = 1\n")
    (folder / "unrelated.py").write_text("X = 1\n")
    monkeypatch.syspath_prepend(folder)
    yield folder
    for name in ("shopping", "shopping.rules", "besides"):
        sys.modules.pop(name, None)


def names(data: bytes) -> set[str]:
    with ZipFile(io.BytesIO(data)) as packed:
        return set(packed.namelist())


@pytest.mark.usefixtures("shop")
def test_a_package_with_what_it_imports() -> None:
    from shopping.rules import rule  # type: ignore[import-not-found]

    assert names(pack([OwnCode("object", "shopping.rules:rule", rule)])) == {
        "shopping/__init__.py",
        "shopping/rules.py",
        "shopping/names.json",
        "besides.py",
        OBJECTS,
    }


def test_the_same_code_is_the_same_bundle(shop: Path, tmp_path: Path) -> None:
    from shopping.rules import rule

    own = [OwnCode("object", "shopping.rules:rule", rule)]
    first, again = keep_bundle(own, tmp_path / "a"), keep_bundle(own, tmp_path / "b")
    assert first.name == again.name
    (shop / "besides.py").write_text("X = 2\n")
    assert keep_bundle(own, tmp_path / "b").name != first.name
    assert len(list((tmp_path / "b").iterdir())) == 1


def test_a_package_with_machine_code_stays_at_home(shop: Path) -> None:
    from shopping.rules import rule

    (shop / "shopping" / "fast.so").write_bytes(b"")
    assert names(pack([OwnCode("object", "shopping.rules:rule", rule)])) == {OBJECTS}


def test_objects_that_can_not_be_pickled() -> None:
    lock = threading.Lock()
    own = OwnCode("function", "locked", lambda: lock)
    with pytest.raises(BoxcarsError, match="function locked can't be sent to the Spark workers"):
        pack([own])


def test_a_damaged_bundle(tmp_path: Path) -> None:
    path = tmp_path / "b.zip"
    path.write_bytes(b"PK")
    with pytest.raises(BoxcarsError, match="the bundle of your code is damaged"):
        load_bundle(Bundle(str(path), "0" * 64))


def test_what_a_network_uses() -> None:
    @bx.function
    def used_thrice(x):
        return x * 3

    @bx.function
    def never_used(x):
        return x

    net = bx.Network("n")
    rows = net.input("rows", ts="t", fields={"t": "int"})
    net.output("out", rows.map(t="t", y="Used_Thrice (t) + 1"))
    assert list(used_in(net)) == ["function used_thrice"]
    assert find_own("function", "never_used") is not None


def test_code_of_boxcars_itself_does_not_travel() -> None:
    net = bx.Network("n")
    rows = net.input("rows", ts="t", fields={"t": "int"})
    net.output("out", rows.apply("boxcars.kernels.columns.frames:take_rows"))
    assert used_in(net) == {}
