"""A GTK 3 window with sliders as wide as what scrolls, and a button below them."""

import gi

gi.require_version('Gtk', '3.0')
from gi.repository import Gtk

box = Gtk.VBox()
for n in range(30):
    slider = Gtk.Scale.new_with_range(0, 0, 100, 1)
    slider.connect('value-changed', lambda _: print('changed'))
    box.add(slider)
box.add(Gtk.Button(label='Save'))
area = Gtk.ScrolledWindow(child=box)
window = Gtk.Window(title='Mixer', child=area)
window.set_default_size(400, 400)
window.show_all()
Gtk.main()
