"""Logs that are summed up by one process, and how near another summary of them has to be."""

import warnings

import numpy as np
import pytest

import truenorth

ROWS = 2_000_000
# 25 features: numbers, one of which is always the same, categories, crosses, bins, a logarithm, waves.
MODEL = "x0 + x1 + x2 + x3 + tenth + item + segment:item + x0:item + C(store) + bins(age, 4) + log(price) + cyclic(hour, 24)"
ASKED = {"model": MODEL, "reward": "reward", "action": ["item", "price"]}


def table(rows):
    import pyarrow

    rng = np.random.default_rng(19)
    x = rng.normal(size=(rows, 4))
    item = rng.integers(0, 3, rows)
    price = rng.gamma(2.0, 3.0, rows)
    columns = {f"x{place}": x[:, place] for place in range(4)}
    columns |= {
        "tenth": np.full(rows, 0.1),
        "item": np.array(["news", "sport", "music"])[item],
        "segment": np.array(["student", "worker"])[rng.integers(0, 2, rows)],
        "store": rng.integers(0, 4, rows),
        "age": rng.integers(18, 80, rows),
        "price": price,
        "hour": rng.uniform(0, 24, rows),
        "reward": x @ [0.5, -0.2, 0.1, 0.0] + 0.3 * (item == 1) + 0.01 * price + rng.normal(size=rows),
    }
    return pyarrow.table(columns)


@pytest.fixture(scope="session")
def logs(tmp_path_factory):
    """Two million rows, in a file of several row groups."""
    from pyarrow import parquet

    path = tmp_path_factory.mktemp("logs") / "logs.parquet"
    parquet.write_table(table(ROWS), path, row_group_size=250_000)
    return path


@pytest.fixture(scope="session")
def expected(logs):
    return summarized(logs)


def summarized(logs, summarize=truenorth.summarize, **asked):
    with warnings.catch_warnings():
        # Numbers of the context are there to be added up, not to be of use.
        warnings.filterwarnings("ignore", ".*cannot change a choice")
        return summarize(logs, **(ASKED | asked))


def assert_equal(found, expected, within=1e-12, untold=()):
    """All that a summary holds, sums to a share of the product of the columns' lengths, which no sum can exceed.

    What columns hold that are `untold` need not be known, as the model says how to take them.
    """
    recipe = expected.recipe
    recipe["kinds"] = {field: kind for field, kind in recipe["kinds"].items() if field not in untold}
    assert (found.rows, found.names, found.recipe) == (expected.rows, expected.names, recipe)
    lengths = np.sqrt(np.diag(expected.gram))
    scale = np.outer(lengths, lengths)
    assert np.max(np.abs(found.gram - expected.gram) / np.maximum(scale, 1e-300)) < within
    # The longest that the moment can be, by the inequality of Cauchy and Schwarz, is not kept; the rows are.
    assert np.max(np.abs(found.moment - expected.moment) / np.maximum(lengths * np.sqrt(expected.rows), 1e-300)) < within
    assert found.mean_reward == pytest.approx(expected.mean_reward, rel=within)
    assert found.scale == pytest.approx(expected.scale, rel=within)
    # Fourth powers tell a policy the units of features; its equations magnify the last digits of sums.
    x = np.random.default_rng(3).normal(size=(5, expected.dimension))
    left, right = (truenorth.Policy(offline=summary, noise=1.0, norm_bound=1.0).intervals(x) for summary in (found, expected))
    assert left.ucb == pytest.approx(right.ucb, rel=1e-6)
