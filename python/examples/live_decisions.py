# %% [markdown]
# # From a log to a live decision
#
# A table as people have it, with names and words in it: which article was shown to whom, when, at which price, and
# whether it was read. Out of it comes a bandit that takes raw values and answers with an article. NumPy is enough; the
# log could as well be a CSV file, a data frame of pandas or polars, or an Arrow table.

# %%
import os
import tempfile
from pathlib import Path

import numpy as np

import truenorth

folder = Path(os.environ.get("OUT") or tempfile.mkdtemp())
rng = np.random.default_rng(2)

USERS, TIMES = ["Tom", "Anna"], ["morning", "afternoon"]
ARTICLES = ["politics", "sports", "music", "food"]
LIKED = {("Tom", "morning"): "politics", ("Tom", "afternoon"): "music", ("Anna", "morning"): "sports"}


def read(user: str, time: str, article: str, price: float) -> float:
    """Whether an article is read: the user and the time of day decide."""
    chance = 0.8 if LIKED.get((user, time), "food") == article else 0.2
    return float(rng.random() < chance - 0.1 * price)


log = {
    "user": rng.choice(USERS, 3000),
    "time": rng.choice(TIMES, 3000),
    "item": rng.choice(ARTICLES, 3000),
    "price": rng.uniform(0, 2, 3000).round(2),
}
log["reward"] = np.array([read(*row) for row in zip(*log.values())])

# %% [markdown]
# ## Which features
#
# A formula says it. `user` and `time` alone are the same for every article of a visit: they cannot change a choice, and
# you are told so. What decides is which article goes with whom and when: `user:time:item`. The columns that belong to
# the action are named, its id first.

# %%
logs = truenorth.summarize(log, model="price + user:time:item", reward="reward", action=["item", "price"])
print(logs)

# %% [markdown]
# Without a model one is made from the data, as a start:

# %%
print("made from the data:", truenorth.summarize(log, reward="reward", action=["item", "price"]).model)

# %% [markdown]
# ## Decide
#
# Contexts and actions are dictionaries here. Rows and frames of pandas and polars, and JSON text, do as well.

# %%
bandit = truenorth.Bandit(logs)
actions = [{"id": article, "price": 1.0} for article in ARTICLES]
for user in USERS:
    for time in TIMES:
        choice = bandit.choose({"user": user, "time": time}, actions)
        print(f"{user:5} {time:10} {choice.id:9} {choice.lcb:.2f} .. {choice.ucb:.2f}")

# %% [markdown]
# ## Learn
#
# A reward comes back by the id of its decision, whenever it comes, and once only: also after a restart, since open
# decisions are part of the state. An article that was never logged joins by itself.

# %%
due = []
for visit in range(1000):
    user, time = rng.choice(USERS), rng.choice(TIMES)
    offered = [*actions, {"id": "comics", "price": 0.5}] if visit >= 300 else actions
    choice = bandit.choose({"user": user, "time": time}, offered)
    due.append((choice.decision_id, read(user, time, choice.id, 1.0)))
    if len(due) > 20:
        bandit.learn(*due.pop(0))
    if visit == 500:
        bandit.save(folder / "bandit.tn")
        bandit = truenorth.Bandit.load(folder / "bandit.tn")
        print(f"\nrestarted after {visit} visits, {bandit.counts.open} decisions still wait for their reward")
try:
    bandit.learn(choice.decision_id, 1.0)
    bandit.learn(choice.decision_id, 1.0)
except truenorth.BanditError as error:
    print(f"refused: {error.code}")
print(f"{bandit.counts.decisions} decisions, mean reward {bandit.counts.mean_reward:.2f}, joined: {bandit.joined[0]}, ...")

# %% [markdown]
# ## What it knows

# %%
rows = bandit.encode({"user": "Tom", "time": "morning"}, actions)  # as the policy sees them, with names
print(f"\n{len(list(rows))} features; the first of them:")
print(truenorth.Features(bandit.features[:4]))
