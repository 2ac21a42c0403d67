#!/usr/bin/python3
"""A window in which a panel lies over buttons: "Whole" is covered, "Part" in part, "Free" is not.
Below are what opens and closes and a number field, in a left-to-right or right-to-left window.

Usage: covers.py LOG gtk3|gtk4|qt5|qt6 [rtl] [all]

With "all" it also logs where the pointer comes to, presses and turns the wheel.
"""

import sys

from log import log

KIT = sys.argv[2]
RTL = "rtl" in sys.argv[3:]
ALL = "all" in sys.argv[3:]
TITLE = f"Covers {KIT}"


GTK3_EVENTS = (
    ("enter-notify-event", "over"),
    ("button-press-event", "pressed"),
    ("scroll-event", "turned"),
)


def gtk3():
    import gi

    gi.require_version("Gdk", "3.0")
    gi.require_version("Gtk", "3.0")
    from gi.repository import Gdk, Gtk

    if RTL:
        Gtk.Widget.set_default_direction(Gtk.TextDirection.RTL)
    window = Gtk.Window(title=TITLE, default_width=400, default_height=400)
    overlay = Gtk.Overlay()
    column = Gtk.VBox()

    def tells(button):
        if ALL:
            button.add_events(Gdk.EventMask.SCROLL_MASK | Gdk.EventMask.SMOOTH_SCROLL_MASK)
            name = button.get_label()
            for signal, word in GTK3_EVENTS:
                button.connect(signal, lambda *_, word=word: log(word, name))

    for name in ("Whole", "Part", "Free"):
        button = Gtk.Button(label=name, height_request=60)
        tells(button)
        button.connect("clicked", lambda b: log("clicked", b.get_label()))
        column.pack_start(button, False, False, 0)
    details = Gtk.Expander(label="Details")
    details.add(Gtk.Label(label="inner text of some length"))
    details.connect("notify::expanded", lambda *_: log("details", details.get_expanded()))
    number = Gtk.SpinButton.new_with_range(0, 100, 1)
    number.set_value(50)
    number.set_width_chars(3)
    number.set_halign(Gtk.Align.START)
    number.get_accessible().set_name("Amount")
    number.connect("value-changed", lambda s: log("amount", int(s.get_value())))
    number.connect("focus-in-event", lambda *_: log("in amount"))
    for widget in (details, number):
        column.pack_start(widget, False, False, 6)
    overlay.add(column)
    panel = Gtk.Button(label="Undo", valign=Gtk.Align.START, height_request=90)
    tells(panel)
    panel.connect("clicked", lambda b: log("clicked Undo"))
    overlay.add_overlay(panel)
    window.add(overlay)
    window.connect("destroy", Gtk.main_quit)
    window.show_all()
    log("ready")
    Gtk.main()


def gtk4():
    import gi

    gi.require_version("Gtk", "4.0")
    from gi.repository import Gtk

    def start(app):
        if RTL:
            Gtk.Widget.set_default_direction(Gtk.TextDirection.RTL)
        window = Gtk.ApplicationWindow(application=app, title=TITLE)
        window.set_default_size(400, 400)
        overlay = Gtk.Overlay()
        column = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)

        def tells(button):
            if not ALL:
                return
            name = button.get_label()
            motion = Gtk.EventControllerMotion()
            motion.connect("enter", lambda *_: log("over", name))
            wheel = Gtk.EventControllerScroll(flags=Gtk.EventControllerScrollFlags.BOTH_AXES)
            wheel.connect("scroll", lambda *_: log("turned", name))
            press = Gtk.GestureClick(button=0, propagation_phase=Gtk.PropagationPhase.CAPTURE)
            press.connect("pressed", lambda *_: log("pressed", name))
            for controller in (motion, wheel, press):
                button.add_controller(controller)

        for name in ("Whole", "Part", "Free"):
            button = Gtk.Button(label=name, height_request=60)
            tells(button)
            button.connect("clicked", lambda b: log("clicked", b.get_label()))
            column.append(button)
        details = Gtk.Expander(label="Details", child=Gtk.Label(label="inner text"))
        details.connect("notify::expanded", lambda *_: log("details", details.get_expanded()))
        number = Gtk.SpinButton.new_with_range(0, 100, 1)
        number.set_value(50)
        number.set_width_chars(3)
        number.set_halign(Gtk.Align.START)
        number.update_property([Gtk.AccessibleProperty.LABEL], ["Amount"])
        number.connect("value-changed", lambda s: log("amount", int(s.get_value())))
        for widget in (details, number):
            column.append(widget)
        overlay.set_child(column)
        panel = Gtk.Button(label="Undo", valign=Gtk.Align.START, height_request=90)
        tells(panel)
        panel.connect("clicked", lambda b: log("clicked Undo"))
        overlay.add_overlay(panel)
        window.set_child(overlay)
        window.present()
        log("ready")

    app = Gtk.Application(application_id="org.example.Covers")
    app.connect("activate", start)
    app.run()


def qt(module):
    from importlib import import_module

    core = import_module(f"{module}.QtCore")
    w = import_module(f"{module}.QtWidgets")
    app = w.QApplication(sys.argv[:1])

    class Tells(core.QObject):
        def eventFilter(self, widget, event):
            kind = core.QEvent.Type
            words = {kind.Enter: "over", kind.MouseButtonPress: "pressed", kind.Wheel: "turned"}
            if ALL and event.type() in words:
                log(words[event.type()], widget.text())
            return False

    tells = Tells()
    if RTL:
        app.setLayoutDirection(core.Qt.LayoutDirection.RightToLeft)
    window = w.QWidget()
    window.setWindowTitle(TITLE)
    window.resize(400, 400)
    for row, name in enumerate(("Whole", "Part", "Free")):
        button = w.QPushButton(name, window)
        button.setGeometry(0, row * 60, 400, 60)
        button.installEventFilter(tells)
        button.clicked.connect(lambda _, name=name: log("clicked", name))
    below = w.QWidget(window)
    below.setGeometry(0, 190, 400, 200)
    column = w.QVBoxLayout(below)
    details = w.QGroupBox("Details")
    details.setCheckable(True)
    details.setChecked(False)
    details.toggled.connect(lambda on: log("details", on))
    w.QVBoxLayout(details).addWidget(w.QLabel("inner text of some length"))
    column.addWidget(details)
    number = w.QSpinBox()
    number.setValue(50)
    number.setMaximumWidth(60)
    number.setAccessibleName("Amount")
    number.valueChanged.connect(lambda value: log("amount", value))
    column.addWidget(number)
    panel = w.QLabel("Undo", window)
    panel.setGeometry(0, 0, 400, 90)
    panel.installEventFilter(tells)
    panel.mousePressEvent = lambda event: log("clicked Undo")
    window.show()
    log("ready")
    app.exec()


{"gtk3": gtk3, "gtk4": gtk4, "qt5": lambda: qt("PyQt5"), "qt6": lambda: qt("PyQt6")}[KIT]()
