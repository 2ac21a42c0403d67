"""A person's keyboard on the compositor named by the argument: each line is a key's code, which is
pressed and released. Prints "ready" when it exists."""

import os
import struct
import sys


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

    def key(code, down):
        call(session, of, "NotifyKeyboardKeycode", GLib.Variant("(ub)", (code, down)))

    # Apps bind the keyboard when it appears, and lose earlier keys.
    for down in (True, False):
        key(42, down)
    return key


def on_kwin(wayland):
    fake = wayland.bind("org_kde_kwin_fake_input", 4)
    wayland.send(fake, 0, struct.pack("<I4sI4s", 2, b"p", 2, b"p"))
    return lambda code, down: wayland.send(fake, 10, struct.pack("<II", code, down))


def on_wlroots(wayland):
    from keyboard import keyboard

    board = keyboard(wayland)
    return lambda code, down: wayland.send(board, 1, struct.pack("<III", 0, code, down))


if sys.argv[1] == "gnome":
    key = on_gnome()
else:
    from wayland import Wayland

    wayland = Wayland()
    key = (on_kwin if sys.argv[1] == "kwin" else on_wlroots)(wayland)
    wayland.sync()
    wayland.socket.settimeout(None)
print("ready", flush=True)
for line in sys.stdin:
    for down in (True, False):
        key(int(line), down)
