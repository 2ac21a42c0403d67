// Reports what GNOME Shell reports to no program by itself: the windows, their positions and the
// window at a point. Also raises windows, and says when an agent acts. Input and pictures go through Mutter's own interfaces.

import Clutter from 'gi://Clutter';
import Gio from 'gi://Gio';
import Meta from 'gi://Meta';
import Shell from 'gi://Shell';
import St from 'gi://St';

import {Extension} from 'resource:///org/gnome/shell/extensions/extension.js';
import * as Main from 'resource:///org/gnome/shell/ui/main.js';

const NAME = 'org.deskline.Shell';
const PATH = '/org/deskline/Shell';

// The version of this interface.
const VERSION = 3;

// Screen: the version; the pointer, and whether a button is down; and for each window, the topmost
// first: its id, pid, title and kind, whether it has the keyboard, is visible, is modal, and is a
// Wayland window, its bounds without the shadow, the bounds of its buffer, and its monitor's scale.
// At: the window that gets a click at this point, or 0; and whether the shell itself gets it.
// Activate: raises a window. Whether there is such a window.
// Away: the visible workspace, counted from 1; and for each window that is minimised or on another
// workspace: its id, its workspace (0 if that is visible), and whether it is minimised.
// Announce: shows this text at the top of the screen, until its caller has gone or sends none.
// All coordinates are those of the shell's stage: logical pixels, unless monitors are laid out in
// physical pixels.
const INTERFACE = `<node><interface name="${NAME}">
  <method name="Screen">
    <arg type="u" direction="out"/>
    <arg type="(iib)" direction="out"/>
    <arg type="a(tissbbbb(iiii)(iiii)d)" direction="out"/>
  </method>
  <method name="At">
    <arg type="d" direction="in"/><arg type="d" direction="in"/>
    <arg type="t" direction="out"/><arg type="b" direction="out"/>
  </method>
  <method name="Activate"><arg type="t" direction="in"/><arg type="b" direction="out"/></method>
  <method name="Away">
    <arg type="u" direction="out"/>
    <arg type="a(tub)" direction="out"/>
  </method>
  <method name="Minimize"><arg type="t" direction="in"/></method>
  <method name="Announce"><arg type="s" direction="in"/></method>
  <method name="ShowWorkspace"><arg type="u" direction="in"/></method>
</interface></node>`;

const {WindowType} = Meta;
const TOPLEVELS = [WindowType.NORMAL, WindowType.DIALOG, WindowType.MODAL_DIALOG, WindowType.UTILITY];
// To Mutter, all pop-ups of Wayland apps are drop-down menus.
const POPUPS = [WindowType.DROPDOWN_MENU, WindowType.POPUP_MENU, WindowType.COMBO, WindowType.OVERRIDE_OTHER];

const BUTTONS = Clutter.ModifierType.BUTTON1_MASK | Clutter.ModifierType.BUTTON2_MASK |
    Clutter.ModifierType.BUTTON3_MASK;

// Its distance from the panel.
const MARGIN = 12;
const BANNER = 'background-color: #1c1e21; color: #fff; border: 2px solid #ff8a00; padding: 12px;';

const rectangle = r => [r.x, r.y, r.width, r.height];

/** All windows, the lowest first. */
function windows() {
    return global.get_window_actors().map(actor => actor.meta_window).filter(window => window);
}

function kind(window) {
    const type = window.get_window_type();
    return TOPLEVELS.includes(type) ? 'toplevel' : POPUPS.includes(type) ? 'popup' : 'other';
}

export default class Deskline extends Extension {
    enable() {
        this._object = Gio.DBusExportedObject.wrapJSObject(INTERFACE, this);
        this._object.export(Gio.DBus.session, PATH);
        this._name = Gio.bus_own_name_on_connection(
            Gio.DBus.session, NAME, Gio.BusNameOwnerFlags.NONE, null, null);
    }

    disable() {
        this._conceal();
        Gio.bus_unown_name(this._name);
        this._object.unexport();
        this._name = this._object = null;
    }

    Screen() {
        // The overview, a menu or a dialog of the shell itself has the keyboard in any other mode.
        const apps = Main.actionMode === Shell.ActionMode.NORMAL;
        const [x, y, pressed] = global.get_pointer();
        return [VERSION, [Math.floor(x), Math.floor(y), (pressed & BUTTONS) !== 0], windows().reverse().map(window => [
            window.get_id(),
            window.get_pid(),
            window.get_title() ?? '',
            kind(window),
            apps && window === global.display.focus_window,
            !window.is_hidden(),
            window.get_window_type() === WindowType.MODAL_DIALOG,
            window.get_client_type() === Meta.WindowClientType.WAYLAND,
            rectangle(window.get_frame_rect()),
            rectangle(window.get_buffer_rect()),
            window.get_monitor() < 0 ? 1 : global.display.get_monitor_scale(window.get_monitor()),
        ])];
    }

    At(x, y) {
        // Mutter itself finds the receiver of an event in this way: windows have shadows that take
        // no clicks, and holes.
        const there = global.stage.get_actor_at_pos(Clutter.PickMode.REACTIVE, x, y);
        for (let actor = there; actor; actor = actor.get_parent()) {
            if (actor instanceof Meta.WindowActor)
                return [actor.meta_window?.get_id() ?? 0, false];
            // The background.
            if (actor === global.window_group)
                return [0, false];
        }
        return [0, there !== null && there !== global.stage];
    }

    Activate(id) {
        const window = windows().find(w => w.get_id() === id && kind(w) === 'toplevel');
        if (!window)
            return false;
        // Also leaves the overview, and switches to the window's workspace.
        Main.activateWindow(window);
        return true;
    }

    Away() {
        const shown = global.workspace_manager.get_active_workspace_index();
        const elsewhere = window =>
            window.is_on_all_workspaces() || !window.get_workspace() ||
            window.get_workspace().index() === shown ? 0 : window.get_workspace().index() + 1;
        const away = windows().filter(window => window.minimized || elsewhere(window) > 0);
        return [shown + 1, away.map(window => [window.get_id(), elsewhere(window), window.minimized])];
    }

    AnnounceAsync([text], invocation) {
        this._conceal();
        if (text) {
            this._banner = new St.Label({text, style: BANNER});
            Main.uiGroup.add_child(this._banner);
            const {x, y, width} = Main.layoutManager.primaryMonitor;
            const free = Math.max(0, width - this._banner.get_preferred_width(-1)[1]);
            this._banner.set_position(x + Math.floor(free / 2), y + Main.panel.height + MARGIN);
            this._caller = Gio.bus_watch_name_on_connection(
                Gio.DBus.session, invocation.get_sender(), Gio.BusNameWatcherFlags.NONE, null,
                () => this._conceal());
        }
        invocation.return_value(null);
    }

    _conceal() {
        if (this._caller)
            Gio.bus_unwatch_name(this._caller);
        this._banner?.destroy();
        this._banner = this._caller = null;
    }

    Minimize(id) {
        windows().find(window => window.get_id() === id)?.minimize();
    }

    ShowWorkspace(number) {
        global.workspace_manager.get_workspace_by_index(number - 1)?.activate(global.get_current_time());
    }
}
