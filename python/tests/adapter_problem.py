"""A bandit problem with biased logs, and other libraries as far as they are installed."""

import warnings

import numpy as np
import pytest

ARMS = ["north", "east", "south", "west"]


def foreign(name):
    """Another library, which may warn as much as it likes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip(name)


class Problem:
    """Four arms, five values in a context; the logs are wrong about two coefficients, and rightly about 18."""

    def __init__(self, seed=0, drift=1.5, noise=1.0):
        self.rng = np.random.default_rng(seed)
        self.noise = noise
        self.truth = self.rng.normal(size=(4, 5)) / np.sqrt(5)
        self.logged = self.truth.copy()
        self.logged[0, 0] += drift
        self.logged[2, 3] -= drift

    def contexts(self, count):
        return self.rng.normal(size=(count, 5))

    def paid(self, contexts, places, truth=None):
        means = (contexts @ (self.truth if truth is None else truth).T)[np.arange(len(contexts)), places]
        return means + self.noise * self.rng.normal(size=len(contexts))

    def rows(self, count, truth=None):
        """Decisions, rewards and contexts of a uniform choice."""
        contexts, places = self.contexts(count), self.rng.integers(4, size=count)
        return [ARMS[place] for place in places], self.paid(contexts, places, truth), contexts

    def logs(self, count=3000):
        """The same from before the drift."""
        return self.rows(count, self.logged)

    def value(self, contexts, arms):
        """Mean reward of choices, as a share of the best: a uniform choice has 0 on average."""
        means = contexts @ self.truth.T
        places = [ARMS.index(arm) for arm in arms]
        return float(means[np.arange(len(means)), places].sum() / means.max(axis=1).sum())
