#!/usr/bin/python3
"""A GTK 3 window whose dialog another process draws, as GIMP's plug-ins do.

Usage: plugin.py LOG [XID], with XID in the process that it starts.
"""

import subprocess
import sys

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("Gdk", "3.0")
gi.require_version("GdkX11", "3.0")
from gi.repository import Gdk, GdkX11, GLib, Gtk

from log import log

# A plug-in takes a while to load before its dialog opens.
LOADS = 1500


def button(title, label, does):
    window = Gtk.Window(title=title)
    window.set_default_size(300, 150)
    made = Gtk.Button(label=label)
    made.connect("clicked", does)
    window.add(made)
    return window


def dialog(xid):
    def save(_):
        log("saved")
        Gtk.main_quit()

    made = button("Export Image", "Save", save)
    made.set_type_hint(Gdk.WindowTypeHint.DIALOG)
    made.realize()
    host = GdkX11.X11Window.foreign_new_for_display(Gdk.Display.get_default(), xid)
    made.get_window().set_transient_for(host)
    GLib.timeout_add(LOADS, made.show_all)


def export(_):
    log("exports")
    xid = str(host.get_window().get_xid())
    subprocess.Popen([sys.executable, "-B", *sys.argv[:2], xid])


if len(sys.argv) > 2:
    dialog(int(sys.argv[2]))
else:
    host = button("Host", "Export", export)
    host.show_all()
    GLib.idle_add(lambda: log("ready"), priority=GLib.PRIORITY_LOW)
Gtk.main()
