"""Keeps the fits of a large bandit going: decides and pays without a pause. large.py URL FEATURES SECONDS"""

import http.client
import json
import random
import sys
import time

url, features, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
connection = http.client.HTTPConnection(url.removeprefix("http://"))
random.seed(1)


def call(method, path, body):
    connection.request(method, path, json.dumps(body), {"content-type": "application/json"})
    answer = connection.getresponse()
    text = answer.read()
    assert answer.status < 300, (answer.status, text)
    return json.loads(text)


call("PUT", "/v1/bandits/large", {"dimension": features})
rounds, end = 0, time.time() + seconds
while time.time() < end:
    actions = [{"features": [round(random.random(), 3) for _ in range(features)]} for _ in range(3)]
    asked = {"decisions": [{"actions": actions} for _ in range(20)]}
    decided = call("POST", "/v1/bandits/large/decisions:batch", asked)["decisions"]
    paid = [{"decision_id": one["decision_id"], "reward": random.random()} for one in decided]
    call("POST", "/v1/bandits/large/rewards", paid)
    rounds += len(paid)
print(rounds, "rounds of the large bandit")
