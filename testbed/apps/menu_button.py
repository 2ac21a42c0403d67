#!/usr/bin/python3
"""A libadwaita window with a menu button, whose menu has a wide shadow and a submenu.

Usage: menu_button.py LOG
"""

import gi

gi.require_version("Adw", "1")
gi.require_version("Gtk", "4.0")
from gi.repository import Adw, Gio, Gtk

from log import log


def made(app, *items):
    menu = Gio.Menu()
    for item in items:
        action = Gio.SimpleAction.new(item, None)
        action.connect("activate", lambda action, _: log("did", action.get_name()))
        app.add_action(action)
        menu.append(item, f"app.{item}")
    return menu


def start(app):
    menu = made(app, "Copy", "Cut", "Paste")
    menu.append_submenu("Style", made(app, "Bold", "Italic", "Plain"))
    button = Gtk.MenuButton(label="Actions", menu_model=menu, halign=Gtk.Align.CENTER, valign=Gtk.Align.CENTER)
    window = Adw.ApplicationWindow(application=app, title="Menu button", content=button)
    window.set_default_size(600, 400)
    window.present()


app = Adw.Application(flags=Gio.ApplicationFlags.NON_UNIQUE)
app.connect("activate", start)
app.run([])
