"""Runs JavaScript in KWin and prints its output: KWin reports much only to scripts.

Usage: kwin.py FOLDER SCRIPT

SCRIPT calls say(text).
"""
import os
import sys
import time

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib

INTERFACE = """<node><interface name="test.Script"><method name="Say">
<arg type="s" direction="in"/></method></interface></node>"""
bus = Gio.bus_get_sync(Gio.BusType.SESSION)
answers = []


def call(path, interface, method, args=None):
    answer = bus.call_sync("org.kde.KWin", path, interface, method, args, None, Gio.DBusCallFlags.NONE, 5000, None)
    return answer.unpack()


def told(bus, sender, path, interface, method, args, invocation):
    answers.append(args.unpack()[0])
    invocation.return_value(None)


bus.register_object("/script", Gio.DBusNodeInfo.new_for_xml(INTERFACE).interfaces[0], told, None, None)
file = os.path.join(sys.argv[1], f"script-{os.getpid()}.js")
with open(file, "w") as script:
    me = bus.get_unique_name()
    script.write(f"function say(text) {{ callDBus('{me}', '/script', 'test.Script', 'Say', text); }}\n")
    script.write(sys.argv[2])
# Try again if a script of Deskline's had the same number.
for attempt in range(10):
    (number,) = call("/Scripting", "org.kde.kwin.Scripting", "loadScript", GLib.Variant("(ss)", (file, file)))
    end = time.monotonic() + 0.5
    try:
        call(f"/Scripting/Script{number}", "org.kde.kwin.Script", "run")
        while not answers and time.monotonic() < end:
            GLib.MainContext.default().iteration(False)
            time.sleep(0.002)
    except GLib.Error as error:
        print(error, file=sys.stderr)
    call("/Scripting", "org.kde.kwin.Scripting", "unloadScript", GLib.Variant("(s)", (file,)))
    if answers:
        break
print(answers[0], flush=True)
