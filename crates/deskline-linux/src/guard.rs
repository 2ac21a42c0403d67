//! Chooses the guard of a session: the display's own, or the kernel's.

use std::path::{Path, PathBuf};

use deskline_core::summary::shell_word;
use deskline_evdev::{Guard, Helper, INSTALLED, Seen};

use crate::display::DisplaySystem;
use crate::session::Session;

/// The kernel's guard, ready to grab devices.
pub(crate) struct ByKernel {
    pub(crate) guard: Guard,
    seen: Seen,
    /// The setgid program that grabs the devices. If `None`, a helper process of Deskline grabs
    /// them.
    program: Option<PathBuf>,
}

/// The kernel's guard, for a Wayland session whose devices can all be grabbed. It keeps the
/// person's input out of every app, with or without Xwayland, and notices Esc. An X server has a
/// better one, which also restores the keys that the person holds.
///
/// The setgid program is preferred, because it grabs the devices only for the person at the seat.
pub(crate) fn by_kernel(session: &Session) -> Option<ByKernel> {
    if !is_of_use(session) {
        return None;
    }
    match apart() {
        Some(Ok(kernels)) => return Some(kernels),
        Some(Err(why)) => tracing::info!("{why}"),
        None => {}
    }
    let seen = Some(deskline_evdev::look()).filter(Seen::can_guard)?;
    let guard = Guard::start().inspect_err(|e| tracing::warn!("no guard by the kernel: {e}"));
    Some(ByKernel {
        guard: guard.ok()?,
        seen,
        program: None,
    })
}

/// The guard in the setgid program, or why that is not used. `None` if it is not installed.
fn apart() -> Option<Result<ByKernel, String>> {
    let helper = Helper::find()?;
    let path = helper.path();
    let unused = |why: &str| Err(format!("{} is not used: {why}", path.display()));
    let guard = match Guard::with(|orders| helper.start(orders)) {
        Ok(guard) => guard,
        Err(error) => return Some(unused(&error.to_string())),
    };
    Some(match guard.look() {
        Some(seen) if seen.can_guard() => Ok(ByKernel {
            guard,
            seen,
            program: Some(path.to_owned()),
        }),
        Some(seen) if seen.closed > 0 => unused("it may not read all of /dev/input"),
        Some(seen) if seen.readable == 0 => unused("there is no keyboard or pointer in /dev/input"),
        Some(_) => unused(
            "this user's session is not the one in front on seat0, or there is a second seat",
        ),
        None => unused("the program does not answer"),
    })
}

fn is_of_use(session: &Session) -> bool {
    session.wayland_display.is_some() && session.private_wayland().is_none()
}

/// The doctor's finding about the guard: the input that it keeps out, or why it keeps out none.
pub(crate) fn finding(
    session: &Session,
    display: &mut dyn DisplaySystem,
) -> Result<String, String> {
    let Some(kernels) = by_kernel(session) else {
        return display.findings().guard.map_err(|why| match apart() {
            Some(Err(unused)) if is_of_use(session) => format!("{why}; {unused}"),
            _ => why,
        });
    };
    let by = kernels
        .program
        .map_or_else(String::new, |program| format!(", by {}", program.display()));
    Ok(format!(
        "Esc cancels, and the kernel blocks {} keyboards and pointers in /dev/input while an \
        agent's input is sent{by}",
        kernels.seen.readable
    ))
}

/// The command with which root gives this session the kernel's guard. `None` if the session already
/// has it or needs no guard, or if the setgid program is not on this machine.
pub(crate) fn install(session: &Session) -> Option<String> {
    if !is_of_use(session) || deskline_evdev::look().closed == 0 || Helper::find().is_some() {
        return None;
    }
    let installed = INSTALLED.iter().map(Path::new).find(|path| path.exists());
    command(installed, deskline_evdev::beside().as_deref())
}

/// The command that makes the installed program setgid. If none is installed, the command that
/// installs the one beside the running program.
fn command(installed: Option<&Path>, beside: Option<&Path>) -> Option<String> {
    if let Some(path) = installed {
        let path = path.display();
        return Some(format!("chown root:input {path} && chmod 2755 {path}"));
    }
    let from = shell_word(beside?.to_str()?);
    let [to, _] = INSTALLED;
    Some(format!("install -D -o root -g input -m 2755 {from} {to}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_install_command_installs_the_helper_that_was_found() {
        let command = |installed: Option<&str>, beside: Option<&str>| {
            super::command(installed.map(Path::new), beside.map(Path::new))
        };
        assert_eq!(command(None, None), None);
        assert_eq!(
            command(None, Some("/home/o'neil/my apps/deskline-grab")).as_deref(),
            Some(
                "install -D -o root -g input -m 2755 '/home/o'\\''neil/my apps/deskline-grab' \
                 /usr/local/libexec/deskline-grab"
            )
        );
        assert_eq!(
            command(
                Some("/usr/libexec/deskline-grab"),
                Some("/usr/bin/deskline-grab")
            )
            .as_deref(),
            Some(
                "chown root:input /usr/libexec/deskline-grab && chmod 2755 \
                /usr/libexec/deskline-grab"
            )
        );
    }
}
