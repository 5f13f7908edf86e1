"""Logs on Dask, summed up where they are: ``pip install './python[dask]'``."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from truenorth import _native
from truenorth._native import Recipe, Summary, Survey
from truenorth._summaries import _told, _warned, merge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["summarize"]

# How many parts are merged at a time.
_FAN = 16


def summarize(
    df: Any,
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
) -> Summary:
    """Sums up the rows of a Dask data frame, on the scheduler that is current.

    Where the model has bins or splines, or where there is no model, the rows are read twice: first for quantiles or levels.

    Parameters
    ----------
    df : dask.dataframe.DataFrame
        The logs.
    reward, model, action, chosen, features, one_hot, hash, buckets, intercept, missing, skip_malformed, reward_range
        As for `truenorth.summarize`.

    Returns
    -------
    Summary
        What `truenorth.summarize` gives for the same rows, whatever the partitions are; sums to about 1e-14 of their size.
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
    survey = _surveyed(df._meta, told)
    if survey.needs_rows:
        survey = _reduced(_select(df, survey.columns), lambda part, _: _surveyed(part, told))
    recipe = survey.recipe()
    whole: Summary = _reduced(_select(df, recipe.columns), lambda part, place: _summed(part, recipe, place))
    return _warned(merge([whole]))


def _select(df: Any, columns: list[str]) -> Any:
    """These columns in the order in which they are, which is that of the features of a pattern."""
    return df[[name for name in df.columns if name in columns]]


def _table(part: Any) -> Any:
    # The rows' own labels are no column.
    return import_module("pyarrow").Table.from_pandas(part, preserve_index=False)


def _surveyed(part: Any, told: dict[str, Any]) -> Survey:
    return _native.survey_arrow(_table(part), "DataFrame", told)


def _summed(part: Any, recipe: Recipe, place: int) -> Summary:
    return _native.summarize_part(_table(part), "DataFrame", recipe, place)


def _sum(parts: list[Any]) -> Any:
    whole = parts[0]
    for part in parts[1:]:
        whole = whole + part
    return whole


def _reduced(df: Any, work: Callable[[Any, int], Any]) -> Any:
    """What `work` makes of all parts, merged by a tree, in their order."""
    delayed = import_module("dask").delayed
    parts = [delayed(work)(part, place) for place, part in enumerate(df.to_delayed())]
    while len(parts) > 1:
        parts = [delayed(_sum)(parts[start : start + _FAN]) for start in range(0, len(parts), _FAN)]
    return parts[0].compute()
