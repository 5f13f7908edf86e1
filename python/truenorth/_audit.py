"""What logs are worth: the answer, the numbers behind it, and the page that shows them."""

from __future__ import annotations

import json
import os
import warnings
from html import escape
from typing import Any

from truenorth import _native, _plot
from truenorth._found import Found
from truenorth._frames import arrow, is_table
from truenorth._native import Certificate, Summary

Path = str | os.PathLike[str]


class Audit(Found):
    """The audit of some logs, as `truenorth.audit` gives it.

    Every key of `to_dict` is an attribute too: ``audit.verdict["sentence"]``, ``audit.features[0]["drift"]``.
    """

    _NAME = "an audit"

    def __init__(self, native: _native.Audit, source: str) -> None:
        super().__init__(json.loads(native.json()))
        self._native = native
        self._source = source

    @property
    def certificate(self) -> Certificate:
        """The bound on the drift that a policy can be told, in the units of the columns."""
        return self._native.certificate

    def to_dict(self) -> dict[str, Any]:
        """What ``truenorth audit --json`` prints."""
        return dict(self._found)

    def html(self) -> str:
        """The report, one page that needs no network."""
        return self._native.html(self._source)

    def save(self, path: Path, certificate: Path | None = None) -> None:
        """Writes the report, and beside ``report.html`` ``report.certificate.toml``, unless that has a path of its own."""
        if certificate is None:
            certificate = os.path.splitext(os.fspath(path))[0] + ".certificate.toml"
        _write(certificate, self._native.certificate_toml(self._source))
        _write(path, self.html())

    def plot(self, *, own: bool = False) -> Any:
        """Draws trust, drift and coverage of each feature; `own` draws without matplotlib."""
        rows = [
            _plot.Row(
                feature["name"],
                feature["coverage"],
                None if feature["drift"] is None else (feature["drift"], *feature["interval"]),
                feature["trust"],
            )
            for feature in self.features
        ]
        notes = (
            "rows of it alone",
            f"live − logged, {1 - self.level:.0%} interval",
            "chance that the logs are right",
        )
        return _plot.directions("What the logs are worth", notes, rows, own=own)

    def __repr__(self) -> str:
        return str(self.verdict["sentence"])

    def _repr_html_(self) -> str:
        # In a frame of its own: the page's style and a notebook's do not mix.
        return (
            f'<iframe srcdoc="{escape(self.html())}" style="width:100%;height:720px;border:0" '
            f'title="{escape(self._source)}"></iframe>'
        )


def audit(
    summary: Summary | Path,
    pilot: Any = None,
    *,
    round: str | None = None,
    format: str | None = None,
    level: float = 0.05,
    margin: float = 0.2,
    drift: float | None = None,
    horizon: int = 20_000,
    actions: int = 5,
) -> Audit:
    """Tells which directions of the logs can be trusted, and what they are worth.

    Parameters
    ----------
    summary : Summary or path
        The logs.
    pilot : Summary, path, table, (X, y) or (X, y, rounds), optional
        A little live data to test them with; rows of the same round may have correlated errors.
    round : str, optional
        Column that says which rows of a file or table are a round.
    format : str, optional
        Format of the pilot's file; found out unless given.
    level : float
        Probability of a false alarm over all features together.
    margin : float
        What playing what the logs recommend may cost without mattering, as a share of what choosing well earns over
        choosing at random.
    drift : float, optional
        Length of the drift to assume where none is measured.
    horizon, actions : int
        Rounds that will be played, and actions a round: for the worth and the bounds, and for the cost where the
        pilot has no rounds.

    Returns
    -------
    Audit

    Examples
    --------
    >>> import numpy as np, truenorth
    >>> rng = np.random.default_rng(1)
    >>> Z, X = rng.normal(size=(5000, 2)), rng.normal(size=(400, 2))
    >>> logs = truenorth.summarize(Z, Z @ [1.0, 1.0] + rng.normal(size=5000), names=["price", "age"])
    >>> found = truenorth.audit(logs, pilot=(X, X @ [1.0, -1.0] + rng.normal(size=400)))
    >>> [(feature["name"], feature["drifted"]) for feature in found.features]
    [('price', False), ('age', True)]
    """
    # A file that has to be written first, by `Summary.save`.
    source = "logs.tn"
    if not isinstance(summary, Summary):
        source = os.fspath(summary)
        summary = Summary.load(summary)
    for sentence in summary.warnings:
        warnings.warn(sentence, stacklevel=2)
    if isinstance(pilot, tuple):
        pilot = (*pilot, None) if len(pilot) == 2 else pilot
    elif is_table(pilot):
        pilot = arrow(pilot)
    native = _native.Audit(
        summary,
        pilot,
        round=round,
        format=format,
        level=level,
        margin=margin,
        drift=drift,
        horizon=horizon,
        actions=actions,
    )
    return Audit(native, source)


def _write(path: Path, text: str) -> None:
    """A file that is whole or not there."""
    part = f"{os.fspath(path)}.part"
    with open(part, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(part, path)
