"""Which epochs are slow."""

import pytest

from boxcars.events.policies import EPOCHS, usual_if_slow


@pytest.mark.parametrize(
    ("seconds", "before", "usual"),
    [
        (5.0, [0.5] * 20, 0.5),
        (2.0, [0.5] * 20, None),  # not more than four times
        (0.9, [0.1] * 20, None),  # under a second
        (5.0, [0.5] * 4, None),  # too few to compare with
        (5.0, [0.5] * 5, 0.5),
        (9.0, [0.1] * 100 + [3.0] * EPOCHS, None),  # only the last ones count
        (5.0, [30.0, *[0.5] * 19], 0.5),  # one slow epoch does not hide the next
    ],
)
def test_slow_epochs(seconds: float, before: list[float], usual: float | None) -> None:
    assert usual_if_slow(seconds, before) == usual
