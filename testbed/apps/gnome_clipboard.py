"""The person's clipboard on GNOME, by a session of Mutter's remote desktop: apps get no data
control there. `copy` puts the person's data on it, prints "ready" and serves it until another owner
comes. `show` prints a line a type."""

import os
import sys
import time

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib

from copied import COPIED, show

NAME = "org.gnome.Mutter.RemoteDesktop"
OF = NAME + ".Session"

bus = Gio.bus_get_sync(Gio.BusType.SESSION)
loop = GLib.MainLoop()


def call(path, interface, method, args=None):
    answer, fds = bus.call_with_unix_fd_list_sync(
        NAME, path, interface, method, args, None, Gio.DBusCallFlags.NONE, 5000, None, None
    )
    if fds and fds.get_length():
        return fds.get(answer.unpack()[0])
    return answer.unpack()


(session,) = call("/org/gnome/Mutter/RemoteDesktop", NAME, "CreateSession")
offered = []
owns = False


def signal(_bus, _sender, _path, _interface, name, args):
    global owns
    if name == "SelectionOwnerChanged":
        (options,) = args.unpack()
        owned, owns = owns, options.get("session-is-owner", False)
        # Mutter returns a structure with a list.
        offered[:] = options.get("mime-types", ([],))[0]
        if owned and not owns:
            loop.quit()
    elif name == "SelectionTransfer":
        kind, serial = args.unpack()
        with open(call(session, OF, "SelectionWrite", GLib.Variant("(u)", (serial,))), "wb") as pipe:
            pipe.write(COPIED[kind])
        call(session, OF, "SelectionWriteDone", GLib.Variant("(ub)", (serial, True)))


bus.signal_subscribe(NAME, OF, None, session, None, Gio.DBusSignalFlags.NONE, signal)
call(session, OF, "EnableClipboard", GLib.Variant("(a{sv})", ({},)))
context = GLib.MainContext.default()
if sys.argv[1] == "copy":
    types = GLib.Variant("as", list(COPIED))
    call(session, OF, "SetSelection", GLib.Variant("(a{sv})", ({"mime-types": types},)))
    while not owns:
        context.iteration(True)
    print("ready", flush=True)
    loop.run()
else:
    while context.iteration(False):
        pass
    for kind in sorted(offered):
        reader = None
        while reader is None:
            try:
                reader = call(session, OF, "SelectionRead", GLib.Variant("(s)", (kind,)))
            except GLib.Error as error:
                # Mutter may not have noticed yet that the last transfer has ended.
                if "parallel" not in error.message:
                    raise
                time.sleep(0.01)
        os.set_blocking(reader, True)
        with open(reader, "rb") as pipe:
            show(kind, pipe.read())
