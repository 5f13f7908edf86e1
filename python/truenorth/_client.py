"""A bandit behind a service."""

from __future__ import annotations

import base64
import json
import math
import os
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

import numpy as np

from truenorth._decisions import BanditCounts, Features, FeatureView, Intervals
from truenorth._errors import BanditError
from truenorth._explanations import Explanation, _explanation
from truenorth._frames import fields, is_missing, name, plain, records
from truenorth._native import Bandit, BanditChoice, Summary

if TYPE_CHECKING:
    from http.client import HTTPConnection

_BRANCHES = ["online", "pooled", "warm", "offline"]


class Client:
    """A bandit behind a service, with the methods of `Bandit`.

    Parameters
    ----------
    url : str
        Where ``truenorth serve`` listens.
    name : str
        The bandit's name there.
    token : str, optional
        The service's token.
    timeout : float
        Seconds to wait for an answer.
    retries : int
        How often a call is made again if the service cannot be reached. Nothing is done twice by that: a decision has its id
        from the first try on, and `renew` is not made again.

    Notes
    -----
    Contexts and actions are what `Bandit` takes. What the service refuses is a `BanditError` with its `code`; a service that
    cannot be reached is a `ConnectionError`. A client may be shared by threads.

    >>> from truenorth import Client
    >>> client = Client("http://127.0.0.1:8700", "news")
    >>> client.choose({"hour": 14}, [{"id": "a"}, {"id": "b"}])  # doctest: +SKIP
    """

    def __init__(
        self, url: str, name: str, *, token: str | None = None, timeout: float = 10.0, retries: int = 2
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"`url` must be as in http://127.0.0.1:8700, but is {url!r}")
        self._https = parts.scheme == "https"
        self._host = parts.netloc.rpartition("@")[2]
        self._path = f"{parts.path.rstrip('/')}/v1/bandits/{quote(name, safe='')}"
        self._headers = {"authorization": f"Bearer {token}"} if token else {}
        self._timeout, self._retries = timeout, retries
        self._local = threading.local()
        self._opened: set[HTTPConnection] = set()
        self.url, self.name = url, name

    @classmethod
    def create(
        cls,
        url: str,
        name: str,
        logs: Summary | str | os.PathLike[str],
        policy: str = "truenorth",
        *,
        token: str | None = None,
        timeout: float = 10.0,
        retries: int = 2,
        **settings: Any,
    ) -> Client:
        """Makes a bandit, unless the same one is there; another one of its name is an error.

        `logs` is a summary, its file, or a model where there are no logs. Settings are those of the service, such as ``noise``,
        ``seed``, ``mode``, ``reward_timeout_s``, ``default_reward``.
        """
        client = cls(url, name, token=token, timeout=timeout, retries=retries)
        body: dict[str, Any] = {"policy": policy, **settings}
        if isinstance(logs, Summary):
            body["summary"] = base64.b64encode(logs.to_bytes()).decode()
        elif isinstance(logs, os.PathLike) or logs.endswith(".tn") or Path(logs).is_file():
            body["summary"] = base64.b64encode(Path(logs).read_bytes()).decode()
        else:
            body["model"] = logs
        client._call("PUT", "", body)
        return client

    def choose(self, context: Any, actions: Any = None, *, decision_id: str | None = None) -> BanditChoice:
        """Chooses one of the actions. The same `decision_id` again gives the same answer."""
        asked = _event(context, actions)
        if actions is None and decision_id is None:
            decision_id = _id(fields(context, "an event").get("decision_id"))
        asked["id"] = decision_id or os.urandom(16).hex()
        answer = self._call("POST", "/decisions", asked)
        return BanditChoice(
            id=answer["action"],
            index=answer["action_index"],
            probability=answer["propensity"],
            **{name: answer[name] for name in ("decision_id", "mean", "lcb", "ucb", "branch")},
        )

    def learn(self, decision_id: str | BanditChoice, reward: float, *, played: str | None = None) -> None:
        """Learns the reward of a decision, late and in any order. The same one again counts once; another one is an error.

        `played` is the action that was played instead of the choice.
        """
        if isinstance(decision_id, BanditChoice):
            decision_id = decision_id.decision_id
        if not math.isfinite(reward):
            shown = "NaN" if math.isnan(reward) else reward
            raise BanditError(f"`reward` is {shown}, but must be finite and at most 1e50 in size")
        body = {"decision_id": decision_id, "reward": float(reward)}
        self._call("POST", "/rewards", body if played is None else {**body, "played": played})

    def encode(self, context: Any, actions: Any = None) -> Any:
        """The rows as the policy sees them. The whole state is fetched for that."""
        return self.bandit().encode(context, actions)

    def intervals(self, context: Any, actions: Any = None) -> Intervals:
        """Every action's interval. Nothing is decided."""
        found = self._call("POST", "/explain", _event(context, actions))["actions"]

        def column(name: str, part: str | None = None) -> Any:
            values = [action[name] if part is None else (action[name] or {}).get(part) for action in found]
            return np.array([math.nan if value is None else value for value in values], dtype=np.float64)

        return Intervals(
            **{name: column(name) for name in ("mean", "lcb", "ucb", "index")},
            branch=np.array([_BRANCHES.index(action["branch"]) for action in found]),
            conflict=np.array([action["conflict"] for action in found]),
            online_mean=column("online", "mean"),
            online_statistical=column("online", "statistical"),
            informed_mean=column("informed", "mean"),
            informed_statistical=column("informed", "statistical"),
            informed_bias=column("informed", "bias"),
        )

    def explain(self, context: Any, actions: Any = None) -> Explanation:
        """Which action would be chosen, and why. Nothing is decided."""
        found = self._call("POST", "/explain", _event(context, actions))
        return _explanation(json.dumps(found["story"]), found["explanation"])

    def renew(self) -> None:
        """Begins a new season: all that is known becomes its logs."""
        # Made once: a second try could begin a second season. Its connection is new, so that it was not closed meanwhile.
        self._drop(self._local.__dict__.pop("connection", None))
        self._send("POST", "/renew", None, "", retries=0)

    @property
    def features(self) -> Features:
        """What has been learned about each feature, by name."""
        return Features(FeatureView(**feature) for feature in self._call("GET")["features"])

    @property
    def counts(self) -> BanditCounts:
        """What it has done so far."""
        found = self._call("GET")
        return BanditCounts(**{name: found[name] for name in BanditCounts.__dataclass_fields__})

    @property
    def names(self) -> list[str]:
        """Names of all features."""
        return self.features.names

    @property
    def model(self) -> str:
        """Which features there are."""
        return str(self._call("GET")["model"])

    @property
    def warnings(self) -> list[str]:
        """A sentence for each term of the model that cannot change a choice."""
        return list(self._call("GET")["warnings"])

    @property
    def mode(self) -> str:
        """``live``, ``shadow`` or ``frozen``."""
        return str(self._call("GET")["mode"])

    @mode.setter
    def mode(self, mode: str) -> None:
        self._call("PATCH", "", {"mode": mode})

    def report(self) -> dict[str, Any]:
        """What it is, has done and has learned, in words too."""
        return dict(self._call("GET", "/report"))

    def history(self) -> dict[str, Any]:
        """What happened over time, since the service was started."""
        return dict(self._call("GET", "/history"))

    def events(self, after: str | None = None) -> Iterator[dict[str, Any]]:
        """Decisions and what came of them, those after a decision if asked."""
        for line in self._fetch(_after(after)).splitlines():
            yield json.loads(line)

    def export(self, path: str | os.PathLike[str], after: str | None = None) -> None:
        """Writes the same to a file, which `summarize(path, format="events")` reads."""
        Path(path).write_bytes(self._fetch(_after(after)))

    def to_bytes(self) -> bytes:
        """The whole state, open decisions included."""
        return self._fetch("/snapshot")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the whole state to a file, which `Bandit.load` and `truenorth decide --state` read."""
        Path(path).write_bytes(self.to_bytes())

    def restore(self, state: bytes | str | os.PathLike[str]) -> None:
        """Puts a state, or that of a file, in place of this one."""
        data = state if isinstance(state, bytes) else Path(state).read_bytes()
        self._send("PUT", "/snapshot", data, "application/octet-stream")

    def bandit(self) -> Bandit:
        """A copy of the bandit in this process: all that it can do, without the service."""
        return Bandit.from_bytes(self.to_bytes())

    def close(self) -> None:
        """Closes its connections; the next call opens one again."""
        self._local = threading.local()
        while self._opened:
            self._opened.pop().close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_opened"):
            self.close()

    def __repr__(self) -> str:
        return f"Client({self.url!r}, {self.name!r})"

    def _call(self, method: str, path: str = "", body: Any = None) -> Any:
        data = None if body is None else json.dumps(body, allow_nan=False).encode()
        return json.loads(self._send(method, path, data, "application/json"))

    def _fetch(self, path: str) -> bytes:
        return self._send("GET", path, None, "")

    def _send(self, method: str, path: str, data: bytes | None, kind: str, *, retries: int | None = None) -> bytes:
        from http.client import HTTPException  # It takes a while, and most programs never ask a service.

        headers = {**self._headers, **({"content-type": kind} if data is not None else {})}
        retries = self._retries if retries is None else retries
        for attempt in range(retries + 1):
            try:
                connection = self._connection()
                connection.request(method, self._path + path, body=data, headers=headers)
                answer = connection.getresponse()
                content = answer.read()
                break
            except (OSError, HTTPException) as error:
                self._drop(self._local.__dict__.pop("connection", None))
                if attempt == retries:
                    raise ConnectionError(f"{self.url} does not answer: {error or type(error).__name__}") from error
                # An idle connection that was closed is opened again at once; a service that restarts is waited for.
                time.sleep(0.0 if attempt == 0 else 0.2 * attempt)
        if answer.status >= 400:
            raise _refused(answer.status, content)
        return content

    def _connection(self) -> HTTPConnection:
        known: HTTPConnection | None = getattr(self._local, "connection", None)
        if known is None:
            from http.client import HTTPConnection, HTTPSConnection

            kind = HTTPSConnection if self._https else HTTPConnection
            known = self._local.connection = kind(self._host, timeout=self._timeout)
            self._opened.add(known)
        return known

    def _drop(self, connection: HTTPConnection | None) -> None:
        if connection is not None:
            self._opened.discard(connection)
            connection.close()


def _after(decision_id: str | None) -> str:
    return "/events" if decision_id is None else f"/events?after={quote(decision_id, safe='')}"


def _refused(status: int, content: bytes) -> BanditError:
    try:
        error = json.loads(content)["error"]
        return BanditError(error["message"], error["code"])
    except (ValueError, KeyError, TypeError):
        return BanditError(f"the service answered with {status}", "unavailable" if status >= 500 else "invalid")


def _event(context: Any, actions: Any) -> dict[str, Any]:
    """A context and actions, or a whole event in the place of the context."""
    if actions is None:
        if context is None:
            raise TypeError("`actions` are needed")
        whole = fields(context, "an event")
        if "actions" not in whole:
            raise TypeError("`actions` are needed, or an event that has `actions`")
        context, actions = whole.get("context"), whole["actions"]
    listed = [_action(action) for action in records(actions)]
    if context is None:
        return {"actions": listed}
    return {"context": _plain(fields(context, "the context"), "", "the context"), "actions": listed}


def _action(action: Any) -> Any:
    if isinstance(action, str) and not action.lstrip().startswith("{") or isinstance(action, int):
        return {"id": str(action)}
    found = fields(action, "an action")
    id = _id(found.pop("id", None))
    return _plain(found if id is None else {"id": id, **found}, "", "an action")


def _id(value: Any) -> Any:
    """An id; where it is missing, an action has the name of its own field, or is called by its place."""
    if is_missing(value):
        return None
    return value if isinstance(value, float) and math.isfinite(value) else name(value)


def _plain(value: Any, path: str, place: str) -> Any:
    """A value as JSON has it; None and NaN are missing, and infinity is refused, as by `Bandit`."""
    if isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float) and math.isinf(value):
        raise BanditError(f"field `{path}` holds {value}, but numbers must be finite and at most 1e50 in size")
    if is_missing(value):
        return None
    if isinstance(value, float):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(inner, f"{path}.{key}" if path else str(key), place) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner, f"{path}[{at}]", place) for at, inner in enumerate(value)]
    found = plain(value)
    if found is value:
        sentence = f"field `{path}` of {place} must be a number, a truth value, text or nothing, but is {value!r:.60}"
        raise TypeError(sentence)
    return _plain(found, path, place)
