#!/usr/bin/python3
"""A file chooser, and a log of the choices.

Usage: chooser.py LOG [TOOLKIT FOLDER]

Without more it is GTK 4's, and opens. With a TOOLKIT, gtk3, gtk4, qt5 or qt6, it saves "mine.txt" in FOLDER,
over a window with a button "Archive", and hides once it has an answer.
"""

import sys

from log import log

TOOLKIT, FOLDER = (sys.argv[2:] + ["gtk4", None])[:2]


def opens():
    import gi

    gi.require_version("Gtk", "4.0")
    from gi.repository import GLib, Gtk

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


def gtk(version):
    import gi

    gi.require_version("Gtk", f"{version}.0")
    from gi.repository import Gio, GLib, Gtk

    window = Gtk.Window(title="Base")
    archive = Gtk.Button(label="Archive")
    archive.connect("clicked", lambda *_: log("archived"))
    dialog = Gtk.FileChooserDialog(title="Save it", transient_for=window, modal=True)
    dialog.set_action(Gtk.FileChooserAction.SAVE)
    dialog.add_button("Cancel", Gtk.ResponseType.CANCEL)
    dialog.add_button("Save", Gtk.ResponseType.ACCEPT)
    dialog.set_default_response(Gtk.ResponseType.ACCEPT)
    folder = Gio.File.new_for_path(FOLDER)
    dialog.set_current_folder(FOLDER if version == 3 else folder)
    dialog.set_current_name("mine.txt")

    def answered(dialog, response):
        log("chose", dialog.get_file().get_basename())
        dialog.set_visible(False)

    dialog.connect("response", answered)
    dialog.connect("notify::is-active", lambda *_: log("ready"))
    if version == 3:
        window.add(archive)
        window.show_all()
    else:
        window.set_child(archive)
        window.present()
    dialog.present()
    GLib.MainLoop().run()


def qt(version):
    import importlib

    widgets = importlib.import_module(f"PyQt{version}.QtWidgets")
    dialogs = widgets.QFileDialog
    app = widgets.QApplication([])
    window = widgets.QWidget()
    window.setWindowTitle("Base")
    archive = widgets.QPushButton("Archive")
    archive.clicked.connect(lambda: log("archived"))
    widgets.QVBoxLayout(window).addWidget(archive)
    window.show()
    dialog = dialogs(window, "Save it", FOLDER)
    dialog.setOption(dialogs.Option.DontUseNativeDialog)
    dialog.setAcceptMode(dialogs.AcceptMode.AcceptSave)
    dialog.selectFile("mine.txt")
    dialog.accepted.connect(lambda: log("chose", dialog.selectedFiles()[0].rsplit("/")[-1]))
    app.focusWindowChanged.connect(
        lambda now: now and now.title() == dialog.windowTitle() and log("ready")
    )
    dialog.open()
    app.exec()


if FOLDER is None:
    opens()
elif TOOLKIT.startswith("gtk"):
    gtk(int(TOOLKIT[3:]))
else:
    qt(int(TOOLKIT[2:]))
