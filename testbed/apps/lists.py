#!/usr/bin/python3
"""A window with two lists whose rows are dragged and dropped, and which log the dropped rows: GTK 4 or Qt 6.

Usage: lists.py LOG gtk4|qt6 [TITLE WIDTH]
"""

import sys

from log import log

TITLE = sys.argv[3] if len(sys.argv) > 3 else "Lists"
WIDTH = int(sys.argv[4]) if len(sys.argv) > 4 else 420
ROWS = {"From": ["Apple", "Pear", "Plum"], "To": ["Nuts"]}


def gtk4():
    import gi

    gi.require_version("Gtk", "4.0")
    gi.require_version("Gdk", "4.0")
    from gi.repository import Gdk, GLib, GObject, Gtk

    def row(text):
        label = Gtk.Label(label=text)
        source = Gtk.DragSource()
        value = GObject.Value(GObject.TYPE_STRING, text)
        source.connect("prepare", lambda *_: Gdk.ContentProvider.new_for_value(value))
        label.add_controller(source)
        return label

    window = Gtk.Window(title=TITLE, default_width=WIDTH, default_height=300)
    box = Gtk.Box()
    for name, texts in ROWS.items():
        rows = Gtk.ListBox(hexpand=True)
        rows.update_property([Gtk.AccessibleProperty.LABEL], [name])
        for text in texts:
            rows.append(row(text))
        target = Gtk.DropTarget.new(GObject.TYPE_STRING, Gdk.DragAction.COPY)

        def drop(_, text, x, y, name=name, rows=rows):
            rows.append(row(text))
            log("dropped", text, "on", name)
            return True

        target.connect("drop", drop)
        rows.add_controller(target)
        box.append(rows)
    window.set_child(box)
    loop = GLib.MainLoop()
    window.connect("close-request", lambda *_: loop.quit())
    window.present()
    log("ready")
    loop.run()


def qt6():
    from PyQt6.QtCore import QTimer
    from PyQt6.QtWidgets import QApplication, QHBoxLayout, QListWidget, QWidget

    class Rows(QListWidget):
        def dragEnterEvent(self, event):
            event.acceptProposedAction()

        def dragMoveEvent(self, event):
            # The list accepts only rows of its own kind.
            if not event.source():
                event.acceptProposedAction()
            else:
                super().dragMoveEvent(event)

        def dropEvent(self, event):
            rows = event.source()
            text = rows.currentItem().text() if rows else event.mimeData().text()
            if rows:
                super().dropEvent(event)
            else:
                self.addItem(text)
                event.acceptProposedAction()
            log("dropped", text, "on", self.accessibleName())

    app = QApplication(sys.argv[:1])
    window = QWidget()
    window.setWindowTitle(TITLE)
    box = QHBoxLayout(window)
    for name, texts in ROWS.items():
        rows = Rows()
        rows.setAccessibleName(name)
        rows.addItems(texts)
        rows.setDragEnabled(True)
        rows.setAcceptDrops(True)
        box.addWidget(rows)
    window.resize(WIDTH, 300)
    window.show()
    QTimer.singleShot(0, lambda: log("ready"))
    app.exec()


{"gtk4": gtk4, "qt6": qt6}[sys.argv[2]]()
