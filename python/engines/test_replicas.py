"""Three replicas on three nodes of NATS: whoever dies or is cut off, nothing that was acknowledged is lost or doubled."""

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

BINARY = Path(os.environ.get("TRUENORTH", Path(__file__).parents[2] / "target/release/truenorth"))
# The one beside this Python comes first: Debian's is too old for a cluster.
NATS = shutil.which("nats-server", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
VERSION = subprocess.run([NATS, "--version"], capture_output=True, text=True).stdout.split("v")[-1].split(".") if NATS else ["0", "0"]
pytestmark = [
    pytest.mark.skipif((int(VERSION[0]), int(VERSION[1])) < (2, 11), reason="no nats-server of 2.11 or later"),
    pytest.mark.skipif(not BINARY.exists(), reason=f"no {BINARY}: cargo build --release"),
]
NODES = 3
SPEC = {"policy": "truenorth", "model": "item + item:user", "noise": 0.5, "norm_bound": 2.0}


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def wait_until(true, seconds, what):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if true():
            return
        time.sleep(0.05)
    raise AssertionError(f"{what}: not within {seconds} s")


class Service:
    """A node of NATS and a replica beside it, for each of several machines: on loopback, or each in a network of its own."""

    def __init__(self, folder, nodes=NODES, hosts=None):
        self.folder, self.nodes = Path(folder), nodes
        self.prefix = [["ip", "netns", "exec", f"tn{node}"] if hosts else [] for node in range(nodes)]
        self.hosts = hosts or ["127.0.0.1"] * nodes
        self.client, self.cluster, self.http = ([free_port() for _ in range(nodes)] for _ in range(3))
        self.nats, self.replicas = [None] * nodes, [None] * nodes

    def start_nats(self, node):
        routes = "" if self.nodes == 1 else f"""
            cluster {{ name: truenorth, ping_interval: "2s", ping_max: 2, listen: "{self.hosts[node]}:{self.cluster[node]}",
                      routes: [{", ".join(f'"nats://{self.hosts[i]}:{self.cluster[i]}"' for i in range(self.nodes) if i != node)}] }}"""
        config = self.folder / f"nats{node}.conf"
        config.write_text(f"""
            server_name: n{node}
            listen: "{self.hosts[node]}:{self.client[node]}"
            jetstream {{ store_dir: "{self.folder}/nats{node}" }}
            {routes}
        """)
        self.nats[node] = self.spawned(f"nats{node}.log", [*self.prefix[node], NATS, "-c", str(config)])

    def spawned(self, log, command):
        with (self.folder / log).open("a") as log:
            return subprocess.Popen(command, stdout=log, stderr=log)

    def start_replica(self, node):
        servers = [self.hosts[(node + i) % self.nodes] + f":{self.client[(node + i) % self.nodes]}" for i in range(self.nodes)]
        if self.prefix[node]:
            # On a machine of its own, a replica has its own node and no other.
            servers = servers[:1]
        listen = f"{self.hosts[node]}:{self.http[node]}"
        command = [*self.prefix[node], str(BINARY), "serve", "--listen", listen, "--journal", "nats://" + ",".join(servers)]
        command += ["--data", str(self.folder / f"replica{node}"), "--open"]
        self.replicas[node] = self.spawned(f"replica{node}.log", command)

    def start(self):
        for node in range(self.nodes):
            self.start_nats(node)
        for node in range(self.nodes):
            self.start_replica(node)
        for node in range(self.nodes):
            wait_until(lambda: self.call(node, "/readyz")[0] == 200, 30, f"replica {node} is ready")

    def stop(self):
        for process in [*self.replicas, *self.nats]:
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()

    def call(self, node, path, body=None, method=None, timeout=10):
        connection = http.client.HTTPConnection(self.hosts[node], self.http[node], timeout=1)
        try:
            connection.connect()
            # Whoever is there may wait for a new leader of the stream.
            connection.sock.settimeout(timeout)
            content = None if body is None else json.dumps(body)
            connection.request(method or ("GET" if body is None else "POST"), path, content, {"content-type": "application/json"})
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException):
            return 0, b""
        finally:
            connection.close()

    def state(self, node, name="shop"):
        status, body = self.call(node, f"/v1/bandits/{name}/snapshot")
        return body if status == 200 else None


class Load:
    """Callers that decide and pay, each at whichever replica is next, and remember what was acknowledged."""

    def __init__(self, service, callers=4):
        self.service, self.stopping = service, threading.Event()
        self.decided, self.paid, self.statuses, self.lock = {}, {}, [], threading.Lock()
        self.threads = [threading.Thread(target=self.run, args=[caller], daemon=True) for caller in range(callers)]

    def run(self, caller):
        count = 0
        while not self.stopping.is_set():
            count += 1
            name = f"c{caller}-{count}"
            body = {"id": name, "context": {"user": f"u{count % 3}"}, "actions": [{"id": f"i{i}", "item": f"i{i}"} for i in range(4)]}
            status, answer = self.retried(caller + count, "decisions", body)
            if status != 200:
                continue
            decided = json.loads(answer)
            assert decided["decision_id"] == name
            with self.lock:
                self.decided[name] = decided["action"]
            reward = float(decided["action"] == f"i{count % 3}")
            status, _ = self.retried(caller + count + 1, "rewards", {"decision_id": name, "reward": reward})
            if status == 200:
                with self.lock:
                    self.paid[name] = reward

    def retried(self, node, call, body):
        """Asks one replica after another, as a caller behind a load balancer does."""
        status, answer = 0, b""
        for turn in range(6):
            at = (node + turn) % self.service.nodes
            status, answer = self.service.call(at, f"/v1/bandits/shop/{call}", body)
            with self.lock:
                self.statuses.append((time.monotonic(), at, status))
            if status not in (0, 503) or self.stopping.is_set():
                break
            time.sleep(0.05)
        return status, answer

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        for thread in self.threads:
            thread.join(timeout=60)

    def answered_since(self, start):
        with self.lock:
            return sum(1 for at, _, status in self.statuses if at >= start and status == 200)


def made(service):
    status, body = service.call(0, "/v1/bandits/shop", SPEC, "PUT", timeout=30)
    assert status == 201, body
    wait_until(lambda: all(service.call(node, "/v1/bandits/shop")[0] == 200 for node in range(service.nodes)), 10, "all know it")


def assert_nothing_lost(service, load):
    """All replicas have the same bytes, with every acknowledged decision and reward, once."""
    states = lambda: [service.state(node) for node in range(service.nodes)]
    wait_until(lambda: None not in states() and len(set(states())) == 1, 60, "all replicas are equal")
    view = json.loads(service.call(0, "/v1/bandits/shop")[1])
    seen = {}
    for node in range(service.nodes):
        lines = service.call(node, "/v1/bandits/shop/events", timeout=60)[1].splitlines()
        events = [json.loads(line) for line in lines]
        ids = [event["decision_id"] for event in events]
        assert len(ids) == len(set(ids)), "a decision is there twice"
        assert len(ids) == view["decisions"]
        seen = {event["decision_id"]: event for event in events}
        missing = [name for name in load.decided if name not in seen]
        assert not missing, f"lost: {missing[:5]} of {len(load.decided)}"
        assert all(seen[name]["action"] == action for name, action in load.decided.items())
        assert all(seen[name].get("reward") == reward for name, reward in load.paid.items())
    assert view["rewards"] == sum("reward" in event for event in seen.values())
    assert len(load.decided) > 100


@pytest.fixture
def service(tmp_path):
    service = Service(tmp_path)
    try:
        service.start()
        made(service)
        yield service
    finally:
        service.stop()


def test_whoever_is_killed_nothing_is_lost_and_answers_go_on(service):
    with Load(service) as load:
        time.sleep(2)
        for victim in range(NODES):
            service.replicas[victim].send_signal(signal.SIGKILL)
            service.replicas[victim].wait()
            start = time.monotonic()
            wait_until(lambda: load.answered_since(start) > 20, 15, "the others answer")
            service.start_replica(victim)
            wait_until(lambda: service.call(victim, "/readyz")[0] == 200, 30, "it is back")
        for victim in range(NODES):
            service.nats[victim].send_signal(signal.SIGKILL)
            service.nats[victim].wait()
            start = time.monotonic()
            wait_until(lambda: load.answered_since(start) > 20, 30, "the others answer")
            service.start_nats(victim)
            time.sleep(3)
    assert_nothing_lost(service, load)


def test_without_a_quorum_the_answer_is_503_and_says_why(service):
    for victim in (0, 1):
        service.nats[victim].kill()
        service.nats[victim].wait()
    body = {"id": "x", "context": {"user": "u0"}, "actions": [{"id": "i0", "item": "i0"}]}

    def refused():
        status, answer = service.call(2, "/v1/bandits/shop/decisions", body, timeout=30)
        return status == 503 and b"stream" in answer

    wait_until(refused, 40, "a clear refusal")
    # The node that is left still tells what it has, without a leader.
    wait_until(lambda: service.call(2, "/readyz")[0] == 503, 15, "it says that it may be behind")
    time.sleep(3)
    assert service.call(2, "/readyz")[0] == 503
    for victim in (0, 1):
        service.start_nats(victim)
    wait_until(lambda: service.call(2, "/v1/bandits/shop/decisions", body, timeout=30)[0] == 200, 60, "it answers again")
    wait_until(lambda: service.call(2, "/readyz")[0] == 200, 5, "it says so")


def test_a_node_that_says_nothing_is_left_for_another_one(service):
    """Its connections stay open, as those over a network that has been cut."""
    decide = lambda name: service.call(0, "/v1/bandits/shop/decisions", {"id": name, "context": {"user": "u0"}, "actions": [{"id": "i0", "item": "i0"}]})[0]
    assert decide("before") == 200
    service.nats[0].send_signal(signal.SIGSTOP)
    wait_until(lambda: decide("meanwhile") == 200, 30, "it answers by another node")
    service.nats[0].send_signal(signal.SIGCONT)
    wait_until(lambda: len({service.state(node) for node in range(NODES)}) == 1, 20, "all replicas are equal")


def test_a_replica_says_that_its_only_node_is_silent_and_is_back_soon_after(tmp_path):
    service = Service(tmp_path, nodes=1)
    try:
        service.start()
        service.nats[0].send_signal(signal.SIGSTOP)
        wait_until(lambda: service.call(0, "/readyz")[0] == 503, 15, "it says that it hears nothing")
        service.nats[0].send_signal(signal.SIGCONT)
        wait_until(lambda: service.call(0, "/readyz")[0] == 200, 5, "it is back")
    finally:
        service.stop()


def test_the_same_call_at_two_replicas_is_one(service):
    body = {"id": "twice", "context": {"user": "u0"}, "actions": [{"id": f"i{i}", "item": f"i{i}"} for i in range(4)]}
    answers = []
    threads = [threading.Thread(target=lambda n=n: answers.append(service.call(n % NODES, "/v1/bandits/shop/decisions", body))) for n in range(12)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert {status for status, _ in answers} == {200}
    assert len({answer for _, answer in answers}) == 1
    pay = lambda node, reward: service.call(node, "/v1/bandits/shop/rewards", {"decision_id": "twice", "reward": reward})[0]
    assert [pay(0, 1.0), pay(1, 1.0), pay(2, 1.0)] == [200, 200, 200]
    assert pay(1, 0.0) == 409
    assert service.call(2, "/v1/bandits/shop/rewards", {"decision_id": "unknown", "reward": 1.0})[0] == 404
    view = json.loads(service.call(1, "/v1/bandits/shop")[1])
    assert (view["decisions"], view["rewards"]) == (1, 1)
    assert service.call(1, "/v1/bandits/shop", SPEC, "PUT")[0] == 200
    assert service.call(2, "/v1/bandits/shop", {**SPEC, "noise": 0.1}, "PUT")[0] == 409


def test_a_replica_that_comes_late_starts_from_a_snapshot_and_is_the_same(tmp_path):
    """The states are kept after 50,000 messages; whoever is further behind than that starts from them."""
    service = Service(tmp_path, nodes=1)
    late = Service(tmp_path, nodes=1)
    late.client = service.client
    try:
        service.start()
        assert service.call(0, "/v1/bandits/gone", SPEC, "PUT")[0] == 201
        made(service)
        assert service.call(0, "/v1/bandits/gone", None, "DELETE")[0] == 200
        action = lambda i: {"id": f"i{i}", "item": f"i{i}"}
        for first in range(0, 26_000, 1000):
            ids = [f"d{count}" for count in range(first, first + 1000)]
            decisions = [{"id": name, "context": {"user": f"u{len(name) % 3}"}, "actions": [action(0), action(1)]} for name in ids]
            status, answer = service.call(0, "/v1/bandits/shop/decisions:batch", {"decisions": decisions}, timeout=60)
            assert status == 200 and answer.count(b"branch") == 1000, answer[:500]
            paid = [{"decision_id": name, "reward": float(name[-1] == "1")} for name in ids]
            status, answer = service.call(0, "/v1/bandits/shop/rewards", paid, timeout=60)
            assert status == 200 and answer.count(b"accepted") == 1000, answer[:500]
        wait_until(lambda: "states are kept" in (tmp_path / "replica0.log").read_text(), 30, "states are kept")
        (tmp_path / "late").mkdir()
        late.folder = tmp_path / "late"
        late.start_replica(0)
        wait_until(lambda: late.call(0, "/readyz")[0] == 200, 60, "the late one is ready")
        assert "started from states that were kept" in (tmp_path / "late/replica0.log").read_text()
        assert late.state(0) == service.state(0)
        # What was played instead is a matter of a message that the late one has not got.
        body = {"id": "new", "context": {"user": "u1"}, "actions": [action(0), action(1)]}
        decided = json.loads(late.call(0, "/v1/bandits/shop/decisions", body)[1])
        assert late.call(0, "/v1/bandits/shop/rewards", {"decision_id": "new", "reward": 1.0})[0] == 200, decided
        assert late.call(0, "/v1/bandits/gone")[0] == 404
        # It goes on where it was when it is started again.
        late.replicas[0].kill()
        late.replicas[0].wait()
        assert service.call(0, "/v1/bandits/shop", {"mode": "frozen"}, "PATCH")[0] == 200
        late.start_replica(0)
        wait_until(lambda: late.call(0, "/readyz")[0] == 200, 60, "it is back")
        assert json.loads(late.call(0, "/v1/bandits/shop")[1])["mode"] == "frozen"
        assert late.state(0) == service.state(0)
    finally:
        late.stop()
        service.stop()


def test_a_network_cut_in_two_heals_without_loss(tmp_path):
    """Each machine is a network namespace; one of them is cut off for a while."""
    if os.geteuid() != 0 or subprocess.run(["ip", "link", "add", "tnprobe", "type", "bridge"], capture_output=True).returncode:
        pytest.skip("network namespaces need root and iproute2")
    run = lambda *command: subprocess.run(command, check=True, capture_output=True)
    run("ip", "link", "delete", "tnprobe")
    hosts = [f"10.219.0.{node + 2}" for node in range(NODES)]
    try:
        run("ip", "link", "add", "tnbridge", "type", "bridge")
        run("ip", "address", "add", "10.219.0.1/24", "dev", "tnbridge")
        run("ip", "link", "set", "tnbridge", "up")
        for node, host in enumerate(hosts):
            run("ip", "netns", "add", f"tn{node}")
            run("ip", "link", "add", f"tnveth{node}", "type", "veth", "peer", "name", "eth0", "netns", f"tn{node}")
            run("ip", "link", "set", f"tnveth{node}", "master", "tnbridge", "up")
            run("ip", "-n", f"tn{node}", "address", "add", f"{host}/24", "dev", "eth0")
            run("ip", "-n", f"tn{node}", "link", "set", "eth0", "up")
            run("ip", "-n", f"tn{node}", "link", "set", "lo", "up")
        service = Service(tmp_path, hosts=hosts)
        try:
            service.start()
            made(service)
            with Load(service) as load:
                for victim in range(NODES):
                    time.sleep(2)
                    run("ip", "link", "set", f"tnveth{victim}", "down")
                    start = time.monotonic()
                    wait_until(lambda: load.answered_since(start) > 20, 30, "those with a quorum answer")
                    # Whoever is inside of the cut is told so.
                    curl = ["ip", "netns", "exec", f"tn{victim}", "curl", "--noproxy", "*", "-s", "-m", "20", "-w", "%{http_code}"]
                    alone = lambda path, *more: subprocess.run(
                        [*curl, *more, f"http://{hosts[victim]}:{service.http[victim]}{path}"], capture_output=True, text=True
                    ).stdout
                    decide = ["-H", "content-type: application/json", "-d", '{"context":{"user":"u0"},"actions":[{"id":"i0","item":"i0"}]}']
                    answer = alone("/v1/bandits/shop/decisions", *decide)
                    assert answer.endswith("503") and "stream" in answer, answer
                    wait_until(lambda: alone("/readyz").endswith("503"), 15, "it knows that it is cut off")
                    run("ip", "link", "set", f"tnveth{victim}", "up")
                    start = time.monotonic()
                    wait_until(lambda: service.call(victim, "/readyz")[0] == 200, 60, "it is back")
                    print(f"replica {victim} is back after {time.monotonic() - start:.1f} s")
            assert_nothing_lost(service, load)
        finally:
            service.stop()
    finally:
        for node in range(NODES):
            subprocess.run(["ip", "netns", "delete", f"tn{node}"], capture_output=True)
            subprocess.run(["ip", "link", "delete", f"tnveth{node}"], capture_output=True)
        subprocess.run(["ip", "link", "delete", "tnbridge"], capture_output=True)
