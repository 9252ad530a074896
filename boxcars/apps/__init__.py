"""Applications from the papers, with generated data.

>>> from boxcars.apps import apps
>>> apps()["high-mobility"].family
'telephony fraud'
"""

from functools import cache
from importlib import import_module

from boxcars.apps.app import App, Feed, Verdict, judge
from boxcars.model.problem import Wrong, nearest

__all__ = ["App", "Feed", "Verdict", "apps", "find_app", "judge"]

_MODULES = (
    "high_mobility",
    "consumption_control",
    "overlapping_calls",
    "blacklist",
    "caller_distribution",
    "improper_fake",
    "restrict_usage",
    "feed_monitor",
    "battalion",
    "ddos",
    "siem_alarms",
    "environment",
)


@cache
def apps() -> dict[str, App]:
    """All applications, by name."""
    modules = (import_module(f"boxcars.apps.{name}") for name in _MODULES)
    return {module.APP.name: module.APP for module in modules}


def find_app(name: str) -> App:
    """Return an application by name; the error for an unknown name suggests the nearest one."""
    if name not in apps():
        raise Wrong(f"there is no application '{name}'.{nearest(name, apps())}")
    return apps()[name]
