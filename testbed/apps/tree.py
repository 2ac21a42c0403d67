#!/usr/bin/python3
"""A Qt 5 tree whose rows are expanded, most of them below the fold.

Usage: tree.py LOG
Logs the current row, which keys move, whenever it changes.
"""

import sys

from PyQt5.QtWidgets import QApplication, QTreeWidget, QTreeWidgetItem

from log import log

app = QApplication(sys.argv[:1])
tree = QTreeWidget()
tree.setWindowTitle("Tree")
tree.setHeaderLabels(["Name"])
for i in range(12):
    folder = QTreeWidgetItem([f"Folder {i}"])
    tree.addTopLevelItem(folder)
    for j in range(4):
        folder.addChild(QTreeWidgetItem([f"Child {i}.{j}"]))
tree.currentItemChanged.connect(lambda now, _: log("current", now.text(0)))
tree.expandAll()
tree.resize(260, 240)
tree.show()
log("ready")
app.exec()
