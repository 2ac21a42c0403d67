"""A GTK 4 window. The middle of each tab is on the icon of its button, the button "Compose" is partly
below the open menu of "Actions", and the expander closes again.
"""

import gi

gi.require_version('Gtk', '4.0')
from gi.repository import Gio, GLib, Gtk


def activate(app):
    window = Gtk.ApplicationWindow(application=app, title='Book')
    book = Gtk.Notebook()
    for n in '12':
        close = Gtk.Button(icon_name='window-close-symbolic')
        close.connect('clicked', lambda _: print('closed'))
        tab = Gtk.Box(width_request=129)
        tab.append(Gtk.Label(label='Sheet ' + n))
        tab.append(close)
        book.append_page(Gtk.Label(label='Page ' + n), tab)
    book.connect('switch-page', lambda *page: print('page', page[2]))
    more = Gtk.Expander(label='More', child=Gtk.Label(label='inside'))
    more.connect('notify::expanded', lambda *_: GLib.timeout_add(150, more.set_expanded, False))
    pick = Gtk.DropDown.new_from_strings([f'Item {n}' for n in range(40)])
    pick.update_property([Gtk.AccessibleProperty.LABEL], ['Pick'])
    pick.connect('notify::selected', lambda *_: print('pick', pick.get_selected()))
    menu = Gio.Menu()
    for name in ('Rather long name of an item', 'Other'):
        menu.append(name, 'app.none')
    compose = Gtk.Button(label='Compose')
    compose.connect('clicked', lambda _: print('compose'))
    box = Gtk.Box(orientation=1)
    opener = Gtk.MenuButton(label='Actions', menu_model=menu)
    for part in (opener, compose, more, pick, book):
        box.append(part)
    window.set_child(box)
    window.set_default_size(420, 300)
    window.present()
app = Gtk.Application(application_id='org.example.Book')
app.connect('activate', activate)
app.run()
