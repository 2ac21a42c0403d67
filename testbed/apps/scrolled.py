#!/usr/bin/python3
"""Buttons above and below a page of cards that is scrolled half-way: by their bounds, parts of the
page lie over the buttons above.

Usage: scrolled.py LOG gtk3|gtk4|qt6
"""

import sys

from log import log

TOOLKIT = sys.argv[2]
SIZE = (420, 520)
CARDS, ROWS = range(4), range(8)
MIDDLE = 520
"""How far the page is scrolled."""


def scroll(to):
    to(MIDDLE)
    log("ready")


def qt():
    from PyQt6.QtCore import QTimer
    from PyQt6.QtWidgets import QApplication, QGroupBox, QPushButton, QScrollArea, QVBoxLayout, QWidget

    def column(widget, *inside):
        layout = QVBoxLayout(widget)
        for each in inside:
            layout.addWidget(each)
        return widget

    def button(name):
        made = QPushButton(name)
        made.clicked.connect(lambda: log("clicked", name))
        return made

    app = QApplication([])
    cards = [column(QGroupBox(f"Card {c}"), *(button(f"Row {c}.{r}") for r in ROWS)) for c in CARDS]
    area = QScrollArea(widgetResizable=True)
    area.setWidget(column(QWidget(), *cards))
    window = column(QWidget(), button("Above"), area, button("Below"))
    window.resize(*SIZE)
    window.show()
    QTimer.singleShot(500, lambda: scroll(area.verticalScrollBar().setValue))
    app.exec()


def gtk(version):
    import gi

    gi.require_version("Gtk", version)
    from gi.repository import GLib, Gtk

    def column(*inside):
        box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=4)
        for each in inside:
            each.set_vexpand(isinstance(each, Gtk.ScrolledWindow))
            box.append(each) if version == "4.0" else box.add(each)
        return box

    def hold(outer, inner):
        (outer.set_child if version == "4.0" else outer.add)(inner)
        return outer

    def button(name):
        made = Gtk.Button(label=name)
        made.connect("clicked", lambda _: log("clicked", name))
        return made

    cards = [hold(Gtk.Frame(label=f"Card {c}"), column(*(button(f"Row {c}.{r}") for r in ROWS))) for c in CARDS]
    area = hold(Gtk.ScrolledWindow(), column(*cards))
    window = hold(Gtk.Window(title="Scrolled"), column(button("Above"), area, button("Below")))
    window.set_default_size(*SIZE)
    window.present() if version == "4.0" else window.show_all()
    GLib.timeout_add(500, lambda: scroll(area.get_vadjustment().set_value))
    GLib.MainLoop().run()


{"gtk3": lambda: gtk("3.0"), "gtk4": lambda: gtk("4.0"), "qt6": qt}[TOOLKIT]()
