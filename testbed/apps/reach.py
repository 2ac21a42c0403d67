"""Windows with one control that the keyboard or a screen reader does not get: reach.py gtk|qt."""

import sys

if sys.argv[1] == "gtk":
    import gi

    gi.require_version("Atk", "1.0")
    gi.require_version("Gtk", "3.0")
    from gi.repository import Atk, Gtk

    window = Gtk.Window(title="Reach")
    window.connect("destroy", Gtk.main_quit)
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=6)
    # By its key.
    keyed = Gtk.Button(label="_Keyed", use_underline=True, can_focus=False)
    fault = Gtk.Button(label="Open")
    fault.get_accessible().set_role(Atk.Role.LABEL)
    link = Gtk.Label(label='A <a href="about:blank">link</a>', use_markup=True)
    for part in (Gtk.Button(label="Save"), keyed, fault, link):
        box.add(part)
    window.add(box)
    window.show_all()
    Gtk.main()
else:
    from PyQt5.QtCore import Qt
    from PyQt5.QtWidgets import QApplication, QCheckBox, QPushButton, QVBoxLayout, QWidget

    app = QApplication(sys.argv)
    window = QWidget()
    window.setWindowTitle("Reach")
    layout = QVBoxLayout(window)
    keyed, fault = QPushButton("&Keyed"), QPushButton("Open")
    for part in (keyed, fault):
        part.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    for part in (QPushButton("Save"), QCheckBox("Wrap"), keyed, fault):
        layout.addWidget(part)
    window.show()
    app.exec()
