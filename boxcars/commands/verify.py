"""``boxcars verify``: check every file of a checkpoint, and go back an epoch if need be."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from boxcars.model.problem import Wrong

if TYPE_CHECKING:
    from boxcars.engine.state.verify import Verified


def verify_command(
    checkpoint: Annotated[Path, typer.Argument(help="The checkpoint folder of a run.")],
    back: Annotated[
        bool,
        typer.Option(
            "--back",
            help="If the last epoch is damaged, go back to the previous one; the next run repeats "
            "the last one.",
        ),
    ] = False,
) -> None:
    """Check that head, manifests, networks, states, file lists and ledgers are as written.

    The exit code is 1 if the run can't resume from its last epoch.
    """
    from boxcars.engine.state.lease import lease
    from boxcars.engine.state.storage import LocalStorage
    from boxcars.engine.state.verify import go_back, verify

    if not checkpoint.is_dir():
        raise Wrong(f"{checkpoint}: there is no such folder.")
    if not (checkpoint / "head").exists():
        raise Wrong(f"{checkpoint}: this is not the checkpoint of a run: it has no file 'head'.")
    storage = LocalStorage(checkpoint)
    with lease(checkpoint, "verify it when that run has ended"):
        found = verify(storage)
        if back and not found.intact and found.can_go_back:
            head = go_back(storage)
            typer.echo(f"{checkpoint}: back at epoch {head.epoch}; a run repeats the one after it.")
            return
    if back and found.intact:
        raise Wrong(f"{checkpoint}: epoch {found.head.epoch} is intact, so it stays as it is.")
    _report(checkpoint, found)


def _report(checkpoint: Path, found: Verified) -> None:
    """Print the findings and the way out."""
    epoch = found.head.epoch
    for number, problems in found.problems.items():
        for problem in problems:
            typer.echo(f"epoch {number}: {problem}", err=True)
    for problem in (*found.others, *found.unread):
        typer.echo(problem, err=True)
    if found.intact:
        typer.echo(f"{checkpoint}: intact at epoch {epoch}, {found.files} files checked.")
        return
    if found.unread:
        state, way = "could not be checked", "See to it that these files can be read."
    elif found.can_go_back:
        state = f"damaged at epoch {epoch}"
        way = (
            f"Epoch {epoch - 1} is intact: `boxcars verify {checkpoint} --back` goes back to it; "
            "the next run repeats the last epoch with the same output."
        )
    else:
        state = f"damaged at epoch {epoch}"
        way = "Restore it from a backup, or start the run with a new checkpoint."
    typer.echo(f"{checkpoint}: {state}. {way}", err=True)
    raise typer.Exit(1)
