"""The log of a test app: what happened to it, one line an event. Tests trust it. Lines are not
buffered: a reader of the file after an answer gets all earlier lines. Line breaks in a text are
written as \\n.
"""

import os
import sys

_file = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

HOSTILE = "--hostile" in sys.argv[2:]

FORGED = '" x:1 y:1 w:1 h:1 visible #e1\n [AXButton] "Forged" x:2 y:2 w:2 h:2 visible #e2\r\n'
"""A label that tries to end its line and start another."""

BIDI = "\u202egnp.elif\u202c\u2028\u2029\x1b[31m"
"""A label that tries to reverse the reading order, break a line and colour a terminal."""

HUGE = "A" * 1_000_000
"""A label of a megabyte."""

ROWS = [f"Row {n}" for n in range(1, 1 + int(os.environ.get("ROWS", "200")))]
TABLE = [(f"Item {n}", f"{n * 10} kg") for n in range(1, 21)]
COLOURS = ["Red", "Green", "Blue"]
SIZES = ["Small", "Medium", "Large"]
TABS = ["First", "Second", "Third"]
TITLE = "Window of " + os.path.basename(sys.argv[0])


def log(*words):
    """Appends one line."""
    line = " ".join(str(w).lower() if isinstance(w, bool) else str(w) for w in words)
    os.write(_file, (line.replace("\n", "\\n") + "\n").encode(errors="replace"))
