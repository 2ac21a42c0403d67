#!/usr/bin/python3
"""An item of the tray whose menu is the app's own, not on the bus, and a log of what is chosen. GTK 3.

Usage: tray_plain.py LOG
"""

import os

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import Gio, GLib, Gtk

from log import log

INTERFACE = """<node><interface name="org.kde.StatusNotifierItem">
<property name="Id" type="s" access="read"/><property name="Title" type="s" access="read"/>
<method name="Activate"><arg type="i" direction="in"/><arg type="i" direction="in"/></method>
<method name="ContextMenu"><arg type="i" direction="in"/><arg type="i" direction="in"/></method>
</interface></node>"""

menu = Gtk.Menu()
for label in ("Write", "Mute"):
    entry = Gtk.MenuItem(label=label)
    entry.connect("activate", lambda _, label=label: log("chose", label))
    menu.append(entry)
menu.show_all()


def call(bus, sender, path, interface, method, args, invocation):
    invocation.return_value(None)
    if method == "ContextMenu":
        menu.popup(None, None, None, None, 0, 0)
    else:
        log("activated")


def ask(bus, sender, path, interface, name):
    return GLib.Variant("s", "Plain mail")


bus = Gio.bus_get_sync(Gio.BusType.SESSION)
(interface,) = Gio.DBusNodeInfo.new_for_xml(INTERFACE).interfaces
bus.register_object("/StatusNotifierItem", interface, call, ask, None)
name = f"org.kde.StatusNotifierItem-{os.getpid()}-1"
Gio.bus_own_name_on_connection(bus, name, 0, lambda *_: log("ready"), None)
Gtk.main()
