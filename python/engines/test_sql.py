"""A query of plain aggregates gives the summary of the rows, on every database at hand."""

import os
from contextlib import contextmanager

import pytest
from conftest import ASKED, assert_equal, summarized, table

import truenorth
import truenorth.sql

ROWS = 200_000
SQL = {"categories": ["item", "segment"], "action": ASKED["action"]}
# All that can be asked for, with products of everything.
WIDE = "x0:x1 + spline(age, 4) + spline(age, 4):item + bins(x0, 3):segment + C(store):log(price) + cyclic(hour, 24, 2):item"


@contextmanager
def duckdb(rows):
    with pytest.importorskip("duckdb").connect() as connection:
        connection.register("logs", rows)
        yield "duckdb", connection.execute


@contextmanager
def postgres(rows):
    psycopg = pytest.importorskip("psycopg")
    if "TRUENORTH_POSTGRES" not in os.environ:
        pytest.skip("no PostgreSQL: .ci/engines starts one")
    types = {"string": "text", "double": "double precision", "int64": "bigint", "bool": "boolean"}
    columns = ", ".join(f'"{field.name}" {types[str(field.type)]}' for field in rows.schema)
    with psycopg.connect(os.environ["TRUENORTH_POSTGRES"]) as connection:
        cursor = connection.cursor()
        cursor.execute(f"CREATE TEMPORARY TABLE logs ({columns})")
        with cursor.copy("COPY logs FROM STDIN") as copy:
            for row in zip(*(column.to_pylist() for column in rows.columns)):
                copy.write_row(row)
        yield "postgres", cursor.execute
        connection.rollback()


DATABASES = [duckdb, postgres]


def asked_of(database, rows, model, **asked):
    with database(rows) as (dialect, execute):
        survey = truenorth.sql.survey_query(model, dialect=dialect)
        cuts = truenorth.sql.cuts(execute(survey)) if survey else None
        query = truenorth.sql.summary_query(model, "reward", dialect=dialect, cuts=cuts, **asked)
        return truenorth.Summary.from_sql(execute(query))


@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("model", [ASKED["model"], WIDE, "x0 + x1", "0 + item", "1"])
def test_the_summary_is_that_of_the_rows(database, model):
    # Few values of the numbers that bins are made of, so that both have exact quantiles.
    rows = table(ROWS if model == ASKED["model"] else 20_000)
    found = asked_of(database, rows, model, **SQL)
    assert found.files == {"database": rows.num_rows}
    assert_equal(found, summarized(rows, model=model), untold=["store"])


@pytest.mark.parametrize("database", DATABASES)
def test_levels_are_the_same_whatever_the_database_calls_them(database):
    import pyarrow

    rows = pyarrow.table(
        {
            "flag": [True, False, True, False],
            "name": [" a", "a", "1.0", "it's"],
            "place": [1, 2, 2, 9_007_199_254_740_993],
            "reward": [0.5, 1.0, 0.0, 2.0],
        }
    )
    model = "flag + name + C(place) + flag:name"
    found = asked_of(database, rows, model, categories=["flag", "name"])
    assert_equal(found, truenorth.summarize(rows, model=model, reward="reward"), untold=["place"])


@pytest.mark.parametrize("database", DATABASES)
def test_missing_values_are_refused_dropped_or_nothing(database):
    import pyarrow

    rows = pyarrow.table(
        {"x": [1.0, None, 3.0, 4.0], "item": ["a", "b", None, "c"], "reward": [1.0, 2.0, 3.0, 5.0]}
    )
    model = "x + item + x:item"
    with pytest.raises(ValueError, match="2 rows lack a value in one of the columns `item`, `x`, `reward`"):
        asked_of(database, rows, model, categories=["item"])
    for missing in ("drop", "zero"):
        found = asked_of(database, rows, model, categories=["item"], missing=missing)
        assert_equal(found, truenorth.summarize(rows, model=model, reward="reward", missing=missing))
    with pytest.raises(ValueError, match="1 rows are below 0 in one of the columns `x`, but `log` needs"):
        asked_of(database, pyarrow.table({"x": [1.0, -2.0], "reward": [1.0, 2.0]}), "log(x)")


def test_answers_add_up_with_summaries_of_tables():
    rows = table(1000)
    found = asked_of(duckdb, rows, "item + x0:item", **SQL)
    whole = found + summarized(rows, model="item + x0:item")
    assert whole.rows == 2000


def test_what_a_query_cannot_say_is_refused_in_a_sentence():
    said = {
        "hash(item, 8)": "is hashed, which a query cannot do",
        "f_*": "is a pattern, but a query needs the names of its columns",
        "bins(age, 4)": "ask for them by `survey_query`, or give `cuts`",
        " + ".join(f"x{place}" for place in range(60)): "1600 are the most; summarize the rows themselves",
    }
    for model, sentence in said.items():
        with pytest.raises(ValueError, match=sentence):
            truenorth.sql.summary_query(model, "reward", dialect="duckdb")
    with pytest.raises(ValueError, match="`dialect` must be one of duckdb, postgres"):
        truenorth.sql.summary_query("x", "reward", dialect="oracle")
    with pytest.raises(ValueError, match="`missing` may be refuse, drop or zero"):
        truenorth.sql.summary_query("x", "reward", dialect="duckdb", missing="mean")
    with pytest.raises(ValueError, match="there is no column named `truenorth`"):
        truenorth.Summary.from_sql({"a": [1]})
