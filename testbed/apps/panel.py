#!/usr/bin/python3
"""A panel of a Wayland desktop, by the layer shell. Logs presses of its button and choices of its
menu's item.

Usage: panel.py LOG
"""

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("GtkLayerShell", "0.1")
from gi.repository import GLib, Gtk, GtkLayerShell

from log import log

window = Gtk.Window(title="Panel")
GtkLayerShell.init_for_window(window)
# As Plasma's panel. KWin takes other surfaces of the layer shell for ordinary windows.
GtkLayerShell.set_namespace(window, "dock")
GtkLayerShell.auto_exclusive_zone_enable(window)
for edge in (GtkLayerShell.Edge.BOTTOM, GtkLayerShell.Edge.LEFT, GtkLayerShell.Edge.RIGHT):
    GtkLayerShell.set_anchor(window, edge, True)
box = Gtk.Box()
button = Gtk.Button(label="Volume up")
button.connect("clicked", lambda _: log("louder"))
places = Gtk.MenuButton(label="Places")
menu = Gtk.Menu()
item = Gtk.MenuItem(label="Home")
item.connect("activate", lambda _: log("went Home"))
menu.append(item)
menu.show_all()
places.set_popup(menu)
box.add(button)
box.add(places)
window.add(box)
window.show_all()
GLib.idle_add(lambda: log("ready"))
Gtk.main()
