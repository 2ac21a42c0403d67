#!/usr/bin/python3
"""A process that is on the accessibility bus twice: through GTK 3, without a window, and, once FILE
exists, through Qt 5, with a list that logs the selected row.

Usage: twice.py LOG FILE
"""

import os
import sys

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import GLib, Gtk

from log import log

Gtk.init()
log("gtk")
loop = GLib.MainLoop()
GLib.timeout_add(20, lambda: not os.path.exists(sys.argv[2]) or loop.quit())
loop.run()

from PyQt5 import QtWidgets

app = QtWidgets.QApplication(sys.argv[:1])
rows = QtWidgets.QListWidget()
rows.setWindowTitle("Twice")
rows.addItems(["Apple", "Pear", "Plum"])
rows.currentTextChanged.connect(log)
rows.show()
log("ready")
app.exec()
