"""Time, memory and reward of a round: truenorth beside other bandit libraries, on the same recorded rounds.

    python3 bench/peers/peers.py --out bench/peers/results.json

Makes a virtual environment, installs requirements.txt there, builds truenorth, and measures; see README.md.
"""

import argparse
import hashlib
import importlib.metadata
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve() / "release"
THREADS = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "RAYON", "NUMBA")}
GRID = [(actions, dimension) for actions in (5, 10, 50, 1000) for dimension in (5, 20, 100, 200, 500)]
QUICK = [(5, 5), (10, 200), (50, 200)]
MARKS = (100, 1000, 10_000)  # rounds after which scores are compared
OUR_LINUCB = "truenorth lin-ucb, Rust"
OURS = {OUR_LINUCB: "lin-ucb", "truenorth with logs, Rust": "truenorth"}
COMMAND_LINE = {"truenorth lin-ucb, command line": "lin-ucb", "truenorth with logs, command line": "truenorth"}


# ------------------------------------------------------------------------------------------ the environment


def environment(folder: Path) -> None:
    """Continues in the virtual environment, after installing what is missing there."""
    python = folder / "bin" / "python"
    if Path(sys.prefix).resolve() == folder.resolve():
        return
    wanted = (HERE / "requirements.txt").read_text()
    stamp = folder / f"installed-{hashlib.sha256(wanted.encode()).hexdigest()[:16]}"
    if not stamp.exists():
        venv.create(folder, with_pip=True, clear=(folder / "pyvenv.cfg").exists())
        install(python, ["--upgrade", "pip"])
        # One by one: a package that does not build here leaves an empty row, not an empty table.
        for requirement in wanted.split("\n"):
            if requirement:
                install(python, [requirement])
        stamp.touch()
    if (ROOT / "python").is_dir():
        install(python, [str(ROOT / "python")])
    os.execve(python, [str(python), *sys.argv], os.environ | THREADS | {"PYTHONDONTWRITEBYTECODE": "1"})


def install(python: Path, what: list[str]) -> None:
    print(f"installing {what[-1]}", file=sys.stderr)
    done = subprocess.run([python, "-m", "pip", "install", "-q", *what], capture_output=True, text=True)
    if done.returncode != 0:
        reason = (done.stderr.strip() or "no reason given").splitlines()[-1]
        print(f"{what[-1]} cannot be installed, its rows stay empty: {reason}", file=sys.stderr)


def version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def build() -> None:
    """The library's examples and the command line."""
    examples = ["-p", "truenorth", "--example", "peers", "--example", "sparse"]
    for what in (examples, ["-p", "truenorth-cli"]):
        subprocess.run(["cargo", "build", "--release", "--quiet", *what], cwd=ROOT, check=True)


def pin() -> int | None:
    """One core for this process and all it starts; the last one, which serves the fewest interrupts."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    return core


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


# ------------------------------------------------------------------------------------------ one measurement


def answer(command: list[Any], memory: float, timeout: float) -> dict[str, Any]:
    """Runs a program with at most so many bytes and seconds, and reads the JSON it prints last."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (int(memory), int(memory)))

    try:
        done = subprocess.run(
            list(map(str, command)), capture_output=True, text=True, timeout=timeout, preexec_fn=limit
        )
    except subprocess.TimeoutExpired:
        return {"too_slow": timeout}
    if done.returncode != 0:
        return {"failed": (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def summary(raw: dict[str, Any], means: Any) -> dict[str, Any]:
    """What is kept of the blocks and the actions."""
    import numpy as np

    if "seconds" not in raw:
        return raw
    each = sorted(1e6 * seconds / raw["block"] for seconds in raw["seconds"])
    lower, median, upper = np.quantile(each, (0.25, 0.5, 0.75)).tolist()
    actions = np.array(raw["actions"])
    count = len(actions)
    if not ((0 <= actions) & (actions < means.shape[1])).all():
        return {"failed": "an action out of range"}
    earned = means[np.arange(count), actions].cumsum()
    best, random = means[:count].max(1).cumsum(), means[:count].mean(1).cumsum()
    score = (earned - random) / (best - random)  # 0 for a uniform choice, 1 for the best action of every round
    total = sum(raw["seconds"][: count // raw["block"]])
    return {
        "microseconds": {
            "median": median,
            "min": each[0],
            "lower_quartile": lower,
            "upper_quartile": upper,
            "mean_of_first_pass": 1e6 * total / count,
        },
        "block": raw["block"],
        "blocks": len(each),
        "rounds": count,
        "memory_bytes": raw["memory"],
        "mean_reward": earned[-1] / count,
        "score": score[-1],
        "score_after": {str(mark): score[mark - 1] for mark in MARKS if mark <= count},
    }


def command_line(rounds: Any, folder: Path, memory: float, budget: float) -> dict[str, dict[str, Any]]:
    """`truenorth compare` on the same rounds in Parquet. It tells the mean time of a round."""
    from rounds import NOISE, write_parquet

    online, offline = folder / "online.parquet", folder / "offline.parquet"
    count = write_parquet(rounds, online, offline)
    command = [TARGET / "truenorth", "compare", "--online", online, "--offline", offline, "--features", "x*"]
    command += ["--reward", "reward", "--round", "round", "--policies", ",".join(COMMAND_LINE.values())]
    command += ["--noise", NOISE, "--norm-bound", 1, "--seeds", 1, "--threads", 1, "--json"]
    raw = answer(command, memory, 120 + 20 * budget)
    if "policies" not in raw:
        return {name: raw for name in COMMAND_LINE}
    played = {policy["name"]: policy for policy in raw["policies"]}
    return {
        name: {
            "microseconds": {"median": 1e6 * played[preset]["seconds"] / count},
            "rounds": count,
            "recorded_mean_reward": played[preset]["mean_reward"],
        }
        for name, preset in COMMAND_LINE.items()
    }


def measure_point(actions: int, dimension: int, arguments: argparse.Namespace, folder: Path) -> dict[str, Any]:
    from rounds import record
    from systems import SYSTEMS

    rounds = record(actions, dimension, arguments.seed)
    path = folder / "rounds.bin"
    rounds.write(path)
    memory, budget = arguments.memory * 2**30, arguments.budget
    timeout = 60 + 20 * budget
    raw: dict[str, dict[str, Any]] = {}
    results: dict[str, dict[str, Any]] = {}

    def report(name: str) -> None:
        found = results[name]
        text = f"{found['microseconds']['median']:,.2f} µs" if "microseconds" in found else json.dumps(found)
        print(f"K={actions}, d={dimension}, {name}: {text}", file=sys.stderr)

    def play(name: str, command: list[Any], world: str) -> None:
        raw[name] = answer(command, memory, timeout)
        results[name] = summary(raw[name], rounds.means[world])
        report(name)

    for name, preset in OURS.items():
        play(name, [TARGET / "examples" / "peers", path, preset, budget], "shared")
    for name, kind in SYSTEMS.items():
        if version(kind.package) is not None:
            play(name, [sys.executable, HERE / "play.py", name, path, budget], kind.world)
    if version("pyarrow") is not None:
        for name, found in command_line(rounds, folder, memory, budget).items():
            results[name] = found
            report(name)
    return {
        "actions": actions,
        "dimension": dimension,
        "recorded_rounds": len(rounds.features),
        "worlds": {
            world: {"random_mean_reward": means.mean(), "best_mean_reward": means.max(1).mean()}
            for world, means in rounds.means.items()
        },
        "same_action_as_numpy": {name: agreement(raw, name) for name in (OUR_LINUCB, "numba LinUCB") if name in raw},
        "systems": results,
    }


def agreement(raw: dict[str, dict[str, Any]], name: str) -> float | None:
    """Share of the rounds in which a system played as NumPy did."""
    both = list(zip(raw[name].get("actions", []), raw.get("NumPy LinUCB", {}).get("actions", [])))
    return statistics.fmean(a == b for a, b in both) if both else None


# ------------------------------------------------------------------------------------------------ all of it


def about(core: int | None, arguments: argparse.Namespace) -> dict[str, Any]:
    from systems import SYSTEMS

    ours = "one parameter for all actions, K x d features a round; "
    models = {
        name: f"{ours}{'1,000 logged rows too' if preset == 'truenorth' else 'no logs'}"
        for name, preset in (OURS | COMMAND_LINE).items()
    }
    packages = sorted({kind.package for kind in SYSTEMS.values()})
    rustc = subprocess.run(["rustc", "--version"], capture_output=True, text=True, cwd=ROOT).stdout.strip()
    return {
        "processor": processor(),
        "system": f"{platform.system()}, {platform.machine()}",
        "python": platform.python_version(),
        "rustc": rustc,
        "packages": {package: version(package) for package in packages},
        "threads": 1,
        "core": core,
        "load_before": os.getloadavg()[0],
        "budget_seconds": arguments.budget,
        "seed": arguments.seed,
        "models": models | {name: kind.model for name, kind in SYSTEMS.items()},
        "worlds": {name: kind.world for name, kind in SYSTEMS.items()},
    }


def point(text: str) -> tuple[int, int]:
    actions, dimension = map(int, text.split("x"))
    return actions, dimension


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--out", type=Path, default=HERE / "results.json")
    parser.add_argument("--venv", type=Path, default=Path(tempfile.gettempdir()) / "truenorth-peers-venv")
    parser.add_argument("--budget", type=float, default=3.0, metavar="SECONDS", help="of each system and point")
    parser.add_argument("--memory", type=float, default=16.0, metavar="GIB", help="address space of each process")
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--quick", action="store_true", help="three points instead of twenty")
    parser.add_argument("--points", nargs="+", type=point, metavar="KxD", help="other points, such as 5x5 1000x500")
    parser.add_argument("--report-only", action="store_true", help="table and figures from what --out holds")
    parser.add_argument("--self-test", action="store_true", help="check the harness instead of measuring")
    parser.add_argument("--arms", action="store_true", help="own coefficients for each arm, and hashed, instead")
    parser.add_argument("--growth", action="store_true", help="how our own cost grows, instead of the peers")
    arguments = parser.parse_args()
    environment(arguments.venv)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)

    import report

    if arguments.report_only:
        report.write(json.loads(arguments.out.read_text()), arguments.out.parent)
        return
    build()
    if arguments.self_test:
        import self_test

        self_test.run(TARGET / "examples" / "peers")
        return
    core = pin()
    if arguments.growth:
        import growth

        growth.run(TARGET / "examples" / "peers", arguments.out.parent, processor(), arguments.seed)
        return
    if arguments.arms:
        import arms

        arms.run(TARGET / "examples", about(core, arguments), arguments, answer, summary)
        return
    results = {"about": about(core, arguments), "points": []}
    for package, number in results["about"]["packages"].items():
        if number is None:
            print(f"{package} is not installed: its rows stay empty", file=sys.stderr)
    began = time.time()
    with tempfile.TemporaryDirectory() as folder:
        for actions, dimension in arguments.points or (QUICK if arguments.quick else GRID):
            results["points"].append(measure_point(actions, dimension, arguments, Path(folder)))
            partial = arguments.out.with_suffix(".partial")
            partial.write_text(json.dumps(results, indent=1) + "\n")
            partial.replace(arguments.out)
    print(f"{time.time() - began:.0f} s", file=sys.stderr)
    report.write(results, arguments.out.parent)


if __name__ == "__main__":
    main()
