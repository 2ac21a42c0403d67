#!/usr/bin/env python3
"""Runs the examples against a server with private desktops, and judges them by what the apps saved.

    scripts/agents target/agents
    target/agents/bin/python examples/check.py DESKLINE [NAME...]

It prints a line for each test, as cargo does.
"""

import base64
import glob
import json
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jsonpatch
from ag_ui.core import Event
from pydantic import TypeAdapter

HERE = Path(__file__).resolve().parent
TOKEN = secrets.token_hex(16)
LIMIT = 120


class Skipped(Exception):
    """A program that this machine lacks."""


def until(what, condition):
    end = time.monotonic() + LIMIT
    while not (found := condition()):
        assert time.monotonic() < end, f"{what} did not come about"
        time.sleep(0.02)
    return found


def saved(name):
    """The file with this name in any desktop's own `/tmp`."""
    for path in glob.glob(f"/proc/[0-9]*/root/tmp/{name}"):
        try:
            return Path(path).read_text()
        except OSError:
            continue
    return None


class Checks:
    def __init__(self, program, folder):
        self.folder = folder
        command = [program, "serve", "--http", "127.0.0.1:0", "--desktops", "12", "--warm", "2"]
        environment = os.environ | {"DESKLINE_TOKEN": TOKEN, "HOME": str(folder)}
        for name in ("DISPLAY", "WAYLAND_DISPLAY"):
            environment.pop(name, None)
        self.server = subprocess.Popen(
            [*command, "--dir", folder / "journal"], env=environment,
            stderr=subprocess.PIPE, text=True,
        )
        line = self.server.stderr.readline()
        threading.Thread(target=self.server.stderr.read, daemon=True).start()
        url = next(word for word in line.split() if word.startswith("http://")).rstrip(";")
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(folder),
            "DESKLINE_URL": url, "DESKLINE_TOKEN": TOKEN,
            "OTEL_SDK_DISABLED": "true", "PYTHONWARNINGS": "ignore",
        }

    def start(self, example, *arguments, **more):
        return subprocess.Popen(
            [sys.executable, HERE / example, *map(str, arguments)],
            env=self.environment | more, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )

    def run(self, example, *arguments, **more):
        program = self.start(example, *arguments, **more)
        try:
            output, errors = program.communicate(timeout=LIMIT)
        finally:
            program.kill()
        assert program.returncode == 0, output + errors
        assert output.splitlines()[-1] == "done", output + errors
        return output

    def loop(self, example):
        """The agent's editor saves the text of the task."""
        name, text = f"{secrets.token_hex(8)}.txt", f"By {example}\n"
        self.run(example, text, f"/tmp/{name}")
        assert saved(name) == text

    def openai_agents(self):
        self.loop("openai_agents.py")

    def pydantic_ai(self):
        self.loop("pydantic_ai_agent.py")

    def google_adk(self):
        self.loop("google_adk.py")

    def anthropic(self):
        self.loop("anthropic_loop.py")

    def claude_agent(self):
        self.loop("claude_agent.py")

    def ag_ui(self):
        """The client's copy of the state has the last screen, and the events are in order."""
        name = f"{secrets.token_hex(8)}.txt"
        program = self.start("ag_ui_server.py", "By AG-UI\n", f"/tmp/{name}")
        try:
            port = int(program.stdout.readline())
            wanted = {"threadId": "t", "runId": "r", "state": {}, "messages": [], "tools": []}
            request = urllib.request.Request(
                f"http://127.0.0.1:{port}/",
                json.dumps(wanted | {"context": [], "forwardedProps": {}}).encode(),
                {"Content-Type": "application/json"},
            )
            with urllib.request.urlopen(request, timeout=LIMIT) as stream:
                lines = [line[6:] for line in stream if line.startswith(b"data: ")]
        finally:
            program.kill()
            program.communicate()
        events = [TypeAdapter(Event).validate_json(line) for line in lines]
        call = [f"TOOL_CALL_{part}" for part in ("START", "ARGS", "END", "RESULT")]
        call.append("STATE_DELTA")
        order = ["RUN_STARTED", "STATE_SNAPSHOT", *call, *call, "RUN_FINISHED"]
        assert [event.type.value for event in events] == order, lines
        state = None
        for line in map(json.loads, lines):
            state = line.get("snapshot", state)
            if line["type"] == "STATE_DELTA":
                state = jsonpatch.apply_patch(state, line["delta"])
        screen = state["screen"]
        assert screen["app"] == "mousepad", screen
        assert any(name in line for line in screen["changes"]), screen
        assert base64.b64decode(screen["picture"].split(",")[1]).startswith(b"\x89PNG")
        assert saved(name) == "By AG-UI\n"

    def mem0(self):
        """The second run, on another desktop, knows the field without a search."""
        known = self.folder / "memory"
        runs = []
        for _ in range(2):
            name = f"{secrets.token_hex(8)}.txt"
            output = self.run("mem0_memory.py", known, f"/tmp/{name}")
            assert until("the form's output", lambda: saved(name)) == "|555\n"
            runs.append([line for line in output.split() if line in ("search_tree", "remember")])
        assert runs == [["search_tree", "remember"], []], runs

    def resumed(self, where, call):
        """Killed in the middle of a call, the run goes on in a new process."""
        name, handle = f"{secrets.token_hex(8)}.txt", secrets.token_hex(16)
        arguments = (where, "thread", f"/tmp/{name}")
        first = self.start("langgraph_resume.py", *arguments, DESKLINE_HANDLE=handle)
        lines = []
        for line in first.stdout:
            lines.append(line)
            if len(lines) == call:
                first.send_signal(signal.SIGKILL)
        _, errors = first.communicate()
        assert first.returncode == -signal.SIGKILL, "".join(lines) + errors
        second = self.run("langgraph_resume.py", *arguments, DESKLINE_HANDLE=handle).splitlines()
        # The interrupted call is made again, and none before it.
        assert second[0] == lines[-1].strip() and call + len(second) - 2 == 7, (lines, second)
        assert sorted(until("the form's output", lambda: saved(name)).strip().split("|")) == [
            "555", "Ann", "Oslo",
        ]

    def langgraph_sqlite(self):
        self.resumed(self.folder / "checkpoints.db", 4)

    def langgraph_postgres(self):
        """A real server with a data directory of its own, and no port."""
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
        if not found:
            raise Skipped("Debian's package postgresql is not installed")
        data = Path(tempfile.mkdtemp())
        as_user = []
        if os.getuid() == 0:
            # Postgres does not run as root.
            user = pwd.getpwnam("postgres")
            os.chown(data, user.pw_uid, user.pw_gid)
            as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        make = [f"{found[-1]}/initdb", "--no-sync", "--auth=trust", "--username=deskline"]
        subprocess.run([*as_user, *make, data / "d"], check=True, capture_output=True, cwd="/")
        command = [f"{found[-1]}/postgres", "-D", data / "d", "-k", data, "-c", "listen_addresses="]
        log = open(self.folder / "postgres.log", "w")
        server = subprocess.Popen([*as_user, *command], stderr=log, cwd="/")
        try:
            until("the database", lambda: (data / ".s.PGSQL.5432").exists() and is_ready(data))
            self.resumed(f"postgresql://deskline@/postgres?host={data}", 6)
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(LIMIT)
            shutil.rmtree(data)


def is_ready(data):
    with socket.socket(socket.AF_UNIX) as tried:
        try:
            tried.connect(str(data / ".s.PGSQL.5432"))
        except OSError:
            return False
    return True


TESTS = [
    Checks.langgraph_postgres, Checks.mem0, Checks.langgraph_sqlite, Checks.google_adk,
    Checks.claude_agent, Checks.openai_agents, Checks.pydantic_ai, Checks.anthropic, Checks.ag_ui,
]


def main():
    wanted = sys.argv[2:]
    tests = [test for test in TESTS if not wanted or test.__name__ in wanted]
    counts = {"ok": 0, "FAILED": 0, "ignored": 0}
    with tempfile.TemporaryDirectory() as folder:
        checks = Checks(sys.argv[1], Path(folder))

        def one(test):
            begun, why = time.monotonic(), ""
            try:
                test(checks)
                how = "ok"
            except Skipped as reason:
                how, why = "ignored", f": {reason}"
            except Exception as error:
                how, why = "FAILED", f"\n{type(error).__name__}: {error}"
            counts[how] += 1
            took = time.monotonic() - begun
            print(f"test {test.__name__} ... {how} <{took:.3f}s>{why}", flush=True)

        try:
            # Most of such a test's time is spent on Python's imports.
            with ThreadPoolExecutor(2) as pool:
                list(pool.map(one, tests))
        finally:
            checks.server.terminate()
            checks.server.wait(LIMIT)
    how = "FAILED" if counts["FAILED"] else "ok"
    passed, failed, skipped = counts.values()
    print(f"\ntest result: {how}. {passed} passed; {failed} failed; {skipped} ignored;")
    sys.exit(bool(counts["FAILED"]))


main()
