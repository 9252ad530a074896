"""A clock that tests set, and runs that are planned by it."""

from dataclasses import dataclass
from functools import partial

import pytest

from boxcars.engine.epoch.planner import Planner
from boxcars.engine.epoch.wall_clock import Clocks


@dataclass
class FakeClock:
    """Wall time in seconds since 1970; it goes on only when a test says so."""

    now: float = 1_000.0

    @property
    def clocks(self) -> Clocks:
        """The clocks of a planner, both on this one."""
        return Clocks(lambda: self.now, lambda: self.now)

    def drive(self, patch: pytest.MonkeyPatch) -> None:
        """Plan all new runs by this clock."""
        patch.setattr("boxcars.engine.start.Planner", partial(Planner, clocks=self.clocks))
