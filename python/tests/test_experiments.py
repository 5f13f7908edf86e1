"""Experiments and comparisons give what the commands give, and stop when asked."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

import truenorth

ROOT = Path(__file__).parents[2]
SMALL = {"name": "small", "horizon": 100, "runs": 3, "policies": ["truenorth", "oful"]}


def without_seconds(found):
    if isinstance(found, dict):
        return {key: without_seconds(value) for key, value in found.items() if key != "seconds"}
    return [without_seconds(value) for value in found] if isinstance(found, list) else found


def test_dictionary_text_and_file_are_the_same_experiment(tmp_path):
    text = 'name = "small"\nhorizon = 100\nruns = 3\npolicies = ["truenorth", "oful"]\n'
    (tmp_path / "any.toml").write_text(text)
    found = [without_seconds(truenorth.simulate(given).to_dict()) for given in (SMALL, text, tmp_path / "any.toml")]
    assert found[0] == found[1] == found[2]
    (figure,) = found[0]["figures"]
    assert figure["name"] == "small" and figure["panels"][0]["runs"] == 3
    policy = figure["panels"][0]["policies"][0]
    assert set(policy) >= {"name", "final_regret", "rounds", "mean", "p10", "p90", "conflicts", "pooled_share"}
    assert len(policy["mean"]) == 100 and set(policy["final_regret"]) == {"mean", "stderr", "p10", "p90"}


def test_nested_dictionaries_become_tables():
    told = {
        **SMALL,
        "dimension": np.int64(2),
        "parameters": {"live": np.array([1.0, 0.5]), "logged": [0.5, 0.5]},
        "panel": [{"name": "a"}, {"name": "b", "noise": 0.5, "policy": [{"preset": "oful", "told": True}]}],
    }
    panels = truenorth.simulate(told, runs=1).figures[0]["panels"]
    assert [(panel["name"], panel["runs"], len(panel["policies"])) for panel in panels] == [("a", 1, 2), ("b", 1, 1)]


@pytest.mark.parametrize("path", sorted((ROOT / "experiments").glob("*.toml")), ids=lambda path: path.stem)
def test_the_examples_of_the_project_play(path):
    text = path.read_text().replace("horizon = ", "horizon = 50 # ")
    if "certificate = \"" in text and ".toml" in text:
        pytest.skip("names a file beside it")
    assert truenorth.simulate("horizon = 50\n" + text if "horizon" not in text else text, runs=1).figures


def test_what_is_wrong_with_an_experiment_is_said():
    with pytest.raises(ValueError, match="experiment.toml, line 1: there is no key `horizn`; did you mean `horizon`"):
        truenorth.simulate({"horizn": 5})
    with pytest.raises(ValueError, match="is not TOML"):
        truenorth.simulate("a = = 1")
    with pytest.raises(FileNotFoundError):
        truenorth.simulate("absent.toml")
    with pytest.raises(TypeError, match="an experiment has no place for None"):
        truenorth.simulate({"horizon": None})
    with pytest.raises(ValueError, match="there is no study named \"mian\"; the names are all, main"):
        truenorth.reproduce("mian")
    with pytest.raises(ValueError, match="`runs` must be at least 1"):
        truenorth.reproduce("main", runs=0)


def test_a_study_is_the_same_on_any_number_of_threads():
    told = {"runs": 2, "horizon": 200, "policies": ["truenorth", "lin-ts"]}
    one, two = (without_seconds(truenorth.reproduce("bias", threads=n, **told).to_dict()) for n in (1, 2))
    assert one == two
    assert [panel["name"] for panel in one["figures"][0]["panels"]] == ["c=0", "c=0.2", "c=0.4", "c=0.6", "c=0.8"]


def test_results_show_themselves(tmp_path):
    results = truenorth.simulate(SMALL)
    assert repr(results).startswith("final regret\nsmall: truenorth ")
    assert "<table>" in results._repr_html_() and "oful" in results._repr_html_()
    results.save(tmp_path / "results.json")
    assert (tmp_path / "results.json").read_text().startswith('{"figures": [{"name": "small"')
    picture = results.plot("small", own=True)
    assert picture.svg.startswith("<svg") and "cumulative regret" in picture.svg
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    figure = results.plot()
    assert [line.get_label() for line in figure.axes[0].lines] == ["truenorth", "oful"]
    # The same colour as in our own figures.
    assert figure.axes[0].lines[0].get_color() in picture.svg


def recorded(count=60):
    rng = np.random.default_rng(2)
    Z, X = rng.normal(size=(500, 3)), rng.normal(size=(count, 4, 3))
    return (Z, Z @ [1.0, 0.5, 0.0] + 0.1 * rng.normal(size=500)), (X, X @ [1.0, 0.5, 0.3])


def tables():
    pandas = pytest.importorskip("pandas")
    (Z, y), (X, rewards) = recorded()
    names = ["x1", "x2", "x3"]
    offline = pandas.DataFrame(Z, columns=names).assign(reward=y)
    live = pandas.DataFrame(X.reshape(-1, 3), columns=names)
    return offline, live.assign(reward=rewards.ravel(), round=np.repeat(np.arange(len(X)), 4))


def test_arrays_tables_and_files_compare_alike(tmp_path):
    offline, live = tables()
    offline.to_csv(tmp_path / "offline.csv", index=False)
    live.to_parquet(tmp_path / "online.parquet")
    told = {"policies": ["truenorth", "greedy"], "seeds": 2}
    arrays = truenorth.compare(*recorded(), **told)
    frames = truenorth.compare(offline, live, features="x*", **told)
    files = truenorth.compare(tmp_path / "offline.csv", tmp_path / "online.parquet", features="x*", **told)
    assert without_seconds(arrays.to_dict()) == without_seconds(frames.to_dict()) == without_seconds(files.to_dict())
    assert arrays.rounds == 60 and arrays.seeds == 2
    row = arrays.policies[0]
    assert set(row) == {"name", "mean_reward", "stderr", "score", "regret", "seconds", "rewards"}
    assert arrays.random["mean_reward"] < row["mean_reward"] <= arrays.hindsight["mean_reward"] + 1e-9
    assert len(arrays.learned("truenorth")) == 3
    with pytest.raises(ValueError, match="there is no policy named 'oful'"):
        arrays.learned("oful")


def test_a_model_that_is_made_crosses_the_context_with_the_action():
    pandas = pytest.importorskip("pandas")
    rows = [(n, "ab"[n % 2], item, float((n % 2 == 0) == (item == "x"))) for n in range(60) for item in "xyz"]
    live = pandas.DataFrame(rows, columns=["round", "who", "item", "reward"])
    told = {"policies": "truenorth", "seeds": 2}
    crossed, plain = truenorth.compare(None, live, action="item", **told), truenorth.compare(None, live, **told)
    assert len(crossed.learned("truenorth")) > len(plain.learned("truenorth"))
    assert crossed.policies[0]["mean_reward"] > plain.policies[0]["mean_reward"]
    usual = [row["name"] for row in truenorth.compare(None, live, action=["item"], seeds=1).policies]
    assert "truenorth" in usual and not {"warm-greedy", "warm-lin-ucb", "offline-only"} & set(usual)


def test_comparisons_without_logs_show_themselves():
    found = truenorth.compare(None, recorded()[1], policies="greedy,oful", scales=[1.0, 2.0])
    assert [row["name"] for row in found.policies] == ["greedy", "oful", "oful x2"]
    assert repr(found).splitlines()[0].split() == ["policy", "score", "mean", "reward", "regret"]
    assert "oful x2" in found._repr_html_() and "greedy" in found.plot(own=True).svg
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    assert len(found.plot().axes[0].lines) == 3


def test_comparisons_tell_policies_about_the_drift():
    for told in ({"drift": 0.5}, {"certificate": truenorth.Certificate.from_budgets([0.1, 0.1, 0.5])}):
        found = truenorth.compare(*recorded(), policies=["ellipsoidal-minucb"], seeds=1, **told)
        assert found.policies[0]["name"] == "ellipsoidal-minucb"


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        ({"policies": ["pooled-only"]}, 'policy "pooled-only" has to be told how far the logs may have drifted'),
        ({"policies": ["min-ucb"], "drift": 0.5}, "offline, row 1: this is not a unit vector"),
        ({"seeds": 0}, "`seeds` must be from 1 to 10000, but is 0"),
        ({"scales": [0.0]}, "a factor of `scales` must be positive and at most 1e9, but is 0"),
        ({"noise": -1.0}, "`noise` must be at least 0 and at most 1e50, but is -1"),
        ({"policies": ["linucb"]}, 'there is no policy named "linucb"'),
    ],
)
def test_comparisons_that_cannot_be_are_refused(told, sentence):
    with pytest.raises(ValueError) as refused:
        truenorth.compare(*recorded(), **told)
    assert str(refused.value).startswith(sentence)


def test_numbers_that_are_none_are_refused():
    (Z, y), (X, rewards) = recorded()
    X = X.copy()
    X[3, 1, 0] = np.nan
    with pytest.raises(ValueError, match="online, row 14: numbers must be finite"):
        truenorth.compare((Z, y), (X, rewards))
    with pytest.raises(ValueError, match="needs rounds, actions and features"):
        truenorth.compare(None, (np.zeros((0, 2, 3)), np.zeros((0, 2))))


@pytest.mark.skipif(os.name == "nt", reason="signals are sent differently there")
@pytest.mark.parametrize(
    "call",
    [
        "truenorth.reproduce('main')",
        "truenorth.simulate({'horizon': 10**9, 'runs': 1})",
        "truenorth.compare(None, (X, X[:, :, 0]))",
        "truenorth.Policy(dimension=100).play(X, X[:, :, 0])",
        "truenorth.Policy(dimension=100).choose_many(X)",
    ],
)
def test_a_keyboard_interrupt_stops_long_work(call):
    program = f"""
        import signal
        import numpy as np, truenorth
        # A shell that runs this in the background has told it to ignore interrupts.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        X = np.random.default_rng(0).normal(size=(4_000, 20, 100))
        print("ready", flush=True)
        try:
            while True:
                {call}
        except KeyboardInterrupt:
            print("stopped", flush=True)
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.5)
        start = time.monotonic()
        child.send_signal(signal.SIGINT)
        answer, waited = child.stdout.readline(), time.monotonic() - start
        assert answer == "stopped\n", child.stderr.read()
    # Half a second on a machine of its own; tests share theirs.
    assert waited < 2.0
