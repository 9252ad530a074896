"""The command line: ``boxcars --help``."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer
from rich.console import Console
from typer.core import TyperGroup

import boxcars as bx
from boxcars.apps.command import apps_command
from boxcars.commands.config import read_config
from boxcars.commands.doctor import doctor_command
from boxcars.commands.inject import inject_command
from boxcars.commands.lang import app as languages
from boxcars.commands.options import AllowCode, NetworkFile, TableOptions, pairs
from boxcars.commands.run import run_command
from boxcars.commands.show_preview import deliver, report_dead
from boxcars.commands.studio import studio_command
from boxcars.commands.test import cases_command
from boxcars.commands.top import top_command
from boxcars.compiler.streamcloud_files import project_files
from boxcars.connectors.files import target_of, writing
from boxcars.connectors.systems.connector import connectors
from boxcars.draw import FORMATS, draw
from boxcars.draw.plan import PLAN_FORMATS
from boxcars.engine.exec.memory import POLARS_KEEPS, keep_memory
from boxcars.engine.flow.box_stats import stats_table
from boxcars.expr import functions as all_functions
from boxcars.lang.deploy import Deployment
from boxcars.lang.files import load_unjudged
from boxcars.lang.layout import load_layout
from boxcars.lang.streamcloud import is_project, load_project
from boxcars.linear_road.command import linear_road_command
from boxcars.model.problem import BoxcarsError, Wrong, nearest, visible
from boxcars.model.superbox import flatten
from boxcars.plan import STRATEGIES, Strategy, plan_run
from boxcars.reference import generated

app = typer.Typer(
    help="Stream processing with boxes and arrows.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
_AS_IT_IS: dict[str, Any] = {"markup": False, "emoji": False, "highlight": False}
"""For Rich: data and errors are shown as they are, square brackets and colons included."""


def main() -> None:
    """Run a command; what a user can mend is said in a sentence, not in a stack trace."""
    try:
        app()
    except BoxcarsError as error:
        Console(stderr=True, soft_wrap=True, **_AS_IT_IS).print(str(error), style="red")
        sys.exit(1)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"boxcars {version('boxcars')}")
        raise typer.Exit


@app.callback()
def start(
    context: typer.Context,
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Stream processing with boxes and arrows."""
    assert isinstance(context.command, TyperGroup)
    context.default_map = read_config(context.command.commands)


@app.command()
def check(
    network: NetworkFile,
    schemas: Annotated[bool, typer.Option(help="Also show the schema of every arc.")] = False,
    deploy: Annotated[Path | None, typer.Option(help="Also check this deploy file.")] = None,
    allow_code: AllowCode = False,
) -> None:
    """Check a network: types, loops, arity, names. Needs no data and no Java.

    An SC.xml of StreamCloud is checked with the query, deploy and resource files that it names.
    """
    resources = None
    if is_project(network):
        _, network, deploy, resources = load_project(network)
    checked = bx.check_file(network, allow_code)
    problems = list(checked.problems)
    if deploy is not None and not problems:
        deployment = Deployment.load(deploy)
        problems += deployment.problems(checked.network, str(deploy))
        problems += resources.problems(deployment, str(deploy)) if resources else []
    for problem in problems:
        typer.echo(str(problem), err=True)
    if problems:
        plural = "s" if len(problems) > 1 else ""
        typer.echo(f"{network}: {len(problems)} problem{plural}.", err=True)
        raise typer.Exit(1)
    net = checked.network
    counts = (len(net.inputs), len(net.boxes), len(net.outputs))
    typer.echo(f"{net.name} is right: inputs {counts[0]}, boxes {counts[1]}, outputs {counts[2]}.")
    if schemas:
        for arc, schema in checked.schemas.items():
            typer.echo(f"  {arc}: {schema}")


@app.command()
def convert(
    source: NetworkFile,
    target: Annotated[Path, typer.Argument(help="The file to write: .yaml, .json, .xml or .py.")],
) -> None:
    """Write a network in another language."""
    bx.save(load_unjudged(source), target)


@app.command(name="draw")
def draw_command(
    network: NetworkFile,
    to: Annotated[Path | None, typer.Option(help="Write to a file: .svg, .mmd or .txt.")] = None,
    format: Annotated[
        str | None, typer.Option(help=f"One of {', '.join(FORMATS)}; text without --to.")
    ] = None,
    flat: Annotated[bool, typer.Option(help="Open up all superboxes.")] = False,
    allow_code: AllowCode = False,
) -> None:
    """Draw a network as SVG, Mermaid or text."""
    by_suffix = {".svg": "svg", ".mmd": "mermaid", ".txt": "text"}
    if to is not None and format is None and to.suffix not in by_suffix:
        raise Wrong(f"{to}: expected a name that ends in {', '.join(by_suffix)}, or --format.")
    chosen = format or (by_suffix[to.suffix] if to else "text")
    if chosen not in FORMATS:
        raise Wrong(f"there is no format '{chosen}'.{nearest(chosen, FORMATS)}")
    net = bx.load(network, allow_code)
    room = Console().width if to is None and sys.stdout.isatty() else None
    picture = draw(flatten(net).network if flat else net, chosen, load_layout(network), room)
    if to is None:
        typer.echo(visible(picture), nl=False)
    else:
        with writing(to):
            to.write_text(picture, encoding="utf-8")


@app.command()
def plan(
    network: NetworkFile,
    strategy: Annotated[Strategy, typer.Option(help="Which boxes run together.")] = STRATEGIES[0],
    buckets: Annotated[int, typer.Option(help="Buckets of each subquery.", min=1)] = 64,
    instances: Annotated[int, typer.Option(help="Instances of each subquery.", min=1)] = 4,
    groups: Annotated[bool, typer.Option(help="Keep the boxes of a group together.")] = False,
    format: Annotated[str, typer.Option(help=f"One of {', '.join(PLAN_FORMATS)}.")] = "text",
    output: Annotated[Path | None, typer.Option(help="Write to a file.")] = None,
    write: Annotated[
        Path | None, typer.Option(help="Write the files of a StreamCloud project to a folder.")
    ] = None,
    allow_code: AllowCode = False,
) -> None:
    """Show how a network is cut into subqueries, how each is split, and what that costs."""
    if format not in PLAN_FORMATS:
        raise Wrong(f"there is no format '{format}'.{nearest(format, PLAN_FORMATS)}")
    checked = bx.check_file(network, allow_code).or_raise()
    made = plan_run(checked, strategy, buckets, instances, grouped=groups)
    files = {output: PLAN_FORMATS[format](made, checked)} if output else {}
    if write is not None:
        write.mkdir(parents=True, exist_ok=True)
        files |= {write / name: text for name, text in project_files(made, checked).items()}
    for path, text in files.items():
        with writing(path):
            path.write_text(text, encoding="utf-8")
            path.chmod(0o755 if path.name == "launch.sh" else 0o644)
    if not files:
        typer.echo(PLAN_FORMATS[format](made, checked), nl=False)


@app.command()
def diff(old: NetworkFile, new: NetworkFile) -> None:
    """Show what changed between two versions of a network; exit code 1 if anything did."""
    changes = bx.diff(load_unjudged(old), load_unjudged(new))
    for change in changes:
        typer.echo(visible(str(change)))
    if changes:
        raise typer.Exit(1)


@app.command()
def describe(
    network: NetworkFile,
    name: Annotated[str | None, typer.Argument(help="An input, box, output or table.")] = None,
) -> None:
    """List what a network is made of, or describe one part of it."""
    net = load_unjudged(network)
    if name is not None:
        typer.echo(visible(net.describe(name)))
        return
    for kind, entity in net.list_entities():
        typer.echo(f"{kind} {entity}")


@app.command()
def preview(
    network: NetworkFile,
    source: Annotated[
        list[str] | None, typer.Option(help="name=FILE, for each input.", metavar="NAME=FILE")
    ] = None,
    sink: Annotated[
        list[str] | None,
        typer.Option(help="name=FILE for an output; - is the terminal.", metavar="NAME=FILE"),
    ] = None,
    table: TableOptions = None,
    allow_code: AllowCode = False,
    trains: Annotated[int, typer.Option(help="Cut the input into that many trains.")] = 1,
    dead: Annotated[Path | None, typer.Option(help="Write dead letters to this file.")] = None,
    stats: Annotated[bool, typer.Option(help="Show what each box did.")] = False,
) -> None:
    """Run a network in this process, without Spark and Java, over files."""
    keep_memory()
    net = bx.load(network, allow_code)
    sources, sinks = pairs(source, "--source"), pairs(sink, "--sink")
    tables = pairs(table, "--table", "WHERE")
    for name, sink_file in sinks.items():
        if name not in net.outputs:
            raise Wrong(f"there is no output '{name}'.{nearest(name, net.outputs)}")
        if sink_file != "-":
            target_of(sink_file)
    if dead is not None:
        target_of(dead)
    start = perf_counter()
    result = bx.preview(net, sources, trains=trains, tables=tables)
    seconds = perf_counter() - start
    for name in net.outputs:
        deliver(name, result[name], sinks.get(name, "-"))
    report_dead(result, dead)
    if stats:
        typer.echo(stats_table(result.stats.values()), err=True)
    if sys.stderr.isatty():
        tuples = sum(result.stats[name].tuples_in for name in net.inputs)
        typer.echo(f"{tuples:,} tuples in {seconds:.2f} s", err=True)


app.command("test")(cases_command)
app.command("run")(run_command)
app.command("studio")(studio_command)
app.command("doctor")(doctor_command)
app.command("top")(top_command)
app.command("inject")(inject_command)
app.command("apps")(apps_command)
app.command("linear-road")(linear_road_command)
app.add_typer(languages, name="lang")


@app.command()
def boxes() -> None:
    """List all boxes."""
    _list({name: (cls.icon, _first_line(cls)) for name, cls in bx.box_types().items()})


@app.command()
def functions() -> None:
    """List all functions of expressions."""
    _list({f.signature: ("", f.doc) for f in all_functions()})


@app.command(name="connectors")
def connectors_command() -> None:
    """List all connectors: their addresses, and what they guarantee."""
    for cls, schemes in connectors().items():
        typer.echo(f"{', '.join(f'{scheme}://' for scheme in schemes)}  {cls.title}")
        for way, guarantee in (("source", cls.guarantee_in), ("sink", cls.guarantee_out)):
            if guarantee:
                typer.echo(f"  {way}: {guarantee.replace('``', '')}")


def _first_line(cls: type) -> str:
    return (cls.__doc__ or "").strip().splitlines()[0]


def _list(rows: Mapping[str, tuple[str, str]]) -> None:
    width = max(map(len, rows))
    for name, (icon, text) in rows.items():
        typer.echo(f"{name.ljust(width)}  {icon + ' ' if icon else ''}{text}")


@app.command()
def bench(
    name: Annotated[
        str | None,
        typer.Argument(help="Which one, or a folder of them; all but the race without a name."),
    ] = None,
) -> None:
    """Measure Boxcars beside its peers; the benchmarks live in bench/ of a checkout."""
    folder = _checkout() / "bench"
    found = {path.stem: path for path in sorted(folder.rglob("[a-z]*.py"))}
    if not found:
        raise BoxcarsError("there are no benchmarks here: run this in a checkout of Boxcars.")
    names = {*found, *(path.parent.name for path in found.values())}
    if name is not None and name not in names:
        raise Wrong(f"there is no benchmark '{name}'.{nearest(name, names)}")
    for stem, path in found.items():
        if name in (stem, path.parent.name) or (name is None and stem != "race"):
            typer.echo(f"== {stem}")
            kept = {**POLARS_KEEPS, **os.environ}
            done = subprocess.run([sys.executable, str(path)], env=kept, check=False)
            if done.returncode:
                raise BoxcarsError(f"benchmark '{stem}' failed.")


@app.command(hidden=True)
def generate(
    check: Annotated[bool, typer.Option(help="Only say whether they are up to date.")] = False,
) -> None:
    """Write what is generated from the code: types of stream methods, tables of the docs."""
    for path, content in generated(_checkout()).items():
        if check:
            if not path.exists() or path.read_text(encoding="utf-8") != content:
                raise BoxcarsError(f"{path.name} is out of date: run boxcars generate.")
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
        typer.echo(f"wrote {path.name}")


def _checkout() -> Path:
    return Path(bx.__file__).parent.parent


if __name__ == "__main__":
    main()
