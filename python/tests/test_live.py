"""What another policy would have earned, and whether the live world has moved on."""

import json
import pickle

import numpy as np
import pytest

import truenorth


def write_events(path, count, seed=0, moved_at=None, probability=True):
    """A uniform log of two articles in two segments."""
    rng = np.random.default_rng(seed)
    with open(path, "w") as file:
        for t in range(count):
            segment, action = rng.choice(["student", "worker"]), rng.choice(["news", "sport"])
            rate = 0.7 if (segment == "student") == (action == "news") else 0.2
            if moved_at is not None and t >= moved_at and segment == "student" and action == "news":
                rate = 0.1
            event = {
                "context": {"segment": segment},
                "actions": [{"id": "news", "wanted": 0.25}, {"id": "sport", "wanted": 0.75}],
                "action": action,
                "reward": float(rng.random() < rate),
            }
            if probability:
                event["probability"] = 0.5
            file.write(json.dumps(event) + "\n")
    return path


def test_a_policy_that_learns_earns_what_the_best_action_pays(tmp_path):
    path = write_events(tmp_path / "events.jsonl", 3000)
    uniform = truenorth.evaluate(path, "uniform")
    assert uniform.trusted and abs(uniform.dr["value"] - 0.45) < 0.04
    assert abs(uniform.ips["value"] - uniform.logged["value"]) < 1e-12
    learner = truenorth.evaluate(path, "truenorth", model="segment:id")
    assert learner.dr["lower"] < 0.7 < learner.dr["upper"] + 0.05
    assert learner.dr["value"] > uniform.dr["upper"]
    given = truenorth.evaluate([path], "field:wanted")
    assert given.policy == "field:wanted" and abs(given.dr["value"] - 0.45) < 0.05


def test_a_summary_makes_a_policy_that_stays(tmp_path):
    path = write_events(tmp_path / "events.jsonl", 2000)
    logs = truenorth.summarize(path, model="segment:id")
    found = truenorth.evaluate(path, "offline-only", summary=logs)
    assert abs(found.dr["value"] - 0.7) < 0.05
    frozen = truenorth.evaluate(path, "warm-greedy", summary=logs, frozen=True)
    assert frozen.policy == "warm-greedy (frozen)"
    with pytest.raises(ValueError, match="made from logs alone: name their `summary`"):
        truenorth.evaluate(path, "offline-only")


def test_a_log_without_probabilities_says_so_with_its_place(tmp_path):
    path = write_events(tmp_path / "events.jsonl", 10, probability=False)
    with pytest.raises(ValueError, match=r"events\.jsonl, line 1: the event has no `probability`"):
        truenorth.evaluate(path, "uniform")


def test_numbers_give_the_textbook_estimates():
    rng = np.random.default_rng(3)
    r, p, pi = rng.random(500), rng.uniform(0.1, 1, 500), rng.random(500)
    q, v = rng.random(500), rng.random(500)
    found = truenorth.off_policy(r, p, pi, predicted=q, predicted_target=v)
    w = pi / p
    assert abs(found.ips["value"] - np.mean(w * r)) < 1e-12
    assert abs(found.snips["value"] - np.sum(w * r) / np.sum(w)) < 1e-12
    assert abs(found.dr["value"] - np.mean(v + w * (r - q))) < 1e-12
    assert abs(found.direct - v.mean()) < 1e-12
    assert abs(found.effective_sample_size - w.sum() ** 2 / (w**2).sum()) < 1e-9
    with pytest.raises(ValueError, match="`probabilities` 1 is 0, but must be above 0 and at most 1"):
        truenorth.off_policy([1, 1], [1, 0], [1, 1])


def test_estimates_are_those_of_open_bandit_pipeline():
    ope = pytest.importorskip("obp.ope", reason="obp is not installed")
    rng = np.random.default_rng(5)
    n, actions = 300, 5
    logged = rng.dirichlet(np.ones(actions), n)
    taken = np.array([rng.choice(actions, p=row) for row in logged])
    target = rng.dirichlet(np.ones(actions), n)
    rewards, q = rng.random(n), rng.random((n, actions))
    rows = np.arange(n)
    told = {
        "reward": rewards,
        "action": taken,
        "pscore": logged[rows, taken],
        "action_dist": target[:, :, None],
        "position": np.zeros(n, dtype=int),
        "estimated_rewards_by_reg_model": q[:, :, None],
    }
    found = truenorth.off_policy(
        rewards,
        logged[rows, taken],
        target[rows, taken],
        predicted=q[rows, taken],
        predicted_target=(target * q).sum(axis=1),
    )
    for ours, theirs in [
        (found.ips["value"], ope.InverseProbabilityWeighting()),
        (found.snips["value"], ope.SelfNormalizedInverseProbabilityWeighting()),
        (found.direct, ope.DirectMethod()),
        (found.dr["value"], ope.DoublyRobust()),
    ]:
        assert abs(ours - theirs.estimate_policy_value(**told)) < 1e-9


def test_events_that_moved_are_found_and_others_are_not(tmp_path):
    still = write_events(tmp_path / "still.jsonl", 4000)
    moved = write_events(tmp_path / "moved.jsonl", 4000, moved_at=2500)
    assert not truenorth.monitor(still, model="0 + segment:id").moved
    watch = truenorth.monitor(moved, model="0 + segment:id")
    assert watch.moved and 2500 < watch.alarm < 3500
    names = [feature["name"] for feature in watch.features if feature["alarm"]]
    assert names == ["segment=student:id=news"]
    assert "moved in round" in repr(watch)
    with pytest.raises(TypeError, match="either `summary` or `model`"):
        truenorth.monitor(moved)


def test_a_monitor_goes_on_from_bytes_and_pickles():
    rng = np.random.default_rng(2)
    monitor = truenorth.Monitor(2)
    rows = rng.normal(size=(800, 2))
    rewards = rows @ [1.0, 0.0] + rng.normal(size=800)
    for x, reward in zip(rows[:400], rewards[:400]):
        monitor.observe(x, reward)
    other = pickle.loads(pickle.dumps(monitor))
    for x, reward in zip(rows[400:], rewards[400:]):
        monitor.observe(x, reward)
        other.observe_round(x[None, :], [reward])
    assert monitor.to_bytes() == other.to_bytes()
    assert monitor.watching and not monitor.moved and monitor.rounds == 800
    with pytest.raises(ValueError, match="not a monitor"):
        truenorth.Monitor.from_bytes(monitor.to_bytes()[:50])
    with pytest.raises(ValueError, match="`level` must be between 0 and 1, but is 2"):
        truenorth.Monitor(2, level=2)


def test_a_bandit_that_is_watched_says_when_the_world_moved():
    rng = np.random.default_rng(4)
    logs = truenorth.summarize({"item": ["a", "b"] * 50, "reward": [0.0, 0.1] * 50}, model="0 + item", reward="reward", action="item")
    bandit = truenorth.Bandit(logs, noise=1.0, norm_bound=2.0)
    assert bandit.watched is None
    bandit.watch()
    for t in range(1500):
        choice = bandit.choose({}, [{"id": "a"}, {"id": "b"}])
        bandit.learn(choice.decision_id, (2.0 if t >= 1000 else 0.0) + rng.normal())
    assert bandit.watched["moved"] and 1000 < bandit.watched["alarm"] < 1200
    assert truenorth.Bandit.from_bytes(bandit.to_bytes()).watched == bandit.watched
