#!/usr/bin/python3
"""A GTK 3 window with about 10,000 accessible nodes; some thirty rows are visible."""

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import Gtk

GROUPS = 96
"""Boxes of a hundred rows: GTK 3 takes seconds to list thousands of children of one container."""


def toggled(button):
    button.set_label("on" if button.get_label() == "off" else "off")


window = Gtk.Window(title="Many", default_width=900, default_height=700)
window.connect("destroy", Gtk.main_quit)
page = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
button = Gtk.Button(label="off")
button.connect("clicked", toggled)
page.pack_start(button, False, False, 0)
for group in range(GROUPS):
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
    for row in range(50):
        line = Gtk.Box()
        line.pack_start(Gtk.Label(label=f"Row {group}.{row}"), True, True, 0)
        box.pack_start(line, False, False, 0)
    page.pack_start(box, False, False, 0)
scrolled = Gtk.ScrolledWindow()
scrolled.add(page)
window.add(scrolled)
window.show_all()
Gtk.main()
