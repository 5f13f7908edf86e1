"""Experiments and comparisons: who would have earned what."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path as _Path
from typing import Any

import numpy as np

from truenorth import _native, _plot
from truenorth._decisions import Features, FeatureView
from truenorth._found import Found
from truenorth._frames import arrow
from truenorth._native import Certificate
from truenorth._summaries import _listed

Path = str | os.PathLike[str]


class Results:
    """What an experiment found, in the shape of ``results.json``."""

    def __init__(self, found: dict[str, Any], titles: Sequence[str] = ()) -> None:
        self._found = found
        self._titles = list(titles) or [figure["name"] for figure in found["figures"]]

    @classmethod
    def _of(cls, played: tuple[str, list[str]]) -> Results:
        text, titles = played
        return cls(json.loads(text), titles)

    @property
    def figures(self) -> list[dict[str, Any]]:
        """The figures, each with its panels, each with its policies."""
        figures: list[dict[str, Any]] = self._found["figures"]
        return figures

    def to_dict(self) -> dict[str, Any]:
        """What ``results.json`` holds."""
        return self._found

    def save(self, path: Path) -> None:
        """Writes ``results.json``."""
        _Path(path).write_text(json.dumps(self._found) + "\n", encoding="utf-8")

    def final_regret(self) -> dict[str, dict[str, float]]:
        """Mean regret of whole runs, by panel and policy."""
        return {
            panel["name"]: {policy["name"]: policy["final_regret"]["mean"] for policy in panel["policies"]}
            for figure in self.figures
            for panel in figure["panels"]
        }

    def plot(self, figure: int | str = 0, *, own: bool = False) -> Any:
        """Draws a figure: cumulative regret, mean and 10-90 % band.

        Parameters
        ----------
        figure : int or str
            Its place or its name.
        own : bool
            Draw without matplotlib, even where it is installed.

        Returns
        -------
        matplotlib.figure.Figure or Picture
        """
        names = [found["name"] for found in self.figures]
        place = names.index(figure) if isinstance(figure, str) else figure
        panels = [
            (panel["name"], [_line(policy) for policy in panel["policies"]])
            for panel in self.figures[place]["panels"]
        ]
        return _plot.curves(self._titles[place], "round", "cumulative regret", panels, own=own)

    def __repr__(self) -> str:
        lines = ["final regret"]
        for panel, policies in self.final_regret().items():
            lines.append(f"{panel}: " + ", ".join(f"{name} {regret:.4g}" for name, regret in policies.items()))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return "".join(
            _table(
                ("policy", "final regret", "stderr", "conflicts", "pooled share"),
                [
                    (
                        policy["name"],
                        f"{policy['final_regret']['mean']:.4g}",
                        f"{policy['final_regret']['stderr']:.2g}",
                        f"{policy['conflicts']:.4g}",
                        f"{policy['pooled_share']:.2f}",
                    )
                    for policy in panel["policies"]
                ],
                f"{figure['name']}, {panel['name']}: {panel['runs']} runs of {panel['horizon']} rounds",
            )
            for figure in self.figures
            for panel in figure["panels"]
        )


class Comparison(Found):
    """Policies against recorded rounds, in the shape of ``truenorth compare --json``."""

    _NAME = "a comparison"

    def __init__(
        self,
        found: dict[str, Any],
        points: Sequence[int],
        curves: Sequence[Sequence[dict[str, float]]],
        learned: Sequence[Sequence[dict[str, Any]]],
        names: Sequence[str],
    ) -> None:
        super().__init__(found)
        self._points = list(points)
        columns = ("mean", "p10", "p90")
        self._curves = [[[point[column] for point in curve] for column in columns] for curve in curves]
        self._learned = learned
        self._feature_names = names

    def to_dict(self) -> dict[str, Any]:
        """What ``truenorth compare --json`` prints."""
        return self._found

    def learned(self, policy: str) -> Features:
        """What a policy learned about each feature in the first order, in the units of the tables."""
        names = [row["name"] for row in self.policies]
        if policy not in names:
            raise ValueError(f"there is no policy named {policy!r}; the names are {', '.join(names)}")
        views = zip(self._feature_names, self._learned[names.index(policy)])
        return Features(FeatureView(name, **view) for name, view in views)

    def plot(self, *, own: bool = False) -> Any:
        """Draws what each policy earned above a uniform choice."""
        lines = [
            _plot.Line(policy["name"], self._points, *(curve if self.seeds > 1 else curve[:1]))
            for policy, curve in zip(self.policies, self._curves)
        ]
        title = "Reward earned above a uniform choice"
        label = "cumulative reward above chance"
        return _plot.curves(title, "round", label, [("", lines)], linear=True, own=own)

    def _rows(self) -> list[tuple[str, ...]]:
        order = sorted(self.policies, key=lambda row: -row["mean_reward"])
        return [
            (
                row["name"],
                "-" if row["score"] is None else f"{row['score']:.3f}",
                f"{row['mean_reward']:.5f} ± {row['stderr']:.5f}",
                f"{row['regret']:.4g}",
            )
            for row in order
        ]

    def __repr__(self) -> str:
        rows = [("policy", "score", "mean reward", "regret"), *self._rows()]
        widths = [max(len(row[column]) for row in rows) for column in range(4)]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows
        )

    def _repr_html_(self) -> str:
        caption = f"{self.rounds} rounds in {self.seeds} orders"
        return _table(("policy", "score", "mean reward", "regret"), self._rows(), caption)


def simulate(
    experiment: Path | Mapping[str, Any], *, runs: int | None = None, threads: int = 0
) -> Results:
    """Plays any experiment.

    Parameters
    ----------
    experiment : path, str or dict
        The file, its text in TOML, or the same as a dictionary.
    runs : int, optional
        Runs of each panel, instead of the experiment's.
    threads : int
        0 takes all cores; the results are the same for any number.

    Returns
    -------
    Results

    Examples
    --------
    >>> import truenorth
    >>> results = truenorth.simulate({"horizon": 200, "runs": 2, "policies": ["truenorth", "oful"]})
    >>> [policy["name"] for policy in results.figures[0]["panels"][0]["policies"]]
    ['truenorth', 'oful']
    """
    if isinstance(experiment, Mapping):
        path, content = "experiment.toml", _toml(experiment).encode()
    elif isinstance(experiment, str) and ("\n" in experiment or "=" in experiment):
        path, content = "experiment.toml", experiment.encode()
    else:
        with open(experiment, "rb") as file:
            path, content = os.fspath(experiment), file.read()
    return Results._of(_native.simulate(path, content, runs, threads))


def reproduce(
    study: str = "all",
    *,
    runs: int = 50,
    horizon: int = 20_000,
    seed: int = 42,
    policies: Iterable[str] | None = None,
    as_printed: bool = False,
    certificate: str | None = None,
    threads: int = 0,
) -> Results:
    """Plays the paper's studies (main, bias, ablation, coverage; all), or ours (misleading, shifting, wide).

    Examples
    --------
    >>> import truenorth
    >>> results = truenorth.reproduce("bias", runs=1, horizon=100, policies=["greedy"])
    >>> list(results.final_regret())
    ['c=0', 'c=0.2', 'c=0.4', 'c=0.6', 'c=0.8']
    """
    played = _native.reproduce(
        study, runs, horizon, seed, _names(policies), as_printed, certificate, threads
    )
    return Results._of(played)


def compare(
    offline: Any,
    online: Any,
    *,
    model: str | None = None,
    features: str | Iterable[str] | None = None,
    action: str | Iterable[str] | None = None,
    reward: str = "reward",
    round: str = "round",
    policies: Iterable[str] | None = None,
    seeds: int = 4,
    scales: Iterable[float] = (1.0,),
    noise: float | None = None,
    norm_bound: float | None = None,
    drift: float | None = None,
    certificate: Certificate | None = None,
    discount: float = 1.0,
    threads: int = 0,
) -> Comparison:
    """Plays policies against recorded rounds in which every action's reward is known.

    Parameters
    ----------
    offline : path, table, (Z, y) or None
        The logs, if there are any; the path may be that of a summary, whose features the rounds then have.
    online : path, table or (X, rewards)
        The live rounds: a row for each action, or arrays of shape (n, K, d) and (n, K).
    model : str, optional
        Which features files and tables have, as for `truenorth.summarize`; made from the data unless this or `features`
        is given.
    features, reward, round : str, optional
        Columns of files and tables.
    action : str or list of str, optional
        Columns that belong to the action, its id first: a model that is made from the data crosses all others with these.
    policies : list of str, optional
        Who plays; all policies that need to be told nothing unless given, and without logs none that plays by them.
    seeds : int
        Orders in which the rounds are played.
    scales : list of float
        Factors on each policy's own exploration.
    noise, norm_bound : float, optional
        What policies are told; estimated unless given.
    drift, certificate : float or Certificate, optional
        What policies with a fixed certificate are told.
    discount : float
        What a logged row is worth, in live rows, to every policy that uses logs.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import numpy as np, truenorth
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 4, 2))
    >>> found = truenorth.compare(None, (X, X @ [1.0, 0.5]), policies=["greedy", "oful"], seeds=2)
    >>> found.rounds, [row["name"] for row in found.policies]
    (100, ['greedy', 'oful'])
    """
    told: dict[str, Any] = {
        "policies": _names(policies),
        "seeds": seeds,
        "scales": [float(scale) for scale in scales],
        "noise": noise,
        "norm_bound": norm_bound,
        "drift": drift,
        "certificate": certificate,
        "discount": float(discount),
        "threads": threads,
    }
    if isinstance(online, tuple):
        answer = _native.compare_rows(offline, online, told)
    else:
        logs = offline if offline is None or isinstance(offline, (str, os.PathLike)) else arrow(offline)
        live = online if isinstance(online, (str, os.PathLike)) else arrow(online)
        answer = _native.compare_tables(logs, live, model, _listed(features, "features"), _listed(action, "action"), reward, round, told)
    return Comparison(*json.loads(answer))


def _names(policies: Iterable[str] | None) -> list[str] | None:
    if policies is None:
        return None
    return policies.split(",") if isinstance(policies, str) else list(policies)


def _line(policy: dict[str, Any]) -> _plot.Line:
    return _plot.Line(policy["name"], policy["rounds"], policy["mean"], policy["p10"], policy["p90"])


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], caption: str) -> str:
    def cells(tag: str, row: Sequence[str]) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row) + "</tr>"

    body = "".join(cells("td", row) for row in rows)
    return f"<table><caption>{escape(caption)}</caption>{cells('th', heads)}{body}</table>"


def _toml(experiment: Mapping[str, Any]) -> str:
    """A dictionary as TOML, a line for each key, so that messages name the line."""
    return "".join(f"{_key(key)} = {_value(value)}\n" for key, value in experiment.items())


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"a key of an experiment must be text, but one is {key!r}")
    return json.dumps(key)


def _value(value: Any) -> str:
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, (bool, str)):
        return json.dumps(value)
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items()) + "}"
    if isinstance(value, Iterable):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    raise TypeError(f"an experiment has no place for {value!r}")
