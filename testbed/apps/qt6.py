#!/usr/bin/python3
"""The window of qt5.py in Qt 6: by PySide where there is no PyQt.

Usage: qt6.py LOG [--hostile]
"""

import importlib
import importlib.util
import sys

QT = "PyQt6" if importlib.util.find_spec("PyQt6") else "PySide6"
sys.modules["PyQt5"] = importlib.import_module(QT)
for part in ("QtCore", "QtGui", "QtWidgets"):
    sys.modules[f"PyQt5.{part}"] = importlib.import_module(f"{QT}.{part}")

import qt5
