"""The adapter for Open Bandit Pipeline, in its own simulator and estimators."""

import logging

import numpy as np
import pytest
from adapter_problem import ARMS, Problem, foreign

import truenorth
from truenorth.adapters import OpenBanditPolicy, summary_from_bandit_feedback

foreign("obp")
dataset, ope, policy, simulator = (foreign(f"obp.{name}") for name in ("dataset", "ope", "policy", "simulator"))
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def silent():
    """Estimators warn that they were given no regression."""
    logging.disable()
    yield
    logging.disable(logging.NOTSET)


def feedback(problem, count, truth=None):
    """A uniform choice's rounds, as Open Bandit Pipeline has them."""
    decisions, rewards, contexts = problem.rows(count, truth)
    return {
        "n_rounds": count,
        "n_actions": 4,
        "context": contexts,
        "action_context": np.eye(4),
        "action": np.array([ARMS.index(arm) for arm in decisions]),
        "position": None,
        "reward": rewards,
        "expected_reward": contexts @ problem.truth.T,
        "pscore": np.full(count, 0.25),
    }


def replayed(rounds, player):
    """Value by replay, and what the choices are worth on average."""
    chosen = simulator.run_bandit_simulation(bandit_feedback=rounds, policy=player)
    estimate = ope.OffPolicyEvaluation(bandit_feedback=rounds, ope_estimators=[ope.ReplayMethod()])
    value = estimate.estimate_policy_values(action_dist=chosen)["rm"]
    return value, float((chosen[:, :, 0] * rounds["expected_reward"]).sum(axis=1).mean())


def test_it_learns_in_replay_and_logs_help():
    found, values = [], []
    for seed in range(5):
        problem = Problem(seed)
        logs, rounds = feedback(problem, 3000, problem.logged), feedback(problem, 1200)
        players = [
            policy.Random(n_actions=4, random_state=seed),
            policy.LinUCB(dim=5, n_actions=4, epsilon=1.0, random_state=seed),
            OpenBanditPolicy(dim=5, n_actions=4),
            OpenBanditPolicy(dim=5, n_actions=4, offline=summary_from_bandit_feedback(logs)),
        ]
        scores = [replayed(rounds, player) for player in players]
        best = rounds["expected_reward"].max(axis=1).mean()
        found.append([true / best for _, true in scores])
        values.append([value for value, _ in scores])
        assert players[2].n_trial == players[2].action_counts.sum() == players[2].policy_.counts.rewards
    (random, theirs, cold, warm), estimates = np.mean(found, axis=0), np.mean(values, axis=0)
    print(f"Open Bandit: random {random:.3f}, LinUCB {theirs:.3f}, cold {cold:.3f}, warm {warm:.3f}")
    print(f"Open Bandit, replay's estimate: {estimates.round(3).tolist()}")
    assert abs(random) < 0.1 and cold > 0.7 and warm > 0.9 and cold > theirs - 0.05
    assert estimates[3] > estimates[2] > estimates[0] + 0.4


def test_it_learns_on_their_data_with_action_features():
    found = []
    for seed in range(5):
        made = dataset.SyntheticBanditDataset(
            n_actions=5, dim_context=4, reward_type="continuous", random_state=seed,
            reward_function=dataset.linear_reward_function,
        )  # fmt: skip
        logs, rounds = made.obtain_batch_bandit_feedback(1000), made.obtain_batch_bandit_feedback(1500)
        shared = {"action_context": rounds["action_context"]}
        summary = summary_from_bandit_feedback(logs, **shared)
        assert (summary.rows, summary.dimension) == (1000, 25)
        players = (
            policy.Random(n_actions=5, random_state=seed),
            policy.LinUCB(dim=4, n_actions=5, epsilon=1.0, random_state=seed),
            OpenBanditPolicy(dim=4, n_actions=5, **shared),
            OpenBanditPolicy(dim=4, n_actions=5, offline=summary, **shared),
        )
        values = [replayed(rounds, player)[1] for player in players]
        found.append([*values, rounds["expected_reward"].max(axis=1).mean()])
    random, theirs, cold, warm, best = np.mean(found, axis=0)
    print(f"Open Bandit, its data: random {random:.3f}, LinUCB {theirs:.3f}, best {best:.3f}")
    print(f"Open Bandit, its data: cold {cold:.3f}, warm {warm:.3f}")
    assert cold > random + 0.12 and warm > cold + 0.05 and cold > theirs - 0.05


def test_the_value_by_simulation_is_near_the_best():
    problem = Problem(3)
    rounds = feedback(problem, 300)
    rounds["position"] = np.zeros(300, dtype=int)
    value = simulator.calc_ground_truth_policy_value(
        rounds,
        lambda context, action: context @ problem.truth[action].T + problem.rng.normal(size=1),
        OpenBanditPolicy(dim=5, n_actions=4),
        n_sim=3,
    )
    assert value > 0.65 * rounds["expected_reward"].max(axis=1).mean()


def test_lists_of_actions_and_batches_follow_the_protocol():
    assert OpenBanditPolicy(dim=2, n_actions=3).policy_type == policy.policy_type.PolicyType.CONTEXTUAL
    player = OpenBanditPolicy(dim=2, n_actions=4, len_list=3, batch_size=5, random_state=7)
    context = np.array([[1.0, -1.0]])
    for action in (0, 1, 2, 3):
        player.update_params(action=action, reward=float(action), context=context)
    assert player.n_trial == 4 and player.policy_.counts.rewards == 0
    player.update_params(action=3, reward=3.0, context=context)
    assert player.policy_.counts.rewards == 5
    chosen = player.select_action(context)
    assert chosen.shape == (3,) and chosen[0] == 3 and len(set(chosen.tolist())) == 3
    player.initialize()
    assert player.n_trial == 0 and player.policy_.counts.rewards == 0 and not player.action_counts.any()


def test_summaries_are_those_of_the_joint_features():
    rounds = feedback(Problem(), 50)
    summary = summary_from_bandit_feedback(rounds, intercept=False)
    rows = np.zeros((50, 4, 5))
    rows[np.arange(50), rounds["action"]] = rounds["context"]
    assert summary == truenorth.summarize(rows.reshape(50, 20), rounds["reward"], summary.names)
    # With unit vectors as features of the actions, it is the same but for the names.
    named = summary_from_bandit_feedback(rounds, intercept=False, action_context=rounds["action_context"])
    assert truenorth.Policy(offline=named).params == truenorth.Policy(offline=summary).params
    assert named.rows == 50 and named.names[:2] == ["v1:x1", "v1:x2"]
