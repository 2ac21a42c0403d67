#!/usr/bin/python3
"""A GTK 4 window with a column of buttons, most of them below the fold. It scrolls smoothly to the one with the focus. The
first has a tool tip, and the third counts its clicks 180 ms after each.

Usage: fold.py LOG

Logs where the column is once it has not moved for 100 ms.
"""

import gi

gi.require_version("Gtk", "4.0")
from gi.repository import GLib, Gtk

from log import log

clicks = 0


def counts(button):
    global clicks
    clicks += 1
    button.set_label(f"Slow {clicks}")
    log("slow", clicks)
    return GLib.SOURCE_REMOVE


column = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
for number in range(60):
    button = Gtk.Button(label=f"Button {number}", height_request=90)
    if number == 0:
        button.set_tooltip_text("The first one")
    if number == 2:
        button.set_label("Slow 0")
        button.connect("clicked", lambda b: GLib.timeout_add(180, counts, b))
    column.append(button)
scrolled = Gtk.ScrolledWindow(child=column, hscrollbar_policy=Gtk.PolicyType.NEVER)
window = Gtk.Window(title="Fold", default_width=360, default_height=500, child=scrolled)
timer = None


def moved(adjustment):
    global timer
    if timer:
        GLib.source_remove(timer)
    timer = GLib.timeout_add(100, rests)


def rests():
    global timer
    timer = None
    log("at", round(scrolled.get_vadjustment().get_value()))
    return GLib.SOURCE_REMOVE


scrolled.get_vadjustment().connect("value-changed", moved)
window.present()
log("ready")
GLib.MainLoop().run()
