"""From a raw log to live decisions: names, levels, rewards once only, whatever the values are in."""

import copy
import datetime
import json
import pickle
import subprocess
import sys
import zoneinfo

import numpy as np
import pytest

import truenorth

USERS, TIMES, ARTICLES = ["Tom", "Anna"], ["morning", "afternoon"], ["politics", "sports", "music", "food"]
LIKED = {(user, time): ARTICLES[2 * i + j] for i, user in enumerate(USERS) for j, time in enumerate(TIMES)}
TOLD = {"model": "price + user:time:item", "reward": "reward", "action": ["item", "price"]}
ACTIONS = [{"id": article, "price": 1.0} for article in ARTICLES]


def logs(rows=3000, unit=1.0):
    """The tutorial's log: user and time of day decide which article is read, and cheap ones are read more."""
    rng = np.random.default_rng(7)
    drawn = {name: rng.choice(levels, rows) for name, levels in (("user", USERS), ("time", TIMES), ("item", ARTICLES))}
    price = rng.uniform(0.0, 2.0, rows)
    liked = [LIKED[user, time] == item for user, time, item in zip(drawn["user"], drawn["time"], drawn["item"])]
    chance = np.where(liked, 0.8, 0.2) - 0.1 * price
    return {**drawn, "price": unit * price, "reward": (rng.random(rows) < chance).astype(float)}


def forms(table, folder):
    """The same table as a dictionary, a file, and in every library."""
    pandas, polars, arrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    frame = pandas.DataFrame(table)
    frame.to_csv(folder / "logs.csv", index=False)
    frame.to_json(folder / "logs.jsonl", orient="records", lines=True, double_precision=15)
    frame.to_parquet(folder / "logs.parquet", index=False)
    return {
        "dictionary": table,
        "csv": folder / "logs.csv",
        "json lines": folder / "logs.jsonl",
        "parquet": folder / "logs.parquet",
        "pandas": frame,
        "polars": polars.DataFrame(table),
        "arrow": arrow.table(table),
        "columns in another order": frame[frame.columns[::-1]],
    }


def chosen(bandit, unit=1.0):
    actions = [{**action, "price": unit * action["price"]} for action in ACTIONS]
    return {(user, time): bandit.choose({"user": user, "time": time}, actions).id for user, time in LIKED}


@pytest.mark.parametrize("unit", [1.0, 1000.0])
def test_every_context_of_the_tutorial_gets_its_article(unit, tmp_path):
    for name, data in forms(logs(unit=unit), tmp_path).items():
        summary = truenorth.summarize(data, **TOLD)
        summary.save(tmp_path / "logs.tn")
        bandit = truenorth.Bandit(str(tmp_path / "logs.tn"))
        assert bandit == truenorth.Bandit(summary)
        assert chosen(bandit, unit) == LIKED, name
        # A visit pays little for a dearer article of the same kind, whatever the unit.
        assert bandit.features["price"].estimate * unit == pytest.approx(-0.1, abs=0.05), name


def test_all_forms_of_a_log_are_the_same_sums(tmp_path):
    found = {name: truenorth.summarize(data, **TOLD) for name, data in forms(logs(), tmp_path).items()}
    first = found.pop("dictionary")
    order = {name: place for place, name in enumerate(first.names)}
    for name, summary in found.items():
        assert sorted(summary.names) == sorted(first.names) and summary.model == first.model, name
        places = [order[feature] for feature in summary.names]
        np.testing.assert_allclose(summary.gram, first.gram[np.ix_(places, places)], rtol=1e-12, err_msg=name)
        np.testing.assert_allclose(summary.moment, first.moment[places], rtol=1e-12, err_msg=name)


def test_a_number_is_the_same_level_in_every_form(tmp_path):
    table = {"item": [1, 2, 1, 2], "vip": [True, False, False, True], "reward": [1.0, 0.0, 1.0, 0.0]}
    pandas = pytest.importorskip("pandas")
    told = {"model": "C(item) + vip:C(item)", "reward": "reward", "action": "item"}
    found = forms(table, tmp_path)
    found["floats"] = pandas.DataFrame(table).astype({"item": float})
    found["texts"] = pandas.DataFrame(table).astype({"item": str, "vip": str})
    names = {name: sorted(truenorth.summarize(data, **told).names) for name, data in found.items()}
    assert set(map(tuple, names.values())) == {tuple(names["csv"])} and "item=1" in names["csv"]
    bandit = truenorth.Bandit(truenorth.summarize(found["csv"], **told))
    for one in (1, 1.0, "1", "1.0", np.int64(1), np.float32(1.0)):
        row = bandit.encode({"vip": np.bool_(True)}, [{"item": one}])
        assert row["item=1"].tolist() == [1.0] and list(row) == bandit.names
    assert bandit.choose({"vip": "True"}, [{"item": 1.0}, {"item": 2.0}]).id == "1"


def test_the_logs_own_rows_are_the_rows_of_its_sums(tmp_path):
    for name, data in forms(logs(300), tmp_path).items():
        summary = truenorth.summarize(data, **TOLD)
        rows = summary.encode(data)
        assert list(rows.columns) == summary.names, name
        X, y = rows.to_numpy(), np.asarray(logs(300)["reward"])
        np.testing.assert_allclose(X.T @ X, summary.gram, rtol=1e-12, atol=1e-12, err_msg=name)
        np.testing.assert_allclose(X.T @ y, summary.moment, rtol=1e-12, atol=1e-12, err_msg=name)


MODELS = [
    "price*item",
    "bins(price, 4):item + hour:item",
    "spline(price, 4) + item",
    "0 + cyclic(hour, 24, 2):item",
    "log(price) + C(hour):item",
    "hash(user:item:time, 16)",
    "id:(1 + hour) + vip:item + N(vip):price",
    "day:item + price",
    "user*time*item - user - time - user:time",
]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("missing", ["drop", "mean", "zero"])
def test_a_live_row_is_the_row_of_the_log(model, missing):
    """Value by value from Python, and column by column from a table."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(4)
    table = pandas.DataFrame(logs(200))
    table["hour"] = rng.integers(0, 24, 200)
    table["vip"] = rng.random(200) < 0.5
    table["day"] = pandas.Timestamp("2026-05-01") + pandas.to_timedelta(rng.integers(0, 3, 200), unit="D")
    if missing != "drop":
        table.loc[rng.random(200) < 0.1, ["price", "hour"]] = np.nan
        table.loc[rng.random(200) < 0.1, ["user", "time"]] = None
    told = {"model": model, "reward": "reward", "action": ["item", "price"]}
    summary = truenorth.summarize(table, missing=missing, **told)
    rows = summary.encode(table).to_numpy()
    np.testing.assert_allclose(rows.T @ rows, summary.gram, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(rows.T @ table["reward"].to_numpy(), summary.moment, rtol=1e-9, atol=1e-9)
    bandit = truenorth.Bandit(summary)
    for place in range(0, 200, 7):
        row = table.iloc[place].to_dict()
        action = {"id": row.pop("item"), "price": row.pop("price")}
        live = bandit.encode(row, [action])
        assert list(live) == summary.names
        np.testing.assert_allclose(live.to_numpy()[0], rows[place], rtol=1e-12, atol=1e-12)


def test_contexts_and_actions_may_be_in_anything():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    bandit = truenorth.Bandit(truenorth.summarize(logs(), **TOLD))
    context = {"user": "Anna", "time": "morning"}
    frame = pandas.DataFrame(ACTIONS)
    expected = bandit.encode(context, ACTIONS).to_numpy()
    for contexts in (
        context,
        pandas.Series(context),
        pandas.DataFrame([context]),
        polars.DataFrame([context]),
        polars.DataFrame([context]).row(0, named=True),
        json.dumps(context),
    ):
        for actions in (
            ACTIONS,
            tuple(ACTIONS),
            frame,
            frame[["price", "id"]],
            frame.rename(columns={"id": "item"}),
            list(frame.to_dict("records")),
            [row for _, row in frame.iterrows()],
            polars.DataFrame(ACTIONS),
            json.dumps(ACTIONS),
            [{"id": action["id"], "features": {"price": 1}} for action in ACTIONS],
        ):
            assert copy.copy(bandit).choose(contexts, actions).id == "music"
            np.testing.assert_array_equal(np.asarray(bandit.encode(contexts, actions)), expected)
    whole = {"context": context, "actions": ACTIONS}
    assert bandit.choose(whole).id == bandit.choose(json.dumps(whole)).id == "music"
    assert isinstance(bandit.encode(context, polars.DataFrame(ACTIONS)), polars.DataFrame)
    assert bandit.encode(context, ACTIONS).index.tolist() == ARTICLES


def test_values_of_every_kind_are_fields():
    pandas = pytest.importorskip("pandas")
    bandit = truenorth.Bandit("0 + id:(user.age + user.tags + day + flags + seen)", "lin-ucb")
    context = {
        "user": {"age": np.int32(30), "tags": ["new", "vip"]},
        "day": datetime.date(2026, 5, 1),
        "flags": np.bool_(True),
        "seen": pandas.Timestamp("2026-05-01 12:00"),
    }
    row = bandit.encode(context, ["a"]).iloc[0].to_dict()
    assert row == {
        "id=a:user.age": 30.0,
        "id=a:user.tags=new": 1.0,
        "id=a:user.tags=vip": 1.0,
        "id=a:day=2026-05-01": 1.0,
        "id=a:flags=true": 1.0,
        "id=a:seen=2026-05-01T12:00:00": 1.0,
    }
    for missing in (None, float("nan"), np.nan, pandas.NA, pandas.NaT):
        with pytest.raises(truenorth.BanditError, match="field `day` has no value"):
            bandit.choose({**context, "day": missing}, ["a"])
    with pytest.raises(TypeError, match="field `day` of the context must be a number, .* but is <object"):
        bandit.choose({**context, "day": object()}, ["a"])
    # Digits that a float would lose.
    large = truenorth.Bandit("id:C(user)").encode({"user": 2**60 + 1}, ["a"])
    assert f"id=a:user={2**60 + 1}" in large


def test_a_moment_is_the_same_level_in_every_form(tmp_path):
    """In UTC, without zeros behind a fraction, and at midnight as its date, whatever it is counted in and comes from."""
    pandas, polars, arrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    utc, berlin = datetime.timezone.utc, zoneinfo.ZoneInfo("Europe/Berlin")
    naive = [datetime.datetime(2026, 1, 1), datetime.datetime(2026, 1, 1, 12), datetime.datetime(2026, 1, 1, 12, 0, 0, 500_000)]
    zoned = [moment.replace(tzinfo=utc) for moment in naive]
    for moments, zone, shown in ((naive, None, ""), (zoned, "UTC", "Z"), ([m.astimezone(berlin) for m in zoned], "Europe/Berlin", "Z")):
        levels = ["day=2026-01-01", f"day=2026-01-01T12:00:00.5{shown}", f"day=2026-01-01T12:00:00{shown}"]
        table = {"day": moments, "reward": [1.0, 0.0, 1.0]}
        found = {"dictionary": table}
        for unit in ("s", "ms", "us", "ns"):
            rows = slice(0, 2 if unit == "s" else 3)
            found[f"arrow {unit}"] = arrow.table({"day": arrow.array(moments[rows], arrow.timestamp(unit, zone)), "reward": table["reward"][rows]})
        found["pandas"] = pandas.DataFrame(table)
        found["polars"] = polars.DataFrame(table)
        found["pandas"].to_parquet(tmp_path / "logs.parquet")
        found["polars"].write_parquet(tmp_path / "polars.parquet")
        found["polars"].write_ipc(tmp_path / "polars.arrow", compression="lz4")
        found |= {name: tmp_path / name for name in ("logs.parquet", "polars.parquet", "polars.arrow")}
        for name, data in found.items():
            kept = sorted(levels[:1] + levels[2:] if name == "arrow s" else levels)
            assert truenorth.summarize(data, model="0 + C(day)", reward="reward").names == kept, (name, zone)
            # Without a model, all columns are looked at.
            assert truenorth.summarize(data, reward="reward").rows == len(kept), (name, zone)
        live = truenorth.Bandit("0 + C(id):day", "lin-ucb")
        expected = [f"id=a:{level}" for level in levels]
        for moment, level in zip(moments, (expected[0], expected[2], expected[1])):
            forms = [moment, pandas.Timestamp(moment), arrow.scalar(moment).as_py()]
            if zone is None:
                forms += [np.datetime64(moment, "us"), np.datetime64(moment, "ns"), np.datetime64(moment)]
            for form in forms:
                assert list(live.encode({"day": form}, ["a"])) == [level], form
    assert list(live.encode({"day": datetime.date(2026, 1, 1)}, ["a"])) == ["id=a:day=2026-01-01"]
    assert list(live.encode({"day": np.datetime64("2026-01-01T12")}, ["a"])) == ["id=a:day=2026-01-01T12:00:00"]
    days = np.array(["2026-01-01", "2026-01-02"], "M8[ns]")
    assert truenorth.summarize({"day": days, "reward": [1, 0]}, model="0 + day", reward="reward").names == ["day=2026-01-01", "day=2026-01-02"]


def test_arrow_files_of_polars_are_read(tmp_path):
    polars = pytest.importorskip("polars")
    table = polars.DataFrame(logs(200)).with_columns(polars.col("user").cast(polars.Categorical))
    expected = truenorth.summarize(table, **TOLD)
    for compression in ("uncompressed", "lz4", "zstd"):
        table.write_ipc(tmp_path / "logs.arrow", compression=compression)
        found = truenorth.summarize(tmp_path / "logs.arrow", **TOLD)
        np.testing.assert_array_equal(found.gram, expected.gram)
        assert found.names == expected.names and found.rows == 200


def test_an_action_whose_id_is_missing_is_called_by_its_place():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    table = {"id": ["a", None], "price": [1.0, 2.0]}
    missing = (None, float("nan"), np.float32("nan"), pandas.NA, pandas.NaT, np.datetime64("NaT"))
    for actions in (
        pandas.DataFrame(table),
        polars.DataFrame(table),
        *([{"id": "a", "price": 1.0}, {"id": nothing, "price": 2.0}] for nothing in missing),
    ):
        bandit = truenorth.Bandit("price + id")
        bandit.choose(None, actions)
        assert bandit.joined == ["price", "id=a", "id=2"]
    bandit = truenorth.Bandit(truenorth.summarize(logs(200), **TOLD))
    context = {"user": "Tom", "time": "morning"}
    for nothing in missing:
        assert bandit.choose(context, [{"id": nothing, "item": "food", "price": 1.0}]).id == "food"
        with pytest.raises(truenorth.BanditError, match="action 1 has neither `id` nor `item`"):
            bandit.choose(context, [{"item": nothing, "price": 1.0}])


def test_a_key_that_is_there_twice_in_json_is_refused():
    bandit = truenorth.Bandit("price + id")
    for given in (
        ('{"user": 1, "user": 2}', [{"id": "a", "price": 1}]),
        (None, '[{"id": "a", "price": 1, "user": {"user": 2, "user": 3}}]'),
        ('{"actions": [{"id": "a", "price": 1, "user": 1, "user": 2}]}',),
    ):
        with pytest.raises(ValueError, match="JSON where it is text, but: `user` is there twice"):
            bandit.choose(*given)
    assert bandit.counts.decisions == 0


def test_a_fit_beside_decisions_is_begun_and_finished_by_its_owner():
    beside = truenorth.Bandit(truenorth.summarize(logs(300), **TOLD), fits_beside=True)
    fits = 0
    for round in range(100):
        choice = beside.choose({"user": USERS[round % 2], "time": "morning"}, ACTIONS)
        beside.learn(choice, float(choice.id == LIKED[USERS[round % 2], "morning"]))
        fit = beside.begin_fit()
        if fit is not None:
            beside.finish_fit(fit.run())
            fits += 1
    assert fits > 3 and beside.begin_fit() is None and chosen(beside)["Tom", "morning"] == LIKED["Tom", "morning"]
    with pytest.raises(ValueError, match="`finish_fit` does not go with a policy without a fit that is due"):
        beside.finish_fit(fit_that_is_due())
    assert truenorth.Bandit("id").begin_fit() is None


def fit_that_is_due():
    policy = truenorth.Policy(dimension=2, fits_beside=True)
    while policy.begin_fit() is None:
        policy.learn(policy.choose(np.eye(2)), 0.7)
    return policy.begin_fit()


def test_missing_values_are_treated_as_in_the_logs():
    table = logs(500)
    table["price"] = np.where(np.arange(500) % 7 == 0, np.nan, table["price"])
    summary = truenorth.summarize(pytest.importorskip("pandas").DataFrame(table), missing="mean", **TOLD)
    bandit = truenorth.Bandit(summary)
    filled = bandit.encode({"user": "Tom", "time": "morning"}, [{"id": "food", "price": None}, {"id": "music"}])
    assert filled["price"].tolist() == pytest.approx([np.nanmean(table["price"])] * 2)


def test_a_reward_is_learned_once_whatever_process_asks(tmp_path):
    bandit = truenorth.Bandit(truenorth.summarize(logs(), **TOLD))
    choice = bandit.choose({"user": "Tom", "time": "morning"}, ACTIONS)
    later = bandit.choose({"user": "Anna", "time": "morning"}, ACTIONS)
    bandit.learn(choice.decision_id, 1.0)
    bandit.save(tmp_path / "bandit.tn")
    program = (
        "import truenorth, sys; bandit = truenorth.Bandit.load(sys.argv[1])\n"
        "try: bandit.learn(sys.argv[2], 1.0)\n"
        "except truenorth.BanditError as error: print(error.code)\n"
        "bandit.learn(sys.argv[3], 0.0); bandit.save(sys.argv[1]); print(bandit.counts.rewards)"
    )
    command = [sys.executable, "-c", program, tmp_path / "bandit.tn", choice.decision_id, later.decision_id]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["already_learned", "2"]
    again = truenorth.Bandit.load(tmp_path / "bandit.tn")
    for known, decision in ((again, later), (bandit, choice)):
        with pytest.raises(truenorth.BanditError, match="has had its reward already") as refused:
            known.learn(decision, 1.0)
        assert refused.value.code == "already_learned" and isinstance(refused.value, ValueError)
    with pytest.raises(truenorth.BanditError) as refused:
        bandit.learn("nobody", 1.0)
    assert pickle.loads(pickle.dumps(refused.value)).code == "unknown_decision"
    assert again.counts == truenorth.BanditCounts(2, 2, 0, 0, 0, 0, 0, again.counts.pooled_share, 0.5)


def test_decisions_expire_by_number_and_by_age():
    few = truenorth.Bandit("id", open=2)
    decisions = [few.choose(None, ["a", "b"]) for _ in range(3)]
    with pytest.raises(truenorth.BanditError, match="has expired") as refused:
        few.learn(decisions[0], 1.0)
    assert refused.value.code == "expired" and (few.counts.open, few.counts.expired) == (2, 1)
    same = few.choose(None, ["a", "b"], decision_id="mine")
    assert few.choose(None, ["a", "b"], decision_id="mine") == same and few.counts.decisions == 4
    with pytest.raises(truenorth.BanditError, match="another context or other actions") as refused:
        few.choose(None, ["a", "c"], decision_id="mine")
    assert refused.value.code == "conflict"


def test_levels_that_were_never_logged_join_up_to_a_limit():
    bandit = truenorth.Bandit(truenorth.summarize(logs(), **TOLD), joining=2)
    context = {"user": "Tom", "time": "morning", "weather": "rain"}
    for article in ("new", "newer", "newest"):
        bandit.choose(context, [*ACTIONS, {"id": article, "price": 0.5}])
    assert bandit.joined == ["user=Tom:time=morning:item=new", "user=Tom:time=morning:item=newer", "user:time:item=other"]
    assert bandit.unknown_fields == {"weather": 3} and bandit.counts.joined == 3
    assert len(bandit.features) == bandit.policy.dimension == len(bandit.names)


def test_a_new_article_that_is_the_best_is_found():
    rng = np.random.default_rng(1)
    bandit = truenorth.Bandit(truenorth.summarize(logs(), **TOLD))
    found = 0
    for round in range(600):
        user, time = USERS[round % 2], TIMES[round // 2 % 2]
        choice = bandit.choose({"user": user, "time": time}, [*ACTIONS, {"id": "comics", "price": 1.0}])
        chance = 0.95 if choice.id == "comics" else 0.7 if choice.id == LIKED[user, time] else 0.1
        bandit.learn(choice, float(rng.random() < chance))
        found += round >= 400 and choice.id == "comics"
    assert found >= 180


def test_rows_of_others_are_learned_from_events_frames_and_files(tmp_path):
    model, table = "price + user:time:item", logs(400)
    empty = truenorth.summarize({name: column[:40] for name, column in logs().items()}, **TOLD)
    told = {}
    for name, data in forms(table, tmp_path).items():
        told[name] = truenorth.Bandit(empty)
        assert told[name].learn_rows(data) == 400
    events = [
        {
            "context": {"user": user, "time": time},
            "actions": [{"id": item, "price": price}, {"id": "other", "price": 0}],
            "action": item,
            "reward": reward,
        }
        for user, time, item, price, reward in zip(*(table[name].tolist() for name in ("user", "time", "item", "price", "reward")))
    ]
    told["events"] = truenorth.Bandit(empty)
    told["events"].learn_rows(events[:200])
    (tmp_path / "live.jsonl").write_text("\n".join(map(json.dumps, events[200:])))
    assert told["events"].partial_fit(tmp_path / "live.jsonl") is told["events"]
    first = told.pop("dictionary")
    assert (first.counts.rows, first.counts.decisions, first.counts.rewards) == (400, 0, 0)
    for name, bandit in told.items():
        for feature in first.features:
            assert bandit.features[feature.name].estimate == pytest.approx(feature.estimate, abs=1e-9), name
    before = first.to_bytes()
    with pytest.raises(truenorth.BanditError, match="row 2: action \"music\": field `price` has no value"):
        first.learn_rows([events[0], {**events[1], "actions": [{"id": "music"}], "action": "music"}])
    with pytest.raises(ValueError, match="none of the 400 rows has a reward; `reward` names its column"):
        first.learn_rows(table, reward="gain")
    assert first.to_bytes() == before
    assert truenorth.Bandit(model).learn_rows(table) == 400


def test_rows_of_one_round_are_learned_each(tmp_path):
    table = {"round": np.arange(400) // 4, **logs(400)}
    for name, data in forms(table, tmp_path).items():
        assert truenorth.Bandit("price + user:time:item").learn_rows(data) == 400, name


def test_patterns_of_a_model_take_the_columns_of_a_table(tmp_path):
    table = {"id": ["a", "b"] * 20, "f_1": [1.0, 2.0] * 20, "f_2": [0.5] * 40, "other": [3.0] * 40, "reward": [1, 0] * 20}
    for name, data in forms(table, tmp_path).items():
        bandit = truenorth.Bandit("id:(1 + f_*)")
        assert bandit.learn_rows(data) == 40, name
        assert sorted(bandit.joined) == [f"id={arm}{field}" for arm in "ab" for field in ("", ":f_1", ":f_2")], name


def test_a_table_with_a_row_for_each_action_counts_what_was_taken():
    table = {
        "item": ["a", "b"] * 50,
        "hour": np.repeat(np.arange(50) % 5, 2),
        "taken": [True, False] * 25 + [False, True] * 25,
        "reward": [1.0, np.nan] * 25 + [np.nan, 0.0] * 25,
    }
    data = pytest.importorskip("pandas").DataFrame(table)
    summary = truenorth.summarize(data, model="item:hour", reward="reward", action="item", chosen="taken")
    assert summary.rows == 50 and summary.warnings == []
    bandit = truenorth.Bandit("item:hour")
    assert bandit.learn_rows(data.fillna({"reward": 5.0}), chosen="taken") == 50


def test_logs_are_added_and_seasons_begin():
    half = {name: column[:1500] for name, column in logs().items()}
    rest = {name: column[1500:] for name, column in logs().items()}
    bandit = truenorth.Bandit(truenorth.summarize(half, **TOLD))
    bandit.add_logs(truenorth.summarize(rest, **TOLD))
    whole = truenorth.Bandit(truenorth.summarize(logs(), **TOLD))
    for feature in whole.features:
        assert bandit.features[feature.name].estimate == pytest.approx(feature.estimate, abs=1e-6)
    bandit.renew()
    with pytest.raises(ValueError, match="the bandit has the model `price .*`, but the logs have `item`"):
        bandit.add_logs(truenorth.summarize(half, model="item", reward="reward", action="item"))


def test_terms_that_cannot_change_a_choice_are_named():
    told = {"model": "user + user:item", "reward": "reward", "action": "item"}
    sentence = "`user` is the same for every action of a round and cannot change a choice; cross it with the action"
    with pytest.warns(UserWarning, match=sentence) as warned:
        summary = truenorth.summarize(logs(), **told)
    assert warned[0].filename == __file__
    assert len(summary.warnings) == 1 and summary.warnings[0].startswith(sentence)
    with pytest.warns(UserWarning, match=sentence):
        bandit = truenorth.Bandit(summary)
    assert bandit.warnings == summary.warnings
    with pytest.warns(UserWarning, match=sentence):
        truenorth.audit(summary)


def test_a_model_is_made_where_none_is_given():
    summary = truenorth.summarize(logs(), reward="reward", action=["item", "price"])
    bandit = truenorth.Bandit(summary)
    assert "user:item" in summary.model and "price" in summary.model and bandit.model == summary.model
    recipe = summary.recipe
    assert recipe["model"] == summary.model and recipe["action"] == ["item", "price"] and recipe["id"] == "item"
    assert recipe["kinds"]["price"] == "number" and recipe["missing"] == "refuse"
    again = truenorth.summarize(logs(), model=summary.model, reward="reward", action=["item", "price"])
    assert again.names == summary.names


def test_the_whole_state_comes_back(tmp_path):
    bandit = truenorth.Bandit(truenorth.summarize(logs(), **TOLD), "truenorth-sampling", seed=3)
    choice = bandit.choose({"user": "Tom", "time": "morning"}, [*ACTIONS, {"id": "new", "price": 1.0}])
    bandit.save(tmp_path / "bandit.tn")
    copies = [
        truenorth.Bandit.load(tmp_path / "bandit.tn"),
        truenorth.Bandit.from_bytes(bandit.to_bytes()),
        pickle.loads(pickle.dumps(bandit)),
        copy.deepcopy(bandit),
    ]
    for same in copies:
        assert same == bandit and same.joined == bandit.joined
        same.learn(choice, 1.0)
        assert same != bandit and same.choose({"user": "Tom", "time": "morning"}, ACTIONS).probability < 1.0
    assert pickle.loads(pickle.dumps(choice)) == choice and eval(repr(copies[0].counts), vars(truenorth))
    with pytest.raises(truenorth.BanditError, match="the bandit is damaged") as refused:
        truenorth.Bandit.from_bytes(b"no bandit at all, but some bytes")
    assert refused.value.code == "damaged"
    with pytest.raises(FileNotFoundError):
        truenorth.Bandit.load(tmp_path / "absent.tn")


def test_settings_are_those_of_a_policy_and_limits(tmp_path):
    settings = {"noise": 0.3, "seed": 5, "half_life": 100.0, "explore": "sampling", "season": 10}
    bandit = truenorth.Bandit("id", "truenorth", **settings)
    assert {name: bandit.policy.params[name] for name in settings} == settings
    summary = truenorth.summarize(logs(), **TOLD)
    certificate = truenorth.Certificate.isotropic(summary.dimension, 0.1)
    assert truenorth.Bandit(summary, "truenorth-confidence", certificate=certificate).policy.certificate == certificate
    for wrong, sentence in (
        ({"nois": 1.0}, 'Bandit has no parameter "nois"; did you mean "noise"?'),
        ({"colour": 1.0}, 'Bandit has no parameter "colour"; the names are joining, open, age, horizon'),
    ):
        with pytest.raises(TypeError) as refused:
            truenorth.Bandit("id", **wrong)
        assert str(refused.value).startswith(sentence)
    with pytest.raises(ValueError, match='there is no policy named "truenort"; .*; did you mean "truenorth"?'):
        truenorth.Bandit("id", "truenort")
    with pytest.raises(truenorth.BanditError, match="`open` must be at least 1, but is 0"):
        truenorth.Bandit("id", open=0)
    for wrong in ("open", "joining", "age", "seed", "horizon"):
        with pytest.raises(ValueError, match=f"`{wrong}` must be at least 0, but is -1"):
            truenorth.Bandit("id", **{wrong: -1})
    for path in ("absent.tn", "logs/absent", tmp_path / "absent"):
        with pytest.raises(FileNotFoundError):
            truenorth.Bandit(path)
    with pytest.raises(TypeError, match="a decision is known by its id or its BanditChoice, but this is <class 'int'>"):
        bandit.learn(5, 1.0)
    with pytest.raises(TypeError, match="logs are a Summary or its file, but this is <class 'int'>"):
        bandit.add_logs(5)
    with pytest.raises(TypeError, match="`noise` cannot be <class 'str'>: must be real number, not str"):
        truenorth.Bandit("id", noise="loud")
    with pytest.raises(TypeError, match="a bandit is made from a Summary, its file or a model, but this is <class 'int'>"):
        truenorth.Bandit(5)


@pytest.mark.parametrize(
    ("context", "actions", "error", "sentence"),
    [
        ({"user": "Tom"}, ACTIONS, ValueError, "field `time` has no value"),
        ({"user": "Tom", "time": "morning"}, [{"id": "food"}], ValueError, 'action "food": field `price` has no value'),
        ({"user": "Tom", "time": "morning"}, [{"id": "food", "price": "dear"}], ValueError, 'action "food": field `price` holds "dear", not a number'),
        ({"user": "Tom", "time": "morning"}, [{"id": "food", "price": float("inf")}], ValueError, "field `price` holds inf"),
        ({"user": "Tom", "time": "morning"}, [ACTIONS[0], {"name": "music", "price": 2}], ValueError, "action 2 has neither `id` nor `item`"),
        ({"user": "Tom", "time": "morning"}, [ACTIONS[0]] * 2, ValueError, 'two actions have the id "politics"'),
        ({"user": "Tom", "time": "morning"}, [], ValueError, "the event has no `actions` to choose from"),
        ({"user": "Tom", "time": "morning"}, None, TypeError, "`actions` are needed, or an event that has `actions`"),
        ({"user": "Tom", "time": "morning"}, 5, TypeError, "`actions` must be a list, a data frame or JSON text, but are 5"),
        ({"user": "Tom", "time": "morning"}, [5.5], TypeError, "an action must be a dictionary, a row of a data frame or JSON text, but is 5.5"),
        (5, ACTIONS, TypeError, "the context must be a dictionary, a row of a data frame or JSON text, but is 5"),
        ("{", ACTIONS, ValueError, "the context must be JSON where it is text, but: "),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_and_leaves_no_trace(context, actions, error, sentence):
    bandit = truenorth.Bandit(truenorth.summarize(logs(500), **TOLD))
    before = bandit.to_bytes()
    with pytest.raises(error) as refused:
        bandit.choose(context, actions)
    assert sentence in str(refused.value)
    assert bandit.to_bytes() == before


def test_a_dictionary_of_columns_needs_no_library():
    program = (
        "import sys, truenorth; sys.modules.update(pyarrow=None, polars=None, pandas=None)\n"
        "table = {'item': ['a', 'b', None, 'a'], 'new': [True, False, True, None], 'n': [1, 2, None, 4], 'reward': [1.0, 0.0, 1.0, float('nan')]}\n"
        "logs = truenorth.summarize(table, model='item + new:item + n:item', reward='reward', action='item', missing='drop')\n"
        "print(logs.rows, *logs.names); print(list(truenorth.Bandit(logs).encode({'new': True, 'n': 1}, ['a'])) == logs.names)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [
        "2", "intercept", "item=a", "item=b", "n:item=a", "n:item=b", "new=false:item=b", "new=true:item=a", "True"
    ]  # fmt: skip
    for table, sentence in (
        ({"a": [1, "x"], "reward": [1, 2]}, "column `a` must hold numbers, truth values, texts or dates, of one kind"),
        ({"a": [1, 2], "reward": [1]}, "the columns are no table: "),
    ):
        with pytest.raises((TypeError, ValueError), match=sentence):
            truenorth.summarize(table, model="a", reward="reward")


def test_misspelled_names_are_recognised():
    with pytest.raises(ValueError, match=r"there is no field `prize` \(did you mean `price`\?\)"):
        truenorth.summarize(logs(50), model="prize", reward="reward")
    with pytest.raises(ValueError, match=r"there is no column named `rewrad` \(did you mean `reward`\?\)"):
        truenorth.summarize(logs(50), model="price", reward="rewrad")
    with pytest.raises(ValueError, match='`missing` must be .* but is "drp"; did you mean "drop"?'):
        truenorth.summarize(logs(50), model="price", reward="reward", missing="drp")
    with pytest.raises(KeyError, match="there is no feature 'prize'; did you mean 'price'?"):
        truenorth.Bandit(truenorth.summarize(logs(50), **TOLD)).features["prize"]
    with pytest.raises(ValueError, match="the model is wrong at"):
        truenorth.Bandit("price +* id")


def test_intervals_and_stories_are_those_of_the_next_decision():
    bandit = truenorth.Bandit(truenorth.summarize(logs(), **TOLD))
    context = {"user": "Anna", "time": "afternoon"}
    intervals, story = bandit.intervals(context, ACTIONS), bandit.explain(context, ACTIONS)
    choice = bandit.choose(context, ACTIONS)
    assert (intervals.mean[choice.index], intervals.ucb[choice.index]) == (choice.mean, choice.ucb)
    assert story.action == choice.index and choice.lcb < choice.mean < choice.ucb
    assert "decisions=1" in repr(bandit) and "id=\"food\"" in repr(choice)


def test_threads_share_a_bandit():
    from concurrent.futures import ThreadPoolExecutor

    bandit = truenorth.Bandit(truenorth.summarize(logs(), **TOLD))

    def visit(number):
        choice = bandit.choose({"user": USERS[number % 2], "time": "morning"}, ACTIONS)
        bandit.learn(choice, 1.0)
        return choice.decision_id

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(visit, range(400)))) == 400
    assert (bandit.counts.decisions, bandit.counts.rewards, bandit.counts.open) == (400, 400, 0)
