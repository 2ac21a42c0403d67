#!/usr/bin/python3
"""A GTK 3 window with a canvas. Accessibility clients see the canvas, but not its contents.

A click on its left half paints; a click on its right half does nothing. A caret blinks on it.

Usage: canvas.py LOG
"""

import gi

gi.require_version("Gdk", "3.0")
gi.require_version("Gtk", "3.0")
from gi.repository import Gdk, GLib, Gtk

from log import log

spots = []
caret = True


def draw(area, context):
    context.set_source_rgb(1, 1, 1)
    context.paint()
    for n in range(6):
        context.set_source_rgb(0.1 * n, 0.4, 0.8)
        context.arc(250 + 30 * (n % 2), 40 + 20 * n, 14, 0, 6.3)
        context.fill()
    context.set_source_rgb(1, 0, 0)
    for x, y in spots:
        context.rectangle(x - 20, y - 15, 40, 30)
        context.fill()
    if caret:
        context.set_source_rgb(0, 0, 0)
        context.rectangle(10, 10, 2, 20)
        context.fill()


def press(area, event):
    x, y = int(event.x), int(event.y)
    if x < area.get_allocated_width() / 2:
        spots.append((x, y))
        area.queue_draw()
        log("painted", x, y)
    else:
        log("ignored", x, y)


def blink():
    global caret
    caret = not caret
    area.queue_draw()
    return True


window = Gtk.Window(title="Canvas")
area = Gtk.DrawingArea()
area.set_size_request(400, 200)
area.add_events(Gdk.EventMask.BUTTON_PRESS_MASK)
area.connect("draw", draw)
area.connect("button-press-event", press)
label = Gtk.Label(label="idle")
button = Gtk.Button(label="Say")
button.connect("clicked", lambda _: (label.set_text("said"), log("said")))
box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
for part in (area, label, button):
    box.add(part)
window.add(box)
window.connect("destroy", Gtk.main_quit)
window.show_all()
GLib.timeout_add(130, blink)
GLib.idle_add(lambda: log("ready"))
Gtk.main()
