"""Names of features travel: a data frame is matched by them, an array by its order."""

import copy
import pickle

import numpy as np
import pytest

import truenorth

NAMES = ["price", "age", "size"]
RNG = np.random.default_rng(3)
Z = RNG.normal(size=(2000, 3))
LOGS = truenorth.summarize(Z, Z @ [1.0, -0.5, 0.2] + 0.1 * RNG.normal(size=2000), names=NAMES)
X = RNG.normal(size=(5, 3))


def frames(columns=NAMES, rows=X):
    """The same rows in every library, with their columns in another order, and one more."""
    pandas, polars, arrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    table = {name: rows[:, place] for place, name in reversed(list(enumerate(columns)))}
    table["colour"] = np.full(len(rows), "red")
    return {"pandas": pandas.DataFrame(table), "polars": polars.DataFrame(table), "arrow": arrow.table(table)}


def test_a_frame_is_matched_by_name_whatever_the_order_of_its_columns():
    expected = truenorth.Policy(offline=LOGS)
    for name, frame in frames().items():
        policy = truenorth.Policy(offline=LOGS)
        np.testing.assert_array_equal(policy.intervals(frame).mean, expected.intervals(X).mean, err_msg=name)
        choice = policy.choose(frame)
        assert choice == copy.copy(expected).choose(X), name
        policy.learn(choice.decision, 1.0, features=frames()["pandas"].iloc[choice.action][NAMES[::-1]])
        policy.learn_row(dict(zip(NAMES[::-1], X[0, ::-1])), 0.25)
        policy.learn_row(pytest.importorskip("pandas").Series(X[0]), 0.5)
        policy.partial_fit(frame, np.arange(5.0))
        by_order = copy.copy(expected)
        by_order.learn(by_order.choose(X), 1.0)
        by_order.learn_row(X[0], 0.25)
        by_order.learn_row(X[0], 0.5)
        assert by_order.partial_fit(X, np.arange(5.0)) is by_order
        assert policy == by_order, name
    with pytest.raises(ValueError, match="there is no column for the feature 'price'; did you mean 'prize' to be it?"):
        expected.choose(frames(["prize", "age", "size"])["pandas"])


def test_the_intercept_of_a_frame_is_1():
    logs = truenorth.summarize(Z, Z @ [1.0, -0.5, 0.2], names=NAMES, intercept=True)
    policy = truenorth.Policy(offline=logs)
    assert policy.names == ["intercept", *NAMES]
    columns = {name: X[:, place].tolist() for place, name in enumerate(NAMES)}
    for frame in (*frames().values(), columns):
        np.testing.assert_array_equal(policy.intervals(frame).mean, policy.intervals(np.insert(X, 0, 1.0, axis=1)).mean)


def test_without_names_a_frame_is_taken_by_its_order():
    policy, pandas = truenorth.Policy(dimension=3), pytest.importorskip("pandas")
    assert policy.names is None and policy.features.names == ["x1", "x2", "x3"]
    assert policy.choose(pandas.DataFrame(X)) == truenorth.Policy(dimension=3).choose(X)


def test_names_are_shown_and_come_back(tmp_path):
    policy = truenorth.Policy(offline=LOGS)
    assert policy.features.names == NAMES and policy.features["age"].name == "age"
    assert policy.features["age"].estimate == pytest.approx(-0.5, abs=0.05)
    head, *rows = repr(policy.features).splitlines()
    assert head.split() == ["name", "estimate", "coverage", "drift", "stderr", "trust"]
    assert [row.split()[0] for row in rows] == NAMES
    assert repr(policy) == "Policy(dimension=3, features=[price, age, size], logged rows=2000, rounds=0, rewards=0)"
    assert list(policy.features.to_dict()["name"]) == NAMES
    policy.save(tmp_path / "policy.tn")
    for same in (
        truenorth.Policy.load(tmp_path / "policy.tn"),
        truenorth.Policy.from_bytes(policy.to_bytes()),
        pickle.loads(pickle.dumps(policy)),
        copy.deepcopy(policy),
    ):
        assert same == policy and same.names == NAMES
        np.testing.assert_array_equal(same.intervals(frames()["pandas"]).mean, policy.intervals(X).mean)
    damaged = policy.to_bytes().replace(b"price", b"prise")
    with pytest.raises(ValueError, match="the policy is damaged: its names cannot be read"):
        truenorth.Policy.from_bytes(damaged)
    assert pickle.loads(pickle.dumps(policy.features)).names == NAMES
    with pytest.raises(KeyError, match="there is no feature 'prize'; did you mean 'price'?"):
        policy.features["prize"]


def test_logs_may_be_named_by_their_file(tmp_path):
    LOGS.save(tmp_path / "logs.tn")
    for path in (tmp_path / "logs.tn", str(tmp_path / "logs.tn")):
        assert truenorth.Policy(offline=path) == truenorth.Policy(offline=LOGS)
    with pytest.raises(FileNotFoundError):
        truenorth.Policy(offline=tmp_path / "absent.tn")
    (tmp_path / "other.tn").write_text("no summary")
    with pytest.raises(ValueError, match="other.tn: this is no summary"):
        truenorth.Policy(offline=str(tmp_path / "other.tn"))


def test_a_policy_grows_and_takes_logs_by_name():
    policy = truenorth.Policy(offline=LOGS)
    policy.grow(5, names=["colour=red", "colour=blue"])
    assert policy.names == [*NAMES, "colour=red", "colour=blue"] and policy.dimension == 5
    np.testing.assert_allclose(policy.intervals(np.pad(X, ((0, 0), (0, 2)))).mean, truenorth.Policy(offline=LOGS).intervals(X).mean)
    order = [2, 0, 1]
    policy.add_logs(truenorth.summarize(Z[:, order], Z @ [1.0, -0.5, 0.2], names=[NAMES[place] for place in order]))
    assert policy.features["age"].estimate == pytest.approx(-0.5, abs=0.05)
    assert "logged rows=4000" in repr(policy)
    with pytest.raises(ValueError, match="the policy has no feature `prize`; did you mean `price`?"):
        policy.add_logs(truenorth.summarize(Z, Z[:, 0], names=["prize", "age", "size"]))
    for told, sentence in (
        ({"dimension": 6, "names": []}, "`names` must be 1, one for each new feature, but are 0"),
        ({"dimension": 6, "names": ["age"]}, "there is a feature `age` already"),
        ({"dimension": 10**6}, "`dimension` must be at most 5000, but is 1000000"),
        ({"dimension": 2}, "`dimension` must be at least the number of features so far, but is 2"),
        ({"dimension": 7, "names": ["new", "new"]}, "there is a feature `new` already"),
    ):
        with pytest.raises(ValueError, match=sentence):
            policy.grow(**told)
    assert policy.dimension == 5
    unnamed = truenorth.Policy(dimension=2)
    unnamed.grow(3)
    assert unnamed.names is None and unnamed.choose(X[:, :3]).action in range(5)
    unnamed.add_logs(LOGS)
    assert "logged rows=2000" in repr(unnamed)


def test_sparse_matrices_are_taken_as_they_are_or_refused():
    sparse = pytest.importorskip("scipy.sparse")
    dense = np.where(np.abs(X) > 0.5, X, 0.0)
    expected = truenorth.Policy(offline=LOGS).intervals(dense).mean
    for form in (sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
        np.testing.assert_array_equal(truenorth.Policy(offline=LOGS).intervals(form(dense)).mean, expected)
        assert truenorth.summarize(form(Z), Z[:, 0], names=NAMES) == truenorth.summarize(Z, Z[:, 0], names=NAMES)
    with pytest.raises(ValueError, match=r"X must have shape \(K, 3\), but has shape \(5, 2\)"):
        truenorth.Policy(offline=LOGS).choose(sparse.csr_matrix(dense[:, :2]))
    with pytest.raises(ValueError, match="too much to copy"):
        truenorth.Policy(offline=LOGS).choose(sparse.csr_matrix((10**9, 3)))
    with pytest.raises(ValueError, match="too much to copy"):
        truenorth.Policy(offline=LOGS, sparse=True).choose(sparse.csr_matrix((10**9, 3)))


def test_scikit_learn_may_make_the_rows():
    """The other way: a transformer makes rows of numbers, and names go along."""
    compose, preprocessing = pytest.importorskip("sklearn.compose"), pytest.importorskip("sklearn.preprocessing")
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    table = pandas.DataFrame({"item": rng.choice(["news", "sport"], 500), "price": rng.uniform(size=500)})
    table["reward"] = (table["item"] == "sport") - 0.5 * table["price"] + 0.1 * rng.normal(size=500)
    encode = compose.ColumnTransformer(
        [("item", preprocessing.OneHotEncoder(sparse_output=False), ["item"]), ("price", "passthrough", ["price"])],
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    rows = encode.fit_transform(table)
    policy = truenorth.Policy(offline=truenorth.summarize(rows, table["reward"]))
    assert policy.names == ["item_news", "item_sport", "price"]
    actions = pandas.DataFrame({"price": [0.5, 0.5], "item": ["news", "sport"]})
    assert policy.choose(encode.transform(actions)).action == 1


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        ({"preset": "truenort"}, '; did you mean "truenorth"?'),
        ({"layering": "flt"}, '; did you mean "flat"?'),
        ({"schedule": "anytim"}, '; did you mean "anytime"?'),
    ],
)
def test_misspelled_values_are_recognised(told, sentence):
    with pytest.raises(ValueError) as refused:
        truenorth.Policy(dimension=2, **told)
    assert str(refused.value).endswith(sentence)
