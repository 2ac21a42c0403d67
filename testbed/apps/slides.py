"""A GTK 3 window: pages that slide, a tab that goes back, a button that is larger than its viewport,
a button below sliders, and the same choices in choices in a combo box and a tree.
"""

import gi

gi.require_version('Gtk', '3.0')
from gi.repository import GLib, Gtk


def button(name):
    button = Gtk.Button(label=name)
    button.connect('clicked', lambda _: print('clicked', name))
    return button


def scrolled(*parts):
    box = Gtk.VBox()
    for part in parts:
        box.pack_start(part, False, False, 0)
    area = Gtk.ScrolledWindow()
    area.add(box)
    return area


def slider(n):
    slider = Gtk.Scale.new_with_range(Gtk.Orientation.HORIZONTAL, 0, 9, 1)
    slider.connect('value-changed', lambda _: print('slider', n))
    return slider


stack = Gtk.Stack(transition_type=Gtk.StackTransitionType.SLIDE_LEFT_RIGHT, transition_duration=400)
for page in 'AB':
    save = Gtk.Button(label='Save')
    save.connect('clicked', lambda _, page=page: print('saved', page))
    stack.add_titled(save, page, 'Page ' + page)
tabs = Gtk.Notebook()
for tab in ('First', 'Second'):
    tabs.append_page(Gtk.Label(label='In ' + tab), Gtk.Label(label=tab))
tabs.connect('switch-page', lambda *_: GLib.timeout_add(130, tabs.set_current_page, 0))
tall = button('Tall')
tall.set_size_request(100, 900)
store = Gtk.TreeStore(str)
for outer, inner in (('Men', 'Wide'), ('Women', 'Tiny')):
    store.append(store.append(None, [outer]), [inner])
sizes = Gtk.ComboBox.new_with_model(store)
text = Gtk.CellRendererText()
sizes.pack_start(text, True)
sizes.add_attribute(text, 'text', 0)
sizes.get_accessible().set_name('Size')
sizes.connect('changed', lambda _: print('size', store[sizes.get_active_iter()][0]))
tree = Gtk.TreeView(model=store)
tree.append_column(Gtk.TreeViewColumn('Sizes', Gtk.CellRendererText(), text=0))
tree.connect('row-expanded', lambda _, at, __: print('expanded', store[at][0]))
box = Gtk.VBox()
for part in (Gtk.StackSwitcher(stack=stack), stack, tabs, sizes, tree):
    box.pack_start(part, False, False, 0)
for part in (scrolled(tall, button('Below')), scrolled(*map(slider, range(20)), button('Last'))):
    box.pack_start(part, True, True, 0)
window = Gtk.Window(title='Slides', child=box)
window.set_default_size(320, 600)
window.show_all()
Gtk.main()
