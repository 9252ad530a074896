"""``boxcars run``: run a network on Spark in the foreground, optionally with an HTTP port."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated

import typer

import boxcars as bx
from boxcars.commands.foreground import announce, report, wait_for
from boxcars.commands.options import AllowCode, NetworkFile, TableOptions, pairs
from boxcars.connectors.files import replacing, writing
from boxcars.connectors.read.sources import source_of
from boxcars.engine.exit_code import INTERRUPTED
from boxcars.model.problem import BoxcarsError, Wrong
from boxcars.plan import STRATEGIES, Strategy
from boxcars.service.logs import LogKind, Metrics, RunLog
from boxcars.service.security import Access, token_from_environment


def run_command(
    network: NetworkFile,
    source: Annotated[
        list[str] | None,
        typer.Option(
            help="The source of an input: a file, a folder, a glob pattern, a connector URL "
            "(see boxcars connectors), or rate://1000?rows=500 for generated rows.",
            metavar="NAME=URI",
        ),
    ] = None,
    sink: Annotated[
        list[str] | None,
        typer.Option(
            help="The sink of an output: a folder, a file, a connector URL, or - for the terminal.",
            metavar="NAME=URI",
        ),
    ] = None,
    dead: Annotated[
        str | None,
        typer.Option(
            help="The sink for dead letters, records that could not be parsed or processed. "
            "Default: a folder in the checkpoint.",
            metavar="URI",
        ),
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", help="Keep reading new files that appear in source folders.")
    ] = False,
    within: Annotated[
        Path | None,
        typer.Option(
            help="Refuse source files outside this folder, also when reached through links."
        ),
    ] = None,
    table: TableOptions = None,
    allow_code: AllowCode = False,
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="The folder for state and progress, from which a stopped run resumes."),
    ] = None,
    epoch_rows: Annotated[
        int, typer.Option(help="Maximum number of rows that an epoch (micro-batch) reads.")
    ] = 100_000,
    instances: Annotated[
        int | None,
        typer.Option(help="Parallel instances per subquery. Default: one per core."),
    ] = None,
    instances_of: Annotated[
        list[str] | None,
        typer.Option(help="Parallel instances of one subquery.", metavar="SUBQUERY=N"),
    ] = None,
    strategy: Annotated[
        Strategy, typer.Option(help="How boxes are grouped into subqueries (operator chains).")
    ] = STRATEGIES[0],
    groups: Annotated[
        bool, typer.Option("--groups", help="Keep the boxes of a group in one subquery.")
    ] = False,
    buckets: Annotated[
        int, typer.Option(help="Number of buckets (key groups) that keys are hashed into.")
    ] = 64,
    durable: Annotated[
        bool,
        typer.Option(
            "--durable/--no-durable",
            help="Sync files, so that committed epochs survive a loss of power.",
        ),
    ] = True,
    modify: Annotated[
        bool,
        typer.Option("--modify", help="Resume the checkpoint with a changed network."),
    ] = False,
    master: Annotated[
        str | None, typer.Option(help="URL of the Spark master. Default: this machine.")
    ] = None,
    pages: Annotated[
        bool, typer.Option("--spark-pages", help="Serve the Spark web UI on a free port.")
    ] = False,
    stats: Annotated[
        bool, typer.Option("--stats", help="Print statistics for each box at the end.")
    ] = False,
    port: Annotated[
        int | None,
        typer.Option(
            help="Serve an HTTP port to feed, read, monitor and stop the run; 0 picks a free one."
        ),
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            help="The address that the port listens on; any but loopback needs BOXCARS_TOKEN."
        ),
    ] = "127.0.0.1",
    address_file: Annotated[
        Path | None, typer.Option(help="Write the URL of the port to this file once it is up.")
    ] = None,
    cert: Annotated[Path | None, typer.Option(help="TLS certificate of the port (PEM).")] = None,
    key: Annotated[Path | None, typer.Option(help="Private key of the certificate (PEM).")] = None,
    log: Annotated[
        LogKind | None,
        typer.Option(help="Log epochs, warnings and errors to stderr. Default: warnings, as text."),
    ] = None,
    metrics: Annotated[
        Path | None,
        typer.Option(help="Append statistics to this file every second, as JSON lines."),
    ] = None,
) -> None:
    """Run a network on Spark, with exactly-once processing.

    Ctrl-C finishes the current epoch and stops; a second Ctrl-C aborts.
    The exit code is 0 if all input was processed, or if the input is
    unbounded and the run was stopped.
    """
    net = bx.load(network, allow_code)
    sources = pairs(source, "--source", "URI")
    sinks = pairs(sink, "--sink", "URI")
    access = _access(port, host, cert, key)
    logs = RunLog(log, net.name)
    with ExitStack() as closing:
        closing.enter_context(_failures_logged(logs))
        announce(sinks)
        running = bx.run(
            net,
            {
                name: source_of(text, follow=follow, within=str(within) if within else None)
                for name, text in sources.items()
            },
            sinks,
            dead=dead,
            tables=pairs(table, "--table", "URI"),
            checkpoint=checkpoint,
            epoch_rows=epoch_rows,
            instances=instances,
            instances_of=_numbers(pairs(instances_of, "--instances-of", "N")),
            strategy=strategy,
            grouped=groups,
            buckets=buckets,
            durable=durable,
            modify=modify,
            pages=pages,
            master=master,
            code=allow_code or network.suffix == ".py",
            tell=logs.tell if log else None,
        )
        logs.begin(running.status())
        if access is not None:
            server = closing.enter_context(bx.Server(running, access))
            logs.say(f"the run is at {server.access.url}")
            if address_file is not None:
                _write_address(address_file, server.access.url)
        if metrics is not None:
            closing.enter_context(Metrics(running, metrics))
        status = wait_for(running, sinks, logs.say)
    if status is None:
        raise typer.Exit(INTERRUPTED)
    report(running, status, sinks, checkpoint is not None, logs.say)
    if stats:
        typer.echo(f"\n{running.stats()}", err=True)
    if status.state != "finished" and not running.endless:
        raise typer.Exit(INTERRUPTED)


@contextmanager
def _failures_logged(logs: RunLog) -> Iterator[None]:
    """If a log was requested, write the error of a failed run there, and not to the terminal."""
    try:
        yield
    except BoxcarsError as error:
        if not logs.wanted:
            raise
        logs.fail(error)
        raise typer.Exit(1) from None


def _numbers(given: Mapping[str, str]) -> dict[str, int]:
    for name, number in given.items():
        if not number.isdecimal():
            raise Wrong(f"--instances-of {name}: expected a number, got '{number}'.")
    return {name: int(number) for name, number in given.items()}


def _write_address(path: Path, url: str) -> None:
    with writing(path), replacing(path) as part:
        part.write_text(f"{url}\n", encoding="utf-8")


def _access(port: int | None, host: str, cert: Path | None, key: Path | None) -> Access | None:
    if port is None:
        return None
    return Access(host, port, token_from_environment(), cert, key)
