"""What adapters do whatever else is installed: inputs, arms that come and go, refusals, examples."""

import copy
import doctest
import importlib
import pickle
import subprocess
import sys

import numpy as np
import pytest
from adapter_problem import ARMS, Problem, foreign

import truenorth
from truenorth import adapters
from truenorth.adapters import MAB, Bandit, OpenBanditPolicy, summary_from_bandit_feedback


def means(mab, contexts):
    return np.array([[found[arm] for arm in ARMS] for found in mab.predict_expectations(contexts)])


@pytest.mark.parametrize("name", ["_mab", "_open_bandit", "_regressor", "_river"])
def test_examples_of_the_documentation_run(name):
    result = doctest.testmod(importlib.import_module(f"truenorth.adapters.{name}"))
    assert result.failed == 0 < result.attempted


def test_every_public_name_is_documented():
    for name in adapters.__all__:
        found = getattr(adapters, name)
        assert found.__doc__, name
        for part in dir(found):
            assert part.startswith("_") or part in ("is_contextual", "n_jobs") or getattr(found, part).__doc__, part


def test_nothing_is_imported_but_numpy():
    program = (
        "import sys, truenorth; assert 'truenorth.adapters' not in sys.modules; import truenorth.adapters; "
        "print(*({'mabwiser', 'river', 'obp', 'sklearn', 'scipy', 'torch', 'pandas'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_blocks_are_the_policy_on_features_that_were_laid_out_by_hand():
    decisions, rewards, contexts = Problem().rows(60)
    mab = MAB(ARMS, "truenorth").fit(decisions, rewards, contexts)
    rows = np.zeros((60, 4, 6))
    rows[np.arange(60), [ARMS.index(arm) for arm in decisions]] = np.insert(contexts, 0, 1.0, axis=1)
    policy = truenorth.Policy("truenorth", dimension=24, sparse=True)
    policy.play(rows.reshape(60, 1, 24), rewards[:, None])
    assert mab.policy_ == policy
    assert mab.policy_.counts.rounds == 60
    mab.predict(contexts)
    assert mab.policy_ == policy


def test_lists_arrays_and_tables_are_the_same():
    pandas = foreign("pandas")
    decisions, rewards, contexts = Problem().rows(40)
    frame = pandas.DataFrame(contexts, columns=list("abcde"))
    one = MAB(ARMS).fit(decisions, rewards, contexts)
    chosen = one.predict(contexts)
    for other in (
        MAB(ARMS).fit(decisions, rewards.tolist(), contexts.tolist()),
        MAB(ARMS).fit(np.array(decisions), rewards, np.asfortranarray(contexts)),
        MAB(ARMS).fit(pandas.Series(decisions), pandas.Series(rewards), frame),
        MAB(ARMS).fit(decisions[:7], rewards[:7], contexts[:7]).partial_fit(decisions[7:], rewards[7:], contexts[7:]),
    ):
        assert other.policy_ == one.policy_ and other.predict(contexts) == chosen
    expected = one.predict_expectations(contexts[3:4])
    assert one.predict_expectations(frame.iloc[3]) == one.predict_expectations(contexts[3]) == expected
    assert MAB(ARMS).warm_start(decisions, rewards, frame).logs_.names[:3] == ["north:intercept", "north:a", "north:b"]
    column = MAB(ARMS).fit(decisions, rewards, frame["a"])
    assert len(column.predict(frame["b"])) == 40


def test_without_contexts_arms_have_means():
    mab = MAB([1, 2], "greedy", noise=1.0, norm_bound=1.0).fit([1, 1, 2, 2], [1.0, 0.0, 3.0, 3.0])
    assert mab.predict() == 2 and mab.predict_expectations() == pytest.approx({1: 1 / 3, 2: 2.0})


def test_logs_stay_when_live_data_begins_anew():
    problem = Problem(4)
    logs, live = problem.logs(), problem.rows(100)
    mab = MAB(ARMS).warm_start(*logs)
    before = mab.policy_.to_bytes()
    assert mab.logs_.rows == 3000 and mab.policy_.counts.rounds == 0
    mab.fit(*live)
    late = MAB(ARMS).fit(*live).warm_start(*logs)
    assert mab.policy_ == late.policy_ and mab.fit(*live).policy_ == late.policy_
    half = [part[:1500] for part in logs], [part[1500:] for part in logs]
    assert MAB(ARMS).warm_start(*half[0]).warm_start(*half[1]).logs_.rows == 3000
    assert mab._learner.restarted().policy.to_bytes() == before


def test_fit_may_begin_with_other_contexts_and_fails_without_harm():
    mab = MAB(ARMS).fit(*Problem().rows(10))
    before = mab.policy_.to_bytes()
    with pytest.raises(ValueError, match="must be at most 5000, but is 24004"):
        mab.fit(["north"], [1.0], np.zeros((1, 6000)))
    with pytest.raises(ValueError, match="a context must have 5 values, but has 2"):
        mab.partial_fit(["north"], [1.0], [[1.0, 2.0]])
    with pytest.raises(TypeError, match="has no parameter 'colour'"):
        mab.set_params(colour=1)
    assert mab.policy_.to_bytes() == before and "colour" not in mab.get_params()
    assert mab.fit(["north"], [1.0], [[1.0, 2.0]]).policy_.dimension == 12


def test_rows_that_came_one_by_one_are_kept_in_order():
    decisions, rewards, contexts = Problem().rows(37)
    mab, whole = MAB(ARMS), MAB(ARMS).fit(decisions, rewards, contexts)
    for place in range(37):
        mab.partial_fit(decisions[place : place + 1], rewards[place : place + 1], contexts[place : place + 1])
    assert mab.policy_ == whole.policy_ and len(mab._learner._live) < 8
    mab.add_arm("up")
    whole.add_arm("up")
    assert mab.policy_ == whole.policy_ and mab.policy_.counts.rewards == 37


def test_trust_is_lost_only_where_the_logs_are_wrong():
    problem = Problem(2)
    mab = MAB(ARMS, intercept=False).warm_start(*problem.logs(10000)).fit(*problem.rows(1500))
    trust = {name: view.trust for name, view in zip(mab.logs_.names, mab.policy_.features)}
    wrong = {name for name, value in trust.items() if value < 0.1}
    assert wrong == {"north:x1", "south:x4"}


def test_arms_come_and_go():
    decisions, rewards, contexts = Problem().rows(200)
    three = [place for place, arm in enumerate(decisions) if arm != "west"]
    mab = MAB(ARMS[:3]).fit([decisions[place] for place in three], rewards[three], contexts[three])
    mab.add_arm("west")
    west = [place for place, arm in enumerate(decisions) if arm == "west"]
    mab.partial_fit(["west"] * len(west), rewards[west], contexts[west])
    whole = MAB(ARMS, noise=1.0).fit(decisions, rewards, contexts)
    assert mab.arms == ARMS and mab.policy_.dimension == 24
    mab.set_params(noise=1.0).fit(decisions, rewards, contexts)
    np.testing.assert_allclose(means(mab, contexts), means(whole, contexts))
    mab.remove_arm("north")
    assert mab.arms == ARMS[1:] and mab.policy_.dimension == 18 and mab.policy_.counts.rewards < 200
    assert set(mab.predict(contexts)) <= set(ARMS[1:])


def test_arms_with_features_share_what_is_learned():
    vectors = {arm: np.array([1.0, place]) for place, arm in enumerate(ARMS)}
    rng = np.random.default_rng(5)
    contexts = rng.normal(size=(300, 2))
    places = rng.integers(3, size=300)
    rewards = contexts[:, 0] * places + 0.1 * rng.normal(size=300)
    decisions = [ARMS[place] for place in places]
    mab = MAB(ARMS[:3], arm_features=vectors).fit(decisions, rewards, contexts)
    assert mab.policy_.dimension == 6
    mab.add_arm("west")
    # An arm that was never played: its features say that it pays three times the first value.
    assert mab.predict_expectations([[2.0, 0.0]])["west"] == pytest.approx(6.0, abs=0.3)
    mab.add_arm("up", features=[1.0, 4.0])
    assert mab.predict([[2.0, 0.0]]) == "up" and mab.policy_.counts.rewards == 300
    joint = MAB(ARMS[:3], arm_features=lambda context, arm: np.outer(vectors[arm], np.insert(context, 0, 1.0)).ravel())
    joint.fit(decisions, rewards, contexts)
    fresh = MAB(ARMS[:3], arm_features=vectors).fit(decisions, rewards, contexts)
    assert joint.policy_ == fresh.policy_ and joint.predict(contexts) == fresh.predict(contexts)


def test_large_inputs_are_laid_out_in_parts(monkeypatch):
    decisions, rewards, contexts = Problem().rows(100)
    whole = MAB(ARMS).warm_start(decisions, rewards, contexts).fit(decisions, rewards, contexts)
    monkeypatch.setattr("truenorth.adapters._learner._AT_ONCE", 400)
    parts = MAB(ARMS).warm_start(decisions, rewards, contexts).fit(decisions, rewards, contexts)
    np.testing.assert_allclose(means(parts, contexts), means(whole, contexts), rtol=1e-6)
    assert parts.predict(contexts) == whole.predict(contexts)


def test_pulls_do_not_count_until_updates_and_draws_differ():
    bandit = Bandit("lin-ts", features=["hour"], seed=1)
    arms = [bandit.pull(ARMS, {"hour": 1.0}) for _ in range(40)]
    assert len(set(arms)) > 1 and bandit.policy_.counts.rounds == 0
    bandit.update(arms[0], {"hour": 1.0}, 1.0)
    assert bandit.policy_.counts.rounds == 1


def test_features_and_arms_of_dictionaries_come_as_they_may():
    grown = Bandit(noise=1.0)
    grown.update("a", {"x": 1.0}, 1.0)
    grown.update("b", {"y": 2.0}, 2.0)
    grown.update("a", {"y": 1.0, "x": True}, 0.0)
    told = Bandit(features=["x", "y"], noise=1.0)
    told.pull(["a", "b"], {})
    for arm, context, reward in (("a", {"x": 1.0}, 1.0), ("b", {"y": 2.0}, 2.0), ("a", {"x": 1, "y": 1, "z": 9}, 0.0)):
        told.update(arm, context, reward)
    assert grown.policy_ == told.policy_ and grown.policy_.dimension == 6
    assert grown._n == told._n == 3


def test_copies_and_pickles_continue_alike():
    problem = Problem(6)
    mab = MAB(ARMS, "truenorth-sampling", seed=9).warm_start(*problem.logs(200)).fit(*problem.rows(50))
    contexts, more = problem.contexts(30), problem.rows(20)
    for other in (copy.deepcopy(mab), pickle.loads(pickle.dumps(mab))):
        assert other.partial_fit(*more).predict(contexts) == copy.deepcopy(mab).partial_fit(*more).predict(contexts)


def test_a_refused_row_changes_nothing():
    mab = MAB(ARMS).fit(*Problem().rows(10))
    before = mab.policy_.to_bytes()
    for decisions, rewards, contexts in (
        (["up"], [1.0], np.ones((1, 5))),
        (["north"], [np.nan], np.ones((1, 5))),
        (["north"], [1.0], np.full((1, 5), np.inf)),
        (["north"], [1.0, 2.0], np.ones((1, 5))),
        (["north", "east"], [1.0, 2.0], np.ones((1, 5))),
    ):
        for call in (mab.fit, mab.partial_fit, mab.warm_start):
            with pytest.raises(ValueError):
                call(decisions, rewards, contexts)
    assert mab.policy_.to_bytes() == before and mab.logs_ is None


@pytest.mark.parametrize(
    ("call", "kind", "sentence"),
    [
        (lambda: MAB([]), ValueError, "`arms` must be a list of at least one arm, but is []"),
        (lambda: MAB("ab"), ValueError, "`arms` must be a list of at least one arm, but is 'ab'"),
        (lambda: MAB([1, 1]), ValueError, "the arm 1 is there already"),
        (lambda: MAB([1, None]), ValueError, "an arm must have a name, but one is None"),
        (lambda: MAB([1], "best"), ValueError, "there is no policy named 'best'; the names are truenorth"),
        (lambda: MAB([1], colour=3), TypeError, "MAB has no parameter 'colour'; the names are arms, policy"),
        (lambda: MAB([1], arm_features={2: [1.0]}), ValueError, "`arm_features` has nothing for the arm 1"),
        (
            lambda: MAB([1, 2], arm_features={1: [1.0], 2: [1.0, 2.0]}),
            ValueError,
            "the features of the arm 2 must be 1 finite numbers, but are [1.0, 2.0]",
        ),
        (lambda: MAB([1]).fit([2], [0.0]), ValueError, "there is no arm 2"),
        (lambda: MAB([1]).fit([], []), ValueError, "`decisions` must not be empty"),
        (lambda: MAB([1]).fit([1], [np.inf]), ValueError, "reward 0 must be finite, but is inf"),
        (lambda: MAB([1]).fit([1], [1.0], [[np.nan]]), ValueError, "value 0 of context 0 must be finite, but is nan"),
        (lambda: MAB([1]).remove_arm(1), ValueError, "the arm 1 is the last one"),
        (lambda: MAB([1, 2]).remove_arm(3), ValueError, "there is no arm 3"),
        (lambda: MAB([1]).add_arm(2, features=[1.0]), TypeError, "`features` go with `arm_features`"),
        (lambda: MAB([1], intercept=False).predict(), ValueError, "`contexts` are needed"),
        (lambda: Bandit().pull([], {}), ValueError, "`arm_ids` must not be empty"),
        (lambda: Bandit().pull(["a"], {"x": "red"}), ValueError, "the feature 'x' must be a number, but is 'red'"),
        (lambda: Bandit().update("a", 1.0, 2.0), TypeError, "`update` takes an arm, a context (a dictionary)"),
        (lambda: Bandit(arm_features=lambda context, arm: context), TypeError, "`features` are needed when"),
        (lambda: OpenBanditPolicy(0, 2), ValueError, "`dim` must be at least 1, but is 0"),
        (lambda: OpenBanditPolicy(1, 2.5), TypeError, "`n_actions` must be a whole number, but is 2.5"),
        (lambda: OpenBanditPolicy(1, 2, 3), ValueError, "`len_list` must be at most 2, the actions, but is 3"),
        (
            lambda: OpenBanditPolicy(1, 2, action_context=[[1.0]]),
            ValueError,
            "`action_context` must have 2 rows, but its shape is (1, 1)",
        ),
        (lambda: OpenBanditPolicy(1, 2).select_action([[1], [2]]), ValueError, "`context` must be one row, but has 2"),
        (lambda: summary_from_bandit_feedback({"action": [1]}), ValueError, "`bandit_feedback` must have 'context'"),
    ],
)
def test_what_does_not_fit_is_refused_in_a_sentence(call, kind, sentence):
    with pytest.raises(kind) as refused:
        call()
    assert str(refused.value).startswith(sentence)


def test_arms_cannot_change_under_a_summary():
    made = MAB(ARMS).warm_start(*Problem().logs(50))
    mab = MAB(ARMS, offline=made.logs_).fit(*Problem().rows(5))
    with pytest.raises(ValueError, match="cannot change after `offline` was given"):
        mab.add_arm("up")
    assert mab.policy_.counts.rewards == 5 and mab.arms == ARMS


def test_expectations_are_fixed_and_predictions_go_on():
    mab = MAB(ARMS, "lin-ts", seed=2).fit(*Problem().rows(30))
    context = Problem(1).contexts(1)
    assert mab.predict_expectations(context) == mab.predict_expectations(context)
    assert len({mab.predict(context) for _ in range(50)}) > 1
    mab.partial_fit(*Problem(3).rows(1))
    assert mab.policy_.counts.rounds == 31
