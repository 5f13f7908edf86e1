"""What all adapters share: parameters that can be read, set and copied, as scikit-learn and River do it."""

from __future__ import annotations

import inspect
import sys
from difflib import get_close_matches
from typing import Any, ClassVar, TypeVar

from truenorth._native import Policy
from truenorth.adapters._learner import Learner

_Own = TypeVar("_Own", bound="Adapter")

# Nobody would finish the fits of an adapter's policy.
SETTINGS = frozenset(Policy(dimension=1).params) - {"dimension", "fits_beside"}


class Adapter:
    """Something that keeps what its constructor was told under the same names, and nothing else before it learns."""

    # Module and name of another library's abstract class that this one passes for, where that library is loaded.
    _PASSES_FOR: ClassVar[tuple[str, str]] = ("", "")

    def __init__(self, policy: str, intercept: bool, settings: dict[str, Any]) -> None:
        self.policy = policy
        self.intercept = intercept
        vars(self).update(settings)
        module, name = self._PASSES_FOR
        base = getattr(sys.modules.get(module), name, None)
        if base is not None:
            base.register(type(self))
        for name in settings:
            if name not in SETTINGS:
                known = [*self._names(), *sorted(SETTINGS)]
                near = get_close_matches(name, known, 1)
                hint = f"did you mean {near[0]!r}?" if near else f"the names are {', '.join(known)}"
                raise TypeError(f"{type(self).__name__} has no parameter {name!r}; {hint}")

    @property
    def settings(self) -> dict[str, Any]:
        """What the policy is told, beside its name."""
        return {name: value for name, value in vars(self).items() if name in SETTINGS}

    @classmethod
    def _names(cls) -> list[str]:
        """The constructor's own parameters, without those that it hands on to the policy."""
        told = list(inspect.signature(cls.__init__).parameters.values())[1:]
        return [parameter.name for parameter in told if parameter.kind is not parameter.VAR_KEYWORD]

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
        return {**{name: getattr(self, name) for name in self._names()}, **self.settings}

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

    def __repr__(self) -> str:
        told = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items() if value is not None)
        return f"{type(self).__name__}({told})"


class ArmAdapter(Adapter):
    """One that chooses among arms."""

    _learner: Learner

    @property
    def policy_(self) -> Policy:
        """The policy itself: what was learned about each feature, counts, certificate."""
        return self._learner.policy
