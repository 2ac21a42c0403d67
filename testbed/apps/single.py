#!/usr/bin/python3
"""A GTK 4 app with a single instance: if it is started again, or activated over the bus, it shows
its window. Logs when the compositor gives it the keyboard.

Usage: single.py LOG
"""

import sys

import gi

gi.require_version("Gtk", "4.0")
from gi.repository import Gio, GLib, Gtk

from log import log


def present(app):
    window = app.get_active_window()
    if not window:
        window = Gtk.ApplicationWindow(application=app, title="Single", child=Gtk.Button(label="OK"))
        window.connect("notify::is-active", lambda *_: log("active", window.is_active()))
    window.present()
    log("presented")


GLib.set_prgname("org.deskline.Single")
app = Gtk.Application(application_id="org.deskline.Single", flags=Gio.ApplicationFlags.HANDLES_OPEN)
app.connect("activate", present)
app.connect("open", lambda app, *_: present(app))
app.run([sys.argv[0]] + sys.argv[2:])
