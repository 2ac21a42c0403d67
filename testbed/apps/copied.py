"""The data that the person has copied on Wayland: a text, HTML, a picture of 1 MB and data of a
type of its own."""

import hashlib

NOISE = b"".join(hashlib.sha256(str(n).encode()).digest() for n in range(1 << 15))
COPIED = {
    "text/plain;charset=utf-8": "The person's \u201etext\u201c, \U0001f600".encode(),
    "text/html": b"<b>The person's</b>",
    "image/png": NOISE,
    "application/x-own": bytes(range(256)),
    "x-kde-passwordManagerHint": b"secret",
}


def show(kind, data):
    """A line: the type, the length and the hash."""
    print(kind, len(data), hashlib.sha256(data).hexdigest()[:16], flush=True)
