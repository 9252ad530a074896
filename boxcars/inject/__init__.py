"""The load injector: sends data to a running network at a given pace."""

from boxcars.inject.controller import Controller
from boxcars.inject.injector import Injector, cut
from boxcars.inject.pace import AtRate, Batch, ByTime, Pace, Unthrottled
from boxcars.inject.targets import Folders, Target

__all__ = [
    "AtRate",
    "Batch",
    "ByTime",
    "Controller",
    "Folders",
    "Injector",
    "Pace",
    "Target",
    "Unthrottled",
    "cut",
]
