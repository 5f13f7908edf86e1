"""Clients of the retired Personalizer service, unchanged but for their endpoint."""

import json
import random
import shutil
import subprocess
from pathlib import Path

import pytest
from adapter_problem import foreign
from service import binary, call, serving

TOPICS = ["news", "sport", "music", "food"]
# Its libraries are no longer kept up with new versions of Python.
pytestmark = pytest.mark.filterwarnings("ignore")


def world(rounds, seed):
    """Visitors and the topic that each of them likes: device and age decide."""
    dice = random.Random(seed)
    for _ in range(rounds):
        mobile, young = dice.random() < 0.4, dice.random() < 0.5
        user = {"device": "mobile" if mobile else "desktop", "age": "young" if young else "old"}
        yield user, TOPICS[2 * mobile + young]


def dsjson(path, rounds):
    """Logs of the same world as Personalizer wrote them, with actions shown at random."""
    dice = random.Random(5)
    with open(path, "w") as file:
        for number, (user, best) in enumerate(world(rounds, 2)):
            shown = dice.randrange(4)
            order = [shown + 1, *(place + 1 for place in range(4) if place != shown)]
            actions = [{"_tag": topic, "i": {"constant": 1, "id": topic}, "j": [{"topic": topic}]} for topic in TOPICS]
            event = {
                "_label_cost": -float(TOPICS[shown] == best), "_label_probability": 0.25, "_label_Action": shown + 1,
                "_labelIndex": shown, "Timestamp": "2026-05-01T12:00:00.0000000Z", "Version": "1", "EventId": f"e{number}",
                "a": order, "c": {"FromUrl": [{"user": user}], "_multi": actions}, "p": [0.25] * 4, "VWState": {"m": "x/y"},
            }  # fmt: skip
            file.write(json.dumps(event) + "\n")


def play(address, rounds):
    """Ranks and rewards by its client for Python; which rankings were right."""
    foreign("azure.cognitiveservices.personalizer")
    from azure.cognitiveservices.personalizer import PersonalizerClient
    from azure.cognitiveservices.personalizer.models import RankableAction, RankRequest
    from msrest.authentication import CognitiveServicesCredentials

    client = PersonalizerClient(f"{address}/bandits/topics", CognitiveServicesCredentials("secret-key"))
    actions = [RankableAction(id=topic, features=[{"topic": topic}]) for topic in TOPICS]
    right = []
    for number, (user, best) in enumerate(world(rounds, 1)):
        request = RankRequest(actions=actions, context_features=[{"user": user}], event_id=f"visit-{number}")
        ranked = client.rank(rank_request=request)
        assert ranked.event_id == f"visit-{number}" and len(ranked.ranking) == 4
        right.append(ranked.reward_action_id == best)
        client.events.reward(event_id=ranked.event_id, value=float(right[-1]))
    return right


def test_its_client_for_python_learns_what_device_and_age_decide(tmp_path):
    with serving(tmp_path / "data", "--token", "secret-key", "--bandit", "topics=topic:(1 + user.*)") as address:
        right = play(address, 800)
    print(f"{sum(right[-300:])} of the last 300 right")
    assert sum(right[-300:]) >= 240


def test_its_logs_are_a_head_start(tmp_path):
    dsjson(tmp_path / "logs.json", 2000)
    command = [binary(), "summarize", "logs.json", "--format", "dsjson", "--model", "j.topic:(1 + FromUrl.user.*)", "-o", "logs.tn"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    subprocess.run([binary(), "audit", "logs.tn"], cwd=tmp_path, check=True, capture_output=True)
    with serving(tmp_path / "data", "--token", "secret-key", "--bandit", f"topics={tmp_path}/logs.tn") as address:
        right = play(address, 100)
    print(f"{sum(right)} of the first 100 right")
    assert sum(right) >= 80


def test_its_client_for_javascript_works_too(tmp_path):
    if not shutil.which("npm") or not shutil.which("node"):
        pytest.skip("there is no npm")
    install = ["npm", "install", "--no-audit", "--no-fund", "--silent", "@azure-rest/ai-personalizer@1.0.0-beta.1"]
    if subprocess.run(install, cwd=tmp_path, capture_output=True, timeout=120, check=False).returncode:
        pytest.skip("npm cannot fetch @azure-rest/ai-personalizer")
    with serving(tmp_path / "data", "--bandit", "topics=topic:(1 + user.*)") as address:
        script = Path(__file__).with_name("personalizer.mjs")
        command = ["node", str(script), f"{address}/bandits/topics", "secret-key", "300"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        right = json.loads(done.stdout)
        counts = call(address, "GET", "/v1/bandits/topics")
    assert (counts["decisions"], counts["rewards"]) == (300, 300)
    print(f"{sum(right[-100:])} of the last 100 right")
    assert sum(right[-100:]) >= 80
