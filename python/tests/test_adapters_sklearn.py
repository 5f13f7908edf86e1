"""Parameters and estimators with scikit-learn's own tools."""

import copy
import pickle

import numpy as np
import pytest
from adapter_problem import ARMS, Problem, foreign

import truenorth
from truenorth.adapters import MAB, Bandit, BanditRegressor, OpenBanditPolicy

base = foreign("sklearn.base")
selection = foreign("sklearn.model_selection")
pipeline = foreign("sklearn.pipeline")
preprocessing = foreign("sklearn.preprocessing")


def data(count, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 3))
    return X, X @ [1.0, -2.0, 0.5] + 4.0 + rng.normal(size=count)


@pytest.mark.parametrize(
    "made",
    [
        MAB(ARMS, "lin-ts", seed=3, arm_features={arm: [1.0, place] for place, arm in enumerate(ARMS)}),
        BanditRegressor("lin-ucb", noise=0.5),
        OpenBanditPolicy(2, 3, random_state=5, certificate=truenorth.Certificate.isotropic(9, 0.1)),
        Bandit("truenorth-sampling", features=["a"], seed=2),
    ],
    ids=lambda made: type(made).__name__,
)
def test_clones_have_the_same_parameters_and_none_of_the_data(made):
    other = base.clone(made)
    assert type(other) is type(made) and other is not made
    assert repr(other) == repr(made) and set(other.get_params()) == set(made.get_params())


def test_clones_forget_and_copies_do_not():
    X, y = data(50)
    model = BanditRegressor().fit(X, y)
    fresh = base.clone(model)
    with pytest.raises(ValueError, match="nothing was fitted yet"):
        fresh.predict(X)
    for same in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(same.predict(X), model.predict(X))


def test_the_regressor_works_in_pipelines_searches_and_cross_validation():
    X, y = data(300)
    steps = pipeline.make_pipeline(preprocessing.StandardScaler(), BanditRegressor())
    scores = selection.cross_val_score(steps, X, y, cv=5)
    assert scores.mean() > 0.75
    search = selection.GridSearchCV(BanditRegressor(), {"policy": ["lin-ucb", "truenorth"], "intercept": [True, False]})
    search.fit(X, y)
    assert search.best_params_["intercept"] and search.best_score_ == pytest.approx(scores.mean(), abs=0.02)
    assert base.is_regressor(BanditRegressor())


def test_logs_help_a_regression_on_few_rows():
    Z, logged = data(3000, seed=1)
    logs = truenorth.summarize(np.insert(Z, 0, 1.0, axis=1), logged + 3.0 * Z[:, 2])  # wrong about the third feature
    X, y = data(40, seed=2)
    test, paid = data(2000, seed=3)
    cold, warm = BanditRegressor().fit(X, y), BanditRegressor(offline=logs).fit(X, y)
    trusting = np.linalg.lstsq(np.insert(Z, 0, 1.0, axis=1), logged + 3.0 * Z[:, 2], rcond=None)[0]
    blind = 1 - np.mean((paid - np.insert(test, 0, 1.0, axis=1) @ trusting) ** 2) / paid.var()
    print(f"scikit-learn: logs alone {blind:.3f}, cold {cold.score(test, paid):.3f}, warm {warm.score(test, paid):.3f}")
    assert warm.score(test, paid) > cold.score(test, paid) > blind
    assert [feature.trust < 0.1 for feature in warm.policy_.features] == [False, False, False, True]


def test_scores_and_parts_agree_with_theirs():
    X, y = data(100)
    model = BanditRegressor().partial_fit(X[:50], y[:50]).partial_fit(X[50:], y[50:])
    whole = BanditRegressor().fit(X, y)
    np.testing.assert_allclose(model.predict(X), whole.predict(X))
    assert model.score(X, y) == pytest.approx(foreign("sklearn.metrics").r2_score(y, model.predict(X)))
    assert model.n_features_in_ == 3


def test_settings_change_by_name_and_others_are_refused():
    model = BanditRegressor().set_params(policy="lin-ts", seed=4)
    assert model.get_params() == {"policy": "lin-ts", "offline": None, "intercept": True, "seed": 4}
    with pytest.raises(TypeError, match="BanditRegressor has no parameter 'colour'; the names are policy, "):
        BanditRegressor(colour=1)
    mab = MAB(ARMS).fit(*Problem().rows(20))
    mab.set_params(exploration_scale=0.5)
    assert mab.get_params()["exploration_scale"] == 0.5 and base.clone(mab).arms == ARMS


def test_the_regressor_passes_every_check_of_scikit_learn():
    checks = foreign("sklearn.utils.estimator_checks")
    for model in (BanditRegressor(), BanditRegressor("lin-ucb", intercept=False, noise=0.5)):
        # It needs nothing but NumPy, so it cannot be a subclass of theirs.
        with pytest.warns(UserWarning, match="does not inherit from `sklearn.base.BaseEstimator`"):
            done = checks.check_estimator(model, on_fail=None, on_skip=None)
        assert [check["check_name"] for check in done if check["status"] == "failed"] == []
        assert sum(check["status"] == "passed" for check in done) > 45
