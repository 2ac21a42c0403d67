#!/usr/bin/python3
"""A Qt 5 window to be moved partly off the screen, and a box without a window manager's
frame that lies beside the screen, as tool bars that a program has put aside do.

Usage: aside.py LOG
"""

import sys

from PyQt5.QtCore import Qt
from PyQt5.QtWidgets import QApplication, QComboBox, QPushButton, QWidget

from log import log

app = QApplication(sys.argv)
window = QWidget()
window.setWindowTitle("Reaching")
for name, x in (("Far", 20), ("Near", 400)):
    button = QPushButton(name, window)
    button.setGeometry(x, 50, 120, 40)
    button.clicked.connect(lambda _, name=name: log("clicked", name))
window.resize(600, 200)
window.show()
aside = QWidget(window, Qt.ToolTip)
box = QComboBox(aside)
box.addItems(["Aside"])
box.setAccessibleName("Aside")
box.resize(150, 30)
aside.setGeometry(-666, -774, 200, 60)
aside.show()
log("ready")
app.exec()
