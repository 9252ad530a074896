"""``boxcars test``: run the tests of a network."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import boxcars as bx
from boxcars.commands.options import AllowCode, NetworkFile
from boxcars.model.problem import Wrong


def cases_command(
    network: NetworkFile,
    tests: Annotated[
        Path | None,
        typer.Option(help="The test file. Default: NAME.tests.yaml next to the network file."),
    ] = None,
    allow_code: AllowCode = False,
) -> None:
    """Run the tests of a network, without Spark; exit code 1 if one fails.

    A test has a name, rows for inputs, and the expected rows of outputs.
    """
    from boxcars.studio.edit.cases import load_cases, run_cases
    from boxcars.studio.edit.workspace import tests_path

    net = bx.load(network, allow_code)
    path = tests or tests_path(network)
    cases = load_cases(path).tests
    if not cases:
        raise Wrong(f"{path}: there are no tests; write some, or create them in boxcars studio.")
    results = run_cases(net, cases)
    for result in results:
        typer.echo(f"{'ok   ' if result.passed else 'wrong'}  {result.name}")
        for line in result.difference.splitlines():
            typer.echo(f"         {line}")
    failed = sum(not result.passed for result in results)
    if failed:
        typer.echo(f"{failed} of {len(results)} tests failed.", err=True)
        raise typer.Exit(1)
