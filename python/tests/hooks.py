"""What schemathesis is told about the service: which bandits there are, and that what is refused changes nothing."""

import json
import os
import re
from collections import Counter
from pathlib import Path

import requests
import schemathesis

BANDITS = ["news", "list"]
state = {}
tried = {}


def look():
    address = os.environ["TRUENORTH_ADDRESS"]
    return [requests.get(f"{address}/v1/bandits/{name}", timeout=10).json() for name in BANDITS]


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    """Mostly bandits that are there; names that are wrong stay."""
    name = (path_parameters or {}).get("name")
    making = context.operation.method.upper() == "PUT"
    right = isinstance(name, str) and re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}", name)
    if right and len(name) % 3 and not making:
        path_parameters["name"] = BANDITS[len(name) % 2]
    return path_parameters


@schemathesis.check
def refused_changes_nothing(context, response, case):
    """A call that is refused leaves every bandit as it was."""
    answered = tried.setdefault((case.operation.method.upper(), case.operation.path), Counter())
    answered[response.status_code // 100] += 1
    Path(os.environ["TRUENORTH_TRIED"]).write_text(json.dumps([[*call, answers] for call, answers in tried.items()]))
    now = look()
    if response.status_code >= 400 and "known" in state:
        assert now == state["known"], "it was refused, but something has changed"
    state["known"] = now
