"""A table in parts, read anywhere and in any parts, is the table."""

import pickle
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial, reduce
from multiprocessing import get_context
from operator import add

import numpy as np
import pytest

import truenorth

pyarrow = pytest.importorskip("pyarrow")
RNG = np.random.default_rng(23)
ROWS = 3000
TABLE = pyarrow.table(
    {
        "x": RNG.normal(size=ROWS),
        "tenth": np.full(ROWS, 0.1),
        "age": [None if place % 11 == 0 else int(age) for place, age in enumerate(RNG.integers(18, 80, ROWS))],
        "item": np.array(["news", "sport", "music"])[RNG.integers(0, 3, ROWS)],
        "member": RNG.random(ROWS) < 0.5,
        "visit": [f"v{place}" for place in range(ROWS)],
        "reward": RNG.normal(size=ROWS),
    }
)
MODEL = "x + tenth + log(tenth) + bins(age, 5) + spline(x, 4) + cyclic(age, 24) + item*member + x:item + hash(item:member, 16)"


def parts(*ends):
    bounds = [0, *ends, ROWS]
    return [TABLE.slice(start, end - start) for start, end in zip(bounds, bounds[1:])]


def in_parts(tables, **asked):
    recipe = reduce(add, (truenorth.survey(part, **asked) for part in tables)).recipe()
    return truenorth.merge(truenorth.summarize(part, recipe=recipe) for part in tables)


def near(found, expected):
    assert (found.rows, found.names, found.recipe) == (expected.rows, expected.names, expected.recipe)
    lengths = np.sqrt(np.diag(expected.gram))
    assert np.abs(found.gram - expected.gram).max() <= 1e-12 * np.outer(lengths, lengths).max()
    np.testing.assert_allclose(found.gram, expected.gram, rtol=1e-11, atol=1e-10)
    np.testing.assert_allclose(found.moment, expected.moment, rtol=1e-11, atol=1e-10)
    assert found.scale == pytest.approx(expected.scale, rel=1e-13)


@pytest.mark.parametrize("ends", [(), (1, 2), (0, 0, 1500), (700, 1400, 2100, 2999), tuple(range(100, 3000, 100))])
@pytest.mark.parametrize("model", [MODEL, None])
def test_parts_of_any_size_give_the_same_features_and_sums(model, ends):
    asked = {"model": model, "reward": "reward", "action": "item", "missing": "mean"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = truenorth.summarize(TABLE, **asked)
    near(in_parts(parts(*ends), **asked), expected)


def test_rows_are_looked_at_only_where_the_model_needs_it():
    empty = TABLE.slice(0, 0)
    needs = {"x + item + x:item + hash(member, 8)": False, "bins(age, 3)": True, "item:spline(x, 3)": True, None: True}
    for model, needed in needs.items():
        survey = truenorth.survey(empty, model=model, reward="reward")
        assert survey.needs_rows == needed, model
        assert survey.rows == 0
    untyped = truenorth.survey({"x": [None], "reward": [1.0]}, model="x", reward="reward")
    assert not untyped.needs_rows  # a column of nothing is one of truth values here
    recipe = truenorth.survey(empty, model="x:item", reward="reward", action="item").recipe()
    assert recipe.columns == ["item", "reward", "x"]
    assert recipe.model == "x:item"


def test_pieces_travel_by_pickle_and_as_bytes():
    survey = truenorth.survey(TABLE, model="bins(x, 4)", reward="reward")
    recipe = survey.recipe()
    assert pickle.loads(pickle.dumps(survey)) == survey
    assert pickle.loads(pickle.dumps(recipe)) == recipe
    assert truenorth.Survey.from_bytes(survey.to_bytes()).recipe() == recipe
    with pytest.raises(ValueError, match="not the bytes of a survey"):
        truenorth.Survey.from_bytes(recipe.to_bytes())


def test_the_recipe_of_the_documentation_runs_on_processes():
    asked = {"model": MODEL, "reward": "reward", "action": "item", "missing": "mean"}
    tables = parts(1000, 1001, 2500)
    with ProcessPoolExecutor(2, get_context("spawn")) as engine:
        recipe = reduce(add, engine.map(partial(truenorth.survey, **asked), tables)).recipe()
        found = truenorth.merge(engine.map(partial(truenorth.summarize, recipe=recipe), tables))
    near(found, in_parts([TABLE], **asked))


def test_what_is_wrong_is_said_in_a_sentence():
    survey = partial(truenorth.survey, reward="reward")
    with pytest.raises(ValueError, match="parts of a table have other columns: `x`, `reward` and `z`, `reward`"):
        survey({"x": [1.0], "reward": [1.0]}, model="x") + survey({"z": [1.0], "reward": [1.0]}, model="x")
    with pytest.raises(ValueError, match="the two surveys were asked for other features"):
        survey({"x": [1.0], "reward": [1.0]}, model="x") + survey({"x": [1.0], "reward": [1.0]}, model="log(x)")
    recipe = survey(TABLE.slice(0, 0), model="x").recipe()
    with pytest.raises(ValueError, match="there are columns, but no rows"):
        truenorth.merge([truenorth.summarize(TABLE.slice(0, 0), recipe=recipe)])
    with pytest.raises(ValueError, match="no parts to merge"):
        truenorth.merge([])
    with pytest.raises(TypeError, match="`recipe` says all about features"):
        truenorth.summarize(TABLE, recipe=recipe, reward="reward")
