"""The tutorials run as they are, fast, print something, and write only where they may."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from adapter_problem import foreign

FOLDER = Path(__file__).resolve().parent.parent / "examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))
SAYS = {
    "adapters.py": "no longer relied on: mail:x1, visit:x3",
    "compare_policies.py": "logs that are right",
    "live_decisions.py": "restarted after 500 visits, 24 decisions still wait for their reward refused: already_learned",
    "logs_to_audit.py": "1 of 4 features has drifted",
    "paper_in_ten_minutes.py": "regret after 2,000 rounds",
    "serving.py": "restarted after 500 visits",
}
WRITES = {
    "adapters.py": set(),
    "compare_policies.py": {"compare.svg"},
    "live_decisions.py": {"bandit.tn"},
    "logs_to_audit.py": {"logs.tn", "report.html", "report.certificate.toml", "audit.svg"},
    "paper_in_ten_minutes.py": {"main.svg"},
    "serving.py": {"policy.tn", "waiting.json"},
}


def test_all_examples_are_known():
    assert [example.name for example in EXAMPLES] == sorted(SAYS) == sorted(WRITES)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_it_runs(example, tmp_path):
    if example.stem == "logs_to_audit":
        foreign("pandas")
        foreign("pyarrow")
    work, out = tmp_path / "work", tmp_path / "out"
    work.mkdir()
    out.mkdir()
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, str(example)],
        cwd=work, env={**os.environ, "OUT": str(out)}, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert SAYS[example.name] in " ".join(done.stdout.split()) and len(done.stdout.splitlines()) < 60
    assert {path.name for path in out.iterdir()} == WRITES[example.name] and not list(work.iterdir())
    assert time.perf_counter() - start < 60
