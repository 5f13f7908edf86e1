"""The adapter for MABWiser, in its own simulator and beside its own bandits."""

import logging

import numpy as np
import pytest
from adapter_problem import ARMS, Problem, foreign

from truenorth.adapters import MAB

mabwiser = foreign("mabwiser.mab")
simulator = foreign("mabwiser.simulator")
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def silent():
    """The simulator changes the root logger, and prints."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    logging.disable()
    yield
    logging.disable(logging.NOTSET)
    root.setLevel(level)
    root.handlers[:] = handlers


def simulated(problem, rounds, batch_size, **bandits):
    """What each bandit's choices in MABWiser's simulator are worth, and the simulator."""
    decisions, rewards, contexts = problem.rows(rounds)
    run = simulator.Simulator(
        list(bandits.items()), decisions, rewards, contexts, test_size=0.9, is_ordered=True, batch_size=batch_size
    )
    run.run()
    test = contexts[run.test_indices]
    return {name: problem.value(test, run.bandit_to_predictions[name]) for name in bandits}, run


def test_it_learns_in_the_simulator_and_logs_help():
    found = []
    for seed in range(5):
        problem = Problem(seed)
        values, run = simulated(
            problem, 300, 10,
            random=mabwiser.MAB(ARMS, mabwiser.LearningPolicy.Random(), seed=seed),
            theirs=mabwiser.MAB(ARMS, mabwiser.LearningPolicy.LinUCB(alpha=1.0), seed=seed),
            cold=MAB(ARMS),
            warm=MAB(ARMS).warm_start(*problem.logs()),
        )  # fmt: skip
        found.append(list(values.values()))
        predictions, expectations = run.bandit_to_predictions["warm"], run.bandit_to_expectations["warm"]
        assert len(predictions) == len(expectations) == len(run.test_indices)
        assert all(set(means) == set(ARMS) for means in expectations)
    random, theirs, cold, warm = np.mean(found, axis=0)
    print(f"MABWiser: random {random:.3f}, LinUCB {theirs:.3f}, cold {cold:.3f}, warm {warm:.3f}")
    assert abs(random) < 0.1 and cold > 0.8 and warm > 0.95 and cold > theirs - 0.08


def test_it_works_without_learning_in_between():
    values, run = simulated(Problem(), 1000, 0, cold=MAB(ARMS))
    assert values["cold"] > 0.6
    assert len(run.bandit_to_expectations["cold"]) == len(run.test_indices) == 901


def test_greedy_expectations_are_those_of_ridge_regression():
    decisions, rewards, contexts = Problem(1).rows(200)
    ours = MAB(ARMS, "greedy", intercept=False, noise=1.0, norm_bound=1.0).fit(decisions, rewards, contexts)
    theirs = mabwiser.MAB(ARMS, mabwiser.LearningPolicy.LinGreedy(epsilon=0.0, l2_lambda=1.0))
    theirs.fit(decisions, rewards, contexts)
    test = Problem(2).contexts(50)
    assert ours.predict(test) == theirs.predict(test)
    for one, other in zip(ours.predict_expectations(test), theirs.predict_expectations(test)):
        assert one == pytest.approx(other)
