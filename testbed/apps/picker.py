#!/usr/bin/python3
"""A GTK 4 window that asks the portal for a file to save to, for a picture of the screen, without
and with a choice, and for the control of the desktop.

Usage: picker.py LOG
"""

import os

import gi

os.environ["GDK_DEBUG"] = "portals"
gi.require_version("Gtk", "4.0")
from gi.repository import Gio, GLib, Gtk

from log import log

PATH = "/org/freedesktop/portal/desktop"


def ask(bus, interface, method, arguments, token, then):
    """Calls a method of the portal, and `then` with the results if it is granted."""

    def answered(*signal):
        granted, results = signal[5].unpack()
        log(method, granted)
        if granted == 0:
            then(results)

    own = bus.get_unique_name()[1:].replace(".", "_")
    path = f"{PATH}/request/{own}/{token}"
    bus.signal_subscribe(
        None, "org.freedesktop.portal.Request", "Response", path, None, 0, answered
    )
    bus.call(
        "org.freedesktop.portal.Desktop", PATH, f"org.freedesktop.portal.{interface}", method, arguments,
        None, 0, -1, None, lambda bus, result: bus.call_finish(result),
    )  # fmt: skip


def text(text):
    return GLib.Variant("s", text)


def picture(interactive):
    def taken(results):
        path = Gio.File.new_for_uri(results["uri"]).get_path()
        log("picture", open(path, "rb").read(4)[1:].decode())

    bus = Gio.bus_get_sync(Gio.BusType.SESSION)
    options = {"handle_token": text("picture"), "interactive": GLib.Variant("b", interactive)}
    arguments = GLib.Variant("(sa{sv})", ("", options))
    ask(bus, "Screenshot", "Screenshot", arguments, "picture", taken)


def share(_):
    bus = Gio.bus_get_sync(Gio.BusType.SESSION)
    remote = lambda *asked: ask(bus, "RemoteDesktop", *asked)

    def start(session):
        options = {"handle_token": text("start")}
        remote("Start", GLib.Variant("(osa{sv})", (session, "", options)), "start", log)

    def select(results):
        session = results["session_handle"]
        options = {"handle_token": text("select"), "types": GLib.Variant("u", 3)}
        arguments = GLib.Variant("(oa{sv})", (session, options))
        remote("SelectDevices", arguments, "select", lambda _: start(session))

    options = {"handle_token": text("create"), "session_handle_token": text("one")}
    remote("CreateSession", GLib.Variant("(a{sv})", (options,)), "create", select)


def activate(app):
    def keep(_):
        def chosen(dialog, result):
            try:
                log("kept", dialog.save_finish(result).get_path())
            except GLib.Error as error:
                log("kept nothing:", error.message)

        Gtk.FileDialog(title="Keep it", initial_name="draft.txt").save(window, None, chosen)

    box = Gtk.Box()
    window = Gtk.ApplicationWindow(application=app, title="Picker", child=box)
    screen, choice = lambda _: picture(False), lambda _: picture(True)
    buttons = ("Keep", keep), ("Screen", screen), ("Choice", choice), ("Share", share)
    for label, act in buttons:
        button = Gtk.Button(label=label)
        button.connect("clicked", act)
        box.append(button)
    window.present()


app = Gtk.Application(application_id="org.deskline.Picker")
app.connect("activate", activate)
app.run()
