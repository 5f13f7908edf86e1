"""Dask sums up what one process sums up, whatever its partitions are, and whoever dies on the way."""

import os
import signal
import threading
import time

import pytest
from conftest import assert_equal, summarized, table

import truenorth

dask = pytest.importorskip("dask")
frames = pytest.importorskip("dask.dataframe")
import truenorth.dask  # noqa: E402

# Dask warns of what is large.
pytestmark = pytest.mark.filterwarnings("default")


def on_dask(df, **asked):
    return summarized(df, truenorth.dask.summarize, **asked)


@pytest.mark.parametrize("partitions", [None, 1, 37])
def test_two_million_rows_give_the_sums_of_one_process(logs, expected, partitions):
    df = frames.read_parquet(logs, split_row_groups=partitions is None)
    df = df if partitions is None else df.repartition(npartitions=partitions)
    found = on_dask(df)
    assert_equal(found, expected)
    assert found.files == {"DataFrame": expected.rows}


def test_without_a_model_the_data_makes_the_same_one():
    rows = table(5000).drop_columns(["tenth"]).to_pandas()
    asked = {"reward": "reward", "action": ["item", "price"]}
    expected = truenorth.summarize(rows, **asked)
    for parts in (1, 13):
        assert_equal(truenorth.dask.summarize(frames.from_pandas(rows, npartitions=parts), **asked), expected)


def test_what_is_wrong_is_one_sentence_with_its_place():
    import pandas

    df = frames.from_pandas(pandas.DataFrame({"x": [1.0, 2.0, None], "reward": [0.5] * 3}), npartitions=3)
    with pytest.raises(ValueError, match=r"^DataFrame, partition 2, row 1: column `x` has no value$"):
        truenorth.dask.summarize(df, model="x", reward="reward")


def test_a_worker_that_dies_on_the_way_changes_nothing(logs):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1") as cluster:
        with distributed.Client(cluster) as client:
            df = frames.read_parquet(logs, split_row_groups=False).repartition(npartitions=64)
            untouched = on_dask(df)
            worker = next(iter(client.run(os.getpid).values()))
            killed = []

            def kill():
                time.sleep(1.0)
                os.kill(worker, signal.SIGKILL)
                killed.append(worker)

            killer = threading.Thread(target=kill, daemon=True)
            killer.start()
            found = on_dask(df)
            assert killed == [worker], "the run was over before anything died"
            assert found.to_bytes() == untouched.to_bytes()
