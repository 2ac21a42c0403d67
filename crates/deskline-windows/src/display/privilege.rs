//! Checks whether input can reach a program. Windows silently blocks input to programs with more
//! rights (UIPI) and to the secure desktop.

use crate::os::{self, Integrity};

/// `SECURITY_MANDATORY_MEDIUM_RID`, the integrity level of ordinary apps.
const MEDIUM: u32 = 0x2000;

/// Why no input reaches a program with more rights: a clause, and the next step.
pub(crate) const ELEVATED: &str = "the window belongs to a program that runs as administrator, and \
    Windows keeps the input of other programs from it. Ask the user to start Deskline's client as \
    administrator too, or to do this step";

/// Whether Windows blocks input from this process to the process `pid`.
pub(crate) fn is_above(pid: u32) -> bool {
    let own = match os::integrity(std::process::id()) {
        Integrity::Level(own) => own,
        Integrity::Denied | Integrity::Gone => MEDIUM,
    };
    match os::integrity(pid) {
        Integrity::Level(its) => its > own,
        // Access is denied: the program is the system's, or another administrator's.
        Integrity::Denied => true,
        Integrity::Gone => false,
    }
}

/// Why no input reaches any app now, as a clause. `None` if input reaches apps.
pub(crate) fn kept_out() -> Option<&'static str> {
    const SECURE: &str = "Windows shows its secure desktop (a locked screen, a sign-in, or an \
                          administrator's question), which no program's input reaches";
    let desktop = os::input_desktop();
    let is_open = desktop.is_some_and(|name| !name.eq_ignore_ascii_case("Winlogon"));
    (!is_open).then_some(SECURE)
}
