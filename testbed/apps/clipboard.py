#!/usr/bin/python3
"""The person's clipboard. `copy` puts a text, HTML, a picture and data of a type of its own on it,
prints "ready" and serves it until another owner comes. `show` prints its content: one line per
type, with its length and its hash."""

import hashlib
import sys

if sys.argv[1] == "copy":
    from PyQt5.QtCore import QMimeData, QByteArray
    from PyQt5.QtGui import QImage
    from PyQt5.QtWidgets import QApplication

    app = QApplication(sys.argv)
    # Noise does not compress: the picture is larger than one property of the X server may be.
    noise = b"".join(hashlib.sha256(str(n).encode()).digest() for n in range(640 * 480 * 4 // 32))
    data = QMimeData()
    data.setText("The person's \u201etext\u201c, \U0001f600")
    data.setHtml("<b>The person's</b>")
    data.setImageData(QImage(noise, 640, 480, QImage.Format_RGB32))
    data.setData("application/x-own", QByteArray(bytes(range(256))))
    data.setData("x-kde-passwordManagerHint", QByteArray(b"secret"))
    board = app.clipboard()
    board.setMimeData(data)
    board.changed.connect(lambda _: None if board.ownsClipboard() else app.quit())
    print("ready", flush=True)
    app.exec()
else:
    import gi

    gi.require_version("Gdk", "3.0")
    gi.require_version("Gtk", "3.0")
    from gi.repository import Gdk, Gtk

    board = Gtk.Clipboard.get(Gdk.SELECTION_CLIPBOARD)
    _, targets = board.wait_for_targets()
    for target in sorted(atom.name() for atom in targets or []):
        if target in ("TARGETS", "MULTIPLE", "TIMESTAMP", "SAVE_TARGETS"):
            continue
        content = board.wait_for_contents(Gdk.Atom.intern(target, False))
        data = content.get_data() if content else b""
        # Qt also lists types that it does not have.
        if not data:
            continue
        print(target, len(data), hashlib.sha256(data).hexdigest()[:16])
