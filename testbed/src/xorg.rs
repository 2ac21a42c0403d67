//! Xorg for a bed: the dummy video driver, and a keyboard and a mouse of the `inputtest` driver,
//! which look like hardware to all clients. It is put into `PATH` under the name Xvfb, so that the
//! private desktop starts it.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The socket of the bed's keyboard.
pub(crate) fn keyboard(folder: &Path) -> PathBuf {
    folder.join("keyboard")
}

/// The socket of the bed's mouse.
pub(crate) fn mouse(folder: &Path) -> PathBuf {
    folder.join("mouse")
}

/// Writes the scripts that start it, and returns a `PATH` that finds them.
pub(crate) fn install(folder: &Path, (width, height): (u16, u16)) -> std::ffi::OsString {
    let configuration = folder.join("xorg.conf");
    let section = |device: &str, kind: &str, socket: PathBuf| {
        format!(
            "Section \"InputDevice\"\n  Identifier \"{device}\"\n  Driver \"inputtest\"\n  \
             Option \"SocketPath\" \"{}\"\n  Option \"DeviceType\" \"{kind}\"\nEndSection\n",
            socket.display()
        )
    };
    let text = format!(
        r#"Section "ServerFlags"
  Option "AutoAddDevices" "false"
  Option "AutoAddGPU" "false"
  Option "DontVTSwitch" "true"
EndSection
Section "Monitor"
  Identifier "Monitor"
  HorizSync 5-1000
  VertRefresh 5-200
  Modeline "{width}x{height}" 148.50 {width} {} {} {} {height} {} {} {} +hsync +vsync
EndSection
Section "Device"
  Identifier "Card"
  Driver "dummy"
  VideoRam 256000
EndSection
Section "Screen"
  Identifier "Screen"
  Device "Card"
  Monitor "Monitor"
  DefaultDepth 24
  SubSection "Display"
    Depth 24
    Modes "{width}x{height}"
    Virtual {width} {height}
  EndSubSection
EndSection
{}{}Section "ServerLayout"
  Identifier "Layout"
  Screen "Screen"
  InputDevice "Keyboard" "CoreKeyboard"
  InputDevice "Mouse" "CorePointer"
EndSection
"#,
        width + 88,
        width + 132,
        width + 280,
        height + 4,
        height + 9,
        height + 45,
        section("Keyboard", "Keyboard", keyboard(folder)),
        section("Mouse", "PointerAbsolute", mouse(folder)),
    );
    std::fs::write(&configuration, text).unwrap();

    // Xorg accepts the same arguments: `:N -screen 0 WxHxD` and so on.
    let script = format!(
        "#!/bin/sh\ndisplay=$1\nshift 4\n\
        exec /usr/lib/xorg/Xorg \"$display\" -config {} -logfile {} -novtswitch -sharevts \"$@\"\n",
        configuration.display(),
        folder.join("xorg.log").display(),
    );
    in_path(folder, "Xvfb", &script)
}

/// Writes a script. Returns a `PATH` in which the script replaces the program of this name.
pub(crate) fn in_path(folder: &Path, name: &str, script: &str) -> std::ffi::OsString {
    let programs = folder.join("programs");
    std::fs::create_dir(&programs).unwrap();
    let program = programs.join(name);
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::split_paths(&path);
    std::env::join_paths(std::iter::once(programs).chain(path)).unwrap()
}
