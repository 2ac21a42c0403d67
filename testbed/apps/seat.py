"""Keeps a keyboard and a pointer on GNOME's seat, as a person's desk has them: without them, apps
bind each device only when it appears, and lose earlier input. Prints a line when they exist; ends
with its bus."""
import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib

NAME = "org.gnome.Mutter.RemoteDesktop"
SHIFT = 42  # KEY_LEFTSHIFT

bus = Gio.bus_get_sync(Gio.BusType.SESSION)


def call(path, interface, method, args=None):
    answer = bus.call_sync(NAME, path, interface, method, args, None, Gio.DBusCallFlags.NONE, 5000, None)
    return answer.unpack()


(session,) = call("/org/gnome/Mutter/RemoteDesktop", NAME, "CreateSession")
of = NAME + ".Session"
call(session, of, "Start")
for pressed in (True, False):
    call(session, of, "NotifyKeyboardKeycode", GLib.Variant("(ub)", (SHIFT, pressed)))
call(session, of, "NotifyPointerMotionRelative", GLib.Variant("(dd)", (1.0, 1.0)))
print("ready", flush=True)
GLib.MainLoop().run()
