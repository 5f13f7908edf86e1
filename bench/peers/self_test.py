"""Checks of the harness: ranges, agreement, the same rewards for all."""

import importlib.metadata
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from play import block
from rounds import NOISE, Rounds, record
from systems import RIDGE, SYSTEMS, NumbaLinUcb, NumpyLinUcb


def installed(package: str) -> bool:
    try:
        importlib.metadata.version(package)
        return True
    except importlib.metadata.PackageNotFoundError:
        return False


def run(example: Path, count: int = 200) -> None:
    rounds = record(7, 6, seed=3, count=count)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rounds.bin"
        rounds.write(path)
        again = Rounds.read(path)
        for name in ("features", "log_features", "log_rewards"):
            assert np.array_equal(getattr(rounds, name), getattr(again, name)), name
        for world, rewards in rounds.rewards.items():
            assert np.array_equal(rewards, again.rewards[world]), world
        print("the file gives back what was written")
        played = subprocess.run([example, path, "lin-ucb", "1"], capture_output=True, text=True, check=True)
        ours = json.loads(played.stdout)["actions"]
    assert len(ours) == count and all(0 <= action < 7 for action in ours)

    assert np.allclose(np.linalg.norm(rounds.features, axis=-1), 1.0)
    noise = [rounds.rewards[world] - rounds.means[world] for world in ("shared", "disjoint")]
    assert np.allclose(*noise), "the two worlds differ in noise"

    for name, kind in SYSTEMS.items():
        if not installed(kind.package):
            print(f"{name}: {kind.package} is not installed", file=sys.stderr)
            continue
        system = kind(rounds)
        actions: list[int] = []
        for start in range(0, count, 50):
            actions += block(system, rounds, start, start + 50)[1]
        assert len(actions) == count and all(0 <= action < 7 for action in actions), name
        means = rounds.means[kind.world]
        score = (means[np.arange(count), actions] - means.mean(1)).sum() / (means.max(1) - means.mean(1)).sum()
        assert score > 0.15, f"{name} learned nothing: {score:.2f}"
        print(f"{name}: all actions in range, score {score:.2f}")

    numpy_system, numba_system = NumpyLinUcb(rounds), NumbaLinUcb(rounds)
    plain = block(numpy_system, rounds, 0, count)[1]
    assert plain == block(numba_system, rounds, 0, count)[1], "NumPy and numba played different actions"
    worst = np.abs(numpy_system.estimate - numba_system.estimate).max()
    assert worst < 1e-9, f"estimates of NumPy and numba differ by {worst:.1e}"
    print(f"NumPy and numba: the same actions, estimates differ by {worst:.1e}")

    same, same_plain = follow(rounds, ours), np.mean(np.array(ours) == np.array(plain))
    assert same > 0.99, f"our lin-ucb follows its formula in {same:.1%} of the rounds only"
    print(f"our lin-ucb: its own formula in {same:.1%} of the rounds, plain LinUCB's action in {same_plain:.1%}")
    print("self-test passed")


def follow(rounds: Rounds, actions: list[int]) -> float:
    """Share of the actions with the largest index, after the same past.

    Our index is LinUCB's with a wider radius for what play has long left alone. In the first round, all are equal.
    """
    dimension = rounds.shape[2]
    precision, moment, same = RIDGE * np.eye(dimension), np.zeros(dimension), []
    for t, action in enumerate(actions):
        x = rounds.features[t]
        square = (x * np.linalg.solve(precision, x.T).T).sum(1)
        neglect = np.maximum((t + 1) / dimension * square / (1.0 + square), 1.0)
        index = x @ np.linalg.solve(precision, moment) + NOISE * np.sqrt(square * (1.0 + 2.0 * np.log(neglect)))
        same.append(index[action] > index.max() - 1e-9)
        precision += np.outer(x[action], x[action])
        moment += rounds.rewards["shared"][t, action] * x[action]
    return float(np.mean(same))
