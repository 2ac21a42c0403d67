#!/usr/bin/python3
"""A GTK 3 window with one of each widget, and a log of their events.

Usage: gtk3.py LOG [--hostile]
"""

import os
import time

import gi

gi.require_version("Gdk", "3.0")
gi.require_version("Gtk", "3.0")
from gi.repository import Gdk, GLib, Gtk

from log import BIDI, COLOURS, FORGED, HOSTILE, HUGE, ROWS, SIZES, TABLE, TABS, TITLE, log


def named(widget, name):
    widget.get_accessible().set_name(name)
    return widget


def button(label, clicked):
    made = Gtk.Button(label=label)
    made.connect("clicked", lambda *_: (log("clicked", label), clicked and clicked()))
    return made


def menu_bar():
    bar = Gtk.MenuBar()
    for title, items in (("File", ["New", "Close"]), ("Edit", ["Copy all", "More"])):
        menu = Gtk.Menu()
        for label in items:
            item = Gtk.MenuItem(label=label)
            if label == "More":
                deeper = Gtk.Menu()
                inner = Gtk.MenuItem(label="Deep")
                inner.connect("activate", lambda *_: log("menu", "Deep"))
                deeper.append(inner)
                item.set_submenu(deeper)
            else:
                item.connect("activate", lambda _, label=label: log("menu", label))
            menu.append(item)
        check = Gtk.CheckMenuItem(label=f"{title} option")
        check.connect("toggled", lambda c: log("menu", c.get_label(), c.get_active()))
        menu.append(check)
        top = Gtk.MenuItem(label=title)
        top.set_submenu(menu)
        bar.append(top)
    return bar


def ask(window):
    dialog = Gtk.MessageDialog(
        transient_for=window, modal=True, buttons=Gtk.ButtonsType.YES_NO, text="Really?"
    )
    log("answered", "Yes" if dialog.run() == Gtk.ResponseType.YES else "No")
    dialog.destroy()


def form(window):
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=4)
    status = Gtk.Label(label="idle")

    def appear():
        box.pack_end(Gtk.Label(label="Here I am", visible=True), False, False, 0)
        log("late")

    def tick(state={"n": 0}):
        state["n"] += 1
        status.set_text(f"tick {state['n']}")
        return clock.get_active()

    row = Gtk.Box(spacing=4)
    row.pack_start(button("OK", None), False, False, 0)
    row.pack_start(button("Ask", lambda: ask(window)), False, False, 0)
    row.pack_start(button("Late", lambda: GLib.timeout_add(1000, appear)), False, False, 0)
    row.pack_start(button("Hang", lambda: time.sleep(5)), False, False, 0)
    disabled = button("Never", None)
    disabled.set_sensitive(False)
    row.pack_start(disabled, False, False, 0)
    box.pack_start(row, False, False, 0)

    row = Gtk.Box(spacing=4)
    bold = Gtk.ToggleButton(label="Bold")
    bold.connect("toggled", lambda b: log("toggled", "Bold", b.get_active()))
    wrap = Gtk.CheckButton(label="Wrap")
    wrap.connect("toggled", lambda b: log("checked", "Wrap", b.get_active()))
    clock = Gtk.CheckButton(label="Ticking")
    clock.connect("toggled", lambda b: b.get_active() and GLib.timeout_add(50, tick))
    for widget in (bold, wrap, clock, status):
        row.pack_start(widget, False, False, 0)
    box.pack_start(row, False, False, 0)

    row = Gtk.Box(spacing=4)
    group = None
    for colour in COLOURS:
        radio = Gtk.RadioButton.new_with_label_from_widget(group, colour)
        group = group or radio
        radio.connect("toggled", lambda b, c=colour: b.get_active() and log("chose", c))
        row.pack_start(radio, False, False, 0)
    combo = named(Gtk.ComboBoxText(), "Size")
    for size in SIZES:
        combo.append_text(size)
    combo.set_active(0)
    combo.connect("changed", lambda c: log("combo", c.get_active_text()))
    row.pack_start(combo, False, False, 0)
    box.pack_start(row, False, False, 0)

    slider = named(Gtk.Scale.new_with_range(Gtk.Orientation.HORIZONTAL, 0, 100, 1), "Volume")
    slider.connect("value-changed", lambda s: log("value", "Volume", round(s.get_value())))
    spin = named(Gtk.SpinButton.new_with_range(0, 100, 1), "Count")
    spin.connect("value-changed", lambda s: log("value", "Count", round(s.get_value())))
    name = named(Gtk.Entry(), "Name")
    name.connect("changed", lambda e: log("text", "Name", e.get_text()))
    name.connect("activate", lambda e: log("activated", "Name"))
    secret = named(Gtk.Entry(visibility=False, input_purpose=Gtk.InputPurpose.PASSWORD), "Secret")
    secret.connect("changed", lambda e: log("text", "Secret", e.get_text()))
    notes = named(Gtk.TextView(), "Notes")
    notes.get_buffer().connect(
        "changed", lambda b: log("text", "Notes", b.get_text(*b.get_bounds(), True))
    )
    frame = Gtk.ScrolledWindow(min_content_height=60)
    frame.add(notes)
    for widget in (slider, spin, name, secret, frame):
        box.pack_start(widget, False, False, 0)

    pad = named(Gtk.EventBox(can_focus=True), "Pad")
    pad.set_size_request(160, 60)
    pad.add(Gtk.Label(label="Pad"))
    pad.add_events(
        Gdk.EventMask.BUTTON_PRESS_MASK | Gdk.EventMask.BUTTON_RELEASE_MASK | Gdk.EventMask.SCROLL_MASK
    )
    pad.connect("button-press-event", pressed)
    pad.connect("button-release-event", lambda _, e: log("pad release", e.button))
    pad.connect("scroll-event", lambda _, e: log("pad scroll", e.direction.value_nick))
    box.pack_start(pad, False, False, 0)
    if HOSTILE:
        for text in (FORGED, BIDI):
            box.pack_start(Gtk.Button(label=text), False, False, 0)
        huge = button("Huge", None)
        box.pack_start(named(huge, HUGE), False, False, 0)
    return box


def pressed(_, event):
    if event.type == Gdk.EventType.BUTTON_PRESS:
        log("pad press", event.button)
    elif event.type == Gdk.EventType.DOUBLE_BUTTON_PRESS:
        log("pad double", event.button)


def context_menu(widget, event, name):
    """A menu that opens where the right button is pressed."""
    if event.button != 3 or event.type != Gdk.EventType.BUTTON_PRESS:
        return False
    menu = Gtk.Menu(attach_widget=widget)
    for label in ("Cut", "Copy", "Paste", "More"):
        item = Gtk.MenuItem(label=f"{label} {name}")
        if label == "More":
            deeper = Gtk.Menu()
            for label in ("First", "Second", "Third"):
                inner = Gtk.MenuItem(label=f"{label} {name}")
                inner.connect("activate", lambda item: log("context", item.get_label()))
                deeper.append(inner)
            item.set_submenu(deeper)
        else:
            item.connect("activate", lambda item: log("context", item.get_label()))
        menu.append(item)
    menu.show_all()
    menu.popup_at_pointer(event)
    return True


def lists():
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=4)
    rows = named(Gtk.ListBox(), "Rows")
    for text in ROWS:
        rows.add(Gtk.Label(label=text, xalign=0))
    rows.connect("row-selected", lambda _, r: r and log("selected", r.get_child().get_text()))
    rows.connect("row-activated", lambda _, r: log("activated", r.get_child().get_text()))
    rows.connect("button-press-event", context_menu, "rows")
    scrolled = Gtk.ScrolledWindow(vexpand=True)
    scrolled.set_size_request(200, 220)
    scrolled.add(rows)
    scrolled.get_vadjustment().connect(
        "value-changed", lambda a: log("scrolled", "Rows", round(a.get_value()))
    )
    store = Gtk.ListStore(str, str)
    for row in TABLE:
        store.append(row)
    table = named(Gtk.TreeView(model=store), "Items")
    for at, title in enumerate(("Name", "Weight")):
        table.append_column(Gtk.TreeViewColumn(title, Gtk.CellRendererText(), text=at))

    def picked(selection):
        model, at = selection.get_selected()
        if at:
            log("picked", model[at][0])

    table.get_selection().connect("changed", picked)
    table.connect("button-press-event", context_menu, "items")
    table.connect("row-activated", lambda t, path, _: log("opened", t.get_model()[path][0]))
    below = Gtk.ScrolledWindow()
    below.set_size_request(200, 160)
    below.add(table)
    box.pack_start(scrolled, True, True, 0)
    box.pack_start(below, False, False, 0)
    return box


def tabs():
    book = Gtk.Notebook()
    for title in TABS:
        book.append_page(Gtk.Label(label=f"Page {title}"), Gtk.Label(label=title))
    book.connect("switch-page", lambda _, __, n: log("tab", TABS[n]))
    book.set_size_request(200, 120)
    return book


def key(_, event):
    held = [
        name
        for name, mask in (
            ("Control", Gdk.ModifierType.CONTROL_MASK),
            ("Alt", Gdk.ModifierType.MOD1_MASK),
            ("Shift", Gdk.ModifierType.SHIFT_MASK),
        )
        if event.state & mask
    ]
    log("key", "+".join([*held, Gdk.keyval_name(event.keyval)]))


def stroke(_, event):
    log("up" if event.type == Gdk.EventType.KEY_RELEASE else "down", event.hardware_keycode)


window = Gtk.Window(title=BIDI + FORGED if HOSTILE else TITLE)
window.set_default_size(720, 540)
window.connect("destroy", lambda *_: (log("closed"), Gtk.main_quit()))
window.connect("key-press-event", key)
if "STROKES" in os.environ:
    window.connect("key-press-event", stroke)
    window.connect("key-release-event", stroke)
columns = Gtk.Box(spacing=8)
columns.pack_start(form(window), True, True, 0)
columns.pack_start(lists(), False, False, 0)
columns.pack_start(tabs(), False, False, 0)
whole = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
whole.pack_start(menu_bar(), False, False, 0)
whole.pack_start(columns, True, True, 0)
window.add(whole)
window.show_all()
GLib.idle_add(lambda: log("ready"), priority=GLib.PRIORITY_LOW)
Gtk.main()
