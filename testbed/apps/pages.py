#!/usr/bin/python3
"""A GTK 4 window whose elements mostly have no size: they are in pages of a stack and a notebook
that are not in front. Its buttons change these elements, and turn the pages.

Usage: pages.py LOG
"""

import gi

gi.require_version("Gtk", "4.0")
from gi.repository import GLib, Gtk

from log import log

ROWS = 12


def column():
    return Gtk.Box(orientation=Gtk.Orientation.VERTICAL)


def part(name):
    """A page, and the effects of the buttons on it: the changing elements are in the middle, four
    containers deep."""
    page = column()
    for i in range(ROWS):
        row = Gtk.Box()
        row.append(Gtk.Label(label=f"{name} {i}"))
        row.append(Gtk.CheckButton(label=f"{name} option {i}"))
        page.append(row)
    outer, inner, grows = column(), Gtk.Frame(), column()
    text, check, entry = Gtk.Label(label="text"), Gtk.CheckButton(label=f"{name} far"), Gtk.Entry()
    unseen = Gtk.Label(label="unseen")
    level = Gtk.ProgressBar()
    for widget in (text, check, entry, unseen, level, grows):
        outer.append(widget)
    inner.set_child(outer)
    page.append(inner)

    def less(_):
        if child := grows.get_last_child():
            grows.remove(child)

    return page, {
        "Longer": lambda _: text.set_text(text.get_text()[-20:] + "x"),
        "Check": lambda _: check.set_active(not check.get_active()),
        "Fill": lambda _: entry.set_text("" if entry.get_text() else "filled"),
        "More": lambda _: grows.append(Gtk.Label(label="one more")),
        "Dim": lambda _: check.set_sensitive(not check.get_sensitive()),
        "Unsee": lambda _: unseen.set_visible(not unseen.get_visible()),
        "Level": lambda _: level.set_fraction((level.get_fraction() + 0.25) % 1),
        "Less": less,
    }


def activate(app):
    stack, notebook = Gtk.Stack(), Gtk.Notebook()
    buttons = Gtk.Box()

    def button(label, act):
        it = Gtk.Button(label=label)
        it.connect("clicked", act)
        buttons.append(it)

    def turn(_):
        name = "Back" if stack.get_visible_child_name() == "Front" else "Front"
        stack.set_visible_child_name(name)
        notebook.set_current_page(["Front", "Back"].index(name))
        log("page", name)

    button("Turn", turn)
    for page in ("Front", "Back"):
        widget, acts = part(page)
        stack.add_named(widget, page)
        sheet = column()
        for i in range(3):
            sheet.append(Gtk.Label(label=f"{page} sheet {i}"))
        notebook.append_page(sheet, Gtk.Label(label=page))
        for label, act in acts.items():
            button(f"{label} {page}", act)
    everything = column()
    everything.append(buttons)
    everything.append(stack)
    everything.append(notebook)
    window = Gtk.ApplicationWindow(application=app, title="Pages", child=everything)
    window.present()
    GLib.idle_add(lambda: log("ready"))


app = Gtk.Application(application_id="org.deskline.Pages")
app.connect("activate", activate)
app.run()
