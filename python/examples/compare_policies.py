# %% [markdown]
# # Which policy for our data?
#
# With recorded rounds in which the reward of every action is known (or well estimated), policies can play against
# the record. `truenorth.compare` plays them in several orders and scores them: 0 is a uniform choice, 1 the best fixed
# linear policy in hindsight.
#
# Needs NumPy alone. Pictures go to the folder in the variable `OUT`, or to a temporary one.

# %%
import os
import tempfile
from pathlib import Path

import numpy as np

import truenorth

folder = Path(os.environ.get("OUT") or tempfile.mkdtemp())
rng = np.random.default_rng(3)

# %% [markdown]
# ## The data
#
# 400 live rounds of 6 actions with 8 features, and 3,000 logged rows. The logs are wrong about two of the features.

# %%
truth = rng.normal(size=8)
logged = truth.copy()
logged[[1, 4]] *= -1.0

Z = rng.normal(size=(3000, 8))
y = Z @ logged + rng.normal(size=3000)
X = rng.normal(size=(400, 6, 8))
rewards = X @ truth + rng.normal(size=(400, 6))

# %% [markdown]
# ## Logs that are half wrong
#
# `offline-only` believes the logs for ever, `warm-suplinucb` treats them as if they were live, `lin-ucb` and `lin-ts`
# have none. `truenorth` has to find out what they are worth.

# %%
POLICIES = ["truenorth", "truenorth-sampling", "lin-ucb", "lin-ts", "warm-suplinucb", "offline-only"]
biased = truenorth.compare((Z, y), (X, rewards), policies=POLICIES, seeds=4)
print("logs that are wrong about two of eight features:\n")
print(biased)

# %% [markdown]
# What it learned: the features that it stopped relying on are those that were turned around.

# %%
views = biased.learned("truenorth")
print("\nreliance by feature:", " ".join(f"{view.trust:.2f}" for view in views))

# %% [markdown]
# ## Logs that are right
#
# What does caution cost if it was not needed?

# %%
sound = truenorth.compare((Z, Z @ truth + rng.normal(size=3000)), (X, rewards), policies=POLICIES, seeds=4)
print("\nlogs that are right:\n")
print(sound)

# %% [markdown]
# ## The picture
#
# Reward above chance, round by round. `plot()` draws with matplotlib where that is installed.

# %%
biased.plot(own=True).save(folder / "compare.svg")
print(f"\nwritten: {folder / 'compare.svg'}")
