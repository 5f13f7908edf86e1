"""A service in a process of its own, for tests; they skip where the binary has not been built."""

import json
import os
import subprocess
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


def binary():
    """``TRUENORTH``, or what cargo has built."""
    targets = [Path(os.environ[name]) for name in ("CARGO_TARGET_DIR",) if name in os.environ]
    profiles = ("release", "dist", "debug")
    places = [target / profile / "truenorth" for target in [*targets, ROOT / "target"] for profile in profiles]
    if "TRUENORTH" in os.environ:
        places.insert(0, Path(os.environ["TRUENORTH"]))
    for place in places:
        if place.is_file():
            return str(place)
    pytest.skip("there is no binary: cargo build --release -p truenorth-cli, or TRUENORTH=path")


@contextmanager
def serving(folder, *arguments):
    """The address of a service over a folder."""
    command = [binary(), "serve", "--log", "off", "--listen", "127.0.0.1:0", "--data", str(folder), *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().strip().rpartition(" ")[2]
    finally:
        process.stdout.close()
        process.terminate()
        assert process.wait(20) == 0


def call(address, method, path, body=None):
    """An answer as JSON."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address + path, data, {"content-type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)
