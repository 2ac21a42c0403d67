#!/usr/bin/python3
"""A Qt 6 window with a list of 200 rows, more than fit the window.

Usage: rows.py LOG
"""

import sys

from PyQt6.QtCore import QTimer
from PyQt6.QtWidgets import QApplication, QListWidget, QPushButton, QVBoxLayout, QWidget

from log import ROWS, log

app = QApplication(sys.argv[:1])
window = QWidget()
window.setWindowTitle("Many rows")
rows = QListWidget()
rows.setAccessibleName("Rows")
rows.addItems(ROWS)
rows.verticalScrollBar().valueChanged.connect(lambda value: log("scrolled", "Rows", value))


def insert(row, text):
    rows.insertItem(row, text)
    log("inserted", text)


add = QPushButton("Add")
add.clicked.connect(lambda: insert(0, "Row of mine"))
end = QPushButton("Append")
end.clicked.connect(lambda: insert(rows.count(), "Row at the end"))
box = QVBoxLayout(window)
for part in (add, end, rows):
    box.addWidget(part)
window.resize(360, 400)
window.show()
QTimer.singleShot(0, lambda: log("ready"))
sys.exit(app.exec())
