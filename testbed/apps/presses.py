#!/usr/bin/python3
"""A GTK 3 window that logs buttons with modifiers, keys with the time that they were down, and the
pointer; with a list of several choices and a button that has a tool tip.

Usage: presses.py LOG
"""

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("Gdk", "3.0")
from gi.repository import Gdk, Gtk

from log import log

MODIFIERS = [("Control", Gdk.ModifierType.CONTROL_MASK), ("Shift", Gdk.ModifierType.SHIFT_MASK)]

down = {}


def button(widget, event):
    if event.type == Gdk.EventType.BUTTON_PRESS:
        log("button", event.button, *[name for name, mask in MODIFIERS if event.state & mask])
    return False


def key(widget, event):
    name = Gdk.keyval_name(event.keyval)
    if event.type == Gdk.EventType.KEY_PRESS:
        if name not in down:
            down[name] = event.time
            log("key", name)
    elif name in down:
        log("up", name, event.time - down.pop(name))
    return False


def tip(widget, x, y, by_keyboard, tooltip):
    log("tip")
    tooltip.set_text("A tip")
    return True


def selected(selection):
    model, paths = selection.get_selected_rows()
    log("selected", *[model[path][0] for path in paths])


window = Gtk.Window(title="Presses")
box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
window.add(box)
window.connect("key-press-event", key)
window.connect("key-release-event", key)
window.connect("destroy", Gtk.main_quit)

pad = Gtk.Button(label="Pad")
pad.connect("button-press-event", button)
box.add(pad)
tipped = Gtk.Button(label="Tipped", has_tooltip=True)
tipped.connect("query-tooltip", tip)
tipped.connect("enter-notify-event", lambda *_: log("enter"))
tipped.connect("leave-notify-event", lambda *_: log("leave"))
box.add(tipped)

files = Gtk.ListStore(str)
for name in ["aa.txt", "bb.txt", "cc.txt", "dd.txt"]:
    files.append([name])
view = Gtk.TreeView(model=files)
view.append_column(Gtk.TreeViewColumn("Name", Gtk.CellRendererText(), text=0))
view.get_selection().set_mode(Gtk.SelectionMode.MULTIPLE)
view.get_selection().connect("changed", selected)
box.add(view)

window.set_default_size(300, 300)
window.show_all()
pad.grab_focus()
log("ready")
Gtk.main()
