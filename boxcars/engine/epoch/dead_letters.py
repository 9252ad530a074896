"""Dead letters of a run: each piece of an epoch puts its own aside, and they leave with the epoch.

As a part of an epoch they are delivered before it is committed, like the rows of an output. What a
piece has put aside counts only if it says so: a repeated epoch, which may have other pieces, has
its letters once.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from zlib import crc32

import polars as pl

from boxcars.connectors.conform import DEAD_LETTERS
from boxcars.connectors.files import write_table, writing
from boxcars.connectors.write.base import Outlet
from boxcars.connectors.write.writers import OneFile
from boxcars.engine.measure.dead_letter_reasons import Dead, count_reasons
from boxcars.model.schema import Schema

LETTERS = Schema.of({"epoch": "int", "source": "str", "record": "bytes", "reason": "str"}, "epoch")
"""What leaves for a dead letter: when, from which input or box, its bytes, and what is wrong."""
WHO = "dead letters"
"""What their sink is called where outputs go by their names."""


def put_aside(folder: str, epoch: int, piece: int, letters: Sequence[pl.DataFrame]) -> str:
    """Write the letters of a piece, if it has any; gives the name of the file."""
    if not letters:
        return ""
    name = f"{epoch:08d}-{piece:04d}.parquet"
    _write(pl.concat(letters), _aside(Path(folder)), name)
    return name


def reasons_of(letters: Sequence[pl.DataFrame]) -> Dead:
    """How many of them there are, and why."""
    return count_reasons(pl.concat(letters)) if letters else {}


class DeadLetters:
    """The sink of dead letters, and what pieces have put aside for it under the checkpoint.

    ``target`` says to people where they will find them, if they will.
    """

    def __init__(self, folder: Path, outlet: Outlet, target: str) -> None:
        self._folder, self.outlet, self._target = _aside(folder), outlet, target

    @property
    def where(self) -> str:
        """Where people find them; a single file appears when the run has finished."""
        if isinstance(self.outlet, OneFile) and not self.outlet.complete:
            return f"{self.outlet.folder}, and in {self._target} when the run has finished"
        return self._target

    def put_refused(self, epoch: int, output: str, letters: pl.DataFrame) -> tuple[str, Dead]:
        """Put rows aside that the sink of an output can't hold; gives the file, and why."""
        if letters.is_empty():
            return "", {}
        named = letters.select(pl.lit(f"output {output}").alias("source"), *DEAD_LETTERS)
        name = f"{epoch:08d}-output-{crc32(output.encode()):08x}.parquet"
        _write(named, self._folder, name)
        return name, count_reasons(named)

    def deliver(self, epoch: int, names: Collection[str], inputs: Collection[str]) -> None:
        """Deliver the letters of an epoch as one part: those of inputs as they came.

        A box may run in many places, so those of boxes are in the order of their bytes.
        """
        part = f"part-{epoch:08d}.parquet"
        if names:
            found = pl.concat([pl.read_parquet(self._folder / name) for name in sorted(names)])
            of_input = pl.col("source").is_in(list(inputs))
            came = found.filter(of_input).sort("source", maintain_order=True)
            others = found.filter(~of_input).sort("source", "record", "reason")
            whole = pl.concat([came, others]).select(pl.lit(epoch, pl.Int64).alias("epoch"), "*")
            _write(whole.select(list(LETTERS.fields)), self.outlet.folder, part)
        else:
            (self.outlet.folder / part).unlink(missing_ok=True)
        self.outlet.deliver(epoch)

    def forget(self, epoch: int) -> None:
        """Remove what was put aside: the epoch is committed."""
        for path in self._folder.glob("*.parquet"):
            if path.name < f"{epoch + 1:08d}":
                path.unlink(missing_ok=True)


def _aside(folder: Path) -> Path:
    return folder / "letters"


def _write(letters: pl.DataFrame, folder: Path, name: str) -> None:
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    write_table(letters.to_arrow(compat_level=pl.CompatLevel.oldest()), folder / name)
