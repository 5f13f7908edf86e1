"""Logs become the same summary, whatever they are in."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import truenorth

RNG = np.random.default_rng(5)
Z = RNG.normal(size=(3000, 3))
Y = Z @ [1.0, -0.5, 0.2] + 0.1 * RNG.normal(size=3000)
NAMES = ["price", "age", "size"]


def frame():
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(Z, columns=NAMES).assign(reward=Y, round=np.arange(3000))


def content(summary):
    """All but where the rows come from."""
    policy = truenorth.Policy(offline=summary)
    return summary.rows, summary.names, summary.mean_reward, summary.scale, policy.to_bytes()


def test_arrays_tables_and_files_give_the_same_sums(tmp_path):
    polars, arrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    from pyarrow import parquet

    data = frame()
    table = arrow.Table.from_pandas(data)
    expected = content(truenorth.summarize(Z, Y, names=NAMES))
    by_name = {"features": "*", "reward": "reward"}
    parquet.write_table(table, tmp_path / "logs.parquet")
    data.to_csv(tmp_path / "logs.csv", index=False)
    found = {
        "lists": truenorth.summarize(Z.tolist(), Y.tolist(), names=NAMES),
        "fortran": truenorth.summarize(np.asfortranarray(Z), Y, names=NAMES),
        "pandas": truenorth.summarize(data, **by_name),
        "pandas and rewards": truenorth.summarize(data[NAMES], data["reward"]),
        "polars": truenorth.summarize(polars.from_pandas(data), features=NAMES, reward="reward"),
        "polars and rewards": truenorth.summarize(polars.from_pandas(data[NAMES]), polars.Series(Y)),
        "arrow": truenorth.summarize(table, features="price,age,si*", reward="reward"),
        "arrow and rewards": truenorth.summarize(table.select(NAMES), table["reward"]),
        "batch": truenorth.summarize(arrow.RecordBatch.from_pandas(data), **by_name),
        "reader": truenorth.summarize(table.to_reader(max_chunksize=100), **by_name),
        "parquet": truenorth.summarize(tmp_path / "logs.parquet", **by_name),
        "csv": truenorth.summarize(str(tmp_path / "logs.csv"), **by_name),
        "list of files": truenorth.summarize([tmp_path / "logs.csv"], **by_name),
    }
    for name, summary in found.items():
        if name == "reader":  # batches of another size add in another order
            assert content(summary)[:2] == expected[:2]
        else:
            assert content(summary) == expected, name
    assert found["csv"].files == {str(tmp_path / "logs.csv"): 3000}


def test_frames_of_mixed_numbers_are_arrays():
    pandas, polars, arrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    table = pandas.get_dummies(pandas.DataFrame({"item": ["a", "b", "a"], "price": [1.0, 2.0, 0.5]}))
    nullable = table.astype({"price": "Float64", "item_a": "Int64", "item_b": "boolean"})
    rewards = [1.0, 0.0, 1.0]
    expected = truenorth.summarize(table.to_numpy(dtype=float), rewards, names=list(table))
    for name, given in {
        "mixed": table,
        "nullable": nullable,
        "polars": polars.from_pandas(table),
        "arrow": arrow.Table.from_pandas(table),
    }.items():
        found = truenorth.summarize(given, rewards)
        assert content(found) == content(expected), name
        policy = truenorth.Policy(offline=found)
        assert policy.choose(given).action == policy.choose(table.to_numpy(dtype=float)).action, name
        nameless = truenorth.Policy("lin-ucb", dimension=3)
        assert nameless.choose(given).action == nameless.choose(table.to_numpy(dtype=float)).action, name
    assert content(truenorth.summarize(table, pandas.Series(rewards, dtype="Float64"))) == content(expected)
    with pytest.raises(TypeError, match="y must hold real numbers, but its dtype is object"):
        truenorth.summarize(table, arrow.chunked_array([[True, None, False]]))
    nullable.loc[1, "price"] = pandas.NA
    assert truenorth.summarize(nullable, rewards, missing="drop").rows == 2
    for column, dtype in ((["x", "y", "z"], "(object|str)"), (pandas.to_datetime(["2026-01-01"] * 3), "datetime64")):
        with pytest.raises(TypeError, match=f"column 'colour' must hold real numbers, but its dtype is {dtype}"):
            truenorth.summarize(table.assign(colour=column), rewards)


def test_what_is_masked_is_missing():
    masked = np.ma.array(Z[:4], mask=np.eye(4, 3, dtype=bool))
    with pytest.raises(ValueError, match="row 1: column `x1` "):
        truenorth.summarize(masked, Y[:4])
    assert truenorth.summarize(masked, Y[:4], missing="drop").rows == 1
    assert content(truenorth.summarize(np.ma.array(Z), Y)) == content(truenorth.summarize(Z, Y))
    with pytest.raises(ValueError, match="feature 0 of action 0 must be finite"):
        truenorth.Policy(dimension=3).choose(masked)


def test_what_is_told_wrong_is_named():
    data = {"x": [1.0, 2.0], "reward": [1, 0]}
    for told, error, sentence in [
        ({"reward": 2}, TypeError, "`reward` cannot be <class 'int'>"),
        ({"model": 3}, TypeError, "`model` cannot be <class 'int'>"),
        ({"features": [1]}, TypeError, "`features` must be names of columns, but one of them is 1"),
        ({"action": 5}, TypeError, "`action` must be names of columns, but is 5"),
        ({"threads": -1}, ValueError, "`threads` must be at least 0, but is -1"),
        ({"buckets": -1}, ValueError, "`buckets` must be at least 0, but is -1"),
        ({"reward_range": 5}, TypeError, "`reward_range` cannot be <class 'int'>"),
        ({"intercept": "yes"}, TypeError, "`intercept` cannot be <class 'str'>"),
    ]:
        with pytest.raises(error) as refused:
            truenorth.summarize(data, **{"reward": "reward", **told})
        assert str(refused.value).startswith(sentence), told
    with pytest.raises(ValueError, match=r"Z must have shape \(n, d\), but has shape \(3,\)"):
        truenorth.summarize(Z[0], [1.0])


def test_dates_that_a_model_does_not_use_are_no_obstacle():
    import datetime

    days = [datetime.date(2026, 1, 1), None]
    table = {"x": [1.0, 2.0], "day": days, "at": [datetime.datetime(2026, 1, 1, 12), datetime.datetime(2026, 1, 2)], "reward": [1, 0]}
    assert truenorth.summarize(table, model="x", reward="reward").rows == 2
    assert truenorth.summarize(table, model="0 + at", reward="reward").names == ["at=2026-01-01T12:00:00", "at=2026-01-02"]
    with pytest.raises(TypeError, match="column `day` must hold numbers, truth values, texts or dates, of one kind"):
        truenorth.summarize({**table, "day": [object(), object()]}, model="x", reward="reward")


def test_anything_that_speaks_arrow_is_a_table():
    arrow = pytest.importorskip("pyarrow")

    class Stream:
        def __init__(self, table):
            self.table = table

        def __arrow_c_stream__(self, requested_schema=None):
            return self.table.__arrow_c_stream__(requested_schema)

    class Array:
        def __init__(self, batch):
            self.batch = batch

        def __arrow_c_array__(self, requested_schema=None):
            return self.batch.__arrow_c_array__(requested_schema)

    batch = arrow.RecordBatch.from_pandas(frame())
    found = [
        truenorth.summarize(data, features=NAMES, reward="reward")
        for data in (Stream(arrow.Table.from_batches([batch])), Array(batch))
    ]
    assert content(found[0]) == content(found[1]) == content(truenorth.summarize(Z, Y, names=NAMES))


def test_categories_intercept_and_missing_values_are_those_of_the_command():
    data = frame()
    data["colour"] = np.where(Z[:, 0] > 0, "red", "blue")
    data.loc[3, "price"] = np.nan
    found = truenorth.summarize(
        data, features=NAMES, one_hot="colour", reward="reward", intercept=True, missing="mean"
    )
    assert found.names == ["intercept", *NAMES, "colour=blue", "colour=red"] and found.rows == 3000
    assert truenorth.summarize(data[NAMES].to_numpy(), Y, missing="drop").rows == 2999
    with pytest.raises(ValueError, match="DataFrame, row 4: column `price` has no value"):
        truenorth.summarize(data, features=NAMES, reward="reward")
    dropped = truenorth.summarize(data, features=NAMES, reward="reward", missing="drop")
    assert dropped.rejected == [("column `price` has no value", 1, "DataFrame, row 4")]
    ranged = truenorth.summarize(Z, Y, reward_range=(-1.0, 1.0), skip_malformed=True)
    assert ranged.rows == np.sum(np.abs(Y) <= 1.0)
    hashed = truenorth.summarize(data, features="", hash="colour", buckets=8, reward="reward")
    assert 1 <= hashed.dimension <= 2


def test_summaries_add_up():
    whole = truenorth.summarize(Z, Y)
    halves = truenorth.summarize(Z[:1000], Y[:1000]) + truenorth.summarize(Z[1000:], Y[1000:])
    assert halves.rows == whole.rows and halves.mean_reward == pytest.approx(whole.mean_reward)
    with pytest.raises(ValueError, match=r"different models: `0 \+ N\(x1\) .*` and `0 \+ N\(price\)"):
        whole + truenorth.summarize(Z, Y, names=NAMES)
    with pytest.raises(TypeError):
        whole + 1


def test_summaries_come_back_from_files_bytes_and_pickles(tmp_path):
    summary = truenorth.summarize(Z, Y, names=NAMES, intercept=True)
    summary.save(tmp_path / "logs.tn")
    for other in (
        truenorth.Summary.load(tmp_path / "logs.tn"),
        truenorth.Summary.from_bytes(summary.to_bytes()),
        pickle.loads(pickle.dumps(summary)),
        truenorth.summarize(tmp_path / "logs.tn"),
    ):
        assert other == summary
    assert summary != truenorth.summarize(Z, Y, names=NAMES)
    summary.save(tmp_path / "again.tn")
    both = truenorth.summarize(tmp_path / "*.tn")
    assert both.rows == 6000
    with pytest.raises(ValueError, match="this is no summary"):
        truenorth.Summary.from_bytes(b"not a summary at all")
    with pytest.raises(FileNotFoundError):
        truenorth.Summary.load(tmp_path / "absent.tn")


@pytest.mark.parametrize(
    ("arguments", "told", "error", "sentence"),
    [
        ((Z,), {}, TypeError, "`y` is needed: a reward for each row"),
        ((Z, Y[:5]), {}, ValueError, "y must have shape (3000,), but has shape (5,)"),
        ((Z, Y), {"names": ["a"]}, ValueError, "Z must have shape (n, 1), but has shape (3000, 3)"),
        ((Z, Y), {"names": ["a", "a", "b"]}, ValueError, "array: there are two columns named `a`"),
        ((Z[:, 0], Y), {}, ValueError, "Z must have shape (n, d), but has shape (3000,)"),
        ((Z[:0], Y[:0]), {}, ValueError, "array: there are columns, but no rows"),
        ((Z * np.nan, Y), {}, ValueError, "array, row 1: column `x1` holds NaN"),
        ((Z, Y), {"missing": "one"}, ValueError, "`missing` must be one of refuse, drop, mean, zero"),
        ((Z, Y), {"model": "x1"}, TypeError, "`model`, `action` and `chosen` go with tables"),
        ((Z, Y), {"buckets": 0}, ValueError, "`buckets` must be from 1 to 4096, but is 0"),
        ((Z, Y), {"features": "x*"}, TypeError, "`features`, `one_hot` and `hash` go with tables"),
        (("absent.csv",), {"features": "*", "reward": "r"}, FileNotFoundError, "[Errno 2]"),
        (("absent.csv",), {"features": "*"}, TypeError, "`reward` is needed beside the columns of a table"),
        (("logs.xyz",), {"format": "xlsx"}, ValueError, "`format` must be one of auto, csv, parquet"),
        ((np.broadcast_to(1.0, (10**9, 10**9)), Y), {}, ValueError, "Z must have shape (n, 0)"),
    ],
)
def test_what_cannot_be_summed_up_is_refused(arguments, told, error, sentence):
    with pytest.raises(error) as refused:
        truenorth.summarize(*arguments, **told)
    assert str(refused.value).startswith(sentence)


def test_a_wrong_line_of_a_file_is_named(tmp_path):
    path = tmp_path / "logs.csv"
    path.write_text("a,b,reward\n1,2,3\n1,x,3\n")
    with pytest.raises(ValueError, match="logs.csv, line 3: column `b` holds \"x\", not a number"):
        truenorth.summarize(path, features="a,b", reward="reward")


def test_a_table_without_its_column_is_refused():
    with pytest.raises(ValueError, match="there is no column named `gain`"):
        truenorth.summarize(frame(), features=NAMES, reward="gain")
    with pytest.raises(TypeError, match="`reward` is needed"):
        truenorth.summarize(frame())


def test_the_command_and_the_package_write_the_same_file(tmp_path):
    fixture = Path(__file__).parent / "fixtures"
    found = truenorth.summarize(fixture / "logs.csv", features="*", reward="reward", intercept=True)
    # The command was run in the folder of the file.
    stored = truenorth.Summary.load(fixture / "logs.tn")
    assert (found.rows, found.names, found.scale) == (stored.rows, stored.names, stored.scale)
    assert content(found) == content(stored)


def dsjson(path, count=60):
    """Events of a service: which of two items was shown to which segment, at random."""
    with open(path, "w") as file:
        for number in range(count):
            taken, segment = number % 2, "st"[number // 2 % 2]
            event = {
                "_label_cost": -float(taken == (segment == "s")),
                "_label_probability": 0.5,
                "_label_Action": taken + 1,
                "_labelIndex": taken,
                "a": [taken + 1, 2 - taken],
                "p": [0.5, 0.5],
                "c": {"User": {"segment": segment}, "_multi": [{"A": {"item": "x"}}, {"A": {"item": "y"}}]},
            }
            file.write(json.dumps(event) + "\n")
    return path


def test_events_get_a_model_their_names_or_the_hash(tmp_path):
    path = dsjson(tmp_path / "logs.dsjson")
    made = truenorth.summarize(path)
    assert made.model == "A.item + User.segment:A.item" and made.rows == 60 and made.recipe["missing"] == "zero"
    assert truenorth.summarize(path, keep_names=True).names == ["A.item=x", "A.item=y", "User.segment=s", "User.segment=t"]
    assert all(name.startswith("#") for name in truenorth.summarize(path, buckets=16).names)
    own = truenorth.summarize(path, model="A.item:(0 + User.segment)")
    assert len(own.names) == 4 + own.names.count("intercept")
    with pytest.raises(ValueError, match="`keep_names` goes without a `model`"):
        truenorth.summarize(path, model="A.item", keep_names=True)
    bandit = truenorth.Bandit(made)
    actions = [{"A": {"item": "x"}}, {"A": {"item": "y"}}]
    assert bandit.choose({"User": {"segment": "s"}}, actions).id == "2"
    assert bandit.choose({"User": {"segment": "t"}}, actions).id == "1"
    rows = made.encode(path)
    assert len(rows) == 120 and list(rows.columns) == made.names


def test_events_in_json_lines_are_read_and_encoded(tmp_path):
    events = [
        {
            "context": {"hour": number % 24},
            "actions": [{"id": "a", "price": 1.0}, {"id": "b", "price": number % 3}],
            "action": "ab"[number % 2],
            "reward": number % 5,
        }
        for number in range(50)
    ]
    (tmp_path / "logs.jsonl").write_text("\n".join(map(json.dumps, events)))
    logs = truenorth.summarize(tmp_path / "logs.jsonl", model="price + id:cyclic(hour, 24, 1)")
    assert logs.rows == 50
    rows = logs.encode(events).to_numpy().reshape(50, 2, -1)
    played = np.array([row[number % 2] for number, row in enumerate(rows)])
    np.testing.assert_allclose(played.T @ played, logs.gram, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(played.T @ [event["reward"] for event in events], logs.moment, rtol=1e-12, atol=1e-12)
    assert logs.encode(events[0]).shape == logs.encode(json.dumps(events[0])).shape == (2, logs.dimension)


def test_a_comparison_takes_a_model(tmp_path):
    rng = np.random.default_rng(0)
    rows = [(number // 3, item, rng.choice(["s", "t"])) for number in range(300) for item in "abc"[number % 3]]
    pandas = pytest.importorskip("pandas")
    live = pandas.DataFrame(rows, columns=["round", "item", "segment"])
    live["segment"] = live.groupby("round")["segment"].transform("first")
    live["reward"] = ((live["item"] == "a") == (live["segment"] == "s")) + 0.1 * rng.normal(size=len(live))
    crossed = truenorth.compare(None, live, model="item + segment:item", policies=["lin-ucb"], seeds=2)
    plain = truenorth.compare(None, live, model="item", policies=["lin-ucb"], seeds=2)
    assert crossed.policies[0]["mean_reward"] > plain.policies[0]["mean_reward"] + 0.1
    assert "segment=s:item=a" in crossed.learned("lin-ucb").names
