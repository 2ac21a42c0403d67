#!/usr/bin/python3
"""A libadwaita window with a menu button, whose menu has a wide shadow.

Usage: menu_button.py LOG
"""

import gi

gi.require_version("Adw", "1")
gi.require_version("Gtk", "4.0")
from gi.repository import Adw, Gio, Gtk

from log import log

ITEMS = ("Copy", "Cut", "Paste")


def start(app):
    menu = Gio.Menu()
    for item in ITEMS:
        action = Gio.SimpleAction.new(item, None)
        action.connect("activate", lambda action, _: log("did", action.get_name()))
        app.add_action(action)
        menu.append(item, f"app.{item}")
    button = Gtk.MenuButton(label="Actions", menu_model=menu, halign=Gtk.Align.CENTER, valign=Gtk.Align.CENTER)
    window = Adw.ApplicationWindow(application=app, title="Menu button", content=button)
    window.set_default_size(600, 400)
    window.present()


app = Adw.Application(flags=Gio.ApplicationFlags.NON_UNIQUE)
app.connect("activate", start)
app.run([])
