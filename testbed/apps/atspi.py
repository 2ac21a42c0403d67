#!/usr/bin/python3
"""Reads the accessibility bus through libatspi: an oracle that shares no code with Deskline.

Usage: atspi.py wait PID            waits until the app has a window with contents
       atspi.py find PID ROLE NAME  one line for each match, tab-separated: states, text, value
"""

import sys
import time

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi

LIMIT = 4000
"""Visit at most this many nodes, because a sheet has a thousand million."""


def registrations(pid):
    """A process can be on the bus twice: Qt with GTK's dialogs."""
    desktop = Atspi.get_desktop(0)
    found = []
    for at in range(desktop.get_child_count()):
        try:
            app = desktop.get_child_at_index(at)
            if app and app.get_process_id() == pid:
                found.append(app)
        except gi.repository.GLib.Error:
            pass
    return found


def ready(pid):
    for app in registrations(pid):
        try:
            for at in range(app.get_child_count()):
                window = app.get_child_at_index(at)
                if window and window.get_child_count() > 0:
                    return True
        except gi.repository.GLib.Error:
            pass
    return False


def walk(todo):
    for _ in range(LIMIT):
        if not todo:
            return
        node = todo.pop(0)
        if node is None:
            continue
        try:
            yield node
            managed = node.get_state_set().contains(Atspi.StateType.MANAGES_DESCENDANTS)
            if not managed or node.get_table_iface() is None:
                todo += [node.get_child_at_index(i) for i in range(node.get_child_count())]
        except gi.repository.GLib.Error:
            pass


def describe(node):
    states = [Atspi.StateType(s).value_nick for s in node.get_state_set().get_states()]
    text = node.get_text_iface()
    value = node.get_value_iface()
    # GTK 4's entries take an end of -1 for an empty range.
    length = Atspi.Text.get_character_count(text) if text else 0
    shown = Atspi.Text.get_text(text, 0, length) if text else ""
    number = Atspi.Value.get_current_value(value) if value else ""
    return "\t".join([" ".join(sorted(states)), repr(shown)[1:-1], str(number)])


pid = int(sys.argv[2])
if sys.argv[1] == "wait":
    deadline = time.monotonic() + 25
    while not ready(pid):
        if time.monotonic() > deadline:
            sys.exit(f"pid {pid} is not on the accessibility bus")
        time.sleep(0.02)
else:
    role, name = sys.argv[3:5]
    for node in walk(registrations(pid)):
        try:
            if node.get_role_name() == role and name in (node.get_name(), ""):
                print(describe(node))
        except gi.repository.GLib.Error:
            pass
