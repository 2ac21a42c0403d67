#!/usr/bin/python3
"""Rows and buttons whose bounds cover their content, and a log of the clicks.

Usage: nested.py LOG TOOLKIT

TOOLKIT is gtk3, gtk4, qt5 or qt6. "Alpha" and "Beta" are the rows of an open tree. GTK: "Inbox" and "Sent"
are rows with a list in each, "More" is an open expander over buttons. Qt: "Group" is a group box with a
check box over buttons.
"""

import sys

from log import log

TOOLKIT = sys.argv[2]
FOLDERS = ("Alpha", "Beta")


def inside(name):
    return [f"{name} {n}" for n in range(3)]


def gtk(version):
    import gi

    gi.require_version("Gtk", version)
    from gi.repository import Gio, GLib, Gtk

    three = version == "3.0"

    def fill(outer, child):
        outer.add(child) if three else outer.set_child(child)

    def column(*children):
        box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
        for child in children:
            box.add(child) if three else box.append(child)
        return box

    def row(child, name):
        made = Gtk.ListBoxRow()
        fill(made, child)
        if three:
            made.get_accessible().set_name(name)
        else:
            made.update_property([Gtk.AccessibleProperty.LABEL], [name])
        made.set_name(name)
        return made

    def rows(made):
        box = Gtk.ListBox()
        for one in made:
            box.add(one) if three else box.append(one)
        box.connect("row-activated", lambda _, r: log("row", r.get_name()))
        return box

    def folder(name):
        deeper = rows([row(Gtk.Label(label=text, xalign=0), text) for text in inside(name)])
        return row(column(Gtk.Label(label=name, xalign=0), deeper), name)

    def button(text):
        made = Gtk.Button(label=text)
        made.connect("clicked", lambda _: log("button", text))
        return made

    expander = Gtk.Expander(label="More", expanded=True)
    fill(expander, column(*[button(text) for text in inside("Deep")]))
    expander.connect("notify::expanded", lambda e, _: log("expanded", e.get_expanded()))

    def tree_3():
        store = Gtk.TreeStore(str)
        for name in FOLDERS:
            at = store.append(None, [name])
            for text in inside(name):
                store.append(at, [text])
        view = Gtk.TreeView(model=store)
        view.append_column(Gtk.TreeViewColumn("Folders", Gtk.CellRendererText(), text=0))
        view.expand_all()

        def picked(selection):
            model, at = selection.get_selected()
            if at:
                log("row", model[at][0])

        view.get_selection().connect("changed", picked)
        return view

    def tree_4():
        def strings(texts):
            store = Gio.ListStore(item_type=Gtk.StringObject)
            for text in texts:
                store.append(Gtk.StringObject.new(text))
            return store

        def deeper(item):
            name = item.get_string()
            return strings(inside(name)) if name in FOLDERS else None

        def bind(_, item):
            expander = item.get_child()
            expander.set_list_row(item.get_item())
            expander.get_child().set_text(item.get_item().get_item().get_string())

        model = Gtk.TreeListModel.new(strings(FOLDERS), False, True, deeper)
        selection = Gtk.SingleSelection(model=model, autoselect=False, can_unselect=True)
        selection.set_selected(Gtk.INVALID_LIST_POSITION)
        selection.connect(
            "notify::selected-item",
            lambda s, _: log("row", s.get_selected_item().get_item().get_string()),
        )
        factory = Gtk.SignalListItemFactory()
        factory.connect(
            "setup",
            lambda _, item: item.set_child(Gtk.TreeExpander(child=Gtk.Label(xalign=0))),
        )
        factory.connect("bind", bind)
        return Gtk.ListView(model=selection, factory=factory)

    window = Gtk.Window(title="Nested", default_width=400, default_height=500)
    tree = tree_3() if three else tree_4()
    fill(window, column(rows([folder("Inbox"), folder("Sent")]), expander, tree))
    window.show_all() if three else window.present()
    log("ready")
    GLib.MainLoop().run()


def qt(version):
    if version == 5:
        from PyQt5 import QtWidgets as w
    else:
        from PyQt6 import QtWidgets as w
    app = w.QApplication(sys.argv[:1])
    window = w.QWidget()
    window.setWindowTitle("Nested")
    box = w.QVBoxLayout(window)
    tree = w.QTreeWidget()
    tree.setHeaderLabels(["Folders"])
    for name in FOLDERS:
        item = w.QTreeWidgetItem([name])
        item.addChildren([w.QTreeWidgetItem([text]) for text in inside(name)])
        tree.addTopLevelItem(item)
    tree.expandAll()
    tree.itemPressed.connect(lambda item, _: log("row", item.text(0)))
    group = w.QGroupBox("Group")
    group.setCheckable(True)
    group.toggled.connect(lambda checked: log("checked", checked))
    held = w.QVBoxLayout(group)
    for text in inside("Deep"):
        button = w.QPushButton(text)
        button.clicked.connect(lambda _, text=text: log("button", text))
        held.addWidget(button)
    box.addWidget(tree)
    box.addWidget(group)
    window.resize(400, 500)
    window.show()
    log("ready")
    app.exec()


if TOOLKIT.startswith("gtk"):
    gtk(f"{TOOLKIT[3]}.0")
else:
    qt(int(TOOLKIT[2]))
