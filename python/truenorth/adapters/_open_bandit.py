"""Open Bandit Pipeline's calls."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from truenorth._native import Summary
from truenorth.adapters._adapter import ArmAdapter
from truenorth.adapters._learner import Learner, numbered


def summary_from_bandit_feedback(
    bandit_feedback: Mapping[str, Any],
    *,
    n_actions: int | None = None,
    action_context: ArrayLike | None = None,
    intercept: bool = True,
) -> Summary:
    """Sums up logs of Open Bandit Pipeline, for `OpenBanditPolicy` or `truenorth.audit`.

    Parameters
    ----------
    bandit_feedback : dict
        With ``context``, ``action`` and ``reward``. ``pscore`` is not needed: a regression on what was played is right
        whoever played it. ``position`` is not looked at.
    n_actions : int, optional
        Number of actions; as the feedback says, or its largest action and one, unless given.
    action_context : (n_actions, p) array, optional
        Features of the actions, such as ``bandit_feedback["action_context"]``. With them actions share what is
        learned; without, each has coefficients of its own.
    intercept : bool
        Whether to put a 1 before each context. These two must be the same for the policy.

    Returns
    -------
    Summary

    Examples
    --------
    >>> import numpy as np
    >>> from truenorth.adapters import summary_from_bandit_feedback
    >>> feedback = {"context": np.eye(2), "action": np.array([0, 1]), "reward": np.array([1.0, 0.0])}
    >>> summary_from_bandit_feedback(feedback).names[:3]
    ['0:intercept', '0:x1', '0:x2']
    """
    for key in ("context", "action", "reward"):
        if key not in bandit_feedback:
            raise ValueError(f"`bandit_feedback` must have {key!r}, but has {', '.join(map(repr, bandit_feedback))}")
    actions = np.asarray(bandit_feedback["action"])
    if n_actions is None:
        n_actions = bandit_feedback.get("n_actions") or int(actions.max()) + 1
    features = _arm_features(action_context, _count("n_actions", n_actions))
    learner = Learner(range(n_actions), "truenorth", features, intercept, None, {})
    learner.warm_start(actions.tolist(), bandit_feedback["reward"], bandit_feedback["context"])
    assert learner.summary is not None
    return learner.summary


class OpenBanditPolicy(ArmAdapter):
    """A policy with the calls of ``obp.policy.base.BaseContextualPolicy``.

    Parameters
    ----------
    dim : int
        Number of values in a context.
    n_actions : int
        Number of actions.
    len_list : int
        Number of actions that are chosen at once: the best, the best of the others, and so on.
    batch_size : int
        Rewards that are learned together.
    random_state : int, optional
        Seed of policies that draw.
    policy : str
        One of ``truenorth.presets()``.
    action_context : (n_actions, p) array, optional
        Features of the actions. The policy has p (dim + 1) features then, and n_actions (dim + 1) without.
    intercept : bool
        Whether to put a 1 before each context.
    offline : Summary, optional
        Logs, from `summary_from_bandit_feedback` with the same `action_context` and `intercept`.
    **settings
        Further parameters of `truenorth.Policy`.

    Examples
    --------
    >>> import numpy as np
    >>> from truenorth.adapters import OpenBanditPolicy
    >>> policy = OpenBanditPolicy(dim=1, n_actions=3)
    >>> for action in (0, 1, 2):
    ...     policy.update_params(action=action, reward=float(action == 2), context=np.array([[0.5]]))
    >>> policy.select_action(np.array([[0.5]]))
    array([2])
    """

    def __init__(
        self,
        dim: int,
        n_actions: int,
        len_list: int = 1,
        batch_size: int = 1,
        random_state: int | None = None,
        *,
        policy: str = "truenorth",
        action_context: ArrayLike | None = None,
        intercept: bool = True,
        offline: Summary | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(policy, intercept, settings)
        self.dim = dim
        self.n_actions = n_actions
        self.len_list = len_list
        self.batch_size = batch_size
        self.random_state = random_state
        self.action_context = action_context
        self.offline = offline
        if _count("len_list", len_list) > _count("n_actions", n_actions):
            raise ValueError(f"`len_list` must be at most {n_actions}, the actions, but is {len_list}")
        _count("batch_size", batch_size)
        _count("dim", dim)
        self.initialize()

    def initialize(self) -> None:
        """Forgets what was learned; the logs stay."""
        features = _arm_features(self.action_context, self.n_actions)
        settings = {"seed": self.random_state, **self.settings}
        self._learner = Learner(
            range(self.n_actions), self.policy, features, self.intercept, self.offline, settings
        )
        self._learner.names = numbered("x", self.dim)
        _ = self.policy_  # refuses logs of other features now, not at the first round
        self.n_trial = 0
        self.action_counts: NDArray[np.int64] = np.zeros(self.n_actions, dtype=np.int64)
        self._open: list[tuple[int, float, Any]] = []

    @property
    def policy_name(self) -> str:
        """Name in reports."""
        return self.policy

    @property
    def policy_type(self) -> Any:
        """Open Bandit Pipeline's ``PolicyType.CONTEXTUAL``, or its name where that is not loaded."""
        kinds = getattr(sys.modules.get("obp.policy.policy_type"), "PolicyType", None)
        return "CONTEXTUAL" if kinds is None else kinds.CONTEXTUAL

    def select_action(self, context: ArrayLike) -> NDArray[np.int64]:
        """Chooses actions; nothing is learned, and no round counts until `update_params`.

        Parameters
        ----------
        context : (1, dim) array
            The context.

        Returns
        -------
        (len_list,) array
            The actions, the preferred one first.
        """
        row = self._learner.matrix(context)
        if len(row) != 1:
            raise ValueError(f"`context` must be one row, but has {len(row)}")
        left = list(range(self.n_actions))
        chosen = []
        for _ in range(self.len_list):
            action = self._learner.choose(row, left)[0]
            left.remove(action)  # type: ignore[arg-type]
            chosen.append(action)
        return np.array(chosen, dtype=np.int64)

    def update_params(self, action: int, reward: float, context: ArrayLike) -> None:
        """Learns what an action paid, once `batch_size` of them have come.

        Parameters
        ----------
        action : int
            The action.
        reward : float
            What it paid.
        context : (1, dim) array
            The context.
        """
        paid = float(np.asarray(reward, dtype=np.float64).reshape(-1)[0])
        rows = self._learner.rows([int(action)], [paid], context)
        self.n_trial += 1
        self.action_counts[int(action)] += 1
        self._open.append((int(action), paid, rows.contexts[0]))
        if self.n_trial % self.batch_size == 0:
            actions, rewards, contexts = zip(*self._open)
            self._open = []
            self._learner.learn(actions, rewards, np.stack(contexts))


def _arm_features(action_context: ArrayLike | None, n_actions: int) -> Mapping[Any, ArrayLike] | None:
    if action_context is None:
        return None
    vectors = np.asarray(action_context, dtype=np.float64)
    if vectors.ndim != 2 or len(vectors) != n_actions:
        raise ValueError(f"`action_context` must have {n_actions} rows, but its shape is {vectors.shape}")
    return dict(enumerate(vectors))


def _count(name: str, value: Any) -> int:
    """A whole number that is large enough, or a sentence about it."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"`{name}` must be a whole number, but is {value!r}")
    number: int = value.__index__()
    if number < 1:
        raise ValueError(f"`{name}` must be at least 1, but is {number}")
    return number
