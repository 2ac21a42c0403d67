#!/usr/bin/python3
"""Serves dogtail, which is a library, through the two calls of the other drivers, so that one client
can time them all.

Reads `tools/call` requests, one JSON object a line, and
answers `tree` with a line an element, as dogtail's own dump has them, and `click` with the tree
after the click.
"""

import json
import sys

from dogtail import tree
from dogtail.config import config

config.logDebugToStdOut = False
config.logDebugToFile = False


def app_of(pid):
    return next(app for app in tree.root.applications() if app.get_process_id() == pid)


def dump(node, depth=0):
    lines = [f"{' ' * depth}[{node.roleName} | {node.name}] {node.text or ''} {node.position}"
             f"{' checked' if node.checked else ''}"]
    for child in node.children:
        lines += dump(child, depth + 1)
    return lines


def answer(name, arguments):
    app = app_of(arguments["pid"])
    if name == "click":
        wanted = arguments["element"], arguments["role"]
        found = app.findChildren(lambda node: (node.name, node.roleName) == wanted and node.sensitive)
        found[0].click()
    return "\n".join(dump(app))


for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    result = {}
    if request["method"] == "tools/call":
        try:
            text = answer(**request["params"])
            result = {"content": [{"type": "text", "text": text}]}
        except Exception as error:  # any exception of dogtail is returned as the answer
            result = {"content": [{"type": "text", "text": repr(error)}], "isError": True}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
