#!/usr/bin/python3
"""A Qt 6 window: a menu, tabs, a list, a table, a button and a field. They show the effects of actions."""

import sys

from PyQt6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QListWidget,
    QMainWindow,
    QPlainTextEdit,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

app = QApplication(sys.argv)
window = QMainWindow()
window.setWindowTitle("Orchard, Qt 6")
window.menuBar().addMenu("&File").addAction("&Quit").triggered.connect(window.close)
told = QLabel("Nothing yet")
button = QPushButton("&Press me")
button.clicked.connect(lambda: told.setText("It was pressed"))
label = QLabel("Name")
name = QLineEdit()
label.setBuddy(name)
name.textChanged.connect(lambda text: told.setText(f"Hello {text}"))
fruit = QListWidget()
fruit.addItems(["Apples", "Pears", "Plums"] + [f"Quince {n}" for n in range(100)])
size = QComboBox()
size.addItems(["Small", "Medium", "Large"])
table = QTableWidget(2, 2)
table.setHorizontalHeaderLabels(["Tree", "Crates"])
for row, words in enumerate([("Plum", "12"), ("Pear", "7")]):
    for column, word in enumerate(words):
        table.setItem(row, column, QTableWidgetItem(word))
note = QPlainTextEdit("Two lines\nof a note")
first = QWidget()
layout = QVBoxLayout(first)
for part in (button, told, label, name, QCheckBox("Wrap"), size, fruit, table, note):
    layout.addWidget(part)
tabs = QTabWidget()
tabs.addTab(first, "First")
tabs.addTab(QLabel("On the second tab"), "Second")
window.setCentralWidget(tabs)
window.statusBar().showMessage("All is well")
window.resize(500, 800)
window.show()
sys.exit(app.exec())
