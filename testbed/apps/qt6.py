#!/usr/bin/python3
"""The window of qt5.py in Qt 6.

Usage: qt6.py LOG [--hostile]
"""

import importlib
import sys

sys.modules["PyQt5"] = importlib.import_module("PyQt6")
for part in ("QtCore", "QtGui", "QtWidgets"):
    sys.modules[f"PyQt5.{part}"] = importlib.import_module(f"PyQt6.{part}")

import qt5
