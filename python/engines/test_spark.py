"""Spark sums up what one process sums up, whatever its partitions are, and whoever dies on the way."""

import os
import shutil
import signal
import sys
import threading
import time
from pathlib import Path

import pytest
from conftest import ASKED, assert_equal, summarized, table

import truenorth

pyspark = pytest.importorskip("pyspark")
import truenorth.spark  # noqa: E402
import truenorth.sql  # noqa: E402

# PySpark warns of the newest pandas, and of much else.
pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module")
def spark():
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("no Java")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        pyspark.sql.SparkSession.builder.master("local-cluster[2,1,1024]")
        .appName("truenorth")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "4")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def on_spark(df, **asked):
    return summarized(df, truenorth.spark.summarize, **asked)


@pytest.mark.parametrize("partitions", [None, 1, 37])
def test_two_million_rows_give_the_sums_of_one_process(spark, logs, expected, partitions):
    df = spark.read.parquet(str(logs))
    df = df if partitions is None else df.repartition(partitions)
    found = on_spark(df)
    assert_equal(found, expected)
    assert found.files == {"DataFrame": expected.rows}


def test_the_file_is_the_one_that_every_command_reads(spark, logs, expected, tmp_path):
    found = on_spark(spark.read.parquet(str(logs)).limit(1000).repartition(3), missing="mean")
    found.save(tmp_path / "logs.tn")
    assert truenorth.Summary.load(tmp_path / "logs.tn") == found
    assert truenorth.audit(found).rows == 1000


def executors(app):
    """The processes of an application's executors."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            command = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if "org.apache.spark.executor.CoarseGrainedExecutorBackend" in command and app in command:
            found.append(int(process.name))
    return sorted(found)


def test_an_executor_that_dies_on_the_way_changes_nothing(spark, logs):
    df = spark.read.parquet(str(logs)).repartition(64)
    untouched = on_spark(df)
    context = spark.sparkContext
    before = executors(context.applicationId)
    assert len(before) == 2
    killed = []

    def kill():
        tracker = context.statusTracker()
        while not killed:
            stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            # In the middle of the stage that reads the shuffled rows.
            if any(stage and stage.numTasks == 64 and 8 <= stage.numCompletedTasks < 48 for stage in stages):
                os.kill(before[0], signal.SIGKILL)
                killed.append(before[0])
            time.sleep(0.002)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    found = on_spark(df)
    killer.join(timeout=1)
    assert killed == before[:1], "the run was over before anything died"
    # Rows that are shuffled again may come in another order.
    assert_equal(found, untouched)


def test_without_a_model_the_data_makes_the_same_one(spark):
    rows = table(5000).drop_columns(["tenth"])
    df = spark.createDataFrame(rows.to_pandas())
    asked = {"reward": "reward", "action": ["item", "price"]}
    expected = truenorth.summarize(rows, **asked)
    for partitions in (1, 13):
        found = truenorth.spark.summarize(df.coalesce(1) if partitions == 1 else df.repartitionByRange(13, "x0"), **asked)
        # Shuffled rows come in another order, but their columns do not.
        assert found.model == expected.model
        assert_equal(found, expected)


def test_missing_values_and_names_of_columns_are_as_in_one_process(spark):
    import pyarrow

    rows = table(4000)
    age = rows["age"].to_pylist()
    rows = rows.set_column(rows.column_names.index("age"), "the `age`.", pyarrow.array([None if place % 9 == 0 else value for place, value in enumerate(age)]))
    model = "`the ``age``.` + `the ``age``.`:item + hash(segment:item, 16)"
    asked = {"model": model, "reward": "reward", "action": "item", "missing": "mean"}
    df = spark.createDataFrame(rows.to_pandas().astype({"the `age`.": "Int64"}))
    assert_equal(on_spark(df.repartition(5), **asked), summarized(rows, **asked))


def test_what_is_wrong_is_one_sentence_with_its_place(spark):
    df = spark.createDataFrame([(1.0, 0.5), (None, 0.5)], "x double, reward double").coalesce(1)
    with pytest.raises(ValueError, match=r"^DataFrame, partition 0, row 2: column `x` has no value$"):
        truenorth.spark.summarize(df, model="x", reward="reward")
    with pytest.raises(ValueError, match="there is no field `z`"):
        truenorth.spark.summarize(df, model="z", reward="reward")
    with pytest.raises(ValueError, match="there are columns, but no rows"):
        truenorth.spark.summarize(df.limit(0), model="x", reward="reward")


def test_the_query_of_plain_aggregates_runs_on_spark_too(spark, logs):
    # Some rows, of which Spark would take others each time it is asked.
    rows = spark.read.parquet(str(logs)).limit(20_000).toPandas()
    spark.createDataFrame(rows).createOrReplaceTempView("logs")
    asked = {"dialect": "spark"}
    cuts = truenorth.sql.cuts(spark.sql(truenorth.sql.survey_query(ASKED["model"], **asked)).toPandas())
    query = truenorth.sql.summary_query(ASKED["model"], "reward", categories=["item", "segment"], action=ASKED["action"], cuts=cuts, **asked)
    assert_equal(truenorth.Summary.from_sql(spark.sql(query).toPandas()), summarized(rows), untold=["store"])
