#!/usr/bin/env python3
"""Runs the image by runc, without root, capabilities or a writable root, on a real app.

    scripts/container DESKLINE FOLDER mousepad
    scripts/agents target/agents
    target/agents/bin/python packaging/container/check.py FOLDER

Needs root, for runc, and umoci. The network is the host's, as nothing here sets up another.
"""

import glob
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/pydantic_ai_agent.py"
TOKEN = secrets.token_hex(16)
LIMIT = 60


def until(what, condition):
    end = time.monotonic() + LIMIT
    while not (found := condition()):
        assert time.monotonic() < end, f"{what} did not come about"
        time.sleep(0.05)
    return found


def bundle(folder, port, sealed):
    """The image as a bundle of runc's, with the limits that a cluster sets."""
    path = Path(folder) / "bundle"
    if not path.exists():
        image = Path(folder) / "image:latest"
        subprocess.run(["umoci", "unpack", "--image", image, path], check=True)
    config = json.loads((path / "config.json").read_text())
    process = config["process"]
    assert process["user"]["uid"] == 1000 and process["args"][0] == "deskline"
    seal = [] if sealed else ["--unsealed"]
    serve = ["deskline", "serve", "--http", f"127.0.0.1:{port}", "--desktops", "2", *seal]
    token = f"DESKLINE_TOKEN={TOKEN}"
    environment = [each for each in process["env"] if not each.startswith("DESKLINE_TOKEN")]
    process |= {
        "args": [*serve, "--dir", "/data/journal"],
        "env": [*environment, token],
        "terminal": False,
        "capabilities": {},
        "noNewPrivileges": True,
    }
    config["root"]["readonly"] = True
    kept = [mount for mount in config["mounts"] if mount["destination"] not in ("/tmp", "/data")]
    scratch = ["nosuid", "nodev", "size=512m"]
    kept.append(tmpfs("/tmp", [*scratch, "mode=1777"]))
    kept.append(tmpfs("/data", [*scratch, "mode=700", "uid=1000", "gid=1000"]))
    config["mounts"] = kept
    linux = config["linux"]
    linux["namespaces"] = [each for each in linux["namespaces"] if each["type"] != "network"]
    # bubblewrap mounts a /proc of its own, which the kernel allows only beside a whole one.
    for name in ("maskedPaths", "readonlyPaths"):
        linux[name] = [] if sealed else ["/proc/kcore", "/proc/sys"]
    (path / "config.json").write_text(json.dumps(config))
    return path


def tmpfs(at, options):
    return {"destination": at, "type": "tmpfs", "source": "tmpfs", "options": options}


def check(folder, sealed):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    name = f"deskline-{secrets.token_hex(4)}"
    path = bundle(folder, port, sealed)
    container = subprocess.Popen(["runc", "run", "--bundle", path, name])
    try:
        for endpoint in ("health", "ready"):
            until(endpoint, lambda: is_ok(f"http://127.0.0.1:{port}/{endpoint}"))
        text, file = "From a container\n", f"{secrets.token_hex(8)}.txt"
        where = {"DESKLINE_URL": f"http://127.0.0.1:{port}/mcp", "DESKLINE_TOKEN": TOKEN}
        run = [sys.executable, EXAMPLE, text, f"/tmp/{file}"]
        subprocess.run(run, env=os.environ | where, check=True, timeout=120)
        saved = glob.glob(f"/proc/[0-9]*/root/tmp/{file}")
        assert saved and Path(saved[0]).read_text() == text
        refused = subprocess.run(["runc", "exec", name, "touch", "/usr/x"], capture_output=True)
        assert b"Read-only file system" in refused.stderr
        inside = subprocess.check_output(["runc", "ps", "--format", "json", name])
        inside = json.loads(inside)
        owners = {os.stat(f"/proc/{pid}").st_uid for pid in inside}
        assert owners == {1000}, owners
    finally:
        subprocess.run(["runc", "kill", name, "KILL"])
        container.wait(LIMIT)
    assert not any(os.path.exists(f"/proc/{pid}") for pid in inside), "processes are left"


def is_ok(url):
    try:
        return urllib.request.urlopen(url, timeout=2).status == 200
    except OSError:
        return False


for sealed in (False, True):
    check(sys.argv[1], sealed)
    print("sealed" if sealed else "unsealed", "works", flush=True)
shutil.rmtree(Path(sys.argv[1]) / "bundle")
