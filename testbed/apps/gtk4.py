#!/usr/bin/python3
"""A GTK 4 window with one of each widget, and a log of their events.

Usage: gtk4.py LOG [--hostile]
"""

import os
import time

import gi

gi.require_version("Gdk", "4.0")
gi.require_version("Gtk", "4.0")
from gi.repository import Gdk, Gio, GLib, Gtk

from log import BIDI, COLOURS, FORGED, HOSTILE, HUGE, ROWS, SIZES, TABLE, TABS, TITLE, log


def named(widget, name):
    widget.update_property([Gtk.AccessibleProperty.LABEL], [name])
    return widget


def filled(box, *widgets):
    for widget in widgets:
        box.append(widget)
    return box


def button(label, clicked):
    made = Gtk.Button(label=label)
    made.connect("clicked", lambda *_: (log("clicked", label), clicked and clicked()))
    return made


def menu_bar(app):
    def action(label):
        name = label.lower().replace(" ", "-")
        made = Gio.SimpleAction.new(name, None)
        made.connect("activate", lambda *_: log("menu", label))
        app.add_action(made)
        return f"app.{name}"

    def option(label):
        name = label.lower().replace(" ", "-")
        made = Gio.SimpleAction.new_stateful(name, None, GLib.Variant.new_boolean(False))

        def toggled(action, _):
            action.set_state(GLib.Variant.new_boolean(not action.get_state().get_boolean()))
            log("menu", label, action.get_state().get_boolean())

        made.connect("activate", toggled)
        app.add_action(made)
        return f"app.{name}"

    bar = Gio.Menu()
    for title, items in (("File", ["New", "Close"]), ("Edit", ["Copy all", "More"])):
        menu = Gio.Menu()
        for label in items:
            if label == "More":
                deeper = Gio.Menu()
                deeper.append("Deep", action("Deep"))
                menu.append_submenu("More", deeper)
            else:
                menu.append(label, action(label))
        menu.append(f"{title} option", option(f"{title} option"))
        bar.append_submenu(title, menu)
    return Gtk.PopoverMenuBar.new_from_model(bar)


def ask(window):
    dialog = Gtk.MessageDialog(
        transient_for=window, modal=True, buttons=Gtk.ButtonsType.YES_NO, text="Really?"
    )

    def response(dialog, what):
        log("answered", "Yes" if what == Gtk.ResponseType.YES else "No")
        dialog.destroy()

    dialog.connect("response", response)
    dialog.present()


def form(window):
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=4)
    status = Gtk.Label(label="idle")

    def appear():
        box.append(Gtk.Label(label="Here I am"))
        log("late")

    def tick(state={"n": 0}):
        state["n"] += 1
        status.set_text(f"tick {state['n']}")
        return clock.get_active()

    disabled = button("Never", None)
    disabled.set_sensitive(False)
    buttons = filled(
        Gtk.Box(spacing=4),
        button("OK", None),
        button("Ask", lambda: ask(window)),
        button("Late", lambda: GLib.timeout_add(1000, appear)),
        button("Hang", lambda: time.sleep(5)),
        disabled,
    )

    bold = Gtk.ToggleButton(label="Bold")
    bold.connect("toggled", lambda b: log("toggled", "Bold", b.get_active()))
    wrap = Gtk.CheckButton(label="Wrap")
    wrap.connect("toggled", lambda b: log("checked", "Wrap", b.get_active()))
    clock = Gtk.CheckButton(label="Ticking")
    clock.connect("toggled", lambda b: b.get_active() and GLib.timeout_add(50, tick))
    toggles = filled(Gtk.Box(spacing=4), bold, wrap, clock, status)

    choices = Gtk.Box(spacing=4)
    group = None
    for colour in COLOURS:
        radio = Gtk.CheckButton(label=colour, group=group)
        group = group or radio
        radio.connect("toggled", lambda b, c=colour: b.get_active() and log("chose", c))
        choices.append(radio)
    combo = named(Gtk.DropDown.new_from_strings(SIZES), "Size")
    combo.connect("notify::selected", lambda c, _: log("combo", SIZES[c.get_selected()]))
    choices.append(combo)

    slider = named(Gtk.Scale.new_with_range(Gtk.Orientation.HORIZONTAL, 0, 100, 1), "Volume")
    slider.connect("value-changed", lambda s: log("value", "Volume", round(s.get_value())))
    spin = named(Gtk.SpinButton.new_with_range(0, 100, 1), "Count")
    spin.connect("value-changed", lambda s: log("value", "Count", round(s.get_value())))
    name = named(Gtk.Entry(), "Name")
    name.connect("changed", lambda e: log("text", "Name", e.get_text()))
    name.connect("activate", lambda e: log("activated", "Name"))
    secret = named(Gtk.PasswordEntry(), "Secret")
    secret.connect("changed", lambda e: log("text", "Secret", e.get_text()))
    notes = named(Gtk.TextView(), "Notes")
    notes.get_buffer().connect(
        "changed", lambda b: log("text", "Notes", b.get_text(*b.get_bounds(), True))
    )
    frame = Gtk.ScrolledWindow(min_content_height=60, child=notes)
    filled(box, buttons, toggles, choices, slider, spin, name, secret, frame, pad())
    if HOSTILE:
        for text in (FORGED, BIDI):
            box.append(Gtk.Button(label=text))
        box.append(named(button("Huge", None), HUGE))
    return box


def pad():
    area = Gtk.Button(label="Pad", has_frame=False)
    area.set_size_request(160, 60)
    click = Gtk.GestureClick(button=0, propagation_phase=Gtk.PropagationPhase.CAPTURE)

    def pressed(gesture, times, *_):
        log("pad press" if times == 1 else "pad double", gesture.get_current_button())

    click.connect("pressed", pressed)
    click.connect("released", lambda g, *_: log("pad release", g.get_current_button()))
    area.add_controller(click)
    wheel = Gtk.EventControllerScroll(flags=Gtk.EventControllerScrollFlags.BOTH_AXES)
    wheel.connect("scroll", lambda _, dx, dy: log("pad scroll", "down" if dy > 0 else "up"))
    area.add_controller(wheel)
    return area


def lists():
    rows = named(Gtk.ListBox(), "Rows")
    for text in ROWS:
        rows.append(Gtk.Label(label=text, xalign=0))
    rows.connect("row-selected", lambda _, r: r and log("selected", r.get_child().get_text()))
    rows.connect("row-activated", lambda _, r: log("activated", r.get_child().get_text()))
    scrolled = Gtk.ScrolledWindow(vexpand=True, child=rows)
    scrolled.set_size_request(200, 220)
    scrolled.get_vadjustment().connect(
        "value-changed", lambda a: log("scrolled", "Rows", round(a.get_value()))
    )

    items = Gio.ListStore(item_type=Gtk.StringObject)
    weights = dict(TABLE)
    for item, _ in TABLE:
        items.append(Gtk.StringObject.new(item))
    model = Gtk.SingleSelection(model=items, autoselect=False, can_unselect=True, selected=Gtk.INVALID_LIST_POSITION)
    table = named(Gtk.ColumnView(model=model), "Items")
    for title, shown in (("Name", str), ("Weight", weights.get)):
        factory = Gtk.SignalListItemFactory()
        factory.connect("setup", lambda _, i: i.set_child(Gtk.Label(xalign=0)))
        factory.connect(
            "bind", lambda _, i, f=shown: i.get_child().set_text(f(i.get_item().get_string()))
        )
        table.append_column(Gtk.ColumnViewColumn(title=title, factory=factory))
    model.connect(
        "notify::selected-item",
        lambda m, _: m.get_selected_item() and log("picked", m.get_selected_item().get_string()),
    )
    table.connect("activate", lambda _, n: log("opened", TABLE[n][0]))
    below = Gtk.ScrolledWindow(child=table)
    below.set_size_request(200, 160)
    return filled(Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=4), scrolled, below)


def tabs():
    book = Gtk.Notebook()
    for title in TABS:
        book.append_page(Gtk.Label(label=f"Page {title}"), Gtk.Label(label=title))
    book.connect("switch-page", lambda _, __, n: log("tab", TABS[n]))
    book.set_size_request(200, 120)
    return book


def key(_, keyval, __, state):
    held = [
        name
        for name, mask in (
            ("Control", Gdk.ModifierType.CONTROL_MASK),
            ("Alt", Gdk.ModifierType.ALT_MASK),
            ("Shift", Gdk.ModifierType.SHIFT_MASK),
        )
        if state & mask
    ]
    log("key", "+".join([*held, Gdk.keyval_name(keyval)]))


def activate(app):
    window = Gtk.ApplicationWindow(application=app, title=BIDI + FORGED if HOSTILE else TITLE)
    window.set_default_size(720, 540)
    window.connect("close-request", lambda *_: log("closed"))
    keys = Gtk.EventControllerKey(propagation_phase=Gtk.PropagationPhase.CAPTURE)
    keys.connect("key-pressed", key)
    if "STROKES" in os.environ:
        keys.connect("key-pressed", lambda _, __, code, ___: log("down", code))
        keys.connect("key-released", lambda _, __, code, ___: log("up", code))
    window.add_controller(keys)
    columns = filled(Gtk.Box(spacing=8), form(window), lists(), tabs())
    window.set_child(
        filled(Gtk.Box(orientation=Gtk.Orientation.VERTICAL), menu_bar(app), columns)
    )
    window.present()
    GLib.idle_add(lambda: log("ready"), priority=GLib.PRIORITY_LOW)


app = Gtk.Application(flags=Gio.ApplicationFlags.NON_UNIQUE)
app.connect("activate", activate)
app.run([])
