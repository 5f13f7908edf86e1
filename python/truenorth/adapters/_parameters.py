"""Parameters that can be read, set and copied, as scikit-learn and River do it."""

from __future__ import annotations

import sys
from typing import Any, ClassVar, TypeVar

from truenorth._native import Policy

_Own = TypeVar("_Own", bound="Parameters")

_SETTINGS = frozenset(Policy(dimension=1).params) - {"dimension"}


class Parameters:
    """Something that keeps what its constructor was told under the same names."""

    _NAMES: ClassVar[tuple[str, ...]]
    settings: dict[str, Any]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """What the constructor was told.

        Parameters
        ----------
        deep : bool
            There is nothing deeper; scikit-learn asks.

        Returns
        -------
        dict
        """
        return {**{name: getattr(self, name) for name in self._NAMES}, **self.settings}

    def set_params(self: _Own, **parameters: Any) -> _Own:
        """Sets parameters by name, and forgets all data that came after the constructor.

        Parameters
        ----------
        **parameters
            As for the constructor.

        Returns
        -------
        self
        """
        fresh = type(self)(**{**self.get_params(), **parameters})
        self.__dict__.clear()
        self.__dict__.update(fresh.__dict__)
        return self

    def _check_settings(self) -> None:
        for name in self.settings:
            if name not in _SETTINGS:
                known = ", ".join([*self._NAMES, *sorted(_SETTINGS)])
                raise TypeError(f"{type(self).__name__} has no parameter {name!r}; the names are {known}")

    def __repr__(self) -> str:
        told = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items() if value is not None)
        return f"{type(self).__name__}({told})"


def register(kind: type, module: str, name: str) -> None:
    """Lets a class pass for a subclass of another library's abstract one, where that library is loaded."""
    base = getattr(sys.modules.get(module), name, None)
    if base is not None:
        base.register(kind)


def count(name: str, value: Any, least: int = 1) -> int:
    """A whole number that is large enough, or a sentence about it."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"`{name}` must be a whole number, but is {value!r}")
    number: int = value.__index__()
    if number < least:
        raise ValueError(f"`{name}` must be at least {least}, but is {number}")
    return number
