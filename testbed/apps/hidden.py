#!/usr/bin/python3
"""A GTK 3 window that is mostly hidden: a page of a notebook that is behind, and rows below the
viewport. Its buttons change the hidden content.

Usage: hidden.py LOG
"""

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import GLib, Gtk

from log import log

ROWS = 300


def column():
    return Gtk.Box(orientation=Gtk.Orientation.VERTICAL)


def rows(name):
    """Rows, with the changing elements in the middle, three containers deep."""
    box = column()
    for i in range(ROWS):
        row = Gtk.Box()
        row.pack_start(Gtk.Label(label=f"{name} {i}"), False, False, 0)
        row.pack_start(Gtk.CheckButton(label=f"Option {i}"), False, False, 0)
        box.pack_start(row, False, False, 0)
    return box


def part(name):
    """The container, and the effects of the buttons on it."""
    outer = column()
    outer.pack_start(rows(name), False, False, 0)
    inner = column()
    text = Gtk.Label(label="text")
    check = Gtk.CheckButton(label="Far")
    entry = Gtk.Entry()
    grows = column()
    for widget in (text, check, entry, grows):
        inner.pack_start(widget, False, False, 0)
    outer.pack_start(inner, False, False, 0)

    def more(_):
        grows.pack_start(Gtk.Label(label="one more", visible=True), False, False, 0)

    def less(_):
        for child in grows.get_children()[-1:]:
            grows.remove(child)

    return outer, {
        "Longer": lambda _: text.set_text(text.get_text()[-20:] + "x"),
        "Check": lambda _: check.set_active(not check.get_active()),
        "Fill": lambda _: entry.set_text("" if entry.get_text() else "filled"),
        "More": more,
        "Dim": lambda _: check.set_sensitive(not check.get_sensitive()),
        "Less": less,
    }


window = Gtk.Window(title="Hidden", default_width=700, default_height=500)
window.connect("destroy", Gtk.main_quit)
page = column()
buttons = Gtk.Box()
page.pack_start(buttons, False, False, 0)
below, below_acts = part("Below")
page.pack_start(below, False, False, 0)
scrolled = Gtk.ScrolledWindow()
scrolled.add(page)
behind, behind_acts = part("Behind")
notebook = Gtk.Notebook()
notebook.append_page(scrolled, Gtk.Label(label="Front"))
other = Gtk.ScrolledWindow()
other.add(behind)
notebook.append_page(other, Gtk.Label(label="Back"))
for where, acts in (("", below_acts), (" behind", behind_acts)):
    for label, act in acts.items():
        button = Gtk.Button(label=label + where)
        button.connect("clicked", act)
        buttons.pack_start(button, False, False, 0)
window.add(notebook)
window.show_all()
GLib.idle_add(lambda: log("ready"))
Gtk.main()
