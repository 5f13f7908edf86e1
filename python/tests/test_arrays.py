"""Arrays are read where they are; what is no array of numbers is refused in a sentence."""

import tracemalloc

import numpy as np
import pytest

import truenorth

X = np.arange(15.0).reshape(5, 3) / 10


def policy():
    return truenorth.Policy("lin-ucb", dimension=3)


@pytest.mark.parametrize(
    "given",
    [
        np.asfortranarray(X),
        np.repeat(X, 2, axis=0)[::2],
        X[::-1][::-1],
        X.astype(">f8"),
        X.astype(np.longdouble),
        X.tolist(),
        [row for row in X],
        np.frombuffer(X.tobytes()).reshape(5, 3),
    ],
    ids=["fortran", "strided", "reversed", "big-endian", "longdouble", "lists", "rows", "read-only"],
)
def test_any_layout_gives_the_same_decision(given):
    assert policy().choose(given) == policy().choose(X)


def test_smaller_numbers_and_flags_are_taken():
    for dtype in (np.float32, np.int8, np.uint64, bool):
        assert policy().choose(np.eye(3).astype(dtype)).action == policy().choose(np.eye(3)).action


def test_a_float64_array_in_c_order_is_not_copied():
    wide = truenorth.Policy("greedy", dimension=50)
    given = np.zeros((20_000, 50))
    strided = np.asfortranarray(given)

    def peak(array):
        wide.choose(array)
        tracemalloc.start()
        wide.choose(array)
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    # NumPy reports its memory; a copy takes eight megabytes.
    assert peak(given) < 10_000 < 8_000_000 <= peak(strided)


@pytest.mark.parametrize(
    ("given", "error", "sentence"),
    [
        (X[:, :2], ValueError, "X must have shape (K, 3), but has shape (5, 2)"),
        (X[0], ValueError, "X must have shape (K, 3), but has shape (3,)"),
        (X[None], ValueError, "X must have shape (K, 3), but has shape (1, 5, 3)"),
        (1.0, ValueError, "X must have shape (K, 3), but has shape ()"),
        (np.zeros((0, 3)), ValueError, "a round needs at least one action, but has none"),
        (np.zeros((3, 0)), ValueError, "X must have shape (K, 3), but has shape (3, 0)"),
        (X * 1j, TypeError, "X must hold real numbers, but its dtype is complex128"),
        (X.astype(str), TypeError, "X must hold real numbers, but its dtype is <U"),
        (X.astype(object), TypeError, "X must hold real numbers, but its dtype is object"),
        (None, TypeError, "X must hold real numbers, but its dtype is object"),
        (X.astype("m8[s]"), TypeError, "X must hold real numbers, but its dtype is timedelta64[s]"),
        (np.full((2, 3), np.nan), ValueError, "feature 0 of action 0 must be finite and at most 1e50"),
        (np.array([[0, 0, 0], [0, 0, 1e300]]), ValueError, "feature 2 of action 1 must be finite"),
        (np.broadcast_to(1.0, (10**9, 10**9)), ValueError, "X must have shape (K, 3), but has shape"),
        (np.broadcast_to(1.0, (10**9, 3)), ValueError, "X has shape (1000000000, 3), too much to copy"),
        (np.broadcast_to(np.float32(1), (10**9, 3)), ValueError, "X has shape (1000000000, 3), too much to copy"),
    ],
)
def test_what_is_no_action_set_is_refused(given, error, sentence):
    chooser = policy()
    with pytest.raises(error) as refused:
        chooser.choose(given)
    assert str(refused.value).startswith(sentence)
    assert chooser == policy()


def test_ragged_rows_are_refused():
    with pytest.raises(ValueError):
        policy().choose([[1.0, 2.0, 3.0], [1.0]])


@pytest.mark.parametrize("method", ["choose_many", "play"])
def test_rounds_need_three_axes(method):
    rest = [np.zeros((2, 2))] if method == "play" else []
    call = getattr(policy(), method)
    for given in (X, np.zeros((2, 2, 2)), np.broadcast_to(1.0, (10**6, 10**6, 3))):
        with pytest.raises(ValueError):
            call(given, *rest)
    with pytest.raises(ValueError, match="at least one action"):
        call(np.zeros((2, 0, 3)), *([np.zeros((2, 0))] if rest else []))
    assert len(call(np.zeros((0, 2, 3)), *([np.zeros((0, 2))] if rest else []))) == 0


def test_rewards_need_the_shape_of_the_rounds():
    with pytest.raises(ValueError, match=r"rewards must have shape \(2, 4\), but has shape \(4, 2\)"):
        policy().play(np.zeros((2, 4, 3)), np.zeros((4, 2)))


def test_rewards_and_features_that_are_no_numbers_are_refused():
    learner = policy()
    choice = learner.choose(X)
    for reward, error in ((np.nan, ValueError), (np.inf, ValueError), ("one", TypeError), (None, TypeError)):
        with pytest.raises(error):
            learner.learn(choice, reward)
    for features in ([1.0], [[1.0, 2.0, 3.0]], [np.nan, 0, 0]):
        with pytest.raises(ValueError):
            learner.learn(choice.decision, 1.0, features=features)
    for decision in (5, "x", None, (1, 2, 3), (-1, 0), (1.5, 0)):
        with pytest.raises((TypeError, OverflowError)):
            learner.learn(decision, 1.0, features=X[0])
    assert learner.counts.rewards == 0
    learner.learn(choice, np.float32(0.5))
    learner.learn(choice, 1)
    assert learner.counts.rewards == 2
