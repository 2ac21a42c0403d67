"""A GTK 3 window: buttons with a menu of their own, a menu bar whose item goes back, and a tool button
with a menu.
"""

import gi

gi.require_version('Gtk', '3.0')
from gi.repository import GLib, Gtk


def menu_of(*items):
    menu = Gtk.Menu()
    for item in items:
        menu.append(item)
    menu.show_all()
    return menu


def item(name):
    item = Gtk.MenuItem(label=name)
    item.connect('activate', lambda item: print('item', item.get_label()))
    return item


def pressed(_, event):
    if event.button == 3:
        context.popup_at_pointer(event)


context = menu_of(item('Copy'))
wrap = Gtk.CheckMenuItem(label='Wrap')
wrap.connect('toggled', lambda _: GLib.timeout_add(60, wrap.set_active, False))
view = Gtk.MenuItem(label='View')
view.set_submenu(menu_of(wrap))
bar = Gtk.MenuBar()
bar.append(view)
tool = Gtk.MenuToolButton(label='Open')
tool.connect('clicked', lambda _: print('open'))
tool.set_menu(menu_of(item('One'), item('Two')))
tools = Gtk.Toolbar()
tools.insert(tool, 0)
box = Gtk.VBox()
for part in (bar, tools):
    box.pack_start(part, False, False, 0)
for name in ('Message', 'Other'):
    button = Gtk.Button(label=name)
    button.connect('button-press-event', pressed)
    button.connect('clicked', lambda button: print('clicked', button.get_label()))
    box.add(button)
window = Gtk.Window(title='Menus', child=box)
window.set_default_size(300, 200)
window.show_all()
Gtk.main()
