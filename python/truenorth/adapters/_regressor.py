"""scikit-learn's calls."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from truenorth._decisions import Intervals
from truenorth._native import Choice, Policy, Summary
from truenorth.adapters._adapter import SETTINGS, Adapter

Floats = NDArray[np.float64]


class BanditRegressor(Adapter):
    """The regression behind a policy as an estimator: logs and live rows in one, with its intervals.

    A row of ``X`` is an action that was played, ``y`` its reward. It works in scikit-learn's pipelines, searches and
    cross-validation, for instance to choose features or `exploration_scale` before going live.

    Parameters
    ----------
    policy : str
        One of ``truenorth.presets()``.
    offline : Summary or path, optional
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
    _fitted: Policy

    def __init__(
        self,
        policy: str = "truenorth",
        *,
        offline: Summary | str | os.PathLike[str] | None = None,
        intercept: bool = True,
        **settings: Any,
    ) -> None:
        super().__init__(policy, intercept, settings)
        self.offline = offline

    # Settings by name: scikit-learn's checks know nothing of `**settings`.
    __signature__ = inspect.signature(__init__).replace(
        parameters=[
            *list(inspect.signature(__init__).parameters.values())[1:-1],
            *(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in sorted(SETTINGS)),
        ]
    )

    def __sklearn_tags__(self) -> Any:
        # Asked for by scikit-learn alone, which is loaded then.
        tags: Any = importlib.import_module("sklearn.utils")
        return tags.Tags(
            estimator_type="regressor",
            target_tags=tags.TargetTags(required=True),
            regressor_tags=tags.RegressorTags(),
            input_tags=tags.InputTags(sparse=True),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted" in vars(self)

    @property
    def policy_(self) -> Policy:
        """The policy itself: what was learned about each feature, counts, certificate."""
        if not self.__sklearn_is_fitted__():
            refused = getattr(sys.modules.get("sklearn.exceptions"), "NotFittedError", ValueError)
            raise refused("nothing was fitted yet: call `fit` before")
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
        return self._learn(vars(self).get("_fitted"), X, y)

    def _learn(self, policy: Policy | None, X: ArrayLike, y: ArrayLike) -> BanditRegressor:
        rows, paid = self._checked(X, y, reset=policy is None)
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
        """Rows for a policy that is there."""
        _ = self.policy_
        return self._checked(X, None, reset=False)[0]

    def _checked(self, X: Any, y: Any, *, reset: bool) -> tuple[Floats, Floats]:
        """Rows and rewards, checked by scikit-learn in its own words where it is loaded."""
        if hasattr(X, "toarray"):
            X = X.toarray()
        validation: Any = sys.modules.get("sklearn.utils.validation")
        if validation is None:
            rows = np.asarray(X, dtype=np.float64)
            if rows.ndim != 2:
                raise ValueError(f"`X` must have two dimensions, but its shape is {rows.shape}")
            paid = np.zeros(len(rows)) if y is None else np.asarray(y, dtype=np.float64)
            if paid.shape != (len(rows),) or not np.isfinite(paid).all():
                raise ValueError(f"`y` must be {len(rows)} finite numbers, but is {y!r}")
        elif y is None and not reset:
            rows, paid = validation.validate_data(self, X, reset=False, dtype=np.float64), np.zeros(0)
        else:
            rows, paid = validation.validate_data(self, X, y, reset=reset, dtype=np.float64, y_numeric=True)
        return np.insert(rows, 0, 1.0, axis=1) if self.intercept else rows, np.asarray(paid, dtype=np.float64)
