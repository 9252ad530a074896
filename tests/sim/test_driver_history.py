"""The driver keeps its promise in every seeded history; ``--long`` runs 10,000 of them."""

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from boxcars.cli import app
from boxcars.engine.state.checkpoint import Checkpoint
from boxcars.model.problem import BoxcarsError
from boxcars.sim.driver_history import Broken, History, run_history
from boxcars.sim.storage import MemoryStorage
from boxcars.sim.tiny_network import Published, TinyExecutor


def test_the_promise_holds() -> None:
    counts: Counter[str] = Counter()
    for seed in range(150):
        counts.update(asdict(run_history(seed)))
    assert all(number > 10 for number in counts.values()), counts


@pytest.mark.long
def test_the_promise_holds_ten_thousand_times() -> None:
    for seed in range(10_000):
        run_history(seed)


def test_a_seed_repeats_its_history() -> None:
    assert run_history(42) == run_history(42)


class TestMistakes:
    """A simulation that can't fail proves nothing: it finds each of these mistakes."""

    def breaks(self, seeds: int = 100) -> bool:
        for seed in range(seeds):
            try:
                History(seed, 0.1).run()
            except (Broken, BoxcarsError):
                return True
        return False

    def test_a_swap_that_does_not_compare(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def swap(self: MemoryStorage, name: str, _: bytes | None, new: bytes) -> bool:
            self.put(name, new)
            self.sync([name])
            return True

        monkeypatch.setattr(MemoryStorage, "swap", swap)
        assert self.breaks()

    def test_a_sweep_that_ignores_terms(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def sweep(self: Checkpoint) -> None:
            needed = self._needed()
            found = [*self.storage.list("epochs"), *self.storage.list("state")]
            self.storage.delete(name for name in found if name not in needed)

        monkeypatch.setattr(Checkpoint, "_sweep", sweep)
        assert self.breaks()

    def test_state_that_is_not_synced(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(MemoryStorage, "sync", lambda *_: None)
        assert self.breaks()

    def test_an_output_that_is_never_delivered(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(Published, "deliver", lambda *_: None)
        assert self.breaks(1)

    def test_moved_buckets_that_are_not_noticed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A placement that differs only in its owners would load the wrong state."""
        original = TinyExecutor._load

        def load(self: TinyExecutor, task: Any) -> dict[int, dict[int, int]]:
            found = original(self, task)
            if task.previous_shape.owners != task.shape.owners:
                return {instance: {} for instance in found}
            return found

        monkeypatch.setattr(TinyExecutor, "_load", load)
        assert self.breaks()


def test_the_command(tmp_path: Path) -> None:
    file = tmp_path / "sim.json"
    called = CliRunner().invoke(
        app, ["sim", "driver", "--histories", "5", "--seed", "3", "--json", str(file)]
    )
    assert called.exit_code == 0, called.output
    assert "5 histories, the promise held in each" in called.output
    assert '"histories": 5' in file.read_text()
