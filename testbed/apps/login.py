#!/usr/bin/python3
"""A GTK 3 login form that closes when it is filled in, and a window that raises another app's.

Usage: login.py LOG
"""

import subprocess
import sys

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import GLib, Gtk

from log import log


def entry(name, secret=False):
    made = Gtk.Entry(visibility=not secret)
    if secret:
        made.set_input_purpose(Gtk.InputPurpose.PASSWORD)
    made.get_accessible().set_name(name)
    return made


def logged_in(*_):
    log("login", user.get_text(), password.get_text())
    form.hide()
    welcome.show_all()


def unlock(*_):
    log("asked")
    prompt = subprocess.Popen(["zenity", "--password"], stdout=subprocess.PIPE)
    GLib.io_add_watch(prompt.stdout, GLib.IO_IN, lambda f, _: log("unlocked", f.readline().decode().strip()))


def raise_other(button):
    title = rest.get_text()
    log("raised", title)
    subprocess.Popen(["wmctrl", "-F", "-a", title])


form = Gtk.Window(title="Log in")
box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
user, password = entry("User"), entry("Password", secret=True)
password.connect("activate", logged_in)
box.add(user)
box.add(password)
form.add(box)
form.set_default_size(300, 200)

welcome = Gtk.Window(title="Welcome")
box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
rest = entry("Notes")
box.add(rest)
for label, does in (("Unlock", unlock), ("Raise", raise_other)):
    button = Gtk.Button(label=label)
    button.connect("clicked", does)
    box.add(button)
welcome.add(box)
welcome.set_default_size(300, 200)

if "--welcome" in sys.argv:
    welcome.show_all()
else:
    form.show_all()
GLib.idle_add(lambda: log("ready"), priority=GLib.PRIORITY_LOW)
Gtk.main()
