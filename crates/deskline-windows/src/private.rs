//! A private desktop: this program starts itself again on a new desktop, where the apps that it
//! opens run too. Windows sends all input to the desktop on the screen, so on a private desktop
//! only accessibility can act.

use std::io::{stderr, stdin, stdout};
use std::os::windows::io::AsRawHandle as _;

use windows::Win32::Foundation::{GENERIC_ALL, HANDLE, HANDLE_FLAG_INHERIT, SetHandleInformation};
use windows::Win32::System::Environment::GetCommandLineW;
use windows::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectExtendedLimitInformation,
    SetInformationJobObject,
};
use windows::Win32::System::StationsAndDesktops::{
    CreateDesktopW, DESKTOP_CONTROL_FLAGS, GetThreadDesktop,
};
use windows::Win32::System::Threading::{
    CREATE_SUSPENDED, CreateProcessW, GetCurrentThreadId, GetExitCodeProcess, INFINITE,
    PROCESS_INFORMATION, ResumeThread, STARTF_USESTDHANDLES, STARTUPINFOW, WaitForSingleObject,
};
use windows::core::{HSTRING, Owned, PCWSTR, PWSTR, Result};

use crate::os::name_of;

/// The prefix of the names of private desktops.
const PREFIX: &str = "deskline-";

/// The name of this thread's desktop, if Deskline has made it.
pub fn name() -> Option<String> {
    // SAFETY: the argument is a number; the desktop's handle needs no closing.
    let desktop = unsafe { GetThreadDesktop(GetCurrentThreadId()) }.ok()?;
    let name = name_of(desktop);
    name.starts_with(PREFIX).then_some(name)
}

/// Runs this program again, with the same arguments and standard streams, on a new desktop. Blocks
/// until the new process has ended, and returns its exit status. The new desktop, and all processes
/// on it, end with this process.
pub fn run_again() -> Result<i32> {
    let name = HSTRING::from(format!("{PREFIX}{}", std::process::id()));
    let program = HSTRING::from(std::env::current_exe()?.as_os_str());
    let streams = [
        stdin().as_raw_handle(),
        stdout().as_raw_handle(),
        stderr().as_raw_handle(),
    ];
    let [input, output, errors] = streams.map(HANDLE);
    // SAFETY: all texts and structures outlive the calls that are given them. The closed handles
    // belong to this function. The desktop's handle stays open until this process ends.
    unsafe {
        let flags = DESKTOP_CONTROL_FLAGS(0);
        CreateDesktopW(&name, PCWSTR::null(), None, flags, GENERIC_ALL.0, None)?;
        let job = Owned::new(CreateJobObjectW(None, PCWSTR::null())?);
        let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
        SetInformationJobObject(
            *job,
            JobObjectExtendedLimitInformation,
            (&raw const limits).cast(),
            size_of_val(&limits) as u32,
        )?;
        for stream in [input, output, errors] {
            // A stream may be missing.
            let _ = SetHandleInformation(stream, HANDLE_FLAG_INHERIT.0, HANDLE_FLAG_INHERIT);
        }
        let mut line = GetCommandLineW().as_wide().to_vec();
        line.push(0);
        let start = STARTUPINFOW {
            cb: size_of::<STARTUPINFOW>() as u32,
            lpDesktop: PWSTR(name.as_ptr().cast_mut()),
            dwFlags: STARTF_USESTDHANDLES,
            hStdInput: input,
            hStdOutput: output,
            hStdError: errors,
            ..STARTUPINFOW::default()
        };
        let mut made = PROCESS_INFORMATION::default();
        CreateProcessW(
            &program,
            Some(PWSTR(line.as_mut_ptr())),
            None,
            None,
            true,
            CREATE_SUSPENDED,
            None,
            PCWSTR::null(),
            &raw const start,
            &raw mut made,
        )?;
        let (process, thread) = (Owned::new(made.hProcess), Owned::new(made.hThread));
        AssignProcessToJobObject(*job, *process)?;
        ResumeThread(*thread);
        WaitForSingleObject(*process, INFINITE);
        let mut status = 0;
        GetExitCodeProcess(*process, &raw mut status)?;
        Ok(status.cast_signed())
    }
}
