#!/usr/bin/python3
"""Controls that refuse a change, or take it back at once; and a log of what they got.

Usage: refuses.py LOG TOOLKIT

TOOLKIT is gtk3, gtk4, qt5 or qt6. "Fixed" and "Count" are read-only, "Takes" takes what is dragged onto it and
"Refuses" does not. The tab "Back" and numbers above 3 in "Limit" are taken back after 120 ms. Above "Bottom" are
sliders as wide as what scrolls.
"""

import sys

from log import log

TOOLKIT = sys.argv[2]


def gtk3():
    import gi

    gi.require_version("Gtk", "3.0")
    gi.require_version("Gdk", "3.0")
    from gi.repository import Gdk, GLib, Gtk

    text = [Gtk.TargetEntry.new("text/plain", 0, 0)]
    store = Gtk.ListStore(bool, str)
    for name in ("One", "Two"):
        store.append([False, name])
    view = Gtk.TreeView(model=store)
    box = Gtk.CellRendererToggle()

    def toggled(_, path):
        log("toggled", path)
        store[path][0] = True
        store[path][0] = False

    box.connect("toggled", toggled)
    view.append_column(Gtk.TreeViewColumn("On", box, active=0))
    view.append_column(Gtk.TreeViewColumn("Name", Gtk.CellRendererText(), text=1))
    view.enable_model_drag_source(Gdk.ModifierType.BUTTON1_MASK, text, Gdk.DragAction.COPY)
    view.connect("drag-data-get", lambda _, context, data, *__: data.set_text("row", -1))
    takes, refuses = Gtk.Button(label="Takes"), Gtk.Button(label="Refuses")
    takes.drag_dest_set(Gtk.DestDefaults.ALL, text, Gdk.DragAction.COPY)
    takes.connect("drag-data-received", lambda *_: (log("dropped"), takes.set_label("Full")))
    refuses.drag_dest_set(0, [], 0)
    fixed = Gtk.Entry(text="old", editable=False)
    fixed.get_accessible().set_name("Fixed")
    count = Gtk.SpinButton.new_with_range(0, 100, 1)
    count.set_editable(False)
    count.get_accessible().set_name("Count")
    book = Gtk.Notebook()
    for title in ("Here", "Back"):
        book.append_page(Gtk.Label(label=f"Page {title}"), Gtk.Label(label=title))
    book.connect("switch-page", lambda *_: GLib.timeout_add(120, book.set_current_page, 0))
    limit = Gtk.SpinButton.new_with_range(0, 100, 1)
    limit.get_accessible().set_name("Limit")
    limit.connect("value-changed", lambda s: s.get_value() > 3 and GLib.timeout_add(120, s.set_value, 3))
    rows = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
    rows.add(Gtk.Expander(label="More"))
    for _ in range(20):
        scale = Gtk.Scale.new_with_range(Gtk.Orientation.HORIZONTAL, 0, 100, 1)
        scale.connect("value-changed", lambda *_: log("slid"))
        rows.add(scale)
    bottom = Gtk.Button(label="Bottom")
    bottom.connect("clicked", lambda *_: log("bottom"))
    rows.add(bottom)
    scrolls = Gtk.ScrolledWindow(min_content_height=150)
    scrolls.add(rows)
    window = Gtk.Window(title="Controls")
    outer = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
    for widget in (view, takes, refuses, fixed, count, book, limit, scrolls):
        outer.add(widget)
    window.add(outer)
    window.show_all()
    log("ready")
    Gtk.main()


def gtk4():
    import gi

    gi.require_version("Gtk", "4.0")
    gi.require_version("Gdk", "4.0")
    from gi.repository import Gdk, GLib, Gtk

    def named(widget, name):
        widget.update_property([Gtk.AccessibleProperty.LABEL], [name])
        return widget

    def drop(_, text, *__):
        log("dropped")
        takes.set_label("Full")
        return True

    down = Gtk.DropDown.new_from_strings(["Low", "High"])
    down.connect("notify::selected", lambda *_: GLib.timeout_add(20, down.set_selected, 0))
    one = Gtk.Button(label="One")
    source = Gtk.DragSource()
    source.connect("prepare", lambda *_: Gdk.ContentProvider.new_for_value("row"))
    one.add_controller(source)
    takes, refuses = Gtk.Button(label="Takes"), Gtk.Button(label="Refuses")
    for button, accepts in ((takes, True), (refuses, False)):
        target = Gtk.DropTarget.new(str, Gdk.DragAction.COPY)
        target.connect("accept", lambda *_, accepts=accepts: accepts)
        target.connect("drop", drop)
        button.add_controller(target)
    fixed = named(Gtk.Entry(text="old", editable=False), "Fixed")
    count = named(Gtk.SpinButton.new_with_range(0, 100, 1), "Count")
    count.set_editable(False)
    book = Gtk.Notebook()
    for title in ("Here", "Back"):
        book.append_page(Gtk.Label(label=f"Page {title}"), Gtk.Label(label=title))
    book.connect("switch-page", lambda *_: GLib.timeout_add(120, book.set_current_page, 0))
    limit = named(Gtk.SpinButton.new_with_range(0, 100, 1), "Limit")
    limit.connect("value-changed", lambda s: s.get_value() > 3 and GLib.timeout_add(120, s.set_value, 3))
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
    for widget in (down, one, takes, refuses, fixed, count, book, limit):
        widget.set_halign(Gtk.Align.START)
        box.append(widget)
    window = Gtk.Window(title="Controls", child=box)
    window.present()
    log("ready")
    GLib.MainLoop().run()


def qt(version):
    import importlib

    widgets = importlib.import_module(f"PyQt{version}.QtWidgets")
    core = importlib.import_module(f"PyQt{version}.QtCore")

    class Rows(widgets.QListWidget):
        """Its rows are dragged, and "Takes" takes them."""

        def __init__(self, *names):
            super().__init__()
            self.addItems(names)
            self.setDragEnabled(True)
            self.setAcceptDrops(True)
            self.takes = "Takes" in names

        def dragEnterEvent(self, event):
            event.setAccepted(self.takes)

        def dragMoveEvent(self, event):
            event.setAccepted(self.takes)

        def dropEvent(self, event):
            log("dropped")
            self.addItem("Full")
            event.accept()

    app = widgets.QApplication([])
    window = widgets.QWidget()
    window.setWindowTitle("Controls")
    fixed = widgets.QLineEdit("old")
    fixed.setReadOnly(True)
    fixed.setAccessibleName("Fixed")
    fixed.textChanged.connect(lambda text: log("fixed", text))
    count = widgets.QSpinBox()
    count.setReadOnly(True)
    count.setAccessibleName("Count")
    tabs = widgets.QTabWidget()
    for title in ("Here", "Back"):
        tabs.addTab(widgets.QLabel(f"Page {title}"), title)
    tabs.currentChanged.connect(lambda _: core.QTimer.singleShot(120, lambda: tabs.setCurrentIndex(0)))
    limit = widgets.QSpinBox()
    limit.setAccessibleName("Limit")
    limit.valueChanged.connect(lambda n: n > 3 and core.QTimer.singleShot(120, lambda: limit.setValue(3)))
    day = widgets.QDateEdit(core.QDate(2024, 5, 6))
    day.setDisplayFormat("dd.MM.yyyy")
    day.setAccessibleName("Day")
    day.dateChanged.connect(lambda day: log("day", day.toString("yyyy-MM-dd")))
    box = widgets.QVBoxLayout(window)
    for widget in (Rows("One", "Two"), Rows("Takes"), Rows("Refuses"), fixed, count, tabs, limit, day):
        box.addWidget(widget)
    window.resize(300, 500)
    window.show()
    log("ready")
    app.exec()


{"gtk3": gtk3, "gtk4": gtk4, "qt5": lambda: qt(5), "qt6": lambda: qt(6)}[TOOLKIT]()
