#!/usr/bin/python3
"""A GTK 3 window whose words are painted: on a canvas, on which a click paints where it was. Over
the canvas lie a label, a password field whose dots are letters, and a widget that has a password
field's role and shows the password.

Usage: painted.py LOG [LINES]
"""

import sys

import gi

gi.require_version("Atk", "1.0")
gi.require_version("Gdk", "3.0")
gi.require_version("Gtk", "3.0")
from gi.repository import Atk, Gdk, GLib, Gtk

from log import log

SIZE = 18
words = {"Total 42": (40, 60), "Send letter": (40, 130), "Archive": (260, 130)}
lines = int(sys.argv[2]) if len(sys.argv) > 2 else 0


def write(context, text, x, y):
    context.set_source_rgb(0.1, 0.1, 0.1)
    context.set_font_size(SIZE)
    context.move_to(x, y)
    context.show_text(text)


def draw(area, context):
    context.set_source_rgb(1, 1, 1)
    context.paint()
    for text, (x, y) in words.items():
        write(context, text, x, y)
    for n in range(lines):
        write(context, f"Row {n} of the painted list, with number {n * 37}", 500, 20 + 24 * n)


def draw_secret(area, context):
    context.set_source_rgb(1, 1, 0.9)
    context.paint()
    write(context, "hunter2", 6, 24)
    return True


def press(area, event):
    def is_at(place):
        x, y = place
        return x <= event.x <= x + 110 and y - SIZE <= event.y <= y + 6

    hit = [text for text, place in words.items() if is_at(place)]
    log("clicked", *hit)
    if hit == ["Send letter"]:
        words["Letter was sent"] = (40, 200)
        area.queue_draw()


def secret(widget):
    widget.get_accessible().set_role(Atk.Role.PASSWORD_TEXT)
    return widget


canvas = Gtk.DrawingArea()
canvas.set_size_request(460, 380)
canvas.add_events(Gdk.EventMask.BUTTON_PRESS_MASK)
canvas.connect("draw", draw)
canvas.connect("button-press-event", press)
shown = secret(Gtk.DrawingArea())
shown.set_size_request(120, 36)
shown.connect("draw", draw_secret)
entry = Gtk.Entry(visibility=False, invisible_char="W", text="hunter2")
over = Gtk.Fixed(halign=Gtk.Align.START, valign=Gtk.Align.START)
for widget, x, y in ((Gtk.Label(label="Described"), 300, 40), (entry, 40, 240), (shown, 260, 300)):
    over.put(widget, x, y)
both = Gtk.Overlay()
both.add(canvas)
both.add_overlay(over)
both.set_overlay_pass_through(over, True)
window = Gtk.Window(title="Painted")
window.set_default_size(*((1280, 800) if lines else (480, 400)))
window.add(both)
window.connect("destroy", Gtk.main_quit)
window.show_all()
GLib.idle_add(lambda: log("ready"))
Gtk.main()
