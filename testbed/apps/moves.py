#!/usr/bin/python3
"""Windows in which something else comes to where a button is, as the window comes to the front or
the pointer arrives. "Open" is what the tests click, and "Delete" what must not be clicked.

Usage: moves.py LOG gtk3|gtk4|qt5|qt6 fade|toast|away|tabs|windows|box|mask|row|popover|form|wide|own|rows

fade: the page in front fades to another, which has "Delete" in the same place
toast: "Delete" comes over "Open"
away: "Open" and "Delete" change places when the pointer arrives
tabs: "Delete" is a button in the middle of the tab "Open"
windows: "Delete" is in a document's window that was raised over that of "Open"
box: "Open" lies in an event box that is above its child and takes the click
mask: "Open" is a button without its middle
form: "Open" is below sliders, which the wheel carries past the pointer
rows: "Open" is the row of a list without selection
own: "Open" is a widget of the app's, a button by its role alone
wide: "Open" is to the right of what shows
popover: "Open" shows a popover, and a click beside it only closes that
row: "Open" is the row of a list, and a widget set on it has "Delete" in its middle
"""

import sys
from importlib import import_module

from log import log

KIT, MODE = sys.argv[2:4]
TITLE = f"Moves {KIT} {MODE}"


def gtk():
    import gi

    version = {"gtk3": "3.0", "gtk4": "4.0"}[KIT]
    gi.require_version("Gtk", version)
    from gi.repository import GLib, Gtk

    three = version == "3.0"

    def button(name):
        made = Gtk.Button(label=name)
        made.set_size_request(200, 60)
        made.connect("clicked", lambda _: log("clicked", name))
        return made

    def put(holder, *children):
        for child in children:
            holder.add(child) if three else holder.append(child)
        return holder

    def column(*children):
        return put(Gtk.Box(orientation=Gtk.Orientation.VERTICAL), *children)

    def content(window, on_front):
        if MODE == "fade":
            stack = Gtk.Stack(transition_duration=900)
            stack.set_transition_type(Gtk.StackTransitionType.CROSSFADE)
            stack.add_named(column(button("Open")), "first")
            stack.add_named(column(button("Delete")), "second")
            on_front(lambda: stack.set_visible_child_name("second"))
            return stack
        if MODE == "toast":
            over = Gtk.Revealer(transition_type=Gtk.RevealerTransitionType.NONE)
            over.add(button("Delete")) if three else over.set_child(button("Delete"))
            over.set_valign(Gtk.Align.START)
            overlay = Gtk.Overlay()
            below = column(button("Open"), button("Other"))
            overlay.add(below) if three else overlay.set_child(below)
            overlay.add_overlay(over)
            on_front(lambda: over.set_reveal_child(True))
            return overlay
        if MODE == "away":
            fixed, opens, deletes = Gtk.Fixed(), button("Open"), button("Delete")
            fixed.put(opens, 20, 20)
            fixed.put(deletes, 20, 150)

            def swap(*_):
                fixed.move(opens, 20, 150)
                fixed.move(deletes, 20, 20)
                return False

            if three:
                opens.connect("enter-notify-event", swap)
            else:
                motion = Gtk.EventControllerMotion()
                motion.connect("enter", swap)
                opens.add_controller(motion)
            return fixed
        if MODE == "form":
            rows, scrolled = column(), Gtk.ScrolledWindow()
            for n in range(25):
                slider = Gtk.Scale.new_with_range(Gtk.Orientation.HORIZONTAL, 0, 100, 1)
                slider.set_value(50)
                slider.set_hexpand(True)
                slider.connect("value-changed", lambda slider: log("changed", slider.get_value()))
                put(rows, put(Gtk.Box(), Gtk.Label(label=f"Level {n}"), slider))
            put(rows, button("Open"))
            scrolled.add(rows) if three else scrolled.set_child(rows)
            return scrolled
        if MODE == "own":
            gi.require_version("Atk", "1.0")
            from gi.repository import Atk, Gdk

            own = Gtk.DrawingArea(can_focus=True)
            own.add_events(Gdk.EventMask.BUTTON_PRESS_MASK | Gdk.EventMask.BUTTON_RELEASE_MASK)
            own.get_accessible().set_role(Atk.Role.PUSH_BUTTON)
            own.get_accessible().set_name("Open")
            own.connect("button-press-event", lambda *_: own.grab_focus())
            own.connect("button-release-event", lambda *_: log("clicked Open"))
            own.set_size_request(200, 60)
            return column(own, button("Other"))
        if MODE == "wide":
            row, scrolled = Gtk.Box(), Gtk.ScrolledWindow()
            put(row, *(button(f"Item {n}") for n in range(8)), button("Open"), button("Last"))
            scrolled.add(row) if three else scrolled.set_child(row)
            return scrolled
        if MODE == "popover":
            opens, field = Gtk.MenuButton(label="Open"), Gtk.Entry(placeholder_text="Name")
            pop = Gtk.Popover()
            put(pop, button("Inner")) if three else pop.set_child(button("Inner"))
            pop.get_child().show()
            opens.set_popover(pop)
            field.connect("changed", lambda field: log("text", field.get_text()))
            room = Gtk.Box(height_request=150)
            return column(opens, room, field)
        if MODE == "box":
            box = Gtk.EventBox(above_child=True)
            box.add(button("Open"))
            return box
        book = Gtk.Notebook()
        for name in ("First", "Open"):
            label = put(Gtk.Box(), Gtk.Label(label=name), button("Delete"))
            if three:
                label.show_all()
            book.append_page(Gtk.Label(label=f"page {name}"), label)
        book.connect("switch-page", lambda *_: log("clicked Open"))
        return book

    def window(made):
        def on_front(act):
            if three:
                made.connect("focus-in-event", lambda *_: act() and False)
            else:
                made.connect("notify::is-active", lambda *_: made.is_active() and act())

        made.set_title(TITLE)
        made.set_default_size(420, 320)
        inner = content(made, on_front)
        made.add(inner) if three else made.set_child(inner)
        made.show_all() if three else made.present()
        GLib.timeout_add(200, lambda: log("ready"))

    if three:
        window(Gtk.Window())
        Gtk.main()
    else:
        app = Gtk.Application(application_id="org.example.Moves")
        app.connect("activate", lambda app: window(Gtk.ApplicationWindow(application=app)))
        app.run()


def qt(module):
    core = import_module(f"{module}.QtCore")
    w = import_module(f"{module}.QtWidgets")
    app = w.QApplication(sys.argv[:1])

    def button(name, parent=None):
        made = w.QPushButton(name, parent)
        made.clicked.connect(lambda: log("clicked", name))
        return made

    class Window(w.QMainWindow):
        on_front = None

        def event(self, event):
            if event.type() == core.QEvent.Type.WindowActivate and self.on_front:
                self.on_front()
            return super().event(event)

    class Away(w.QPushButton):
        def enterEvent(self, event):
            self.setGeometry(20, 150, 200, 60)
            deletes.setGeometry(20, 20, 200, 60)
            super().enterEvent(event)

    window = Window()
    window.setWindowTitle(TITLE)
    window.resize(560, 420)
    if MODE == "windows":
        area = w.QMdiArea()
        window.setCentralWidget(area)
        documents = []
        for step, name in enumerate(("Delete", "Open")):
            documents.append(area.addSubWindow(button(name)))
            documents[step].setGeometry(20, 20, 300, 250)
        area.setActiveSubWindow(documents[0])
        core.QTimer.singleShot(200, lambda: area.setActiveSubWindow(documents[0]))
    elif MODE == "form":
        scrolled, inner = w.QScrollArea(), w.QWidget()
        form = w.QFormLayout(inner)
        for n in range(25):
            slider = w.QSlider(core.Qt.Orientation.Horizontal)
            slider.setValue(50)
            slider.valueChanged.connect(lambda value: log("changed", value))
            form.addRow(f"Level {n}", slider)
        form.addRow(button("Open"))
        scrolled.setWidget(inner)
        scrolled.setWidgetResizable(True)
        window.setCentralWidget(scrolled)
    elif MODE == "wide":
        scrolled, inner = w.QScrollArea(), w.QWidget()
        row = w.QHBoxLayout(inner)
        for name in (*(f"Item {n}" for n in range(12)), "Open", "Last"):
            row.addWidget(button(name))
        scrolled.setWidget(inner)
        window.setCentralWidget(scrolled)
    elif MODE == "rows":
        rows = w.QListWidget()
        rows.setSelectionMode(w.QAbstractItemView.SelectionMode.NoSelection)
        rows.itemClicked.connect(lambda item: log("clicked", item.text()))
        rows.addItems(("First", "Open"))
        window.setCentralWidget(rows)
    elif MODE == "row":
        rows = w.QListWidget()
        rows.itemPressed.connect(lambda item: log("clicked", item.text()))
        rows.addItems(("First", "Open"))
        holder = w.QWidget()
        w.QVBoxLayout(holder).addWidget(button("Delete"))
        rows.item(1).setSizeHint(holder.sizeHint())
        rows.setItemWidget(rows.item(1), holder)
        window.setCentralWidget(rows)
    else:
        opens = Away("Open", window) if MODE == "away" else button("Open", window)
        if MODE == "away":
            opens.clicked.connect(lambda: log("clicked Open"))
        opens.setGeometry(20, 20, 200, 60)
        if MODE == "mask":
            gui = import_module(f"{module}.QtGui")
            opens.setMask(gui.QRegion(0, 0, 40, 60))
        deletes = button("Delete", window)
        deletes.setGeometry(20, 150, 200, 60)
        if MODE == "toast":
            deletes.setGeometry(0, 0, 560, 200)
            deletes.hide()
            window.on_front = deletes.show
    window.show()
    core.QTimer.singleShot(600, lambda: log("ready"))
    app.exec()


qt({"qt5": "PyQt5", "qt6": "PyQt6"}[KIT]) if KIT.startswith("qt") else gtk()
