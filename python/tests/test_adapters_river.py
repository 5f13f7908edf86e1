"""The adapter for River, in its own evaluations and beside its own policies."""

import random

import numpy as np
import pytest
from adapter_problem import ARMS, Problem, foreign

from truenorth.adapters import Bandit

bandit = foreign("river.bandit")
NAMES = ["age", "hour", "price", "visits", "speed"]
pytestmark = pytest.mark.filterwarnings("ignore")


def history(decisions, rewards, contexts):
    return [
        (ARMS, dict(zip(NAMES, context)), arm, reward)
        for arm, reward, context in zip(decisions, rewards.tolist(), contexts.tolist())
    ]


class Uniform(bandit.base.ContextualPolicy):
    """A uniform choice."""

    def _pull(self, arm_ids, context):
        return random.Random(self._n).choice(arm_ids)


def played(policy, problem, contexts, noise):
    """What a policy's choices are worth when it plays live."""
    arms = []
    for context, error in zip(contexts, noise):
        named = dict(zip(NAMES, context.tolist()))
        arms.append(policy.pull(ARMS, context=named))
        policy.update(arms[-1], named, float(problem.truth[ARMS.index(arms[-1])] @ context + error))
    return problem.value(contexts, arms)


def test_it_learns_live_and_logs_help():
    found = []
    for seed in range(5):
        problem = Problem(seed)
        logs, contexts = history(*problem.logs()), problem.contexts(300)
        noise = problem.noise * problem.rng.normal(size=300)
        trusting = bandit.LinUCBDisjoint(seed=seed)
        for _, context, arm, reward in logs:
            trusting.update(arm, context, reward)
        policies = [Uniform(), bandit.LinUCBDisjoint(seed=seed), trusting, Bandit(), Bandit(logs=logs)]
        found.append([played(policy, problem, contexts, noise) for policy in policies])
    uniform, theirs, trusting, cold, warm = np.mean(found, axis=0)
    print(f"River, live: random {uniform:.3f}, LinUCB {theirs:.3f}, with logs {trusting:.3f}")
    print(f"River, live: cold {cold:.3f}, warm {warm:.3f}")
    assert abs(uniform) < 0.1 and cold > 0.7 and cold > theirs - 0.12
    assert warm > 0.87 and warm > trusting


def test_it_learns_in_offline_evaluation_and_logs_help():
    found = []
    for seed in range(5):
        problem = Problem(seed)
        logs, rounds = history(*problem.logs()), history(*problem.rows(1200))
        for policy in (Uniform(), bandit.LinUCBDisjoint(seed=seed), Bandit(), Bandit(logs=logs)):
            total, used = bandit.evaluate_offline(policy, rounds)
            assert 200 < used < 400 and used == policy._n
            found.append(total.get() / used)
    uniform, theirs, cold, warm = np.reshape(found, (5, 4)).mean(axis=0)
    print(f"River, offline: random {uniform:.3f}, LinUCB {theirs:.3f}, cold {cold:.3f}, warm {warm:.3f}")
    assert cold > uniform + 0.4 and warm > cold + 0.02


def test_it_plays_in_an_environment_without_contexts():
    gymnasium = foreign("gymnasium")
    environment = gymnasium.make("river_bandits/KArmedTestbed-v0", max_episode_steps=400)
    policies = [bandit.RandomPolicy(seed=1), bandit.EpsilonGreedy(epsilon=0.1, seed=1), Bandit()]
    totals = np.zeros(3)
    for step in bandit.evaluate(policies, environment, n_episodes=5, seed=42):
        totals[step["policy_idx"]] += step["reward"] / 2000
    print(f"River, environment: random {totals[0]:.3f}, epsilon-greedy {totals[1]:.3f}, ours {totals[2]:.3f}")
    assert totals[2] > totals[0] + 0.8 and totals[2] > totals[1] - 0.12
    assert policies[2]._n == 0


def test_it_passes_for_one_of_their_policies():
    policy = Bandit(seed=3)
    assert isinstance(policy, bandit.base.ContextualPolicy)
    policy.update("a", {"hour": 1.0}, 2.0)
    policy.update("b", {"hour": 1.0}, 3.0)
    assert policy.ranking == ["b", "a"]
    fresh, same = policy.clone(), policy.clone(include_attributes=True)
    assert fresh._n == 0 and fresh.get_params() == policy.get_params() and same._n == 2
    assert policy.clone({"seed": 4}).get_params()["seed"] == 4
