"""What policies give back: plain data, made by the native part."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from truenorth._native import Choice

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Texts = NDArray[np.str_]

# In the order of their numbers in the native part.
_BRANCHES: Texts = np.array(["online", "pooled", "warm", "offline"])


class Decision(NamedTuple):
    """Round and layer of a decision: what has to be stored, with its features, until its reward comes."""

    round: int
    layer: int


@dataclass(frozen=True)
class Counts:
    """What a policy has done so far."""

    rounds: int
    rewards: int
    conflicts: int
    """Action-layer pairs whose online and pooled intervals were disjoint: an assumption is refuted."""
    informed: int
    """Rounds in which the logs set the upper end of the chosen action's interval."""
    spent: float = 0.0
    """What the belief may have lost against live data alone, by the latter's own intervals, in deviations of the noise."""
    forced: int = 0
    """Rounds in which nothing was left to spend, so that live data alone decided."""

    @property
    def pooled_share(self) -> float:
        """Share of the rounds in which the logs set the upper end of the chosen action's interval."""
        return self.informed / self.rounds if self.rounds else 0.0


@dataclass(frozen=True)
class FeatureView:
    """What has been learned about one feature."""

    estimate: float
    """Estimated live coefficient."""
    coverage: float
    """What the logs know: rows of this feature alone, of size 1, that would tell as much."""
    drift: float | None
    """Live coefficient minus logged one; none before live data or without logs."""
    stderr: float | None
    """Standard deviation of that."""
    trust: float
    """How much the logs count here, from 0 to 1."""


@dataclass(frozen=True)
class DriftDirection:
    """One eigen-direction of a certificate."""

    direction: Floats
    eigenvalue: float
    drift: float
    """The largest drift that the certificate allows along it."""


@dataclass(frozen=True, eq=False)
class _Columns:
    def __len__(self) -> int:
        return len(getattr(self, fields(self)[0].name))

    def __post_init__(self) -> None:
        codes = getattr(self, "branch")
        object.__setattr__(self, "branch", _BRANCHES[codes])

    def __repr__(self) -> str:
        names = ", ".join(field.name for field in fields(self))
        return f"{type(self).__name__}(rows={len(self)}, columns: {names})"


@dataclass(frozen=True, eq=False, repr=False)
class Intervals(_Columns):
    """Every action's interval; parts of a branch that the policy lacks are NaN."""

    mean: Floats
    lcb: Floats
    ucb: Floats
    index: Floats
    """What a flat policy ranks actions by."""
    branch: Texts
    """Which branch set the upper end."""
    conflict: NDArray[np.bool_]
    """Whether the two branches' intervals are disjoint."""
    online_mean: Floats
    online_statistical: Floats
    informed_mean: Floats
    informed_statistical: Floats
    informed_bias: Floats


@dataclass(frozen=True, eq=False, repr=False)
class Choices(_Columns):
    """Many decisions, a column for each attribute of `Choice`."""

    action: Integers
    ucb: Floats
    lcb: Floats
    mean: Floats
    branch: Texts
    propensity: Floats
    candidates: Integers
    conflicts: Integers
    round: Integers
    layer: Integers
    features: Floats
    """Features of the chosen actions."""

    @property
    def decisions(self) -> list[Decision]:
        """Round and layer of each."""
        return [Decision(*pair) for pair in zip(self.round.tolist(), self.layer.tolist())]


@dataclass(frozen=True, eq=False, repr=False)
class Played(_Columns):
    """Rounds that were chosen and learned, a column for each attribute of `Choice`."""

    actions: Integers
    ucb: Floats
    lcb: Floats
    mean: Floats
    branch: Texts
    propensity: Floats
    candidates: Integers
    conflicts: Integers
    rounds: Integers
    layers: Integers
    rewards: Floats
    """What the chosen actions paid; NaN where the reward never came."""

    @property
    def mean_reward(self) -> float:
        """Mean of the rewards that came."""
        came = self.rewards[~np.isnan(self.rewards)]
        return float(came.mean()) if len(came) else float("nan")


def _choice(attributes: dict[str, Any]) -> Choice:
    """A choice from its pickle."""
    return Choice(**attributes)


def _columns(choices: Any) -> tuple[list[tuple[int, int]], Floats | None]:
    """Rounds and layers of decisions, and their features where they are known."""
    if isinstance(choices, Choices):
        return list(zip(choices.round.tolist(), choices.layer.tolist())), choices.features
    listed = choices.tolist() if isinstance(choices, np.ndarray) else list(choices)
    if listed and all(isinstance(choice, Choice) for choice in listed):
        features = np.array([choice.features for choice in listed])
        return [(choice.round, choice.layer) for choice in listed], features
    return [(int(round), int(layer)) for round, layer in listed], None
