#!/usr/bin/python3
"""Steps in a window of each toolkit behind the person's, judged by what its app logs. The person's
keyboard is the machine's own: QEMU's monitor, at the second serial port, presses its keys.

Usage: try.py TOOLKIT...
"""

import json
import re
import select
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
PATIENCE = 60
PLACE = r" x:(-?\d+) y:(-?\d+) "
TEXT = "all work and no play " * 6
TRIES = 6
"""Emulated, Hyprland or an app may be silent for longer than Deskline waits for it."""

judged = []


class Server:
    def __init__(self):
        command = [HERE / "deskline", "serve", "--dir", "/tmp/journal"]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe)
        client = {"name": "try", "version": "1"}
        self.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
        self.send(method="notifications/initialized")

    def send(self, **message):
        line = json.dumps({"jsonrpc": "2.0"} | message) + "\n"
        self.process.stdin.write(line.encode())
        self.process.stdin.flush()

    def answer(self):
        while select.select([self.process.stdout], [], [], 2 * PATIENCE)[0]:
            if "id" in (said := json.loads(self.process.stdout.readline())):
                return said["result"]
        sys.exit("FAILED: the server does not answer")

    def ask(self, method, **params):
        self.send(id=1, method=method, params=params)
        return self.answer()

    def call(self, tool, meanwhile=lambda: None, **arguments):
        start = time.monotonic()
        self.send(id=1, method="tools/call", params={"name": tool, "arguments": arguments})
        meanwhile()
        text = self.answer()["content"][0]["text"]
        said = re.findall(r"^(?:error|summary|effect|note): .*", text, re.M)
        print(f"{tool}, {time.monotonic() - start:.1f} s:", *said, sep="\n    ", flush=True)
        return text


def until(look):
    end = time.monotonic() + PATIENCE
    while not (found := look()) and time.monotonic() < end:
        time.sleep(0.1)
    return found


def judge(good, what):
    judged.append(bool(good))
    print("ok" if good else "FAILED", what, flush=True)
    return good


def press(key):
    """The person presses and releases a key."""
    with open("/dev/ttyS1", "wb") as monitor:
        monitor.write(f"sendkey {key}\n".encode())


class App:
    def __init__(self, toolkit, name):
        self.name, self.log = name, Path(f"/tmp/{name}.log")
        self.pid = subprocess.Popen(["python3", "-B", HERE / f"{toolkit}.py", self.log]).pid
        judge(self.logs("ready"), f"{name}: starts")

    def has(self, line):
        found = re.compile("^" + re.escape(line), re.M)
        return self.log.exists() and found.search(self.log.read_text())

    def logs(self, line):
        return until(lambda: self.has(line))


def main(toolkits):
    subprocess.run([HERE / "deskline", "doctor"])
    server = Server()
    apps = [App(toolkit, toolkit) for toolkit in toolkits]
    persons = App("gtk3", "persons")
    # The first frames and pictures take seconds each.
    pictured = lambda: "\nscreenshot: " in server.call("refresh_traversal", pid=persons.pid)
    until(lambda: all(pictured() for _ in range(3)))
    press("q")
    judge(persons.logs("key q"), "the person's key reaches their window")

    def is_back():
        listed = server.ask("tools/call", name="list_applications", arguments={})
        return f"(PID: {persons.pid}) front " in listed["content"][0]["text"]

    def call(app, tool, **arguments):
        for _ in range(TRIES):
            text = server.call(tool, pid=app.pid, **arguments)
            if not re.search("^error: .*(the next call reconnects|does not answer)", text, re.M):
                break
        return text

    def does(app, what, line, tool, **arguments):
        call(app, tool, **arguments)
        judge(app.logs(line), f"{app.name}: {what}")
        judge(until(is_back), f"{app.name}: {what}, and the person's window is back")

    def places(app, *names):
        for _ in range(TRIES):
            text = call(app, "refresh_traversal")
            file = re.search(r"^file: (\S+)", text, re.M)
            read = Path(file[1]).read_text() if file else ""
            found = [re.search(f'"{name}"{PLACE}', read) for name in names]
            if all(found) and "\nscreenshot: " in text:
                break
        judge("\nscreenshot: " in text, f"{app.name}: picture")
        if not all(found):
            sys.exit(f"FAILED: {app.name}: {names} are not all in the tree:\n{text}\n{read}")
        return [map(int, at.groups()) for at in found]

    for app in apps:
        (x, y), pad, rows = places(app, "Bold", "Pad", "Rows")
        click, field = "click_and_traverse", {"element": "Name", "role": "AXTextField"}
        does(app, "click", "toggled Bold true", click, element="Bold")
        does(app, "click in the corner", "toggled Bold false", click, x=x + 2, y=y + 2)
        does(app, "type", "text Name Grüße, 漢字 😀", click, **field, text="Grüße, 漢字 😀")
        does(app, "key", "activated Name", "press_key_and_traverse", keyName="Return")
        call(app, click, element="File", role="AXMenuBarItem")
        does(app, "menu", "menu New", click, element="New", role="AXMenuItem")
        x, y = pad
        to = {"toX": x + 90, "toY": y + 30}
        does(app, "drag", "pad release 1", "drag_and_traverse", x=x + 5, y=y + 5, **to)
        x, y = rows
        does(app, "wheel", "scrolled Rows", "scroll_and_traverse", x=x + 20, y=y + 40, deltaY=5)

    app = apps[0]
    for key in "x", "esc":
        set_value = {"element": "Name", "role": "AXTextField", "value": ""}
        call(app, "set_value_and_traverse", **set_value)
        app.log.write_text("")
        type_and_press = lambda: app.logs("text Name all") and press(key)
        text = server.call("click_and_traverse", type_and_press, pid=app.pid, **field, text=TEXT)
        whole = app.has(f"text Name {TEXT}")
        if key == "esc":
            said = "the user pressed Esc" in text
            judge(said and not whole, "guard: the person's Esc cancels, and the rest is not typed")
        else:
            judge(whole, "guard: the text is whole although the person presses a key")
        judge(not persons.has(f"key {key}"), f"guard: {key} does not reach the person's window")
        judge(until(is_back), f"guard: the person's window is back after {key}")
    press("z")
    judge(persons.logs("key z"), "guard: afterwards the person's keys reach it again")
    print(f"verdict: {sum(judged)} ok, {judged.count(False)} failed")


main(sys.argv[1:])
