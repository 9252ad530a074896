"""``boxcars doctor``: says what is wrong with this machine or a cluster, and how to mend it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from boxcars.doctor.finding import Finding


def doctor_command(
    master: Annotated[
        str | None, typer.Option(help="The Spark cluster; without it, this machine.")
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="A folder that all executors must see and write to.")
    ] = None,
    port: Annotated[int | None, typer.Option(help="A port that must be free.")] = None,
    spark: Annotated[
        bool, typer.Option("--spark/--no-spark", help="Start Spark and ask its workers.")
    ] = True,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write JSON, one finding a line.")
    ] = False,
) -> None:
    """Look for what keeps runs from working: Python, Java, Spark, workers, disk, ports, versions.

    The exit code is 1 if something is wrong. What is only worth knowing has a note.
    """
    number = 0
    for finding in _findings(master, checkpoint, port, spark):
        typer.echo(json.dumps(asdict(finding)) if as_json else str(finding))
        number += finding.verdict == "wrong"
    if number:
        if not as_json:
            typer.echo(f"\n{number} wrong: mend that first.", err=True)
        raise typer.Exit(1)


def _findings(
    master: str | None, checkpoint: Path | None, port: int | None, spark: bool
) -> Iterator[Finding]:
    from boxcars.doctor.machine import look_at_machine

    bad = False
    for finding in look_at_machine(checkpoint or Path.cwd(), port):
        bad |= finding.verdict == "wrong" and finding.what in ("Python", "Java", "bash")
        yield finding
    if spark and not bad:
        from boxcars.doctor.workers import look_at_workers

        yield from look_at_workers(master, str(checkpoint.resolve()) if checkpoint else None)
