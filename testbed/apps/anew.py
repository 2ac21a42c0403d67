#!/usr/bin/python3
"""A GTK 3 window that re-creates a part of itself, as LibreOffice does with its sidebar.

Usage: anew.py LOG
"""

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import GLib, Gtk

from log import log

window = Gtk.Window(title="Anew")
outer = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
panel = None
generation = 0


def create(labels):
    """Replaces the check boxes by new ones that differ only in the labels."""
    global panel, generation
    generation += 1
    if panel is not None:
        panel.destroy()
    panel = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
    for label in labels:
        box = Gtk.CheckButton(label=label)
        box.connect("toggled", lambda box, l=label, g=generation: log("toggled", l, g, box.get_active()))
        panel.add(box)
    outer.add(panel)
    panel.show_all()
    log("created", generation)


for label, labels in (("Same", ["Bold", "Italic"]), ("Other", ["Bold", "Oblique"])):
    button = Gtk.Button(label=label)
    button.connect("clicked", lambda _, labels=labels: create(labels))
    outer.add(button)
create(["Bold", "Italic"])
window.add(outer)
window.set_default_size(200, 200)
window.connect("destroy", Gtk.main_quit)
window.show_all()
GLib.idle_add(lambda: log("ready"))
Gtk.main()
