"""Pictures: by matplotlib where it is installed, otherwise as SVG of our own."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from truenorth import _native


class Line(NamedTuple):
    """A curve, with a band around it unless `low` is empty."""

    name: str
    x: Sequence[float]
    mean: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()


class Picture:
    """A figure as SVG, which notebooks show."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"Picture({len(self.svg)} bytes of SVG)"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the figure, as PNG or SVG by the ending."""
        png = os.fspath(path).lower().endswith(".png")
        data = _native.svg_to_png(self.svg) if png else self.svg.encode()
        with open(path, "wb") as file:
            file.write(data)


def _matplotlib() -> Any:
    try:
        import matplotlib.pyplot as pyplot
    except ImportError:
        return None
    return pyplot


def curves(
    title: str,
    x_label: str,
    y_label: str,
    panels: Sequence[tuple[str, Sequence[Line]]],
    linear: bool = False,
    own: bool = False,
) -> Any:
    """Lines with bands, a plot for each panel: a figure of matplotlib, or a `Picture`."""
    pyplot = None if own else _matplotlib()
    if pyplot is None:
        return Picture(_native.curves_svg(title, x_label, y_label, panels, linear))
    figure, axes = pyplot.subplots(
        1, len(panels), figsize=(2.6 + 4.2 * len(panels), 4.2), squeeze=False, layout="constrained"
    )
    names = list(dict.fromkeys(line.name for _, lines in panels for line in lines))
    looks = dict(zip(names, _native.look(names)))
    for axis, (name, lines) in zip(axes[0], panels):
        for line in lines:
            color, dash = looks[line.name]
            # Dashes are in points there and in line widths here.
            pattern = (0, [float(part) / 1.6 for part in dash.split()]) if dash else "-"
            axis.plot(line.x, line.mean, color=color, linestyle=pattern, linewidth=1.6, label=line.name)
            if len(line.low):
                axis.fill_between(line.x, line.low, line.high, color=color, alpha=0.15, linewidth=0)
        if not linear and _wide(lines):
            axis.set_yscale("log")
        axis.set_title(name, fontsize="medium")
        axis.set_xlabel(x_label)
        _plain(axis)
    axes[0][0].set_ylabel(y_label)
    handles = {
        text: handle for axis in axes[0] for handle, text in zip(*axis.get_legend_handles_labels())
    }
    figure.legend(handles.values(), handles.keys(), loc="outside right upper", frameon=False, fontsize="small")
    figure.suptitle(title, x=0.01, ha="left", fontsize="large")
    pyplot.close(figure)
    return figure


def _wide(lines: Sequence[Line]) -> bool:
    """Whether a linear axis would hide the smaller curves."""
    if any(min(line.mean) < 0 for line in lines):
        return False
    ends = [line.mean[-1] for line in lines if line.mean[-1] > 0]
    return bool(ends) and max(ends) > 30 * min(ends)


def _plain(axis: Any) -> None:
    axis.spines[["top", "right"]].set_visible(False)
    axis.spines[["left", "bottom"]].set_color("#808080")
    axis.grid(True, color="#e8e8e8", linewidth=0.8)
    axis.set_axisbelow(True)


class Row(NamedTuple):
    """A feature: what the logs know, how far it moved (with an interval), how much the logs count."""

    name: str
    coverage: float
    drift: tuple[float, float, float] | None
    trust: float


def directions(title: str, notes: tuple[str, str, str], rows: Sequence[Row], own: bool = False) -> Any:
    """Trust, drift and coverage, a row for each feature; notes are of coverage, drift and trust."""
    pyplot = None if own else _matplotlib()
    if pyplot is None:
        return Picture(_native.directions_svg(title, notes, rows))
    figure, axes = pyplot.subplots(
        1, 3, figsize=(9.5, 1.4 + 0.3 * len(rows)), sharey=True, layout="constrained"
    )
    places = range(len(rows))
    axes[0].barh(places, [row.trust for row in rows], color="#009e73", height=0.6)
    axes[0].set_xlim(0, 1)
    for place, row in zip(places, rows):
        if row.drift is not None:
            value, low, high = row.drift
            color = "#d55e00" if low > 0 or high < 0 else "#0072b2"
            axes[1].plot([low, high], [place, place], color=color, linewidth=1.6)
            axes[1].plot([value], [place], "o", color=color, markersize=5)
    axes[1].axvline(0, color="#808080", linewidth=0.8)
    axes[2].barh(places, [row.coverage for row in rows], color="#0072b2", height=0.6)
    for axis, name, note in zip(axes, ("Trust", "Drift", "Coverage"), reversed(notes)):
        axis.set_title(f"{name}\n{note}", fontsize="small", loc="left")
        _plain(axis)
    axes[0].set_yticks(places, [row.name for row in rows])
    axes[0].invert_yaxis()
    figure.suptitle(title, x=0.01, ha="left", fontsize="large")
    pyplot.close(figure)
    return figure
