"""Plays PyPI's bayesianbandits in the world of truenorth's study `main`, with parameters of length 1.

Regret is in means: the best action's mean minus that of the chosen one, summed over the rounds.

Two engines play the same worlds:

* batch (the default): the library's formulas, written for all runs and settings at once. `--self-test`
  holds it against the library: posteriors round by round, and the law of the UCB's quantile.
* agent (`--agent RUNS`): the library itself, `LipschitzContextualAgent` with one shared `NormalRegressor`.

See README.md.
"""

import os

for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_threads, "1")  # before numpy: matrices of 5 x 5 gain nothing from threads

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import bayesianbandits as bb
import numpy as np
from scipy.special import ndtri

HERE = Path(__file__).resolve().parent
DIMENSION = ACTIONS = 5
NOISE = 0.1
LOG_ROWS = 2000
HORIZON = 20_000
SEPARATIONS = (1.1, 2.0)
MARKS = (10, 100, 1000)  # and the last round
ALPHA, BETA = 1.0, 1.0 / NOISE**2  # prior precision, noise precision
UCB_SAMPLES = 1000  # the library's default
CHUNK = 250  # rounds drawn at once
REFRESH = 50  # rounds until a covariance is inverted anew: under forgetting, rounding errors grow


# ---------------------------------------------------------------------------------------------- the world


def parameters(s):
    """Live and logged parameter, each of length 1."""
    live, logged = np.ones(DIMENSION), np.ones(DIMENSION)
    live[0] = logged[1] = s
    return live / np.linalg.norm(live), logged / np.linalg.norm(logged)


def marks_of(horizon):
    """Rounds at which regret is read."""
    return [mark for mark in MARKS if mark < horizon] + [horizon]


def directions(rng, *shape):
    """Gaussian directions of length 1."""
    x = rng.standard_normal((*shape, DIMENSION))
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


class World:
    """One run: its logs, then its rounds. All settings, both engines and each s meet the same numbers."""

    def __init__(self, seed, run):
        rng = np.random.default_rng([seed, run, 0])
        self.log_features = directions(rng, LOG_ROWS)
        self.log_noise = NOISE * rng.standard_normal(LOG_ROWS)
        self._rng = rng

    def log_rewards(self, s):
        return self.log_features @ parameters(s)[1] + self.log_noise

    def rounds(self, count):
        """Features (count, actions, dimension) and noise (count,) of the next rounds."""
        features = directions(self._rng, count, ACTIONS)
        return features, NOISE * self._rng.standard_normal(count)


# -------------------------------------------------------------------------------------------- the settings


@dataclass(frozen=True)
class Setting:
    """How the library is used.

    `policy` is "ts" or the quantile of the UCB. `rule` forgets before each live row, at `rate`. In the logs,
    each row forgets those before it at `log_rate`: the same as `rate` where a learner is built with its rule
    and then fitted. All that the logs taught is decayed by `once` before round 1
    (`agent.decay(decay_rate=...)`); 0 stands for no logs at all.
    """

    policy: object = 0.68
    rule: str = "exponential"
    rate: float = 1.0
    log_rate: float = 1.0
    once: float = 1.0

    def library_policy(self):
        if self.policy == "ts":
            return bb.ThompsonSampling()
        return bb.UpperConfidenceBound(alpha=self.policy, samples=UCB_SAMPLES)

    def library_log_rule(self):
        return None if self.log_rate == 1.0 else bb.ExponentialForgetting(self.log_rate)

    def library_rule(self):
        if self.rate == 1.0:
            return None
        rules = {
            "exponential": bb.ExponentialForgetting,
            "stabilized": bb.StabilizedForgetting,
            "sift": bb.SiftForgetting,
        }
        return rules[self.rule](self.rate)

    def row(self):
        policy = "Thompson" if self.policy == "ts" else f"UCB {self.policy}"
        rule = "none" if self.rate == 1.0 else f"{self.rule} {self.rate}"
        if self.once == 0.0:
            return policy, rule, "none"
        logs = [f"forgotten {self.log_rate}"] if self.log_rate < 1 else []
        logs += [f"decayed once by {self.once}"] if self.once < 1 else []
        return policy, rule, " and ".join(logs) or "full"


RATES = (0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9995, 0.9999)
QUANTILES = (0.5, 0.68, 0.9, 0.95, 0.99)
ONCE = (0.1, 0.05, 0.03, 0.02, 0.01, 0.003, 0.001, 0.0003, 0.0001)


def full_grid():
    grid = []
    for policy in (*QUANTILES, "ts"):
        grid.append(Setting(policy))
        grid.append(Setting(policy, once=0.0))
        grid += [Setting(policy, rate=rate) for rate in RATES]
        grid += [Setting(policy, rate=rate, log_rate=rate) for rate in RATES]
        grid += [Setting(policy, once=once) for once in ONCE]
    for policy in (0.68, "ts"):
        grid += [Setting(policy, log_rate=rate) for rate in RATES]
        for rule in ("stabilized", "sift"):
            grid += [Setting(policy, rule, rate) for rate in RATES]
    for once in (0.03, 0.01, 0.003, 0.001):
        grid += [Setting(rate=rate, once=once) for rate in (0.999, 0.9995, 0.9999)]
    return grid


def short_grid():
    rates = (0.99, 0.995, 0.999, 0.9999)
    grid = []
    for policy in (0.68, "ts"):
        grid.append(Setting(policy))
        grid += [Setting(policy, rate=rate) for rate in rates]
        grid += [Setting(policy, rate=rate, log_rate=rate) for rate in rates]
        grid += [Setting(policy, once=once) for once in (0.03, 0.01, 0.003, 0.001)]
    return grid


# ---------------------------------------------------------------------------------------- the batch engine


def after_logs(setting, s, world):
    """Precision and mean once the logs are in: `NormalRegressor.fit`, and one `decay` if it is asked for."""
    precision, information = ALPHA * np.eye(DIMENSION), np.zeros(DIMENSION)
    if setting.once > 0.0:
        # One step of forgetting a row, for the prior too.
        weights = setting.log_rate ** np.arange(LOG_ROWS - 1, -1, -1.0)
        precision *= setting.log_rate**LOG_ROWS
        x = world.log_features
        precision = precision + BETA * (x.T * weights) @ x
        information = BETA * x.T @ (weights * world.log_rewards(s))
    mean = np.linalg.solve(precision, information)
    if setting.once > 0.0:
        precision *= setting.once  # the mean stays
    return precision, mean


class Learners:
    """Posteriors of `NormalRegressor`: the runs of settings that share a rule. Shapes begin (setting, run)."""

    def __init__(self, rule, rates, precision, mean):
        self.rule = rule
        self.rate = np.asarray(rates)[:, None]
        self.mean = mean
        self.precision = precision
        self.covariance = np.linalg.inv(precision)
        self.age = 0

    def update(self, x, y):
        """One row each: x (setting, run, dimension), y (setting, run)."""
        rate, square = self.rate[..., None, None], x[..., :, None] * x[..., None, :]
        if self.rule == "stabilized":
            # The floor comes back into the precision but not into the information.
            information = np.einsum("srij,srj->sri", self.precision, self.mean)
            information = self.rate[..., None] * information + (BETA * y)[..., None] * x
            floor = (1 - rate) * ALPHA * np.eye(DIMENSION)
            self.precision = rate * self.precision + floor + BETA * square
            self.covariance = np.linalg.inv(self.precision)
            self.mean = np.einsum("srij,srj->sri", self.covariance, information)
            return
        if self.rule == "sift":
            # R - (1 - rate) R x x' R / (x' R x), and its inverse.
            w = np.einsum("srij,srj->sri", self.precision, x)
            h = np.einsum("sri,sri->sr", w, x)
            w *= np.sqrt((1 - self.rate) / h)[..., None]
            self.precision -= w[..., :, None] * w[..., None, :]
            self.covariance += ((1 / self.rate - 1) / h)[..., None, None] * square
        else:
            self.precision *= rate
            self.covariance /= rate
        self.precision += BETA * square
        # Sherman-Morrison, and the mean that goes with it: both rules leave the mean where it is.
        v = (self.covariance @ x[..., None])[..., 0]
        spread = 1 / BETA + (x * v).sum(-1)
        error = y - (x * self.mean).sum(-1)
        self.mean += (error / spread)[..., None] * v
        v /= np.sqrt(spread)[..., None]
        self.covariance -= v[..., :, None] * v[..., None, :]
        self.age += 1
        if self.age % REFRESH == 0:
            self.covariance = np.linalg.inv(self.precision)


def quantile_draws(rng, quantile, shape, samples=UCB_SAMPLES):
    """`np.quantile(z, quantile)` of `samples` standard normals, exactly in law, without drawing them.

    It interpolates between two neighbours in their order; the uniform order statistics are a beta variable
    and the smallest of those above it.
    """
    position = quantile * (samples - 1)
    below = math.floor(position)
    low = rng.beta(below + 1, samples - below, shape)
    z = ndtri(low)
    if position > below:
        rest = samples - below - 1
        high = 1 - (1 - low) * rng.random(shape) ** (1 / rest)
        z += (position - below) * (ndtri(high) - z)
    return z


def play_batch(settings, seed, runs, horizon):
    """Regret at the marks: (s, setting, run, mark)."""
    worlds = [World(seed, run) for run in runs]
    marks = marks_of(horizon)
    lanes = [(i, j) for i in range(len(SEPARATIONS)) for j in range(len(settings))]
    groups = []
    # Quantiles and Thompson apart, rules apart: so each group is one formula.
    kind = lambda setting: (setting.rule if setting.rate < 1 else "exponential", setting.policy)
    for rule, policy in sorted({kind(setting) for setting in settings}, key=str):
        own = [lane for lane in lanes if kind(settings[lane[1]]) == (rule, policy)]
        posts = [[after_logs(settings[j], SEPARATIONS[i], world) for world in worlds] for i, j in own]
        precision = np.array([[p for p, _ in row] for row in posts])
        mean = np.array([[m for _, m in row] for row in posts])
        learners = Learners(rule, [settings[j].rate for _, j in own], precision, mean)
        live = np.array([parameters(SEPARATIONS[i])[0] for i, _ in own])
        groups.append((policy, own, live, learners, np.zeros((len(own), len(runs)))))
    luck = {
        policy: [np.random.default_rng([seed, run, 1, 0 if policy == "ts" else round(1e6 * policy)]) for run in runs]
        for policy in {setting.policy for setting in settings}
    }
    regret = np.zeros((len(SEPARATIONS), len(settings), len(runs), len(marks)))
    arange = np.arange(len(runs))
    for start in range(0, horizon, CHUNK):
        count = min(CHUNK, horizon - start)
        drawn = [world.rounds(count) for world in worlds]
        features = np.array([x for x, _ in drawn])
        noise = np.array([e for _, e in drawn])
        draws = {
            policy: np.array(
                [
                    rng.standard_normal((count, DIMENSION))
                    if policy == "ts"
                    else quantile_draws(rng, policy, (count, ACTIONS))
                    for rng in rngs
                ]
            )
            for policy, rngs in luck.items()
        }
        for t in range(count):
            x = features[:, t]
            for policy, own, live, learners, total in groups:
                z = draws[policy][:, t]
                if policy == "ts":
                    root = np.linalg.cholesky(learners.covariance)
                    weights = learners.mean + (root @ z[..., None])[..., 0]
                    scores = (x @ weights[..., None])[..., 0]
                else:
                    scores = (x @ learners.mean[..., None])[..., 0]
                    variance = ((x @ learners.covariance) * x).sum(-1)
                    scores += z * np.sqrt(np.maximum(variance, 0))
                choice = scores.argmax(-1)
                means = (x @ live.T[None]).transpose(2, 0, 1)  # (setting, run, action)
                chosen = np.take_along_axis(means, choice[..., None], -1)[..., 0]
                total += means.max(-1) - chosen
                learners.update(x[arange, choice], chosen + noise[:, t])
            if start + t + 1 in marks:
                mark = marks.index(start + t + 1)
                for _, own, _, _, total in groups:
                    for lane, values in zip(own, total):
                        regret[lane[0], lane[1], :, mark] = values
    return regret


# ---------------------------------------------------------------------------------------- the agent engine


def offered(context, tokens):
    """The features of each arm, out of a context that holds those of all: (contexts, features, arms)."""
    return np.asarray(context).reshape(-1, ACTIONS, DIMENSION)[:, list(tokens), :].transpose(0, 2, 1)


def warm_agent(setting, s, world, seed):
    learner = bb.NormalRegressor(alpha=ALPHA, beta=BETA)
    agent = bb.LipschitzContextualAgent(
        arms=[bb.Arm(token, learner=None) for token in range(ACTIONS)],
        policy=setting.library_policy(),
        arm_featurizer=bb.FunctionArmFeaturizer(offered),
        learner=learner,
        random_seed=seed,
    )
    if setting.once > 0.0:
        learner.set_params(forgetting=setting.library_log_rule())
        learner.fit(world.log_features, world.log_rewards(s))
    if 0.0 < setting.once < 1.0:
        agent.decay(decay_rate=setting.once)
    learner.set_params(forgetting=setting.library_rule())
    return agent


def play_agent(setting, s, seed, run, horizon):
    """Regret of one run at the marks, played by the library."""
    world, live = World(seed, run), parameters(s)[0]
    agent = warm_agent(setting, s, world, np.random.default_rng([seed, run, 2]))
    total, at_marks, marks = 0.0, [], marks_of(horizon)
    for start in range(0, horizon, CHUNK):
        features, noise = world.rounds(min(CHUNK, horizon - start))
        for t, x in enumerate(features):
            context = x.reshape(1, -1)
            [choice] = agent.pull(context)
            means = x @ live
            agent.update(context, np.array([means[choice] + noise[t]]))
            total += means.max() - means[choice]
            if start + t + 1 in marks:
                at_marks.append(total)
    return at_marks


def self_test(horizon=3000):
    """The batch engine's formulas against the library."""
    world = World(7, 0)
    features, noise = world.rounds(horizon)
    x, live = features[:, 0], parameters(2.0)[0]
    y = x @ live + noise
    for setting in (
        Setting(),
        Setting(once=0.0),
        Setting(once=0.03),
        Setting(rate=0.99),
        Setting(rate=0.99, log_rate=0.99),
        Setting(rate=0.9999, log_rate=0.9999, once=0.1),
        Setting(rule="stabilized", rate=0.995),
        Setting(rule="stabilized", rate=0.995, log_rate=0.95),
        Setting(rule="sift", rate=0.995),
    ):
        learner = warm_agent(setting, 2.0, world, 0).learner
        precision, mean = after_logs(setting, 2.0, world)
        rule = setting.rule if setting.rate < 1 else "exponential"
        ours = Learners(rule, [setting.rate], precision[None, None].copy(), mean[None, None].copy())
        worst = 0.0
        for t in range(horizon):
            learner.partial_fit(x[t : t + 1], y[t : t + 1])
            ours.update(x[None, t : t + 1], y[None, t : t + 1])
            if t % 100 == 0 or t == horizon - 1:
                full = np.triu(learner.cov_inv_) + np.triu(learner.cov_inv_, 1).T
                covariance = np.linalg.inv(full)
                worst = max(
                    worst,
                    np.abs(ours.mean[0, 0] - learner.coef_).max(),
                    np.abs(ours.covariance[0, 0] - covariance).max() / np.abs(covariance).max(),
                )
        print(f"posterior, {' / '.join(setting.row())}: differs by {worst:.1e}")
        assert worst < 1e-8, "the batch engine is not the library"
    rng = np.random.default_rng(0)
    for quantile in QUANTILES:
        theirs = np.quantile(rng.standard_normal((20_000, UCB_SAMPLES)), quantile, axis=-1)
        ours = quantile_draws(rng, quantile, 20_000)
        shift = (theirs.mean() - ours.mean()) / math.hypot(theirs.std(), ours.std()) * math.sqrt(20_000)
        ratio = theirs.std() / ours.std()
        print(f"quantile {quantile}: means differ by {shift:+.1f} standard errors, spreads by a factor {ratio:.3f}")
        assert abs(shift) < 4.5 and abs(ratio - 1) < 0.03, "the quantile has another law"
    print("self-test passed")


# ---------------------------------------------------------------------------------------------- the report


def cell(values):
    """Mean and standard error over the runs."""
    values = np.asarray(values)
    return f"{values.mean():.3f} ± {values.std(ddof=1) / math.sqrt(len(values)):.3f}"


def table(head, rows):
    rows = [head, ["---"] * len(head), *rows]
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(head))]
    for row in rows:
        print("| " + " | ".join(str(value).ljust(width) for value, width in zip(row, widths)) + " |")
    print()


def best(settings, final):
    """Index of the best setting for each s, and of that whose worst ratio to those is the smallest."""
    means = final.mean(-1)  # (s, setting)
    winners = means.argmin(1)
    both = (means / means.min(1, keepdims=True)).max(0).argmin()
    return winners, both


def between(rounds, values, mark):
    """A curve's value at a round: empty before its first, with a tilde between two."""
    if mark < rounds[0]:
        return ""
    return f"{'' if mark in rounds else '~'}{np.interp(mark, rounds, values):.3f}"


def truenorth_rows(binary, experiment, runs, horizon):
    """Rows of the joint table. Runs are truenorth's own draws of the same world."""
    with tempfile.TemporaryDirectory() as out:
        command = [binary, "simulate", experiment, "--json", "--out", out, "--runs", str(runs), "--threads", "1"]
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {result.stderr.strip()}")
    rows = []
    for panel in json.loads(result.stdout)["figures"][0]["panels"]:
        if panel["horizon"] != horizon:
            sys.exit(f"{experiment} plays {panel['horizon']} rounds, but --horizon is {horizon}")
        for policy in panel["policies"]:
            final = policy["final_regret"]
            at = [between(policy["rounds"], policy["mean"], mark) for mark in marks_of(horizon)[:-1]]
            name = f"truenorth: {policy['name']}"
            rows.append([panel["name"], name, *at, f"{final['mean']:.3f} ± {final['stderr']:.3f}"])
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--horizon", type=int, default=HORIZON)
    parser.add_argument("--grid", action="store_true", help="all settings instead of a selection: six minutes")
    parser.add_argument("--agent", type=int, metavar="RUNS", default=0, help="play the best settings by the library too")
    parser.add_argument("--truenorth", metavar="BINARY", help="play unit-norm.toml and print a joint table")
    parser.add_argument("--experiment", default=HERE / "unit-norm.toml", help="instead of unit-norm.toml")
    parser.add_argument("--json", metavar="FILE", help="write the regret of each run")
    parser.add_argument("--self-test", action="store_true", help="hold the batch engine against the library")
    args = parser.parse_args()
    if args.self_test:
        self_test()
        return
    if args.runs < 2:
        parser.error("--runs must be at least 2: a standard error needs two")

    settings = full_grid() if args.grid else short_grid()
    began = time.time()
    regret = play_batch(settings, args.seed, range(args.runs), args.horizon)
    seconds = time.time() - began
    final = regret[..., -1]
    print(f"{len(settings)} settings, {args.runs} runs of {args.horizon} rounds, {seconds:.0f} s\n")
    names = [f"s = {s:g}" for s in SEPARATIONS]
    rows = [[*setting.row(), *(cell(final[i, j]) for i in range(len(names)))] for j, setting in enumerate(settings)]
    table(["policy", "forgetting", "logs", *names], rows)

    winners, both = best(settings, final)
    print("Chosen from the table by these very runs; played again in new worlds below.\n")
    chosen = [(f"best at {name}", j) for name, j in zip(names, winners)] + [("best for both", both)]
    table(["", "policy", "forgetting", "logs"], [[label, *settings[j].row()] for label, j in chosen])

    # The winner of many is a little lucky: new worlds say what it is worth.
    again = list(dict.fromkeys([settings[j] for _, j in chosen] + [Setting(), Setting("ts")]))
    fresh_seed = args.seed + 1
    fresh = play_batch(again, fresh_seed, range(args.runs), args.horizon)
    head = ["", "policy", *(f"round {mark}" for mark in marks_of(args.horizon))]
    joint = []
    for i, s in enumerate(SEPARATIONS):
        for j, setting in enumerate(again):
            label = f"bayesianbandits: {', '.join(setting.row())}"
            at = [cell(fresh[i, j, :, k]) for k in range(fresh.shape[-1])]
            joint.append([f"s={s:g}", label, *at])
    played = []
    for i, s in enumerate(SEPARATIONS):
        for setting in again[: 3 if args.agent else 0]:
            began = time.time()
            curves = [play_agent(setting, s, fresh_seed, run, args.horizon) for run in range(args.agent)]
            label = f"the agent itself, {args.agent} runs: {', '.join(setting.row())}"
            at = [cell(column) for column in zip(*curves)]
            joint.append([f"s={s:g}", label, *at])
            played.append({"s": s, "setting": setting.row(), "regret": curves})
            print(f"{label}, s = {s:g}: {time.time() - began:.0f} s", file=sys.stderr)
    if args.truenorth:
        joint += truenorth_rows(args.truenorth, args.experiment, args.runs, args.horizon)
    table(head, sorted(joint, key=lambda row: row[0]))

    if args.json:
        content = {
            "marks": marks_of(args.horizon),
            "settings": [setting.row() for setting in settings],
            "regret": regret.tolist(),
            "again": {"settings": [setting.row() for setting in again], "regret": fresh.tolist()},
            "agent": played,
        }
        Path(args.json).write_text(json.dumps(content))


if __name__ == "__main__":
    main()
