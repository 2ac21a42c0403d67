"""A window whose controls lack what a person with a screen reader or bad eyes needs."""

import gi

gi.require_version("Gdk", "3.0")
gi.require_version("Gtk", "3.0")
from gi.repository import Gdk, Gtk

style = Gtk.CssProvider()
style.load_from_data(b"#pale { color: #bbbbbb; background: #ffffff; } #dark { color: #000000; background: #ffffff; }")
Gtk.StyleContext.add_provider_for_screen(Gdk.Screen.get_default(), style, 800)
window = Gtk.Window(title="Poor")
window.connect("destroy", Gtk.main_quit)
box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=6)
for text in ("pale", "dark"):
    box.add(Gtk.Label(label=f"A {text} text", name=text))
row = Gtk.Box(spacing=6)
row.add(Gtk.Label(label="Town"))
row.add(Gtk.Entry())
good = Gtk.Box(spacing=6)
label, entry = Gtk.Label(label="Name"), Gtk.Entry()
label.set_mnemonic_widget(entry)
good.add(label)
good.add(entry)
icon = Gtk.Button()
icon.add(Gtk.Image.new_from_icon_name("edit-delete", Gtk.IconSize.BUTTON))
for part in (row, good, icon, Gtk.Button(label="Save")):
    box.add(part)
window.add(box)
window.show_all()
Gtk.main()
