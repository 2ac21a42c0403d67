#!/usr/bin/python3
"""A Qt 5 window with one of each widget, and a log of their events.

Usage: qt5.py LOG [--hostile]
"""

import sys
import time

from PyQt5.QtCore import QEvent, QObject, Qt, QTimer
from PyQt5.QtGui import QKeySequence, QWindow
from PyQt5.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QMainWindow,
    QMessageBox,
    QPlainTextEdit,
    QPushButton,
    QRadioButton,
    QSlider,
    QSpinBox,
    QTableWidget,
    QTableWidgetItem,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from log import BIDI, COLOURS, FORGED, HOSTILE, HUGE, ROWS, SIZES, TABLE, TABS, TITLE, log


def named(widget, name):
    widget.setAccessibleName(name)
    return widget


def button(label, clicked):
    made = QPushButton(label)
    made.clicked.connect(lambda: (log("clicked", label), clicked and clicked()))
    return made


def filled(layout, *parts):
    for part in parts:
        if isinstance(part, QWidget):
            layout.addWidget(part)
        else:
            layout.addLayout(part)
    return layout


class Keys(QObject):
    """Logs each key once, before a window gets it."""

    def eventFilter(self, target, event):
        if event.type() == QEvent.Type.KeyPress and isinstance(target, QWindow):
            held = [
                name
                for name, mask in (
                    ("Control", Qt.KeyboardModifier.ControlModifier),
                    ("Alt", Qt.KeyboardModifier.AltModifier),
                    ("Shift", Qt.KeyboardModifier.ShiftModifier),
                )
                if event.modifiers() & mask
            ]
            log("key", "+".join([*held, QKeySequence(event.key()).toString() or "?"]))
        return False


class Pad(QLabel):
    """Logs the mouse's events on it."""

    def mousePressEvent(self, event):
        log("pad press", self.number(event))

    def mouseDoubleClickEvent(self, event):
        log("pad double", self.number(event))

    def mouseReleaseEvent(self, event):
        log("pad release", self.number(event))

    def wheelEvent(self, event):
        log("pad scroll", "down" if event.angleDelta().y() < 0 else "up")

    @staticmethod
    def number(event):
        return {Qt.MouseButton.LeftButton: 1, Qt.MouseButton.MiddleButton: 2, Qt.MouseButton.RightButton: 3}[event.button()]


def menus(window):
    for title, items in (("File", ["New", "Close"]), ("Edit", ["Copy all", "More"])):
        menu = window.menuBar().addMenu(title)
        for label in items:
            if label == "More":
                menu.addMenu("More").addAction("Deep").triggered.connect(
                    lambda: log("menu", "Deep")
                )
            else:
                menu.addAction(label).triggered.connect(lambda _, label=label: log("menu", label))
        option = menu.addAction(f"{title} option")
        option.setCheckable(True)
        option.toggled.connect(lambda on, label=option.text(): log("menu", label, on))


def ask(window):
    answer = QMessageBox.question(window, "Question", "Really?")
    log("answered", "Yes" if answer == QMessageBox.StandardButton.Yes else "No")


def form(window):
    box = QVBoxLayout()
    status = QLabel("idle")

    def appear():
        box.addWidget(QLabel("Here I am"))
        log("late")

    timer = QTimer(window)
    ticks = []

    def tick():
        ticks.append(None)
        status.setText(f"tick {len(ticks)}")

    timer.timeout.connect(tick)
    disabled = button("Never", None)
    disabled.setEnabled(False)
    buttons = filled(
        QHBoxLayout(),
        button("OK", None),
        button("Ask", lambda: ask(window)),
        button("Late", lambda: QTimer.singleShot(1000, appear)),
        button("Hang", lambda: time.sleep(5)),
        disabled,
    )

    bold = QPushButton("Bold")
    bold.setCheckable(True)
    bold.toggled.connect(lambda on: log("toggled", "Bold", on))
    wrap = QCheckBox("Wrap")
    wrap.toggled.connect(lambda on: log("checked", "Wrap", on))
    clock = QCheckBox("Ticking")
    clock.toggled.connect(lambda on: timer.start(50) if on else timer.stop())
    toggles = filled(QHBoxLayout(), bold, wrap, clock, status)

    choices = QHBoxLayout()
    for colour in COLOURS:
        radio = QRadioButton(colour)
        radio.setChecked(colour == COLOURS[0])
        radio.toggled.connect(lambda on, c=colour: on and log("chose", c))
        choices.addWidget(radio)
    combo = named(QComboBox(), "Size")
    combo.addItems(SIZES)
    combo.currentTextChanged.connect(lambda text: log("combo", text))
    choices.addWidget(combo)

    slider = named(QSlider(Qt.Orientation.Horizontal), "Volume")
    slider.setRange(0, 100)
    slider.valueChanged.connect(lambda value: log("value", "Volume", value))
    spin = named(QSpinBox(), "Count")
    spin.setRange(0, 100)
    spin.valueChanged.connect(lambda value: log("value", "Count", value))
    name = named(QLineEdit(), "Name")
    name.textChanged.connect(lambda text: log("text", "Name", text))
    name.returnPressed.connect(lambda: log("activated", "Name"))
    secret = named(QLineEdit(), "Secret")
    secret.setEchoMode(QLineEdit.EchoMode.Password)
    secret.textChanged.connect(lambda text: log("text", "Secret", text))
    notes = named(QPlainTextEdit(), "Notes")
    notes.setFixedHeight(70)
    notes.textChanged.connect(lambda: log("text", "Notes", notes.toPlainText()))
    pad = named(Pad("Pad"), "Pad")
    pad.setFixedSize(160, 60)
    filled(box, buttons, toggles, choices, slider, spin, name, secret, notes, pad)
    if HOSTILE:
        for text in (FORGED, BIDI):
            box.addWidget(QPushButton(text))
        box.addWidget(named(button("Huge", None), HUGE))
    box.addStretch()
    return box


def lists():
    rows = named(QListWidget(), "Rows")
    rows.addItems(ROWS)
    rows.itemSelectionChanged.connect(
        lambda: [log("selected", item.text()) for item in rows.selectedItems()]
    )
    rows.itemActivated.connect(lambda item: log("activated", item.text()))
    rows.verticalScrollBar().valueChanged.connect(lambda value: log("scrolled", "Rows", value))
    rows.setFixedWidth(210)
    table = named(QTableWidget(len(TABLE), 2), "Items")
    table.setHorizontalHeaderLabels(["Name", "Weight"])
    table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
    table.setSelectionBehavior(QTableWidget.SelectionBehavior.SelectRows)
    table.setSelectionMode(QTableWidget.SelectionMode.SingleSelection)
    for at, row in enumerate(TABLE):
        for column, text in enumerate(row):
            table.setItem(at, column, QTableWidgetItem(text))

    def picked():
        items = table.selectedItems()
        if items:
            log("picked", table.item(items[0].row(), 0).text())

    table.itemSelectionChanged.connect(picked)
    table.itemDoubleClicked.connect(lambda item: log("opened", table.item(item.row(), 0).text()))
    table.setFixedSize(210, 160)
    return filled(QVBoxLayout(), rows, table)


def tabs():
    book = QTabWidget()
    for title in TABS:
        book.addTab(QLabel(f"Page {title}"), title)
    book.currentChanged.connect(lambda n: log("tab", TABS[n]))
    book.setFixedSize(200, 120)
    return filled(QVBoxLayout(), book)


class Window(QMainWindow):
    """The app's only window."""

    def closeEvent(self, event):
        log("closed")


app = QApplication(sys.argv[:1])
keys = Keys()
app.installEventFilter(keys)
window = Window()
window.setWindowTitle(BIDI + FORGED if HOSTILE else TITLE)
menus(window)
whole = QWidget()
whole.setLayout(filled(QHBoxLayout(), form(window), lists(), tabs()))
window.setCentralWidget(whole)
window.resize(720, 540)
window.show()
QTimer.singleShot(0, lambda: log("ready"))
sys.exit(app.exec())
