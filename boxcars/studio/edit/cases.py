"""Tests of a network: input tuples and the expected output.

They are stored next to the network, ``calls.tests.yaml`` for ``calls.yaml``. ``boxcars test`` and
the studio run them.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isclose, isnan
from pathlib import Path
from typing import Any

import polars as pl
import yaml
from pydantic import ValidationError

from boxcars.connectors.files import replacing, writing
from boxcars.engine.preview import preview
from boxcars.lang import text as plain_text
from boxcars.model.check import Checked
from boxcars.model.entities import Input, Table
from boxcars.model.network import Network
from boxcars.model.problem import BoxcarsError, NetworkError, Wrong, nearest
from boxcars.model.schema import Schema
from boxcars.studio.edit.json_rows import from_rows, from_text, plain_value
from boxcars.studio.edit.versions import saving_over, version_of
from boxcars.studio.wire.messages import Row
from boxcars.studio.wire.run_messages import Case, CaseResult, Cases, KeptCases, SaveCases

_MOST = 10
"""The number of lines of a difference that are shown."""


def load_cases(path: Path) -> Cases:
    """Load the tests in a file; none if the file does not exist."""
    if not path.exists():
        return Cases(tests=[])
    try:
        data, _ = plain_text.parse(path.read_text(encoding="utf-8"), path.name)
        return Cases.model_validate(data if data is not None else {"tests": []})
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise Wrong(f"{path.name}: '{key}': {first['msg'].lower()}.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BoxcarsError(f"{path.name}: can't be read: {error}.") from None


def kept_cases(path: Path) -> KeptCases:
    """Load the tests in a file, and its version."""
    version = version_of(path)  # before reading, so that a save in between is detected
    return KeptCases(tests=load_cases(path).tests, version=version)


def save_cases(path: Path, cases: SaveCases) -> KeptCases:
    """Write tests to their file; an empty list removes the file."""
    names = [case.name for case in cases.tests]
    for name in names:
        if names.count(name) > 1:
            raise Wrong(f"there are two tests named '{name}': give each a unique name.")
    with saving_over(cases.over, path), writing(path.name):
        if names:
            with replacing(path) as part:
                part.write_text(_dump(cases), encoding="utf-8")
        else:
            path.unlink(missing_ok=True)
        return KeptCases(tests=cases.tests, version=version_of(path))


def _dump(cases: SaveCases) -> str:
    plain = cases.model_dump(exclude_defaults=True, exclude={"over"})
    return str(yaml.safe_dump(plain, sort_keys=False, allow_unicode=True, width=100))


def run_cases(net: Network, cases: list[Case]) -> list[CaseResult]:
    """Run tests in this process, without Spark."""
    checked = net.check().or_raise()
    return [_run(net, checked, case) for case in cases]


def _run(net: Network, checked: Checked, case: Case) -> CaseResult:
    try:
        difference = _difference(net, checked, case)
    except NetworkError:
        raise
    except BoxcarsError as error:
        difference = str(error)
    return CaseResult(name=case.name, passed=not difference, difference=difference)


def _difference(net: Network, checked: Checked, case: Case) -> str:
    """Describe how the output differs from the expected one; empty if it does not."""
    known = {"given": net.inputs, "tables": net.tables, "expect": net.outputs}
    for key, names in known.items():
        for name in getattr(case, key):
            if name not in names:
                raise Wrong(f"{key}: there is no '{name}' in the network.{nearest(name, names)}")
    sources = {n: _tuples(n, case.given.get(n, []), entity) for n, entity in net.inputs.items()}
    tables = {n: _tuples(n, rows, net.tables[n]) for n, rows in case.tables.items()}
    found = preview(net, sources, tables=tables)
    lines: list[str] = []
    for name, wanted in case.expect.items():
        schema = checked.schemas[checked.network.outputs[name].source]
        got = pl.from_arrow(found[name])
        assert isinstance(got, pl.DataFrame)
        lines += [f"{name}: {line}" for line in _compare(_expected(name, wanted, schema), got)]
    more = [f"... and {len(lines) - _MOST} more"] if len(lines) > _MOST else []
    return "\n".join([*lines[:_MOST], *more])


def _tuples(name: str, rows: list[Row] | str, entity: Input | Table) -> pl.DataFrame:
    read = from_text(rows, "csv", entity) if isinstance(rows, str) else from_rows(rows, entity)
    if read.dead.height:
        raise Wrong(f"{name}: a row can't be read: {read.dead['reason'][0]}.")
    return read.tuples


def _expected(name: str, rows: list[Row] | str, schema: Schema) -> pl.DataFrame:
    """Return the expected rows, with only the fields that the test names."""
    if isinstance(rows, str):
        head = rows.strip().partition("\n")[0].split(",") if rows.strip() else []
        named = [field.strip().strip('"') for field in head]
    else:
        named = list(dict.fromkeys(field for row in rows for field in row))
    for field in named:
        if field not in schema:
            raise Wrong(f"{name}: there is no field '{field}'.{nearest(field, schema.fields)}")
    if not named:
        return schema.empty()
    return _tuples(name, rows, Table(schema.with_fields((f, schema[f]) for f in named).fields))


def _compare(wanted: pl.DataFrame, got: pl.DataFrame) -> list[str]:
    """Return a line for each row that differs."""
    lines = []
    rows, came = wanted.rows(named=True), got.rows(named=True)
    for number, row in enumerate(rows):
        if number >= len(came):
            lines.append(f"row {number + 1} is missing: {_shown(row)}")
        elif wrong := [
            name for name, value in row.items() if not _equal(value, came[number][name])
        ]:
            expected = {name: row[name] for name in wrong}
            instead = {name: came[number][name] for name in wrong}
            lines.append(f"row {number + 1}: expected {_shown(expected)}, got {_shown(instead)}")
    lines += [
        f"row {n + 1} was not expected: {_shown(came[n])}" for n in range(len(rows), len(came))
    ]
    return lines


def _equal(wanted: Any, got: Any) -> bool:
    """Whether two values are equal; floats to nine digits."""
    if isinstance(wanted, float) and isinstance(got, float):
        return isclose(wanted, got, rel_tol=1e-9) or (isnan(wanted) and isnan(got))
    return bool(wanted == got)


def _shown(row: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={plain_value(value)!r}" for name, value in row.items())
