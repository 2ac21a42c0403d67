#!/usr/bin/python3
"""Combo boxes, drop-downs, a menu button and long lists, and a log of the choices.

Usage: choices.py LOG TOOLKIT

TOOLKIT is gtk3, gtk4, qt5, qt6 or wx. "Size" has three choices, "City" 60 (most below the fold of its
list), "Font" 40 and takes any text (GTK 4: it has a search field), "More" is a menu button, "Edit" a menu
of a menu bar (GTK 3, wx), "Rows" a list of 400.
"""

import sys

from log import SIZES, log

TOOLKIT = sys.argv[2]
CITIES = [f"City {n}" for n in range(1, 61)]
FONTS = [f"Font {n}" for n in range(1, 41)]
ROWS = [f"Line {n}" for n in range(1, 401)]
MORE = ["Cut it", "Copy it", "Paste it"]


def gtk3():
    import gi

    gi.require_version("Gtk", "3.0")
    from gi.repository import Gtk

    window = Gtk.Window(title="Choices", default_width=360, default_height=420)
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=6)
    for name, choices in (("Size", SIZES), ("City", CITIES), ("Font", FONTS)):
        entry = name == "Font"
        combo = Gtk.ComboBoxText.new_with_entry() if entry else Gtk.ComboBoxText()
        label = Gtk.Label(label=name, mnemonic_widget=combo)
        box.pack_start(label, False, False, 0)
        for choice in choices:
            combo.append_text(choice)
        combo.set_active(0)
        combo.connect("changed", lambda c, name=name: log(name, c.get_active_text()))
        box.pack_start(combo, False, False, 0)
    menu = Gtk.Menu()
    for text in MORE:
        item = Gtk.MenuItem(label=text)
        item.connect("activate", lambda _, text=text: log("More", text))
        menu.append(item)
    menu.show_all()
    more = Gtk.MenuButton(label="More", popup=menu)
    bar, edit = Gtk.MenuBar(), Gtk.MenuItem(label="Edit")
    edit.set_submenu(Gtk.Menu())
    edit.get_submenu().append(Gtk.CheckMenuItem(label="Wrap lines", active=True))
    for text in MORE:
        item = Gtk.MenuItem(label=text)
        item.connect("activate", lambda _, text=text: log("Edit", text))
        edit.get_submenu().append(item)
    bar.append(edit)
    box.pack_start(bar, False, False, 0)
    box.pack_start(more, False, False, 0)
    store = Gtk.ListStore(str)
    for row in ROWS:
        store.append([row])
    view = Gtk.TreeView(model=store)
    view.append_column(Gtk.TreeViewColumn("Rows", Gtk.CellRendererText(), text=0))
    view.get_accessible().set_name("Rows")
    frame = Gtk.ScrolledWindow()
    frame.add(view)
    box.pack_start(frame, True, True, 0)
    window.add(box)
    window.connect("destroy", lambda *_: Gtk.main_quit())
    window.show_all()
    log("ready")
    Gtk.main()


def gtk4():
    import gi

    gi.require_version("Gtk", "4.0")
    from gi.repository import Gio, GLib, Gtk

    def named(widget, name):
        widget.update_property([Gtk.AccessibleProperty.LABEL], [name])
        return widget

    window = Gtk.Window(title="Choices", default_width=360, default_height=420)
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=6)
    for name, choices in (("Size", SIZES), ("City", CITIES), ("Font", FONTS)):
        down = named(Gtk.DropDown.new_from_strings(choices), name)
        if name == "Font":
            down.set_enable_search(True)
        down.connect(
            "notify::selected",
            lambda d, _, name=name: log(name, d.get_selected_item().get_string()),
        )
        box.append(down)
    menu, group = Gio.Menu(), Gio.SimpleActionGroup()
    for n, text in enumerate(MORE):
        action = Gio.SimpleAction(name=f"a{n}")
        action.connect("activate", lambda *_, text=text: log("More", text))
        group.add_action(action)
        menu.append(text, f"more.a{n}")
    more = Gtk.MenuButton(label="More", menu_model=menu)
    more.insert_action_group("more", group)
    box.append(more)
    factory = Gtk.SignalListItemFactory()
    factory.connect("setup", lambda _, item: item.set_child(Gtk.Label(xalign=0)))
    factory.connect(
        "bind", lambda _, item: item.get_child().set_text(item.get_item().get_string())
    )
    model = Gtk.SingleSelection(model=Gtk.StringList.new(ROWS))
    rows = named(Gtk.ListView(model=model, factory=factory), "Rows")
    box.append(Gtk.ScrolledWindow(child=rows, vexpand=True))
    window.set_child(box)
    window.present()
    log("ready")
    GLib.MainLoop().run()


def qt(version):
    if version == 5:
        from PyQt5 import QtCore as core
        from PyQt5 import QtWidgets as w
    else:
        from PyQt6 import QtCore as core
        from PyQt6 import QtWidgets as w
    app = w.QApplication(sys.argv[:1])
    window = w.QMainWindow()
    window.setWindowTitle("Choices")
    window.setCentralWidget(w.QWidget())
    box = w.QVBoxLayout(window.centralWidget())
    for name, choices in (("Size", SIZES), ("City", CITIES), ("Font", FONTS)):
        combo = w.QComboBox()
        combo.setEditable(name == "Font")
        combo.setAccessibleName(name)
        combo.addItems(choices)
        # Log only choices by the user.
        combo.activated.connect(lambda n, name=name, choices=choices: log(name, choices[n]))
        box.addWidget(combo)
    more = w.QPushButton("More")
    menu = w.QMenu(more)
    for text in MORE:
        menu.addAction(text).triggered.connect(lambda *_, text=text: log("More", text))
    more.setMenu(menu)
    rows = w.QListView()
    rows.setAccessibleName("Rows")
    rows.setModel(core.QStringListModel(ROWS))
    box.addWidget(more)
    box.addWidget(rows)
    window.resize(360, 420)
    window.show()
    core.QTimer.singleShot(0, lambda: log("ready"))
    app.exec()


def wx():
    import wx

    app = wx.App()
    frame = wx.Frame(None, title="Choices", size=(360, 420))
    panel = wx.Panel(frame)
    box = wx.BoxSizer(wx.VERTICAL)
    for name, choices in (("Size", SIZES), ("City", CITIES), ("Font", FONTS)):
        box.Add(wx.StaticText(panel, label=name))
        kind, event = (wx.ComboBox, wx.EVT_COMBOBOX) if name == "Font" else (wx.Choice, wx.EVT_CHOICE)
        combo = kind(panel, choices=choices, name=name)
        combo.SetSelection(0)
        combo.Bind(event, lambda e, name=name: log(name, e.GetString()))
        box.Add(combo)
    rows = wx.ListBox(panel, choices=ROWS, name="Rows")
    rows.Bind(wx.EVT_LISTBOX, lambda e: log("Rows", e.GetString()))
    box.Add(rows, 1, wx.EXPAND)
    panel.SetSizer(box)
    bar, edit = wx.MenuBar(), wx.Menu()
    for text in MORE:
        item = edit.Append(wx.ID_ANY, text)
        frame.Bind(wx.EVT_MENU, lambda _, text=text: log("Edit", text), item)
    bar.Append(edit, "Edit")
    frame.SetMenuBar(bar)
    frame.Show()
    wx.CallAfter(log, "ready")
    app.MainLoop()


{"gtk3": gtk3, "gtk4": gtk4, "qt5": lambda: qt(5), "qt6": lambda: qt(6), "wx": wx}[TOOLKIT]()
