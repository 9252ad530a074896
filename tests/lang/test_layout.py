from pathlib import Path

import pytest

from boxcars.lang.layout import layout_path, load_layout, save_layout
from boxcars.model.problem import BoxcarsError


def test_it_lies_beside_the_network(tmp_path: Path) -> None:
    network = tmp_path / "calls.yaml"
    assert load_layout(network) == {}
    save_layout(network, {"fast": (120, 40.5), "-> äöü": (0, -1)})
    assert load_layout(network) == {"fast": (120.0, 40.5), "-> äöü": (0.0, -1.0)}
    assert layout_path(network) == tmp_path / "calls.layout.json"
    save_layout(network, {})
    assert load_layout(network) == {}


def test_a_line_for_each_box_in_the_order_of_names(tmp_path: Path) -> None:
    save_layout(tmp_path / "n.yaml", {"b": (1, 2), "a": (3, 4)})
    assert (tmp_path / "n.layout.json").read_text() == '{\n  "a": [3, 4],\n  "b": [1, 2]\n}\n'


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"5", b'{"a": 1}', b'{"a": [1]}', b'{"a": ["x", 1]}', b"\xff", b"{"]
)
def test_files_that_are_broken(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "n.layout.json").write_bytes(content)
    with pytest.raises(BoxcarsError, match="n.layout.json: expected positions such as"):
        load_layout(tmp_path / "n.yaml")


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BoxcarsError, match="can't be written"):
        save_layout(tmp_path / "missing/n.yaml", {"a": (1, 2)})
