#!/usr/bin/python3
"""Steps in a window of each toolkit behind the person's, judged by what its app logs.

Usage: try.py TOOLKIT...
"""

import json
import re
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
PATIENCE = 60
PLACE = r" x:(\d+) y:(\d+) "


class Server:
    def __init__(self):
        command = [HERE / "deskline", "serve", "--dir", "/tmp/journal"]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        client = {"name": "try", "version": "1"}
        self.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
        self.send(method="notifications/initialized")

    def send(self, **message):
        print(json.dumps({"jsonrpc": "2.0"} | message), file=self.process.stdin, flush=True)

    def ask(self, method, **params):
        self.send(id=1, method=method, params=params)
        return next(r["result"] for r in map(json.loads, self.process.stdout) if "id" in r)

    def call(self, tool, **arguments):
        start = time.monotonic()
        text = self.ask("tools/call", name=tool, arguments=arguments)["content"][0]["text"]
        said = re.findall(r"^(?:error|summary|effect|note): .*", text, re.M)
        print(f"{tool}, {time.monotonic() - start:.1f} s:", *said, sep="\n    ", flush=True)
        return text


def until(look):
    end = time.monotonic() + PATIENCE
    while not (found := look()) and time.monotonic() < end:
        time.sleep(0.1)
    return found


def judge(good, what):
    print("ok" if good else "FAILED", what, flush=True)


class App:
    def __init__(self, toolkit, name):
        self.name, self.log = name, Path(f"/tmp/{name}.log")
        self.pid = subprocess.Popen(["python3", "-B", HERE / f"{toolkit}.py", self.log]).pid
        self.logged("ready")

    def logged(self, line):
        found = re.compile("^" + re.escape(line), re.M)
        return until(lambda: self.log.exists() and found.search(self.log.read_text()))


def main(toolkits):
    subprocess.run([HERE / "deskline", "doctor"])
    server = Server()
    apps = [App(toolkit, toolkit) for toolkit in toolkits]
    persons = App("gtk3", "persons")

    # The first frames and pictures take seconds each.
    pictured = lambda: "\nscreenshot: " in server.call("refresh_traversal", pid=persons.pid)
    until(lambda: all(pictured() for _ in range(3)))

    def is_back():
        listed = server.ask("tools/call", name="list_applications", arguments={})
        return f"(PID: {persons.pid}) front " in listed["content"][0]["text"]

    def does(app, what, line, tool, **arguments):
        server.call(tool, pid=app.pid, **arguments)
        judge(app.logged(line), f"{app.name}: {what}")
        judge(until(is_back), f"{app.name}: {what}, and the person's window is back")

    def tree(app):
        text = server.call("refresh_traversal", pid=app.pid)
        judge("\nscreenshot: " in text, f"{app.name}: picture")
        return Path(re.search(r"^file: (\S+)", text, re.M)[1]).read_text()

    for app in apps:
        read = tree(app)
        place = lambda name: map(int, re.search(f'"{name}"{PLACE}', read).groups())
        click, field = "click_and_traverse", {"element": "Name", "role": "AXTextField"}
        does(app, "click", "toggled Bold true", click, element="Bold")
        x, y = place("Bold")
        does(app, "click in the corner", "toggled Bold false", click, x=x + 2, y=y + 2)
        does(app, "type", "text Name Grüße, 漢字 😀", click, **field, text="Grüße, 漢字 😀")
        does(app, "key", "activated Name", "press_key_and_traverse", keyName="Return")
        server.call(click, pid=app.pid, element="File", role="AXMenuBarItem")
        does(app, "menu", "menu New", click, element="New", role="AXMenuItem")
        x, y = place("Pad")
        to = {"toX": x + 90, "toY": y + 30}
        does(app, "drag", "pad release 1", "drag_and_traverse", x=x + 5, y=y + 5, **to)
        x, y = place("Rows")
        does(app, "wheel", "scrolled Rows", "scroll_and_traverse", x=x + 20, y=y + 40, deltaY=5)


main(sys.argv[1:])
