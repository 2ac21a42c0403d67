#!/usr/bin/python3
"""Several windows of one process, and a log of which one was used.

Usage: windows.py LOG TOOLKIT NAME|TITLE|GEOMETRY...

TOOLKIT is gtk3, gtk4, qt5 or qt6. GEOMETRY is WxH, WxH+X+Y or max (only X places GTK 4's windows).
Each window NAME has a button "Push NAME", an entry "Note NAME", a pad "Pad NAME", a combo box of
"Small NAME" and "Large NAME", and (not GTK 4) a menu "File" with "Close NAME". A GEOMETRY
that begins with "dialog " makes the window a dialog of the first one, with "bar " one that draws its
own title bar (GTK). With "least " nothing makes it smaller, not even the screen; this may follow "bar ".
"""

import re
import sys

from log import log

TOOLKIT = sys.argv[2]
SPECS = [spec.split("|") for spec in sys.argv[3:]]


def geometry(text):
    found = re.search(r"(\d+)x(\d+)(?:\+(\d+)\+(\d+))?", text)
    return [int(n) if n else None for n in found.groups()] if found else None


def gtk(version):
    import gi

    gi.require_version("Gtk", version)
    from gi.repository import GLib, Gtk

    three = version == "3.0"
    made = []

    def window(name, title, where):
        window = Gtk.Window(title=title)
        if where.startswith("bar "):
            window.set_titlebar(Gtk.HeaderBar())
        if where.startswith("dialog ") and made:
            window.set_transient_for(made[0])
        if place := geometry(where):
            window.set_default_size(*place[:2])
            if "least " in where:
                window.set_size_request(*place[:2])
            if three and place[2] is not None:
                window.move(*place[2:])
        else:
            window.maximize()
        box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=8)
        button = Gtk.Button(label=f"Push {name}")
        button.connect("clicked", lambda *_: log("pushed", name))
        entry = Gtk.Entry()
        entry.connect("changed", lambda e: log("text", name, e.get_text()))
        pad = Gtk.EventBox() if three else Gtk.Box()
        label = Gtk.Label(label=f"Pad {name}")
        pad.set_size_request(160, 60)
        if three:
            entry.get_accessible().set_name(f"Note {name}")
            from gi.repository import Gdk

            pad.add_events(
                Gdk.EventMask.BUTTON_PRESS_MASK
                | Gdk.EventMask.BUTTON_RELEASE_MASK
                | Gdk.EventMask.SCROLL_MASK
            )
            pad.connect("button-press-event", lambda _, e: log("pad press", name))
            pad.connect("button-release-event", lambda _, e: log("pad release", name))
            pad.connect("scroll-event", lambda *_: log("pad scroll", name))
            pad.add(label)
            bar, menu = Gtk.MenuBar(), Gtk.Menu()
            top, close = Gtk.MenuItem(label="File"), Gtk.MenuItem(label=f"Close {name}")
            close.connect("activate", lambda *_: log("menu", name))
            menu.append(close)
            top.set_submenu(menu)
            bar.append(top)
            sizes = Gtk.ComboBoxText()
            for size in ("Small", "Large"):
                sizes.append_text(f"{size} {name}")
            sizes.set_active(0)
            sizes.connect("changed", lambda c: log("combo", c.get_active_text()))
            for widget in (bar, button, entry, sizes, pad):
                box.pack_start(widget, False, False, 0)
            window.add(box)
            window.connect("destroy", lambda *_: Gtk.main_quit())
            window.show_all()
        else:
            entry.update_property([Gtk.AccessibleProperty.LABEL], [f"Note {name}"])
            scroll = Gtk.EventControllerScroll(flags=Gtk.EventControllerScrollFlags.VERTICAL)
            scroll.connect("scroll", lambda *_: log("pad scroll", name))
            pad.add_controller(scroll)
            click = Gtk.GestureClick()
            click.connect("pressed", lambda *_: log("pad press", name))
            click.connect("released", lambda *_: log("pad release", name))
            pad.add_controller(click)
            pad.append(label)
            sizes = Gtk.DropDown.new_from_strings([f"Small {name}", f"Large {name}"])
            sizes.connect(
                "notify::selected-item", lambda d, _: log("combo", d.get_selected_item().get_string())
            )
            for widget in (button, entry, sizes, pad):
                box.append(widget)
            window.set_child(box)
            window.present()
        made.append(window)

    for spec in SPECS:
        window(*spec)
    log("ready")
    Gtk.main() if three else GLib.MainLoop().run()


def qt(version):
    if version == 5:
        from PyQt5 import QtWidgets as w
    else:
        from PyQt6 import QtWidgets as w
    app = w.QApplication(sys.argv[:1])
    made = []

    class Pad(w.QLabel):
        def mousePressEvent(self, _):
            log("pad press", self.name)

        def mouseReleaseEvent(self, _):
            log("pad release", self.name)

        def wheelEvent(self, _):
            log("pad scroll", self.name)

    for name, title, where in SPECS:
        dialog = where.startswith("dialog ") and made
        window = w.QDialog(made[0]) if dialog else w.QMainWindow()
        window.setWindowTitle(title)
        inner = window if dialog else w.QWidget()
        column = w.QVBoxLayout(inner)
        if not dialog:
            window.setCentralWidget(inner)
            menu = window.menuBar().addMenu("File")
            menu.addAction("Close " + name).triggered.connect(lambda *_, n=name: log("menu", n))
        button = w.QPushButton(f"Push {name}")
        button.clicked.connect(lambda *_, n=name: log("pushed", n))
        entry = w.QLineEdit()
        entry.setAccessibleName(f"Note {name}")
        entry.textChanged.connect(lambda text, n=name: log("text", n, text))
        sizes = w.QComboBox()
        sizes.addItems([f"Small {name}", f"Large {name}"])
        sizes.currentTextChanged.connect(lambda text: log("combo", text))
        pad = Pad(f"Pad {name}")
        pad.name = name
        pad.setMinimumSize(160, 60)
        for widget in (button, entry, sizes, pad):
            column.addWidget(widget)
        column.addStretch()
        if place := geometry(where):
            window.resize(*place[:2])
            if "least " in where:
                window.setMinimumSize(*place[:2])
            if place[2] is not None:
                window.move(*place[2:])
            window.show()
        else:
            window.showMaximized()
        made.append(window)
    log("ready")
    app.exec()


if TOOLKIT.startswith("gtk"):
    gtk(f"{TOOLKIT[3]}.0")
else:
    qt(int(TOOLKIT[2]))
