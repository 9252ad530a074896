"""The boxes as methods of a stream.

Every box type there is becomes a method, also one from a module that was added a minute ago.
``methods.pyi`` beside this file has the same methods with their types, for editors and type
checkers; ``boxcars generate`` writes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from boxcars.model.box import box_types
from boxcars.model.problem import nearest

if TYPE_CHECKING:
    from boxcars.model.stream import Stream


class Methods:
    """What a stream inherits: ``stream.<box type>(...)`` draws that box."""

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
