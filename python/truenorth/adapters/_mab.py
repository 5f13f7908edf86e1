"""MABWiser's calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from truenorth._native import Summary
from truenorth.adapters._adapter import ArmAdapter
from truenorth.adapters._learner import Arm, ArmFeatures, Learner


class MAB(ArmAdapter):
    """A bandit with the calls of ``mabwiser.mab.MAB``, that can start from biased logs.

    Every arm has coefficients of its own, as in MABWiser's linear policies: with K arms and d values in a context
    the policy has K (d + 1) features. It is sparse where the preset can be, so that a decision costs the squares of
    d + 1, once for each arm. With `arm_features` arms share what is learned.

    Parameters
    ----------
    arms : list
        Names or numbers of the arms.
    policy : str
        One of ``truenorth.presets()``.
    arm_features : dict or callable, optional
        What arms have in common. A dictionary gives each arm a vector, and the policy's features are all products of
        that and the context (with the intercept). A function of context and arm gives the features themselves.
    intercept : bool
        Whether to put a 1 before each context. A function in `arm_features` does so itself, if at all.
    offline : Summary, optional
        Logs in the policy's features; `warm_start` makes them from decisions, rewards and contexts.
    **settings
        Further parameters of `truenorth.Policy`, such as ``seed``, ``noise`` or ``exploration_scale``.

    Notes
    -----
    Rows that were learned are kept, so that arms can be added later; `truenorth.Policy` itself keeps none.
    Objects made after MABWiser was imported pass for its own in ``mabwiser.simulator.Simulator``.

    Examples
    --------
    >>> from truenorth.adapters import MAB
    >>> mab = MAB(["red", "blue"])
    >>> mab.fit(["red", "blue", "red", "blue"], [1, 0, 0, 1], [[1.0], [1.0], [-1.0], [-1.0]])
    MAB(arms=['red', 'blue'], policy='truenorth', intercept=True)
    >>> mab.predict([[2.0], [-2.0]])
    ['red', 'blue']
    """

    _PASSES_FOR = ("mabwiser.base_mab", "BaseMAB")
    is_contextual: ClassVar[bool] = True
    n_jobs: ClassVar[int] = 1

    def __init__(
        self,
        arms: Sequence[Arm],
        policy: str = "truenorth",
        *,
        arm_features: ArmFeatures = None,
        intercept: bool = True,
        offline: Summary | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(policy, intercept, settings)
        self.arms = arms
        self.arm_features = arm_features
        self.offline = offline
        if isinstance(arms, str) or not len(arms):
            raise ValueError(f"`arms` must be a list of at least one arm, but is {arms!r}")
        self._learner = Learner(arms, policy, arm_features, intercept, offline, settings)

    @property
    def _imp(self) -> MAB:
        # MABWiser's simulator asks for it.
        return self

    @property
    def logs_(self) -> Summary | None:
        """The logs, for `truenorth.audit`; named ``arm:feature``."""
        return self._learner.summary

    def warm_start(self, decisions: Any, rewards: Any, contexts: Any = None) -> MAB:
        """Gives the logs of an earlier policy, which may be biased.

        They count as far as live rewards bear them out. They stay when `fit` begins anew, and add up over calls.

        Parameters
        ----------
        decisions, rewards, contexts
            As for `fit`.

        Returns
        -------
        self

        Examples
        --------
        >>> from truenorth.adapters import MAB
        >>> MAB([1, 2]).warm_start([1, 2, 1, 2], [1, 0, 1, 0]).predict()
        1
        """
        self._learner.warm_start(decisions, rewards, contexts)
        return self

    def fit(self, decisions: Any, rewards: Any, contexts: Any = None) -> MAB:
        """Learns live rounds from scratch; logs of `warm_start` stay.

        Parameters
        ----------
        decisions : list, array or Series
            The arm of each round.
        rewards : list, array or Series
            What it paid.
        contexts : list, array, Series or DataFrame, optional
            A row for each round; without any, the intercept alone counts.

        Returns
        -------
        self
        """
        learner = self._learner.restarted()
        learner.learn(decisions, rewards, contexts)
        self._learner = learner
        return self

    def partial_fit(self, decisions: Any, rewards: Any, contexts: Any = None) -> MAB:
        """Learns further live rounds.

        Parameters
        ----------
        decisions, rewards, contexts
            As for `fit`.

        Returns
        -------
        self
        """
        self._learner.learn(decisions, rewards, contexts)
        return self

    def predict(self, contexts: Any = None) -> Any:
        """Chooses an arm for each context; nothing is learned, and no round counts until `partial_fit`.

        Calls until then go on from each other, so that policies that draw or audit may choose otherwise.

        Parameters
        ----------
        contexts : list, array, Series or DataFrame, optional
            A row for each round.

        Returns
        -------
        arm or list of arms
            One arm for one context.
        """
        chosen = self._learner.choose(self._learner.matrix(contexts))
        return chosen if len(chosen) > 1 else chosen[0]

    def predict_expectations(self, contexts: Any = None) -> Any:
        """Estimates every arm's mean reward.

        Policies that explore do not always choose the largest. With logs, a constant by which all live rewards
        differ from them is left out, since it ranks no arm.

        Parameters
        ----------
        contexts : list, array, Series or DataFrame, optional
            A row for each round.

        Returns
        -------
        dict or list of dict
            From arm to mean; one dictionary for one context.
        """
        means = self._learner.expectations(self._learner.matrix(contexts))
        found = [dict(zip(self.arms, row)) for row in means.tolist()]
        return found if len(found) > 1 else found[0]

    def add_arm(self, arm: Arm, features: Any = None) -> None:
        """Adds an arm.

        Parameters
        ----------
        arm
            Its name or number.
        features : array, optional
            Its vector, where `arm_features` is a dictionary that does not have it yet.
        """
        self._learner.add(arm, features)
        if features is not None and isinstance(self.arm_features, Mapping):
            self.arm_features = {**self.arm_features, arm: features}
        self.arms = [*self.arms, arm]

    def remove_arm(self, arm: Arm) -> None:
        """Removes an arm, and what was learned about it unless arms share features.

        Parameters
        ----------
        arm
            Its name or number.
        """
        self._learner.remove(arm)
        self.arms = [kept for kept in self.arms if kept != arm]
