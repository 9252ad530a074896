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


def test_damage_is_noticed(tmp_path: Path) -> None:
    """Each flipped bit, each lost end, and no content at all."""
    path = tmp_path / "n"
    note_number(path, 17)
    whole = path.read_bytes()
    flipped = [
        whole[:at] + bytes([whole[at] ^ 1 << bit]) + whole[at + 1 :]
        for at in range(len(whole))
        for bit in range(8)
    ]
    for data in (*flipped, *(whole[:end] for end in range(len(whole))), b"17"):
        path.write_bytes(data)
        with pytest.raises(BoxcarsError, match="the checkpoint is damaged"):
            noted_number(path)
