"""Audits answer as the command does, and show themselves."""

import json
import subprocess
import sys

import numpy as np
import pytest

import truenorth

RNG = np.random.default_rng(8)
Z, X = RNG.normal(size=(4000, 3)), RNG.normal(size=(300, 3))
NAMES = ["price", "age", "size"]
LOGS = truenorth.summarize(Z, Z @ [1.0, 0.5, -1.0] + 0.5 * RNG.normal(size=4000), names=NAMES)
LIVE = X @ [1.0, 1.5, -1.0] + 0.5 * RNG.normal(size=300)


def test_the_drifted_feature_is_found():
    found = truenorth.audit(LOGS, pilot=(X, LIVE))
    assert [feature["drifted"] for feature in found.features] == [False, True, False]
    assert found.verdict["use"] == "some" and repr(found) == found.verdict["sentence"]
    assert found.rows == 4000 and found.to_dict()["rows"] == 4000 and "rows" in dir(found)
    assert set(found.to_dict()) >= {"verdict", "noise", "norm", "worth_rounds", "directions", "certificate"}
    with pytest.raises(AttributeError, match="has no 'colour'"):
        found.colour


def test_every_kind_of_pilot_tells_the_same(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=NAMES).assign(reward=LIVE)
    frame.to_csv(tmp_path / "pilot.csv", index=False)
    summary = truenorth.summarize(frame, features=NAMES, reward="reward")
    summary.save(tmp_path / "pilot.tn")
    LOGS.save(tmp_path / "logs.tn")
    rows = truenorth.audit(LOGS, (X, LIVE)).to_dict()
    assert truenorth.audit(LOGS, frame).to_dict() == rows
    assert truenorth.audit(tmp_path / "logs.tn", tmp_path / "pilot.csv").to_dict() == rows
    sums = truenorth.audit(LOGS, summary).to_dict()
    assert truenorth.audit(LOGS, str(tmp_path / "pilot.tn")).to_dict() == sums
    assert sums["features"][1]["drift"] == pytest.approx(rows["features"][1]["drift"])


def test_rounds_cluster_errors():
    rounds = np.arange(300) // 3
    found = truenorth.audit(LOGS, (X, LIVE, rounds.tolist()))
    assert found.pilot["independent"] == 100 and found.pilot["rows"] == 300
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=NAMES).assign(reward=LIVE, round=rounds, day=rounds)
    assert truenorth.audit(LOGS, frame).to_dict() == found.to_dict()
    assert truenorth.audit(LOGS, frame, round="day").to_dict() == found.to_dict()


def test_an_intercept_is_added_to_the_pilot():
    logs = truenorth.summarize(Z, Z @ [1.0, 0.5, -1.0] + 2.0, names=NAMES, intercept=True)
    found = truenorth.audit(logs, (X, X @ [1.0, 0.5, -1.0] + 3.0 + 0.1 * RNG.normal(size=300)))
    assert found.features[0]["name"] == "intercept"
    assert found.features[0]["drift"] == pytest.approx(1.0, abs=0.05)


def test_the_certificate_can_be_told_to_a_policy_and_comes_back_from_its_file(tmp_path):
    found = truenorth.audit(LOGS, (X, LIVE))
    certificate = found.certificate
    np.testing.assert_allclose(certificate.matrix, found.to_dict()["certificate"]["matrix"])
    policy = truenorth.Policy("ellipsoidal-minucb", offline=LOGS, certificate=certificate, horizon=100)
    assert policy.certificate == certificate
    found.save(tmp_path / "report.html")
    stored = truenorth.Certificate.load(tmp_path / "report.certificate.toml", NAMES)
    np.testing.assert_allclose(stored.matrix, certificate.matrix, rtol=1e-12)
    assert stored.rho == certificate.rho
    with pytest.raises(ValueError, match="says nothing about `colour`"):
        truenorth.Certificate.load(tmp_path / "report.certificate.toml", ["colour", "age", "size"])


def test_the_page_is_whole_and_shows_in_a_notebook(tmp_path):
    found = truenorth.audit(LOGS, (X, LIVE))
    found.save(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page == found.html() and page.lower().startswith("<!doctype html>") and "price" in page
    shown = found._repr_html_()
    assert shown.startswith("<iframe srcdoc=") and shown.count("<") == 2


def test_pictures_are_drawn_with_and_without_matplotlib(tmp_path):
    found = truenorth.audit(LOGS, (X, LIVE))
    picture = found.plot(own=True)
    assert picture._repr_svg_().startswith("<svg") and "price" in picture.svg
    picture.save(tmp_path / "audit.png")
    assert (tmp_path / "audit.png").read_bytes().startswith(b"\x89PNG")
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    figure = found.plot()
    assert [axis.get_title(loc="left").split("\n")[0] for axis in figure.axes] == ["Trust", "Drift", "Coverage"]
    truenorth.audit(LOGS).plot()


def test_what_does_not_fit_the_logs_is_refused():
    with pytest.raises(ValueError, match=r"the pilot's X must have shape \(n, 3\), but has shape \(300, 2\)"):
        truenorth.audit(LOGS, (X[:, :2], LIVE))
    with pytest.raises(ValueError, match="a round for each row"):
        truenorth.audit(LOGS, (X, LIVE, [1, 2]))
    with pytest.raises(ValueError, match=r"its model has no term `N\(price\)`, but that of the logs has"):
        truenorth.audit(LOGS, truenorth.summarize(X, LIVE))
    with pytest.raises(ValueError, match="`level`"):
        truenorth.audit(LOGS, level=2.0)
    with pytest.raises(TypeError, match="`round` goes with a pilot"):
        truenorth.audit(LOGS, round="day")
    with pytest.raises(FileNotFoundError):
        truenorth.audit("absent.tn")


def test_numbers_are_those_of_json():
    text = json.dumps(truenorth.audit(LOGS).to_dict())
    assert json.loads(text)["features"][0]["drift"] is None
    assert subprocess.run([sys.executable, "-c", "import truenorth"]).returncode == 0
