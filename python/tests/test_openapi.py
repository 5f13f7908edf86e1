"""The service keeps to its OpenAPI document, whatever is sent."""

import json
import os
import subprocess
import sys
from pathlib import Path

from adapter_problem import foreign
from service import call, serving

# A formula that is a text but no formula may be refused, and a method that nobody knows is a call that nobody knows.
EXCLUDED = "positive_data_acceptance,unsupported_method"

# Of several decisions each is refused by itself, so that the call works.
SEVERAL = """
[[operations]]
include-operation-id = "decideMany"
checks.negative_data_rejection.enabled = false
"""
# The document's example of a bandit has the name of one that is there, and is another; a state; a policy that has seasons; logs.
NEEDS_MORE = {
    ("PUT", "/v1/bandits/{name}"),
    ("PUT", "/v1/bandits/{name}/snapshot"),
    ("POST", "/v1/bandits/{name}/renew"),
    ("GET", "/v1/bandits/{name}/audit"),
}


def test_schemathesis_finds_nothing(tmp_path):
    foreign("schemathesis")
    (tmp_path / "schemathesis.toml").write_text(SEVERAL)
    with serving(tmp_path / "data") as address:
        call(address, "PUT", "/v1/bandits/news", {"model": "item:(1 + hour)", "policy": "oful"})
        call(address, "PUT", "/v1/bandits/list", {"dimension": 2, "policy": "oful"})
        # The document's examples speak of it.
        actions = [{"id": item, "features": {"item": item}} for item in "ab"]
        call(address, "POST", "/v1/bandits/news/decisions", {"context": {"hour": 14}, "actions": actions, "id": "visit-1"})
        command = [
            sys.executable, "-m", "schemathesis.cli", "run", f"{address}/openapi.json", "--exclude-checks", EXCLUDED,
            "--phases", "examples,coverage,fuzzing", "--max-examples", os.environ.get("TRUENORTH_EXAMPLES", "15"),
            # What is dropped cannot be asked any more.
            "--generation-deterministic", "--no-color", "--exclude-operation-id", "dropBandit",
        ]  # fmt: skip
        tried = tmp_path / "tried.json"
        hooks = {"TRUENORTH_TRIED": str(tried), "SCHEMATHESIS_HOOKS": "hooks", "TRUENORTH_ADDRESS": address, "PYTHONPATH": str(Path(__file__).parent)}
        done = subprocess.run(
            command, cwd=tmp_path, env={**os.environ, **hooks}, capture_output=True, text=True, timeout=300, check=False
        )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    # Every call was tried with what works and, where it can be wrong, with what does not.
    for method, path, answers in json.loads(tried.read_text()):
        assert answers.get("2") or (method, path) in NEEDS_MORE, f"{method} {path} has never worked: {answers}"
        assert method == "GET" and "{" not in path or answers.get("4"), f"{method} {path} was never refused: {answers}"
