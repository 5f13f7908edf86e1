"""One context and separate arms, as other libraries have them, for a policy that knows only features."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from truenorth._native import Policy, Summary, presets
from truenorth._summaries import summarize

Arm = Hashable
Floats = NDArray[np.float64]
ArmFeatures = Mapping[Any, ArrayLike] | Callable[[Floats, Any], ArrayLike] | None

# Features that are laid out at once: 32 megabytes of them.
_AT_ONCE = 1 << 22


@dataclass(frozen=True)
class Rows:
    """Rounds whose arm is known: contexts, arms and rewards."""

    contexts: Floats
    arms: list[Arm]
    rewards: Floats

    def __len__(self) -> int:
        return len(self.arms)

    def without(self, arm: Arm) -> Rows:
        """The rows of all other arms."""
        kept = [place for place, played in enumerate(self.arms) if played != arm]
        return Rows(self.contexts[kept], [self.arms[place] for place in kept], self.rewards[kept])

    def joined(self, other: Rows) -> Rows:
        """These rows and then the others."""
        return Rows(
            np.concatenate([self.contexts, other.contexts]),
            self.arms + other.arms,
            np.concatenate([self.rewards, other.rewards]),
        )

    def widened(self, width: int) -> Rows:
        """The rows with further features, which were 0."""
        missing = width - self.contexts.shape[1]
        return Rows(np.pad(self.contexts, ((0, 0), (0, missing))), self.arms, self.rewards)


class Learner:
    """A policy on the features of a context and an arm together.

    Rows that were learned are kept: a policy's number of features is fixed, so that it is made anew from them
    when an arm or a feature joins.
    """

    def __init__(
        self,
        arms: Sequence[Arm],
        preset: str,
        arm_features: ArmFeatures,
        intercept: bool,
        offline: Summary | None,
        settings: Mapping[str, Any],
        names: Sequence[str] | None = None,
    ) -> None:
        self.arms: list[Arm] = []
        self.names: list[str] | None = None
        self._told = (preset, offline, dict(settings))
        self._arm_features = arm_features
        self._intercept = bool(intercept)
        self._vectors: dict[Arm, Floats] = {}
        self._logs: list[Rows] = []
        self._live: list[Rows] = []
        self._policy: Policy | None = None
        self._ahead: Policy | None = None
        self._summary: Summary | None = None
        if preset not in presets():
            raise ValueError(f"there is no policy named {preset!r}; the names are {', '.join(presets())}")
        for arm in arms:
            self.add(arm)
        if names is not None:
            self.names = list(names)
            _ = self.policy

    @property
    def blocks(self) -> bool:
        """Whether every arm has coefficients of its own."""
        return self._arm_features is None

    @property
    def width(self) -> int | None:
        """Number of values in a context, once it is known."""
        return None if self.names is None else len(self.names)

    @property
    def policy(self) -> Policy:
        """The policy, with all that was learned."""
        if self._policy is None:
            policy = self._new()
            for rows in self._live:
                self._play(policy, rows)
            self._policy = policy
        return self._policy

    @property
    def summary(self) -> Summary | None:
        """The logs."""
        if self._summary is None:
            summary = self._told[1]
            for rows in self._logs:
                for part in self._parts(rows):
                    added = summarize(self._joint(part), part.rewards, self.feature_names())
                    summary = added if summary is None else summary + added
            self._summary = summary
        return self._summary

    def add(self, arm: Arm, features: ArrayLike | None = None) -> None:
        """A new arm, with its features unless `arm_features` has them."""
        if arm in self.arms:
            raise ValueError(f"the arm {arm!r} is there already")
        if arm is None or (isinstance(arm, float) and not np.isfinite(arm)):
            raise ValueError(f"an arm must have a name, but one is {arm!r}")
        if isinstance(self._arm_features, Mapping):
            if features is None and arm not in self._arm_features:
                raise ValueError(f"`arm_features` has nothing for the arm {arm!r}")
            self._describe(arm, self._arm_features[arm] if features is None else features)
        elif features is not None:
            raise TypeError("`features` go with `arm_features` that are a dictionary")
        if self.blocks and self.width is not None:
            self._change()
        self.arms.append(arm)

    def remove(self, arm: Arm) -> None:
        """An arm that is gone; with coefficients of its own, all that was learned about it is."""
        self.place(arm)
        if len(self.arms) == 1:
            raise ValueError(f"the arm {arm!r} is the last one")
        if self.blocks:
            self._change()
            self._logs = [rows.without(arm) for rows in self._logs]
            self._live = [rows.without(arm) for rows in self._live]
        self.arms.remove(arm)

    def place(self, arm: Arm) -> int:
        """Where an arm is."""
        try:
            return self.arms.index(arm)
        except ValueError:
            raise ValueError(f"there is no arm {arm!r}") from None

    def widen(self, names: Sequence[str]) -> None:
        """Further features of the context."""
        if self.names is not None:
            self._change()
        self.names = [*(self.names or []), *names]
        self._logs = [rows.widened(len(self.names)) for rows in self._logs]
        self._live = [rows.widened(len(self.names)) for rows in self._live]

    def restarted(self) -> Learner:
        """What was known before live data: the logs, if any."""
        other = copy.copy(self)
        other.arms, other._vectors, other._live = list(self.arms), dict(self._vectors), []
        other._policy = other._ahead = None
        if not self._logs and self._told[1] is None:
            other.names = None
        return other

    def warm_start(self, rows: Rows) -> None:
        """Logs of an earlier policy."""
        before = self._logs, self._policy, self._ahead, self._summary
        self._logs = [*self._logs, rows]
        self._stale()
        try:
            _ = self.policy
        except Exception:
            self._logs, self._policy, self._ahead, self._summary = before
            raise

    def learn(self, rows: Rows) -> None:
        """Live rounds, each as if its arm had been the only one."""
        policy, self._ahead = self.policy, None
        try:
            self._play(policy, rows)
        except BaseException:
            self._policy = None  # made anew without them
            raise
        self._live.append(rows)
        while len(self._live) > 1 and len(self._live[-2]) <= len(self._live[-1]):
            last = self._live.pop()
            self._live[-1] = self._live[-1].joined(last)

    def choose(self, contexts: Floats, arms: Sequence[Arm] | None = None) -> list[Arm]:
        """An arm for each context; nothing is learned, and no round counts until it is."""
        offered = self.arms if arms is None else list(arms)
        if self._ahead is None:
            self._ahead = copy.copy(self.policy)
        chosen: list[Arm] = []
        for part in self._contexts(contexts, len(offered)):
            choices = self._ahead.choose_many(self._table(part, offered))
            chosen += [offered[place] for place in choices.action.tolist()]
        return chosen

    def expectations(self, contexts: Floats) -> Floats:
        """Mean reward of every arm in every context."""
        policy, means = self.policy, []
        for part in self._contexts(contexts, len(self.arms)):
            table = self._table(part, self.arms)
            means.append(policy.intervals(table.reshape(-1, table.shape[2])).mean.reshape(table.shape[:2]))
        return np.concatenate(means)

    def matrix(self, contexts: Any, rows: int | None = None) -> Floats:
        """Contexts as an array of two dimensions.

        One column or one row, if they have only one dimension: by the number of rows, or by what is known already.
        """
        if contexts is None:
            if not self._intercept:
                raise ValueError("`contexts` are needed, since there is no intercept")
            values = np.empty((1 if rows is None else rows, 0))
        else:
            values = np.asarray(contexts, dtype=np.float64)
        if values.ndim == 1:
            column = self.width == 1 if rows is None else rows > 1
            values = values.reshape(-1, 1) if column else values.reshape(1, -1)
        if values.ndim != 2 or not len(values):
            raise ValueError(f"`contexts` must have a row for each round, but their shape is {values.shape}")
        if rows is not None and len(values) != rows:
            raise ValueError(f"there are {rows} decisions, but {len(values)} contexts")
        if self.width is not None and values.shape[1] != self.width:
            raise ValueError(f"a context must have {self.width} values, but has {values.shape[1]}")
        finite = np.isfinite(values)
        if not finite.all():
            row, column_of = np.argwhere(~finite)[0]
            raise ValueError(f"value {column_of} of context {row} must be finite, but is {values[row, column_of]}")
        if self.names is None:
            columns = getattr(contexts, "columns", None)
            self.names = [f"x{place + 1}" for place in range(values.shape[1])] if columns is None else [
                str(column) for column in columns
            ]
        return values

    def rows(self, decisions: Any, rewards: Any, contexts: Any) -> Rows:
        """Checked rows from whatever they are in."""
        arms = list(decisions)
        known = set(self.arms)
        for arm in arms:
            if arm not in known:
                raise ValueError(f"there is no arm {arm!r}")
        paid = np.asarray(rewards, dtype=np.float64)
        if paid.shape != (len(arms),):
            raise ValueError(f"there are {len(arms)} decisions, but the rewards have the shape {paid.shape}")
        if not arms:
            raise ValueError("`decisions` must not be empty")
        finite = np.isfinite(paid)
        if not finite.all():
            place = int(np.argmin(finite))
            raise ValueError(f"reward {place} must be finite, but is {paid[place]}")
        # Copies: they are kept, and the caller may change his.
        return Rows(np.array(self.matrix(contexts, len(arms))), arms, np.array(paid))

    def feature_names(self) -> list[str]:
        """Names of the policy's features."""
        context = [*(["intercept"] if self._intercept else []), *(self.names or [])]
        if callable(self._arm_features):
            return [f"x{place + 1}" for place in range(self._dimension())]
        if self.blocks:
            return [f"{arm}:{name}" for arm in self.arms for name in context]
        size = len(next(iter(self._vectors.values())))
        return [f"v{place + 1}:{name}" for place in range(size) for name in context]

    def _describe(self, arm: Arm, features: ArrayLike) -> None:
        """An arm's own features, as many as the others have."""
        vector = np.asarray(features, dtype=np.float64)
        widths = {len(known) for known in self._vectors.values()} or {vector.size}
        if vector.ndim != 1 or vector.size not in widths or not np.isfinite(vector).all():
            raise ValueError(
                f"the features of the arm {arm!r} must be {min(widths)} finite numbers, but are {features!r}"
            )
        self._vectors[arm] = vector

    def _stale(self) -> None:
        self._policy = self._ahead = self._summary = None

    def _change(self) -> None:
        """The features change, and the policy with them."""
        if self._told[1] is not None:
            raise ValueError("arms and features cannot change after `offline` was given, which has the first ones")
        self._stale()

    def _new(self) -> Policy:
        preset, _, settings = self._told
        return Policy(preset, dimension=self._dimension(), offline=self.summary, **settings)

    def _dimension(self) -> int:
        """Number of the policy's features."""
        probe = np.zeros((1, len(self.names or [])))
        return int(self._table(probe, self.arms[:1]).shape[2])

    def _play(self, policy: Policy, rows: Rows) -> None:
        for part in self._parts(rows):
            policy.play(self._joint(part)[:, None, :], part.rewards[:, None])

    def _parts(self, rows: Rows) -> Iterator[Rows]:
        size = max(1, _AT_ONCE // self._dimension())
        for start in range(0, len(rows), size):
            span = slice(start, start + size)
            yield Rows(rows.contexts[span], rows.arms[span], rows.rewards[span])

    def _contexts(self, contexts: Floats, arms: int) -> Iterator[Floats]:
        size = max(1, _AT_ONCE // (self._dimension() * arms))
        for start in range(0, len(contexts), size):
            yield contexts[start : start + size]

    def _joint(self, rows: Rows) -> Floats:
        """A row of features for each round."""
        if callable(self._arm_features):
            return self._called(zip(rows.contexts, rows.arms))
        return _products(self._arm_vectors(rows.arms), self._with_intercept(rows.contexts))

    def _table(self, contexts: Floats, arms: Sequence[Arm]) -> Floats:
        """A row of features for each context and arm."""
        if callable(self._arm_features):
            rows = self._called((context, arm) for context in contexts for arm in arms)
        else:
            vectors = np.tile(self._arm_vectors(arms), (len(contexts), 1))
            rows = _products(vectors, np.repeat(self._with_intercept(contexts), len(arms), axis=0))
        return rows.reshape(len(contexts), len(arms), -1)

    def _called(self, pairs: Any) -> Floats:
        assert callable(self._arm_features)
        rows = [np.asarray(self._arm_features(context, arm), dtype=np.float64) for context, arm in pairs]
        shapes = {row.shape for row in rows}
        if len(shapes) > 1 or len(next(iter(shapes))) != 1:
            raise ValueError(f"`arm_features` must give one vector of the same length, but the shapes are {shapes}")
        return np.stack(rows)

    def _arm_vectors(self, arms: Sequence[Arm]) -> Floats:
        if not self.blocks:
            return np.stack([self._vectors[arm] for arm in arms])
        places = {arm: place for place, arm in enumerate(self.arms)}
        vectors = np.zeros((len(arms), len(places)))
        vectors[np.arange(len(arms)), [places[arm] for arm in arms]] = 1.0
        return vectors

    def _with_intercept(self, contexts: Floats) -> Floats:
        return np.insert(contexts, 0, 1.0, axis=1) if self._intercept else contexts


def _products(vectors: Floats, contexts: Floats) -> Floats:
    """Each row's products of an arm's features and the context's; with unit vectors, a block for each arm."""
    rows: Floats = (vectors[:, :, None] * contexts[:, None, :]).reshape(len(vectors), -1)
    return rows
