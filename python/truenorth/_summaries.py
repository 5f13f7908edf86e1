"""Logs to their summary, from whatever they are in."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from truenorth import _native
from truenorth._native import Summary

Path = str | os.PathLike[str]


def summarize(
    Z: Any,
    y: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    *,
    features: str | Iterable[str] | None = None,
    reward: str | None = None,
    one_hot: str | Iterable[str] = "",
    hash: str | Iterable[str] = "",
    buckets: int = 256,
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
        ``__arrow_c_stream__`` or ``__arrow_c_array__``; or files (CSV, JSON lines, Parquet, Arrow, Vowpal Wabbit,
        dsjson, Open Bandit; patterns such as ``'logs/*.parquet'``; summaries, which are added).
    y : (n,) array, optional
        A reward for each row of an array, or of a table that has only features.
    names : sequence of str, optional
        Names of an array's columns; ``x1``, ``x2``, ... unless given.
    features, one_hot, hash : str or list of str, optional
        Columns of a table: names and patterns such as ``'f_*'``. One-hot columns become a feature for each level,
        hashed ones are spread over `buckets` features. All columns but the reward unless given.
    reward : str, optional
        Column of the reward.
    intercept : bool
        Whether to add a feature that is always 1, before the others.
    missing : {'refuse', 'drop', 'mean'}
        What to do about missing values.
    skip_malformed : bool
        Leave malformed rows out and count them, instead of stopping at the first.
    reward_range : (float, float), optional
        Rewards outside of it are malformed.
    format : str, optional
        Format of the files; found out unless given.
    keep_names, items, threads
        As for the command ``truenorth summarize``.

    Returns
    -------
    Summary

    Examples
    --------
    >>> import numpy as np, truenorth
    >>> truenorth.summarize(np.array([[1.0, 0.0], [0.5, 0.5]]), [1.0, 0.0], names=["price", "age"])
    Summary(rows=2, features=[price, age])
    """
    told: dict[str, Any] = {
        "features": _listed(features),
        "reward": reward,
        "one_hot": _listed(one_hot),
        "hash": _listed(hash),
        "buckets": buckets,
        "keep_names": keep_names,
        "intercept": intercept,
        "missing": missing,
        "skip_malformed": skip_malformed,
        "reward_range": reward_range,
        "format": format,
        "items": items,
        "threads": threads,
    }
    files = _paths(Z)
    if files is not None:
        if y is not None or names is not None:
            raise TypeError("`y` and `names` go with arrays; files have `features` and `reward`")
        return _native.summarize_files(files, told)
    if _is_table(Z) and y is None:
        if reward is None:
            raise TypeError("`reward` is needed: the column of the table that holds it, or an array `y`")
        if not (told["features"] or told["one_hot"] or told["hash"]):
            told["features"] = "*"
        return _native.summarize_arrow(_arrow(Z), type(Z).__name__, told)
    if y is None:
        raise TypeError("`y` is needed: a reward for each row")
    if told["features"] or told["one_hot"] or told["hash"]:
        raise TypeError("`features`, `one_hot` and `hash` go with tables whose `reward` is a column")
    if _is_table(Z):
        names = _column_names(Z) if names is None else names
        Z = _columns(Z)
    if not isinstance(Z, np.ndarray):
        Z = np.asarray(Z)
    if names is None:
        names = [f"x{place + 1}" for place in range(Z.shape[1] if Z.ndim == 2 and Z.shape[1] < 1_000_000 else 0)]
    told["reward"] = None
    return _native.summarize_rows(Z, y, [str(name) for name in names], reward or "reward", told)


def _listed(names: str | Iterable[str] | None) -> str:
    if names is None:
        return ""
    return names if isinstance(names, str) else ",".join(names)


def _paths(value: Any) -> list[Path] | None:
    """The files that are named, unless it is data."""
    if isinstance(value, (str, os.PathLike)):
        return [value]
    if isinstance(value, (list, tuple)) and value and all(isinstance(v, (str, os.PathLike)) for v in value):
        return list(value)
    return None


def _is_table(value: Any) -> bool:
    """Whether it has columns with names."""
    return hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__") or hasattr(value, "columns")


def _column_names(table: Any) -> list[str]:
    names = getattr(table, "column_names", None)
    if names is None:
        names = getattr(table, "columns", None)
    if names is None:
        names = table.schema.names
    return [str(name) for name in names]


def _columns(table: Any) -> np.ndarray[Any, Any]:
    """All columns of a table as one array."""
    if hasattr(table, "__array__"):
        return np.asarray(table)
    return np.column_stack([np.asarray(column) for column in table.columns])


def _arrow(table: Any) -> Any:
    """Something that speaks Arrow; a data frame of pandas does so only beside pyarrow."""
    try:
        import pyarrow  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        pyarrow = None
    if type(table).__module__.split(".")[0] == "pandas" and pyarrow is None:
        raise TypeError(
            "data frames of pandas need pyarrow here; without it, give arrays: "
            "summarize(frame[features].to_numpy(), frame[reward].to_numpy(), names=features)"
        )
    return table
