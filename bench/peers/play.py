"""One system against the rounds of a file, in a process of its own: play.py SYSTEM FILE SECONDS.

Prints one JSON object: rounds a block, seconds of each block, blocks of one repetition, the actions of the first,
bytes of resident memory that the system took beyond imports and data. `crates/truenorth/examples/peers.rs` does the
same for ours.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

from rounds import Rounds, record
from systems import ARM_SYSTEMS, SYSTEMS, System

FEW = 5  # rounds of the warm-up, and least number of timed ones
BLOCKS = 20  # of a repetition, at least, if there are so many rounds
REPETITIONS = 5  # at most


def resident(field: str) -> int | None:
    """Bytes of resident memory: now (VmRSS) or at most (VmHWM), where the system tells."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith(field))
    except (OSError, StopIteration):
        return None


def reset_peak() -> None:
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        pass


def block(system: System, rounds: Rounds, start: int, stop: int) -> tuple[float, list[int]]:
    """Seconds of some rounds, and the actions."""
    inputs = system.prepare(rounds.features[start:stop])
    rewards: Any = rounds.rewards[system.world][start:stop]
    rewards = rewards if system.takes_arrays else rewards.tolist()
    clock = time.perf_counter()
    actions = system.play(inputs, rewards)
    seconds = time.perf_counter() - clock
    system.finish(inputs)
    return seconds, list(actions)


def measure(kind: type[System], rounds: Rounds, budget: float) -> dict[str, Any]:
    """Warms up, then plays blocks by new systems until the time is up."""
    length = len(rounds.features)
    few = min(FEW, length)
    before = resident("VmRSS")
    reset_peak()
    system = kind(rounds)
    block(system, rounds, 0, 1)
    once, _ = block(system, rounds, 1, 2)
    if once > budget:
        return {"too_slow": once}
    warm_up, _ = block(system, rounds, 0, few)
    size = int(min(max(budget / 50.0 / (warm_up / few), 1), -(-length // BLOCKS)))
    blocks = length // size
    seconds: list[float] = []
    actions: list[int] = []
    while len(seconds) < REPETITIONS * blocks and (sum(seconds) < budget or len(seconds) * size < few):
        place = len(seconds) % blocks
        if place == 0:
            del system
            system = kind(rounds)
        spent, played = block(system, rounds, place * size, (place + 1) * size)
        seconds.append(spent)
        actions += played
    peak = resident("VmHWM")
    memory = max(peak - before, 0) if peak and before else None
    actions = [int(action) for action in actions[: blocks * size]]
    return {"block": size, "blocks_each": blocks, "seconds": seconds, "actions": actions, "memory": memory}


def main() -> None:
    name, path, budget = sys.argv[1:]
    kind = (SYSTEMS | ARM_SYSTEMS)[name]
    rounds = Rounds.read(Path(path))
    try:
        tiny = record(2, 2, seed=1, count=2)
        block(kind(tiny), tiny, 0, 2)  # imports all that is needed, before memory is measured
        print(json.dumps(measure(kind, rounds, float(budget))))
    except MemoryError:
        print(json.dumps({"out_of_memory": True}))


if __name__ == "__main__":
    main()
