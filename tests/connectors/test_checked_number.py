"""Numbers in small files, and the detection of damage."""

from pathlib import Path

import pytest

from boxcars.connectors.checked_number import note_number, noted_number
from boxcars.model.problem import BoxcarsError


def test_write_and_read(tmp_path: Path) -> None:
    assert noted_number(tmp_path / "n") is None
    for number in (0, 7, 10**12):
        note_number(tmp_path / "n", number)
        assert noted_number(tmp_path / "n") == number
    assert [path.name for path in tmp_path.iterdir()] == ["n"]


def test_an_older_checkpoint_has_no_checksum(tmp_path: Path) -> None:
    (tmp_path / "n").write_text("17")
    assert noted_number(tmp_path / "n") == 17


@pytest.mark.parametrize("damage", ["", "x", "99 {sum}", "1", "{sum}", "\0\0"])
def test_damage_is_noticed(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "n"
    note_number(path, 17)
    _, checksum = path.read_text().split()
    if damage == "1":  # all but the first digit and part of the checksum is lost
        path.write_text("17 " + checksum[:3])
    else:
        path.write_text(damage.format(sum=checksum))
    with pytest.raises(BoxcarsError, match="the checkpoint is damaged"):
        noted_number(path)
