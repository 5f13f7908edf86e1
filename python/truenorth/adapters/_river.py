"""River's calls."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from truenorth._native import Summary
from truenorth.adapters._adapter import ArmAdapter
from truenorth.adapters._learner import Arm, ArmFeatures, Floats, Learner


class Bandit(ArmAdapter):
    """A policy with the calls of ``river.bandit.base.ContextualPolicy``.

    Arms and features are taken up as they come. Every arm has coefficients of its own unless `arm_features` tells
    what arms share, as for `truenorth.adapters.MAB`. A new arm or feature makes the policy learn its rows again, so
    name `features` if you know them.

    Parameters
    ----------
    policy : str
        One of ``truenorth.presets()``.
    features : list of str, optional
        Names in a context; others are ignored then, and missing ones are 0.
    arm_features : dict or callable, optional
        As for `truenorth.adapters.MAB`; contexts are vectors in the order of `features`, which are needed then for
        a function.
    intercept : bool
        Whether to put a 1 before each context.
    logs : iterable of (arms, context, arm, reward), optional
        Logs of an earlier policy, which may be biased, as for ``bandit.evaluate_offline``. They count as far as live
        rewards bear them out.
    **settings
        Further parameters of `truenorth.Policy`, such as ``seed``.

    Notes
    -----
    Objects made after River was imported pass for its own in ``bandit.evaluate`` and ``bandit.evaluate_offline``.

    Examples
    --------
    >>> from truenorth.adapters import Bandit
    >>> bandit = Bandit()
    >>> for hour, arm, reward in [(1.0, "a", 1.0), (1.0, "b", 0.0), (-1.0, "a", 0.0), (-1.0, "b", 1.0)]:
    ...     bandit.update(arm, {"hour": hour}, reward)
    >>> bandit.pull(["a", "b"], {"hour": 2.0}), bandit.pull(["a", "b"], {"hour": -2.0})
    ('a', 'b')

    >>> logs = [(["a", "b"], {"hour": 1.0}, arm, reward) for arm, reward in [("a", 0.0), ("b", 1.0)] * 20]
    >>> Bandit(logs=logs).pull(["a", "b"], {"hour": 1.0})
    'b'
    """

    _PASSES_FOR = ("river.bandit.base", "ContextualPolicy")

    def __init__(
        self,
        policy: str = "truenorth",
        *,
        features: Sequence[str] | None = None,
        arm_features: ArmFeatures = None,
        intercept: bool = True,
        logs: Iterable[tuple[Sequence[Arm], Mapping[str, Any] | None, Arm, float]] | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(policy, intercept, settings)
        self.features = features
        self.arm_features = arm_features
        self.logs = None if logs is None else list(logs)
        if callable(arm_features) and features is None:
            raise TypeError("`features` are needed when `arm_features` is a function")
        self._learner = Learner([], policy, arm_features, intercept, None, settings)
        self._learner.widen([] if features is None else features)
        # River's own names: evaluations read the first.
        self._n = 0
        self._counts: Counter[Arm] = Counter()
        self._sums: dict[Arm, float] = {}
        if self.logs:
            for offered, context, arm, _ in self.logs:
                self._meet([*offered, arm])
                self._vector(context)
            _, contexts, arms, rewards = zip(*self.logs)
            self._learner.warm_start(arms, rewards, np.concatenate([self._vector(context) for context in contexts]))

    @property
    def logs_(self) -> Summary | None:
        """The logs, for `truenorth.audit`; named ``arm:feature``."""
        return self._learner.summary

    @property
    def ranking(self) -> list[Arm]:
        """Arms that were updated, the best mean reward first."""
        return sorted(self._sums, key=lambda arm: -self._sums[arm] / self._counts[arm])

    def pull(self, arm_ids: Sequence[Arm], context: Mapping[str, Any] | None = None) -> Arm:
        """Chooses an arm; nothing is learned, and no round counts until `update`.

        Parameters
        ----------
        arm_ids : list
            Arms that can be pulled now.
        context : dict, optional
            Numbers by the names of their features.

        Returns
        -------
        arm
        """
        if not len(arm_ids):
            raise ValueError("`arm_ids` must not be empty")
        self._meet(arm_ids)
        return self._learner.choose(self._vector(context), arm_ids)[0]

    def update(self, arm_id: Arm, *context_and_reward: Any) -> None:
        """Learns what an arm paid: ``update(arm, context, reward)``, or ``update(arm, reward)`` without contexts.

        Parameters
        ----------
        arm_id
            The arm, whether it was pulled here or by someone else.
        *context_and_reward
            The context as for `pull`, and the reward.
        """
        context, reward = self._split(context_and_reward)
        self._meet([arm_id])
        self._learner.learn([arm_id], [reward], self._vector(context))
        self._n += 1
        self._counts[arm_id] += 1
        self._sums[arm_id] = self._sums.get(arm_id, 0.0) + float(reward)

    def clone(self, new_params: dict[str, Any] | None = None, include_attributes: bool = False) -> Bandit:
        """Copies the policy: its parameters with the logs, and what was learned only with `include_attributes`.

        Parameters
        ----------
        new_params : dict, optional
            Parameters that differ.
        include_attributes : bool
            Whether to copy what was learned, too.

        Returns
        -------
        Bandit
        """
        if include_attributes and not new_params:
            return copy.deepcopy(self)
        return type(self)(**{**copy.deepcopy(self.get_params()), **(new_params or {})})

    def _meet(self, arms: Sequence[Arm]) -> None:
        for arm in arms:
            if arm not in self._learner.places:
                self._learner.add(arm)

    def _vector(self, context: Mapping[str, Any] | None) -> Floats:
        told = {} if context is None else context
        if self.features is None:
            known = set(self._learner.names or [])
            fresh = [name for name in told if name not in known]
            if fresh:
                self._learner.widen(fresh)
        names = self._learner.names or []
        try:
            row = np.fromiter((told.get(name, 0.0) for name in names), np.float64, len(names))
        except (TypeError, ValueError):
            raise ValueError(self._unusable(told, names)) from None
        return row.reshape(1, -1)

    @staticmethod
    def _unusable(told: Mapping[str, Any], names: Sequence[str]) -> str:
        for name in names:
            try:
                np.array([told.get(name, 0.0)]).astype(np.float64)
            except (TypeError, ValueError):
                return f"the feature {name!r} must be a number, but is {told[name]!r}"
        return f"a context must hold numbers, but is {dict(told)!r}"

    @staticmethod
    def _split(values: tuple[Any, ...]) -> tuple[Mapping[str, Any] | None, Any]:
        if len(values) == 1:
            return None, values[0]
        if len(values) == 2 and (values[0] is None or isinstance(values[0], Mapping)):
            return values[0], values[1]
        raise TypeError(f"`update` takes an arm, a context (a dictionary) and a reward, but was given {values!r}")
