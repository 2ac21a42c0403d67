#!/usr/bin/python3
"""A window with the button "Empty", which asks in a message box before it deletes, and logs what it did. The key E is
its shortcut. With GTK a second button, "Let it ask", has another such process ask.

Usage: alerts.py LOG gtk3|qt5 QUESTION [PID]
"""

import os
import signal
import sys

from log import log

QUESTION = sys.argv[3]
REST = "They cannot be brought back."


def gtk3():
    import gi

    gi.require_version("Gtk", "3.0")
    from gi.repository import GLib, Gtk

    window = Gtk.Window(title="Files", default_width=300, default_height=200)
    accept = Gtk.ResponseType.ACCEPT

    def answered(box, response):
        log("deleted" if response == accept else "kept")
        box.destroy()

    def ask(_):
        box = Gtk.MessageDialog(transient_for=window, modal=True, text=QUESTION, secondary_text=REST)
        box.add_button("_Cancel", Gtk.ResponseType.CANCEL)
        box.add_button("_Delete", accept)
        box.set_default_response(accept)
        box.connect("response", answered)
        box.present()

    def let_ask(_):
        os.kill(int(sys.argv[4]), signal.SIGUSR1)

    GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, signal.SIGUSR1, lambda: ask(None) or True)
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
    for label, what in [("Let it ask", let_ask), ("Empty", ask)]:
        button = Gtk.Button(label=label)
        button.connect("clicked", what)
        box.pack_start(button, label == "Empty", True, 0)
    window.add(box)
    window.connect("key-press-event", lambda _, key: key.string == "e" and not ask(None))
    window.show_all()
    log("ready")
    GLib.MainLoop().run()


def qt5():
    from PyQt5.QtWidgets import QApplication, QMainWindow, QMessageBox, QPushButton, QShortcut

    app = QApplication(sys.argv[:1])
    window = QMainWindow()
    window.setWindowTitle("Files")
    button = QPushButton("Empty")
    window.setCentralWidget(button)
    window.resize(300, 200)

    def ask():
        box = QMessageBox(QMessageBox.Question, "Files", QUESTION, QMessageBox.Cancel, window)
        box.setInformativeText(REST)
        delete = box.addButton("&Delete", QMessageBox.AcceptRole)
        box.setDefaultButton(delete)
        box.finished.connect(lambda _: log("deleted" if box.clickedButton() is delete else "kept"))
        box.open()

    button.clicked.connect(ask)
    QShortcut("E", window, ask)
    window.show()
    log("ready")
    app.exec()


{"gtk3": gtk3, "qt5": qt5}[sys.argv[2]]()
