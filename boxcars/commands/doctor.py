"""``boxcars doctor``: diagnose this machine or a cluster, and say how to fix what is wrong."""

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
        str | None, typer.Option(help="URL of the Spark master. Default: this machine.")
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="A folder that all executors must be able to read and write."),
    ] = None,
    port: Annotated[int | None, typer.Option(help="A port that must be free.")] = None,
    spark: Annotated[
        bool, typer.Option("--spark/--no-spark", help="Start Spark and query its workers.")
    ] = True,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON, one finding per line.")
    ] = False,
) -> None:
    """Check that runs can work here: Python, Java, Spark, workers, disk, ports, versions.

    Each finding is 'ok', 'wrong', or a 'note', which blocks nothing.
    The exit code is 1 if anything is wrong.
    """
    number = 0
    for finding in _findings(master, checkpoint, port, spark):
        typer.echo(json.dumps(asdict(finding)) if as_json else str(finding))
        number += finding.verdict == "wrong"
    if number:
        if not as_json:
            typer.echo(f"\n{number} wrong: fix these first.", err=True)
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
