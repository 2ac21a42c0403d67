#!/usr/bin/python3
"""A Qt 5 dialog whose fields change a typed text, and whose Save button is enabled late.
Some buttons have names with invisible marks, and the price is German.

Usage: fields.py LOG
"""

import sys

from PyQt5.QtCore import QLocale, QTimer
from PyQt5.QtWidgets import (
    QApplication,
    QCheckBox,
    QCompleter,
    QDialog,
    QDoubleSpinBox,
    QFormLayout,
    QLineEdit,
    QPushButton,
)

from log import log

LOOKS_UP = 250
"""For this many milliseconds after the name has changed, Save is disabled."""


NAMES = ["\u2066 5\u2069", "Speichern\u00a0unter\u2026", "Co\u00adoperate", "a\u200bb"]
"""Bidi isolates, a no-break space and an ellipsis, a soft hyphen, a zero-width space."""


def named(widget, name):
    widget.setAccessibleName(name)
    form.addRow(name, widget)
    return widget


def changed(text):
    save.setEnabled(False)
    looking.start(LOOKS_UP)


app = QApplication(sys.argv[:1])
dialog = QDialog(windowTitle="Fields")
form = QFormLayout(dialog)

name = named(QLineEdit(), "Name")
code = named(QLineEdit(maxLength=5), "Code")
day = named(QLineEdit(), "Day")
day.setInputMask("0000-00-00")
city = named(QLineEdit(), "City")
city.setCompleter(QCompleter(["London", "Londonderry", "Lisbon"]))
price = named(QDoubleSpinBox(maximum=100), "Price")
price.setLocale(QLocale("de_DE"))
price.valueChanged.connect(lambda value: log("value", value))
stuck = named(QCheckBox("Stuck"), "Stuck")
stuck.toggled.connect(lambda on: on and QTimer.singleShot(0, lambda: stuck.setChecked(False)))

for number, text in enumerate(NAMES):
    button = QPushButton(text)
    button.clicked.connect(lambda _, number=number: log("pressed", number))
    form.addRow(button)
save = QPushButton("Save", default=True, enabled=False)
save.clicked.connect(lambda: log("saved", name.text(), city.text()))
form.addRow(save)
looking = QTimer(singleShot=True)
looking.timeout.connect(lambda: save.setEnabled(True))
name.textChanged.connect(changed)
for field in (name, code, day, city):
    field.textChanged.connect(lambda text, field=field: log("text", field.accessibleName(), text))

dialog.resize(400, 400)
dialog.finished.connect(app.quit)
dialog.show()
QTimer.singleShot(0, lambda: log("ready"))
app.exec()
