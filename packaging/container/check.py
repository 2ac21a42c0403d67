#!/usr/bin/env python3
"""Runs the image by podman, with crun and with runc, as a cluster would: without root, capabilities
or a writable root, with limits. Judged by the file that a real app saves.

    scripts/agents target/agents
    scripts/container DESKLINE FOLDER mousepad
    target/agents/bin/python packaging/container/check.py FOLDER

    scripts/container --root FOLDER mousepad
    target/agents/bin/python packaging/container/check.py FOLDER DESKLINE

The second form runs the file system that an image is made of, with this program, each runtime once.
Needs root. The network is the host's.
"""

import glob
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/pydantic_ai_agent.py"
# If there are control groups of version 1, crun refuses those of version 2.
UNIFIED = "/sys/fs/cgroup/unified"
TOKEN = secrets.token_hex(16)
LIMIT = 60
MEMORY = 512

# Stay within the limits of a root user that may not raise its own limits.
LIMITS = ["--ulimit=nofile=1024:1024", "--ulimit=nproc=4096:4096", f"--memory={MEMORY}m"]
RIGHTS = ["--user=1000:1000", "--cap-drop=all", "--security-opt=no-new-privileges", "--read-only"]
# bubblewrap mounts a /proc of its own, which the kernel allows only if there is a complete one.
FOR_THE_SEAL = ["--security-opt=unmask=ALL", "--security-opt=seccomp=unconfined"]
VARIABLES = {"PATH": "/usr/bin:/bin", "HOME": "/data", "TMPDIR": "/tmp", "LANG": "C.UTF-8"}


def until(what, condition):
    end = time.monotonic() + LIMIT
    while not (found := condition()):
        assert time.monotonic() < end, f"{what} did not come about"
        time.sleep(0.05)
    return found


class Podman:
    def __init__(self, store, folder, program):
        places = [f"--root={store}/images", f"--runroot={store}/run", f"--tmpdir={store}/tmp"]
        self.store = store
        self.command = ["podman", *places, "--cgroup-manager=cgroupfs"]
        if program:
            mount = f"--volume={program.resolve()}:/usr/bin/deskline:ro"
            own = [f"--env={name}={value}" for name, value in VARIABLES.items()]
            self.image = [mount, *own, "--rootfs", folder / "root", "deskline"]
        else:
            image = self.output("pull", "--quiet", f"oci:{folder / 'image'}:latest")
            self.image = [image.strip()]

    def output(self, *arguments):
        done = subprocess.run([*self.command, *arguments], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def start(self, runtime, name, data, options, arguments):
        run = ["run", "--rm", f"--name={name}", "--network=host", f"--env=DESKLINE_TOKEN={TOKEN}"]
        scratch = ["--tmpfs=/tmp:mode=1777,size=512m", f"--volume={data}:/data"]
        whole = [*run, *scratch, *LIMITS, "--pids-limit=400", *RIGHTS, *options, *self.image]
        command = [*self.command, f"--runtime={runtime}", *whole, *arguments]
        # conmon leaves a file in its folder when memory runs out.
        return subprocess.Popen(command, cwd=self.store)

    def inside(self, name, *command):
        run = [*self.command, "exec", name, *command]
        return subprocess.run(run, capture_output=True, text=True)


def check(podman, runtime, sealed):
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    name = f"deskline-{secrets.token_hex(4)}"
    data = Path(tempfile.mkdtemp())
    os.chown(data, 1000, 1000)
    serve = ["serve", "--http", address, "--desktops", "2", "--dir", "/data/journal"]
    options, seal = (FOR_THE_SEAL, []) if sealed else ([], ["--unsealed"])
    container = podman.start(runtime, name, data, options, [*serve, *seal])
    try:
        for endpoint in ("health", "ready"):
            until(endpoint, lambda: is_ok(f"http://{address}/{endpoint}", container))
        text, file = "From a container\n", f"{secrets.token_hex(8)}.txt"
        where = {"DESKLINE_URL": f"http://{address}/mcp", "DESKLINE_TOKEN": TOKEN}
        run = [sys.executable, EXAMPLE, text, f"/tmp/{file}"]
        subprocess.run(run, env=os.environ | where, check=True, timeout=120, capture_output=True)
        saved = glob.glob(f"/proc/[0-9]*/root/tmp/{file}")
        assert saved and Path(saved[0]).read_text() == text
        refused = podman.inside(name, "touch", "/usr/x")
        assert "Read-only file system" in refused.stderr, refused
        inside = podman.output("top", name, "hpid").split()[1:]
        states = [Path(f"/proc/{pid}/status").read_text() for pid in inside]
        assert len(inside) > 4 and all(is_without_rights(state, sealed) for state in states), states
        # An app that needs more memory is killed, and the server keeps running.
        greedy = podman.inside(name, "perl", "-e", f"$x = 'a' x ({2 * MEMORY} << 20)")
        assert greedy.returncode == 137, greedy
        assert is_ok(f"http://{address}/health", container)
    finally:
        subprocess.run([*podman.command, "kill", name], stdout=subprocess.DEVNULL)
        container.wait(LIMIT)
        shutil.rmtree(data)
    assert not any(os.path.exists(f"/proc/{pid}") for pid in inside), "processes are left"


def is_without_rights(state, sealed):
    """User 1000 without capabilities, and with a filter for system calls where it is not sealed."""
    fields = dict(line.split(":\t", 1) for line in state.splitlines())
    # bubblewrap's first process has capabilities in its own namespace.
    rights = sealed or (fields["CapEff"] == "0" * 16 and fields["Seccomp"] == "2")
    return rights and fields["Uid"].split() == ["1000"] * 4


def is_ok(url, container):
    assert container.poll() is None, "the container has ended"
    try:
        return urllib.request.urlopen(url, timeout=2).status == 200
    except OSError:
        return False


def hindrance():
    """Why no container runs here."""
    if os.getuid() != 0:
        return "it needs root"
    missing = [name for name in ("podman", "crun", "runc") if not shutil.which(name)]
    return f"there is no {missing[0]}" if missing else None


def main():
    folder = Path(sys.argv[1]).resolve()
    program = Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if why := hindrance():
        print(f"test container ... ignored: {why}")
        print("\ntest result: ok. 0 passed; 0 failed; 1 ignored;")
        return
    if os.path.ismount(UNIFIED):
        without = f'umount {UNIFIED} && exec "$@"'
        again = [sys.executable, *sys.argv]
        os.execvp("unshare", ["unshare", "--mount", "sh", "-c", without, "sh", *again])
    store = tempfile.mkdtemp(prefix="containers-")
    try:
        podman = Podman(store, folder, program)
        runs = [("crun", False), ("runc", True)]
        if not program:
            runs += [("runc", False), ("crun", True)]
        for runtime, sealed in runs:
            begun = time.monotonic()
            check(podman, runtime, sealed)
            took = time.monotonic() - begun
            how = "sealed" if sealed else "unsealed"
            print(f"test container_{runtime}_{how} ... ok <{took:.3f}s>", flush=True)
    finally:
        subprocess.run(["umount", "--recursive", "--quiet", f"{store}/images/overlay"])
        shutil.rmtree(store)
    print(f"\ntest result: ok. {len(runs)} passed; 0 failed; 0 ignored;")


main()
