"""The boxes as methods of a stream.

Every registered box type is a method, also one that was registered a moment ago. The stub
``methods.pyi`` next to this file has the same methods with their types, for editors and type
checkers; ``boxcars generate`` writes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from boxcars.model.box import box_types
from boxcars.model.problem import nearest

if TYPE_CHECKING:
    from boxcars.model.stream import Stream


class Methods:
    """Mix-in of a stream: ``stream.<box type>(...)`` draws that box."""

    net: Any

    def draw(self, type_: str, /, *arguments: Any, **parameters: Any) -> Stream:
        """Draw a box of any type; streams among the arguments are further inputs."""
        others = [argument for argument in arguments if isinstance(argument, Methods)]
        rest = [argument for argument in arguments if not isinstance(argument, Methods)]
        box = box_types()[type_].build(*rest, **parameters)
        stream: Stream = self.net.box(None, box, self, *others)
        return stream

    def __getattr__(self, name: str) -> Any:
        type_ = name.replace("_", "-") if name.replace("_", "-") in box_types() else name
        if name.startswith("_") or type_ not in box_types():
            known = [*box_types(), *(m for m in dir(type(self)) if not m.startswith("_"))]
            raise AttributeError(f"a stream has no box or method '{name}'.{nearest(name, known)}")

        def draw(*arguments: Any, **parameters: Any) -> Stream:
            return self.draw(type_, *arguments, **parameters)

        return draw

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(name.replace("-", "_") for name in box_types())]
