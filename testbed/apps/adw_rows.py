#!/usr/bin/python3
"""A libadwaita window with a list of rows. The button in the first opens a calendar above the others, of which one is a
spin row.

Usage: adw_rows.py LOG
"""

import gi

gi.require_version("Adw", "1")
gi.require_version("Gtk", "4.0")
from gi.repository import Adw, Gio, GLib, Gtk

from log import log


def start(app):
    calendar = Gtk.Calendar()
    calendar.select_day(GLib.DateTime.new_local(2026, 11, 10, 0, 0, 0))
    calendar.connect("day-selected", lambda calendar: log("day", calendar.get_date().get_day_of_month()))
    button = Gtk.MenuButton(label="Pick", popover=Gtk.Popover(child=calendar), valign=Gtk.Align.CENTER, margin_end=220)
    first = Adw.ActionRow(title="Date")
    first.add_suffix(button)
    group = Adw.PreferencesGroup()
    group.add(first)
    for title in ["Row 1", "Row 2", "Row 3", "Row 4", "Row 5", "Row 6"]:
        row = Adw.ActionRow(title=title, activatable=True)
        row.connect("activated", lambda row: log("activated", row.get_title()))
        group.add(row)
    spin = Adw.SpinRow.new_with_range(0, 100, 1)
    spin.set_title("Copies")
    spin.connect("notify::value", lambda spin, _: log("copies", int(spin.get_value())))
    group.add(spin)
    window = Adw.ApplicationWindow(application=app, title="Rows", content=group)
    window.set_default_size(600, 500)
    window.present()


app = Adw.Application(flags=Gio.ApplicationFlags.NON_UNIQUE)
app.connect("activate", start)
app.run([])
