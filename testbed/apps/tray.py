#!/usr/bin/python3
"""An app without a window: an item of the tray with a menu, and a log of what is chosen. Qt 5, or
Qt 6 where there is no Qt 5.

Usage: tray.py LOG
"""

import sys

try:
    from PyQt5.QtGui import QIcon, QPixmap
    from PyQt5.QtWidgets import QApplication, QMenu, QSystemTrayIcon
except ImportError:
    from PyQt6.QtGui import QIcon, QPixmap
    from PyQt6.QtWidgets import QApplication, QMenu, QSystemTrayIcon

from log import log

CLICK = QSystemTrayIcon.ActivationReason.Trigger

app = QApplication(sys.argv[:1])
app.setQuitOnLastWindowClosed(False)
app.setApplicationDisplayName("Mail")
picture = QPixmap(22, 22)
picture.fill()
tray = QSystemTrayIcon(QIcon(picture))
tray.setToolTip("Mail")
menu = QMenu()
write = menu.addMenu("&Write to")
for name in ("Ada", "Bob"):
    write.addAction(f"Write to {name}").triggered.connect(lambda *_, name=name: log(name))
mute = menu.addAction("&Mute")
mute.setCheckable(True)
mute.setChecked(True)
mute.toggled.connect(lambda on: log("mute", str(on)))
menu.addSeparator()
menu.addAction("Never").setEnabled(False)
tray.setContextMenu(menu)
tray.activated.connect(lambda why: log("activated") if why == CLICK else None)
tray.show()
log("ready" if tray.isSystemTrayAvailable() else "no tray")
app.exec()
