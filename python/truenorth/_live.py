"""What another policy would have earned, and whether the live world has moved on."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any

from numpy.typing import ArrayLike

from truenorth import _native
from truenorth._found import Found
from truenorth._frames import paths
from truenorth._native import Summary
from truenorth._summaries import _listed

Path = str | os.PathLike[str]


class Evaluation(Found):
    """What a policy would have earned, as `truenorth.evaluate` gives it.

    Every key of `to_dict` is an attribute too: ``evaluation.dr["value"]``, ``evaluation.warnings``.
    """

    _NAME = "an evaluation"

    def to_dict(self) -> dict[str, Any]:
        """What ``truenorth evaluate --json`` prints."""
        return dict(self._found)

    def __repr__(self) -> str:
        best = self._found.get("dr") or self._found["snips"]
        ends = f", {best['lower']:.4g} to {best['upper']:.4g}" if best["lower"] is not None else ""
        doubt = "" if self._found["trusted"] else f"; not to be relied on: {self._found['warnings'][0]}"
        return f"{best['value']:.4g}{ends}{doubt}"


class Watch(Found):
    """What was seen in live events, as `truenorth.monitor` gives it.

    Every key of `to_dict` is an attribute too: ``watch.moved``, ``watch.features[0]["alarm"]``.
    """

    _NAME = "a watch"

    def to_dict(self) -> dict[str, Any]:
        """What ``truenorth monitor --json`` prints."""
        return dict(self._found)

    def __repr__(self) -> str:
        found = self._found
        if found["moved"]:
            names = [feature["name"] for feature in found["features"] if feature["alarm"] is not None]
            which = f": {', '.join(names)}" if names else ""
            return f"moved in round {found['alarm']} of {found['rounds']}{which}"
        return f"nothing is known to have moved in {found['rounds']} rounds"


def evaluate(
    logs: Any,
    policy: str = "truenorth",
    *,
    summary: Summary | Path | None = None,
    frozen: bool = False,
    model: str | None = None,
    reward: str | None = None,
    action: str | Iterable[str] | None = None,
    probability: str | None = None,
    format: str | None = None,
    items: Path | None = None,
    seed: int = 0,
) -> Evaluation:
    """Estimates what a policy would have earned, from logs with the probabilities of their actions.

    Parameters
    ----------
    logs : path or list of paths
        Events, dsjson, Vowpal Wabbit, Open Bandit, or tables with a column of probabilities, in the order of their decisions.
    policy : str
        ``'uniform'``, ``'field:NAME'`` (its probabilities are in this field of every action), or a name of `presets`: such a
        policy decides an event before it learns what the log earned there.
    summary : Summary or path, optional
        Earlier logs: which features there are, and the head start of the policy.
    frozen : bool
        Whether the policy stays as the summary makes it.
    model : str, optional
        Which features the model of rewards has, as a formula; made from the logs unless given.
    reward, action, probability : str, optional
        Columns of a table: the reward, those of the action, its id first, and the probability with which it was taken.
    format, items
        As for `summarize`.
    seed : int
        Of policies with a dice.

    Returns
    -------
    Evaluation
        With ``dr``, ``snips``, ``ips``, ``replay``, ``direct``, ``logged``, ``effective_sample_size``, ``trusted``, ``warnings``.

    Examples
    --------
    >>> import json, os, random, tempfile, truenorth
    >>> dice = random.Random(1)
    >>> path = os.path.join(tempfile.mkdtemp(), "events.jsonl")
    >>> with open(path, "w") as file:
    ...     for _ in range(2000):
    ...         action = dice.choice(["news", "sport"])
    ...         event = {"actions": [{"id": "news"}, {"id": "sport"}], "action": action, "probability": 0.5}
    ...         event["reward"] = float(dice.random() < (0.6 if action == "news" else 0.2))
    ...         _ = file.write(json.dumps(event) + "\\n")
    >>> found = truenorth.evaluate(path, "greedy")
    >>> found.trusted, found.dr["lower"] < 0.6 < found.dr["upper"]
    (True, True)
    """
    files = paths(logs)
    if files is None:
        raise TypeError("`logs` must be a path or a list of paths")
    if summary is not None and not isinstance(summary, Summary):
        summary = Summary.load(summary)
    told: dict[str, Any] = {
        "model": model,
        "features": "",
        "reward": reward,
        "one_hot": "",
        "hash": "",
        "action": _listed(action, "action"),
        "chosen": None,
        "buckets": None,
        "keep_names": False,
        "intercept": False,
        "missing": "refuse",
        "skip_malformed": False,
        "reward_range": None,
        "format": format,
        "items": items,
        "threads": 0,
    }
    return Evaluation(
        json.loads(_native.evaluate_files(files, told, policy, summary, probability, seed, frozen))
    )


def off_policy(
    rewards: ArrayLike,
    probabilities: ArrayLike,
    target: ArrayLike,
    *,
    predicted: ArrayLike | None = None,
    predicted_target: ArrayLike | None = None,
) -> Evaluation:
    """Estimates what a policy would have earned, from numbers: the formulas of `evaluate`.

    Parameters
    ----------
    rewards : (n,) array
        What each decision paid.
    probabilities : (n,) array
        With which probability the log took its action.
    target : (n,) array
        With which probability the policy takes that action.
    predicted : (n,) array, optional
        What a model says of the action that was taken; it must not know the decision's own reward.
    predicted_target : (n,) array, optional
        What it says of the policy: its predictions of all actions, each times the policy's probability, added up.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> import truenorth
    >>> found = truenorth.off_policy([1.0, 0.0, 0.0, 1.0], [0.5] * 4, [1.0, 0.0, 1.0, 0.0])
    >>> found.ips["value"], found.effective_sample_size
    (0.5, 2.0)
    """
    return Evaluation(
        json.loads(_native.evaluate_arrays(rewards, probabilities, target, predicted, predicted_target))
    )


def monitor(
    events: Any,
    summary: Summary | Path | None = None,
    *,
    model: str | None = None,
    format: str | None = None,
    level: float = 0.05,
) -> Watch:
    """Watches live events: has the world moved on since they began, and which feature?

    Parameters
    ----------
    events : path or list of paths
        Events with their actions and rewards, in the order of their decisions: what the service exports.
    summary : Summary or path, optional
        The logs that the bandit was made from: which features there are.
    model : str, optional
        The model of a bandit without logs, as a formula.
    format : str, optional
        Format of the files; found out unless given.
    level : float
        Probability of a false alarm at most, of any kind, however long and often one looks.

    Returns
    -------
    Watch
        With ``moved``, ``evidence``, ``needed``, ``alarm``, ``features``, ``curve``.
    """
    files = paths(events)
    if files is None:
        raise TypeError("`events` must be a path or a list of paths")
    if (summary is None) == (model is None):
        raise TypeError("either `summary` or `model` says which features there are")
    if summary is not None and not isinstance(summary, Summary):
        summary = Summary.load(summary)
    return Watch(json.loads(_native.monitor_files(files, summary, model, format, level)))
