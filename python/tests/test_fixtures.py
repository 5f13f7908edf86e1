"""What earlier versions wrote is read for ever after, or refused by its version.

`python tests/fixtures/make.py` writes a folder for the version at hand; folders of earlier ones stay as they are.
"""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import truenorth

VERSIONS = sorted(path for path in (Path(__file__).parent / "fixtures").iterdir() if (path / "next.json").exists())


def test_there_is_a_folder_for_some_version():
    assert VERSIONS


@pytest.mark.parametrize("folder", VERSIONS, ids=lambda folder: folder.name)
def test_summaries_of_earlier_versions_are_read(folder):
    summary = truenorth.Summary.load(folder / "logs.tn")
    assert summary.names == ["price", "age", "size"] and summary.rows == 200


@pytest.mark.parametrize("folder", VERSIONS, ids=lambda folder: folder.name)
def test_policies_of_earlier_versions_go_on_as_they_were_or_are_refused_by_their_version(folder):
    expected = json.loads((folder / "next.json").read_text())
    try:
        policy = truenorth.Policy.load(folder / "policy.tn")
    except ValueError as error:
        assert "the snapshot has version 3, but this build reads version 8" in str(error)
        with open(folder / "objects.pickle", "rb") as file, pytest.raises(ValueError, match="has version 3"):
            pickle.load(file)
        return
    with open(folder / "objects.pickle", "rb") as file:
        stored = pickle.load(file)
    assert stored["policy"] == policy
    assert stored["certificate"] == truenorth.Certificate.from_budgets([0.5, 0.1, 0.2])
    policy.learn(stored["choice"], 0.25)
    found = policy.choose(np.array(expected["X"]))
    assert found.action == expected["action"] and found.branch == expected["branch"]
    np.testing.assert_allclose([found.ucb, found.lcb], [expected["ucb"], expected["lcb"]], rtol=1e-9)
