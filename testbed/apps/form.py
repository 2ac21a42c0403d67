"""A form that saves what is entered, for recipes: form.py OUT CHANGES.

Each save is a line in OUT; so is each deletion. CHANGES is a file with words that change the app:
renamed, moved, dialog, modeless, slow, large, swapped, gone, several, delayed, ticked, theme, font.
"""

import sys

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import GLib, Gtk

OUT, CHANGES = sys.argv[1:3]
try:
    with open(CHANGES) as file:
        changes = file.read().split()
except OSError:
    changes = []


def tell(line):
    with open(OUT, "a") as file:
        file.write(line + "\n")


settings = Gtk.Settings.get_default()
settings.set_property("gtk-application-prefer-dark-theme", "theme" in changes)
if "font" in changes:
    settings.set_property("gtk-font-name", "Sans 20")
window = Gtk.Window(title="Form")
window.set_default_size(*((900, 700) if "large" in changes else (420, 480)))
window.connect("destroy", Gtk.main_quit)
outer = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=6)
window.add(outer)
fields = Gtk.Grid(row_spacing=4, column_spacing=4)
name, email = Gtk.Entry(), Gtk.Entry()
country = Gtk.ComboBoxText()
for one in ["Norway", "Peru", "Chad"]:
    country.append_text(one)
rows = [("Name", name), ("Email", email), ("Country", country)]
if "moved" in changes:
    rows.reverse()
for row, (text, field) in enumerate(rows):
    label = Gtk.Label(label=text)
    field.get_accessible().set_name(text)
    fields.attach(label, 0, row, 1, 1)
    fields.attach(field, 1, row, 1, 1)
news = Gtk.CheckButton(label="Newsletter")
express = Gtk.CheckButton(label="Express")
receipt = Gtk.CheckButton(label="Receipt")
# As they are at first, or as the job leaves them.
news.set_active("ticked" in changes)
receipt.set_active("ticked" not in changes)
notes = Gtk.Entry()
notes.get_accessible().set_name("Notes")
status = Gtk.Label(label="Ready")


def options(_):
    def show():
        dialog = Gtk.Dialog(title="Options", transient_for=window, modal=True)
        dialog.add_button("Close", 1)
        dialog.add_button("Apply", 2)
        dialog.get_content_area().add(express)
        dialog.show_all()

        def done(_, answer):
            dialog.get_content_area().remove(express)
            dialog.destroy()
            status.set_text("Options applied" if answer == 2 else "Options closed")

        dialog.connect("response", done)
        return False

    GLib.timeout_add(2500 if "slow" in changes else 1, show)


def save(_):
    ticks = [box.get_label() for box in (news, express, receipt) if box.get_active()]
    texts = [name.get_text(), email.get_text(), country.get_active_text() or "", notes.get_text()]
    tell("|".join(texts + ticks))

    def show():
        status.set_text(f"Saved {name.get_text()}")
        return False

    GLib.timeout_add(1500 if "slow" in changes else 1, show)


buttons = Gtk.Box(spacing=4)
saves = "Keep" if "renamed" in changes else "Save"
all_buttons = [("Options", options), ("Check", lambda _: status.set_text(f"Checked {name.get_text()}"))]
all_buttons += [(saves, save), ("Delete", lambda _: tell("deleted"))]
if "swapped" in changes:
    # What was Save deletes now, and Save is gone.
    all_buttons[2:] = [("Remove", lambda _: tell("deleted")), ("Delete", lambda _: tell("deleted"))]
if "gone" in changes:
    del all_buttons[2]
if "several" in changes:
    all_buttons.insert(0, ("Save", lambda _: tell("deleted")))
    all_buttons.insert(0, ("Delete", lambda _: tell("deleted")))
if "moved" in changes:
    all_buttons.reverse()
for text, act in all_buttons:
    button = Gtk.Button(label=text)
    button.connect("clicked", act)
    buttons.add(button)
parts = [fields, news, receipt, notes, buttons, status]
if "moved" in changes:
    parts = [status, buttons, notes, receipt, news, fields]
for part in parts:
    outer.add(part)
window.show_all()


def tip():
    dialog = Gtk.Dialog(title="Tip of the day", transient_for=window, modal="modeless" not in changes)
    entry = Gtk.Entry()
    entry.get_accessible().set_name("Name")
    dialog.get_content_area().add(entry)
    dialog.add_button("Save", 1)
    dialog.connect("response", lambda *_: (tell("deleted"), dialog.destroy()))
    dialog.show_all()
    return False


if {"dialog", "modeless"} & set(changes):
    GLib.timeout_add(1, tip)
if "delayed" in changes:
    GLib.timeout_add(1500, tip)
Gtk.main()
