"""One module per box. To add a box, add a module here (docs/how-to/add-a-box.md)."""

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
