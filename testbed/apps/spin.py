#!/usr/bin/python3
"""Two spin buttons in the user's language: "Amount" from 0 to 100 with one decimal, and "Share", a percentage.
The log has their values.

Usage: spin.py LOG TOOLKIT

TOOLKIT is gtk3, gtk4, qt5 or qt6. GTK's share is 0.1 and shows "10 %", Qt's is 10.
"""

import locale
import sys

from log import log

TOOLKIT = sys.argv[2]


def gtk(version):
    import gi

    gi.require_version("Gtk", version)
    from gi.repository import GLib, Gtk

    three = version == "3.0"
    locale.setlocale(locale.LC_ALL, "")
    amount = Gtk.SpinButton.new_with_range(0, 100, 0.5)
    amount.set_digits(1)
    share = Gtk.SpinButton.new_with_range(0, 1, 0.01)
    # The field accepts more than digits.
    share.set_numeric(False)

    def shown(spin):
        spin.set_text(f"{round(100 * spin.get_value())} %")
        return True

    share.connect("output", shown)
    share.set_value(0.1)
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
    for name, spin in (("Amount", amount), ("Share", share)):
        if three:
            spin.get_accessible().set_name(name)
            box.add(spin)
        else:
            spin.update_property([Gtk.AccessibleProperty.LABEL], [name])
            box.append(spin)
        spin.connect("value-changed", lambda s, name=name: log(name, round(s.get_value(), 2)))
    window = Gtk.Window(title="Spin")
    window.add(box) if three else window.set_child(box)
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
    window.setWindowTitle("Spin")
    box = w.QVBoxLayout(window)
    for name, decimals in (("Amount", 1), ("Share", 0)):
        spin = w.QDoubleSpinBox()
        spin.setAccessibleName(name)
        spin.setDecimals(decimals)
        if name == "Share":
            spin.setSuffix(" %")
            spin.setValue(10)
        spin.valueChanged.connect(lambda value, name=name: log(name, value))
        box.addWidget(spin)
    window.show()
    log("ready")
    app.exec()


if TOOLKIT.startswith("gtk"):
    gtk(f"{TOOLKIT[3]}.0")
else:
    qt(int(TOOLKIT[2]))
