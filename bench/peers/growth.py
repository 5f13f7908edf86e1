"""How our cost of a round grows with features, actions and rounds, beside what theory says: growth.svg, .png, .json."""

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

from report import BLUE, DARK, GREEN, MUTED, SKY, STYLE, VERMILION, save
from rounds import record

# Colours as in every figure of these policies.
PRESETS = {
    "truenorth": (BLUE, "s"),
    "lin-ucb": (GREEN, "o"),
    "oful": (DARK, "^"),
    "suplinucb": (SKY, "D"),
    "ellipsoidal-minucb": (VERMILION, "v"),
}
DIMENSIONS = (5, 10, 20, 50, 100, 200, 500)  # at 50 actions
ACTIONS = (5, 10, 20, 50, 100, 200, 500, 1000)  # at 50 features
ROUNDS = (100, 300, 1000, 3000, 10_000, 30_000, 100_000)  # at 20 actions, 20 features
RECORDED = 2000  # rounds in a file, at most; longer games start over in it


def play(example: Path, path: Path, preset: str, seconds: float, rounds: int) -> dict[str, Any]:
    command = [example, path, preset, str(seconds), str(rounds)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def run(example: Path, folder: Path, processor: str, seed: int) -> None:
    panels: dict[str, dict[str, list[tuple[int, float]]]] = {}

    def add(panel: str, preset: str, place: int, value: float) -> None:
        panels.setdefault(panel, {}).setdefault(preset, []).append((place, value))
        print(f"{panel} {place}, {preset}: {value:,.6g}", file=sys.stderr)

    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "rounds.bin"
        grid = [("features", d, 50, d) for d in DIMENSIONS] + [("actions", k, k, 50) for k in ACTIONS]
        for panel, place, actions, dimension in grid:
            count = min(RECORDED, int(64e6 / (8 * actions * dimension)))
            record(actions, dimension, seed, count).write(path)
            for preset in PRESETS:
                played = play(example, path, preset, 1.0, RECORDED)
                add(panel, preset, place, 1e6 * statistics.median(played["seconds"]) / played["block"])
        record(20, 20, seed, RECORDED).write(path)
        for place in ROUNDS:
            for preset in PRESETS:
                played = play(example, path, preset, 1e9, place)
                seconds, each = played["seconds"], played["blocks_each"]
                passes = [sum(seconds[start : start + each]) for start in range(0, len(seconds), each)]
                add("rounds", preset, place, statistics.median(passes))
    content = {"processor": processor, "threads": 1, "seed": seed, "panels": panels}
    (folder / "growth.json").write_text(json.dumps(content, indent=1) + "\n")
    draw(panels, folder)


def draw(panels: dict[str, dict[str, list[tuple[int, float]]]], folder: Path) -> None:
    looks = {
        "features": ("50 actions", "features d", "µs a round", 2, "d²"),
        "actions": ("50 features", "actions K", "µs a round", 1, "K"),
        "rounds": ("20 actions, 20 features", "rounds t", "seconds in all", 1, "t"),
    }
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.6))
        for axis, (name, (title, below, left, power, slope)) in zip(axes, looks.items()):
            for preset, (color, marker) in PRESETS.items():
                points = panels[name][preset]
                axis.plot(*zip(*points), marker=marker, markersize=4, color=color, linewidth=1.6, label=preset)
            # Below all of them: only its slope counts.
            places = [place for place, _ in panels[name]["lin-ucb"]]
            end = min(points[-1][1] for points in panels[name].values()) / 3
            theory = [end * (place / places[-1]) ** power for place in places]
            axis.plot(places, theory, color=MUTED, linestyle=(0, (5, 3)), linewidth=1.2)
            axis.annotate(
                f"slope of {slope}", (places[-3], theory[-3]), (4, -12), textcoords="offset points", color=MUTED
            )
            axis.set_xscale("log")
            axis.set_yscale("log")
            axis.set_title(title, fontsize=10, loc="left")
            axis.set_xlabel(below)
            axis.set_ylabel(left)
        handles, labels = axes[0].get_legend_handles_labels()
        figure.tight_layout()
        figure.legend(handles, labels, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=5, frameon=False)
        save(figure, folder, "growth")
