"""Logs to their summary, from whatever they are in."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from truenorth import _native
from truenorth._frames import arrow, column_names, is_table, numbers, paths
from truenorth._native import Recipe, Summary, Survey

Path = str | os.PathLike[str]


def summarize(
    Z: Any,
    y: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    *,
    model: str | None = None,
    reward: str | None = None,
    action: str | Iterable[str] | None = None,
    chosen: str | None = None,
    recipe: Recipe | None = None,
    features: str | Iterable[str] | None = None,
    one_hot: str | Iterable[str] = "",
    hash: str | Iterable[str] = "",
    buckets: int | None = None,
    keep_names: bool = False,
    intercept: bool = False,
    missing: str = "refuse",
    skip_malformed: bool = False,
    reward_range: tuple[float, float] | None = None,
    format: str | None = None,
    items: Path | None = None,
    threads: int = 0,
) -> Summary:
    """Sums up logs, of any size and in whatever they are in.

    Parameters
    ----------
    Z : array, table, path or list of paths
        An (n, d) array of features; a table of pandas, polars, Arrow or anything else that has
        ``__arrow_c_stream__`` or ``__arrow_c_array__``; a dictionary of columns; or files (CSV, JSON lines, Parquet,
        Arrow, events, Vowpal Wabbit, dsjson, Open Bandit; patterns such as ``'logs/*.parquet'``; summaries, which are
        added).
    y : (n,) array, optional
        A reward for each row of an array, or of a table that has only features.
    names : sequence of str, optional
        Names of an array's columns; ``x1``, ``x2``, ... unless given.
    model : str, optional
        Which features there are: a formula over fields, such as ``'price + segment:item'``. Where neither this nor
        `features`, `one_hot` and `hash` are given, one is made from the data: `Summary.model` shows it.
    reward : str, optional
        Column of the reward.
    action : str or list of str, optional
        Columns that belong to the action, its id first.
    chosen : str, optional
        Column that says whether the action of a row was taken, where each row is an action.
    recipe : Recipe, optional
        How features are made of a table that is a part of a larger one, as `Survey.recipe` says it, in place of all words
        about features: summaries of the parts add up to that of the whole.
    features, one_hot, hash : str or list of str, optional
        Columns of a table in place of a model: names and patterns such as ``'f_*'``. One-hot columns become a feature
        for each level, hashed ones are spread over `buckets` features.
    buckets : int, optional
        Buckets of the hash; 256 unless given. Of events, every name is hashed then, without a model.
    keep_names : bool
        Of events, take every name as a feature, without a model.
    intercept : bool
        Whether to add a feature that is always 1, before the others; a model has it unless it says ``0 +``.
    missing : {'refuse', 'drop', 'mean', 'zero'}
        What to do about missing values.
    skip_malformed : bool
        Leave malformed rows out and count them, instead of stopping at the first.
    reward_range : (float, float), optional
        Rewards outside of it are malformed.
    format : str, optional
        Format of the files; found out unless given.
    items, threads
        As for the command ``truenorth summarize``.

    Returns
    -------
    Summary

    Examples
    --------
    >>> import numpy as np, truenorth
    >>> truenorth.summarize(np.array([[1.0, 0.0], [0.5, 0.5]]), [1.0, 0.0], names=["price", "age"])
    Summary(rows=2, features=[price, age])
    >>> table = {"item": ["a", "b", "a", "b"], "hour": [8, 9, 20, 21], "reward": [1, 0, 0, 1]}
    >>> truenorth.summarize(table, model="item:(1 + hour)", reward="reward", action="item").names
    ['intercept', 'item=a', 'item=a:hour', 'item=b', 'item=b:hour']
    """
    if recipe is not None:
        if y is not None or names is not None or model or reward or features or one_hot or hash:
            raise TypeError("`recipe` says all about features and reward")
        return _native.summarize_part(arrow(Z), type(Z).__name__, recipe)
    told = _told(
        model=model,
        reward=reward,
        action=action,
        chosen=chosen,
        features=features,
        one_hot=one_hot,
        hash=hash,
        buckets=buckets,
        intercept=intercept,
        missing=missing,
        skip_malformed=skip_malformed,
        reward_range=reward_range,
    )
    told |= {"keep_names": keep_names, "format": format, "items": items, "threads": threads}
    files = paths(Z)
    if files is not None:
        if y is not None or names is not None:
            raise TypeError("`y` and `names` go with arrays; files have `features` and `reward`")
        return _warned(_native.summarize_files(files, told))
    if (is_table(Z) or isinstance(Z, Mapping)) and y is None:
        if reward is None:
            raise TypeError("`reward` is needed: the column of the table that holds it, or an array `y`")
        return _warned(_native.summarize_arrow(arrow(Z), type(Z).__name__, told))
    if y is None:
        raise TypeError("`y` is needed: a reward for each row")
    if told["features"] or told["one_hot"] or told["hash"]:
        raise TypeError("`features`, `one_hot` and `hash` go with tables whose `reward` is a column")
    if model or action or chosen:
        raise TypeError("`model`, `action` and `chosen` go with tables whose `reward` is a column")
    if is_table(Z):
        names = column_names(Z) if names is None else names
        Z = numbers(Z)
    if not hasattr(Z, "ndim"):
        Z = np.asarray(Z)
    if names is None:
        if Z.ndim != 2:
            raise ValueError(f"Z must have shape (n, d), but has shape {Z.shape}")
        names = [f"x{place + 1}" for place in range(Z.shape[1] if Z.shape[1] < 1_000_000 else 0)]
    told["reward"] = None
    return _native.summarize_rows(Z, y, [str(name) for name in names], reward or "reward", told)


def survey(
    part: Any,
    *,
    reward: str,
    model: str | None = None,
    action: str | Iterable[str] | None = None,
    chosen: str | None = None,
    features: str | Iterable[str] | None = None,
    one_hot: str | Iterable[str] = "",
    hash: str | Iterable[str] = "",
    buckets: int | None = None,
    intercept: bool = False,
    missing: str = "refuse",
    skip_malformed: bool = False,
    reward_range: tuple[float, float] | None = None,
) -> Survey:
    """Looks at a part of a table that is to be summed up in parts, by any engine that has a map and a reduce.

    Parameters
    ----------
    part : table
        A part of the table, of pandas, polars or Arrow, or a dictionary of columns. An empty one is enough where
        `Survey.needs_rows` says so.
    reward, model, action, chosen, features, one_hot, hash, buckets, intercept, missing, skip_malformed, reward_range
        As for `summarize`.

    Returns
    -------
    Survey

    Examples
    --------
    >>> import truenorth
    >>> from functools import reduce
    >>> from operator import add
    >>> parts = [{"item": ["a", "b"], "reward": [1, 0]}, {"item": ["a", "c"], "reward": [1, 1]}]
    >>> recipe = reduce(add, (truenorth.survey(part, model="item", reward="reward") for part in parts)).recipe()
    >>> truenorth.merge(truenorth.summarize(part, recipe=recipe) for part in parts)
    Summary(rows=4, features=[intercept, item=a, item=b, item=c])
    """
    told = _told(
        model=model,
        reward=reward,
        action=action,
        chosen=chosen,
        features=features,
        one_hot=one_hot,
        hash=hash,
        buckets=buckets,
        intercept=intercept,
        missing=missing,
        skip_malformed=skip_malformed,
        reward_range=reward_range,
    )
    return _native.survey_arrow(arrow(part), type(part).__name__, told)


def merge(parts: Iterable[Summary]) -> Summary:
    """Adds up the summaries of all parts of a table, which must have rows.

    Examples
    --------
    >>> import truenorth
    >>> one = truenorth.summarize({"x": [1.0], "reward": [1.0]}, model="x", reward="reward")
    >>> truenorth.merge([one, one]).rows
    2
    """
    return _native.merge_summaries(list(parts))


def _told(
    *,
    features: str | Iterable[str] | None,
    one_hot: str | Iterable[str],
    hash: str | Iterable[str],
    action: str | Iterable[str] | None,
    **others: Any,
) -> dict[str, Any]:
    """What the native part is told about features."""
    listed = {"features": features, "one_hot": one_hot, "hash": hash, "action": action}
    unsaid = {"keep_names": False, "format": None, "items": None, "threads": 0}
    return unsaid | {word: _listed(names, word) for word, names in listed.items()} | others


def _warned(summary: Summary) -> Summary:
    """Tells who called `summarize` what cannot change a choice."""
    for sentence in summary.warnings:
        warnings.warn(sentence, stacklevel=3)
    return summary


def _listed(names: str | Iterable[str] | None, word: str) -> str:
    if names is None or isinstance(names, str):
        return names or ""
    if not isinstance(names, Iterable):
        raise TypeError(f"`{word}` must be names of columns, but is {names!r:.60}")
    names = list(names)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"`{word}` must be names of columns, but one of them is {name!r:.60}")
    # A comma inside of a name is none between two names.
    return ",".join("`" + name.replace("`", "``") + "`" if "," in name else name for name in names)
