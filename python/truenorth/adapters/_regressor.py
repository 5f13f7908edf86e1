"""scikit-learn's calls."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from truenorth._decisions import Intervals
from truenorth._native import Choice, Policy, Summary
from truenorth.adapters._adapter import Adapter

Floats = NDArray[np.float64]


class BanditRegressor(Adapter):
    """The regression behind a policy as an estimator: logs and live rows in one, with its intervals.

    A row of ``X`` is an action that was played, ``y`` its reward. It works in scikit-learn's pipelines, searches and
    cross-validation, for instance to choose features or `exploration_scale` before going live.

    Parameters
    ----------
    policy : str
        One of ``truenorth.presets()``.
    offline : Summary, optional
        Logs, with the same features (and the intercept, if there is one).
    intercept : bool
        Whether to put a 1 before each row.
    **settings
        Further parameters of `truenorth.Policy`.

    Examples
    --------
    >>> import numpy as np
    >>> from truenorth.adapters import BanditRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = BanditRegressor().fit(X, X @ [1.0, -2.0] + 3.0)
    >>> model.predict([[1.0, 1.0]]).round(2)
    array([2.])
    >>> model.choose([[1.0, 0.0], [0.0, 1.0]]).action
    0
    """

    _estimator_type = "regressor"
    n_features_in_: int

    def __init__(
        self,
        policy: str = "truenorth",
        *,
        offline: Summary | None = None,
        intercept: bool = True,
        **settings: Any,
    ) -> None:
        super().__init__(policy, intercept, settings)
        self.offline = offline
        self._fitted: Policy | None = None

    def __sklearn_tags__(self) -> Any:
        # Asked for by scikit-learn alone, which is loaded then.
        tags: Any = importlib.import_module("sklearn.utils")
        return tags.Tags(
            estimator_type="regressor",
            target_tags=tags.TargetTags(required=True),
            regressor_tags=tags.RegressorTags(),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return self._fitted is not None

    @property
    def policy_(self) -> Policy:
        """The policy itself: what was learned about each feature, counts, certificate."""
        if self._fitted is None:
            raise ValueError("nothing was fitted yet: call `fit` before")
        return self._fitted

    def fit(self, X: ArrayLike, y: ArrayLike) -> BanditRegressor:
        """Learns live rows from scratch; the logs in `offline` stay.

        Parameters
        ----------
        X : (n, d) array
            Features of the actions that were played.
        y : (n,) array
            What they paid.

        Returns
        -------
        self
        """
        return self._learn(None, X, y)

    def partial_fit(self, X: ArrayLike, y: ArrayLike) -> BanditRegressor:
        """Learns further live rows.

        Parameters
        ----------
        X, y
            As for `fit`.

        Returns
        -------
        self
        """
        return self._learn(self._fitted, X, y)

    def _learn(self, policy: Policy | None, X: ArrayLike, y: ArrayLike) -> BanditRegressor:
        rows = self._rows(X)
        paid = np.asarray(y, dtype=np.float64)
        if paid.shape != (len(rows),) or not np.isfinite(paid).all():
            raise ValueError(f"`y` must be {len(rows)} finite numbers, but is {y!r}")
        if policy is None:
            policy = Policy(self.policy, dimension=rows.shape[1], offline=self.offline, **self.settings)
        policy.play(rows[:, None, :], paid[:, None])
        self._fitted, self.n_features_in_ = policy, rows.shape[1] - self.intercept
        return self

    def predict(self, X: ArrayLike) -> Floats:
        """Estimates mean rewards.

        Parameters
        ----------
        X : (n, d) array
            Features of actions.

        Returns
        -------
        (n,) array
        """
        return self.intervals(X).mean + self.policy_.level

    def intervals(self, X: ArrayLike) -> Intervals:
        """Gives means and bounds, as `truenorth.Policy.intervals` does: without ``policy_.level``.

        Parameters
        ----------
        X : (n, d) array
            Features of actions.

        Returns
        -------
        Intervals
        """
        return self.policy_.intervals(self._rows(X))

    def choose(self, X: ArrayLike) -> Choice:
        """Chooses among actions; ``policy_.learn(choice, reward)`` tells what came of it.

        Parameters
        ----------
        X : (K, d) array
            Features of the actions of a round.

        Returns
        -------
        Choice
        """
        return self.policy_.choose(self._rows(X))

    def score(self, X: ArrayLike, y: ArrayLike) -> float:
        """Share of the variance of rewards that is explained.

        Parameters
        ----------
        X, y
            As for `fit`.

        Returns
        -------
        float
        """
        paid = np.asarray(y, dtype=np.float64)
        left = ((paid - self.predict(X)) ** 2).sum()
        return float(1.0 - left / ((paid - paid.mean()) ** 2).sum())

    def _rows(self, X: ArrayLike) -> Floats:
        rows = np.asarray(X, dtype=np.float64)
        if rows.ndim != 2:
            raise ValueError(f"`X` must have two dimensions, but its shape is {rows.shape}")
        return np.insert(rows, 0, 1.0, axis=1) if self.intercept else rows
