#!/usr/bin/python3
"""A Qt 5 dialog whose fields make something of their own of a text, and whose Save button takes its time.

Usage: fields.py LOG
"""

import sys

from PyQt5.QtCore import QTimer
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
"""For so many milliseconds after the name has changed Save is disabled."""


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
stuck = named(QCheckBox("Stuck"), "Stuck")
stuck.toggled.connect(lambda on: on and QTimer.singleShot(0, lambda: stuck.setChecked(False)))

save = QPushButton("Save", default=True, enabled=False)
save.clicked.connect(lambda: log("saved", name.text(), city.text()))
form.addRow(save)
looking = QTimer(singleShot=True)
looking.timeout.connect(lambda: save.setEnabled(True))
name.textChanged.connect(changed)
for field in (name, code, day, city):
    field.textChanged.connect(lambda text, field=field: log("text", field.accessibleName(), text))

dialog.resize(400, 300)
dialog.finished.connect(app.quit)
dialog.show()
QTimer.singleShot(0, lambda: log("ready"))
app.exec()
