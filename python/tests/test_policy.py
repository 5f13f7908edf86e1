"""Policies choose, learn, remember and explain."""

import copy
import pickle
import threading

import numpy as np
import pytest

import truenorth

TRUTH = np.array([1.0, -0.5, 0.2])


def rounds(count, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 5, 3))
    return X, X @ TRUTH + 0.1 * rng.normal(size=(count, 5))


def played(name="truenorth", count=100, **told):
    policy = truenorth.Policy(name, dimension=3, **told)
    policy.play(*rounds(count))
    return policy


def needs(name):
    if name in ("ellipsoidal-minucb", "pooled-only"):
        return {"certificate": truenorth.Certificate.isotropic(3, 0.5), "horizon": 500, "noise": 0.1}
    if name == "min-ucb":
        return {"certificate": truenorth.Certificate.isotropic(3, 0.5)}
    return {"horizon": 500}


@pytest.mark.parametrize("name", truenorth.presets())
def test_every_preset_chooses_learns_and_comes_back(name):
    policy = truenorth.Policy(name, dimension=3, **needs(name))
    X, rewards = np.eye(3), [0.3, 0.1, 0.2]
    for _ in range(30):
        choice = policy.choose(X)
        policy.learn(choice, rewards[choice.action])
    assert policy.counts.rounds == policy.counts.rewards == 30
    restored = pickle.loads(pickle.dumps(policy))
    assert restored == policy and restored.choose(X) == policy.choose(X)


def test_the_best_action_is_found():
    X, rewards = rounds(400)
    found = truenorth.Policy("truenorth", dimension=3).play(X, rewards)
    best = np.argmax(X @ TRUTH, axis=1)
    assert np.mean(found.actions[200:] == best[200:]) > 0.95
    assert found.mean_reward == found.rewards.mean()


@pytest.mark.parametrize("name", ["truenorth", "truenorth-sampling", "lin-ts", "suplinucb"])
def test_play_is_choose_and_learn_over_and_over(name):
    X, rewards = rounds(200)
    rewards[7] = np.nan
    one, other = (truenorth.Policy(name, dimension=3, horizon=1000, seed=4) for _ in range(2))
    found = one.play(X, rewards)
    for place, (actions, paid) in enumerate(zip(X, rewards)):
        choice = other.choose(actions)
        assert (choice.action, choice.ucb, choice.branch, choice.propensity, choice.layer, choice.round) == (
            found.actions[place],
            found.ucb[place],
            found.branch[place],
            found.propensity[place],
            found.layers[place],
            found.rounds[place],
        )
        if not np.isnan(paid[choice.action]):
            other.learn(choice, paid[choice.action])
    assert one == other and one.counts.rewards == 199


def test_many_decisions_are_the_single_ones():
    X, rewards = rounds(50)
    one, other, third = played(), played(), played()
    many = one.choose_many(X)
    single = [other.choose(actions) for actions in X]
    third.choose_many(X)
    assert many.action.tolist() == [choice.action for choice in single]
    assert many.decisions == [choice.decision for choice in single]
    np.testing.assert_array_equal(many.features, X[np.arange(50), many.action])
    paid = rewards[np.arange(50), many.action]
    one.learn_many(many, paid)
    other.learn_many(single, paid)
    third.learn_many(many.decisions, paid, features=many.features)
    late = copy.copy(third)
    assert one == other == third == late
    pairs = np.column_stack([many.round, many.layer])
    late.learn_many(pairs, paid, many.features)
    assert late != third and late.counts.rewards == third.counts.rewards + 50


def test_late_rewards_need_decision_and_features_alone():
    X, rewards = rounds(20)
    one, other = played(), played()
    stored = []
    for actions in X:
        choice = one.choose(actions)
        assert other.choose(actions) == choice
        stored.append((tuple(choice.decision), choice.features, choice))
    for place in reversed(range(20)):
        decision, features, choice = stored[place]
        one.learn(choice, rewards[place, choice.action])
        other.learn(decision, rewards[place, choice.action], features=features.tolist())
    assert one == other


def test_a_choice_keeps_its_features_when_the_array_changes():
    policy, X = played(), np.eye(3)
    choice = policy.choose(X)
    X[:] = 7.0
    np.testing.assert_array_equal(choice.features, np.eye(3)[choice.action])


def test_learning_many_is_all_or_nothing():
    policy = played()
    before = policy.to_bytes()
    many = policy.choose_many(rounds(3)[0])
    after = policy.to_bytes()
    for rewards in ([1.0, np.nan, 1.0], [1.0, 2.0], np.zeros((3, 1))):
        with pytest.raises(ValueError):
            policy.learn_many(many, rewards)
    with pytest.raises(ValueError, match="is unknown"):
        policy.learn_many([(1, 0), (10**6, 0)], [0.0, 0.0], features=np.zeros((2, 3)))
    for wrong in (None, 5, (1, 2, 3)):
        with pytest.raises(TypeError, match="a decision is a Choice, or its round and layer, but this is"):
            policy.learn_many([wrong], [1.0])
    with pytest.raises(TypeError, match="`features` are needed"):
        policy.learn_many([(1, 0)], [0.0])
    X, rewards = rounds(5)
    X[3, 1, 2] = np.inf
    with pytest.raises(ValueError, match="feature 2 of action 1"):
        policy.play(X, rewards)
    assert policy.to_bytes() == after != before


@pytest.mark.parametrize("name", ["dimension", "horizon", "seed", "season"])
def test_a_negative_number_is_refused_with_its_name(name):
    with pytest.raises(ValueError, match=f"`{name}` must be at least 0, but is -1"):
        truenorth.Policy(**{"dimension": 2, name: -1})
    with pytest.raises(ValueError, match=f"`{name}` is too large: {2**64}"):
        truenorth.Policy(**{"dimension": 2, name: 2**64})


def test_files_bytes_pickles_and_copies_continue_bit_for_bit(tmp_path):
    policy = played("truenorth-sampling", seed=3)
    policy.save(tmp_path / "policy.tn")
    copies = [
        truenorth.Policy.load(tmp_path / "policy.tn"),
        truenorth.Policy.from_bytes(policy.to_bytes()),
        pickle.loads(pickle.dumps(policy)),
        copy.copy(policy),
        copy.deepcopy(policy),
    ]
    X, rewards = rounds(30, seed=9)
    expected = policy.play(X, rewards)
    for other in copies:
        assert other != policy
        np.testing.assert_array_equal(other.play(X, rewards).ucb, expected.ucb)
        assert other == policy
    assert policy != "a policy" and policy == policy


def test_intervals_change_nothing_and_match_the_choice():
    policy = played("truenorth-confidence")
    before, X = policy.to_bytes(), rounds(1)[0][0]
    intervals = policy.intervals(X)
    assert policy.to_bytes() == before
    choice = policy.choose(X)
    place = choice.action
    assert place == intervals.index.argmax()
    assert (intervals.ucb[place], intervals.lcb[place], intervals.mean[place], intervals.branch[place]) == (
        choice.ucb,
        choice.lcb,
        choice.mean,
        choice.branch,
    )
    assert len(intervals) == 5 and intervals.conflict.dtype == bool
    width = intervals.online_statistical
    np.testing.assert_allclose(intervals.online_mean + width >= intervals.ucb, True)


def test_explanations_tell_the_decision_that_is_made():
    told = {"certificate": truenorth.Certificate.from_budgets([0.5, 0.1, 0.1]), "noise": 0.1, "horizon": 1000}
    policy = played("ellipsoidal-minucb", **told)
    X = rounds(1)[0][0]
    before = policy.to_bytes()
    foretold = policy.explain(X)
    assert policy.to_bytes() == before
    choice, story = policy.choose_explained(X)
    assert foretold == story and story.action == choice.action and story.round == choice.round
    last = story.layers[-1]
    interval = next(found for found in last.actions if found.action == choice.action)
    assert (interval.ucb, interval.lcb) == (choice.ucb, choice.lcb) and last.layer == choice.layer
    assert repr(story).startswith(f"round {choice.round}: played action {choice.action}")
    page = story._repr_html_()
    assert page.count("<table>") == len(story.layers) and f"{choice.action} (played)" in page


def test_logs_are_used_where_they_hold():
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(2000, 3))
    logs = truenorth.summarize(Z, Z @ [1.0, 2.0, 0.2] + 0.1 * rng.normal(size=2000))
    policy = truenorth.Policy(offline=logs)
    policy.play(*rounds(300))
    drifted, held = policy.features[1], policy.features[0]
    assert drifted.trust < 0.05 < 0.5 < held.trust
    assert drifted.drift == pytest.approx(-2.5, abs=0.1)
    assert policy.dimension == 3 and 0.0 <= policy.logs_hold <= 1.0 and policy.noise == pytest.approx(0.1, rel=0.2)


def test_parameters_come_back_by_the_names_of_the_keywords():
    told = {
        "horizon": 100, "noise": 0.5, "norm_bound": 2.0, "ridge": 3.0, "delta": 0.1, "schedule": "anytime",
        "layering": "flat", "branches": "both", "pooling": "discounted", "certificate": "adaptive",
        "width": "posterior", "explore": 0.25, "seed": 7, "exploration_scale": 0.3, "discount": 0.5, "season": 50,
        "half_life": 20.0, "sparse": True, "fits_beside": True,
    }  # fmt: skip
    policy = truenorth.Policy("oful", dimension=3, **told)
    assert policy.params == {"dimension": 3, **told}
    assert truenorth.Policy("lin-ucb", **policy.params) == policy
    fixed = truenorth.Certificate.isotropic(3, 0.5)
    assert truenorth.Policy("pooled-only", dimension=3, certificate=fixed, horizon=9).params["certificate"] == fixed
    epochs = truenorth.Policy("ellipsoidal-minucb-3d", dimension=3, horizon=90, certificate=[1, 30])
    assert epochs.params["certificate"] == [1, 30]


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        ({"preset": "linucb"}, "there is no policy named \"linucb\"; the names are truenorth, "),
        ({"noise": -1.0}, "`noise` must be at least 0 and at most 1e50, but is -1"),
        ({"delta": 1.0}, "`delta` must be strictly between 0 and 1, but is 1"),
        ({"layering": "high"}, "`layering` must be `layered` or `flat`, but is \"high\""),
        ({"explore": "luck"}, "`explore` must be 'ucb', 'sampling' or a number from 0 to 1, but is 'luck'"),
        ({"certificate": "isotropic"}, "`certificate` must be a Certificate, 'none', 'adaptive' or 'learned'"),
        ({"discount": 0.0}, "`discount` must be in (0, 1], but is 0"),
        ({"half_life": 0.0}, "`half_life` must be positive, but is 0"),
        ({"preset": "oful", "season": 9}, "season does not go with a policy that never doubts its logs"),
        ({"preset": "suplinucb"}, "`horizon` is needed by layered policies"),
        ({"dimension": 0}, "`dimension` must be at least 1, but is 0"),
        ({"dimension": 10**9}, "`dimension` must be at most 5000, but is 1000000000"),
    ],
)
def test_parameters_that_do_not_fit_are_refused_in_a_sentence(told, sentence):
    with pytest.raises(ValueError) as refused:
        truenorth.Policy(**{"dimension": 3, **told})
    assert str(refused.value).startswith(sentence)


def test_what_is_no_parameter_is_a_type_error():
    for told in ({}, {"dimension": 3, "colour": 1}, {"dimension": "3"}, {"dimension": 3, "offline": 5}):
        with pytest.raises(TypeError):
            truenorth.Policy(**told)


def test_threads_may_share_a_policy():
    policy = truenorth.Policy("lin-ucb", dimension=3)
    X, rewards = rounds(2000)

    def work():
        for actions in X[:500]:
            policy.learn(policy.choose(actions), 0.5)

    threads = [threading.Thread(target=work) for _ in range(3)]
    threads.append(threading.Thread(target=lambda: policy.play(X, rewards)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert policy.counts.rounds == policy.counts.rewards == 3500


def test_files_that_are_no_policy_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError):
        truenorth.Policy.load(tmp_path / "absent")
    with pytest.raises(OSError):
        played().save(tmp_path / "no folder" / "policy.tn")
    (tmp_path / "other").write_bytes(b"not a policy at all")
    with pytest.raises(ValueError, match="other: this is not a truenorth snapshot"):
        truenorth.Policy.load(tmp_path / "other")
    damaged = bytearray(played().to_bytes())
    damaged[60] ^= 1
    with pytest.raises(ValueError, match="damaged"):
        truenorth.Policy.from_bytes(bytes(damaged))


def test_certificates_mirror_the_library():
    certificate = truenorth.Certificate.from_matrix([[5.0, 4.0], [4.0, 5.0]], 3.0)
    first, second = certificate.directions()
    assert (first.eigenvalue, first.drift, second.drift) == pytest.approx((1.0, 3.0, 1.0))
    worst = certificate.worst_drift([0.3, -0.8])
    assert certificate.admits(worst) and worst @ [0.3, -0.8] == pytest.approx(certificate.bias_bound([0.3, -0.8]))
    np.testing.assert_array_equal(certificate.matrix, [[5.0, 4.0], [4.0, 5.0]])
    assert certificate.with_radius(1.0).rho == 1.0 and certificate.dimension == 2
    turned = truenorth.Certificate.from_directions([[0.6, 0.8]], [0.5], rest=0.1)
    for other in (certificate, turned, truenorth.Certificate.from_budgets([0.5, 1.0], rho=2.0)):
        assert pickle.loads(pickle.dumps(other)) == other
    with pytest.raises(ValueError, match="must be symmetric"):
        truenorth.Certificate.from_matrix([[1.0, 2.0], [0.0, 1.0]], 1.0)
    with pytest.raises(ValueError, match="`rest` is needed"):
        truenorth.Certificate.from_directions([[1.0, 0.0]], [0.1])
    with pytest.raises(ValueError, match="must be at most 5000"):
        truenorth.Certificate.isotropic(10**12, 1.0)


def test_a_new_season_starts_from_what_is_known():
    policy = truenorth.Policy(dimension=3)
    policy.play(*rounds(300))
    before = policy.intervals(np.eye(3))
    policy.renew()
    after = policy.intervals(np.eye(3))
    # A column may have been drawn anew, and then nothing is known of it: means are somewhat smaller.
    np.testing.assert_allclose(after.mean, before.mean, rtol=0.2)
    assert policy.counts.rounds == 300 and policy.counts.forced == 0 and policy.counts.spent >= 0.0
    assert truenorth.Policy.from_bytes(policy.to_bytes()) == policy
    with pytest.raises(ValueError, match="a new season does not go with a policy that never doubts its logs"):
        truenorth.Policy("oful", dimension=3).renew()
