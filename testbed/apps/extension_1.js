// Deskline's extension of GNOME Shell as it was at version 1 of its interface, which a person may still have installed.

import Gio from 'gi://Gio';
import Meta from 'gi://Meta';
import Shell from 'gi://Shell';

import {Extension} from 'resource:///org/gnome/shell/extensions/extension.js';
import * as Main from 'resource:///org/gnome/shell/ui/main.js';

const NAME = 'org.deskline.Shell';
const PATH = '/org/deskline/Shell';

// Windows: of each, the topmost first: its id, its process, its title, its app's id, whether it has the keyboard,
// whether it is minimised, whether it is a window of its own (not a menu, a tooltip or the desktop), its rectangle
// without its shadow, and that of its buffer. Rectangles are in the screen's logical pixels.
// Activate: whether there is such a window.
const INTERFACE = `<node><interface name="${NAME}">
  <method name="Windows"><arg type="a(tissbbb(iiii)(iiii))" direction="out"/></method>
  <method name="Activate"><arg type="t" direction="in"/><arg type="b" direction="out"/></method>
</interface></node>`;

const TOPLEVELS = [
    Meta.WindowType.NORMAL,
    Meta.WindowType.DIALOG,
    Meta.WindowType.MODAL_DIALOG,
    Meta.WindowType.UTILITY,
];

const rectangle = r => [r.x, r.y, r.width, r.height];

/** All windows, the lowest first. */
function windows() {
    return global.get_window_actors().map(actor => actor.meta_window).filter(window => window);
}

export default class Deskline extends Extension {
    enable() {
        this._object = Gio.DBusExportedObject.wrapJSObject(INTERFACE, this);
        this._object.export(Gio.DBus.session, PATH);
        this._name = Gio.bus_own_name_on_connection(
            Gio.DBus.session, NAME, Gio.BusNameOwnerFlags.NONE, null, null);
    }

    disable() {
        Gio.bus_unown_name(this._name);
        this._object.unexport();
        this._name = this._object = null;
    }

    Windows() {
        // The overview, a menu or a dialog of the shell itself has the keyboard in any other mode.
        const apps = Main.actionMode === Shell.ActionMode.NORMAL;
        return windows().reverse().map(window => [
            window.get_id(),
            window.get_pid(),
            window.get_title() ?? '',
            window.get_gtk_application_id() ?? window.get_wm_class() ?? '',
            apps && window === global.display.focus_window,
            window.minimized,
            TOPLEVELS.includes(window.get_window_type()),
            rectangle(window.get_frame_rect()),
            rectangle(window.get_buffer_rect()),
        ]);
    }

    Activate(id) {
        const window = windows().find(w => w.get_id() === id && TOPLEVELS.includes(w.get_window_type()));
        if (!window)
            return false;
        // Leaves the overview too, and goes to the window's workspace.
        Main.activateWindow(window);
        return true;
    }
}
