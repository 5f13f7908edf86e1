"""table.md and the figures, from results.json."""

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

OURS = "truenorth lin-ucb, Rust"
NAMED = ((5, 5), (10, 200), (50, 200))  # the points of the first table and figure
# The project's palette: Okabe and Ito.
BLUE, VERMILION, GREEN, PINK, DARK, ORANGE, SKY, BROWN = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#333333", "#e69f00", "#56b4e9", "#8c562b",
)  # fmt: skip
TEXT, MUTED, GRID = "#222222", "#5c5c5c", "#e8e8e8"
KINDS = {
    "truenorth": (BLUE, "o"),
    "one parameter for all actions": (VERMILION, "s"),
    "a model for each arm": (GREEN, "^"),
    "hashed, stochastic gradient": (PINK, "D"),
}
STYLE = {
    "font.family": "sans-serif",
    "font.size": 9,
    "text.color": TEXT,
    "axes.labelcolor": TEXT,
    "axes.edgecolor": "#808080",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "svg.fonttype": "none",
    "svg.hashsalt": "truenorth",
}


def kind_of(name: str, about: dict[str, Any]) -> str:
    if is_ours(name):
        return "truenorth"
    if "hashed" in about["models"][name]:
        return "hashed, stochastic gradient"
    return "a model for each arm" if about["worlds"][name] == "disjoint" else "one parameter for all actions"


def time_of(point: dict[str, Any], name: str) -> float | None:
    return point["systems"].get(name, {}).get("microseconds", {}).get("median")


def names_of(results: dict[str, Any]) -> list[str]:
    """Ours first, in their order, then by the time in the last named point, or the last of all."""
    last = (named(results) or results["points"])[-1]
    names = {name for point in results["points"] for name in point["systems"]}
    peers = [name for name in names if not is_ours(name)]
    ours = [name for name in results["about"]["models"] if is_ours(name) and name in names]
    return ours + sorted(peers, key=lambda name: (time_of(last, name) or float("inf"), name))


def is_ours(name: str) -> bool:
    return name.startswith("truenorth")


def named(results: dict[str, Any]) -> list[dict[str, Any]]:
    return [point for point in results["points"] if (point["actions"], point["dimension"]) in NAMED]


def number(value: float) -> str:
    """Three digits that count."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


# ------------------------------------------------------------------------------------------------- the table


def cell(point: dict[str, Any], name: str) -> str:
    found = point["systems"].get(name)
    if found is None:
        return ""
    if "too_slow" in found:
        return f"too slow ({number(found['too_slow'])} s)"
    if "out_of_memory" in found:
        return "too much memory"
    if "microseconds" not in found:
        return "failed"
    time, ours = found["microseconds"]["median"], time_of(point, OURS)
    ratio = "" if name == OURS or not ours else f" (×{number(time / ours)})"
    return f"{number(time)}{ratio}"


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---" if name in ("system", "model") else "---:" for name in head], *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines) + "\n"


def label(point: dict[str, Any]) -> str:
    return f"K={point['actions']}, d={point['dimension']}"


def caption(about: dict[str, Any]) -> str:
    versions = ", ".join(f"{package} {number}" for package, number in about["packages"].items() if number)
    missing = [package for package, number in about["packages"].items() if not number]
    return (
        f"Microseconds for one decision and one update, median of blocks of rounds (mean for the command line); in "
        f"brackets how many times ours (`lin-ucb` from Rust). K actions, d features each. "
        f"{about['processor']}, one thread, one core; "
        f"Python {about['python']}, {about['rustc']}; {versions}."
        + (f" Not installed: {', '.join(missing)}." if missing else "")
    )


def markdown(results: dict[str, Any]) -> str:
    about, names = results["about"], names_of(results)
    text = caption(about) + "\n\n"
    points = named(results)
    head = ["system", "model", *map(label, points)]
    text += table(head, [[name, kind_of(name, about), *(cell(point, name) for point in points)] for name in names])
    text += (
        "`one parameter for all actions` and `truenorth` see K x d features a round. `a model for each arm` sees "
        "one context of d features: another world of the same size. `hashed, stochastic gradient` learns no "
        "covariance: O(d) an action instead of O(d²). `with logs` is the preset `truenorth` with 1,000 logged rows.\n\n"
    )
    text += "## Rewards and memory\n\n"
    text += (
        "Score: 0 is a uniform choice, 1 the best action of every round, in means, after the rounds that the time "
        "budget allowed. Mean: of all rounds of the first pass, refits of `truenorth` with logs included. Memory: "
        "peak over imports and data.\n\n"
    )
    for point in points:
        text += f"### {label(point)}\n\n"
        rows = []
        for name in names:
            found = point["systems"].get(name, {})
            if "score" not in found:
                continue
            after = found["score_after"]
            times, memory = found["microseconds"], found["memory_bytes"]
            rows.append(
                [
                    name,
                    number(times["median"]),
                    f"{number(times['lower_quartile'])} to {number(times['upper_quartile'])}",
                ]
                + [number(times["min"]), number(times["mean_of_first_pass"])]
                + ["" if memory is None else f"{memory / 1e6:,.1f}", f"{found['rounds']:,}", f"{found['score']:.3f}"]
                + [f"{after[mark]:.3f}" if mark in after else "" for mark in ("100", "1000")]
            )
        head = ["system", "median µs", "quartiles", "min", "mean", "memory MB", "rounds", "score"]
        text += table([*head, "after 100", "after 1,000"], rows)
    if len(results["points"]) > len(points):
        text += "## All points\n\n"
        for actions in sorted({point["actions"] for point in results["points"]}):
            row = [point for point in results["points"] if point["actions"] == actions]
            text += table(["system", *map(label, row)], [[name, *(cell(p, name) for p in row)] for name in names])
    return text


# ----------------------------------------------------------------------------------------------- the figures


def save(figure: Any, folder: Path, name: str) -> None:
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None}, bbox_inches="tight")
    figure.savefig(folder / f"{name}.png", dpi=160, bbox_inches="tight")
    plt.close(figure)


def dots(results: dict[str, Any], folder: Path) -> None:
    """A row for each system, a panel for each named point."""
    points, about = named(results), results["about"]
    names = [name for name in names_of(results) if any(time_of(point, name) for point in points)]
    figure, panels = plt.subplots(
        1, len(points), figsize=(3.1 * len(points) + 1.6, 0.31 * len(names) + 1.5), sharey=True, squeeze=False
    )
    for panel, point in zip(panels[0], points):
        times = [time for name in names if (time := time_of(point, name))]
        for row, name in enumerate(names):
            time = time_of(point, name)
            if time is None:
                panel.text(
                    0.02, row, cell(point, name), va="center", color=MUTED, transform=panel.get_yaxis_transform()
                )
                continue
            color, marker = KINDS[kind_of(name, about)]
            panel.plot([min(times) / 3, time], [row, row], color=color, linewidth=1, alpha=0.35)
            panel.plot(time, row, marker, color=color, markersize=6)
            panel.annotate(number(time), (time, row), (7, 0), textcoords="offset points", va="center", fontsize=8)
        panel.set_xscale("log")
        panel.set_xlim(min(times) / 3, max(times) * 14)
        panel.set_title(f"{point['actions']} actions, {point['dimension']} features", fontsize=10, loc="left")
        panel.set_xlabel("µs a round")
        panel.grid(axis="y", visible=False)
        panel.axhspan(-0.5, sum(is_ours(name) for name in names) - 0.5, color=BLUE, alpha=0.06, linewidth=0)
    panels[0][0].set_yticks(range(len(names)), names)
    panels[0][0].set_ylim(len(names) - 0.5, -0.5)
    for tick, name in zip(panels[0][0].get_yticklabels(), names):
        tick.set_color(BLUE if is_ours(name) else TEXT)
        tick.set_fontweight("bold" if is_ours(name) else "normal")
    legend(figure, {kind_of(name, about) for name in names})
    save(figure, folder, "peers")


def legend(figure: Any, kinds: set[str]) -> None:
    marks = [
        plt.Line2D([], [], color=color, marker=marker, linestyle="", label=kind)
        for kind, (color, marker) in KINDS.items()
        if kind in kinds
    ]
    figure.tight_layout()
    figure.legend(handles=marks, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=4, frameon=False)


def lines(results: dict[str, Any], folder: Path) -> None:
    """A panel for each number of actions: time against features, one line a system."""
    names = [name for name in names_of(results) if "command line" not in name]
    counts = sorted({point["actions"] for point in results["points"]})
    ours, peers = [name for name in names if is_ours(name)], [name for name in names if not is_ours(name)]
    looks = {name: ([BLUE, SKY][i % 2], "os^D"[i % 4], ["-", "--", ":"][i // 2 % 3]) for i, name in enumerate(ours)}
    colors = [DARK, VERMILION, ORANGE, BROWN, GREEN, PINK]
    looks |= {name: (colors[i % 6], "^Dvxs"[i % 5], ["-", "--"][i // 6 % 2]) for i, name in enumerate(peers)}
    figure, panels = plt.subplots(1, len(counts), figsize=(3.1 * len(counts), 3.9), sharey=True, squeeze=False)
    for panel, actions in zip(panels[0], counts):
        row = [point for point in results["points"] if point["actions"] == actions]
        for name in names:
            pairs = [(point["dimension"], time) for point in row if (time := time_of(point, name))]
            color, marker, dash = looks[name]
            width = 2.4 if is_ours(name) else 1.1
            if pairs:
                panel.plot(*zip(*pairs), dash, marker=marker, markersize=3.5, color=color, linewidth=width, label=name)
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_xticks([point["dimension"] for point in row], [point["dimension"] for point in row])
        panel.minorticks_off()
        panel.set_title(f"{actions:,} actions", fontsize=10, loc="left")
        panel.set_xlabel("features")
    panels[0][0].set_ylabel("µs a round")
    found = {label: handle for panel in panels[0] for handle, label in zip(*panel.get_legend_handles_labels())}
    figure.tight_layout()
    figure.legend(
        found.values(), found.keys(), loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=4, frameon=False, fontsize=8
    )
    save(figure, folder, "peers-grid")


def write(results: dict[str, Any], folder: Path) -> None:
    (folder / "table.md").write_text(markdown(results))
    with plt.rc_context(STYLE):
        if named(results):
            dots(results, folder)
        if len(results["points"]) > len(named(results)):
            lines(results, folder)
