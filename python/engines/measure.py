"""How fast parts are summed up: the native reader on batches of Arrow, the reducer that engines call on the same, and engines.

    python python/engines/measure.py [ROWS] [spark]
"""

import os
import statistics
import sys
import time
import warnings

import pyarrow
from conftest import ASKED, table

import truenorth
from truenorth import spark

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
NUMBERS = {"model": "x0 + x1 + x2 + x3 + tenth + age + price + hour + store", "reward": "reward"}
CATEGORIES = {**ASKED, "model": ASKED["model"].replace(" + bins(age, 4)", "")}


def seconds(work, clock=time.process_time, repetitions=7):
    """The median; of the processor's time where all work is this process's, on one core."""
    times = []
    for _ in range(repetitions):
        start = clock()
        work()
        times.append(clock() - start)
    return statistics.median(times)


def reduced(batches, recipe):
    """What a task of Spark does: batches in, bytes out."""
    work = lambda reader: truenorth._native.summarize_part(reader, "DataFrame", recipe, 0)
    rows = list(spark._row(0, *spark._tried(iter(batches), work)))
    assert rows[0]["wrong"][0].as_py() is None
    return rows


def main():
    warnings.simplefilter("ignore")
    rows = table(ROWS)
    # As many rows as Spark puts into a batch.
    batches = rows.to_batches(max_chunksize=10_000)
    for name, asked in (("numbers", NUMBERS), ("categories and crosses", CATEGORIES)):
        recipe = truenorth.survey(rows.slice(0, 0), **asked).recipe()
        whole = pyarrow.Table.from_batches(batches)
        native = seconds(lambda: truenorth.summarize(whole, **asked))
        ours = seconds(lambda: reduced(batches, recipe))
        rate = lambda taken: ROWS / taken / 1e6
        print(f"{name}: native {rate(native):.2f} million rows/s, reducer {rate(ours):.2f}, {ours / native:.2f} times, one core")
    if "spark" in sys.argv:
        engine()


def engine():
    import tempfile

    from pyarrow import parquet
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "false")
    session = session.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/logs.parquet"
        parquet.write_table(table(ROWS), path, row_group_size=250_000)
        df = session.read.parquet(path)
        for name, asked in (("numbers", NUMBERS), ("categories and crosses", CATEGORIES)):
            alone = seconds(lambda: truenorth.summarize(path, **asked), time.perf_counter, 3)
            spark.summarize(df, **asked)
            taken = seconds(lambda: spark.summarize(df, **asked), time.perf_counter, 3)
            # What Spark takes to hand the same columns to Python and to throw them away.
            names = truenorth.survey(table(0), **asked).recipe().columns
            empty = lambda batches: (batch.slice(0, 0) for batch in batches)
            handed = seconds(
                lambda: df.select(*names).mapInArrow(empty, df.select(*names).schema).count(), time.perf_counter, 3
            )
            print(f"{name}: Spark {taken:.2f} s, of which handing rows to Python {handed:.2f} s; one process on the file {alone:.2f} s")
    session.stop()


if __name__ == "__main__":
    main()
