//! `deskline-selftest`: tries the tools and the input lock on the apps of a real Mac or of a real
//! Windows, judges by effects, and prints a report to send back. No package contains it.

#[cfg(any(target_os = "macos", windows))]
#[allow(dead_code)] // each system uses a part of what is common
mod checks;
#[cfg(any(target_os = "macos", windows))]
mod program;

#[cfg(any(target_os = "macos", windows))]
fn main() -> std::process::ExitCode {
    program::main()
}

#[cfg(not(any(target_os = "macos", windows)))]
fn main() {
    eprintln!("deskline-selftest: for macOS and Windows. On Linux the project's own tests run.");
}
