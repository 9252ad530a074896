"""The load injector: it brings data to a network at a pace, as if it came from outside."""

from boxcars.inject.controller import Controller
from boxcars.inject.injector import Injector, cut
from boxcars.inject.pace import AsFastAsCanBe, AtRate, Batch, ByTime, Pace
from boxcars.inject.targets import Folders, Target

__all__ = [
    "AsFastAsCanBe",
    "AtRate",
    "Batch",
    "ByTime",
    "Controller",
    "Folders",
    "Injector",
    "Pace",
    "Target",
    "cut",
]
