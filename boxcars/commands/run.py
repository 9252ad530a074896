"""``boxcars run``: a network on Spark, in the foreground, with a port if that is wanted."""

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
from boxcars.engine.run import INTERRUPTED
from boxcars.model.problem import BoxcarsError, Wrong
from boxcars.plan import STRATEGIES, Strategy
from boxcars.service.logs import LogKind, Metrics, RunLog
from boxcars.service.security import Access, token_from_environment


def run_command(
    network: NetworkFile,
    source: Annotated[
        list[str] | None,
        typer.Option(
            help="For an input: a file, a folder, a pattern, rate://1000?rows=500&FIELD=value, or "
            "an address; boxcars connectors lists them.",
            metavar="NAME=WHERE",
        ),
    ] = None,
    sink: Annotated[
        list[str] | None,
        typer.Option(
            help="For an output: a folder, a file, an address, or - for the terminal.",
            metavar="NAME=WHERE",
        ),
    ] = None,
    dead: Annotated[
        str | None,
        typer.Option(
            help="Where records go that became no tuples: a sink like those of outputs; else a "
            "folder of the checkpoint.",
            metavar="WHERE",
        ),
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", help="Go on with files that appear in the folders.")
    ] = False,
    within: Annotated[
        Path | None,
        typer.Option(help="Read no files of sources outside of this folder, by no links either."),
    ] = None,
    table: TableOptions = None,
    allow_code: AllowCode = False,
    checkpoint: Annotated[
        Path | None, typer.Option(help="The folder from which a run goes on if it is stopped.")
    ] = None,
    epoch_rows: Annotated[int, typer.Option(help="How many rows an epoch reads.")] = 100_000,
    instances: Annotated[
        int | None, typer.Option(help="In how many places a subquery runs; else one for a core.")
    ] = None,
    instances_of: Annotated[
        list[str] | None,
        typer.Option(help="In how many places one subquery runs.", metavar="SUBQUERY=N"),
    ] = None,
    strategy: Annotated[Strategy, typer.Option(help="Which boxes run together.")] = STRATEGIES[0],
    groups: Annotated[
        bool, typer.Option("--groups", help="Keep the boxes of a group together.")
    ] = False,
    buckets: Annotated[int, typer.Option(help="In how many buckets keys are shared out.")] = 64,
    modify: Annotated[
        bool,
        typer.Option("--modify", help="Go on with a network that was changed since."),
    ] = False,
    master: Annotated[
        str | None, typer.Option(help="The Spark cluster; without it, this machine.")
    ] = None,
    pages: Annotated[
        bool, typer.Option("--spark-pages", help="Let Spark show its own pages, at a free port.")
    ] = False,
    stats: Annotated[bool, typer.Option("--stats", help="Show what each box did.")] = False,
    port: Annotated[
        int | None,
        typer.Option(help="Open a port to feed, tap, watch and stop the run; 0 takes a free one."),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Where the port is; others need the token in BOXCARS_TOKEN.")
    ] = "127.0.0.1",
    address_file: Annotated[
        Path | None, typer.Option(help="Write the address of the port here, once it answers.")
    ] = None,
    cert: Annotated[Path | None, typer.Option(help="A certificate, for TLS.")] = None,
    key: Annotated[Path | None, typer.Option(help="The key of the certificate.")] = None,
    log: Annotated[LogKind | None, typer.Option(help="Log epochs and troubles.")] = None,
    metrics: Annotated[
        Path | None, typer.Option(help="Append the statistics to a file of JSON lines.")
    ] = None,
) -> None:
    """Run a network on Spark, exactly once; Ctrl-C stops it behind an epoch, a second one at once.

    The exit code is 0 if all input was processed, or if it never ends and the run was stopped.
    """
    net = bx.load(network, allow_code)
    sources = pairs(source, "--source", "WHERE")
    sinks = pairs(sink, "--sink", "WHERE")
    access = _access(port, host, cert, key)
    logs = RunLog(log, net.name)
    with ExitStack() as closing:
        closing.enter_context(_told(logs))
        announce(sinks)
        running = bx.run(
            net,
            {
                name: source_of(text, follow=follow, within=str(within) if within else None)
                for name, text in sources.items()
            },
            sinks,
            dead=dead,
            tables=pairs(table, "--table", "WHERE"),
            checkpoint=checkpoint,
            epoch_rows=epoch_rows,
            instances=instances,
            instances_of=_numbers(pairs(instances_of, "--instances-of", "N")),
            strategy=strategy,
            grouped=groups,
            buckets=buckets,
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
def _told(logs: RunLog) -> Iterator[None]:
    """Where there is a log, it also tells why a run has failed."""
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
