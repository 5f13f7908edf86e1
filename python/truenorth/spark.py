"""Logs on Spark, summed up where they are: ``pip install './python[spark]'``.

Spark's `mapInArrow` hands each partition to the native reader, whose summaries are merged by a tree on the executors. The
package must be installed wherever the executors run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

from truenorth import _native
from truenorth._native import Summary, Survey
from truenorth._summaries import _told, _warned, merge

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["summarize"]

# How many parts are merged at a time, and how many tasks do that.
_FAN, _TASKS = 32, 8
_ROWS = "part long, content binary, wrong string"


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
    """Sums up the rows of a Spark data frame.

    Where the model has bins or splines, or where there is no model, the rows are read twice: first for quantiles or levels.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        The logs.
    reward, model, action, chosen, features, one_hot, hash, buckets, intercept, missing, skip_malformed, reward_range
        As for `truenorth.summarize`.

    Returns
    -------
    Summary
        What `truenorth.summarize` gives for the same rows, whatever the partitions are; sums to about 1e-14 of their size.
    """
    to_arrow_schema = import_module("pyspark.sql.pandas.types").to_arrow_schema
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
    name = type(df).__name__
    survey = _native.survey_arrow(to_arrow_schema(df.schema).empty_table(), name, told)
    if survey.needs_rows:
        read = _select(df, survey.columns)
        survey = _reduced(read, Survey, lambda reader, part: _native.survey_arrow(reader, name, told)) or survey
    recipe = survey.recipe()
    read = _select(df, recipe.columns)
    whole = _reduced(read, Summary, lambda reader, part: _native.summarize_part(reader, name, recipe, part))
    if whole is None:
        whole = _native.summarize_part(to_arrow_schema(read.schema).empty_table(), name, recipe)
    return _warned(merge([whole]))


def _select(df: Any, columns: list[str]) -> Any:
    """These columns in the order in which they are, which is that of the features of a pattern."""
    return df.select(*(df[f"`{name.replace('`', '``')}`"] for name in df.columns if name in columns))


def _reduced(df: Any, kind: Any, work: Callable[[Any, int], Any]) -> Any:
    """What `work` makes of all partitions, merged by a tree, in their order; None of no rows."""

    def each(batches: Iterator[Any]) -> Iterator[Any]:
        part = import_module("pyspark").TaskContext.get().partitionId()
        batches = (batch.rename_columns(names) for batch in batches)
        yield from _row(part, *_tried(batches, lambda reader: work(reader, part)))

    def merged(batches: Iterator[Any]) -> Iterator[Any]:
        rows = [row for batch in batches for row in batch.to_pylist()]
        groups: dict[int, list[Any]] = {}
        for row in sorted(rows, key=lambda row: row["part"]):
            groups.setdefault(row["part"] // _FAN, []).append(row)
        for group, members in groups.items():
            yield from _row(group, *_sum(members, kind))

    # Spark finds no columns there whose names have dots or quotes.
    names = df.columns
    rows = df.toDF(*(f"c{place}" for place in range(len(names)))).mapInArrow(each, _ROWS)
    for _ in range(2):
        # What belongs together comes together, in an order that is always the same.
        rows = rows.repartition(_TASKS, rows["part"] - rows["part"] % _FAN).mapInArrow(merged, _ROWS)
    whole, wrong = _sum(sorted((row.asDict() for row in rows.collect()), key=lambda row: row["part"]), kind)
    if wrong is not None:
        raise ValueError(wrong)
    return whole


def _sum(rows: list[dict[str, Any]], kind: Any) -> tuple[Any, str | None]:
    """The sum of all parts, or what is wrong with the first that is wrong."""
    whole = None
    for row in rows:
        if row["wrong"] is not None:
            return None, row["wrong"]
        part = kind.from_bytes(bytes(row["content"]))
        whole = part if whole is None else whole + part
    return whole, None


def _tried(batches: Iterator[Any], work: Callable[[Any], Any]) -> tuple[Any, str | None]:
    """What `work` makes of the rows, or what it says is wrong with them, which no second try would mend."""
    first = next(batches, None)
    if first is None:
        return None, None
    broken: list[Exception] = []

    def all_batches() -> Iterator[Any]:
        try:
            yield first
            yield from batches
        except Exception as error:
            broken.append(error)
            raise

    try:
        reader = import_module("pyarrow").RecordBatchReader
        return work(reader.from_batches(first.schema, all_batches())), None
    except (TypeError, ValueError) as error:
        # Where rows did not arrive, nothing is wrong with them: Spark tries again.
        if broken:
            raise broken[0] from None
        return None, str(error)


def _row(part: int, content: Any, wrong: str | None) -> Iterator[Any]:
    if content is not None or wrong is not None:
        pyarrow: Any = import_module("pyarrow")
        made = None if content is None else content.to_bytes()
        types = [pyarrow.int64(), pyarrow.binary(), pyarrow.string()]
        columns = [pyarrow.array([value], kind) for value, kind in zip([part, made, wrong], types)]
        yield pyarrow.RecordBatch.from_arrays(columns, ["part", "content", "wrong"])
