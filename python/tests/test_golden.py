"""Every recorded problem is decided as recorded: exactly, and bounds to 1e-8."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import truenorth

HERE = Path(__file__).parent
GOLDEN = HERE / "../../crates/cli/tests/golden"
SHARED = HERE / "../../../shared/golden"


def problems(folder):
    found = sorted(path for path in folder.glob("*") if (path / "problem.json").exists())
    return [pytest.param(path, id=path.name) for path in found]


def policy_of(folder):
    told = json.loads((folder / "problem.json").read_text())
    with open(folder / "offline.csv") as file:
        names, *rows = list(csv.reader(file))
    place = names.index("reward")
    rows = np.array(rows, dtype=float).reshape(len(rows), len(names))
    features, rewards = np.delete(rows, place, axis=1), rows[:, place]
    offline = truenorth.summarize(features, rewards) if len(rows) else None
    certificate = told.pop("certificate", None)
    if isinstance(certificate, str):
        certificate = truenorth.Certificate.load(folder / certificate, [n for n in names if n != "reward"])
    elif certificate is None:
        certificate = "none"
    elif certificate["kind"] == "fixed":
        certificate = truenorth.Certificate.from_matrix(certificate["matrix"], certificate["rho"])
    elif certificate["kind"] == "learned":
        certificate = certificate.get("epochs") or "learned"
    else:
        certificate = certificate["kind"]
    explore = told.pop("explore", "ucb")
    if isinstance(explore, dict):
        explore = explore["epsilon"]
    # The preset only gives what the problem leaves out: width `confidence` and a scale of 1.
    return truenorth.Policy(
        "oful",
        dimension=len(names) - 1,
        certificate=certificate,
        explore=explore,
        offline=offline,
        **{"pooling": "full", **told},
    )


def check(folder):
    policy = policy_of(folder)
    rounds = (folder / "rounds.jsonl").read_text().splitlines()
    expected = (folder / "expected.jsonl").read_text().splitlines()
    assert len(rounds) == len(expected) > 0
    for line, answer in zip(rounds, expected):
        line, answer = json.loads(line), json.loads(answer)
        choice = policy.choose(line["actions"])
        reward = line["rewards"][choice.action]
        if reward is not None:
            policy.learn(choice, reward)
        found = {
            "round": choice.round,
            "action": choice.action,
            "layer": choice.layer,
            "branch": choice.branch,
            "reward": reward,
            "candidates": choice.candidates,
            "conflicts": choice.conflicts,
        }
        bounds = [answer.pop("ucb"), answer.pop("lcb")]
        assert found == answer
        np.testing.assert_allclose([choice.ucb, choice.lcb], bounds, rtol=1e-8, atol=0)


@pytest.mark.parametrize("folder", problems(GOLDEN))
def test_recorded_problems_are_decided_as_recorded(folder):
    check(folder)


def test_there_are_recorded_problems():
    assert len(problems(GOLDEN)) >= 36


@pytest.mark.skipif(not SHARED.is_dir(), reason="there is no folder of problems beside the project")
def test_recorded_problems_beside_the_project_are_decided_as_recorded():
    for folder in SHARED.iterdir():
        check(folder)
