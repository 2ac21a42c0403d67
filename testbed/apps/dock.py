#!/usr/bin/python3
"""A GTK 3 panel whose task list changes right after its menu button is pressed, and whose menu comes 200 ms after that.

Usage: dock.py LOG
"""

import gi

gi.require_version("Gdk", "3.0")
gi.require_version("Gtk", "3.0")
from gi.repository import Gdk, GLib, Gtk

from log import log

window = Gtk.Window(title="Dock", type_hint=Gdk.WindowTypeHint.DOCK)
tasks = Gtk.Label(label="No tasks")
menu = Gtk.Menu()
item = Gtk.MenuItem(label="Accessories")
item.connect("activate", lambda _: log("chosen"))
menu.append(item)
menu.show_all()


def opens():
    menu.popup_at_widget(places, Gdk.Gravity.SOUTH_WEST, Gdk.Gravity.NORTH_WEST, None)
    log("opened")
    return GLib.SOURCE_REMOVE


def pressed(_):
    tasks.set_text("A task")
    GLib.timeout_add(200, opens)


places = Gtk.Button(label="Applications")
places.connect("clicked", pressed)
box = Gtk.Box(spacing=20)
box.add(places)
box.add(tasks)
window.add(box)
window.show_all()
log("ready")
Gtk.main()
