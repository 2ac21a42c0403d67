//! Checks whether input can reach a program. Windows silently blocks input to programs with more
//! rights (UIPI) and to the secure desktop.

use std::ffi::c_void;

use windows::Win32::Foundation::HANDLE;
use windows::Win32::Security::{
    GetSidSubAuthority, GetSidSubAuthorityCount, GetTokenInformation, TOKEN_MANDATORY_LABEL,
    TOKEN_QUERY, TokenIntegrityLevel,
};
use windows::Win32::System::StationsAndDesktops::{
    CloseDesktop, DESKTOP_CONTROL_FLAGS, DESKTOP_READOBJECTS, GetUserObjectInformationW,
    OpenInputDesktop, UOI_NAME,
};
use windows::Win32::System::Threading::{
    GetCurrentProcess, OpenProcess, OpenProcessToken, PROCESS_QUERY_LIMITED_INFORMATION,
};
use windows::core::Owned;

/// `SECURITY_MANDATORY_MEDIUM_RID`, the integrity level of ordinary apps.
const MEDIUM: u32 = 0x2000;

/// Whether Windows blocks this process's input to that one.
pub(crate) fn is_above(pid: u32) -> bool {
    // SAFETY: returns a constant, which needs no closing.
    let own = level(unsafe { GetCurrentProcess() }).unwrap_or(MEDIUM);
    // SAFETY: the handle is closed once.
    let Ok(process) = (unsafe { OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, false, pid) })
    else {
        return false;
    };
    // SAFETY: as above.
    let process = unsafe { Owned::new(process) };
    level(*process).is_some_and(|its| its > own)
}

/// The integrity level of a process.
fn level(process: HANDLE) -> Option<u32> {
    let mut buffer = [0_u64; 16];
    let mut length = 0;
    // SAFETY: the buffer is aligned and as large as the call is given; the SID lies in it.
    unsafe {
        let mut token = HANDLE::default();
        OpenProcessToken(process, TOKEN_QUERY, &raw mut token).ok()?;
        let token = Owned::new(token);
        let start = buffer.as_mut_ptr().cast::<c_void>();
        let size = size_of_val(&buffer) as u32;
        GetTokenInformation(
            *token,
            TokenIntegrityLevel,
            Some(start),
            size,
            &raw mut length,
        )
        .ok()?;
        let sid = (*start.cast::<TOKEN_MANDATORY_LABEL>()).Label.Sid;
        let last = u32::from(*GetSidSubAuthorityCount(sid)).checked_sub(1)?;
        Some(*GetSidSubAuthority(sid, last))
    }
}

/// The reason if no input reaches any app now, as a clause.
pub(crate) fn kept_out() -> Option<&'static str> {
    const SECURE: &str = "Windows shows its secure desktop (a locked screen, a sign-in, or an \
                          administrator's question), which no program's input reaches";
    // SAFETY: the handle is closed once; the buffer is as large as the call is given.
    unsafe {
        let Ok(desktop) = OpenInputDesktop(DESKTOP_CONTROL_FLAGS(0), false, DESKTOP_READOBJECTS)
        else {
            return Some(SECURE);
        };
        let mut name = [0_u16; 64];
        let start = name.as_mut_ptr().cast::<c_void>();
        let size = size_of_val(&name) as u32;
        let named = GetUserObjectInformationW(HANDLE(desktop.0), UOI_NAME, Some(start), size, None);
        let _ = CloseDesktop(desktop);
        let length = name.iter().position(|unit| *unit == 0).unwrap_or(0);
        let name = String::from_utf16_lossy(&name[..length]);
        (named.is_ok() && name.eq_ignore_ascii_case("Winlogon")).then_some(SECURE)
    }
}
