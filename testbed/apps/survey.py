#!/usr/bin/python3
"""Prints every accessible of an app that is showing, as libatspi reads it: one JSON object a line.

Usage: survey.py PID SECONDS TOP

Keys: role, name, text, description, states, extents ([x, y, w, h], as the toolkit reports them),
within (whether the centre is inside everything that clips it, and not under its window of the title
TOP, which may be empty). The first line is {"toolkit": its name and version}. The last line is {"cut": true} if the time or the number of nodes ran out.
Has a time limit, and never asks a sheet for its children.
"""

import json
import os
import sys
import time

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, GLib

S = Atspi.StateType
SCREEN = Atspi.CoordType.SCREEN

NODES = 6000
CHILDREN = 1500
DEPTH = 80
SHEET = 1_000_000
"""A table with more cells is a spreadsheet: asking for a cell costs LibreOffice 7 kB."""
TEXT = 20_000

CLIPS = {
    "frame", "window", "dialog", "alert", "file chooser", "scroll pane", "viewport",
    "internal frame", "document frame", "document web", "document text", "document spreadsheet",
    "document presentation", "list box", "list", "table", "tree table", "tree", "layered pane",
}  # fmt: skip
LISTS = {"list", "list box"}
OPENS_OUTSIDE = {"menu", "popup menu", "combo box", "tool tip"}
"""Roles that open outside the element that contains them."""


class Survey:
    def __init__(self, seconds):
        self.deadline = time.monotonic() + seconds
        self.left = NODES
        self.cut = False
        self.gtk4 = False
        self.top = self.cover = None

    def over(self):
        if time.monotonic() > self.deadline or self.left <= 0:
            self.cut = True
        return self.cut

    def shows(self, states, depth):
        # GTK 4.8 sets SHOWING only on toplevels.
        return states.contains(S.SHOWING) or self.gtk4 and depth > 1 and states.contains(S.VISIBLE)

    def walk(self, node, depth, clip):
        if node is None or depth > DEPTH or self.over():
            return
        self.left -= 1
        try:
            self.visit(node, depth, clip)
        except GLib.Error:
            pass

    def visit(self, node, depth, clip):
        states = node.get_state_set()
        role = node.get_role_name()
        if depth and not self.shows(states, depth):
            return
        extents = extents_of(node) if depth else None
        # Qt 5 reports the items of a closed combo box as showing, without extents.
        if role in LISTS and extents and extents[2] <= 0:
            return
        if role in OPENS_OUTSIDE:
            clip = None
        if depth == 1:
            self.cover = None if node.get_name() == sys.argv[3] else self.top
        if depth:
            self.tell(node, role, states, extents, clip)
        if extents and role in CLIPS and extents[2] > 0 and extents[3] > 0:
            clip = cut(clip, extents) if clip else extents
        if states.contains(S.MANAGES_DESCENDANTS) and is_sheet(node):
            self.sheet(node, depth, clip)
            return
        for i in range(min(node.get_child_count(), CHILDREN)):
            if self.over():
                return
            self.walk(node.get_child_at_index(i), depth + 1, clip)

    def tell(self, node, role, states, extents, clip):
        if not extents or extents[2] <= 0 or extents[3] <= 0:
            return
        seen = cut(clip, extents) if clip else extents
        # Skip slivers, which nobody can read.
        if seen[2] < min(4, extents[2]) or seen[3] < min(4, extents[3]):
            return
        x, y = extents[0] + extents[2] // 2, extents[1] + extents[3] // 2
        within = not clip or has(clip, x, y)
        if self.cover and has(self.cover, x, y):
            within = False
        secret = role == "password text"
        told = {
            "role": role,
            "name": node.get_name() or "",
            "text": "" if secret else text_of(node),
            "description": node.get_description() or "",
            "states": sorted(S(s).value_nick for s in states.get_states()),
            "extents": extents,
            "within": within,
        }
        print(json.dumps(told))

    def sheet(self, node, depth, clip):
        """The visible cells, found by their bounds along the top and the left."""
        table, component = node.get_table_iface(), node.get_component_iface()
        area = cut(clip, extents_of(node)) if clip else extents_of(node)
        first = None
        for i in range(40):
            cell = component.get_accessible_at_point(area[0] + 3 + 6 * i, area[1] + 3 + 4 * i, SCREEN)
            if cell and cell.get_role_name() == "table cell":
                first = cell
                break
        if first is None:
            return
        index = first.get_index_in_parent()
        row, column = table.get_row_at_index(index), table.get_column_at_index(index)
        rows = self.run(table, area, row, column, 1, 0)
        columns = self.run(table, area, row, column, 0, 1)
        for r in rows:
            for c in columns:
                self.walk(table.get_accessible_at(r, c), depth + 1, clip)

    def run(self, table, area, row, column, down, right):
        """The visible rows, or columns, from that cell on."""
        run = []
        for i in range(200):
            cell = table.get_accessible_at(row + i * down, column + i * right)
            seen = cut(area, extents_of(cell)) if cell else [0, 0, 0, 0]
            if seen[2] <= 0 or seen[3] <= 0 or self.over():
                break
            run.append((row + i) if down else (column + i))
        return run


def is_sheet(node):
    table = node.get_table_iface()
    return bool(table) and table.get_n_rows() * table.get_n_columns() > SHEET


def extents_of(node):
    component = node.get_component_iface()
    if not component:
        return None
    e = Atspi.Component.get_extents(component, SCREEN)
    return [e.x, e.y, e.width, e.height]


def text_of(node):
    text = node.get_text_iface()
    if not text:
        return ""
    # GTK 4's entries take an end of -1 for an empty range.
    count = Atspi.Text.get_character_count(text)
    return (Atspi.Text.get_text(text, 0, min(count, TEXT)) or "") if count > 0 else ""


def cut(a, b):
    x, y = max(a[0], b[0]), max(a[1], b[1])
    return [x, y, min(a[0] + a[2], b[0] + b[2]) - x, min(a[1] + a[3], b[1] + b[3]) - y]


def has(area, x, y):
    return area[0] <= x < area[0] + area[2] and area[1] <= y < area[1] + area[3]


def top_window(app):
    """The extents of the app's topmost window. In wx, another window may be ACTIVE."""
    for i in range(min(app.get_child_count(), CHILDREN)):
        window = app.get_child_at_index(i)
        if window and window.get_name() and window.get_name() == sys.argv[3]:
            return extents_of(window)
    return None


def is_of(known, pid):
    """Whether the bus reports this process for an app. For an app in a sandbox, it reports the proxy."""
    try:
        proxy = os.path.basename(os.readlink(f"/proc/{known}/exe")) == "xdg-dbus-proxy"
    except OSError:
        proxy = False
    return known == pid or proxy


def main():
    pid, survey = int(sys.argv[1]), Survey(float(sys.argv[2]))
    Atspi.set_timeout(1500, 3000)
    desktop = Atspi.get_desktop(0)
    for at in range(desktop.get_child_count()):
        try:
            app = desktop.get_child_at_index(at)
            if app and is_of(app.get_process_id(), pid):
                version = app.get_toolkit_version() or ""
                toolkit = (app.get_toolkit_name() or "").replace("gtk", "GTK")
                survey.gtk4 = toolkit == "GTK" and version[:2] == "4."
                if toolkit and version:
                    print(json.dumps({"toolkit": f"{toolkit} {version}"}))
                # GTK 4's extents are relative to their window.
                survey.top = None if survey.gtk4 else top_window(app)
                survey.walk(app, 0, None)
        except GLib.Error:
            pass
    if survey.cut:
        print(json.dumps({"cut": True}))


main()
