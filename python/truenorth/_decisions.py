"""What policies give back: plain data, made by the native part."""

from __future__ import annotations

from dataclasses import dataclass, fields
from difflib import get_close_matches
from importlib import import_module
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
class BanditCounts:
    """What a bandit has done so far."""

    decisions: int
    rewards: int
    """Rewards of these that were learned."""
    rows: int
    """Rows of others that were learned."""
    open: int
    """Decisions that wait for their rewards."""
    expired: int
    """Decisions that have waited too long."""
    joined: int
    """Features that joined beside those of the logs."""
    conflicts: int
    pooled_share: float
    """Share of the decisions in which the logs set the upper end of the chosen action's interval."""
    mean_reward: float | None
    """Mean of the rewards of decisions; none before the first."""


@dataclass(frozen=True)
class FeatureView:
    """What has been learned about one feature."""

    name: str
    """Its name: that of the logs, or ``x1``, ``x2``, ..."""
    estimate: float
    """Estimated live coefficient."""
    coverage: float
    """What the logs know: rows of this feature alone, of size 1, that would tell as much."""
    drift: float | None
    """Live coefficient minus logged one; none before live data or without logs."""
    stderr: float | None
    """Standard deviation of that."""
    trust: float
    """Reliance: how much the logs count here, from 0 to 1. An audit's trust is another number."""


class Features(list[FeatureView]):
    """What has been learned about each feature: a list, a dictionary by name, and a table where it is shown.

    Examples
    --------
    >>> import numpy as np, truenorth
    >>> logs = truenorth.summarize(np.eye(2), [1.0, 2.0], names=["price", "age"])
    >>> features = truenorth.Policy(offline=logs).features
    >>> features.names, features["age"] == features[1]
    (['price', 'age'], True)
    """

    @property
    def names(self) -> list[str]:
        """Names in their order."""
        return [feature.name for feature in self]

    def __getitem__(self, place: Any) -> Any:
        if not isinstance(place, str):
            return super().__getitem__(place)
        for feature in self:
            if feature.name == place:
                return feature
        near = get_close_matches(place, self.names, 1)
        raise KeyError(f"there is no feature {place!r}" + (f"; did you mean {near[0]!r}?" if near else ""))

    def to_dict(self) -> dict[str, list[Any]]:
        """The table as columns, for any library of data frames."""
        columns = [field.name for field in fields(FeatureView)]
        return {column: [getattr(feature, column) for feature in self] for column in columns}

    def __repr__(self) -> str:
        rows = [(f.name, *(_shown(n) for n in (f.estimate, f.coverage, f.drift, f.stderr, f.trust))) for f in self]
        table = [tuple(field.name for field in fields(FeatureView)), *rows]
        widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))])
            for row in table
        ]
        return "\n".join(lines)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (list(self),)


def _shown(number: float | None) -> str:
    return "" if number is None else f"{number:.4g}"


def _features(views: list[tuple[Any, ...]]) -> Features:
    return Features(FeatureView(*view) for view in views)


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
    features: Any
    """Features of the chosen actions: an array, or a sparse matrix if they came from such."""

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


class _Compressed(NamedTuple):
    """What is not 0 in the rows of a matrix, under the names that SciPy has for it."""

    data: Floats
    indices: Integers
    indptr: Integers
    shape: tuple[int, int]


def _compressed(found: _Compressed) -> Any:
    """The same for users, as SciPy's own where that is installed."""
    try:
        sparse = import_module("scipy.sparse")
    except ImportError:
        return found
    return sparse.csr_array((found.data, found.indices, found.indptr), shape=found.shape)


def _choice(attributes: dict[str, Any]) -> Choice:
    """A choice from its pickle."""
    return Choice(**attributes)


def _columns(choices: Any) -> tuple[list[tuple[int, int]], Any]:
    """Rounds and layers of decisions, and their features where they are known."""
    if isinstance(choices, Choices):
        return list(zip(choices.round.tolist(), choices.layer.tolist())), choices.features
    listed = choices.tolist() if isinstance(choices, np.ndarray) else list(choices)
    if listed and all(isinstance(choice, Choice) for choice in listed):
        features = np.array([choice.features for choice in listed])
        return [(choice.round, choice.layer) for choice in listed], features
    return [_pair(decision) for decision in listed], None


def _pair(decision: Any) -> tuple[int, int]:
    try:
        round, layer = decision
        return int(round), int(layer)
    except (TypeError, ValueError):
        raise TypeError(f"a decision is a Choice, or its round and layer, but this is {decision!r:.60}") from None
