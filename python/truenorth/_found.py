"""What a command prints as JSON, from Python."""

from __future__ import annotations

from typing import Any, ClassVar


class Found:
    """Something that has every key of what was found as an attribute too."""

    _NAME: ClassVar[str]

    def __init__(self, found: dict[str, Any]) -> None:
        self._found = found

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_found"][name]
        except KeyError:
            raise AttributeError(f"{self._NAME} has no {name!r}") from None

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._found})
