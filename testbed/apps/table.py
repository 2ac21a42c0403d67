"""A GTK 3 table whose cells take no other text, and whose second column has choices of its own."""

import gi

gi.require_version('Gtk', '3.0')
from gi.repository import Gtk

store = Gtk.ListStore(str, str)
for row in (('Ann', 'Low'), ('Bob', 'High')):
    store.append(row)
view = Gtk.TreeView(model=store)
levels = Gtk.ListStore(str)
for level in ('Low', 'High'):
    levels.append([level])
name = Gtk.CellRendererText(editable=True)
name.connect('edited', lambda _, path, text: print('refused', text))
level = Gtk.CellRendererCombo(editable=True, model=levels, text_column=0, has_entry=False)
level.connect('edited', lambda _, path, text: print('level', text))
view.append_column(Gtk.TreeViewColumn('Name', name, text=0))
view.append_column(Gtk.TreeViewColumn('Level', level, text=1))
view.get_selection().select_path(1)
window = Gtk.Window(title='Table')
window.set_default_size(300, 200)
window.add(view)
window.show_all()
print('ready')
Gtk.main()
