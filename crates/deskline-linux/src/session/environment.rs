//! Selects the variables that a launched app gets: those of a list, without any that look like a
//! credential.
//!
//! An MCP client passes its whole environment to its servers, API keys included, and an app may run
//! code from plugins and documents.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Environment variables by name. Variables that are not UTF-8 are omitted.
pub type Environment = BTreeMap<String, String>;

/// The variable that marks the processes of a private desktop. Its value is the desktop's
/// directory, so that no two desktops share a mark.
pub(crate) const MARK: &str = "DESKLINE_DESKTOP";

/// Names of variables that are passed on to apps.
#[rustfmt::skip]
const USUAL: &[&str] = &[
    "DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "DESKTOP_SESSION",
    "GSETTINGS_BACKEND", "GSK_RENDERER", "ACCESSIBILITY_ENABLED", "NO_AT_BRIDGE", "HOME", "USER",
    "LOGNAME", "SHELL", "PATH", "PWD", "TMPDIR", "LANG", "LANGUAGE", "TZ", "TERMINAL", "BROWSER",
    "EDITOR", "XMODIFIERS", "SESSION_MANAGER", "WINDOWPATH", "NIX_PROFILES", "SSL_CERT_FILE",
    "SSL_CERT_DIR", MARK,
];

/// Prefixes of names that are passed on: locales, desktops and toolkits.
#[rustfmt::skip]
const FAMILIES: &[&str] = &[
    "LC_", "XDG_", "GTK_", "GDK_", "GIO_", "GI_", "GNOME_", "QT_", "QML", "KDE_", "PLASMA_",
    "MATE_", "XFCE_", "LXQT_", "CINNAMON_", "SAL_", "MOZ_", "MESA_", "LIBGL_", "LIBVA_", "SDL_",
    "CLUTTER_", "XCURSOR_", "IBUS_", "FCITX_", "FLATPAK_",
];

/// Variables that lead programs to code and data. In an `AppImage`, a snap or an Electron app they
/// lead into its bundle, whose content may crash other programs. In a session they may lead to
/// content for all apps. So their values come from the session, or are left out.
#[rustfmt::skip]
const BUNDLED: &[&str] = &[
    "LD_LIBRARY_PATH", "LD_PRELOAD", "GIO_MODULE_DIR", "GIO_EXTRA_MODULES", "GI_TYPELIB_PATH",
    "GTK_PATH", "GTK_EXE_PREFIX", "GTK_DATA_PREFIX", "GTK_IM_MODULE_FILE", "GDK_PIXBUF_MODULE_FILE",
    "GDK_PIXBUF_MODULEDIR", "GSETTINGS_SCHEMA_DIR", "QT_PLUGIN_PATH", "QT_QPA_PLATFORM_PLUGIN_PATH",
    "QML_IMPORT_PATH", "QML2_IMPORT_PATH", "LIBGL_DRIVERS_PATH", "LIBVA_DRIVERS_PATH",
    "FONTCONFIG_FILE", "FONTCONFIG_PATH", "LOCPATH", "PYTHONHOME", "PYTHONPATH", "PERLLIB",
    "PERL5LIB", "NODE_OPTIONS", "GST_PLUGIN_SYSTEM_PATH",
];

/// Variables that are set only inside a bundle or an Electron app.
#[rustfmt::skip]
const BUNDLES: &[&str] = &[
    "APPDIR", "APPIMAGE", "SNAP", "FLATPAK_ID", "ELECTRON_RUN_AS_NODE", "CHROME_DESKTOP",
    "LD_LIBRARY_PATH", "LD_PRELOAD",
];

/// Variables that name the root directory of a bundle, which the bundle adds to search paths.
const ROOTS: &[&str] = &["APPDIR", "SNAP"];

/// Parts of names that suggest a credential. They also exclude `XDG_ACTIVATION_TOKEN`, which works
/// once and is meant for this process.
#[rustfmt::skip]
const SECRET: &[&str] = &[
    "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "API_KEY", "APIKEY",
    "ACCESS_KEY", "PRIVATE_KEY", "COOKIE",
];

/// This process's environment.
pub(crate) fn own() -> Environment {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// The part of `environment` that an app gets.
pub(crate) fn for_apps(environment: &Environment) -> Environment {
    let mut passed = environment.clone();
    passed.retain(|name, _| passes(name));
    leave_bundle(&mut passed, environment);
    keep_to_desktop(&mut passed);
    passed
}

/// Whether an environment is that of a bundled app. The session's own environment is preferred.
pub(crate) fn is_of_a_bundle(environment: &Environment) -> bool {
    let mut names = BUNDLES.iter().chain(BUNDLED);
    names.any(|name| environment.contains_key(*name))
}

/// The variables with which a session's own program points all apps of the session to code and
/// data.
pub(crate) fn pointers(environment: &Environment) -> impl Iterator<Item = (String, String)> {
    BUNDLED
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), environment.get(*name)?.clone())))
}

/// Removes a bundle's directories from the search paths.
fn leave_bundle(passed: &mut Environment, environment: &Environment) {
    let roots = ROOTS.iter().filter_map(|name| environment.get(*name));
    let roots: Vec<&Path> = roots
        .map(Path::new)
        .filter(|root| root.is_absolute() && root.parent().is_some())
        .collect();
    for name in ["PATH", "XDG_DATA_DIRS", "XDG_CONFIG_DIRS"] {
        let Some(value) = passed.get_mut(name).filter(|_| !roots.is_empty()) else {
            continue;
        };
        let is_in = |dir: &&str| roots.iter().any(|root| Path::new(dir).starts_with(root));
        let kept: Vec<&str> = value.split(':').filter(|dir| !is_in(dir)).collect();
        *value = kept.join(":");
        if value.is_empty() {
            passed.remove(name);
        }
    }
}

/// The name of the home in a private desktop's directory. The home may be a symbolic link.
pub(crate) const HOME: &str = "home";
/// The name of the socket for a VNC viewer in the desktop's directory.
pub(crate) const VNC_SOCKET: &str = "vnc";

pub(crate) const TEMPORARY: &str = "tmp";

/// Gives apps the home of the private desktop that the environment belongs to. A server that a
/// person has started there has the person's home. With that, a browser or an office suite would
/// pass its document to the instance on the person's desktop.
pub(crate) fn keep_to_desktop(environment: &mut Environment) {
    let Some(desktop) = environment.get(MARK).map(PathBuf::from) else {
        return;
    };
    let Ok(home) = fs::canonicalize(desktop.join(HOME)) else {
        return;
    };
    for kind in ["CONFIG", "DATA", "CACHE", "STATE"] {
        environment.remove(&format!("XDG_{kind}_HOME"));
    }
    for (name, path) in [("HOME", home), ("TMPDIR", desktop.join(TEMPORARY))] {
        if let Some(path) = path.to_str() {
            environment.insert(name.to_owned(), path.to_owned());
        }
    }
}

/// Requests accessibility from every toolkit in its own way, even if the session has turned it off.
pub(crate) fn make_accessible(environment: &mut Environment) {
    #[rustfmt::skip]
    let requests = [
        ("QT_LINUX_ACCESSIBILITY_ALWAYS_ON", "1"), ("QT_ACCESSIBILITY", "1"), ("GTK_A11Y", "atspi"),
        ("GNOME_ACCESSIBILITY", "1"), ("ACCESSIBILITY_ENABLED", "1"), ("NO_AT_BRIDGE", "0"),
    ];
    for (name, value) in requests {
        environment.insert(name.to_owned(), value.to_owned());
    }
    if has_gtk2_bridge() {
        add_gtk_modules(environment);
    }
}

/// Whether GTK 2 can load the modules that put its apps on the bus. Debian packages: libatk-adaptor
/// and libgail-common.
fn has_gtk2_bridge() -> bool {
    let libraries = fs::read_dir("/usr/lib").into_iter().flatten().flatten();
    libraries
        .map(|dir| dir.path())
        .chain([PathBuf::from("/usr/lib64"), PathBuf::from("/usr/lib")])
        .any(|dir| dir.join("gtk-2.0/modules/libatk-bridge.so").exists())
}

/// Adds the modules that GTK 2 needs. GTK 3 has them built in and ignores the variable.
fn add_gtk_modules(environment: &mut Environment) {
    let modules = environment.entry("GTK_MODULES".to_owned()).or_default();
    for module in ["gail", "atk-bridge"] {
        if !modules.split(':').any(|there| there == module) {
            if !modules.is_empty() {
                modules.push(':');
            }
            modules.push_str(module);
        }
    }
}

fn passes(name: &str) -> bool {
    let usual = USUAL.contains(&name) || FAMILIES.iter().any(|family| name.starts_with(family));
    let upper = name.to_ascii_uppercase();
    let bundled = BUNDLED.contains(&name);
    usual && !bundled && !SECRET.iter().any(|part| upper.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_and_the_clients_own_variables_are_not_passed_on() {
        for name in [
            "ANTHROPIC_API_KEY",
            "OPENAI_API_KEY",
            "GITHUB_TOKEN",
            "AWS_ACCESS_KEY_ID",
            "AWS_PROFILE",
            "CLAUDECODE",
            "CLAUDE_CODE_SSE_PORT",
            "MCP_TIMEOUT",
            "DATABASE_URL",
            "SSH_AUTH_SOCK",
            "GNOME_KEYRING_PASSWORD",
            "QT_LICENSE_TOKEN",
            "XDG_ACTIVATION_TOKEN",
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "ELECTRON_RUN_AS_NODE",
            "APPDIR",
            "APPIMAGE",
            "SNAP_NAME",
            "PYTHONHOME",
            "GIO_MODULE_DIR",
            "GTK_PATH",
            "QT_PLUGIN_PATH",
            "NODE_OPTIONS",
            "CHROME_DESKTOP",
            // With this variable, Qt 6 stays off the bus that is named in it.
            "AT_SPI_BUS_ADDRESS",
        ] {
            assert!(!passes(name), "{name} reaches apps");
        }
        for name in [
            "PATH",
            "HOME",
            "LANG",
            "LC_TIME",
            "XDG_CURRENT_DESKTOP",
            "GTK_A11Y",
            "DISPLAY",
        ] {
            assert!(passes(name), "{name} does not reach apps");
        }
    }
}
