import os
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from boxcars.connectors.files import (
    SUFFIXES,
    count_tuples,
    list_parts,
    read_input,
    target_of,
    write_table,
)
from boxcars.model.entities import Input
from boxcars.model.problem import BoxcarsError, Wrong
from boxcars.model.schema import Schema

CALLS = Input(Schema.of({"t": "int", "who": "str", "x": "float"}, ts="t").fields, "t")
TABLE = pa.table({"t": [1, 2, 3], "who": ["ann", None, 'a "b", ä'], "x": [0.5, None, -1e300]})


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("suffix", SUFFIXES)
class TestEveryFormat:
    def test_round_trip(self, tmp_path: Path, suffix: str) -> None:
        path = tmp_path / f"calls{suffix}"
        write_table(TABLE, path)
        read = read_input(path, CALLS)
        assert read.tuples.rows() == list(zip(*TABLE.to_pydict().values(), strict=True))
        assert read.dead.is_empty()

    def test_no_tuples(self, tmp_path: Path, suffix: str) -> None:
        path = tmp_path / f"calls{suffix}"
        write_table(TABLE.slice(0, 0), path)
        assert read_input(path, CALLS).tuples.schema == pl.Schema(CALLS.schema.dtypes)

    def test_an_old_file_is_replaced(self, tmp_path: Path, suffix: str) -> None:
        path = tmp_path / f"calls{suffix}"
        path.write_text("old")
        write_table(TABLE, path)
        assert read_input(path, CALLS).tuples.height == 3
        assert names(tmp_path) == [path.name]

    def test_permissions_follow_the_umask(self, tmp_path: Path, suffix: str) -> None:
        path = tmp_path / f"calls{suffix}"
        before = os.umask(0o027)
        try:
            write_table(TABLE, path)
        finally:
            assert os.umask(before) == 0o027
        assert path.stat().st_mode & 0o777 == 0o640

    @pytest.mark.parametrize("content", [b"", b"\x00\xff\xfe garbage"])
    def test_a_corrupt_file(self, tmp_path: Path, suffix: str, content: bytes) -> None:
        path = tmp_path / f"calls{suffix}"
        path.write_bytes(content)
        if suffix == ".jsonl":
            assert read_input(path, CALLS).dead.height == bool(content)
            return
        if suffix == ".csv":  # a header and no lines
            assert read_input(path, CALLS).tuples.is_empty()
            return
        with pytest.raises(BoxcarsError) as error:
            read_input(path, CALLS)
        assert str(error.value).startswith(f"{path}: can't be read as {suffix[1:]}: ")

    def test_a_truncated_file(self, tmp_path: Path, suffix: str) -> None:
        path = tmp_path / f"calls{suffix}"
        write_table(TABLE, path)
        path.write_bytes(path.read_bytes()[:-20])
        if suffix in (".csv", ".jsonl"):
            assert read_input(path, CALLS).dead.height >= 1
        else:
            with pytest.raises(BoxcarsError, match=f"can't be read as {suffix[1:]}"):
                read_input(path, CALLS)

    @pytest.mark.parametrize("where", ["missing/calls", "file/calls", "folder"])
    def test_a_target_that_can_not_be_written(
        self, tmp_path: Path, suffix: str, where: str
    ) -> None:
        (tmp_path / "file").write_text("")
        (tmp_path / f"folder{suffix}").mkdir()
        with pytest.raises(BoxcarsError, match="can't be written"):
            write_table(TABLE, tmp_path / f"{where}{suffix}")
        assert names(tmp_path) == ["file", f"folder{suffix}"]


def test_a_failed_write_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "calls.csv"
    path.write_text("old")
    with pytest.raises(BoxcarsError, match="a row can't be written as csv: a CSV record of a"):
        write_table(pa.table({"v": ["one", None]}), path)
    assert path.read_text() == "old"
    assert names(tmp_path) == ["calls.csv"]


class TestFolders:
    def test_parts_in_the_order_of_their_names(self, tmp_path: Path) -> None:
        for number, suffix in enumerate(SUFFIXES):
            write_table(TABLE.slice(number % 3, 1), tmp_path / f"{number}{suffix}")
        assert read_input(tmp_path, CALLS).tuples["t"].to_list() == [1, 2, 3, 1]

    def test_unfinished_files_are_skipped(self, tmp_path: Path) -> None:
        write_table(TABLE, tmp_path / "a.parquet")
        for name in (".b-x1.parquet", "_c.parquet", "notes.txt", "_SUCCESS"):
            (tmp_path / name).write_text("not yet")
        assert [part.name for part in list_parts(tmp_path)] == ["a.parquet"]

    def test_one_without_data(self, tmp_path: Path) -> None:
        with pytest.raises(Wrong, match="the folder has no .parquet, .csv, .jsonl, .arrow file"):
            read_input(tmp_path, CALLS)

    def test_to_write_to(self, tmp_path: Path) -> None:
        write_table(TABLE, f"{tmp_path}/deep/er/")
        assert target_of(f"{tmp_path}/deep/er/").exists()
        assert read_input(tmp_path / "deep/er", CALLS).tuples.height == 3

    def test_a_folder_where_a_file_exists(self, tmp_path: Path) -> None:
        (tmp_path / "calls").write_text("")
        with pytest.raises(BoxcarsError, match="can't be written"):
            write_table(TABLE, f"{tmp_path}/calls/")


def test_endings(tmp_path: Path) -> None:
    (tmp_path / "calls.csv").write_text("t,who,x\n")
    with pytest.raises(Wrong, match="there is no such file. Did you mean 'calls.csv'?"):
        read_input(tmp_path / "cals.csv", CALLS)
    (tmp_path / "calls.txt").write_text("")
    with pytest.raises(Wrong, match="expected a file name ending in .parquet, .csv"):
        read_input(tmp_path / "calls.txt", CALLS)
    with pytest.raises(Wrong, match="expected a file name ending in .parquet, .csv"):
        write_table(TABLE, tmp_path / "calls")


def test_the_header_of_a_csv_file_names_the_columns(tmp_path: Path) -> None:
    path = tmp_path / "calls.csv"
    path.write_text("x,more,t,who\n0.5,?,1,ann\n")
    assert read_input(path, CALLS).tuples.rows() == [(1, "ann", 0.5)]
    path.write_text("t,who\n1,ann\n")
    read = read_input(path, CALLS)
    assert read.tuples.is_empty()
    assert "x" in read.dead["reason"][0]


def test_two_columns_of_one_name(tmp_path: Path) -> None:
    from pyarrow import parquet

    path = tmp_path / "calls.parquet"
    parquet.write_table(pa.table([[1], [2]], names=["t", "t"]), path)
    with pytest.raises(BoxcarsError, match="calls.parquet: the data has more than one field 't'"):
        read_input(path, CALLS)


@pytest.mark.parametrize(
    ("columns", "tuples"),
    [
        ({"t": [1, 2, 3], "x": [1.0, None, 2.0]}, 3),
        ({"t": [1, None, 3], "x": [1.0, None, 2.0]}, 2),
        ({"t": ["1", "two", "3"], "x": [1.0, None, 2.0]}, 2),
        ({"t": [1, 2, 3], "x": ["1", "no", "2"]}, 2),
        ({"t": [], "x": []}, 0),
    ],
    ids=str,
)
@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_counts_agree_with_reads(
    tmp_path: Path, columns: dict[str, list[Any]], tuples: int, suffix: str
) -> None:
    """A Parquet file is not read to count, unless some of its rows may not be tuples."""
    entity = Input(Schema.of({"t": "int", "x": "float"}, ts="t").fields, "t")
    path = tmp_path / f"data{suffix}"
    write_table(pa.table(columns), path)
    assert count_tuples(path, entity) == read_input(path, entity).tuples.height == tuples


def test_line_breaks_in_a_csv_file(tmp_path: Path) -> None:
    """They are quoted; a stray quote spoils only its own line."""
    entity = Input(Schema.of({"t": "int", "v": "str"}, ts="t").fields, "t")
    texts = ["a\nb", "a\r\n\r\nb", '"\n"', "\n", "x\n2,forged\n", "\r", "plain", 'a"b']
    table = pa.table({"t": range(len(texts)), "v": texts})
    write_table(table, tmp_path / "calls.csv")
    found = read_input(tmp_path / "calls.csv", entity)
    assert (found.tuples["v"].to_list(), found.dead.height) == (texts, 0)
    (tmp_path / "calls.csv").write_bytes(b't,v\n1,"a\n2,b\n3,"c\n4,"d\r\ne"\r\n5,f\n')
    found = read_input(tmp_path / "calls.csv", entity)
    assert found.tuples.rows() == [(2, "b"), (4, "d\r\ne"), (5, "f")]
    assert found.dead["record"].to_list() == [b'1,"a', b'3,"c']
