"""The package imports fast, documents itself with examples that run, and is typed."""

import doctest
import subprocess
import sys
import time

import pytest

import truenorth
from truenorth import _audit, _decisions, _errors, _experiments, _frames, _native, _plot, _summaries


def test_the_version_is_that_of_the_project():
    assert truenorth.__version__.count(".") == 2


def test_every_public_name_is_there_and_documented():
    for name in truenorth.__all__:
        assert name == "__version__" or getattr(truenorth, name).__doc__, name


def test_methods_of_native_classes_are_documented():
    attributes = {"action", "ucb", "lcb", "mean", "branch", "decision", "round", "layer", "propensity"}
    attributes |= {"candidates", "conflicts", "features", "columns"}  # the class describes them
    attributes |= {"id", "index", "probability", "decision_id"}
    choices = (truenorth.Choice, truenorth.BanditChoice)
    for kind in (truenorth.Policy, truenorth.Bandit, truenorth.Summary, truenorth.Certificate, truenorth.Fit, *choices):
        for name in dir(kind):
            if not name.startswith("_") and not (kind in choices and name in attributes):
                assert getattr(kind, name).__doc__, f"{kind.__name__}.{name}"


def examples(module):
    """Those of a module of Python, or of every class, method and function of the native one."""
    if module is not _native:
        return doctest.DocTestFinder().find(module)
    parser, found = doctest.DocTestParser(), []
    for owner in [kind for kind in vars(_native).values() if isinstance(kind, type)]:
        for name, item in [(owner.__name__, owner), *vars(owner).items()]:
            found.append((name, getattr(item, "__doc__", None)))
    found += [(name, item.__doc__) for name, item in vars(_native).items() if callable(item)]
    return [parser.get_doctest(text, {}, name, None, 0) for name, text in found if text]


@pytest.mark.parametrize(
    "module", [_audit, _decisions, _errors, _experiments, _frames, _native, _plot, _summaries]
)
def test_examples_of_the_documentation_run(module):
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for example in examples(module):
        runner.run(example)
    assert runner.failures == 0
    assert module in (_frames, _plot) or runner.tries > 0


def test_importing_takes_no_time_and_no_other_library():
    program = (
        "import numpy, sys, time; start = time.process_time(); import truenorth; "
        "print(time.process_time() - start); "
        "print(*({'pandas', 'polars', 'pyarrow', 'matplotlib'} & set(sys.modules)))"
    )
    for _ in range(3):
        answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        took, others = answer.stdout.split("\n")[:2]
        assert others == ""
        if float(took) < 0.1:
            break
    assert float(took) < 0.1


def test_a_round_takes_microseconds():
    import numpy as np

    policy = truenorth.Policy("truenorth", dimension=20)
    X = list(np.random.default_rng(0).normal(size=(2000, 20, 20)))
    times = []
    for _ in range(3):
        start = time.process_time()
        for actions in X:
            policy.learn(policy.choose(actions), 0.5)
        times.append((time.process_time() - start) / len(X))
    # 3 µs on a machine of its own (`tests/measure.py`); tests share theirs.
    assert min(times) < 20e-6


def test_a_round_of_a_bandit_takes_less_than_a_millisecond():
    """Twenty actions of twenty fields, as dictionaries."""
    bandit = truenorth.Bandit(" + ".join(f"f{place}" for place in range(20)) + " + hour:f0")
    actions = [{"id": str(action), **{f"f{place}": place / (1 + action) for place in range(20)}} for action in range(20)]
    times = []
    for _ in range(3):
        start = time.process_time()
        for _ in range(200):
            bandit.learn(bandit.choose({"hour": 12}, actions), 0.5)
        times.append((time.process_time() - start) / 200)
    # 60 µs on a shared machine (`tests/measure.py`).
    assert min(times) < 500e-6


def test_types_are_strict_and_stubs_match():
    pytest.importorskip("mypy")
    for command in (["mypy", "--strict", "-p", "truenorth"], ["mypy.stubtest", "truenorth"]):
        answer = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True)
        assert answer.returncode == 0, answer.stdout + answer.stderr
