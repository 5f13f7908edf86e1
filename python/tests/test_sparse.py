"""Sparse matrices are taken wherever features are, and sparse policies decide as dense ones do."""

import copy
import pickle
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import truenorth
from truenorth.adapters import MAB, Bandit, OpenBanditPolicy

sparse = pytest.importorskip("scipy.sparse")

ARMS, VALUES = 6, 3
DIMENSION = ARMS * VALUES
TRUTH = np.random.default_rng(9).normal(size=DIMENSION)


def blocks(context):
    """A row for each arm: the context in the arm's own columns."""
    return sparse.csr_array(np.kron(np.eye(ARMS), context[None, :]))


def rounds(count, seed=0):
    rng = np.random.default_rng(seed)
    given = [blocks(context) for context in rng.normal(size=(count, VALUES))]
    return given, [X @ TRUTH + 0.1 * rng.normal(size=ARMS) for X in given]


def policy(name="lin-ucb", **told):
    return truenorth.Policy(name, dimension=DIMENSION, **{"sparse": True, **told})


def play(policy, given, paid):
    actions = []
    for X, rewards in zip(given, paid):
        choice = policy.choose(X)
        policy.learn(choice, rewards[choice.action])
        actions.append(choice.action)
    return actions


@pytest.mark.parametrize("name", ["truenorth", "truenorth-sampling", "lin-ucb", "lin-ts", "greedy", "epsilon-greedy"])
def test_a_sparse_policy_chooses_learns_and_comes_back(name):
    given, paid = rounds(60)
    one = policy(name, seed=3)
    play(one, given, paid)
    restored = pickle.loads(pickle.dumps(one))
    assert restored == one and one.counts.rewards == 60 and one.params["sparse"]
    assert restored.choose(given[0]) == one.choose(given[0])


@pytest.mark.parametrize("name", ["truenorth", "lin-ucb", "greedy"])
def test_decisions_are_those_of_the_dense_policy(name):
    given, paid = rounds(200)
    dense = policy(name, sparse=False)
    expected = play(dense, [X.toarray() for X in given], paid)
    assert play(policy(name), given, paid) == expected
    # Each takes what the other is made for.
    assert play(policy(name), [X.toarray() for X in given], paid) == expected
    filled = policy(name, sparse=False)
    assert play(filled, given, paid) == expected and filled == dense


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "lil", "dok", "bsr"])
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_any_format_gives_the_same_decision(format, kind):
    X = rounds(1)[0][0]
    given = getattr(sparse, f"{format}_{kind}")(X)
    assert policy().choose(given) == policy().choose(X)
    np.testing.assert_array_equal(policy().intervals(given).ucb, policy().intervals(X).ucb)


def test_columns_in_any_order_and_twice_are_sorted_and_added():
    messy = sparse.csr_array(
        (np.array([1.0, 2.0, 0.5, 3.0]), np.array([4, 1, 4, 0]), np.array([0, 3, 4])), shape=(2, DIMENSION)
    )
    before = messy.indices.copy()
    tidy = messy.copy()
    tidy.sum_duplicates()
    choice = policy().choose(messy)
    assert choice == policy().choose(tidy) and messy.indices.tolist() == before.tolist()
    np.testing.assert_array_equal(choice.features, messy.toarray()[choice.action])


def test_what_only_looks_like_a_matrix_is_taken_too():
    class Rows:
        def __init__(self, X):
            self.indptr, self.indices, self.data, self.shape = X.indptr, X.indices, X.data, X.shape

    X = rounds(1)[0][0]
    assert policy().choose(Rows(X)) == policy().choose(X)
    for attribute, value in (("indptr", X.indptr[:-1]), ("indptr", X.indptr + 1), ("data", X.data[:-1])):
        broken = Rows(X)
        setattr(broken, attribute, value)
        with pytest.raises(ValueError, match="no matrix of compressed rows"):
            policy().choose(broken)
    for indices, sentence in ((X.indices - 1, "negative index"), (X.indices + 1, "column 18, but 18 columns")):
        broken = Rows(X)
        broken.indices = indices
        with pytest.raises(ValueError, match=sentence):
            policy().choose(broken)


def test_what_is_no_action_set_is_refused_and_changes_nothing():
    one, fresh = policy(), policy()
    for given, error, sentence in (
        (sparse.csr_array((2, 5)), ValueError, r"X must have shape \(K, 18\), but has shape \(2, 5\)"),
        (sparse.csr_array((0, DIMENSION)), ValueError, "at least one action"),
        (sparse.csr_array(np.full((1, DIMENSION), np.nan)), ValueError, "feature 0 of action 0 must be finite"),
        (sparse.csr_array(np.eye(2, DIMENSION) * 1j), TypeError, "must hold real numbers, but its dtype is complex"),
    ):
        for call in (one.choose, one.intervals, one.explain, one.choose_explained):
            with pytest.raises(error, match=sentence):
                call(given)
    assert one == fresh


def test_methods_without_parts_are_refused_by_name():
    with pytest.raises(ValueError, match="`sparse` does not go with a policy other than"):
        policy("oful")
    with pytest.raises(ValueError, match="must be at most 1000000, but is 1000001"):
        truenorth.Policy("lin-ucb", dimension=1_000_001, sparse=True)
    assert truenorth.Policy("lin-ucb", dimension=100_000, sparse=True).dimension == 100_000
    grown = policy()
    grown.grow(20_000)
    with pytest.raises(ValueError, match="must be at most 5000"):
        policy(sparse=False).grow(20_000)
    assert grown.choose(sparse.csr_array(([1.0], ([0], [19_999])), shape=(1, 20_000))).action == 0


def test_a_choice_is_learned_late_and_survives_its_pickle():
    given, paid = rounds(20)
    one, other, third = policy("truenorth"), policy("truenorth"), policy("truenorth")
    stored = []
    for X in given:
        choice = one.choose(X)
        assert other.choose(X) == third.choose(X) == choice
        stored.append((choice, X))
    for place in reversed(range(20)):
        choice, X = stored[place]
        again = pickle.loads(pickle.dumps(choice))
        assert again == choice and again.columns.tolist() == choice.columns.tolist() and len(choice.columns) == VALUES
        np.testing.assert_array_equal(again.features, X.toarray()[choice.action])
        reward = paid[place][choice.action]
        one.learn(again, reward)
        other.learn(choice.decision, reward, features=X[[choice.action]])
        third.learn(choice.decision, reward, features=choice.features)
    assert one == other == third
    assert policy().choose(given[0].toarray()).columns is None


def test_a_row_of_a_matrix_is_a_row():
    X = rounds(1)[0][0]
    found = []
    for row in (X[[2]], sparse.csr_matrix(X)[2], sparse.coo_array(X[[2]]), X[[2]].toarray()[0]):
        one = policy()
        one.learn_row(row, 0.5)
        found.append(one)
    assert all(other == found[0] for other in found) and found[0].counts.rewards == 1
    with pytest.raises(ValueError, match="x must have shape"):
        policy().learn_row(X, 0.5)


def test_many_decisions_and_rewards_are_the_single_ones():
    given, paid = rounds(50)
    one, other, third = policy("truenorth"), policy("truenorth"), policy("truenorth")
    many = one.choose_many(given)
    single = [other.choose(X) for X in given]
    third.choose_many(given)
    assert many.action.tolist() == [choice.action for choice in single]
    expected = sparse.vstack([X[[choice.action]] for X, choice in zip(given, single)])
    assert sparse.issparse(many.features) and (many.features != expected).nnz == 0
    rewards = [paid[place][choice.action] for place, choice in enumerate(single)]
    one.learn_many(many, rewards)
    other.learn_many(single, rewards)
    third.learn_many(many.decisions, rewards, features=many.features.tocsc())
    loop = policy("truenorth")
    for X, reward in zip([loop.choose(X) for X in given], rewards):
        loop.learn(X, reward)
    assert one == other == third == loop
    played = policy("truenorth").play(given, np.array(paid))
    assert played.actions.tolist() == play(policy("truenorth"), given, paid)


def test_learning_many_is_all_or_nothing():
    given, _ = rounds(40)
    one = policy("truenorth")
    made = [one.choose(X) for X in given]
    before = one.to_bytes()
    for rewards in ([0.1] * 39 + [np.nan], [0.1] * 39):
        with pytest.raises(ValueError):
            one.learn_many(made, rewards)
    with pytest.raises(ValueError):
        one.learn_many([(1, 0), (99, 0)], [0.1, 0.1], features=given[0][[0, 1]])
    assert one.to_bytes() == before
    one.learn_many(made, [0.1] * 40)
    assert one.counts.rewards == 40


def test_rounds_of_different_sizes_and_kinds_are_told_apart():
    given, paid = rounds(2)
    ragged = [given[0], given[1][:3]]
    assert policy().choose_many(ragged).action.shape == (2,)
    with pytest.raises(ValueError, match="as many actions in every round, but has 6 and 3"):
        policy().play(ragged, np.array(paid))
    with pytest.raises(ValueError, match=r"X\[1\] must be a sparse matrix like the first round"):
        policy().choose_many([given[0], given[1].toarray()])
    with pytest.raises(ValueError, match=r"X must have shape \(n, K, 18\)"):
        policy().choose_many(given[0])


def test_rows_of_others_and_explanations():
    given, paid = rounds(30)
    X, y = sparse.vstack(given), np.concatenate(paid)
    one, other = policy("truenorth"), policy("truenorth")
    assert one.partial_fit(X, y) is one and other.partial_fit(X.toarray(), y) == one
    why = one.explain(given[0])
    choice, story = one.choose_explained(given[0])
    assert why == story and choice.action == story.action and len(story.layers[0].actions) == ARMS
    np.testing.assert_allclose([feature.estimate for feature in one.features], TRUTH, atol=0.2)


def test_policies_with_names_take_matrices_by_their_order():
    logs = truenorth.summarize(np.eye(3), [1.0, 2.0, 3.0], names=["a", "b", "c"])
    for told in ({}, {"sparse": True}):
        named = truenorth.Policy(offline=logs, **told)
        assert named.choose(sparse.csr_array(np.eye(3))).action == named.choose(np.eye(3)).action == 2


def test_scipy_is_not_needed():
    program = (
        "import sys; sys.modules['scipy'] = sys.modules['scipy.sparse'] = None\n"
        "import pickle, numpy as np, truenorth\n"
        "class X: indptr, indices, data, shape = np.array([0, 1, 2]), np.array([0, 2]), np.ones(2), (2, 3)\n"
        "policy = truenorth.Policy('lin-ucb', dimension=3, sparse=True)\n"
        "policy.learn(pickle.loads(pickle.dumps(policy.choose(X()))), 1.0)\n"
        "many = policy.choose_many([X(), X()])\n"
        "policy.learn_many(many, [1.0, 0.0])\n"
        "print(policy.counts.rewards, many.features.shape)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[0] == "3 (2, 3)"


def test_a_fit_runs_beside_decisions():
    given, paid = rounds(120)
    one = policy("truenorth", fits_beside=True)
    assert one.begin_fit() is None and one.params["fits_beside"]
    fits = 0
    for X, rewards in zip(given, paid):
        choice = one.choose(X)
        one.learn(choice, rewards[choice.action])
        fit = one.begin_fit()
        if fit is not None:
            runner = threading.Thread(target=fit.run)
            runner.start()
            later = one.choose(X)
            one.learn(later, rewards[later.action])
            runner.join()
            one.finish_fit(fit.run())
            fits += 1
    assert fits > 3 and one.begin_fit() is None
    with pytest.raises(ValueError, match="`finish_fit` does not go with a policy without a fit that is due"):
        one.finish_fit(fit_of())


def fit_of():
    """A fit that another policy asks for."""
    given, paid = rounds(1)
    other = policy("truenorth", fits_beside=True)
    for _ in range(30):
        play(other, given, paid)
        fit = other.begin_fit()
        if fit is not None:
            return fit
    raise AssertionError("no fit is due")


def test_many_rewards_can_be_interrupted():
    dense = truenorth.Policy("lin-ucb", dimension=1500, noise=1.0, norm_bound=1.0)
    rows = np.random.default_rng(0).normal(size=(1500, 1500))
    choice = dense.choose(rows[:1])
    before = dense.to_bytes()
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            # All of them take a fifth of a second or longer.
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            dense.learn_many([choice.decision] * 1500, np.zeros(1500), features=rows)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    assert dense.to_bytes() == before


# ------------------------------------------------------------------------------------------------- adapters


@pytest.mark.parametrize("name", ["lin-ucb", "lin-ts", "truenorth", "greedy"])
def test_adapters_choose_as_a_policy_on_rows_that_were_laid_out_by_hand(name):
    rng = np.random.default_rng(1)
    truth, contexts = rng.normal(size=(ARMS, VALUES)), rng.normal(size=(150, 1, VALUES))
    mab, by_hand = MAB(range(ARMS), name, intercept=False, seed=5), policy(name, seed=5)
    dense = policy(name, seed=5, sparse=False)
    for context in contexts:
        arm, choice = mab.predict(context), by_hand.choose(blocks(context[0]))
        reward = float(context[0] @ truth[arm] + 0.1 * rng.normal())
        assert arm == choice.action
        mab.partial_fit([arm], [reward], context)
        by_hand.learn(choice, reward)
        if name != "lin-ts":  # whose draws differ
            choice = dense.choose(blocks(context[0]).toarray())
            assert arm == choice.action
            dense.learn(choice, reward)
    assert mab.policy_.params["sparse"] and mab.policy_.counts.rounds == 150
    means = np.array([list(found.values()) for found in mab.predict_expectations(contexts[:, 0])])
    expected = [mab.policy_.intervals(blocks(context[0]).toarray()).mean + mab.policy_.level for context in contexts]
    np.testing.assert_allclose(means, expected)


def test_an_adapter_that_predicts_and_learns_makes_no_copies(monkeypatch):
    rng = np.random.default_rng(1)
    mab, copies = MAB(range(ARMS), "lin-ts"), []
    monkeypatch.setattr(copy, "copy", lambda value: copies.append(value) or value.__copy__())
    for context in rng.normal(size=(40, 1, VALUES)):
        arm = mab.predict(context)
        mab.partial_fit([arm], [1.0], context)
    assert len(copies) == 1 and mab._learner._learned < 40
    # Another rhythm: a decision that nobody learns, rows that nobody decided.
    mab.predict(context)
    mab.predict(context)
    mab.partial_fit([arm], [1.0], context)
    assert mab._learner._learned == 41
    mab.predict(context)
    assert len(copies) == 2 and mab.policy_.counts.rounds == mab.policy_.counts.rewards == 41


def test_what_was_learned_beside_predictions_is_what_was_learned_without_them():
    rng = np.random.default_rng(2)
    contexts, rewards = rng.normal(size=(80, VALUES)), rng.normal(size=80)
    one, other = MAB(range(ARMS)), MAB(range(ARMS))
    arms = []
    for place in range(80):
        arms.append(one.predict(contexts[[place]]))
        one.partial_fit(arms[-1:], rewards[[place]], contexts[[place]])
    other.fit(arms, rewards, contexts)
    assert one.policy_ == other.policy_
    refused = one.policy_.to_bytes()
    one.predict(contexts[:1])
    with pytest.raises(ValueError, match="at most 1e50"):
        one.partial_fit([0], [1e60], contexts[:1])
    assert one.policy_.to_bytes() == refused and len(one.predict(contexts)) == 80


def test_presets_without_parts_stay_dense():
    rng = np.random.default_rng(3)
    mab = MAB(range(ARMS), "oful", noise=0.1, norm_bound=1.0)
    for context in rng.normal(size=(10, 1, VALUES)):
        mab.partial_fit([mab.predict(context)], [0.5], context)
    assert not mab.policy_.params["sparse"] and mab.policy_.counts.rewards == 10
    with pytest.raises(ValueError, match="`sparse` does not go with"):
        MAB(range(ARMS), "oful", sparse=True).predict([[1.0]])
    with pytest.raises(TypeError, match="has no parameter 'fits_beside'"):
        MAB(range(ARMS), fits_beside=True)


def test_logs_of_many_arms_need_no_matrix_of_all_features():
    rng = np.random.default_rng(4)
    count = 400
    contexts, places = rng.normal(size=(4000, 20)), np.arange(4000) % count
    truth = rng.normal(size=(count, 20))
    rewards = np.einsum("nd,nd->n", contexts, truth[places]) + 0.1 * rng.normal(size=4000)
    mab = MAB(range(count)).warm_start(places, rewards, contexts)
    assert mab.policy_.dimension == 8400 and mab.policy_.names[:2] == ["0:intercept", "0:x1"]
    assert "logged rows=4000" in repr(mab.policy_)
    arm = mab.predict(contexts[:1])
    mab.partial_fit([arm], [1.0], contexts[:1])
    assert mab.policy_.counts.rewards == 1


def test_a_few_arms_with_logs_are_dense_unless_told():
    rng = np.random.default_rng(5)
    contexts, places = rng.normal(size=(200, VALUES)), rng.integers(ARMS, size=200)
    logs = places, contexts.sum(1), contexts
    assert not MAB(range(ARMS)).warm_start(*logs).policy_.params["sparse"]
    told = MAB(range(ARMS), sparse=True).warm_start(*logs)
    assert told.policy_.params["sparse"]
    dense = MAB(range(ARMS)).warm_start(*logs)
    means = [[list(found.values()) for found in mab.predict_expectations(contexts)] for mab in (told, dense)]
    np.testing.assert_allclose(*means, rtol=1e-5, atol=1e-7)


def test_river_and_open_bandit_offer_some_of_the_arms():
    rng = np.random.default_rng(6)
    names = ["x", "y"]
    bandit, by_hand = Bandit("lin-ucb", features=names), truenorth.Policy("lin-ucb", dimension=15, sparse=True)
    bandit.pull("abcde", {})
    bandit.update("a", {}, 0.0)  # from here on, each pull is learned
    by_hand.learn(by_hand.choose(sparse.csr_array(([1.0, 0.0, 0.0], [0, 1, 2], [0, 3]), shape=(1, 15))), 0.0)
    for place in range(60):
        context = rng.normal(size=2)
        offered = [arm for arm in "abcde" if rng.random() < 0.7] or ["a"]
        arm = bandit.pull(offered, dict(zip(names, context.tolist())))
        rows = np.kron(np.eye(5)[["abcde".index(arm) for arm in offered]], [1.0, *context])
        choice = by_hand.choose(sparse.csr_array(rows))
        assert arm == offered[choice.action]
        bandit.update(arm, dict(zip(names, context.tolist())), place % 3)
        by_hand.learn(choice, place % 3)
    assert bandit.policy_.params["sparse"] and bandit.policy_.counts.rounds == 61
    ranked = [OpenBanditPolicy(2, 5, len_list=3, sparse=told) for told in (None, False)]
    for _ in range(20):
        context = rng.normal(size=(1, 2))
        chosen = [policy.select_action(context).tolist() for policy in ranked]
        assert chosen[0] == chosen[1] and len(set(chosen[0])) == 3
        for policy in ranked:
            policy.update_params(chosen[0][0], 1.0, context)


def test_arms_join_a_sparse_policy():
    rng = np.random.default_rng(7)
    contexts, places = rng.normal(size=(60, VALUES)), rng.integers(ARMS, size=60)
    rewards = rng.normal(size=60)
    mab = MAB(range(ARMS - 1))
    early = places < ARMS - 1
    mab.fit(places[early], rewards[early], contexts[early])
    mab.predict(contexts)
    mab.add_arm(ARMS - 1)
    assert set(mab.predict(contexts)) <= set(range(ARMS)) and mab.policy_.counts.rewards == early.sum()
    mab.remove_arm(0)
    assert 0 not in mab.predict(contexts) and mab.policy_.dimension == (ARMS - 1) * (VALUES + 1)
