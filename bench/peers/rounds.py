"""The recorded rounds that all systems play, and the files they are in.

Features are Gaussian directions of length 1, coefficients too, noise is 0.1. One draw serves two worlds:

* shared: each of the K actions has d features of its own, and one coefficient vector is behind all rewards;
* disjoint: a round has one context, the features of the first action, and each arm has coefficients of its own.
  The libraries with a model for each arm play this one: they cannot say the other.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

NOISE = 0.1
LOGGED = 1000  # logged rows, for the presets that use logs
MOST_ROUNDS = 20_000
MOST_BYTES = 128e6  # of features


@dataclass
class Rounds:
    """Shapes: features (n, K, d), rewards and means (n, K), logs (LOGGED, d) and (LOGGED,)."""

    features: Array
    rewards: dict[str, Array]  # by world
    log_features: Array
    log_rewards: Array  # of the shared world
    log_rewards_of_arms: Array  # of the disjoint one, whose arms follow each other in the logs
    means: dict[str, Array]  # without noise; not in the file

    @property
    def shape(self) -> tuple[int, int, int]:
        return self.features.shape

    def write(self, path: Path) -> None:
        """Numbers of 64 bits: n, K, d, LOGGED as integers; features, rewards, logs; rewards of the disjoint world, and logged."""
        parts = [self.features, self.rewards["shared"], self.log_features, self.log_rewards, self.rewards["disjoint"]]
        parts.append(self.log_rewards_of_arms)
        with open(path, "wb") as file:
            np.array([*self.shape, len(self.log_rewards)], "<u8").tofile(file)
            for part in parts:
                part.astype("<f8", copy=False).tofile(file)

    @staticmethod
    def read(path: Path) -> "Rounds":
        numbers = np.fromfile(path, "<f8")
        count, actions, dimension, logged = numbers[:4].view("<u8").tolist()
        shapes = [(count, actions, dimension), (count, actions), (logged, dimension), (logged,), (count, actions)]
        shapes.append((logged,))
        parts, start = [], 4
        for shape in shapes:
            parts.append(numbers[start : start + np.prod(shape)].reshape(shape))
            start += np.prod(shape)
        features, shared, log_features, log_rewards, disjoint, of_arms = parts
        return Rounds(features, {"shared": shared, "disjoint": disjoint}, log_features, log_rewards, of_arms, {})


def directions(rng: np.random.Generator, *shape: int) -> Array:
    """Gaussian directions of length 1."""
    x = rng.standard_normal(shape)
    x /= np.sqrt(np.einsum("...i,...i->...", x, x))[..., None]
    return x


def record(actions: int, dimension: int, seed: int, count: int | None = None) -> Rounds:
    """Draws rounds: as many as fit, unless a count is given."""
    rng = np.random.default_rng([seed, actions, dimension])
    count = count or int(np.clip(MOST_BYTES / (8 * actions * dimension), 20, MOST_ROUNDS))
    live, arms = directions(rng, dimension), directions(rng, actions, dimension)
    logged = live.copy()
    logged[:2] = live[1::-1]  # two coefficients have changed places since the logs were written
    features = directions(rng, count, actions, dimension)
    noise = NOISE * rng.standard_normal((count, actions))
    means = {"shared": features @ live, "disjoint": features[:, 0] @ arms.T}
    log_features = directions(rng, LOGGED, dimension)
    log_rewards = log_features @ logged + NOISE * rng.standard_normal(LOGGED)
    rewards = {world: mean + noise for world, mean in means.items()}
    # Two coefficients of every arm have changed places, too.
    logged_arms = arms.copy()
    logged_arms[:, :2] = arms[:, 1::-1]
    of_arms = np.einsum("nd,nd->n", log_features, logged_arms[np.arange(LOGGED) % actions])
    of_arms += NOISE * rng.standard_normal(LOGGED)
    return Rounds(features, rewards, log_features, log_rewards, of_arms, means)


def write_parquet(rounds: Rounds, online: Path, offline: Path, most_bytes: float = 90e6) -> int:
    """The shared world for the command line, one row an action; returns how many rounds fit into the file."""
    import pyarrow
    from pyarrow import parquet

    def write(path: Path, features: Array, columns: dict[str, NDArray]) -> None:
        columns |= {f"x{i}": column for i, column in enumerate(features.T)}
        parquet.write_table(pyarrow.table(columns), path, use_dictionary=False, compression="none")

    count, actions, dimension = rounds.shape
    count = max(1, min(count, int(most_bytes / (8 * actions * (dimension + 2)))))
    rows = rounds.features[:count].reshape(-1, dimension)
    numbers = np.repeat(np.arange(count), actions)
    write(online, rows, {"round": numbers, "reward": rounds.rewards["shared"][:count].ravel()})
    write(offline, rounds.log_features, {"reward": rounds.log_rewards})
    return count
