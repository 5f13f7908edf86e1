# %% [markdown]
# # truenorth under other libraries' names
#
# Each adapter in a few lines. None of the other libraries is needed to run this; docs/adapters.md shows them together.

# %%
import numpy as np

from truenorth.adapters import MAB, Bandit, BanditRegressor, OpenBanditPolicy, summary_from_bandit_feedback

rng = np.random.default_rng(5)
ARMS = ["mail", "phone", "visit"]
truth = rng.normal(size=(3, 4))
drifted = truth + np.array([[1.5, 0, 0, 0], [0, 0, 0, 0], [0, 0, -1.5, 0]])


def rounds(count: int, coefficients: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Arms by chance, their rewards, and the contexts."""
    contexts, places = rng.normal(size=(count, 4)), rng.integers(3, size=count)
    return places, (contexts * coefficients[places]).sum(axis=1) + 2 * rng.normal(size=count), contexts


old_places, old_rewards, old_contexts = rounds(5000, drifted)  # logs, wrong about two of twelve coefficients
places, rewards, contexts = rounds(100, truth)  # a little live data
test = rng.normal(size=(1000, 4))


def worth(chosen: list[int]) -> str:
    means = test @ truth.T
    return f"{means[range(1000), chosen].sum() / means.max(axis=1).sum():.0%} of the best"


# %% [markdown]
# ## MABWiser
#
# `fit`, `partial_fit`, `predict`, `predict_expectations`, `add_arm`, `remove_arm`; `warm_start` takes logs.

# %%
cold = MAB(ARMS).fit([ARMS[place] for place in places], rewards, contexts)
warm = MAB(ARMS).warm_start([ARMS[place] for place in old_places], old_rewards, old_contexts)
warm.fit([ARMS[place] for place in places], rewards, contexts)
for name, mab in (("without logs", cold), ("with logs", warm)):
    print(f"MABWiser-style, {name}: {worth([ARMS.index(arm) for arm in mab.predict(test)])}")
print("  expected rewards:", {arm: round(mean, 2) for arm, mean in warm.predict_expectations(test[0]).items()})
wrong = [name for name, view in zip(warm.logs_.names, warm.policy_.features) if view.trust < 0.1]
print("  no longer relied on:", ", ".join(wrong))

# %% [markdown]
# ## River
#
# `pull` and `update`; contexts are dictionaries, arms and features may come as they will.

# %%
NAMES = ["age", "income", "visits", "hour"]
logs = [
    (ARMS, dict(zip(NAMES, context)), ARMS[place], reward)
    for place, reward, context in zip(old_places, old_rewards, old_contexts)
]
bandit, total = Bandit(logs=logs), 0.0
for values in rng.normal(size=(300, 4)):
    context = dict(zip(NAMES, values))
    arm = bandit.pull(ARMS, context)
    reward = float(truth[ARMS.index(arm)] @ values + 2 * rng.normal())
    bandit.update(arm, context, reward)
    total += reward
print(f"River-style: mean reward {total / 300:.2f} in 300 rounds, best arm on average {bandit.ranking[0]}")

# %% [markdown]
# ## Open Bandit Pipeline
#
# `select_action` and `update_params` for its simulator; its logged feedback becomes a summary.

# %%
feedback = {"n_actions": 3, "context": old_contexts, "action": old_places, "reward": old_rewards}
policy = OpenBanditPolicy(dim=4, n_actions=3, offline=summary_from_bandit_feedback(feedback))
for place, reward, context in zip(places, rewards, contexts):
    policy.update_params(action=place, reward=reward, context=context[None, :])
chosen = [int(policy.select_action(context[None, :])[0]) for context in test]
print(f"Open Bandit-style: {worth(chosen)} after {policy.n_trial} rewards")

# %% [markdown]
# ## scikit-learn
#
# The regression behind a policy as an estimator, for pipelines, searches and cross-validation.

# %%
X = rng.normal(size=(200, 3))
y = X @ [1.0, -2.0, 0.5] + 4.0 + rng.normal(size=200)
model = BanditRegressor().fit(X[:100], y[:100])
print(f"scikit-learn-style: score {model.score(X[100:], y[100:]):.2f} on rows it has not seen")
