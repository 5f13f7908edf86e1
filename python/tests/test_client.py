"""A bandit behind a service does what a bandit in this process does."""

import datetime
import json
import socket
import sqlite3
import subprocess
import threading

import numpy as np
import pytest
from service import binary, serving

import truenorth

ACTIONS = [{"id": "news", "price": 1.5}, {"id": "sport", "price": 0.0}, {"id": "music", "price": 0.5}]
MODEL = "price + segment:id"


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("service") / "data") as address:
        yield address


def logs(tmp_path):
    rng, lines = np.random.default_rng(1), []
    for _ in range(400):
        segment, item = rng.choice(["student", "retired"]), ACTIONS[rng.integers(3)]
        liked = item["id"] == ("sport" if segment == "student" else "news")
        lines.append({"context": {"segment": segment}, "actions": ACTIONS, "action": item["id"], "reward": float(liked)})
    path = tmp_path / "logs.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    return truenorth.summarize(path, format="events", model=MODEL)


def play(bandit, rounds=60):
    """Visits with rewards; what was chosen, how sure, and by whom."""
    made = []
    for visit in range(rounds):
        segment = ("student", "retired")[visit % 2]
        choice = bandit.choose({"segment": segment}, ACTIONS, decision_id=f"visit-{visit}")
        bandit.learn(choice, float(choice.id == ("sport" if segment == "student" else "news")))
        made.append((choice.id, choice.index, choice.decision_id, choice.branch, choice.probability))
    return made


def test_it_decides_as_a_bandit_of_its_own_does(address, tmp_path):
    # A policy without fits, which the service runs on threads of their own.
    summary = logs(tmp_path)
    client = truenorth.Client.create(address, "same", summary, "warm-lin-ucb", seed=3)
    bandit = truenorth.Bandit(summary, "warm-lin-ucb", seed=3)
    assert play(client) == play(bandit)
    assert client.counts == bandit.counts and client.model == bandit.model and client.warnings == bandit.warnings
    assert client.names == bandit.names and client.features == bandit.features
    ours, theirs = client.intervals({"segment": "student"}, ACTIONS), bandit.intervals({"segment": "student"}, ACTIONS)
    assert list(ours.branch) == list(theirs.branch)
    for name in ("mean", "lcb", "ucb", "index", "online_mean", "informed_mean", "informed_bias"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    story = client.explain({"segment": "student"}, ACTIONS)
    assert story == bandit.explain({"segment": "student"}, ACTIONS) and "<table>" in story._repr_html_()
    encoded = [np.asarray(rows.encode({"segment": "student"}, ACTIONS)) for rows in (client, bandit)]
    np.testing.assert_array_equal(*encoded)


def test_all_that_a_bandit_takes_is_taken(address, tmp_path):
    summary = tmp_path / "logs.tn"
    logs(tmp_path).save(summary)
    client = truenorth.Client.create(address, "forms", summary)
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    context = {"segment": "student"}
    forms = [
        (context, ACTIONS),
        (json.dumps(context), json.dumps(ACTIONS)),
        ({"context": context, "actions": ACTIONS},),
        (pandas.Series(context), pandas.DataFrame(ACTIONS)),
        (polars.DataFrame([context]), polars.DataFrame(ACTIONS)),
        ({"segment": np.str_("student")}, [{**action, "price": np.float64(action["price"])} for action in ACTIONS]),
    ]
    first = client.intervals(*forms[0])
    for form in forms[1:]:
        np.testing.assert_array_equal(client.intervals(*form).ucb, first.ucb)
    client.learn(client.choose(context, ACTIONS), np.float64(1))
    assert client.counts.rewards == 1
    # What is not a number is missing, as everywhere.
    with pytest.raises(truenorth.BanditError, match="`price` has no value"):
        client.choose(context, [{"id": "a", "price": float("nan")}])
    for wrong in [({"segment": object()}, ACTIONS), (context, 5), (context, None), (None, None)]:
        with pytest.raises(TypeError):
            client.choose(*wrong)


def test_what_a_bandit_refuses_or_takes_so_does_a_client(address):
    table = {"item": ["news", "sport"] * 20, "hour": [None, 1.0, 2.0, 3.0] * 10, "day": ["2026-01-01"] * 40, "reward": [1.0, 0.0] * 20}
    summary = truenorth.summarize(table, model="C(item):(1 + hour + day)", reward="reward", action="item", missing="mean")
    client = truenorth.Client.create(address, "agrees", summary, "warm-lin-ucb")
    bandit = truenorth.Bandit(summary, "warm-lin-ucb")
    actions = [{"id": "news"}, {"id": "sport"}]
    inf, nan = float("inf"), float("nan")

    def told(one, context, actions):
        try:
            choice = one.choose(context, actions, decision_id=None)
            return choice.index, choice.mean, choice.ucb
        except truenorth.BanditError as error:
            return str(error), error.code

    for context, offered in [
        ({"hour": inf}, actions),
        ({"hour": -inf}, actions),
        ({"hour": np.float32("inf")}, actions),
        ({"hour": nan}, actions),
        ({"hour": np.float32("nan")}, actions),
        ({"hour": 1e60}, actions),
        ({"hour": 2, "user": {"x": [1.0, inf]}}, actions),
        ({"hour": True, "day": np.datetime64("2026-01-01", "ns")}, actions),
        ({"hour": 2**54, "day": np.datetime64("NaT")}, actions),
        ({"hour": 1, "day": datetime.datetime(2026, 1, 1)}, actions),
        ({"hour": 1}, [{"id": None, "item": "news"}, {"id": nan, "item": "sport"}]),
        ({"hour": 1}, [{"id": np.float64("nan"), "item": "news"}]),
        ({"hour": 1}, [{"id": None}]),
        ({"hour": 1}, [{"id": 1.0}, {"id": True}, {"id": np.int64(3)}, {"id": datetime.date(2026, 1, 1)}]),
        ({"hour": 1}, [{"id": "news", "features": None}]),
    ]:
        ours, theirs = told(bandit, context, offered), told(client, context, offered)
        assert ours[0] == theirs[0] and ours[1:] == pytest.approx(theirs[1:]), (context, offered)
    for reward in (inf, -inf, nan):
        sentences = []
        for one in (bandit, client):
            with pytest.raises(truenorth.BanditError) as error:
                one.learn(one.choose({"hour": 1}, actions), reward)
            sentences.append((str(error.value), error.value.code))
        assert sentences[0] == sentences[1]
    for one in (bandit, client):
        for reward in ("1", None, object()):
            with pytest.raises(TypeError, match="must be real number, not"):
                one.learn(one.choose({"hour": 1}, actions), reward)
        # A truth value is a number in Python.
        whole = {"context": {"hour": 1}, "actions": actions, "decision_id": "mine"}
        assert one.choose(whole).decision_id == "mine"
        one.learn("mine", True)
        assert one.counts.mean_reward == 1.0


def test_state_and_events_come_and_go(address, tmp_path):
    client = truenorth.Client.create(address, "season", MODEL, "oful")
    play(client, 20)
    client.save(tmp_path / "state.tn")
    local = truenorth.Bandit.load(tmp_path / "state.tn")
    assert local == client.bandit() and local.counts == client.counts
    events = list(client.events())
    assert [event["decision_id"] for event in events] == [f"visit-{visit}" for visit in range(20)]
    assert len(list(client.events(after="visit-14"))) == 5
    client.export(tmp_path / "season.jsonl")
    season = truenorth.summarize(tmp_path / "season.jsonl", format="events", model=MODEL)
    assert season.rows == 20 and season.mean_reward == pytest.approx(client.counts.mean_reward)
    # The command reads the same.
    command = [binary(), "summarize", "season.jsonl", "--format", "events", "--model", MODEL, "-o", "season.tn"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert truenorth.Summary.load(tmp_path / "season.tn").rows == 20
    play_more = client.choose({"segment": "student"}, ACTIONS)
    client.restore(tmp_path / "state.tn")
    assert client.counts.decisions == 20 and client.choose({"segment": "student"}, ACTIONS).id == play_more.id
    client.mode = "frozen"
    assert client.mode == client.report()["mode"] == "frozen"
    assert client.history()["step_s"] >= 1
    truenorth.Client.create(address, "seasons", MODEL).renew()


def test_refusals_are_errors_with_their_codes(address):
    client = truenorth.Client.create(address, "wrong", MODEL)
    choice = client.choose({"segment": "student"}, ACTIONS, decision_id="one")
    assert client.choose({"segment": "student"}, ACTIONS, decision_id="one") == choice
    client.learn(choice, 1.0)
    client.learn(choice, 1.0)
    for code, act in [
        ("already_learned", lambda: client.learn(choice, 0.5)),
        ("unknown_decision", lambda: client.learn("nobody", 1.0)),
        ("invalid", lambda: client.choose({}, [])),
        ("invalid", lambda: client.learn(client.choose({"segment": "student"}, ACTIONS), float("nan"))),
        ("conflict", lambda: truenorth.Client.create(address, "wrong", "price")),
        ("invalid", lambda: truenorth.Client.create(address, "a/b", MODEL)),
        ("unknown_bandit", lambda: truenorth.Client(address, "nobody").counts),
    ]:
        with pytest.raises(truenorth.BanditError) as error:
            act()
        assert error.value.code == code and str(error.value)
    with pytest.raises(ConnectionError, match="does not answer"):
        truenorth.Client("http://127.0.0.1:9", "x", retries=0).counts
    with pytest.raises(ValueError, match="must be as in"):
        truenorth.Client("localhost:8700", "x")


def test_a_restart_goes_on_with_a_bandit_that_was_made_of_something_else(tmp_path):
    with serving(tmp_path / "data", "--bandit", f"news={MODEL}") as address:
        play(truenorth.Client(address, "news"), 10)
    for told in (MODEL, "price"):
        with serving(tmp_path / "data", "--bandit", f"news={told}") as address:
            assert truenorth.Client(address, "news").counts.decisions == 10
            with pytest.raises(truenorth.BanditError, match="news"):
                truenorth.Client.create(address, "news", "price")


def test_a_season_begins_once_even_if_nobody_hears_the_answer():
    """What is asked for twice without harm is asked again; a second season would be one too many."""
    asked = []

    def answer_nothing():
        while True:
            connection, _ = door.accept()
            with connection:
                asked.append(connection.recv(1000).split(b" ", 2)[:2])
                if len(asked) == 4:
                    return

    with socket.create_server(("127.0.0.1", 0)) as door:
        listener = threading.Thread(target=answer_nothing)
        listener.start()
        client = truenorth.Client(f"http://127.0.0.1:{door.getsockname()[1]}", "news", retries=2)
        for act in (client.renew, lambda: client.counts):
            with pytest.raises(ConnectionError):
                act()
        listener.join(10)
    assert asked == [[b"POST", b"/v1/bandits/news/renew"]] + 3 * [[b"GET", b"/v1/bandits/news"]]


def test_threads_share_a_client_and_a_token_opens_the_door(tmp_path):
    with serving(tmp_path / "data", "--token", "correct-horse", "--read-token", "look") as address:
        with pytest.raises(truenorth.BanditError) as error:
            truenorth.Client.create(address, "news", MODEL)
        assert error.value.code == "unauthorized"
        client = truenorth.Client.create(address, "news", MODEL, token="correct-horse")

        def visit():
            for _ in range(25):
                client.learn(client.choose({"segment": "student"}, ACTIONS), 1.0)

        threads = [threading.Thread(target=visit) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert truenorth.Client(address, "news", token="look").counts.rewards == 100
        with pytest.raises(truenorth.BanditError):
            truenorth.Client(address, "news", token="look").renew()


def test_a_backup_that_was_taken_while_it_runs_is_whole(tmp_path):
    """As docs/service.md has it, but for the program that copies."""
    stop, taken = threading.Event(), tmp_path / "restored"
    taken.mkdir()
    with serving(tmp_path / "data") as address:
        client = truenorth.Client.create(address, "news", MODEL, "oful")

        def visit():
            while not stop.is_set():
                client.learn(client.choose({"segment": "student"}, ACTIONS), 1.0)

        thread = threading.Thread(target=visit)
        thread.start()
        try:
            while client.counts.rewards < 50:
                pass
            before = client.counts
            source = sqlite3.connect(tmp_path / "data" / "truenorth.db")
            copy = sqlite3.connect(taken / "truenorth.db")
            source.backup(copy)
            source.close()
            copy.close()
        finally:
            stop.set()
            thread.join()
    assert subprocess.run([binary(), "verify", str(taken)], check=True, capture_output=True).stdout
    with serving(taken) as address:
        restored = truenorth.Client(address, "news")
        assert restored.counts.rewards >= before.rewards
        restored.choose({"segment": "student"}, ACTIONS)
