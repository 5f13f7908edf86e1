"""The systems under test: each one's own fastest documented way to one decision and one update.

All are told what ours is told: noise 0.1 and coefficients of length 1, that is a ridge of 0.01 and one posterior
standard deviation of optimism. A library whose ridge is fixed at 1 gets features divided by the noise, which is the
same. A package is imported only when its system is made.
"""

import random
from importlib import import_module
from typing import Any

import numpy as np

from rounds import NOISE, Array, Rounds

RIDGE = NOISE**2  # noise² over the squared length of the coefficients


class System:
    """`prepare` turns rounds into what the library takes, off the clock; `play` is what is timed."""

    package = "numpy"
    world = "shared"
    takes_arrays = False  # rewards as an array instead of lists
    model = "shared parameter, K x d features a round"

    def __init__(self, rounds: Rounds) -> None:
        _, self.actions, self.dimension = rounds.shape

    def prepare(self, features: Array) -> Any:
        return features

    def play(self, inputs: Any, rewards: Any) -> list[int]:
        return [self.round(given, reward) for given, reward in zip(inputs, rewards)]

    def round(self, given: Any, rewards: list[float]) -> int:
        raise NotImplementedError

    def finish(self, inputs: Any) -> None:
        """After a block, off the clock."""


class Disjoint(System):
    """A row of zeros for each arm teaches nothing, but makes its model: else arms are cheap until they are played."""

    world = "disjoint"
    model = "a model for each arm, one context of d features a round"

    def prepare(self, features: Array) -> Any:
        return features[:, 0].copy()


class NumpyLinUcb(System):
    """Inverse kept by Sherman and Morrison, the quadratic forms of all actions by one matrix product."""

    def __init__(self, rounds: Rounds) -> None:
        super().__init__(rounds)
        self.inverse = np.eye(self.dimension) / RIDGE
        self.estimate = np.zeros(self.dimension)

    def round(self, x: Array, rewards: list[float]) -> int:
        products = x @ self.inverse
        square = np.einsum("ij,ij->i", products, x)
        action = int((x @ self.estimate + NOISE * np.sqrt(square)).argmax())
        product, chosen = products[action], x[action]
        gain = product / (1.0 + square[action])
        self.inverse -= np.outer(product, gain)
        self.estimate += (rewards[action] - chosen @ self.estimate) * gain
        return action


class NumbaLinUcb(System):
    """The same in compiled loops, rounds included; only rows, which are contiguous, are read."""

    package = "numba"
    takes_arrays = True

    def __init__(self, rounds: Rounds) -> None:
        super().__init__(rounds)
        self.inverse = np.eye(self.dimension) / RIDGE
        self.estimate = np.zeros(self.dimension)
        self.compiled = import_module("compiled").play

    def play(self, inputs: Array, rewards: Array) -> list[int]:
        return self.compiled(inputs, rewards, self.inverse, self.estimate, NOISE)


class MabWiser(Disjoint):
    package = "mabwiser"

    def __init__(self, rounds: Rounds) -> None:
        super().__init__(rounds)
        from mabwiser.mab import MAB, LearningPolicy

        # Arms without data are explored as they should be with the default ridge of 1 only.
        self.mab = MAB(list(range(self.actions)), LearningPolicy.LinUCB(alpha=NOISE, l2_lambda=1.0))
        self.mab.fit([0], [0.0], np.zeros((1, self.dimension)))  # makes all models

    def prepare(self, features: Array) -> Array:
        return features[:, :1] / NOISE

    def round(self, context: Array, rewards: list[float]) -> int:
        action = self.mab.predict(context)
        self.mab.partial_fit([action], [rewards[action]], context)
        return action


class ContextualBandits(Disjoint):
    package = "contextualbandits"

    def __init__(self, rounds: Rounds) -> None:
        super().__init__(rounds)
        from contextualbandits.online import LinUCB

        options = {"fit_intercept": False, "method": "sm", "random_state": 1, "njobs": 1}
        self.model = LinUCB(self.actions, alpha=NOISE, lambda_=RIDGE, beta_prior=None, **options)
        self.model.partial_fit(
            np.zeros((self.actions, self.dimension)), np.array(range(self.actions)), np.zeros(self.actions)
        )

    def prepare(self, features: Array) -> Array:
        return features[:, :1].copy()

    def round(self, context: Array, rewards: list[float]) -> int:
        action = int(self.model.predict(context)[0])
        self.model.partial_fit(context, np.array([action]), np.array([rewards[action]]))
        return action


class River(Disjoint):
    package = "river"

    def __init__(self, rounds: Rounds) -> None:
        super().__init__(rounds)
        from river.bandit import LinUCBDisjoint

        self.policy = LinUCBDisjoint(alpha=1.0, beta=1.0 / NOISE**2, seed=1)
        self.arms = list(range(self.actions))
        for arm in self.arms:
            self.policy.update(arm, dict.fromkeys(range(self.dimension), 0.0), 0.0)

    def prepare(self, features: Array) -> list[dict[int, float]]:
        return [dict(enumerate(context)) for context in features[:, 0].tolist()]

    def round(self, context: dict[int, float], rewards: list[float]) -> int:
        action = self.policy.pull(self.arms, context=context)
        self.policy.update(action, context, rewards[action])
        return action


class Coba(System):
    package = "coba"

    def __init__(self, rounds: Rounds) -> None:
        super().__init__(rounds)
        from coba.learners import LinUCBLearner

        self.learner = LinUCBLearner(alpha=NOISE, features=["a"], seed=1)

    def prepare(self, features: Array) -> list[list[list[float]]]:
        return (features / NOISE).tolist()

    def round(self, actions: list[list[float]], rewards: list[float]) -> int:
        chosen, probability = self.learner.predict(None, actions)
        action = actions.index(chosen)
        self.learner.learn(None, chosen, rewards[action], probability)
        return action


class BayesianBandits(System):
    package = "bayesianbandits"

    def __init__(self, rounds: Rounds) -> None:
        super().__init__(rounds)
        import bayesianbandits as library

        self.agent = library.LipschitzContextualAgent(
            arms=[library.Arm(token, learner=None) for token in range(self.actions)],
            policy=library.UpperConfidenceBound(),
            arm_featurizer=library.FunctionArmFeaturizer(self.offered),
            learner=library.NormalRegressor(alpha=1.0, beta=1.0 / NOISE**2),
            random_seed=1,
        )

    def offered(self, context: Array, tokens: list[int]) -> Array:
        """(contexts, features, arms), as the library wants it. `update` asks for the arm that was played."""
        features = context.reshape(-1, self.actions, self.dimension)
        return (features if len(tokens) == self.actions else features[:, tokens]).transpose(0, 2, 1)

    def prepare(self, features: Array) -> Array:
        return features.reshape(len(features), 1, -1)

    def round(self, context: Array, rewards: list[float]) -> int:
        [action] = self.agent.pull(context)
        self.agent.update(context, np.array([rewards[action]]))
        return action


class VowpalWabbitText(System):
    package = "vowpalwabbit"
    model = "shared parameter, hashed, by stochastic gradient: O(d) an action, no covariance"

    def __init__(self, rounds: Rounds) -> None:
        super().__init__(rounds)
        from vowpalwabbit import Workspace

        self.workspace = Workspace("--cb_explore_adf --squarecb --quiet --random_seed 1")
        self.rng = random.Random(1)

    def prepare(self, features: Array) -> Any:
        return [["| " + " ".join(f"{i}:{x:.7g}" for i, x in enumerate(row)) for row in x] for x in features.tolist()]

    def draw(self, given: Any) -> tuple[int, float]:
        probabilities = self.workspace.predict(given)
        [action] = self.rng.choices(range(self.actions), probabilities)
        return action, probabilities[action]

    def round(self, lines: list[str], rewards: list[float]) -> int:
        action, probability = self.draw(lines)
        lines[action] = f"{action}:{-rewards[action]}:{probability} {lines[action]}"
        self.workspace.learn(lines)
        return action


class VowpalWabbitParsed(VowpalWabbitText):
    """Reading text is off the clock."""

    def prepare(self, features: Array) -> Any:
        return [self.workspace.parse(lines) for lines in super().prepare(features)]

    def round(self, examples: Any, rewards: list[float]) -> int:
        action, probability = self.draw(examples)
        examples[action].set_label_string(f"{action}:{-rewards[action]}:{probability}")
        self.workspace.learn(examples)
        return action

    def finish(self, inputs: Any) -> None:
        for examples in inputs:
            self.workspace.finish_example(examples)


class TrueNorth(System):
    package = "truenorth"
    preset = "lin-ucb"

    def __init__(self, rounds: Rounds) -> None:
        super().__init__(rounds)
        import truenorth

        options: dict[str, Any] = {"dimension": self.dimension, "noise": NOISE, "norm_bound": 1.0}
        if self.preset == "truenorth":
            options["offline"] = truenorth.summarize(rounds.log_features, rounds.log_rewards)
        self.policy = truenorth.Policy(self.preset, **options)

    def round(self, x: Array, rewards: list[float]) -> int:
        choice = self.policy.choose(x)
        self.policy.learn(choice, rewards[choice.action])
        return choice.action


class TrueNorthLogs(TrueNorth):
    preset = "truenorth"


class TrueNorthPlay(TrueNorth):
    """A batch of rounds in one call."""

    takes_arrays = True

    def play(self, inputs: Array, rewards: Array) -> list[int]:
        played = self.policy.play(inputs, rewards)
        return np.asarray(getattr(played, "actions", played)).tolist()


SYSTEMS: dict[str, type[System]] = {
    "truenorth lin-ucb, Python": TrueNorth,
    "truenorth lin-ucb, Python batch": TrueNorthPlay,
    "truenorth with logs, Python": TrueNorthLogs,
    "numba LinUCB": NumbaLinUcb,
    "NumPy LinUCB": NumpyLinUcb,
    "Vowpal Wabbit squarecb, parsed": VowpalWabbitParsed,
    "Vowpal Wabbit squarecb, text": VowpalWabbitText,
    "bayesianbandits UCB": BayesianBandits,
    "coba LinUCB": Coba,
    "contextualbandits LinUCB": ContextualBandits,
    "River LinUCBDisjoint": River,
    "MABWiser LinUCB": MabWiser,
}


class TrueNorthMab(Disjoint):
    """Our adapter with MABWiser's calls."""

    package = "truenorth"
    preset = "lin-ucb"

    def __init__(self, rounds: Rounds) -> None:
        super().__init__(rounds)
        from truenorth.adapters import MAB

        arms = list(range(self.actions))
        self.mab = MAB(arms, self.preset, intercept=False, noise=NOISE, norm_bound=1.0)
        if self.preset == "truenorth":
            logged = [row % self.actions for row in range(len(rounds.log_features))]
            self.mab.warm_start(logged, rounds.log_rewards_of_arms, rounds.log_features)
        self.mab.partial_fit(arms, np.zeros(self.actions), np.zeros((self.actions, self.dimension)))

    def prepare(self, features: Array) -> Array:
        return features[:, :1].copy()

    def round(self, context: Array, rewards: list[float]) -> int:
        action = self.mab.predict(context)
        self.mab.partial_fit([action], [rewards[action]], context)
        return action


class TrueNorthMabLogs(TrueNorthMab):
    preset = "truenorth"


class TrueNorthRiver(Disjoint):
    """Our adapter with River's calls."""

    package = "truenorth"

    def __init__(self, rounds: Rounds) -> None:
        super().__init__(rounds)
        from truenorth.adapters import Bandit

        names = list(range(self.dimension))
        self.policy = Bandit("lin-ucb", features=names, intercept=False, noise=NOISE, norm_bound=1.0)
        self.arms = list(range(self.actions))
        self.policy.pull(self.arms, {})
        for arm in self.arms:
            self.policy.update(arm, dict.fromkeys(names, 0.0), 0.0)

    prepare = River.prepare
    round = River.round


# Those with a model for each arm, for `--arms`.
ARM_SYSTEMS: dict[str, type[System]] = {
    "truenorth lin-ucb, MABWiser's calls": TrueNorthMab,
    "truenorth with logs, MABWiser's calls": TrueNorthMabLogs,
    "truenorth lin-ucb, River's calls": TrueNorthRiver,
    "contextualbandits LinUCB": ContextualBandits,
    "River LinUCBDisjoint": River,
    "MABWiser LinUCB": MabWiser,
}
