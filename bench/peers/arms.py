"""Own coefficients for each arm, and hashed features: arms.json and arms.md, for `peers.py --arms`."""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from report import number, table
from rounds import record
from systems import ARM_SYSTEMS

POINTS = ((50, 20), (500, 20))
OURS = {"truenorth lin-ucb, Rust": "lin-ucb", "truenorth with logs, Rust": "truenorth"}
ROUNDS = 10_000  # of ours from Rust, fits included; they start over in the file
PASS = 15.0  # seconds that one pass over so many may take
HASHED = {"features": 4096, "touched": 40, "actions": 50, "rounds": 1000}
RUNS = 3  # of the hashed point


def hashed(example: Path) -> dict[str, Any]:
    """Mean and slowest decision and reward, and the peak of the resident set of the whole process.

    Noise and length of the coefficients are told, as everywhere here.
    """
    told = [HASHED[name] for name in ("actions", "touched", "rounds", "features")]
    with subprocess.Popen(
        list(map(str, [example, "lin-ucb", "hashed", *told, "told"])), stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        text = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    found = re.search(r"([0-9.]+) \+ ([0-9.]+) us a decision.*slowest ([0-9.]+) \+ ([0-9.]+) us", text)
    if process.returncode != 0 or found is None:
        return {"failed": text or f"exit code {process.returncode}"}
    decision, reward, slowest, slowest_reward = map(float, found.groups())
    return {
        "decision_microseconds": {"mean": decision, "slowest": slowest},
        "reward_microseconds": {"mean": reward, "slowest": slowest_reward},
        "memory_bytes": used.ru_maxrss * 1024,
    }


def run(examples: Path, about: dict[str, Any], arguments: Any, answer: Any, summary: Any) -> None:
    """Every system at every point, as `peers.py` plays the others: one process each, blocks until the time is up."""
    budget, memory, here = arguments.budget, arguments.memory * 2**30, Path(__file__).resolve().parent
    results: dict[str, Any] = {"about": about, "points": [], "hashed": []}
    # First, as a process is charged with the peak of the one that starts it.
    for _ in range(RUNS):
        results["hashed"].append(hashed(examples / "sparse"))
        print(f"hashed: {json.dumps(results['hashed'][-1])}", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rounds.bin"
        for actions, dimension in POINTS:
            rounds = record(actions, dimension, arguments.seed)
            rounds.write(path)
            means = rounds.means["disjoint"]
            point: dict[str, Any] = {"actions": actions, "dimension": dimension, "systems": {}}
            commands = {
                name: [examples / "peers", path, preset, max(budget, PASS), ROUNDS, "arms"] for name, preset in OURS.items()
            } | {name: [sys.executable, here / "play.py", name, path, budget] for name in ARM_SYSTEMS}
            for name, command in commands.items():
                raw = answer(command, memory, 60 + 20 * budget)
                if "actions" in raw:  # beyond the last recorded round, only time counts
                    seconds, block = raw["seconds"][: raw["blocks_each"]], raw["block"]
                    mean = 1e6 * sum(seconds) / (block * len(seconds))
                    raw["actions"] = raw["actions"][: len(means) // block * block]
                    found = summary(raw, means)
                    found["microseconds"]["mean_of_first_pass"], found["rounds_of_mean"] = mean, block * len(seconds)
                else:
                    found = raw
                point["systems"][name] = found
                shown = found.get("microseconds", found)
                print(f"{actions} arms of {dimension}, {name}: {json.dumps(shown)}", file=sys.stderr)
            results["points"].append(point)
    about["load_after"] = os.getloadavg()[0]
    out = arguments.out.parent
    (out / "arms.json").write_text(json.dumps(results, indent=1) + "\n")
    (out / "arms.md").write_text(markdown(results))


def markdown(results: dict[str, Any]) -> str:
    about = results["about"]
    text = (
        "Microseconds for one decision and one reward, median of blocks of rounds, where every arm has coefficients of "
        "its own; in brackets how many times ours (`lin-ucb` from Rust). Mean: of the first pass, fits included. "
        f"{about['processor']}, one thread, one core, load {about['load_before']:.1f} before and "
        f"{about['load_after']:.1f} after; Python {about['python']}, {about['rustc']}.\n\n"
    )
    for point in results["points"]:
        text += f"## {point['actions']} arms, {point['dimension']} values\n\n"
        ours = point["systems"][next(iter(OURS))].get("microseconds", {}).get("median")
        rows = []
        for name, found in point["systems"].items():
            times = found.get("microseconds")
            if times is None:
                rows.append([name, *["" for _ in range(6)], json.dumps(found)])
                continue
            ratio = f" (×{number(times['median'] / ours)})" if ours else ""
            quartiles = f"{number(times['lower_quartile'])} to {number(times['upper_quartile'])}"
            size = number(found["memory_bytes"] / 1e6) if found["memory_bytes"] is not None else ""
            played = f"{found['rounds_of_mean']:,}"
            rows.append(
                [
                    name,
                    number(times["median"]) + ratio,
                    quartiles,
                    number(times["mean_of_first_pass"]),
                    played,
                    size,
                    f"{found['score']:.3f}",
                    str(found["blocks"]),
                ]
            )
        head = ["system", "median µs", "quartiles", "mean µs", "over rounds", "memory MB", "score", "blocks"]
        text += table(head, rows)
    text += (
        f"## Hashed: {HASHED['features']:,} features, {HASHED['touched']} of them in an action, {HASHED['actions']} actions\n\n"
        f"`lin-ucb` from Rust, {HASHED['rounds']:,} rounds, all runs. Memory is the peak of the whole process.\n\n"
    )
    rows = [
        [
            str(place + 1),
            number(found["decision_microseconds"]["mean"] / 1e3),
            number(found["decision_microseconds"]["slowest"] / 1e3),
            number(found["reward_microseconds"]["mean"] / 1e3),
            number(found["reward_microseconds"]["slowest"] / 1e3),
            number(found["memory_bytes"] / 1e6),
        ]
        for place, found in enumerate(results["hashed"])
        if "failed" not in found
    ]
    return text + table(["run", "decision ms", "slowest", "reward ms", "slowest", "memory MB"], rows)
