//! Processes: their names, parents, times and exit status.

use std::collections::HashMap;
use std::ffi::{OsString, c_void};
use std::os::windows::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use deskline_contract::Identity;

use windows::Win32::Foundation::{FILETIME, HANDLE, STILL_ACTIVE};
use windows::Win32::Security::{TOKEN_DUPLICATE, TOKEN_QUERY};
use windows::Win32::System::Diagnostics::ToolHelp::{
    CreateToolhelp32Snapshot, PROCESSENTRY32W, Process32FirstW, Process32NextW, TH32CS_SNAPPROCESS,
};
use windows::Win32::System::Environment::{CreateEnvironmentBlock, DestroyEnvironmentBlock};
use windows::Win32::System::RemoteDesktop::ProcessIdToSessionId;
use windows::Win32::System::Threading::{
    GetCurrentProcess, GetExitCodeProcess, GetProcessTimes, OpenProcess, OpenProcessToken,
    PROCESS_NAME_WIN32, PROCESS_QUERY_LIMITED_INFORMATION, QueryFullProcessImageNameW,
};
use windows::Win32::UI::WindowsAndMessaging::{GetSystemMetrics, SM_REMOTESESSION};
use windows::core::{Owned, PWSTR};

/// A handle to a process, which may have ended. While it is open, Windows does not reuse the pid.
pub struct Process(Owned<HANDLE>);

// SAFETY: process handles are valid in every thread.
unsafe impl Send for Process {}

/// The start time and the CPU time of a process, in ticks of 100 ns.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    pub started: u64,
    ran: u64,
}

impl Times {
    pub fn ran(self) -> Duration {
        Duration::from_nanos(self.ran.saturating_mul(100))
    }
}

impl Process {
    /// Opens a process. `None` if there is no such process, or Windows denies access.
    pub fn open(pid: u32) -> Option<Self> {
        // SAFETY: the handle is closed once, by its owner.
        unsafe {
            let handle = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, false, pid).ok()?;
            Some(Self(Owned::new(handle)))
        }
    }

    /// The exit status; `None` while the process runs.
    pub fn status(&self) -> Option<i32> {
        let mut code = 0;
        // SAFETY: the number outlives the call.
        unsafe { GetExitCodeProcess(*self.0, &raw mut code) }.ok()?;
        let code = code.cast_signed();
        (code != STILL_ACTIVE.0).then_some(code)
    }

    pub fn times(&self) -> Option<Times> {
        let mut times = [FILETIME::default(); 4];
        let [started, ended, kernel, user] = &mut times;
        // SAFETY: the times outlive the call.
        unsafe { GetProcessTimes(*self.0, started, ended, kernel, user) }.ok()?;
        let [started, _, kernel, user] =
            times.map(|time| u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime));
        Some(Times {
            started,
            ran: kernel + user,
        })
    }

    /// The path of the executable.
    pub fn path(&self) -> Option<PathBuf> {
        let mut path = [0_u16; 1024];
        let mut length = path.len() as u32;
        let start = PWSTR(path.as_mut_ptr());
        // SAFETY: the call is given the buffer's length.
        unsafe {
            QueryFullProcessImageNameW(*self.0, PROCESS_NAME_WIN32, start, &raw mut length).ok()?;
        }
        let path = path.get(..length as usize)?;
        Some(PathBuf::from(String::from_utf16_lossy(path)))
    }
}

/// The name of the executable without `.exe`. Empty if unknown.
pub fn name(pid: u32) -> String {
    let path = Process::open(pid).and_then(|process| process.path());
    path.as_deref().map(stem).unwrap_or_default()
}

/// The name of this executable without `.exe`.
pub fn stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

/// The parent of each process, by pid. Parents may have ended.
pub fn parents() -> HashMap<u32, u32> {
    let mut parents = HashMap::new();
    let mut entry = PROCESSENTRY32W {
        dwSize: size_of::<PROCESSENTRY32W>() as u32,
        ..PROCESSENTRY32W::default()
    };
    // SAFETY: the handle is closed once, and the entry has its size.
    unsafe {
        let Ok(list) = CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0) else {
            return parents;
        };
        let list = Owned::new(list);
        let mut next = Process32FirstW(*list, &raw mut entry);
        while next.is_ok() {
            parents.insert(entry.th32ProcessID, entry.th32ParentProcessID);
            next = Process32NextW(*list, &raw mut entry);
        }
    }
    parents
}

/// Now, in the unit of [`Times::started`].
pub fn now() -> u64 {
    // From 1601 to 1970, in ticks of 100 ns.
    const EPOCH: u64 = 116_444_736_000_000_000;
    let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    EPOCH + (since.as_nanos() / 100) as u64
}

/// The first process of this executable that has started since `at`.
pub(crate) fn started_since(at: u64, path: &Path) -> Option<(u32, Process)> {
    let is_it = |process: &Process| {
        process.times().is_some_and(|times| times.started >= at)
            && process
                .path()
                .is_some_and(|own| own.as_os_str().eq_ignore_ascii_case(path))
    };
    let opened = parents().into_keys();
    let opened = opened.filter_map(|pid| Some((pid, Process::open(pid)?)));
    let its = opened.filter(|(_, process)| is_it(process));
    its.min_by_key(|(_, process)| process.times().map(|times| times.started))
}

/// Adds the user's variables that this process's environment lacks: many clients pass on only a
/// dozen variables, and WPF apps end at once without `windir`. To be called before any other thread
/// runs.
pub fn complete_environment() {
    let mut block: *mut c_void = std::ptr::null_mut();
    let mut token = HANDLE::default();
    // SAFETY: the block is a list of strings with an empty one as its end, and is freed once. No
    // other thread runs.
    unsafe {
        let rights = TOKEN_QUERY | TOKEN_DUPLICATE;
        if OpenProcessToken(GetCurrentProcess(), rights, &raw mut token).is_err() {
            return;
        }
        let token = Owned::new(token);
        if CreateEnvironmentBlock(&raw mut block, Some(*token), false).is_err() {
            return;
        }
        let mut at = PWSTR(block.cast());
        while !at.as_wide().is_empty() {
            let line = at.as_wide();
            // Skip the first unit: the variable for a drive's folder has a name that begins with
            // `=`.
            let sign = line
                .iter()
                .skip(1)
                .position(|unit| *unit == u16::from(b'='));
            if let Some((name, value)) = sign.and_then(|sign| line.split_at_checked(sign + 1)) {
                let [name, value] = [name, &value[1..]].map(OsString::from_wide);
                if std::env::var_os(&name).is_none() {
                    std::env::set_var(name, value);
                }
            }
            at = PWSTR(at.0.add(line.len() + 1));
        }
        let _ = DestroyEnvironmentBlock(block);
    }
}

/// The number of this login session. Services run in session 0, whose desktop no person sees.
pub fn session() -> Option<u32> {
    let mut session = 0;
    // SAFETY: the number outlives the call.
    unsafe { ProcessIdToSessionId(std::process::id(), &raw mut session) }.ok()?;
    Some(session)
}

/// Whether this login session is one of Remote Desktop.
pub fn is_remote() -> bool {
    // SAFETY: the only argument is a number.
    unsafe { GetSystemMetrics(SM_REMOTESESSION) != 0 }
}

/// The identity of a program: its path and its name. The name is only a claim, unless the program
/// is in a folder into which only administrators install programs.
pub fn identity(path: &Path) -> Identity {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let text = path.to_string_lossy().into_owned();
    let mut known = Identity {
        key: Some(text.clone()),
        is_command: INTERPRETERS.contains(&stem(path).to_lowercase().as_str()),
        ..Identity::default()
    };
    let names = if is_administrators(&text) {
        &mut known.names
    } else {
        &mut known.claims
    };
    names.extend([stem(path), file.into_owned()]);
    known.names.push(text);
    known
}

/// Programs that execute what a document or their arguments tell them to.
const INTERPRETERS: [&str; 14] = [
    "cmd",
    "cscript",
    "java",
    "javaw",
    "mshta",
    "msiexec",
    "node",
    "powershell",
    "pwsh",
    "py",
    "python",
    "pythonw",
    "rundll32",
    "wscript",
];

/// Whether a path is in a folder for the programs of all users.
fn is_administrators(path: &str) -> bool {
    let path = path.to_lowercase();
    let is_below = |variable: &str, folder: &str| {
        let root = std::env::var(variable).unwrap_or_default().to_lowercase();
        !root.is_empty() && path.starts_with(&format!("{root}{folder}\\"))
    };
    let programs = ["ProgramFiles", "ProgramFiles(x86)", "ProgramW6432"];
    let windows = is_below("SystemRoot", "") && !is_below("SystemRoot", r"\temp");
    windows || programs.iter().any(|variable| is_below(variable, ""))
}
