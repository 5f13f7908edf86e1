"""Why a decision was made, as plain data that shows itself."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from html import escape
from typing import Any


@dataclass(frozen=True)
class BranchInterval:
    """One branch's interval for one action: ``mean ± (statistical + bias)``."""

    mean: float
    statistical: float
    bias: float


@dataclass(frozen=True)
class ActionInterval:
    """The interval that a layer works with for one action, and what it was made of."""

    action: int
    ucb: float
    lcb: float
    index: float
    branch: str
    conflict: bool
    online: BranchInterval | None
    informed: BranchInterval | None


@dataclass(frozen=True)
class LayerExplanation:
    """What happened in one layer."""

    layer: int
    rule: str
    actions: tuple[ActionInterval, ...]
    eliminated: tuple[int, ...]


@dataclass(frozen=True, repr=False)
class Explanation:
    """The full story of one decision, layer by layer; the last one played."""

    round: int
    action: int
    layers: tuple[LayerExplanation, ...]
    _text: str = field(compare=False)

    def __repr__(self) -> str:
        return self._text.rstrip("\n")

    def _repr_html_(self) -> str:
        return "".join(self._layer_html(layer) for layer in self.layers)

    def _layer_html(self, layer: LayerExplanation) -> str:
        last = layer is self.layers[-1]

        def row(interval: ActionInterval) -> str:
            played = last and interval.action == self.action
            cells = [
                f"{interval.action}{' (played)' if played else ''}",
                _number(interval.lcb),
                _number(interval.ucb),
                interval.branch + (" (conflict)" if interval.conflict else ""),
                _parts(interval.online),
                _parts(interval.informed),
            ]
            style = ' style="font-weight:600"' if played else ""
            return f"<tr{style}>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"

        heads = ("action", "lcb", "ucb", "set by", "online", "informed")
        gone = ", ".join(str(action) for action in layer.eliminated)
        return (
            f"<table><caption>Round {self.round}, layer {layer.layer}: {escape(layer.rule)}</caption><thead><tr>"
            + "".join(f"<th>{head}</th>" for head in heads)
            + "</tr></thead><tbody>"
            + "".join(row(interval) for interval in layer.actions)
            + "</tbody></table>"
            + (f"<p>eliminated: {gone}</p>" if gone else "")
        )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _parts(interval: BranchInterval | None) -> str:
    if interval is None:
        return "-"
    bias = f" + {interval.bias:.4f}" if interval.bias else ""
    return f"{_number(interval.mean)} ± {_number(interval.statistical)}{bias}"


def _explanation(text: str, shown: str) -> Explanation:
    """From the native part's JSON, and its table."""
    story: dict[str, Any] = json.loads(text)

    def branch(found: dict[str, float] | None) -> BranchInterval | None:
        return None if found is None else BranchInterval(**found)

    def interval(found: dict[str, Any]) -> ActionInterval:
        return ActionInterval(
            **{**found, "online": branch(found["online"]), "informed": branch(found["informed"])}
        )

    layers = tuple(
        LayerExplanation(
            layer["layer"], layer["rule"], tuple(map(interval, layer["actions"])), tuple(layer["eliminated"])
        )
        for layer in story["layers"]
    )
    return Explanation(story["round"], story["action"], layers, shown)
