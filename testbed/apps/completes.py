#!/usr/bin/python3
"""A field that completes what is typed, a menu button, in GTK 3 a popover, a button; and a log of them.

Usage: completes.py LOG TOOLKIT

TOOLKIT is gtk3, gtk4, qt5 or qt6. The button is far below what opens.
"""

import sys

from log import log

TOOLKIT = sys.argv[2]
FRUIT = ["apple", "apricot", "avocado", "banana"]
GAP = "\n" * 14


def completion(Gtk):
    store = Gtk.ListStore(str)
    for fruit in FRUIT:
        store.append([fruit])
    its = Gtk.EntryCompletion(model=store)
    its.set_text_column(0)
    its.set_minimum_key_length(1)
    return its


def gtk3():
    import gi

    gi.require_version("Gtk", "3.0")
    from gi.repository import Gtk

    menu = Gtk.Menu()
    menu.append(Gtk.MenuItem(label="Item"))
    menu.show_all()
    more = Gtk.MenuButton(label="More", popup=menu)
    popover = Gtk.Popover()
    popover.add(Gtk.Label(label="Inside", visible=True))
    bubble = Gtk.MenuButton(label="Bubble", popover=popover)
    field = Gtk.Entry(completion=completion(Gtk))
    field.get_accessible().set_name("Fruit")
    save = Gtk.Button(label="Save")
    save.connect("clicked", lambda *_: log("saved", field.get_text()))
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
    for widget in (more, bubble, field, Gtk.Label(label=GAP), save):
        box.add(widget)
    window = Gtk.Window(title="Completes")
    window.add(box)
    window.show_all()
    log("ready")
    Gtk.main()


def gtk4():
    import gi

    gi.require_version("Gtk", "4.0")
    from gi.repository import Gio, GLib, Gtk

    menu = Gio.Menu()
    menu.append("Item", "item")
    more = Gtk.MenuButton(label="More", menu_model=menu)
    field = Gtk.Entry(completion=completion(Gtk))
    field.update_property([Gtk.AccessibleProperty.LABEL], ["Fruit"])
    save = Gtk.Button(label="Save")
    save.connect("clicked", lambda *_: log("saved", field.get_text()))
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
    for widget in (more, field, Gtk.Label(label=GAP), save):
        box.append(widget)
    window = Gtk.Window(title="Completes", child=box)
    window.present()
    log("ready")
    GLib.MainLoop().run()


def qt(version):
    import importlib

    widgets = importlib.import_module(f"PyQt{version}.QtWidgets")
    app = widgets.QApplication([])
    menu = widgets.QMenu()
    menu.addAction("Item")
    more = widgets.QPushButton("More")
    more.setMenu(menu)
    field = widgets.QLineEdit()
    field.setAccessibleName("Fruit")
    field.setCompleter(widgets.QCompleter(FRUIT))
    save = widgets.QPushButton("Save")
    save.clicked.connect(lambda: log("saved", field.text()))
    window = widgets.QWidget()
    window.setWindowTitle("Completes")
    box = widgets.QVBoxLayout(window)
    for widget in (more, field, widgets.QLabel(GAP), save):
        box.addWidget(widget)
    window.show()
    log("ready")
    app.exec()


{"gtk3": gtk3, "gtk4": gtk4, "qt5": lambda: qt(5), "qt6": lambda: qt(6)}[TOOLKIT]()
