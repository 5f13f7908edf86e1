# %% [markdown]
# # A decision loop
#
# A small service in one process: decisions now, rewards later, out of order, or never; a restart in between. Nothing
# but NumPy is needed. (`truenorth serve` is the real thing, over HTTP.)

# %%
import json
import os
import tempfile
from pathlib import Path

import numpy as np

import truenorth

folder = Path(os.environ.get("OUT") or tempfile.mkdtemp())
rng = np.random.default_rng(11)

# %% [markdown]
# ## A world
#
# Three banners for each visitor. A banner's features are made of the visitor's. The logs are from another season.

# %%
TRUTH = np.array([0.6, -0.3, 0.4, 0.2])
LOGGED = np.array([0.6, 0.5, 0.4, 0.2])

Z = rng.normal(size=(5000, 4))
logs = truenorth.summarize(Z, Z @ LOGGED + 0.5 * rng.normal(size=5000), names=["age", "hour", "price", "size"])


def visit() -> np.ndarray:
    return rng.normal(size=(3, 4))


# %% [markdown]
# ## The service
#
# To learn from a late reward, a decision's round and layer and the features of the chosen action are enough. They are
# plain numbers, so that they can wait in any database; here it is a dictionary, and a file at shutdown.


# %%
class Service:
    def __init__(self, policy: truenorth.Policy) -> None:
        self.policy = policy
        self.waiting: dict[str, tuple[list[int], list[float]]] = {}

    def decide(self, key: str, X: np.ndarray) -> int:
        choice = self.policy.choose(X)
        self.waiting[key] = list(choice.decision), choice.features.tolist()
        return choice.action

    def reward(self, key: str, value: float) -> bool:
        waiting = self.waiting.pop(key, None)  # the same reward twice counts once
        if waiting is None:
            return False
        (round, layer), features = waiting
        self.policy.learn((round, layer), value, features=features)
        return True

    def save(self, folder: Path) -> None:
        self.policy.save(folder / "policy.tn")
        (folder / "waiting.json").write_text(json.dumps(self.waiting))

    @classmethod
    def load(cls, folder: Path) -> "Service":
        service = cls(truenorth.Policy.load(folder / "policy.tn"))
        service.waiting = json.loads((folder / "waiting.json").read_text())
        return service


# %% [markdown]
# ## A day
#
# A reward comes after up to 30 visits, one in ten never comes, and in the middle the service is restarted.

# %%
service = Service(truenorth.Policy("truenorth", offline=logs))
due: list[tuple[int, str, float]] = []
earned = best = chance = 0.0
for number in range(1000):
    X = visit()
    action = service.decide(f"visit-{number}", X)
    means = X @ TRUTH
    earned, best, chance = earned + means[action], best + means.max(), chance + means.mean()
    if rng.random() < 0.9:
        value = float(means[action] + 0.5 * rng.normal())
        due.append((number + int(rng.integers(30)), f"visit-{number}", value))
    for item in [item for item in due if item[0] <= number]:
        due.remove(item)
        service.reward(item[1], item[2])
    if number == 500:
        service.save(folder)
        again = Service.load(folder)
        assert again.policy == service.policy  # bit for bit
        service = again
        print(f"restarted after {number} visits, {len(service.waiting)} decisions still wait for their reward")

counts = service.policy.counts
print(f"{counts.rounds} decisions, {counts.rewards} rewards, {len(service.waiting)} never came or are on their way")
print(f"earned {earned:.0f}: {(earned - chance) / (best - chance):.0%} of what there was between chance and the best")

# %% [markdown]
# ## What it knows
#
# The hour has turned from a plus into a minus since the logs; the rest of them is still of use.

# %%
print("\nfeature  estimate  drift  reliance")
for name, view in zip(logs.names, service.policy.features):
    print(f"{name:7} {view.estimate:9.2f} {view.drift:6.2f} {view.trust:9.0%}")

# %% [markdown]
# And why it decided as it did:

# %%
choice, story = service.policy.choose_explained(visit())
print(f"\n{story}")
