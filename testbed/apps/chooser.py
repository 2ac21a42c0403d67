#!/usr/bin/python3
"""A file chooser of GTK 4, and a log of the choices.

Usage: chooser.py LOG
"""

import gi

gi.require_version("Gtk", "4.0")
from gi.repository import GLib, Gtk

from log import log


def answered(dialog, response):
    chosen = response == Gtk.ResponseType.ACCEPT and dialog.get_file()
    log("chose", chosen.get_path() if chosen else None)


dialog = Gtk.FileChooserDialog(title="Choose", action=Gtk.FileChooserAction.OPEN)
dialog.add_button("_Cancel", Gtk.ResponseType.CANCEL)
dialog.add_button("_Open", Gtk.ResponseType.ACCEPT)
dialog.set_default_response(Gtk.ResponseType.ACCEPT)
dialog.connect("response", answered)
dialog.present()
log("ready")
GLib.MainLoop().run()
