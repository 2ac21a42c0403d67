"""A person's keyboard and mouse on the compositor named by the argument. Each line is a key's code,
which is pressed and released; a code and 1 or 0, which goes down or up, keys and buttons alike; or 0
and a place of the pointer. What is pressed and moved is written to a device too, as the kernel does, if
there is one. Prints "ready" when they exist."""

import contextlib
import os
import struct
import sys

SHIFT = 42  # KEY_LEFTSHIFT
BUTTON = 0x110  # BTN_LEFT
DEVICE = "/dev/input/event0"


def kind(code, of_button, of_key):
    return of_button if code >= BUTTON else of_key


def on_gnome():
    from gi.repository import Gio, GLib

    name = "org.gnome.Mutter.RemoteDesktop"
    bus = Gio.bus_get_sync(Gio.BusType.SESSION)

    def call(path, interface, method, args=None):
        flags = Gio.DBusCallFlags.NONE
        return bus.call_sync(name, path, interface, method, args, None, flags, -1, None).unpack()

    (session,) = call("/org/gnome/Mutter/RemoteDesktop", name, "CreateSession")
    of = name + ".Session"
    call(session, of, "Start")

    def press(code, down):
        what, types = kind(code, ("PointerButton", "(ib)"), ("KeyboardKeycode", "(ub)"))
        call(session, of, "Notify" + what, GLib.Variant(types, (code, down)))

    def point(x, y):
        # From the lower right corner, where nothing opens.
        for by in ((9999, 9999), (x - 1599, y - 899)):
            call(session, of, "NotifyPointerMotionRelative", GLib.Variant("(dd)", by))

    # Apps bind the keyboard when it appears, and lose earlier keys.
    for down in (True, False):
        press(SHIFT, down)
    return press, point


def on_kwin(wayland):
    fake = wayland.bind("org_kde_kwin_fake_input", 4)
    wayland.send(fake, 0, struct.pack("<I4sI4s", 2, b"p", 2, b"p"))

    def point(x, y):
        wayland.send(fake, 9, struct.pack("<II", x << 8, y << 8))

    return lambda code, down: wayland.send(fake, kind(code, 2, 10), struct.pack("<II", code, down)), point


def on_wlroots(wayland):
    from keyboard import keyboard

    board, manager = keyboard(wayland), wayland.bind("zwlr_virtual_pointer_manager_v1")
    mouse = wayland.new()
    wayland.send(manager, 0, struct.pack("<II", 0, mouse))

    def press(code, down):
        wayland.send(kind(code, mouse, board), kind(code, 2, 1), struct.pack("<III", 0, code, down))
        if code == SHIFT:
            wayland.send(board, 2, struct.pack("<IIII", down, 0, 0, 0))
        wayland.send(mouse, 4, b"")

    def point(x, y):
        wayland.send(mouse, 1, struct.pack("<IIIII", 0, x, y, 1600, 900))
        wayland.send(mouse, 4, b"")

    return press, point


if sys.argv[1] == "gnome":
    press, point = on_gnome()
else:
    from wayland import Wayland

    wayland = Wayland()
    press, point = (on_kwin if sys.argv[1] == "kwin" else on_wlroots)(wayland)
    wayland.sync()
    wayland.socket.settimeout(None)
device = os.open(DEVICE, os.O_RDWR | os.O_NONBLOCK) if os.path.exists(DEVICE) else None
at = (0, 0)


def note(kind, code, value):
    if device is not None:
        # What nobody reads is lost once the device is full.
        with contextlib.suppress(BlockingIOError):
            os.write(device, struct.pack("llHHi", 0, 0, kind, code, value))


print("ready", flush=True)
for line in sys.stdin:
    first, *rest = map(int, line.split())
    if line.startswith("0"):
        for axis in (0, 1):
            note(2, axis, rest[axis] - at[axis])
        at = rest
        point(*rest)
        continue
    for down in rest or (True, False):
        note(1, first, down)
        press(first, down)
