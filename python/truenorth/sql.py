"""Logs in a database, summed up there by a query of plain aggregates, whose answer `Summary.from_sql` reads.

Numbers, categories (`C(store)`, and columns that are named as `categories`), `log`, `cyclic`, `bins`, `spline` and all products
of these can be asked for; `hash` and patterns such as `user.*` cannot.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from truenorth import _native
from truenorth._frames import answer as _answer

__all__ = ["cuts", "summary_query", "survey_query"]


def summary_query(
    model: str,
    reward: str,
    *,
    dialect: str,
    table: str = "logs",
    categories: Iterable[str] = (),
    action: Iterable[str] = (),
    cuts: Mapping[str, Iterable[float]] | None = None,
    missing: str = "refuse",
) -> str:
    """A query that sums up a table: a row for each combination of levels, which need not be known.

    Parameters
    ----------
    model : str
        Which features there are.
    reward : str
        Column of the reward.
    dialect : {'duckdb', 'postgres', 'snowflake', 'bigquery', 'spark'}
        Whose SQL; Redshift takes that of PostgreSQL, Databricks that of Spark.
    table : str
        The table as SQL names it, or a query between parentheses with a name behind it.
    categories : list of str
        Columns that hold texts or truth values; the others that the model takes as they are hold numbers.
    action : list of str
        Columns that belong to the action, its id first.
    cuts : dict, optional
        Where bins end and splines have their knots, as `cuts` has read them or as you want them, by the term:
        ``{"bins(age, 3)": [25, 40]}``.
    missing : {'refuse', 'drop', 'zero'}
        What to do about missing values; those that are refused are counted by the query, and refused by `Summary.from_sql`.

    Returns
    -------
    str

    Examples
    --------
    >>> import truenorth.sql
    >>> query = truenorth.sql.summary_query("price + item", "reward", dialect="duckdb", categories=["item"])
    >>> query.splitlines()[-1]
    'GROUP BY c0'
    """
    return _native.sql_summary_query(_asked(model, reward, dialect, table, categories, action, cuts, missing))


def survey_query(model: str, *, dialect: str, table: str = "logs") -> str | None:
    """The query for where the bins and the knots of splines of a model are; None if it has neither.

    Its answer is read by `cuts`.

    Examples
    --------
    >>> import truenorth.sql
    >>> truenorth.sql.survey_query("price + log(age)", dialect="duckdb") is None
    True
    """
    return _native.sql_survey_query(_asked(model, "", dialect, table, (), (), None, "refuse"))


def cuts(answer: Any) -> dict[str, list[float]]:
    """Where bins end and splines have their knots, from the answer of `survey_query`.

    Parameters
    ----------
    answer : cursor, table or dict
        As for `Summary.from_sql`.

    Returns
    -------
    dict

    Examples
    --------
    >>> import truenorth.sql
    >>> found = {"factor": ["bins(age, 2)", "bins(age, 2)"], "place": [0, 5], "number": [18.0, 40.0]}
    >>> truenorth.sql.cuts(found)
    {'bins(age, 2)': [40.0]}
    """
    return _native.sql_cuts(_answer(answer))


def _asked(
    model: str,
    reward: str,
    dialect: str,
    table: str,
    categories: Iterable[str],
    action: Iterable[str],
    cuts: Mapping[str, Iterable[float]] | None,
    missing: str,
) -> dict[str, Any]:
    return {
        "model": model,
        "reward": reward,
        "dialect": dialect,
        "table": table,
        "categories": _names(categories),
        "action": _names(action),
        "cuts": {term: [float(cut) for cut in places] for term, places in (cuts or {}).items()},
        "missing": missing,
    }


def _names(names: str | Iterable[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)
