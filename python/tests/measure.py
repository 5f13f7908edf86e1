"""Microseconds of a round from Python: in a loop, in native code, and of a bandit with dictionaries.

`python tests/measure.py [POLICY ...]`
"""

import sys
import time

import numpy as np

import truenorth

ROUNDS, ACTIONS, DIMENSION = 20_000, 20, 20
X = np.random.default_rng(0).normal(size=(ROUNDS, ACTIONS, DIMENSION))
REWARDS = np.random.default_rng(1).normal(size=(ROUNDS, ACTIONS))


def best(call, repeats=7):
    """The fastest of several, as others may be at work too."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times) / ROUNDS * 1e6


def loop(policy, rounds, rewards):
    for actions, paid in zip(rounds, rewards):
        choice = policy.choose(actions)
        policy.learn(choice, paid[choice.action])


def talk(bandit, context, actions):
    for _ in range(ROUNDS):
        bandit.learn(bandit.choose(context, actions), 0.5)


for name in sys.argv[1:] or ["truenorth", "lin-ucb", "oful"]:
    rounds, rewards = list(X), REWARDS.tolist()
    looped = best(lambda: loop(truenorth.Policy(name, dimension=DIMENSION), rounds, rewards))
    batch = best(lambda: truenorth.Policy(name, dimension=DIMENSION).play(X, REWARDS))
    print(f"{name}: {looped:.2f} in a loop, {batch:.2f} in one call")
    fields = [f"f{place}" for place in range(DIMENSION)]
    actions = [{"id": str(action), **dict(zip(fields, row))} for action, row in enumerate(X[0].tolist())]
    talked = best(lambda: talk(truenorth.Bandit(" + ".join(fields), name), {"hour": 12}, actions), repeats=2)
    print(f"{name}: {talked:.2f} as a bandit")
