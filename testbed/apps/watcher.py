#!/usr/bin/python3
"""The watcher of a tray (StatusNotifierWatcher) for desktops whose own is not installed: apps register
their items with it. Runs until it is killed.
"""

from gi.repository import Gio, GLib

NAME = "org.kde.StatusNotifierWatcher"
INTERFACE = f"""<node><interface name="{NAME}">
<method name="RegisterStatusNotifierItem"><arg type="s" direction="in"/></method>
<property name="RegisteredStatusNotifierItems" type="as" access="read"/>
<property name="IsStatusNotifierHostRegistered" type="b" access="read"/>
<property name="ProtocolVersion" type="i" access="read"/>
</interface></node>"""
items = []


def called(bus, sender, path, interface, method, args, invocation):
    (item,) = args.unpack()
    # Qt registers its name, other toolkits the path of their item.
    items.append(sender + item if item.startswith("/") else item)
    invocation.return_value(None)


def read(bus, sender, path, interface, name):
    return {
        "RegisteredStatusNotifierItems": GLib.Variant("as", items),
        "IsStatusNotifierHostRegistered": GLib.Variant("b", True),
        "ProtocolVersion": GLib.Variant("i", 0),
    }[name]


def acquired(bus, _):
    described = Gio.DBusNodeInfo.new_for_xml(INTERFACE).interfaces[0]
    bus.register_object("/StatusNotifierWatcher", described, called, read, None)


Gio.bus_own_name(Gio.BusType.SESSION, NAME, Gio.BusNameOwnerFlags.NONE, acquired, None, None)
GLib.MainLoop().run()
