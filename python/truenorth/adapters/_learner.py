"""One context and separate arms, as other libraries have them, for a policy that knows only features."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from truenorth._native import Policy, Summary, presets
from truenorth._summaries import summarize

Arm = Hashable
Floats = NDArray[np.float64]
ArmFeatures = Mapping[Any, ArrayLike] | Callable[[Floats, Any], ArrayLike] | None

# Features that are laid out at once: 32 megabytes of them.
_AT_ONCE = 1 << 22

# Up to so many features a policy with logs is dense: what the reward of one arm says of the logs of the others then
# counts at once, where a sparse policy waits for the next fit.
_COUPLED = 128

# Entries of the matrices of all arms, at most: more may not fit into memory, which ends the process.
_MOST_ENTRIES = 100_000_000


class Rows(NamedTuple):
    """Rounds whose arm is known: contexts, arms and rewards."""

    contexts: Floats
    arms: NDArray[np.object_]
    rewards: Floats

    def take(self, which: slice | list[bool]) -> Rows:
        """Some of the rows."""
        return Rows(self.contexts[which], self.arms[which], self.rewards[which])

    def without(self, arm: Arm) -> Rows:
        """The rows of all other arms."""
        return self.take([played != arm for played in self.arms])

    def widened(self, width: int) -> Rows:
        """The rows with further features, which were 0."""
        return self._replace(contexts=np.pad(self.contexts, ((0, 0), (0, width - self.contexts.shape[1]))))


@dataclass(eq=False, repr=False)
class Learner:
    """A policy on the features of a context and an arm together.

    Rows that were learned are kept: a policy's number of features is fixed, so that it is made anew from them
    when an arm or a feature joins.

    Arms with coefficients of their own are a sparse policy, where the preset can be one, unless there are logs and few
    features: a row has the context in the block of its arm. Decisions come from a copy, so that no round counts before it is learned. Where each of its
    decisions is learned, the copy learns too, and goes on; the policy itself then learns when somebody asks for it.
    """

    first_arms: InitVar[Iterable[Arm]]
    preset: str
    arm_features: ArmFeatures
    intercept: bool
    offline: Summary | None
    settings: dict[str, Any]
    arms: list[Arm] = field(default_factory=list, init=False)
    names: list[str] | None = field(default=None, init=False)
    """Names of the values in a context, once they are known."""
    places: dict[Arm, int] = field(default_factory=dict, init=False)
    """Where each arm is among them."""
    _vectors: dict[Arm, Floats] = field(default_factory=dict, init=False)
    _logs: list[Rows] = field(default_factory=list, init=False)
    _live: list[Rows] = field(default_factory=list, init=False)
    _policy: Policy | None = field(default=None, init=False)
    _learned: int = field(default=0, init=False)
    """Rows that the policy has learned, of the live ones."""
    _sparse: bool = field(default=False, init=False)
    _ahead: Policy | None = field(default=None, init=False)
    _chosen: int = field(default=0, init=False)
    """Decisions of the copy since it learned."""
    _summary: Summary | None = field(default=None, init=False)

    def __post_init__(self, first_arms: Iterable[Arm]) -> None:
        self.settings = dict(self.settings)
        if self.preset not in presets():
            raise ValueError(f"there is no policy named {self.preset!r}; the names are {', '.join(presets())}")
        for arm in first_arms:
            self.add(arm)

    @property
    def blocks(self) -> bool:
        """Whether every arm has coefficients of its own."""
        return self.arm_features is None

    @property
    def policy(self) -> Policy:
        """The policy, with all that was learned."""
        try:
            if self._policy is None:
                self._policy, self._learned = self._made(), 0
            skipped = self._learned
            for rows in self._live:
                if skipped < len(rows.arms):
                    self._play(self._policy, rows.take(slice(skipped, None)))
                skipped = max(0, skipped - len(rows.arms))
            self._learned = self._count()
        except BaseException:
            self._policy = None  # some rows may have been learned
            raise
        return self._policy

    @property
    def summary(self) -> Summary | None:
        """The logs."""
        if self._summary is None:
            summary = self.offline
            for rows in self._logs:
                for features, rewards in self._laid_out(rows):
                    added = summarize(features, rewards, self.feature_names())
                    summary = added if summary is None else summary + added
            self._summary = summary
        return self._summary

    def add(self, arm: Arm, features: ArrayLike | None = None) -> None:
        """A new arm, with its features unless `arm_features` has them."""
        if arm in self.places:
            raise ValueError(f"the arm {arm!r} is there already")
        if arm is None or (isinstance(arm, float) and not np.isfinite(arm)):
            raise ValueError(f"an arm must have a name, but one is {arm!r}")
        if isinstance(self.arm_features, Mapping):
            if features is None and arm not in self.arm_features:
                raise ValueError(f"`arm_features` has nothing for the arm {arm!r}")
            self._describe(arm, self.arm_features[arm] if features is None else features)
        elif features is not None:
            raise TypeError("`features` go with `arm_features` that are a dictionary")
        if self.blocks and self.names is not None:
            self._change()
        self.places[arm] = len(self.arms)
        self.arms.append(arm)

    def remove(self, arm: Arm) -> None:
        """An arm that is gone; with coefficients of its own, all that was learned about it is."""
        self._check_known([arm])
        if len(self.arms) == 1:
            raise ValueError(f"the arm {arm!r} is the last one")
        if self.blocks:
            self._change()
            self._logs = [rows.without(arm) for rows in self._logs]
            self._live = [rows.without(arm) for rows in self._live]
        self.arms.remove(arm)
        self.places = {arm: place for place, arm in enumerate(self.arms)}

    def widen(self, names: Sequence[str]) -> None:
        """Further features of the context."""
        self._change()
        self.names = [*(self.names or []), *names]
        self._logs = [rows.widened(len(self.names)) for rows in self._logs]
        self._live = [rows.widened(len(self.names)) for rows in self._live]

    def restarted(self) -> Learner:
        """What was known before live data: the logs, if any."""
        other = copy.copy(self)
        other.arms, other.places = list(self.arms), dict(self.places)
        other._vectors, other._live = dict(self._vectors), []
        other._policy = other._ahead = None
        other._chosen = 0
        if not self._logs and self.offline is None:
            other.names = None
        return other

    def warm_start(self, decisions: Any, rewards: Any, contexts: Any) -> None:
        """Logs of an earlier policy."""
        rows, before = self.rows(decisions, rewards, contexts), dict(vars(self))
        self._logs = [*self._logs, rows]
        self._stale()
        try:
            _ = self.policy
        except Exception:
            vars(self).update(before)
            raise

    def learn(self, decisions: Any, rewards: Any, contexts: Any) -> None:
        """Live rounds, each as if its arm had been the only one."""
        rows = self.rows(decisions, rewards, contexts)
        ahead, chosen, self._ahead, self._chosen = self._ahead, self._chosen, None, 0
        if ahead is not None and self._sparse and chosen == len(rows.arms):
            # As many rounds as rows: the copy is where it would be if it were made anew.
            ahead._learn_arms(rows.contexts, self.intercept, self._placed(rows.arms), rows.rewards, False)
            self._ahead = ahead
        else:
            policy = self.policy
            try:
                self._play(policy, rows)
            except BaseException:
                self._policy = None  # made anew without them
                raise
            self._learned += len(rows.arms)
        self._live.append(rows)
        # As many as doublings, however few rows come at a time.
        while len(self._live) > 1 and len(self._live[-2].arms) <= len(self._live[-1].arms):
            columns: Any = zip(*self._live[-2:])
            self._live[-2:] = [Rows(*map(np.concatenate, columns))]

    def choose(self, contexts: Floats, arms: Sequence[Arm] | None = None) -> list[Arm]:
        """An arm for each context; nothing is learned, and no round counts until it is."""
        offered = self.arms if arms is None else list(arms)
        ahead = copy.copy(self.policy) if self._ahead is None else self._ahead
        self._ahead = None  # where an interrupt leaves it
        places: list[int] = []
        if self._sparse:
            only = None if offered == self.arms else self._placed(offered)
            places = ahead._choose_arms(contexts, self.intercept, only)
        else:
            for table in self._tables(contexts, offered):
                places += ahead.choose_many(table).action.tolist()
        self._ahead = ahead
        self._chosen += len(contexts)
        return [offered[place] for place in places]

    def expectations(self, contexts: Floats) -> Floats:
        """Mean reward of every arm in every context."""
        policy = self.policy
        if self._sparse:
            return policy._means_of_arms(contexts, self.intercept) + policy.level
        means = [
            policy.intervals(table.reshape(-1, table.shape[2])).mean.reshape(table.shape[:2])
            for table in self._tables(contexts, self.arms)
        ]
        return np.concatenate(means) + policy.level

    def matrix(self, contexts: Any, rows: int | None = None) -> Floats:
        """Contexts as an array of two dimensions.

        One column or one row, if they have only one dimension: by the number of rows, or by what is known already.
        """
        width = None if self.names is None else len(self.names)
        if contexts is None:
            if not self.intercept:
                raise ValueError("`contexts` are needed, since there is no intercept")
            values = np.empty((1 if rows is None else rows, 0))
        else:
            values = np.asarray(contexts, dtype=np.float64)
        if values.ndim == 1:
            column = width == 1 if rows is None else rows > 1
            values = values.reshape((-1, 1) if column else (1, -1))
        if values.ndim != 2 or not len(values):
            raise ValueError(f"`contexts` must have a row for each round, but their shape is {values.shape}")
        if rows is not None and len(values) != rows:
            raise ValueError(f"there are {rows} decisions, but {len(values)} contexts")
        if width is not None and values.shape[1] != width:
            raise ValueError(f"a context must have {width} values, but has {values.shape[1]}")
        if not np.isfinite(values).all():
            row, place = np.argwhere(~np.isfinite(values))[0]
            raise ValueError(f"value {place} of context {row} must be finite, but is {values[row, place]}")
        if self.names is None:
            columns = getattr(contexts, "columns", None)
            self.names = numbered("x", values.shape[1]) if columns is None else [str(column) for column in columns]
        return values

    def rows(self, decisions: Any, rewards: Any, contexts: Any) -> Rows:
        """Checked rows from whatever they are in."""
        arms = list(decisions)
        self._check_known(arms)
        paid = np.asarray(rewards, dtype=np.float64)
        if paid.shape != (len(arms),):
            raise ValueError(f"there are {len(arms)} decisions, but the rewards have the shape {paid.shape}")
        if not arms:
            raise ValueError("`decisions` must not be empty")
        if not np.isfinite(paid).all():
            place = np.flatnonzero(~np.isfinite(paid))[0]
            raise ValueError(f"reward {place} must be finite, but is {paid[place]}")
        # Copies: they are kept, and the caller may change his.
        return Rows(np.array(self.matrix(contexts, len(arms))), np.fromiter(arms, dtype=object), np.array(paid))

    def feature_names(self) -> list[str]:
        """Names of the policy's features."""
        if callable(self.arm_features):
            return numbered("x", self._dimension())
        context = [*(["intercept"] if self.intercept else []), *(self.names or [])]
        parts = self.arms if self.blocks else numbered("v", len(next(iter(self._vectors.values()))))
        return [f"{part}:{name}" for part in parts for name in context]

    def _describe(self, arm: Arm, features: ArrayLike) -> None:
        """An arm's own features, as many as the others have."""
        vector = np.asarray(features, dtype=np.float64)
        widths = {len(known) for known in self._vectors.values()} or {vector.size}
        if vector.ndim != 1 or vector.size not in widths or not np.isfinite(vector).all():
            raise ValueError(
                f"the features of the arm {arm!r} must be {min(widths)} finite numbers, but are {features!r}"
            )
        self._vectors[arm] = vector

    def _check_known(self, arms: Iterable[Arm]) -> None:
        for arm in arms:
            if arm not in self.places:
                raise ValueError(f"there is no arm {arm!r}")

    def _stale(self) -> None:
        self._policy = self._ahead = self._summary = None
        self._chosen = 0

    def _change(self) -> None:
        """The features change, and the policy with them."""
        if self.offline is not None:
            raise ValueError("arms and features cannot change after `offline` was given, which has the first ones")
        self._stale()

    def _dimension(self) -> int:
        """Number of the policy's features."""
        if self.blocks:
            return len(self.arms) * (len(self.names or []) + self.intercept)
        return int(self._joint(np.zeros((1, len(self.names or []))), self.arms[:1]).shape[1])

    def _count(self) -> int:
        return sum(len(rows.arms) for rows in self._live)

    def _placed(self, arms: Iterable[Arm]) -> list[int]:
        return [self.places[arm] for arm in arms]

    def _made(self) -> Policy:
        """The policy before live data."""
        told = {**self.settings, "dimension": self._dimension()}
        self._sparse = False
        if self.blocks and self._parts(told["dimension"]):
            try:
                policy = Policy(self.preset, offline=self.offline, **{**told, "sparse": True})
            except ValueError:
                pass  # said again below, unless the preset cannot be sparse
            else:
                self._sparse = True
                if self._logs:
                    columns: Any = zip(*self._logs)
                    logs = Rows(*map(np.concatenate, columns))
                    placed, names = self._placed(logs.arms), self.feature_names()
                    policy._log_arms(logs.contexts, self.intercept, placed, logs.rewards, names)
                return policy
        return Policy(self.preset, offline=self.summary, **told)

    def _parts(self, dimension: int) -> bool:
        """Whether the policy is to be sparse, if it can be."""
        if dimension * dimension // len(self.arms) > _MOST_ENTRIES:
            return False
        told = self.settings.get("sparse")
        logged = bool(self._logs) or self.offline is not None
        return bool(told) if told is not None else not logged or dimension > _COUPLED

    def _play(self, policy: Policy, rows: Rows) -> None:
        if self._sparse:
            policy._learn_arms(rows.contexts, self.intercept, self._placed(rows.arms), rows.rewards, True)
            return
        for features, rewards in self._laid_out(rows):
            policy.play(features[:, None, :], rewards[:, None])

    def _laid_out(self, rows: Rows) -> Iterator[tuple[Floats, Floats]]:
        """Features and rewards of the rows, in parts."""
        for part in map(rows.take, self._spans(len(rows.arms))):
            yield self._joint(part.contexts, part.arms), part.rewards

    def _tables(self, contexts: Floats, arms: Sequence[Arm]) -> Iterator[Floats]:
        """A row of features for each context and arm, in parts."""
        for span in self._spans(len(contexts), len(arms)):
            part = contexts[span]
            rows = self._joint(np.repeat(part, len(arms), axis=0), [*arms] * len(part))
            yield rows.reshape(len(part), len(arms), -1)

    def _spans(self, rounds: int, arms: int = 1) -> Iterator[slice]:
        size = max(1, _AT_ONCE // (self._dimension() * arms))
        return (slice(start, start + size) for start in range(0, rounds, size))

    def _joint(self, contexts: Floats, arms: Iterable[Arm]) -> Floats:
        """A row of features for each context and the arm beside it."""
        if callable(self.arm_features):
            rows = [np.asarray(self.arm_features(*pair), dtype=np.float64) for pair in zip(contexts, arms)]
            shapes = {row.shape for row in rows}
            if len(shapes) > 1 or len(next(iter(shapes))) != 1:
                raise ValueError(f"`arm_features` must give one vector of the same length, but the shapes are {shapes}")
            return np.stack(rows)
        # Products of an arm's features and the context's; with unit vectors, a block for each arm.
        places = {arm: place for place, arm in enumerate(self.arms if self.blocks else self._vectors)}
        vectors = np.eye(len(places)) if self.blocks else np.array([*self._vectors.values()])
        vectors = vectors[[places[arm] for arm in arms]]
        context = np.insert(contexts, 0, 1.0, axis=1) if self.intercept else contexts
        products: Floats = vectors[:, :, None] * context[:, None, :]
        return products.reshape(len(contexts), -1)


def numbered(letter: str, count: int) -> list[str]:
    """Names for what has none."""
    return [f"{letter}{place + 1}" for place in range(count)]
