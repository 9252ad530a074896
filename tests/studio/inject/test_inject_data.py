"""The tuples of injectors for inputs that the run stamps: they have no times."""

from itertools import islice
from pathlib import Path

import pytest

import boxcars as bx
from boxcars.studio.edit.workspace import Workspace
from boxcars.studio.inject.inject_data import tuples_of
from boxcars.studio.wire.inject_messages import Generator, InjectorSource


def network() -> bx.Network:
    net = bx.Network("n")
    rows = net.input("rows", ts="arrival", fields={"k": "str"})
    net.output("out", rows)
    return net


@pytest.mark.parametrize(
    "source",
    [
        InjectorSource(generator=Generator(rows=3)),
        InjectorSource(generator=Generator(rows=3, fields={"k": "'a'"})),
        InjectorSource(text="k\na\nb\nc\n"),
    ],
)
def test_tuples_without_times(source: InjectorSource, tmp_path: Path) -> None:
    found = tuples_of(source, ["rows"], network(), Workspace(tmp_path), {"rows": 10**15})
    assert [batch["rows"].shape for batch in found.batches] == [(3, 1)]
    assert not found.moved


def test_endlessly(tmp_path: Path) -> None:
    source = InjectorSource(text="k\na\n", endless=True)
    found = tuples_of(source, ["rows"], network(), Workspace(tmp_path), {})
    rows = [batch["rows"]["k"].to_list() for batch in islice(found.batches, 3)]
    assert rows == [["a"]] * 3
